//! A complete queue around an order of service: the limit, marking, and push-out.

use crate::problems::Invalid;
use crate::schedule::contract::capabilities::{ByInput, HopByHop, Pausable, Pipeline};
use crate::schedule::{At, Discipline, Entry, Limit, Machine, Order, OutputQueue, Served, Sojourn, Verdict};
use crate::stage::{Arrival, HeaderStage, Leave, Leaving, StageMachine, StageSpec, View};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Serializer, Span, Time};
use thalweg_wire::{Ecn, Handle, Packet};

/// An order with a limit and a stage: a whole [`Discipline`].
///
/// The fields are ordered by use: those that every packet touches come first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Managed<O> {
    packets: u32,
    max_packets: u32,
    bytes: u64,
    max_bytes: u64,
    /// The stage does nothing and is never called.
    passive: bool,
    order: O,
    stage: StageMachine,
    wire: Serializer,
    /// When the packet last served has left the wire, if the stage needs idle time.
    free_at: Time,
    /// Bytes served so far, unless the stage is passive.
    sent: u64,
    /// Since when packets wait, if the stage needs it.
    sojourn: Option<Box<Sojourn>>,
}

impl<O: Order> Managed<O> {
    /// `order` with a limit and a stage.
    ///
    /// # Errors
    /// If the parameters of the marking contradict each other, the stage writes headers, which a queue does not see, or
    /// measures waits, which a preemptive port interrupts.
    pub fn new(order: O, limit: Limit, stage: &StageSpec, at: &At) -> Result<Self, Invalid> {
        let name = stage.key();
        let stage = stage.make(at.stream, at.rate)?;
        let needs = stage.needs();
        if needs.headers {
            let why = "a stage that writes headers stands behind a queue, not inside it";
            return Err(Invalid::new(why).at("marking"));
        }
        if at.preemptive && needs.wait {
            let why =
                format!("{name} measures until the first bit leaves: it does not go with a preemptive port");
            return Err(Invalid::new(why).at("marking"));
        }
        let (max_packets, max_bytes) = match limit {
            Limit::Bytes(bytes) => (u32::MAX, bytes.get()),
            Limit::Packets(packets) => (packets, u64::MAX),
            Limit::Unlimited => (u32::MAX, u64::MAX),
        };
        let wire = Serializer::new(at.rate, Span::ZERO);
        let passive = matches!(stage, StageMachine::TailDrop(_));
        Ok(Self {
            packets: 0,
            max_packets,
            bytes: 0,
            max_bytes,
            passive,
            order,
            stage,
            wire,
            free_at: Time::ZERO,
            sent: 0,
            sojourn: needs.wait.then(Box::default),
        })
    }

    /// The order.
    #[inline]
    pub fn order(&self) -> &O {
        &self.order
    }
    /// The order, to be moved about in: nothing may join or leave.
    pub fn order_mut(&mut self) -> &mut O {
        &mut self.order
    }
    /// Drops the packets that `choose` takes out of the order.
    pub fn give_up(&mut self, now: Time, choose: impl FnOnce(&mut O) -> Option<Entry>) -> Option<Entry> {
        let entry = choose(&mut self.order)?;
        self.forget(now, entry);
        Some(entry)
    }

    /// Sets the link rate that the stage sees.
    pub(in crate::schedule) fn see_rate(&mut self, rate: Rate) {
        self.wire = Serializer::new(rate, Span::ZERO);
    }

    #[inline]
    fn serve_through_stage(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<(Entry, bool)> {
        let needs = self.stage.needs();
        loop {
            let Some(mut entry) = self.order.pop(now) else {
                if self.packets == 0 {
                    self.stage.on_unused(now);
                }
                return None;
            };
            let waited = self.forget(now, entry);
            self.forget_dropped(out);
            let marked = self.order.has_marked();
            let leave = if needs.departures {
                let view = self.view(entry.wire, Span::ZERO, waited);
                self.stage.on_departure(now, &view, Leaving { ecn: entry.ecn })
            } else {
                Leave::Pass
            };
            match leave {
                Leave::Pass => {}
                Leave::Mark => entry.ecn = Ecn::Ce,
                Leave::Brake => entry.ecn = Ecn::Ect0,
                Leave::Drop => {
                    out.push(entry.handle);
                    continue;
                }
            }
            self.sent += u64::from(entry.wire);
            if needs.idle_time {
                self.free_at = now.saturating_add(self.wire.span(entry.wire));
            }
            return Some((entry, marked || leave != Leave::Pass));
        }
    }

    #[inline(always)]
    fn forget_dropped(&mut self, out: &mut Vec<Handle>) {
        while let Some(dropped) = self.order.take_dropped() {
            self.take_off(dropped);
            if let Some(sojourn) = &mut self.sojourn {
                sojourn.left(dropped.handle);
            }
            out.push(dropped.handle);
        }
    }

    /// The port, without the packet of `wire` bytes.
    #[inline]
    fn view(&self, wire: u32, idle_for: Span, waited: Span) -> View {
        let Self { packets, bytes, sent, .. } = *self;
        View { packets, bytes, wire, rate: self.wire.rate(), sent, idle_for, waited }
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.packets > self.max_packets || self.bytes > self.max_bytes
    }

    #[inline]
    fn take_off(&mut self, entry: Entry) {
        self.packets -= 1;
        self.bytes -= u64::from(entry.wire);
    }

    /// A packet waits no longer. Returns how long it did, if the stage needs it.
    #[inline]
    fn forget(&mut self, now: Time, entry: Entry) -> Span {
        self.take_off(entry);
        match &mut self.sojourn {
            Some(sojourn) => now.since(sojourn.left(entry.handle)),
            None => Span::ZERO,
        }
    }

    /// The arriving packet is in; gives up packets until the rest fits.
    #[cold]
    fn shrink(&mut self, now: Time, arriving: Handle, admitted: Verdict, out: &mut Vec<Handle>) -> Verdict {
        while self.is_over()
            && let Some(entry) = self.order.push_out(arriving)
        {
            let (mut next, mut refused) = (Some(entry), false);
            while let Some(entry) = next {
                self.forget(now, entry);
                if entry.handle == arriving {
                    refused = true;
                } else {
                    out.push(entry.handle);
                }
                next = self.order.take_dropped();
            }
            if refused {
                // The other packets fitted without it, or were taken back from service and may stay.
                return Verdict::Dropped;
            }
        }
        admitted
    }
}

impl<O: Order> Machine for O {
    type Queue = Managed<O>;
    fn queue(self, limit: Limit, stage: &StageSpec, at: &At) -> Result<Managed<O>, Invalid> {
        Managed::new(self, limit, stage, at)
    }
}

impl<O: Order> OutputQueue for Managed<O> {
    #[inline(always)]
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        _look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        if !self.passive {
            return self.serve_through_stage(now, out);
        }
        let entry = self.order.pop(now)?;
        self.take_off(entry);
        self.forget_dropped(out);
        Some((entry, self.order.has_marked()))
    }

    #[inline]
    fn upcoming(&self) -> Option<Handle> {
        self.order.upcoming()
    }

    fn head(&self) -> Option<Handle> {
        self.order.head()
    }

    fn bypass_limit(&self) -> u64 {
        let none = self.max_packets == 0 || !self.order.is_transparent();
        if none { 0 } else { self.stage.bypass_limit().min(self.max_bytes) }
    }

    #[inline]
    fn reserve(&mut self, wire: u32) -> bool {
        let bytes = self.bytes.saturating_add(u64::from(wire));
        let fits = self.packets < self.max_packets && bytes <= self.max_bytes;
        let reserved = fits && self.passive && self.order.puts_control_first();
        if reserved {
            self.packets += 1;
            self.bytes = bytes;
        }
        reserved
    }

    #[inline]
    fn cancel_reserve(&mut self, wire: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(wire);
    }

    #[inline]
    fn note_bypass(&mut self, input: u8) {
        self.order.note_bypass(input);
    }

    fn by_input(&self) -> Option<&dyn ByInput> {
        self.order.by_input()
    }

    fn by_input_mut(&mut self) -> Option<&mut dyn ByInput> {
        self.order.by_input_mut()
    }
}

impl<O: Order> Discipline for Managed<O> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
        let arrival = if self.passive {
            Arrival::Admit
        } else {
            let idle = self.packets == 0 && self.stage.needs().idle_time;
            let idle_for = if idle { now.since(self.free_at) } else { Span::ZERO };
            let view = self.view(packet.wire, idle_for, Span::ZERO);
            self.stage.on_arrival(now, &view, packet)
        };
        let admitted = match arrival {
            Arrival::Admit => Verdict::Queued,
            Arrival::Mark => Verdict::Marked,
            Arrival::Drop => return Verdict::Dropped,
        };
        let wire = u64::from(packet.wire);
        let fits = self.packets < self.max_packets && self.bytes.saturating_add(wire) <= self.max_bytes;
        // A packet that does not fit into an empty queue pushes nothing out.
        let hopeless = wire > self.max_bytes || self.max_packets == 0 || self.packets == u32::MAX;
        let refused = self.order.refuses(packet);
        if !fits && (hopeless || !self.order.pushes_out()) || refused {
            return Verdict::Dropped;
        }
        self.packets += 1;
        self.bytes += wire;
        self.order.push(now, packet, handle);
        if let Some(sojourn) = &mut self.sojourn {
            sojourn.joined(now, handle);
        }
        if fits { admitted } else { self.shrink(now, handle, admitted, out) }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served> {
        let look = |_| unreachable!("a managed queue knows its packets");
        self.serve(now, out, look).map(|(entry, mark)| Served { handle: entry.handle, mark })
    }

    fn preempt(&mut self, now: Time) -> bool {
        let Some(entry) = self.order.preemptible().and_then(|order| order.preempt(now)) else { return false };
        self.packets += 1;
        self.bytes += u64::from(entry.wire);
        true
    }

    fn pausable(&self) -> Option<&dyn Pausable> {
        self.order.pausable()
    }
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        self.order.pausable_mut()
    }
    #[inline]
    fn hop_by_hop(&self) -> Option<&dyn HopByHop> {
        self.order.hop_by_hop()
    }
    fn pipeline(&self) -> Option<&dyn Pipeline> {
        self.order.pipeline()
    }
    fn waiting(&self, see: &mut dyn FnMut(Handle)) -> Option<u32> {
        self.order.waiting(see)
    }
    fn push_out(&mut self, now: Time, arriving: Handle, out: &mut Vec<Handle>) -> bool {
        let Some(entry) = self.order.push_out(arriving) else { return false };
        self.forget(now, entry);
        out.push(entry.handle);
        self.forget_dropped(out);
        true
    }
    fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, out: &mut Vec<Handle>) {
        let Self { packets, bytes, order, sojourn, .. } = self;
        let Some(order) = order.searchable() else { return };
        order.withdraw(belongs, &mut |entry| {
            *packets -= 1;
            *bytes -= u64::from(entry.wire);
            if let Some(sojourn) = sojourn {
                sojourn.left(entry.handle);
            }
            out.push(entry.handle);
        });
    }
    #[inline]
    fn held_until(&self) -> Option<Time> {
        self.order.held_until()
    }
    fn header(&self) -> u32 {
        self.order.header()
    }
    #[inline]
    fn packets(&self) -> u32 {
        self.packets
    }
    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }
    #[inline]
    fn wake(&self) -> Option<Time> {
        self.order.wake()
    }
    fn on_tick(&mut self, now: Time) {
        self.order.on_tick(now);
    }
    #[inline]
    fn on_idle(&mut self, at: Time) {
        self.order.on_idle(at);
    }
}
