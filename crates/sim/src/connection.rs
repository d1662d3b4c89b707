//! Connections that carry more than one flow: one after the other, and the controller goes on where it was.

use crate::events::Events;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::transport::Sender;
use thalweg_machines::transport::rdma::HandOver;
use thalweg_units::FlowId;

/// A connection that outlives its flows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Connection {
    /// A flow is being sent.
    busy: bool,
    /// Flows that have started and wait for their turn.
    waiting: VecDeque<FlowId>,
    /// Of the flow before, or rather of all before.
    before: Option<HandOver>,
}

/// As many as the flows name.
pub(crate) fn connections(flows: &[crate::spec::FlowSpec]) -> Vec<Connection> {
    let named = flows.iter().map(|flow| flow.connection).filter(|number| *number != u32::MAX);
    vec![Connection::default(); named.max().map_or(0, |highest| highest as usize + 1)]
}

impl<Q: Events> Sim<Q> {
    /// May a flow that starts now be sent at once? Otherwise it waits for those before it on its connection.
    pub(crate) fn takes_connection(&mut self, flow: FlowId) -> bool {
        let number = self.spec.flows[flow.at()].connection;
        let Some(connection) = self.shared.get_mut(number as usize) else { return true };
        if connection.busy {
            connection.waiting.push_back(flow);
            return false;
        }
        connection.busy = true;
        true
    }

    /// What the flow before has learnt.
    pub(crate) fn inherit(&mut self, flow: FlowId, sender: &mut Sender) {
        let number = self.spec.flows[flow.at()].connection;
        let before = self.shared.get_mut(number as usize).and_then(|connection| connection.before.take());
        if let (Some(before), Sender::Rdma(sender)) = (before, sender) {
            sender.take_over(before);
        }
    }

    /// A flow's sender has nothing left to wait for: the next one of its connection begins.
    pub(crate) fn pass_connection_on(&mut self, slot: usize, flow: FlowId) {
        let number = self.spec.flows[flow.at()].connection;
        let Some(connection) = self.shared.get_mut(number as usize) else { return };
        if let Sender::Rdma(sender) = &self.sending[slot].sender {
            connection.before = Some(sender.hand_over());
        }
        match connection.waiting.pop_front() {
            Some(next) => self.begin(next),
            None => connection.busy = false,
        }
    }
}
