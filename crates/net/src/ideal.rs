//! The completion time of a flow that is alone in the network, as a closed form in O(links).
//!
//! Packets of one size through a tandem of FIFO links keep the spacing of the slowest link so far:
//! T(i, j) = T(1, j) + (i − 1) · max_{k ≤ j} s_k. ACKs are the same jobs on further links, so one
//! recursion covers data and ACK; only the last, shorter packet is followed link by link.

use crate::routing::Routes;
use crate::spec::NetworkSpec;
use thalweg_machines::transport::SetUp;
use thalweg_units::{FlowId, PortId, Serializer, Span, Time};

/// A flow's packets: `full` bytes on the wire each, the last one `last`; ACKs of `ack` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Packets.
    pub packets: u64,
    /// Wire bytes of all but the last.
    pub full: u32,
    /// Wire bytes of the last.
    pub last: u32,
    /// Wire bytes of an ACK.
    pub ack: u32,
}

/// What counts of a port for a flow that is alone.
struct Hop {
    serializer: Serializer,
    delay: Span,
    /// Bytes after which the far end may forward, if it need not wait for the whole packet.
    cut: Option<u32>,
}

impl Hop {
    fn new(spec: &NetworkSpec, port: PortId) -> Self {
        let link = spec.direction(port);
        let to_switch = spec.ends(port).1.0 >= spec.hosts;
        Self {
            serializer: Serializer::new(link.mean_rate(), link.quantum()),
            delay: link.delay,
            cut: spec.cut_through.filter(|_| to_switch).map(|cut| cut.header),
        }
    }

    /// How long before its last bit a packet of `wire` bytes may be handled at the far end.
    fn early(&self, wire: u32) -> Span {
        let header = |cut| self.serializer.span(wire).saturating_sub(self.serializer.span(cut));
        self.cut.map_or(Span::ZERO, header)
    }
}

struct Stage {
    hop: Hop,
    full: u32,
    last: u32,
    /// The packet may be forwarded before it has arrived whole (not into the first link of a leg).
    cuts: Span,
}

/// Time until the last byte has arrived, and until the ACK of it has.
pub fn completion(spec: &NetworkSpec, data: &[PortId], ack: &[PortId], shape: Shape) -> (Span, Span) {
    let stage = |id: &PortId, full, last| Stage { hop: Hop::new(spec, *id), full, last, cuts: Span::ZERO };
    let stages = data
        .iter()
        .map(|id| stage(id, shape.full, shape.last))
        .chain(ack.iter().map(|id| stage(id, shape.ack, shape.ack)));
    let mut received = Span::ZERO;
    // `first`: end of the first packet's transmission on the link before; `last`: of the last packet's.
    let (mut first, mut last) = (Time::ZERO, Time::ZERO);
    let (mut first_early, mut last_early) = (Span::ZERO, Span::ZERO);
    let mut slowest = Span::ZERO;
    for (index, stage) in stages.enumerate() {
        let hop = &stage.hop;
        let (full, short) = (hop.serializer.span(stage.full), hop.serializer.span(stage.last));
        // End of transmission: not before the packet is here whole, nor before its first bits + service.
        let through = |arrived: Time, early: Span, service: Span| {
            arrived.max((arrived - early).saturating_add(service))
        };
        first = through(first, first_early + stage.cuts, full);
        slowest = slowest.max(full);
        if shape.packets > 1 {
            let previous = first.saturating_add(slowest.saturating_mul(shape.packets - 2));
            last = through(last, last_early, short).max(previous.saturating_add(short));
        } else {
            last = through(last, last_early, short);
        }
        (first_early, last_early) = (hop.early(stage.full), hop.early(stage.last));
        first = first.saturating_add(hop.delay);
        last = last.saturating_add(hop.delay);
        if index + 1 == data.len() {
            received = last - Time::ZERO;
        }
    }
    (received, last - Time::ZERO)
}

/// The round trip of a flow's full packet and its ACK alone on its path; `None`: it is not acknowledged.
pub fn round_trip(network: &NetworkSpec, routes: &Routes, flow: FlowId) -> Option<Span> {
    let wire = network.transports[usize::from(network.flows[flow.at()].transport)].wire();
    let (full, ack) = (wire.full(), wire.ack?);
    let (data, back) = (routes.of_flow(network, flow, false), routes.of_flow(network, flow, true));
    Some(completion(network, &data, &back, Shape { packets: 1, full, last: full, ack }).1)
}

/// A flow's completion times alone on its path at line rate: at the receiver, at the sender. `routes` are those of the
/// whole network.
///
/// Endless flows have none: zero.
pub fn of_flow(network: &NetworkSpec, routes: &Routes, flow: FlowId) -> (Span, Span) {
    let spec = &network.flows[flow.at()];
    if spec.size == u64::MAX {
        return (Span::ZERO, Span::ZERO);
    }
    let (data, ack) = (routes.of_flow(network, flow, false), routes.of_flow(network, flow, true));
    let wire = network.transports[usize::from(spec.transport)].wire();
    let (packets, last) = (wire.packets(spec.size), wire.last(spec.size));
    let shape = Shape { packets, full: wire.full(), last, ack: wire.ack.unwrap_or(0) };
    if wire.ack.is_none() {
        let (received, _) = completion(network, &data, &[], shape);
        return (received, received);
    }
    let handshake = wire.set_up.map_or(Span::ZERO, |SetUp { request, answer }| {
        let shape = Shape { packets: 1, full: request, last: request, ack: answer };
        completion(network, &data, &ack, shape).1
    });
    let (received, acked) = completion(network, &data, &ack, shape);
    let after = |span: Span| Span::from_ps(handshake.ps().saturating_add(span.ps()));
    (after(received), after(acked))
}
