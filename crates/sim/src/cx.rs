//! What every owner's methods are given: the time, the event queue, the instruments, and what the network is.

use crate::border::Border;
use crate::events::{Calendar, Event, Events, Phase, Tag};
use crate::features::Features;
use crate::instruments::Instruments;
use crate::port::{Booked, Port};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Time};

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

    /// What a port has sent, or booked a place on its wire for, arrives here by an event, or in another part.
    #[inline(always)]
    pub fn put_on_wire(&mut self, port: &mut Port, id: PortId, booked: Booked) {
        if port.is_outbound() {
            self.border.leave(id, port.leave(self.now));
        } else if let Booked::First(at) = booked {
            self.schedule(at, Phase::Arrive, id.0);
        }
    }

    /// An event.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, phase: Phase, entity: u32) {
        self.events.push(Event { at, tag: Tag::new(phase, entity) });
    }
}
