//! Backpressure flow control (Goyal, MIT 2022, ch. 3 and App. C): how many flows wait at once, how often they collide, and how long a lone flow's link is empty.

use crate::outcome::Outcome;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_machines::schedule::bfc::Params;
use thalweg_units::{Stream, mix64};

/// §3.2.3: under processor sharing N is geometric with mean ρ/(1−ρ), whatever the sizes; here fixed, and two sizes a hundredfold apart.
pub fn active_flows(arrivals: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    for (law, load) in [(0, 0.5), (1, 0.5), (0, 0.8), (1, 0.8)] {
        let mut draw = Stream::new(seed, "flows", law);
        // A clock that advances by what each flow has been served: a flow leaves when it shows its size plus what it showed as it came.
        let (mut shown, mut leaves) = (0.0f64, BinaryHeap::<Reverse<u64>>::new());
        let (mut empty, mut sum, mut time) = (0.0, 0.0, 0.0);
        for _ in 0..arrivals {
            let mut gap = draw.exponential(1.0 / load);
            let size = if law == 0 {
                1.0
            } else if draw.below(100) == 0 {
                50.5
            } else {
                0.5
            };
            time += gap;
            while gap > 0.0 {
                let n = leaves.len() as f64;
                let Some(Reverse(first)) = leaves.peek() else {
                    empty += gap;
                    break;
                };
                let until = (f64::from_bits(*first) - shown).max(0.0) * n;
                let step = until.min(gap);
                sum += n * step;
                shown += step / n;
                gap -= step;
                if step >= until {
                    leaves.pop();
                }
            }
            // Positive floats are in the order of their bits.
            leaves.push(Reverse((shown + size).to_bits()));
        }
        let (mean, expected) = (sum / time, load / (1.0 - load));
        out.instances += 1;
        out.packets += u64::from(arrivals);
        out.expect((mean / expected - 1.0).abs() < 0.15, || format!("law {law}, load {load}: {mean} flows"));
        out.expect((empty / time / (1.0 - load) - 1.0).abs() < 0.1, || {
            format!("law {law}, load {load}: empty for {}", empty / time)
        });
        (0..10)
            .for_each(|_| out.found(|| format!("{mean:.3} flows at load {load}, not far from {expected}")));
    }
    out
}

/// §3.3.2: for fewer collisions than one in a hundred static hashing needs a hundred queues per flow.
pub fn birthdays(draws: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    for n in 2..=1000u32 {
        let other = 1.0 - 1.0 / f64::from(100 * n);
        let none = (0..n - 1).fold(1.0, |p, _| p * other);
        out.instances += 1;
        out.expect(1.0 - none < 0.01, || format!("{n} flows: {}", 1.0 - none));
        out.expect(n < 20 || 1.0 - none > 0.0094, || format!("{n} flows: a tenth fewer would do"));
    }
    collide(&mut out, draws, seed, 31, 3100, 0.01);
    collide(&mut out, draws, seed, 31, 31, 0.75);
    out
}

/// §3.3.3.1: with a hundred entries per queue, and no more flows than queues, fewer than one flow in a hundred shares its entry.
pub fn flow_table(draws: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    collide(&mut out, draws, seed, 32, 3200, 0.01);
    out
}

/// How often one of `flows` flows meets another among `places`, by the hash and the range reduction of the order `bfc`.
fn collide(out: &mut Outcome, draws: u32, seed: u64, flows: u64, places: u64, at_most: f64) {
    let mut draw = Stream::new(seed, "salts", places);
    let (mut met, mut other) = (0u32, 1.0);
    (1..flows).for_each(|_| other *= 1.0 - 1.0 / places as f64);
    for _ in 0..draws {
        let (salt, first) = (draw.bits(), draw.below(1 << 31));
        let place = |flow: u64| (u128::from(mix64(flow ^ salt)) * u128::from(places)) >> 64;
        met += u32::from((1..flows).any(|other| place(first + other) == place(first)));
    }
    let (share, expected) = (f64::from(met) / f64::from(draws), 1.0 - other);
    let error = 4.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
    out.instances += 1;
    out.packets += u64::from(draws) * flows;
    out.expect(expected < at_most && (share - expected).abs() < error, || {
        format!("{flows} flows in {places} places: {share}, expected {expected}")
    });
    (0..10).for_each(|_| out.found(|| format!("{share:.4} of the flows meet another")));
}

/// §3.3.3.1, §3.6.2.1: what the order's defaults come to at a ToR of 24 ports and at a switch of 4096 queues.
pub fn tables(_: u32, _: u64) -> Outcome {
    let mut out = Outcome { instances: 2, packets: 2, ..Outcome::default() };
    let Params { queues, table, .. } = Params::default();
    let (at_tor, at_tofino) = (24 * u32::from(queues) * table, 4096 * table);
    out.expect(at_tor == 76_800, || format!("a ToR's flow tables have {at_tor} entries"));
    out.expect(at_tofino == 409_600, || format!("a Tofino2's flow table has {at_tofino} entries"));
    out.found(|| format!("{at_tor} and {at_tofino} entries"));
    out
}

/// App. C: the share of the time a lone flow's queue is empty.
fn empty(x: f64, k: f64) -> f64 {
    (x - 1.0) / (k * x + x * x - 1.0)
}

/// Its maximum over x is at 1 + √k, of 1/((√k + 1)² + 1): a fifth for k = 1, at x = 2; falling in k, and 7.6 % at x = 1.1.
pub fn lone_flow(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    let mut before = f64::INFINITY;
    for tenth in 1..=80 {
        let k = f64::from(tenth) / 10.0;
        let at = 1.0 + k.sqrt();
        let most = 1.0 / (at * at + 1.0);
        let best = (1..40_000).map(|i| 1.0 + f64::from(i) / 2000.0).map(|x| empty(x, k)).fold(0.0, f64::max);
        out.instances += 1;
        out.expect((best - most).abs() < 1e-6 && (empty(at, k) - most).abs() < 1e-12, || {
            format!("k = {k}: {best} at most, not {most}")
        });
        out.expect(most < before, || format!("k = {k}: it does not fall"));
        before = most;
    }
    out.expect((empty(2.0, 1.0) - 0.2).abs() < 1e-12, || "a fifth".into());
    out.expect((empty(1.1, 1.0) - 0.1 / 1.31).abs() < 1e-9, || "7.6 %".into());
    out.found(|| "a fifth at x = 2 for k = 1; 7.63 % at x = 1.1".into());
    out
}
