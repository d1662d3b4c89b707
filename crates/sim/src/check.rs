//! What must hold at every instant, recounted from scratch.

use crate::events::Events;
use crate::port::Lane;
use crate::sim::Sim;
use thalweg_machines::schedule::Discipline;

/// A law that does not hold: a defect of the simulator or of a plug-in, never of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {at_ps} ps, event {event}: {law}")]
pub struct Violation {
    /// When.
    pub at_ps: u64,
    /// After how many events.
    pub event: u64,
    /// Which law, with the numbers.
    pub law: String,
}

impl<Q: Events> Sim<Q> {
    /// Recounts packets, bytes and order everywhere.
    ///
    /// # Errors
    /// Names the first law that does not hold.
    pub fn check(&self) -> Result<(), Violation> {
        let broken = |law: String| Err(Violation { at_ps: self.now.ps(), event: self.processed, law });
        let live = self.packets.live() as u64;
        let tally = &self.tally;
        if tally.injected != tally.delivered + tally.dropped + live {
            return broken(format!(
                "packets are conserved: {} injected, {} delivered, {} dropped, {live} in the network",
                tally.injected, tally.delivered, tally.dropped
            ));
        }
        let flying: usize = self.ports.iter().map(|p| p.flight.len()).sum();
        let queued: u64 = self.queues.iter().map(|q| u64::from(q.packets())).sum();
        let held = self.services.busy() as u64;
        if live != flying as u64 + queued + held {
            return broken(format!(
                "{live} packets exist, {flying} are on wires, {queued} in queues and {held} at transmitters"
            ));
        }
        for (id, port) in self.ports.iter().enumerate() {
            if !port.flight.iter().zip(port.flight.iter().skip(1)).all(|(a, b)| a.arrive <= b.arrive) {
                return broken(format!("no packet overtakes on the wire of port {id}"));
            }
            if port.flight.front().is_some_and(|f| f.arrive < self.now) {
                return broken(format!("a packet on the wire of port {id} should have arrived"));
            }
            if port.lane == Lane::Express && !port.express_recount() {
                return broken(format!("the backlog of port {id} is the sum of its packets"));
            }
        }
        for (switch, pool) in self.pools.iter().enumerate() {
            let node = self.spec.hosts + switch as u32;
            let own = (0..self.ports.len()).filter(|id| self.ports[id ^ 1].peer.0 == node);
            let queues = own.filter_map(|id| self.queues.get(self.ports[id].queue as usize));
            let bytes: u64 = queues.map(|q| q.bytes()).sum();
            if bytes != pool.used() {
                return broken(format!(
                    "switch {switch} holds {bytes} B but its memory counts {} B",
                    pool.used()
                ));
            }
        }
        Ok(())
    }

    /// [`Sim::run`] with [`Sim::check`] every `every` events.
    ///
    /// # Errors
    /// Stops at the first law that does not hold.
    pub fn run_checked(&mut self, max_events: u64, every: u64) -> Result<bool, Violation> {
        let mut left = max_events;
        while left > 0 {
            let chunk = left.min(every);
            let running = self.run(chunk);
            self.check()?;
            if !running {
                return Ok(false);
            }
            left -= chunk;
        }
        Ok(true)
    }
}
