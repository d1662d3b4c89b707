//! Token-bucket policers let bursts pass at more than their rate, and then drop. If two intervals of at least
//! four rounds, each with losses at both ends and more than a fifth lost, have the same throughput, that is
//! taken for the policer's rate, and BBR paces at it for 48 rounds. Linux, tcp_bbr.c, "long-term bandwidth
//! sampling".

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

const LEAST_ROUNDS: u32 = 4;
/// An interval that reaches this length without the losses of a policer is abandoned.
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Threshold of the loss ratio, lost per delivered: 50/256.
const LOSSY: (u64, u64) = (50, 256);
/// Two rates count as equal if they differ by no more than an eighth, or by no more than 4 kb/s.
const SAME: f64 = 0.125;
const SAME_BPS: u64 = 4000;
/// Rounds for which a policer's rate is used.
const USED_ROUNDS: u32 = 48;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Policer {
    /// lt_is_sampling: an interval runs, since its first loss.
    samples: bool,
    /// lt_use_bw.
    uses: bool,
    /// lt_bw, payload bits per second; 0: none.
    rate: u64,
    /// Rounds of the interval, or of the use.
    rounds: u32,
    /// Where the interval began.
    since: Time,
    delivered: u64,
    lost: u64,
}

/// What an ACK reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckedSample {
    pub(super) now: Time,
    /// It reports losses.
    pub(super) losses: bool,
    /// Its sample was not limited by the path.
    pub(super) limited: bool,
    pub(super) round_start: bool,
    /// BBR is in PROBE_BW.
    pub(super) probing: bool,
    /// Bytes so far.
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

impl Policer {
    /// The policer's rate, while it is used.
    #[inline]
    pub(super) fn rate(&self) -> Option<u64> {
        self.uses.then_some(self.rate)
    }

    fn begin(&mut self, sample: &AckedSample) {
        (self.since, self.delivered, self.lost, self.rounds) = (sample.now, sample.delivered, sample.lost, 0);
    }

    /// Takes in an ACK. Returns true when the policer's rate has been used long enough and BBR is to probe again.
    pub(super) fn on_ack(&mut self, sample: &AckedSample) -> bool {
        if self.uses {
            self.rounds += u32::from(sample.probing && sample.round_start);
            let over = self.rounds >= USED_ROUNDS;
            if over {
                *self = Self::default();
            }
            return over;
        }
        if !self.samples {
            if sample.losses {
                self.begin(sample);
                self.samples = true;
            } else {
                return false;
            }
        }
        self.rounds += u32::from(sample.round_start);
        if sample.limited || self.rounds > MOST_ROUNDS {
            *self = Self::default();
        } else if self.rounds >= LEAST_ROUNDS && sample.losses {
            self.end(sample);
        }
        false
    }

    /// An interval ends with a loss.
    fn end(&mut self, sample: &AckedSample) {
        let (delivered, lost) = (sample.delivered - self.delivered, sample.lost - self.lost);
        let span = sample.now.since(self.since);
        if delivered == 0 || lost * LOSSY.1 < LOSSY.0 * delivered || span < Span::from_ms(1) {
            return;
        }
        let rate = bits_per_second(delivered as f64, span);
        let apart = rate.abs_diff(self.rate);
        if self.rate > 0 && (apart as f64 <= SAME * self.rate as f64 || apart <= SAME_BPS) {
            (self.rate, self.uses, self.rounds) = (rate.midpoint(self.rate), true, 0);
            return;
        }
        self.rate = rate;
        self.begin(sample);
    }
}

/// Payload bits per second of so many bytes in so much time.
pub(in super::super) fn bits_per_second(bytes: f64, span: Span) -> u64 {
    (bytes * 8.0 / span.secs()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 10 ms with `delivered` bytes each, of which a quarter was lost besides.
    fn rounds(p: &mut Policer, from: u64, n: u64, delivered: u64) -> Vec<bool> {
        let round = |r: u64| AckedSample {
            now: Time::from_ms(10 * r),
            losses: true,
            limited: false,
            round_start: true,
            probing: true,
            delivered: r * delivered,
            lost: r * delivered / 4,
        };
        (from..from + n).map(|r| p.on_ack(&round(r))).collect()
    }

    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer_for_48_rounds() {
        let mut p = Policer::default();
        // The first loss begins an interval, which counts that round; the fourth ends it, and three more the next one.
        rounds(&mut p, 1, 4, 10_000);
        assert_eq!((p.rate(), p.rate), (None, 8_000_000));
        rounds(&mut p, 5, 4, 10_000);
        assert_eq!(p.rate(), Some(8_000_000));
        let over = rounds(&mut p, 9, 48, 10_000);
        assert_eq!(over.iter().position(|over| *over), Some(47));
        assert_eq!(p, Policer::default());
    }

    #[test]
    fn other_rates_few_losses_and_the_applications_own_pace_are_none() {
        let mut p = Policer::default();
        rounds(&mut p, 1, 4, 10_000);
        let sample = |rounds: u64, delivered: u64, lost: u64, limited| AckedSample {
            now: Time::from_ms(10 * rounds),
            losses: true,
            limited,
            round_start: true,
            probing: true,
            delivered,
            lost,
        };
        let mut faster = p;
        for r in 1..5 {
            faster.on_ack(&sample(4 + r, 40_000 + r * 12_000, 10_000 + r * 3000, false));
        }
        assert_eq!((faster.rate(), faster.rate), (None, 9_600_000));
        let mut few = p;
        for r in 1..5 {
            few.on_ack(&sample(4 + r, 40_000 + r * 10_000, 10_000 + r * 1900, false));
        }
        assert_eq!((few.rate(), few.rate), (None, 8_000_000));
        p.on_ack(&sample(5, 50_000, 12_500, true));
        assert_eq!(p, Policer::default());
    }
}
