//! Fair queueing. Demers, Keshav, Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", SIGCOMM 1989,
//! §2.2: packets leave in the order in which bit-by-bit round robin would finish them.
//!
//! R(t), the round number, grows at the link's rate divided by N_ac(t), the flows active in the emulated bit-by-bit
//! server. The i-th packet of a flow, of P bytes, starts at S = max(F_(i−1), R(t)) and finishes at F = S + P;
//! a flow is active while R(t) is below its last F. Smallest F leaves first, the earliest arrival among equals.
//! ACKs and other control packets are packets like any other.
//!
//! Rounds are integers: 1/720 720 of a byte. 720 720 is divisible by 1 … 16, so with arrivals a whole number of
//! byte times apart and at most 16 active flows nothing is ever rounded; otherwise R is rounded down at each
//! arrival and the instant a flow becomes inactive is rounded up to 1 ps: R is late by less than two units per arrival.

use super::structures::heap::{self, IndexedHeap};
use super::structures::lanes::Lanes;
use super::{Around, At, Entry, FairOverflow, Needs, Order, Parameters, Problems};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Time};
use thalweg_wire::{Handle, Packet};

/// Fair queueing by finish numbers of bit-by-bit round robin (Demers, Keshav, Shenker, SIGCOMM 1989).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which packet is dropped when the port is full.
    pub overflow: FairOverflow,
}

impl Parameters for Params {
    type Machine = Fq;

    fn needs(&self) -> Needs {
        Needs { fixed_rate: true, ..Needs::NOTHING }
    }
    fn check(&self, at: &Around, problems: &mut Problems) {
        self.overflow.check(at, problems);
    }
    fn make(&self, at: &At) -> Result<Fq, Invalid> {
        Fq::new(at.rate, self.overflow)
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        [FairOverflow::Tail, FairOverflow::LongestQueue].map(|overflow| Self { overflow }).into()
    }
}

/// Round numbers per byte.
const PER_BYTE: u64 = 720_720;
/// CHOICE: faster links (theory's infinite ones) are emulated at 10 Tb/s; it keeps products within 128 bits.
const FASTEST: Rate = Rate::from_gbps(10_000);

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Flow {
    /// F of its last packet.
    finish: u64,
}

/// One FIFO per flow; the heads by finish number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fq {
    lanes: Lanes<Flow>,
    /// Lanes that hold packets, by the finish number of their first.
    heads: IndexedHeap,
    /// Lanes active in the emulated server, by a lower bound of their last finish number, which is updated when the
    /// lane comes first, not at every arrival.
    active: IndexedHeap,
    /// R at the instant `at`.
    round: u64,
    at: Time,
    /// A lone flow's rounds per picosecond, as a reduced fraction.
    speed: (u64, u64),
    overflow: FairOverflow,
}

impl Fq {
    /// A port of `rate`.
    ///
    /// # Errors
    /// If the rate is zero: the round number would stand still.
    pub fn new(rate: Rate, overflow: FairOverflow) -> Result<Self, Invalid> {
        if rate == Rate::ZERO {
            return Err(Invalid::new("fair queueing needs the port's rate, and it is zero"));
        }
        // bit/s × units/byte ÷ (8 bit/byte × 10¹² ps/s)
        let units = u128::from(rate.min(FASTEST).bps()) * u128::from(PER_BYTE);
        let per = 8_000_000_000_000u128;
        let common = gcd(units, per);
        let speed = ((units / common) as u64, (per / common) as u64);
        Ok(Self {
            lanes: Lanes::default(),
            heads: IndexedHeap::default(),
            active: IndexedHeap::default(),
            round: 0,
            at: Time::ZERO,
            speed,
            overflow,
        })
    }

    /// Runs the emulated server up to `now`.
    fn advance(&mut self, now: Time) {
        let mut left = now.since(self.at).ps();
        self.at = now;
        let (units, per) = self.speed;
        while left > 0 {
            let Some((finish, lane)) = self.next_to_finish() else { break };
            let share = per * self.active.len() as u64; // at most 8·10¹² × 2²⁴
            let gain = mul_div(left, units, share);
            let wanted = finish.saturating_sub(self.round);
            if gain < wanted {
                self.round += gain;
                break;
            }
            self.round += wanted;
            left = left.saturating_sub(mul_div_up(wanted, share, units));
            self.active.remove(lane);
            self.close_if_forgotten(lane);
        }
        if self.active.len() == 0 && self.lanes.packets() == 0 {
            self.round = 0; // nothing remembers it
        }
    }

    /// The lane that becomes inactive first, and its last packet's finish number.
    fn next_to_finish(&mut self) -> Option<(u64, u32)> {
        loop {
            let first = self.active.first()?;
            let lane = heap::slot(first);
            let finish = self.lanes.state(lane).finish;
            if heap::value(first) == finish {
                return Some((finish, lane));
            }
            self.active.replace_first(heap::key(finish, 0, lane));
        }
    }

    /// A lane is kept for its packets and for as long as its last finish number lies ahead.
    fn close_if_forgotten(&mut self, lane: u32) {
        if self.lanes.lane_is_empty(lane) && !self.active.contains(lane) {
            self.lanes.close(lane);
        }
    }

    /// The sort key of the lane's first packet.
    fn head_key(&self, lane: u32) -> heap::Key {
        let head = self.lanes.node(self.lanes.lane(lane).head);
        heap::key(head.stamp, head.arrival, lane)
    }
}

impl Order for Fq {
    #[inline]
    fn pushes_out(&self) -> bool {
        self.overflow == FairOverflow::LongestQueue
    }
    #[inline]
    fn refuses(&self, _: &Packet) -> bool {
        self.lanes.is_full()
    }
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        self.advance(now);
        let lane = self.lanes.open(packet.flow);
        let start = self.lanes.state(lane).finish.max(self.round);
        let finish = start + u64::from(packet.wire) * PER_BYTE;
        self.lanes.state(lane).finish = finish;
        let waited = !self.lanes.lane_is_empty(lane);
        self.lanes.append(lane, Entry::new(packet, handle), finish, ());
        if !self.active.contains(lane) {
            self.active.push(heap::key(finish, 0, lane));
        }
        if !waited {
            self.heads.push(self.head_key(lane));
        }
    }
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        let lane = heap::slot(self.heads.first()?);
        let node = self.lanes.take(self.lanes.lane(lane).head);
        if self.lanes.lane_is_empty(lane) {
            self.heads.remove(lane);
            self.close_if_forgotten(lane);
        } else {
            self.heads.replace_first(self.head_key(lane));
        }
        Some(node.entry)
    }
    /// CHOICE ADS §2.2, DKS §2.2: the newest packet of the longest queue (bytes) is dropped, and the emulated server
    /// forgets it too: its flow's last finish number goes back to where that packet started.
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        let victim = self.lanes.tail_of_longest()?;
        let node = self.lanes.take(victim);
        let start = node.stamp - u64::from(node.entry.wire) * PER_BYTE;
        self.lanes.state(node.lane).finish = start;
        if self.active.contains(node.lane) {
            self.active.set(heap::key(start, 0, node.lane));
        }
        if self.lanes.lane_is_empty(node.lane) {
            self.heads.remove(node.lane);
            self.close_if_forgotten(node.lane);
        }
        Some(node.entry)
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// a · b ÷ c rounded down, without a 128-bit division where 64 bits do.
#[inline]
fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / c,
        None => u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(u64::MAX),
    }
}

/// a · b ÷ c rounded up.
#[inline]
fn mul_div_up(a: u64, b: u64, c: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product.div_ceil(c),
        None => u64::try_from((u128::from(a) * u128::from(b)).div_ceil(u128::from(c))).unwrap_or(u64::MAX),
    }
}
