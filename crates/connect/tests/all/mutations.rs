//! Every reader of what peers and the kernel send, hammered with mutations: a short form of the fuzz target `connect`.

use thalweg_connect::fuzzing;
use thalweg_units::Stream;

/// Calls `reader` with so many mutations of an example.
fn mutate(example: &[u8], rounds: u64, reader: impl Fn(&[u8])) {
    reader(example);
    for round in 0..rounds {
        let mut draw = Stream::new(1, "mutation", round);
        let mut bytes = example.to_vec();
        for _ in 0..=draw.below(8) {
            let at = draw.below(bytes.len() as u64 + 1) as usize;
            match draw.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, draw.bits() as u8),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = [0, 255, draw.bits() as u8][draw.below(3) as usize];
                    }
                }
            }
        }
        reader(&bytes);
    }
}

#[cfg(feature = "quic")]
#[test]
fn what_a_peer_sends_is_read_or_refused() {
    let header = thalweg_connect::quic::Header::new("größe.bin", 1 << 33).unwrap();
    mutate(&header.encode(), 20_000, fuzzing::header);
    mutate(b"\x01\x00\x05wrong", 20_000, fuzzing::reply);
}

#[cfg(feature = "kernel")]
#[test]
fn what_the_kernel_might_send_stops_no_flow() {
    // Kinds in turn, everything else at random: bytes of any record.
    let mut draw = Stream::new(1, "records", 0);
    let mut example: Vec<u8> = (0..112 * 40).map(|_| draw.bits() as u8).collect();
    for (n, record) in example.chunks_mut(112).enumerate() {
        let kind = [0u32, 1, 1, 2, 1, 3, 1, 4][n % 8];
        record[28..32].copy_from_slice(&kind.to_ne_bytes());
    }
    mutate(&example, 300, fuzzing::records);
    // Small numbers, as they are.
    for byte in example.iter_mut().enumerate().filter(|(at, _)| at % 4 > 1 && at % 112 > 31) {
        *byte.1 = 0;
    }
    mutate(&example, 300, fuzzing::records);
}
