//! One flow between two hosts: a NIC that polls for a packet whenever its link is free (or fills a queue), a
//! fixed delay each way, scripted fates, everything logged. At 10 Gb/s a full packet of 1250 B takes 1 us;
//! ACKs take no time but the delay.

use super::*;
use crate::transport::testing::{Fate, Way};
use std::collections::BTreeMap;
use thalweg_wire::{Ecn, Flags, Kind, Message};

/// One-way delay: the round trip of a full packet is 21 us.
pub const ONE_WAY: Span = Span::from_us(10);
pub const LINE: Rate = Rate::from_gbps(10);

/// Go-back-N without PFC: an ACK per packet, one timeout, no cap.
pub fn roce() -> RdmaSpec {
    RdmaSpec {
        recovery: Recovery::GoBackN { repeat_nack: None },
        cap: None,
        timer: RdmaTimer::Fixed { value: Span::from_us(320) },
        ..spec()
    }
}

/// Go-back-N over a lossless fabric: no timeouts, no ACKs.
pub fn lossless() -> RdmaSpec {
    RdmaSpec { acks: RdmaAcks::Never, timer: RdmaTimer::Off, ..roce() }
}

#[derive(Clone, Debug)]
enum Event {
    Arrival(Way, Packet),
    Look,
}

#[derive(Clone)]
pub struct Link {
    pub spec: RdmaSpec,
    pub sender: RdmaSender,
    pub receiver: RdmaReceiver,
    pub now: Time,
    pub origin: Time,
    /// By time, arrivals before looks, then as they came.
    events: BTreeMap<(Time, bool, u64), Event>,
    inserted: u64,
    free: Time,
    /// The NIC takes whatever it is given, at once.
    pub queue: bool,
    pub handed: [u64; 2],
    /// When and what was handed out: `3` packet 3, `3r` again, `a3` an ACK up to packet 3, `n3<5` a NACK
    /// because 5 came, `c` a notification; `!` ECE.
    pub log: Vec<(Time, String)>,
    pub wire_log: Vec<Packet>,
    /// When the receiver had everything.
    pub complete: Option<Time>,
}

impl Link {
    pub fn new(spec: RdmaSpec, packets: u64) -> Self {
        Self::bytes(spec, packets.saturating_mul(1000))
    }

    pub fn bytes(spec: RdmaSpec, size: u64) -> Self {
        Self::starting(spec, size, Time::ZERO)
    }

    pub fn starting(spec: RdmaSpec, size: u64, origin: Time) -> Self {
        let start = spec.start(LINE, Span::from_us(21), Span::ZERO);
        let sender = RdmaSender::new(&spec, FlowId(7), size, &start, Stream::new(1, "test", 0)).unwrap();
        let receiver = RdmaReceiver::new(&spec, FlowId(7), size);
        let mut link = Self {
            spec,
            sender,
            receiver,
            now: origin,
            origin,
            events: BTreeMap::new(),
            inserted: 0,
            free: origin,
            queue: false,
            handed: [0, 0],
            log: vec![],
            wire_log: vec![],
            complete: None,
        };
        link.sender.start(&link.spec, origin);
        link.push(origin, Event::Look);
        link
    }

    fn push(&mut self, at: Time, event: Event) {
        let look = matches!(event, Event::Look);
        self.events.insert((at, look, self.inserted), event);
        self.inserted += 1;
    }

    /// Something has been given to the sender.
    pub fn look(&mut self) {
        self.push(self.now, Event::Look);
    }

    /// One event. False if nothing is left to happen.
    pub fn step(&mut self, fate: &mut dyn FnMut(Way, u64, &Packet) -> Fate) -> bool {
        let event = self.events.first_key_value().map(|(k, _)| k.0);
        let Some(at) = [event, self.sender.timer()].into_iter().flatten().min() else { return false };
        assert!(at >= self.now, "a timer in the past");
        self.now = at;
        if event == Some(at) {
            match self.events.pop_first().unwrap().1 {
                Event::Arrival(Way::ToReceiver, packet) => {
                    let before = self.receiver.received();
                    self.receiver.on_packet(&self.spec, at, &packet, None);
                    assert!(self.receiver.received() >= before);
                    assert!(self.receiver.unique_bytes() >= self.receiver.received());
                    if self.receiver.is_done() && self.complete.is_none() {
                        self.complete = Some(at);
                    }
                    self.answer(fate);
                    return true; // nothing to do with the sender
                }
                Event::Arrival(Way::ToSender, packet) => {
                    // The only message that there is here.
                    let cnp = Side::Message(Message::Cnp);
                    let side = (packet.kind == Kind::Control).then_some(&cnp);
                    self.sender.on_packet(&self.spec, at, &packet, side);
                }
                Event::Look => {}
            }
        } else {
            self.sender.on_timer(&self.spec, at);
            assert_ne!(self.sender.timer(), Some(at), "a timer that never moves on");
        }
        self.transmit(fate);
        true
    }

    fn answer(&mut self, fate: &mut dyn FnMut(Way, u64, &Packet) -> Fate) {
        let (mut packet, mut side) = (Packet::default(), Side::default());
        while self.receiver.poll_transmit(&self.spec, self.now, &mut packet, &mut side) == Transmit::Packet {
            self.send(Way::ToSender, packet, self.now, fate);
        }
    }

    fn transmit(&mut self, fate: &mut dyn FnMut(Way, u64, &Packet) -> Fate) {
        let (mut packet, mut side) = (Packet::default(), Side::default());
        for polls in 0.. {
            assert!(polls < 100_000, "it never stops sending");
            if !self.queue && self.now < self.free {
                return;
            }
            match self.sender.poll_transmit(&self.spec, self.now, &mut packet, &mut side) {
                Transmit::Idle => return,
                Transmit::At(later) => {
                    assert!(later > self.now);
                    return self.push(later, Event::Look);
                }
                Transmit::Packet => {
                    self.free = self.free.max(self.now) + Bytes::new(u64::from(packet.wire)) / LINE;
                    self.send(Way::ToReceiver, packet, self.free, fate);
                    if !self.queue {
                        self.push(self.free, Event::Look);
                    }
                }
            }
        }
    }

    fn send(
        &mut self,
        way: Way,
        mut packet: Packet,
        from: Time,
        fate: &mut dyn FnMut(Way, u64, &Packet) -> Fate,
    ) {
        self.log.push((self.now, describe(&self.spec, &packet)));
        self.wire_log.push(packet);
        let number = self.handed[way as usize];
        self.handed[way as usize] += 1;
        let at = from + ONE_WAY;
        match fate(way, number, &packet) {
            Fate::Drop => return,
            Fate::Deliver => {}
            Fate::Late(span) => return self.push(at + span, Event::Arrival(way, packet)),
            Fate::Twice(span) => self.push(at + span, Event::Arrival(way, packet)),
            Fate::Mark => {
                if packet.ecn != Ecn::NotEct {
                    packet.ecn = Ecn::Ce;
                }
            }
            Fate::Brake => unreachable!("RDMA's packets are never sent with ECT(1)"),
        }
        self.push(at, Event::Arrival(way, packet));
    }

    /// Until nothing is left to happen.
    pub fn run(&mut self, mut fate: impl FnMut(Way, u64, &Packet) -> Fate) {
        for steps in 0.. {
            assert!(steps < 1_000_000, "it never ends");
            if !self.step(&mut fate) {
                break;
            }
        }
    }

    /// Runs with the data packets of these numbers (in order of departure, from 0) lost.
    pub fn run_losing(&mut self, lost: &[u64]) {
        self.run(
            |way, n, _| {
                if way == Way::ToReceiver && lost.contains(&n) { Fate::Drop } else { Fate::Deliver }
            },
        );
    }

    /// Runs until this instant, inclusive.
    pub fn run_until(&mut self, end: Time, mut fate: impl FnMut(Way, u64, &Packet) -> Fate) {
        while self.events.first_key_value().is_some_and(|(k, _)| k.0 <= end)
            || self.sender.timer().is_some_and(|at| at <= end)
        {
            self.step(&mut fate);
        }
    }

    /// Whole microseconds from the start until the receiver had everything.
    #[track_caller]
    pub fn fct(&self) -> u64 {
        let span = self.complete.expect("not complete").since(self.origin).ps();
        assert!(span.is_multiple_of(1_000_000), "{span}");
        span / 1_000_000
    }

    /// What was handed out by the sender, in order, without times.
    pub fn sent(&self) -> Vec<&str> {
        self.log.iter().map(|l| l.1.as_str()).filter(|w| w.as_bytes()[0].is_ascii_digit()).collect()
    }

    /// What was handed out by the receiver: microsecond and what.
    pub fn answered(&self) -> Vec<(u64, &str)> {
        let answers = self.log.iter().filter(|l| !l.1.as_bytes()[0].is_ascii_digit());
        answers.map(|(at, what)| (at.since(self.origin).ps() / 1_000_000, what.as_str())).collect()
    }

    /// Microseconds at which the sender handed out `what`.
    pub fn times(&self, what: &str) -> Vec<u64> {
        let hits = self.log.iter().filter(|l| l.1 == what);
        hits.map(|l| l.0.since(self.origin).ps() / 1_000_000).collect()
    }
}

fn describe(spec: &RdmaSpec, p: &Packet) -> String {
    let layout = super::super::layout::Layout::new(spec, u64::MAX);
    let flag = |f, text| if p.flags.has(f) { text } else { "" };
    let index = |seq: u64| seq.div_ceil(1000).max(layout.index(seq));
    match p.kind {
        Kind::Data => format!("{}{}", layout.index(p.seq), flag(Flags::RETRANSMISSION, "r")),
        Kind::Ack if p.flags.has(Flags::NACK) => {
            format!("n{}<{}{}", index(p.seq), index(p.trigger), flag(Flags::ECE, "!"))
        }
        Kind::Ack => format!("a{}{}", index(p.seq), flag(Flags::ECE, "!")),
        Kind::Control => "c".into(),
        Kind::Syn | Kind::SynAck => "?".into(),
    }
}
