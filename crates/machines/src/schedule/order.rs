//! The contract of orders of service, and of queues as the drivers of ports see them.

use super::capabilities::{ByInput, HopByHop, Pausable, Pipeline, Preemptible, Searchable};
use super::{Discipline, Entry};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

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
    /// A control packet would leave before everything that waits and whatever may come, would not be given up while
    /// anything else could be, and its leaving would change nothing.
    #[inline]
    fn puts_control_first(&self) -> bool {
        false
    }
    /// There is no room for this packet, whatever the port's limit (it could not be numbered, its own queue is full):
    /// it is dropped.
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
    /// A packet joins.
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle);
    /// The next to leave. `None`: nothing waits, or all of it is held back ([`Pausable::is_held`]).
    fn pop(&mut self, now: Time) -> Option<Entry>;
    /// The first to be given up, perhaps the one `arriving`, which has joined; `None` if nothing waits.
    fn push_out(&mut self, arriving: Handle) -> Option<Entry>;
    /// Shows every waiting packet that is no control packet, and returns how many of its queues hold any.
    /// `None`: the order does not report this.
    fn waiting(&self, _see: &mut dyn FnMut(Handle)) -> Option<u32> {
        None
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
    /// See [`Discipline::on_idle`].
    fn on_idle(&mut self, _at: Time) {}

    // What it can do besides.

    /// Its queues, if they can be paused one by one.
    fn pausable(&self) -> Option<&dyn Pausable> {
        None
    }
    /// Likewise, to pause them.
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        None
    }
    /// Its queues, if the hop before is to pause one that grows too long.
    fn hop_by_hop(&self) -> Option<&dyn HopByHop> {
        None
    }
    /// What stands between its queues and the wire.
    fn pipeline(&self) -> Option<&dyn Pipeline> {
        None
    }
    /// Itself, if a transmission may give way to another packet.
    fn preemptible(&mut self) -> Option<&mut dyn Preemptible> {
        None
    }
    /// Itself, if packets can be taken out of its middle.
    fn searchable(&mut self) -> Option<&mut dyn Searchable> {
        None
    }
    /// Itself, if it serves inputs in turn.
    fn by_input(&self) -> Option<&dyn ByInput> {
        None
    }
    /// Likewise, to set whose turn it is.
    fn by_input_mut(&mut self) -> Option<&mut dyn ByInput> {
        None
    }
}

/// A port's queue, with the short cuts around it that its driver may take.
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

    /// Its queues by input of the switch, if those are served in turn.
    fn by_input(&self) -> Option<&dyn ByInput> {
        None
    }
    /// Likewise, to set whose turn it is.
    fn by_input_mut(&mut self) -> Option<&mut dyn ByInput> {
        None
    }
}
