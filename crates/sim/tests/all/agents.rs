//! Host agents: what one agent above all flows of a host does that no flow's ends could.

use crate::common::*;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, priority};
use thalweg_machines::transport::{FreeFor, PhostSpec, TransportSpec};
use thalweg_net::spec::*;
use thalweg_sim::BuildError;
use thalweg_units::{Bytes, FlowId, PortId, Rate, Span, Time};

/// Packets of 1500 B at 10 Gb/s, 1.2 us each. A round trip is about 8.5 us, seven packets; eight are free.
const TOKENS: PhostSpec = PhostSpec {
    payload: 1460,
    header: 40,
    control: 40,
    free: 8,
    free_for: FreeFor::All,
    spacing: Some(Span::from_ns(1200)),
    window: 8,
    life: Some(Span::from_ns(1800)),
    patience: Some(Span::from_us(30)),
    again: Some(Span::from_us(12)),
    retry: Some(Span::from_us(500)),
    free_class: 1,
    token_class: 2,
};

/// Hosts around one switch whose ports serve three classes, and have room for so much.
fn around(hosts: u32, room: Limit, flows: Vec<FlowSpec>) -> NetworkSpec {
    let transport = TransportSpec::Phost(TOKENS);
    let mut spec = star(hosts, Rate::from_gbps(10), Span::from_us(1), transport, flows);
    spec.nic.order = NicOrder::RoundRobin;
    spec.disciplines =
        vec![DisciplineSpec { order: OrderSpec::Priority(priority::Params::from(3)), limit: room, ..fifo() }];
    spec.stop.until = Time::from_ms(100);
    spec
}

fn received(sim: &Network, flow: u32) -> Time {
    sim.outcome(FlowId(flow)).received.expect("complete")
}

#[test]
fn a_flow_alone_runs_at_line_rate() {
    let sim = run(around(3, Limit::Unlimited, vec![flow(0, 1, 1_460_000, Time::ZERO)]));
    let ideal = sim.ideal(FlowId(0)).received;
    let took = received(&sim, 0).since(Time::ZERO);
    // The first token that is not free leaves when the packets of those have had the link: until it is there,
    // and what it calls for comes, the source is idle for as long as request and token travel, 40 B over two
    // links each.
    let idle = (Span::from_us(2) + Span::from_ns(64)) * 2;
    assert_eq!(took, ideal + idle);
}

/// Fifteen flows to one host. Each may send eight packets unasked; what follows fits the link, however many
/// they are, and the shortest are done first.
#[test]
fn an_incast_queues_no_more_than_the_free_packets_and_ends_in_the_order_of_sizes() {
    let size = |n: u32| u64::from(20 + 10 * n) * 1460;
    let flows: Vec<FlowSpec> =
        (0..15).map(|n| flow(n + 1, 0, size(n), Time::from_ns(u64::from(n)))).collect();
    let total: u64 = flows.iter().map(|f| f.size / 1460 * 1500).sum();
    let sim = run(around(16, Limit::Unlimited, flows));
    let to_host = PortId(1);
    let peak = sim.totals(to_host).max_queue;
    assert!(peak <= 15 * 8 * 1500 + 15 * 40 + 2 * 1500, "{peak} B queued");
    let ends: Vec<Time> = (0..15).map(|n| received(&sim, n)).collect();
    assert!(ends.is_sorted(), "{ends:?}");
    let least = Bytes::new(total) / Rate::from_gbps(10);
    let took = ends[14].since(Time::ZERO);
    assert!(took > least && took < least * 11 / 10, "{took}, at least {least}");
}

/// A source with two flows spends the tokens of the shorter first; the other's age, and come again after a while.
#[test]
fn a_source_sends_the_flow_with_the_least_left_first() {
    let flows = vec![flow(0, 1, 292_000, Time::ZERO), flow(0, 2, 146_000, Time::from_us(1))];
    let mut spec = around(3, Limit::Unlimited, flows);
    spec.transports = vec![TransportSpec::Phost(PhostSpec { patience: Some(Span::from_us(20)), ..TOKENS })];
    let sim = run(spec);
    let (short, long) = (received(&sim, 1), received(&sim, 0));
    let alone = sim.ideal(FlowId(1)).received;
    assert!(short.since(Time::from_us(1)) < alone * 12 / 10, "{short}, alone {alone}");
    let both = Bytes::new(300 * 1500) / Rate::from_gbps(10);
    assert!(long.since(Time::ZERO) < both * 12 / 10, "{long}, both {both}");
}

#[test]
fn what_is_lost_is_called_for_again() {
    let flows: Vec<FlowSpec> = (0..9).map(|n| flow(n + 1, 0, 146_000, Time::ZERO)).collect();
    let sim = run(around(10, Limit::Bytes(Bytes::new(30_000)), flows));
    assert!(sim.counters().packets_dropped > 0, "nothing was lost");
    assert!((0..9).all(|n| received(&sim, n) < Time::from_ms(10)));
}

#[test]
fn a_run_cut_and_resumed_has_the_digest_of_the_straight_one() {
    let flows = random_flows(7, 60, 8, 60_000, 60_000);
    let spec = around(8, Limit::Bytes(Bytes::new(60_000)), flows);
    let straight = run(spec.clone());
    let mut sim = Network::new(spec).expect("a network");
    while sim.run(777) {
        sim = Network::load(&sim.save()).expect("a snapshot");
    }
    assert_eq!(sim.digest(), straight.digest());
}

#[test]
fn flows_of_a_transport_without_an_agent_take_turns_with_those_of_one_that_has() {
    let mut spec =
        around(3, Limit::Unlimited, vec![flow(0, 1, 146_000, Time::ZERO), flow(0, 2, 146_000, Time::ZERO)]);
    spec.transports.push(TransportSpec::Tcp(wide_open()));
    spec.flows[1].transport = 1;
    let sim = run(spec);
    let both = Bytes::new(200 * 1500) / Rate::from_gbps(10);
    for n in 0..2 {
        let took = received(&sim, n).since(Time::ZERO);
        assert!(took > both * 8 / 10 && took < both * 12 / 10, "flow {n}: {took}, both {both}");
    }
}

#[test]
fn a_transport_that_decides_late_is_refused_over_nics_that_queue() {
    let mut spec = around(2, Limit::Unlimited, vec![flow(0, 1, 1000, Time::ZERO)]);
    spec.nic.order = NicOrder::Queue;
    let refused = Network::new(spec).map(|_| ()).unwrap_err();
    assert!(matches!(&refused, BuildError::Transport { transport: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("pull"), "{refused}");
}
