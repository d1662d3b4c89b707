//! Two connected ends and the path between them in simulated time: for tests, examples and Python. Decides
//! nothing about the protocol: it carries packets and looks at timers.

mod path;

pub use path::{Kind, Path, PathError};

use crate::memory::Memory;
use crate::wire::Packet;
use crate::{
    Completion, Host, Ignored, PostError, Received, Request, Requester, Responder, Setup, SetupError,
};
use std::collections::BTreeMap;
use thalweg_units::{Span, Time};

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Requests and read (N)ACKs.
    ToResponder,
    /// ACKs, NACKs and answers.
    ToRequester,
}

/// What the path does to a packet: a copy arrives after each of these delays, counted from the end of its transmission.
pub type Fate = Vec<Span>;

/// Decides about each packet.
type Network<'f> = dyn FnMut(&Packet<'_>, Way, Time) -> Fate + Send + 'f;

/// One packet that was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// When its transmission began.
    pub at: Time,
    /// Where to.
    pub way: Way,
    /// All of it.
    pub bytes: Vec<u8>,
    /// Copies that arrive.
    pub copies: usize,
}

/// One packet that arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Where.
    pub way: Way,
    /// All of it.
    pub bytes: Vec<u8>,
    /// Whether that end could do anything with it.
    pub taken: Result<(), Ignored>,
}

/// What [`Pair::turn`] did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// A packet arrived.
    Arrived(Arrival),
    /// Time went on; a transmission ended or a timer fired.
    Waited,
    /// Nothing more happens until then.
    Still,
}

/// A requester, a responder, their memories, and the path between them.
pub struct Pair<'f> {
    /// The time that it is.
    pub now: Time,
    /// What both ends were made of.
    pub setup: Setup,
    /// The end that sends requests.
    pub requester: Requester,
    /// The end that answers.
    pub responder: Responder,
    /// The requester's memory.
    pub local: Memory,
    /// The responder's memory and shared receive queue.
    pub host: Host,
    /// What the requester's application was notified of, in order.
    pub completions: Vec<Completion>,
    /// What the responder's application was notified of, in order.
    pub received: Vec<Received>,
    /// Every packet sent, in order.
    pub sent: Vec<Seen>,
    /// How long the link of an end is busy with a packet, whatever its size. Above 0, or time may stand still.
    pub packet_time: Span,
    network: Box<Network<'f>>,
    flying: BTreeMap<(Time, u64), (Way, Vec<u8>)>,
    free: [Time; 2],
    serial: u64,
    out: Vec<u8>,
}

impl<'f> Pair<'f> {
    /// [`Pair::packet_time`] unless it is set: about 1 KB at 40 Gb/s.
    pub const PACKET_TIME: Span = Span::from_ns(200);

    /// Two ends that have sent nothing. `network` decides about each packet: [`Path::network`], or anything else.
    ///
    /// # Errors
    /// If a value of the set-up is out of range.
    pub fn new(
        setup: Setup,
        network: impl FnMut(&Packet<'_>, Way, Time) -> Fate + Send + 'f,
    ) -> Result<Self, SetupError> {
        Ok(Self {
            now: Time::ZERO,
            requester: Requester::new(&setup)?,
            responder: Responder::new(&setup)?,
            setup,
            local: Memory::default(),
            host: Host::default(),
            completions: Vec::new(),
            received: Vec::new(),
            sent: Vec::new(),
            packet_time: Self::PACKET_TIME,
            network: Box::new(network),
            flying: BTreeMap::new(),
            free: [Time::ZERO; 2],
            serial: 0,
            out: Vec::new(),
        })
    }

    /// Posts a request whose own buffer is in [`Pair::local`].
    ///
    /// # Errors
    /// See [`Requester::post`].
    pub fn post(&mut self, request: Request) -> Result<(), PostError> {
        self.requester.post(&self.local, request)
    }

    /// The next packet that arrives, or the next instant at which something else happens, if that is not after `until`.
    pub fn turn(&mut self, until: Time) -> Turn {
        if let Some(arrival) = self.deliver() {
            return Turn::Arrived(arrival);
        }
        // Timers look after everything that arrives at this instant has arrived, and the ends send after that.
        self.requester.on_timer(self.now);
        self.responder.on_timer(self.now);
        self.send();
        self.collect();
        match self.next().filter(|next| *next <= until) {
            Some(next) => {
                self.now = next;
                self.deliver().map_or(Turn::Waited, Turn::Arrived)
            }
            None => Turn::Still,
        }
    }

    /// Until `until`, or until nothing more happens; `look` sees each packet after it was taken. Ends that
    /// have given up on nothing may go on for ever: see `until`.
    pub fn run_until(&mut self, until: Time, mut look: impl FnMut(&mut Self, &Arrival)) {
        loop {
            match self.turn(until) {
                Turn::Arrived(arrival) => look(self, &arrival),
                Turn::Waited => {}
                Turn::Still => break,
            }
        }
        self.wait(until);
    }

    /// Lets time pass in which nothing happens. [`Time::MAX`]: none.
    pub fn wait(&mut self, until: Time) {
        if until != Time::MAX {
            self.now = self.now.max(until);
        }
    }

    /// Both ends have nothing to do, for all they know.
    pub fn is_idle(&self) -> bool {
        self.requester.is_idle() && self.responder.is_idle()
    }

    /// Each end whose link is free sends what it can send now: one packet.
    fn send(&mut self) {
        for (at, way) in [Way::ToResponder, Way::ToRequester].into_iter().enumerate() {
            if self.free[at] > self.now {
                continue;
            }
            let sent = match way {
                Way::ToResponder => self.requester.poll_transmit(self.now, &self.local, &mut self.out),
                Way::ToRequester => self.responder.poll_transmit(self.now, &self.host.memory, &mut self.out),
            };
            if !sent {
                continue;
            }
            let over = self.now + self.packet_time;
            self.free[at] = over;
            let Ok(packet) = Packet::decode(self.setup.dialect, &self.out) else {
                debug_assert!(false, "an end sent what is no packet");
                continue;
            };
            let fate = (self.network)(&packet, way, self.now);
            for delay in &fate {
                self.serial += 1;
                self.flying.insert((over + *delay, self.serial), (way, self.out.clone()));
            }
            self.sent.push(Seen { at: self.now, way, bytes: self.out.clone(), copies: fate.len() });
        }
    }

    /// The next instant at which something happens; `None`: nothing ever will.
    fn next(&self) -> Option<Time> {
        let flying = self.flying.keys().next().map(|(at, _)| *at);
        let busy = self.free.iter().copied().filter(|free| *free > self.now);
        let timers = [self.requester.timer(), self.responder.timer()].into_iter().flatten();
        flying.into_iter().chain(busy).chain(timers).min().map(|at| at.max(self.now))
    }

    fn deliver(&mut self) -> Option<Arrival> {
        let entry = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now)?;
        let (way, bytes) = entry.remove();
        let taken = match way {
            Way::ToResponder => self.responder.on_packet(self.now, &mut self.host, &bytes),
            Way::ToRequester => self.requester.on_packet(self.now, &mut self.local, &bytes),
        };
        self.collect();
        Some(Arrival { way, bytes, taken })
    }

    fn collect(&mut self) {
        self.completions.extend(std::iter::from_fn(|| self.requester.poll_completion()));
        self.received.extend(std::iter::from_fn(|| self.responder.poll_received()));
    }
}
