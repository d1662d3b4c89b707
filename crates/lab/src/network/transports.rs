//! Transports and controllers.

use super::rdma::rdma;
use crate::schema::{
    DelayedAcks, Document, EcnMode, Flight, LossDetection, Pace, Pattern, Rank, Rto, Sack, Spacing, Transport,
};
use thalweg_machines::transport as t;

/// `[transport]`, then `[transports]` by name, then those of traffic of kind `udp`.
pub(super) fn transports(doc: &Document) -> Vec<t::TransportSpec> {
    let mut out = vec![transport(&doc.transport)];
    out.extend(doc.transports.values().map(transport));
    for traffic in &doc.traffic {
        if let Pattern::Udp(u) = &traffic.pattern {
            out.push(t::TransportSpec::Udp(t::UdpSpec {
                payload: u.payload.0.get() as u32,
                header: u.header.0.get() as u32,
                pace: match u.spacing {
                    Spacing::Constant => t::UdpPace::Constant(u.rate.0),
                    Spacing::Poisson => t::UdpPace::Poisson(u.rate.0),
                },
                rank: t::RankSpec::None,
            }));
        }
    }
    out
}

fn transport(transport: &Transport) -> t::TransportSpec {
    let rank = |r: Option<Rank>| match r {
        None | Some(Rank::None) => t::RankSpec::None,
        Some(Rank::FlowSize) => t::RankSpec::FlowSize,
        Some(Rank::Remaining) => t::RankSpec::Remaining,
        Some(Rank::FromHere) => t::RankSpec::FromHere,
        Some(Rank::SocketBuffer { buffer }) => t::RankSpec::SocketBuffer { buffer: buffer.0 },
    };
    let tcp = match transport {
        Transport::Udp(u) => {
            return t::TransportSpec::Udp(t::UdpSpec {
                payload: u.payload.0.get() as u32,
                header: u.header.0.get() as u32,
                pace: match u.pace {
                    Pace::Burst => t::UdpPace::Burst,
                    Pace::Constant { rate } => t::UdpPace::Constant(rate.0),
                    Pace::Poisson { rate } => t::UdpPace::Poisson(rate.0),
                },
                rank: rank(u.rank),
            });
        }
        Transport::Rdma(r) => return t::TransportSpec::Rdma(rdma(r)),
        Transport::Tcp(tcp) => tcp,
    };
    let mss = tcp.mss.0.get() as u32;
    let telemetry = tcp.telemetry.map_or(0, |q| q.0.get() as u32);
    t::TransportSpec::Tcp(t::TcpSpec {
        controller: tcp.congestion.clone(),
        mss,
        header: tcp.header.0.get() as u32 + telemetry,
        ack_wire: tcp.ack_size.0.get() as u32 + telemetry,
        syn_wire: tcp.syn_size.unwrap_or(tcp.ack_size).0.get() as u32,
        flight: match tcp.flight {
            Flight::Pipe => t::FlightSpec::Pipe,
            Flight::Span => t::FlightSpec::Span,
            Flight::SpanOmniscient => t::FlightSpec::SpanOmniscient,
        },
        initial_window: tcp.initial_window.bytes(mss),
        max_window: tcp.max_window.bytes(mss),
        initial_threshold: tcp.initial_threshold.bytes(mss),
        rto: match tcp.rto {
            Rto::Rfc6298 { initial, min, max } => {
                t::RtoSpec::Rfc6298 { initial: initial.0, min: min.0, max: max.0 }
            }
            Rto::Fixed { value } => t::RtoSpec::Fixed(value.0),
        },
        loss: match tcp.loss {
            LossDetection::DupAck { threshold } => t::LossSpec::DupAck { threshold },
            LossDetection::TimeoutOnly => t::LossSpec::Timeout,
        },
        limited_transmit: tcp.limited_transmit.unwrap_or(false),
        sack: match tcp.sack {
            Sack::Off => t::SackSpec::Off,
            Sack::Blocks { blocks, on_wire } => t::SackSpec::Blocks { blocks, on_wire },
        },
        ack: match tcp.delayed_acks {
            DelayedAcks::Off => t::AckSpec { every: 1, delay: thalweg_units::Span::ZERO },
            DelayedAcks::On { every, delay } => t::AckSpec { every, delay: delay.0 },
        },
        handshake: tcp.handshake,
        ecn: match tcp.ecn {
            None | Some(EcnMode::Off) => t::EcnSpec::Off,
            Some(EcnMode::Classic) => t::EcnSpec::Classic,
            Some(EcnMode::Accurate) => t::EcnSpec::Accurate,
        },
        timestamps: tcp.timestamps,
        probe_after: (tcp.probe_after > 0).then_some(tcp.probe_after),
        rank: rank(tcp.rank),
    })
}
