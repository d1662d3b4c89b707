//! `[transport]` of kind `rdma`: what follows from the recovery, the controller, flow control and the topology.

use crate::quantity::{Cap, Q};
use crate::schema::{Document, Notification, Rdma, RdmaAcks, RdmaCongestion, RdmaTimer, Recovery, Transport};
use crate::topology::{Graph, round_trip_bytes};
use thalweg_machines::custom::declared;
use thalweg_units::Bytes;

/// Which notifications a controller cannot do without.
pub(crate) fn notification_of(congestion: &RdmaCongestion) -> Notification {
    match congestion {
        RdmaCongestion::Dcqcn { .. } => Notification::cnp(),
        RdmaCongestion::Dctcp { .. } => Notification::Echo,
        RdmaCongestion::Custom { name, .. } if declared(name).ecn => Notification::Echo,
        _ => Notification::Off,
    }
}

/// Whether a controller looks at round trips.
pub(crate) fn reads_round_trips(congestion: &RdmaCongestion) -> bool {
    matches!(congestion, RdmaCongestion::Timely { .. } | RdmaCongestion::Custom { .. })
}

/// Whether a controller moves a window, and so waits for ACKs.
pub(crate) fn moves_window(congestion: &RdmaCongestion) -> bool {
    use RdmaCongestion::{Aimd, Custom, Dctcp};
    matches!(congestion, Aimd | Dctcp { .. } | Custom { .. })
}

/// Whether packets may be marked.
pub(crate) fn is_ecn_capable(r: &Rdma) -> bool {
    r.notification.unwrap_or(notification_of(&r.congestion)) != Notification::Off
}

/// The ACKs that somebody waits for.
fn acks_of(r: &Rdma, lossless: bool) -> RdmaAcks {
    let capped = matches!(r.cap, Some(Cap::Packets(_) | Cap::Auto));
    let timed = !matches!(r.timer, None | Some(RdmaTimer::Off));
    match r.recovery {
        Recovery::Irn { .. } => RdmaAcks::PerPacket,
        Recovery::GoBackN { .. } if r.segments.is_some() => RdmaAcks::PerSegment,
        // IRN §4.4.2: the baseline's ACKs are not charged to it where nobody needs them.
        Recovery::GoBackN { .. } if lossless && !capped && !timed => match r.notification {
            Some(Notification::Echo) => RdmaAcks::PerPacket,
            _ if moves_window(&r.congestion) => RdmaAcks::PerPacket,
            _ if reads_round_trips(&r.congestion) => RdmaAcks::PerSegment,
            _ => RdmaAcks::Never,
        },
        Recovery::GoBackN { .. } => RdmaAcks::PerPacket,
    }
}

/// What follows from the scenario's other keys.
pub(super) fn resolve(r: &mut Rdma, lossless: bool) {
    if let RdmaCongestion::Dcqcn { byte_counter, decrease, .. } = &mut r.congestion {
        byte_counter.get_or_insert(decrease.byte_counter());
    }
    r.notification.get_or_insert(notification_of(&r.congestion));
    let named = if matches!(r.recovery, Recovery::Irn { .. }) { 4 } else { 0 };
    r.nack_size.get_or_insert(Q(Bytes::new(r.ack_size.0.get().saturating_add(named))));
    let acks = acks_of(r, lossless);
    let acks = *r.acks.get_or_insert(acks);
    r.timer.get_or_insert(match r.recovery {
        // IRN §4.3.1: without losses every expiry would be a mistake.
        _ if lossless || acks == RdmaAcks::Never => RdmaTimer::Off,
        Recovery::Irn { .. } => RdmaTimer::pair(),
        Recovery::GoBackN { .. } => RdmaTimer::fixed(),
    });
    r.cap.get_or_insert(match r.recovery {
        Recovery::Irn { .. } => Cap::Auto,
        Recovery::GoBackN { .. } => Cap::Off,
    });
}

/// What follows from the topology.
pub(super) fn by_graph(doc: &mut Document, graph: &Graph) {
    let all = || std::iter::once(&doc.transport).chain(doc.transports.values());
    let waits = |t: &Transport| match t {
        Transport::Rdma(r) => {
            r.cap == Some(Cap::Auto) || matches!(r.congestion, RdmaCongestion::Timely { min_rtt: None, .. })
        }
        _ => false,
    };
    if !all().any(waits) {
        return;
    }
    let round_trip = graph.longest_propagation().saturating_mul(2);
    let rate = graph.fastest_host();
    for t in std::iter::once(&mut doc.transport).chain(doc.transports.values_mut()) {
        let Transport::Rdma(r) = t else { continue };
        if r.cap == Some(Cap::Auto) {
            // IRN §4.2.2: the product of bandwidth and delay in packets on the wire, rounded down.
            let packet = r.mtu.0.get().saturating_add(r.header.0.get()).max(1);
            let packets = (round_trip_bytes(rate, round_trip).get() / packet).clamp(1, u64::from(u32::MAX));
            r.cap = Some(Cap::Packets(packets as u32));
        }
        if let RdmaCongestion::Timely { min_rtt, .. } = &mut r.congestion {
            min_rtt.get_or_insert(Q(round_trip));
        }
    }
}
