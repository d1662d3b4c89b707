//! pHost's two schedulers: which flow gets the next token of a receiver, and which flow of a sender spends its token
//! next (Gao et al., CoNEXT 2015, Algorithms 1 and 2, with the policy of the least remaining bytes first). The ends of
//! a flow are in [`crate::transport::phost`].
//!
//! A destination sends a token whenever a packet's time on its link has passed, so that what it calls for
//! fits the link. A flow that is a window of tokens behind is passed over until it answers one, or for a
//! while (pHost's "downgraded"): meanwhile its source sends to others. A token names a packet. When a flow
//! has had one for each, those that are missing after another while are called for again.

use super::flows::FlowSlots;
use super::{Came, End, HostAgent};
use crate::transport::arrivals::Arrivals;
use crate::transport::{PhostSpec, PhostTimes, Transmit};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Rate, Span, Time};
use thalweg_wire::{Message, Packet, Side};

/// A flow that ends here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Incoming {
    size: u64,
    packets: u64,
    arrived: Arrivals,
    /// Tokens so far, free ones included.
    issued: u64,
    /// The highest number of one that was answered, or given up.
    answered: u64,
    /// With so many, every packet that was missing has been called for.
    goal: u64,
    /// The packet to look at first for the next token.
    next: u64,
    /// The last token left then.
    token_at: Time,
    /// All have been called for: what is missing then is called for again.
    again_at: Option<Time>,
}

impl Incoming {
    fn missing(&self) -> u64 {
        self.packets - self.arrived.count()
    }

    /// It may have another token.
    fn is_eligible(&self, spec: &PhostSpec) -> bool {
        self.again_at.is_none() && !self.is_behind(spec)
    }

    /// It has not answered a window of tokens.
    fn is_behind(&self, spec: &PhostSpec) -> bool {
        self.issued - self.answered >= u64::from(spec.window)
    }

    /// Until when it must wait, if it must.
    fn until(&self, spec: &PhostSpec, patience: Span) -> Option<Time> {
        let behind = || self.is_behind(spec).then(|| self.token_at.saturating_add(patience));
        self.again_at.or_else(behind)
    }
}

/// A host's agent. For each token it looks at all flows that end here: there are tens of them at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhostAgent {
    /// Time on the wire of a full packet.
    packet: Span,
    /// What it waits for.
    times: PhostTimes,
    /// The next token leaves no earlier.
    next: Time,
    incoming: FlowSlots<Incoming>,
    /// Flows that begin here: bytes that have not arrived, as their destination last reported.
    outgoing: FlowSlots<u64>,
}

impl PhostAgent {
    /// Of a host to which packets come at this rate.
    pub(super) fn new(spec: &PhostSpec, arrival_rate: Rate) -> Self {
        let (packet, times) = (spec.packet(arrival_rate), spec.times(arrival_rate));
        Self { packet, times, next: Time::ZERO, incoming: FlowSlots::new(), outgoing: FlowSlots::new() }
    }

    /// A flow has sent a request; repetitions change nothing.
    fn requested(&mut self, spec: &PhostSpec, now: Time, flow: FlowId, size: u64) {
        if self.incoming.slot(flow).is_some() {
            return;
        }
        let packets = spec.packets(size);
        let free = spec.free_of(packets);
        // Packets sent with free tokens occupy the link first.
        self.next = self.next.max(now).saturating_add(self.times.spacing.saturating_mul(free));
        let arrived = Arrivals::new(packets);
        // CHOICE pHost §3.2: twice the time that they take. As the authors' simulator.
        let again_at = (free == packets).then(|| now.saturating_add(self.packet.saturating_mul(2 * free)));
        let flow_here = Incoming {
            size,
            packets,
            arrived,
            issued: free,
            answered: 0,
            goal: packets,
            next: free,
            token_at: now,
            again_at,
        };
        self.incoming.insert(flow, flow_here);
    }

    /// The flow that gets the next token: the one with the fewest packets missing, of equals the oldest.
    fn choose(&mut self, spec: &PhostSpec) -> Option<(FlowId, &mut Incoming)> {
        let eligible = self.incoming.iter_mut().filter(|(_, flow)| flow.is_eligible(spec));
        eligible.min_by_key(|(id, flow)| (flow.missing(), *id))
    }
}

impl HostAgent for PhostAgent {
    type Spec = PhostSpec;

    fn on_start(&mut self, _: &PhostSpec, _: Time, flow: FlowId, size: u64) {
        self.outgoing.insert(flow, size);
    }

    fn on_over(&mut self, _: &PhostSpec, _: Time, flow: FlowId, end: End) {
        match end {
            End::Source => drop(self.outgoing.remove(flow)),
            End::Destination => drop(self.incoming.remove(flow)),
        }
    }

    fn on_packet(&mut self, spec: &PhostSpec, now: Time, came: Came<'_>) {
        let packet = came.packet;
        match came.message() {
            Some(&Message::Request { size }) => self.requested(spec, now, packet.flow, size),
            Some(&Message::TokenSpent { number }) => {
                if let Some(flow) = self.incoming.get_mut(packet.flow) {
                    flow.arrived.insert(packet.seq / u64::from(spec.payload));
                    flow.answered = flow.answered.max(number.min(flow.issued));
                }
            }
            Some(&Message::Token { missing, .. }) => {
                if let Some(left) = self.outgoing.get_mut(packet.flow) {
                    *left = missing;
                }
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, spec: &PhostSpec, now: Time) {
        let patience = self.times.patience;
        let is_over = |flow: &Incoming| flow.until(spec, patience).is_some_and(|at| at <= now);
        for (_, flow) in self.incoming.iter_mut().filter(|(_, flow)| is_over(flow)) {
            if flow.again_at.take().is_some() {
                flow.goal += flow.missing();
            }
            if is_over(flow) {
                // Room for one more.
                flow.answered = flow.issued + 1 - u64::from(spec.window);
            }
        }
    }

    fn poll_transmit(
        &mut self,
        spec: &PhostSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        let (next, times) = (self.next, self.times);
        let Some((id, flow)) = self.choose(spec) else { return Transmit::Idle };
        if now < next {
            return Transmit::At(next);
        }
        let Some(index) = flow.arrived.missing(flow.next) else { return Transmit::Idle };
        flow.next = index + 1;
        flow.issued += 1;
        flow.token_at = now;
        flow.again_at = (flow.issued == flow.goal).then(|| now.saturating_add(times.again));
        let payload = u64::from(spec.payload);
        let missing = (flow.missing() * payload).min(flow.size);
        let token = Message::Token { offset: index * payload, number: flow.issued, missing };
        *packet = side.packet_of(token, now, id, spec.control);
        self.next = now.saturating_add(times.spacing);
        Transmit::Packet
    }

    /// When the next flow has waited long enough.
    fn timer(&self, spec: &PhostSpec) -> Option<Time> {
        self.incoming.iter().filter_map(|(_, flow)| flow.until(spec, self.times.patience)).min()
    }

    /// Bytes that have not arrived: shortest remaining first, as at the destination.
    fn rank(&self, flow: FlowId, _: u64) -> u64 {
        self.outgoing.get(flow).copied().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::FreeFor;
    use thalweg_wire::Kind;

    /// 1000 B packets of 960 B payload at 8 Gb/s: a microsecond each. Two free tokens for short flows, windows of four.
    const SPEC: PhostSpec = PhostSpec {
        payload: 960,
        header: 40,
        control: 40,
        free: 2,
        free_for: FreeFor::Short,
        spacing: Some(Span::from_us(1)),
        window: 4,
        life: Some(Span::from_us(5)),
        patience: Some(Span::from_us(50)),
        again: Some(Span::from_us(9)),
        retry: Some(Span::from_us(200)),
        free_class: 1,
        token_class: 2,
    };
    const US: fn(u64) -> Time = Time::from_us;

    fn agent() -> PhostAgent {
        PhostAgent::new(&SPEC, Rate::from_gbps(8))
    }
    /// A packet with this message comes to one end of a flow.
    fn comes(a: &mut PhostAgent, at: Time, end: End, packet: Packet, message: Message) {
        let side = Side::Message(message);
        a.on_packet(&SPEC, at, Came { packet: &packet, side: Some(&side), end, arrived: 0 });
    }
    fn request(a: &mut PhostAgent, at: Time, flow: u32, packets: u64) {
        let packet = Packet { flow: FlowId(flow), ..Packet::default() };
        comes(a, at, End::Destination, packet, Message::Request { size: packets * 960 });
    }
    /// A packet that answers the token `number`.
    fn data(a: &mut PhostAgent, at: Time, flow: u32, index: u64, number: u64) {
        let packet = Packet { seq: index * 960, flow: FlowId(flow), payload: 960, ..Packet::default() };
        comes(a, at, End::Destination, packet, Message::TokenSpent { number });
    }
    /// (microsecond, flow, packet, number) of every token up to `end`, polled for when the agent requests it.
    fn tokens(a: &mut PhostAgent, mut now: Time, end: Time) -> Vec<(u64, u32, u64, u64)> {
        let (mut all, mut packet, mut side) = (Vec::new(), Packet::default(), Side::Empty);
        a.on_timer(&SPEC, now);
        while now <= end {
            let paced = match a.poll_transmit(&SPEC, now, &mut packet, &mut side) {
                Transmit::Packet => {
                    assert_eq!((packet.kind, packet.wire, packet.class), (Kind::Control, 40, 0));
                    let Some(&Message::Token { offset, number, .. }) = side.message() else {
                        panic!("a token")
                    };
                    all.push((now.ps() / 1_000_000, packet.flow.0, offset / 960, number));
                    continue;
                }
                Transmit::At(at) => at,
                Transmit::Idle => Time::MAX,
            };
            let next = paced.min(a.timer(&SPEC).unwrap_or(Time::MAX));
            assert!(next > now, "asked again at once");
            now = next;
            if now <= end {
                a.on_timer(&SPEC, now);
            }
        }
        all
    }

    #[test]
    fn a_token_per_packet_time_to_the_flow_with_the_fewest_missing_until_it_is_a_window_behind() {
        let mut a = agent();
        request(&mut a, US(0), 1, 100);
        request(&mut a, US(0), 2, 10);
        let first = tokens(&mut a, US(0), US(40));
        let two = (0..4).map(|i| (i, 2, i, i + 1));
        let one = (0..4).map(|i| (4 + i, 1, i, i + 1));
        assert_eq!(first, two.chain(one).collect::<Vec<_>>());
        // The third was answered: with it the first two count as answered, or lost.
        data(&mut a, US(41), 2, 2, 3);
        assert_eq!(tokens(&mut a, US(41), US(45)), [(41, 2, 4, 5), (42, 2, 5, 6), (43, 2, 6, 7)]);
    }

    #[test]
    fn a_flow_that_does_not_answer_is_passed_over_for_its_patience_and_gets_one_more() {
        let mut a = agent();
        request(&mut a, US(0), 1, 100);
        assert_eq!(tokens(&mut a, US(0), US(3)).len(), 4);
        assert_eq!(tokens(&mut a, US(3), US(110)), [(53, 1, 4, 5), (103, 1, 5, 6)]);
    }

    #[test]
    fn the_packets_of_free_tokens_have_the_link_first_and_what_is_lost_of_them_is_called_for() {
        let mut a = agent();
        request(&mut a, US(0), 1, 2);
        request(&mut a, US(0), 2, 100);
        assert_eq!(tokens(&mut a, US(0), US(3)), [(2, 2, 0, 1), (3, 2, 1, 2)]);
        // Of the short one's two packets, which take 2 us, the second has not come after twice that time.
        data(&mut a, US(3), 1, 0, 1);
        assert_eq!(tokens(&mut a, US(4), US(5)), [(4, 1, 1, 3), (5, 2, 2, 3)]);
        a.on_over(&SPEC, US(6), FlowId(1), End::Destination);
        a.on_over(&SPEC, US(6), FlowId(2), End::Destination);
        assert_eq!(a.timer(&SPEC), None);
    }

    #[test]
    fn what_is_missing_when_all_were_called_for_is_called_for_again_after_a_while() {
        let mut a = agent();
        request(&mut a, US(0), 1, 3);
        assert_eq!(tokens(&mut a, US(0), US(10)), [(0, 1, 0, 1), (1, 1, 1, 2), (2, 1, 2, 3)]);
        data(&mut a, US(10), 1, 1, 2);
        assert_eq!(tokens(&mut a, US(10), US(19)), [(11, 1, 0, 4), (12, 1, 2, 5)]);
    }

    /// Both of its waits are over at once: all were called for, and a window was not answered.
    #[test]
    fn a_flow_that_lost_everything_is_called_for_again() {
        let (mut a, nine) = (agent(), PhostSpec { free: 9, ..SPEC });
        a.requested(&nine, US(0), FlowId(1), 9 * 960);
        assert_eq!(tokens(&mut a, US(0), US(120)), [(50, 1, 0, 10), (100, 1, 1, 11)]);
    }

    #[test]
    fn requests_that_are_repeated_change_nothing() {
        let mut a = agent();
        request(&mut a, US(0), 1, 100);
        assert_eq!(tokens(&mut a, US(0), US(5)).len(), 4);
        request(&mut a, US(6), 1, 100);
        assert_eq!(tokens(&mut a, US(6), US(20)), []);
    }

    #[test]
    fn of_local_flows_the_one_with_the_least_left_by_its_tokens_goes_first() {
        let mut a = agent();
        a.on_start(&SPEC, US(0), FlowId(3), 9600);
        a.on_start(&SPEC, US(0), FlowId(4), 4800);
        assert!(a.rank(FlowId(4), 0) < a.rank(FlowId(3), 0));
        let token = Message::Token { offset: 0, number: 1, missing: 960 };
        comes(&mut a, US(9), End::Source, Packet { flow: FlowId(3), ..Packet::default() }, token);
        assert_eq!((a.rank(FlowId(3), 0), a.rank(FlowId(4), 0)), (960, 4800));
        a.on_over(&SPEC, US(9), FlowId(3), End::Source);
        assert_eq!(a.rank(FlowId(3), 0), u64::MAX);
    }
}
