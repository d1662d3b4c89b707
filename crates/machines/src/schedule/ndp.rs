//! NDP's port (Handley et al., "Re-architecting Datacenter Networks and Stacks for Low Latency and High
//! Performance", SIGCOMM 2017, §3.1): a short queue of data and one of headers. Data that does not fit is not
//! dropped but *trimmed*: its payload is cut, and the header goes on ahead of all data, so that the receiver knows
//! at once what was sent and lost. Control packets wait with the headers.
//!
//! Three things differ from cut payload (Cheng et al., NSDI 2014), whose phase effects and collapse they mend:
//! headers wait in a queue of their own; it has ten turns for one of the data's, so that headers alone cannot fill
//! the link; and a fair coin decides whether the arriving packet is trimmed or the one at the tail of the queue.
//!
//! ```text
//! CHOICE NDP §3.1: turns are counted while both queues wait, and only then. Other reading: by time.
//! CHOICE NDP §3.1: a header that finds its queue full is dropped. The paper returns it to its sender, which an
//! incast of thousands needs; that is left out.
//! CHOICE NDP §3.1: as everywhere here, the packet being transmitted takes no place in its queue. Other reading, of the
//! Ultra Ethernet consortium's simulator: it does (`counts_in_service`).
//! CHOICE NDP §3.1: the tail is trimmed only if the arriving packet then fits. The consortium's simulator queues it
//! whatever the limit, which differs behind a short last packet only.
//! CHOICE NDP §3.1: headers have a limit of their own in bytes (`headers`). Other reading, of the same simulator: twice
//! that of the data.
//! CHOICE: a stage marks data alone, by the data that waits, and as it leaves: NDP marks nothing, Ultra Ethernet's
//! switches do. The simulator decides when the last bit has left, and so counts what has come while it was sent; here
//! it is decided with the first bit.
//! ```

use super::{
    Around, At, Discipline, Entry, Limit, Machine, Manages, Needs, OutputQueue, Parameters, Problems, Served,
    Verdict,
};
use crate::Invalid;
use crate::stage::{HeaderStage, Leave, Leaving, StageMachine, StageSpec, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, Rate, Serializer, Span, Stream, Time, mix64};
use thalweg_wire::{Ecn, Handle, Packet};

/// NDP: a short queue that trims packets which do not fit: the payload is cut, and the header goes ahead of all data
/// (Handley et al., SIGCOMM 2017). The port's buffer is the limit of data: 8 packets in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Limit of the queue of headers and control packets, in addition to the data; further ones are dropped.
    pub headers: Bytes,
    /// Headers that are sent per data packet while both wait.
    #[schemars(range(min = 1))]
    pub turns: u32,
    /// Which packet is trimmed.
    pub victim: Victim,
    /// The packet being transmitted counts against the limit of its queue.
    pub counts_in_service: bool,
    /// Packets that do not fit are trimmed; `false`: the same packets are dropped.
    pub trim: bool,
}

/// The packet that is trimmed when data does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The arriving packet or the last one that waits, with equal probability.
    Coin,
    /// Always the arriving packet, as in cut payload.
    Arriving,
    /// Always the last one that waits, or the arriving packet if that would not make room for it.
    Tail,
}

impl Default for Params {
    fn default() -> Self {
        // NDP §3.1: as much memory for headers as for 8 jumbo packets of 9 KB; ten turns; the coin.
        Self {
            headers: Bytes::new(72_000),
            turns: 10,
            victim: Victim::Coin,
            counts_in_service: false,
            trim: true,
        }
    }
}

impl Parameters for Params {
    type Machine = Unlimited;

    fn needs(&self) -> Needs {
        let (trims, fixed_rate) = (self.trim.then_some(self.headers), self.counts_in_service);
        Needs { manages: Manages::Room, trims, keeps: true, fixed_rate, ..Needs::NOTHING }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        if self.turns == 0 {
            problems.wrong("turns", "no header would ever leave while data waits", "at least 1");
        }
        problems.size("headers", self.headers, |size| format!("no header fits into {size}"), "72KB");
        if !at.overflows {
            let why =
                format!("nothing is trimmed where everything fits: `{}.buffer` has no limit", at.section);
            problems.useless("kind", &why, "write `buffer = \"8 packets\"`, or another scheduler");
        }
    }

    fn make(&self, at: &At) -> Result<Unlimited, Invalid> {
        let mut stream = at.stream;
        Ok(Unlimited { params: *self, coin: Stream::new(mix64(stream.bits()), "trimming coin", 0) })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let default = Self::default();
        let short = Self { headers: Bytes::new(600), turns: 1, victim: Victim::Arriving, ..default };
        vec![default, short, Self { victim: Victim::Tail, counts_in_service: true, ..short }]
    }
}

/// A port that does not know its limit yet.
#[derive(Clone, Debug)]
pub struct Unlimited {
    params: Params,
    coin: Stream,
}

impl Machine for Unlimited {
    type Queue = Trimming;
    fn queue(self, limit: Limit, stage: &StageSpec, at: &At) -> Result<Trimming, Invalid> {
        let (max_packets, max_bytes) = match limit {
            Limit::Bytes(bytes) => (usize::MAX, bytes.get()),
            Limit::Packets(packets) => (packets as usize, u64::MAX),
            Limit::Unlimited => (usize::MAX, u64::MAX),
        };
        let Self { params, coin } = self;
        let (data, headers) = (Row::default(), Row::default());
        let marker = Marker::new(stage, at)?;
        let in_service = InService { wire: Serializer::new(at.rate, Span::ZERO), ..InService::default() };
        let (max, taken) = ((max_packets, max_bytes), 0);
        Ok(Trimming { data, headers, max, params, taken, coin, marker, in_service })
    }
}

/// What marks data as it leaves.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Marker {
    stage: Box<StageMachine>,
    rate: Rate,
    /// Bytes of data that have left.
    sent: u64,
}

impl Marker {
    /// # Errors
    /// If the stage does anything else.
    fn new(stage: &StageSpec, at: &At) -> Result<Option<Self>, Invalid> {
        if *stage == StageSpec::default() {
            return Ok(None);
        }
        if !stage.marks_leaving() {
            let why = format!("{} does more than to mark what leaves, and this queue trims", stage.key());
            return Err(Invalid::new(why).at("marking"));
        }
        let stage = Box::new(stage.make(at.stream, at.rate)?);
        Ok(Some(Self { stage, rate: at.rate, sent: 0 }))
    }

    /// A data packet leaves, and the data `behind` it still waits. Returns whether it is marked.
    fn marks(&mut self, now: Time, entry: &Entry, behind: &Row) -> bool {
        let (packets, bytes) = (behind.packets.len() as u32, behind.bytes);
        let (wire, rate, sent) = (entry.wire, self.rate, self.sent);
        let view = View { packets, bytes, wire, rate, sent, idle_for: Span::ZERO, waited: Span::ZERO };
        self.sent += u64::from(wire);
        self.stage.on_departure(now, &view, Leaving { ecn: entry.ecn }) == Leave::Mark
    }
}

/// The packet being transmitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct InService {
    wire: Serializer,
    until: Time,
    bytes: u64,
    is_header: bool,
}

impl Default for InService {
    fn default() -> Self {
        let wire = Serializer::new(Rate::INFINITE, Span::ZERO);
        Self { wire, until: Time::ZERO, bytes: 0, is_header: false }
    }
}

/// Packets in order of arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Row {
    bytes: u64,
    packets: VecDeque<Waiting>,
}

/// A packet, and what would be left of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiting {
    entry: Entry,
    bare: u32,
}

impl Row {
    fn push(&mut self, waiting: Waiting) {
        self.bytes += u64::from(waiting.entry.wire);
        self.packets.push_back(waiting);
    }
    fn left(&mut self, waiting: Option<Waiting>) -> Option<Waiting> {
        self.bytes -= waiting.map_or(0, |packet| u64::from(packet.entry.wire));
        waiting
    }
    fn pop(&mut self) -> Option<Waiting> {
        let first = self.packets.pop_front();
        self.left(first)
    }
    fn pop_tail(&mut self) -> Option<Waiting> {
        let last = self.packets.pop_back();
        self.left(last)
    }
}

/// Both queues of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trimming {
    data: Row,
    headers: Row,
    /// Packets and bytes of data.
    max: (usize, u64),
    params: Params,
    /// Headers sent since data was last sent, while both waited.
    taken: u32,
    coin: Stream,
    marker: Option<Marker>,
    in_service: InService,
}

impl Trimming {
    /// Data, or headers, fit besides what waits and what is being transmitted, if that counts.
    fn fit(&self, now: Time, is_header: bool, (packets, bytes): (usize, u64)) -> bool {
        let InService { until, bytes: sent, is_header: of_headers, .. } = self.in_service;
        let sends = self.params.counts_in_service && until > now && is_header == of_headers;
        let (more, sent) = if sends { (1, sent) } else { (0, 0) };
        let most = if is_header { (usize::MAX, self.params.headers.get()) } else { self.max };
        packets + more <= most.0 && bytes + sent <= most.1
    }

    /// Of a packet that may be trimmed what is left joins the headers, if there is room.
    fn join_headers(&mut self, now: Time, Waiting { entry, bare }: Waiting) -> bool {
        let fits = self.fit(now, true, (1, self.headers.bytes + u64::from(bare)));
        if fits {
            self.headers.push(Waiting { entry: Entry { wire: bare, ..entry }, bare });
        }
        fits
    }

    /// Data does not fit: chooses the packet to trim.
    fn overflow(&mut self, now: Time, arriving: Waiting, out: &mut Vec<Handle>) -> Verdict {
        let tail = match self.data.packets.back() {
            Some(tail)
                if self.params.victim != Victim::Arriving && self.takes_place_of(now, *tail, arriving) =>
            {
                self.params.victim == Victim::Tail || self.coin.below(2) == 1
            }
            _ => false,
        };
        let victim = if tail { self.data.pop_tail().expect("it is there") } else { arriving };
        if tail {
            self.data.push(arriving);
        }
        let Waiting { entry: Entry { handle, wire, .. }, bare } = victim;
        match (self.params.trim && bare < wire && self.join_headers(now, victim), tail) {
            (true, _) => Verdict::Trimmed(handle),
            (false, true) => {
                out.push(handle);
                Verdict::Queued
            }
            (false, false) => Verdict::Dropped,
        }
    }

    /// The arriving packet would fit without the one at the tail.
    fn takes_place_of(&self, now: Time, tail: Waiting, arriving: Waiting) -> bool {
        let bytes = self.data.bytes - u64::from(tail.entry.wire) + u64::from(arriving.entry.wire);
        self.fit(now, false, (self.data.packets.len(), bytes))
    }

    /// The next packet is a header; otherwise it is data, if there is any.
    fn is_header_next(&mut self) -> bool {
        if self.headers.packets.is_empty() || self.data.packets.is_empty() {
            return !self.headers.packets.is_empty();
        }
        let turn = self.taken < self.params.turns;
        self.taken = if turn { self.taken + 1 } else { 0 };
        turn
    }

    fn begins(&mut self, now: Time, entry: &Entry, is_header: bool) {
        let until = now.saturating_add(self.in_service.wire.span(entry.wire));
        self.in_service =
            InService { until, bytes: u64::from(entry.wire), is_header, ..self.in_service.clone() };
    }

    /// The next packet, and whether it is marked.
    fn next(&mut self, now: Time) -> Option<(Entry, bool)> {
        if self.is_header_next() {
            let Waiting { entry, .. } = self.headers.pop()?;
            self.begins(now, &entry, true);
            return Some((entry, false));
        }
        let Waiting { mut entry, .. } = self.data.pop()?;
        self.begins(now, &entry, false);
        let Self { marker, data, .. } = self;
        let marks = marker.as_mut().is_some_and(|marker| marker.marks(now, &entry, data));
        if marks {
            entry.ecn = Ecn::Ce;
        }
        Some((entry, marks))
    }
}

impl OutputQueue for Trimming {
    fn serve(
        &mut self,
        now: Time,
        _: &mut Vec<Handle>,
        _look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        self.next(now)
    }

    fn bypass_limit(&self) -> u64 {
        let unseen = self.marker.as_ref().map_or(u64::MAX, |marker| marker.stage.bypass_limit());
        // What is being transmitted must be known if it counts.
        let none = self.max.0 == 0 || self.params.counts_in_service;
        if none { 0 } else { self.max.1.min(self.params.headers.get()).min(unseen) }
    }
}

impl Discipline for Trimming {
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
        let arriving = Waiting { entry: Entry::new(packet, handle), bare: packet.bare() };
        if packet.is_control() || packet.is_trimmed() {
            let waits = self.join_headers(now, arriving);
            return if waits { Verdict::Queued } else { Verdict::Dropped };
        }
        let (packets, bytes) = (self.data.packets.len() + 1, self.data.bytes + u64::from(packet.wire));
        if !self.fit(now, false, (packets, bytes)) {
            return self.overflow(now, arriving, out);
        }
        self.data.push(arriving);
        Verdict::Queued
    }
    fn dequeue(&mut self, now: Time, _: &mut Vec<Handle>) -> Option<Served> {
        self.next(now).map(|(entry, mark)| Served { handle: entry.handle, mark })
    }
    fn packets(&self) -> u32 {
        (self.data.packets.len() + self.headers.packets.len()) as u32
    }
    fn bytes(&self) -> u64 {
        self.data.bytes + self.headers.bytes
    }
}

#[cfg(test)]
mod tests;
