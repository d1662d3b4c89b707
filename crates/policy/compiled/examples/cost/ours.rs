//! The simulator's own machine of the same policy, behind the contract of its ports.

use thalweg_machines::schedule::{Discipline, DisciplineSpec, Limit, OrderSpec, Queue};
use thalweg_machines::stage::StageSpec;
use thalweg_policy::{Cycle, Effect, Engine, Fault, Offered, Served, Verdict};
use thalweg_units::{Rate, Stream, Time};
use thalweg_wire::{Handle, Packet};

/// An output queue as an engine.
pub struct Ours {
    queue: Queue,
    packet: Packet,
    out: Vec<Handle>,
}

impl Ours {
    /// First come, first served, up to so many packets.
    pub fn fifo(packets: u32) -> Self {
        let (order, limit) = (OrderSpec::Fifo(Default::default()), Limit::Packets(packets));
        let spec = DisciplineSpec {
            order,
            limit,
            front: Vec::new(),
            stage: StageSpec::tail_drop(),
            preemptive: false,
        };
        let queue = spec.make(Stream::new(1, "queue", 0), Rate::from_gbps(100)).expect("a right one");
        Self { queue, packet: Packet::default(), out: Vec::new() }
    }
}

impl Engine for Ours {
    fn arrive(
        &mut self,
        now: Time,
        packet: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        self.packet.wire = packet.size;
        match self.queue.enqueue(now, &self.packet, handle, &mut self.out) {
            thalweg_machines::schedule::Verdict::Dropped => {
                effects.push(Effect::Dropped(handle));
                Ok(Verdict::Dropped)
            }
            _ => Ok(Verdict::Kept),
        }
    }

    fn dequeue(&mut self, _: usize, now: Time, _: &mut Vec<Effect>) -> Result<Option<Served>, Fault> {
        let served = self.queue.dequeue(now, &mut self.out);
        Ok(served.map(|served| Served { handle: served.handle, queue: 0, next: None }))
    }
    crate::native::nothing_else!();
}
