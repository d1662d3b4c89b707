//! The receiving edge: what happens to a packet before the transport sees it.

use crate::cx::Cx;
use crate::hosts::Hosts;
use thalweg_machines::stage::{EdgeCodel, EdgeSpec, edge_ecn};
use thalweg_units::Span;
use thalweg_wire::{Ecn, Kind, Meaning, Packet};

impl Hosts {
    /// Applies the edge's queue management to a data packet, given how long it waited on its way (ups §4). False if
    /// it is dropped.
    pub(crate) fn pass_edge(
        &mut self,
        cx: &mut Cx,
        slot: usize,
        packet: &mut Packet,
        initial_slack: i64,
    ) -> bool {
        let Some(edge) = cx.spec.edge else { return true };
        if packet.kind != Kind::Data {
            return true;
        }
        let used = initial_slack.saturating_sub(packet.carried(Meaning::Slack)).max(0);
        let used = Span::from_ps(used as u64);
        match edge {
            EdgeSpec::Ecn { threshold } => {
                if edge_ecn(threshold, used) && packet.ecn != Ecn::NotEct {
                    packet.ecn = Ecn::Ce;
                    cx.instruments.tally.edge.marked += 1;
                }
                true
            }
            EdgeSpec::Codel { target, interval, refresh } => {
                if self.edges.len() <= slot {
                    self.edges.resize(slot + 1, EdgeCodel::default());
                }
                let codel = &mut self.edges[slot];
                let tally = &mut cx.instruments.tally.edge;
                let delivered = codel.on_packet(
                    (target, interval, refresh),
                    cx.now,
                    packet.stamp,
                    used,
                    &mut tally.refreshes,
                );
                tally.dropped += u64::from(!delivered);
                delivered
            }
        }
    }
}
