//! Engines behind a pointer, for policies that are known at run time only.

use crate::engine::{Bytecode, Cycle, Effect, Engine, Fault, Interpreter, Machine, Offered, Served, Verdict};
use crate::normal::Policy;
use thalweg_units::Time;
use thalweg_wire::Handle;

/// The interpreter, the oracle for all other engines.
pub fn interpreter(policy: &Policy, seed: u64) -> Box<dyn Engine> {
    Box::new(Interpreter::new(policy, seed))
}

/// The bytecode engine, for files that are read at run time.
pub fn bytecode(policy: &Policy, seed: u64) -> Box<dyn Engine> {
    Box::new(Machine::new(policy, Bytecode::of(policy), seed))
}

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn arrive(
        &mut self,
        now: Time,
        offered: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        (**self).arrive(now, offered, handle, effects)
    }
    fn dequeue(
        &mut self,
        port: usize,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> Result<Option<Served>, Fault> {
        (**self).dequeue(port, now, effects)
    }
    fn cycle(&mut self, port: usize, now: Time, effects: &mut Vec<Effect>) -> Result<Cycle, Fault> {
        (**self).cycle(port, now, effects)
    }
    fn packets(&self, queue: usize) -> u32 {
        (**self).packets(queue)
    }
    fn bytes(&self, queue: usize) -> u64 {
        (**self).bytes(queue)
    }
    fn set_version(&mut self, version: u32) {
        (**self).set_version(version);
    }
    fn hold(&mut self, queue: usize, packets: u32, bytes: u64) {
        (**self).hold(queue, packets, bytes);
    }
}
