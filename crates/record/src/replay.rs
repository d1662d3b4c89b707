//! Replays a record through the same port offline: the same packets must be sent, dropped and marked at the same
//! instants.

use crate::encoder::Encoder;
use crate::entry::{self, Entry, LAYOUT, MAGIC};
use crate::path::{Decision, Fate, Path};
use crate::port::Port;
use serde::Serialize;
use std::collections::VecDeque;
use std::io::{self, Read};
use thalweg_units::Time;
use thalweg_wire::Ecn;

/// Largest size of an encoded port; a trace of some hours is smaller.
const LARGEST_PORT: u32 = 1 << 28;

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// The port's name.
    pub port: String,
    /// Packets that arrived.
    pub arrived: u64,
    /// Of those, packets that arrived at the same instant as the one before.
    pub together: u64,
    /// Packets that were sent. (This and the following numbers are those of the compared decisions.)
    pub sent: u64,
    /// Of those, packets that the link lost.
    pub lost: u64,
    /// Of those sent, packets whose ECN bits changed.
    pub marked: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that were trimmed to their headers.
    pub trimmed: u64,
    /// The first difference: the recorded decision, and that of the replay.
    pub difference: Option<(String, String)>,
    /// True if the record has its end; otherwise the emulator was killed, or its disk was full.
    pub whole: bool,
    /// Digest of all decisions of the replay, in hexadecimal.
    pub digest: String,
}

/// Replays a record.
///
/// # Errors
/// If the record cannot be read, or is not of this version.
pub fn replay(mut record: impl Read) -> io::Result<Replayed> {
    let port = port(&mut record)?;
    let mut found = Replayed { port: port.name.clone(), ..Replayed::default() };
    let mut path = Path::new(&port).map_err(|why| invalid(&format!("the port cannot be made: {why}")))?;
    let (mut recorded, mut replayed) = (VecDeque::new(), VecDeque::new());
    let (mut encoder, mut scratch) = (Encoder::default(), Vec::new());
    let mut same = |d: &Decision| {
        scratch.clear();
        encoder.decision(d.packet, d.at, d.fate, &mut scratch);
    };
    let mut end = None;
    let (mut last, mut last_came) = (Time::ZERO, Time::ZERO);
    while let Some(entry) = entry::read(&mut record)? {
        match entry {
            Entry::Arrival(arrival) => {
                found.arrived += 1;
                path.arrive(&arrival, 0, &mut |d| replayed.push_back(d));
            }
            Entry::Packet(at, packet) => {
                found.arrived += 1;
                if at < path.now() {
                    return Err(invalid(&format!(
                        "packet {} arrives before the one in front",
                        found.arrived - 1
                    )));
                }
                found.together += u64::from(found.arrived > 1 && at == last_came);
                last_came = at;
                path.join(at, packet, 0, &mut |d| replayed.push_back(d));
            }
            Entry::Turn(at) => path.settle(at, &mut |d| replayed.push_back(d)),
            Entry::Decision(packet, at, fate) => {
                last = at;
                recorded.push_back((packet, at, fate));
            }
            Entry::End(at, of_all) => {
                end = Some(of_all);
                path.advance(at, &mut |d| replayed.push_back(d));
                break;
            }
        }
        compare(&mut recorded, &mut replayed, &mut found, &mut same);
    }
    if end.is_none() {
        path.advance(last, &mut |d| replayed.push_back(d));
    }
    compare(&mut recorded, &mut replayed, &mut found, &mut same);
    let digest = encoder.digest();
    found.whole = end.is_some();
    let rest = (recorded.front().map(shown), replayed.front().map(|d| shown(&(d.packet, d.at, d.fate))));
    if found.difference.is_none() {
        found.difference = match rest {
            (Some(recorded), replayed) => Some((recorded, replayed.unwrap_or_else(|| "nothing".into()))),
            (None, Some(replayed)) if found.whole => Some(("nothing".into(), replayed)),
            _ if end.is_some_and(|of_all| of_all != digest) => {
                Some((format!("digest {:016x}", end.unwrap_or(0)), format!("digest {digest:016x}")))
            }
            _ => None,
        };
    }
    found.digest = format!("{digest:016x}");
    Ok(found)
}

/// Reads the port at the beginning of a record.
///
/// # Errors
/// If the record is not of this version.
pub fn port(record: &mut impl Read) -> io::Result<Port> {
    let no_record = || invalid("this is no record of a port");
    if entry::bytes(record)?.as_ref() != Some(MAGIC) {
        return Err(no_record());
    }
    let word = |record: &mut _| -> io::Result<u32> {
        Ok(u32::from_le_bytes(entry::bytes(record)?.ok_or_else(no_record)?))
    };
    let layout = word(record)?;
    if layout != LAYOUT {
        return Err(invalid(&format!(
            "this record has layout {layout}; this version reads layout {LAYOUT}: record again \
             with it, or replay with the version that recorded it"
        )));
    }
    let length = word(record)?;
    if length > LARGEST_PORT {
        return Err(no_record());
    }
    let mut spec = Vec::new();
    record.take(u64::from(length)).read_to_end(&mut spec)?;
    postcard::from_bytes(&spec).map_err(|_| no_record())
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Compares the decisions of both in order.
fn compare(
    recorded: &mut VecDeque<(u64, Time, Fate)>,
    replayed: &mut VecDeque<Decision>,
    found: &mut Replayed,
    same: &mut impl FnMut(&Decision),
) {
    while found.difference.is_none()
        && let (Some(then), Some(now)) = (recorded.front(), replayed.front())
    {
        if *then != (now.packet, now.at, now.fate) {
            return found.difference = Some((shown(then), shown(&(now.packet, now.at, now.fate))));
        }
        match now.fate {
            Fate::Sent { arrives, .. } => {
                found.sent += 1;
                found.lost += u64::from(arrives.is_none());
                found.marked += u64::from(now.marked);
            }
            Fate::Dropped => found.dropped += 1,
            Fate::Trimmed { .. } => found.trimmed += 1,
        }
        same(now);
        recorded.pop_front();
        replayed.pop_front();
    }
}

/// A decision in words.
fn shown((packet, at, fate): &(u64, Time, Fate)) -> String {
    let at = at.ps();
    match fate {
        Fate::Dropped => format!("packet {packet}: dropped at {at} ps"),
        Fate::Trimmed { cut } => format!("packet {packet}: cut by {cut} bytes at {at} ps"),
        Fate::Sent { until, arrives, ecn } => {
            let arrives = arrives.map_or("lost".into(), |arrives| format!("arrives at {} ps", arrives.ps()));
            let ecn = if *ecn == Ecn::Ce { ", CE" } else { "" };
            format!("packet {packet}: sent from {at} ps until {} ps, {arrives}{ecn}", until.ps())
        }
    }
}
