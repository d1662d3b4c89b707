//! A reaction point that has an event for everything.

use super::*;
use proptest::prelude::*;

/// Every timer is an event; α is updated at each of its own.
struct Eager {
    spec: Params,
    line: u64,
    rate: u64,
    target: u64,
    alpha: f64,
    rises: u32,
    notified: [bool; 2],
    /// Rise, α, look: nanoseconds.
    due: [u64; 3],
}

impl Eager {
    fn run(&mut self, now: u64) {
        while let Some(at) = self.due.iter().copied().min().filter(|&at| at <= now) {
            let Params { gain: g, fast_recovery: f, .. } = self.spec;
            let (checked, every) = match self.spec.decrease {
                Decrease::AtOnce => (false, 0),
                Decrease::Checked { every } => (true, every.ps() / 1000),
            };
            if self.due[0] == at {
                self.due[0] += self.spec.rate_timer.ps() / 1000;
                let t = if checked { self.rises } else { self.rises + 1 };
                self.target += match t {
                    _ if t < f => 0,
                    _ if t == f => self.spec.additive.bps(),
                    _ if checked => self.spec.hyper.bps(),
                    _ => self.spec.hyper.bps() * u64::from(t - f),
                };
                self.rises += 1;
                self.target = self.target.min(self.line);
                self.rate = (self.target + self.rate).div_ceil(2);
            } else if self.due[1] == at {
                self.due[1] += self.spec.alpha_timer.ps() / 1000;
                self.alpha = (1.0 - g) * self.alpha + if self.notified[0] { g } else { 0.0 };
                self.notified[0] = false;
            } else {
                self.due[2] += every;
                if std::mem::take(&mut self.notified[1]) {
                    if self.rises > 0 {
                        self.target = self.rate;
                    }
                    self.cut(at);
                }
            }
        }
    }
    fn cut(&mut self, at: u64) {
        self.rate = ((self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64).max(self.spec.min_rate.bps());
        self.rises = 0;
        self.due[0] = at + self.spec.rate_timer.ps() / 1000;
    }
    fn notified(&mut self, now: u64) {
        self.run(now);
        let alpha_due = now + self.spec.alpha_timer.ps() / 1000;
        match self.spec.decrease {
            Decrease::AtOnce => {
                self.target = self.rate;
                self.cut(now);
                self.alpha = (1.0 - self.spec.gain) * self.alpha + self.spec.gain;
                self.due[1] = alpha_due;
            }
            Decrease::Checked { every } => {
                self.notified[1] = true;
                if self.due[2] == u64::MAX {
                    self.due[1..].copy_from_slice(&[alpha_due, now + every.ps() / 1000 + 1]);
                } else {
                    self.notified[0] = true;
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn lazy_alpha_resting_timers_and_skipped_looks_change_nothing(
        gaps in prop::collection::vec(prop_oneof![0u64..3000, 0u64..60_000, 0u64..3_000_000], 1..60),
        at_once: bool,
    ) {
        let spec = if at_once { Params { byte_counter: None, ..PAPER } } else { CHECKED };
        let line = 100_000_000_000;
        let mut c = dcqcn(spec, 100);
        let mut eager = Eager {
            spec, line, rate: line, target: line, alpha: 1.0, rises: 0, notified: [false; 2], due: [u64::MAX; 3],
        };
        let mut now = 0;
        for gap in gaps {
            now += gap;
            run(&mut c, Time::from_ns(now));
            eager.run(now);
            prop_assert_eq!(c.rate.bps(), eager.rate, "at {} ns", now);
            c.on_notification(Time::from_ns(now));
            eager.notified(now);
            prop_assert_eq!((c.rate.bps(), c.target.bps()), (eager.rate, eager.target), "at {} ns", now);
        }
    }
}
