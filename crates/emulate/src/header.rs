//! Reads the fields of a frame that a port needs (flow, length, class, ECN bits), and writes CE back. All functions
//! accept any bytes without a panic.
//!
//! Only IP packets pass the port. Other frames belong to the Ethernet segment that the emulator replaces: they are
//! [`Other`], passed on immediately, and counted by kind.

use serde::{Deserialize, Serialize};
use thalweg_wire::{Ecn, Kind};

/// The contents of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// An IP packet.
    Ip(Ip),
    /// Anything else.
    Other(Other),
}

/// Frames without an IP packet, or with an unreadable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Other {
    /// ARP.
    Arp,
    /// Neighbour discovery (RFC 4861): ICMPv6 types 133 to 137, which are link-local.
    NeighbourDiscovery,
    /// Multicast listener discovery (RFC 2710, 3810): ICMPv6 types 130 to 132 and 143, which are link-local, too.
    MulticastListener,
    /// Another protocol.
    Protocol,
    /// The frame ends before its headers, or before the end given by its length fields.
    Truncated,
    /// Length or version fields that contradict each other.
    Malformed,
}

/// All kinds, in order.
pub const OTHERS: [Other; 6] = [
    Other::Arp,
    Other::NeighbourDiscovery,
    Other::MulticastListener,
    Other::Protocol,
    Other::Truncated,
    Other::Malformed,
];

/// The five-tuple of a packet; IPv4 addresses are mapped (RFC 4291 §2.5.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuple {
    /// Source.
    pub src: [u8; 16],
    /// Destination.
    pub dst: [u8; 16],
    /// Source and destination port. They are 0 for protocols without ports, and in all fragments including the first
    /// one, so that all fragments of a packet belong to one flow.
    pub ports: [u16; 2],
    /// Protocol, or the next header of the last extension header.
    pub protocol: u8,
}

/// An IP packet in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Position of the IP header in the frame, bytes.
    pub at: usize,
    /// Length of the IP packet with its header, which is what it takes of a link. Ethernet headers are not counted.
    pub wire: u32,
    /// Bytes after the TCP or UDP header; for other protocols and for fragments, after the IP headers.
    pub payload: u32,
    /// Addresses and ports.
    pub tuple: Tuple,
    /// ECN bits.
    pub ecn: Ecn,
    /// Differentiated services code point (RFC 2474).
    pub dscp: u8,
    /// For TCP: set-up, acknowledgement without payload, or data. Other protocols are data.
    pub kind: Kind,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;
/// 802.1Q, 802.1ad.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// Largest number of extension headers; packets with more count as malformed.
const EXTENSIONS: u32 = 8;

/// Reads a frame.
pub fn view(frame: &[u8]) -> View {
    match read(frame) {
        Ok(ip) => View::Ip(ip),
        Err(other) => View::Other(other),
    }
}

fn read(frame: &[u8]) -> Result<Ip, Other> {
    let mut at = 12;
    let mut protocol = word(frame, at)?;
    at += 2;
    for _ in 0..2 {
        if TAGS.contains(&protocol) {
            protocol = word(frame, at + 2)?;
            at += 4;
        }
    }
    match protocol {
        IPV4 => ipv4(frame, at),
        IPV6 => ipv6(frame, at),
        ARP => Err(Other::Arp),
        _ => Err(Other::Protocol),
    }
}

fn ipv4(frame: &[u8], at: usize) -> Result<Ip, Other> {
    let first = byte(frame, at)?;
    let header = usize::from(first & 0x0f) * 4;
    let length = usize::from(word(frame, at + 2)?);
    if first >> 4 != 4 || header < 20 || length < header {
        return Err(Other::Malformed);
    }
    let packet = frame.get(at..at + length).ok_or(Other::Truncated)?;
    let fragment = word(packet, 6)? & 0x3fff != 0; // more follow, or it is not the first
    let mapped = |from: usize| {
        let mut address = [0; 16];
        address[10..12].fill(0xff);
        address[12..].copy_from_slice(&packet[from..from + 4]);
        address
    };
    let (protocol, service) = (packet[9], packet[1]);
    let tuple = Tuple { src: mapped(12), dst: mapped(16), ports: [0; 2], protocol };
    Ok(transport(packet, at, header, fragment, tuple, service))
}

fn ipv6(frame: &[u8], at: usize) -> Result<Ip, Other> {
    let first = word(frame, at)?;
    if first >> 12 != 6 {
        return Err(Other::Malformed);
    }
    let length = 40 + usize::from(word(frame, at + 4)?);
    let packet = frame.get(at..at + length).ok_or(Other::Truncated)?;
    let (mut next, mut header, mut fragment) = (packet[6], 40, false);
    for step in 0.. {
        let long = match next {
            0 | 43 | 60 => (usize::from(byte(packet, header + 1)?) + 1) * 8, // RFC 8200 §4
            51 => (usize::from(byte(packet, header + 1)?) + 2) * 4,          // RFC 4302 §2.2
            44 => {
                fragment |= word(packet, header + 2)? & 0xfff9 != 0;
                8
            }
            _ => break,
        };
        if step == EXTENSIONS {
            return Err(Other::Malformed);
        }
        next = byte(packet, header)?;
        header += long;
        // A fragment other than the first has no transport header.
        if fragment {
            break;
        }
    }
    if header > packet.len() {
        return Err(Other::Malformed);
    }
    match packet.get(header) {
        _ if next != ICMPV6 || fragment => {}
        Some(130..=132 | 143) => return Err(Other::MulticastListener),
        Some(133..=137) => return Err(Other::NeighbourDiscovery),
        _ => {}
    }
    let address = |from: usize| {
        let mut address = [0; 16];
        address.copy_from_slice(&packet[from..from + 16]);
        address
    };
    let tuple = Tuple { src: address(8), dst: address(24), ports: [0; 2], protocol: next };
    Ok(transport(packet, at, header, fragment, tuple, (first >> 4) as u8))
}

/// Reads the transport header. `header`: bytes before it.
fn transport(packet: &[u8], at: usize, header: usize, fragment: bool, tuple: Tuple, service: u8) -> Ip {
    let rest = if fragment { &[][..] } else { &packet[header..] };
    let behind = (packet.len() - header) as u32;
    let mut ip = Ip {
        at,
        wire: packet.len() as u32,
        payload: behind,
        tuple,
        ecn: ecn(service),
        dscp: service >> 2,
        kind: Kind::Data,
    };
    match (tuple.protocol, rest) {
        (TCP, [a, b, c, d, _, _, _, _, _, _, _, _, offset, flags, ..]) => {
            ip.tuple.ports = [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])];
            ip.payload = behind.saturating_sub(u32::from(offset >> 4) * 4);
            ip.kind = match (flags & 0x02 != 0, flags & 0x10 != 0) {
                (true, false) => Kind::Syn,
                (true, true) => Kind::SynAck,
                (false, true) if ip.payload == 0 => Kind::Ack,
                _ => Kind::Data,
            };
        }
        (UDP, [a, b, c, d, _, _, _, _, ..]) => {
            ip.tuple.ports = [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])];
            ip.payload = behind - 8;
        }
        _ => {}
    }
    ip
}

/// Writes the ECN bits of a packet that was read from this frame, and updates IPv4's checksum (RFC 1624, equation 3).
pub fn write_ecn(frame: &mut [u8], ip: &Ip, ecn: Ecn) {
    let bits = bits(ecn);
    let Some(header) = frame.get_mut(ip.at..ip.at + 12) else { return };
    if header[0] >> 4 == 6 {
        header[1] = header[1] & !0x30 | bits << 4;
        return;
    }
    let old = u16::from_be_bytes([header[0], header[1]]);
    header[1] = header[1] & !0x03 | bits;
    let new = u16::from_be_bytes([header[0], header[1]]);
    let sum = u16::from_be_bytes([header[10], header[11]]);
    // HC' = ~(~HC + ~m + m')
    let folded = u32::from(!sum) + u32::from(!old) + u32::from(new);
    let folded = (folded & 0xffff) + (folded >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

/// The class of a code point among this number of classes, 0 the most urgent.
// CHOICE RFC 2474 §4.2.2: the first three bits are the precedence of class selectors, 7 the most urgent. Here
// precedences are spread evenly over the classes; EF (46) has precedence 5.
pub fn class(dscp: u8, classes: u16) -> u8 {
    (u32::from(7 - (dscp >> 3 & 7)) * u32::from(classes.clamp(1, 256)) / 8) as u8
}

fn ecn(service: u8) -> Ecn {
    match service & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

fn byte(bytes: &[u8], at: usize) -> Result<u8, Other> {
    bytes.get(at).copied().ok_or(Other::Truncated)
}

fn word(bytes: &[u8], at: usize) -> Result<u16, Other> {
    Ok(u16::from_be_bytes([byte(bytes, at)?, byte(bytes, at + 1)?]))
}
