//! Memory ahead of time: in networks larger than the caches, a hop waits for memory most of all.
//!
//! What an event will touch is found step by step: its port, the packet at the head of the port's
//! ring, the path's next entry (or, at a host, the packet), the next port (or the connection), the ring of the
//! next port. Each step is
//! taken a few events before the next, so that every line has arrived when it is read. These are
//! hints: nothing depends on them.

use crate::events::{Events, Phase};
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::paths::{NO_SLOT, travels_forward};
use crate::port::Port;
use crate::prefetch::prefetch;

/// How many events ahead each step is taken, after the first, which is taken a calendar bucket ahead.
const HEAD: usize = 9;
const WAY: usize = 6;
const NEXT: usize = 4;
const RING: usize = 2;

/// The steps for the events that come `HEAD`, `WAY`, `NEXT` and `RING` events from now; when the calendar has
/// advanced by a bucket, the ports of the next one.
#[inline(always)]
pub(crate) fn look_ahead<Q: Events>(events: &mut Q, fabric: &Fabric, hosts: &Hosts) {
    if events.bucket_advanced() {
        for tag in events.next_bucket() {
            if tag.phase() == Phase::Arrive {
                prefetch(&fabric.ports[tag.entity() as usize]);
            }
        }
        for ahead in 0..HEAD {
            if let Some(first) = landing(events, fabric, ahead).and_then(|port| port.flight.front()) {
                prefetch(first);
            }
        }
    }
    if let Some(first) = landing(events, fabric, HEAD).and_then(|port| port.flight.front()) {
        prefetch(first);
    }
    if let Some(port) = landing(events, fabric, WAY)
        && let Some(first) = port.flight.front()
    {
        if first.is_frame() {
            // Nothing to look at.
        } else if port.mode.to_host {
            prefetch(&fabric.packets[first.handle]);
        } else if let Some(out) = fabric.paths.entry(first.route) {
            prefetch(out);
        }
    }
    if let Some(port) = landing(events, fabric, NEXT)
        && let Some(first) = port.flight.front()
    {
        if first.is_frame() {
            // Nothing to look at.
        } else if port.mode.to_host {
            let packet = &fabric.packets[first.handle];
            let slot = fabric.paths.slot(packet.flow);
            // Slots of a replay have no ends.
            if slot != NO_SLOT
                && let Some(sending) = hosts.sending.get(slot as usize)
            {
                let receiving = &hosts.receiving[slot as usize];
                if travels_forward(packet.kind) {
                    prefetch(receiving);
                    prefetch(&receiving.timer);
                } else {
                    prefetch_whole(sending);
                }
            }
        } else if let Some(out) = fabric.paths.entry(first.route)
            && let Some(port) = fabric.ports.get(out.at())
        {
            prefetch(port);
            prefetch(&port.timing.delay);
        }
    }
    if let Some(port) = landing(events, fabric, RING)
        && !port.mode.to_host
        && let Some(first) = port.flight.front()
        && let Some(out) = fabric.paths.entry(first.route)
        && let Some(port) = fabric.ports.get(out.at())
    {
        port.prefetch_ring();
    }
}

/// The port at which a packet lands `ahead` events from now, as far as is known.
#[inline(always)]
fn landing<'a, Q: Events>(events: &Q, fabric: &'a Fabric, ahead: usize) -> Option<&'a Port> {
    let tag = events.upcoming(ahead)?;
    (tag.phase() == Phase::Arrive).then(|| &fabric.ports[tag.entity() as usize])
}

/// Fetches every line of `item`.
#[inline(always)]
fn prefetch_whole<T>(item: &T) {
    let start = std::ptr::from_ref(item).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(64) {
        prefetch(start.wrapping_add(64 * line));
    }
}
