//! Time series and counts that a run records besides its flows.

use crate::events::{Events, Phase};
use crate::port::Lane;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, PortId, Span, Time};

/// Probes are numbered; the number is the entity of their sampling event.
pub(crate) const QUEUES: u32 = 0;
pub(crate) const LINKS: u32 = 1;
pub(crate) const CONTROLLERS: u32 = 2;
pub(crate) const CARRIED: u32 = 3;

/// One look at one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSample {
    /// When.
    pub at: Time,
    /// Which.
    pub port: PortId,
    /// Packets waiting, without the one being transmitted.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped here so far.
    pub dropped: u64,
    /// Packets marked here so far.
    pub marked: u64,
}

/// One look at one link direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkSample {
    /// When.
    pub at: Time,
    /// Which.
    pub port: PortId,
    /// Packets carried so far.
    pub packets: u64,
    /// Bytes carried so far.
    pub bytes: u64,
}

/// One look at one sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerSample {
    /// When.
    pub at: Time,
    /// Whose.
    pub flow: FlowId,
    /// Window in payload bytes.
    pub window: u64,
    /// Slow-start threshold in payload bytes; `u64::MAX`: none.
    pub threshold: u64,
    /// Payload bytes in the network.
    pub in_flight: u64,
    /// Smoothed round-trip time in picoseconds; 0: no sample yet.
    pub srtt: u64,
    /// Payload bytes delivered in order so far.
    pub delivered: u64,
    /// Pace in bits per second; 0: none.
    pub pace: u64,
}

/// A round trip that a sender measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// When the ACK that gave it arrived.
    pub at: Time,
    /// Whose.
    pub flow: FlowId,
    /// As its controller was told.
    pub rtt: Span,
    /// The controller's pace after it, bits per second; 0: none.
    pub pace: u64,
}

/// What the probes have seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// Flows that count.
    pub measured_total: u64,
    /// Queue lengths.
    pub queues: Vec<QueueSample>,
    /// Link counters.
    pub links: Vec<LinkSample>,
    /// Senders.
    pub controllers: Vec<ControllerSample>,
    /// Round trips.
    pub completions: Vec<Completion>,
    /// Per port: bytes carried until the first instant of `ProbeSpec::carried`; since the second: between the two.
    pub carried: Vec<u64>,
    /// The second instant has passed.
    pub carried_closed: bool,
    /// Per port, per ADS priority: packets that joined its queue.
    pub priorities: Vec<Vec<u64>>,
}

impl Probes {
    /// Counts a packet of the given rank that joined the queue of `port` (ADS §3.3: priority =
    /// min(remaining, cap) / MTU, rounded up).
    #[cold]
    pub(crate) fn count_priority(&mut self, port: PortId, rank: i64, how: Option<(Bytes, u32)>) {
        let Some((cap, mtu)) = how else { return };
        let priority = u64::try_from(rank).unwrap_or(0).min(cap.get()).div_ceil(u64::from(mtu)) as usize;
        let counts = &mut self.priorities[port.at()];
        if counts.len() <= priority {
            counts.resize(priority + 1, 0);
        }
        counts[priority] += 1;
    }
}

impl<Q: Events> Sim<Q> {
    /// A probe looks.
    pub(crate) fn sample(&mut self, probe: u32) {
        let at = self.now;
        for id in 0..self.ports.len() {
            self.catch_up_now(PortId::from(id));
        }
        let every = match probe {
            QUEUES => {
                let Some((every, ports)) = &self.spec.probes.queues else { return };
                for &port in ports {
                    let (packets, bytes) = self.backlog(port);
                    let totals = self.ports[port.at()].totals();
                    let (dropped, marked) = (totals.dropped, totals.marked);
                    self.probes.queues.push(QueueSample { at, port, packets, bytes, dropped, marked });
                }
                *every
            }
            LINKS => {
                let Some((every, ports)) = &self.spec.probes.links else { return };
                for &port in ports {
                    let (packets, bytes) = self.carried(port);
                    self.probes.links.push(LinkSample { at, port, packets, bytes });
                }
                *every
            }
            CARRIED => return self.sample_carried(),
            _ => {
                let Some((every, flows)) = &self.spec.probes.controllers else { return };
                for &flow in flows {
                    let Some(&slot) = self.connections.get(flow.at()) else { continue };
                    let Some(sending) = self.sending.get(slot as usize) else { continue };
                    let stats = sending.sender.stats();
                    self.probes.controllers.push(ControllerSample {
                        at,
                        flow,
                        window: stats.window.get(),
                        threshold: stats.threshold.get(),
                        in_flight: stats.in_flight.get(),
                        srtt: stats.srtt.ps(),
                        delivered: self.receiving[slot as usize].receiver.received(),
                        pace: stats.pace.map_or(0, |rate| rate.bps()),
                    });
                }
                *every
            }
        };
        let next = self.now.saturating_add(every);
        if next <= self.spec.stop.until {
            self.events
                .push(crate::events::Event { at: next, tag: crate::events::Tag::new(Phase::Sample, probe) });
        }
    }

    /// A packet has come back to a sender that had measured so many round trips, of this sum, before: did it measure
    /// another?
    #[cold]
    pub(crate) fn note_completion(&mut self, slot: usize, flow: FlowId, before: (u32, Span)) {
        let Some((from, until)) = self.spec.probes.completions else { return };
        let stats = self.sending[slot].sender.stats();
        if stats.rtt_samples > before.0 && self.now >= from && self.now < until {
            let pace = stats.pace.map_or(0, |rate| rate.bps());
            let rtt = stats.rtt_sum - before.1;
            self.probes.completions.push(Completion { at: self.now, flow, rtt, pace });
        }
    }

    /// The window of `ProbeSpec::carried` opens or closes.
    fn sample_carried(&mut self) {
        let Some((from, until)) = self.spec.probes.carried else { return };
        if self.probes.carried.is_empty() {
            self.probes.carried = (0..self.ports.len()).map(|p| self.carried(PortId::from(p)).1).collect();
            debug_assert_eq!(self.now, from);
            let tag = crate::events::Tag::new(Phase::Sample, CARRIED);
            self.events.push(crate::events::Event { at: until, tag });
        } else {
            self.close_carried();
        }
    }

    fn close_carried(&mut self) {
        for port in 0..self.ports.len() {
            let now = self.carried(PortId::from(port)).1;
            self.probes.carried[port] = now - self.probes.carried[port];
        }
        self.probes.carried_closed = true;
    }

    /// Packets and bytes that a port has put on its wire; those whose place is only booked do not count.
    pub fn carried(&self, port: PortId) -> (u64, u64) {
        let totals = &self.ports[port.at()].totals();
        match self.ports[port.at()].lane {
            Lane::Express => {
                let (packets, bytes) = self.backlog(port);
                (totals.packets - u64::from(packets), totals.bytes - bytes)
            }
            Lane::Ordered => (totals.packets, totals.bytes),
        }
    }

    /// Packets and bytes waiting at a port, without the one being transmitted.
    pub fn backlog(&self, port: PortId) -> (u32, u64) {
        match self.ports[port.at()].lane {
            Lane::Express => self.ports[port.at()].express_backlog(self.now),
            Lane::Ordered => (self.ports[port.at()].waiting, self.ports[port.at()].waiting_bytes),
        }
    }
}
