//! A port in virtual time and without any I/O: the scenario's own, driven by packets that arrive at their stamps.
//!
//! Whatever is due before an arrival is decided as of its own instant, never as of the instant at which an emulator
//! looks. So waking late changes when bytes leave and not what was decided, and the same arrivals give the same
//! decisions offline ([`crate::replay`]).
//!
//! At one instant, as in the simulator: packets arrive, the control plane ticks, the port decides. Of real packets no
//! two arrive at one instant ([`Path::arrive`]): one whose stamp is not after what has been decided arrives a
//! picosecond after that.

use crate::pool::{Pool, Waiting};
use crate::port::Port;
use thalweg_machines::Invalid;
use thalweg_machines::egress::{Arrived, Egress, EgressTotals, Poll, Sent};
use thalweg_machines::schedule::Discipline;
use thalweg_units::{FlowId, HostId, Span, Time};
use thalweg_wire::{Ecn, Handle, Kind, NO_SIDE, Packet};

/// A packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// Its flow.
    pub flow: FlowId,
    /// Where it goes.
    pub dst: HostId,
    /// IP bytes.
    pub wire: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// What it is.
    pub kind: Kind,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// Its class.
    pub class: u8,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which: packets are numbered as they arrive, from 0.
    pub packet: u64,
    /// What the driver called it.
    pub label: u32,
    /// When it came.
    pub came: Time,
    /// When this was decided: of a packet that is sent, when its transmission begins.
    pub at: Time,
    /// Its ECN bits are others than those that it came with.
    pub marked: bool,
    /// Sent or not.
    pub fate: Fate,
}

/// What was decided of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is sent.
    Sent {
        /// When its last bit has left.
        until: Time,
        /// When it is at the far end; `None`: the link loses it.
        arrives: Option<Time>,
        /// Its ECN bits now.
        ecn: Ecn,
    },
    /// It is dropped.
    Dropped,
    /// Its payload is cut off, and the header waits: its fate is to follow.
    Trimmed {
        /// So many bytes.
        cut: u32,
    },
}

/// One direction.
pub struct Path {
    port: Egress,
    pool: Pool,
    /// The last instant at which anything was decided.
    now: Time,
    /// When the port wants to be polled.
    poll_at: Option<Time>,
    arrived: u64,
    gone: Vec<Handle>,
}

impl Path {
    /// Before anything has arrived.
    ///
    /// # Errors
    /// If the port's parameters contradict each other.
    pub fn new(port: &Port) -> Result<Self, Invalid> {
        let port = port.make()?;
        Ok(Self { port, pool: Pool::default(), now: Time::ZERO, poll_at: None, arrived: 0, gone: Vec::new() })
    }

    /// When a packet with this stamp arrives for the port.
    pub fn stamp(&self, at: Time) -> Time {
        at.max(self.now.saturating_add(Span::from_ps(1)))
    }

    /// A packet arrives, at the [`Path::stamp`] of its time; `label` is the driver's name of it. What is decided until
    /// then, and then, is handed to `decided`.
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

    /// A packet arrives, at an instant that is not before what has been decided; the port decides once all of that
    /// instant have arrived: as the next one does, or time advances. What is decided until then is handed to
    /// `decided`, and so is what the packet's arrival decides: drops and trims.
    pub fn join(&mut self, at: Time, packet: Packet, label: u32, decided: &mut impl FnMut(Decision)) {
        // Control planes have ticked in the meantime, though nothing waited.
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

    /// All of this instant has happened, though more may arrive at it: control planes have ticked, the port has
    /// decided.
    pub fn settle(&mut self, at: Time, decided: &mut impl FnMut(Decision)) {
        while let Some(due) = self.due(true).filter(|due| *due <= at) {
            self.instant(due, decided);
        }
    }

    /// Decides what is due up to `to`, each as of its own instant.
    pub fn advance(&mut self, to: Time, decided: &mut impl FnMut(Decision)) {
        while let Some(due) = self.due(false).filter(|due| *due <= to) {
            self.instant(due, decided);
        }
    }

    /// When something will be decided of what waits; `None`: nothing waits.
    pub fn wake(&self) -> Option<Time> {
        self.poll_at
    }

    /// The last instant at which something happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What the port has done so far.
    pub fn totals(&self) -> EgressTotals {
        self.port.totals()
    }

    /// Packets that wait.
    pub fn waiting(&self) -> u32 {
        self.port.waiting()
    }

    /// The next instant: a control plane that ticks for ever is of interest while something waits, or if `ticks`.
    pub fn due(&self, ticks: bool) -> Option<Time> {
        let tick = self.port.wake().filter(|_| ticks || self.poll_at.is_some());
        [self.poll_at, tick].into_iter().flatten().min()
    }

    /// What is due at this instant, which no other one that is due comes before.
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
                // Frames go between switches, and there is no other one.
                Poll::Transmit { .. } => {}
                Poll::Wait(next) => break Some(next),
                Poll::Idle => break self.port.queue().held_until().filter(|next| *next > at),
            }
        };
    }
    /// Those that are given up.
    fn drop_gone(&mut self, at: Time, decided: &mut impl FnMut(Decision)) {
        for handle in self.gone.drain(..) {
            let Waiting { number: packet, label, came, .. } = self.pool.take(handle);
            decided(Decision { packet, label, came, at, marked: false, fate: Fate::Dropped });
        }
    }
}
