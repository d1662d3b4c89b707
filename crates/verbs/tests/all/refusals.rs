//! Refusals: the pause that a "not ready" NAK carries, how often a request is sent again, and copies of NAKs
//! (InfiniBand volume 1, §9.7.5.2.8).

use crate::common::cases::{KEY, at, lose_first, net, post, send, small, write};
use crate::common::{DELAY, Fate, Net, Run, SERIAL, Way};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Span, Stream, Time};
use thalweg_verbs::wire::{Aeth, Dialect, Opcode, Packet, Refusal, RnrTimer, Serial, Syndrome};
use thalweg_verbs::{Fence, Ignored, ReceiveRequest, Responder, Retry, Setup, Status};

const DIALECTS: [Dialect; 2] = [Dialect::Irn, Dialect::Roce];

fn with(dialect: Dialect, retry: Retry) -> Setup {
    Setup { dialect, retry, ..small() }
}

fn retries(rnr_retry: u8) -> Retry {
    Retry { rnr_retry, ..Retry::default() }
}

fn is_error(packet: &Packet<'_>) -> bool {
    packet
        .aeth
        .is_some_and(|aeth| !matches!(aeth.syndrome, Syndrome::Ack(_) | Syndrome::Nak(Refusal::Sequence)))
}

/// Everything arrives; error NACKs also arrive again after each of these times.
fn copied(after: &'static [u64]) -> impl FnMut(&Packet<'_>, Way, Time) -> Fate + Send {
    move |packet, _, _| {
        let again = if is_error(packet) { after } else { &[] };
        std::iter::once(0).chain(again.iter().copied()).map(|us| DELAY + Span::from_us(us)).collect()
    }
}

/// When the requester sent this request packet.
fn times(net: &Net<'_>, psn: u32) -> Vec<Time> {
    let is_it = |bytes: &[u8]| {
        Packet::decode(net.setup.dialect, bytes)
            .is_ok_and(|p| p.opcode.is_request() && p.psn == Psn::new(psn))
    };
    net.sent
        .iter()
        .filter(|seen| seen.way == Way::ToResponder && is_it(&seen.bytes))
        .map(|seen| seen.at)
        .collect()
}

/// Whatever the requester's own set-up says: the pause is the responder's.
#[test]
fn the_requester_pauses_as_long_as_the_nak_requires() {
    for dialect in DIALECTS {
        for code in [0, 1, 7, 8, 20] {
            let timer = RnrTimer::from_code(code);
            let mut net = net(with(dialect, Retry::default()), copied(&[]));
            let there = with(dialect, Retry { min_rnr_timer: timer, ..Retry::default() });
            net.responder = Responder::new(&there).unwrap();
            post(&mut net, 0, send(0, 4), Fence::None);
            net.run(Time::from_us(100) + timer.delay());
            let round_trip = DELAY * 2 + SERIAL * 2;
            assert_eq!(times(&net, 0)[..2], [Time::ZERO, Time::ZERO + round_trip + timer.delay()], "{code}");
            let carries =
                |p: &Packet<'_>| p.aeth.is_some_and(|aeth| aeth.syndrome == Syndrome::NotReady(timer));
            assert!(net.count(Way::ToRequester, carries) > 0);
        }
    }
}

/// The RNR retry counter: so many more attempts, each of them refused once; 7 does not count.
#[test]
fn a_request_that_is_not_ready_too_often_fails_the_queue_pair() {
    for dialect in DIALECTS {
        for rnr_retry in 0..=7 {
            let mut net = net(with(dialect, retries(rnr_retry)), copied(&[]));
            post(&mut net, 0, write(0, 8, 0), Fence::None);
            post(&mut net, 1, send(0, 4), Fence::None);
            post(&mut net, 2, write(8, 8, 16), Fence::None);
            net.run(Time::from_ms(3));
            let attempts = times(&net, 2).len();
            let ends: Vec<_> = net.completions.iter().map(|c| c.status).collect();
            if rnr_retry == Retry::FOR_EVER {
                assert_eq!((ends, net.requester.has_failed()), (vec![Status::Success], false));
                assert!(attempts > 15, "{attempts}");
            } else {
                assert_eq!(ends, [Status::Success, Status::RnrRetryExceeded, Status::Flushed]);
                assert_eq!(attempts, usize::from(rnr_retry) + 1);
                assert!(net.requester.timer().is_none());
            }
        }
    }
}

/// The counter begins anew when something was achieved: three Sends, each refused twice, with two retries.
#[test]
fn what_was_achieved_restores_the_retries() {
    for dialect in DIALECTS {
        let mut net = net(with(dialect, retries(2)), copied(&[]));
        (0..3).for_each(|id| post(&mut net, id, send(0, 4), Fence::None));
        for id in 0..3 {
            // The first attempt and the second; the third is to come.
            let refused = net.responder.counters().refusals + 2;
            run_while(&mut net, |net| net.responder.counters().refusals < refused);
            net.responder.post_receive(ReceiveRequest { id, sink: at(0, 4) }).unwrap();
            run_while(&mut net, |net| net.received.len() as u64 <= id);
        }
        net.run(Time::from_ms(3));
        let good = net.completions.iter().filter(|c| c.status == Status::Success).count();
        assert_eq!(good, 3, "{dialect:?}: {:?}", net.completions);
    }
}

/// In steps of 1 us, for 1 ms at most.
fn run_while(net: &mut Net<'_>, more: impl Fn(&Net<'_>) -> bool) {
    for _ in 0..1000 {
        if more(net) {
            net.run(net.now + Span::from_us(1));
        }
    }
}

/// Copies of a NAK that arrive during the pause are no further refusals, and do not make it longer.
#[test]
fn copies_of_a_nak_count_once() {
    for dialect in DIALECTS {
        // "Not ready", six times each.
        let mut rnr = net(with(dialect, retries(3)), copied(&[1, 2, 3, 50, 119]));
        post(&mut rnr, 0, send(0, 4), Fence::None);
        rnr.run(Time::from_us(200));
        assert_eq!((times(&rnr, 0).len(), rnr.requester.counters().refusals), (2, 2));
        rnr.responder.post_receive(ReceiveRequest { id: 0, sink: at(0, 4) }).unwrap();
        rnr.run(Time::MAX);
        assert_eq!((rnr.completions[0].status, times(&rnr, 0).len()), (Status::Success, 3));
        let pause = DELAY * 2 + SERIAL * 2 + Retry::default().min_rnr_timer.delay();
        assert!(times(&rnr, 0).windows(2).all(|pair| pair[1].since(pair[0]) == pause));
        // A refusal for good.
        let mut refused = net(with(dialect, Retry::default()), copied(&[1, 2, 3, 50, 99]));
        post(&mut refused, 0, write(0, 8, 60), Fence::None);
        refused.run(Time::MAX);
        assert_eq!(refused.completions[0].status, Status::RemoteAccess);
        let refusals = Retry::default().refusals;
        assert_eq!((times(&refused, 0).len() as u32, refused.requester.counters().refusals), (refusals, 3));
    }
}

/// Copies of requests and NAKs, early and late: no request is refused more often than it was sent, and none fails
/// before it was sent as often as agreed.
#[test]
fn no_request_is_refused_more_often_than_it_was_sent() {
    let mut copies = 0;
    for seed in 0..600 {
        let mut r = Stream::new(seed, "copies", 0);
        let dialect = DIALECTS[seed as usize % 2];
        let timer = RnrTimer::from_code(1 + r.below(8) as u8);
        let rnr_retry = r.below(7) as u8;
        let setup = with(dialect, Retry { min_rnr_timer: timer, rnr_retry, ..Retry::default() });
        let fate = move |_: &Packet<'_>, _: Way, _: Time| {
            (0..1 + r.below(3)).map(|_| DELAY + Span::from_us(r.below(60))).collect()
        };
        let mut net = net(setup, fate);
        post(&mut net, 0, send(0, 12), Fence::None);
        net.run(Time::from_ms(20));
        let counted = net.requester.counters().refusals;
        assert_eq!(net.completions[0].status, Status::RnrRetryExceeded, "seed {seed}");
        assert_eq!(counted, u64::from(rnr_retry) + 1, "seed {seed}");
        assert!(times(&net, 0).len() as u64 >= counted, "seed {seed}: {counted} refusals");
        copies += net.responder.counters().refusals - counted;
    }
    assert!(copies > 500, "{copies}");
}

/// RoCE: the responder reports a gap once, so further NAKs are copies, and everything is sent again once.
#[test]
fn copies_of_a_sequence_nak_make_roce_go_back_once() {
    let mut lose = lose_first(&[3]);
    let fate = move |packet: &Packet<'_>, way: Way, now: Time| {
        let nak = packet.aeth.is_some_and(|aeth| aeth.syndrome == Syndrome::Nak(Refusal::Sequence));
        let copies = [0, 1, 3, 20].map(|us| DELAY + Span::from_us(us)).to_vec();
        if nak { copies } else { lose(packet, way, now) }
    };
    let mut net = net(with(Dialect::Roce, Retry::default()), fate);
    post(&mut net, 0, write(0, 40, 0), Fence::None);
    net.run(Time::MAX);
    assert_eq!((net.requester.counters().sent, net.requester.counters().retransmitted), (17, 7));
}

/// RoCE: what follows a refused packet is not out of order; the refusal is all that the responder says.
#[test]
fn no_gap_is_reported_behind_a_refused_packet() {
    let mut net = net(with(Dialect::Roce, retries(0)), copied(&[]));
    post(&mut net, 0, send(0, 4), Fence::None);
    post(&mut net, 1, write(0, 40, 0), Fence::None);
    net.run(Time::MAX);
    assert_eq!((net.responder.counters().nacks, net.responder.counters().refusals), (0, 1));
    assert_eq!(net.completions[0].status, Status::RnrRetryExceeded);
}

/// A NAK for a packet that was never sent comes from no responder.
#[test]
fn a_nak_of_what_was_never_sent_is_ignored() {
    for dialect in DIALECTS {
        let mut net = net(with(dialect, Retry::default()), copied(&[]));
        post(&mut net, 0, write(0, 4, 0), Fence::None);
        net.run(Time::MAX);
        let before = format!("{:?}", net.requester);
        let mut out = vec![];
        for syndrome in [Syndrome::NotReady(RnrTimer::from_code(0)), Syndrome::Nak(Refusal::RemoteAccess)] {
            let mut nak = Packet::new(Opcode::Acknowledge, net.setup.requester_qp, Psn::new(1));
            nak.aeth = Some(Aeth { syndrome, msn: Serial::new(1) });
            nak.encode(dialect, &mut out).unwrap();
            assert_eq!(net.requester.on_packet(net.now, &mut net.local, &out), Err(Ignored::Number));
        }
        assert_eq!(before, format!("{:?}", net.requester));
        assert_eq!(net.host.memory.bytes(KEY)[..4], [0, 1, 2, 3]);
    }
}
