//! One direction of an emulated path as a chain of ports in virtual time, without any I/O: a packet sent by a port
//! arrives at the next one when its link delivers it.
//!
//! Events are handled in the order of time: the next decision of a port, or an arrival from the port before it. At the
//! same instant, ports upstream go first, and at a port arrivals go before decisions. So each port sees the same as it
//! would on a [`Path`] of its own: a record of its arrivals gives its decisions without the other ports.
//!
//! Packets from the port before that are due at the same instant (from an opportunity of a trace, or because they
//! overtake each other) arrive in the order in which they were sent, each a picosecond after the one before
//! ([`Path::stamp`]).

use crate::header;
use crate::way::Way;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_machines::Invalid;
use thalweg_record::path::{Arrival, Decision, Fate, Path};
use thalweg_units::{FlowId, HostId, Span, Time};
use thalweg_wire::{Ecn, Kind};

/// Is notified of all events on a chain, in the order of time. Ports are counted from 0.
pub trait Watch {
    /// A packet arrives at a port.
    fn arrival(&mut self, hop: usize, arrival: &Arrival);
    /// A port has decided about a packet, which has its number in the order of arrival there.
    fn decision(&mut self, hop: usize, decision: &Decision);
    /// A packet has passed all ports, or was dropped or lost.
    fn over(&mut self, passed: &Passed);
}

/// The fate of a packet on the whole chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// `packet` and `came` are those at the first port; `at` and `fate` are those at the last port that the packet
    /// reached. `marked`: the ECN bits differ from those with which it came to the first port.
    pub decision: Decision,
    /// The last port that the packet reached.
    pub hop: usize,
    /// Its waiting times at all ports together.
    pub waited: Span,
}

/// Time of arrival at a port, number on the link before it, label.
type Travelling = Reverse<(Time, u64, u32)>;

/// A port of the chain.
struct Hop {
    path: Path,
    classes: u16,
    /// Shortest time from a decision here to the arrival at the far end.
    rest: Span,
    /// Packets on the link from the port before.
    coming: BinaryHeap<Travelling>,
    /// Number of packets that were on that link so far.
    came: u64,
}

/// A packet on the chain, by label.
#[derive(Clone, Copy)]
struct Within {
    /// The arrival at the first port, with the current ECN bits.
    arrival: Arrival,
    dscp: u8,
    number: u64,
    waited: Span,
    /// The ECN bits with which it arrived.
    ecn: Ecn,
}

const NOTHING: Within = Within {
    arrival: Arrival {
        at: Time::ZERO,
        flow: FlowId(0),
        dst: HostId(0),
        wire: 0,
        payload: 0,
        kind: Kind::Data,
        ecn: Ecn::NotEct,
        class: 0,
    },
    dscp: 0,
    number: 0,
    waited: Span::ZERO,
    ecn: Ecn::NotEct,
};

/// A chain of ports.
pub struct Chain {
    hops: Vec<Hop>,
    within: Vec<Within>,
    arrived: u64,
}

impl Chain {
    /// A chain at which nothing has arrived.
    ///
    /// # Errors
    /// If a port's parameters contradict each other.
    pub fn new(way: &Way) -> Result<Self, Invalid> {
        let mut rest = way.delay();
        let hop = |port: &crate::Port| {
            let hop = Hop {
                path: Path::new(port)?,
                classes: port.classes(),
                rest,
                coming: BinaryHeap::new(),
                came: 0,
            };
            rest = rest.saturating_sub(port.delay());
            Ok(hop)
        };
        let hops = way.ports().iter().map(hop).collect::<Result<_, Invalid>>()?;
        Ok(Self { hops, within: Vec::new(), arrived: 0 })
    }

    /// The time of arrival at the first port of a packet with this timestamp.
    pub fn stamp(&self, at: Time) -> Time {
        self.hops[0].path.stamp(at)
    }

    /// A packet arrives at the first port, at the [`Chain::stamp`] of its time. At each port its class follows from its
    /// code point `dscp`, whatever `arrival` says. `label` is the driver's label, which no other packet may have until
    /// [`Watch::over`] is called for this one; labels should be small. `watch` is notified of earlier events first.
    pub fn arrive(&mut self, arrival: &Arrival, dscp: u8, label: u32, watch: &mut impl Watch) {
        let at = self.stamp(arrival.at);
        while let Some((due, hop)) = self.next().filter(|(due, _)| *due < at) {
            self.step(hop, due, watch);
        }
        let arrival = Arrival { at, ..*arrival };
        let within = Within { arrival, dscp, number: self.arrived, waited: Span::ZERO, ecn: arrival.ecn };
        if self.within.len() <= label as usize {
            self.within.resize(label as usize + 1, NOTHING);
        }
        self.within[label as usize] = within;
        self.arrived += 1;
        self.enter(0, at, label, watch);
    }

    /// Takes all decisions that are due until `to`, each as of its own instant.
    pub fn advance(&mut self, to: Time, watch: &mut impl Watch) {
        while let Some((due, hop)) = self.next().filter(|(due, _)| *due <= to) {
            self.step(hop, due, watch);
        }
    }

    /// Earliest arrival of a packet of the chain at the far end; `None` if there is no packet.
    pub fn wake(&self) -> Option<Time> {
        let of = |hop: &Hop| {
            let coming = hop.coming.peek().map(|Reverse((at, ..))| *at);
            Some([coming, hop.path.wake()].into_iter().flatten().min()?.saturating_add(hop.rest))
        };
        self.hops.iter().filter_map(of).min()
    }

    /// Shortest time from an arrival at the first port to the arrival at the far end.
    pub fn delay(&self) -> Span {
        self.hops[0].rest
    }

    /// Number of packets that wait at ports, or are on a link between two ports.
    pub fn within(&self) -> usize {
        self.hops.iter().map(|hop| hop.coming.len() + hop.path.waiting() as usize).sum()
    }

    /// The time of the next event, and its port.
    fn next(&self) -> Option<(Time, usize)> {
        let at = |(number, hop): (usize, &Hop)| Some((hop.next()?, number));
        self.hops.iter().enumerate().filter_map(at).min()
    }

    /// Handles the events of this instant at this port.
    fn step(&mut self, hop: usize, at: Time, watch: &mut impl Watch) {
        let here = &mut self.hops[hop];
        if here.comes() == Some(at)
            && let Some(Reverse((.., label))) = here.coming.pop()
        {
            return self.enter(hop, at, label, watch);
        }
        let (path, mut after) = self.at(hop);
        path.instant(at, &mut |decision| after.decided(&decision, watch));
    }

    /// A packet arrives at this port.
    fn enter(&mut self, hop: usize, at: Time, label: u32, watch: &mut impl Watch) {
        let Within { arrival, dscp, .. } = self.within[label as usize];
        let arrival = Arrival { at, class: header::class(dscp, self.hops[hop].classes), ..arrival };
        // Before the decisions that it causes.
        watch.arrival(hop, &arrival);
        let (path, mut after) = self.at(hop);
        path.arrive(&arrival, label, &mut |decision| after.decided(&decision, watch));
    }

    /// A port, and the state that its decisions change.
    fn at(&mut self, hop: usize) -> (&mut Path, After<'_>) {
        let (before, next) = self.hops.split_at_mut(hop + 1);
        (&mut before[hop].path, After { hop, next: next.first_mut(), within: &mut self.within })
    }
}

impl Hop {
    /// Arrival time of the next packet from the port before.
    fn comes(&self) -> Option<Time> {
        self.coming.peek().map(|Reverse((at, ..))| self.path.stamp(*at))
    }

    fn next(&self) -> Option<Time> {
        [self.comes(), self.path.due(false)].into_iter().flatten().min()
    }
}

/// The state behind a port.
struct After<'a> {
    hop: usize,
    next: Option<&'a mut Hop>,
    within: &'a mut [Within],
}

impl After<'_> {
    fn decided(&mut self, decision: &Decision, watch: &mut impl Watch) {
        watch.decision(self.hop, decision);
        let within = &mut self.within[decision.label as usize];
        within.waited += decision.at.since(decision.came);
        if let (Some(next), Fate::Sent { arrives: Some(arrives), ecn, .. }) = (&mut self.next, decision.fate)
        {
            within.arrival.ecn = ecn;
            next.coming.push(Reverse((arrives, next.came, decision.label)));
            next.came += 1;
            return;
        }
        let marked = matches!(decision.fate, Fate::Sent { ecn, .. } if ecn != within.ecn);
        let decision = Decision { packet: within.number, came: within.arrival.at, marked, ..*decision };
        watch.over(&Passed { decision, hop: self.hop, waited: within.waited });
    }
}
