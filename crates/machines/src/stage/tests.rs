//! What every stage obeys, and how tests describe ports.

use super::*;
use proptest::prelude::*;
use thalweg_units::{Bytes, Stream};

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
        (0u32..4).prop_map(Threshold::Packets),
        (0u64..4000).prop_map(|k| Threshold::Bytes(Bytes::new(k))),
    ];
    let step = (k, any::<bool>(), any::<bool>()).prop_map(|(threshold, at_departure, include_self)| {
        StageSpec::StepEcn(StepEcnSpec { threshold, at_departure, include_self })
    });
    let red_ecn =
        (0u64..4000, 0u64..4000, 0.0..=1.0, any::<bool>()).prop_map(|(min, width, p, at_departure)| {
            let (min, max) = (Bytes::new(min), Bytes::new(min + width));
            StageSpec::RedEcn(RedEcnSpec { min, max, max_probability: p, at_departure })
        });
    let red = (0u8..2, any::<bool>()).prop_map(|(gentle, ecn)| {
        let (min, max, max_probability, weight) = (1.0, 3.0, 0.3, 0.5);
        StageSpec::Red(RedSpec {
            min,
            max,
            max_probability,
            weight,
            gentle: gentle == 1,
            ecn,
            mean_packet: 1000,
        })
    });
    let codel = (0u64..5).prop_map(|us| {
        StageSpec::Codel(CodelSpec { target: Span::from_us(us), interval: Span::from_us(9), mtu: 500 })
    });
    prop_oneof![Just(StageSpec::TailDrop), Just(StageSpec::Int), step, red_ecn, red, codel]
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

    /// Below `quiet_below` nothing is decided or learnt at arrival; what is not ECN-capable is never marked; a stage that
    /// needs no departures decides nothing at them; saved and loaded it goes on as before.
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
            let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
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
                let left = row.on_departure(now, &view, (&packet).into());
                prop_assert_eq!(left, if leave == Leave::Drop { Left::Dropped } else { Left::Sent(leave == Leave::Mark) });
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
    let always = |at_departure| {
        let threshold = Threshold::Packets(0);
        make(&StageSpec::StepEcn(StepEcnSpec { threshold, at_departure, include_self: false }))
    };
    // Above max_th everything that is not marked is dropped.
    let red = |ecn| {
        let (min, max, max_probability, weight) = (0.0, 1.0, 1.0, 1.0);
        make(&StageSpec::Red(RedSpec {
            min,
            max,
            max_probability,
            weight,
            gentle: false,
            ecn,
            mean_packet: 1,
        }))
    };
    let packet = Packet { ecn: Ecn::Ect0, wire: 1000, ..Packet::default() };
    let arrives = |stages| Row::new(stages).on_arrival(Time::ZERO, &finds(5, 5000, 1000), &packet);
    assert_eq!(arrives(vec![always(false), red(false)]), Arrival::Drop);
    assert_eq!(arrives(vec![red(true), always(true)]), Arrival::Mark);
    assert_eq!(arrives(vec![]), Arrival::Admit);
    let mut row = Row::new(vec![always(true), red(true)]);
    assert_eq!(row.on_departure(Time::ZERO, &behind(0, 0, 1000), (&packet).into()), Left::Sent(true));
    assert_eq!(row.needs(), Needs { departures: true, idle_time: true, ..Needs::default() });
    assert_eq!(row.wake(), None);
}

#[test]
fn every_stage_has_a_name_and_a_line() {
    let names: std::collections::BTreeSet<&str> = CATALOGUE.iter().map(|(key, _)| *key).collect();
    assert!(names.len() == CATALOGUE.len() && CATALOGUE.iter().all(|(_, line)| !line.is_empty()));
}
