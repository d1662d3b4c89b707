//! Memory that the ports of a switch share: who finds room, and who makes it.

use crate::common::*;
use thalweg_machines::schedule::bfc;
use thalweg_machines::sharing::{Overflow, SharingSpec, complete, dynamic};
use thalweg_machines::transport::UdpPace;
use thalweg_net::spec::*;
use thalweg_units::{Bytes, PortId, Rate, Span, Time};

/// Packets of 1000 B take 1 us. Two hosts send 20 each to host 2: a pair arrives each microsecond from 2 us on, of
/// which one leaves, so that the nth pair makes n + 1 wait. Two others send `late` packets each to host 3, of which the
/// first pair arrives at 10 us: likewise.
fn two_queues(sharing: impl Into<SharingSpec>, memory: u64, late: u64) -> NetworkSpec {
    let mut flows: Vec<FlowSpec> = (0..2).map(|src| flow(src, 2, 20_000, Time::ZERO)).collect();
    flows.extend((4..6).map(|src| flow(src, 3, 1000 * late, Time::from_us(8))));
    let transport = udp(1000, UdpPace::Burst);
    let mut spec = star(6, Rate::from_gbps(8), Span::from_us(1), transport, flows);
    spec.shared_buffer = Some(SharedBufferSpec { total: Bytes::new(memory), sharing: sharing.into() });
    spec
}
/// Packets dropped at the ports to hosts 2 and 3, and the most bytes that these held.
fn at_ports(spec: NetworkSpec) -> [(u64, u64); 2] {
    let sim = run_checked(spec, 1);
    [5, 7].map(|port| sim.totals(PortId(port))).map(|totals| (totals.dropped, totals.max_queue))
}

#[test]
fn the_longest_queue_makes_room_for_those_that_come_late() {
    let [first, late] = at_ports(two_queues(SharingSpec::longest_queue(), 8000, 3));
    assert_eq!((first.1, late), (8000, (0, 4000)), "the late ones lose nothing");
    let [served, starved] = at_ports(two_queues(SharingSpec::complete(), 8000, 3));
    assert_eq!(served.1, 8000);
    assert!(starved.0 > 0, "first come, first served: {starved:?}");
    // Both links are busy as long as something waits for them: who starves one of the two loses more in all.
    assert!(first.0 + late.0 < served.0 + starved.0, "{first:?} {served:?}");
}

#[test]
fn a_part_is_not_lent_and_a_threshold_leaves_room() {
    // Six ports have 2000 B each.
    assert_eq!(at_ports(two_queues(SharingSpec::partition(), 12_000, 4)).map(|port| port.1), [2000, 2000]);
    let [first, late] = at_ports(two_queues(SharingSpec::dynamic(), 12_000, 9));
    assert_eq!(first.1, 6000, "half of the memory for a lone port");
    assert!(late.1 == 4000 && late.0 > 0, "a third for one of two: {late:?}");
}

#[test]
fn push_out_of_a_queue_that_keeps_all_is_refused() {
    let mut spec = two_queues(SharingSpec::longest_queue(), 8000, 3);
    spec.disciplines[0].order = bfc::Params::default().into();
    let refused = Network::new(spec).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("longest-queue") && refused.contains("bfc keeps what waits"), "{refused}");
    let refused = |sharing: SharingSpec| {
        Network::new(two_queues(sharing, 8000, 3)).map(|_| ()).unwrap_err().to_string()
    };
    let alpha = dynamic::Params { alpha: 0.0, ..Default::default() };
    assert!(refused(alpha.into()).contains("0 times what is free is nothing"));
    let trims = complete::Params { overflow: Overflow::Trim };
    assert!(refused(trims.into()).contains("header"), "datagrams do not know trimmed packets");
}

#[test]
fn a_run_cut_and_resumed_has_the_digest_of_the_straight_one() {
    for sharing in SharingSpec::all() {
        let straight = run(two_queues(sharing.clone(), 8000, 3));
        let cut = run_cut(two_queues(sharing, 8000, 3), vec![31, 57]);
        assert_eq!(straight.digest(), cut.digest());
        assert!(straight.counters().packets_dropped > 0, "the policy has decided something");
    }
}
