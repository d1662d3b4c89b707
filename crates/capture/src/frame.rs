//! A simulated packet as the bytes that it would have on a wire: IPv4 with TCP, or with UDP for other transports.
//!
//! Payloads are left out (files hold headers only), and checksums over payloads are zero.

use std::net::Ipv4Addr;

/// The fields of a packet that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Host that it comes from.
    pub from: u32,
    /// Host that it goes to.
    pub to: u32,
    /// Its flow, from which the ports follow: that of the data's sender, and that of the receiver.
    pub flow: u32,
    /// True if it has the direction of the data, false if it comes back.
    pub forward: bool,
    /// Data: offset of its first byte. ACK: next byte expected.
    pub seq: u64,
    /// Bytes on the wire.
    pub wire: u32,
    /// Header bytes among these, for data.
    pub header: u32,
    /// True for TCP, false for UDP.
    pub tcp: bool,
    /// True if it is marked (CE).
    pub marked: bool,
}

/// Port of a flow's receiving end.
const SERVICE: u16 = 5001;

/// A host's address: its number in 10.0.0.0/8, from 10.0.0.1 on.
pub fn address(host: u32) -> Ipv4Addr {
    Ipv4Addr::from((10 << 24) | (host.wrapping_add(1) & 0x00ff_ffff))
}

/// RFC 1071.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) as u16 + (folded >> 16) as u16)
}

impl Frame {
    /// The port of the data's sender, by which flows between the same hosts differ.
    fn port(&self) -> u16 {
        10_000 + (self.flow % 50_000) as u16
    }

    /// Header bytes. An ACK, and a probe without payload, consist of headers only.
    fn headers(&self) -> u32 {
        if self.forward { self.header.min(self.wire) } else { self.wire }
    }

    /// Length of the TCP header in words of 4 B, at most its maximum, so that the rest is the payload.
    fn words(&self) -> u32 {
        (self.headers().saturating_sub(20) / 4).clamp(5, 15)
    }

    /// Header bytes that do not fit into a TCP header: beyond its maximum, or part of a word.
    fn beyond(&self) -> u32 {
        if self.tcp { self.headers().saturating_sub(20 + 4 * self.words()) } else { 0 }
    }

    /// The headers.
    pub fn bytes(&self) -> Vec<u8> {
        let (source, destination) =
            if self.forward { (self.port(), SERVICE) } else { (SERVICE, self.port()) };
        let mut out = Vec::with_capacity(80);
        // Header bytes that do not fit are sent after the datagram, so that position plus length is the next position.
        // A length that does not fit into 16 bits is written as 0, as for packets that a NIC segments; readers then
        // take the length of the record.
        let length = u16::try_from((self.wire - self.beyond()).max(28)).unwrap_or(0);
        let ecn = if self.marked { 3 } else { 0 };
        out.extend([0x45, ecn]);
        out.extend(length.to_be_bytes());
        out.extend([0, 0, 0x40, 0, 64, if self.tcp { 6 } else { 17 }, 0, 0]);
        out.extend(address(self.from).octets());
        out.extend(address(self.to).octets());
        let sum = checksum(&out).to_be_bytes();
        out[10..12].copy_from_slice(&sum);
        out.extend(source.to_be_bytes());
        out.extend(destination.to_be_bytes());
        if self.tcp {
            self.tcp(&mut out);
        } else {
            out.extend(length.saturating_sub(20).to_be_bytes());
            out.extend([0, 0]);
        }
        out.truncate(self.wire as usize);
        out
    }

    fn tcp(&self, out: &mut Vec<u8>) {
        // Positions start at one, after the SYN.
        let position = (self.seq as u32).wrapping_add(1).to_be_bytes();
        let words = self.words();
        let one = 1u32.to_be_bytes();
        let (seq, ack) = if self.forward { (position, one) } else { (one, position) };
        out.extend(seq);
        out.extend(ack);
        out.extend([(words << 4) as u8, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
        out.extend(std::iter::repeat_n(1, (words as usize - 5) * 4)); // NOPs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: Frame = Frame {
        from: 0,
        to: 300,
        flow: 7,
        forward: true,
        seq: 1460,
        wire: 1500,
        header: 40,
        tcp: true,
        marked: true,
    };

    /// The length field has 16 bits; readers replace 0 by the length of the record.
    #[test]
    fn a_packet_beyond_64_kilobytes_has_no_length() {
        let length = |wire| Frame { wire, ..DATA }.bytes()[2..4].to_vec();
        assert_eq!([length(65_535), length(65_536)], [[0xff, 0xff], [0, 0]]);
        assert_eq!(Frame { wire: 70_000, tcp: false, ..DATA }.bytes()[24..26], [0, 0], "of UDP likewise");
    }

    #[test]
    fn a_data_packet() {
        let bytes = DATA.bytes();
        assert_eq!(bytes[..4], [0x45, 3, 0x05, 0xdc]);
        assert_eq!(bytes[12..20], [10, 0, 0, 1, 10, 0, 1, 45]);
        assert_eq!(bytes[20..24], [0x27, 0x17, 0x13, 0x89]); // 10007, 5001
        assert_eq!(bytes[24..32], [0, 0, 5, 0xb5, 0, 0, 0, 1]);
        assert_eq!((bytes[32], bytes.len()), (0x50, 40));
        assert_eq!(checksum(&bytes[..20]), 0, "RFC 1071: with its checksum a header sums to zero");
    }

    #[test]
    fn headers_make_up_what_is_not_payload() {
        for header in [40, 52, 60, 66, 80, 400] {
            let bytes = Frame { header, ..DATA }.bytes();
            let tcp = usize::from(bytes[32] >> 4) * 4;
            assert_eq!(bytes.len(), 20 + tcp);
            let length = u32::from(u16::from_be_bytes([bytes[2], bytes[3]]));
            assert_eq!(length - 20 - tcp as u32, 1500 - header, "the payload");
            assert!(tcp <= 60 && (header > 80 || tcp as u32 == (header - 20) / 4 * 4), "{header}: {tcp}");
        }
        // A probe of 40 B among data with headers of 60 B: its headers are no longer than the probe.
        let probe = Frame { header: 60, wire: 40, ..DATA }.bytes();
        assert_eq!((probe[32], probe.len()), (0x50, 40));
        let ack = Frame { forward: false, wire: 40, ..DATA }.bytes();
        assert_eq!((ack[20..24].to_vec(), ack.len()), (vec![0x13, 0x89, 0x27, 0x17], 40));
        assert_eq!(ack[24..32], [0, 0, 0, 1, 0, 0, 5, 0xb5]);
    }

    #[test]
    fn no_packet_is_longer_than_itself() {
        for wire in [1, 19, 20, 27, 28, 39, 40] {
            assert!(
                [true, false]
                    .iter()
                    .all(|tcp| Frame { wire, tcp: *tcp, ..DATA }.bytes().len() <= wire as usize)
            );
        }
        let udp = Frame { tcp: false, ..DATA }.bytes();
        assert_eq!(udp[20..28], [0x27, 0x17, 0x13, 0x89, 0x05, 0xc8, 0, 0]);
    }
}
