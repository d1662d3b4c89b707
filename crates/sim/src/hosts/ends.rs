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
    /// Another of its timer events that is pending, later than that one; [`Time::MAX`]: none, or unknown.
    pub later: Time,
    /// Its host.
    pub host: HostId,
    /// The other end's.
    pub peer: HostId,
    /// Data packets sent minus ACKs received, wrapping: with [`Receiving::balance`] it gives how many
    /// of the flow's packets are in the network, without either end touching the other's memory.
    pub balance: u32,
    /// The stream whose messages it sends, if any: see [`crate::hosts::streams`].
    pub stream: u32,
    /// Index of the flow's transport.
    pub transport: u16,
    /// It is in the round-robin list of its host's NIC.
    pub ready: bool,
    /// A packet has left, as far as the sender is concerned: see [`crate::instruments::firsts`].
    pub begun: bool,
    /// Number of its queue at its host's NIC, under backpressure.
    pub queue: u16,
    /// Every byte is acknowledged, and this has been recorded.
    pub complete: bool,
}

/// The receiving end of an active flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receiving {
    /// The machine.
    pub receiver: Receiver,
    /// As for [`Sending`].
    pub timer: Time,
    /// Its host.
    pub host: HostId,
    /// The other end's.
    pub peer: HostId,
    /// ACKs sent minus data packets received, wrapping.
    pub balance: u32,
    /// Index of the flow's transport.
    pub transport: u16,
    /// The flow's bytes have all arrived, and this has been recorded.
    pub complete: bool,
    /// Its host's agent holds it since: it counts in the balance as if a packet were on its way.
    pub held: bool,
}

/// A connection that outlives its flows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Connection {
    /// A flow is being sent.
    pub busy: bool,
    /// Flows that have started and wait for their turn.
    pub waiting: VecDeque<FlowId>,
    /// Of the flow before, or rather of all before.
    pub before: Option<HandOver>,
}

/// As many shared connections as the flows name.
pub(crate) fn connections(flows: &[FlowSpec]) -> Vec<Connection> {
    let named = flows.iter().filter(|flow| !flow.back_to_back).map(|flow| flow.connection);
    let named = named.filter(|number| *number != u32::MAX);
    vec![Connection::default(); named.max().map_or(0, |highest| highest as usize + 1)]
}
