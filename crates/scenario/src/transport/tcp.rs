//! Transports of kind `tcp`.

use super::{Ranks, TransportKind, bytes};
use crate::schema::{AckClass, DelayedAcks, EcnMode, Rank, Tcp, Transport, Video};
use thalweg_machines::congestion::{ControllerSpec, Marks};
use thalweg_machines::transport as t;
use thalweg_units::Rate;

impl TransportKind for Tcp {
    fn spec(&self) -> t::TransportSpec {
        let mss = bytes(self.mss);
        let telemetry = self.telemetry.map_or(0, bytes);
        let primary = t::TcpSpec {
            controller: self.congestion.clone(),
            mss,
            header: bytes(self.header).saturating_add(telemetry),
            ack_wire: bytes(self.ack_size).saturating_add(telemetry),
            syn_wire: bytes(self.syn_size.unwrap_or(self.ack_size)),
            flight: self.flight,
            initial_window: self.initial_window.bytes(mss),
            max_window: self.max_window.bytes(mss),
            initial_threshold: self.initial_threshold.bytes(mss),
            rto: self.rto,
            loss: self.loss,
            limited_transmit: self.limited_transmit.unwrap_or(false),
            impatient: self.impatient,
            sack: self.sack,
            ack: match self.delayed_acks {
                DelayedAcks::Off => t::AckSpec { every: 1, delay: thalweg_units::Span::ZERO },
                DelayedAcks::On { every, delay } => t::AckSpec { every, delay: delay.0 },
            },
            handshake: self.handshake,
            ecn: match self.ecn {
                None | Some(EcnMode::Off) => t::EcnSpec::Off,
                Some(_) if self.congestion.needs().marks == Marks::Codepoints => t::EcnSpec::Codepoints,
                Some(_) if self.congestion.needs().l4s => t::EcnSpec::Scalable,
                Some(EcnMode::Classic) => t::EcnSpec::Classic,
                Some(EcnMode::Accurate) => t::EcnSpec::Accurate,
            },
            timestamps: self.timestamps,
            probe_after: (self.probe_after > 0).then_some(self.probe_after),
            rank: self.rank.unwrap_or(Rank::None),
            acks_in_class: self.rc3.is_some() || self.ack_class == AckClass::Data,
            writes: self.writes,
            options: t::TcpOptions {
                video: self.video.as_ref().map(watched),
                prr: self.prr,
                pacing: self.pacing,
                growth: self.growth,
                restart: self.restart,
                ecn_floor: self.ecn_floor,
                syn_loss: self.syn_loss,
            },
        };
        match self.rc3 {
            None => t::TransportSpec::Tcp(primary),
            Some(rc3) => t::TransportSpec::Rc3(t::Rc3Spec {
                primary,
                first: rc3.first,
                levels: rc3.levels,
                borders: rc3.borders,
                together: rc3.together,
                handed: rc3.mode,
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

/// The parameters of the video for the machine.
fn watched(video: &Video) -> t::VideoSpec {
    let mut ladder = [Rate::ZERO; t::RUNGS];
    for (rung, rate) in ladder.iter_mut().zip(&video.ladder) {
        *rung = rate.0;
    }
    t::VideoSpec { ladder, chunk: video.chunk.0, buffer: video.buffer.0, safety: video.safety }
}
