//! Measures the real cost of packets: one core, with packets that are read from and written to memory, as in a software
//! switch without the cost of NICs (a substitute for the measurements of §2.5.4). The caller provides the clock.

use crate::engine::{Effect, Engine, Fault, Offered};
use crate::normal::Policy;
use thalweg_units::Time;
use thalweg_wire::Handle;

/// The packets of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Arriving packets.
    pub arrivals: u32,
    /// Packets that a port takes, if there are any.
    pub departures: u32,
}

/// What was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lap {
    /// Duration, ns.
    pub ns: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left.
    pub sent: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Sum of the types of service of the packets that left: their worth (§2.5.4).
    pub worth: u64,
}

/// A measurement of one engine.
pub struct Bench<'a> {
    engine: &'a mut dyn Engine,
    policy: &'a Policy,
    packets: &'a [Offered],
    /// Largest number of ports on a packet's path.
    levels: u32,
    nth: u32,
    now: u64,
    port: usize,
    effects: Vec<Effect>,
}

impl<'a> Bench<'a> {
    /// Measures an engine of this policy with these packets, repeated. They are drawn beforehand, so that drawing costs
    /// nothing.
    pub fn new(engine: &'a mut dyn Engine, policy: &'a Policy, packets: &'a [Offered]) -> Self {
        Self { engine, policy, packets, levels: levels(policy), nth: 0, now: 0, port: 0, effects: Vec::new() }
    }

    /// Fills queues up to this number of packets, or until no more is admitted. Returns the number of packets.
    ///
    /// # Errors
    /// The engine's.
    pub fn fill(&mut self, resident: u32) -> Result<u32, Fault> {
        let mut lap = Lap::default();
        // Policies that push out or drop at random may need several attempts; a full queue needs none.
        let mut tries = u64::from(resident) * 2 + 4 * self.packets.len() as u64;
        while self.resident() < resident && tries > 0 {
            self.arrive(&mut lap)?;
            tries -= 1;
        }
        Ok(self.resident())
    }

    /// Number of packets in queues.
    pub fn resident(&self) -> u32 {
        (0..self.policy.queues().len()).map(|queue| self.engine.packets(queue)).sum()
    }

    /// Runs this number of rounds on a clock in ns.
    ///
    /// # Errors
    /// The engine's.
    pub fn lap(&mut self, pace: Pace, rounds: u32, clock: &mut dyn FnMut() -> u64) -> Result<Lap, Fault> {
        let mut lap = Lap::default();
        let start = clock();
        for _ in 0..rounds {
            for _ in 0..pace.arrivals {
                self.arrive(&mut lap)?;
            }
            for _ in 0..pace.departures * self.levels {
                self.depart(&mut lap)?;
            }
        }
        lap.ns = clock().saturating_sub(start);
        Ok(lap)
    }

    fn arrive(&mut self, lap: &mut Lap) -> Result<(), Fault> {
        let packet = &self.packets[self.nth as usize % self.packets.len()];
        self.effects.clear();
        self.now += 1;
        self.engine.arrive(Time::from_ps(self.now), packet, Handle(self.nth), &mut self.effects)?;
        // Handles are reused when their packets have long left.
        self.nth = self.nth.wrapping_add(1) & 0x7fff_ffff;
        lap.arrived += 1;
        lap.dropped +=
            self.effects.iter().filter(|effect| matches!(effect, Effect::Dropped(_))).count() as u64;
        Ok(())
    }

    fn depart(&mut self, lap: &mut Lap) -> Result<(), Fault> {
        let port = self.port;
        self.port = if port + 1 == self.policy.ports().len() { 0 } else { port + 1 };
        let served = self.engine.dequeue(port, Time::from_ps(self.now), &mut self.effects)?;
        if let Some(served) = served
            && self.policy.ports()[port].wire.is_none()
        {
            lap.sent += 1;
            lap.worth += u64::from(self.packets[served.handle.0 as usize % self.packets.len()].tos);
        }
        Ok(())
    }
}

/// Largest number of ports on a packet's path; connections form no cycle.
fn levels(policy: &Policy) -> u32 {
    fn below(policy: &Policy, port: usize) -> u32 {
        let next = policy.ports()[port].wire.iter().flat_map(|wire| &wire.to);
        1 + next.map(|queue| below(policy, policy.queues()[*queue].port)).max().unwrap_or(0)
    }
    (0..policy.ports().len()).map(|port| below(policy, port)).max().unwrap_or(1)
}
