//! Single losses and repetitions, packet by packet: IRN-V2g, V2h, timers, holes, slots.

use crate::common::cases::{KEY, at, lose_first, net, post, send, small, there, write};
use crate::common::{DELAY, Run, SERIAL, Way, faithful};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Span, Time};
use thalweg_verbs::wire::{Dialect, Opcode, Packet};
use thalweg_verbs::{Fence, Operation, ReceiveRequest, Setup};

/// V2g.
#[test]
fn a_lost_single_packet_message_costs_rto_low() {
    let fct = |lost: &'static [u32]| {
        let mut net = net(small(), lose_first(lost));
        net.responder.post_receive(ReceiveRequest { id: 0, sink: at(0, 4) }).unwrap();
        post(&mut net, 0, send(0, 4), Fence::None);
        let mut done = Time::ZERO;
        net.run_looking(Time::MAX, |net, _, _| {
            if !net.received.is_empty() && done == Time::ZERO {
                done = net.now;
            }
        });
        done
    };
    assert_eq!(fct(&[]), Time::ZERO + DELAY + SERIAL);
    assert_eq!(fct(&[0]), fct(&[]) + small().rto_low);
}

/// Q4: copies of an Atomic, early and late, before and after its answer.
#[test]
fn an_atomic_that_arrives_five_times_is_executed_once() {
    let fate = |packet: &Packet<'_>, _: Way, _: Time| match packet.opcode {
        Opcode::FetchAdd => (0..5).map(|i| DELAY + Span::from_us(30) * i).collect(),
        _ => vec![DELAY],
    };
    let mut net = net(small(), fate);
    for id in 0..3 {
        post(&mut net, id, Operation::FetchAdd { at: there(8), add: 10, into: at(8 * id, 8) }, Fence::None);
    }
    net.run(Time::MAX);
    assert_eq!(net.host.memory.bytes(KEY)[8], 30);
    let answers = net.local.bytes(KEY);
    assert_eq!([answers[0], answers[8], answers[16]], [0, 10, 20]);
}

/// A second copy of what waits out of order is answered, not placed: it must not undo a later Write that has
/// been placed since.
#[test]
fn a_repeated_packet_out_of_order_is_not_placed_again() {
    let fate = |packet: &Packet<'_>, _: Way, now: Time| match (packet.opcode.is_request(), packet.psn.value())
    {
        (true, 0) if now < Time::from_us(20) => vec![],
        (true, 1) => vec![DELAY, DELAY + Span::from_us(5)],
        _ => vec![DELAY],
    };
    let mut net = net(small(), fate);
    post(&mut net, 0, write(0, 4, 0), Fence::None);
    post(&mut net, 1, write(4, 4, 16), Fence::None);
    post(&mut net, 2, write(8, 4, 16), Fence::None);
    net.run(Time::from_us(20));
    assert_eq!((net.responder.expected(), net.responder.counters().nacks), (Psn::new(0), 3));
    assert_eq!(net.host.memory.bytes(KEY)[16..20], [8, 9, 10, 11]);
    net.run(Time::MAX);
    assert_eq!(net.completions.len(), 3);
}

/// A Read that uses a slot again shows that the answer before it in that slot has arrived: read ACKs may all be lost.
#[test]
fn a_slot_used_again_acknowledges_its_last_answer() {
    let fate = |packet: &Packet<'_>, _: Way, now: Time| match packet.opcode {
        Opcode::ReadAcknowledge if now < Time::from_us(400) => vec![],
        _ => vec![DELAY],
    };
    let mut net = net(Setup { read_slots: 1, cap: 2, ..small() }, fate);
    for id in 0..5 {
        post(&mut net, id, Operation::Read { into: at(8 * id, 8), from: there(0) }, Fence::None);
    }
    net.run(Time::from_us(150));
    assert_eq!(net.completions.len(), 5);
    assert_eq!(net.responder.counters().retransmitted, 0);
    net.run(Time::MAX);
    assert!(net.responder.is_idle());
}

/// The timer starts again when the lowest unacknowledged packet is sent again.
#[test]
fn a_lost_retransmission_costs_rto_low_from_its_own_time_on() {
    let mut copies = 0;
    let fate = |packet: &Packet<'_>, way: Way, _: Time| {
        let first = way == Way::ToResponder && packet.psn == Psn::new(0);
        copies += u32::from(first);
        if first && copies <= 2 { vec![] } else { vec![DELAY] }
    };
    let mut net = net(small(), fate);
    post(&mut net, 0, write(0, 12, 0), Fence::None);
    net.run(Time::MAX);
    let first = |p: Packet<'_>| p.opcode.is_request() && p.psn == Psn::new(0);
    let times: Vec<Time> = net
        .sent
        .iter()
        .filter(|seen| Packet::decode(Dialect::Irn, &seen.bytes).is_ok_and(first))
        .map(|seen| seen.at)
        .collect();
    // The second packet follows at once, its NACK comes a round trip later.
    assert_eq!(times[1], Time::ZERO + SERIAL * 3 + DELAY * 2);
    assert_eq!(times[2], times[1] + small().rto_low);
    assert_eq!((times.len(), net.completions.len()), (3, 1));
}

/// The golden vector of IRN's modules on a queue pair: 2 and 5 are lost; a sender blocked by the cap looks
/// for the next hole and sends it in one poll (Trap 7).
#[test]
fn a_blocked_requester_still_repairs_each_hole_at_once() {
    let mut net = net(small(), faithful);
    post(&mut net, 0, write(0, 56, 0), Fence::None);
    let (mut packets, mut out) = (vec![], vec![]);
    while net.requester.poll_transmit(Time::ZERO, &net.local, &mut out) {
        packets.push(out.clone());
    }
    assert_eq!(packets.len(), 8);
    let mut sent = vec![];
    for psn in [0, 1, 3, 4, 6, 7] {
        net.responder.on_packet(Time::ZERO, &mut net.host, &packets[psn]).unwrap();
        assert!(net.responder.poll_transmit(Time::ZERO, &net.host.memory, &mut out));
        net.requester.on_packet(Time::ZERO, &mut net.local, &out).unwrap();
        while net.requester.poll_transmit(Time::ZERO, &net.local, &mut out) {
            sent.push((psn, Packet::decode(Dialect::Irn, &out).unwrap().psn.value()));
        }
    }
    assert_eq!(sent, [(0, 8), (1, 9), (3, 2), (6, 5)]);
}

/// V2h, on an idle path: the packet after a lost one reveals it, and the repair arrives one round trip later.
#[test]
fn a_single_loss_is_repaired_one_round_trip_after_it_is_noticed() {
    let mut net = net(Setup { cap: 110, ..small() }, lose_first(&[3]));
    post(&mut net, 0, write(0, 64, 0), Fence::None);
    let mut arrivals = vec![];
    net.run_looking(Time::MAX, |net, way, bytes| {
        if way == Way::ToResponder {
            arrivals.push((Packet::decode(Dialect::Irn, bytes).unwrap().psn.value(), net.now));
        }
    });
    let of = |psn: u32| arrivals.iter().find(|(p, _)| *p == psn).unwrap().1;
    let repair = of(3).since(of(4));
    assert!((DELAY * 2..=DELAY * 2 + SERIAL * 4).contains(&repair), "{repair:?}");
    assert_eq!((arrivals.len(), net.requester.counters().retransmitted), (16, 1));
}
