//! `[transport]` of kind `rdma`: defaults that depend on the recovery, the controller, flow control and the topology.

use super::super::Delivery;
use super::{Dependent, telemetry_of};
use crate::quantity::{Cap, Q};
use crate::schema::{Notification, Rank, Rdma, RdmaAcks, RdmaTimer, Recovery};
use crate::topology::{Graph, round_trip_bytes};
use thalweg_machines::congestion::{ControllerSpec, Marks, Paths};
use thalweg_machines::transport::RoundTrips;
use thalweg_units::Bytes;

/// The notifications for a controller, unless the scenario gives others.
fn notification_of(congestion: &ControllerSpec) -> Notification {
    match congestion.needs().marks {
        Marks::Notifications => Notification::cnp(),
        Marks::Wanted | Marks::Echoes | Marks::Codepoints => Notification::Echo,
        Marks::Ignored | Marks::Optional => Notification::Off,
    }
}

/// The fewest ACKs with which recovery, cap, timer and controller work.
fn acks_of(r: &Rdma, kept: bool) -> RdmaAcks {
    let needs = r.congestion.needs();
    let capped = matches!(r.cap, Some(Cap::Packets(_) | Cap::Auto));
    let timed = !matches!(r.timer, None | Some(RdmaTimer::Off));
    match r.recovery {
        Recovery::Irn { .. } | Recovery::DropNotified => RdmaAcks::PerPacket,
        Recovery::GoBackN { .. } if r.segments.is_some() => RdmaAcks::PerSegment,
        // IRN §4.4.2: the baseline sends no ACKs that it does not need.
        Recovery::GoBackN { .. } if kept && !capped && !timed => match r.notification {
            Some(Notification::Echo) => RdmaAcks::PerPacket,
            _ if needs.gives.moves_window() => RdmaAcks::PerPacket,
            _ if needs.round_trips => RdmaAcks::PerSegment,
            _ => RdmaAcks::Never,
        },
        Recovery::GoBackN { .. } => RdmaAcks::PerPacket,
    }
}

impl Dependent for Rdma {
    fn ecn_capable(&self) -> bool {
        self.notification.unwrap_or(notification_of(&self.congestion)) != Notification::Off
    }

    fn resolve(&mut self, wanted: Option<Rank>, delivery: Delivery) {
        self.rank.get_or_insert(match wanted {
            // CHOICE BFC §F.1: "remaining" as of the packet's first transmission, so that a retransmission has the same
            // rank; this is known without ACKs.
            Some(Rank::Remaining) => Rank::FromHere,
            Some(other) => other,
            None => Rank::None,
        });
        self.notification.get_or_insert(notification_of(&self.congestion));
        self.telemetry = self.telemetry.or(telemetry_of(&self.congestion));
        let named = if matches!(self.recovery, Recovery::GoBackN { .. }) { 0 } else { 4 };
        self.nack_size.get_or_insert(Q(Bytes::new(self.ack_size.0.get().saturating_add(named))));
        // With go-back-N, a reordered packet is discarded, too.
        let goes_back = matches!(self.recovery, Recovery::GoBackN { .. });
        let kept = delivery.lossless && (delivery.in_order || !goes_back);
        let counted = self.acks == Some(RdmaAcks::PerSegment) || self.segments.is_some();
        let needs = self.congestion.needs();
        let each = needs.round_trips && !needs.segments && !counted;
        self.rtt.segment.get_or_insert(if each { 1 } else { RoundTrips::SEGMENT });
        self.rtt.resent.get_or_insert(each);
        let acks = acks_of(self, kept);
        let acks = *self.acks.get_or_insert(acks);
        if kept || acks == RdmaAcks::Never {
            // IRN §4.3.1: without losses every timeout would be spurious.
            self.timer.get_or_insert(RdmaTimer::Off);
        }
        self.cap.get_or_insert(match self.recovery {
            Recovery::Irn { .. } | Recovery::DropNotified => Cap::Auto,
            Recovery::GoBackN { .. } => Cap::Off,
        });
    }

    fn by_graph(&mut self, graph: &Graph, paths: &mut dyn Paths) {
        if self.cap == Some(Cap::Auto) {
            // IRN §4.2.2: the bandwidth-delay product in packets on the wire, rounded down.
            let telemetry = self.telemetry.map_or(0, |q| q.0.get());
            let packet =
                self.mtu.0.get().saturating_add(self.header.0.get()).saturating_add(telemetry).max(1);
            let product = round_trip_bytes(graph.fastest_host(), paths.propagation());
            self.cap = Some(Cap::Packets((product.get() / packet).clamp(1, u64::from(u32::MAX)) as u32));
        }
        self.timer.get_or_insert_with(|| match self.recovery {
            Recovery::Irn { .. } => RdmaTimer::pair_over(paths.base_rtt()),
            Recovery::GoBackN { .. } | Recovery::DropNotified => RdmaTimer::fixed_over(paths.base_rtt()),
        });
    }
}
