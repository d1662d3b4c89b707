//! Preemptive ports: preempt-resume without overhead, store and forward (ups §2.1, appendix A).
//!
//! A packet is put on the wire when its last bit has been sent. Until then its transmission may be stopped; the
//! packet then waits in its old place, and later only the rest is sent. The end of a transmission is an event,
//! which is stale if the transmission was stopped.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Span};
use thalweg_wire::Handle;

/// The transmissions of preemptive ports.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Preempted {
    /// By port: the packet in transmission.
    current: Vec<Option<Handle>>,
    /// By handle: the remaining time of a stopped transmission; zero: it has not begun.
    left: Vec<Span>,
}

impl Preempted {
    /// Packets being transmitted.
    pub fn busy(&self) -> usize {
        self.current.iter().flatten().count()
    }

    /// A port begins or resumes a transmission that takes `whole` in all. Returns the remaining time.
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

    /// Forgets a stopped packet that is lost while it waits.
    pub fn forget(&mut self, handle: Handle) {
        if let Some(left) = self.left.get_mut(handle.0 as usize) {
            *left = Span::ZERO;
        }
    }

    /// Ends or stops a port's transmission.
    pub fn stop(&mut self, id: PortId) -> Option<Handle> {
        self.current.get_mut(id.at())?.take()
    }

    /// Keeps the remaining time of a stopped transmission.
    pub fn keep(&mut self, handle: Handle, left: Span) {
        self.left[handle.0 as usize] = left;
    }
}
