//! Policies that all ports of a switch run together, next to what is written for a switch's memory, and by hand.
use crate::common::*;
use proptest::prelude::*;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, policy};
use thalweg_machines::sharing::SharingSpec;
use thalweg_machines::transport::{RtoRule, TcpSpec, TransportSpec, UdpPace};
use thalweg_net::spec::*;
use thalweg_units::{Bytes, FlowId, PortId, Rate, Span, Time};

const HOSTS: u32 = 4;

/// A switch of so many ports.
fn switch(hosts: u32, flows: Vec<FlowSpec>, transport: TransportSpec) -> NetworkSpec {
    star(hosts, Rate::from_gbps(8), Span::from_us(1), transport, flows)
}

/// Its ports run this policy.
fn by(text: &str, mut spec: NetworkSpec) -> NetworkSpec {
    let order: OrderSpec = policy::Params::of(text).into();
    spec.disciplines.push(DisciplineSpec { order, limit: Limit::Unlimited, ..fifo() });
    let (own, last) = (spec.hosts, spec.disciplines.len() - 1);
    for id in 0..spec.port_discipline.len() {
        if spec.ends(PortId::from(id)).0.0 >= own {
            spec.port_discipline[id] = last as u16;
        }
    }
    spec
}

fn shares(sharing: SharingSpec, memory: u64, mut spec: NetworkSpec) -> NetworkSpec {
    spec.shared_buffer = Some(SharedBufferSpec { total: Bytes::new(memory), sharing });
    spec
}

/// What a run came to: when each flow arrived; of each port packets sent and dropped, and the most bytes that waited.
type Outcome = (Vec<Option<Time>>, Vec<(u64, u64, u64)>);

fn outcome(sim: &Network) -> Outcome {
    let spec = sim.spec();
    let flows = (0..spec.flows.len()).map(|flow| sim.outcome(FlowId::from(flow)).received).collect();
    let ports = (0..2 * spec.links.len()).map(|port| sim.totals(PortId::from(port)));
    (flows, ports.map(|port| (port.packets, port.dropped, port.max_queue)).collect())
}

fn complete(ports: u32, memory: u64) -> String {
    format!(
        "q[1..{ports}] = Queue({memory} bytes); all = Buffer({memory} bytes, q[1..{ports}]);
         out[i: 1..{ports}] = Port(q[i]);"
    )
}

fn longest(ports: u32, memory: u64) -> String {
    format!("lqd(a, b) = (a.currSize < b.currSize) {} all.queuePrio = lqd;", complete(ports, memory))
}

fn crowd(seeds: &[(u32, u32, u64, u64)]) -> Vec<FlowSpec> {
    let of = |&(src, dst, size, at): &(u32, u32, u64, u64)| {
        let dst = if src == dst { (dst + 1) % HOSTS } else { dst };
        flow(src, dst, size, Time::from_ns(at))
    };
    let mut flows: Vec<FlowSpec> = seeds.iter().map(of).collect();
    flows.sort_by_key(|flow| flow.start);
    flows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn memory_as_a_policy_is_what_it_is_by_hand(
        seeds in prop::collection::vec((0..HOSTS, 0..HOSTS, 200u64..60_000, 0u64..40_000), 4..24),
        memory in 4_000u64..40_000,
        reliable in any::<bool>(),
    ) {
        let again = RtoRule::Fixed { value: Span::from_us(300) };
        let tcp = || TcpSpec { initial_window: Bytes::new(8_000), rto: again, ..wide_open() };
        let transport = || if reliable { TransportSpec::Tcp(tcp()) } else { udp(1000, UdpPace::Burst) };
        let network = || switch(HOSTS, crowd(&seeds), transport());
        for (sharing, text) in [
            (SharingSpec::complete(), complete(HOSTS, memory)),
            (SharingSpec::longest_queue(), longest(HOSTS, memory)),
        ] {
            let by_hand = run(shares(sharing, memory, network()));
            let policy = run(by(&text, network()));
            prop_assert_eq!(outcome(&by_hand), outcome(&policy));
        }
    }
}

#[test]
fn a_run_cut_and_resumed_has_the_digest_of_the_straight_one() {
    let seeds: Vec<_> = (0..12).map(|n| (n % HOSTS, (n / 3) % HOSTS, 20_000, u64::from(n) * 700)).collect();
    let spec = || by(&longest(HOSTS, 9_000), switch(HOSTS, crowd(&seeds), udp(1000, UdpPace::Burst)));
    let straight = run(spec());
    assert!(straight.counters().packets_dropped > 0, "the policy has decided something");
    let cut = run_cut(spec(), vec![31, 57, 100, 3]);
    assert_eq!(straight.digest(), cut.digest());
}

/// The library's A3: virtual output queues of 8 packets, crosspoints of 2, output queues of 8.
const CROSSBAR: &str = include_str!("../../../policy/library/a3.oq");

/// Two inputs of a buffered crossbar, of which all is for one output: what waits at each level.
#[derive(Default)]
struct Levels {
    entry: [u32; 2],
    cross: [u32; 2],
    out: u32,
    /// The input whose crosspoint was served longest ago.
    turn: usize,
}

impl Levels {
    fn go_on(&mut self) {
        loop {
            let ready = [self.turn, 1 - self.turn].into_iter().find(|input| self.cross[*input] > 0);
            if let Some(input) = ready.filter(|_| self.out < 8) {
                (self.cross[input], self.out, self.turn) = (self.cross[input] - 1, self.out + 1, 1 - input);
            } else if let Some(input) = (0..2).find(|at| self.entry[*at] > 0 && self.cross[*at] < 2) {
                (self.entry[input], self.cross[input]) = (self.entry[input] - 1, self.cross[input] + 1);
            } else {
                return;
            }
        }
    }
    fn waiting(&self) -> u32 {
        self.out + self.cross.iter().chain(&self.entry).sum::<u32>()
    }
}

/// Packets of 1000 B take 1 us. Two hosts send so many each to a third: a pair arrives each microsecond from 2 us on,
/// and then one leaves.
fn by_hand(packets: u32) -> (u32, u32) {
    let (mut levels, mut dropped, mut most) = (Levels::default(), 0, 0);
    for pair in 0..2 * packets {
        for input in (0..2).filter(|_| pair < packets) {
            // The voq of an input drops what comes when it is full.
            if levels.entry[input] == 8 {
                dropped += 1;
                continue;
            }
            levels.entry[input] += 1;
            levels.go_on();
            most = most.max(levels.waiting());
        }
        if levels.out > 0 {
            levels.out -= 1;
            levels.go_on();
        }
    }
    (dropped, most)
}

#[test]
fn a_buffered_crossbar_pushes_back_level_by_level() {
    for packets in [10, 27, 28, 29, 40, 100] {
        let flows = (0..2).map(|src| flow(src, 2, u64::from(packets) * 1000, Time::ZERO)).collect();
        let sim = run(by(CROSSBAR, switch(3, flows, udp(1000, UdpPace::Burst))));
        let out = sim.totals(PortId(5));
        let (dropped, most) = by_hand(packets);
        assert_eq!((out.dropped, out.max_queue), (u64::from(dropped), u64::from(most) * 1000), "{packets}");
        // 8 and 2 for each input, 8 for the output: as the 28th pair comes, 27 wait.
        assert_eq!(dropped > 0, packets >= 28, "{packets}");
    }
}

#[test]
fn outputs_of_a_crossbar_do_not_wait_for_each_other() {
    // Host 0 floods host 2, whose output is shared with host 1; what it has for host 1 passes at once.
    let flows = vec![
        flow(0, 2, 20_000, Time::ZERO),
        flow(1, 2, 20_000, Time::ZERO),
        flow(0, 1, 1_000, Time::from_us(25)),
    ];
    let sim = run(by(CROSSBAR, switch(3, flows, udp(1000, UdpPace::Burst))));
    let there = sim.outcome(FlowId(2)).received.expect("it arrives");
    assert_eq!(there, Time::from_us(25 + 4), "two links of 1 us, and 1 us on each");
}

#[test]
fn a_switch_runs_its_policy_with_all_of_its_ports_or_not_at_all() {
    let refused = |spec: NetworkSpec| Network::new(spec).map(|_| ()).unwrap_err().to_string();
    let network = || switch(4, vec![flow(0, 2, 20_000, Time::ZERO)], udp(1000, UdpPace::Burst));
    let why = refused(by(CROSSBAR, network()));
    assert!(why.contains("4 ports") && why.contains("for 3"), "{why}");
    let mut spec = by(&longest(4, 9_000), network());
    spec.port_discipline[3] = 0;
    let why = refused(spec);
    assert!(why.contains("port 3") && why.contains("all ports of a switch run it together"), "{why}");
}
