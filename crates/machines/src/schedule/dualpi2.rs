//! DualPI2: a queue with little delay for L4S and one for all else, which share a link without shares. De Schepper,
//! Briscoe, White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low Loss, and Scalable
//! Throughput (L4S)", RFC 9332, 2023, Appendix A, with its names: its pseudocode, that for overload (A.2) included;
//! PI2 is De Schepper, Bondarenko, Tsang, Briscoe, "PI2: A Linearized AQM for both Classic and Scalable TCP", CoNEXT
//! 2016.
//!
//! A PI controller of the queueing delay moves one probability p'. Classic packets are dropped or marked with p_C =
//! p'², as their senders' windows go by 1/√p; L4S packets are marked with p_CL = k p' at least, as theirs go by 1/p.
//! So a flow of each kind gets about as much, though the Classic queue holds its target of delay and the L4S queue
//! hardly anything: L4S goes first, and its own marking, a ramp, begins below a millisecond.
//!
//! All updates that were due are made before anything that depends on them: no timers.
//!
//! ```text
//! CHOICE RFC 9332 §A.1: updates every 16 ms, alpha 0.16 and beta 3.2 Hz, as in Linux (sch_dualpi2.c). Other reading:
//! Tupdate = min(target, RTT_max / 3), alpha = 0.1 Tupdate / RTT_max², beta = 0.3 / RTT_max, which is 15 ms, 0.15 and
//! 3 Hz for RTT_max = 100 ms.
//! CHOICE RFC 9332 §A.1: the clock of updates begins with the port's first packet, so that results do not depend on
//! when that is.
//! CHOICE RFC 9332 §A.1: whose turn it is: weighted round robin by bytes as Linux has it (a credit that each queue
//! pays as long as the other one waits), with the weight of 1/16 for Classic that the RFC suggests; Linux's is a
//! tenth. Other reading: a time-shifted FIFO (`turns = "time-shift"`).
//! CHOICE RFC 9332 §A.1: `recur` adds probabilities up and lets every whole one act, which spreads marks. Other
//! reading (`draws = "random"`, Linux): each packet by itself.
//! CHOICE RFC 9332 §A.1: L4S's own marking is the ramp of the pseudocode, 800 to 1200 us, and acts on packets that
//! leave as many as Th_len behind in their queue. Other reading (Linux): a step at 1 ms, `ramp = "0us"`, whatever is
//! left behind.
//! CHOICE RFC 9332 §A.1: nothing is dropped that leaves less than two full packets behind, both queues together (as in
//! Linux, which does not mark such packets either). Other reading: the loop may drop all that waits.
//! CHOICE RFC 9332 §A.2: the delay that p' follows is the longer one of what the heads of both queues have waited, as
//! in Linux. Other reading (A.1): that of the Classic queue.
//! CHOICE RFC 9332 §A.2: p_Cmax is 1/k², where p_CL reaches p_Lmax = 1: overload begins for both queues at once.
//! CHOICE RFC 9332 §4.2: room is the port's, for both queues together, and what arrives at a full port is dropped;
//! where ports share memory the longer queue gives up its tail.
//! ```

use super::{Around, At, Entry, Manages, Needs, Order, Parameters, Problems};
use crate::problems::Invalid;
use crate::stage::Acts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Stream, Time};
use thalweg_wire::{Ecn, Handle, Packet};

/// DualPI2: two queues, one for L4S and one for Classic traffic, with coupled marking (RFC 9332).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Target queueing delay of Classic traffic.
    pub target: Span,
    /// Tupdate: interval between updates of the base probability.
    pub update: Span,
    /// alpha, per second: integral gain, the weight of the delay's distance from the target.
    #[schemars(extend("minimum" = 0.0, "maximum" = 100_000.0))]
    pub alpha: f64,
    /// beta, per second: proportional gain, the weight of the delay's change since the last update.
    #[schemars(extend("minimum" = 0.0, "maximum" = 100_000.0))]
    pub beta: f64,
    /// k: coupling factor. L4S packets are marked with k times the square root of the Classic drop probability.
    #[schemars(extend("minimum" = 1.0, "maximum" = 100.0))]
    pub coupling: f64,
    /// minTh: L4S packets that have waited longer than this may be marked by the native L4S AQM.
    pub ramp_start: Span,
    /// range: width of the native L4S ramp; for L4S packets that have waited longer than `ramp_start` + `ramp` its
    /// probability is 1.
    pub ramp: Span,
    /// Th_len: the native L4S AQM does not mark if fewer packets than this remain in the L4S queue.
    pub ramp_packets: u32,
    /// Which queue is served when both hold packets.
    pub turns: Turns,
    /// For `turns = "weighted"`: minimum share of Classic traffic when both queues hold packets. If not given, 1/16.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub share: Option<f64>,
    /// For `turns = "time-shift"`: L4S goes first unless the head of the Classic queue has waited longer by this. If
    /// not given, twice the target.
    pub time_shift: Option<Span>,
    /// How a probability becomes drop and mark decisions.
    pub draws: Draws,
}

/// Which queue is served when both hold packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// L4S, except for a minimum share of Classic traffic: weighted round robin.
    #[default]
    Weighted,
    /// The queue whose head has waited longer, with a head start for L4S: time-shifted FIFO.
    TimeShift,
}

/// How a probability becomes drop and mark decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Draws {
    /// Deterministic: probabilities are accumulated, and each time the sum reaches one a packet is affected.
    #[default]
    Recur,
    /// Random: each packet is drawn independently.
    Random,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_ms(15), // RFC 9332 §A.1
            update: Span::from_ms(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0, // RFC 9332 §A.1
            ramp_start: Span::from_us(800),
            ramp: Span::from_us(400),
            ramp_packets: 1,
            turns: Turns::default(),
            share: None,
            time_shift: None,
            draws: Draws::default(),
        }
    }
}

/// RFC 9332 §A.1.
const SHARE: f64 = 1.0 / 16.0;
/// A full packet, bytes.
const MTU: f64 = 1500.0;
/// Nothing is dropped if fewer bytes than this would remain.
const SPARED: u64 = 3000;

impl Parameters for Params {
    type Machine = DualPi2;

    fn needs(&self) -> Needs {
        Needs { manages: Manages::Delay, acts: Acts::MarksOrDrops, l4s: true, ..Needs::NOTHING }
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        problems.positive("target", self.target, "15ms");
        problems.positive("update", self.update, "16ms");
        for (key, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(0.0..=100_000.0).contains(&value) {
                problems.wrong(key, format!("{value} is out of range"), "allowed: 0 to 100000");
            }
        }
        if !(1.0..=100.0).contains(&self.coupling) {
            problems.wrong("coupling", format!("{} is out of range", self.coupling), "allowed: 1 to 100");
        }
        if let Some(share) = self.share
            && !(share > 0.0 && share < 1.0)
        {
            problems.wrong("share", format!("{share} is out of range"), "allowed: above 0, below 1");
        }
        if self.turns == Turns::TimeShift && self.share.is_some() {
            problems.useless("share", "turns go by the time waited", "write `turns = \"weighted\"`");
        }
        if self.turns == Turns::Weighted && self.time_shift.is_some() {
            let hint = "write `turns = \"time-shift\"`";
            problems.useless("time_shift", "turns go by shares", hint);
        }
    }

    fn make(&self, at: &At) -> Result<DualPi2, Invalid> {
        let share = self.share.unwrap_or(SHARE);
        let turn = match self.turns {
            Turns::Weighted => Turn::Weighted { share, credit: first_credit(share) },
            Turns::TimeShift => Turn::TimeShift(self.time_shift.unwrap_or(self.target.saturating_mul(2))),
        };
        Ok(DualPi2 {
            p: self.clone(),
            stream: (self.draws == Draws::Random).then_some(at.stream),
            lq: Fifo::default(),
            cq: Fifo::default(),
            turn,
            base: Base { p: 0.0, prevq: Span::ZERO, next: None },
            marked: false,
            dropped: Vec::new(),
        })
    }

    /// Times are so short that test sequences of microseconds reach everything.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self {
            target: Span::from_us(2),
            update: Span::from_us(3),
            alpha: 20_000.0,
            beta: 40_000.0,
            ramp_start: Span::from_us(1),
            ramp: Span::from_us(1),
            ..Self::default()
        };
        let random =
            Self { draws: Draws::Random, turns: Turns::TimeShift, ramp: Span::ZERO, ..short.clone() };
        vec![Self { ramp_packets: 3, share: Some(0.4), ..short.clone() }, random, short, Self::default()]
    }
}

/// The credit before anything was sent: L4S's turn, unless Classic's share is more than half (Linux,
/// c_protection_init).
fn first_credit(share: f64) -> f64 {
    MTU * (2.0 * share - 1.0)
}

/// One of both queues.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Fifo {
    ring: VecDeque<(Entry, Time)>,
    bytes: u64,
    /// For `recur`: the accumulated probability.
    count: f64,
}

impl Fifo {
    fn push(&mut self, now: Time, entry: Entry) {
        self.bytes += u64::from(entry.wire);
        self.ring.push_back((entry, now));
    }
    fn pop(&mut self) -> Option<(Entry, Time)> {
        let (entry, came) = self.ring.pop_front()?;
        self.bytes -= u64::from(entry.wire);
        Some((entry, came))
    }
    fn give_up(&mut self) -> Option<Entry> {
        let (entry, _) = self.ring.pop_back()?;
        self.bytes -= u64::from(entry.wire);
        Some(entry)
    }
    /// Since when its head has waited.
    fn head(&self) -> Option<Time> {
        self.ring.front().map(|(_, came)| *came)
    }
    /// time(): how long its head has waited.
    fn time(&self, now: Time) -> Span {
        self.head().map_or(Span::ZERO, |came| now.since(came))
    }
}

/// What keeps turns.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Turn {
    /// Bytes that Classic traffic has in credit: above zero it is its turn.
    Weighted {
        share: f64,
        credit: f64,
    },
    TimeShift(Span),
}

/// The PI controller.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Base {
    /// p', the base probability.
    p: f64,
    prevq: Span,
    /// When the next update is due; `None`: nothing has come yet.
    next: Option<Time>,
}

/// DualPI2 at one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DualPi2 {
    p: Params,
    /// Of `draws = "random"`.
    stream: Option<Stream>,
    lq: Fifo,
    cq: Fifo,
    turn: Turn,
    base: Base,
    /// The packet that left last was marked here.
    marked: bool,
    dropped: Vec<Entry>,
}

/// The decision for a packet that is to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Pass,
    Mark,
    Drop,
}

impl DualPi2 {
    /// Performs all updates that were due up to `now`. The queues have not changed since the last event.
    fn catch_up(&mut self, now: Time) {
        let update = self.p.update;
        let mut next = self.base.next.unwrap_or(now.saturating_add(update));
        while next <= now {
            let (before, curq) = (self.base.p, self.dualpi2_update(next));
            next = next.saturating_add(update);
            let empty = curq.is_zero() && self.lq.ring.is_empty() && self.cq.ring.is_empty();
            let rests =
                self.base.p == before && (empty && before == 0.0 || curq > self.p.target && before == 1.0);
            if rests && next <= now {
                // Until the next event only the waiting time changes.
                let missed = now.since(next).ps() / update.ps();
                next = next.saturating_add(update.saturating_mul(missed));
            }
        }
        self.base.next = Some(next);
    }

    /// A.1 and A.2, dualpi2_update.
    fn dualpi2_update(&mut self, now: Time) -> Span {
        let curq = self.cq.time(now).max(self.lq.time(now));
        let Params { target, alpha, beta, .. } = self.p;
        let (curq_s, base) = (curq.secs(), &mut self.base);
        let change = alpha * (curq_s - target.secs()) + beta * (curq_s - base.prevq.secs());
        base.p = (base.p + change).clamp(0.0, 1.0);
        base.prevq = curq;
        curq
    }

    /// p_C.
    fn p_c(&self) -> f64 {
        self.base.p * self.base.p
    }
    /// p_CL.
    fn p_cl(&self) -> f64 {
        self.p.coupling * self.base.p
    }
    /// A.2: p_CL >= p_Lmax, p_C >= p_Cmax.
    fn is_overloaded(&self) -> bool {
        self.p_cl() >= 1.0
    }

    /// laqm: the native L4S marking probability for a packet that has waited `qdelay`.
    fn laqm(&self, qdelay: Span) -> f64 {
        let Params { ramp_start, ramp, ramp_packets, .. } = self.p;
        if self.lq.ring.len() < ramp_packets as usize || qdelay <= ramp_start {
            return 0.0;
        }
        let above = Span::from_ps(qdelay.ps() - ramp_start.ps());
        if above >= ramp { 1.0 } else { above.secs() / ramp.secs() }
    }

    /// Whether the Classic queue is next; both wait.
    fn is_classics_turn(&self) -> bool {
        match (self.turn, self.lq.head(), self.cq.head()) {
            (Turn::Weighted { credit, .. }, _, _) => credit > 0.0,
            (Turn::TimeShift(shift), Some(l), Some(c)) => c.saturating_add(shift) < l,
            (Turn::TimeShift(_), l, _) => l.is_none(),
        }
    }

    /// `wire` bytes leave one queue: it pays, if the other one waits.
    fn pay(&mut self, classic: bool, wire: u32) {
        let other = if classic { &self.lq } else { &self.cq };
        if let Turn::Weighted { share, credit } = &mut self.turn
            && !other.ring.is_empty()
        {
            *credit += f64::from(wire) * if classic { *share - 1.0 } else { *share };
        }
    }

    /// recur, or a draw.
    fn acts(&mut self, classic: bool, likelihood: f64) -> bool {
        if let Some(stream) = &mut self.stream {
            return stream.unit() < likelihood;
        }
        let queue = if classic { &mut self.cq } else { &mut self.lq };
        queue.count += likelihood;
        let whole = queue.count > 1.0;
        if whole {
            queue.count -= 1.0;
        }
        whole
    }

    /// A.2, dualpi2_dequeue: what becomes of an L4S packet that has waited so long.
    fn of_l4s(&mut self, waited: Span, spared: bool) -> Fate {
        if !self.is_overloaded() {
            let p_l = self.laqm(waited).max(self.p_cl());
            return if self.acts(false, p_l) { Fate::Mark } else { Fate::Pass };
        }
        // Overload saturation: marks say no more, so that losses must; what is left is marked, as p_CL >= 1.
        let p_c = self.p_c();
        if self.acts(false, p_c) && !spared { Fate::Drop } else { Fate::Mark }
    }

    /// Likewise of a Classic one.
    fn of_classic(&mut self, ecn: Ecn, spared: bool) -> Fate {
        let p_c = self.p_c();
        if !self.acts(true, p_c) {
            return Fate::Pass;
        }
        match ecn {
            Ecn::NotEct if spared => Fate::Pass,
            Ecn::NotEct => Fate::Drop,
            // Overload disables ECN.
            _ if self.is_overloaded() && !spared => Fate::Drop,
            _ => Fate::Mark,
        }
    }

    /// Nothing waits.
    fn rest(&mut self) {
        if let Turn::Weighted { share, credit } = &mut self.turn {
            *credit = first_credit(*share);
        }
    }
}

/// "ecn(pkt) modulo 2 == 1": ECT(1), and CE, which may have been that (RFC 9331 §5.1).
fn is_l4s(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect1 | Ecn::Ce)
}

impl Order for DualPi2 {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    /// A.1, dualpi2_enqueue: the classifier.
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        self.catch_up(now);
        let queue = if is_l4s(packet.ecn) { &mut self.lq } else { &mut self.cq };
        queue.push(now, Entry::new(packet, handle));
    }
    /// A.2, dualpi2_dequeue.
    fn pop(&mut self, now: Time) -> Option<Entry> {
        self.catch_up(now);
        self.marked = false;
        loop {
            let classic = self.lq.ring.is_empty() || !self.cq.ring.is_empty() && self.is_classics_turn();
            let queue = if classic { &mut self.cq } else { &mut self.lq };
            let Some((mut entry, came)) = queue.pop() else {
                self.rest();
                return None;
            };
            let spared = self.lq.bytes + self.cq.bytes < SPARED;
            let fate = if classic {
                self.of_classic(entry.ecn, spared)
            } else {
                self.of_l4s(now.since(came), spared)
            };
            if fate == Fate::Drop {
                self.dropped.push(entry);
                continue;
            }
            self.pay(classic, entry.wire);
            self.marked = fate == Fate::Mark && entry.ecn != Ecn::Ce;
            if fate == Fate::Mark {
                entry.ecn = Ecn::Ce;
            }
            return Some(entry);
        }
    }
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        if self.lq.bytes > self.cq.bytes { self.lq.give_up() } else { self.cq.give_up() }
    }
    fn take_dropped(&mut self) -> Option<Entry> {
        self.dropped.pop()
    }
    fn on_idle(&mut self, _at: Time) {
        self.rest();
    }
    #[inline]
    fn has_marked(&self) -> bool {
        self.marked
    }
}

#[cfg(test)]
mod tests;
