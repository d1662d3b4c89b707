//! RoCE, the dialect that is fallen back to.

use crate::common::cases::{KEY, at, lose_first, net, post, small, there, write};
use crate::common::{DELAY, Run, Way};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Time;
use thalweg_verbs::wire::{Dialect, Opcode, Packet};
use thalweg_verbs::{Fence, Operation, Setup};

/// RoCE, M4: one NACK per gap; everything from the lost packet on is sent again.
#[test]
fn roce_nacks_a_missing_packet_once_and_goes_back_to_it() {
    let mut net = net(Setup { dialect: Dialect::Roce, ..small() }, lose_first(&[3]));
    post(&mut net, 0, write(0, 40, 0), Fence::None);
    net.run(Time::MAX);
    assert_eq!(net.completions.len(), 1);
    assert_eq!(net.responder.counters().nacks, 1);
    assert_eq!((net.requester.counters().sent, net.requester.counters().retransmitted), (17, 7));
}

/// RoCE: a Read takes the numbers of its answer; of an answer with a gap, the rest is requested once more.
#[test]
fn roce_requests_the_rest_of_an_answer() {
    let mut lost = false;
    let fate = |packet: &Packet<'_>, _: Way, _: Time| {
        let loses = matches!(packet.opcode, Opcode::ReadResponse(_)) && packet.psn == Psn::new(3) && !lost;
        lost |= loses;
        if loses { vec![] } else { vec![DELAY] }
    };
    let mut net = net(Setup { dialect: Dialect::Roce, ..small() }, fate);
    net.host.memory.bytes_mut(KEY)[..32].fill(77);
    post(&mut net, 0, Operation::Read { into: at(32, 32), from: there(0) }, Fence::None);
    net.run(Time::MAX);
    assert_eq!(net.local.bytes(KEY)[32..], [77; 32]);
    let requests: Vec<(u32, u32)> = net
        .sent
        .iter()
        .filter_map(|seen| {
            Packet::decode(Dialect::Roce, &seen.bytes).ok()?.reth.map(|r| (r.address as u32, r.length))
        })
        .collect();
    assert_eq!(requests, [(0, 32), (12, 20)]);
    assert_eq!((net.count(Way::ToRequester, |_| true), net.requester.counters().timeouts), (8 + 5, 0));
}
