//! RCCC, the receiver's half of Ultra Ethernet's congestion control: which flow is granted credit next (Ultra Ethernet
//! specification 1.0, §3.6.14). The ends of a flow are in [`crate::transport::uet`].
//!
//! Every packet states its sender's pull target: the total credit that it wants. A host pulls from flows that want more
//! in turn, a fixed number of quanta of 256 B at a time, no faster than its link takes what they call for. When none
//! wants more it goes on with those that have had their fill, up to one first credit beyond what they asked for, so
//! that what they send next need not wait.
//!
//! ```text
//! CHOICE UET §3.6: 64 quanta, 16 KiB, a pull; 0.99 of the link (the consortium's simulator). A pull that
//! grants nothing, because what a flow wants was granted before it did, takes the time of four quanta there, and so it
//! does here.
//! CHOICE UET §3.6: the pulls of a flow take the entropy values 1, 2, ... 127, 0 in turn, as in the simulator.
//! CHOICE UET §3.6: a connection stays open when all of its flow has come: it may be granted one first credit more, for
//! a next message, as in the simulator. With `closes` it is pulled from no more, which lets an all-to-all among 16
//! hosts end a tenth earlier: here each flow has a connection of its own.
//! CHOICE UET §3.6: a flow that wants more again leaves the row of those that have had their fill; in the simulator it
//! stays there, too, and may come to stand there twice.
//! CHOICE UET §3.6: the rate of pulls does not follow trims in the network (the simulator's option for
//! oversubscribed ones).
//! ```

use super::flows::FlowSlots;
use super::{Came, End, HostAgent};
use crate::transport::{CreditSpec, Transmit, UetSpec};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Rate, Time};
use thalweg_wire::{Kind, Message, Packet, Side};

/// Quanta whose time a pull takes that grants nothing.
const NOTHING: u64 = 4;

/// Entropy values that pulls go through.
const VALUES: u64 = 128;

/// In which row a flow waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Row {
    #[default]
    None,
    /// It wants more credit.
    Active,
    /// It has been granted all that it wanted.
    Idle,
}

/// A flow that ends here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Incoming {
    /// Quanta that it has been granted.
    latest: i64,
    /// Quanta that it wants, all in all.
    target: i64,
    pulls: u64,
    row: Row,
    /// All of it has come.
    over: bool,
}

/// A host's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UetAgent {
    arrival_rate: Rate,
    /// When the next pull is due. It may leave later, if the link is busy; the one after it is due no later for that.
    next: Time,
    incoming: FlowSlots<Incoming>,
    /// Slots of the flows in either row, each once, the next one first.
    active: VecDeque<u32>,
    idle: VecDeque<u32>,
}

impl UetAgent {
    /// Of a host to which packets come at this rate.
    pub(super) fn new(_: &UetSpec, arrival_rate: Rate) -> Self {
        let (incoming, active, idle) = (FlowSlots::new(), VecDeque::new(), VecDeque::new());
        Self { arrival_rate, next: Time::ZERO, incoming, active, idle }
    }

    /// The slot of the flow that is pulled from now, and the quanta that it is granted.
    fn grant(&mut self, credits: &CreditSpec) -> Option<(u32, u64)> {
        let quanta = i64::from(credits.quanta);
        if let Some(slot) = self.active.pop_front() {
            let (_, flow) = self.incoming.at(slot)?;
            let before = flow.latest;
            flow.latest = (before + quanta).min(flow.target.max(before));
            flow.row = if flow.target > flow.latest { Row::Active } else { Row::Idle };
            let row = if flow.row == Row::Active { &mut self.active } else { &mut self.idle };
            row.push_back(slot);
            return Some((slot, (flow.latest - before) as u64));
        }
        let slot = self.idle.pop_front()?;
        let (_, flow) = self.incoming.at(slot)?;
        flow.latest += quanta;
        let most = (credits.initial.get() / crate::transport::QUANTUM) as i64;
        flow.row = Row::None;
        if flow.target <= flow.latest && flow.latest - flow.target < most {
            flow.row = Row::Idle;
            self.idle.push_back(slot);
        }
        Some((slot, u64::from(credits.quanta)))
    }
}

impl HostAgent for UetAgent {
    type Spec = UetSpec;

    fn on_over(&mut self, spec: &UetSpec, _: Time, id: FlowId, end: End) {
        let Some(flow) = self.incoming.get_mut(id).filter(|_| end == End::Destination) else { return };
        flow.over = true;
        if (flow.row == Row::None || spec.credits.is_none_or(|credits| credits.closes))
            && let Some((slot, _)) = self.incoming.remove(id)
        {
            self.active.retain(|other| *other != slot);
            self.idle.retain(|other| *other != slot);
        }
    }

    fn on_packet(&mut self, _: &UetSpec, now: Time, came: Came<'_>) {
        let Some(&Message::PullTarget { quanta, .. }) = came.message() else { return };
        if self.active.is_empty() && self.idle.is_empty() {
            self.next = self.next.max(now);
        }
        let id = came.packet.flow;
        let slot = self.incoming.slot(id).unwrap_or_else(|| self.incoming.insert(id, Incoming::default()));
        let Some((_, flow)) = self.incoming.at(slot) else { return };
        let wants = quanta > flow.target;
        flow.target = flow.target.max(quanta);
        let lost = came.packet.is_trimmed() || came.packet.kind == Kind::Syn;
        if (wants || lost) && flow.row != Row::Active {
            if flow.row == Row::Idle {
                self.idle.retain(|other| *other != slot);
            }
            flow.row = Row::Active;
            self.active.push_back(slot);
        }
    }

    fn on_timer(&mut self, _: &UetSpec, _: Time) {}

    fn poll_transmit(&mut self, spec: &UetSpec, now: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        let Some(credits) = spec.credits else { return Transmit::Idle };
        if self.active.is_empty() && self.idle.is_empty() {
            return Transmit::Idle;
        }
        if now < self.next {
            return Transmit::At(self.next);
        }
        let Some((slot, granted)) = self.grant(&credits) else { return Transmit::Idle };
        let Some((id, flow)) = self.incoming.at(slot) else { return Transmit::Idle };
        flow.pulls += 1;
        let pull = Message::Pull { number: flow.latest.max(0) as u64 };
        *packet = side.packet_of(pull, now, id, spec.control);
        packet.route = (flow.pulls % VALUES) as u32;
        if flow.over && flow.row == Row::None {
            self.incoming.remove(id);
        }
        let quanta = if granted == 0 { NOTHING } else { granted };
        self.next = self.next.saturating_add(credits.spacing(self.arrival_rate, quanta));
        Transmit::Packet
    }

    fn timer(&self, _: &UetSpec) -> Option<Time> {
        None
    }

    fn holds(&self, flow: FlowId) -> bool {
        self.incoming.get(flow).is_some_and(|flow| flow.over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::uet::window::{UnboundedSpec, WindowSpec};
    use crate::transport::{AckValues, PathSelectionSpec};
    use thalweg_units::{Bytes, Span};
    use thalweg_wire::NO_SIDE;

    const US: fn(u64) -> Time = Time::from_us;

    /// Pulls of 4 quanta on a link of 8.192 Gb/s: a microsecond each.
    fn spec() -> UetSpec {
        UetSpec {
            payload: 960,
            header: 64,
            control: 40,
            window: WindowSpec::Unbounded(UnboundedSpec),
            credits: Some(CreditSpec { initial: Bytes::new(2048), share: 1.0, quanta: 4, closes: false }),
            path_selection: Some(PathSelectionSpec::default()),
            ack_every: 1,
            ack_values: AckValues::One,
            retry: Span::from_ms(1),
            back_off: 0,
            base_rtt: Span::from_us(10),
        }
    }
    fn agent() -> UetAgent {
        UetAgent::new(&spec(), Rate::from_bps(8_192_000_000))
    }
    fn comes(a: &mut UetAgent, now: Time, flow: u32, packet: Packet, quanta: i64) {
        let packet = Packet { flow: FlowId(flow), side: NO_SIDE, ..packet };
        let side = Side::Message(Message::PullTarget { quanta, probe: None });
        a.on_packet(
            &spec(),
            now,
            Came { packet: &packet, side: Some(&side), end: End::Destination, arrived: 0 },
        );
    }
    /// Pulls that leave up to an instant: (when in ns, flow, number, entropy value).
    fn pulls(a: &mut UetAgent, from: Time, end: Time) -> Vec<(u64, u32, u64, u32)> {
        let (mut all, mut now) = (vec![], from);
        let (mut packet, mut side) = (Packet::default(), Side::Empty);
        while now <= end {
            match a.poll_transmit(&spec(), now, &mut packet, &mut side) {
                Transmit::Packet => {
                    let Some(&Message::Pull { number }) = side.message() else { panic!("a pull") };
                    assert_eq!((packet.kind, packet.wire), (Kind::Control, 40));
                    all.push((now.ps() / 1000, packet.flow.0, number, packet.route));
                }
                Transmit::At(at) => now = at,
                Transmit::Idle => break,
            }
        }
        all
    }

    #[test]
    fn flows_that_want_more_are_pulled_from_in_turn_and_no_faster_than_the_link() {
        let mut a = agent();
        comes(&mut a, US(5), 1, Packet::default(), 12);
        comes(&mut a, US(5), 2, Packet::default(), 6);
        let wanted = [(5000, 1, 4, 1), (6000, 2, 4, 1), (7000, 1, 8, 2), (8000, 2, 6, 2), (8500, 1, 12, 3)];
        assert_eq!(pulls(&mut a, US(5), US(8) + Span::from_ns(600)), wanted);
        // Both have had their fill: on at the same rate, up to 8 quanta beyond.
        let beyond = pulls(&mut a, US(9), US(30));
        assert_eq!(beyond, [(9500, 2, 10, 3), (10_500, 1, 16, 4), (11_500, 2, 14, 4), (12_500, 1, 20, 5)]);
    }

    #[test]
    fn a_header_and_a_request_wake_a_flow_that_wants_no_more_than_before() {
        let mut a = agent();
        let mut header = Packet { wire: 1024, payload: 960, ..Packet::default() };
        header.trim();
        comes(&mut a, US(5), 1, Packet::default(), 0);
        assert_eq!(pulls(&mut a, US(5), US(20)), []);
        comes(&mut a, US(21), 1, header, 0);
        assert_eq!(pulls(&mut a, US(21), US(21)), [(21_000, 1, 0, 1)]);
        comes(&mut a, US(40), 2, Packet { kind: Kind::Syn, ..Packet::default() }, 0);
        assert!(pulls(&mut a, US(40), US(40)).iter().any(|pull| pull.1 == 2));
    }

    /// 8 quanta beyond what it asked for, unless its connection closes.
    #[test]
    fn a_flow_that_is_over_is_granted_a_first_credit_more_or_nothing() {
        let two = || {
            let mut a = agent();
            comes(&mut a, US(0), 1, Packet::default(), 4);
            assert_eq!(pulls(&mut a, US(0), US(0)), [(0, 1, 4, 1)]);
            a
        };
        let mut open = two();
        open.on_over(&spec(), US(0), FlowId(1), End::Destination);
        assert!(open.holds(FlowId(1)));
        assert_eq!(pulls(&mut open, US(1), US(30)), [(1000, 1, 8, 2), (2000, 1, 12, 3)]);
        assert!(open.incoming.is_empty() && !open.holds(FlowId(1)));
        let credits = spec().credits.map(|credits| CreditSpec { closes: true, ..credits });
        let mut closed = two();
        closed.on_over(&UetSpec { credits, ..spec() }, US(0), FlowId(1), End::Destination);
        assert!(closed.incoming.is_empty() && closed.idle.is_empty());
    }
}
