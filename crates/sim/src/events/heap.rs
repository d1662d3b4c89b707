//! A 4-ary heap of 16-byte events: the reference implementation for the calendar, and its overflow.

use super::{Event, Events, Tag, Ties};
use thalweg_units::Time;

/// A heap shallower than a binary one: four children share a cache line.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    items: Vec<Event>,
    ties: Ties,
}

const ARITY: usize = 4;

impl Heap {
    /// The smallest event, left in place.
    #[inline]
    pub fn peek(&self) -> Option<&Event> {
        self.items.first()
    }
    /// The events in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.items.iter()
    }
}

impl Events for Heap {
    fn pop_before(&mut self, end: Time) -> Option<Event> {
        if self.peek()?.at < end { self.pop() } else { None }
    }

    fn first(&self) -> Option<Event> {
        self.peek().copied()
    }

    fn sized(pending: usize, _horizon: u64, ties: Ties) -> Self {
        Self { items: Vec::with_capacity(pending), ties }
    }

    fn ties(&self) -> Ties {
        self.ties
    }

    #[inline]
    fn push(&mut self, event: Event) {
        self.items.push(event);
        let mut hole = self.items.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.items[parent].precedes(&event, self.ties) {
                break;
            }
            self.items[hole] = self.items[parent];
            hole = parent;
        }
        self.items[hole] = event;
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        let last = self.items.pop()?;
        let Some(&top) = self.items.first() else { return Some(last) };
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let end = (first + ARITY).min(self.items.len());
            if first >= end {
                break;
            }
            let mut best = first;
            for child in first + 1..end {
                if self.items[child].precedes(&self.items[best], self.ties) {
                    best = child;
                }
            }
            if last.precedes(&self.items[best], self.ties) {
                break;
            }
            self.items[hole] = self.items[best];
            hole = best;
        }
        self.items[hole] = last;
        Some(top)
    }

    fn next_is_after(&self, now: Time, tag: Tag) -> bool {
        self.peek().is_none_or(|next| Event { at: now, tag }.precedes(next, self.ties))
    }

    fn ties_with_next(&self, event: Event) -> bool {
        self.peek().is_some_and(|next| next.ties_with(&event))
    }

    fn sorted(&self) -> Vec<Event> {
        let mut events = self.items.clone();
        events.sort_unstable();
        events
    }
}
