//! A few FIFOs in order of importance: the data path of strict priority and of ADS.

use crate::schedule::{Entry, Pausable, Searchable};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_wire::{Handle, QueueSet};

/// FIFOs numbered from 0, the most important, which of them hold anything, and which are paused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct Levels {
    queues: Vec<VecDeque<Entry>>,
    occupied: [u64; 4],
    paused: QueueSet,
}

impl Levels {
    /// `count` FIFOs, at least one.
    pub(in crate::schedule) fn new(count: u8) -> Self {
        Self {
            queues: vec![VecDeque::new(); usize::from(count.max(1))],
            occupied: [0; 4],
            paused: QueueSet::default(),
        }
    }
    /// Number of the least important FIFO.
    #[inline]
    pub(in crate::schedule) fn last(&self) -> u8 {
        (self.queues.len() - 1) as u8
    }
    #[inline]
    pub(in crate::schedule) fn push(&mut self, level: u8, entry: Entry) {
        self.queues[usize::from(level)].push_back(entry);
        self.occupied[usize::from(level >> 6)] |= 1 << (level & 63);
    }
    /// Puts an entry back that was the oldest of its FIFO.
    pub(in crate::schedule) fn put_back(&mut self, level: u8, entry: Entry) {
        self.queues[usize::from(level)].push_front(entry);
        self.occupied[usize::from(level >> 6)] |= 1 << (level & 63);
    }
    /// FIFOs that hold any and are not paused, 64 of them.
    #[inline]
    fn ready(&self, word: usize) -> u64 {
        self.occupied[word] & !self.paused.word(word)
    }
    /// Number of the most important FIFO that holds any and is not paused.
    #[inline]
    pub(in crate::schedule) fn best(&self) -> Option<u8> {
        let word = (0..4).find(|word| self.ready(*word) != 0)?;
        Some((word as u32 * 64 + self.ready(word).trailing_zeros()) as u8)
    }
    /// The oldest entry of the most important FIFO that holds any and is not paused.
    #[inline]
    pub(in crate::schedule) fn pop_best(&mut self) -> Option<Entry> {
        let level = usize::from(self.best()?);
        let entry = self.queues[level].pop_front();
        self.note(level);
        entry
    }
    /// The newest entry of the least important FIFO that holds any.
    pub(in crate::schedule) fn pop_worst(&mut self) -> Option<Entry> {
        let word = self.occupied.iter().rposition(|&w| w != 0)?;
        let level = word * 64 + 63 - self.occupied[word].leading_zeros() as usize;
        let entry = self.queues[level].pop_back();
        self.note(level);
        entry
    }
    #[inline]
    fn note(&mut self, level: usize) {
        if self.queues[level].is_empty() {
            self.occupied[level >> 6] &= !(1 << (level & 63));
        }
    }
}

impl Pausable for Levels {
    fn queues(&self) -> u16 {
        self.queues.len() as u16
    }
    fn pause(&mut self, level: u16, paused: bool) {
        self.paused.set(level, paused);
    }
    fn is_held(&self) -> bool {
        self.best().is_none()
    }
}

impl Searchable for Levels {
    /// From the most important FIFO on, the oldest entry first.
    fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Entry)) {
        for level in 0..self.queues.len() {
            self.queues[level].retain(|entry| {
                let goes = belongs(entry.handle);
                if goes {
                    left(*entry);
                }
                !goes
            });
            self.note(level);
        }
    }
}
