//! Receive WQEs: credits and probes, the shared queue, IRN-V2e and V2f.

use crate::common::cases::{KEY, at, lose_first, net, post, send, small, there, write};
use crate::common::{Run, Way, faithful};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Time;
use thalweg_verbs::wire::{Packet, Syndrome};
use thalweg_verbs::{Arrived, Fence, Operation, ReceiveRequest, Setup};

/// V2e.
#[test]
fn a_send_without_receive_wqe_behind_a_lost_one_is_dropped_silently() {
    // One Receive WQE is promised, so the second Send is a probe.
    let mut net = net(Setup { initial_credits: 1, ..small() }, lose_first(&[0]));
    let sink = |id: u64| ReceiveRequest { id, sink: at(32 + 8 * id, 8) };
    net.responder.post_receive(sink(0)).unwrap();
    post(&mut net, 0, send(0, 4), Fence::None);
    post(&mut net, 1, send(10, 4), Fence::None);
    // The second has come and gone without a trace.
    net.run(Time::from_us(50));
    assert_eq!(net.count(Way::ToRequester, |_| true), 0);
    assert_eq!(net.host.memory.bytes(KEY)[32..], [0; 32]);
    // RTO_low repairs the first.
    net.run(Time::from_us(130));
    assert_eq!(net.received.len(), 1);
    assert_eq!(net.host.memory.bytes(KEY)[32..36], [0, 1, 2, 3]);
    net.responder.post_receive(sink(1)).unwrap();
    net.run(Time::MAX);
    assert_eq!(net.received.iter().map(|r| r.id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(net.host.memory.bytes(KEY)[40..44], [10, 11, 12, 13]);
    assert_eq!(net.completions.len(), 2);
    assert_eq!(net.responder.counters().refusals, 0, "not ready was said");
}

/// Credits: an in-order probe without Receive WQE is answered "not ready", once per probe and delay; ACKs
/// carry new credits.
#[test]
fn without_credit_one_probe_is_sent_and_repeated_after_the_delay() {
    let mut net = net(Setup { initial_credits: 0, ..small() }, faithful);
    (0..3).for_each(|i| post(&mut net, i, send(0, 12), Fence::None));
    let probe = |p: &Packet<'_>| p.psn == Psn::new(0);
    net.run(Time::from_us(120));
    assert_eq!(net.count(Way::ToResponder, |_| true), 1, "only the first packet of the first Send");
    assert_eq!(net.responder.counters().refusals, 1);
    net.run(Time::from_us(350));
    assert_eq!(net.count(Way::ToResponder, probe), 3, "after 24 us and 120 us, twice");
    assert_eq!(net.count(Way::ToResponder, |_| true), 3);
    for id in 0..2 {
        net.responder.post_receive(ReceiveRequest { id, sink: at(16 * id, 12) }).unwrap();
    }
    // The ACK of the next probe promises two: both Sends follow, and the third's first packet as a probe.
    net.run(Time::from_us(540));
    assert_eq!(net.received.len(), 2);
    assert_eq!(net.count(Way::ToResponder, |p| p.psn.minus(Psn::new(6)) > 0), 0);
    assert!(net.count(Way::ToResponder, |p| p.psn == Psn::new(6)) > 0);
    net.responder.post_receive(ReceiveRequest { id: 2, sink: at(32, 12) }).unwrap();
    net.run(Time::MAX);
    assert_eq!(net.received.len(), 3);
    let credits = |p: &Packet<'_>, n: u32| matches!(p.aeth.map(|a| a.syndrome), Some(Syndrome::Ack(Some(c))) if c.count() == n);
    assert!((0..3).all(|n| net.count(Way::ToRequester, |p| credits(p, n)) > 0));
}

/// A probe of a Write with immediate data is all of it: only its last packet needs a Receive WQE.
#[test]
fn without_credit_a_write_with_immediate_is_sent_whole() {
    let mut net = net(Setup { initial_credits: 0, ..small() }, faithful);
    let operation = Operation::Write { from: at(0, 12), to: there(0), immediate: Some(9) };
    post(&mut net, 0, operation, Fence::None);
    net.run(Time::from_us(60));
    assert_eq!(net.count(Way::ToResponder, |_| true), 3);
    assert_eq!((net.responder.counters().refusals, net.responder.expected()), (1, Psn::new(2)));
    assert_eq!(net.host.memory.bytes(KEY)[..12], [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0]);
    net.responder.post_receive(ReceiveRequest { id: 0, sink: at(0, 0) }).unwrap();
    net.run(Time::MAX);
    assert_eq!((net.received[0].what, net.received[0].bytes), (Arrived::WriteImmediate(9), 12));
}

/// V2f.
#[test]
fn shared_receive_wqes_are_allotted_up_to_the_number_that_arrives() {
    let mut net = net(Setup { shared_receives: true, ..small() }, lose_first(&[1, 2, 3]));
    (0..5).for_each(|id| net.host.shared.post(ReceiveRequest { id, sink: at(4 * id, 4) }));
    (0..5).for_each(|i| post(&mut net, i, send(4 * i + 1, 4), Fence::None));
    let mut dequeued = vec![];
    net.run_looking(Time::MAX, |net, way, bytes| {
        let packet = Packet::decode(net.setup.dialect, bytes).unwrap();
        if way == Way::ToResponder {
            dequeued.push((packet.recv_wqe.unwrap().value(), net.host.shared.dequeued()));
            if packet.recv_wqe == Some(Psn::new(4)) {
                // The fourth of the four just taken, number 4 in all, holds it; those before are untouched.
                assert_eq!(
                    net.host.memory.bytes(KEY)[4..20],
                    [[0; 4], [0; 4], [0; 4], [17, 18, 19, 20]].concat()
                );
            }
        }
    });
    assert_eq!(dequeued[..2], [(0, 1), (4, 5)]);
    assert_eq!(net.received.iter().map(|r| r.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(net.host.shared.dequeued(), 5);
}

/// §4.4.4: a Write with immediate data takes a shared Receive WQE at its turn, not when it arrives.
#[test]
fn a_write_with_immediate_takes_a_shared_receive_wqe_at_its_turn() {
    let mut net = net(Setup { shared_receives: true, ..small() }, lose_first(&[0]));
    net.host.shared.post(ReceiveRequest { id: 7, sink: at(0, 4) });
    post(&mut net, 0, write(0, 4, 32), Fence::None);
    let operation = Operation::Write { from: at(4, 4), to: there(36), immediate: Some(1) };
    post(&mut net, 1, operation, Fence::None);
    net.run(Time::from_us(20));
    assert_eq!(net.host.memory.bytes(KEY)[36..40], [4, 5, 6, 7], "placed");
    assert_eq!(net.host.shared.dequeued(), 0, "and no more");
    net.run(Time::MAX);
    assert_eq!((net.received.len(), net.host.shared.dequeued()), (1, 1));
}

/// The same with none left: "not ready" when its turn comes, although it had arrived and been acknowledged selectively.
#[test]
fn a_shared_receive_wqe_that_is_missing_at_its_turn_means_not_ready() {
    let mut net = net(Setup { shared_receives: true, ..small() }, lose_first(&[0]));
    post(&mut net, 0, write(0, 4, 32), Fence::None);
    let operation = Operation::Write { from: at(4, 4), to: there(36), immediate: Some(1) };
    post(&mut net, 1, operation, Fence::None);
    net.run(Time::from_us(150));
    assert_eq!((net.responder.expected(), net.responder.counters().refusals), (Psn::new(1), 1));
    assert_eq!(net.completions.len(), 1, "the Write is complete: the NACK says so");
    net.host.shared.post(ReceiveRequest { id: 7, sink: at(0, 4) });
    net.run(Time::MAX);
    assert_eq!((net.received.len(), net.completions.len()), (1, 2));
}
