//! When the first packet of each flow left its host: when its transmission began at its NIC, not when it joined the
//! queue.

use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::Handle;

/// Departures of first packets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Firsts {
    /// By flow; [`Time::MAX`]: not yet.
    begun: Vec<Time>,
    /// By handle: the flow of a packet that waits at its NIC and may be its flow's first to leave.
    waiting: Vec<FlowId>,
    /// Number of packets in `waiting`.
    pub pending: u32,
}

impl Firsts {
    pub fn new(flows: usize) -> Self {
        Self { begun: vec![Time::MAX; flows], ..Self::default() }
    }

    /// When a flow's first packet left; [`Time::MAX`]: not yet.
    pub fn of(&self, flow: FlowId) -> Time {
        self.begun[flow.at()]
    }

    /// Notes that a packet of a flow leaves at `at`.
    pub fn leave(&mut self, flow: FlowId, at: Time) {
        let begun = &mut self.begun[flow.at()];
        *begun = at.min(*begun);
    }

    /// Notes a packet that joins its NIC while none of its flow has left.
    pub fn wait(&mut self, flow: FlowId, handle: Handle) {
        let at = handle.0 as usize;
        if self.waiting.len() <= at {
            self.waiting.resize(at + 1, FlowId::NONE);
        }
        self.pending += u32::from(self.waiting[at] == FlowId::NONE);
        self.waiting[at] = flow;
    }

    /// Notes that a packet leaves its NIC: transmitted at an instant, or dropped (`None`).
    #[cold]
    pub fn done(&mut self, handle: Handle, left: Option<Time>) {
        let Some(flow) = self.waiting.get_mut(handle.0 as usize).filter(|flow| **flow != FlowId::NONE) else {
            return;
        };
        let flow = std::mem::replace(flow, FlowId::NONE);
        self.pending -= 1;
        if let Some(at) = left {
            self.leave(flow, at);
        }
    }
}
