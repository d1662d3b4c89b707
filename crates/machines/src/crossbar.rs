//! A crossbar without speed-up: at any instant an input sends at most one packet, and an output receives at
//! most one. Pairs are chosen by iSLIP (McKeown, "The iSLIP scheduling algorithm for input-queued switches",
//! IEEE/ACM Transactions on Networking 7(2), 1999, §III). It runs whenever an end becomes idle instead of
//! once per cell:
//!
//! 1. every idle output offers itself to the next idle input, in cyclic order behind the one that its pointer
//!    is at, that has a packet waiting for it;
//! 2. every input takes the next of the outputs that offer themselves, in cyclic order likewise: round robin
//!    among its virtual output queues;
//! 3. what is left over tries again, until nothing more can be joined. Pointers move in the first round only,
//!    which is what keeps them apart where all inputs and outputs are busy.
//!
//! A transmission, of whatever length, keeps both its ends.

use serde::{Deserialize, Serialize};

/// A set of numbers below 256: inputs, or outputs, of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends([u64; 4]);

impl Ends {
    /// It is in the set from now on.
    #[inline]
    pub fn insert(&mut self, end: u8) {
        self.0[usize::from(end >> 6)] |= 1 << (end & 63);
    }
    /// It is not in the set from now on.
    #[inline]
    pub fn remove(&mut self, end: u8) {
        self.0[usize::from(end >> 6)] &= !(1 << (end & 63));
    }
    /// It is in the set.
    #[inline]
    pub fn has(&self, end: u8) -> bool {
        self.0[usize::from(end >> 6)] >> (end & 63) & 1 == 1
    }
    /// What is in both.
    #[inline]
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
    /// The next one behind `last` in cyclic order; `last` itself comes last.
    #[inline]
    pub fn behind(&self, last: u8) -> Option<u8> {
        let (word, bit) = (usize::from(last >> 6), u32::from(last & 63));
        let beyond = self.0[word] & (!1u64 << bit);
        if beyond != 0 {
            return Some((word as u32 * 64 + beyond.trailing_zeros()) as u8);
        }
        // The other words in cyclic order, then the first part of its own.
        let word = (1..=4).map(|i| (word + i) % 4).find(|&w| self.0[w] != 0)?;
        Some((word as u32 * 64 + self.0[word].trailing_zeros()) as u8)
    }
}

/// An input, or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct End {
    /// Behind which its turn is.
    last: u8,
    /// The other end of its transmission.
    joined: Option<u8>,
}

/// The crossbar of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossbar {
    inputs: Vec<End>,
    outputs: Vec<End>,
    /// Inputs that send nothing.
    idle: Ends,
}

impl Crossbar {
    /// Of a switch with so many links, 256 at most: all idle, and the first turn everywhere is number 0's.
    pub fn new(ports: usize) -> Self {
        let ends = vec![End { last: u8::MAX, joined: None }; ports];
        let mut idle = Ends::default();
        (0..ports).for_each(|input| idle.insert(input as u8));
        Self { inputs: ends.clone(), outputs: ends, idle }
    }

    /// The input whose packet an output is sending.
    #[inline]
    pub fn source(&self, output: u8) -> Option<u8> {
        self.outputs[usize::from(output)].joined
    }

    /// An output has sent its packet: both ends are idle.
    pub fn part(&mut self, output: u8) {
        if let Some(input) = self.outputs[usize::from(output)].joined.take() {
            self.inputs[usize::from(input)].joined = None;
            self.idle.insert(input);
        }
    }

    /// Joins idle inputs with those of the outputs `free` that may send, as long as any can be; `waiting`:
    /// the inputs with a packet for an output. The pairs (input, output) are added to `pairs`, and sending
    /// from now on.
    pub fn join(&mut self, mut free: Ends, waiting: impl Fn(u8) -> Ends, pairs: &mut Vec<(u8, u8)>) {
        let mut moves = true;
        loop {
            let begun = pairs.len();
            self.offer(&mut free, &waiting, pairs);
            if pairs.len() == begun {
                return;
            }
            for &(input, output) in &pairs[begun..] {
                free.remove(output);
                self.idle.remove(input);
                self.inputs[usize::from(input)].joined = Some(output);
                self.outputs[usize::from(output)].joined = Some(input);
                if moves {
                    self.inputs[usize::from(input)].last = output;
                    self.outputs[usize::from(output)].last = input;
                }
            }
            moves = false;
        }
    }

    /// One round of offers, and which of them are taken; outputs that nothing waits for are free no longer.
    fn offer(&self, free: &mut Ends, waiting: &impl Fn(u8) -> Ends, pairs: &mut Vec<(u8, u8)>) {
        let begun = pairs.len();
        let outputs = *free;
        for output in (0..self.outputs.len()).map(|n| n as u8).filter(|&n| outputs.has(n)) {
            let Some(input) = waiting(output).and(&self.idle).behind(self.outputs[usize::from(output)].last)
            else {
                free.remove(output);
                continue;
            };
            let last = self.inputs[usize::from(input)].last;
            let turn = |output: u8| output.wrapping_sub(last).wrapping_sub(1);
            match pairs[begun..].iter_mut().find(|pair| pair.0 == input) {
                Some(pair) if turn(output) < turn(pair.1) => pair.1 = output,
                Some(_) => {}
                None => pairs.push((input, output)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
