//! What every owner's methods are given: the time, the event queue, the instruments, and what the network is.

use crate::border::Border;
use crate::events::{Calendar, Event, Events, Phase, Tag};
use crate::features::Features;
use crate::instruments::Instruments;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::Time;

/// The run's context. Not an owner of anything that a packet could be in.
#[derive(Clone, Debug)]
pub(crate) struct Cx {
    /// The instant of the event at hand.
    pub now: Time,
    /// What happens next.
    pub events: Calendar,
    /// The run is over, or waits for input.
    pub stopped: bool,
    /// A controller waits for a decision from outside.
    pub awaits: bool,
    /// Which code paths are taken.
    pub features: Features,
    /// What looks on.
    pub instruments: Instruments,
    /// What the network was built from.
    pub spec: NetworkSpec,
    /// If this is a part of a network: where it ends.
    pub border: Border,
}

impl Cx {
    /// Adds what happens now to the digest: a sum, so it does not depend on the order in which
    /// different entities are processed at one instant. What a port sends shows in its arrival.
    #[inline(always)]
    pub fn mark_digest(&mut self, what: u64) {
        self.instruments.mark(self.now, what);
    }

    /// The same of what is certain to happen at a later instant, unless the run is over by then.
    #[inline]
    pub fn mark_ahead(&mut self, at: Time, what: u64) {
        if at <= self.spec.stop.until {
            self.instruments.mark(at, what);
        }
    }

    /// A packet lands: notes whether others do at this instant.
    #[inline(always)]
    pub fn note_landing(&mut self, event: Event) {
        self.instruments.contests.note_landing(self.events.ties_with_next(event));
    }

    /// Nothing happens in other parts before an event of this instant, as far as this part must wait for them.
    pub fn comes_first_everywhere(&self, tag: Tag) -> bool {
        let event = Event { at: self.now, tag };
        self.border.elsewhere.is_none_or(|first| event.precedes(&first, self.events.ties()))
    }

    /// An event.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, phase: Phase, entity: u32) {
        self.events.push(Event { at, tag: Tag::new(phase, entity) });
    }
}
