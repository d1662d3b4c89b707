//! Queues that trim, and NDP over them: exact schedules, conservation of payload, short cuts.

use crate::common::*;
use crate::reference::{Choice, agree, build, choices};
use proptest::prelude::*;
use thalweg_machines::schedule::{DisciplineSpec, Limit, ndp};
use thalweg_machines::sharing::{Overflow, dynamic};
use thalweg_machines::transport::{NdpSpec, TransportSpec};
use thalweg_net::spec::*;
use thalweg_sim::BuildError;
use thalweg_units::{Bytes, FlowId, PortId, Rate, Span, Time};

/// Packets of 1000 B at 8 Gb/s, 1 us each, of which 40 B, 40 ns, are header.
const NDP: NdpSpec = NdpSpec {
    payload: 960,
    header: 40,
    control: 40,
    window: 8,
    pull_share: 1.0,
    retry: Span::from_ms(1),
    paths: None,
};

/// Ports with room for so many packets.
fn trimming(packets: u32, params: ndp::Params) -> Vec<DisciplineSpec> {
    vec![DisciplineSpec { order: params.into(), limit: Limit::Packets(packets), ..fifo() }]
}
/// The arriving packet is trimmed, always.
fn arriving() -> ndp::Params {
    ndp::Params { victim: ndp::Victim::Arriving, ..Default::default() }
}
/// Hosts around a switch, 1 us away.
pub fn around(hosts: u32, flows: Vec<FlowSpec>) -> NetworkSpec {
    let mut spec = star(hosts, Rate::from_gbps(8), Span::from_us(1), TransportSpec::Ndp(NDP), flows);
    spec.nic.order = NicOrder::RoundRobin;
    spec.disciplines = trimming(8, arriving());
    spec.stop.until = Time::from_ms(100);
    spec
}
fn received(sim: &Network, flow: u32) -> Time {
    sim.outcome(FlowId(flow)).received.expect("complete")
}
fn trims(sim: &Network) -> Vec<u64> {
    (0..sim.spec().flows.len()).map(|flow| sim.outcome(FlowId::from(flow)).counts.trims).collect()
}

/// Ten packets meet where eight have room. They arrive at 2 us; the two headers leave first, the eight packets behind
/// them from 2.08 us on, so that they are there at 4.08, 5.08, ... 11.08 us. The headers are there at 3.04 and 3.08 us;
/// the first is pulled for at once: its pull is at its source at 5.12 us and its NACK 40 ns later, when the packet is
/// sent again. The second is pulled for a packet time after the first. Both find the queue full of others still, and
/// follow them: the link is never idle.
#[test]
fn an_incast_of_two_packets_more_than_the_queue_holds_keeps_the_link_busy() {
    let flows = (1..=10).map(|src| flow(src, 0, 960, Time::ZERO)).collect();
    let sim = run_checked(around(11, flows), 1);
    let mut ends: Vec<u64> = (0..10).map(|n| received(&sim, n).ps() / 1000).collect();
    ends.sort_unstable();
    assert_eq!(ends, (0..10).map(|n| 4080 + 1000 * n).collect::<Vec<_>>());
    let trims = trims(&sim);
    assert_eq!((trims.iter().sum::<u64>(), trims.iter().max()), (2, Some(&1)));
    let (counters, to_host) = (sim.counters(), sim.totals(PortId(1)));
    assert_eq!((counters.packets_trimmed, counters.packets_dropped), (2, 0));
    assert_eq!((to_host.trimmed, to_host.dropped, to_host.max_queue), (2, 0, 8080));
    let resent: u64 = (0..10).map(|n| sim.outcome(FlowId(n)).counts.retransmitted).sum();
    assert_eq!((resent, sim.outcome(FlowId(0)).counts.timeouts), (2, 0));
}

/// A window of eight packets lasts for 8 us, and a round trip of a packet and its pull takes 6.08 us.
#[test]
fn a_flow_alone_runs_at_line_rate_and_with_half_the_pulls_at_half_of_it() {
    let at = |pull_share, window| {
        let mut spec = around(3, vec![flow(0, 1, 960_000, Time::ZERO)]);
        spec.transports = vec![TransportSpec::Ndp(NdpSpec { pull_share, window, ..NDP })];
        let sim = run(spec);
        received(&sim, 0).since(Time::ZERO).saturating_sub(sim.ideal(FlowId(0)).received)
    };
    assert_eq!(at(1.0, 8), Span::ZERO);
    // Pulls begin with the first packet, at 4 us; the one numbered k calls for packet 8 + k, and is 2 us behind the one
    // before: so the last, number 992, is 991 us later than that pace, and the first window's 8 us less are made up.
    let late = at(0.5, 8);
    assert!(late >= Span::from_us(982) && late <= Span::from_us(992), "{late}");
    // Four packets for each round trip of 6.08 us.
    let late = at(1.0, 4);
    assert_eq!(late, Span::from_ns(249 * 2080));
}

/// Nine packets meet at 2 us, and one is trimmed. At 2.5 us seven wait, and the tenth joins them; the eleventh, at 2.6
/// us, is trimmed, and its header leaves as the packet in transmission has, at 3.04 us: so its pull is at its source at
/// 6.16 us, when the link has more than six packets to send yet. Eleven packets and two headers from 2 us on without a
/// gap, and 1 us.
#[test]
fn a_header_overtakes_the_data_that_waits() {
    let mut flows: Vec<FlowSpec> = (1..=9).map(|src| flow(src, 0, 960, Time::ZERO)).collect();
    flows.push(flow(10, 0, 960, Time::from_ns(500)));
    flows.push(flow(11, 0, 960, Time::from_ns(600)));
    let sim = run_checked(around(12, flows), 1);
    assert_eq!(trims(&sim)[9..], [0, 1]);
    assert_eq!(trims(&sim).iter().sum::<u64>(), 2);
    assert_eq!(received(&sim, 10), Time::from_ns(14_080));
    assert!((0..10).all(|n| received(&sim, n) <= Time::from_ns(13_080)));
}

#[test]
fn headers_beyond_the_room_for_them_are_dropped_and_their_packets_sent_again_in_time() {
    let flows = (1..=12).map(|src| flow(src, 0, 960, Time::ZERO)).collect();
    let mut spec = around(13, flows);
    spec.disciplines = trimming(8, ndp::Params { headers: Bytes::new(80), ..arriving() });
    let sim = run_checked(spec, 1);
    let counters = sim.counters();
    assert_eq!((counters.packets_trimmed, counters.packets_dropped), (2, 2));
    let late = (0..12).filter(|n| received(&sim, *n) > Time::from_ms(1)).count();
    let timeouts: u64 = (0..12).map(|n| sim.outcome(FlowId(n)).counts.timeouts).sum();
    assert_eq!((late, timeouts), (2, 2));
}

#[test]
fn transports_that_do_not_know_trimmed_packets_are_refused() {
    let mut spec = around(2, vec![flow(0, 1, 1000, Time::ZERO)]);
    spec.transports = vec![TransportSpec::Tcp(wide_open())];
    let refused = Network::new(spec).map(|_| ()).unwrap_err();
    assert!(matches!(&refused, BuildError::Transport { transport: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("header"), "{refused}");
}

/// Four spines and a packet on each: sprayed by number, eight flows between two racks share all links alike.
#[test]
fn packets_go_over_all_paths_in_equal_numbers() {
    let (rate, delay) = (Rate::from_gbps(8), Span::from_us(1));
    let mut links: Vec<LinkSpec> = (0..8).map(|h| link(h, 8 + h / 4, rate, delay)).collect();
    links.extend((0..2).flat_map(|leaf| (0..4).map(move |spine| link(8 + leaf, 10 + spine, rate, delay))));
    let flows = (0..4).map(|src| flow(src, 4 + src, 960 * 400, Time::ZERO)).collect();
    let transport = TransportSpec::Ndp(NdpSpec { paths: Some(4), window: 20, ..NDP });
    let mut spec = network(8, 6, links, transport, flows);
    spec.nic.order = NicOrder::RoundRobin;
    spec.disciplines = trimming(8, ndp::Params::default());
    spec.routing = RouteSpec::numbered().into();
    let sim = run(spec);
    let up: Vec<u64> = (0..4).map(|spine| sim.totals(PortId(16 + 2 * spine)).bytes).collect();
    // 400 packets each, and what was trimmed and sent again.
    let (least, most) = (up.iter().min().unwrap(), up.iter().max().unwrap());
    assert!(*least >= 400_000 && most - least <= 10_000, "{up:?}");
}

#[test]
fn a_run_cut_and_resumed_has_the_digest_of_the_straight_one() {
    let mut spec = around(8, random_flows(7, 60, 8, 60_000, 60_000));
    spec.disciplines = trimming(4, ndp::Params::default());
    let straight = run(spec.clone());
    assert!(straight.counters().packets_trimmed > 100);
    assert_eq!(run_cut(spec, vec![777; 20]).digest(), straight.digest());
}

/// The same network with NDP's flows and ports instead of its own.
fn trimmed(
    choice: &Choice,
    (packets, headers, turns, coin): (u32, u64, u32, bool),
    window: u32,
) -> NetworkSpec {
    let mut spec = build(choice);
    let numbered = spec.routing.rule == RouteSpec::entropy();
    let paths = numbered.then_some(4);
    let retry = Span::from_us(150);
    spec.transports = vec![TransportSpec::Ndp(NdpSpec { window, retry, paths, ..NDP })];
    if numbered {
        spec.routing = RouteSpec::numbered().into();
    }
    let victim = if coin { ndp::Victim::Coin } else { ndp::Victim::Arriving };
    spec.disciplines = trimming(
        packets,
        ndp::Params { headers: Bytes::new(headers), turns, victim, ..ndp::Params::default() },
    );
    if let Some(shared) = &mut spec.shared_buffer {
        let overflow = if coin { Overflow::Trim } else { Overflow::Drop };
        shared.sharing = dynamic::Params { alpha: 0.5, overflow }.into();
    }
    spec.stages = vec![];
    spec.point = None;
    spec
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every law after every 97 events, payload's among them; memory of ports, or shared; links that fail.
    #[test]
    fn short_cuts_change_nothing_where_queues_trim(
        choice in choices(0..2, 1..2), port in (1u32..9, 40u64..2000, 1u32..12, any::<bool>()), window in 1u32..40,
    ) {
        agree(trimmed(&choice, port, window))?;
    }
}
