//! Pauses of single queues: what is paused waits, what is not goes on, and nothing is lost.
use crate::common::*;
use proptest::prelude::*;
use thalweg_machines::buffer::{InputMemory, InputSpec};
use thalweg_machines::pause::PauseSpec;
use thalweg_machines::pause::pfc::Params;
use thalweg_machines::schedule::{DisciplineSpec, priority};
use thalweg_machines::transport::UdpPace;
use thalweg_net::spec::*;
use thalweg_sim::port::Backlog;
use thalweg_units::{Bytes, FlowId, PortId, Rate, Span, Time};
use thalweg_wire::{Classes, Frame, QueueSet};

const RATE: Rate = Rate::from_gbps(8);
/// From the receiver to the switch; the other way is the port that is paused.
const BACK: PortId = PortId(4);

/// Two hosts send 100 packets of 1000 B, a class each, at a third of the rate to a third, whose link serves
/// class 0 first.
fn two_classes(seed: u64) -> NetworkSpec {
    let flows = vec![
        FlowSpec { class: 0, ..flow(0, 2, 100_000, Time::ZERO) },
        FlowSpec { class: 1, ..flow(1, 2, 100_000, Time::from_ns(100)) },
    ];
    let third = Rate::from_bps(RATE.bps() / 3);
    let spec = star(3, RATE, Span::from_us(1), udp(1000, UdpPace::Constant(third)), flows);
    let far = Bytes::new(1 << 40);
    let inputs = InputSpec {
        memory: InputMemory::PerInput(far),
        pause: Some(PauseSpec::Pfc(Params::fixed(1 << 39, 1 << 39, 1 << 20))),
        release_at_start: false,
        one_per_input: false,
    };
    let order = priority::Params::from(2).into();
    NetworkSpec { seed, inputs: Some(inputs), disciplines: vec![DisciplineSpec { order, ..fifo() }], ..spec }
}

fn run_until(sim: &mut Network, at: Time) {
    while sim.now() < at && sim.run(1) {}
}

fn send_frame(sim: &mut Network, at: u64, frame: Frame) {
    run_until(sim, Time::from_us(at));
    sim.send_frame(BACK, frame).expect("flow control");
}

fn received(sim: &Network) -> [u64; 2] {
    [0, 1].map(|flow| sim.outcome(FlowId(flow)).delivered)
}

#[test]
fn a_paused_queue_waits_and_the_other_goes_on() {
    for queue in [0u16, 1] {
        let mut sim = Network::new(two_classes(1)).expect("a network");
        send_frame(&mut sim, 30, Frame::PauseQueue { queue });
        run_until(&mut sim, Time::from_us(40));
        let before = received(&sim);
        run_until(&mut sim, Time::from_us(140));
        let (after, other) = (received(&sim), usize::from(1 - queue));
        assert_eq!(after[usize::from(queue)], before[usize::from(queue)], "queue {queue} is paused");
        // A third of 1 byte per ns for 100 us.
        assert!(after[other] - before[other] >= 32_000, "{before:?} {after:?}");
        send_frame(&mut sim, 150, Frame::ResumeQueue { queue });
        while sim.run(1000) {}
        assert_eq!(received(&sim), [100_000; 2]);
        let totals = sim.totals(BACK.reverse());
        assert_eq!((sim.counters().packets_dropped, totals.pauses, sim.pauses().len()), (0, 1, 1));
        // Both frames take 64 ns + 1 us.
        assert_eq!(totals.paused, sim.pauses()[0].ended.since(sim.pauses()[0].began).ps());
        assert!((119_000_000..123_000_000).contains(&totals.paused), "{}", totals.paused);
    }
}

#[test]
fn all_queues_paused_one_by_one_stop_the_port_and_a_bitmap_frees_it() {
    let mut sim = Network::new(two_classes(1)).expect("a network");
    send_frame(&mut sim, 30, Frame::PauseQueue { queue: 0 });
    send_frame(&mut sim, 32, Frame::PauseQueue { queue: 1 });
    run_until(&mut sim, Time::from_us(40));
    let before = received(&sim);
    run_until(&mut sim, Time::from_us(90));
    assert_eq!(received(&sim), before);
    let mut saved = Network::load(&sim.save()).expect("a saved run");
    for sim in [&mut sim, &mut saved] {
        send_frame(sim, 100, Frame::Bitmap(QueueSet::default()));
        while sim.run(1000) {}
        assert_eq!((received(sim), sim.counters().packets_dropped), ([100_000; 2], 0));
    }
    assert_eq!(sim.digest(), saved.digest());
}

#[test]
fn a_network_without_flow_control_has_no_frames() {
    let mut sim = Network::new(NetworkSpec { inputs: None, ..two_classes(1) }).expect("a network");
    assert!(
        sim.send_frame(BACK, Frame::Xon { classes: Classes::ALL })
            .unwrap_err()
            .to_string()
            .contains("no pause policy")
    );
}

fn frames() -> impl Strategy<Value = Frame> {
    let class = (0u8..3).prop_map(|c| if c == 2 { Classes::ALL } else { Classes::one(c) });
    prop_oneof![
        (class.clone(), prop::option::of(1u64..50))
            .prop_map(|(classes, us)| Frame::Xoff { classes, hold: us.map(Span::from_us) }),
        class.prop_map(|classes| Frame::Xon { classes }),
        (0u16..2).prop_map(|queue| Frame::PauseQueue { queue }),
        (0u16..2).prop_map(|queue| Frame::ResumeQueue { queue }),
        prop::collection::vec(0u16..2, 0..2).prop_map(|q| Frame::Bitmap(q.into_iter().collect())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever is sent, in whatever order: once everything is resumed, everything arrives.
    #[test]
    fn nothing_is_lost_or_stuck(story in prop::collection::vec((1u64..15, frames()), 0..25)) {
        let mut sim = Network::new(two_classes(1)).expect("a network");
        let mut at = 0;
        for (gap, frame) in story {
            at += gap;
            send_frame(&mut sim, at, frame);
        }
        send_frame(&mut sim, at + 1, Frame::Bitmap(QueueSet::default()));
        send_frame(&mut sim, at + 2, Frame::Xon { classes: Classes::ALL });
        while sim.run(1000) {}
        prop_assert_eq!(received(&sim), [100_000; 2]);
        prop_assert!(sim.pauses().iter().all(|p| p.ended != Time::MAX));
    }
}

#[test]
fn what_waits_in_a_paused_queue_is_lost_with_its_link() {
    let mut spec = two_classes(1);
    spec.incidents = vec![
        Incident { at: Time::from_us(60), what: IncidentKind::LinkDown(2) },
        Incident { at: Time::from_us(300), what: IncidentKind::LinkUp(2) },
    ];
    let mut sim = Network::new(spec).expect("a network");
    send_frame(&mut sim, 30, Frame::PauseQueue { queue: 1 });
    run_until(&mut sim, Time::from_us(100));
    assert_eq!(sim.backlog(PortId(5)), Backlog::default());
    while sim.run_checked(1000, 1).expect("laws hold") {}
}
