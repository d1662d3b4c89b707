//! Ports whose transmissions are preempted: preempt-resume without overhead, store-and-forward (ups §2.1, appendix A).
//!
//! A packet goes on the wire when its last bit is out; until then it may be stopped, wait again in its old place and
//! send later what is left. The end of a transmission is an event, stale if the transmission was stopped.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Span};
use thalweg_wire::Handle;

/// The transmissions of preemptive ports.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Preempted {
    /// By port: what it transmits.
    current: Vec<Option<Handle>>,
    /// By handle: what is left of a stopped transmission; zero: it has not begun.
    left: Vec<Span>,
}

impl Preempted {
    /// Packets being transmitted.
    pub fn busy(&self) -> usize {
        self.current.iter().flatten().count()
    }

    /// A port begins, or resumes, a transmission that takes `whole` in all: how long it still takes.
    pub fn start(&mut self, id: PortId, handle: Handle, whole: Span) -> Span {
        let at = handle.0 as usize;
        if self.left.len() <= at {
            self.left.resize(at + 1, Span::ZERO);
        }
        if self.current.len() <= id.at() {
            self.current.resize(id.at() + 1, None);
        }
        self.current[id.at()] = Some(handle);
        let left = std::mem::replace(&mut self.left[at], Span::ZERO);
        if left.is_zero() { whole } else { left }
    }

    /// A stopped packet is lost while it waits.
    pub fn forget(&mut self, handle: Handle) {
        if let Some(left) = self.left.get_mut(handle.0 as usize) {
            *left = Span::ZERO;
        }
    }

    /// A port's transmission ends, or is stopped.
    pub fn stop(&mut self, id: PortId) -> Option<Handle> {
        self.current.get_mut(id.at())?.take()
    }

    /// So much is left of a stopped transmission.
    pub fn keep(&mut self, handle: Handle, left: Span) {
        self.left[handle.0 as usize] = left;
    }
}
