//! A machine's state as plain data. It does not include the structures of the orders: these follow from the policy, and
//! packets join them again in their order of arrival, which is all that ties depend on.

use super::backlog::{Backlog, Slot};
use super::rules::Rules;
use super::{Machine, QueueState};
use crate::engine::contract::Engine;
use crate::engine::packet::Stored;
use crate::engine::tally::Tally;
use crate::normal::Policy;
use serde::{Deserialize, Serialize};
use std::fmt;
use thalweg_units::{Stream, Time};
use thalweg_wire::Handle;

/// All state of a machine except the policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Saved {
    queues: Vec<SavedQueue>,
    /// State and random stream of each buffer.
    buffers: Vec<(i64, Stream)>,
    ports: Vec<(i64, Stream)>,
    /// Packets by queue, in the order of arrival.
    packets: Vec<(Stored, Handle)>,
    seq: u64,
    version: u32,
    last: Time,
}

/// The states of a queue, the room that an earlier policy takes there, and the random stream.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct SavedQueue {
    adm_state: i64,
    sched_state: i64,
    held: (u32, u64),
    draws: Stream,
}

/// A saved state belongs to another policy, or is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Misfit;

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the saved state does not fit the policy")
    }
}

impl std::error::Error for Misfit {}

impl<R: Rules<Kept = Stored>, T: Tally> Machine<R, T> {
    /// The state from which [`Machine::restored`] continues.
    pub fn save(&self) -> Saved {
        let queue = |one: &QueueState<R::Backlog>| SavedQueue {
            adm_state: one.states.adm,
            sched_state: one.states.sched,
            held: one.held,
            draws: one.draws,
        };
        let packets = |one: &QueueState<R::Backlog>| {
            let packet = |at| {
                let Slot { packet, handle } = *one.backlog.at(at);
                (packet, handle)
            };
            one.backlog.places().into_iter().map(packet).collect::<Vec<_>>()
        };
        Saved {
            queues: self.queues.iter().map(queue).collect(),
            buffers: self.buffers.iter().map(|one| (one.view.adm_state, one.draws)).collect(),
            ports: self.ports.iter().map(|one| (one.view.sched_state, one.draws)).collect(),
            packets: self.queues.iter().flat_map(packets).collect(),
            seq: self.seq,
            version: self.version,
            last: self.last,
        }
    }
}

impl<R: Rules<Kept = Stored>> Machine<R> {
    /// A machine of this policy with this state.
    ///
    /// # Errors
    /// If the state belongs to another policy.
    pub fn restored(policy: &Policy, rules: R, saved: &Saved) -> Result<Self, Misfit> {
        let mut machine = Self::new(policy, rules, 0);
        let alike = machine.queues.len() == saved.queues.len()
            && machine.buffers.len() == saved.buffers.len()
            && machine.ports.len() == saved.ports.len();
        let known =
            |(packet, _): &(Stored, Handle)| (packet.queue as usize) < saved.queues.len() && packet.size > 0;
        let numbered = saved.packets.len() as u64 <= saved.seq;
        if !alike || !numbered || !saved.packets.iter().all(known) {
            return Err(Misfit);
        }
        for (queue, was) in machine.queues.iter_mut().zip(&saved.queues) {
            (queue.states.adm, queue.states.sched) = (was.adm_state, was.sched_state);
            queue.draws = was.draws;
        }
        for (buffer, (state, draws)) in machine.buffers.iter_mut().zip(&saved.buffers) {
            (buffer.view.adm_state, buffer.draws) = (*state, *draws);
        }
        for (port, (state, draws)) in machine.ports.iter_mut().zip(&saved.ports) {
            (port.view.sched_state, port.draws) = (*state, *draws);
        }
        for (packet, handle) in &saved.packets {
            machine.join(packet.queue as usize, packet, *handle);
        }
        for (nth, was) in saved.queues.iter().enumerate() {
            machine.hold(nth, was.held.0, was.held.1);
        }
        (machine.seq, machine.version, machine.last) = (saved.seq, saved.version, saved.last);
        Ok(machine)
    }
}
