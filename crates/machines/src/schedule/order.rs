//! The contract of orders of service, and of queues as whoever runs ports sees them.

use super::Discipline;
use crate::crossbar::Ends;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thalweg_units::{FlowId, Span, Time};
use thalweg_wire::{Ecn, Handle, Packet, QueueSet};

/// A waiting packet, as far as a queue must know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Which.
    pub handle: Handle,
    /// Bytes on the wire.
    pub wire: u32,
    /// Its [`Packet::route`]: with it, whoever sends the packet on need not look at it.
    pub route: u32,
    /// Its ECN bits: as it came, and once it is served as it leaves.
    pub ecn: Ecn,
    /// See [`Packet::is_control`].
    pub control: bool,
}

impl Entry {
    /// What is kept of `packet`.
    #[inline]
    pub fn new(packet: &Packet, handle: Handle) -> Self {
        let Packet { wire, route, ecn, .. } = *packet;
        Self { handle, wire, route, ecn, control: packet.is_control() }
    }
}

/// An order of service: which packet next, and which one to give up. Knows no limit.
///
/// ```
/// use thalweg_machines::schedule::{Entry, Order};
/// use thalweg_units::Time;
/// use thalweg_wire::{Handle, Packet};
///
/// /// Last come, first served; what comes to a full buffer is dropped.
/// struct Stack(Vec<Entry>);
///
/// impl Order for Stack {
///     fn pushes_out(&self) -> bool {
///         false
///     }
///     fn push(&mut self, _: Time, packet: &Packet, handle: Handle) {
///         self.0.push(Entry::new(packet, handle));
///     }
///     fn pop(&mut self, _: Time) -> Option<Entry> {
///         self.0.pop()
///     }
///     fn push_out(&mut self, _: Handle) -> Option<Entry> {
///         self.0.pop()
///     }
/// }
///
/// let mut order = Stack(Vec::new());
/// order.push(Time::ZERO, &Packet::default(), Handle(1));
/// order.push(Time::ZERO, &Packet::default(), Handle(2));
/// assert_eq!(order.pop(Time::ZERO).map(|entry| entry.handle), Some(Handle(2)));
/// ```
pub trait Order {
    /// On overflow the arriving packet joins and [`Order::push_out`] chooses; otherwise the arriving one is dropped.
    fn pushes_out(&self) -> bool;
    /// A packet that joins when nothing waits and leaves before another comes changes nothing but what
    /// [`Order::note_bypass`] notes.
    fn is_transparent(&self) -> bool {
        false
    }
    /// Such a packet, come by `input` of its switch, did not join.
    #[inline]
    fn note_bypass(&mut self, _input: u8) {}
    /// See [`OutputQueue::inputs`].
    fn inputs(&self) -> Ends {
        Ends::default()
    }
    /// See [`OutputQueue::turn_to`].
    fn turn_to(&mut self, _input: u8) {}
    /// A control packet would leave before everything that waits and whatever may come, would not be given up while
    /// anything else could be, and its leaving would change nothing.
    #[inline]
    fn puts_control_first(&self) -> bool {
        false
    }
    /// There is no room for this packet, whatever the port's limit: it is dropped.
    #[inline]
    fn refuses(&self, _packet: &Packet) -> bool {
        false
    }
    /// See [`Discipline::header`].
    #[inline]
    fn header(&self) -> u32 {
        0
    }
    /// See [`Discipline::held_until`].
    #[inline]
    fn held_until(&self) -> Option<Time> {
        None
    }
    /// No further packet can be numbered.
    fn is_full(&self) -> bool {
        false
    }
    /// A packet joins.
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle);
    /// The next to leave. `None`: nothing waits, or all of it is held back ([`Order::is_held`]).
    fn pop(&mut self, now: Time) -> Option<Entry>;
    /// The first to be given up, perhaps the one `arriving`, which has joined; `None` if nothing waits.
    fn push_out(&mut self, arriving: Handle) -> Option<Entry>;
    /// Takes out those that `belong`; each is shown to `left`. See [`Discipline::withdraw`].
    fn withdraw(&mut self, _belongs: &mut dyn FnMut(Handle) -> bool, _left: &mut dyn FnMut(Entry)) {}
    /// Queues that can be paused one by one, numbered from 0; 0: the port can only be paused as a whole.
    fn queues(&self) -> u16 {
        0
    }
    /// Pauses a queue, or lets it go on: what is in it stays, what comes may join.
    fn pause(&mut self, _queue: u16, _paused: bool) {}
    /// Pauses these queues, and lets all others go on.
    fn pause_only(&mut self, queues: &QueueSet) {
        (0..self.queues()).for_each(|queue| self.pause(queue, queues.has(queue)));
    }
    /// The queues that these flows wait in are paused, and no others of a flow's: as long as they wait there.
    fn pause_flows(&mut self, _flows: &BTreeSet<FlowId>) {}
    /// The packet that joined last made its queue too long: whoever passed it on should pause the queue it came from.
    #[inline]
    fn is_overfull(&self) -> bool {
        false
    }
    /// The queue that the last packet to leave was in.
    #[inline]
    fn served_queue(&self) -> u16 {
        0
    }
    /// See [`Discipline::committed`].
    fn committed(&self, _nth: usize) -> Option<Handle> {
        None
    }
    /// See [`Discipline::late`].
    fn late(&self) -> Span {
        Span::ZERO
    }
    /// Shows every waiting packet that is no control packet; how many of its queues hold any. `None`: the
    /// order does not tell.
    fn waiting(&self, _see: &mut dyn FnMut(Handle)) -> Option<u32> {
        None
    }
    /// If anything waits, none of it may leave now: every queue that holds any is paused.
    fn is_held(&self) -> bool {
        false
    }
    /// Packets that the last [`Order::pop`] or [`Order::push_out`] gave up besides (CoDel inside the order;
    /// several at once), one per call.
    #[inline]
    fn take_dropped(&mut self) -> Option<Entry> {
        None
    }
    /// The packet of the last [`Order::pop`] leaves with other ECN bits than it came with (CoDel inside the order).
    #[inline]
    fn has_marked(&self) -> bool {
        false
    }
    /// See [`Discipline::preempt`]: what is taken back waits again.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        None
    }
    /// Which packet would probably be next: a hint for prefetching.
    fn upcoming(&self) -> Option<Handle> {
        None
    }
    /// What [`Order::pop`] would return, of orders that know it before they choose: first come, first served.
    fn head(&self) -> Option<Handle> {
        None
    }
    /// See [`Discipline::wake`].
    fn wake(&self) -> Option<Time> {
        None
    }
    /// See [`Discipline::on_tick`].
    fn on_tick(&mut self, _now: Time) {}
}

/// A port's queue, with the short cuts around it that whoever runs it may take.
pub trait OutputQueue: Discipline {
    /// As [`Discipline::dequeue`]: what leaves, and whether its ECN bits have changed. Most queues remember
    /// what is to be known of the packet; for the others, `look` looks.
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)>;

    /// Which packet would probably be next: a hint for prefetching.
    #[inline]
    fn upcoming(&self) -> Option<Handle> {
        None
    }

    /// See [`Order::head`].
    fn head(&self) -> Option<Handle> {
        None
    }

    /// A packet of at most so many bytes that finds nothing waiting and leaves before another comes changes
    /// nothing here but what [`OutputQueue::note_bypass`] notes, and leaves unmarked: then it need not come
    /// in. If another does come, it may still join, as of its own arrival, and is then admitted unmarked. 0:
    /// all must come in.
    fn bypass_limit(&self) -> u64 {
        0
    }

    /// True if a control packet of `wire` bytes, for which there is room, would leave before everything that
    /// waits and whatever may come, and change nothing but the count: then it need not come in, and is
    /// counted until [`OutputQueue::cancel_reserve`].
    #[inline]
    fn reserve(&mut self, _wire: u32) -> bool {
        false
    }

    /// A packet of `wire` bytes that was reserved for has left.
    #[inline]
    fn cancel_reserve(&mut self, _wire: u32) {}

    /// A packet that came by `input` of the switch has bypassed the queue.
    #[inline]
    fn note_bypass(&mut self, _input: u8) {}

    /// Where inputs are served in turn: those of the switch that have a packet waiting here.
    fn inputs(&self) -> Ends {
        Ends::default()
    }

    /// It is the turn of `input`, which has a packet waiting.
    fn turn_to(&mut self, _input: u8) {}
}
