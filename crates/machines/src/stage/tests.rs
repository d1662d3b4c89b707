//! What every stage obeys, and how tests describe ports.

use super::*;
use proptest::prelude::*;
use thalweg_units::Bytes;
use thalweg_units::notation::Length;

/// The queue before a packet of `wire` bytes joins it.
pub(super) fn finds(packets: u32, bytes: u64, wire: u32) -> View {
    let rate = Rate::from_gbps(8);
    View { packets, bytes, wire, rate, sent: 0, idle_for: Span::ZERO, waited: Span::ZERO }
}
/// What a packet of `wire` bytes leaves behind.
pub(super) fn behind(packets: u32, bytes: u64, wire: u32) -> View {
    finds(packets, bytes, wire)
}

fn stages() -> impl Strategy<Value = StageSpec> {
    let k = prop_oneof![
        (0u32..4).prop_map(Length::Packets),
        (0u64..4000).prop_map(|k| Length::Bytes(Bytes::new(k))),
    ];
    let at = prop_oneof![Just(MarkAt::Arrival), Just(MarkAt::Departure)];
    let step = (k, at.clone(), any::<bool>())
        .prop_map(|(threshold, at, include_self)| step_ecn::Params { threshold, at, include_self }.into());
    let red_ecn = (0u64..4000, 0u64..4000, 0.0..=1.0, at).prop_map(|(min, width, max_probability, at)| {
        let (min, max) = (Bytes::new(min), Bytes::new(min + width));
        red_ecn::Params { min, max, max_probability, at }.into()
    });
    let listed = prop::sample::select(StageSpec::variants());
    prop_oneof![step, red_ecn, listed]
}

fn make(spec: &StageSpec) -> StageMachine {
    spec.make(Stream::new(1, "stage", 0), Rate::from_bps(10_000_000_000)).unwrap()
}

proptest! {
    /// What may bypass the queue is admitted unmarked, leaves unmarked, and draws nothing.
    #[test]
    fn a_packet_that_bypasses_would_have_gone_unmarked(spec in stages(), wire in 64u32..4000) {
        let packet = Packet { ecn: Ecn::Ect0, wire, ..Packet::default() };
        let mut stage = make(&spec);
        let before = format!("{stage:?}");
        if u64::from(wire) <= stage.bypass_limit() {
            let seen = stage.on_arrival(Time::ZERO, &finds(0, 0, wire), &packet);
            let left = stage.on_departure(Time::ZERO, &behind(0, 0, wire), (&packet).into());
            prop_assert_eq!((seen, left), (Arrival::Admit, Leave::Pass));
            prop_assert_eq!(format!("{stage:?}"), before);
        }
    }

    /// Below `quiet_below` nothing is decided or learnt at arrival; what is not ECN-capable is never marked;
    /// a stage that needs no departures decides nothing at them; saved and loaded it goes on as before.
    #[test]
    fn stages_keep_to_what_they_declare(
        spec in stages(),
        seen in prop::collection::vec((0u32..8, 0u64..12, any::<bool>(), any::<bool>()), 1..80),
    ) {
        let (mut stage, mut now) = (make(&spec), Time::ZERO);
        let mut saved: StageMachine = postcard::from_bytes(&postcard::to_allocvec(&stage).unwrap()).unwrap();
        let mut row = Row::new(vec![StageMachine::TailDrop(TailDrop), stage.clone()]);
        for (packets, us, arrives, capable) in seen {
            now += Span::from_us(us);
            let wire = 700;
            let ecn = if !capable { Ecn::NotEct } else if us % 2 == 0 { Ecn::Ect0 } else { Ecn::Ect1 };
            let packet = Packet { ecn, wire, ..Packet::default() };
            let view = View { waited: Span::from_us(us), ..finds(packets, u64::from(packets) * 700, wire) };
            let before = format!("{stage:?}");
            if arrives {
                let arrival = stage.on_arrival(now, &view, &packet);
                prop_assert_eq!(arrival, saved.on_arrival(now, &view, &packet));
                prop_assert_eq!(arrival, row.on_arrival(now, &view, &packet));
                prop_assert!(capable || arrival != Arrival::Mark);
                if packets < stage.quiet_below() {
                    prop_assert_eq!((arrival, format!("{stage:?}")), (Arrival::Admit, before));
                }
            } else {
                let leave = stage.on_departure(now, &view, (&packet).into());
                prop_assert_eq!(leave, saved.on_departure(now, &view, (&packet).into()));
                prop_assert!(leave != Leave::Brake || ecn == Ecn::Ect1);
                let left = row.on_departure(now, &view, (&packet).into());
                prop_assert_eq!(left, match leave {
                    Leave::Pass => Left::Sent(None),
                    Leave::Mark => Left::Sent(Some(Ecn::Ce)),
                    Leave::Brake => Left::Sent(Some(Ecn::Ect0)),
                    Leave::Drop => Left::Dropped,
                });
                prop_assert!(capable || leave != Leave::Mark);
                if !stage.needs().departures {
                    prop_assert_eq!((leave, format!("{stage:?}")), (Leave::Pass, before));
                }
            }
        }
    }
}

#[test]
fn the_first_stage_that_drops_is_the_last_that_sees_a_packet_and_marks_add_up() {
    let always = |at| {
        let threshold = Length::Packets(0);
        make(&step_ecn::Params { threshold, at, include_self: false }.into())
    };
    // Above max_th everything that is not marked is dropped.
    let red = |ecn| {
        let p =
            red::Params { min: 0.0, max: 1.0, max_probability: 1.0, weight: 1.0, ..red::Params::default() };
        make(&red::Params { gentle: false, ecn: Some(ecn), mean_packet: Bytes::new(1), ..p }.into())
    };
    let packet = Packet { ecn: Ecn::Ect0, wire: 1000, ..Packet::default() };
    let arrives = |stages| Row::new(stages).on_arrival(Time::ZERO, &finds(5, 5000, 1000), &packet);
    assert_eq!(arrives(vec![always(MarkAt::Arrival), red(false)]), Arrival::Drop);
    assert_eq!(arrives(vec![red(true), always(MarkAt::Departure)]), Arrival::Mark);
    assert_eq!(arrives(vec![]), Arrival::Admit);
    let mut row = Row::new(vec![always(MarkAt::Departure), red(true)]);
    assert_eq!(
        row.on_departure(Time::ZERO, &behind(0, 0, 1000), (&packet).into()),
        Left::Sent(Some(Ecn::Ce))
    );
    assert_eq!(row.needs(), Needs { departures: true, idle_time: true, ..Needs::default() });
    assert_eq!(row.wake(), None);
}
