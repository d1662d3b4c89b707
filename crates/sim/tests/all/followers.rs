//! Flows that start after others: after all of them, and after a pause of their own.
use crate::common::*;
use proptest::prelude::*;
use thalweg_machines::transport::{TcpSpec, TransportSpec, UdpPace};
use thalweg_net::spec::*;
use thalweg_sim::FlowEnd;
use thalweg_units::{FlowId, Rate, Span, Stream, Time};

fn burst() -> TransportSpec {
    udp(1000, UdpPace::Burst)
}

/// Hosts around a switch, 1000 B take 1 us on every link, which is 1 us long.
fn around(hosts: u32, flows: Vec<FlowSpec>, follow: &[&[u32]]) -> NetworkSpec {
    let spec = star(hosts, Rate::from_gbps(8), Span::from_us(1), burst(), flows);
    let received = |flow: &u32| Predecessor::Flow { flow: FlowId(*flow), end: End::Received };
    NetworkSpec { precedence: Precedence::new(follow.iter().map(|of| of.iter().map(received))), ..spec }
}

fn us(at: Option<Time>) -> u64 {
    at.expect("it happened").ps() / 1_000_000
}

#[test]
fn a_flow_starts_a_pause_after_the_last_of_those_that_it_follows_has_arrived() {
    let flows = vec![
        flow(0, 1, 1000, Time::ZERO),       // 0 .. 4 us: two transmissions, two links
        flow(2, 3, 5000, Time::from_us(3)), // 3 .. 11 us
        flow(1, 2, 1000, Time::from_us(5)), // after both, and 5 us: 16 .. 20 us
        flow(3, 0, 1000, Time::ZERO),       // after the first alone: 4 .. 8 us
        flow(2, 0, 1000, Time::from_us(1)), // after those two: 21 .. 25 us
    ];
    let sim = run(around(4, flows, &[&[], &[], &[1, 0], &[0], &[2, 3]]));
    let times: Vec<(u64, u64)> =
        (0..5).map(|f| sim.outcome(FlowId(f))).map(|o| (us(o.started), us(o.received))).collect();
    assert_eq!(times, [(0, 4), (3, 11), (16, 20), (4, 8), (21, 25)]);
}

#[test]
fn a_flow_may_wait_for_the_sender_of_another_instead() {
    let flows = vec![
        flow(0, 1, 960, Time::ZERO),       // 0 .. 4 us; its ACK of 40 B takes 2.08 us more
        flow(0, 2, 960, Time::from_us(1)), // after that ACK
        flow(0, 3, 960, Time::from_us(1)), // after its arrival
    ];
    let mut spec = around(4, flows, &[&[], &[], &[0]]);
    let first = |end| Predecessor::Flow { flow: FlowId(0), end };
    spec.precedence = Precedence::new([vec![], vec![first(End::Acked)], vec![first(End::Received)]]);
    spec.transports = vec![TransportSpec::Tcp(TcpSpec { mss: 960, ..wide_open() })];
    let sim = run(spec);
    let starts = (0..3).map(|f| sim.outcome(FlowId(f)).started.expect("it started").ps() / 1000);
    assert_eq!(starts.collect::<Vec<_>>(), [0, 7080, 5000]);
}

#[test]
fn what_follows_a_flow_that_never_arrives_never_starts() {
    let flows =
        vec![flow(0, 1, 1000, Time::ZERO), flow(2, 3, u64::MAX, Time::ZERO), flow(1, 0, 1000, Time::ZERO)];
    let mut spec = around(4, flows, &[&[], &[], &[0, 1]]);
    spec.transports = vec![udp(1000, UdpPace::Constant(Rate::from_gbps(1)))];
    spec.stop.until = Time::from_us(100);
    let end = run(spec).outcome(FlowId(2));
    assert_eq!((end.started, end.end), (None, FlowEnd::NotStarted));
}

#[test]
fn a_flow_before_those_that_it_follows_is_refused() {
    let spec = around(3, vec![flow(0, 1, 1, Time::ZERO); 2], &[&[1], &[]]);
    let e = Network::new(spec).expect_err("refused").to_string();
    assert!(e.contains("flow 0 must come after the flows that it follows"), "{e}");
}

/// Any graph of precedence: some flows start by the clock, the others follow either end of up to three before them.
fn random(seed: u64) -> NetworkSpec {
    let mut draw = Stream::new(seed, "followers", 0);
    let mut flows = random_flows(seed, 40, 6, 20_000, 50_000);
    let mut follow = vec![Vec::new(); 40];
    for (i, follower) in flows.iter_mut().enumerate().skip(10) {
        follower.start = Time::from_ps(draw.below(3) * 777_777);
        let mut before = || Predecessor::Flow {
            flow: FlowId(draw.below(i as u64) as u32),
            end: if draw.below(2) == 0 { End::Received } else { End::Acked },
        };
        follow[i] = (0..=i % 4).map(|_| before()).collect();
    }
    NetworkSpec { precedence: Precedence::new(follow), ..around(6, flows, &[]) }
}

proptest! {
    #[test]
    fn every_follower_waits_for_all_and_no_longer(
        seed in 0..1_000_000u64,
        cuts in prop::collection::vec(1..400u64, 0..6),
    ) {
        let straight = run(random(seed));
        let spec = straight.spec();
        for (flow, f) in (0..).map(FlowId).zip(&spec.flows) {
            let ended = |p: &Predecessor| {
                let Predecessor::Flow { flow, end } = p else { panic!("no computations here") };
                straight.outcome(*flow).ended(*end).expect("it ended")
            };
            let Some(last) = spec.precedence.of(flow).iter().map(ended).max() else { continue };
            prop_assert_eq!(straight.outcome(flow).started, Some(last + Span::from_ps(f.start.ps())));
        }
        prop_assert_eq!(run_cut(random(seed), cuts).digest(), straight.digest());
    }
}
