//! The pcapng file format (draft-ietf-opsawg-pcapng), as far as it is written here.
//!
//! A file has one section: a block for each interface with its name, its rate and nanosecond timestamps; a block with
//! the names of hosts; and a block for each packet, with a comment if the packet was dropped or marked there. Blocks
//! are written as packets come, so a file that was interrupted can be read.

use std::io::{self, Write};
use std::net::Ipv4Addr;

/// The link type of packets that begin with an IPv4 header, LINKTYPE_IPV4. (libpcap refuses LINKTYPE_RAW on a second
/// interface.)
pub const IPV4: u16 = 228;
/// LINKTYPE_ETHERNET.
pub const ETHERNET: u16 = 1;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;

const END: u16 = 0;
const COMMENT: u16 = 1;

/// The direction of a packet at its interface: bits 0 and 1 of `epb_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the node of the interface.
    In = 1,
    /// From the node of the interface.
    Out = 2,
}

/// A packet at an interface.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Nanoseconds since the run's start, or since 1970.
    pub at_ns: u64,
    /// The interface, by the number that [`Writer::interface`] returned.
    pub interface: u32,
    /// Its direction.
    pub way: Way,
    /// Bytes on the wire.
    pub wire: u32,
    /// The first bytes of the packet.
    pub bytes: &'a [u8],
    /// A comment, such as that it was dropped.
    pub comment: Option<&'a str>,
}

/// A file being written.
pub struct Writer<W: Write> {
    out: W,
    interfaces: u32,
    body: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a file; `comment` describes it.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, comment: &str) -> io::Result<Self> {
        let mut writer = Self { out, interfaces: 0, body: Vec::new() };
        writer.body.extend(0x1a2b_3c4d_u32.to_le_bytes());
        writer.body.extend([1, 0, 0, 0]); // version 1.0
        writer.body.extend([0xff; 8]); // the section's length is not known
        writer.option(COMMENT, comment.as_bytes());
        writer.option(4, concat!("thalweg ", env!("CARGO_PKG_VERSION")).as_bytes());
        writer.option(END, &[]);
        writer.block(SECTION)?;
        Ok(writer)
    }

    /// Writes the hosts' names, by address.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn names<'a>(&mut self, names: impl IntoIterator<Item = (Ipv4Addr, &'a str)>) -> io::Result<()> {
        for (address, name) in names {
            self.body.extend(1u16.to_le_bytes());
            self.body.extend(((4 + name.len() + 1) as u16).to_le_bytes());
            self.body.extend(address.octets());
            self.body.extend(name.bytes().chain([0]));
            self.pad();
        }
        self.body.extend([0; 4]);
        self.block(NAMES)
    }

    /// Adds an interface. Returns its number.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn interface(&mut self, link: u16, name: &str, bits_per_second: Option<u64>) -> io::Result<u32> {
        self.body.extend(link.to_le_bytes());
        self.body.extend([0; 6]); // reserved; no limit of what is kept of a packet
        self.option(2, name.as_bytes());
        if let Some(rate) = bits_per_second {
            self.option(8, &rate.to_le_bytes());
        }
        self.option(9, &[9]); // if_tsresol: 10^-9
        self.option(END, &[]);
        self.block(INTERFACE)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// Errors of the file; an interface that does not exist.
    pub fn packet(&mut self, seen: &Seen<'_>) -> io::Result<()> {
        if seen.interface >= self.interfaces {
            let why = format!("interface {} of {}", seen.interface, self.interfaces);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let kept = seen.bytes.len().min(seen.wire as usize);
        let words = [seen.interface, (seen.at_ns >> 32) as u32, seen.at_ns as u32, kept as u32, seen.wire];
        words.iter().for_each(|word| self.body.extend(word.to_le_bytes()));
        self.body.extend(&seen.bytes[..kept]);
        self.pad();
        self.option(2, &(seen.way as u32).to_le_bytes());
        if let Some(comment) = seen.comment {
            self.option(COMMENT, comment.as_bytes());
        }
        self.option(END, &[]);
        self.block(PACKET)
    }

    /// Returns the file after everything has been written.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // Cut to the largest length that the field can express.
        let value = &value[..value.len().min(usize::from(u16::MAX) & !3)];
        self.body.extend(code.to_le_bytes());
        self.body.extend((value.len() as u16).to_le_bytes());
        self.body.extend(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    fn block(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.body)?;
        self.body.clear();
        self.out.write_all(&length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The blocks of a file, as kind and body. The length is at both ends of each block.
    fn blocks(file: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let (mut at, mut out) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            out.push((word(at), file[at + 8..at + length - 4].to_vec()));
            at += length;
        }
        out
    }

    #[test]
    fn a_file_byte_for_byte() {
        let mut w = Writer::new(Vec::new(), "x").unwrap();
        assert_eq!(w.interface(IPV4, "a->b", Some(1_000)).unwrap(), 0);
        let seen = Seen {
            at_ns: (7 << 32) + 5,
            interface: 0,
            way: Way::Out,
            wire: 6,
            bytes: &[1, 2, 3, 4, 5],
            comment: Some("dropped"),
        };
        w.packet(&seen).unwrap();
        let blocks = blocks(&w.finish().unwrap());
        assert_eq!(blocks.iter().map(|b| b.0).collect::<Vec<_>>(), [0x0a0d_0d0a, 1, 6]);
        assert_eq!(blocks[0].1[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
        let interface = [
            &[228, 0, 0, 0, 0, 0, 0, 0][..],
            &[2, 0, 4, 0],
            b"a->b",
            &[8, 0, 8, 0, 232, 3, 0, 0, 0, 0, 0, 0],
            &[9, 0, 1, 0, 9, 0, 0, 0],
            &[0, 0, 0, 0],
        ];
        assert_eq!(blocks[1].1, interface.concat());
        let packet = [
            &[0, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0][..],
            &[1, 2, 3, 4, 5, 0, 0, 0],
            &[2, 0, 4, 0, 2, 0, 0, 0],
            &[1, 0, 7, 0],
            b"dropped\0",
            &[0, 0, 0, 0],
        ];
        assert_eq!(blocks[2].1, packet.concat());
        let mut w = Writer::new(Vec::new(), "").unwrap();
        assert!(w.packet(&seen).is_err(), "there is no interface");
    }

    proptest! {
        #[test]
        fn whatever_is_written_blocks_stay_whole(
            comment in ".{0,80}", name in ".{0,40}", bytes in prop::collection::vec(any::<u8>(), 0..200), wire in 0u32..300,
        ) {
            let mut w = Writer::new(Vec::new(), &comment).unwrap();
            w.names([(Ipv4Addr::new(10, 0, 0, 1), name.as_str())]).unwrap();
            w.interface(ETHERNET, &name, None).unwrap();
            w.packet(&Seen { at_ns: 1, interface: 0, way: Way::In, wire, bytes: &bytes, comment: Some(&comment) }).unwrap();
            prop_assert_eq!(blocks(&w.finish().unwrap()).len(), 4);
        }
    }
}
