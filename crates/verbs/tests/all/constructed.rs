//! Cases made by hand: IRN-V2b to V2d, the three conditions of InfiniBand's o9-20, fences, refusals.

use crate::common::cases::{KEY, at, lose_first, net, post, send, small, there, write};
use crate::common::{DELAY, Run, SERIAL, faithful};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Stream, Time};
use thalweg_verbs::memory::{Remote, Rights};
use thalweg_verbs::wire::{Dialect, Packet};
use thalweg_verbs::{Fence, Operation, ReceiveRequest, Request, Responder, SendWith, Status};

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
        let mut reported = vec![];
        for (n, &which) in order.iter().enumerate() {
            responder.on_packet(Time::ZERO, &mut host, &packets[which]).unwrap();
            let prefix = (0..6).take_while(|p| order[..=n].contains(p)).count() as u32;
            assert_eq!(responder.expected(), Psn::new(prefix));
            assert_eq!(responder.messages(), Psn::new(prefix / 2));
            reported.extend(std::iter::from_fn(|| responder.poll_received()));
            assert_eq!(reported.len() as u32, (prefix / 2).saturating_sub(1));
            assert!(responder.poll_transmit(Time::ZERO, &host.memory, &mut out));
            let answer = Packet::decode(small().dialect, &out).unwrap();
            assert_eq!(answer.psn, Psn::new(prefix));
            assert_eq!(
                answer.sack.map(|sack| sack.value() as usize),
                (prefix as usize <= which).then_some(which)
            );
        }
        assert_eq!(reported.iter().map(|t| t.id).collect::<Vec<_>>(), [0, 1]);
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

/// Memory that is not there: the request fails after as many refusals as agreed, what follows is flushed,
/// what came before stands.
#[test]
fn a_refused_request_fails_and_flushes_what_follows() {
    let mut net = net(small(), lose_first(&[0]));
    post(&mut net, 0, write(0, 8, 0), Fence::None);
    post(&mut net, 1, write(0, 8, 60), Fence::None);
    post(&mut net, 2, write(0, 8, 8), Fence::None);
    net.run(Time::MAX);
    let ends: Vec<_> = net.completions.iter().map(|c| (c.id, c.status)).collect();
    assert_eq!(ends, [(0, Status::Success), (1, Status::RemoteAccess), (2, Status::Flushed)]);
    assert_eq!(net.requester.counters().refusals, u64::from(small().retry.refusals));
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

/// Fences hold back the first packet until what was posted before is over, at the requester.
#[test]
fn fences_wait_as_declared() {
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
