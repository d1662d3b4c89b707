//! A run as marks look at it: seconds, milliseconds, sums so far.

use super::arrays::interpolated;
use super::seen::Seen;
use crate::situation::Look;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct View {
    /// When the bottleneck was sampled.
    pub seconds: Vec<f64>,
    /// Bytes that it had carried by then.
    pub carried: Vec<f64>,
    /// Bytes that it could have carried.
    pub capacity: Vec<f64>,
    /// The flows examined.
    pub ours: BTreeSet<u32>,
    /// When a round trip of theirs was measured (s), in order.
    pub times: Vec<f64>,
    /// By how much each was longer than that of the empty path (ms).
    pub delays: Vec<f64>,
    /// Every flow that was sampled, by number.
    pub progress: Vec<Sampled>,
}

/// One flow over time.
pub(super) struct Sampled {
    pub flow: u32,
    seconds: Vec<f64>,
    delivered: Vec<f64>,
}

fn seconds(ps: &[u64]) -> Vec<f64> {
    ps.iter().map(|ps| *ps as f64 * 1e-12).collect()
}

fn floats(values: &[u64]) -> Vec<f64> {
    values.iter().map(|v| *v as f64).collect()
}

impl View {
    pub fn of(look: &Look, seen: &Seen) -> Self {
        let flows = seen.flows.id.iter().zip(&seen.flows.group);
        let ours: BTreeSet<u32> =
            flows.filter(|(_, group)| seen.examined.contains(group)).map(|(id, _)| *id).collect();
        let trips = &seen.trips;
        let mine = trips.time_ps.iter().zip(&trips.flow).zip(&trips.rtt_ps);
        let mine = mine.filter(|((_, flow), _)| ours.contains(flow));
        let (times, delays) = mine
            .map(|((at, flow), rtt)| {
                let base = look.base_rtt.get(*flow as usize).unwrap_or(&seen.base_rtt_ms);
                // Both are whole picoseconds: what is below one is the float's.
                let excess = ((*rtt as f64 * 1e-9 - base) * 1e9).round_ties_even() / 1e9;
                (*at as f64 * 1e-12, excess.max(0.0))
            })
            .unzip();
        let mut progress: BTreeMap<u32, Sampled> = BTreeMap::new();
        let samples = seen.progress.flow.iter().zip(&seen.progress.time_ps).zip(&seen.progress.delivered);
        for ((flow, at), delivered) in samples {
            let empty = || Sampled { flow: *flow, seconds: Vec::new(), delivered: Vec::new() };
            let one = progress.entry(*flow).or_insert_with(empty);
            one.seconds.push(*at as f64 * 1e-12);
            one.delivered.push(*delivered as f64);
        }
        Self {
            seconds: seconds(&seen.link.time_ps),
            carried: floats(&seen.link.bytes),
            capacity: floats(&seen.link.capacity),
            ours,
            times,
            delays,
            progress: progress.into_values().collect(),
        }
    }

    /// The delays of round trips measured from an instant on.
    pub fn trips_since(&self, from: f64) -> impl Iterator<Item = f64> + '_ {
        self.times.iter().zip(&self.delays).filter(move |(at, _)| **at >= from).map(|(_, delay)| *delay)
    }

    /// The last sample (s); the beginning if there is none.
    pub fn end(&self) -> f64 {
        self.seconds.last().copied().unwrap_or(0.0)
    }
}

impl Sampled {
    /// Payload delivered by an instant.
    pub fn by(&self, at: f64) -> f64 {
        interpolated(at, &self.seconds, &self.delivered)
    }

    /// Payload delivered from an instant on.
    pub fn since(&self, begin: f64) -> f64 {
        self.delivered.last().map_or(0.0, |last| last - self.by(begin))
    }
}
