//! Counters of one direction, for readers and plots.

use crate::chain::Passed;
use crate::header::{OTHERS, Other};
use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_record::path::{Decision, Fate};
use thalweg_units::Time;

/// Length of a bin of the series.
const BIN: u64 = 100;

/// A bin of the series, a tenth of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Bytes of packets whose transmission began, except those that the link lost.
    pub bytes: u64,
    /// Packets that were dropped or lost.
    pub dropped: u64,
    /// 95th percentile of the waiting times of packets, ns.
    pub waited_p95_ns: u64,
}

/// Counters of one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// IP packets that arrived.
    pub arrived: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets that the last port sent and its link did not lose.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that a port dropped.
    pub dropped: u64,
    /// Packets that a link lost.
    pub lost: u64,
    /// Packets that the last port sent with other ECN bits than on arrival at the first port.
    pub marked: u64,
    /// Number of flows.
    pub flows: u64,
    /// Frames without an IP packet, by kind, which are passed on immediately.
    pub not_ip: BTreeMap<Other, u64>,
    /// Packets that the emulator lost, not the path: its memory or a ring was full, or they were too long.
    pub overrun: u64,
    /// Packets whose checksum the sender had left to a NIC, which there is not.
    pub unfinished: u64,
    /// Time from arrival until transmission began, at all ports together.
    pub waited: Histogram,
    /// The series of tenths of a second, from the start.
    pub series: Vec<Bin>,
    #[serde(skip)]
    bin: Histogram,
}

/// Counters of one port of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// IP packets that arrived there.
    pub arrived: u64,
    /// Packets that it sent and its link did not lose.
    pub packets: u64,
    /// Packets that it dropped.
    pub dropped: u64,
    /// Packets that its link lost.
    pub lost: u64,
    /// Packets that it sent with other ECN bits than on arrival there.
    pub marked: u64,
    /// Time from arrival there until transmission began.
    pub waited: Histogram,
}

impl Hop {
    /// Counts a decision of the port.
    pub fn decision(&mut self, decision: &Decision) {
        let Fate::Sent { arrives, .. } = decision.fate else {
            self.dropped += 1;
            return;
        };
        self.waited.add(decision.at.since(decision.came).ps() / 1000);
        self.marked += u64::from(decision.marked);
        self.packets += u64::from(arrives.is_some());
        self.lost += u64::from(arrives.is_none());
    }
}

impl Statistics {
    /// Counts a frame without an IP packet.
    pub fn other(&mut self, other: Other) {
        debug_assert!(OTHERS.contains(&other));
        *self.not_ip.entry(other).or_default() += 1;
    }

    /// Counts an arrival.
    pub fn arrival(&mut self, wire: u32) {
        self.arrived += 1;
        self.arrived_bytes += u64::from(wire);
    }

    /// Counts the fate of a packet of `wire` bytes.
    pub fn passed(&mut self, passed: &Passed, wire: u32) {
        let decision = &passed.decision;
        let bin = (decision.at.ps() / Time::from_ms(BIN).ps()) as usize;
        if bin >= self.series.len() {
            self.close();
            self.series.resize(bin + 1, Bin::default());
        }
        let bin = &mut self.series[bin];
        match decision.fate {
            Fate::Sent { arrives, .. } => {
                let waited = passed.waited.ps() / 1000;
                self.waited.add(waited);
                self.bin.add(waited);
                self.marked += u64::from(decision.marked);
                if arrives.is_some() {
                    self.packets += 1;
                    self.bytes += u64::from(wire);
                    bin.bytes += u64::from(wire);
                } else {
                    self.lost += 1;
                    bin.dropped += 1;
                }
            }
            Fate::Dropped => {
                self.dropped += 1;
                bin.dropped += 1;
            }
            // Ports that trim are refused.
            Fate::Trimmed { .. } => {}
        }
    }

    /// Closes the last bin.
    pub fn close(&mut self) {
        if let Some(bin) = self.series.last_mut() {
            bin.waited_p95_ns = self.bin.quantile(0.95);
        }
        self.bin.clear();
    }
}
