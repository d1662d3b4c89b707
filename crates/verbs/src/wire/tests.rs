use super::*;
use thalweg_units::Stream;

const DIALECTS: [Dialect; 2] = [Dialect::Roce, Dialect::Irn];

/// A packet with exactly the headers of its opcode, at random values.
fn random_packet<'a>(opcode: Opcode, dialect: Dialect, r: &mut Stream, payload: &'a [u8]) -> Packet<'a> {
    let l = opcode.layout(dialect);
    let mut p = Packet::new(opcode, r.bits() as u32 >> 8, Psn::new(r.bits() as u32));
    p.reth = l.reth.then(|| Reth { address: r.bits(), key: r.bits() as u32, length: r.bits() as u32 });
    p.immediate = l.immediate.then(|| r.bits() as u32);
    p.invalidate = l.invalidate.then(|| r.bits() as u32);
    p.aeth = l.aeth.then(|| Aeth {
        syndrome: [
            Syndrome::Ack(None),
            Syndrome::Ack(Some(Credits::at_most(r.below(40_000) as u32))),
            Syndrome::NotReady(RnrTimer::from_code(r.below(32) as u8)),
            Syndrome::Nak(Refusal::Sequence),
            Syndrome::Nak(Refusal::RemoteAccess),
        ][r.below(5) as usize],
        msn: Psn::new(r.bits() as u32),
    });
    p.atomic = l.atomic.then(|| AtomicEth {
        address: r.bits(),
        key: r.bits() as u32,
        operand: r.bits(),
        compare: r.bits(),
    });
    p.original = l.original.then(|| r.bits());
    p.recv_wqe = l.recv_wqe.then(|| Psn::new(r.bits() as u32));
    p.offset = l.offset.then(|| r.bits() as u32 >> 8);
    p.read_wqe = l.read_wqe.then(|| Psn::new(r.bits() as u32));
    p.sack = p.aeth.is_some_and(|a| names_a_packet(l, a.syndrome)).then(|| Psn::new(r.bits() as u32));
    p.payload = if l.payload { payload } else { &[] };
    p
}

#[test]
fn opcodes_have_codes_and_names_of_their_own() {
    use std::collections::BTreeSet;
    for (dialect, n) in [(Dialect::Roce, 23), (Dialect::Irn, 24)] {
        let all: Vec<_> = Opcode::all(dialect).collect();
        assert_eq!(all.len(), n);
        assert_eq!(all.iter().map(|o| o.name()).collect::<BTreeSet<_>>().len(), n);
        assert!(all.iter().all(|o| Opcode::from_code(o.code(), dialect) == Some(*o)));
        assert!((32..=255).all(|code| Opcode::from_code(code, dialect).is_none()));
    }
}

#[test]
fn bare_packets_have_the_sizes_of_others() {
    let mut bytes = Vec::new();
    for dialect in DIALECTS {
        for opcode in Opcode::all(dialect) {
            Packet::bare(opcode, dialect).encode(dialect, &mut bytes).unwrap();
            let payload = if opcode.layout(dialect).payload { 1024 } else { 0 };
            assert_eq!(
                bytes.len() + payload,
                size(opcode, dialect, Some(Syndrome::Ack(None))),
                "{}",
                opcode.name()
            );
        }
    }
}

#[test]
fn what_is_encoded_is_decoded_again() {
    let mut bytes = Vec::new();
    for seed in 0..200 {
        let mut r = Stream::new(seed, "packets", 0);
        let payload: Vec<u8> = (0..r.below(70)).map(|_| r.bits() as u8).collect();
        for dialect in DIALECTS {
            for opcode in Opcode::all(dialect) {
                let packet = random_packet(opcode, dialect, &mut r, &payload);
                packet.encode(dialect, &mut bytes).unwrap();
                assert_eq!(Packet::decode(dialect, &bytes), Ok(packet));
            }
        }
    }
}

/// Random bytes, and packets with a few bytes changed, cut or appended: an error, or a packet that is written
/// down the same.
#[test]
fn no_bytes_make_the_decoder_panic_and_what_it_takes_is_canonical() {
    let (mut taken, mut refused) = (0, 0);
    let mut again = Vec::new();
    for seed in 0..60_000 {
        let mut r = Stream::new(seed, "fuzz", 0);
        let dialect = DIALECTS[r.below(2) as usize];
        let mut bytes: Vec<u8> = (0..r.below(100)).map(|_| r.bits() as u8).collect();
        if seed % 4 != 0 {
            let payload = bytes.clone();
            let opcode =
                Opcode::all(dialect).nth(r.below(24) as usize % Opcode::all(dialect).count()).unwrap();
            random_packet(opcode, dialect, &mut r, &payload).encode(dialect, &mut bytes).unwrap();
            for _ in 0..r.below(4) {
                let at = r.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << r.below(8);
            }
            match r.below(4) {
                0 => bytes.truncate(r.below(bytes.len() as u64 + 1) as usize),
                1 => bytes.push(r.bits() as u8),
                _ => {}
            }
        }
        match Packet::decode(dialect, &bytes) {
            Ok(packet) => {
                packet.encode(dialect, &mut again).unwrap();
                assert_eq!(again, bytes);
                taken += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(taken > 5_000 && refused > 5_000, "{taken} {refused}");
}

fn size(opcode: Opcode, dialect: Dialect, syndrome: Option<Syndrome>) -> usize {
    let mut r = Stream::new(1, "size", 0);
    let mut packet = random_packet(opcode, dialect, &mut r, &[7; 1024]);
    if let (Some(aeth), Some(syndrome)) = (&mut packet.aeth, syndrome) {
        aeth.syndrome = syndrome;
        packet.sack = names_a_packet(opcode.layout(dialect), syndrome).then_some(Psn::new(1));
    }
    let mut bytes = Vec::new();
    packet.encode(dialect, &mut bytes).unwrap();
    bytes.len()
}

/// IRN-S1e.
#[test]
fn irn_costs_16_bytes_on_write_packets_but_the_first_6_on_sends_and_none_on_read_responses() {
    let more = |opcode| size(opcode, Dialect::Irn, None) - size(opcode, Dialect::Roce, None);
    use Place::*;
    assert_eq!([First, Only].map(|p| more(Opcode::Write(p))), [0, 0]);
    assert_eq!([Middle, Last].map(|p| more(Opcode::Write(p))), [16, 16]);
    assert_eq!([First, Middle, Last, Only].map(|p| more(Opcode::Send(p))), [6; 4]);
    for only in [false, true] {
        assert_eq!(more(Opcode::SendImmediate(only)), 6);
        assert_eq!(more(Opcode::SendInvalidate(only)), 6);
    }
    let syndrome = Some(Syndrome::Ack(None));
    for place in [First, Middle, Last, Only] {
        let response = Opcode::ReadResponse(place);
        assert_eq!(size(response, Dialect::Irn, syndrome), size(response, Dialect::Roce, syndrome));
    }
    // The last packet of a Write with immediate data also names its Receive WQE.
    assert_eq!(more(Opcode::WriteImmediate(true)), 3);
    assert_eq!(more(Opcode::WriteImmediate(false)), 16 + 3);
    assert_eq!(more(Opcode::ReadRequest), 4);
    assert_eq!(more(Opcode::FetchAdd), 4);
}

/// M0: 70 and 74 bytes on the wire; a Read request 66 + 16 + 4.
#[test]
fn acknowledgements_have_the_sizes_that_the_simulator_uses() {
    let wire = |opcode, syndrome| SURROUNDINGS + size(opcode, Dialect::Irn, Some(syndrome));
    let nack = Syndrome::Nak(Refusal::Sequence);
    for opcode in [Opcode::Acknowledge, Opcode::ReadAcknowledge] {
        assert_eq!(wire(opcode, Syndrome::Ack(None)), 70);
        assert_eq!(wire(opcode, nack), 74);
        assert_eq!(wire(opcode, Syndrome::NotReady(RnrTimer::from_code(7))), 70);
    }
    assert_eq!(wire(Opcode::ReadRequest, nack), 66 + RETH + READ_WQE);
    assert_eq!(wire(Opcode::CompareSwap, nack), 66 + ATOMIC + READ_WQE);
    assert_eq!(SURROUNDINGS + size(Opcode::Send(Place::Middle), Dialect::Roce, None), 1090);
}

#[test]
fn headers_that_do_not_belong_there_are_refused() {
    let mut out = Vec::new();
    let mut packet = Packet::new(Opcode::Write(Place::Middle), 1, Psn::new(0));
    assert_eq!(packet.encode(Dialect::Irn, &mut out), Err(EncodeError::Missing("RETH")));
    packet.encode(Dialect::Roce, &mut out).unwrap();
    packet.reth = Some(Reth { address: 0, key: 0, length: 0 });
    assert_eq!(packet.encode(Dialect::Roce, &mut out), Err(EncodeError::Superfluous("RETH")));
    assert_eq!(Opcode::from_code(24, Dialect::Roce), None);
}
