//! The packet as machines see it: one cache line of headers, cold headers beside it.

use crate::notice::Notice;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, HostId, Rate, Span, Time};

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    /// Payload of a flow (or a header-only probe: `payload == 0`).
    #[default]
    Data,
    /// An acknowledgement; travels from the flow's receiver to its sender.
    Ack,
    /// Connection set-up, from the sender.
    Syn,
    /// The answer to a [`Kind::Syn`].
    SynAck,
    /// Hop-by-hop or network-made control (pause frames, congestion notifications).
    Control,
}

/// The two ECN bits (RFC 3168). ABC reads `Ect1` as accelerate and `Ect0` as brake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Ecn {
    /// 00: the transport does not understand ECN; congestion drops the packet.
    #[default]
    NotEct,
    /// 01.
    Ect1,
    /// 10.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

/// One-bit header fields of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(pub u16);

impl Flags {
    /// ACK: the packet that triggered it (or any since the last ACK) carried CE.
    pub const ECE: Flags = Flags(1);
    /// Data: the sender has reduced its window because of an echo (RFC 3168 §6.1.2).
    pub const CWR: Flags = Flags(1 << 1);
    /// Data: these bytes were sent before.
    pub const RETRANSMISSION: Flags = Flags(1 << 2);
    /// Data: the last byte of the flow is in here.
    pub const LAST: Flags = Flags(1 << 3);
    /// ACK: negative acknowledgement (a gap was seen).
    pub const NACK: Flags = Flags(1 << 4);
    /// ACK: the packets that it covers came with ECT(1), and ABC accelerates (the former nonce sum).
    pub const NS: Flags = Flags(1 << 6);
    /// Hop-local: it found its queue here too long, and the queue it came from is paused until it leaves
    /// (BFC's `counterIncr`).
    pub const HELD_BACK: Flags = Flags(1 << 5);

    /// True if every bit of `other` is set.
    #[inline(always)]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Sets the bits of `other`.
    #[inline(always)]
    pub const fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }
    /// Clears the bits of `other`.
    #[inline(always)]
    pub const fn clear(&mut self, other: Flags) {
        self.0 &= !other.0;
    }
    /// Both sets of bits.
    #[inline(always)]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Where a packet is kept by whoever runs the machines; opaque to them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Handle(pub u32);

impl Handle {
    /// No packet has it.
    pub const NONE: Self = Self(u32::MAX);
}

/// [`Packet::side`] of a packet without cold headers.
pub const NO_SIDE: u32 = u32::MAX;

/// The headers that every hop may touch: exactly one cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Packet {
    /// Data: when the sender's machine handed it out. ACK: the stamp of the data that triggered it.
    pub stamp: Time,
    /// Data: offset of the first payload byte in the flow. ACK: the next byte expected (cumulative).
    pub seq: u64,
    /// ACK: `seq` of the data packet that triggered it. Data: [`Packet::initial_slack`].
    pub echo: u64,
    /// What ranked schedulers sort by, lower first: remaining bytes, flow size, a priority, or the key that a
    /// stage has made of what the packet carries ([`Packet::carried`]).
    pub rank: i64,
    /// The flow it belongs to, in both directions.
    pub flow: FlowId,
    /// Bytes on the wire, headers included.
    pub wire: u32,
    /// Data: payload bytes. ACK: payload bytes of the data packet that triggered it.
    pub payload: u32,
    /// The host it goes to.
    pub dst: HostId,
    /// The network's own: position of the next hop in the path table; where rules choose hop by hop, the value that
    /// they go by, written by the transport (and brought back by its ACKs) or at the first switch.
    pub route: u32,
    /// Cold headers ([`Side`]) in the host's side table, or [`NO_SIDE`].
    pub side: u32,
    /// What it is.
    pub kind: Kind,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// Traffic class: 0 is served first where classes are strict priorities.
    pub class: u8,
    /// Hop-local field: number of the input of this switch by which it came; 0 at hosts.
    pub input: u8,
    /// One-bit fields.
    pub flags: Flags,
    /// Hop-local field: the queue it came from at the hop before (BFC's `upstreamQ`).
    pub tag: u16,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Default for Packet {
    fn default() -> Self {
        Self {
            stamp: Time::ZERO,
            seq: 0,
            echo: 0,
            rank: 0,
            flow: FlowId(0),
            wire: 0,
            payload: 0,
            dst: HostId(0),
            route: 0,
            side: NO_SIDE,
            kind: Kind::Data,
            ecn: Ecn::NotEct,
            class: 0,
            input: 0,
            flags: Flags(0),
            tag: 0,
        }
    }
}

/// What [`Packet::rank`] holds: one field of the header, which means different things in different places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// What its source wrote: bytes, a priority. May be taken for any other.
    Rank,
    /// The slack that is left, ps.
    Slack,
    /// The deadline at the exit, ps.
    Deadline,
    /// At a switch: what its queue sorts by.
    Key,
}

impl Meaning {
    const ALL: [Self; 4] = [Self::Rank, Self::Slack, Self::Deadline, Self::Key];
    /// Where debug builds note the meaning, in [`Flags`].
    const SHIFT: u32 = 14;
}

impl Packet {
    /// What the header holds, which must mean this (debug builds check it).
    #[inline(always)]
    #[track_caller]
    pub fn carried(&self, meaning: Meaning) -> i64 {
        if cfg!(debug_assertions) {
            let found = Meaning::ALL[usize::from(self.flags.0 >> Meaning::SHIFT)];
            assert!(found == meaning || found == Meaning::Rank, "a {found:?} is not a {meaning:?}");
        }
        self.rank
    }
    /// Writes the header.
    #[inline(always)]
    pub fn carry(&mut self, meaning: Meaning, value: i64) {
        self.rank = value;
        if cfg!(debug_assertions) {
            self.flags.0 = self.flags.0 & !(3 << Meaning::SHIFT) | (meaning as u16) << Meaning::SHIFT;
        }
    }
    /// Data: the slack that its NIC gave it, for the receiving edge; 0 without slack.
    #[inline]
    pub fn initial_slack(&self) -> i64 {
        debug_assert!(self.kind == Kind::Data, "an ACK echoes in that field");
        self.echo as i64
    }
    /// Writes that down.
    #[inline]
    pub fn set_initial_slack(&mut self, slack: i64) {
        debug_assert!(self.kind == Kind::Data, "an ACK echoes in that field");
        self.echo = slack as u64;
    }
    /// True for everything that is not a flow's payload: ACKs, set-up, control.
    #[inline(always)]
    pub fn is_control(&self) -> bool {
        self.kind != Kind::Data
    }
}

/// Selectively acknowledged byte ranges `[start, end)`, the one that triggered the ACK first (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SackBlocks {
    count: u8,
    blocks: [(u64, u64); SackBlocks::CAPACITY],
}

impl SackBlocks {
    /// More than a TCP option holds (3 or 4): schemes of simulators without a header limit need it.
    pub const CAPACITY: usize = 16;

    /// Appends a block; false (and nothing done) if full.
    pub fn push(&mut self, start: u64, end: u64) -> bool {
        let room = usize::from(self.count) < Self::CAPACITY;
        if room {
            self.blocks[usize::from(self.count)] = (start, end);
            self.count += 1;
        }
        room
    }
    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.count = 0;
    }
    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// What a port says of itself as a packet leaves it (in-band network telemetry; HPCC, SIGCOMM 2019, §3.1, Figure 7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IntHop {
    /// When.
    pub at: Time,
    /// Bytes sent by the port so far.
    pub tx_bytes: u64,
    /// Bytes waiting in its queue.
    pub queue: u64,
    /// Rate of its link.
    pub rate: Rate,
}

/// The telemetry of a packet's path: a record per hop, in the order of the hops, and which path it was (HPCC, SIGCOMM
/// 2019, §4.1).
#[derive(Clone, Copy, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IntStack {
    count: u8,
    path: u32,
    hops: [IntHop; IntStack::CAPACITY],
}

impl IntStack {
    /// Hops beyond these go unrecorded: a three-tier fabric has five.
    pub const CAPACITY: usize = 8;

    /// These hops, no more than fit, of a path.
    pub fn of(path: u32, hops: &[IntHop]) -> Self {
        let mut stack = Self { path, ..Self::default() };
        stack.set(hops);
        stack
    }
    /// Appends a hop of the port with this identity; false (and no hop is recorded) if full.
    pub fn push(&mut self, port: u32, hop: IntHop) -> bool {
        self.path ^= port;
        let room = usize::from(self.count) < Self::CAPACITY;
        if room {
            self.hops[usize::from(self.count)] = hop;
            self.count += 1;
        }
        room
    }
    /// Forgets all hops.
    pub fn clear(&mut self) {
        (self.count, self.path) = (0, 0);
    }
    /// Which path: the exclusive or of the identities of its ports, those beyond the capacity included. Records of
    /// two packets can be compared if it is the same.
    #[inline]
    pub fn path(&self) -> u32 {
        self.path
    }
    /// The hops so far.
    #[inline]
    pub fn as_slice(&self) -> &[IntHop] {
        &self.hops[..usize::from(self.count)]
    }
    /// As `other`; no more than its hops are copied.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.path = other.path;
        self.set(other.as_slice());
    }
    #[inline]
    fn set(&mut self, hops: &[IntHop]) {
        let count = hops.len().min(Self::CAPACITY);
        self.hops[..count].copy_from_slice(&hops[..count]);
        self.count = count as u8;
    }
}

/// Of the hops that it holds; what lies in places that were used before does not count.
impl PartialEq for IntStack {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.as_slice() == other.as_slice()
    }
}

/// What routers on the way, or the receiver, tell senders outright, rather than by marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExplicitKind {
    /// By how much a window is to change (XCP).
    Change,
    /// A rate (RCP).
    Rate,
    /// How loaded the way is (VCP).
    Load,
    /// What the link will deliver: the receiver says it (Sprout).
    Forecast(Reading),
}

/// How Sprout's receiver reads what comes; data say it, since a receiver has no parameters of its own. A
/// byte: every sender has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Reading {
    /// As the paper does.
    #[default]
    Paper,
    /// What comes in different ticks is taken for independent.
    Independent,
    /// Bytes are counted, not segments.
    Bytes,
    /// Both, as the authors' program does.
    Program,
}

impl Reading {
    /// What comes in different ticks is taken for independent; bytes are counted.
    pub fn new(independent: bool, bytes: bool) -> Self {
        match (independent, bytes) {
            (false, false) => Self::Paper,
            (true, false) => Self::Independent,
            (false, true) => Self::Bytes,
            (true, true) => Self::Program,
        }
    }
    /// What comes in different ticks is taken for independent.
    pub fn is_independent(self) -> bool {
        matches!(self, Self::Independent | Self::Program)
    }
    /// Bytes are counted, not segments.
    pub fn is_by_bytes(self) -> bool {
        matches!(self, Self::Bytes | Self::Program)
    }
}

/// How loaded a link is, in two bits (VCP).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Load {
    /// Far from full.
    Low,
    /// Nearly full.
    High,
    /// More comes than can leave.
    Overload,
}

/// Sprout's header: what a link will deliver, in ACKs; in data what its sender will send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Forecast {
    /// ACK: the tick that it was made in.
    pub tick: u32,
    /// ACK: packets that come within one, two, … ticks from then, or more.
    pub delivers: [u8; Forecast::TICKS],
    /// Data: the last packet of a flight.
    pub pauses: bool,
    /// Data: how to read them.
    pub reading: Reading,
}

impl Forecast {
    /// How far a forecast reaches, ticks.
    pub const TICKS: usize = 8;
}

/// What was told: each router lowers it, or, for loads, raises it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Explicit {
    /// Thousandths of a byte by which the window is to change; `None`: no router has said.
    Change(Option<i64>),
    /// The least rate on the way, on the wire; `None`: no router has said.
    Rate(Option<Rate>),
    /// The highest load on the way.
    Load(Load),
    /// What the link will deliver.
    Forecast(Forecast),
}

impl Explicit {
    /// As it leaves its source.
    pub const fn unwritten(kind: ExplicitKind) -> Self {
        match kind {
            ExplicitKind::Change => Self::Change(None),
            ExplicitKind::Rate => Self::Rate(None),
            ExplicitKind::Load => Self::Load(Load::Low),
            ExplicitKind::Forecast(reading) => {
                Self::Forecast(Forecast { tick: 0, delivers: [0; Forecast::TICKS], pauses: false, reading })
            }
        }
    }

    /// What an ACK says that answers another packet besides, which came later: changes add up, of the rest
    /// the later counts.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        match (self, later) {
            (Self::Change(Some(a)), Self::Change(Some(b))) => Self::Change(Some(a.saturating_add(b))),
            (Self::Change(Some(_)), Self::Change(None)) => self,
            _ => later,
        }
    }
}

/// The header of [`Explicit`] feedback. In an ACK there is room for as many ranges besides as a TCP option holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExplicitHeader {
    /// What routers have said.
    pub what: Explicit,
    /// Data: its sender's round trip; zero: not known.
    pub rtt: Span,
    count: u8,
    blocks: [(u64, u64); ExplicitHeader::BLOCKS],
}

impl ExplicitHeader {
    /// As many ranges as fit (RFC 2018 §3).
    pub const BLOCKS: usize = 4;

    /// Appends a selectively acknowledged range; false (and nothing done) if full.
    pub fn push(&mut self, start: u64, end: u64) -> bool {
        let room = usize::from(self.count) < Self::BLOCKS;
        if room {
            self.blocks[usize::from(self.count)] = (start, end);
            self.count += 1;
        }
        room
    }
    /// The selectively acknowledged ranges, most recent first.
    pub fn sack(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// Cold headers, which few packets carry, kept out of the hot cache line: one record, a variant per use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Side {
    /// Nothing.
    #[default]
    Empty,
    /// Selective acknowledgements, in an ACK.
    Sack(SackBlocks),
    /// Telemetry: written by the ports that a data packet passes, echoed in its ACK.
    Int(IntStack),
    /// What routers tell the sender: written as a data packet passes, echoed in its ACK.
    Explicit(ExplicitHeader),
    /// From a congestion point, in a packet of its own.
    Notice(Notice),
}

impl Side {
    /// The selectively acknowledged ranges; none if this is something else.
    #[inline]
    pub fn sack(&self) -> &[(u64, u64)] {
        match self {
            Self::Sack(blocks) => blocks.as_slice(),
            Self::Explicit(header) => header.sack(),
            Self::Empty | Self::Int(_) | Self::Notice(_) => &[],
        }
    }
    /// Room for selective acknowledgements, emptied. Costs nothing where the record held such before.
    #[inline]
    pub fn new_sack(&mut self) -> &mut SackBlocks {
        if !matches!(self, Self::Sack(_)) {
            *self = Self::Sack(SackBlocks::default());
        }
        let Self::Sack(blocks) = self else { unreachable!("made above") };
        blocks.clear();
        blocks
    }
    /// Room for telemetry, emptied, likewise.
    #[inline]
    pub fn new_int(&mut self) -> &mut IntStack {
        if !matches!(self, Self::Int(_)) {
            *self = Self::Int(IntStack::default());
        }
        let Self::Int(stack) = self else { unreachable!("made above") };
        stack.clear();
        stack
    }
    /// Room for what routers tell, as its source knows it.
    #[inline]
    pub fn new_explicit(&mut self, what: Explicit, rtt: Span) {
        let blocks = [(0, 0); ExplicitHeader::BLOCKS];
        *self = Self::Explicit(ExplicitHeader { what, rtt, count: 0, blocks });
    }
    /// What routers tell, if there is room for it.
    #[inline]
    pub fn explicit(&self) -> Option<&ExplicitHeader> {
        if let Self::Explicit(header) = self { Some(header) } else { None }
    }
    /// Likewise, to write.
    #[inline]
    pub fn explicit_mut(&mut self) -> Option<&mut ExplicitHeader> {
        if let Self::Explicit(header) = self { Some(header) } else { None }
    }
    /// As `other`; of telemetry only the hops that it holds are copied.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        match other {
            Self::Int(stack) => self.new_int().copy_from(stack),
            _ => *self = *other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_used_again_begins_empty() {
        let mut side = Side::default();
        assert!(side.new_sack().push(1, 2));
        assert_eq!(side.sack(), [(1, 2)]);
        assert!(side.new_sack().as_slice().is_empty());
        side.new_int().push(5, IntHop { queue: 7, ..IntHop::default() });
        assert!(side.sack().is_empty());
        assert_eq!(*side.new_int(), IntStack::default());
    }

    #[test]
    fn the_ninth_hop_is_not_recorded() {
        let mut stack = IntStack::default();
        assert!((0..8).all(|queue| stack.push(1 << queue, IntHop { queue, ..IntHop::default() })));
        assert!(!stack.push(1 << 8, IntHop::default()));
        assert_eq!((stack.as_slice().len(), stack.path()), (8, 0x1ff));
        assert_eq!(stack.as_slice()[7].queue, 7);
    }

    #[test]
    fn telemetry_is_copied_hop_by_hop_and_old_hops_do_not_count() {
        let (mut two, mut one, mut copy) = (Side::default(), Side::default(), Side::default());
        let hop = |queue| IntHop { queue, ..IntHop::default() };
        *two.new_int() = IntStack::of(3, &[hop(1), hop(2)]);
        one.new_int().push(7, hop(3));
        copy.copy_from(&two);
        assert_eq!(copy, two);
        copy.copy_from(&one);
        assert_eq!(copy, one);
        one.new_sack().push(1, 2);
        copy.copy_from(&one);
        assert_eq!(copy.sack(), [(1, 2)]);
        assert_eq!(IntStack::of(1, &[hop(7); 9]).as_slice(), [hop(7); 8]);
        assert_ne!(IntStack::of(1, &[hop(7)]), IntStack::of(2, &[hop(7)]));
    }

    #[test]
    fn changes_told_by_several_packets_add_up_and_of_rates_and_loads_the_later_counts() {
        let change = |b| Explicit::Change(b);
        assert_eq!(change(Some(5)).and(change(Some(-7))), change(Some(-2)));
        assert_eq!(change(None).and(change(Some(-7))), change(Some(-7)));
        assert_eq!(change(Some(5)).and(change(None)), change(Some(5)));
        let load = Explicit::Load;
        assert_eq!(load(Load::Overload).and(load(Load::Low)), load(Load::Low));
    }

    #[test]
    fn beside_explicit_feedback_there_is_room_for_four_ranges() {
        let mut side = Side::default();
        side.new_explicit(Explicit::unwritten(ExplicitKind::Rate), Span::from_ms(3));
        let header = side.explicit_mut().unwrap();
        assert_eq!(
            (0..5).map(|n| header.push(n, n + 1)).collect::<Vec<_>>(),
            [true, true, true, true, false]
        );
        assert_eq!(side.sack(), [(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(side.explicit().unwrap().rtt, Span::from_ms(3));
    }

    #[test]
    fn cold_headers_are_no_larger_than_sixteen_ranges() {
        assert!(size_of::<Side>() <= size_of::<SackBlocks>() + 8);
    }
}
