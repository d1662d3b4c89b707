//! Cases made by hand: IRN-V2b to V2g, the three conditions of InfiniBand's o9-20, credits, shared receives, refusals.

mod common;

use common::{DELAY, Net, SERIAL, Way, faithful};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Span, Stream, Time};
use thalweg_verbs::memory::{Buffer, Remote, Rights};
use thalweg_verbs::wire::{Dialect, Opcode, Packet, Syndrome};
use thalweg_verbs::{Arrived, Fence, Operation, ReceiveRequest, Request, Responder, SendWith, Setup, Status};

/// Four bytes per packet; a region of 64 bytes at each end, ones here and zeros there.
const MTU: u32 = 4;
const KEY: u32 = 1;

fn small() -> Setup {
    Setup { mtu: MTU, cap: 8, initial_credits: 100, ..Setup::default() }
}

fn net<'f>(setup: Setup, fate: impl FnMut(&Packet<'_>, Way, Time) -> common::Fate + 'f) -> Net<'f> {
    let mut net = Net::new(setup, fate);
    assert_eq!(net.local.register(0, (0..64).collect(), Rights::LOCAL), KEY);
    assert_eq!(net.host.memory.register(0, vec![0; 64], Rights::ALL), KEY);
    net
}

fn at(address: u64, length: u32) -> Buffer {
    Buffer { key: KEY, address, length }
}

fn there(address: u64) -> Remote {
    Remote { key: KEY, address }
}

fn write(from: u64, length: u32, to: u64) -> Operation {
    Operation::Write { from: at(from, length), to: there(to), immediate: None }
}

fn send(from: u64, length: u32) -> Operation {
    Operation::Send { from: at(from, length), with: SendWith::Nothing }
}

fn post(net: &mut Net<'_>, id: u64, operation: Operation, fence: Fence) {
    net.requester.post(&net.local, Request { id, operation, fence }).unwrap();
}

/// Loses the first copy of these request packets.
fn lose_first(psns: &'static [u32]) -> impl FnMut(&Packet<'_>, Way, Time) -> common::Fate {
    let mut left = psns.to_vec();
    move |packet, way, _| {
        let hit = left.iter().position(|psn| way == Way::ToResponder && packet.psn.value() == *psn);
        if let Some(hit) = hit.filter(|_| packet.opcode.is_request()) {
            left.remove(hit);
            return vec![];
        }
        vec![DELAY]
    }
}

/// V2d.
#[test]
fn a_retransmitted_write_may_overwrite_a_later_one_unless_that_is_fenced() {
    for (fence, last) in [(Fence::None, 0), (Fence::Reads, 0), (Fence::All, 32)] {
        let mut net = net(small(), lose_first(&[1]));
        post(&mut net, 0, write(0, 8, 16), Fence::None);
        post(&mut net, 1, write(32, 8, 16), fence);
        net.run(Time::MAX);
        assert_eq!(net.completions.len(), 2);
        let tail = &net.host.memory.bytes(KEY)[20..24];
        assert_eq!(tail, [4, 5, 6, 7].map(|byte| byte + last), "{fence:?}");
    }
}

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

/// Credits: an in-order probe without Receive WQE is answered "not ready", once per probe and delay; ACKs carry new credits.
#[test]
fn without_credit_one_probe_is_sent_and_repeated_after_the_delay() {
    let mut net = net(Setup { initial_credits: 0, ..small() }, faithful);
    (0..3).for_each(|i| post(&mut net, i, send(0, 12), Fence::None));
    let probe = |p: &Packet<'_>| p.psn == Psn::new(0);
    net.run(Time::from_us(120));
    assert_eq!(net.count(Way::ToResponder, |_| true), 1, "only the first packet of the first Send");
    assert_eq!(net.responder.counters().refusals, 1);
    net.run(Time::from_us(350));
    assert_eq!(net.count(Way::ToResponder, probe), 3, "after 24 us and 100 us, twice");
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

/// o9-20: what lets an application rely on a Write, while that Write's packet is still missing, and after.
#[test]
fn nothing_that_implies_a_write_is_seen_before_it() {
    let immediate = Operation::Write { from: at(32, 8), to: there(40), immediate: Some(5) };
    let add = Operation::FetchAdd { at: there(48), add: 3, into: at(56, 8) };
    for later in [immediate, send(32, 8), add] {
        let mut net = net(small(), lose_first(&[1]));
        net.responder.post_receive(ReceiveRequest { id: 0, sink: at(24, 8) }).unwrap();
        post(&mut net, 0, write(0, 8, 8), Fence::None);
        post(&mut net, 1, later, Fence::None);
        let mut seen_missing = false;
        net.run_looking(Time::MAX, |net, _, _| {
            let memory = net.host.memory.bytes(KEY);
            let seen = !net.received.is_empty() || memory[48] == 3;
            let written = memory[12..16] == [4, 5, 6, 7];
            assert!(written || !seen, "{later:?}");
            let arrived = net.responder.counters().most_ahead > 0;
            seen_missing |= arrived && !written;
        });
        assert!(seen_missing && net.completions.len() == 2, "{later:?}");
        assert!(!net.received.is_empty() || net.host.memory.bytes(KEY)[48] == 3);
    }
}

/// V2b: all orders of arrival of the packets of a Write, a Send and a Write with immediate data. The responder is given
/// packets by hand; after each, MSN, CQEs and acknowledgements are those of the packets without a gap.
#[test]
fn only_what_has_no_gap_before_it_counts_whatever_the_order_of_arrival() {
    let mut model = net(small(), faithful);
    post(&mut model, 0, write(0, 8, 0), Fence::None);
    post(&mut model, 1, send(8, 8), Fence::None);
    let last = Operation::Write { from: at(16, 7), to: there(48), immediate: Some(1) };
    post(&mut model, 2, last, Fence::None);
    let mut packets = vec![];
    let mut out = vec![];
    while model.requester.poll_transmit(Time::ZERO, &model.local, &mut out) {
        packets.push(out.clone());
    }
    assert_eq!(packets.len(), 6);
    let mut order: Vec<usize> = (0..6).collect();
    let mut orders = 0;
    permutations(&mut order, 0, &mut |order| {
        orders += 1;
        let mut host = model.host.clone();
        let mut responder = Responder::new(&small()).unwrap();
        (0..2).for_each(|id| responder.post_receive(ReceiveRequest { id, sink: at(16, 16) }).unwrap());
        let mut told = vec![];
        for (n, &which) in order.iter().enumerate() {
            responder.on_packet(Time::ZERO, &mut host, &packets[which]).unwrap();
            let prefix = (0..6).take_while(|p| order[..=n].contains(p)).count() as u32;
            assert_eq!(responder.expected(), Psn::new(prefix));
            assert_eq!(responder.messages(), Psn::new(prefix / 2));
            told.extend(std::iter::from_fn(|| responder.poll_received()));
            assert_eq!(told.len() as u32, (prefix / 2).saturating_sub(1));
            assert!(responder.poll_transmit(Time::ZERO, &host.memory, &mut out));
            let answer = Packet::decode(small().dialect, &out).unwrap();
            assert_eq!(answer.psn, Psn::new(prefix));
            assert_eq!(
                answer.sack.map(|sack| sack.value() as usize),
                (prefix as usize <= which).then_some(which)
            );
        }
        assert_eq!(told.iter().map(|t| t.id).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(host.memory.bytes(KEY)[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(host.memory.bytes(KEY)[16..24], [8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(host.memory.bytes(KEY)[48..56], [16, 17, 18, 19, 20, 21, 22, 0]);
    });
    assert_eq!(orders, 720);
}

fn permutations(items: &mut [usize], from: usize, f: &mut impl FnMut(&[usize])) {
    if from == items.len() {
        return f(items);
    }
    for i in from..items.len() {
        items.swap(from, i);
        permutations(items, from + 1, f);
        items.swap(from, i);
    }
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

/// Memory that is not there: the request fails after as many refusals as agreed, what follows is flushed, what came before stands.
#[test]
fn a_refused_request_fails_and_flushes_what_follows() {
    let mut net = net(small(), lose_first(&[0]));
    post(&mut net, 0, write(0, 8, 0), Fence::None);
    post(&mut net, 1, write(0, 8, 60), Fence::None);
    post(&mut net, 2, write(0, 8, 8), Fence::None);
    net.run(Time::MAX);
    let ends: Vec<_> = net.completions.iter().map(|c| (c.id, c.status)).collect();
    assert_eq!(ends, [(0, Status::Success), (1, Status::RemoteAccess), (2, Status::Flushed)]);
    assert_eq!(net.requester.counters().refusals, u64::from(small().refusals));
    assert!(net.requester.has_failed() && net.requester.timer().is_none());
    let again = Request { id: 3, operation: write(0, 8, 0), fence: Fence::None };
    assert!(net.requester.post(&net.local, again).is_err());
    assert_eq!(net.host.memory.bytes(KEY)[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// A Read that arrives before the Send that invalidates its key waits in its slot, and is refused at its turn.
#[test]
fn a_read_whose_key_is_invalidated_while_it_waits_is_refused() {
    let mut net = net(small(), lose_first(&[0]));
    net.responder.post_receive(ReceiveRequest { id: 0, sink: at(0, 4) }).unwrap();
    let key = net.host.memory.register(100, vec![7; 8], Rights::ALL);
    post(&mut net, 0, Operation::Send { from: at(0, 4), with: SendWith::Invalidate(key) }, Fence::None);
    post(&mut net, 1, Operation::Read { into: at(8, 8), from: Remote { key, address: 100 } }, Fence::None);
    net.run(Time::MAX);
    let ends: Vec<_> = net.completions.iter().map(|c| (c.id, c.status)).collect();
    assert_eq!(ends, [(0, Status::Success), (1, Status::RemoteAccess)]);
    assert_eq!(net.local.bytes(KEY)[8..16], [8, 9, 10, 11, 12, 13, 14, 15]);
}

/// Bytes that are no packet, packets for others, and numbers far off leave no trace.
#[test]
fn nonsense_is_ignored() {
    let mut net = net(small(), faithful);
    post(&mut net, 0, write(0, 8, 0), Fence::None);
    let before = format!("{:?}{:?}", net.requester, net.responder);
    for seed in 0..20_000 {
        let mut r = Stream::new(seed, "nonsense", 0);
        let mut bytes: Vec<u8> = (0..r.below(60)).map(|_| r.bits() as u8).collect();
        if bytes.len() >= 12 {
            // Plausible, but for numbers.
            bytes[0] = [17, 24, 13, 16, 18][r.below(5) as usize];
            bytes[1..5].copy_from_slice(&[0, 255, 255, 0]);
            bytes[5..8].copy_from_slice(&[0, 0, [1, 2, 3][r.below(3) as usize]]);
            bytes[8] = 0;
            bytes[9] = 0x40; // the number is far ahead
        }
        let _ = net.requester.on_packet(Time::ZERO, &mut net.local, &bytes);
        let _ = net.responder.on_packet(Time::ZERO, &mut net.host, &bytes);
    }
    assert_eq!(before, format!("{:?}{:?}", net.requester, net.responder));
}

/// RoCE, M4: one NACK per gap; everything from the lost packet on is sent again.
#[test]
fn roce_says_once_that_a_packet_is_missing_and_goes_back_to_it() {
    let mut net = net(Setup { dialect: Dialect::Roce, ..small() }, lose_first(&[3]));
    post(&mut net, 0, write(0, 40, 0), Fence::None);
    net.run(Time::MAX);
    assert_eq!(net.completions.len(), 1);
    assert_eq!(net.responder.counters().nacks, 1);
    assert_eq!((net.requester.counters().sent, net.requester.counters().retransmitted), (17, 7));
}

/// RoCE: a Read takes the numbers of its answer; of an answer with a gap, the rest is asked for once more.
#[test]
fn roce_asks_again_for_the_rest_of_an_answer() {
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

/// A second copy of what waits out of order is answered, not placed: it must not undo a later Write that has been placed since.
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

/// Fences hold back the first packet until what was posted before is over, at the requester.
#[test]
fn fences_wait_for_what_they_say() {
    let read = Operation::Read { into: at(32, 8), from: there(0) };
    let invalidate = |key: u32| Operation::Send { from: at(0, 4), with: SendWith::Invalidate(key) };
    let cases: [(Operation, Operation, Fence, bool); 6] = [
        (read, write(0, 4, 16), Fence::None, false),
        (read, write(0, 4, 16), Fence::Reads, true),
        (write(0, 4, 0), write(0, 4, 16), Fence::Reads, false),
        (write(0, 4, 0), write(0, 4, 16), Fence::All, true),
        (write(0, 4, 0), invalidate(2), Fence::None, true),
        (read, invalidate(2), Fence::None, true),
    ];
    for (first, second, fence, waits) in cases {
        let mut net = net(small(), faithful);
        net.host.memory.register(100, vec![0; 8], Rights::ALL);
        net.responder.post_receive(ReceiveRequest { id: 0, sink: at(0, 8) }).unwrap();
        post(&mut net, 0, first, Fence::None);
        post(&mut net, 1, second, fence);
        net.run(Time::MAX);
        let second = Psn::new(1);
        let is_second = |p: &Packet<'_>| p.opcode.is_request() && p.psn == second;
        let sent =
            net.sent.iter().find(|s| Packet::decode(Dialect::Irn, &s.bytes).is_ok_and(|p| is_second(&p)));
        let round_trip = Time::ZERO + DELAY * 2 + SERIAL * 2;
        assert_eq!(sent.unwrap().at >= round_trip, waits, "{first:?} {second:?} {fence:?}");
        assert_eq!(net.completions.len(), 2);
    }
}

/// A Read that uses a slot again says that the answer before it in that slot has arrived: so read ACKs may all be lost.
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
