//! TCP's receiving end: reassembly, acknowledgements (RFC 5681 §4.2, RFC 2018), ECN echo (RFC 3168 §6.1.3
//! and RFC 8257 §3.2).

use super::super::{AckSpec, EcnSpec, Endpoint, Expiry, ReceivingEnd, Reception, Sack, TcpSpec, Transmit};
use super::ranges::Ranges;
use crate::forecast::Forecaster;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Ecn, Explicit, Flags, IntStack, Kind, Packet, Side};

/// The packet that triggers an ACK, as far as the ACK reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Trigger {
    stamp: Time,
    seq: u64,
    payload: u32,
    class: u8,
    resent: bool,
}

/// An ACK that must leave before anything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum First {
    Nothing,
    SynAck(Trigger),
    /// The ACK of what came before the mark changed: up to `next`, with its echo.
    Ack {
        trigger: Trigger,
        next: u64,
        echo: Flags,
    },
}

/// Whether and when the pending ACK leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Pending {
    Nothing,
    /// After `segments` in-order segments; the timer is set.
    Delayed {
        trigger: Trigger,
        segments: u32,
    },
    Due(Trigger),
}

/// Data above a gap, and other state that only few flows need.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
struct Reassembly {
    ranges: Ranges,
    /// Telemetry of the newest data packet, for the next ACK.
    telemetry: Option<Box<IntStack>>,
    /// What routers have written since the last ACK.
    explicit: Option<Explicit>,
    /// Sprout's forecaster, once a data packet has requested forecasts.
    forecaster: Option<Box<Forecaster>>,
    /// The packet that an ACK with nothing but a forecast answers.
    beat: Option<Trigger>,
}

impl Reassembly {
    /// The header of the ACK of a data packet with an explicit header: what routers wrote, or a forecast.
    fn answer(&mut self, spec: &TcpSpec, now: Time, packet: &Packet, what: Explicit) -> Explicit {
        let Explicit::Forecast(stated) = what else { return what };
        let made = || Box::new(Forecaster::new(stated.reading, spec.mss));
        let forecaster = self.forecaster.get_or_insert_with(made);
        forecaster.on_arrival(now, packet.payload, stated.pauses);
        let class = if spec.acks_in_class { packet.class } else { 0 };
        self.beat = Some(Trigger { stamp: now, seq: packet.seq, payload: 0, class, resent: false });
        Explicit::Forecast(forecaster.forecast())
    }

    /// When the present forecast tick ends; [`Time::MAX`]: no forecasts are wanted.
    #[inline]
    fn beats(&self) -> Time {
        self.forecaster.as_ref().map_or(Time::MAX, |forecaster| forecaster.next())
    }
}

/// TCP's receiving end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpReceiver {
    flow: FlowId,
    /// ECN: latched echo (classic), or that of the last packet.
    echo: Flags,
    size: u64,
    /// RCV.NXT: everything below has arrived.
    next: u64,
    /// Allocated with the first gap or telemetry, then kept.
    above: Option<Box<Reassembly>>,
    first: First,
    pending: Pending,
    /// When a delayed ACK leaves; [`Time::MAX`]: never.
    deadline: Time,
}

impl TcpReceiver {
    /// Expects `size` bytes.
    pub fn new(flow: FlowId, size: u64) -> Self {
        Self {
            flow,
            echo: Flags::default(),
            size,
            next: 0,
            above: None,
            first: First::Nothing,
            pending: Pending::Nothing,
            deadline: Time::MAX,
        }
    }

    fn on_data(&mut self, spec: &TcpSpec, now: Time, packet: &Packet) {
        let echo = match packet.ecn {
            Ecn::Ce => Flags::ECE,
            Ecn::Ect1 if spec.ecn == EcnSpec::Codepoints => Flags::NS,
            Ecn::Ect1 | Ecn::Ect0 | Ecn::NotEct => Flags::default(),
        };
        match spec.ecn {
            EcnSpec::Off => {}
            EcnSpec::Classic => {
                // RFC 3168 §6.1.3: echo until the sender sets CWR; this packet's own mark counts, unless
                // (§6.1.5) all of it had arrived before.
                let old = packet.seq + u64::from(packet.payload) <= self.next;
                if (echo == Flags::ECE && !old) || packet.flags.has(Flags::CWR) {
                    self.echo = echo;
                }
            }
            EcnSpec::Accurate | EcnSpec::Codepoints | EcnSpec::Scalable => {
                // RFC 8257 §3.2: an ACK covers only packets that are all marked or all unmarked.
                // CHOICE RFC 8257 §3.2: the ACK that leaves at once covers what came before, with its own echo (Figure
                // 1); the packet itself waits as any other. Other reading (steps 1 and 2, Linux since 2018): it is
                // acknowledged at once, too.
                if echo != self.echo
                    && packet.payload > 0
                    && let Pending::Delayed { trigger, .. } = self.pending
                {
                    self.first = First::Ack { trigger, next: self.next, echo: self.echo };
                    self.pending = Pending::Nothing;
                    self.deadline = Time::MAX;
                }
                if packet.payload > 0 {
                    self.echo = echo;
                }
            }
        }

        let trigger = Trigger {
            stamp: packet.stamp,
            seq: packet.seq,
            payload: packet.payload,
            class: if spec.acks_in_class { packet.class } else { 0 },
            resent: packet.flags.has(Flags::RETRANSMISSION),
        };
        let (start, end) = (packet.seq, packet.seq + u64::from(packet.payload));
        let gap = self.above.as_ref().is_some_and(|r| !r.ranges.is_empty());
        let in_order = start <= self.next && end > self.next;
        if in_order {
            self.next = match &mut self.above {
                Some(above) if gap => above.ranges.absorb(end),
                _ => end,
            };
        } else if start > self.next && end > start {
            self.above.get_or_insert_default().ranges.insert(start, end);
        }
        // RFC 5681 §4.2: at once if out of order or filling a gap; also for duplicates and probes.
        // CHOICE RFC 5681 §4.2: the flow's last segment carries the FIN and is acknowledged at once.
        let delay = in_order && !gap && !packet.flags.has(Flags::LAST);
        self.acknowledge(spec.ack, now, trigger, delay);
    }

    fn acknowledge(&mut self, policy: AckSpec, now: Time, trigger: Trigger, delay: bool) {
        // RFC 7323 §4.3: of several segments, the earliest one's stamp, so that round trips include the delay.
        // CHOICE RFC 7323 §4.3: an ACK of a segment above a gap echoes that segment's stamp, as a sender without time
        // stamps knows when it left. Other reading: TS.Recent, that of the last segment in order.
        let (trigger, segments) = match self.pending {
            Pending::Nothing => (trigger, 1),
            Pending::Delayed { trigger: earliest, segments } => {
                let resent = earliest.resent || trigger.resent;
                (Trigger { resent, ..earliest }, segments + 1)
            }
            Pending::Due(earliest) => (earliest, policy.every),
        };
        if !delay || segments >= policy.every {
            self.pending = Pending::Due(trigger);
            self.deadline = Time::MAX;
        } else {
            self.pending = Pending::Delayed { trigger, segments };
            if self.deadline == Time::MAX {
                self.deadline = now.saturating_add(policy.delay);
            }
        }
    }

    fn write(&self, kind: Kind, wire: u32, trigger: Trigger, next: u64, echo: Flags, packet: &mut Packet) {
        let mut flags = echo;
        if trigger.resent {
            flags.set(Flags::RETRANSMISSION);
        }
        *packet = Packet {
            stamp: trigger.stamp,
            seq: next,
            trigger: trigger.seq,
            flow: self.flow,
            class: trigger.class,
            wire,
            payload: trigger.payload,
            kind,
            flags,
            ..Packet::default()
        };
    }

    /// Appends the SACK option, and its bytes if it counts `on_wire`; `extras`: next to router feedback.
    #[cold]
    fn add_sack(&self, blocks: u8, on_wire: bool, extras: bool, packet: &mut Packet, side: &mut Side) {
        let ranges = self.above.iter().flat_map(|r| r.ranges.recent()).take(usize::from(blocks));
        if !extras {
            side.new_sack();
        }
        for (start, end) in ranges {
            match side {
                Side::Explicit(header) => header.push(start, end),
                Side::Sack(sack) => sack.push(start, end),
                Side::Empty | Side::Int(_) | Side::Message(_) => unreachable!("made above"),
            };
        }
        let n = side.sack().len() as u32;
        if n > 0 {
            packet.side = 0;
            if on_wire {
                packet.wire += (2 + 8 * n).next_multiple_of(4);
            }
        }
    }
}

impl Endpoint for TcpReceiver {
    type Spec = TcpSpec;

    #[inline(always)]
    fn on_packet(&mut self, spec: &TcpSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        match packet.kind {
            Kind::Data => {
                self.on_data(spec, now, packet);
                match side {
                    Some(Side::Int(stack)) => {
                        let above = self.above.get_or_insert_default();
                        above.telemetry.get_or_insert_default().copy_from(stack);
                    }
                    Some(Side::Explicit(header)) => {
                        let above = self.above.get_or_insert_default();
                        let what = above.answer(spec, now, packet, header.what);
                        let all = above.explicit.map_or(what, |before| before.and(what));
                        above.explicit = Some(all);
                    }
                    _ => {}
                }
            }
            Kind::Syn => {
                let resent = packet.flags.has(Flags::RETRANSMISSION);
                let class = if spec.acks_in_class { packet.class } else { 0 };
                self.first =
                    First::SynAck(Trigger { stamp: packet.stamp, seq: 0, payload: 0, class, resent });
                if let Some(header) = side.and_then(Side::explicit) {
                    self.above.get_or_insert_default().explicit = Some(header.what);
                }
            }
            Kind::Ack | Kind::SynAck | Kind::Control => {}
        }
        Reception::Taken
    }

    fn on_timer(&mut self, _: &TcpSpec, now: Time) -> Expiry {
        if self.deadline <= now
            && let Pending::Delayed { trigger, .. } = self.pending
        {
            self.pending = Pending::Due(trigger);
            self.deadline = Time::MAX;
        }
        if let Some(above) = self.above.as_mut().filter(|above| above.beats() <= now)
            && let (Some(forecaster), Some(beat)) = (&mut above.forecaster, above.beat)
        {
            forecaster.advance(now);
            above.explicit = Some(Explicit::Forecast(forecaster.forecast()));
            self.pending = match self.pending {
                Pending::Nothing => Pending::Due(Trigger { stamp: now, ..beat }),
                Pending::Delayed { trigger, .. } | Pending::Due(trigger) => Pending::Due(trigger),
            };
            self.deadline = Time::MAX;
        }
        Expiry::Other
    }

    #[inline(always)]
    fn poll_transmit(&mut self, spec: &TcpSpec, _: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        match self.first {
            First::Nothing => {
                let Pending::Due(trigger) = self.pending else { return Transmit::Idle };
                self.pending = Pending::Nothing;
                self.write(Kind::Ack, spec.ack_wire, trigger, self.next, self.echo, packet);
            }
            First::SynAck(trigger) => {
                self.first = First::Nothing;
                self.write(Kind::SynAck, spec.ack_wire, trigger, 0, Flags::default(), packet);
                packet.ecn = spec.ecn.of_syn();
                if let Some(what) = self.above.as_mut().and_then(|above| above.explicit.take()) {
                    side.new_explicit(what);
                    packet.side = 0;
                }
                return Transmit::Packet;
            }
            First::Ack { trigger, next, echo } => {
                self.first = First::Nothing;
                self.write(Kind::Ack, spec.ack_wire, trigger, next, echo, packet);
            }
        }
        let explicit = self.above.as_mut().and_then(|above| above.explicit.take());
        if let Some(what) = explicit {
            side.new_explicit(what);
            packet.side = 0;
        }
        if let Sack::Blocks { blocks, on_wire } = spec.sack
            && self.above.as_ref().is_some_and(|r| !r.ranges.is_empty())
        {
            // CHOICE: in an ACK that names gaps there is no room for telemetry besides.
            self.add_sack(blocks, on_wire, explicit.is_some(), packet, side);
        } else if let Some(telemetry) = self.above.as_ref().and_then(|r| r.telemetry.as_ref()) {
            side.new_int().copy_from(telemetry);
            packet.side = 0;
        }
        Transmit::Packet
    }

    #[inline(always)]
    fn timer(&self) -> Option<Time> {
        let beats = match &self.above {
            Some(above) if self.next < self.size => above.beats(),
            _ => Time::MAX,
        };
        let next = self.deadline.min(beats);
        (next != Time::MAX).then_some(next)
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.next >= self.size
    }
}

impl ReceivingEnd for TcpReceiver {
    fn resize(&mut self, size: u64) {
        self.size = size;
    }

    fn received(&self) -> u64 {
        self.next
    }

    fn holds(&self, seq: u64, len: u32) -> bool {
        let end = seq + u64::from(len);
        end <= self.next || self.above.as_ref().is_some_and(|above| above.ranges.holds(seq, end))
    }

    fn unique_bytes(&self) -> u64 {
        self.next + self.above.as_ref().map_or(0, |r| r.ranges.bytes())
    }
}
