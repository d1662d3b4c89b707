//! Invariants that must hold at every instant, recounted from scratch.

use crate::fabric::relief_checks;
use crate::port::Bypass;
use crate::sim::{Halt, Sim};
use thalweg_machines::buffer::Inputs;
use thalweg_machines::pause::PausePolicy;
use thalweg_machines::schedule::Discipline;
use thalweg_units::{PortId, Time};
use thalweg_wire::Packet;

/// A violated invariant: a defect of the simulator or of a plug-in, never of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {at_ps} ps, event {event}: {law}")]
pub struct Violation {
    /// When.
    pub at_ps: u64,
    /// After how many events.
    pub event: u64,
    /// The invariant, with the numbers.
    pub law: String,
}

impl Sim {
    /// Recounts packets, bytes and order everywhere.
    ///
    /// # Errors
    /// Names the first invariant that is violated.
    pub fn check(&self) -> Result<(), Violation> {
        let broken = |law: String| Err(Violation { at_ps: self.cx.now.ps(), event: self.processed, law });
        let live = self.fabric.packets().live() as u64;
        let tally = &self.cx.instruments.tally;
        if tally.injected != tally.delivered + tally.dropped + tally.lost + live {
            return broken(format!(
                "packets are conserved: {} injected, {} delivered, {} dropped, {} lost on links, {live} in the network",
                tally.injected, tally.delivered, tally.dropped, tally.lost
            ));
        }
        if self.cx.features.trims {
            let live = self.fabric.packets().iter().map(Packet::data_bytes).sum();
            let at_ports = self.fabric.memory().trimmed.iter().sum();
            let of_flows = self.flows.records().iter().map(|record| record.counts.trims).sum();
            tally.check_payload(live, at_ports, of_flows).or_else(broken)?;
        }
        let flying: usize =
            self.fabric.ports().iter().flat_map(|p| p.flight.iter()).filter(|f| !f.is_frame()).count();
        let single = self.fabric.ports().iter().filter(|p| p.bypass() == Bypass::Single).count() as u64;
        let queued = single + self.fabric.queues().iter().map(|q| u64::from(q.packets())).sum::<u64>();
        let bypassing: usize = self.fabric.gates().iter().map(|gate| gate.control.len()).sum();
        let machines = self.fabric.egresses().iter().map(|r| u64::from(r.egress.waiting())).sum::<u64>();
        let held = (self.fabric.preempted().busy() + bypassing) as u64 + machines;
        if live != flying as u64 + queued + held {
            return broken(format!(
                "{live} packets exist, {flying} are on wires, {queued} in queues and {held} at transmitters"
            ));
        }
        for (id, port) in self.fabric.ports().iter().enumerate() {
            if !port.flight.iter().zip(port.flight.iter().skip(1)).all(|(a, b)| a.arrive <= b.arrive) {
                return broken(format!("no packet overtakes on the wire of port {id}"));
            }
            if port.flight.front().is_some_and(|f| f.arrive < self.cx.now) {
                return broken(format!("a packet on the wire of port {id} should have arrived"));
            }
            if !port.on_demand() && !port.express_recount() {
                return broken(format!("the backlog of port {id} is the sum of its packets"));
            }
            if let Some(queue) = self.fabric.queue(PortId::from(id)) {
                let single = u32::from(port.bypass() == Bypass::Single);
                let unknown = if single == 1 { port.waiting.bytes } else { 0 };
                if (port.waiting.packets, port.waiting.bytes)
                    != (queue.packets() + single, queue.bytes() + unknown)
                {
                    return broken(format!(
                        "port {id} counts {} packets, {} B that wait, its queue {} and {} B",
                        port.waiting.packets,
                        port.waiting.bytes,
                        queue.packets(),
                        queue.bytes()
                    ));
                }
            }
        }
        for (switch, pool) in self.fabric.memory().pools.iter().enumerate() {
            let node = self.cx.spec.hosts + switch as u32;
            let ports = (0..self.fabric.ports().len()).map(PortId::from);
            let own = ports.filter(|id| self.fabric.ports()[id.reverse().at()].place.peer.0 == node);
            let queues = own.filter_map(|id| self.fabric.queue(id));
            let bytes: u64 = queues.map(|q| q.bytes()).sum();
            if bytes != pool.used() {
                return broken(format!(
                    "switch {switch} holds {bytes} B but its memory counts {} B",
                    pool.used()
                ));
            }
        }
        self.check_memory().map_err(|law| Violation { at_ps: self.cx.now.ps(), event: self.processed, law })
    }

    /// Per-ingress accounting: the bytes counted by ingress are those that wait or are being transmitted; and no
    /// packet is refused where flow control promises that.
    fn check_memory(&self) -> Result<(), String> {
        for (switch, inputs) in self.fabric.memory().switches.iter().enumerate() {
            let booked: u64 = inputs.inputs().iter().map(|input| input.bytes).sum();
            let own = &self.fabric.memory().links[switch];
            let waiting: u64 = own
                .iter()
                .map(|id| {
                    self.fabric.ports()[id.at()].waiting.bytes
                        - relief_checks::escaping_bytes(&self.fabric, *id)
                })
                .sum();
            let leaving: u64 = own.iter().map(|id| u64::from(self.fabric.memory().deferred[id.at()].1)).sum();
            if booked != waiting + leaving {
                return Err(format!(
                    "switch {switch} counts {booked} B by ingress, {waiting} B wait and {leaving} B are leaving"
                ));
            }
        }
        self.check_backpressure()?;
        relief_checks::check(&self.fabric, &self.cx.spec)?;
        self.check_lossless()
    }

    /// The pause counters of a switch equal the packets that wait there and were counted against a neighbour.
    fn check_backpressure(&self) -> Result<(), String> {
        let counted = |inputs: &Inputs| inputs.policy().map_or(0, PausePolicy::counted);
        for (switch, inputs) in self.fabric.memory().switches.iter().enumerate() {
            let own = &self.fabric.memory().links[switch];
            let waiting: u64 = own.iter().map(|id| u64::from(self.fabric.gates()[id.at()].held_back)).sum();
            let returning: usize = own.iter().map(|id| self.fabric.memory().notices_under_way(*id)).sum();
            if counted(inputs) != waiting + returning as u64 {
                let counted = counted(inputs);
                return Err(format!(
                    "switch {switch} holds {counted} packets against its neighbours, {waiting} wait, and {returning} departures are still to be reported to it"
                ));
            }
        }
        Ok(())
    }

    /// With lossless flow control and no failures, no packet is refused for want of memory. This check is cheap
    /// enough for every run.
    ///
    /// # Errors
    /// The number of dropped packets.
    pub fn check_lossless(&self) -> Result<(), String> {
        let lossless = self.cx.spec.inputs.is_some_and(|i| i.effects().is_some_and(|pauses| pauses.lossless))
            && self.cx.spec.nic.pause_control
            && self.cx.spec.incidents.is_empty()
            // Pause frames that are lost or late do not stop the neighbour in time.
            && self.cx.spec.links.iter().all(|link| link.ab.is_plain() && link.ba.is_plain());
        let dropped = self.fabric.memory().dropped;
        if lossless && dropped > 0 {
            return Err(format!("flow control is on, and {dropped} packets were dropped"));
        }
        Ok(())
    }

    /// What reliefs promise within some time, as far as this call and earlier ones can tell: what may pass a pause
    /// does (Escape's I10), and no cycle of pauses stands still for 5 ms while one of its packets may pass (I11).
    /// `at`: the present, or any later instant up to which nothing happens.
    ///
    /// # Errors
    /// Names what has been waiting for too long.
    pub fn check_promises(&mut self, at: Time) -> Result<(), Violation> {
        let Self { cx, fabric, promises, processed, .. } = self;
        let kept = promises.observe(fabric, &cx.spec, at, &cx.instruments.deadlocks);
        kept.map_err(|law| Violation { at_ps: at.ps(), event: *processed, law })
    }

    /// [`Sim::run`] with [`Sim::check`] every `every` events, and [`Sim::check_promises`].
    ///
    /// # Errors
    /// Names the first invariant that is violated; the run stops there.
    pub fn run_checked(&mut self, max_events: u64, every: u64) -> Result<bool, Violation> {
        self.run_checked_until(max_events, every, Time::MAX).map(|halt| halt != Halt::Ended)
    }

    /// The same, but no event later than `at`.
    ///
    /// # Errors
    /// As [`Sim::run_checked`].
    pub fn run_checked_until(&mut self, max_events: u64, every: u64, at: Time) -> Result<Halt, Violation> {
        let mut left = max_events;
        while left > 0 {
            let chunk = left.min(every);
            let halt = self.run_until(chunk, at);
            self.check()?;
            self.check_promises(self.cx.now)?;
            if halt != Halt::Budget {
                return Ok(halt);
            }
            left -= chunk;
        }
        Ok(Halt::Budget)
    }
}
