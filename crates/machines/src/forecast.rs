//! Sprout's receiver (Winstein, Sivaraman, Balakrishnan, NSDI 2013), §3.1 to §3.3: what the rate of the link
//! may be, as a distribution, and how much it will deliver with 95 % certainty. Every tick the rate drifts as
//! a Brownian motion does, a link that stands still mostly goes on standing, and what has come says by Bayes'
//! rule which rates are likely.
//!
//! ```text
//! CHOICE Sprout §3.1: 256 rates from 0 to 1000 packets/s; the lowest and the highest stand for all beyond them.
//! CHOICE Sprout §3.1: as in the authors' code the chances of a rate of zero do not sum to one (what stays is
//! weighted by the drift, too), so that without news an outage becomes less likely by half in a tick.
//! Otherwise forecasts are so cautious that with a round trip of 100 ms, as far as the sender looks ahead, a
//! flow never sends more than its keep-alives.
//! CHOICE Sprout §3.2: ticks are counted from the first packet on. When one is over the receiver says what it
//! forecasts, until nothing has come for as long as a forecast reaches; the authors' program sends data both
//! ways, which carry forecasts.
//! CHOICE Sprout §3.2: the authors' keep-alives are empty. Here they are segments, known by coming alone
//! after a silence, which the receiver does not count.
//! ```

mod tables;

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::{Forecast, Reading};

/// τ.
pub(crate) const TICK: Span = Span::from_ms(20);
/// Who has nothing to send for so long sends something all the same.
pub(crate) const KEEP_ALIVE: Span = Span::from_ms(50);
/// What comes alone after so long a silence is a keep-alive, some jitter allowed.
const ALONE: Span = Span::from_ms(40);
/// Rates, packets per second.
const BINS: usize = 256;
const FASTEST: f64 = 1000.0;
/// σ, packets per second in a second; λz, escapes from an outage per second.
const SIGMA: f64 = 200.0;
const ESCAPES: f64 = 1.0;
/// The drift of a tick is cut off at so many deviations.
const TAIL: f64 = 5.0;
/// Packets that may come in a tick, for forecasts.
const MOST: usize = 30;
const COUNTS: usize = MOST * Forecast::TICKS + 1;
/// The forecast errs on the high side with this probability.
const RISK: f64 = 0.05;
/// The authors' program counts packets of so many bytes.
const COUNTED: u32 = 1400;
/// After so many ticks without news nothing is known any more.
const FORGETS: u64 = 1000;

/// The rate of a bin; what its tick brings on average.
fn rate(bin: usize) -> f64 {
    bin as f64 * FASTEST / (BINS - 1) as f64
}
fn mean(bin: usize) -> f64 {
    rate(bin) * TICK.secs()
}

/// What the receiver believes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Forecaster {
    reading: Reading,
    /// A count stands for so many bytes.
    unit: u32,
    /// How likely each rate is.
    belief: Vec<f64>,
    /// The tick that runs began; which one it is.
    began: Option<Time>,
    tick: u32,
    /// Bytes that came in it.
    came: u32,
    /// Until then nothing need come: the sender has declared it.
    pauses: Time,
    /// A packet came last.
    last_arrival: Time,
    /// The forecast of the last tick that is over, once it has been requested.
    latest: Option<Forecast>,
}

impl Forecaster {
    /// One that knows nothing, of so long segments.
    pub(crate) fn new(reading: Reading, mss: u32) -> Self {
        Self {
            reading,
            unit: if reading.is_by_bytes() { COUNTED } else { mss },
            belief: vec![1.0 / BINS as f64; BINS],
            began: None,
            tick: 0,
            came: 0,
            pauses: Time::ZERO,
            last_arrival: Time::ZERO,
            latest: None,
        }
    }

    /// A packet of so many bytes comes; `pauses`: it was the last of a flight.
    pub(crate) fn on_arrival(&mut self, now: Time, bytes: u32, pauses: bool) {
        self.advance(now);
        // A lone packet after so long is a keep-alive: it shows that the sender is there, and nothing of the link.
        let alone = pauses && self.last_arrival > Time::ZERO && now.since(self.last_arrival) >= ALONE;
        self.came += if alone && !self.reading.is_by_bytes() { 0 } else { bytes };
        self.last_arrival = now;
        self.pauses =
            if pauses { self.pauses.max(now.saturating_add(KEEP_ALIVE)) } else { self.pauses.max(now) };
    }

    /// What came in the tick that ends, as the process that is believed in would count it.
    fn count(&self) -> u32 {
        // By bytes anything at all is a packet.
        let least = u32::from(self.reading.is_by_bytes() && self.came > 0);
        ((self.came + self.unit / 2) / self.unit).max(least)
    }

    /// The ticks that are over.
    pub(crate) fn advance(&mut self, now: Time) {
        let began = *self.began.get_or_insert(now);
        let ticks = now.since(began).ps() / TICK.ps();
        for n in 0..ticks.min(FORGETS) {
            self.drift();
            let tick = began.saturating_add(TICK.saturating_mul(n));
            if self.came > 0 || tick >= self.pauses {
                self.observe(self.count());
            }
            self.came = 0;
        }
        if ticks > 0 {
            self.began = Some(began.saturating_add(TICK.saturating_mul(ticks)));
            self.tick = self.tick.wrapping_add(ticks as u32);
            self.latest = None;
        }
    }

    /// When the tick that runs is over; [`Time::MAX`] once nothing has come for as long as a forecast reaches.
    pub(crate) fn next(&self) -> Time {
        let Some(began) = self.began else { return Time::MAX };
        let next = began.saturating_add(TICK);
        let reaches = self.last_arrival.saturating_add(TICK.saturating_mul(Forecast::TICKS as u64));
        if next <= reaches { next } else { Time::MAX }
    }

    fn drift(&mut self) {
        self.belief = tables::drifted(&self.belief);
    }

    fn normalise(&mut self) {
        let sum: f64 = self.belief.iter().sum();
        self.belief.iter_mut().for_each(|belief| *belief /= sum);
    }

    /// Bayes: a Poisson count of `came` in a tick.
    fn observe(&mut self, came: u32) {
        let came = f64::from(came);
        // Its logarithm, but for what all rates have in common.
        let likely = |bin: usize| match bin {
            0 if came > 0.0 => f64::NEG_INFINITY,
            0 => 0.0,
            _ => came * libm::log(mean(bin)) - mean(bin),
        };
        let most = (0..BINS).filter(|&b| self.belief[b] > 0.0).map(likely).fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return; // what cannot be says nothing
        }
        for (bin, belief) in self.belief.iter_mut().enumerate() {
            *belief *= libm::exp(likely(bin) - most);
        }
        self.normalise();
    }

    /// §3.3: so many packets come within one to eight ticks, or more, with 95 % certainty.
    pub(crate) fn forecast(&mut self) -> Forecast {
        if let Some(reported) = self.latest {
            return reported;
        }
        let mut delivers = [0; Forecast::TICKS];
        let mut least = 0;
        for (delivers, comes) in delivers.iter_mut().zip(tables::comes(self.reading.is_independent())) {
            let at_most = |count: usize| -> f64 {
                let comes = &comes[count * BINS..][..BINS];
                self.belief.iter().zip(comes).map(|(belief, p)| belief * f64::from(*p)).sum()
            };
            // More ticks never bring less.
            while least + 1 < COUNTS && at_most(least) < RISK {
                least += 1;
            }
            *delivers = least as u8;
        }
        let forecast = Forecast { tick: self.tick, delivers, ..Forecast::default() };
        self.latest = Some(forecast);
        forecast
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows_nothing() -> Forecaster {
        Forecaster::new(Reading::default(), 1000)
    }
    /// A packet every `us` for so long, each the last of its flight or none.
    fn fed(us: u64, for_ms: u64, pauses: bool) -> Forecaster {
        let mut f = knows_nothing();
        (0..for_ms * 1000 / us).for_each(|n| f.on_arrival(Time::from_us(n * us), 1000, pauses));
        f.advance(Time::from_ms(for_ms));
        f
    }
    fn expected(f: &Forecaster) -> f64 {
        f.belief.iter().enumerate().map(|(bin, p)| p * rate(bin)).sum()
    }

    #[test]
    fn chances_sum_to_one_but_those_of_an_outage() {
        for (first, to) in &tables::drift()[1..] {
            assert!((to.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{first}");
        }
        // Half of the drift is below zero, and 98 % of that stay; of the other half 2 % leave.
        let (stays, all) = (tables::drift()[0].1[0], tables::drift()[0].1.iter().sum::<f64>());
        assert!((0.51..0.53).contains(&stays) && (0.008..0.011).contains(&(all - stays)), "{stays} {all}");
        for comes in tables::comes(false) {
            let last = &comes[(COUNTS - 1) * BINS..];
            assert!(last.iter().all(|p| (p - 1.0).abs() < 1e-4));
        }
    }

    /// One tick at 500 packets/s: Poisson with mean 10 and a drift of 28 packets/s, whose 5 % quantile is 5.
    #[test]
    fn of_a_rate_that_is_known_the_forecast_is_the_quantile_of_a_poisson_count() {
        let mut f = knows_nothing();
        f.belief.fill(0.0);
        f.belief[128] = 1.0; // 502 packets/s
        let reported = f.forecast().delivers;
        // 10.04: P(n <= 4) = 0.029, P(n <= 5) = 0.066.
        assert_eq!(reported[0], 5);
        // Eight ticks: 80 on average; sqrt(80 + (0.02 · 28.4)² · 204) = 12.1, so 80 - 1.64 · 12.1.
        assert!((58..=63).contains(&reported[7]), "{reported:?}");
        f.belief.fill(0.0);
        f.belief[0] = 1.0;
        f.latest = None;
        assert_eq!(f.forecast().delivers, [0; 8], "an outage");
    }

    /// The same where ticks are independent: the variances of eight counts, 80 + 0.32 · (1 + 2 + … + 8), add
    /// up to 9.6², so 80 - 1.64 · 9.6.
    #[test]
    fn independent_ticks_are_forecast_higher() {
        let mut f = Forecaster::new(Reading::Independent, 1000);
        f.belief.fill(0.0);
        f.belief[128] = 1.0;
        let reported = f.forecast().delivers;
        assert_eq!(reported[0], 5);
        assert!((63..=66).contains(&reported[7]), "{reported:?}");
    }

    #[test]
    fn by_bytes_anything_at_all_is_a_packet_and_1400_bytes_are_one() {
        let count = |reading, bytes| {
            let mut f = Forecaster::new(reading, 1000);
            f.came = bytes;
            f.count()
        };
        assert_eq!([1, 1400, 2000, 2100, 4200].map(|b| count(Reading::Bytes, b)), [1, 1, 1, 2, 3]);
        assert_eq!([0, 1, 1000, 2000].map(|b| count(Reading::default(), b)), [0, 0, 1, 2]);
        assert_eq!(count(Reading::Bytes, 0), 0);
    }

    #[test]
    fn a_steady_stream_is_believed_and_the_forecast_is_below_it() {
        let mut f = fed(2000, 3000, false);
        assert!((expected(&f) - 500.0).abs() < 40.0, "{}", expected(&f));
        let reported = f.forecast();
        assert_eq!(reported.tick, 150);
        assert!(reported.delivers[7] < 80 && reported.delivers[7] > 30, "{reported:?}");
        assert!(reported.delivers.windows(2).all(|two| two[0] <= two[1]));
    }

    #[test]
    fn silence_is_an_outage_unless_the_sender_declared_a_pause() {
        let silent = |pauses| {
            let mut f = fed(2000, 1000, pauses);
            let before = expected(&f);
            f.advance(Time::from_ms(1040));
            expected(&f) / before
        };
        assert!(silent(false) < 0.8, "{}", silent(false));
        assert!(silent(true) > 0.95, "{}", silent(true));
    }

    #[test]
    fn a_tick_is_observed_once_and_hours_of_silence_take_no_time() {
        let mut f = fed(2000, 1000, false);
        let (belief, tick) = (f.belief.clone(), f.tick);
        f.advance(Time::from_ms(1019));
        assert_eq!((&f.belief, f.tick), (&belief, tick));
        f.advance(Time::from_ms(3_600_000));
        assert_eq!(f.tick, 180_000);
        assert!(expected(&f) < 5.0);
    }
}
