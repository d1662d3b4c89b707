//! Random early detection. Floyd & Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", IEEE/ACM Trans. Networking 1(4), 1993, Figure 2; the gentle slope above max_th is
//! Floyd's "Recommendation on using the gentle_ variant of RED" (2000).
//!
//! ```text
//! CHOICE Floyd & Jacobson §4: the queue is measured in packets, and a packet is marked whatever its size.
//! Other reading, byte mode: the queue in bytes, and a probability in proportion to the packet's size.
//! ```
//!
//! With `weight` 1, `min` K, `max` K + 1 and not gentle this is a step at K: what marks for DCTCP in
//! ns-3. An arrival that finds more than K packets is marked, one that finds K or fewer is not.

use super::{Acts, Around, Arrival, HeaderStage, Needs, Parameters, Problems, View};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::notation::Capacity;
use thalweg_units::{Bytes, Rate, Span, Stream, Time};
use thalweg_wire::{Ecn, Packet};

/// Random early detection (Floyd & Jacobson, IEEE/ACM ToN 1993).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// min_th, packets: below this average queue nothing is marked or dropped.
    #[schemars(extend("minimum" = 0.0, "examples" = [5]))]
    pub min: f64,
    /// max_th, packets: from this average queue on everything is, unless `gentle`.
    #[schemars(extend("exclusiveMinimum" = 0.0, "examples" = [15]))]
    pub max: f64,
    /// max_p: probability at max_th.
    #[serde(default = "default::max_probability")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub max_probability: f64,
    /// w_q: weight of the instantaneous queue in the average; with 1 the average is the queue itself.
    #[serde(default = "default::weight")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub weight: f64,
    /// Above max_th the probability rises linearly to 1 at 2 max_th instead of jumping.
    #[serde(default = "default::gentle")]
    pub gentle: bool,
    /// Marks ECN-capable packets instead of dropping them. If not given, it does so if a transport is ECN-capable.
    pub ecn: Option<bool>,
    /// Typical packet size, by which the average decays over idle times.
    #[serde(default = "default::mean_packet")]
    pub mean_packet: Bytes,
}

mod default {
    use thalweg_units::Bytes;
    pub(super) fn max_probability() -> f64 {
        0.1 // Floyd's "gentle" note, 2000
    }
    pub(super) fn weight() -> f64 {
        0.002 // Floyd & Jacobson §6
    }
    pub(super) fn gentle() -> bool {
        true
    }
    pub(super) fn mean_packet() -> Bytes {
        Bytes::new(1500) // one full Ethernet payload
    }
}

impl Default for Params {
    /// Floyd's thresholds of 1997 ("RED: Discussions of Setting Parameters"); scenarios set those of their links.
    fn default() -> Self {
        Self {
            min: 5.0,
            max: 15.0,
            max_probability: default::max_probability(),
            weight: default::weight(),
            gentle: default::gentle(),
            ecn: None,
            mean_packet: default::mean_packet(),
        }
    }
}

impl Parameters for Params {
    type Machine = Red;

    fn acts(&self) -> Acts {
        if self.ecn == Some(false) { Acts::Drops } else { Acts::MarksOrDrops }
    }

    fn resolve(&mut self, ecn_capable: bool) {
        self.ecn.get_or_insert(ecn_capable);
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        let Self { min, max, max_probability, weight, ecn, mean_packet, .. } = *self;
        if !(min >= 0.0 && min.is_finite() && max.is_finite()) {
            problems.wrong(
                "min",
                format!("min = {min}, max = {max} are no queue lengths"),
                "numbers of packets",
            );
        } else if max <= min {
            problems.wrong("max", format!("max, {max}, is not above min, {min}"), "swap them");
        }
        problems.share("max_probability", max_probability);
        problems.share("weight", weight);
        let packets = match at.buffer {
            Capacity::Packets(n) => f64::from(n),
            _ => at.room as f64 / f64::from(at.full),
        };
        if min > packets {
            let why = format!("the queue never reaches {min} packets, it holds {}", libm::floor(packets));
            problems.useless("min", &why, "lower it or raise the buffer");
        }
        if ecn == Some(true) && !at.ecn_capable {
            let why = "no transport is ECN-capable, packets are dropped";
            problems.useless("ecn", why, "write false, or `transport.ecn = \"classic\"`");
        }
        problems.size(
            "mean_packet",
            mean_packet,
            |size| format!("a packet of {size} is impossible"),
            "1500B",
        );
    }

    fn make(&self, stream: Stream, rate: Rate) -> Result<Red, Invalid> {
        Red::new(*self, stream, rate)
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let few = Self { min: 1.0, max: 5.0, max_probability: 0.2, weight: 0.3, ..Self::default() };
        vec![
            Self { ecn: Some(false), mean_packet: Bytes::new(800), ..few },
            Self { ecn: Some(true), gentle: false, max: 3.0, weight: 0.5, ..few },
        ]
    }
}

/// RED's state at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Red {
    p: Params,
    /// avg: the filtered queue length.
    avg: f64,
    /// count: packets since the last mark while between the thresholds; −1 below min_th.
    count: i64,
    /// s: how long a typical packet is on the wire.
    s: Span,
    stream: Stream,
}

impl Red {
    /// A port of `rate` that has always been idle.
    ///
    /// # Errors
    /// If the rate is zero.
    fn new(p: Params, stream: Stream, rate: Rate) -> Result<Self, Invalid> {
        if rate == Rate::ZERO {
            return Err(Invalid::new("RED needs the port's rate to age its average, and the rate is zero"));
        }
        let s = p.mean_packet / rate;
        Ok(Self { p, avg: 0.0, count: -1, s, stream })
    }

    /// The filtered queue length, packets.
    pub fn average(&self) -> f64 {
        self.avg
    }

    fn filter(&mut self, view: &View) {
        if view.idle_for.is_zero() {
            self.avg += self.p.weight * (f64::from(view.packets) - self.avg);
        } else {
            // As if m small packets had met an empty queue while the port was idle.
            let m = if self.s.is_zero() { f64::INFINITY } else { view.idle_for / self.s };
            self.avg *= libm::pow(1.0 - self.p.weight, m);
        }
    }

    /// p_b, or `None` where every packet is marked.
    fn p_b(&self) -> Option<f64> {
        let Params { min, max, max_probability: max_p, gentle, .. } = self.p;
        match self.avg {
            avg if avg < max => Some(max_p * (avg - min) / (max - min)),
            avg if gentle && avg < 2.0 * max => Some(max_p + (1.0 - max_p) * (avg - max) / max),
            _ => None,
        }
    }

    fn congested(&mut self) -> bool {
        if self.avg < self.p.min {
            self.count = -1;
            return false;
        }
        self.count += 1;
        let hit = self.p_b().is_none_or(|p_b| {
            // Spreads marks evenly: the gap is uniform below 1/p_b instead of geometric.
            let rest = 1.0 - self.count as f64 * p_b;
            let p_a = if rest > 0.0 { p_b / rest } else { 1.0 };
            p_a >= 1.0 || (p_a > 0.0 && self.stream.unit() < p_a)
        });
        if hit {
            self.count = 0;
        }
        hit
    }
}

impl HeaderStage for Red {
    fn needs(&self) -> Needs {
        Needs { idle_time: true, ..Needs::default() }
    }
    fn on_arrival(&mut self, _now: Time, view: &View, packet: &Packet) -> Arrival {
        self.filter(view);
        // CHOICE RED: with ECN, also above max_th capable packets are marked and not dropped. RFC 3168 §7
        // allows dropping there; a step for DCTCP (min = K, max = K + 1) would then never mark.
        match self.congested() {
            false => Arrival::Admit,
            true if self.p.ecn == Some(true) && packet.ecn != Ecn::NotEct => Arrival::Mark,
            true => Arrival::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(min: f64, max: f64, weight: f64, gentle: bool) -> Red {
        let mean_packet = Bytes::new(1000);
        let p = Params { min, max, max_probability: 0.1, weight, gentle, ecn: Some(true), mean_packet };
        Red::new(p, Stream::new(1, "red", 0), Rate::from_gbps(8)).unwrap() // s = 1 us
    }
    fn finds(packets: u32) -> View {
        super::super::tests::finds(packets, u64::from(packets) * 1000, 1000)
    }
    fn capable() -> Packet {
        Packet { ecn: Ecn::Ect0, ..Packet::default() }
    }

    #[test]
    fn weight_one_between_k_and_k_plus_one_is_a_step_above_k() {
        let mut m = red(65.0, 66.0, 1.0, false);
        for (found, arrival) in
            [(65, Arrival::Admit), (66, Arrival::Mark), (64, Arrival::Admit), (200, Arrival::Mark)]
        {
            for _ in 0..200 {
                assert_eq!(m.on_arrival(Time::ZERO, &finds(found), &capable()), arrival, "{found}");
            }
        }
        assert_eq!(m.on_arrival(Time::ZERO, &finds(66), &Packet::default()), Arrival::Drop);
    }

    #[test]
    fn half_way_up_marks_are_less_than_one_over_p_apart() {
        // avg = 10 between 5 and 15: p_b = 0.05. Figure 2 raises `count` before it is used, so the first
        // packet after a mark has p_a = 1/19 and gaps are uniform on 1 ..= 19 with mean 10.
        let mut m = red(5.0, 15.0, 1.0, false);
        let (mut gap, mut gaps) = (0, vec![]);
        for _ in 0..50_000 {
            gap += 1;
            if m.on_arrival(Time::ZERO, &finds(10), &capable()) == Arrival::Mark {
                gaps.push(gap);
                gap = 0;
            }
        }
        let mean = f64::from(gaps.iter().sum::<i32>()) / gaps.len() as f64;
        assert!(gaps[1..].iter().all(|g| (1..=19).contains(g)), "{:?}", gaps.iter().max());
        assert!((mean - 10.0).abs() < 0.3, "{mean}");
    }

    #[test]
    fn the_first_packet_after_a_quiet_spell_is_marked_with_p_b_itself() {
        // p_b = 1/2 at avg = 10 between 5 and 15 with max_p = 1. Below min_th `count` is −1, so p_a = 1/2; were it 0,
        // p_a would be 1 and every such packet marked.
        let mut m = red(5.0, 15.0, 1.0, false);
        m.p.max_probability = 1.0;
        let mut marks = 0;
        for _ in 0..2000 {
            assert_eq!(m.on_arrival(Time::ZERO, &finds(0), &capable()), Arrival::Admit);
            marks += u32::from(m.on_arrival(Time::ZERO, &finds(10), &capable()) == Arrival::Mark);
        }
        assert!((900..1100).contains(&marks), "{marks}");
    }

    #[test]
    fn the_average_halves_per_packet_time_of_silence_at_weight_one_half() {
        let mut m = red(100.0, 200.0, 0.5, false);
        m.on_arrival(Time::ZERO, &finds(64), &capable());
        assert_eq!(m.average(), 32.0);
        let idle = View { idle_for: Span::from_us(3), ..finds(0) };
        m.on_arrival(Time::ZERO, &idle, &capable());
        assert_eq!(m.average(), 4.0);
    }

    #[test]
    fn gentle_rises_to_one_at_twice_the_maximum() {
        let mut m = red(5.0, 10.0, 1.0, true);
        m.avg = 15.0;
        assert!((m.p_b().unwrap() - 0.55).abs() < 1e-12);
        m.avg = 20.0;
        assert_eq!(m.p_b(), None);
        assert_eq!(red(5.0, 10.0, 1.0, false).p_b().map(|p| p < 0.0), Some(true)); // avg 0: never used
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        let refuse = |p: Params, rate| {
            super::super::StageSpec::from(p).make(Stream::new(1, "red", 0), rate).unwrap_err().to_string()
        };
        let p = Params { min: 9.0, max: 9.0, ..Params::default() };
        assert!(refuse(p, Rate::from_gbps(1)).contains("above min, 9"));
        assert!(refuse(Params { max: 10.0, weight: 0.0, ..p }, Rate::from_gbps(1)).contains("weight"));
        assert!(refuse(Params { max: f64::NAN, ..p }, Rate::from_gbps(1)).contains("NaN"));
        assert!(refuse(Params { max: 10.0, ..p }, Rate::ZERO).contains("zero"));
    }
}
