//! One direction with its frames: what comes in arrives at the path's port, what that sends travels the delay line
//! and leaves.

use crate::capture::Capture;
use crate::clock::{Clock, Wall};
use crate::flows::Flows;
use crate::frames::Frames;
use crate::header::{self, Ip, View};
use crate::histogram::Histogram;
use crate::path::{Arrival, Decision, Fate, Path};
use crate::port::Port;
use crate::ports::{Received, Wire};
use crate::record::Recorder;
use crate::statistics::Statistics;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_machines::Invalid;
use thalweg_units::{Span, Time};

/// Frames that are sent by one call at most.
const BATCH: usize = 64;

/// On the way to the far end: when it is there, what was before it, frame.
type Travelling = Reverse<(Time, u64, u32)>;

/// One direction.
pub(crate) struct Direction {
    path: Path,
    rest: Rest,
    classes: u16,
    /// From a decision to the arrival at the far end at least.
    delay: Span,
    flows: Flows,
    pub lateness: Histogram,
}

/// What the path's decisions are applied to.
struct Rest {
    frames: Frames,
    /// Of each frame that waits or travels.
    headers: Vec<Option<Ip>>,
    line: BinaryHeap<Travelling>,
    travelled: u64,
    statistics: Statistics,
    recorder: Option<Recorder>,
    capture: Option<Capture>,
}

impl Rest {
    fn decided(&mut self, decision: &Decision) {
        if let Some(recorder) = &mut self.recorder {
            recorder.decision(decision);
        }
        let label = decision.label;
        let Some(ip) = self.headers.get(label as usize).copied().flatten() else { return };
        self.statistics.decision(decision, ip.wire);
        if decision.marked
            && let Fate::Sent { ecn, .. } = decision.fate
        {
            header::write_ecn(self.frames.get_mut(label), &ip, ecn);
        }
        if let Some(capture) = &mut self.capture {
            capture.decided(decision, self.frames.get(label));
        }
        match decision.fate {
            Fate::Sent { arrives: Some(arrives), .. } => {
                self.line.push(Reverse((arrives, self.travelled, label)));
                self.travelled += 1;
            }
            Fate::Sent { arrives: None, .. } | Fate::Dropped => self.frames.free(label),
        }
    }

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
    /// # Errors
    /// If the port's parameters contradict each other.
    pub fn new(port: &Port, recorder: Option<Recorder>, capture: Option<Capture>) -> Result<Self, Invalid> {
        let rest = Rest {
            frames: Frames::default(),
            headers: Vec::new(),
            line: BinaryHeap::with_capacity(4096),
            travelled: 0,
            statistics: Statistics::default(),
            recorder,
            capture,
        };
        let (flows, lateness) = (Flows::default(), Histogram::default());
        Ok(Self {
            path: Path::new(port)?,
            rest,
            classes: port.classes(),
            delay: port.delay(),
            flows,
            lateness,
        })
    }

    /// The emulator's clock is started, and the wall clock is so far ahead of it.
    pub fn begin(&mut self, wall: Wall) {
        if let Some(capture) = &mut self.rest.capture {
            capture.begin(wall);
        }
    }

    /// A frame has come; what is no IP packet goes to `out` at once.
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
        let class = header::class(dscp, self.classes);
        let mut arrival = Arrival { at: frame.at.min(now), flow, dst, wire, payload, kind, ecn, class };
        arrival.at = self.path.stamp(arrival.at);
        // In front of what is decided because of it.
        if let Some(recorder) = &mut self.rest.recorder {
            recorder.arrival(&arrival);
        }
        self.path.arrive(&arrival, label, &mut |decision| self.rest.decided(&decision));
    }

    /// Decides what is due, and hands over what has arrived at the far end.
    pub fn send(&mut self, clock: &Clock, out: &mut impl Wire) {
        loop {
            let now = clock.now();
            self.path.advance(now, &mut |decision| self.rest.decided(&decision));
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

    /// From a packet's arrival here to its arrival at the far end at least.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// When something is to be done if nothing comes.
    pub fn wake(&self) -> Option<Time> {
        let head = self.rest.line.peek().map(|Reverse((arrives, ..))| *arrives);
        // What is decided then arrives no earlier than this.
        let decided = self.path.wake().map(|at| at.saturating_add(self.delay));
        [head, decided].into_iter().flatten().min()
    }

    /// The run is over at this instant: what it was, and why the record and the capture are not whole, if they are not.
    pub fn finish(mut self, now: Time, overrun: u64) -> (Statistics, Histogram, [Option<String>; 2]) {
        self.path.advance(now, &mut |decision| self.rest.decided(&decision));
        let mut statistics = self.rest.statistics;
        statistics.close();
        statistics.overrun += overrun;
        statistics.flows = self.flows.seen() as u64;
        let stopped = [
            self.rest.recorder.and_then(|recorder| recorder.finish(now)),
            self.rest.capture.and_then(Capture::finish),
        ];
        (statistics, self.lateness, stopped)
    }
}
