//! Ports that are taken out of a network, and tables that do not agree.

use crate::common::*;
use thalweg_machines::buffer::{InputMemory, InputSpec};
use thalweg_machines::relief::ReliefSpec;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::slack::{SlackRule, SlackSpec};
use thalweg_machines::stage::CarriedSpec;
use thalweg_machines::transport::UdpPace;
use thalweg_net::port::Entangled;
use thalweg_net::routing::Routes;
use thalweg_net::spec::*;
use thalweg_units::{Bytes, FlowId, NodeId, PortId, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(10);

/// Hosts 0 and 1 at one switch, 2 and 3 at the other; the link between has a tenth of the rate.
fn dumbbell() -> NetworkSpec {
    let (us, slow) = (Span::from_us(1), Rate::from_gbps(1));
    let mut links: Vec<LinkSpec> = (0..4).map(|h| link(h, 4 + h / 2, RATE, us)).collect();
    links.push(link(4, 5, slow, us));
    let flows = vec![flow(0, 2, 1000, Time::ZERO), flow(1, 3, 1000, Time::ZERO)];
    network(4, 2, links, udp(1000, UdpPace::Constant(RATE)), flows)
}

/// Of the switch at the left to the one at the right; of host 0; and of the switch at the left to host 0.
const ACROSS: PortId = PortId(8);
const NIC: PortId = PortId(0);
const TO_HOST: PortId = PortId(1);

#[test]
fn a_port_has_the_queue_the_link_and_the_stages_of_its_network() {
    let mut spec = dumbbell();
    spec.disciplines.push(DisciplineSpec { limit: Limit::Packets(7), ..fifo() });
    spec.port_discipline[ACROSS.at()] = 1;
    let port = spec.port(ACROSS).expect("alone");
    assert_eq!((port.from, port.to, port.seed), (NodeId(4), NodeId(5), 1));
    assert_eq!(port.egress.queue.limit, Limit::Packets(7));
    assert_eq!(port.egress.link.mean_rate(), Rate::from_gbps(1));
    assert_eq!(spec.port(NIC).expect("alone").egress.queue.limit, Limit::Unlimited);
    assert_eq!(port.make().expect("made").waiting(), 0);
    assert_eq!(spec.port(PortId(10)), Err(Entangled::Missing(10)));
}

#[test]
fn the_memory_of_a_switch_is_a_value_next_to_its_ports_and_not_those_of_hosts() {
    let memory = InputMemory::Shared(Bytes::new(9000));
    let inputs = InputSpec { memory, pause: None, release_at_start: false, one_per_input: false };
    let spec = NetworkSpec { inputs: Some(inputs), ..dumbbell() };
    assert_eq!(spec.port(ACROSS).expect("alone").inputs, Some(inputs));
    assert_eq!(spec.port(NIC).expect("alone").inputs, None);
}

#[test]
fn what_needs_the_rest_of_the_network_is_refused_by_name() {
    let slack = SlackSpec { rule: SlackRule::Constant(Span::from_ms(1)), class_offset: Span::ZERO };
    let memory = InputMemory::Shared(Bytes::new(9000));
    let crossbar = InputSpec { memory, pause: None, release_at_start: false, one_per_input: true };
    let relief = ReliefSpec::escape();
    let incident = |what| vec![Incident { at: Time::ZERO, what }];
    let down = incident(IncidentKind::LinkDown(4));
    let lost = incident(IncidentKind::PauseLoss(Some(PortId(9)), 0.5));
    let pulls = NicSpec { order: NicOrder::RoundRobin, pause_control: true };
    type Change<'a> = &'a dyn Fn(&mut NetworkSpec);
    let cases: [(Change<'_>, PortId, Entangled, PortId); 7] = [
        (&|s| s.nic = pulls, NIC, Entangled::Pulls, ACROSS),
        (&|s| s.slack = Some(slack.clone()), NIC, Entangled::Slack, ACROSS),
        (&|s| s.carried = CarriedSpec::Slack, ACROSS, Entangled::Carried, NIC),
        (&|s| s.inputs = Some(crossbar), ACROSS, Entangled::Inputs, NIC),
        (&|s| s.relief = Some(relief), ACROSS, Entangled::Relief, NIC),
        (&|s| s.incidents = down.clone(), ACROSS, Entangled::Fails, NIC),
        // Frames of the right switch's port reach the left one's.
        (&|s| s.incidents = lost.clone(), ACROSS, Entangled::Fails, NIC),
    ];
    for (change, id, why, other) in cases {
        let mut spec = dumbbell();
        assert!(spec.port(id).is_ok());
        change(&mut spec);
        assert_eq!(spec.port(id), Err(why.clone()));
        assert!(spec.port(other).is_ok(), "{why}: only {id:?}");
    }
    let mut spec = dumbbell();
    spec.disciplines[0] = DisciplineSpec { order: OrderSpec::srpt(), preemptive: true, ..fifo() };
    let Err(Entangled::Lane(why)) = spec.port(ACROSS) else { panic!("a transmission that is interrupted") };
    assert!(why.to_string().contains("no transmission can be interrupted"), "{why}");
}

#[test]
fn flows_have_least_of_the_rate_at_the_bottleneck() {
    let bottleneck = |spec: &NetworkSpec| {
        spec.bottleneck(&Routes::new(spec.hosts, spec.switches, &spec.links, 1).expect("routes"))
    };
    let mut spec = dumbbell();
    assert_eq!(bottleneck(&spec), Some(ACROSS));
    // Two flows share 1 Gb/s, and 21 share 10 Gb/s.
    spec.flows.extend((0..21).map(|_| flow(1, 0, 1000, Time::ZERO)));
    assert_eq!(bottleneck(&spec), Some(TO_HOST));
    spec.flows.pop();
    assert_eq!(bottleneck(&spec), Some(TO_HOST), "as much for each: the first");
    spec.flows.pop();
    assert_eq!(bottleneck(&spec), Some(ACROSS));
    spec.flows.clear();
    assert_eq!(bottleneck(&spec), None);
}

#[test]
fn tables_that_do_not_agree_are_refused() {
    let refused = |change: &dyn Fn(&mut NetworkSpec)| {
        let mut spec = dumbbell();
        assert_eq!(spec.check(), Ok(()));
        change(&mut spec);
        spec.check().expect_err("refused").to_string()
    };
    assert_eq!(refused(&|s| s.links[1].b = NodeId(6)), "link 1 does not join two nodes of the network");
    assert_eq!(refused(&|s| s.port_discipline.truncate(9)), "every port needs a queue discipline");
    let none = "a port names a queue discipline that does not exist";
    assert_eq!(refused(&|s| s.port_discipline[3] = 1), none);
    let none = "flow 1 does not join two hosts of the network with at least one byte";
    assert_eq!(refused(&|s| s.flows[1].size = 0), none);
    assert_eq!(refused(&|s| s.flows[1].transport = 1), "flow 1 names a transport that does not exist");
    assert_eq!(refused(&|s| s.flows[0].start = Time::from_ns(1)), "flows are not sorted by their start");
    let later = Predecessor::Flow { flow: FlowId(1), end: End::Received };
    let backwards = |s: &mut NetworkSpec| s.precedence = Precedence::new([vec![later], vec![]]);
    assert_eq!(refused(&backwards), "flow 0 must come after the flows that it follows");
    let fails = Incident { at: Time::ZERO, what: IncidentKind::LinkDown(5) };
    assert_eq!(refused(&|s| s.incidents.push(fails)), "an incident names a link that does not exist");
    assert_eq!(refused(&|s| s.routing = RoutingSpec::pinned(vec![])), "0 pinned paths for 2 flows");
}

/// 3 GB at 1 kb/s take longer than the clock has: a time that is known to be too small, and none that wraps around.
#[test]
fn ideal_times_beyond_the_clock_stop_at_its_end() {
    let mut spec = dumbbell();
    spec.links[4] = link(4, 5, Rate::from_bps(1000), Span::from_us(1));
    spec.flows = vec![flow(0, 2, 3_000_000_000, Time::ZERO), flow(0, 2, 1_000_000, Time::ZERO)];
    let routes = Routes::new(spec.hosts, spec.switches, &spec.links, 1).expect("routes");
    let took = |flow| thalweg_net::ideal::of_flow(&spec, &routes, FlowId(flow)).0;
    assert_eq!(took(0), Span::from_ps(u64::MAX));
    assert!((8000.0..8010.0).contains(&took(1).secs()), "{}", took(1).secs());
}
