//! How the authors' Tofino2 program differs from the paper's text (§3.3.1, §3.4): flow table and pause counters live in
//! the ingress pipelines, the queues in the traffic manager, and departures are seen in the egress pipelines, each a
//! little later than the other.
//!
//! The way of a packet: its ingress pipeline looks its flow up in the pipeline's own part of the flow table,
//! and for a flow without a queue finds an empty one in its copy of the bitmap. Out of its queue it passes
//! the egress pipeline, which sends a copy of its header round to the ingress pipeline, where the entry and
//! the pause counter are decremented; the packet itself goes to a small queue in front of the wire. What is
//! there no pause stops.

use super::params::Params;
use crate::schedule::Entry;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, QueueSet};

/// The additional state of one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tofino {
    /// How often the bitmap is copied; zero: it is seen as it is.
    stale: Span,
    copied: Time,
    copy: QueueSet,
    pipelines: usize,
    /// By class and pipeline, where there are several: where the next search for an empty queue begins.
    starts: Vec<u16>,
    /// Packets that wait for the wire only, with the queue that each was in.
    pub behind: VecDeque<(Entry, u16)>,
    pub places: usize,
    recirculation: Span,
    /// Departures of which the flow table is not notified yet: when it will be, and which entry it is.
    pub returning: VecDeque<(Time, u32)>,
}

impl Tofino {
    /// `None` where nothing of it is configured.
    pub fn of(p: &Params) -> Option<Self> {
        let pipelines = usize::from(p.pipelines);
        let configured =
            !p.bitmap_stale.is_zero() || pipelines > 1 || p.post_queue > 0 || !p.recirc_delay.is_zero();
        let apart = |n: usize| (n % pipelines * usize::from(p.queues - 1) / pipelines) as u16;
        configured.then(|| Self {
            stale: p.bitmap_stale,
            copied: Time::ZERO,
            copy: QueueSet::default(),
            pipelines,
            starts: (0..pipelines * usize::from(p.classes)).map(apart).collect(),
            behind: VecDeque::new(),
            places: usize::from(p.post_queue),
            recirculation: p.recirc_delay,
            returning: VecDeque::new(),
        })
    }

    /// The queues that ingress pipelines think occupied.
    pub fn seen(&self, occupied: QueueSet) -> QueueSet {
        if self.stale.is_zero() { occupied } else { self.copy }
    }

    /// Something is about to join the queues, or to leave them.
    // CHOICE BFC §3.4: neither period nor phase is published. Copies are made at multiples of the period from
    // the beginning of the run, at all ports at once, and show the queues as they were just before that
    // instant.
    pub fn renew(&mut self, now: Time, occupied: &QueueSet) {
        if self.stale.is_zero() {
            return;
        }
        let last = Time::from_ps(now.ps() - now.ps() % self.stale.ps());
        if last > self.copied {
            (self.copied, self.copy) = (last, *occupied);
        }
    }

    /// The ingress pipeline of packets that come by this input.
    // CHOICE BFC §3.4: ports are dealt to the pipelines in turn, so that a switch of few ports uses them all.
    pub fn pipeline(&self, input: u8) -> usize {
        usize::from(input) % self.pipelines
    }

    /// Of the queues that look empty, the first from where the pipeline's search begins; the next one begins behind it.
    // CHOICE BFC §3.4: that starts differ and rotate is published, not how. Here they are evenly apart at
    // first, and each moves by what its own pipeline hands out: pipelines know nothing of each other, and two
    // may meet.
    pub fn in_rotation(&mut self, class: usize, input: u8, empty: &QueueSet) -> Option<u16> {
        if self.pipelines == 1 {
            return None;
        }
        let at = class * self.pipelines + self.pipeline(input);
        let queue = empty.next(self.starts[at]).or_else(|| empty.next(0))?;
        self.starts[at] = queue + 1;
        Some(queue)
    }

    /// A packet leaves its queue: true if the flow table is notified of it later.
    #[inline]
    pub fn puts_off(&mut self, now: Time, cell: u32) -> bool {
        let later = !self.recirculation.is_zero();
        if later {
            self.returning.push_back((now.saturating_add(self.recirculation), cell));
        }
        later
    }

    pub fn committed(&self, nth: usize) -> Option<Handle> {
        self.behind.get(nth).map(|(entry, _)| entry.handle)
    }

    pub fn late(&self) -> Span {
        self.recirculation
    }
}
