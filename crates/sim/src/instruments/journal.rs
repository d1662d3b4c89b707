//! The journal of packets in the network: where each has been so far. It is kept apart from the packets, while runs
//! are recorded or replayed.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};
use thalweg_wire::Handle;

/// One packet under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// When it was handed to its NIC.
    pub handed: Time,
    /// When its NIC began to transmit it, perhaps in the future; [`Time::MAX`]: not known yet, or not under way.
    pub ingress: Time,
    /// When it reached its present port.
    arrived: Time,
    /// When the last switch port to report it begins to transmit it, perhaps in the future.
    begins: Time,
    /// Time spent waiting at switch ports, ps.
    pub waited: u64,
    /// Switch ports at which it had to wait.
    pub queues: u8,
    /// Switch ports it has come to.
    pub hops: u8,
}

impl Trace {
    /// The trace as of `now`. A port that knows departures on arrival has counted the whole wait in advance; a wait
    /// that has not ended is subtracted, since other ports count it when it ends.
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
    /// The ports.
    pub ports: &'a [PortId],
}

/// The traces of all packets under way, by handle.
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
    /// A journal for paths of about `stride` switch ports. (A packet that is under way when links fail may pass
    /// more.)
    pub fn new(stride: usize, keep_hops: bool) -> Self {
        Self { traces: Vec::new(), times: Vec::new(), ports: Vec::new(), stride: stride.max(1), keep_hops }
    }

    /// Begins the trace of a packet that is handed to its NIC.
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

    /// Notes that a packet's NIC begins to transmit it.
    #[inline]
    pub fn enter(&mut self, handle: Handle, begins: Time) {
        self.traces[handle.0 as usize].ingress = begins;
    }

    /// Notes that a packet comes to a switch port.
    #[inline]
    pub fn arrive(&mut self, handle: Handle, port: PortId, now: Time) {
        if self.keep_hops && usize::from(self.traces[handle.0 as usize].hops) == self.stride {
            self.widen();
        }
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

    /// Doubles the number of switch ports per packet.
    #[cold]
    fn widen(&mut self) {
        self.times = widened(&self.times, self.stride, 0);
        self.ports = widened(&self.ports, self.stride, PortId::NONE);
        self.stride *= 2;
    }

    /// Notes that the present switch port begins to transmit a packet at `at`.
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

    /// Ends the trace of a packet that leaves the network, and returns it.
    #[inline]
    pub fn leave(&mut self, handle: Handle) -> Trace {
        std::mem::replace(&mut self.traces[handle.0 as usize], NOWHERE)
    }

    /// A packet's switch ports so far; none if hops are not kept.
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

    /// The earliest ingress among the packets under way.
    pub fn earliest(&self) -> Time {
        self.traces.iter().map(|t| t.ingress).min().unwrap_or(Time::MAX)
    }

    /// Packets that have entered the network before `now`.
    pub fn inside(&self, now: Time) -> impl Iterator<Item = (Handle, Trace)> + '_ {
        let entered = move |(_, t): &(usize, &Trace)| t.ingress < now;
        self.traces.iter().enumerate().filter(entered).map(|(i, t)| (Handle(i as u32), *t))
    }
}

/// Doubles the length of rows of `stride` entries, filled up with `nothing`.
fn widened<T: Copy>(rows: &[T], stride: usize, nothing: T) -> Vec<T> {
    rows.chunks(stride)
        .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(nothing, stride)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links fail while the first packet is under way, so it passes more ports than any path has.
    #[test]
    fn a_packet_that_takes_a_longer_way_writes_over_no_other() {
        let mut journal = Journal::new(2, true);
        let (long, other) = (Handle(0), Handle(1));
        for handle in [long, other] {
            journal.hand(handle, Time::ZERO);
        }
        journal.arrive(other, PortId(9), Time::from_ps(90));
        journal.depart(other, Time::from_ps(91));
        for n in 1..=5 {
            journal.arrive(long, PortId(n), Time::from_ps(10 * u64::from(n)));
            journal.depart(long, Time::from_ps(10 * u64::from(n) + 1));
        }
        let of = |handle, hops| {
            let Hops { arrivals, starts, ports } = journal.hops(handle, hops);
            (arrivals.to_vec(), starts.to_vec(), ports.iter().map(|port| port.0).collect::<Vec<_>>())
        };
        let (arrivals, starts) = (vec![10, 20, 30, 40, 50], vec![11, 21, 31, 41, 51]);
        assert_eq!(of(long, 5), (arrivals, starts, vec![1, 2, 3, 4, 5]));
        assert_eq!(of(other, 1), (vec![90], vec![91], vec![9]));
    }
}
