//! The encoding of a record's entries: little-endian, each preceded by its kind. Entries have a fixed size, except
//! packets with their whole header, which are preceded by their length.

use crate::path::{Arrival, Fate};
use std::io::{self, Read};
use thalweg_units::{FlowId, HostId, Time};
use thalweg_wire::{Ecn, Kind, NO_SIDE, Packet};

/// The first bytes of a record.
pub(crate) const MAGIC: &[u8; 8] = b"thalwegP";
/// Version of the encoding of entries and of the port before them.
pub(crate) const LAYOUT: u32 = 3;

const ARRIVAL: u8 = 1;
const SENT: u8 = 2;
const DROPPED: u8 = 3;
const END: u8 = 4;
const PACKET: u8 = 5;
const TRIMMED: u8 = 6;
const TURN: u8 = 7;

/// Largest size of an encoded packet header.
const LARGEST_HEADER: usize = 128;

/// Arrival time at the far end of a packet that the link loses.
const LOST: u64 = u64::MAX;

const KINDS: [Kind; 5] = [Kind::Data, Kind::Ack, Kind::Syn, Kind::SynAck, Kind::Control];
const ECNS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An arrival of a packet that its IP header describes completely.
    Arrival(Arrival),
    /// An arrival of a packet with its whole simulated header.
    Packet(Time, Packet),
    /// The port has decided at this instant; further entries of the same instant follow.
    Turn(Time),
    /// A decision: packet, instant, fate.
    Decision(u64, Time, Fate),
    /// The end of the record: everything until this instant was decided; digest of all decisions.
    End(Time, u64),
}

/// Appends an entry.
pub(crate) fn write(entry: &Entry, out: &mut Vec<u8>) {
    let long = |out: &mut Vec<u8>, values: &[u64]| values.iter().for_each(|v| out.extend(v.to_le_bytes()));
    match *entry {
        Entry::Arrival(a) => {
            out.push(ARRIVAL);
            long(out, &[a.at.ps()]);
            [a.flow.0, a.dst.0, a.wire, a.payload].iter().for_each(|v| out.extend(v.to_le_bytes()));
            out.extend([a.kind as u8, a.ecn as u8, a.class]);
        }
        Entry::Decision(packet, at, Fate::Sent { until, arrives, ecn }) => {
            out.push(SENT);
            long(out, &[packet, at.ps(), until.ps(), arrives.map_or(LOST, Time::ps)]);
            out.push(ecn as u8);
        }
        Entry::Decision(packet, at, Fate::Dropped) => {
            out.push(DROPPED);
            long(out, &[packet, at.ps()]);
        }
        Entry::Decision(packet, at, Fate::Trimmed { cut }) => {
            out.push(TRIMMED);
            long(out, &[packet, at.ps()]);
            out.extend(cut.to_le_bytes());
        }
        Entry::Packet(at, packet) => {
            out.push(PACKET);
            long(out, &[at.ps()]);
            let mut header = [0; LARGEST_HEADER];
            // The place of cold headers in the driver is not recorded.
            let header = postcard::to_slice(&Packet { side: NO_SIDE, ..packet }, &mut header);
            let header = header.expect("a header is no larger than that");
            out.push(header.len() as u8);
            out.extend(&*header);
        }
        Entry::Turn(at) => {
            out.push(TURN);
            long(out, &[at.ps()]);
        }
        Entry::End(at, digest) => {
            out.push(END);
            long(out, &[at.ps(), digest]);
        }
    }
}

/// Reads the next entry. `Ok(None)`: the record has ended, or was cut off within an entry.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Entry>> {
    let found = match bytes(from)? {
        Some([ARRIVAL]) => arrival(from)?,
        Some([SENT]) => sent(from)?,
        Some([DROPPED]) => match (long(from)?, long(from)?) {
            (Some(packet), Some(at)) => Some(Entry::Decision(packet, Time::from_ps(at), Fate::Dropped)),
            _ => None,
        },
        Some([TRIMMED]) => match (long(from)?, long(from)?, bytes(from)?) {
            (Some(packet), Some(at), Some(cut)) => {
                let fate = Fate::Trimmed { cut: u32::from_le_bytes(cut) };
                Some(Entry::Decision(packet, Time::from_ps(at), fate))
            }
            _ => None,
        },
        Some([PACKET]) => packet(from)?,
        Some([TURN]) => long(from)?.map(|at| Entry::Turn(Time::from_ps(at))),
        Some([END]) => match (long(from)?, long(from)?) {
            (Some(at), Some(digest)) => Some(Entry::End(Time::from_ps(at), digest)),
            _ => None,
        },
        Some([other]) => return Err(invalid(format!("no entry is of kind {other}"))),
        None => None,
    };
    Ok(found)
}

fn arrival(from: &mut impl Read) -> io::Result<Option<Entry>> {
    let Some(at) = long(from)? else { return Ok(None) };
    let mut words = [0; 4];
    for word in &mut words {
        let Some(bytes) = bytes(from)? else { return Ok(None) };
        *word = u32::from_le_bytes(bytes);
    }
    let Some([kind, ecn, class]) = bytes(from)? else { return Ok(None) };
    let [flow, dst, wire, payload] = words;
    let kind = KINDS.get(usize::from(kind)).ok_or_else(|| invalid(format!("no packet is of kind {kind}")))?;
    Ok(Some(Entry::Arrival(Arrival {
        at: Time::from_ps(at),
        flow: FlowId(flow),
        dst: HostId(dst),
        wire,
        payload,
        kind: *kind,
        ecn: known_ecn(ecn)?,
        class,
    })))
}

fn packet(from: &mut impl Read) -> io::Result<Option<Entry>> {
    let (Some(at), Some([length])) = (long(from)?, bytes(from)?) else { return Ok(None) };
    let mut header = [0; LARGEST_HEADER];
    let Some(header) = header.get_mut(..usize::from(length)) else {
        return Err(invalid(format!("no header takes {length} bytes")));
    };
    match from.read_exact(header) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    match postcard::take_from_bytes(header) {
        Ok((packet, [])) => Ok(Some(Entry::Packet(Time::from_ps(at), packet))),
        _ => Err(invalid("a packet's header is damaged".into())),
    }
}

fn sent(from: &mut impl Read) -> io::Result<Option<Entry>> {
    let (Some(packet), Some(at), Some(until), Some(arrives), Some([ecn])) =
        (long(from)?, long(from)?, long(from)?, long(from)?, bytes(from)?)
    else {
        return Ok(None);
    };
    let arrives = (arrives != LOST).then_some(Time::from_ps(arrives));
    let fate = Fate::Sent { until: Time::from_ps(until), arrives, ecn: known_ecn(ecn)? };
    Ok(Some(Entry::Decision(packet, Time::from_ps(at), fate)))
}

fn known_ecn(bits: u8) -> io::Result<Ecn> {
    ECNS.into_iter().find(|ecn| *ecn as u8 == bits).ok_or_else(|| invalid(format!("no ECN bits are {bits}")))
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn long(from: &mut impl Read) -> io::Result<Option<u64>> {
    Ok(bytes(from)?.map(u64::from_le_bytes))
}

/// Reads exactly this many bytes; `None` at the end.
pub(crate) fn bytes<const N: usize>(from: &mut impl Read) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    match from.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
