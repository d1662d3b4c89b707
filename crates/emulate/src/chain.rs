//! One direction of the emulated path as a row of ports, in virtual time and without any I/O: what a port has sent
//! arrives at the next one when its link says so.
//!
//! What happens first is done first: a port's next decision, or an arrival from the port before it. At one instant
//! ports upstream go first, and at a port what arrives goes before what is decided. So each port is given what it
//! would be given on a [`Path`] of its own: a record of what arrived there gives its decisions without the others.
//!
//! What is due at a port at one instant from the port before it (from an opportunity of a trace, or because packets
//! overtake each other) arrives in the order in which that has sent it, each a picosecond after the one before
//! ([`Path::stamp`]).

use crate::header;
use crate::way::Way;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_machines::Invalid;
use thalweg_record::path::{Arrival, Decision, Fate, Path};
use thalweg_units::{FlowId, HostId, Span, Time};
use thalweg_wire::{Ecn, Kind};

/// Who drives a chain sees all that happens on it, in order of time. Ports are counted from 0.
pub trait Watch {
    /// A packet arrives at a port.
    fn arrival(&mut self, hop: usize, arrival: &Arrival);
    /// A port has decided; its packets are numbered as they arrive there.
    fn decision(&mut self, hop: usize, decision: &Decision);
    /// A packet has passed all ports, or goes no further.
    fn over(&mut self, passed: &Passed);
}

/// What became of a packet on the whole chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its number, and when it came, are those at the first port; `at` and `fate` are of the port that it came to last.
    /// It is marked if its ECN bits are others than those that it came to the first port with.
    pub decision: Decision,
    /// The port that it came to last.
    pub hop: usize,
    /// What it waited at all ports together.
    pub waited: Span,
}

/// What is at a port when, what was on its way there before it, its label.
type Travelling = Reverse<(Time, u64, u32)>;

/// A port of the row.
struct Hop {
    path: Path,
    classes: u16,
    /// From a decision here to the arrival at the far end at least.
    rest: Span,
    /// On the way here from the port before.
    coming: BinaryHeap<Travelling>,
    /// So many have been on that way.
    came: u64,
}

/// A packet on the chain, by label.
#[derive(Clone, Copy)]
struct Within {
    /// As it came to the first port, with its ECN bits of now.
    arrival: Arrival,
    dscp: u8,
    number: u64,
    waited: Span,
    /// The ECN bits that it came with.
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

/// A row of ports.
pub struct Chain {
    hops: Vec<Hop>,
    within: Vec<Within>,
    arrived: u64,
}

impl Chain {
    /// Before anything has arrived.
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

    /// When a packet with this stamp arrives for the first port.
    pub fn stamp(&self, at: Time) -> Time {
        self.hops[0].path.stamp(at)
    }

    /// A packet arrives at the first port, at the [`Chain::stamp`] of its time. At each port it is of the class that
    /// its code point `dscp` has there, whatever `arrival` says. `label` is the driver's name of it, and no other
    /// packet's until [`Watch::over`] is called for it; labels are to be small. What happens before is shown first.
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

    /// Decides what is due up to `to`, each as of its own instant.
    pub fn advance(&mut self, to: Time, watch: &mut impl Watch) {
        while let Some((due, hop)) = self.next().filter(|(due, _)| *due <= to) {
            self.step(hop, due, watch);
        }
    }

    /// No packet that is on the chain now is at the far end before this; `None`: there is none.
    pub fn wake(&self) -> Option<Time> {
        let of = |hop: &Hop| {
            let coming = hop.coming.peek().map(|Reverse((at, ..))| *at);
            Some([coming, hop.path.wake()].into_iter().flatten().min()?.saturating_add(hop.rest))
        };
        self.hops.iter().filter_map(of).min()
    }

    /// From an arrival at the first port to the arrival at the far end at least.
    pub fn delay(&self) -> Span {
        self.hops[0].rest
    }

    /// Packets that wait at ports, or are on their way from one to the next.
    pub fn within(&self) -> usize {
        self.hops.iter().map(|hop| hop.coming.len() + hop.path.waiting() as usize).sum()
    }

    /// When something happens next, and at which port.
    fn next(&self) -> Option<(Time, usize)> {
        let at = |(number, hop): (usize, &Hop)| Some((hop.next()?, number));
        self.hops.iter().enumerate().filter_map(at).min()
    }

    /// What happens then at this port.
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
        // In front of what is decided because of it.
        watch.arrival(hop, &arrival);
        let (path, mut after) = self.at(hop);
        path.arrive(&arrival, label, &mut |decision| after.decided(&decision, watch));
    }

    /// A port, and what its decisions are applied to.
    fn at(&mut self, hop: usize) -> (&mut Path, After<'_>) {
        let (before, next) = self.hops.split_at_mut(hop + 1);
        (&mut before[hop].path, After { hop, next: next.first_mut(), within: &mut self.within })
    }
}

impl Hop {
    /// When the next packet arrives from the port before.
    fn comes(&self) -> Option<Time> {
        self.coming.peek().map(|Reverse((at, ..))| self.path.stamp(*at))
    }

    fn next(&self) -> Option<Time> {
        [self.comes(), self.path.due(false)].into_iter().flatten().min()
    }
}

/// Behind a port.
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
