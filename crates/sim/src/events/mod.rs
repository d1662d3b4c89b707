//! Pending events: plain data in a total order.
//!
//! An event is an instant and a [`Tag`]. Events are ordered by (instant, phase, rank of the entity), nothing else:
//! the order does not depend on when they were inserted, so a run that is cut into partitions has the same order.
//! Ranks among entities of one instant and phase are drawn, or are the entities' numbers ([`Ties`]). Every entity
//! has at most one live event of a kind, which makes the order total.

mod calendar;
mod heap;
mod order;
mod ties;

pub use calendar::Calendar;
pub use heap::Heap;
pub use ties::{Draw, Ties};

use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// The kind of an event. At one instant the phases take place in this order (the order of declaration):
/// transmissions end, packets land, flows start, timers fire, control planes tick, idle ports decide, probes take
/// samples.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Phase {
    /// A transmission that may be interrupted ends. Entity: port.
    Finish,
    /// A replay's next packet enters the network. Entity: 0.
    Inject,
    /// The packet at the head of a port's flight reaches the far end. Entity: port.
    Arrive,
    /// A flow starts, or a computation is ready or over. Entity: a flow; computations are numbered on from the last
    /// flow.
    Start,
    /// A sender's timer expires. Entity: flow.
    SenderTimer,
    /// A receiver's timer expires. Entity: flow.
    ReceiverTimer,
    /// A queue discipline's control plane runs, or a reminder wakes a port. Entity: port.
    Tick,
    /// An idle port decides what to send. Entity: port.
    Decide,
    /// A probe takes its sample. Entity: probe.
    Sample,
    /// A link fails or is restored, or routes have converged. Entity: twice the incident, and one more for the
    /// latter.
    Incident,
    /// An endless flow stops. Entity: flow.
    Stop,
    /// A pause expires, or is to be refreshed. Entity: twice the port, and one more for the latter.
    Quanta,
    /// A host agent's timer expires. Entity: agent.
    Agent,
    /// A congestion point's clock ticks. Entity: port.
    Point,
    /// The clock of a switch's relief ticks. Entity: switch.
    Relief,
    /// A delayed departure notice reaches its switch. Entity: the port that was left.
    DepartureNotice,
}

impl Phase {
    const ALL: [Phase; 16] = [
        Phase::Finish,
        Phase::Inject,
        Phase::Arrive,
        Phase::Start,
        Phase::SenderTimer,
        Phase::ReceiverTimer,
        Phase::Tick,
        Phase::Decide,
        Phase::Sample,
        Phase::Incident,
        Phase::Stop,
        Phase::Quanta,
        Phase::Agent,
        Phase::Point,
        Phase::Relief,
        Phase::DepartureNotice,
    ];
}

/// Phase and entity in one word that sorts as they do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tag(u64);

impl Tag {
    /// The event of `phase` that belongs to `entity`.
    #[inline(always)]
    pub const fn new(phase: Phase, entity: u32) -> Self {
        Self((phase as u64) << 32 | entity as u64)
    }
    /// The kind of the event.
    #[inline(always)]
    pub fn phase(self) -> Phase {
        Phase::ALL[(self.0 >> 32) as usize]
    }
    /// Whether the event is of this phase: cheaper than computing its phase.
    #[inline(always)]
    pub const fn is(self, phase: Phase) -> bool {
        self.0 >> 32 == phase as u64
    }
    /// The entity that the event belongs to.
    #[inline(always)]
    pub const fn entity(self) -> u32 {
        self.0 as u32
    }
    /// Phase and entity as a number.
    #[inline(always)]
    pub const fn word(self) -> u64 {
        self.0
    }
}

/// A pending event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: Time,
    /// Which kind of event, and for which entity.
    pub tag: Tag,
}

impl Event {
    /// Instant and tag as one number, which is compared without a branch.
    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.at.ps()) << 64 | u128::from(self.tag.0)
    }

    /// Whether both have the same instant and phase.
    #[inline(always)]
    pub fn ties_with(&self, other: &Self) -> bool {
        (self.key() ^ other.key()) >> 32 == 0
    }

    /// Whether this event precedes the other, given the order among events of one instant and phase.
    #[inline]
    pub fn precedes(&self, other: &Self, ties: Ties) -> bool {
        if self.ties_with(other) {
            ties.draw(self.at, self.tag.phase()).precedes(self.tag.entity(), other.tag.entity())
        } else {
            self < other
        }
    }
}

impl Ord for Event {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Event {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
    #[inline(always)]
    fn le(&self, other: &Self) -> bool {
        self.key() <= other.key()
    }
}

/// A queue of events, smallest first.
pub trait Events {
    /// An empty queue for about `pending` events within `horizon` picoseconds of each other, and the order among
    /// events of one instant and phase.
    fn sized(pending: usize, horizon: u64, ties: Ties) -> Self;
    /// The order among events of one instant and phase.
    fn ties(&self) -> Ties;
    /// Inserts an event that is not earlier than the last one popped.
    fn push(&mut self, event: Event);
    /// Takes the smallest event.
    fn pop(&mut self) -> Option<Event>;
    /// Takes the smallest event if it is earlier than `end`. If it is not, events from `end` on may still be pushed
    /// at the usual cost.
    fn pop_before(&mut self, end: Time) -> Option<Event> {
        if self.first()?.at < end { self.pop() } else { None }
    }
    /// The smallest event.
    fn first(&self) -> Option<Event> {
        let ties = self.ties();
        self.sorted().into_iter().reduce(|a, b| if b.precedes(&a, ties) { b } else { a })
    }
    /// True if nothing is pending before the event `tag` of the instant `now`, at which the last event was popped.
    fn next_is_after(&self, now: Time, tag: Tag) -> bool;
    /// True if the next event is of the same instant and phase as `event`, the last one popped.
    fn ties_with_next(&self, event: Event) -> bool;
    /// The entity of the next event, or any: a hint for prefetching.
    fn next_entity(&self) -> u32 {
        0
    }
    /// The tag of the event that is probably `ahead` events from now: a hint for prefetching.
    fn upcoming(&self, _ahead: usize) -> Option<Tag> {
        None
    }
    /// True once after each step of the queue's own clock (hints for prefetching are then due).
    fn bucket_advanced(&mut self) -> bool {
        false
    }
    /// The events behind those that `upcoming` covers, unordered, as far as they are cheap to find.
    fn next_bucket(&self) -> impl Iterator<Item = Tag> {
        std::iter::empty()
    }
    /// All pending events, by instant, phase and entity.
    fn sorted(&self) -> Vec<Event>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_units::{Span, Stream};

    fn event(at: u64, phase: Phase, entity: u32) -> Event {
        Event { at: Time::from_ps(at), tag: Tag::new(phase, entity) }
    }

    #[test]
    fn at_one_instant_packets_land_before_ports_decide() {
        let mut calendar = Calendar::sized(4, 1000, Ties::ByNumber);
        calendar.push(event(5, Phase::Decide, 0));
        calendar.push(event(5, Phase::Arrive, 9));
        calendar.push(event(5, Phase::Arrive, 2));
        let order: Vec<_> =
            std::iter::from_fn(|| calendar.pop()).map(|e| (e.tag.phase(), e.tag.entity())).collect();
        assert_eq!(order, [(Phase::Arrive, 2), (Phase::Arrive, 9), (Phase::Decide, 0)]);
    }

    #[test]
    fn a_run_that_stopped_before_an_event_may_still_schedule_earlier_ones() {
        let mut calendar = Calendar::sized(300, 1 << 20, Ties::ByNumber);
        let later = event(900_000, Phase::Arrive, 1);
        calendar.push(later);
        assert_eq!(calendar.pop(), Some(later));
        calendar.push(later); // beyond the end of the run
        let earlier = event(100_000, Phase::Arrive, 2);
        calendar.push(earlier);
        assert_eq!(calendar.sorted(), [earlier, later]);
        assert_eq!([calendar.pop(), calendar.pop(), calendar.pop()], [Some(earlier), Some(later), None]);
    }

    /// Pops from `Q` while pushing follow-ups, as a simulation does; returns the order.
    fn drive<Q: Events>(
        (seed, ties): (u64, Ties),
        pending: usize,
        bits: u32,
        squeeze: u32,
        steps: usize,
    ) -> Vec<Event> {
        let mut draw = Stream::new(seed, "events", 0);
        let mut queue = Q::sized(pending, 1 << bits, ties);
        // Pending events may be much nearer than the queue expects.
        let horizon = 1 << bits.saturating_sub(squeeze);
        for entity in 0..pending as u32 {
            queue.push(event(draw.below(horizon), Phase::Arrive, entity));
        }
        let mut order = Vec::new();
        let mut end = Time::ZERO;
        loop {
            let first = queue.first();
            let Some(e) = queue.pop_before(end) else {
                // A window is over: what comes in begins with the next one.
                assert!(first.is_none_or(|first| first.at >= end));
                let Some(first) = first else { break };
                end = first.at + Span::from_ps(1 + draw.below(horizon));
                if draw.below(3) == 0 {
                    let at = Time::from_ps(end.ps() + draw.below(horizon));
                    queue.push(Event { at, tag: Tag::new(Phase::Arrive, (pending + order.len()) as u32) });
                }
                continue;
            };
            assert_eq!(Some(e), first);
            order.push(e);
            if order.len() >= steps {
                assert!(queue.sorted().windows(2).all(|w| w[0] <= w[1]));
                break;
            }
            // Mostly near, sometimes at once, sometimes far beyond the horizon.
            let gap = match draw.below(10) {
                0 => 0,
                1 => horizon * (1 + draw.below(50)),
                _ => draw.below(horizon),
            };
            let phase = if draw.below(2) == 0 { Phase::Arrive } else { Phase::Decide };
            if gap > 0 || phase > e.tag.phase() {
                queue
                    .push(Event { at: Time::from_ps(e.at.ps() + gap), tag: Tag::new(phase, e.tag.entity()) });
            }
        }
        order
    }

    proptest! {
        #[test]
        fn the_calendar_pops_exactly_what_the_heap_pops(
            seed: u64, pending in 1usize..300, bits in 1u32..34, squeeze in 0u32..16, drawn: bool,
        ) {
            let ties = if drawn { Ties::Drawn { seed } } else { Ties::ByNumber };
            let calendar = drive::<Calendar>((seed, ties), pending, bits, squeeze, 3000);
            prop_assert!(calendar.windows(2).all(|w| w[0].precedes(&w[1], ties)));
            prop_assert_eq!(calendar, drive::<Heap>((seed, ties), pending, bits, squeeze, 3000));
        }
    }
}
