//! Queue pairs that carry their flows back to back: each flow is a message of one stream, and the first packet of
//! the next message follows the last one of this message as window and rate allow.
//!
//! The stream's packets carry the number of the connection's first flow, its *carrier*, which keeps its ends and
//! its path until the end of the run. What is counted per packet (losses, retransmissions, round trips) belongs to
//! the connection and is in the carrier's record; a message has times and bytes of its own.

use crate::cx::Cx;
use crate::flows::Flows;
use crate::flows::record::FlowRecord;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::transport::Progress;
use thalweg_net::spec::{FlowSpec, NetworkSpec};
use thalweg_units::FlowId;

/// No stream.
pub(crate) const NO_STREAM: u32 = u32::MAX;

/// The streams of a network, by the number of their connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Streams(Vec<Stream>);

/// A connection that carries messages back to back.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stream {
    /// The carrier; [`FlowId::NONE`]: nothing has been sent.
    carrier: FlowId,
    /// Messages that are not over, in order.
    messages: VecDeque<Message>,
    /// How many of these messages have begun, have arrived, are acknowledged.
    begun: usize,
    arrived: usize,
    acked: usize,
}

/// A flow in a stream.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Message {
    flow: FlowId,
    /// Offset of its first byte.
    from: u64,
    /// Offset behind its last packet, counted as full.
    to: u64,
}

impl Streams {
    /// The streams that the flows name.
    pub fn new(flows: &[FlowSpec]) -> Self {
        let named = flows.iter().filter(|flow| flow.back_to_back).map(|flow| flow.connection);
        let none =
            Stream { carrier: FlowId::NONE, messages: VecDeque::new(), begun: 0, arrived: 0, acked: 0 };
        Self(vec![none; named.max().map_or(0, |highest| highest as usize + 1)])
    }

    /// The flow whose ends carry a message, if anything was sent on its connection.
    pub fn carrier(&self, flow: &FlowSpec) -> Option<FlowId> {
        let stream = self.0.get(flow.connection as usize).filter(|_| flow.back_to_back)?;
        (stream.carrier != FlowId::NONE).then_some(stream.carrier)
    }

    /// Adds the first message of a connection, whose ends carry the others.
    pub fn begin(&mut self, number: u32, flow: FlowId, to: u64) {
        self.0[number as usize].carrier = flow;
        self.push(number, flow, 0, to);
    }

    /// Adds the next message, which occupies these offsets of the stream.
    pub fn push(&mut self, number: u32, flow: FlowId, from: u64, to: u64) {
        self.0[number as usize].messages.push_back(Message { flow, from, to });
    }

    /// The message, other than the carrier, that begins at this offset of a stream.
    pub fn message_at(&self, number: u32, seq: u64) -> Option<FlowId> {
        let Stream { messages, carrier, .. } = self.0.get(number as usize)?;
        let place = messages.binary_search_by_key(&seq, |message| message.from).ok()?;
        Some(messages[place].flow).filter(|flow| flow != carrier)
    }

    /// Updates messages after the sender has sent something or received an acknowledgement.
    #[inline(never)]
    pub fn note_sent(&mut self, cx: &mut Cx, flows: &mut Flows, number: u32, progress: Progress) {
        let stream = &mut self.0[number as usize];
        while let Some(next) = stream.messages.get(stream.begun).filter(|m| m.from < progress.sent) {
            // The departure of the carrier's first packet is observed at the NIC by its number; so are those of all
            // messages where NICs have queues.
            if next.flow != stream.carrier && cx.features.nic_pull {
                cx.instruments.firsts.leave(next.flow, cx.now);
            }
            stream.begun += 1;
        }
        while let Some(next) = stream.messages.get(stream.acked).filter(|m| m.to <= progress.acked) {
            flows.acked(cx, next.flow);
            stream.acked += 1;
        }
        stream.forget(cx, flows);
    }

    /// Updates messages after everything before offset `received` has arrived.
    #[inline(never)]
    pub fn note_arrived(&mut self, cx: &mut Cx, flows: &mut Flows, number: u32, received: u64) {
        let stream = &mut self.0[number as usize];
        while let Some(next) = stream.messages.get(stream.arrived).filter(|m| m.to <= received) {
            flows.deliver(next.flow, cx.spec.flows[next.flow.at()].size);
            flows.received(cx, next.flow);
            stream.arrived += 1;
        }
        stream.forget(cx, flows);
    }

    /// Completes a message's record where everything before offset `received` has arrived. (The carrier's record is
    /// the connection's.)
    pub fn complete(&self, record: &mut FlowRecord, flow: FlowId, spec: &FlowSpec, received: u64) {
        let Some(stream) = self.0.get(spec.connection as usize).filter(|_| spec.back_to_back) else { return };
        if stream.carrier == flow {
            record.delivered = record.delivered.min(spec.size);
        } else if let Some(message) = stream.messages.get(stream.arrived).filter(|m| m.flow == flow) {
            record.delivered = received.saturating_sub(message.from).min(spec.size);
        }
    }
}

impl Stream {
    /// Removes messages that are over at both ends.
    fn forget(&mut self, cx: &mut Cx, flows: &mut Flows) {
        while self.arrived > 0 && self.acked > 0 {
            let Some(message) = self.messages.pop_front() else { return };
            (self.begun, self.arrived, self.acked) = (self.begun - 1, self.arrived - 1, self.acked - 1);
            flows.count_done(cx, message.flow);
        }
    }
}

/// Why flows cannot be messages of one stream, if they cannot.
pub(crate) fn refusal(spec: &NetworkSpec) -> Option<&'static str> {
    let mut messages = spec.flows.iter().filter(|flow| flow.back_to_back);
    messages.find_map(|flow| {
        let transport = &spec.transports[flow.transport as usize];
        if flow.size == u64::MAX {
            Some("what never ends is no message: others could not follow it on its connection")
        } else if flow.connection == u32::MAX {
            Some("a flow on a connection of its own follows nothing")
        } else if !transport.streams() {
            Some("only queue pairs whose hosts post no segments carry messages back to back")
        } else {
            None
        }
    })
}
