//! Views of frames: the ones that there are, and bytes of any kind.

use proptest::prelude::*;
use thalweg_emulate::header::{Ip, OTHERS, Other, View, class, view, write_ecn};
use thalweg_units::Stream;
use thalweg_wire::{Ecn, Kind};

/// The checksum of an IPv4 header as RFC 791 has it, from nothing.
fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks(2).enumerate().filter(|(n, _)| *n != 5);
    let sum: u32 = words.map(|(_, w)| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

fn ethernet(protocol: u16, rest: &[u8]) -> Vec<u8> {
    [&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][..], &protocol.to_be_bytes(), rest].concat()
}

/// A packet of 10.0.0.1 for 10.0.0.2.
fn ipv4(protocol: u8, service: u8, fragment: u16, rest: &[u8]) -> Vec<u8> {
    let length = 20 + rest.len() as u16;
    let mut header = vec![0x45, service];
    header.extend(length.to_be_bytes());
    header.extend([0x12, 0x34]);
    header.extend(fragment.to_be_bytes());
    header.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    [&header, rest].concat()
}

fn ipv6(next: u8, class: u8, rest: &[u8]) -> Vec<u8> {
    let mut header = vec![0x60 | class >> 4, class << 4, 0, 0];
    header.extend((rest.len() as u16).to_be_bytes());
    header.extend([next, 64]);
    header.extend([0x20; 16]);
    header.extend([0x21; 16]);
    [&header, rest].concat()
}

/// Ports 1000 and 80, flags, payload.
fn tcp(flags: u8, payload: usize) -> Vec<u8> {
    let mut header = vec![0x03, 0xe8, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0];
    header.resize(20 + payload, 7);
    header
}

fn ip(frame: &[u8]) -> Ip {
    match view(frame) {
        View::Ip(ip) => ip,
        View::Other(other) => panic!("{other:?}"),
    }
}

fn other(frame: &[u8]) -> Other {
    match view(frame) {
        View::Ip(ip) => panic!("{ip:?}"),
        View::Other(other) => other,
    }
}

#[test]
fn a_segment_has_its_flow_its_class_its_ecn_bits_and_its_length() {
    let frame = ethernet(0x0800, &ipv4(6, 46 << 2 | 2, 0, &tcp(0x18, 100)));
    let found = ip(&frame);
    assert_eq!((found.at, found.wire, found.payload, found.kind), (14, 140, 100, Kind::Data));
    assert_eq!(
        (found.dscp, found.ecn, found.tuple.ports, found.tuple.protocol),
        (46, Ecn::Ect0, [1000, 80], 6)
    );
    assert_eq!((found.tuple.src[12..].to_vec(), found.tuple.dst[15]), (vec![10, 0, 0, 1], 2));
    // Ethernet pads short frames: the packet is as long as it says.
    let mut padded = ethernet(0x0800, &ipv4(6, 0, 0, &tcp(0x10, 0)));
    padded.resize(60, 0);
    assert_eq!((ip(&padded).wire, ip(&padded).kind), (40, Kind::Ack));
    let kinds =
        [0x02, 0x12, 0x10, 0x11].map(|flags| ip(&ethernet(0x0800, &ipv4(6, 0, 0, &tcp(flags, 0)))).kind);
    assert_eq!(kinds, [Kind::Syn, Kind::SynAck, Kind::Ack, Kind::Ack]);
    // A tag, and two.
    let once = ethernet(0x8100, &[&[0, 5, 8, 0][..], &ipv4(6, 0, 0, &tcp(0x18, 9))].concat());
    let twice = ethernet(0x88a8, &[&[0, 5, 0x81, 0, 0, 6, 8, 0][..], &ipv4(6, 0, 0, &tcp(0x18, 9))].concat());
    assert_eq!(
        [ip(&once), ip(&twice)].map(|ip| (ip.at, ip.wire, ip.tuple.ports[1])),
        [(18, 49, 80), (22, 49, 80)]
    );
}

#[test]
fn all_fragments_of_a_datagram_are_one_flow() {
    let datagram = [0x03, 0xe8, 0, 53, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    let whole = ip(&ethernet(0x0800, &ipv4(17, 0, 0x4000, &datagram)));
    assert_eq!((whole.tuple.ports, whole.payload), ([1000, 53], 8));
    let [first, last] = [0x2000, 0x0002].map(|f| ip(&ethernet(0x0800, &ipv4(17, 0, f, &datagram))));
    assert_eq!(first.tuple, last.tuple);
    assert_eq!((first.tuple.ports, first.payload), ([0, 0], 16));
    let extension =
        |offset: u8, more: u8| [&[17, 0, 0, offset << 3 | more, 0, 0, 0, 1][..], &datagram].concat();
    let [first, last] = [(0, 1), (1, 0)].map(|(o, m)| ip(&ethernet(0x86dd, &ipv6(44, 0, &extension(o, m)))));
    assert_eq!((first.tuple, first.tuple.ports, first.tuple.protocol), (last.tuple, [0, 0], 17));
    let atomic = ip(&ethernet(0x86dd, &ipv6(44, 0, &extension(0, 0))));
    assert_eq!(atomic.tuple.ports, [1000, 53], "RFC 6946: a fragment that is a whole datagram");
}

#[test]
fn version_6_behind_extension_headers() {
    let rest = [&[60, 0, 0, 0, 0, 0, 0, 0][..], &[6, 1], &[0; 14], &tcp(0x18, 30)].concat();
    let found = ip(&ethernet(0x86dd, &ipv6(0, 0xb9, &rest)));
    assert_eq!((found.wire, found.payload, found.tuple.ports), (114, 30, [1000, 80]));
    assert_eq!((found.dscp, found.ecn), (46, Ecn::Ect1));
    let endless = ethernet(0x86dd, &ipv6(60, 0, &[60, 0, 0, 0, 0, 0, 0, 0].repeat(20)));
    assert_eq!(other(&endless), Other::Malformed);
}

#[test]
fn what_is_no_packet_has_a_name() {
    assert_eq!(other(&ethernet(0x0806, &[0; 28])), Other::Arp);
    assert_eq!(other(&ethernet(0x88cc, &[0; 28])), Other::Protocol);
    assert_eq!(other(&ethernet(0x86dd, &ipv6(58, 0, &[135, 0, 0, 0]))), Other::NeighbourDiscovery);
    // RFC 3810 §5: a report stands behind a hop-by-hop header, which has the router alert.
    let report = [&[58, 0, 5, 2, 0, 0, 0, 0][..], &[143, 0, 0, 0]].concat();
    assert_eq!(other(&ethernet(0x86dd, &ipv6(0, 0, &report))), Other::MulticastListener);
    assert_eq!(
        ip(&ethernet(0x86dd, &ipv6(58, 0, &[128, 0, 0, 0]))).tuple.protocol,
        58,
        "an echo request is a packet"
    );
    let whole = ethernet(0x0800, &ipv4(6, 0, 0, &tcp(0x18, 100)));
    for cut in 0..whole.len() {
        assert_eq!(other(&whole[..cut]), Other::Truncated, "{cut}");
    }
    let wrong = |at: usize, to: u8| {
        let mut frame = whole.clone();
        frame[at] = to;
        other(&frame)
    };
    assert_eq!([wrong(14, 0x65), wrong(14, 0x41), wrong(17, 10)], [Other::Malformed; 3]);
}

#[test]
fn ce_is_written_with_the_checksum_that_the_header_would_have() {
    let mut draw = Stream::new(1, "ecn", 0);
    for _ in 0..20_000 {
        let mut packet = ipv4(17, draw.bits() as u8, draw.bits() as u16, &[0; 8]);
        packet[4..6].copy_from_slice(&(draw.bits() as u16).to_be_bytes());
        packet[12..20].copy_from_slice(&draw.bits().to_be_bytes());
        let sum = checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        let mut frame = ethernet(0x0800, &packet);
        let found = ip(&frame);
        for ecn in [Ecn::Ce, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct, Ecn::Ce] {
            write_ecn(&mut frame, &found, ecn);
            let header = &frame[14..34];
            assert_eq!(ip(&frame), Ip { ecn, ..found });
            let written = u16::from_be_bytes([header[10], header[11]]);
            // Both zeros of one's complement are right.
            assert_eq!(written % 0xffff, checksum(header) % 0xffff);
        }
    }
    let mut frame = ethernet(0x86dd, &ipv6(17, 0xfd, &[0; 8]));
    let found = ip(&frame);
    write_ecn(&mut frame, &found, Ecn::Ce);
    assert_eq!(ip(&frame), Ip { ecn: Ecn::Ce, ..found });
}

#[test]
fn code_points_are_spread_over_the_classes_that_there_are() {
    let of = |classes| [56, 46, 34, 26, 10, 8, 0].map(|dscp| class(dscp, classes));
    assert_eq!(of(8), [0, 2, 3, 4, 6, 6, 7]);
    assert_eq!(of(2), [0, 0, 0, 1, 1, 1, 1]);
    assert_eq!((of(1), class(0, 3), class(255, 256)), ([0; 7], 2, 0));
}

/// Bytes that are nearly frames, a million of them: no panic, nothing read beyond the end, CE never out of bounds.
#[test]
fn any_bytes_have_a_view() {
    let mut draw = Stream::new(7, "frames", 0);
    let seeds = [
        ethernet(0x0800, &ipv4(6, 2, 0, &tcp(0x18, 60))),
        ethernet(
            0x86dd,
            &ipv6(0, 1, &[&[44, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 0][..], &tcp(2, 3)].concat()),
        ),
        ethernet(0x8100, &[&[0, 5, 8, 0][..], &ipv4(17, 0, 0, &[0; 20])].concat()),
        ethernet(0x0806, &[0; 28]),
        ethernet(0x86dd, &ipv6(58, 0, &[135, 0, 0, 0])),
        ethernet(0x86dd, &ipv6(58, 0, &[143, 0, 0, 0])),
        vec![0; 90],
    ];
    let mut counts = [0u32; OTHERS.len() + 1];
    for _ in 0..1_000_000 {
        let mut frame = seeds[draw.below(seeds.len() as u64) as usize].clone();
        for _ in 0..draw.below(6) {
            let at = draw.below(frame.len() as u64) as usize;
            frame[at] = draw.bits() as u8;
        }
        frame.truncate(draw.below(3 * frame.len() as u64) as usize);
        match view(&frame) {
            View::Ip(found) => {
                assert!(found.at + found.wire as usize <= frame.len() && found.payload <= found.wire);
                write_ecn(&mut frame, &found, Ecn::Ce);
                assert_eq!(ip(&frame), Ip { ecn: Ecn::Ce, ..found });
                counts[OTHERS.len()] += 1;
            }
            View::Other(other) => counts[other as usize] += 1,
        }
    }
    assert!(counts.iter().all(|n| *n > 100), "all kinds occur: {counts:?}");
}

proptest! {
    #[test]
    fn random_bytes_have_a_view(frame in prop::collection::vec(any::<u8>(), 0..200)) {
        if let View::Ip(found) = view(&frame) {
            prop_assert!(found.at + found.wire as usize <= frame.len());
        }
    }
}
