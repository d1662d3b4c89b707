//! Measurements of routers that give explicit feedback (XCP, RCP, VCP).

use super::Problems;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Time};

/// Gains of spare capacity and of the queue: XCP's and RCP's α and β.
pub(super) fn check_gains(alpha: f64, beta: f64, problems: &mut Problems) {
    for (key, value) in [("alpha", alpha), ("beta", beta)] {
        if !(0.0..=10.0).contains(&value) || key == "alpha" && value == 0.0 {
            problems.wrong(key, format!("{value} is out of range"), "for example 0.4");
        }
    }
}

/// The measurements of one period, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub arrived: u64,
    /// What could have left.
    pub offered: f64,
    /// Packets that left.
    pub packets: u64,
    /// Mean round trip of their senders.
    pub rtt: Option<Span>,
}

/// Counts in periods, one after the other from the first packet on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Meter {
    /// The link has delivery opportunities, which are counted; otherwise its rate is used.
    pub opportunities: bool,
    begun: Option<Time>,
    arrived: u64,
    offered: u64,
    packets: u64,
    /// Sum over these, ps.
    rtt: u64,
}

impl Meter {
    pub(super) fn arrived(&mut self, wire: u32) {
        self.arrived += u64::from(wire);
    }
    pub(super) fn offered(&mut self, bytes: u32) {
        self.offered += u64::from(bytes);
    }
    /// A packet has left whose sender has this round trip.
    pub(super) fn left(&mut self, rtt: Span) {
        self.packets += 1;
        self.rtt = self.rtt.saturating_add(rtt.ps());
    }

    /// The next period that has ended by `now`, at a link of `rate` now.
    pub(super) fn period(&mut self, now: Time, length: Span, rate: Rate) -> Option<Seen> {
        let begun = *self.begun.get_or_insert(now);
        let end = begun.saturating_add(length);
        if now < end {
            return None;
        }
        let offered = match self.opportunities {
            true => self.offered as f64,
            false => rate.bps() as f64 / 8.0 * length.secs(),
        };
        let rtt = self.rtt.checked_div(self.packets).map(|ps| Span::from_ps(ps.max(1)));
        let seen = Seen { arrived: self.arrived, offered, packets: self.packets, rtt };
        *self = Self { opportunities: self.opportunities, begun: Some(end), ..Self::default() };
        Some(seen)
    }

    /// When the present period began.
    pub(super) fn begun(&self) -> Time {
        self.begun.unwrap_or_default()
    }

    /// Nothing more will have happened in the periods before `now`: they are passed over.
    pub(super) fn skip(&mut self, now: Time, length: Span) {
        if let Some(begun) = self.begun
            && length > Span::ZERO
        {
            let missed = now.since(begun).ps() / length.ps();
            self.begun = Some(begun.saturating_add(length.saturating_mul(missed)));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{behind, finds};
    use super::super::{Arrival, HeaderStage, Leave, Leaving, View};
    use super::*;
    use thalweg_units::Bytes;
    use thalweg_wire::{Explicit, ExplicitKind, Packet, Side};

    /// A router before a link of 12 Mb/s, what its packets carry, and their sender's window.
    pub(in super::super) struct Router<S>(pub S, pub ExplicitKind, pub Bytes);

    impl<S: HeaderStage> Router<S> {
        /// A packet comes at a millisecond and leaves at once, `queue` bytes before and after; what it carries then.
        pub(in super::super) fn passes(
            &mut self,
            ms: u64,
            wire: u32,
            queue: u64,
            rtt: Span,
        ) -> Option<Explicit> {
            self.carries(ms, wire, queue, Explicit::unwritten(self.1), rtt)
        }
        /// A packet that a router before has written into.
        pub(in super::super) fn finds(&mut self, ms: u64, what: Explicit) -> Option<Explicit> {
            self.carries(ms, 1500, 15_000, what, Span::from_ms(100))
        }
        fn carries(&mut self, ms: u64, wire: u32, queue: u64, what: Explicit, rtt: Span) -> Option<Explicit> {
            let (now, rate) = (Time::from_ms(ms), Rate::from_mbps(12));
            let (mut packet, mut side) = (Packet { wire, ..Packet::default() }, Side::Empty);
            side.request_explicit(what, rtt, self.2);
            let view = View { rate, ..finds((queue / 1500) as u32, queue, wire) };
            assert_eq!(self.0.on_arrival(now, &view, &packet), Arrival::Admit);
            let view = View { rate, ..behind((queue / 1500) as u32, queue, wire) };
            let leaving = Leaving { ecn: thalweg_wire::Ecn::NotEct };
            assert_eq!(self.0.on_departure(now, &view, leaving), Leave::Pass);
            self.0.write(now, &view, &mut packet, &mut side);
            side.explicit().map(|header| header.what)
        }
    }

    #[test]
    fn periods_follow_each_other_from_the_first_packet_on_and_empty_ones_are_passed_over() {
        let (mut m, ms) = (Meter::default(), Time::from_ms);
        let period = |m: &mut Meter, at| m.period(ms(at), Span::from_ms(10), Rate::from_mbps(8));
        assert_eq!(period(&mut m, 3), None);
        m.arrived(700);
        m.left(Span::from_ms(20));
        m.left(Span::from_ms(40));
        assert_eq!(period(&mut m, 12), None);
        let seen = Seen { arrived: 700, offered: 10_000.0, packets: 2, rtt: Some(Span::from_ms(30)) };
        assert_eq!(period(&mut m, 13), Some(seen));
        assert_eq!(period(&mut m, 13), None);
        let nothing = Seen { arrived: 0, offered: 10_000.0, packets: 0, rtt: None };
        assert_eq!(period(&mut m, 57), Some(nothing));
        m.skip(ms(57), Span::from_ms(10));
        assert_eq!((period(&mut m, 57), m.begun), (None, Some(ms(53))));
        let mut m = Meter { opportunities: true, begun: Some(ms(0)), ..Meter::default() };
        m.offered(1504);
        assert_eq!(period(&mut m, 10).unwrap().offered, 1504.0);
    }
}
