//! Packet-by-packet round robin over bins, new bins first: stochastic fair queueing (McKenney, INFOCOM 1990) with the
//! flow list of FQ-CoDel (RFC 8290, §4.2) and a quantum of one packet. What Mittal et al. (NSDI 2016) call FQ, and
//! with [`Codel`] in every bin, FQ-CoDel.
//!
//! A bin that becomes active joins after other new bins but ahead of all old ones. After sending a packet it is old
//! and goes to the tail. An emptied bin stays on the list until its next turn: until then, what comes to it finds it
//! old. Control packets are packets like any other.

use super::structures::bins::Bins;
use super::structures::heap::{self, IndexedHeap};
use super::{Around, At, Entry, Order, Parameters, Problems};
use crate::problems::Invalid;
use crate::stage::{Departure, codel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// Packet by packet round robin over flows, new flows first; drops from the longest queue in packets (stochastic fair
/// queueing: McKenney, INFOCOM 1990).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Number of queues that flows are hashed into. If not given, every flow and direction has its own.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub bins: Option<u32>,
}

impl Parameters for Params {
    type Machine = RoundRobin;

    fn check(&self, _: &Around, problems: &mut Problems) {
        if self.bins == Some(0) {
            problems.wrong("bins", "round robin needs at least one", "at least 1");
        }
    }
    fn make(&self, _: &At) -> Result<RoundRobin, Invalid> {
        RoundRobin::new(self.bins, None)
    }
}

/// One FIFO per bin that waits, visited in turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoundRobin {
    bins: Bins,
    /// The list: new bins, then old ones.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Listed bins by falling packets; kept only from the first overflow of a busy period to its end.
    longest: IndexedHeap,
    tracking: bool,
    /// Bytes of all bins.
    bytes: u64,
    codel: Option<codel::Params>,
    dropped: Vec<Entry>,
}

impl RoundRobin {
    /// `bins` bins that flows are hashed to, or one for each flow and direction.
    ///
    /// # Errors
    /// If there are none.
    pub fn new(bins: Option<u32>, codel: Option<codel::Params>) -> Result<Self, Invalid> {
        Ok(Self {
            // A fixed hash, the same at every port and in every run.
            bins: Bins::new(bins, 0, codel.as_ref())?,
            new: VecDeque::new(),
            old: VecDeque::new(),
            longest: IndexedHeap::default(),
            tracking: false,
            bytes: 0,
            codel,
            dropped: Vec::new(),
        })
    }

    /// Takes a packet out of its bin, which stays on the list.
    fn take(&mut self, node: u32) -> (Entry, Time) {
        let node = self.bins.lanes.take(node);
        self.bins.lanes.state(node.lane).packets -= 1;
        self.bytes -= u64::from(node.entry.wire);
        self.note_length(node.lane);
        (node.entry, Time::from_ps(node.stamp))
    }

    /// The next packet of a bin that holds any, through its CoDel.
    fn serve(&mut self, now: Time, lane: u32) -> Option<Entry> {
        let Some(spec) = self.codel else { return Some(self.take(self.bins.lanes.lane(lane).head).0) };
        let (mut codel, mut dropped) = (self.bins.lanes.state(lane).codel, std::mem::take(&mut self.dropped));
        let take = || {
            if self.bins.lanes.lane_is_empty(lane) {
                return None;
            }
            let (entry, came) = self.take(self.bins.lanes.lane(lane).head);
            // CHOICE UPS §3.2 (CoDel): the backlog that may be an MTU is the port's, as in the authors' simulator.
            let nearly_empty = self.bins.lanes.lane_is_empty(lane) || self.bytes <= spec.mtu.get();
            Some((entry, Departure { waited: now.since(came), nearly_empty }))
        };
        let served = codel.serve(&spec, now, take, |_| false, |entry| dropped.push(entry));
        self.bins.lanes.state(lane).codel = codel;
        self.dropped = dropped;
        served
    }

    #[inline]
    fn note_length(&mut self, lane: u32) {
        if !self.tracking {
            return;
        }
        if self.bins.lanes.packets() == 0 {
            self.tracking = false;
        } else if self.bins.lanes.state(lane).packets > 0 {
            let key = self.length_key(lane);
            self.longest.set(key);
        } else if self.longest.contains(lane) {
            self.longest.remove(lane);
        }
    }

    fn length_key(&mut self, lane: u32) -> heap::Key {
        let (packets, bin) = (self.bins.lanes.state(lane).packets, self.bins.lanes.lane(lane).flow);
        heap::key(!u64::from(packets), u64::from(bin.0), lane)
    }
}

impl Order for RoundRobin {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    #[inline]
    fn refuses(&self, _: &Packet) -> bool {
        self.bins.lanes.is_full()
    }
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        let lane = self.bins.open(packet);
        let state = self.bins.lanes.state(lane);
        state.packets += 1;
        if !std::mem::replace(&mut state.listed, true) {
            self.new.push_back(lane);
        }
        self.bytes += u64::from(packet.wire);
        self.bins.lanes.append(lane, Entry::new(packet, handle), now.ps(), ());
        self.note_length(lane);
    }
    fn pop(&mut self, now: Time) -> Option<Entry> {
        loop {
            let lane = self.new.pop_front().or_else(|| self.old.pop_front())?;
            if self.bins.lanes.lane_is_empty(lane) {
                self.bins.retire(now, lane);
                continue;
            }
            // A bin's last packet leaves nothing behind, so CoDel always finds one to send.
            let served = self.serve(now, lane);
            self.old.push_back(lane);
            self.bins.forget(now);
            return served;
        }
    }
    /// CHOICE McKenney 1990: the longest queue is that of most packets, as in what Mittal et al. ran. Other
    /// reading: of most bytes, as [`super::fq_codel`], [`super::drr`] and [`super::fq`] have it.
    /// CHOICE UPS §2.3 (FQ): of equally long bins the one with the smaller number gives way. The tail may be
    /// the arriving packet.
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        if !self.tracking {
            self.tracking = true;
            self.longest.clear();
            for i in 0..self.new.len() + self.old.len() {
                let lane = *self.new.get(i).unwrap_or_else(|| &self.old[i - self.new.len()]);
                self.note_length(lane);
            }
        }
        let longest = heap::slot(self.longest.first()?);
        Some(self.take(self.bins.lanes.lane(longest).tail).0)
    }
    #[inline]
    fn take_dropped(&mut self) -> Option<Entry> {
        self.dropped.pop()
    }
}
