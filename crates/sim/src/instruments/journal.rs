//! Where each packet in the network has been so far: kept apart from the packets, while runs are recorded or replayed.

use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::Handle;

/// One packet under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// When it was given to its NIC.
    pub handed: Time,
    /// When its NIC began to transmit it, perhaps in the future; [`Time::MAX`]: not known yet, or not under way.
    pub ingress: Time,
    /// When it reached the port where it is.
    arrived: Time,
    /// Time spent waiting at switch ports, ps.
    pub waited: u64,
    /// Switch ports at which it had to wait.
    pub queues: u8,
    /// Switch ports it has come to.
    pub hops: u8,
}

#[cfg(test)]
impl Trace {
    pub fn of(handed: Time, ingress: Time) -> Self {
        Self { handed, ingress, ..NOWHERE }
    }
}

const NOWHERE: Trace =
    Trace { handed: Time::ZERO, ingress: Time::MAX, arrived: Time::ZERO, waited: 0, queues: 0, hops: 0 };

/// All packets under way, by handle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    traces: Vec<Trace>,
    /// Per packet `stride` arrivals and `stride` starts of service, ps; empty if hops are not kept.
    times: Vec<u64>,
    stride: usize,
    keep_hops: bool,
}

impl Journal {
    /// For paths of at most `stride` switch ports.
    pub fn new(stride: usize, keep_hops: bool) -> Self {
        Self { traces: Vec::new(), times: Vec::new(), stride, keep_hops }
    }

    /// A packet is given to its NIC.
    pub fn hand(&mut self, handle: Handle, now: Time) {
        let at = handle.0 as usize;
        if self.traces.len() <= at {
            self.traces.resize(at + 1, NOWHERE);
            if self.keep_hops {
                self.times.resize((at + 1) * 2 * self.stride, 0);
            }
        }
        self.traces[at] = Trace { handed: now, ..NOWHERE };
    }

    /// Its NIC begins to transmit it.
    #[inline]
    pub fn enter(&mut self, handle: Handle, begins: Time) {
        self.traces[handle.0 as usize].ingress = begins;
    }

    /// It comes to a switch port.
    #[inline]
    pub fn arrive(&mut self, handle: Handle, now: Time) {
        let trace = &mut self.traces[handle.0 as usize];
        trace.arrived = now;
        if self.keep_hops {
            let hop = handle.0 as usize * 2 * self.stride + usize::from(trace.hops);
            self.times[hop] = now.ps();
            self.times[hop + self.stride] = 0;
        }
        trace.hops += 1;
    }

    /// The switch port begins to transmit it.
    #[inline]
    pub fn depart(&mut self, handle: Handle, at: Time) {
        let trace = &mut self.traces[handle.0 as usize];
        trace.waited += (at - trace.arrived).ps();
        trace.queues += u8::from(at > trace.arrived);
        if self.keep_hops {
            let hop = usize::from(trace.hops) - 1;
            self.times[(handle.0 as usize * 2 + 1) * self.stride + hop] = at.ps();
        }
    }

    /// It leaves the network: where it has been.
    #[inline]
    pub fn leave(&mut self, handle: Handle) -> Trace {
        std::mem::replace(&mut self.traces[handle.0 as usize], NOWHERE)
    }

    /// When it came to each switch port so far, and when its service began there; empty if hops are not kept.
    pub fn hop_times(&self, handle: Handle, hops: u8) -> (&[u64], &[u64]) {
        if !self.keep_hops {
            return (&[], &[]);
        }
        let first = handle.0 as usize * 2 * self.stride;
        let n = usize::from(hops);
        (&self.times[first..first + n], &self.times[first + self.stride..first + self.stride + n])
    }

    /// The earliest entry among the packets under way.
    pub fn earliest(&self) -> Time {
        self.traces.iter().map(|t| t.ingress).min().unwrap_or(Time::MAX)
    }

    /// Packets that are in the network at `now`.
    pub fn inside(&self, now: Time) -> impl Iterator<Item = (Handle, Trace)> + '_ {
        let entered = move |(_, t): &(usize, &Trace)| t.ingress < now;
        self.traces.iter().enumerate().filter(entered).map(|(i, t)| (Handle(i as u32), *t))
    }
}
