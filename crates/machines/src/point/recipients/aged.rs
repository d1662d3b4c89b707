//! A table of bounded size whose entries age.
//!
//! CHOICE RoCC §3.3.4: an entry is forgotten after two updates without a packet; a full table replaces the
//! one seen longest ago.

use crate::schedule::FlowTable;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Span, Time};

/// Flows seen last, at most so many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aged {
    places: FlowTable,
    /// A list in order of the last packet, in place: (flow, when, newer, older).
    entries: Vec<Entry>,
    newest: u32,
    oldest: u32,
    most: usize,
    age: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    flow: FlowId,
    seen: Time,
    newer: u32,
    older: u32,
}

const NONE: u32 = u32::MAX;

impl Aged {
    pub(super) fn new(most: usize, age: Span) -> Self {
        Self { places: FlowTable::default(), entries: Vec::new(), newest: NONE, oldest: NONE, most, age }
    }

    #[inline]
    pub(super) fn join(&mut self, now: Time, flow: FlowId) {
        let at = match self.places.get(flow) {
            Some(at) => {
                self.unlink(at);
                at
            }
            None if self.entries.len() < self.most => {
                self.entries.push(Entry { flow, seen: now, newer: NONE, older: NONE });
                let at = self.entries.len() as u32 - 1;
                self.places.insert(flow, at);
                at
            }
            None => {
                let at = self.oldest;
                self.unlink(at);
                self.places.remove(self.entries[at as usize].flow);
                self.places.insert(flow, at);
                at
            }
        };
        self.entries[at as usize] = Entry { flow, seen: now, newer: NONE, older: self.newest };
        match self.newest {
            NONE => self.oldest = at,
            newest => self.entries[newest as usize].newer = at,
        }
        self.newest = at;
    }

    fn unlink(&mut self, at: u32) {
        let Entry { newer, older, .. } = self.entries[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    /// Those that are not too old, the newest first.
    pub(super) fn flows(&self, now: Time) -> impl Iterator<Item = FlowId> + '_ {
        let mut at = self.newest;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at as usize)?;
            at = entry.older;
            (now.since(entry.seen) <= self.age).then_some(entry.flow)
        })
    }
}
