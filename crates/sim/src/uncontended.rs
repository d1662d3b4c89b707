//! What each flow and each packet would have taken alone, and the paths on which.

use crate::sim::Sim;
use thalweg_net::ideal;
use thalweg_units::{FlowId, PortId, Span};

/// A flow's completion times alone on its path at line rate; zero for endless flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ideal {
    /// Time from the start until the last byte arrives at the receiver.
    pub received: Span,
    /// Time from the start until the ACK of the last byte arrives at the sender.
    pub acked: Span,
}

impl Sim {
    /// t_min(p, NIC, destination) of a packet of `wire` bytes that travels with (or against) a flow's data: the sum
    /// of all transmission and propagation times on its path.
    pub fn t_min(&self, flow: FlowId, forward: bool, wire: u32) -> Span {
        let ports = self.path(flow, forward).into_iter().map(|id| &self.fabric.ports()[id.at()]);
        ports.map(|p| p.span(wire) + p.timing.delay).sum()
    }

    /// The ports that packets with (or against) a flow's data pass, the NIC first.
    pub fn path(&self, flow: FlowId, forward: bool) -> Vec<PortId> {
        let both = self.fabric.lay_path(&self.cx.spec, flow);
        let (data, ack) = both.split_at(self.fabric.paths().middle());
        if forward { data } else { ack }.iter().copied().take_while(|id| *id != PortId::NONE).collect()
    }

    /// A flow's completion times alone on its path at line rate, as the network was built.
    pub fn ideal(&self, flow: FlowId) -> Ideal {
        let routes = self.fabric.outages().intact.as_deref().unwrap_or(self.fabric.routes());
        let (received, acked) = ideal::of_flow(&self.cx.spec, routes, flow);
        Ideal { received, acked }
    }
}
