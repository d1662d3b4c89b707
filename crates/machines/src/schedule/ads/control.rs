//! ADS's control plane (§3.3.1): from counters to entries.

use super::table::Table;
use super::{Map, Params, split};
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// Decides which priorities share a queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Control {
    /// The entries were written once.
    Static,
    /// The entries follow the last intervals' packets.
    Dynamic(Window),
}

/// The histograms of the last W intervals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Window {
    queues: u8,
    interval: Span,
    window: usize,
    next: Time,
    /// Oldest first; only priorities that were seen.
    history: VecDeque<Vec<(u16, u32)>>,
    /// Sum of `history`, index = priority.
    sum: Vec<u64>,
}

impl Control {
    /// Writes the first map into `table`.
    ///
    /// # Errors
    /// If the histogram is longer than the table.
    pub fn new(spec: &Params, table: &mut Table) -> Result<Self, Invalid> {
        // CHOICE ADS §3.3: before anything is known, a log-uniform split of the priorities.
        table.write(split::log_uniform(table.entries() as u32 - 1, spec.queues));
        match &spec.map {
            Map::Static { counts, .. } => {
                let mut padded = counts.clone().unwrap_or_default();
                if padded.len() > table.entries() {
                    let (given, room) = (padded.len(), table.entries());
                    let why = format!("ADS's histogram has {given} priorities, but cap and mtu give {room}");
                    return Err(Invalid::new(why).at("map.counts"));
                }
                padded.resize(table.entries(), 0);
                // CHOICE ADS §3.3: a port whose histogram is empty keeps the log-uniform split.
                if let Some(queues) = split::equal(&padded, spec.queues) {
                    table.write(queues);
                }
                Ok(Self::Static)
            }
            &Map::Dynamic { interval, window } => Ok(Self::Dynamic(Window {
                queues: spec.queues,
                interval,
                window: window as usize,
                next: Time::ZERO.saturating_add(interval),
                history: VecDeque::new(),
                sum: vec![0; table.entries()],
            })),
        }
    }

    /// When the next interval ends.
    pub fn wake(&self) -> Option<Time> {
        match self {
            Self::Static => None,
            Self::Dynamic(w) => Some(w.next),
        }
    }

    /// An interval has ended.
    pub fn on_tick(&mut self, now: Time, table: &mut Table) {
        if let Self::Dynamic(w) = self
            && w.next <= now
        {
            w.append(table);
            w.rewrite(table);
            // Called late (the emulator's clock is not ours), the interval was longer; the grid stays.
            let late = now.since(w.next).ps() / w.interval.ps();
            w.next = w.next.saturating_add(w.interval.saturating_mul(late + 1));
        }
    }
}

impl Window {
    fn append(&mut self, table: &mut Table) {
        let mut latest = Vec::new();
        if self.history.len() == self.window
            && let Some(oldest) = self.history.pop_front()
        {
            for &(priority, count) in &oldest {
                self.sum[usize::from(priority)] -= u64::from(count);
            }
            latest = oldest;
            latest.clear();
        }
        table.read_counters(&mut latest);
        for &(priority, count) in &latest {
            self.sum[usize::from(priority)] += u64::from(count);
        }
        self.history.push_back(latest);
    }

    fn rewrite(&self, table: &mut Table) {
        // CHOICE ADS §3.3: a window without a packet leaves the map as it is.
        if let Some(queues) = split::equal(&self.sum, self.queues) {
            table.write(queues);
        }
    }
}
