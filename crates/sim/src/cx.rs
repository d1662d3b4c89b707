//! The context given to the methods of every owner: the time, the event queue, the instruments, and the
//! specification.

use crate::boundary::Boundary;
use crate::events::{Calendar, Event, Events, Phase, Tag};
use crate::features::Features;
use crate::instruments::Instruments;
use crate::port::{Booked, Port};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Time};

/// The run's context. It holds no packets.
#[derive(Clone, Debug)]
pub(crate) struct Cx {
    /// The instant of the event at hand.
    pub now: Time,
    /// Pending events.
    pub events: Calendar,
    /// The run is over, or waits for input.
    pub stopped: bool,
    /// A controller waits for a decision from outside.
    pub awaits: bool,
    /// Which code paths this network takes.
    pub features: Features,
    /// Observers of the run.
    pub instruments: Instruments,
    /// What the network was built from.
    pub spec: NetworkSpec,
    /// The boundary of this part of a network that is run in parts; empty in an undivided run.
    pub boundary: Boundary,
}

impl Cx {
    /// Adds something that happens now to the digest. The digest is a sum, so it does not depend on the order in
    /// which different entities are processed at one instant. What a port sends is added when it arrives.
    #[inline(always)]
    pub fn mark_digest(&mut self, what: u64) {
        self.instruments.mark(self.now, what);
    }

    /// The same for something that will happen at a later instant, unless the run ends before.
    #[inline]
    pub fn mark_ahead(&mut self, at: Time, what: u64) {
        if at <= self.spec.stop.until {
            self.instruments.mark(at, what);
        }
    }

    /// Notes whether other packets land at the same instant as the one at hand.
    #[inline(always)]
    pub fn note_landing(&mut self, event: Event) {
        self.instruments.contests.note_landing(self.events.ties_with_next(event));
    }

    /// Schedules the arrival of what a port has just put on its wire, here or in the partition that the wire leads
    /// to.
    #[inline(always)]
    pub fn put_on_wire(&mut self, port: &mut Port, id: PortId, booked: Booked) {
        if port.is_outbound() {
            self.boundary.leave(id, port.take_outbound(self.now));
        } else if let Booked::First(at) = booked {
            self.schedule(at, Phase::Arrive, id.0);
        }
    }

    /// Schedules an event.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, phase: Phase, entity: u32) {
        self.events.push(Event { at, tag: Tag::new(phase, entity) });
    }
}
