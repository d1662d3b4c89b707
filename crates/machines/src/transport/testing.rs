//! Two hosts and a path for tests: fixed one-way delays, no rates, scripted fates, every packet logged.

use super::*;
use crate::congestion::ControllerSpec;
use std::collections::BTreeMap;
pub use thalweg_units::Bytes;
use thalweg_wire::{Ecn, Flags, Kind, Message, NO_SIDE};

/// What becomes of a packet that a host hands out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Deliver,
    Drop,
    /// Arrives this much later than the others.
    Late(Span),
    /// Arrives twice, the copy this much later.
    Twice(Span),
    /// Arrives with CE (if it is ECN-capable).
    Mark,
    /// Arrives with ECT(0), if it was sent with ECT(1).
    Brake,
}

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    ToReceiver,
    ToSender,
}

#[derive(Clone, Debug)]
enum Event {
    Arrival(Way, Packet, Option<Box<Side>>),
    Poll,
}

/// MSS of most tests: sequence numbers read as segment numbers.
pub const MSS: u64 = 1000;
/// One-way delay; a round trip is 100 us.
pub const ONE_WAY: Span = Span::from_us(50);

/// A TCP of SACK, NewReno, an ACK per packet, RTO of at least 1 ms.
pub fn tcp() -> TcpSpec {
    TcpSpec {
        controller: ControllerSpec::NewReno(Default::default()),
        mss: MSS as u32,
        header: 40,
        ack_wire: 40,
        syn_wire: 41,
        initial_window: Bytes::new(10 * MSS),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        rto: RtoRule::Rfc6298 {
            initial: Span::from_ms(3),
            min: Span::from_ms(1),
            max: Span::from_ms(60_000),
        },
        loss: LossDetection::DupAck { threshold: 3 },
        limited_transmit: true,
        impatient: false,
        sack: Sack::Blocks { blocks: 4, on_wire: false },
        ack: AckSpec { every: 1, delay: Span::from_us(500) },
        handshake: false,
        ecn: EcnSpec::Off,
        flight: Flight::Pipe,
        timestamps: false,
        probe_after: None,
        rank: Rank::Remaining,
        acks_in_class: false,
        writes: None,
        options: TcpOptions::default(),
    }
}

/// The same by time, with probes (RFC 8985).
pub fn rack() -> TcpSpec {
    TcpSpec { loss: LossDetection::Rack { tail_probes: true }, ..tcp() }
}

/// The same without SACK.
pub fn reno() -> TcpSpec {
    TcpSpec { sack: Sack::Off, ..tcp() }
}

/// pFabric's hosts: minTCP, timer only, 300 us.
pub fn min_tcp() -> TcpSpec {
    TcpSpec {
        controller: ControllerSpec::MinTcp(Default::default()),
        loss: LossDetection::TimeoutOnly,
        rto: RtoRule::Fixed { value: Span::from_us(300) },
        sack: Sack::Blocks { blocks: 16, on_wire: false },
        timestamps: false,
        probe_after: Some(5),
        ..tcp()
    }
}

/// One flow between two hosts.
#[derive(Clone)]
pub struct Pair {
    pub spec: TransportSpec,
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    origin: Time,
    events: BTreeMap<(Time, u64), Event>,
    inserted: u64,
    /// The last instant for which a departure was planned.
    polled_at: Time,
    /// Packets handed out so far, each way.
    pub handed: [u64; 2],
    /// (microseconds since the start, what) of everything handed out: `3` segment 3, `3r` again, `p3` a probe,
    /// `S` a SYN, `S/` a SYN-ACK, `a3` an ACK up to segment 3, `a3[5-7]` with SACK; `!` ECE, `c` CWR.
    pub log: Vec<(u64, String)>,
    /// What the receiver had in order when this was last read: never less later.
    received: u64,
    /// Every packet handed out, both ways.
    pub wire_log: Vec<Packet>,
}

impl Pair {
    pub fn new(spec: TcpSpec, segments: u64) -> Self {
        Self::bytes(spec, segments * MSS)
    }

    pub fn bytes(spec: TcpSpec, size: u64) -> Self {
        Self::starting(spec, size, Time::ZERO)
    }

    pub fn starting(spec: TcpSpec, size: u64, origin: Time) -> Self {
        let start = spec.start(Rate::from_gbps(10), ONE_WAY + ONE_WAY, Span::ZERO);
        let spec = TransportSpec::Tcp(spec);
        let sender = spec.sender(FlowId(7), size, &start, Stream::new(1, "test", 0)).unwrap();
        let receiver = spec.receiver(FlowId(7), size, Stream::default());
        let mut pair = Self {
            spec,
            sender,
            receiver,
            now: origin,
            origin,
            events: BTreeMap::new(),
            inserted: 0,
            polled_at: Time::MAX,
            handed: [0, 0],
            log: vec![],
            received: 0,
            wire_log: vec![],
        };
        pair.sender.start(&pair.spec, origin);
        pair.push(origin, Event::Poll);
        pair
    }

    fn push(&mut self, at: Time, event: Event) {
        self.events.insert((at, self.inserted), event);
        self.inserted += 1;
    }

    /// The next instant at which anything happens.
    fn next(&self) -> Option<Time> {
        let event = self.events.first_key_value().map(|(k, _)| k.0);
        [event, self.sender.timer(), self.receiver.timer()].into_iter().flatten().min()
    }

    /// One event. False if nothing is left to happen.
    pub fn step(&mut self, fate: &mut dyn FnMut(Way, u64, &Packet) -> Fate) -> bool {
        let Some(at) = self.next() else { return false };
        assert!(at >= self.now, "a timer in the past");
        self.now = at;
        if self.events.first_key_value().is_some_and(|(k, _)| k.0 == at) {
            let (_, event) = self.events.pop_first().unwrap();
            if let Event::Arrival(way, packet, side) = event {
                match way {
                    Way::ToReceiver => self.receiver.on_packet(&self.spec, at, &packet, side.as_deref()),
                    Way::ToSender => self.sender.on_packet(&self.spec, at, &packet, side.as_deref()),
                };
            }
        } else if self.sender.timer() == Some(at) {
            self.sender.on_timer(&self.spec, at);
            assert_ne!(self.sender.timer(), Some(at), "a timer that never moves on");
        } else {
            self.receiver.on_timer(&self.spec, at);
        }
        self.drain(fate);
        assert!(self.receiver.received() >= self.received, "delivery went backwards");
        self.received = self.receiver.received();
        assert!(self.receiver.unique_bytes() >= self.received);
        true
    }

    /// Both ends send what they may, in one call; a copy that is polled packet by packet must do the same.
    fn drain(&mut self, fate: &mut dyn FnMut(Way, u64, &Packet) -> Fate) {
        macro_rules! drained {
            ($end:expr) => {{
                let (mut packet, mut side) = (Packet::default(), Side::default());
                let (mut left, mut polled, mut copy) = (Vec::new(), Vec::new(), $end.clone());
                let drained = $end.drain(&self.spec, self.now, (&mut packet, &mut side), |packet, side| {
                    assert!(left.len() < 100_000, "it never stops sending");
                    left.push((*packet, *side));
                });
                let paced = super::recorder::unrecorded(|| {
                    loop {
                        match copy.poll_transmit(&self.spec, self.now, &mut packet, &mut side) {
                            Transmit::Packet => polled.push(packet),
                            Transmit::Idle => break Time::MAX,
                            Transmit::At(later) => break later,
                        }
                    }
                });
                assert!(left.iter().map(|(packet, _)| packet).eq(&polled));
                assert_eq!(drained, copy.after_drain(paced));
                assert_eq!(drained.done, $end.is_done());
                assert_eq!(drained.wake, $end.timer().unwrap_or(Time::MAX).min(paced));
                (left, paced)
            }};
        }
        for way in [Way::ToReceiver, Way::ToSender] {
            let (left, paced) = match way {
                Way::ToReceiver => drained!(self.sender),
                Way::ToSender => drained!(self.receiver),
            };
            for (packet, side) in left {
                self.send(way, packet, &side, fate);
            }
            if paced != Time::MAX {
                assert!(paced > self.now);
                // One that is due then is enough.
                if self.polled_at != paced {
                    self.polled_at = paced;
                    self.push(paced, Event::Poll);
                }
            }
        }
    }

    fn send(
        &mut self,
        way: Way,
        packet: Packet,
        side: &Side,
        fate: &mut dyn FnMut(Way, u64, &Packet) -> Fate,
    ) {
        let has_side = packet.side != NO_SIDE;
        self.log.push((
            self.now.since(self.origin).ps() / 1_000_000,
            describe(&packet, has_side.then_some(side)),
        ));
        self.wire_log.push(packet);
        let number = self.handed[way as usize];
        self.handed[way as usize] += 1;
        let mut packet = packet;
        let at = self.now + ONE_WAY;
        let side = has_side.then(|| Box::new(*side));
        match fate(way, number, &packet) {
            Fate::Drop => return,
            Fate::Deliver => {}
            Fate::Late(span) => return self.push(at + span, Event::Arrival(way, packet, side)),
            Fate::Twice(span) => self.push(at + span, Event::Arrival(way, packet, side.clone())),
            Fate::Mark => {
                if packet.ecn != Ecn::NotEct {
                    packet.ecn = Ecn::Ce;
                }
            }
            Fate::Brake => {
                if packet.ecn == Ecn::Ect1 {
                    packet.ecn = Ecn::Ect0;
                }
            }
        }
        self.push(at, Event::Arrival(way, packet, side));
    }

    /// Until nothing is left to happen.
    pub fn run(&mut self, mut fate: impl FnMut(Way, u64, &Packet) -> Fate) {
        let mut steps = 0;
        while self.step(&mut fate) {
            steps += 1;
            assert!(steps < 1_000_000, "it never ends");
        }
        assert!(self.sender.is_done() && self.receiver.is_done());
    }

    /// Runs with the data packets of these numbers (in order of departure, from 0) lost.
    pub fn run_losing(&mut self, lost: &[u64]) {
        self.run(
            |way, n, _| if way == Way::ToReceiver && lost.contains(&n) { Fate::Drop } else { Fate::Deliver },
        );
    }

    /// What the sender handed out, grouped by instant: `"100: 10 11"`.
    pub fn sent(&self) -> Vec<String> {
        self.grouped(|what| !what.starts_with('a') && what != "S/")
    }

    /// What the receiver handed out, grouped by instant.
    pub fn answered(&self) -> Vec<String> {
        self.grouped(|what| what.starts_with('a') || what == "S/")
    }

    fn grouped(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut groups: Vec<(u64, String)> = vec![];
        for (at, what) in self.log.iter().filter(|(_, what)| wanted(what)) {
            match groups.last_mut() {
                Some((t, line)) if t == at => *line += &format!(" {what}"),
                _ => groups.push((*at, format!("{at}: {what}"))),
            }
        }
        groups.into_iter().map(|g| g.1).collect()
    }

    pub fn stats(&self) -> SenderStats {
        self.sender.stats()
    }
}

fn describe(p: &Packet, side: Option<&Side>) -> String {
    let flag = |f, text| if p.flags.has(f) { text } else { "" };
    match p.kind {
        Kind::Data if p.payload == 0 => format!("p{}", p.seq / MSS),
        Kind::Data => format!("{}{}{}", p.seq / MSS, flag(Flags::RETRANSMISSION, "r"), flag(Flags::CWR, "c")),
        Kind::Syn => "S".into(),
        Kind::SynAck => "S/".into(),
        Kind::Ack => {
            let blocks = side.map_or(String::new(), |s| {
                let list: Vec<_> = s.sack().iter().map(|(a, b)| format!("{}-{}", a / MSS, b / MSS)).collect();
                format!("[{}]", list.join(","))
            });
            format!("a{}{blocks}{}{}", p.seq / MSS, flag(Flags::ECE, "!"), flag(Flags::NS, "+"))
        }
        Kind::Control => "?".into(),
    }
}

/// Fates of a whole run, drawn beforehand: (one way's fates, repeated from the last on as delivery).
pub fn scripted(script: [Vec<Fate>; 2]) -> impl FnMut(Way, u64, &Packet) -> Fate {
    move |way, n, _| script[way as usize].get(n as usize).copied().unwrap_or(Fate::Deliver)
}

/// A packet that an end has handed out, with its cold headers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sent {
    packet: Packet,
    side: Side,
}

impl Sent {
    /// A packet of the message's own, of flow 5.
    pub fn of(message: Message) -> Self {
        let mut side = Side::Empty;
        let packet = side.packet_of(message, Time::ZERO, FlowId(5), 40);
        Self { packet, side }
    }
    /// What a switch leaves of it that cuts the payload off.
    pub fn trimmed(&self) -> Self {
        let mut packet = self.packet;
        packet.trim();
        Self { packet, side: self.side }
    }
    pub fn message(&self) -> Option<Message> {
        self.side().and_then(Side::message).copied()
    }
    pub fn side(&self) -> Option<&Side> {
        (self.packet.side != NO_SIDE).then_some(&self.side)
    }
}

impl From<(Packet, Side)> for Sent {
    fn from((packet, side): (Packet, Side)) -> Self {
        Self { packet, side }
    }
}

impl std::ops::Deref for Sent {
    type Target = Packet;
    fn deref(&self) -> &Packet {
        &self.packet
    }
}

/// What an end hands out, if it does.
pub fn poll_one<E: Endpoint>(end: &mut E, spec: &E::Spec, now: Time) -> Option<Sent> {
    let (mut packet, mut side) = (Packet::default(), Side::default());
    let answer = end.poll_transmit(spec, now, &mut packet, &mut side);
    (answer == Transmit::Packet).then_some(Sent { packet, side })
}

/// It reaches the other end.
pub fn give<E: Endpoint>(end: &mut E, spec: &E::Spec, now: Time, sent: &Sent) -> Reception {
    end.on_packet(spec, now, &sent.packet, sent.side())
}
