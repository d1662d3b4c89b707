//! How XCP's feedback is shared out among packets (Katabi et al., §3.5.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;
use thalweg_wire::{ExplicitHeader, Packet};

/// γ: of the traffic at least so much is taken from some and given to others, lest unfair shares stay where nothing is
/// spare (§3.5.2, "bandwidth shuffling").
const SHUFFLED: f64 = 0.1;

/// How the feedback is divided among packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// What is given in proportion to rtt² s / cwnd, so that every flow gains the same rate; what is taken to rtt s, in
    /// proportion to a flow's own; a tenth of the traffic is shuffled. As published.
    #[default]
    Published,
    /// All packets alike, φ over their number in the last interval, and nothing is shuffled: the queue of ABC's
    /// authors. A window that has grown since is given in proportion to its growth: where rates do not change it
    /// overshoots by many products of delay and bandwidth.
    Equal,
}

/// What a sender has stated in a packet, as far as it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stated {
    /// Its round trip, seconds.
    rtt: f64,
    /// s, bytes.
    wire: f64,
    /// rtt s / cwnd, seconds: over all packets of an interval d it sums up to d for every flow.
    weight: f64,
}

impl Stated {
    pub(super) fn new(rtt: Span, packet: &Packet, header: Option<&ExplicitHeader>) -> Self {
        let (rtt, wire) = (rtt.secs(), f64::from(packet.wire));
        let window = header.map_or(0, |header| header.window.get()).max(u64::from(packet.wire)).max(1);
        Self { rtt, wire, weight: rtt * wire / window as f64 }
    }

    /// In whole nanoseconds.
    pub(super) fn weight_ns(&self) -> u32 {
        (self.weight * 1e9) as u32
    }
}

/// Over the packets of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sums {
    /// Σ rtt s / cwnd, seconds.
    pub weight: f64,
    /// Σ rtt² s / cwnd, seconds².
    rtt: f64,
}

impl Sums {
    pub(super) fn add(&mut self, stated: &Stated) {
        self.weight += stated.weight;
        self.rtt += stated.rtt * stated.weight;
    }

    /// The mean round trip of the flows: what states none weighs nothing.
    pub(super) fn mean(&self) -> Option<Span> {
        (self.weight > 0.0).then(|| Span::from_ps(((self.rtt / self.weight * 1e12).round() as u64).max(1)))
    }
}

/// What the packets that leave now are given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Share {
    /// Thousandths of a byte, to each.
    Each(i64),
    /// ξ_p in bytes/s², and ξ_n in 1/s.
    Scaled { given: f64, taken: f64 },
}

impl Share {
    pub(super) fn equal(phi: f64, packets: u64) -> Self {
        Self::Each((1000.0 * phi / packets.max(1) as f64) as i64)
    }

    /// Of φ, after an interval `d` in which `arrived` bytes came, with the `weight` of [`Sums`].
    pub(super) fn scaled(phi: f64, d: Span, arrived: f64, weight: f64) -> Self {
        let shuffled = (SHUFFLED * arrived - phi.abs()).max(0.0);
        let over = |amount: f64, sum: f64| if sum > 0.0 { amount / (d.secs() * sum) } else { 0.0 };
        Self::Scaled {
            given: over(shuffled + phi.max(0.0), weight),
            taken: over(shuffled - phi.min(0.0), arrived),
        }
    }

    /// Thousandths of a byte.
    pub(super) fn of(self, stated: &Stated) -> i64 {
        match self {
            Self::Each(thousandths) => thousandths,
            Self::Scaled { given, taken } => {
                (1000.0 * stated.rtt * (given * stated.weight - taken * stated.wire)) as i64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;
    use thalweg_wire::{Explicit, ExplicitKind};

    fn packet(rtt_ms: u64, window: u64) -> Stated {
        let rtt = Span::from_ms(rtt_ms);
        let header = ExplicitHeader::new(Explicit::unwritten(ExplicitKind::Change), rtt, Bytes::new(window));
        Stated::new(rtt, &Packet { wire: 1000, ..Packet::default() }, Some(&header))
    }

    /// Two flows of 20 and 80 ms, of 20 and 40 packets per round trip, over their mean of 50 ms: 50 and 25 packets.
    #[test]
    fn every_flow_gains_the_same_rate_and_loses_in_proportion_to_its_own() {
        let flows = [(packet(20, 20_000), 50), (packet(80, 40_000), 25)];
        let mut sums = Sums::default();
        for (stated, packets) in &flows {
            (0..*packets).for_each(|_| sums.add(stated));
        }
        // §3.5.2: every flow weighs d.
        assert!((sums.weight - 0.1).abs() < 1e-12);
        assert_eq!(sums.mean(), Some(Span::from_ms(50)));
        let changes = |phi: f64, arrived: f64| {
            let share = Share::scaled(phi, Span::from_ms(50), arrived, sums.weight);
            flows.map(|(stated, packets)| (share.of(&stated) * packets) as f64 / 1000.0)
        };
        // 7500 B more, as windows: rates grow alike, so windows by 20 and 80 parts of 100.
        let grown = changes(7500.0, 75_000.0);
        assert!((grown[0] - 1500.0).abs() < 1.0 && (grown[1] - 6000.0).abs() < 1.0, "{grown:?}");
        // 7500 B less of 75 000: windows lose rtt / d of a tenth of what each has sent, so its rate a tenth.
        let shrunk = changes(-7500.0, 75_000.0);
        assert!((shrunk[0] + 2000.0).abs() < 1.0 && (shrunk[1] + 4000.0).abs() < 1.0, "{shrunk:?}");
        // Nothing spare: a tenth is taken and given back, from the faster flow to the slower.
        let shuffled = changes(0.0, 75_000.0);
        assert!((shuffled[0] + 500.0).abs() < 2.0 && (shuffled[1] - 2000.0).abs() < 2.0, "{shuffled:?}");
    }

    #[test]
    fn after_an_interval_without_packets_nothing_is_given() {
        let share = Share::scaled(1e6, Span::from_ms(50), 0.0, 0.0);
        assert_eq!(share.of(&packet(20, 20_000)), 0);
    }

    #[test]
    fn packets_without_a_round_trip_are_no_part_of_its_mean() {
        let mut sums = Sums::default();
        sums.add(&packet(0, 10_000));
        assert_eq!(sums.mean(), None);
        sums.add(&packet(20, 10_000));
        assert_eq!(sums.mean(), Some(Span::from_ms(20)));
    }
}
