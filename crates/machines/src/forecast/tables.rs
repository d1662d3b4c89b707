//! What Sprout's forecasts do not learn: how rates drift, and how much comes of each. Made once.

use super::{BINS, COUNTS, ESCAPES, MOST, SIGMA, TAIL, mean, rate};
use std::sync::OnceLock;
use thalweg_units::Span;
use thalweg_wire::Forecast;

/// From each rate: the first that it may become in a tick, and how likely that and the next ones are.
pub(super) type Drift = Vec<(usize, Vec<f64>)>;
/// By number of ticks less one, then by count, then by rate now: how likely no more than so many come.
pub(super) type Comes = Vec<Vec<f32>>;

pub(super) fn drift() -> &'static Drift {
    static DRIFT: OnceLock<Drift> = OnceLock::new();
    DRIFT.get_or_init(|| (0..BINS).map(drift_from).collect())
}

/// What comes within one to eight ticks, if the counts of ticks are independent or not.
pub(super) fn comes(independent: bool) -> &'static Comes {
    static JOINTLY: OnceLock<Comes> = OnceLock::new();
    static APART: OnceLock<Comes> = OnceLock::new();
    if independent { APART.get_or_init(apart) } else { JOINTLY.get_or_init(jointly) }
}

/// §3.1: where a rate goes in a tick.
fn drift_from(bin: usize) -> (usize, Vec<f64>) {
    let tick: Span = super::TICK;
    let (wide, sigma) = (rate(1), SIGMA * libm::sqrt(tick.secs()));
    let reach = libm::ceil(TAIL * sigma / wide) as usize;
    let (first, last) = (bin.saturating_sub(reach), (bin + reach).min(BINS - 1));
    let below = |edge: f64| 0.5 * (1.0 + libm::erf((edge - rate(bin)) / (sigma * std::f64::consts::SQRT_2)));
    let chance = |to: usize| {
        let low = if to == 0 { 0.0 } else { below(rate(to) - wide / 2.0) };
        let high = if to == BINS - 1 { 1.0 } else { below(rate(to) + wide / 2.0) };
        high - low
    };
    let mut to: Vec<f64> = (first..=last).map(chance).collect();
    if bin == 0 {
        // An outage lasts: what would leave it does so rarely.
        let escapes = 1.0 - libm::exp(-ESCAPES * tick.secs());
        let stays = to[0] * (1.0 - escapes);
        to.iter_mut().for_each(|p| *p *= escapes);
        to[0] = stays;
    }
    (first, to)
}

/// Poisson, by count and rate; the last count stands for all beyond it.
fn poisson() -> Vec<f64> {
    let mut poisson = vec![0.0; (MOST + 1) * BINS];
    for bin in 0..BINS {
        let (mut p, mut left) = (libm::exp(-mean(bin)), 1.0);
        for n in 0..MOST {
            poisson[n * BINS + bin] = p;
            left -= p;
            p *= mean(bin) / (n + 1) as f64;
        }
        poisson[MOST * BINS + bin] = left.max(0.0);
    }
    poisson
}

/// §3.3: how much comes within one to eight ticks, whatever the rate does meanwhile.
fn jointly() -> Comes {
    let poisson = poisson();
    // How likely exactly so many come in the ticks that are left, by count and rate at their beginning.
    let mut exactly = vec![0.0; COUNTS * BINS];
    exactly[..BINS].fill(1.0);
    let mut all = Vec::new();
    for ticks in 1..=Forecast::TICKS {
        let mut here = vec![0.0; COUNTS * BINS];
        for count in 0..=MOST * ticks {
            for n in count.saturating_sub(MOST * (ticks - 1))..=count.min(MOST) {
                let (before, p) = (&exactly[(count - n) * BINS..][..BINS], &poisson[n * BINS..][..BINS]);
                let sum = &mut here[count * BINS..][..BINS];
                sum.iter_mut().zip(before).zip(p).for_each(|((sum, before), p)| *sum += before * p);
            }
        }
        for count in 0..=MOST * ticks {
            let here = &here[count * BINS..][..BINS];
            for (bin, (first, to)) in drift().iter().enumerate() {
                let sum: f64 = to.iter().zip(&here[*first..]).map(|(p, here)| p * here).sum();
                exactly[count * BINS + bin] = sum;
            }
        }
        let mut at_most = vec![0.0f32; COUNTS * BINS];
        for bin in 0..BINS {
            let mut sum = 0.0;
            for count in 0..COUNTS {
                sum += exactly[count * BINS + bin];
                at_most[count * BINS + bin] = sum as f32;
            }
            (0..COUNTS).for_each(|count| at_most[count * BINS + bin] /= sum as f32);
        }
        all.push(at_most);
    }
    all
}

/// The same if what comes in one tick is independent of the next: each tick's rate is drawn anew from where
/// drift alone has taken it, and the counts are added up as independent ones. What exceeds the most of a tick
/// is left out.
fn apart() -> Comes {
    let poisson = poisson();
    let mut all = vec![vec![0.0f32; COUNTS * BINS]; Forecast::TICKS];
    for bin in 0..BINS {
        let mut rates = vec![0.0; BINS];
        rates[bin] = 1.0;
        let mut exactly = vec![1.0];
        for at_most in &mut all {
            let comes: Vec<f64> = (0..MOST)
                .map(|n| poisson[n * BINS..][..BINS].iter().zip(&rates).map(|(p, rate)| p * rate).sum())
                .collect();
            let mut sum = vec![0.0; exactly.len() + MOST - 1];
            for (before, p) in exactly.iter().enumerate() {
                sum[before..].iter_mut().zip(&comes).for_each(|(sum, come)| *sum += p * come);
            }
            exactly = sum;
            let mut so_far = 0.0;
            for count in 0..COUNTS {
                so_far += exactly.get(count).copied().unwrap_or(0.0);
                at_most[count * BINS + bin] = so_far as f32;
            }
            rates = drifted(&rates);
        }
    }
    all
}

/// Where rates are after a tick, the chances summing to one.
pub(super) fn drifted(rates: &[f64]) -> Vec<f64> {
    let mut after = vec![0.0; BINS];
    for (chance, (first, to)) in rates.iter().zip(drift()) {
        after[*first..].iter_mut().zip(to).for_each(|(after, p)| *after += chance * p);
    }
    let sum: f64 = after.iter().sum();
    after.iter_mut().for_each(|chance| *chance /= sum);
    after
}
