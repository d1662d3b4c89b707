//! The rate that a Wi-Fi link would reach with full batches, from block ACKs of batches that were not full.
//! Goyal, "Congestion Control in Highly Variable Networks" (MIT, 2022), §2.5.1, equations 2.5 to 2.8.
//!
//! A batch of b frames takes T_IA(b) = b S / R + h, from one block ACK to the next: h is what it costs
//! whatever its length. A full one would have taken (M − b) S / R longer, so the link carries μ = M S /
//! (T_IA(b) + (M − b) S / R). Both μ and what leaves, cr = b S / T_IA, are means over a sliding window; as a
//! sender can at most double in a round trip, μ is then cut to 2 cr, so that what is wrong with the estimate
//! of a link that idles does no harm.
//!
//! ```text
//! CHOICE §2.5.1: S is the mean size of the batch's frames, R and M are those of the batch.
//! CHOICE §2.5.1: weights of the moving average are not published; each batch weighs its T_IA, which makes cr
//! bytes over time.
//! CHOICE §2.5.1: T_IA is taken literally, with the time in which nothing waited. Other reading:
//! `exclude_idle`, from the first frame that was ready. What leaves, cr, is over all time in either reading:
//! it is what paces the ACKs.
//! ```

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Rate, Span, Time};

/// A batch as its block ACK reports it to the access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The medium was free and a frame ready.
    pub begun: Time,
    /// The block ACK came.
    pub acked: Time,
    /// b: frames of it.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// R: the PHY rate.
    pub rate: Rate,
    /// M: frames of a full one.
    pub most: u32,
}

/// A block ACK in the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Seen {
    at: Time,
    /// Since the block ACK before, s.
    since: f64,
    bytes: f64,
    /// T_IA, s.
    gap: f64,
    /// μ of this batch, bytes per second.
    mu: f64,
}

/// An access point's knowledge of its link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockAcks {
    window: Span,
    exclude_idle: bool,
    last: Option<Time>,
    seen: VecDeque<Seen>,
    mu: f64,
    cr: f64,
}

impl BlockAcks {
    /// Before the first block ACK; rates are means over `window`.
    pub fn new(window: Span, exclude_idle: bool) -> Self {
        Self { window, exclude_idle, last: None, seen: VecDeque::new(), mu: 0.0, cr: 0.0 }
    }

    /// A block ACK has come.
    pub fn on_batch(&mut self, batch: &Batch) {
        let Batch { begun, acked, packets, bytes, rate, most } = *batch;
        let last = self.last.replace(acked).unwrap_or(begun);
        let (since, bytes) = ((acked - last).secs(), bytes as f64);
        let gap = if self.exclude_idle { (acked - begun.max(last)).secs() } else { since };
        let size = bytes / f64::from(packets.max(1));
        let longer = f64::from(most.saturating_sub(packets)) * size * 8.0 / rate.bps() as f64;
        let mu = f64::from(most) * size / (gap + longer).max(INSTANT);
        self.seen.push_back(Seen { at: acked, since, bytes, gap, mu });
        while self.seen.front().is_some_and(|s| s.at.saturating_add(self.window) <= acked) {
            self.seen.pop_front();
        }
        let sum = |of: fn(&Seen) -> f64| self.seen.iter().map(of).sum::<f64>();
        self.cr = sum(|s| s.bytes) / sum(|s| s.since).max(INSTANT);
        self.mu = sum(|s| s.mu * s.gap.max(INSTANT)) / sum(|s| s.gap.max(INSTANT));
    }

    /// μ and cr, bytes per second; `None` before the first block ACK.
    pub fn rates(&self) -> Option<(f64, f64)> {
        self.last.map(|_| (self.mu.min(2.0 * self.cr), self.cr))
    }

    /// μ before it is cut, bytes per second.
    #[cfg(test)]
    fn uncut(&self) -> f64 {
        self.mu
    }
}

/// s; a batch that takes no time has a rate nevertheless.
const INSTANT: f64 = 1e-12;

#[cfg(test)]
mod tests;
