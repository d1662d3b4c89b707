//! Computations: they wait for flows and for each other, share processors, and flows wait for them.
use crate::common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use thalweg_machines::transport::UdpPace;
use thalweg_net::spec::*;
use thalweg_sim::Sim;
use thalweg_units::{FlowId, HostId, Rate, Span, Stream, Time, WorkId};

fn work(host: u32, cpu: impl Into<Option<u32>>, start_us: u64, lasts_us: u64) -> WorkSpec {
    WorkSpec {
        host: HostId(host),
        cpu: cpu.into(),
        start: Time::from_us(start_us),
        lasts: Span::from_us(lasts_us),
        measured: true,
        group: 0,
    }
}

fn of_flow(flow: u32, end: End) -> Predecessor {
    Predecessor::Flow { flow: FlowId(flow), end }
}

fn of_work(work: u32, edge: Edge) -> Predecessor {
    Predecessor::Work { work: WorkId(work), edge }
}

/// Hosts around a switch, 1000 B take 1 us on every link, which is 1 us long.
fn around(hosts: u32, flows: Vec<FlowSpec>, works: Vec<WorkSpec>) -> NetworkSpec {
    let burst = udp(1000, UdpPace::Burst);
    NetworkSpec { works, ..star(hosts, Rate::from_gbps(8), Span::from_us(1), burst, flows) }
}

/// When works begin and end, us.
fn times(sim: &Sim) -> Vec<(u64, u64)> {
    let of = |work: usize| sim.work(WorkId::from(work));
    let us = |at: Time| at.ps() / 1_000_000;
    (0..sim.spec().works.len()).map(of).map(|record| (us(record.begun), us(record.ended))).collect()
}

#[test]
fn computations_share_processors_in_the_order_in_which_they_are_ready_and_flows_follow_them() {
    let flows = vec![
        flow(0, 1, 1000, Time::ZERO), // after w0: 3 .. 7 us
        flow(1, 0, 1000, Time::ZERO), // as w4 begins: 7 .. 11 us
        flow(0, 2, 1000, Time::ZERO), // as f0 starts, behind it: 3 .. 8 us
    ];
    let works = vec![
        work(0, 0, 0, 3),
        work(0, 0, 1, 2),    // ready at 1 us, when the processor is busy
        work(0, 1, 0, 4),    // on another one
        work(0, None, 2, 0), // 2 us after both w1 and w2
        work(1, 0, 0, 5),    // once f0 has come
        work(0, 0, 0, 20),   // once f1 has come: 11 .. 31 us, the last
    ];
    let ended = |work| of_work(work, Edge::Ended);
    let mut spec = around(3, flows, works);
    spec.precedence =
        Precedence::new([vec![ended(0)], vec![of_work(4, Edge::Begun)], vec![of_flow(0, End::Started)]])
            .with_works([
                vec![],
                vec![],
                vec![],
                vec![ended(1), ended(2)],
                vec![of_flow(0, End::Received)],
                vec![of_flow(1, End::Received)],
            ]);
    spec.stop.when_measured_done = true;
    let sim = run(spec);
    assert_eq!(times(&sim), [(0, 3), (3, 5), (0, 4), (7, 7), (7, 12), (11, 31)]);
    let starts = (0..3).map(|f| sim.outcome(FlowId(f))).map(|o| {
        let us = |at: Option<Time>| at.expect("it happened").ps() / 1_000_000;
        (us(o.started), us(o.received))
    });
    assert_eq!(starts.collect::<Vec<_>>(), [(3, 7), (7, 11), (3, 8)]);
    assert_eq!(sim.now(), Time::from_us(31), "the run waits for what is measured");
}

#[test]
fn what_nothing_measured_needs_ends_with_the_run() {
    let mut spec = around(2, vec![flow(0, 1, 1000, Time::ZERO)], vec![work(0, 0, 0, 1000)]);
    spec.works[0].measured = false;
    spec.stop.when_measured_done = true;
    let sim = run(spec);
    assert_eq!((sim.now(), sim.work(WorkId(0)).ended), (Time::from_us(4), Time::MAX));
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |change: &dyn Fn(&mut NetworkSpec)| {
        let mut spec = around(2, vec![flow(0, 1, 1000, Time::ZERO)], vec![work(0, 0, 0, 1)]);
        change(&mut spec);
        Network::new(spec).expect_err("refused").to_string()
    };
    let nowhere = refused(&|spec| spec.works[0].host = HostId(2));
    assert!(nowhere.contains("computation 0 is on no host of the network"), "{nowhere}");
    let circle = refused(&|spec| {
        spec.precedence =
            Precedence::new([vec![of_work(0, Edge::Begun)]]).with_works([vec![of_flow(0, End::Received)]]);
    });
    assert!(circle.contains("flows and computations wait for each other in a circle"), "{circle}");
}

/// Any graph of flows and computations on two processors of each host.
fn random(seed: u64) -> NetworkSpec {
    let mut draw = Stream::new(seed, "works", 0);
    let mut flows = random_flows(seed, 40, 6, 20_000, 50_000);
    let (mut before_flows, mut before_works) = (vec![Vec::new(); 40], vec![Vec::new(); 40]);
    let mut any = |flows: usize, works: usize| {
        let (flow, work) = (draw.below(flows as u64) as u32, draw.below(works.max(1) as u64) as u32);
        match draw.below(if works > 0 { 5 } else { 3 }) {
            0 => of_flow(flow, End::Received),
            1 => of_flow(flow, End::Acked),
            2 => of_flow(flow, End::Started),
            3 => of_work(work, Edge::Begun),
            _ => of_work(work, Edge::Ended),
        }
    };
    for i in 10..40 {
        before_flows[i] = (0..=i % 4).map(|_| any(i, i - 10)).collect();
        flows[i].start = Time::from_ps(i as u64 % 3 * 777_777);
        if i % 5 > 0 {
            before_works[i - 10] = (0..i % 5).map(|_| any(i + 1, i - 10)).collect();
        }
    }
    let mut draw = Stream::new(seed, "durations", 0);
    let mut one = |number: u32| WorkSpec {
        start: Time::from_ps(draw.below(3) * 333_333),
        lasts: Span::from_ps(draw.below(4) * 1_234_567),
        ..work(number % 6, (!number.is_multiple_of(4)).then_some(number % 2), 0, 0)
    };
    let works = (0..40).map(&mut one).collect();
    let precedence = Precedence::new(before_flows).with_works(before_works);
    NetworkSpec { precedence, ..around(6, flows, works) }
}

/// When a step was ready: all that it follows, and its pause.
fn ready(sim: &Sim, step: Step) -> Time {
    let spec = sim.spec();
    let at = |before: &Predecessor| match *before {
        Predecessor::Flow { flow, end } => sim.outcome(flow).ended(end).expect("it ended"),
        Predecessor::Work { work, edge } => sim.work(work).reached(edge),
    };
    let start = match step {
        Step::Flow(flow) => spec.flows[flow.at()].start,
        Step::Work(work) => spec.works[work.at()].start,
    };
    spec.precedence.of_step(step).iter().map(at).max().unwrap_or(Time::ZERO) + Span::from_ps(start.ps())
}

proptest! {
    #[test]
    fn everything_waits_for_what_it_follows_and_for_its_processor_and_no_longer(
        seed in 0..1_000_000u64,
        cuts in prop::collection::vec(1..400u64, 0..6),
    ) {
        let straight = run(random(seed));
        let spec = straight.spec();
        for flow in (0..spec.flows.len()).map(FlowId::from) {
            prop_assert_eq!(straight.outcome(flow).started, Some(ready(&straight, Step::Flow(flow))));
        }
        let mut on: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, work) in (0..).map(WorkId).zip(&spec.works) {
            let (record, ready) = (straight.work(number), ready(&straight, Step::Work(number)));
            prop_assert_eq!(record.ended, record.begun + work.lasts);
            match work.cpu {
                None => prop_assert_eq!(record.begun, ready),
                Some(cpu) => on.entry((work.host, cpu)).or_default().push((record.begun, record.ended, ready)),
            }
        }
        for mut works in on.into_values() {
            works.sort_unstable();
            let mut free = Time::ZERO;
            for (begun, ended, ready) in &works {
                prop_assert_eq!(*begun, free.max(*ready));
                free = *ended;
            }
            // Those of no duration that begin at one instant have no order that could be seen.
            works.retain(|(begun, ended, _)| begun < ended);
            prop_assert!(works.is_sorted_by_key(|(_, _, ready)| *ready), "first come, first served");
        }
        prop_assert_eq!(run_cut(random(seed), cuts).digest(), straight.digest());
    }
}

/// A snapshot in the middle of a computation, with another one that waits for its processor.
#[test]
fn a_run_cut_in_a_computation_goes_on_as_if_it_had_not_been() {
    let spec = || {
        let works = vec![work(0, 0, 0, 10), work(0, 0, 1, 10), work(0, 0, 2, 10)];
        let mut spec = around(2, vec![flow(0, 1, 1000, Time::ZERO)], works);
        spec.precedence = Precedence::new([vec![of_work(1, Edge::Ended)]]);
        spec
    };
    let straight = run(spec());
    assert_eq!(times(&straight), [(0, 10), (10, 20), (20, 30)]);
    for at in [5, 10, 15, 25] {
        let mut cut = Sim::new(spec()).expect("a network");
        cut.run_until(u64::MAX, Time::from_us(at));
        let mut resumed = Sim::load(&cut.save()).expect("a snapshot");
        while resumed.run(1 << 20) {}
        assert_eq!((resumed.digest(), times(&resumed)), (straight.digest(), times(&straight)), "{at} us");
    }
}
