//! One policy for all ports of a switch: where its engine is, and to which port a packet belongs.

use super::super::engine::Engine;
use super::super::ports::Ports;
use super::super::text::Compiled;
use serde::{Deserialize, Serialize};
use thalweg_policy::{Effect, Fault};
use thalweg_units::Time;
use thalweg_wire::Handle;

/// A policy at work.
#[derive(Clone, Debug)]
pub struct Program {
    pub(in super::super) engine: Engine,
    /// It could not go on.
    pub(in super::super) stopped: bool,
    /// Its inner ports: the one first whose last packet is longest ago.
    pub(in super::super) turns: Vec<usize>,
}

impl Program {
    /// A policy at work, of which nothing has happened.
    pub(super) fn new(of: &Compiled, engine: Engine) -> Self {
        Self { engine, stopped: false, turns: Ports::of(&of.policy).inner }
    }

    /// What can go on within the switch does.
    pub(super) fn go_on(&mut self, now: Time, effects: &mut Vec<Effect>) -> Result<(), Fault> {
        let mut at = 0;
        while let Some(port) = self.turns.get(at).copied() {
            if self.engine.dequeue(port, now, effects)?.is_some() {
                self.turns[at..].rotate_left(1);
                at = 0;
            } else {
                at += 1;
            }
        }
        Ok(())
    }
}

/// A packet that has been given up while it waited at another port of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The number of that port in its switch.
    pub port: u8,
    /// Where it is there ([`Programmed::lose`]).
    pub place: u32,
}

/// A port among those of its switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Member {
    /// Its number there.
    pub number: u8,
    /// The port of the policy that its packets leave by.
    pub output: usize,
    /// Packets enter by their input, and go on within the switch.
    pub has_levels: bool,
    /// By input: the queues that a packet for this port may enter.
    pub entries: Vec<Vec<u32>>,
    /// Victims at other ports, until their owner takes them out.
    #[serde(skip)]
    pub elsewhere: Vec<Elsewhere>,
}

/// Of the number by which an engine knows a packet, the bits that say where it waits at its port.
const PLACE: u32 = 24;

impl Member {
    pub fn new(of: &Compiled, number: u8) -> Option<Self> {
        let ports = Ports::of(&of.policy);
        let output = usize::from(number);
        let narrow = |input| {
            ports.entry(&of.policy, input, output).iter().map(|queue| *queue as u32).collect::<Vec<_>>()
        };
        let entries = (0..ports.inputs.len().max(1)).map(narrow).collect();
        let output = *ports.outputs.get(output)?;
        let has_levels = !ports.inner.is_empty();
        Some(Self { number, output, has_levels, entries, elsewhere: Vec::new() })
    }

    /// The queues that a packet may enter that has come by this input.
    pub fn entry(&self, input: u8) -> &[u32] {
        let levels = if self.has_levels { usize::from(input) } else { 0 };
        self.entries.get(levels).map_or(&[], Vec::as_slice)
    }

    /// The engine's name of a packet of this port.
    pub fn name(&self, place: u32) -> Handle {
        debug_assert!(place >> PLACE == 0, "16 million packets at one port");
        Handle(u32::from(self.number) << PLACE | place)
    }

    /// Where a packet is, if it is here; otherwise its port has to take it out.
    pub fn place(&mut self, name: Handle) -> Option<u32> {
        let (port, place) = ((name.0 >> PLACE) as u8, name.0 & ((1 << PLACE) - 1));
        if port == self.number {
            return Some(place);
        }
        self.elsewhere.push(Elsewhere { port, place });
        None
    }

    /// The same of one that waits; nothing is to become of it.
    pub fn is_here(&self, name: Handle) -> Option<u32> {
        ((name.0 >> PLACE) as u8 == self.number).then_some(name.0 & ((1 << PLACE) - 1))
    }
}
