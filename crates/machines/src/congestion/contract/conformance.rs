//! What every controller of the list must hold to, whatever it observes.

mod rules;

use crate::congestion::*;
use proptest::prelude::*;
use thalweg_wire::{Forecast, IntHop, Load};

/// A flow's start with an initial window in segments and no limits.
pub fn start(mss: u32, segments: u64) -> Start {
    Start {
        mss,
        initial_window: Bytes::new(segments * u64::from(mss)),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        line_rate: Rate::from_gbps(10),
        base_rtt: Span::from_us(16),
        ..Start::default()
    }
}

/// An ACK for `acked` bytes of which `marked` met congestion, all else quiet.
pub fn ack(acked: u64, marked: u64) -> AckSample<'static> {
    AckSample {
        now: Time::from_us(1),
        rtt: Some(Span::from_us(16)),
        acked: Bytes::new(acked),
        sacked: Bytes::ZERO,
        in_flight: Bytes::ZERO,
        acked_to: 1_000_000,
        sent_to: 1_000_000,
        marked: Bytes::new(marked),
        braked: Bytes::ZERO,
        in_recovery: false,
        app_limited: false,
        cwnd_limited: true,
        delivery: None,
        feedback: Feedback::None,
    }
}

/// A loss with this much in flight.
pub fn loss(in_flight: u64, acked_to: u64, sent_to: u64) -> Loss {
    Loss { now: Time::from_us(1), in_flight: Bytes::new(in_flight), acked_to, sent_to }
}

#[derive(Clone, Debug)]
pub enum Event {
    Sent,
    Ack { acked: u64, sacked: u64, marked: bool, in_recovery: bool, rtt: u64, queue: u64 },
    Loss,
    Timeout,
    Notified,
    Noticed(u8),
    Tick,
}

pub fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => Just(Event::Sent),
        6 => (0u64..4, 0u64..3, any::<bool>(), prop::bool::weighted(0.2), 10u64..120, 0u64..100_000)
            .prop_map(|(acked, sacked, marked, in_recovery, rtt, queue)| {
                Event::Ack { acked, sacked, marked, in_recovery, rtt, queue }
            }),
        1 => Just(Event::Loss),
        1 => Just(Event::Timeout),
        1 => Just(Event::Notified),
        2 => (0u8..64).prop_map(Event::Noticed),
        1 => Just(Event::Tick),
    ]
}

/// Gives a controller a sequence of events, with bookkeeping of its own that is consistent.
pub struct Story {
    pub controller: Controller,
    began: Time,
    now: Time,
    una: u64,
    sent_to: u64,
    /// Telemetry of two switches on the path, if the controller needs it.
    hops: Option<[IntHop; 2]>,
    /// The kind of explicit feedback that it needs.
    explicit: Option<ExplicitKind>,
    /// It needs delivery rates.
    delivers: bool,
}

impl Story {
    pub fn new(spec: &ControllerSpec, now: Time) -> Self {
        Self::from(spec, Start { max_window: Bytes::new(1460 * 200), ..start(1460, 10) }, now)
    }

    pub fn from(spec: &ControllerSpec, start: Start, now: Time) -> Self {
        let hop = IntHop { rate: Rate::from_gbps(10), ..IntHop::default() };
        let hops = (spec.needs().feedback == FeedbackKind::Int).then_some([hop; 2]);
        let delivers = spec.needs().delivery;
        let explicit = match spec.needs().feedback {
            FeedbackKind::Explicit(kind) => Some(kind),
            FeedbackKind::None | FeedbackKind::Int => None,
        };
        let controller = spec.make(&start).unwrap();
        Self { explicit, controller, began: now, now, una: 0, sent_to: 0, hops, delivers }
    }

    pub fn apply(&mut self, event: &Event) -> Permit {
        self.now += Span::from_ns(700);
        let (now, mss) = (self.now, 1460);
        let c = &mut self.controller;
        let outstanding = Bytes::new(self.sent_to - self.una);
        let loss = Loss { now, in_flight: outstanding, acked_to: self.una, sent_to: self.sent_to };
        match event {
            Event::Sent => {
                self.sent_to += mss;
                c.on_sent(now, Bytes::new(mss), outstanding + Bytes::new(mss));
            }
            Event::Ack { acked, sacked, marked, in_recovery, rtt, queue } => {
                let acked = (acked * mss).min(self.sent_to - self.una);
                self.una += acked;
                let sacked = (sacked * mss).min(self.sent_to - self.una);
                if acked + sacked == 0 {
                    return c.permit();
                }
                for hop in self.hops.iter_mut().flatten() {
                    *hop = IntHop { at: now, tx_bytes: hop.tx_bytes + queue % 3000, queue: *queue, ..*hop };
                }
                let stack = self.hops.map(|hops| IntStack::of(1, &hops));
                let feedback = match &stack {
                    Some(stack) => Feedback::Int(stack),
                    None if self.explicit.is_some() => Feedback::Explicit(match self.explicit {
                        Some(ExplicitKind::Change) => Explicit::Change(Some(*queue as i64 * 100 - 4_000_000)),
                        Some(ExplicitKind::Rate) => Explicit::Rate(Some(Rate::from_bps(queue * queue))),
                        Some(ExplicitKind::Forecast(reading)) => {
                            let delivers = [1, 2, 3, 4, 5, 6, 7, 8].map(|n| (n * queue / 20_000) as u8);
                            Explicit::Forecast(Forecast {
                                tick: *queue as u32,
                                delivers,
                                pauses: false,
                                reading,
                            })
                        }
                        _ => Explicit::Load([Load::Low, Load::High, Load::Overload][(queue % 3) as usize]),
                    }),
                    None if *marked => Feedback::Mark,
                    None => Feedback::None,
                };
                c.on_ack(&AckSample {
                    now,
                    // What was sent twice has none (Karn).
                    rtt: (*rtt >= 20).then(|| Span::from_us(*rtt)),
                    acked: Bytes::new(acked),
                    sacked: Bytes::new(sacked),
                    in_flight: Bytes::new(self.sent_to - self.una - sacked),
                    acked_to: self.una,
                    sent_to: self.sent_to,
                    marked: Bytes::new(if *marked { acked + sacked } else { 0 }),
                    braked: Bytes::new(if !*marked && queue % 3 == 0 { acked + sacked } else { 0 }),
                    in_recovery: *in_recovery,
                    app_limited: queue % 5 == 0,
                    cwnd_limited: queue % 5 > 0,
                    delivery: self.delivers.then_some(Delivery {
                        delivered: Bytes::new(acked + sacked + queue % 20_000),
                        departures: Span::from_us(*rtt / 2),
                        arrivals: Span::from_us(*rtt),
                        sent: now - Span::from_us(*rtt).min(now.since(self.began)),
                        total: Bytes::new(self.una + sacked),
                        resent: *rtt < 20,
                        lost: Bytes::ZERO,
                        app_limited: queue % 7 == 0,
                    }),
                    feedback,
                });
            }
            Event::Loss => c.on_loss(&loss),
            Event::Timeout => c.on_timeout(&loss),
            Event::Notified => c.on_notification(now),
            Event::Noticed(n) => {
                let rate = Rate::from_mbps(100 + 200 * u64::from(*n));
                let point = thalweg_units::PortId(u32::from(n % 2));
                c.on_notice(now, &Notice { point, body: thalweg_wire::NoticeBody::FairRate(rate) });
                c.on_notice(now, &Notice { point, body: thalweg_wire::NoticeBody::Severity(*n) });
            }
            Event::Tick => c.on_tick(now),
        }
        c.permit()
    }
}

proptest! {
    #[test]
    fn every_controller_allows_a_segment_and_never_more_than_the_largest_window(
        story in prop::collection::vec(events(), 1..200)
    ) {
        for spec in ControllerSpec::variants() {
            let mut s = Story::new(&spec, Time::ZERO);
            for event in &story {
                let permit = s.apply(event);
                let least = if spec.needs().exact { 1 } else { 1460 };
                prop_assert!(permit.window >= Bytes::new(least), "{spec:?}: {permit:?}");
                prop_assert!(permit.window <= Bytes::new(1460 * 200), "{spec:?}: {permit:?}");
            }
        }
    }

    /// As over RDMA without a cap; some refuse that.
    #[test]
    fn without_any_limit_every_controller_allows_a_segment(story in prop::collection::vec(events(), 1..200)) {
        let boundless = Start { initial_window: Bytes::MAX, ..start(1460, 1) };
        for spec in ControllerSpec::variants().into_iter().filter(|spec| spec.make(&boundless).is_ok()) {
            let mut s = Story::from(&spec, boundless, Time::ZERO);
            for event in &story {
                let permit = s.apply(event);
                let least = if spec.needs().exact { 1 } else { 1460 };
                prop_assert!(permit.window >= Bytes::new(least), "{spec:?}: {permit:?}");
            }
        }
    }

    #[test]
    fn a_pace_is_neither_zero_nor_above_the_line_and_only_clocks_tick_and_name_later_ticks(
        story in prop::collection::vec(events(), 1..200)
    ) {
        for spec in ControllerSpec::variants() {
            let mut s = Story::new(&spec, Time::ZERO);
            for event in &story {
                let permit = s.apply(event);
                if let Some(pace) = permit.pace {
                    prop_assert!(pace > Rate::ZERO && pace <= Rate::from_gbps(10), "{spec:?}: {permit:?}");
                }
                prop_assert!(spec.needs().calls.ticks() || permit.wake.is_none(), "{spec:?}: {permit:?}");
                if matches!(event, Event::Tick) {
                    prop_assert!(permit.wake.is_none_or(|wake| wake > s.now), "{spec:?}: {permit:?}");
                }
            }
        }
    }

    #[test]
    fn controllers_without_the_call_ignore_what_is_sent(
        story in prop::collection::vec(events(), 1..100)
    ) {
        for spec in ControllerSpec::variants() {
            let mut s = Story::new(&spec, Time::ZERO);
            for event in &story {
                let before = format!("{:?}", s.controller);
                s.apply(event);
                let indifferent = !spec.needs().calls.sent() && matches!(event, Event::Sent);
                prop_assert!(!indifferent || before == format!("{:?}", s.controller), "{spec:?}");
            }
        }
    }

    #[test]
    fn copies_and_saved_copies_have_the_same_future_and_time_may_be_shifted(
        story in prop::collection::vec(events(), 2..100), cut in 0usize..100
    ) {
        let cut = cut % story.len();
        for spec in ControllerSpec::variants() {
            let mut original = Story::new(&spec, Time::ZERO);
            let mut shifted = Story::new(&spec, Time::from_us(12_345));
            for event in &story[..cut] {
                let (event, later) = (original.apply(event), shifted.apply(event));
                prop_assert_eq!((event.window, event.pace), (later.window, later.pace));
            }
            let saved = postcard::to_stdvec(&original.controller).unwrap();
            let mut copy = Story { controller: original.controller.clone(), ..original };
            let mut loaded = Story { controller: postcard::from_bytes(&saved).unwrap(), ..original };
            for event in &story[cut..] {
                let permit = original.apply(event);
                prop_assert_eq!(permit, copy.apply(event));
                prop_assert_eq!(permit, loaded.apply(event));
                let later = shifted.apply(event);
                prop_assert_eq!((permit.window, permit.pace), (later.window, later.pace));
            }
        }
    }
}

#[test]
fn a_spec_is_the_same_after_files_of_both_sorts() {
    for spec in ControllerSpec::variants().into_iter().chain(ControllerSpec::all()) {
        let text = serde_json::to_string(&spec).unwrap();
        assert!(text.starts_with(&format!("{{\"kind\":\"{}\"", spec.key())), "{text}");
        assert_eq!(serde_json::from_str::<ControllerSpec>(&text).unwrap(), spec);
        let bytes = postcard::to_stdvec(&spec).unwrap();
        assert_eq!(postcard::from_bytes::<ControllerSpec>(&bytes).unwrap(), spec);
    }
}

#[test]
fn defaults_are_what_is_written_when_nothing_is_written_and_nothing_is_wrong_with_them() {
    for mut spec in ControllerSpec::all().into_iter().filter(|s| s.key() != "custom") {
        let text = format!("{{\"kind\": \"{}\"}}", spec.key());
        assert_eq!(serde_json::from_str::<ControllerSpec>(&text).unwrap(), spec);
        assert_eq!(spec.problems(Rate::from_gbps(10)), []);
        spec.resolve(&mut || Span::from_us(20));
        assert_eq!(spec.problems(Rate::from_gbps(10)), []);
        let unknown = format!("{{\"kind\": \"{}\", \"unknown\": 1}}", spec.key());
        assert!(serde_json::from_str::<ControllerSpec>(&unknown).is_err());
    }
}

#[test]
fn an_unregistered_custom_controller_is_an_error() {
    let spec = ControllerSpec::Custom(custom::Params { name: "unknown".into(), ..custom::Params::default() });
    assert!(spec.make(&start(1460, 10)).unwrap_err().to_string().contains("unknown"));
}
