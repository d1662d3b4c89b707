//! Waiting times of data packets: from when their sender handed them out until they arrived, less what a packet of
//! that size takes alone on the same path.

use crate::cx::Cx;
use crate::fabric::Fabric;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::FlowSpec;
use thalweg_units::{PortId, Span};
use thalweg_wire::{Kind, Packet};

/// How long the packets of a flow take on their path alone. Almost all are of one size, so only the last result is
/// kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Alone {
    /// From the first bit on the first link to the last bit at the destination.
    span: Span,
    /// The packet's bytes on the wire; 0: nothing computed yet.
    wire: u32,
    /// The position of the path in the table.
    path: usize,
    /// The group of flows whose distribution it is added to.
    group: u16,
}

/// [`Alone::group`] of flows that are not measured.
const UNCOUNTED: u16 = u16::MAX;

/// By slot; empty unless delays are measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Delays(Vec<Alone>);

impl Delays {
    /// Prepares the slot of a new flow.
    pub(super) fn open_slot(&mut self, cx: &Cx, slot: usize, spec: &FlowSpec) {
        if slot >= self.0.len() {
            self.0.resize(slot + 1, Alone::default());
        }
        let counts = cx.spec.probes.delays.as_ref().is_some_and(|d| d.groups[usize::from(spec.group)]);
        self.0[slot] = Alone { group: if counts { spec.group } else { UNCOUNTED }, ..Alone::default() };
    }

    /// Measures a packet that has reached its host.
    #[inline]
    pub(super) fn measure(&mut self, cx: &mut Cx, fabric: &Fabric, slot: usize, packet: &Packet) {
        let alone = &mut self.0[slot];
        let (from, until) = cx.instruments.delay_window;
        let counts = alone.group != UNCOUNTED && cx.now >= from && cx.now < until;
        if !counts || packet.kind != Kind::Data || packet.payload == 0 {
            return;
        }
        let paths = fabric.paths();
        // Packets under way when paths change keep theirs.
        let moves = cx.features.failures && !cx.features.per_hop;
        let path = if moves { paths.around(packet.route) } else { paths.start(slot) };
        if (alone.wire, alone.path) != (packet.wire, path) {
            *alone = Alone { span: time_alone(fabric, path, packet.wire), wire: packet.wire, path, ..*alone };
        }
        let waited = (cx.now - packet.stamp).saturating_sub(alone.span);
        cx.instruments.delays[usize::from(alone.group)].add(waited);
    }
}

/// How long a packet takes on the path at a position of the table if it finds every port idle.
///
/// Where paths are chosen hop by hop, the path that `ecmp` would give the flow is used: packets do not record which
/// ports they pass, and paths of equal cost are equally long in the usual networks.
fn time_alone(fabric: &Fabric, path: usize, wire: u32) -> Span {
    let (mut sum, mut early) = (Span::ZERO, Span::ZERO);
    for id in fabric.paths().data(path).iter().take_while(|id| **id != PortId::NONE) {
        let port = &fabric.ports()[id.at()];
        // With cut-through, a packet is on this link while it is still on the one before.
        sum += port.span(wire).saturating_sub(early) + port.timing.delay;
        early = if port.leads_to_host() { Span::ZERO } else { port.early(wire) };
    }
    sum
}
