//! A packet from each input of the switch in turn, in order of arrival inside: the output of a switch with virtual output
//! queues (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, §4.1: "input-queued with virtual output
//! ports, that are scheduled using round-robin"). A packet that does not fit is dropped.
//!
//! The turn goes to the next input, in cyclic order of their numbers, after the one served last that has anything
//! waiting. It is remembered while the port is idle, so a packet that finds nothing waiting moves it too. Control
//! packets are packets like any other.

use super::{At, Entry, Needs, Order, Parameters};
use crate::crossbar::Ends;
use crate::packet::{Handle, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// A packet from each input of the switch in turn, first come, first served inside: the outputs of a switch with virtual
/// output queues (IRN §4.3.1). Needs `switch.inputs`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = InputRoundRobin;

    fn needs(&self) -> Needs {
        Needs { inputs: true, by_input: true, ..Needs::NOTHING }
    }
    fn make(&self, _: &At) -> Result<InputRoundRobin, String> {
        Ok(InputRoundRobin::default())
    }
}

/// No node.
const NIL: u32 = u32::MAX;

/// A waiting packet, and the one behind it: of the same input, or of the free list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Node {
    entry: Entry,
    next: u32,
}

/// One input's FIFO: its oldest and its newest node. The newest means nothing in an empty one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Line {
    head: u32,
    tail: u32,
}

/// One FIFO per input, all in one arena.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputRoundRobin {
    nodes: Vec<Node>,
    free: u32,
    /// By input, as far as any has sent a packet here.
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
        Self { nodes: vec![], free: NIL, lines: vec![], occupied: Ends::default(), last: u8::MAX, newest: 0 }
    }
}

impl InputRoundRobin {
    /// The next input after the last one that has anything waiting; the last one itself comes last.
    #[inline]
    fn turn(&self) -> Option<u8> {
        self.occupied.behind(self.last)
    }

    #[inline]
    fn recycle(&mut self, at: u32) -> Entry {
        self.nodes[at as usize].next = self.free;
        self.free = at;
        self.nodes[at as usize].entry
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
    fn inputs(&self) -> Ends {
        self.occupied
    }
    fn turn_to(&mut self, input: u8) {
        self.last = input.wrapping_sub(1);
    }
    #[inline]
    fn is_full(&self) -> bool {
        self.free == NIL && self.nodes.len() >= NIL as usize
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        let node = Node { entry: Entry::new(packet, handle), next: NIL };
        let at = if self.free == NIL {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = std::mem::replace(&mut self.nodes[at as usize], node).next;
            at
        };
        let input = usize::from(packet.input);
        if input >= self.lines.len() {
            self.lines.resize(input + 1, Line { head: NIL, tail: NIL });
        }
        let line = &mut self.lines[input];
        match line.head {
            NIL => line.head = at,
            _ => self.nodes[line.tail as usize].next = at,
        }
        line.tail = at;
        self.occupied.insert(packet.input);
        self.newest = packet.input;
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        let input = self.turn()?;
        let line = &mut self.lines[usize::from(input)];
        let at = line.head;
        line.head = self.nodes[at as usize].next;
        if line.head == NIL {
            self.occupied.remove(input);
        }
        self.last = input;
        Some(self.recycle(at))
    }
    /// The newest of the input by which the last packet came, else of the first input that holds any. Never on the way of
    /// a packet: the port drops what arrives.
    fn shed(&mut self, _arriving: Handle) -> Option<Entry> {
        let input = Some(self.newest).filter(|&i| self.occupied.has(i)).or_else(|| self.turn())?;
        let Line { head, tail } = self.lines[usize::from(input)];
        if head == tail {
            self.lines[usize::from(input)].head = NIL;
            self.occupied.remove(input);
        } else {
            let mut before = head;
            while self.nodes[before as usize].next != tail {
                before = self.nodes[before as usize].next;
            }
            self.nodes[before as usize].next = NIL;
            self.lines[usize::from(input)].tail = before;
        }
        Some(self.recycle(tail))
    }
}
