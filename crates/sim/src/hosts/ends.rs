//! The two ends of an active flow, and the connection that it may share with others.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::transport::{HandOver, Receiver, Sender};
use thalweg_net::spec::FlowSpec;
use thalweg_units::{FlowId, HostId, Time};

/// The sending end of an active flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sending {
    /// The machine.
    pub sender: Sender,
    /// Its pending timer event; [`Time::MAX`]: none. Re-armed lazily: the event may be early.
    pub timer: Time,
    /// A later timer event of its own that is also pending; [`Time::MAX`]: none, or unknown.
    pub later: Time,
    /// Its host.
    pub host: HostId,
    /// The host of the other end.
    pub peer: HostId,
    /// Data packets sent minus ACKs received, wrapping. The sum with [`Receiving::balance`] is the number of the
    /// flow's packets in the network, without either end touching the other's memory.
    pub balance: u32,
    /// The stream whose messages it sends, if any: see [`crate::hosts::streams`].
    pub stream: u32,
    /// Index of the flow's transport.
    pub transport: u16,
    /// It is in the round-robin list of its host's NIC.
    pub ready: bool,
    /// It is known when its first packet leaves: see [`crate::instruments::firsts`].
    pub begun: bool,
    /// Its queue number at its host's NIC, under backpressure.
    pub queue: u16,
    /// Every byte is acknowledged, and this has been recorded.
    pub complete: bool,
}

/// The receiving end of an active flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receiving {
    /// The machine.
    pub receiver: Receiver,
    /// As [`Sending::timer`].
    pub timer: Time,
    /// Its host.
    pub host: HostId,
    /// The host of the other end.
    pub peer: HostId,
    /// ACKs sent minus data packets received, wrapping.
    pub balance: u32,
    /// Index of the flow's transport.
    pub transport: u16,
    /// The flow's bytes have all arrived, and this has been recorded.
    pub complete: bool,
    /// Complete, but held by its host's agent: it counts in the balance as if a packet were under way.
    pub held: bool,
}

/// A connection that outlives its flows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Connection {
    /// A flow is being sent.
    pub busy: bool,
    /// Flows that have started and wait for their turn.
    pub waiting: VecDeque<FlowId>,
    /// What the previous flow has handed over, including what it got from earlier ones.
    pub before: Option<HandOver>,
}

/// The shared connections that the flows name.
pub(crate) fn connections(flows: &[FlowSpec]) -> Vec<Connection> {
    let named = flows.iter().filter(|flow| !flow.back_to_back).map(|flow| flow.connection);
    let named = named.filter(|number| *number != u32::MAX);
    vec![Connection::default(); named.max().map_or(0, |highest| highest as usize + 1)]
}
