//! Memory ahead of time: in networks larger than the caches, a hop waits for memory most of all.
//!
//! What an event will touch is found step by step: its port, the packet at the head of the port's
//! ring, the path's next entry (or, at a host, the packet), the next port (or the connection), the ring of the
//! next port. Each step is
//! taken a few events before the next, so that every line has arrived when it is read. These are
//! hints: nothing depends on them.

use crate::events::{Events, Phase};
use crate::flow::NO_CONNECTION;
use crate::gate::is_frame;
use crate::port::Port;
use crate::prefetch::prefetch;
use crate::sim::Sim;

/// Ports from which a network counts as larger than the caches.
pub(crate) const WIDE: usize = 2048;

/// How many events ahead each step is taken, after the first, which is taken a calendar day ahead.
const HEAD: usize = 9;
const WAY: usize = 6;
const NEXT: usize = 4;
const RING: usize = 2;

impl<Q: Events> Sim<Q> {
    /// The steps for the events that come `HEAD`, `WAY`, `NEXT` and `RING` events from now; at the dawn of a
    /// calendar day, the ports of the next one.
    #[inline(always)]
    pub(crate) fn look_ahead(&mut self) {
        if self.events.dawn() {
            for tag in self.events.tomorrow() {
                if tag.phase() == Phase::Arrive {
                    prefetch(&self.ports[tag.entity() as usize]);
                }
            }
            for ahead in 0..HEAD {
                if let Some(first) = self.landing(ahead).and_then(|port| port.flight.front()) {
                    prefetch(first);
                }
            }
        }
        if let Some(first) = self.landing(HEAD).and_then(|port| port.flight.front()) {
            prefetch(first);
        }
        if let Some(port) = self.landing(WAY)
            && let Some(first) = port.flight.front()
        {
            if is_frame(first) {
                // Nothing to look at.
            } else if port.to_host {
                prefetch(&self.packets[first.handle]);
            } else if let Some(out) = self.paths.get(first.route as usize) {
                prefetch(out);
            }
        }
        if let Some(port) = self.landing(NEXT)
            && let Some(first) = port.flight.front()
        {
            if is_frame(first) {
                // Nothing to look at.
            } else if port.to_host {
                let packet = &self.packets[first.handle];
                let slot = self.connections[packet.flow.at()];
                // Connections of a replay have no ends.
                if slot != NO_CONNECTION
                    && let Some(sending) = self.sending.get(slot as usize)
                {
                    let receiving = &self.receiving[slot as usize];
                    if crate::fabric::travels_forward(packet.kind) {
                        prefetch(receiving);
                        prefetch(&receiving.timer);
                    } else {
                        prefetch_whole(sending);
                    }
                }
            } else if let Some(out) = self.paths.get(first.route as usize)
                && let Some(port) = self.ports.get(out.at())
            {
                prefetch(port);
                prefetch(&port.delay);
            }
        }
        if let Some(port) = self.landing(RING)
            && !port.to_host
            && let Some(first) = port.flight.front()
            && let Some(out) = self.paths.get(first.route as usize)
            && let Some(port) = self.ports.get(out.at())
        {
            port.prefetch_ring();
        }
    }

    /// The port at which a packet lands `ahead` events from now, as far as is known.
    #[inline(always)]
    fn landing(&self, ahead: usize) -> Option<&Port> {
        let tag = self.events.upcoming(ahead)?;
        (tag.phase() == Phase::Arrive).then(|| &self.ports[tag.entity() as usize])
    }
}

/// Asks for every line of `item`.
#[inline(always)]
fn prefetch_whole<T>(item: &T) {
    let start = std::ptr::from_ref(item).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(64) {
        prefetch(start.wrapping_add(64 * line));
    }
}
