//! FIFO with an escape queue that pauses do not hold: single packets can be moved ("lifted") into it from anywhere in
//! the FIFO. The queue of ports under [`crate::relief`].
//!
//! Packets that arrive with an escape header ([`Packet::hop`]) join the escape queue. Lifting the first packet of a
//! flow, joining and leaving take amortised constant time. The first packet of each flow is known once the packets that
//! wait are indexed ([`Liftable::index`]); what comes and goes between such calls passes a plain queue.

use super::structures::flow_table::FlowTable;
use super::{At, Entry, Order, Parameters, Pausable};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Ecn, Handle, Packet};

/// Bytes of the header of an escaping packet: hops that it still escapes (Menikkumbura, Purdue 2022, §4.3.2).
pub const HEADER: u32 = 2;

/// First come, first served, with an escape queue that pauses do not hold: what `switch.relief` makes of `fifo`
/// (Menikkumbura, Purdue 2022, §4.5).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Liftable;

    fn make(&self, _: &At) -> Result<Liftable, Invalid> {
        Ok(Liftable::default())
    }
}

/// No packet of a flow waits, or none that is indexed.
const NONE: u64 = u64::MAX;

/// A place of the ring whose packet was lifted.
const LIFTED: Entry = Entry { handle: Handle::NONE, wire: 0, route: 0, ecn: Ecn::NotEct, control: false };

/// Of a packet that is indexed: its flow, and the next packet of that flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Link {
    /// Its flow's place in the rows.
    row: u32,
    /// So many places behind it comes the next of its flow that is indexed; 0: none does.
    next: u32,
}

impl Link {
    /// Lifted before the index was built.
    const NONE: Self = Self { row: u32::MAX, next: 0 };
}

/// A flow that has waited: first and last of its packets that are indexed, by their numbers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    /// [`NONE`]: no packet waits any more.
    first: u64,
    last: u64,
}

/// Rows of flows that no longer wait are kept up to this number.
const ROWS: usize = 1024;

/// The FIFO and the escape queue of one port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Liftable {
    /// Waiting packets, and the slots of packets that were lifted.
    ring: VecDeque<Entry>,
    /// Of those in the ring that are indexed, from its front on: `flows` and `rows` know them.
    links: VecDeque<Link>,
    /// The number of what is, or was, at the ring's front.
    front: u64,
    /// In the ring and not lifted.
    waiting: u32,
    /// From flow to row.
    flows: FlowTable,
    rows: Vec<Row>,
    /// The escape queue: each packet with the number of hops that it is to escape, including this one.
    lane: VecDeque<(Entry, u16)>,
    held: bool,
    served: Option<u16>,
}

impl Liftable {
    /// A packet of the flow waits in the queue; those in the lane do not count. [`Liftable::index`] goes before.
    #[inline]
    pub fn waits(&self, flow: FlowId) -> bool {
        debug_assert!(self.is_indexed());
        self.first(flow).is_some()
    }
    /// The queue knows the first packet of every flow until another one joins; `flow`: whose packet this is.
    #[inline]
    pub fn index(&mut self, flow: impl Fn(Handle) -> FlowId) {
        if self.links.is_empty() && self.rows.len() > ROWS {
            (self.flows, self.rows) = Default::default();
        }
        for at in self.links.len()..self.ring.len() {
            let handle = self.ring[at].handle;
            let row = if handle == Handle::NONE { None } else { Some(self.add(flow(handle), at)) };
            self.links.push_back(row.map_or(Link::NONE, |row| Link { row, next: 0 }));
        }
    }
    fn is_indexed(&self) -> bool {
        self.links.len() == self.ring.len() || self.waiting == 0
    }
    /// Packets in the queue.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }
    /// Those, first come first.
    pub fn in_order(&self) -> impl Iterator<Item = Handle> {
        self.ring.iter().map(|entry| entry.handle).filter(|handle| *handle != Handle::NONE)
    }
    /// Packets in the escape queue.
    pub fn lifted(&self) -> u32 {
        self.lane.len() as u32
    }
    /// Their bytes.
    pub fn lifted_bytes(&self) -> u64 {
        self.lane.iter().map(|(entry, _)| u64::from(entry.wire)).sum()
    }
    /// The first packet of the flow joins the end of the lane. [`Liftable::index`] goes before.
    pub fn lift(&mut self, flow: FlowId, hops: u16) -> Option<Handle> {
        debug_assert!(self.is_indexed());
        self.lift_at((self.first(flow)? - self.front) as usize, hops)
    }
    /// The number of the first packet of the flow that is indexed.
    #[inline]
    fn first(&self, flow: FlowId) -> Option<u64> {
        let row = self.flows.get(flow)?;
        Some(self.rows[row as usize].first).filter(|first| *first != NONE)
    }
    /// The first packet of the queue that `belongs` joins the end of the lane; with it no other packet of its
    /// flow may be left out.
    pub fn lift_first(&mut self, hops: u16, belongs: impl Fn(Handle) -> bool) -> Option<Handle> {
        let theirs = |entry: &Entry| entry.handle != Handle::NONE && belongs(entry.handle);
        self.lift_at(self.ring.iter().position(theirs)?, hops)
    }

    /// What is lifted is always the first of its flow.
    fn lift_at(&mut self, at: usize, hops: u16) -> Option<Handle> {
        let entry = std::mem::replace(self.ring.get_mut(at)?, LIFTED);
        self.waiting -= 1;
        if let Some(link) = self.links.get(at) {
            self.pass(self.front + at as u64, *link);
        }
        self.lane.push_back((entry, hops));
        while self.ring.front().is_some_and(|entry| entry.handle == Handle::NONE) {
            self.ring.pop_front();
            self.links.pop_front();
            self.front += 1;
        }
        Some(entry.handle)
    }

    /// The first packet of the queue, paused or not, waits no longer.
    #[inline]
    pub fn take_first(&mut self) -> Option<Entry> {
        loop {
            let entry = self.ring.pop_front()?;
            let (number, link) = (self.front, self.links.pop_front());
            self.front += 1;
            if entry.handle != Handle::NONE {
                self.waiting -= 1;
                if let Some(link) = link {
                    self.pass(number, link);
                }
                return Some(entry);
            }
        }
    }

    /// The first packet of the lane waits no longer.
    pub fn take_lifted(&mut self) -> Option<Entry> {
        self.lane.pop_front().map(|(entry, _)| entry)
    }

    /// A packet in the ring, behind all that are indexed, is the last of its flow: which row that has.
    #[inline]
    fn add(&mut self, flow: FlowId, at: usize) -> u32 {
        let number = self.front + at as u64;
        let Some(row) = self.flows.get(flow) else {
            let row = self.rows.len() as u32;
            self.rows.push(Row { first: number, last: number });
            self.flows.insert(flow, row);
            return row;
        };
        let theirs = &mut self.rows[row as usize];
        let before = std::mem::replace(&mut theirs.last, number);
        if theirs.first == NONE {
            theirs.first = number;
        } else {
            self.links[(before - self.front) as usize].next = (number - before) as u32;
        }
        row
    }

    /// The first of its flow leaves.
    #[inline]
    fn pass(&mut self, number: u64, Link { row, next }: Link) {
        let theirs = &mut self.rows[row as usize];
        debug_assert_eq!(theirs.first, number, "the first of its flow");
        theirs.first = if next == 0 { NONE } else { number + u64::from(next) };
    }
}

impl Order for Liftable {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    /// Except for packets that escape.
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn note_bypass(&mut self, _input: u8) {
        self.served = None;
    }

    #[inline]
    fn push(&mut self, _: Time, packet: &Packet, handle: Handle) {
        let entry = Entry::new(packet, handle);
        let hops = packet.hop.escape_hops();
        if hops > 0 {
            return self.lane.push_back((entry, hops));
        }
        self.ring.push_back(entry);
        self.waiting += 1;
    }

    /// Not inlined: few networks have it.
    #[inline(never)]
    fn pop(&mut self, _: Time) -> Option<Entry> {
        if let Some((entry, hops)) = self.lane.pop_front() {
            self.served = Some(hops);
            return Some(entry);
        }
        self.served = None;
        if self.held { None } else { self.take_first() }
    }

    fn push_out(&mut self, _: Handle) -> Option<Entry> {
        self.take_first()
    }
    fn upcoming(&self) -> Option<Handle> {
        self.ring.front().map(|entry| entry.handle).filter(|handle| *handle != Handle::NONE)
    }
    #[inline]
    fn header(&self) -> u32 {
        if self.served.is_some_and(|hops| hops > 1) { HEADER } else { 0 }
    }
    fn pausable(&self) -> Option<&dyn Pausable> {
        Some(self)
    }
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        Some(self)
    }
}

impl Pausable for Liftable {
    /// One: the escape queue cannot be paused.
    fn queues(&self) -> u16 {
        1
    }
    fn pause(&mut self, _: u16, paused: bool) {
        self.held = paused;
    }
    fn is_held(&self) -> bool {
        self.held && self.lane.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::HopTag;

    fn packet(flow: u32, hops: u16) -> Packet {
        Packet { flow: FlowId(flow), hop: HopTag::escaping(hops), wire: 1000, ..Packet::default() }
    }
    /// Packet n is of the nth of these flows.
    fn with(flows: &[u32]) -> Liftable {
        let mut q = Liftable::default();
        (0..).zip(flows).for_each(|(n, flow)| q.push(Time::ZERO, &packet(*flow, 0), Handle(n)));
        q.index(|handle| FlowId(flows[handle.0 as usize]));
        q
    }
    fn leave(q: &mut Liftable) -> Vec<u32> {
        std::iter::from_fn(|| q.pop(Time::ZERO)).map(|entry| entry.handle.0).collect()
    }

    #[test]
    fn the_first_packet_of_a_flow_is_lifted_out_of_the_middle_and_leaves_although_the_queue_is_paused() {
        let mut q = with(&[1, 2, 1, 2, 3]);
        q.pause(0, true);
        assert!(q.is_held());
        assert_eq!([q.lift(FlowId(2), 3), q.lift(FlowId(3), 1)], [Some(Handle(1)), Some(Handle(4))]);
        assert_eq!((q.lift(FlowId(3), 1), q.waiting(), q.lifted(), q.is_held()), (None, 3, 2, false));
        assert_eq!(q.pop(Time::ZERO).map(|e| e.handle), Some(Handle(1)));
        assert_eq!((q.served, q.header()), (Some(3), HEADER));
        assert_eq!(q.pop(Time::ZERO).map(|e| e.handle), Some(Handle(4)));
        assert_eq!((q.served, q.header(), q.pop(Time::ZERO).is_none()), (Some(1), 0, true));
        q.pause(0, false);
        assert_eq!((leave(&mut q), q.served), (vec![0, 2, 3], None));
    }

    #[test]
    fn what_escapes_joins_the_lane_and_waits_for_no_pause() {
        let mut q = with(&[1]);
        q.pause(0, true);
        q.push(Time::ZERO, &packet(1, 2), Handle(7));
        q.index(|_| unreachable!("all are known"));
        assert!(q.waits(FlowId(1)));
        assert_eq!(leave(&mut q), [7]);
    }

    /// Against a list that is searched.
    #[test]
    fn lifting_does_what_a_search_from_the_head_would() {
        let mut draw = thalweg_units::Stream::new(3, "liftable", 0);
        let (mut q, mut list, mut flows) = (Liftable::default(), Vec::<(u32, u32)>::new(), Vec::new());
        for step in 0..20_000 {
            // More in all than rows are kept for.
            let flow = draw.below(if step < 10_000 { 6 } else { 3000 }) as u32;
            match draw.below(5) {
                0 | 1 => {
                    let handle = flows.len() as u32;
                    q.push(Time::ZERO, &packet(flow, 0), Handle(handle));
                    list.push((flow, handle));
                    flows.push(flow);
                }
                2 => {
                    let found = list.iter().position(|(f, _)| *f == flow);
                    let expected = found.map(|at| Handle(list.remove(at).1));
                    q.index(|handle| FlowId(flows[handle.0 as usize]));
                    assert_eq!(q.lift(FlowId(flow), 1), expected);
                    assert_eq!(
                        q.pop(Time::ZERO).map(|e| e.handle).filter(|_| expected.is_some()),
                        expected.filter(|_| q.served == Some(1))
                    );
                    if expected.is_none() {
                        // The head has left instead.
                        (!list.is_empty()).then(|| list.remove(0));
                    }
                }
                3 => {
                    let expected = (!list.is_empty()).then(|| Handle(list.remove(0).1));
                    assert_eq!(q.pop(Time::ZERO).map(|e| e.handle), expected);
                }
                _ => {
                    q.index(|handle| FlowId(flows[handle.0 as usize]));
                    assert_eq!(q.waits(FlowId(flow)), list.iter().any(|(f, _)| *f == flow));
                }
            }
            assert_eq!(q.waiting() as usize, list.len());
        }
    }
}
