//! One direction with its frames: received frames arrive at the first port, and packets sent by the last port leave
//! after their propagation delay.

use crate::capture::Capture;
use crate::chain::{Chain, Passed, Watch};
use crate::clock::{Clock, Wall};
use crate::flows::Flows;
use crate::frames::Frames;
use crate::header::{self, Ip, View};
use crate::histogram::Histogram;
use crate::ports::{Received, Wire};
use crate::record::Recorder;
use crate::statistics::{Hop, Statistics};
use crate::way::Way;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_machines::Invalid;
use thalweg_record::path::{Arrival, Decision, Fate};
use thalweg_units::{Span, Time};

/// Largest number of frames that one call sends.
const BATCH: usize = 64;

/// On the way to the far end: time of arrival, number, frame.
type Travelling = Reverse<(Time, u64, u32)>;

/// One direction.
pub(crate) struct Direction {
    chain: Chain,
    rest: Rest,
    flows: Flows,
    pub lateness: Histogram,
}

/// The state that decisions change.
struct Rest {
    frames: Frames,
    /// The header of each frame that waits or travels.
    headers: Vec<Option<Ip>>,
    line: BinaryHeap<Travelling>,
    travelled: u64,
    statistics: Statistics,
    /// Counters of each port; empty for a single port, whose counters are in `statistics`.
    hops: Vec<Hop>,
    /// The recorder of each port, if records are written.
    recorders: Vec<Recorder>,
    capture: Option<Capture>,
}

/// The results of a direction.
pub(crate) struct Ended {
    pub statistics: Statistics,
    /// Counters of each port, if there are several.
    pub hops: Vec<Hop>,
    pub lateness: Histogram,
    /// Why the record of a port is incomplete, by port number.
    pub unrecorded: Vec<(usize, String)>,
    /// Why the capture is incomplete.
    pub uncaptured: Option<String>,
}

impl Watch for Rest {
    fn arrival(&mut self, hop: usize, arrival: &Arrival) {
        if let Some(recorder) = self.recorders.get_mut(hop) {
            recorder.arrival(arrival);
        }
        if let Some(hop) = self.hops.get_mut(hop) {
            hop.arrived += 1;
        }
    }

    fn decision(&mut self, hop: usize, decision: &Decision) {
        if let Some(recorder) = self.recorders.get_mut(hop) {
            recorder.decision(decision);
        }
        if let Some(hop) = self.hops.get_mut(hop) {
            hop.decision(decision);
        }
        let label = decision.label;
        let Some(ip) = self.headers.get(label as usize).copied().flatten() else { return };
        if decision.marked
            && let Fate::Sent { ecn, .. } = decision.fate
        {
            header::write_ecn(self.frames.get_mut(label), &ip, ecn);
        }
        if let Some(capture) = &mut self.capture {
            capture.decided(hop, decision, self.frames.get(label));
        }
    }

    fn over(&mut self, passed: &Passed) {
        let Decision { label, fate, .. } = passed.decision;
        let Some(ip) = self.headers.get(label as usize).copied().flatten() else { return };
        self.statistics.passed(passed, ip.wire);
        match fate {
            Fate::Sent { arrives: Some(arrives), .. } => {
                self.line.push(Reverse((arrives, self.travelled, label)));
                self.travelled += 1;
            }
            Fate::Sent { arrives: None, .. } | Fate::Dropped => self.frames.free(label),
            Fate::Trimmed { .. } => {}
        }
    }
}

impl Rest {
    fn keep(&mut self, frame: &[u8], ip: Ip) -> Option<u32> {
        let label = self.frames.put(frame)?;
        if self.headers.len() <= label as usize {
            self.headers.resize(label as usize + 1, None);
        }
        self.headers[label as usize] = Some(ip);
        Some(label)
    }
}

impl Direction {
    /// `recorders`: one for each port, or none.
    ///
    /// # Errors
    /// If a port's parameters contradict each other.
    pub fn new(way: &Way, recorders: Vec<Recorder>, capture: Option<Capture>) -> Result<Self, Invalid> {
        let rest = Rest {
            frames: Frames::default(),
            headers: Vec::new(),
            line: BinaryHeap::with_capacity(4096),
            travelled: 0,
            statistics: Statistics::default(),
            hops: if way.is_chain() { vec![Hop::default(); way.ports().len()] } else { Vec::new() },
            recorders,
            capture,
        };
        Ok(Self { chain: Chain::new(way)?, rest, flows: Flows::default(), lateness: Histogram::default() })
    }

    /// Starts the direction: the emulator's clock has started, with this offset of the wall clock.
    pub fn begin(&mut self, wall: Wall) {
        if let Some(capture) = &mut self.rest.capture {
            capture.begin(wall);
        }
    }

    /// Handles a received frame. A frame without an IP packet is passed to `out` immediately.
    pub fn receive(&mut self, frame: &Received<'_>, now: Time, out: &mut impl Wire) {
        let statistics = &mut self.rest.statistics;
        if frame.cut {
            statistics.overrun += 1;
            return;
        }
        let ip = match header::view(frame.bytes) {
            View::Ip(ip) => ip,
            View::Other(other) => {
                statistics.other(other);
                out.send(&[frame.bytes]);
                return;
            }
        };
        statistics.arrival(ip.wire);
        statistics.unfinished += u64::from(frame.unfinished);
        let Some(label) = self.rest.keep(frame.bytes, ip) else {
            self.rest.statistics.overrun += 1;
            return;
        };
        let (flow, dst) = self.flows.of(&ip.tuple);
        let Ip { wire, payload, kind, ecn, dscp, .. } = ip;
        let at = frame.at.min(now);
        let arrival = Arrival { at, flow, dst, wire, payload, kind, ecn, class: 0 };
        self.chain.arrive(&arrival, dscp, label, &mut self.rest);
    }

    /// Takes the decisions that are due until `known`, up to which all arrivals are known, and sends the packets that
    /// have arrived at the far end.
    pub fn send(&mut self, clock: &Clock, known: Time, out: &mut impl Wire) {
        self.chain.advance(known, &mut self.rest);
        loop {
            let now = clock.now();
            let mut due = [(Time::ZERO, 0); BATCH];
            let mut count = 0;
            while count < BATCH
                && let Some(Reverse((arrives, _, label))) = self.rest.line.peek()
                && *arrives <= now
            {
                due[count] = (*arrives, *label);
                count += 1;
                self.rest.line.pop();
            }
            if count == 0 {
                return;
            }
            let mut batch: [&[u8]; BATCH] = [&[]; BATCH];
            for ((_, label), frame) in due[..count].iter().zip(&mut batch) {
                *frame = self.rest.frames.get(*label);
            }
            let now = clock.now();
            let sent = out.send(&batch[..count]);
            self.rest.statistics.overrun += (count - sent) as u64;
            for (arrives, label) in &due[..count] {
                self.lateness.add(now.since(*arrives).ps() / 1000);
                self.rest.frames.free(*label);
            }
        }
    }

    /// Shortest time from a packet's arrival here to its arrival at the far end.
    pub fn delay(&self) -> Span {
        self.chain.delay()
    }

    /// When the next work is due if no frame comes.
    pub fn wake(&self) -> Option<Time> {
        let head = self.rest.line.peek().map(|Reverse((arrives, ..))| *arrives);
        [head, self.chain.wake()].into_iter().flatten().min()
    }

    /// Ends the run at this instant. Returns the results, and why records and capture are incomplete, if they are.
    pub fn finish(mut self, now: Time, overrun: u64) -> Ended {
        self.chain.advance(now, &mut self.rest);
        let Rest { mut statistics, hops, recorders, capture, .. } = self.rest;
        statistics.close();
        statistics.overrun += overrun;
        statistics.flows = self.flows.seen() as u64;
        let unrecorded = recorders.into_iter().enumerate();
        let unrecorded =
            unrecorded.filter_map(|(hop, recorder)| Some((hop, recorder.finish(now)?))).collect();
        let uncaptured = capture.and_then(Capture::finish);
        Ended { statistics, hops, lateness: self.lateness, unrecorded, uncaptured }
    }
}
