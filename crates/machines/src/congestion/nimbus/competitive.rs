//! Competitive mode: a TCP window that is converted to a rate. Goyal 2022, §4.4.1; MulTCP: Crowcroft and Oechslin,
//! 1998, as the published implementation has it.
//!
//! CHOICE §4.4.1: what CUBIC was before is not stated when a window is taken up again: its curve begins there, as
//! after slow start, and the largest window of before is forgotten. Other reading: it is kept for fast convergence.
//! CHOICE: a timeout is a loss like any other (the published implementation). Other reading: slow start from one
//! segment; the transport sends everything again either way.

use super::super::{AckSample, CongestionControl, Loss, Start, cubic, newreno};
use super::params::{self, Params};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Stream, Time};

/// The windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Competitive {
    Cubic(Box<cubic::Cubic>),
    NewReno(newreno::NewReno),
    MulTcp(MulTcp),
}

impl Competitive {
    pub(super) fn new(start: &Start, params: &Params) -> Self {
        match params.competitive {
            params::Competitive::Cubic => {
                Self::Cubic(Box::new(cubic::Cubic::new(start, cubic::Params::default())))
            }
            params::Competitive::Newreno => Self::NewReno(newreno::NewReno::new(start)),
            params::Competitive::Multcp => Self::MulTcp(MulTcp::new(start, params.flows)),
        }
    }

    /// Payload bytes.
    pub(super) fn window(&self) -> u64 {
        match self {
            Self::Cubic(c) => c.permit().window.get(),
            Self::NewReno(c) => c.permit().window.get(),
            Self::MulTcp(c) => c.window(),
        }
    }

    /// The flow is paced by the rate, so the transport's window does not show whether this one was used up: it was,
    /// unless the application limited the flow.
    pub(super) fn on_ack(&mut self, ack: &AckSample<'_>) {
        let ack = AckSample { cwnd_limited: !ack.app_limited, ..*ack };
        match self {
            Self::Cubic(c) => c.on_ack(&ack),
            Self::NewReno(c) => c.on_ack(&ack),
            Self::MulTcp(c) => c.on_ack(&ack),
        }
    }

    /// `least` is the smallest round trip so far. The cut is relative to the window, not to what is in flight, which
    /// follows the pulses and is less than the window in the second half of each.
    pub(super) fn on_loss(&mut self, loss: &Loss, least: Span) {
        let loss = &Loss { in_flight: Bytes::new(self.window()), ..*loss };
        match self {
            Self::Cubic(c) => c.on_loss(loss),
            Self::NewReno(c) => c.on_loss(loss),
            Self::MulTcp(c) => c.on_loss(loss, least),
        }
    }

    /// Continues with this window in congestion avoidance.
    pub(super) fn take_up(&mut self, window: u64) {
        match self {
            Self::Cubic(c) => c.take_up(window),
            Self::NewReno(c) => c.take_up(window),
            Self::MulTcp(c) => {
                let share = window / c.flows.len() as u64;
                c.flows.iter_mut().for_each(|flow| flow.take_up(share));
            }
        }
    }
}

/// Several NewReno windows whose sum is the flow's window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MulTcp {
    flows: Vec<newreno::NewReno>,
    stream: Stream,
    lost: Option<Time>,
}

impl MulTcp {
    fn new(start: &Start, flows: u16) -> Self {
        Self {
            flows: vec![newreno::NewReno::new(start); usize::from(flows)],
            stream: start.stream,
            lost: None,
        }
    }

    fn window(&self) -> u64 {
        self.flows.iter().fold(0, |all, flow| all.saturating_add(flow.window))
    }

    /// Each is credited with a share of the acknowledged bytes in proportion to its window.
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let all = self.window();
        for flow in &mut self.flows {
            let part = u128::from(ack.acked.get()) * u128::from(flow.window) / u128::from(all);
            flow.on_ack(&AckSample { acked: Bytes::new(part as u64), ..*ack });
        }
    }

    /// The loss is attributed to one of them, drawn in proportion to their windows; at most once per minimum round
    /// trip.
    fn on_loss(&mut self, loss: &Loss, least: Span) {
        if self.lost.is_some_and(|at| loss.now.since(at) < least) {
            return;
        }
        self.lost = Some(loss.now);
        let all = self.window();
        let mut drawn = (self.stream.unit() * all as f64) as u64;
        for flow in &mut self.flows {
            if drawn < flow.window {
                return flow.on_loss(&Loss { in_flight: Bytes::new(flow.window), ..*loss });
            }
            drawn -= flow.window;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::contract::conformance::{ack, loss, start};
    use super::*;

    fn all(segments: u64) -> Vec<Competitive> {
        let of = |competitive| Params { competitive, ..Params::default() };
        use params::Competitive::{Cubic, Multcp, Newreno};
        [Cubic, Newreno, Multcp].map(|c| Competitive::new(&start(1000, segments), &of(c))).into()
    }

    #[test]
    fn a_window_that_is_taken_up_is_past_slow_start() {
        for mut c in all(10) {
            c.take_up(60_000);
            assert_eq!(c.window(), 60_000);
            (0..60).for_each(|_| c.on_ack(&ack(1000, 0)));
            let grown = c.window() - 60_000;
            assert!(grown <= 2100, "slow start would double it: {grown}");
        }
    }

    #[test]
    fn the_transports_window_being_larger_is_no_reason_not_to_grow() {
        for mut c in all(10) {
            let before = c.window();
            c.on_ack(&AckSample { cwnd_limited: false, ..ack(1000, 0) });
            let grown = c.window();
            c.on_ack(&AckSample { app_limited: true, ..ack(1000, 0) });
            assert!(grown > before && c.window() == grown, "{before} {grown} {}", c.window());
        }
    }

    #[test]
    fn the_window_is_cut_not_what_happens_to_be_in_flight() {
        for (mut c, left) in all(10).into_iter().zip([42_000, 30_000, 45_000]) {
            c.take_up(60_000);
            c.on_loss(&loss(20_000, 0, 60_000), Span::from_us(50));
            assert_eq!(c.window(), left);
        }
    }

    #[test]
    fn of_several_flows_one_halves_and_only_once_per_round_trip() {
        let mut c = all(10).remove(2);
        c.take_up(40_000);
        let at = |us: u64| Loss { now: Time::from_us(us), ..loss(40_000, 0, 40_000) };
        let least = Span::from_us(50);
        c.on_loss(&at(100), least);
        assert_eq!(c.window(), 30_000);
        c.on_loss(&at(120), least);
        assert_eq!(c.window(), 30_000);
        c.on_loss(&at(150), least);
        assert!([20_000, 25_000].contains(&c.window()), "{}", c.window());
    }
}
