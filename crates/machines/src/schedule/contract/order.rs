//! The contracts of orders of service ([`Order`]), and of queues as a port's driver sees them ([`OutputQueue`]).

use crate::schedule::contract::capabilities::{
    ByInput, HopByHop, Pausable, Pipeline, Preemptible, Searchable,
};
use crate::schedule::{Discipline, Entry};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// An order of service: which packet leaves next, and which one is dropped. It has no limit of its own.
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
    /// True if a packet may bypass an empty queue without changing the order's state, except through
    /// [`Order::note_bypass`].
    fn is_transparent(&self) -> bool {
        false
    }
    /// A packet that came by `input` of the switch has bypassed the empty queue.
    #[inline]
    fn note_bypass(&mut self, _input: u8) {}
    /// True if control packets always leave first, are never pushed out before others, and do not change the order's
    /// state when they leave.
    #[inline]
    fn puts_control_first(&self) -> bool {
        false
    }
    /// The packet must be dropped whatever the port's limit is (it could not be numbered, or its own queue is full).
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
    /// Takes out the next packet. `None`: nothing waits, or everything is held back ([`Pausable::is_held`]).
    fn pop(&mut self, now: Time) -> Option<Entry>;
    /// Takes out the packet to drop on overflow, perhaps the one `arriving`, which has joined; `None` if nothing waits.
    fn push_out(&mut self, arriving: Handle) -> Option<Entry>;
    /// Passes every waiting packet except control packets to `see`, and returns how many queues hold any. `None`: the
    /// order does not report this.
    fn waiting(&self, _see: &mut dyn FnMut(Handle)) -> Option<u32> {
        None
    }
    /// Further packets that the last [`Order::pop`] or [`Order::push_out`] dropped (such as by CoDel inside the order),
    /// one per call.
    #[inline]
    fn take_dropped(&mut self) -> Option<Entry> {
        None
    }
    /// Whether the packet of the last [`Order::pop`] was marked by the order itself (such as by CoDel inside it).
    #[inline]
    fn has_marked(&self) -> bool {
        false
    }
    /// The packet that will probably be next: a hint for prefetching.
    fn upcoming(&self) -> Option<Handle> {
        None
    }
    /// The packet that [`Order::pop`] would return, for orders that know it in advance (FIFO).
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

    // Optional capabilities.

    /// Its queues, if they can be paused one by one.
    fn pausable(&self) -> Option<&dyn Pausable> {
        None
    }
    /// Likewise, to pause them.
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        None
    }
    /// Its queues, if the upstream hop is to pause one that grows too long.
    fn hop_by_hop(&self) -> Option<&dyn HopByHop> {
        None
    }
    /// The pipeline between its queues and the wire.
    fn pipeline(&self) -> Option<&dyn Pipeline> {
        None
    }
    /// Itself, if a transmission may be interrupted for another packet.
    fn preemptible(&mut self) -> Option<&mut dyn Preemptible> {
        None
    }
    /// Itself, if packets can be removed from its middle.
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

/// A port's queue, with short cuts around it that its driver may take.
pub trait OutputQueue: Discipline {
    /// As [`Discipline::dequeue`]: what leaves, and whether its ECN bits have changed. Most queues keep what is needed
    /// of the packet; for the others `look` reads it.
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)>;

    /// The packet that will probably be next: a hint for prefetching.
    #[inline]
    fn upcoming(&self) -> Option<Handle> {
        None
    }

    /// See [`Order::head`].
    fn head(&self) -> Option<Handle> {
        None
    }

    /// A packet of at most this many bytes that finds nothing waiting may bypass the queue: it would leave unmarked and
    /// change nothing except through [`OutputQueue::note_bypass`]. If another packet arrives before it leaves, it may
    /// still join as of its own arrival, and is then admitted unmarked. 0: all packets must join.
    fn bypass_limit(&self) -> u64 {
        0
    }

    /// True if a control packet of `wire` bytes fits and would leave before everything else, changing only the count.
    /// Then it need not join, and is counted until [`OutputQueue::cancel_reserve`].
    #[inline]
    fn reserve(&mut self, _wire: u32) -> bool {
        false
    }

    /// A packet of `wire` bytes for which [`OutputQueue::reserve`] returned true has left.
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
