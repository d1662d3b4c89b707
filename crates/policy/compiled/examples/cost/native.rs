//! What one would write by hand, to the same contract as engines.

use std::collections::{BTreeMap, VecDeque};
use thalweg_policy::{Cycle, Effect, Engine, Fault, Offered, Served, Verdict};
use thalweg_units::Time;
use thalweg_wire::Handle;

/// A clock that does not go back.
#[derive(Default)]
struct Clock(Time);

impl Clock {
    fn advance(&mut self, now: Time) -> Result<(), Fault> {
        if now < self.0 {
            return Err(Fault::Clock);
        }
        self.0 = now;
        Ok(())
    }
}

fn served(handle: Handle, queue: u32) -> Served {
    Served { handle, queue, next: None }
}

/// What is not measured.
macro_rules! nothing_else {
    () => {
        fn cycle(&mut self, _: usize, _: Time, _: &mut Vec<Effect>) -> Result<Cycle, Fault> {
            Ok(Cycle::Idle)
        }
        fn packets(&self, _: usize) -> u32 {
            0
        }
        fn bytes(&self, _: usize) -> u64 {
            0
        }
        fn set_version(&mut self, _: u32) {}
        fn hold(&mut self, _: usize, _: u32, _: u64) {}
    };
}

pub(crate) use nothing_else;

/// First come, first served, tail drop beyond a number of packets.
pub struct Fifo {
    ring: VecDeque<(Handle, u32)>,
    bytes: u64,
    limit: usize,
    clock: Clock,
}

impl Fifo {
    pub fn new(limit: usize) -> Self {
        Self { ring: VecDeque::new(), bytes: 0, limit, clock: Clock::default() }
    }
}

impl Engine for Fifo {
    fn arrive(
        &mut self,
        now: Time,
        packet: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        self.clock.advance(now)?;
        if self.ring.len() >= self.limit {
            effects.push(Effect::Dropped(handle));
            return Ok(Verdict::Dropped);
        }
        self.ring.push_back((handle, packet.size));
        self.bytes += u64::from(packet.size);
        Ok(Verdict::Kept)
    }

    fn dequeue(&mut self, _: usize, now: Time, _: &mut Vec<Effect>) -> Result<Option<Served>, Fault> {
        self.clock.advance(now)?;
        let Some((handle, size)) = self.ring.pop_front() else { return Ok(None) };
        self.bytes -= u64::from(size);
        Ok(Some(served(handle, 0)))
    }
    nothing_else!();
}

/// The most urgent of eight classes is served first, the largest packet is given up.
pub struct TwoOrders {
    urgent: BTreeMap<(u8, u64), (Handle, u32)>,
    compact: BTreeMap<(u32, u64), u8>,
    seq: u64,
    bytes: u64,
    limit: u64,
    clock: Clock,
}

impl TwoOrders {
    pub fn new(limit: u64) -> Self {
        Self {
            urgent: BTreeMap::new(),
            compact: BTreeMap::new(),
            seq: 0,
            bytes: 0,
            limit,
            clock: Clock::default(),
        }
    }
}

impl Engine for TwoOrders {
    fn arrive(
        &mut self,
        now: Time,
        packet: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        self.clock.advance(now)?;
        let (class, seq) = (7 - packet.tos % 8, self.seq);
        self.seq += 1;
        self.urgent.insert((class, seq), (handle, packet.size));
        self.compact.insert((packet.size, seq), class);
        self.bytes += u64::from(packet.size);
        let mut verdict = Verdict::Kept;
        while self.bytes > self.limit {
            let Some(((size, number), class)) = self.compact.pop_last() else { break };
            if let Some((victim, _)) = self.urgent.remove(&(class, number)) {
                effects.push(Effect::Dropped(victim));
            }
            if number == seq {
                verdict = Verdict::Dropped;
            }
            self.bytes -= u64::from(size);
        }
        Ok(verdict)
    }

    fn dequeue(&mut self, _: usize, now: Time, _: &mut Vec<Effect>) -> Result<Option<Served>, Fault> {
        self.clock.advance(now)?;
        let Some(((_, seq), (handle, size))) = self.urgent.pop_first() else { return Ok(None) };
        self.compact.remove(&(size, seq));
        self.bytes -= u64::from(size);
        Ok(Some(served(handle, 0)))
    }
    nothing_else!();
}

/// Four rings with one memory, of which the longest gives up its last.
pub struct Longest {
    rings: [VecDeque<(Handle, u32)>; 4],
    bytes: [u64; 4],
    limit: u64,
    clock: Clock,
}

impl Longest {
    pub fn new(limit: u64) -> Self {
        Self { rings: Default::default(), bytes: [0; 4], limit, clock: Clock::default() }
    }
}

impl Engine for Longest {
    fn arrive(
        &mut self,
        now: Time,
        packet: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        self.clock.advance(now)?;
        let own = packet.queue as usize;
        let ring = self.rings.get_mut(own).ok_or(Fault::NoSuchQueue(packet.queue))?;
        ring.push_back((handle, packet.size));
        self.bytes[own] += u64::from(packet.size);
        let mut verdict = Verdict::Kept;
        while self.bytes.iter().sum::<u64>() > self.limit {
            let most = *self.bytes.iter().max().unwrap_or(&0);
            let longest = if self.bytes[own] == most {
                own
            } else {
                self.bytes.iter().position(|one| *one == most).unwrap_or(own)
            };
            let Some((victim, size)) = self.rings[longest].pop_back() else { break };
            effects.push(Effect::Dropped(victim));
            if victim == handle {
                verdict = Verdict::Dropped;
            }
            self.bytes[longest] -= u64::from(size);
        }
        Ok(verdict)
    }

    fn dequeue(&mut self, port: usize, now: Time, _: &mut Vec<Effect>) -> Result<Option<Served>, Fault> {
        self.clock.advance(now)?;
        let Some((handle, size)) =
            self.rings.get_mut(port).ok_or(Fault::NoSuchPort(port as u32))?.pop_front()
        else {
            return Ok(None);
        };
        self.bytes[port] -= u64::from(size);
        Ok(Some(served(handle, port as u32)))
    }
    nothing_else!();
}
