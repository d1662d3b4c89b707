//! Compound TCP: Reno's window and, next to it, one that grows fast while queues are short and gives way as they
//! grow. Tan, Song, Zhang, Sridharan, "A Compound TCP Approach for High-Speed and Long Distance Networks", INFOCOM
//! 2006, §III, with the names of draft-sridharan-tcpm-ctcp-02. Needs: ACKs and round trips; losses are NewReno's.
//!
//! A flow may have win = cwnd + dwnd in the network. An ACK adds 1/win to cwnd, and once per round trip dwnd
//! changes; a loss halves both. So NewReno's machine holds win, and dwnd is the part of it that came from delay.
//!
//! Left out: γ tuned to what Reno would keep in queues (the draft's §6), and a β other than ½.
//!
//! CHOICE Compound §III.B: the round trip of a round is the least one of it, and a round of at most two samples is
//! not evaluated, as in Vegas (Linux). Other reading: the smoothed one.
//! CHOICE Compound §III.B: dwnd waits until a window is as large as `low`, where HighSpeed TCP begins to differ from
//! Reno (RFC 3649 §5). The paper aims at no difference from Reno on slow paths and names no number.

use super::newreno::NewReno;
use super::{
    AckSample, CongestionControl, Loss, Marks, Needs, Parameters, Permit, Problems, Report, Restart, Rules,
    Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// Compound TCP: the sum of Reno's window and a delay-based window (Tan et al., INFOCOM 2006).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// α: per round trip without a queue the window grows by α win^k segments.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1000.0))]
    pub alpha: f64,
    /// k, the exponent of that growth.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub k: f64,
    /// γ: with at least this many segments in queues the delay-based part shrinks.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub gamma: f64,
    /// ζ: segments by which the delay-based part shrinks per segment in queues.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1000.0))]
    pub zeta: f64,
    /// Window in segments from which there is a delay-based part.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub low: f64,
}

impl Default for Params {
    fn default() -> Self {
        // Compound §III.C and §IV.A.
        Self { alpha: 0.125, k: 0.75, gamma: 30.0, zeta: 1.0, low: 38.0 }
    }
}

impl Parameters for Params {
    type Machine = Compound;

    fn needs(&self) -> Needs {
        Needs { marks: Marks::Optional, round_trips: true, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        let Self { alpha, k, gamma, zeta, low } = *self;
        if !(alpha > 0.0 && alpha <= 1000.0) {
            problems.wrong("alpha", format!("{alpha} is out of range"), "allowed: above 0, at most 1000");
        }
        for (key, value, most) in
            [("k", k, 1.0), ("gamma", gamma, 1e6), ("zeta", zeta, 1e3), ("low", low, 1e6)]
        {
            if !(0.0..=most).contains(&value) {
                problems.wrong(key, format!("{value} is out of range"), format!("allowed: 0 to {most}"));
            }
        }
    }

    fn rules(&self) -> Rules {
        Rules::TCP
    }

    fn make(&self, start: &Start) -> Result<Compound, Invalid> {
        Ok(Compound::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default(), Self { alpha: 1.0, gamma: 2.0, low: 2.0, ..Self::default() }]
    }
}

/// Compound TCP's windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compound {
    params: Params,
    /// The sum of both windows (win), which grows and is cut as NewReno's cwnd is.
    reno: NewReno,
    max_window: u64,
    /// dwnd, the delay-based window, in bytes; it is part of win.
    delay: u64,
    /// baseRTT, the least round trip since the start or the last long pause.
    base: Option<Span>,
    /// The least round trip of this round, and how many were measured.
    least: Option<Span>,
    samples: u32,
    /// SND.NXT when the round began: the round ends when SND.UNA reaches it.
    round_end: u64,
}

impl Compound {
    fn new(start: &Start, params: Params) -> Self {
        let max_window = start.max_window.get().max(u64::from(start.mss));
        let reno = NewReno::new(start);
        Self { params, reno, max_window, delay: 0, base: None, least: None, samples: 0, round_end: 0 }
    }

    /// cwnd, the loss-based window, in bytes: win − dwnd.
    fn loss_part(&self) -> u64 {
        self.reno.window.saturating_sub(self.delay)
    }

    /// Diff, §III.B: segments of a window of `win` that wait in queues.
    fn waiting(win: f64, base: Span, rtt: Span) -> f64 {
        win * (1.0 - base.ps() as f64 / rtt.ps().max(1) as f64)
    }

    /// A round has ended: §III.B, equation (5) without the loss; `used`: the window was used up.
    fn adjust(&mut self, used: bool) {
        let (Some(base), Some(least), true) = (self.base, self.least, self.samples > 2) else { return };
        let mss = f64::from(self.reno.mss);
        let win = self.reno.window as f64 / mss;
        if win < self.params.low {
            return;
        }
        let diff = Self::waiting(win, base, least);
        if diff >= self.params.gamma {
            let given_up = (libm::round(self.params.zeta * diff * mss) as u64).min(self.delay);
            self.delay -= given_up;
            self.reno.window -= given_up;
        } else if used {
            // α win^k segments per round trip in all; NewReno adds one of them by itself.
            let more = self.params.alpha * libm::pow(win, self.params.k) - 1.0;
            let room = self.max_window.saturating_sub(self.reno.window);
            let grown = (libm::round(more.max(0.0) * mss) as u64).min(room);
            self.delay += grown;
            self.reno.window += grown;
        }
    }

    /// After a cut of the whole window: dwnd = max(win (1 − β) − cwnd/2, 0), where cwnd was this.
    fn cut(&mut self, loss_part: u64) {
        self.delay = self.reno.window.saturating_sub(loss_part / 2);
    }
}

impl CongestionControl for Compound {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if let Some(rtt) = ack.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        let (before, loss_part) = (self.reno.window, self.loss_part());
        self.reno.on_ack(ack);
        if self.reno.window < before {
            self.cut(loss_part);
        }
        if ack.acked_to >= self.round_end {
            let avoids = self.reno.window >= self.reno.threshold;
            if avoids && !ack.in_recovery && ack.marked == Bytes::ZERO {
                self.adjust(ack.cwnd_limited);
            }
            (self.round_end, self.least, self.samples) = (ack.sent_to, None, 0);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let (before, loss_part) = (self.reno.window, self.loss_part());
        self.reno.on_loss(loss);
        if self.reno.window < before {
            self.cut(loss_part);
        }
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.reno.on_timeout(loss);
        self.delay = 0;
    }

    fn on_restart(&mut self, _: Time, _: Span) {
        // As Vegas in Linux: after an idle period the path, and so baseRTT, may have changed.
        (self.base, self.least, self.samples, self.round_end) = (None, None, 0, 0);
    }

    fn restart_from(&mut self, now: Time, restart: Restart) {
        self.reno.restart_from(now, restart);
        self.delay = 0;
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.reno.permit()
    }

    fn report(&self, report: &mut Report) {
        report.min_rtt(self.base.map(|base| base.ps() as f64));
        report.add("dwnd", "B", "the part of Compound's window that comes from delay", self.delay as f64);
    }

    fn threshold(&self) -> Bytes {
        self.reno.threshold()
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    /// `window` segments of 1000 B, `delay` of them the delay part, in avoidance.
    fn compound(window: u64, delay: u64) -> Compound {
        let start = Start { initial_threshold: Bytes::new(2000), ..start(1000, window) };
        Compound { delay: 1000 * delay, ..Compound::new(&start, Params::default()) }
    }

    /// A round whose least round trip is `rtt` us, where the least ever was 1000 us, ends; win and dwnd after it.
    fn round(c: &mut Compound, rtt: u64) -> (u64, u64) {
        let rtt = Some(Span::from_us(rtt));
        (c.base, c.least, c.samples) = (Some(Span::from_us(1000)), rtt, 2);
        c.on_ack(&AckSample { rtt, acked_to: c.round_end, ..ack(0, 0) });
        (c.reno.window, c.delay)
    }

    #[test]
    fn without_a_queue_the_delay_part_grows_by_an_eighth_of_the_window_to_the_power_of_three_quarters() {
        // 256^0.75 = 64: 8 less Reno's own. 81^0.75 = 27: 2.375.
        assert_eq!(round(&mut compound(256, 0), 1000), (263_000, 7000));
        assert_eq!(round(&mut compound(81, 10), 1000), (83_375, 12_375));
        // Below 38 segments it is Reno, and at 38 the power makes 0.9.
        assert_eq!(round(&mut compound(37, 0), 1000), (37_000, 0));
        assert_eq!(round(&mut compound(38, 0), 1000), (38_913, 913));
    }

    #[test]
    fn from_thirty_segments_in_queues_on_the_delay_part_gives_up_as_many_until_nothing_is_left_of_it() {
        // 300 (1 − 1000/1111) = 29.97: it grows, by 300^0.75 / 8 − 1 = 8.0105.
        assert_eq!(round(&mut compound(300, 50), 1111), (308_011, 58_011));
        // 300 (1 − 1/1.25) = 60 of 100, then 240 (1 − 1/1.25) = 48 of 40: all that there is.
        let mut c = compound(300, 100);
        assert_eq!(round(&mut c, 1250), (240_000, 40_000));
        assert_eq!(round(&mut c, 1250), (200_000, 0));
        assert_eq!(round(&mut c, 1250), (200_000, 0), "Reno's part knows nothing of delay");
    }

    #[test]
    fn an_ack_adds_its_part_of_a_segment_to_the_sum_whatever_the_parts_are() {
        let mut c = compound(100, 60);
        c.round_end = u64::MAX;
        (0..100).for_each(|_| c.on_ack(&ack(1000, 0)));
        assert!((100_990..=101_000).contains(&c.reno.window), "{}", c.reno.window);
        assert_eq!(c.delay, 60_000);
    }

    #[test]
    fn a_loss_halves_both_parts_and_a_timeout_leaves_no_delay_part() {
        let mut c = compound(100, 60);
        c.on_loss(&loss(100_000, 0, 100_000));
        assert_eq!((c.reno.window, c.delay, c.loss_part()), (50_000, 30_000, 20_000));
        // 20 in flight of 50: 10 are left, and half of Reno's 20.
        c.on_loss(&loss(20_000, 100_000, 120_000));
        assert_eq!((c.reno.window, c.delay), (10_000, 0));
        let mut c = compound(100, 60);
        c.on_timeout(&loss(100_000, 0, 100_000));
        assert_eq!((c.reno.window, c.delay, c.threshold()), (1000, 0, Bytes::new(50_000)));
    }

    /// Losses of one packet in 1/p make win = (α/(1 − β/2))^(1/(2−k)) … p^(−1/(2−k)) in the fluid of §III.C, for which
    /// k = 0.75 gives p^-0.8 where Reno has p^-0.5: sixteen times fewer losses, 2^3.2 times the window.
    #[test]
    fn the_response_function_falls_with_the_power_of_four_fifths_of_the_loss_rate() {
        let mean = |period: u64| {
            let params = Params { low: 0.0, ..Params::default() };
            let start = Start { initial_threshold: Bytes::new(2000), ..start(1000, 100) };
            let mut c = Compound::new(&start, params);
            let (mut sent, mut rounds, mut losses, mut sum, mut counted) = (0, 0, 0, 0, 0);
            while losses < 60 {
                let window = c.reno.window / 1000;
                sent += window;
                (0..window).for_each(|_| {
                    c.round_end = u64::MAX;
                    c.on_ack(&ack(1000, 0));
                });
                c.round_end = 0;
                round(&mut c, 1000);
                if sent >= period {
                    sent -= period;
                    losses += 1;
                    let flight = c.reno.window;
                    c.on_loss(&loss(flight, 0, flight));
                }
                rounds += 1;
                if losses >= 20 {
                    (sum, counted) = (sum + window, counted + 1);
                }
                assert!(rounds < 100_000);
            }
            sum as f64 / f64::from(counted)
        };
        let exponent = libm::log2(mean(6_400_000) / mean(400_000)) / 4.0;
        assert!((exponent - 0.8).abs() < 0.03, "{exponent}");
    }

    #[test]
    fn a_long_pause_forgets_the_least_round_trip() {
        let mut c = compound(10, 0);
        c.on_ack(&ack(1000, 0));
        assert_eq!(c.base, Some(Span::from_us(16)));
        c.on_restart(Time::from_us(5), Span::from_us(2));
        assert_eq!(c.base, None);
    }
}
