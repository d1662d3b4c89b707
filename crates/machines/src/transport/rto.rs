//! The retransmission timeout: RFC 6298, or with Linux's minimum. The timer itself is kept by the sender.
//!
//! Linux (net/ipv4/tcp_input.c, tcp_rtt_estimator and tcp_set_rto) applies its least timeout to the variance
//! instead of the sum: a timer runs for srtt + max(4 rttvar, 200 ms) at least. On paths whose round trip is
//! near 200 ms or above, or whose queues grow within a round trip, the RFC's floor fires where Linux still
//! waits.
//!
//! CHOICE RFC 6298 §2: rttvar in Linux is the largest deviation of a round trip's samples and falls once per
//! round trip, and round trips that shrink count for an eighth. Here it is the RFC's; below the floor, where
//! most paths are, they do not differ.

use super::RtoRule;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Round-trip estimate and back-off of one flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rto {
    /// SRTT; zero: no sample yet.
    srtt: Span,
    /// RTTVAR.
    rttvar: Span,
    /// Expiries since the last sample: the timeout is doubled this many times.
    backoff: u32,
    /// The timer expired on the SYN, and no sample has come since: §5.7.
    reopened: bool,
}

/// §5.7: what the timeout is initialized to when data begins after such an expiry.
const REOPENED: Span = Span::from_secs(3);

impl Rto {
    /// A round trip was measured on a segment that was not retransmitted (Karn; §3).
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        let (r, srtt, rttvar) = (rtt.ps().max(1), self.srtt.ps(), self.rttvar.ps());
        if srtt == 0 {
            (self.srtt, self.rttvar) = (Span::from_ps(r), Span::from_ps(r / 2)); // (2.2)
        } else {
            // (2.3), β = 1/4 before α = 1/8
            self.rttvar = Span::from_ps(rttvar - rttvar / 4 + srtt.abs_diff(r) / 4);
            self.srtt = Span::from_ps(srtt - srtt / 8 + r / 8);
        }
        // CHOICE RFC 6298 §5: the back-off ends with the first valid sample, not with any advancing ACK.
        (self.backoff, self.reopened) = (0, false);
    }

    /// §5.7: the first data is sent after the timer had expired on the SYN: an RTO below 3 s becomes 3 s. `afresh`: so
    /// does any other, however far the SYN's had backed off.
    pub fn reopen(&mut self, spec: &RtoRule, afresh: bool) {
        if !matches!(spec, RtoRule::Fixed { .. }) && (afresh || self.timeout(spec) < REOPENED) {
            (self.backoff, self.reopened) = (0, true);
        }
    }

    /// The timer expired: §5.5.
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// How long the timer runs if it is started now.
    // CHOICE RFC 6298 §4: the clock's granularity G is a picosecond, and counts as zero. Other reading: a G of 1 to 10
    // ms, as clocks had.
    #[inline(always)]
    pub fn timeout(&self, spec: &RtoRule) -> Span {
        match *spec {
            RtoRule::Fixed { value } => value,
            RtoRule::Rfc6298 { initial, min, max } => {
                let base = match self.srtt {
                    Span::ZERO => initial,
                    srtt => (srtt + self.rttvar.saturating_mul(4)).max(min),
                };
                self.backed_off(base).min(max)
            }
            RtoRule::Linux { initial, min, max } => {
                let base = match self.srtt {
                    Span::ZERO => initial,
                    srtt => srtt + self.rttvar.saturating_mul(4).max(min),
                };
                self.backed_off(base).min(max)
            }
        }
    }

    #[inline(always)]
    fn backed_off(&self, base: Span) -> Span {
        if self.backoff == 0 && !self.reopened {
            return base;
        }
        let base = if self.reopened { REOPENED } else { base };
        base.saturating_mul(1 << self.backoff.min(62))
    }

    /// SRTT; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.srtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: RtoRule = RtoRule::Rfc6298 {
        initial: Span::from_ms(1000),
        min: Span::from_us(200),
        max: Span::from_ms(60_000),
    };

    #[test]
    fn the_first_sample_gives_three_times_itself_and_later_ones_are_smoothed() {
        let mut rto = Rto::default();
        assert_eq!(rto.timeout(&SPEC), Span::from_ms(1000));
        rto.sample(Span::from_us(100)); // srtt 100, rttvar 50
        assert_eq!(rto.timeout(&SPEC), Span::from_us(300));
        rto.sample(Span::from_us(180)); // rttvar ¾·50 + ¼·80 = 57.5, srtt ⅞·100 + ⅛·180 = 110
        assert_eq!((rto.srtt, rto.rttvar), (Span::from_us(110), Span::from_ns(57_500)));
        assert_eq!(rto.timeout(&SPEC), Span::from_us(340));
    }

    #[test]
    fn it_doubles_at_every_expiry_up_to_the_ceiling_until_a_sample_comes() {
        let mut rto = Rto::default();
        rto.sample(Span::from_us(100));
        for doubled in [600, 1200, 2400] {
            rto.back_off();
            assert_eq!(rto.timeout(&SPEC), Span::from_us(doubled));
        }
        (0..100).for_each(|_| rto.back_off());
        assert_eq!(rto.timeout(&SPEC), Span::from_ms(60_000));
        rto.sample(Span::from_us(100));
        assert_eq!(rto.timeout(&SPEC), Span::from_ns(250_000)); // 100 + 4 · 37.5
    }

    /// RFC 6298 (5.7).
    #[test]
    fn after_a_timeout_on_the_syn_it_is_three_seconds_until_a_sample_comes_if_it_was_less() {
        let ms = Span::from_ms;
        let with = |initial| RtoRule::Rfc6298 { initial: ms(initial), min: ms(200), max: ms(60_000) };
        let reopened = |initial, expiries, afresh| {
            let mut rto = Rto::default();
            (0..expiries).for_each(|_| rto.back_off());
            rto.reopen(&with(initial), afresh);
            rto
        };
        assert_eq!(reopened(1000, 1, false).timeout(&with(1000)), ms(3000));
        assert_eq!(reopened(1000, 2, false).timeout(&with(1000)), ms(4000), "it was not less");
        assert_eq!(reopened(1000, 2, true).timeout(&with(1000)), ms(3000));
        let mut rto = reopened(1000, 1, false);
        rto.back_off();
        assert_eq!(rto.timeout(&with(1000)), ms(6000));
        rto.sample(ms(100)); // 100 + 4 · 50
        assert_eq!(rto.timeout(&with(1000)), ms(300));
        let fixed = RtoRule::Fixed { value: ms(10) };
        let mut rto = Rto::default();
        rto.reopen(&fixed, true);
        assert_eq!(rto.timeout(&fixed), ms(10));
    }

    #[test]
    fn with_linux_the_floor_is_added_to_the_round_trip() {
        let ms = Span::from_ms;
        let linux = RtoRule::Linux { initial: ms(1000), min: ms(200), max: ms(120_000) };
        let rfc = RtoRule::Rfc6298 { initial: ms(1000), min: ms(200), max: ms(120_000) };
        let mut rto = Rto::default();
        assert_eq!(rto.timeout(&linux), ms(1000));
        (0..200).for_each(|_| rto.sample(ms(150)));
        assert_eq!((rto.timeout(&linux), rto.timeout(&rfc)), (ms(350), ms(200)));
        rto.back_off();
        assert_eq!(rto.timeout(&linux), ms(700));
        // A variance above the floor: both are the same sum.
        let mut rto = Rto::default();
        rto.sample(ms(150)); // rttvar 75, four times that 300
        assert_eq!((rto.timeout(&linux), rto.timeout(&rfc)), (ms(450), ms(450)));
        (0..30).for_each(|_| rto.back_off());
        assert_eq!(rto.timeout(&linux), ms(120_000));
    }

    #[test]
    fn the_floor_holds_once_the_path_is_steady_and_a_fixed_timer_never_moves() {
        let mut rto = Rto::default();
        (0..200).for_each(|_| rto.sample(Span::from_us(100)));
        assert_eq!(rto.timeout(&SPEC), Span::from_us(200));
        rto.back_off();
        assert_eq!(rto.timeout(&SPEC), Span::from_us(400));
        assert_eq!(rto.timeout(&RtoRule::Fixed { value: Span::from_us(45) }), Span::from_us(45));
    }
}
