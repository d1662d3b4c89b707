//! What data packets waited on their way: from when their sender handed them out until they arrived, less what a
//! packet of that size takes on the same path alone.

use crate::cx::Cx;
use crate::fabric::Fabric;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::FlowSpec;
use thalweg_units::{PortId, Span};
use thalweg_wire::{Kind, Packet};

/// How long the packets of a flow take on their path alone. Almost all of them are of one size: only the last one is
/// remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Alone {
    /// From the first bit on the first link to the last one at the destination.
    span: Span,
    /// Of a packet of so many bytes on the wire; 0: of none yet.
    wire: u32,
    /// On the path that begins here in the table.
    path: usize,
    /// Whose distribution it counts to.
    group: u16,
}

/// [`Alone::group`] of flows that do not count.
const UNCOUNTED: u16 = u16::MAX;

/// By slot; empty unless delays are measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Delays(Vec<Alone>);

impl Delays {
    /// A flow has taken a slot.
    pub(super) fn expect(&mut self, cx: &Cx, slot: usize, spec: &FlowSpec) {
        if slot >= self.0.len() {
            self.0.resize(slot + 1, Alone::default());
        }
        let counts = cx.spec.probes.delays.as_ref().is_some_and(|d| d.groups[usize::from(spec.group)]);
        self.0[slot] = Alone { group: if counts { spec.group } else { UNCOUNTED }, ..Alone::default() };
    }

    /// A packet has reached its host.
    #[inline]
    pub(super) fn note(&mut self, cx: &mut Cx, fabric: &Fabric, slot: usize, packet: &Packet) {
        let alone = &mut self.0[slot];
        let (from, until) = cx.instruments.delay_window;
        let counts = alone.group != UNCOUNTED && cx.now >= from && cx.now < until;
        if !counts || packet.kind != Kind::Data || packet.payload == 0 {
            return;
        }
        let paths = fabric.paths();
        // Packets under way when paths are laid anew keep theirs.
        let moves = cx.features.failures && !cx.features.per_hop;
        let path = if moves { paths.around(packet.route) } else { paths.start(slot) };
        if (alone.wire, alone.path) != (packet.wire, path) {
            *alone = Alone { span: way(fabric, path, packet.wire), wire: packet.wire, path, ..*alone };
        }
        let waited = (cx.now - packet.stamp).saturating_sub(alone.span);
        cx.instruments.delays[usize::from(alone.group)].add(waited);
    }
}

/// How long a packet takes on the path that begins at a place of the table if it finds every port idle.
///
/// Where paths are chosen hop by hop: on the path that `ecmp` would give the flow. Which ports its packets pass is
/// chosen hop by hop and written in no header; paths of equal cost are equally long in the usual networks.
fn way(fabric: &Fabric, path: usize, wire: u32) -> Span {
    let (mut sum, mut early) = (Span::ZERO, Span::ZERO);
    for id in fabric.paths().data(path).iter().take_while(|id| **id != PortId::NONE) {
        let port = &fabric.ports()[id.at()];
        // Whatever is cut through is on this link while it is still on the one before.
        sum += port.span(wire).saturating_sub(early) + port.timing.delay;
        early = if port.leads_to_host() { Span::ZERO } else { port.early(wire) };
    }
    sum
}
