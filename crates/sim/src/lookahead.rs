//! Memory ahead of time: in networks larger than the caches, a hop waits for memory most of all.
//!
//! What an event will touch is found step by step: its port, the packet at the head of the port's
//! ring, the path's next entry (or, at a host, the packet), the next port (or the connection), the ring of the
//! next port. Each step is
//! taken a few events before the next, so that every line has arrived when it is read. These are
//! hints: nothing depends on them.

use crate::events::{Calendar, Events, Phase};
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::paths::{NO_SLOT, travels_forward};
use crate::port::Port;
use crate::prefetch::prefetch;
use thalweg_units::PortId;

/// How many events ahead each step is taken, after the first, which is taken a calendar bucket ahead.
const HEAD: usize = 9;
const WAY: usize = 6;
const NEXT: usize = 4;
const RING: usize = 2;

/// The steps for the events that come `HEAD`, `WAY`, `NEXT` and `RING` events from now; when the calendar has
/// advanced by a bucket, those for all that its first events have missed, and the ports of the next bucket.
#[inline(always)]
pub(crate) fn look_ahead(events: &mut Calendar, fabric: &Fabric, hosts: &Hosts) {
    if events.bucket_advanced() {
        begin_bucket(events, fabric, hosts);
    }
    head(events, fabric, HEAD);
    way(events, fabric, WAY);
    next(events, fabric, hosts, NEXT);
    ring(events, fabric, RING);
}

/// Nothing looked ahead beyond the end of the last bucket. Each step is taken for all before the next, so
/// that they wait for memory together.
#[inline(never)]
fn begin_bucket(events: &Calendar, fabric: &Fabric, hosts: &Hosts) {
    for tag in events.next_bucket() {
        if tag.phase() == Phase::Arrive {
            prefetch(&fabric.ports()[tag.entity() as usize]);
        }
    }
    (0..HEAD).for_each(|ahead| head(events, fabric, ahead));
    (0..WAY).for_each(|ahead| way(events, fabric, ahead));
    (0..NEXT).for_each(|ahead| next(events, fabric, hosts, ahead));
    (0..RING).for_each(|ahead| ring(events, fabric, ahead));
}

/// The packet at the head of the port's ring.
#[inline(always)]
fn head(events: &Calendar, fabric: &Fabric, ahead: usize) {
    if let Some((_, port)) = landing(events, fabric, ahead)
        && let Some(first) = port.flight.front()
    {
        prefetch(first);
    }
}

/// The path's next entry, or, at a host, the packet.
#[inline(always)]
fn way(events: &Calendar, fabric: &Fabric, ahead: usize) {
    let Some((_, port)) = landing(events, fabric, ahead) else { return };
    let Some(first) = port.flight.front().filter(|first| !first.is_frame()) else { return };
    if port.leads_to_host() {
        prefetch(&fabric.packets()[first.handle]);
    } else if let Some(out) = fabric.paths().entry(first.route) {
        prefetch(out);
    }
}

/// The next port; at a host, the connection, and the port by which it answers.
#[inline(always)]
fn next(events: &Calendar, fabric: &Fabric, hosts: &Hosts, ahead: usize) {
    let Some((id, port)) = landing(events, fabric, ahead) else { return };
    let Some(first) = port.flight.front().filter(|first| !first.is_frame()) else { return };
    if port.leads_to_host() {
        port_lines(&fabric.ports()[id.reverse().at()]);
        let packet = &fabric.packets()[first.handle];
        let slot = fabric.paths().slot(packet.flow);
        // Slots of a replay have no ends.
        if slot != NO_SLOT
            && let Some((sending, receiving)) = hosts.both(slot)
        {
            if travels_forward(packet.kind) {
                prefetch(receiving);
                prefetch(&receiving.timer);
            } else {
                prefetch_whole(sending);
            }
        }
    } else if let Some(out) = fabric.paths().entry(first.route)
        && let Some(port) = fabric.ports().get(out.at())
    {
        port_lines(port);
    }
}

/// Where the ring of the next port ends.
#[inline(always)]
fn ring(events: &Calendar, fabric: &Fabric, ahead: usize) {
    let Some((id, port)) = landing(events, fabric, ahead) else { return };
    if port.leads_to_host() {
        fabric.ports()[id.reverse().at()].prefetch_ring();
    } else if let Some(first) = port.flight.front()
        && let Some(out) = fabric.paths().entry(first.route)
        && let Some(port) = fabric.ports().get(out.at())
    {
        port.prefetch_ring();
    }
}

/// What of a port a packet that joins it touches.
#[inline(always)]
fn port_lines(port: &Port) {
    prefetch(port);
    prefetch(&port.timing.delay);
}

/// The port at which a packet lands `ahead` events from now, as far as is known.
#[inline(always)]
fn landing<'a>(events: &Calendar, fabric: &'a Fabric, ahead: usize) -> Option<(PortId, &'a Port)> {
    let tag = events.upcoming(ahead)?;
    let id = PortId(tag.entity());
    (tag.phase() == Phase::Arrive).then(|| (id, &fabric.ports()[id.at()]))
}

/// Fetches every line of `item`.
#[inline(always)]
fn prefetch_whole<T>(item: &T) {
    let start = std::ptr::from_ref(item).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(64) {
        prefetch(start.wrapping_add(64 * line));
    }
}
