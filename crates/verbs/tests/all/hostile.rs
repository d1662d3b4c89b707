//! A peer that lies: well-formed packets with any numbers, addresses and lengths. Nothing panics, nothing
//! outside the rights granted changes, every answer is a packet.

use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Span, Stream, Time};
use thalweg_verbs::memory::{Buffer, Memory, Remote, Rights};
use thalweg_verbs::wire::{
    Aeth, AtomicEth, Credits, Dialect, Opcode, Packet, Refusal, Reth, RnrTimer, Syndrome,
};
use thalweg_verbs::{
    Fence, Host, Operation, ReceiveRequest, Request, Requester, Responder, SendWith, Setup, SharedReceives,
};

const MTU: u32 = 8;

/// Numbers close enough to be taken seriously, now and then.
fn near(r: &mut Stream, base: u32, spread: u64) -> u32 {
    if r.below(30) == 0 {
        r.bits() as u32 >> 8
    } else {
        base.wrapping_add(r.below(spread) as u32) & 0xff_ffff
    }
}

fn packet<'a>(
    opcode: Opcode,
    dialect: Dialect,
    qp: u32,
    base: u32,
    r: &mut Stream,
    payload: &'a [u8],
) -> Packet<'a> {
    let l = opcode.layout(dialect);
    let mut p = Packet::new(opcode, qp, Psn::new(near(r, base.wrapping_sub(2), 10)));
    let key = 1 + r.below(3) as u32;
    let (address, length) = (r.below(70), r.below(40) as u32);
    p.reth = l.reth.then(|| Reth { address: if r.below(20) == 0 { r.bits() } else { address }, key, length });
    p.atomic = l.atomic.then(|| AtomicEth {
        address: address & !u64::from(r.below(2) == 0),
        key,
        operand: 1,
        compare: 0,
    });
    p.immediate = l.immediate.then_some(1);
    p.invalidate = l.invalidate.then_some(key);
    p.aeth = l.aeth.then(|| Aeth {
        syndrome: [
            Syndrome::Ack(None),
            Syndrome::Ack(Some(Credits::at_most(3))),
            Syndrome::NotReady(RnrTimer::from_code(1)),
            Syndrome::Nak(Refusal::Sequence),
            Syndrome::Nak(Refusal::InvalidRequest),
        ][r.below(5) as usize],
        msn: Psn::new(near(r, 0, 8)),
    });
    p.original = l.original.then_some(5);
    p.recv_wqe = l.recv_wqe.then(|| Psn::new(near(r, 0, 6)));
    p.offset = l.offset.then(|| near(r, 0, 3));
    p.read_wqe = l.read_wqe.then(|| Psn::new(near(r, 0, 6)));
    let names = l.sack && p.aeth.is_some_and(|a| a.syndrome == Syndrome::Nak(Refusal::Sequence));
    p.sack = names.then(|| Psn::new(near(r, base, 10)));
    p.payload = if l.payload { payload } else { &[] };
    p
}

fn requests() -> [Operation; 5] {
    let own = Buffer { key: 1, address: 0, length: 20 };
    let word = Buffer { length: 8, ..own };
    let at = Remote { key: 1, address: 0 };
    [
        Operation::Write { from: own, to: at, immediate: None },
        Operation::Read { into: own, from: at },
        Operation::Send { from: own, with: SendWith::Nothing },
        Operation::FetchAdd { at, add: 1, into: word },
        Operation::Write { from: own, to: at, immediate: Some(1) },
    ]
}

#[test]
fn a_lying_peer_breaks_nothing() {
    let mut taken = 0;
    for seed in 0..3_000 {
        let mut r = Stream::new(seed, "liar", 0);
        let dialect = [Dialect::Irn, Dialect::Roce][seed as usize % 2];
        let shared = r.below(2) == 0;
        let setup = Setup {
            dialect,
            mtu: MTU,
            cap: 8,
            read_slots: 4,
            shared_receives: shared,
            first_request: Psn::new(0xff_fffd),
            first_response: Psn::new(0xff_fffe),
            ..Setup::default()
        };
        let (mut requester, mut responder) =
            (Requester::new(&setup).unwrap(), Responder::new(&setup).unwrap());
        // Key 1: everything; key 2: reads; key 3: nothing, and it stays as it is.
        let mut host = Host { memory: Memory::default(), shared: SharedReceives::default() };
        let mut memory = Memory::default();
        memory.register(0, vec![9; 64], Rights::LOCAL);
        for rights in [Rights::ALL, Rights { read: true, ..Rights::LOCAL }, Rights::LOCAL] {
            host.memory.register(0, vec![9; 64], rights);
        }
        for id in 0..3 {
            let wqe = ReceiveRequest { id, sink: Buffer { key: 1, address: 32, length: 24 } };
            if shared {
                host.shared.post(wqe);
            } else {
                responder.post_receive(wqe).unwrap();
            }
        }
        let mut now = Time::ZERO;
        let mut out = vec![];
        for step in 0..120 {
            if step % 10 == 0 {
                let operation = requests()[r.below(5) as usize];
                let _ = requester.post(&memory, Request { id: step, operation, fence: Fence::None });
            }
            let length = [MTU as u64, r.below(12), 0][r.below(3) as usize];
            let payload: Vec<u8> = (0..length).map(|_| r.bits() as u8).collect();
            let opcode = (0..).find_map(|_| Opcode::from_code(r.below(25) as u8, dialect)).unwrap();
            let base = [responder.expected().value(), 0xff_fffd + step as u32 / 4][r.below(2) as usize];
            let qp = 1 + u32::from(opcode.is_request() || opcode == Opcode::ReadAcknowledge);
            packet(opcode, dialect, qp, base, &mut r, &payload).encode(dialect, &mut out).unwrap();
            taken += u64::from(requester.on_packet(now, &mut memory, &out).is_ok());
            taken += u64::from(responder.on_packet(now, &mut host, &out).is_ok());
            now += Span::from_us(r.below(200));
            requester.on_timer(now);
            responder.on_timer(now);
            let mut polls = 0;
            while requester.poll_transmit(now, &memory, &mut out)
                || responder.poll_transmit(now, &host.memory, &mut out)
            {
                Packet::decode(dialect, &out).unwrap();
                polls += 1;
                assert!(polls < 1_000, "seed {seed}: it never stops talking");
            }
            while requester.poll_completion().is_some() || responder.poll_received().is_some() {}
        }
        assert_eq!(host.memory.bytes(2), [9; 64]);
        assert_eq!(host.memory.bytes(3), [9; 64]);
    }
    assert!(taken > 100_000, "{taken}");
}
