//! ADS-k: Approximate and Deployable SRPT. Mushtaq, Mittal, McCauley, Alizadeh, Ratnasamy, Shenker, "Datacenter
//! Congestion Control: Identifying what is essential and making it practical", ACM CCR, §3.
//!
//! * [`table`](Table): the data plane, what a commodity switch offers: an exact-match table from priority to queue
//!   with a counter per entry, in front of k strict-priority FIFOs.
//! * [`control`](Control): the control plane: reads the counters, writes the entries.
//! * [`split`]: the mapping itself, equal packets per queue.

mod control;
pub mod split;
mod table;

pub use control::Control;
pub use table::{MAX_PRIORITY, Table};

use super::levels::Levels;
use super::{AdsSpec, Entry, Order};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// The queues of one port with both planes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ads {
    table: Table,
    levels: Levels,
    control: Control,
}

impl Ads {
    /// A port that has seen nothing.
    ///
    /// # Errors
    /// If there are no queues, no interval or window, more priorities than the header field holds, or a histogram
    /// of more priorities than that.
    pub fn new(spec: &AdsSpec) -> Result<Self, String> {
        if spec.queues == 0 {
            return Err("ADS needs at least one queue".into());
        }
        let mut table = Table::new(spec.cap, spec.mtu)?;
        let control = Control::new(spec, &mut table)?;
        Ok(Self { table, levels: Levels::new(spec.queues), control })
    }

    /// The data plane's table.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

impl Order for Ads {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        // CHOICE ADS §3.1: control packets carry no size; they take the highest queue without being counted.
        let queue = if packet.is_control() { 0 } else { self.table.classify(packet.rank) };
        self.levels.push(queue, Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        self.levels.pop_best()
    }
    /// CHOICE ADS §3.1: the newest packet of the lowest queue that holds any, be it the one arriving.
    fn shed(&mut self, _arriving: Handle) -> Option<Entry> {
        self.levels.pop_worst()
    }
    fn queues(&self) -> u16 {
        u16::from(self.levels.last()) + 1
    }
    fn pause(&mut self, queue: u16, paused: bool) {
        self.levels.pause(queue, paused);
    }
    fn is_held(&self) -> bool {
        self.levels.best().is_none()
    }
    fn wake(&self) -> Option<Time> {
        self.control.wake()
    }
    fn on_tick(&mut self, now: Time) {
        self.control.on_tick(now, &mut self.table);
    }
}

#[cfg(test)]
mod tests;
