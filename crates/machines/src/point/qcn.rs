//! QCN's congestion point: it samples arriving frames and reports the congestion to the source of the sample.
//!
//! IEEE 802.1Qau-2010, §30 and §32.8; Alizadeh, Atikoglu, Kabbani, Lakshmikantha, Pan, Prabhakar, Seaman,
//! "Data Center Transport Mechanisms: Congestion Control Theory and IEEE Standardization", Allerton 2008. Fb =
//! −(Q_off + w · Q_δ), Q_off = Q − Q_eq, Q_δ = Q − Q_old, of the samples; only a negative Fb is sent, as |Fb|
//! in six bits.
//!
//! ```text
//! CHOICE QCN (Allerton 2008, §II): sampling rises from 1 % to 10 % of the frames with |Fb|; here as bytes
//! between samples, from 150 KB down to a tenth, in proportion to 1 + 9 |Fb|/63, and drawn within ±15 %, as
//! the standard's timers are.
//! ```

use super::{CongestionPoint, Notices, Parameters, Problems};
use crate::congestion::Messages;
use crate::problems::Invalid;
use crate::stage::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Stream, Time};
use thalweg_wire::{NoticeBody, Packet};

/// The largest |Fb| of six bits.
pub const WORST: u8 = 63;

/// QCN: samples of the queue, sent to the source of the sampled frame (IEEE 802.1Qau; Alizadeh et al.,
/// Allerton 2008). For the controller `qcn`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Q_eq: target queue length. If not given, 33 KB per 10 Gb/s of the link.
    pub equilibrium: Option<Bytes>,
    /// w: weight of the queue's growth.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1000.0))]
    pub weight: f64,
    /// Bytes between samples without congestion.
    pub sample: Bytes,
    /// Size of a message on the wire.
    pub message: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Self { equilibrium: None, weight: 2.0, sample: Bytes::kb(150), message: Bytes::new(84) }
    }
}

impl Parameters for Params {
    type Machine = Qcn;

    fn sends(&self) -> Messages {
        Messages::Severity
    }
    fn message(&self) -> Bytes {
        self.message
    }

    fn check(&self, problems: &mut Problems) {
        problems.size("sample", self.sample, |size| format!("a sample every {size} is impossible"), "150KB");
        if let Some(equilibrium) = self.equilibrium {
            problems.size("equilibrium", equilibrium, |size| format!("a set point of {size}"), "33KB");
        }
        if !(0.0..=1000.0).contains(&self.weight) {
            problems.wrong("weight", format!("{} is out of range", self.weight), "allowed: 0 to 1000");
        }
    }

    fn make(&self, stream: Stream, rate: Rate) -> Result<Qcn, Invalid> {
        // CHOICE RoCC §3.5: the standard's 33 KB are for 10 Gb/s.
        let usual = Bytes::new((33_000.0 * rate.bps().min(10_000_000_000_000) as f64 / 1e10) as u64);
        let equilibrium = self.equilibrium.unwrap_or(usual).get().max(1);
        let (weight, sample) = (self.weight, self.sample.get());
        let mut made = Qcn { equilibrium, weight, sample, stream, old: 0, left: 0 };
        made.left = made.interval(0);
        Ok(made)
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { sample: Bytes::new(3000), equilibrium: Some(Bytes::new(4000)), ..Self::default() }]
    }
}

/// The congestion point of one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Qcn {
    equilibrium: u64,
    weight: f64,
    sample: u64,
    stream: Stream,
    /// Q_old: the queue at the last sample.
    old: u64,
    /// Bytes until the next one.
    left: u64,
}

impl Qcn {
    fn interval(&mut self, severity: u8) -> u64 {
        let mean = self.sample as f64 / (1.0 + 9.0 * f64::from(severity) / f64::from(WORST));
        (mean * (0.85 + 0.3 * self.stream.unit())) as u64
    }

    /// |Fb| in six bits of a queue that was `old`; 0 if Fb is not negative.
    fn severity(&self, queue: u64) -> u8 {
        let offset = queue as f64 - self.equilibrium as f64;
        let delta = queue as f64 - self.old as f64;
        let fb = -(offset + self.weight * delta);
        // The standard's largest: an offset of Q_eq that has grown by 2 Q_eq.
        let worst = (2.0 * self.weight + 1.0) * self.equilibrium as f64;
        libm::round((-fb * f64::from(WORST) / worst).clamp(0.0, f64::from(WORST))) as u8
    }
}

impl CongestionPoint for Qcn {
    #[inline]
    fn on_join(&mut self, _: Time, view: &View, packet: &Packet, notices: &mut Notices) {
        let wire = u64::from(packet.wire);
        if self.left > wire {
            self.left -= wire;
            return;
        }
        let queue = view.bytes + wire;
        let severity = self.severity(queue);
        self.old = queue;
        self.left = self.interval(severity);
        if severity > 0 {
            notices.push((packet.flow, NoticeBody::Severity(severity)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{FlowId, Span};

    fn at(gbps: u64) -> Qcn {
        Params::default().make(Stream::new(1, "point", 0), Rate::from_gbps(gbps)).unwrap()
    }

    #[test]
    fn fb_is_the_distance_from_the_set_point_and_twice_the_growth_in_63_parts_of_five_set_points() {
        let mut point = at(10);
        assert_eq!(point.equilibrium, 33_000);
        assert_eq!(at(40).equilibrium, 132_000);
        point.old = 33_000;
        assert_eq!(point.severity(33_000), 0);
        // 16.5 KB too long, grown by 16.5 KB: 49.5 of 165 KB.
        assert_eq!(point.severity(49_500), 19);
        assert_eq!(point.severity(300_000), 63, "no more than six bits");
        point.old = 60_000;
        assert_eq!(point.severity(46_000), 0, "it falls faster than it is too long");
    }

    #[test]
    fn a_sample_comes_every_150_kb_and_ten_times_as_often_at_the_worst() {
        let mut point = at(10);
        let view = |bytes| View {
            packets: 0,
            bytes,
            wire: 1000,
            rate: Rate::from_gbps(10),
            sent: 0,
            idle_for: Span::ZERO,
            waited: Span::ZERO,
        };
        let packet = Packet { flow: FlowId(4), wire: 1000, ..Packet::default() };
        let mut notices = Notices::new();
        point.old = 21_000;
        (0..3000).for_each(|_| point.on_join(Time::ZERO, &view(20_000), &packet, &mut notices));
        assert_eq!(notices, [], "below the set point no one is notified");
        (0..3000).for_each(|_| point.on_join(Time::ZERO, &view(199_000), &packet, &mut notices));
        // Q_δ = 0 but at the first: 167 of 165 KB.
        assert!((180..=205).contains(&notices.len()), "{}", notices.len());
        assert_eq!(notices[1], (FlowId(4), NoticeBody::Severity(63)));
    }
}
