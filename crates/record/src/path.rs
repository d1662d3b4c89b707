//! A port of a scenario in virtual time without I/O, driven by packets that arrive at given times.
//!
//! Everything that is due before an arrival is decided as of its own instant, not as of the instant at which an
//! emulator wakes up. So a late wake-up changes when bytes leave but not the decisions, and the same arrivals give the
//! same decisions offline ([`crate::replay`]).
//!
//! The order at one instant is that of the simulator: packets arrive, the control plane ticks, the port decides. No two
//! real packets arrive at one instant ([`Path::arrive`]): a packet whose timestamp is not after the last decision
//! arrives a picosecond after that.

use crate::pool::{Pool, Waiting};
use crate::port::Port;
use thalweg_machines::Invalid;
use thalweg_machines::egress::{Arrived, Egress, EgressTotals, Poll, Sent};
use thalweg_machines::schedule::Discipline;
use thalweg_units::{FlowId, HostId, Span, Time};
use thalweg_wire::{Ecn, Handle, Kind, NO_SIDE, Packet};

/// An arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time of arrival.
    pub at: Time,
    /// Its flow.
    pub flow: FlowId,
    /// Its destination.
    pub dst: HostId,
    /// Bytes of the IP packet.
    pub wire: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// Its kind.
    pub kind: Kind,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// Its class.
    pub class: u8,
}

/// A decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The packet, numbered in the order of arrival from 0.
    pub packet: u64,
    /// The driver's label of the packet.
    pub label: u32,
    /// Time of its arrival.
    pub came: Time,
    /// Time of the decision; if the packet is sent, its transmission begins then.
    pub at: Time,
    /// True if its ECN bits have changed since it arrived.
    pub marked: bool,
    /// Its fate.
    pub fate: Fate,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its transmission begins.
    Sent {
        /// When its last bit leaves.
        until: Time,
        /// When it arrives at the far end; `None`: the link loses it.
        arrives: Option<Time>,
        /// Its ECN bits when it leaves.
        ecn: Ecn,
    },
    /// It is dropped.
    Dropped,
    /// Its payload is cut off, and the header waits. Another decision follows.
    Trimmed {
        /// Number of bytes cut off.
        cut: u32,
    },
}

/// A port in virtual time.
pub struct Path {
    port: Egress,
    pool: Pool,
    /// The time of the last decision.
    now: Time,
    /// When the port wants to be polled.
    poll_at: Option<Time>,
    arrived: u64,
    gone: Vec<Handle>,
}

impl Path {
    /// A port at which nothing has arrived.
    ///
    /// # Errors
    /// If the port's parameters contradict each other.
    pub fn new(port: &Port) -> Result<Self, Invalid> {
        let port = port.make()?;
        Ok(Self { port, pool: Pool::default(), now: Time::ZERO, poll_at: None, arrived: 0, gone: Vec::new() })
    }

    /// The time of arrival of a packet with this timestamp.
    pub fn stamp(&self, at: Time) -> Time {
        at.max(self.now.saturating_add(Span::from_ps(1)))
    }

    /// A packet arrives at the [`Path::stamp`] of its time; `label` is the driver's label. All decisions until then,
    /// and at that time, are given to `decided`.
    pub fn arrive(&mut self, arrival: &Arrival, label: u32, decided: &mut impl FnMut(Decision)) {
        let at = self.stamp(arrival.at);
        let Arrival { flow, dst, wire, payload, kind, ecn, class, .. } = *arrival;
        let seq = self.arrived;
        let packet = Packet {
            stamp: at,
            seq,
            flow,
            wire,
            payload,
            dst,
            side: NO_SIDE,
            kind,
            ecn,
            class,
            ..Packet::default()
        };
        self.join(at, packet, label, decided);
        self.instant(at, decided);
    }

    /// A packet arrives at an instant that is not before the last decision. The port decides after all arrivals of that
    /// instant: when a later packet arrives, or time advances. Decisions until then are given to `decided`, as are
    /// those that the arrival itself causes: drops and trims.
    pub fn join(&mut self, at: Time, packet: Packet, label: u32, decided: &mut impl FnMut(Decision)) {
        // The control plane has ticked in the meantime, even if nothing waited.
        while let Some(due) = self.due(true).filter(|due| *due < at) {
            self.instant(due, decided);
        }
        self.now = at;
        let ecn = packet.ecn;
        let handle = self.pool.put(Waiting { packet, number: self.arrived, label, came: at, ecn });
        self.arrived += 1;
        let arrived = self.port.arrive(at, handle, &mut self.pool, &mut self.gone);
        if arrived == Arrived::Dropped {
            self.gone.push(handle);
        }
        self.drop_gone(at, decided);
        if let Arrived::Trimmed { handle, cut } = arrived {
            let Waiting { number: packet, label, came, .. } = *self.pool.get(handle);
            decided(Decision { packet, label, came, at, marked: false, fate: Fate::Trimmed { cut } });
        }
        self.poll_at = Some(at);
    }

    /// Completes an instant, though more packets may arrive at it: the control plane ticks, and the port decides.
    pub fn settle(&mut self, at: Time, decided: &mut impl FnMut(Decision)) {
        while let Some(due) = self.due(true).filter(|due| *due <= at) {
            self.instant(due, decided);
        }
    }

    /// Takes all decisions that are due until `to`, each as of its own instant.
    pub fn advance(&mut self, to: Time, decided: &mut impl FnMut(Decision)) {
        while let Some(due) = self.due(false).filter(|due| *due <= to) {
            self.instant(due, decided);
        }
    }

    /// The time of the next decision about a waiting packet; `None` if nothing waits.
    pub fn wake(&self) -> Option<Time> {
        self.poll_at
    }

    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Counters of the port.
    pub fn totals(&self) -> EgressTotals {
        self.port.totals()
    }

    /// Number of waiting packets.
    pub fn waiting(&self) -> u32 {
        self.port.waiting()
    }

    /// The next due instant. Ticks of a control plane count only while packets wait, or if `ticks`.
    pub fn due(&self, ticks: bool) -> Option<Time> {
        let tick = self.port.wake().filter(|_| ticks || self.poll_at.is_some());
        [self.poll_at, tick].into_iter().flatten().min()
    }

    /// Handles this instant, which must be the first that is due.
    pub fn instant(&mut self, at: Time, decided: &mut impl FnMut(Decision)) {
        self.now = at;
        self.tick(at);
        self.decide(at, decided);
    }

    fn tick(&mut self, at: Time) {
        if self.port.wake().is_some_and(|wake| wake <= at) {
            self.port.tick(at);
        }
    }

    fn decide(&mut self, at: Time, decided: &mut impl FnMut(Decision)) {
        self.poll_at = loop {
            let polled = self.port.poll(at, &mut self.pool, &mut self.gone);
            self.drop_gone(at, decided);
            match polled {
                Poll::Transmit { what: Sent::Packet(handle), until, arrives } => {
                    let Waiting { number: packet, label, came, ecn: before, packet: Packet { ecn, .. } } =
                        self.pool.take(handle);
                    let fate = Fate::Sent { until, arrives, ecn };
                    decided(Decision { packet, label, came, at, marked: ecn != before, fate });
                }
                // Pause frames are for neighbouring switches, of which there is none.
                Poll::Transmit { .. } => {}
                Poll::Wait(next) => break Some(next),
                Poll::Idle => break self.port.queue().held_until().filter(|next| *next > at),
            }
        };
    }
    /// Reports the packets that were dropped.
    fn drop_gone(&mut self, at: Time, decided: &mut impl FnMut(Decision)) {
        for handle in self.gone.drain(..) {
            let Waiting { number: packet, label, came, .. } = self.pool.take(handle);
            decided(Decision { packet, label, came, at, marked: false, fate: Fate::Dropped });
        }
    }
}
