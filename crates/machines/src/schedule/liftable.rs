//! First come, first served, with a lane beside it that no pause holds, into which single packets can be lifted out of the middle of what
//! waits: the queue of a port under [`crate::relief`].
//!
//! What arrives with an escape header ([`Packet::tag`] above zero) joins the lane. Lifting the first packet of a flow, joining and leaving
//! take constant time (amortised: places that lifted packets have left are passed over once). Which packet is the first of its flow is
//! known of those that wait when somebody asks ([`Liftable::index`]): what comes and goes meanwhile passes a plain queue.

use super::flow_table::FlowTable;
use super::{At, Entry, Order, Parameters};
use crate::packet::{Handle, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};

/// Bytes of the header of an escaping packet: hops that it still escapes (Menikkumbura, Purdue 2022, §4.3.2).
pub const HEADER: u32 = 2;

/// First come, first served, with a lane that no pause holds: what `switch.relief` makes of `fifo` (Menikkumbura, Purdue 2022, §4.5).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Liftable;

    fn make(&self, _: &At) -> Result<Liftable, String> {
        Ok(Liftable::default())
    }
}

/// Nobody comes behind in the same flow.
const NOBODY: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    /// `None`: it was lifted.
    entry: Option<Entry>,
    /// Of those indexed: their flow's place in the rows.
    row: u32,
    /// Of those indexed: the number of the next of the flow, or [`NOBODY`].
    behind: u64,
}

/// A flow that has waited: first and last of its packets that are indexed, by their numbers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    /// [`NOBODY`]: none waits any more.
    first: u64,
    last: u64,
}

/// So many flows may have rows that no longer wait once nothing does that is indexed.
const ROWS: usize = 1024;

/// Queue and lane of one port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Liftable {
    ring: VecDeque<Place>,
    /// The number of what is, or was, at the ring's front.
    front: u64,
    /// In the ring and not lifted.
    waiting: u32,
    /// `flows` and `rows` know what has a number below this.
    indexed: u64,
    /// From flow to row.
    flows: FlowTable,
    rows: Vec<Row>,
    /// With the hops that each is to escape, this one included.
    lane: VecDeque<(Entry, u16)>,
    held: bool,
    served: Option<u16>,
}

impl Liftable {
    /// A packet of the flow waits in the queue; those in the lane do not count. [`Liftable::index`] goes before.
    #[inline]
    pub fn waits(&self, flow: FlowId) -> bool {
        debug_assert!(self.indexed == self.end() || self.waiting == 0);
        self.first(flow).is_some()
    }
    /// The queue knows the first packet of every flow until another one joins; `flow`: whose packet this is.
    #[inline]
    pub fn index(&mut self, flow: impl Fn(Handle) -> FlowId) {
        let end = self.end();
        if self.indexed <= self.front && self.rows.len() > ROWS {
            (self.flows, self.rows) = Default::default();
        }
        for number in self.indexed.max(self.front)..end {
            if let Some(entry) = self.ring[(number - self.front) as usize].entry {
                self.add(flow(entry.handle), number);
            }
        }
        self.indexed = end;
    }
    /// The number that the next to join will have.
    #[inline]
    fn end(&self) -> u64 {
        self.front + self.ring.len() as u64
    }
    /// Packets in the queue.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }
    /// Those, first come first.
    pub fn in_order(&self) -> impl Iterator<Item = Handle> {
        self.ring.iter().filter_map(|place| Some(place.entry?.handle))
    }
    /// Packets in the lane.
    pub fn lifted(&self) -> u32 {
        self.lane.len() as u32
    }
    /// Their bytes.
    pub fn lifted_bytes(&self) -> u64 {
        self.lane.iter().map(|(entry, _)| u64::from(entry.wire)).sum()
    }
    /// The first packet of the flow joins the end of the lane. [`Liftable::index`] goes before.
    pub fn lift(&mut self, flow: FlowId, hops: u16) -> Option<Handle> {
        debug_assert!(self.indexed == self.end() || self.waiting == 0);
        self.lift_number(self.first(flow)?, hops)
    }
    /// The number of the first packet of the flow that is indexed.
    #[inline]
    fn first(&self, flow: FlowId) -> Option<u64> {
        let row = self.flows.get(flow)?;
        Some(self.rows[row as usize].first).filter(|first| *first != NOBODY)
    }
    /// The first packet of the queue that `belongs` joins the end of the lane; with it no other packet of its flow may be left out.
    pub fn lift_first(&mut self, hops: u16, belongs: impl Fn(Handle) -> bool) -> Option<Handle> {
        let theirs = |place: &Place| place.entry.is_some_and(|entry| belongs(entry.handle));
        let at = self.ring.iter().position(theirs)?;
        self.lift_number(self.front + at as u64, hops)
    }

    /// What is lifted is always the first of its flow.
    fn lift_number(&mut self, number: u64, hops: u16) -> Option<Handle> {
        let place = self.ring.get_mut((number - self.front) as usize)?;
        let entry = place.entry.take()?;
        let Place { row, behind, .. } = *place;
        self.left(number, row, behind);
        self.lane.push_back((entry, hops));
        while self.ring.front().is_some_and(|place| place.entry.is_none()) {
            self.ring.pop_front();
            self.front += 1;
        }
        Some(entry.handle)
    }

    /// The first packet of the queue, paused or not, waits no longer.
    #[inline]
    pub fn take_first(&mut self) -> Option<Entry> {
        loop {
            let Place { entry, row, behind } = self.ring.pop_front()?;
            let number = self.front;
            self.front += 1;
            if let Some(entry) = entry {
                self.left(number, row, behind);
                return Some(entry);
            }
        }
    }

    /// The first packet of the lane waits no longer.
    pub fn take_lifted(&mut self) -> Option<Entry> {
        self.lane.pop_front().map(|(entry, _)| entry)
    }

    /// A packet waits in the queue no longer.
    #[inline]
    fn left(&mut self, number: u64, row: u32, behind: u64) {
        self.waiting -= 1;
        if number < self.indexed {
            self.pass(number, row, behind);
        }
    }

    /// A packet is the last of its flow.
    fn add(&mut self, flow: FlowId, number: u64) {
        let at = (number - self.front) as usize;
        let Some(row) = self.flows.get(flow) else {
            let row = self.rows.len() as u32;
            self.ring[at].row = row;
            self.rows.push(Row { first: number, last: number });
            return self.flows.insert(flow, row);
        };
        self.ring[at].row = row;
        let theirs = &mut self.rows[row as usize];
        let before = std::mem::replace(&mut theirs.last, number);
        if theirs.first == NOBODY {
            theirs.first = number;
        } else {
            self.ring[(before - self.front) as usize].behind = number;
        }
    }

    /// The first of its flow leaves; `behind` it comes the next.
    fn pass(&mut self, number: u64, row: u32, behind: u64) {
        let theirs = &mut self.rows[row as usize];
        debug_assert_eq!(theirs.first, number, "the first of its flow");
        theirs.first = behind;
    }
}

impl Order for Liftable {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    /// Unless it escapes.
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
        if packet.tag > 0 {
            return self.lane.push_back((entry, packet.tag));
        }
        self.ring.push_back(Place { entry: Some(entry), row: u32::MAX, behind: NOBODY });
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
    #[inline]
    fn header(&self) -> u32 {
        if self.served.is_some_and(|hops| hops > 1) { HEADER } else { 0 }
    }
    /// One: the lane has no number.
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

    fn packet(flow: u32, tag: u16) -> Packet {
        Packet { flow: FlowId(flow), tag, wire: 1000, ..Packet::default() }
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
