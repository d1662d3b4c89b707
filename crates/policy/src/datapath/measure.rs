//! What packets really cost: one core, packets that come out of memory and go back to it, as in a switch in software
//! whose NICs are not counted (the stand-in for §2.5.4). The clock is the caller's.

use crate::engine::{Effect, Engine, Fault, Offered};
use crate::normal::Policy;
use thalweg_units::Time;
use thalweg_wire::Handle;

/// What happens in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Packets that come.
    pub arrivals: u32,
    /// Packets that a port takes, if it has any.
    pub departures: u32,
}

/// What was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lap {
    /// How long it took, ns.
    pub ns: u64,
    /// Packets that came.
    pub arrived: u64,
    /// Packets that left.
    pub sent: u64,
    /// Packets that were given up.
    pub dropped: u64,
    /// The types of service of those that left, summed: their worth (§2.5.4).
    pub worth: u64,
}

/// An engine at work.
pub struct Bench<'a> {
    engine: &'a mut dyn Engine,
    policy: &'a Policy,
    packets: &'a [Offered],
    /// Ports that a packet passes on its way.
    levels: u32,
    nth: u32,
    now: u64,
    port: usize,
    effects: Vec<Effect>,
}

impl<'a> Bench<'a> {
    /// An engine of this policy, and what comes, again and again: drawn before, so that draws cost nothing.
    pub fn new(engine: &'a mut dyn Engine, policy: &'a Policy, packets: &'a [Offered]) -> Self {
        Self { engine, policy, packets, levels: levels(policy), nth: 0, now: 0, port: 0, effects: Vec::new() }
    }

    /// Fills queues until so many packets wait, or no more do; how many wait.
    ///
    /// # Errors
    /// The engine's.
    pub fn fill(&mut self, resident: u32) -> Result<u32, Fault> {
        let mut lap = Lap::default();
        // What pushes out, or is drawn, may need several tries; what is full needs none.
        let mut tries = u64::from(resident) * 2 + 4 * self.packets.len() as u64;
        while self.resident() < resident && tries > 0 {
            self.arrive(&mut lap)?;
            tries -= 1;
        }
        Ok(self.resident())
    }

    /// Packets that wait.
    pub fn resident(&self) -> u32 {
        (0..self.policy.queues().len()).map(|queue| self.engine.packets(queue)).sum()
    }

    /// So many rounds, on this clock (ns).
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
        // Handles come again when their packets have long gone.
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

/// The most ports that a packet passes on its way: connections form no circle.
fn levels(policy: &Policy) -> u32 {
    fn below(policy: &Policy, port: usize) -> u32 {
        let next = policy.ports()[port].wire.iter().flat_map(|wire| &wire.to);
        1 + next.map(|queue| below(policy, policy.queues()[*queue].port)).max().unwrap_or(0)
    }
    (0..policy.ports().len()).map(|port| below(policy, port)).max().unwrap_or(1)
}
