//! The one list of disciplines and their parameters. Defaults live in the scenario schema, not here.

use crate::stage::{CodelSpec, StageSpec};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// A whole output queue: its limit, its marking and its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DisciplineSpec {
    /// Which packet next, and which to give up.
    pub order: OrderSpec,
    /// The queue's own limit; a shared pool may refuse earlier.
    pub limit: Limit,
    /// What marks or drops packets besides the limit.
    pub stage: StageSpec,
    /// A packet that should go first interrupts the one being transmitted, which later resumes where it stopped
    /// (preempt-resume). Only for the orders of [`DisciplineSpec::can_preempt`].
    pub preemptive: bool,
}

impl DisciplineSpec {
    /// True if the order can say of two packets which goes first whatever was sent before; the others serve in turns
    /// (or in order of arrival, where nothing ever overtakes), and `preemptive` means nothing to them.
    pub fn can_preempt(&self) -> bool {
        match self.order {
            OrderSpec::Lifo
            | OrderSpec::Random
            | OrderSpec::Pifo { .. }
            | OrderSpec::Priority { .. }
            | OrderSpec::Rank { .. } => true,
            OrderSpec::Fifo
            | OrderSpec::Drr { .. }
            | OrderSpec::Fq { .. }
            | OrderSpec::RoundRobin { .. }
            | OrderSpec::InputRoundRobin
            | OrderSpec::Parity { .. }
            | OrderSpec::Ads(_)
            | OrderSpec::Custom { .. } => false,
        }
    }
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Bytes over all queues of the port.
    Bytes(Bytes),
    /// Packets over all queues of the port.
    Packets(u32),
    /// Never full.
    Unlimited,
}

/// Order of service. What happens on overflow is part of it, since it decides the victim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OrderSpec {
    /// First come, first served; the arriving packet is dropped.
    Fifo,
    /// Deficit round robin over flows (Shreedhar & Varghese 1995).
    Drr {
        /// Bytes added to a flow's deficit per round.
        quantum: u32,
        /// Victim on overflow.
        overflow: FairOverflow,
    },
    /// Bit-by-bit round robin emulation by finish numbers (Demers, Keshav, Shenker 1989).
    Fq {
        /// Victim on overflow.
        overflow: FairOverflow,
    },
    /// Strict priority over [`crate::Packet::class`], FIFO inside; pushes out the tail of the lowest (IEEE
    /// 802.1Q, §8.6.8.1). Control packets are of class 0.
    Priority {
        /// Number of classes; higher numbers share the last.
        classes: u8,
    },
    /// Rank order: smallest [`crate::Packet::rank`] first; pushes out the largest rank, latest among
    /// equals. Control packets are served before everything. SRPT when ranks are remaining sizes (pFabric's
    /// queue: Alizadeh et al., SIGCOMM 2013, §4.1), SJF when they are flow sizes.
    Rank {
        /// Serve the *earliest* packet of the best packet's flow (pFabric's starvation prevention).
        flow_order: bool,
    },
    /// Last come, first served; the arriving packet is dropped.
    Lifo,
    /// Each time any of the waiting packets, all equally likely; the arriving packet is dropped.
    Random,
    /// Push-in first-out (Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016): smallest
    /// key first, in order of arrival among equals; pushes out the largest key, among equals one that waits. The key is
    /// [`crate::Packet::rank`] as it is on arrival: LSTF, EDF, static priorities, omniscient timetables.
    Pifo {
        /// Add the packet's transmission time at this port to the key: slack is that of the *last* bit (LSTF, EDF).
        add_transmission: bool,
        /// Keys are cut down to whole multiples of this, as in a calendar queue: packets in one bucket leave in order of
        /// arrival. Zero: exact keys.
        bucket: Span,
    },
    /// Packet-by-packet round robin over bins, new bins first: stochastic fair queueing with a quantum of one
    /// packet, and with CoDel FQ-CoDel (RFC 8290, but for the quantum). Drops from the tail of the longest bin, in packets.
    RoundRobin {
        /// Bins that flows are hashed to; `None`: a bin for each flow and direction.
        bins: Option<u32>,
        /// CoDel in every bin.
        codel: Option<CodelSpec>,
    },
    /// A packet from each input of the switch in turn, FIFO inside: the output of a switch with virtual output queues. The
    /// arriving packet is dropped.
    InputRoundRobin,
    /// Two classes, flows of even and of odd number, that send a packet each in turn while both have any.
    Parity {
        /// Order inside the class of even flow numbers.
        even: Box<OrderSpec>,
        /// Order inside the class of odd flow numbers.
        odd: Box<OrderSpec>,
    },
    /// A few strict-priority FIFOs behind a table from remaining size to queue (ADS: Mushtaq et al., "Datacenter
    /// Congestion Control: Identifying what is essential and making it practical", ACM CCR, §3).
    Ads(AdsSpec),
    /// A discipline registered by the user ([`crate::custom::register_discipline`]).
    Custom {
        /// The registered name.
        name: String,
        /// What its factory is given.
        params: Vec<u8>,
    },
}

/// Victim of a fair queue's overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FairOverflow {
    /// The arriving packet.
    Tail,
    /// The tail of the longest queue in bytes (McKenney, "Stochastic Fairness Queueing", INFOCOM 1990; ties go
    /// to the smaller flow number).
    LongestQueue,
}

/// ADS-k: Approximate and Deployable SRPT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdsSpec {
    /// k strict-priority FIFOs.
    pub queues: u8,
    /// Priority = min(remaining, cap) / mtu, rounded up.
    pub cap: Bytes,
    /// Bytes per priority step.
    pub mtu: u32,
    /// Where the map comes from.
    pub map: AdsMap,
}

/// The control plane of ADS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AdsMap {
    /// A fixed map from one histogram of packet priorities per port: index of the port's histogram
    /// is chosen by the network's builder; `counts[p]` is the number of packets of priority p. May be shorter
    /// than the table (zeros follow), not longer; empty or all zero: a log-uniform split.
    Static {
        /// Histogram, index = priority.
        counts: Vec<u64>,
    },
    /// Histograms of the last `window` intervals, recomputed every `interval`.
    Dynamic {
        /// I.
        interval: Span,
        /// W.
        window: u32,
    },
}
