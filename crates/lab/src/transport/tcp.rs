//! Transports of kind `tcp`.

use super::{Kind, Ranks, bytes, rank};
use crate::schema::{
    AckClass, Borders, DelayedAcks, EcnFloor, EcnMode, Flight, Growth, HandOver, LossDetection, Prr, Rank,
    Restart, Rto, Sack, SynLoss, Tcp, Transport, Video,
};
use thalweg_machines::congestion::{ControllerSpec, Marks};
use thalweg_machines::transport as t;
use thalweg_units::Rate;

impl Kind for Tcp {
    fn spec(&self) -> t::TransportSpec {
        let mss = bytes(self.mss);
        let telemetry = self.telemetry.map_or(0, bytes);
        let primary = t::TcpSpec {
            controller: self.congestion.clone(),
            mss,
            header: bytes(self.header).saturating_add(telemetry),
            ack_wire: bytes(self.ack_size).saturating_add(telemetry),
            syn_wire: bytes(self.syn_size.unwrap_or(self.ack_size)),
            flight: match self.flight {
                Flight::Pipe => t::FlightSpec::Pipe,
                Flight::Span => t::FlightSpec::Span,
                Flight::SpanOmniscient => t::FlightSpec::SpanOmniscient,
            },
            initial_window: self.initial_window.bytes(mss),
            max_window: self.max_window.bytes(mss),
            initial_threshold: self.initial_threshold.bytes(mss),
            rto: match self.rto {
                Rto::Rfc6298 { initial, min, max } => {
                    t::RtoSpec::Rfc6298 { initial: initial.0, min: min.0, max: max.0 }
                }
                Rto::Linux { initial, min, max } => {
                    t::RtoSpec::Linux { initial: initial.0, min: min.0, max: max.0 }
                }
                Rto::Fixed { value } => t::RtoSpec::Fixed(value.0),
            },
            loss: match self.loss {
                LossDetection::DupAck { threshold } => t::LossSpec::DupAck { threshold },
                LossDetection::Rack { tail_probes } => t::LossSpec::Rack { tail_probes },
                LossDetection::TimeoutOnly => t::LossSpec::Timeout,
            },
            limited_transmit: self.limited_transmit.unwrap_or(false),
            impatient: self.impatient,
            sack: match self.sack {
                Sack::Off => t::SackSpec::Off,
                Sack::Blocks { blocks, on_wire } => t::SackSpec::Blocks { blocks, on_wire },
            },
            ack: match self.delayed_acks {
                DelayedAcks::Off => t::AckSpec { every: 1, delay: thalweg_units::Span::ZERO },
                DelayedAcks::On { every, delay } => t::AckSpec { every, delay: delay.0 },
            },
            handshake: self.handshake,
            ecn: match self.ecn {
                None | Some(EcnMode::Off) => t::EcnSpec::Off,
                Some(_) if self.congestion.needs().marks == Marks::Codepoints => t::EcnSpec::Codepoints,
                Some(EcnMode::Classic) => t::EcnSpec::Classic,
                Some(EcnMode::Accurate) => t::EcnSpec::Accurate,
            },
            timestamps: self.timestamps,
            probe_after: (self.probe_after > 0).then_some(self.probe_after),
            rank: rank(self.rank),
            acks_in_class: self.rc3.is_some() || self.ack_class == AckClass::Data,
            writes: self.writes.map(|w| t::WritesSpec {
                first: w.first.0,
                chunk: w.chunk.0,
                every: w.every.0,
            }),
            options: t::TcpOptions {
                video: self.video.as_ref().map(watched),
                prr: match self.prr {
                    Prr::Off => t::PrrSpec::Off,
                    Prr::Rfc6937 => t::PrrSpec::Rfc6937,
                    Prr::Rfc9937 => t::PrrSpec::Rfc9937,
                },
                pacing: self.pacing,
                growth: match self.growth {
                    Growth::WhenUsed => t::GrowthSpec::WhenUsed,
                    Growth::WhenHalfUsed => t::GrowthSpec::WhenHalfUsed,
                    Growth::Always => t::GrowthSpec::Always,
                },
                restart: match self.restart {
                    Restart::Rfc5681 => t::RestartSpec::Rfc5681,
                    Restart::Linux => t::RestartSpec::Linux,
                    Restart::Rfc7661 => t::RestartSpec::Rfc7661,
                    Restart::Keep => t::RestartSpec::Keep,
                },
                ecn_floor: match self.ecn_floor {
                    EcnFloor::Timer => t::EcnFloorSpec::Timer,
                    EcnFloor::Segment => t::EcnFloorSpec::Segment,
                },
                syn_loss: match self.syn_loss {
                    SynLoss::Rfc => t::SynLossSpec::Rfc,
                    SynLoss::Linux => t::SynLossSpec::Linux,
                    SynLoss::Ignored => t::SynLossSpec::Ignored,
                },
            },
        };
        match self.rc3 {
            None => t::TransportSpec::Tcp(primary),
            Some(rc3) => t::TransportSpec::Rc3(t::Rc3Spec {
                primary,
                first: rc3.first,
                levels: rc3.levels,
                borders: match rc3.borders {
                    Borders::Quotas => t::Borders::Quotas,
                    Borders::Distances => t::Borders::Distances,
                },
                together: rc3.together,
                handed: match rc3.mode {
                    HandOver::Push => t::Handed::Push,
                    HandOver::Pull => t::Handed::Pull,
                },
                flush: rc3.flush,
            }),
        }
    }
    fn congestion(&self) -> Option<&ControllerSpec> {
        Some(&self.congestion)
    }
    fn congestion_mut(&mut self) -> Option<&mut ControllerSpec> {
        Some(&mut self.congestion)
    }
    fn ranks(&self) -> Ranks {
        Ranks::Remaining
    }
    fn rank(&self) -> Option<Rank> {
        self.rank
    }
    fn slows_on_loss(&self) -> bool {
        true
    }
    fn classes(&self) -> u8 {
        self.rc3.map_or(0, |rc3| rc3.levels)
    }
    fn bare(&self) -> Transport {
        let Self { mss, header, ack_size, .. } = *self;
        Transport::Tcp(Self { mss, header, ack_size, ..Self::default() })
    }
}

/// The video, as the machine has it.
fn watched(video: &Video) -> t::VideoSpec {
    let mut ladder = [Rate::ZERO; t::RUNGS];
    for (rung, rate) in ladder.iter_mut().zip(&video.ladder) {
        *rung = rate.0;
    }
    t::VideoSpec { ladder, chunk: video.chunk.0, buffer: video.buffer.0, safety: video.safety }
}
