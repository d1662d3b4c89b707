//! A queue pair that carries messages back to back: one stream of packets, in which each message begins a
//! packet of its own.
//!
//! Offsets count every packet as full, as PSNs do; only the last packet of a message may carry less than that.

use super::super::super::RdmaSpec;
use super::super::layout::Layout;
use super::RdmaSender;
use crate::congestion::CongestionControl;
use crate::transport::Endpoint;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::Time;

/// What there is to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Data {
    /// Payload bytes of the flow; `u64::MAX`: without end.
    pub(super) size: u64,
    /// Packets of the flow.
    pub(super) packets: u64,
    /// Of a stream: the last packets of its messages, where they are not full, and their payload.
    tails: VecDeque<(u64, u32)>,
}

impl Data {
    pub(super) fn new(spec: &RdmaSpec, size: u64) -> Self {
        Self { size, packets: Layout::new(spec, size).packets(), tails: VecDeque::new() }
    }

    /// The flow is of another size now.
    pub(super) fn resize(&mut self, spec: &RdmaSpec, size: u64) {
        (self.size, self.packets) = (size, Layout::new(spec, size).packets());
    }

    /// The last packet so far is the last of a message.
    fn end_message(&mut self, spec: &RdmaSpec) {
        let payload = u64::from(spec.payload);
        let tail = self.size % payload;
        if tail > 0 {
            self.tails.push_back((self.packets - 1, tail as u32));
            self.size = self.size.saturating_add(payload - tail);
        }
    }

    /// Payload bytes of packet `index`.
    #[inline]
    pub(super) fn payload(&self, layout: &Layout, index: u64) -> u32 {
        if self.tails.is_empty() { layout.len(index) } else { self.payload_of_message(layout, index) }
    }

    fn payload_of_message(&self, layout: &Layout, index: u64) -> u32 {
        match self.tails.binary_search_by_key(&index, |(packet, _)| *packet) {
            Ok(at) => self.tails[at].1,
            Err(_) => layout.len(index),
        }
    }

    /// What is acknowledged, below packet `una`, is never sent again.
    #[inline]
    pub(super) fn forget(&mut self, una: u64) {
        while self.tails.front().is_some_and(|(packet, _)| *packet < una) {
            self.tails.pop_front();
        }
    }
}

impl RdmaSender {
    /// See [`append`](crate::transport::SendingEnd::append). Posted segments end where a packet need not.
    pub(super) fn append_message(&mut self, spec: &RdmaSpec, now: Time, bytes: u64) -> Option<u64> {
        if spec.segments.is_some() || self.data.size.checked_add(bytes)? == u64::MAX {
            return None;
        }
        let resting = self.turn.started && self.is_done();
        self.check_app_limited(self.is_used_up(spec));
        self.data.end_message(spec);
        if bytes > 0 {
            self.data.resize(spec, self.data.size + bytes);
            self.data.end_message(spec);
            if resting {
                self.catch_up(now);
                let idle = now.since(self.turn.done.unwrap_or(now));
                if !idle.is_zero() {
                    self.controller.on_restart(now, idle);
                }
            }
        }
        Some(self.data.size)
    }
}
