//! The flow table (§3.3.3.1): the queue in which a flow waits, or has recently waited.

use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Span, Time, mix64};
use thalweg_wire::QueueSet;

/// An entry.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Cell {
    /// When a packet of it last came or left.
    pub last: Time,
    /// Packets of it that wait.
    pub size: u32,
    /// Where they wait.
    pub queue: u16,
    /// A flow has been here.
    pub used: bool,
}

impl Cell {
    /// The entry has expired: the flow's next packet is assigned a queue anew. Sticky as in §3.3.3.2.
    #[inline]
    pub fn is_forgotten(&self, now: Time, sticky: Span) -> bool {
        self.size == 0 && (!self.used || now.since(self.last) > sticky)
    }
}

/// The table of one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Table {
    pub cells: Vec<Cell>,
    /// Entries of a part; there is one part for each ingress pipeline.
    part: u64,
    salt: u64,
}

impl Table {
    pub fn new(entries: usize, parts: usize, salt: u64) -> Self {
        let part = entries / parts;
        Self { cells: vec![Cell::default(); part * parts], part: part as u64, salt }
    }

    #[inline]
    pub fn hash(&self, flow: FlowId) -> u64 {
        mix64(u64::from(flow.0) ^ self.salt)
    }

    /// Where the first part has the flow of that hash. Multiplied into range: no division.
    #[inline]
    pub fn find(&self, hash: u64) -> usize {
        ((u128::from(hash) * u128::from(self.part)) >> 64) as usize
    }

    /// Where every part has it.
    pub fn find_all(&self, hash: u64) -> impl Iterator<Item = usize> {
        (self.find(hash)..self.cells.len()).step_by(self.part as usize)
    }

    /// Where the part of a pipeline has it.
    pub fn find_in(&self, pipeline: usize, hash: u64) -> usize {
        pipeline * self.part as usize + self.find(hash)
    }

    /// A packet has left. Returns whether it was the last of its entry.
    #[inline]
    pub fn left(&mut self, now: Time, cell: u32) -> bool {
        let own = &mut self.cells[cell as usize];
        own.size -= 1;
        own.last = now;
        own.size == 0
    }

    /// Queues that flows keep, whether anything waits there or not. Looks at every entry.
    pub fn kept(&self, now: Time, sticky: Span) -> QueueSet {
        self.cells.iter().filter(|cell| !cell.is_forgotten(now, sticky)).map(|cell| cell.queue).collect()
    }
}
