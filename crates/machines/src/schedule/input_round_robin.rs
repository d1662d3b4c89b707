//! A packet from each input of the switch in turn, in order of arrival inside: the output of a switch with
//! virtual output queues (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, §4.1:
//! "input-queued with virtual output ports, that are scheduled using round-robin"). A packet that does not
//! fit is dropped.
//!
//! The turn goes to the next input, in cyclic order of their numbers, after the one served last that has anything
//! waiting. It is remembered while the port is idle, so a packet that finds nothing waiting moves it too. Control
//! packets are packets like any other.

use super::structures::linked::{Line, Linked, Memory, NIL};
use super::{At, ByInput, Entry, Needs, Order, Parameters};
use crate::crossbar::Ends;
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// A packet from each input of the switch in turn, first come, first served inside: the outputs of a switch
/// with virtual output queues (IRN §4.3.1). Needs `switch.inputs`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = InputRoundRobin;

    fn needs(&self) -> Needs {
        Needs { inputs: true, by_input: true, ..Needs::NOTHING }
    }
    fn make(&self, _: &At) -> Result<InputRoundRobin, Invalid> {
        Ok(InputRoundRobin::default())
    }
}

/// A waiting packet, and the one behind it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Node {
    entry: Entry,
    next: u32,
}

impl Linked for Node {
    #[inline]
    fn next(&self) -> u32 {
        self.next
    }
    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// One FIFO per input, all in one arena.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputRoundRobin {
    memory: Memory<Node>,
    /// One FIFO per input, up to the highest input that has sent a packet here.
    lines: Vec<Line>,
    /// Inputs that have a packet waiting.
    occupied: Ends,
    /// rr: the input served last.
    last: u8,
    /// The input that the newest packet came by.
    newest: u8,
}

impl Default for InputRoundRobin {
    /// As if the highest input had been served last: input 0 has the first turn.
    fn default() -> Self {
        Self { memory: Memory::new(), lines: vec![], occupied: Ends::default(), last: u8::MAX, newest: 0 }
    }
}

impl InputRoundRobin {
    /// The next input after the last one that has anything waiting; the last one itself comes last.
    #[inline]
    fn turn(&self) -> Option<u8> {
        self.occupied.behind(self.last)
    }
}

impl Order for InputRoundRobin {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn note_bypass(&mut self, input: u8) {
        self.last = input;
        self.newest = input;
    }
    #[inline]
    fn refuses(&self, _: &Packet) -> bool {
        self.memory.is_full()
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        let node = Node { entry: Entry::new(packet, handle), next: NIL };
        let input = usize::from(packet.input);
        if input >= self.lines.len() {
            self.lines.resize(input + 1, Line::EMPTY);
        }
        self.memory.append(&mut self.lines[input], node);
        self.occupied.insert(packet.input);
        self.newest = packet.input;
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        let input = self.turn()?;
        let line = &mut self.lines[usize::from(input)];
        let Node { entry, .. } = self.memory.take(line);
        if line.is_empty() {
            self.occupied.remove(input);
        }
        self.last = input;
        Some(entry)
    }
    /// The newest of the input by which the last packet came, else of the first input that holds any. Not used on
    /// overflow of the port, which drops the arriving packet.
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        let input = Some(self.newest).filter(|&i| self.occupied.has(i)).or_else(|| self.turn())?;
        let line = &mut self.lines[usize::from(input)];
        let Node { entry, .. } = self.memory.take_newest(line);
        if line.is_empty() {
            self.occupied.remove(input);
        }
        Some(entry)
    }
    fn by_input(&self) -> Option<&dyn ByInput> {
        Some(self)
    }
    fn by_input_mut(&mut self) -> Option<&mut dyn ByInput> {
        Some(self)
    }
}

impl ByInput for InputRoundRobin {
    fn inputs(&self) -> Ends {
        self.occupied
    }
    fn turn_to(&mut self, input: u8) {
        self.last = input.wrapping_sub(1);
    }
}
