//! What a run has done so far, and what each flow would have taken alone.

use crate::events::Events;
use crate::flow::{FlowEnd, FlowOutcome};
use crate::ideal::{Shape, completion};
use crate::port::{Port, PortTotals};
use crate::probe::Probes;
use crate::routing::{Routes, flow_pick};
use crate::sim::{Counters, Sim};
use crate::spec::{NetworkSpec, RoutingSpec};
use thalweg_machines::transport::TransportSpec;
use thalweg_units::{FlowId, PortId, Span, Time, mix64};

impl<Q: Events> Sim<Q> {
    /// The instant of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What this network was built from.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        Counters {
            events: self.processed,
            packet_hops: self.ports.iter().map(|p| p.totals().packets).sum(),
            packets_dropped: self.tally.dropped,
            packets_marked: self.ports.iter().map(|p| p.totals().marked).sum(),
            pause_frames: self.tally.pause_frames,
            resume_frames: self.tally.resume_frames,
            edge_dropped: self.tally.edge_dropped,
            edge_marked: self.tally.edge_marked,
            edge_low_delay: self.tally.edge_low_delay,
            edge_gaps: self.tally.edge_gaps,
            flows_started: self.tally.flows_started,
            flows_done: self.tally.flows_done,
            flows_total: self.spec.flows.len() as u64,
            measured_done: self.tally.measured_done,
            measured_total: self.probes.measured_total,
        }
    }

    /// The ports: rates, counters, queues.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// What the probes have seen.
    pub fn probes(&self) -> &Probes {
        &self.probes
    }

    /// Switches, hosts and paths.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// A hash of everything that has happened and of every flow's result.
    pub fn digest(&self) -> u64 {
        let mut digest = self.digest;
        for flow in 0..self.spec.flows.len() {
            let record = self.record(FlowId::from(flow));
            let fields = [record.started.ps(), record.received.ps(), record.acked.ps(), record.delivered];
            for field in fields {
                digest = mix64(digest ^ field).wrapping_add(flow as u64);
            }
        }
        digest
    }

    /// What became of a flow.
    pub fn outcome(&self, flow: FlowId) -> FlowOutcome {
        let record = self.record(flow);
        let (ideal, ideal_acked) = self.ideal(flow);
        let reached = |t: Time| (t != Time::MAX).then_some(t);
        FlowOutcome {
            started: reached(record.started),
            received: reached(record.received),
            acked: reached(record.acked),
            delivered: record.delivered,
            rtt: (record.rtt != Span::MAX).then_some(record.rtt),
            sent: record.sent,
            retransmitted: record.retransmitted,
            timeouts: record.timeouts,
            drops: record.drops,
            end: self.end(flow),
            ideal,
            ideal_acked,
        }
    }

    /// How a flow has ended so far.
    fn end(&self, flow: FlowId) -> FlowEnd {
        let record = &self.records[flow.at()];
        if record.started == Time::MAX {
            FlowEnd::NotStarted
        } else if record.received != Time::MAX && record.acked != Time::MAX {
            if self.spec.flows[flow.at()].size == u64::MAX { FlowEnd::Stopped } else { FlowEnd::Completed }
        } else {
            self.why_unfinished(flow)
        }
    }

    fn why_unfinished(&self, flow: FlowId) -> FlowEnd {
        let slot = self.connections[flow.at()] as usize;
        let (Some(sending), Some(receiving)) = (self.sending.get(slot), self.receiving.get(slot)) else {
            return FlowEnd::Censored;
        };
        let in_network = sending.balance.wrapping_add(receiving.balance) > 0;
        let path = &self.paths[self.path_of(slot)..][..self.stride];
        if path.iter().any(|id| self.deadlocks.iter().any(|d| d.ports.contains(id))) {
            FlowEnd::Deadlocked
        } else if !self.is_reachable(flow) {
            FlowEnd::Unreachable
        } else if !in_network && !sending.ready && sending.timer == Time::MAX && receiving.timer == Time::MAX
        {
            FlowEnd::Stalled
        } else {
            FlowEnd::Censored
        }
    }

    /// A port's counters, pauses included.
    pub fn totals(&self, port: PortId) -> PortTotals {
        let mut totals = self.ports[port.at()].totals();
        if let Some(gate) = self.gates.get(port.at()) {
            totals.pauses = gate.pauses;
            totals.paused = gate.paused(self.now).ps();
        }
        totals
    }

    /// Packets lost because a link had failed, and pause frames lost.
    pub fn lost_to_incidents(&self) -> (u64, u64) {
        (self.outages.lost, self.outages.frames_lost)
    }

    /// A flow's completion times alone on its path at line rate: at the receiver, at the sender.
    ///
    /// Endless flows have none: zero.
    pub fn ideal(&self, flow: FlowId) -> (Span, Span) {
        let spec = &self.spec.flows[flow.at()];
        if spec.size == u64::MAX {
            return (Span::ZERO, Span::ZERO);
        }
        let (mut data, mut ack) = (Vec::new(), Vec::new());
        if let RoutingSpec::Pinned { paths } = &self.spec.routing {
            let pinned = &paths[flow.at()];
            // Checked when the network was built.
            let _ = self.routes.pinned(flow.0, spec.src, spec.dst, &pinned.data, &mut data);
            let _ = self.routes.pinned(flow.0, spec.dst, spec.src, &pinned.ack, &mut ack);
        } else {
            let pick = |ack| flow_pick(&self.spec.routing, spec.src, spec.dst, flow.0, ack);
            let routes = self.intact.as_deref().unwrap_or(&self.routes);
            routes.path(spec.src, spec.dst, pick(false), &mut data);
            routes.path(spec.dst, spec.src, pick(true), &mut ack);
        }
        let (payload, header, ack_wire) = match &self.spec.transports[spec.transport as usize] {
            TransportSpec::Tcp(tcp) => (tcp.mss, tcp.header, tcp.ack_wire),
            TransportSpec::Udp(udp) => (udp.payload, udp.header, 0),
            TransportSpec::Rdma(rdma) => (rdma.payload, rdma.header, rdma.ack_wire),
        };
        let packets = spec.size.div_ceil(u64::from(payload));
        let last = (spec.size - (packets - 1) * u64::from(payload)) as u32 + header;
        let shape = Shape { packets, full: payload + header, last, ack: ack_wire };
        let handshake = match &self.spec.transports[spec.transport as usize] {
            TransportSpec::Tcp(tcp) if tcp.handshake => {
                let syn = Shape { packets: 1, full: tcp.syn_wire, last: tcp.syn_wire, ack: tcp.ack_wire };
                completion(&self.ports, &data, &ack, syn).1
            }
            TransportSpec::Udp(_) => {
                let (received, _) = completion(&self.ports, &data, &[], shape);
                return (received, received);
            }
            _ => Span::ZERO,
        };
        let (received, acked) = completion(&self.ports, &data, &ack, shape);
        (handshake + received, handshake + acked)
    }
}
