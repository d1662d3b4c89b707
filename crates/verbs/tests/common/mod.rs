//! Two ends of a queue pair and the network between them, in simulated time.
#![allow(dead_code)]

pub mod cases;
pub mod workload;

use std::collections::BTreeMap;
use thalweg_units::{Span, Stream, Time};
use thalweg_verbs::memory::Memory;
use thalweg_verbs::wire::Packet;
use thalweg_verbs::{Completion, Host, Received, Requester, Responder, Setup};

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    ToResponder,
    ToRequester,
}

/// What the network does to a packet: a copy arrives after each of these delays.
pub type Fate = Vec<Span>;

/// Decides about each packet.
type Network<'f> = dyn FnMut(&Packet<'_>, Way, Time) -> Fate + 'f;

/// One way.
pub const DELAY: Span = Span::from_us(12);
/// Time on the link of every packet.
pub const SERIAL: Span = Span::from_ns(200);

/// What happened, for tests that look at single packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub at: Time,
    pub way: Way,
    pub bytes: Vec<u8>,
    /// Copies that arrive.
    pub copies: usize,
}

pub struct Net<'f> {
    pub now: Time,
    pub setup: Setup,
    pub requester: Requester,
    pub responder: Responder,
    pub local: Memory,
    pub host: Host,
    pub completions: Vec<Completion>,
    pub received: Vec<Received>,
    pub sent: Vec<Seen>,
    fate: Box<Network<'f>>,
    flying: BTreeMap<(Time, u64), (Way, Vec<u8>)>,
    free: [Time; 2],
    serial: u64,
    out: Vec<u8>,
}

/// Loses, repeats and delays at random.
pub fn random_fate(
    mut r: Stream,
    loss: f64,
    repeat: f64,
    jitter: Span,
) -> impl FnMut(&Packet<'_>, Way, Time) -> Fate {
    move |_, _, _| {
        let mut fate = Vec::new();
        let copies = if r.unit() < loss { 0 } else { 1 + usize::from(r.unit() < repeat) };
        for _ in 0..copies {
            fate.push(DELAY + Span::from_ps(r.below(jitter.ps() + 1)));
        }
        fate
    }
}

/// Delivers everything in order.
pub fn faithful(_: &Packet<'_>, _: Way, _: Time) -> Fate {
    vec![DELAY]
}

impl<'f> Net<'f> {
    pub fn new(setup: Setup, fate: impl FnMut(&Packet<'_>, Way, Time) -> Fate + 'f) -> Self {
        Self {
            now: Time::ZERO,
            requester: Requester::new(&setup).unwrap(),
            responder: Responder::new(&setup).unwrap(),
            setup,
            local: Memory::default(),
            host: Host::default(),
            completions: Vec::new(),
            received: Vec::new(),
            sent: Vec::new(),
            fate: Box::new(fate),
            flying: BTreeMap::new(),
            free: [Time::ZERO; 2],
            serial: 0,
            out: Vec::new(),
        }
    }

    /// Everything that can be sent now is sent, a packet per transmission time.
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
            self.free[at] = self.now + SERIAL;
            let packet = Packet::decode(self.setup.dialect, &self.out).unwrap();
            let fate = (self.fate)(&packet, way, self.now);
            for delay in &fate {
                self.serial += 1;
                self.flying.insert((self.now + SERIAL + *delay, self.serial), (way, self.out.clone()));
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

    fn deliver(&mut self, look: &mut dyn FnMut(&mut Self, Way, &[u8])) {
        while let Some(entry) = self.flying.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (way, bytes) = entry.remove();
            let taken = match way {
                Way::ToResponder => self.responder.on_packet(self.now, &mut self.host, &bytes),
                Way::ToRequester => self.requester.on_packet(self.now, &mut self.local, &bytes),
            };
            assert_eq!(taken, Ok(()), "{:?}", Packet::decode(self.setup.dialect, &bytes));
            self.collect();
            look(self, way, &bytes);
        }
    }

    fn collect(&mut self) {
        self.completions.extend(std::iter::from_fn(|| self.requester.poll_completion()));
        self.received.extend(std::iter::from_fn(|| self.responder.poll_received()));
    }

    /// Until `until`, or until nothing more happens; `look` sees each packet after it was taken.
    pub fn run_looking(&mut self, until: Time, mut look: impl FnMut(&mut Self, Way, &[u8])) {
        loop {
            self.send();
            self.collect();
            let Some(next) = self.next().filter(|next| *next <= until) else { break };
            self.now = next;
            self.deliver(&mut look);
            self.requester.on_timer(self.now);
            self.responder.on_timer(self.now);
        }
        if until != Time::MAX {
            self.now = self.now.max(until);
        }
    }

    pub fn run(&mut self, until: Time) {
        self.run_looking(until, |_, _, _| {});
    }

    /// How many packets were sent on this way that `which` picks.
    pub fn count(&self, way: Way, which: impl Fn(&Packet<'_>) -> bool) -> usize {
        let picked = |seen: &&Seen| {
            seen.way == way && which(&Packet::decode(self.setup.dialect, &seen.bytes).unwrap())
        };
        self.sent.iter().filter(picked).count()
    }
}
