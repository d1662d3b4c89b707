//! What ports do to the header of the packets they pass on: two hooks around any order of service.
//!
//! Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling", NSDI 2016, §5: least slack time first is a
//! push-in first-out queue between an ingress stage, which turns the slack in the header into a priority that
//! does not change while the packet waits, and an egress stage, which turns it back into what slack is left when
//! transmission begins. Network-wide EDF and the omniscient timetable fit the same two stages. While a packet
//! waits at a switch port [`Packet::rank`] holds the priority, everywhere else the header.

use crate::events::Events;
use crate::journal::Journal;
use crate::sim::Sim;
use crate::spec::HopRule;
use thalweg_machines::aqm::{EdgeSpec, edge_ecn};
use thalweg_machines::{Ecn, Handle, Kind, Packet};
use thalweg_units::{PortId, Span, Time};

impl<Q: Events> Sim<Q> {
    /// Least time from the arrival of a packet of `wire` bytes at the port before position `route` of the path
    /// table until its last bit has reached its host: transmission and propagation of that port and of all behind.
    pub(crate) fn time_to_exit(&self, route: u32, wire: u32) -> Span {
        let mut sum = Span::ZERO;
        for id in &self.paths[route as usize - 1..] {
            let port = &self.ports[id.at()];
            sum += port.span(wire) + port.delay;
            if port.to_host {
                break;
            }
        }
        sum
    }

    /// Ingress stage: a packet is about to join the queue of a port.
    pub(crate) fn note_arrival(&mut self, id: PortId, handle: Handle) {
        if self.ports[id.at()].from_host {
            return;
        }
        self.write_priority(handle);
        if let Some(journal) = &mut self.journal {
            journal.arrive(handle, self.now);
        }
    }

    /// Egress stage: a packet begins its transmission at `at`, or, where transmissions are interrupted, would have
    /// begun it then had it not been.
    pub(crate) fn note_departure(&mut self, id: PortId, handle: Handle, at: Time) {
        if self.ports[id.at()].from_host {
            return self.enter(handle, at);
        }
        let packet = &self.packets[handle];
        let rank = match self.spec.hop_rule {
            HopRule::Slack => packet.rank.saturating_sub(at.ps() as i64),
            HopRule::Deadline => {
                packet.rank.saturating_add(self.time_to_exit(packet.route, packet.wire).ps() as i64)
            }
            HopRule::Timetable | HopRule::Plain => packet.rank,
        };
        self.packets[handle].rank = rank;
        if let Some(journal) = &mut self.journal {
            journal.depart(handle, at);
        }
    }

    /// Both stages of a port whose departures are known on arrival.
    pub(crate) fn note_booked(&mut self, id: PortId, handle: Handle, begins: Time) {
        if self.ports[id.at()].from_host {
            return self.enter(handle, begins);
        }
        if self.spec.hop_rule == HopRule::Slack {
            let packet = &mut self.packets[handle];
            packet.rank = packet.rank.saturating_sub((begins - self.now).ps() as i64);
        }
        if let Some(replay) = &mut self.replay {
            replay.pass(handle);
        }
        if let Some(journal) = &mut self.journal {
            journal.arrive(handle, self.now);
            journal.depart(handle, begins);
        }
    }

    fn write_priority(&mut self, handle: Handle) {
        let packet = &self.packets[handle];
        self.packets[handle].rank = match self.spec.hop_rule {
            HopRule::Plain => packet.rank,
            HopRule::Slack => packet.rank.saturating_add(self.now.ps() as i64),
            HopRule::Deadline => {
                packet.rank.saturating_sub(self.time_to_exit(packet.route, packet.wire).ps() as i64)
            }
            HopRule::Timetable => self.replay.as_mut().map_or(packet.rank, |replay| replay.timetable(handle)),
        };
    }

    /// A host's NIC begins to transmit a packet: it enters the network, and the header is written.
    fn enter(&mut self, handle: Handle, begins: Time) {
        if let Some(slack) = &self.spec.slack {
            let packet = &self.packets[handle];
            let flow = &self.spec.flows[packet.flow.at()];
            let slot = self.connections[packet.flow.at()] as usize;
            let way = 2 * slot + usize::from(!crate::fabric::travels_forward(packet.kind));
            if self.clocks.len() <= way {
                self.clocks.resize(way + 1, Default::default());
            }
            let initial = slack.initial(&mut self.clocks[way], flow.group, flow.size, packet, begins);
            let packet = &mut self.packets[handle];
            packet.rank = initial;
            if packet.kind == Kind::Data {
                packet.echo = initial as u64;
            }
        }
        if let Some(journal) = &mut self.journal {
            journal.enter(handle, begins);
        }
    }

    /// What the receiving edge does to a data packet, knowing how long it waited on its way (ups §4): false if it is
    /// dropped.
    pub(crate) fn pass_edge(&mut self, packet: &mut Packet) -> bool {
        let Some(edge) = self.spec.edge else { return true };
        if packet.kind != Kind::Data {
            return true;
        }
        let used = Span::from_ps((packet.echo as i64).saturating_sub(packet.rank).max(0) as u64);
        packet.echo = 0;
        match edge {
            EdgeSpec::Ecn { threshold } => {
                if edge_ecn(threshold, used) && packet.ecn != Ecn::NotEct {
                    packet.ecn = Ecn::Ce;
                    self.tally.edge_marked += 1;
                }
                true
            }
            EdgeSpec::Codel { target, interval, refresh } => {
                let slot = self.connections[packet.flow.at()] as usize;
                if self.edges.len() <= slot {
                    self.edges.resize(slot + 1, Default::default());
                }
                let codel = &mut self.edges[slot];
                let before = (codel.low_delay_refreshes, codel.gap_refreshes);
                let delivered = codel.on_packet((target, interval, refresh), self.now, packet.stamp, used);
                self.tally.edge_low_delay += u64::from(codel.low_delay_refreshes - before.0);
                self.tally.edge_gaps += u64::from(codel.gap_refreshes - before.1);
                self.tally.edge_dropped += u64::from(!delivered);
                delivered
            }
        }
    }
}

/// Whether a network keeps a journal. A replay needs one only for hops: what a packet waited follows from when it left.
pub(crate) fn journal(spec: &crate::spec::NetworkSpec, stride: usize) -> Option<Journal> {
    let hops = spec.probes.record.is_some_and(|r| r.hops);
    let kept = if spec.replay { hops } else { spec.probes.record.is_some() };
    kept.then(|| Journal::new(stride, hops))
}
