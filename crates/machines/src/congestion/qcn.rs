//! QCN's reaction point: a rate cut in proportion to what congestion points say, recovered by bytes and by time.
//!
//! IEEE 802.1Qau-2010, §30 and §32.14; Alizadeh et al., "Data Center Transport Mechanisms: Congestion Control
//! Theory and IEEE Standardization", Allerton 2008. On |Fb|: R_T ← R_C, R_C ← R_C (1 − G_d |Fb|); several
//! cuts before a first cycle has ended are one for R_T, which stays where it was. Then five cycles of fast
//! recovery, R_C ← (R_C + R_T)/2, of 150 KB or 15 ms each; then active increase, R_T ← R_T + R_AI, in cycles
//! half as long; with both counters beyond five, hyper-active increase, R_T ← R_T + i · R_HAI. Where the first cycle,
//! or the first period, finds R_T above 10 R_C, R_T is an eighth first (Pan, "QCN Pseudo Code", version 2.3, 2009): a
//! flow that came at line rate does not come back to half of it at once.
//!
//! ```text
//! CHOICE RoCC §3.5: R_AI and R_HAI are the standard's, 5 and 50 Mb/s, per 10 Gb/s of the line.
//! CHOICE QCN: a message of one congestion point counts as one of any other; there is one limiter per flow.
//! ```

use super::{
    AckSample, Calls, CongestionControl, Gives, Loss, Messages, Needs, Parameters, Permit, Problems, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::{Notice, NoticeBody};

/// QCN: rates by quantised messages of switches (IEEE 802.1Qau; Alizadeh et al., Allerton 2008). Needs the
/// congestion point `qcn`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// G_d: the rate is cut by the fraction G_d |Fb|; |Fb| is at most 63.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 0.015))]
    pub gain: f64,
    /// Bytes sent per cycle of fast recovery; half as many per cycle of active increase.
    pub byte_counter: Bytes,
    /// Time of a cycle of fast recovery; half as long in active increase.
    pub timer: Span,
    /// R_AI: step of active increase. If not given, 5 Mb/s per 10 Gb/s of the line rate.
    pub additive: Option<Rate>,
    /// R_HAI: step of hyper-active increase. If not given, ten times R_AI.
    pub hyper: Option<Rate>,
    /// Cycles of fast recovery.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub fast_recovery: u32,
    /// Minimum rate.
    pub min_rate: Rate,
    /// Reaction delay of the NIC: from a message's arrival until it takes effect.
    pub reaction: Span,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            gain: 1.0 / 128.0,
            byte_counter: Bytes::kb(150),
            timer: Span::from_ms(15),
            additive: None,
            hyper: None,
            fast_recovery: 5,
            min_rate: Rate::from_mbps(10),
            reaction: Span::ZERO,
        }
    }
}

impl Parameters for Params {
    type Machine = Qcn;

    fn needs(&self) -> Needs {
        Needs {
            messages: Messages::Severity,
            gives: Gives::Pace,
            moves_departures: true,
            calls: Calls::Both,
            ..Needs::WINDOW
        }
    }

    fn check(&self, line: Rate, problems: &mut Problems) {
        if !(self.gain > 0.0 && self.gain <= 0.015) {
            problems.wrong(
                "gain",
                format!("{} is out of range", self.gain),
                "allowed: above 0, at most 0.015",
            );
        }
        problems.positive("timer", self.timer, "15ms");
        problems.size("byte_counter", self.byte_counter, |size| format!("cycles of {size}"), "150KB");
        problems.rate("min_rate", self.min_rate, line);
    }

    fn make(&self, start: &Start) -> Result<Qcn, Invalid> {
        let additive = self.additive.unwrap_or(Rate::from_bps(start.line_rate.bps() / 2000));
        let hyper = self.hyper.unwrap_or(Rate::from_bps(additive.bps().saturating_mul(10)));
        Ok(Qcn {
            params: Params { additive: Some(additive), hyper: Some(hyper), ..*self },
            line_rate: start.line_rate,
            window: start.max_window,
            rate: start.line_rate,
            target: start.line_rate,
            cycles: 0,
            periods: 0,
            bytes: 0,
            timer_at: Time::MAX,
            pending: None,
        })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let hasty = Self { byte_counter: Bytes::new(5000), timer: Span::from_us(3), ..Self::default() };
        vec![hasty, Self { reaction: Span::from_us(2), fast_recovery: 1, ..hasty }]
    }
}

/// In the first cycle a target above `FAR` times the rate is reduced to an eighth (see the module).
const FAR: u64 = 10;
const REDUCED: u64 = 8;

/// QCN's rate at a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Qcn {
    params: Params,
    line_rate: Rate,
    window: Bytes,
    /// R_C.
    rate: Rate,
    /// R_T.
    target: Rate,
    /// Expiries of the byte counter since the last cut.
    cycles: u32,
    /// Expiries of the timer.
    periods: u32,
    /// Bytes sent in the present cycle.
    bytes: u64,
    /// `Time::MAX`: the rate is the line's, and nothing counts.
    timer_at: Time,
    /// The largest |Fb| that has not taken effect yet, and when it does.
    pending: Option<(Time, u8)>,
}

impl Qcn {
    fn rests(&self) -> bool {
        self.timer_at == Time::MAX
    }

    /// The length of a timer period or a byte cycle: half of `whole` beyond fast recovery.
    fn length<T: std::ops::Div<u64, Output = T>>(&self, whole: T, count: u32) -> T {
        whole / if count < self.params.fast_recovery { 1 } else { 2 }
    }

    fn cut(&mut self, at: Time, severity: u8) {
        if self.rests() || self.cycles + self.periods > 0 {
            self.target = self.rate;
        }
        let factor = 1.0 - self.params.gain * f64::from(severity);
        self.rate = Rate::from_bps((self.rate.bps() as f64 * factor) as u64).max(self.params.min_rate);
        (self.cycles, self.periods, self.bytes) = (0, 0, 0);
        self.timer_at = at.saturating_add(self.params.timer);
    }

    fn increase(&mut self) {
        let f = self.params.fast_recovery;
        let (more, both) = (self.cycles.max(self.periods), self.cycles.min(self.periods));
        let step = if more <= f {
            0
        } else if both > f {
            self.params.hyper.map_or(0, Rate::bps).saturating_mul(u64::from(both - f))
        } else {
            self.params.additive.map_or(0, Rate::bps)
        };
        let far = (self.cycles == 1 || self.periods == 1) && self.target.bps() > FAR * self.rate.bps();
        let target = if far { self.target.bps() / REDUCED } else { self.target.bps().saturating_add(step) };
        let target = target.min(self.line_rate.bps());
        self.target = Rate::from_bps(target);
        self.rate = Rate::from_bps(target - target.saturating_sub(self.rate.bps()) / 2);
        if self.rate >= self.line_rate {
            self.rate = self.line_rate;
            self.timer_at = Time::MAX;
        }
    }

    fn catch_up(&mut self, now: Time) {
        loop {
            let message = self.pending.map_or(Time::MAX, |(at, _)| at);
            let next = message.min(self.timer_at);
            if next > now || next == Time::MAX {
                return;
            }
            if message == next {
                let (at, severity) = self.pending.take().expect("it is due");
                self.cut(at, severity);
            } else {
                self.periods = self.periods.saturating_add(1);
                let period = self.length(self.params.timer, self.periods);
                self.timer_at = next.saturating_add(period);
                self.increase();
            }
        }
    }
}

impl CongestionControl for Qcn {
    #[inline]
    fn on_sent(&mut self, now: Time, bytes: Bytes, _in_flight: Bytes) {
        if self.rests() {
            return;
        }
        self.bytes += bytes.get();
        while !self.rests() && self.bytes >= self.length(self.params.byte_counter.get(), self.cycles).max(1) {
            self.bytes -= self.length(self.params.byte_counter.get(), self.cycles).max(1);
            self.catch_up(now);
            self.cycles = self.cycles.saturating_add(1);
            self.increase();
        }
    }

    fn on_ack(&mut self, _: &AckSample<'_>) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}

    fn on_notice(&mut self, now: Time, notice: &Notice) {
        let NoticeBody::Severity(severity) = notice.body else { return };
        self.catch_up(now);
        // Of two messages within the reaction delay the worse one takes effect, at the first one's time.
        let at = now.saturating_add(self.params.reaction);
        self.pending = Some(match self.pending {
            Some((earlier, before)) => (earlier, before.max(severity)),
            None => (at, severity),
        });
        self.catch_up(now);
    }

    fn on_tick(&mut self, now: Time) {
        self.catch_up(now);
    }

    #[inline]
    fn permit(&self) -> Permit {
        let wake = self.pending.map_or(Time::MAX, |(at, _)| at).min(self.timer_at);
        Permit { window: self.window, pace: Some(self.rate), wake: (wake != Time::MAX).then_some(wake) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::PortId;

    fn flow() -> Qcn {
        let start = Start { line_rate: Rate::from_gbps(10), max_window: Bytes::MAX, ..Start::default() };
        Params::default().make(&start).unwrap()
    }
    fn reported(c: &mut Qcn, us: u64, severity: u8) {
        c.on_notice(Time::from_us(us), &Notice { point: PortId(0), body: NoticeBody::Severity(severity) });
    }
    fn mbps(c: &Qcn) -> f64 {
        c.permit().pace.unwrap().bps() as f64 / 1e6
    }

    #[test]
    fn the_worst_message_halves_the_rate_or_nearly_and_five_cycles_bring_it_back() {
        let mut c = flow();
        reported(&mut c, 10, 64);
        assert_eq!(mbps(&c), 5000.0);
        let mut c = flow();
        reported(&mut c, 10, 32);
        assert_eq!(mbps(&c), 7500.0);
        // 150 KB each: 8750, 9375, ..
        for expected in [8750.0, 9375.0, 9687.5, 9843.75, 9921.875] {
            c.on_sent(Time::from_us(20), Bytes::kb(150), Bytes::ZERO);
            assert_eq!(mbps(&c), expected);
        }
        // Active increase after 75 KB: the target is the line's.
        c.on_sent(Time::from_us(30), Bytes::kb(75), Bytes::ZERO);
        assert!((mbps(&c) - 9960.9375).abs() < 1e-6, "{}", mbps(&c));
    }

    #[test]
    fn cuts_in_a_row_are_one_for_the_target() {
        let mut c = flow();
        reported(&mut c, 10, 32);
        reported(&mut c, 20, 32);
        assert_eq!(mbps(&c), 5625.0);
        c.on_sent(Time::from_us(30), Bytes::kb(150), Bytes::ZERO);
        assert_eq!(mbps(&c), (5625.0 + 10_000.0) / 2.0); // not towards 7500
        reported(&mut c, 40, 32); // a cycle has ended: from here
        c.on_sent(Time::from_us(50), Bytes::kb(150), Bytes::ZERO);
        assert_eq!(mbps(&c), (7812.5 * 0.75 + 7812.5) / 2.0);
    }

    /// 10 Gb/s halved four times is 625 Mb/s; after a cycle the target is 1250, not 10 000.
    #[test]
    fn a_target_that_is_far_away_is_an_eighth_in_the_first_cycle_or_period() {
        for by_time in [false, true] {
            let mut c = flow();
            (0..4).for_each(|n| reported(&mut c, 10 + n, 64));
            assert_eq!(mbps(&c), 625.0);
            for expected in [937.5, 1093.75] {
                match by_time {
                    true => c.on_tick(c.permit().wake.unwrap()),
                    false => c.on_sent(Time::from_us(30), Bytes::kb(150), Bytes::ZERO),
                }
                assert_eq!(mbps(&c), expected);
            }
        }
    }

    #[test]
    fn time_alone_recovers_in_cycles_of_15_ms_and_then_of_7_5() {
        let mut c = flow();
        reported(&mut c, 0, 32);
        c.on_tick(Time::from_ms(15));
        reported(&mut c, 15_000, 32);
        assert_eq!((mbps(&c), c.target.bps()), (6562.5, 8_750_000_000));
        for _ in 0..5 {
            let at = c.permit().wake.unwrap();
            c.on_tick(at);
        }
        assert_eq!(c.permit().wake, Some(Time::from_us(6 * 15_000 + 7_500)));
        c.on_tick(c.permit().wake.unwrap());
        assert_eq!(c.target.bps(), 8_755_000_000, "R_AI is 5 Mb/s");
        // Hyper-active once both counters are beyond five: i = 1.
        c.on_sent(Time::from_ms(100), Bytes::kb(5 * 150 + 75), Bytes::ZERO);
        assert_eq!(
            c.target.bps(),
            8_755_000_000 + 5 * 5_000_000 + 50_000_000,
            "five cycles of bytes are active: time is beyond"
        );
    }
}
