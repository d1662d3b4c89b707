//! FQ-CoDel: deficit round robin over queues that flows are hashed into, sparse flows first, CoDel in every queue.
//! Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet, RFC 8290, 2018, with its names and section numbers.
//!
//! A queue that becomes active joins the *new* list with a quantum of credits, and goes to the end of the
//! *old* list once they are spent, or once it is found empty: a flow that sends less than a quantum per round
//! is always new and never waits for the others. An empty queue leaves from the old list only, so that no
//! flow is new twice in a round.
//!
//! With `count = "packets"` a turn is a packet, the longest queue is that of most packets and gives up its
//! tail, and nothing is marked: [`RoundRobin`] with CoDel in every queue, as Mittal et al. (NSDI 2016) have
//! it.
//!
//! ```text
//! CHOICE RFC 8290 §5.2.3: the hard limit (`limit`, 10240 packets there) is the port's `buffer`, in packets
//! or in bytes, as for every scheduler. Other reading: a limit of its own, beneath which one of the two would
//! silently do nothing.
//! CHOICE RFC 8290 §4.1: what is hashed is the flow's number and its direction, one to one with the
//! 5-tuple; the salt is drawn for each port and run.
//! CHOICE RFC 8290 §5.2.2: the target is what the scenario says, 5 ms if nothing, also where a packet takes
//! longer than that to send: a queue that holds no more than an MTU is left alone whatever it waited (`mtu`).
//! Other reading: at least a packet's time.
//! CHOICE RFC 8290 §4.1: packets given up because the port is full do not raise CoDel's count. Other reading:
//! they do, as in Linux.
//! ```

use super::round_robin::RoundRobin;
use super::structures::bins::Bins;
use super::{Around, At, Entry, Manages, Needs, Order, Parameters, Problems};
use crate::problems::Invalid;
use crate::stage::{Acts, Departure, codel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::{Ecn, Handle, Packet};

/// Deficit round robin over hashed flows, sparse ones first, with CoDel in every queue (FQ-CoDel, RFC 8290).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Unit of turns and of queue lengths.
    pub count: Count,
    /// Bytes of credit of a queue per round. If not given, 1514 bytes.
    pub quantum: Option<Bytes>,
    /// Number of queues that flows are hashed into. If not given, 1024; with `count = "packets"` one for each flow and
    /// direction.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub bins: Option<u32>,
    /// Every flow and direction has a queue of its own, without hash collisions.
    pub exact: bool,
    /// When the port is full, packets are dropped from the head of its longest queue: half of its bytes, but at most
    /// this many packets. If not given, 64.
    #[schemars(range(min = 1))]
    pub drop_batch: Option<u32>,
    /// CoDel's target: acceptable standing queueing delay.
    pub target: Span,
    /// CoDel's interval: how long the delay must stay above the target before the first drop.
    pub interval: Span,
    /// CoDel never drops while no more than this many bytes are in the queue.
    pub mtu: Bytes,
    /// CoDel's control law: what is counted, and how the drop rate starts when delay returns.
    pub law: codel::Law,
    /// CoDel marks ECN-capable packets instead of dropping them. If not given, it does.
    pub ecn: Option<bool>,
    /// ECN-capable packets that have waited longer than this are marked in any case.
    pub ce_threshold: Option<Span>,
}

/// Unit of turns and of queue lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Bytes: RFC 8290.
    #[default]
    Bytes,
    /// Packets: a turn is one packet of any size (Mittal et al., NSDI 2016).
    Packets,
}

impl Default for Params {
    fn default() -> Self {
        let codel::Params { target, interval, mtu, law, .. } = codel::Params::default();
        Self {
            count: Count::Bytes,
            quantum: None,
            bins: None,
            exact: false,
            drop_batch: None,
            target, // RFC 8290 §5.2: 5 ms, 100 ms
            interval,
            mtu,
            law,
            ecn: None,
            ce_threshold: None,
        }
    }
}

const QUANTUM: Bytes = Bytes::new(1514); // RFC 8290 §5.2.4
const BINS: u32 = 1024; // RFC 8290 §5.2.5
const DROP_BATCH: u32 = 64; // RFC 8290 §4.1

impl Params {
    fn codel(&self) -> codel::Params {
        let Self { target, interval, mtu, law, .. } = *self;
        codel::Params { target, interval, mtu, law, ecn: Some(self.marks()) }
    }

    fn marks(&self) -> bool {
        self.ecn.unwrap_or(self.count == Count::Bytes)
    }
}

impl Parameters for Params {
    type Machine = FqCodel;

    fn needs(&self) -> Needs {
        let marks = self.marks() || self.ce_threshold.is_some();
        let acts = if marks { Acts::MarksOrDrops } else { Acts::Drops };
        Needs { manages: Manages::Delay, acts, ..Needs::NOTHING }
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        self.codel().check_times(problems);
        let quantum = self.quantum.unwrap_or(QUANTUM);
        problems.size("quantum", quantum, |size| format!("a quantum of {size} is impossible"), "1514B");
        for (key, number) in [("bins", self.bins), ("drop_batch", self.drop_batch)] {
            if number == Some(0) {
                problems.wrong(key, "0 is impossible", "at least 1");
            }
        }
        if self.exact && self.bins.is_some() {
            problems.useless("bins", "with `exact` every flow has a queue of its own", "remove one of both");
        }
        if self.count == Count::Packets {
            let set = [
                ("quantum", self.quantum.is_some()),
                ("exact", self.exact),
                ("drop_batch", self.drop_batch.is_some()),
                ("ecn", self.ecn == Some(true)),
                ("ce_threshold", self.ce_threshold.is_some()),
            ];
            for (key, _) in set.into_iter().filter(|(_, set)| *set) {
                problems.useless(
                    key,
                    "with `count = \"packets\"` there is no such rule",
                    "remove one of both",
                );
            }
        }
    }

    fn make(&self, at: &At) -> Result<FqCodel, Invalid> {
        if self.count == Count::Packets {
            return RoundRobin::new(self.bins, Some(self.codel())).map(FqCodel::Packets);
        }
        let codel = self.codel();
        let bins = (!self.exact).then(|| self.bins.unwrap_or(BINS));
        Ok(FqCodel::Bytes(Deficit {
            bins: Bins::new(bins, at.stream.clone().bits(), Some(&codel))?,
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: self.quantum.unwrap_or(QUANTUM).get() as i64,
            drop_batch: self.drop_batch.unwrap_or(DROP_BATCH),
            codel,
            ce_threshold: self.ce_threshold,
            marked: false,
            dropped: Vec::new(),
        }))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let codel::Params { target, interval, mtu, law, .. } = codel::Params::SHORT;
        let short = Self { target, interval, mtu, law, ..Self::default() };
        let packets = Self { count: Count::Packets, ..short.clone() };
        vec![
            Self { exact: true, drop_batch: Some(1), ecn: Some(false), ..short.clone() },
            Self { bins: Some(4), quantum: Some(Bytes::new(300)), ce_threshold: Some(target), ..short },
            Self { bins: Some(4), ..packets.clone() },
            packets,
        ]
    }
}

/// The order of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)] // it is boxed with its queue
pub enum FqCodel {
    /// RFC 8290's.
    Bytes(Deficit),
    /// By packets.
    Packets(RoundRobin),
}

/// RFC 8290's order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Deficit {
    bins: Bins,
    /// The lists of new and of old queues.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    quantum: i64,
    drop_batch: u32,
    codel: codel::Params,
    ce_threshold: Option<Span>,
    /// The packet that left last was marked by this queue.
    marked: bool,
    dropped: Vec<Entry>,
}

/// A packet on its way out, and how long it has waited.
struct Leaving {
    entry: Entry,
    waited: Span,
    marked: bool,
}

impl Leaving {
    /// Marked, if it can be.
    fn mark(&mut self) -> bool {
        if self.entry.ecn == Ecn::NotEct {
            return false;
        }
        self.marked |= self.entry.ecn != Ecn::Ce;
        self.entry.ecn = Ecn::Ce;
        true
    }
}

impl Deficit {
    /// §4.1: enqueueing.
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        let lane = self.bins.open(packet);
        let bin = self.bins.lanes.state(lane);
        if !std::mem::replace(&mut bin.listed, true) {
            bin.credits = self.quantum;
            self.new.push_back(lane);
        }
        self.bins.lanes.append(lane, Entry::new(packet, handle), now.ps(), ());
    }

    /// §4.1: the port is full. "The queue with the largest current byte count" gives up packets from its head.
    // CHOICE RFC 8290 §4.1: half of the queue is half of its bytes, as in Linux and ns-3. Other reading: half
    // of its packets.
    fn push_out(&mut self) -> Option<Entry> {
        let lane = self.bins.lanes.longest()?;
        let half = self.bins.lanes.lane(lane).bytes / 2;
        let first = self.bins.lanes.take(self.bins.lanes.lane(lane).head).entry;
        let (mut packets, mut bytes) = (1, u64::from(first.wire));
        while packets < self.drop_batch && bytes < half {
            let entry = self.bins.lanes.take(self.bins.lanes.lane(lane).head).entry;
            packets += 1;
            bytes += u64::from(entry.wire);
            self.dropped.push(entry);
        }
        Some(first)
    }

    /// §4.2: dequeueing.
    fn pop(&mut self, now: Time) -> Option<Entry> {
        self.marked = false;
        loop {
            let fresh = self.new.front().copied();
            let lane = fresh.or_else(|| self.old.front().copied())?;
            // CHOICE RFC 8290 §4.2: credits of 0 are spent, too, as in Linux, and as §3 says it ("zero or less").
            // Other reading: only a "negative number" is, as §4.2 says it.
            if self.bins.lanes.state(lane).credits <= 0 {
                self.bins.lanes.state(lane).credits += self.quantum;
                self.join_old(fresh.is_some());
            } else if let Some(entry) = self.serve(now, lane) {
                self.bins.lanes.state(lane).credits -= i64::from(entry.wire);
                self.bins.forget(now);
                return Some(entry);
            } else if fresh.is_some() {
                self.join_old(true); // "crucial to prevent starvation"
            } else {
                self.old.pop_front();
                self.bins.retire(now, lane);
            }
        }
    }

    /// §4.2: the link is free and nothing waits. All queues are found empty: those of the new list move to the old one,
    /// and then each leaves it, so that a flow that returns is new again.
    fn on_idle(&mut self, at: Time) {
        self.old.append(&mut self.new);
        while let Some(lane) = self.old.pop_front() {
            self.bins.retire(at, lane);
        }
    }

    /// The queue in front goes to the end of the old ones.
    fn join_old(&mut self, fresh: bool) {
        let from = if fresh { &mut self.new } else { &mut self.old };
        if let Some(lane) = from.pop_front() {
            self.old.push_back(lane);
        }
    }

    /// Serves a queue through its CoDel; `None`: it is empty.
    fn serve(&mut self, now: Time, lane: u32) -> Option<Entry> {
        let (spec, lanes, dropped) = (self.codel, &mut self.bins.lanes, &mut self.dropped);
        let mut codel = lanes.state(lane).codel;
        let take = || {
            if lanes.lane_is_empty(lane) {
                return None;
            }
            let node = lanes.take(lanes.lane(lane).head);
            let waited = now.since(Time::from_ps(node.stamp));
            // CHOICE RFC 8290 §4.2: the backlog that may be an MTU is the queue's own.
            // CHOICE RFC 8289 §4.4: so a sparse flow next to a busy one loses nothing for the other's delay.
            // Other reading: the port's, all queues together, as both RFCs' code and Linux have it.
            let nearly_empty = lanes.lane(lane).bytes <= spec.mtu.get();
            Some((Leaving { entry: node.entry, waited, marked: false }, Departure { waited, nearly_empty }))
        };
        let mark = |leaving: &mut Leaving| spec.ecn == Some(true) && leaving.mark();
        let served = codel.serve(&spec, now, take, mark, |leaving| dropped.push(leaving.entry));
        self.bins.lanes.state(lane).codel = codel;
        let mut leaving = served?;
        if self.ce_threshold.is_some_and(|threshold| leaving.waited > threshold) {
            leaving.mark();
        }
        self.marked = leaving.marked;
        Some(leaving.entry)
    }
}

impl Order for FqCodel {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    fn refuses(&self, packet: &Packet) -> bool {
        match self {
            Self::Bytes(order) => order.bins.lanes.is_full(),
            Self::Packets(order) => order.refuses(packet),
        }
    }
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        match self {
            Self::Bytes(order) => order.push(now, packet, handle),
            Self::Packets(order) => order.push(now, packet, handle),
        }
    }
    fn pop(&mut self, now: Time) -> Option<Entry> {
        match self {
            Self::Bytes(order) => order.pop(now),
            Self::Packets(order) => order.pop(now),
        }
    }
    fn push_out(&mut self, arriving: Handle) -> Option<Entry> {
        match self {
            Self::Bytes(order) => order.push_out(),
            Self::Packets(order) => order.push_out(arriving),
        }
    }
    fn take_dropped(&mut self) -> Option<Entry> {
        match self {
            Self::Bytes(order) => order.dropped.pop(),
            Self::Packets(order) => order.take_dropped(),
        }
    }
    fn on_idle(&mut self, at: Time) {
        if let Self::Bytes(order) = self {
            order.on_idle(at);
        }
    }
    #[inline]
    fn has_marked(&self) -> bool {
        matches!(self, Self::Bytes(order) if order.marked)
    }
}
