//! Prefetching: in networks larger than the caches, a hop spends most of its time waiting for memory. (This has
//! nothing to do with the lookahead of partitions.)
//!
//! What an event will touch is found step by step: its port, the packet at the head of the port's ring, the path's
//! next entry (or, at a host, the packet), the next port (or the connection), the ring of the next port. Each step
//! is taken a few events before the next, so that every line has arrived when it is read. These are hints: no
//! result depends on them.

use crate::events::{Calendar, Events, Phase};
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::paths::{NO_SLOT, travels_forward};
use crate::port::Port;
use crate::prefetch::prefetch;
use thalweg_units::PortId;

/// How many events ahead each step is taken. The first step, the port, is taken a calendar bucket ahead.
const HEAD: usize = 9;
const ENTRY: usize = 6;
const NEXT: usize = 4;
const RING: usize = 2;

/// Takes the steps for the events that are `HEAD`, `ENTRY`, `NEXT` and `RING` events ahead. When the calendar has
/// advanced by a bucket, also takes all steps that the first events of that bucket have missed, and the first step
/// for the next bucket.
#[inline(always)]
pub(crate) fn look_ahead(events: &mut Calendar, fabric: &Fabric, hosts: &Hosts) {
    if events.bucket_advanced() {
        begin_bucket(events, fabric, hosts);
    }
    head(events, fabric, HEAD);
    path_entry(events, fabric, ENTRY);
    next(events, fabric, hosts, NEXT);
    ring(events, fabric, RING);
}

/// Takes the steps that could not be taken before, because prefetching does not see beyond the running bucket. Each
/// step is taken for all events before the next step, so that their memory accesses overlap.
#[inline(never)]
fn begin_bucket(events: &Calendar, fabric: &Fabric, hosts: &Hosts) {
    for tag in events.next_bucket() {
        if tag.phase() == Phase::Arrive {
            prefetch(&fabric.ports()[tag.entity() as usize]);
        }
    }
    (0..HEAD).for_each(|ahead| head(events, fabric, ahead));
    (0..ENTRY).for_each(|ahead| path_entry(events, fabric, ahead));
    (0..NEXT).for_each(|ahead| next(events, fabric, hosts, ahead));
    (0..RING).for_each(|ahead| ring(events, fabric, ahead));
}

/// Prefetches the packet at the head of the port's ring.
#[inline(always)]
fn head(events: &Calendar, fabric: &Fabric, ahead: usize) {
    if let Some((_, port)) = landing(events, fabric, ahead)
        && let Some(first) = port.flight.front()
    {
        prefetch(first);
    }
}

/// Prefetches the path's next entry, or, at a host, the packet.
#[inline(always)]
fn path_entry(events: &Calendar, fabric: &Fabric, ahead: usize) {
    let Some((_, port)) = landing(events, fabric, ahead) else { return };
    let Some(first) = port.flight.front().filter(|first| !first.is_frame()) else { return };
    if port.leads_to_host() {
        prefetch(&fabric.packets()[first.handle]);
    } else if let Some(out) = fabric.paths().entry(first.route) {
        prefetch(out);
    }
}

/// Prefetches the next port; at a host, the connection, and the port by which the host answers.
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

/// Prefetches the end of the next port's ring.
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

/// Prefetches the cache lines of a port that are touched when a packet joins it.
#[inline(always)]
fn port_lines(port: &Port) {
    prefetch(port);
    prefetch(&port.timing.delay);
}

/// The port whose packet probably lands `ahead` events from now.
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
