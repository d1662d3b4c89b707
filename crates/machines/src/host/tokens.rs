//! Who gets the next token, and who spends the next one: pHost's two schedulers (Gao et al., CoNEXT 2015, Algorithms 1 and 2,
//! with the policy of the least remaining bytes first). The ends of a flow are in [`crate::transport::tokens`].
//!
//! A destination sends a token whenever a packet's time on its link has passed, so that what it calls for fits the link. A
//! flow that has not answered as many tokens as a window is passed over until it does, or for a while (pHost's "downgraded"):
//! meanwhile its source sends to others.

use super::{Came, End, HostAgent};
use crate::packet::{Kind, Packet};
use crate::transport::{TokenSpec, Transmit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::{Bytes, FlowId, Rate, Span, Time};

/// A flow that ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Incoming {
    size: u64,
    /// Bytes that have not arrived.
    left: u64,
    /// Tokens, free ones included, that no packet has answered.
    open: u64,
    /// If it still has as many as it may then, they count as lost.
    until: Time,
}

/// A flow that begins here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Outgoing {
    size: u64,
    /// Bytes that are not acknowledged.
    left: u64,
}

/// A host's agent. Flows are told apart by their number, and there are tens of them at a time: a search costs little.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TokenAgent {
    /// Time on the wire of a full packet: a token in each.
    gap: Span,
    /// The next token leaves no earlier.
    next: Time,
    incoming: BTreeMap<FlowId, Incoming>,
    outgoing: BTreeMap<FlowId, Outgoing>,
}

impl Incoming {
    /// It may have another token.
    fn wants(&self, spec: &TokenSpec) -> bool {
        self.open < self.left.div_ceil(u64::from(spec.payload)).min(u64::from(spec.window))
    }
}

impl TokenAgent {
    /// Of a host whose link has this rate.
    pub(super) fn new(spec: &TokenSpec, line_rate: Rate) -> Self {
        let gap = Bytes::new(u64::from(spec.payload) + u64::from(spec.header)) / line_rate;
        Self { gap, next: Time::ZERO, incoming: BTreeMap::new(), outgoing: BTreeMap::new() }
    }

    /// The flow that gets the next token: the one with the fewest bytes left, of equals the oldest.
    fn choose(&mut self, spec: &TokenSpec) -> Option<(FlowId, &mut Incoming)> {
        let wants = self.incoming.iter_mut().filter(|(_, flow)| flow.wants(spec));
        wants.min_by_key(|(id, flow)| (flow.left, **id)).map(|(id, flow)| (*id, flow))
    }
}

impl HostAgent for TokenAgent {
    type Spec = TokenSpec;

    fn on_start(&mut self, _: &TokenSpec, _: Time, flow: FlowId, size: u64) {
        self.outgoing.insert(flow, Outgoing { size, left: size });
    }

    fn on_over(&mut self, _: &TokenSpec, _: Time, flow: FlowId, end: End) {
        match end {
            End::Source => {
                self.outgoing.remove(&flow);
            }
            End::Destination => {
                self.incoming.remove(&flow);
            }
        }
    }

    fn on_packet(&mut self, spec: &TokenSpec, now: Time, Came { packet, end, arrived }: Came<'_>) {
        match packet.kind {
            // What is repeated is known.
            Kind::Syn => {
                let size = packet.seq;
                let open = size.div_ceil(u64::from(spec.payload)).min(u64::from(spec.free));
                let until = now.saturating_add(spec.patience);
                self.incoming.entry(packet.flow).or_insert(Incoming { size, left: size, open, until });
            }
            Kind::Data => {
                if let Some(flow) = self.incoming.get_mut(&packet.flow) {
                    flow.left = flow.size.saturating_sub(arrived);
                    flow.open = flow.open.saturating_sub(1);
                    flow.until = now.saturating_add(spec.patience);
                }
            }
            Kind::Ack if end == End::Source => {
                if let Some(flow) = self.outgoing.get_mut(&packet.flow) {
                    flow.left = flow.size.saturating_sub(arrived);
                }
            }
            Kind::Ack | Kind::SynAck | Kind::Control => {}
        }
    }

    fn on_timer(&mut self, spec: &TokenSpec, now: Time) {
        for flow in self.incoming.values_mut().filter(|flow| flow.until <= now) {
            if !flow.wants(spec) {
                flow.open = 0;
            }
            flow.until = now.saturating_add(spec.patience);
        }
    }

    fn poll_transmit(&mut self, spec: &TokenSpec, now: Time, packet: &mut Packet) -> Transmit {
        let (next, gap) = (self.next, self.gap);
        let Some((id, flow)) = self.choose(spec) else { return Transmit::Idle };
        if now < next {
            return Transmit::At(next);
        }
        flow.open += 1;
        flow.until = now.saturating_add(spec.patience);
        self.next = now.saturating_add(gap);
        *packet =
            Packet { stamp: now, flow: id, wire: spec.control, kind: Kind::Control, ..Packet::default() };
        Transmit::Packet
    }

    /// When the next flow has had the time to answer.
    fn timer(&self) -> Option<Time> {
        self.incoming.values().map(|flow| flow.until).min()
    }

    /// Bytes not acknowledged: shortest remaining first, as at the destination.
    fn rank(&self, flow: FlowId) -> u64 {
        self.outgoing.get(&flow).map_or(u64::MAX, |flow| flow.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 B packets of 960 B payload at 8 Gb/s: a microsecond each. Two free packets, four tokens.
    const SPEC: TokenSpec = TokenSpec {
        payload: 960,
        header: 40,
        control: 40,
        free: 2,
        window: 4,
        life: Span::from_us(5),
        patience: Span::from_us(50),
        retry: Span::from_us(200),
        free_class: 1,
        token_class: 2,
    };
    const US: fn(u64) -> Time = Time::from_us;

    fn agent() -> TokenAgent {
        TokenAgent::new(&SPEC, Rate::from_gbps(8))
    }
    fn request(a: &mut TokenAgent, at: Time, flow: u32, packets: u64) {
        let packet = Packet { seq: packets * 960, flow: FlowId(flow), kind: Kind::Syn, ..Packet::default() };
        a.on_packet(&SPEC, at, Came { packet: &packet, end: End::Destination, arrived: 0 });
    }
    fn data(a: &mut TokenAgent, at: Time, flow: u32, packets: u64) {
        let packet = Packet { flow: FlowId(flow), payload: 960, ..Packet::default() };
        a.on_packet(&SPEC, at, Came { packet: &packet, end: End::Destination, arrived: packets * 960 });
    }
    /// (microsecond, flow) of every token up to `end`, asked for when the agent wants to be.
    fn tokens(a: &mut TokenAgent, mut now: Time, end: Time) -> Vec<(u64, u32)> {
        let (mut all, mut packet) = (Vec::new(), Packet::default());
        while now <= end {
            let paced = match a.poll_transmit(&SPEC, now, &mut packet) {
                Transmit::Packet => {
                    assert_eq!((packet.kind, packet.wire, packet.class), (Kind::Control, 40, 0));
                    all.push((now.ps() / 1_000_000, packet.flow.0));
                    continue;
                }
                Transmit::At(at) => at,
                Transmit::Idle => Time::MAX,
            };
            now = paced.min(a.timer().unwrap_or(Time::MAX));
            if now <= end {
                a.on_timer(&SPEC, now);
            }
        }
        all
    }

    #[test]
    fn a_token_per_packet_time_to_the_flow_with_the_fewest_bytes_left_until_it_owes_a_window() {
        let mut a = agent();
        request(&mut a, US(0), 1, 100);
        request(&mut a, US(0), 2, 10);
        // Both have two free packets under way and may owe four.
        assert_eq!(tokens(&mut a, US(0), US(40)), [(0, 2), (1, 2), (2, 1), (3, 1)]);
        data(&mut a, US(41), 1, 1);
        data(&mut a, US(41), 2, 1);
        data(&mut a, US(41), 2, 2);
        assert_eq!(tokens(&mut a, US(41), US(60)), [(41, 2), (42, 2), (43, 1)]);
    }

    #[test]
    fn a_short_flow_needs_no_tokens_unless_its_free_packets_are_lost() {
        let mut a = agent();
        request(&mut a, US(0), 1, 2);
        assert_eq!(tokens(&mut a, US(0), US(49)), []);
        data(&mut a, US(10), 1, 1);
        // Its patience is 50 us from the last packet; what is missing then is one packet.
        assert_eq!(tokens(&mut a, US(10), US(109)), [(60, 1)]);
        a.on_over(&SPEC, US(109), FlowId(1), End::Destination);
        assert_eq!(a.timer(), None);
    }

    #[test]
    fn requests_that_are_repeated_change_nothing() {
        let mut a = agent();
        request(&mut a, US(0), 1, 100);
        assert_eq!(tokens(&mut a, US(0), US(5)).len(), 2);
        request(&mut a, US(6), 1, 100);
        assert_eq!(tokens(&mut a, US(6), US(20)), []);
    }

    #[test]
    fn of_the_flows_that_begin_here_the_one_with_the_least_unacknowledged_goes_first() {
        let mut a = agent();
        a.on_start(&SPEC, US(0), FlowId(3), 9600);
        a.on_start(&SPEC, US(0), FlowId(4), 4800);
        assert!(a.rank(FlowId(4)) < a.rank(FlowId(3)));
        let ack = Packet { flow: FlowId(3), kind: Kind::Ack, ..Packet::default() };
        a.on_packet(&SPEC, US(9), Came { packet: &ack, end: End::Source, arrived: 8640 });
        assert_eq!((a.rank(FlowId(3)), a.rank(FlowId(4))), (960, 4800));
        a.on_over(&SPEC, US(9), FlowId(3), End::Source);
        assert_eq!(a.rank(FlowId(3)), u64::MAX);
    }
}
