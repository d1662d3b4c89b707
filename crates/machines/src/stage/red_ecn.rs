//! RED-style ECN (K_min, K_max, P_max): marking in proportion to the queue, DCQCN's congestion point.
//!
//! Zhu, Eran, Firestone, Guo, Lipshteyn, Liron, Padhye, Raindel, Yahia, Zhang, "Congestion Control for Large-Scale RDMA
//! Deployments", SIGCOMM 2015, §3.1 "CP Algorithm" and Figure 5: RED's slope on the instantaneous queue, in bytes.
//! Packets that are not ECN-capable are admitted unmarked; only a full buffer drops them.
//!
//! The authors mark "arriving" packets: the queue then counts the packet itself. At departure the queue is
//! what the packet leaves behind, as in the HPCC authors' simulator (Li et al., SIGCOMM 2019).

use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, MarkAt, Needs, Parameters, Problems, View};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Stream, Time};
use thalweg_wire::{Ecn, Packet};

/// Marks with a probability that rises with the instantaneous queue in bytes: DCQCN's congestion point (Zhu et al.,
/// SIGCOMM 2015, §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// K_min: with a queue up to this nothing is marked.
    #[schemars(extend("x-quantity" = "room", "examples" = ["5KB"]))]
    pub min: Bytes,
    /// K_max: with a queue above this everything is marked.
    #[schemars(extend("x-quantity" = "room", "examples" = ["200KB"]))]
    pub max: Bytes,
    /// P_max: marking probability at K_max.
    #[serde(default = "one_in_a_hundred")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub max_probability: f64,
    /// When packets are marked: at arrival, by the queue including the packet; at departure, by the queue that it
    /// leaves behind.
    #[serde(default)]
    pub at: MarkAt,
}

fn one_in_a_hundred() -> f64 {
    0.01 // DCQCN §4
}

impl Default for Params {
    /// DCQCN's deployment at 40 Gb/s (§4); scenarios set those of their links.
    fn default() -> Self {
        let (min, max) = (Bytes::kb(5), Bytes::kb(200));
        Self { min, max, max_probability: one_in_a_hundred(), at: MarkAt::Arrival }
    }
}

impl Parameters for Params {
    type Machine = RedEcn;

    fn acts(&self) -> Acts {
        Acts::Marks
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        let Self { min, max, max_probability, .. } = *self;
        problems.fraction("max_probability", max_probability);
        if max < min {
            problems.wrong("max", format!("max, {max}, is below min, {min}"), "swap them");
        } else if min.get() >= at.room {
            let why = format!("the queue never exceeds {min}, it holds {} B", at.room);
            problems.useless("min", &why, "lower it or raise the buffer");
        }
    }

    fn make(&self, stream: Stream, _: Rate) -> Result<RedEcn, Invalid> {
        Ok(RedEcn { p: *self, stream })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let slope =
            Self { min: Bytes::new(500), max: Bytes::new(6000), max_probability: 0.5, ..Self::default() };
        vec![slope, Self { at: MarkAt::Departure, ..slope }]
    }
}

impl Params {
    #[inline]
    fn departs(&self) -> bool {
        self.at == MarkAt::Departure
    }
}

/// The marker of one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedEcn {
    p: Params,
    stream: Stream,
}

impl RedEcn {
    /// The marking probability at a queue of `bytes`: 0 up to K_min, P_max at K_max, 1 above.
    fn probability(&self, bytes: u64) -> f64 {
        let (min, max) = (self.p.min.get(), self.p.max.get());
        match bytes {
            _ if bytes > max => 1.0,
            _ if bytes <= min => 0.0,
            _ => self.p.max_probability * ((bytes - min) as f64 / (max - min) as f64),
        }
    }

    /// Whether this packet is marked. A random number is drawn only if the packet can be marked and the queue is on the
    /// slope.
    #[inline]
    fn marks(&mut self, bytes: u64) -> bool {
        let p = self.probability(bytes);
        p >= 1.0 || (p > 0.0 && self.stream.unit() < p)
    }
}

impl HeaderStage for RedEcn {
    #[inline]
    fn needs(&self) -> Needs {
        Needs { departures: self.p.departs(), ..Needs::default() }
    }
    #[inline]
    fn on_arrival(&mut self, _now: Time, view: &View, packet: &Packet) -> Arrival {
        let capable = packet.ecn != Ecn::NotEct && !self.p.departs();
        if capable && self.marks(view.bytes_with()) { Arrival::Mark } else { Arrival::Admit }
    }
    #[inline]
    fn on_departure(&mut self, _now: Time, view: &View, packet: Leaving) -> Leave {
        let capable = packet.ecn_capable() && self.p.departs();
        if capable && self.marks(view.bytes) { Leave::Mark } else { Leave::Pass }
    }
    fn quiet_below(&self) -> u32 {
        // At arrival a single packet may be longer than K_min.
        if self.p.departs() { u32::MAX } else { 0 }
    }
    fn bypass_limit(&self) -> u64 {
        if self.p.departs() { u64::MAX } else { self.p.min.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::behind;
    use super::*;

    /// DCQCN's deployment values: 5 KB, 200 KB, 1 %.
    const DCQCN: Params =
        Params { min: Bytes::kb(5), max: Bytes::kb(200), max_probability: 0.01, at: MarkAt::Arrival };

    fn red_ecn(p: Params) -> RedEcn {
        p.make(Stream::new(1, "red-ecn", 0), Rate::ZERO).unwrap()
    }
    fn finds(bytes: u64) -> View {
        super::super::tests::finds((bytes / 1000) as u32, bytes, 1000)
    }
    fn leaves(m: &mut RedEcn, bytes: u64, ecn_capable: bool) -> bool {
        let view = behind((bytes / 1000) as u32, bytes, 1000);
        m.on_departure(Time::ZERO, &view, Leaving { ecn: if ecn_capable { Ecn::Ect0 } else { Ecn::NotEct } })
            == Leave::Mark
    }
    fn capable() -> Packet {
        Packet { ecn: Ecn::Ect0, wire: 1000, ..Packet::default() }
    }
    /// Marks among so many arrivals at a queue of `bytes`, the arriving packet included.
    fn marks(m: &mut RedEcn, bytes: u64, packets: u32) -> u32 {
        let arrives = |_: &u32| m.on_arrival(Time::ZERO, &finds(bytes - 1000), &capable()) == Arrival::Mark;
        (0..packets).filter(arrives).count() as u32
    }

    #[test]
    fn nothing_up_to_the_minimum_one_per_cent_at_the_maximum_everything_above() {
        let m = red_ecn(DCQCN);
        assert_eq!([0, 5000].map(|bytes| m.probability(bytes)), [0.0; 2]);
        // 5001 B: a 195 000th of the way; 102.5 KB: half way.
        for (bytes, p) in [(5001, 0.01 / 195_000.0), (102_500, 0.005), (200_000, 0.01)] {
            assert!((m.probability(bytes) - p).abs() < 1e-15, "{bytes}: {}", m.probability(bytes));
        }
        assert_eq!(m.probability(200_001), 1.0);
    }

    #[test]
    fn on_arrival_the_queue_counts_the_packet_itself() {
        let mut m = red_ecn(Params { max: Bytes::kb(5), ..DCQCN }); // a step above 5 KB
        assert_eq!(m.on_arrival(Time::ZERO, &finds(4000), &capable()), Arrival::Admit);
        assert_eq!(m.on_arrival(Time::ZERO, &finds(4001), &capable()), Arrival::Mark);
        assert_eq!(m.on_arrival(Time::ZERO, &finds(99_000), &Packet::default()), Arrival::Admit);
        assert!(!leaves(&mut m, 99_000, true), "it decides at arrival");
    }

    #[test]
    fn at_departure_the_queue_left_behind_decides_and_arrivals_are_never_marked() {
        let mut m = red_ecn(Params { max: Bytes::kb(5), at: MarkAt::Departure, ..DCQCN });
        assert!(m.needs().departures);
        assert_eq!(m.on_arrival(Time::ZERO, &finds(99_000), &capable()), Arrival::Admit);
        assert!(!leaves(&mut m, 5000, true));
        assert!(leaves(&mut m, 5001, true));
        assert!(!leaves(&mut m, 5001, false));
    }

    #[test]
    fn on_the_slope_marks_come_with_the_probability() {
        let mut m = red_ecn(DCQCN);
        for (bytes, p) in [(102_500, 0.005), (200_000, 0.01)] {
            let n = 200_000;
            let spread = 5.0 * libm::sqrt(f64::from(n) * p * (1.0 - p));
            let seen = marks(&mut m, bytes, n);
            assert!((f64::from(seen) - f64::from(n) * p).abs() < spread, "{bytes}: {seen}");
        }
    }

    #[test]
    fn packets_about_which_there_is_no_doubt_draw_nothing() {
        let (mut m, mut other) = (red_ecn(DCQCN), red_ecn(DCQCN));
        let story = |m: &mut RedEcn| (0..5000).map(|_| marks(m, 150_000, 1)).collect::<Vec<_>>();
        marks(&mut other, 5000, 7);
        marks(&mut other, 200_001, 7);
        for _ in 0..7 {
            other.on_arrival(Time::ZERO, &finds(150_000), &Packet::default());
            leaves(&mut other, 150_000, true);
        }
        assert_eq!(story(&mut m), story(&mut other));
        let mut at_end = red_ecn(Params { at: MarkAt::Departure, ..DCQCN });
        at_end.on_arrival(Time::ZERO, &finds(150_000), &capable());
        leaves(&mut at_end, 150_000, false);
        assert_eq!(at_end.stream, Stream::new(1, "red-ecn", 0));
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        let refuse = |p: Params| {
            super::super::StageSpec::from(p)
                .make(Stream::new(1, "red-ecn", 0), Rate::ZERO)
                .unwrap_err()
                .to_string()
        };
        assert!(refuse(Params { min: Bytes::kb(201), ..DCQCN }).contains("min, 201KB"));
        assert!(refuse(Params { max_probability: 1.5, ..DCQCN }).contains("1.5"));
        assert!(refuse(Params { max_probability: f64::NAN, ..DCQCN }).contains("NaN"));
    }
}
