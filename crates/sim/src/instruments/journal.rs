//! Where each packet in the network has been so far: kept apart from the packets, while runs are recorded or replayed.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};
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
    /// When the switch port that was the last to say so begins to transmit it, perhaps in the future.
    begins: Time,
    /// Time spent waiting at switch ports, ps.
    pub waited: u64,
    /// Switch ports at which it had to wait.
    pub queues: u8,
    /// Switch ports it has come to.
    pub hops: u8,
}

impl Trace {
    /// As it is at `now`. A port that knows a departure as the packet arrives has counted the whole wait: one that has
    /// not ended counts, as at any other port, when it does.
    pub fn as_of(self, now: Time) -> Self {
        if self.begins <= now {
            return self;
        }
        let ahead = (self.begins - self.arrived).ps();
        Self { waited: self.waited - ahead, queues: self.queues - u8::from(ahead > 0), ..self }
    }

    #[cfg(test)]
    pub fn of(handed: Time, ingress: Time) -> Self {
        Self { handed, ingress, ..NOWHERE }
    }
}

const NOWHERE: Trace = Trace {
    handed: Time::ZERO,
    ingress: Time::MAX,
    arrived: Time::ZERO,
    begins: Time::ZERO,
    waited: 0,
    queues: 0,
    hops: 0,
};

/// The switch ports that a packet has come to, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hops<'a> {
    /// When it came, ps.
    pub arrivals: &'a [u64],
    /// When its service began, ps; 0: not yet.
    pub starts: &'a [u64],
    /// Which they are.
    pub ports: &'a [PortId],
}

/// All packets under way, by handle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    traces: Vec<Trace>,
    /// Per packet `stride` arrivals and `stride` starts of service, ps; empty if hops are not kept.
    times: Vec<u64>,
    /// Per packet `stride` ports; empty if hops are not kept.
    ports: Vec<PortId>,
    stride: usize,
    keep_hops: bool,
}

impl Journal {
    /// For paths of at most `stride` switch ports.
    pub fn new(stride: usize, keep_hops: bool) -> Self {
        Self { traces: Vec::new(), times: Vec::new(), ports: Vec::new(), stride, keep_hops }
    }

    /// A packet is given to its NIC.
    pub fn hand(&mut self, handle: Handle, now: Time) {
        let at = handle.0 as usize;
        if self.traces.len() <= at {
            self.traces.resize(at + 1, NOWHERE);
            if self.keep_hops {
                self.times.resize((at + 1) * 2 * self.stride, 0);
                self.ports.resize((at + 1) * self.stride, PortId::NONE);
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
    pub fn arrive(&mut self, handle: Handle, port: PortId, now: Time) {
        let trace = &mut self.traces[handle.0 as usize];
        trace.arrived = now;
        if self.keep_hops {
            let hop = handle.0 as usize * 2 * self.stride + usize::from(trace.hops);
            self.times[hop] = now.ps();
            self.times[hop + self.stride] = 0;
            self.ports[handle.0 as usize * self.stride + usize::from(trace.hops)] = port;
        }
        trace.hops += 1;
    }

    /// The switch port begins to transmit it.
    #[inline]
    pub fn depart(&mut self, handle: Handle, at: Time) {
        let trace = &mut self.traces[handle.0 as usize];
        trace.waited += (at - trace.arrived).ps();
        trace.queues += u8::from(at > trace.arrived);
        trace.begins = at;
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

    /// Its switch ports so far; none if hops are not kept.
    pub fn hops(&self, handle: Handle, hops: u8) -> Hops<'_> {
        if !self.keep_hops {
            return Hops::default();
        }
        let (first, n) = (handle.0 as usize * self.stride, usize::from(hops));
        Hops {
            arrivals: &self.times[2 * first..][..n],
            starts: &self.times[2 * first + self.stride..][..n],
            ports: &self.ports[first..][..n],
        }
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
