//! Bytes off the wire: the decoder takes only what the encoder writes, and both ends of a queue pair survive
//! what it takes.
#![no_main]
use thalweg_units::Time;
use thalweg_verbs::memory::{Buffer, Rights};
use thalweg_verbs::wire::{Dialect, Packet};
use thalweg_verbs::{Host, ReceiveRequest, Requester, Responder, Setup};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    for dialect in [Dialect::Irn, Dialect::Roce] {
        let setup = Setup { dialect, mtu: 16, ..Setup::default() };
        let (mut requester, mut responder) = (Requester::new(&setup).unwrap(), Responder::new(&setup).unwrap());
        let mut host = Host::default();
        let key = host.memory.register(0, vec![0; 256], Rights::ALL);
        let sink = Buffer { key, address: 0, length: 64 };
        responder.post_receive(ReceiveRequest { id: 0, sink }).unwrap();
        let mut again = Vec::new();
        // A length byte before each packet.
        let mut rest = input;
        while let Some((&length, tail)) = rest.split_first() {
            let (bytes, tail) = tail.split_at(tail.len().min(length.into()));
            rest = tail;
            if let Ok(packet) = Packet::decode(dialect, bytes) {
                packet.encode(dialect, &mut again).unwrap();
                assert_eq!(again, bytes);
            }
            let _ = requester.on_packet(Time::ZERO, &mut host.memory, bytes);
            let _ = responder.on_packet(Time::ZERO, &mut host, bytes);
            while responder.poll_transmit(Time::ZERO, &host.memory, &mut again) {}
            while requester.poll_transmit(Time::ZERO, &host.memory, &mut again) {}
        }
    }
});
