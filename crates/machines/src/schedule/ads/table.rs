//! ADS's data plane (§3.3): one exact-match entry per priority.

use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// The largest value of the 12-bit header field.
pub const MAX_PRIORITY: u32 = (1 << 12) - 1;

/// What a packet of one priority does.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Entry {
    /// Packets counted since the control plane last read.
    count: u32,
    /// Where they go.
    queue: u8,
}

/// Priority → queue, with counters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    entries: Vec<Entry>,
    cap: u32,
    mtu: u32,
}

impl Table {
    /// Priorities `0 ..= cap / mtu` (rounded up; 1334 for 2 MB and 1500 B), all into queue 0.
    ///
    /// # Errors
    /// If `mtu` is zero or the largest priority does not fit the header field.
    pub fn new(cap: Bytes, mtu: u32) -> Result<Self, Invalid> {
        let bytes = cap.get();
        match u32::try_from(bytes) {
            Ok(cap) if mtu > 0 && cap.div_ceil(mtu) <= MAX_PRIORITY => {
                let entries = vec![Entry::default(); cap.div_ceil(mtu) as usize + 1];
                Ok(Self { entries, cap, mtu })
            }
            _ => {
                let why =
                    format!("ADS's priorities, {bytes} B in steps of {mtu} B, must fit 0 ..= {MAX_PRIORITY}");
                Err(Invalid::new(why).at("mtu"))
            }
        }
    }

    /// min(remaining, cap) / mtu, rounded up.
    #[inline]
    pub fn priority(&self, remaining: i64) -> u32 {
        (remaining.clamp(0, i64::from(self.cap)) as u32).div_ceil(self.mtu)
    }

    /// Counts a packet of so many remaining bytes and returns which queue it goes to.
    #[inline]
    pub fn classify(&mut self, remaining: i64) -> u8 {
        let priority = self.priority(remaining);
        let entry = &mut self.entries[priority as usize];
        entry.count = entry.count.saturating_add(1);
        entry.queue
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The control plane reads and clears the counters: `(priority, packets)` where there were any.
    pub fn read_counters(&mut self, into: &mut Vec<(u16, u32)>) {
        for (priority, entry) in self.entries.iter_mut().enumerate().filter(|(_, e)| e.count > 0) {
            into.push((priority as u16, std::mem::take(&mut entry.count)));
        }
    }

    /// The control plane writes where each priority goes.
    pub fn write(&mut self, queues: impl Iterator<Item = u8>) {
        for (entry, queue) in self.entries.iter_mut().zip(queues) {
            entry.queue = queue;
        }
    }

    /// Where each priority goes.
    pub fn queues(&self) -> impl Iterator<Item = u8> + '_ {
        self.entries.iter().map(|e| e.queue)
    }
}
