//! Records from the kernel: `struct record` of `datapath.bpf.c`, field by field.

/// Bytes of a record.
const LENGTH: usize = 112;

/// The event of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A connection is established.
    Open,
    /// An ACK was processed.
    Ack,
    /// A loss was inferred: recovery begins.
    Loss,
    /// The retransmission timer has expired.
    Timeout,
    /// Data is sent while nothing is in the network.
    Restart,
    /// The connection is closed, or uses another algorithm now.
    Close,
}

impl Kind {
    fn of(number: u32) -> Option<Self> {
        [Self::Open, Self::Ack, Self::Loss, Self::Timeout, Self::Restart, Self::Close]
            .get(number as usize)
            .copied()
    }
}

/// A record. Numbers are the kernel's: sequence numbers wrap, packets are segments, counters never decrease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Its time, in ns of the monotonic clock.
    pub time_ns: u64,
    /// When the newest acknowledged segment was sent, in µs of the same clock.
    pub newest_sent_us: u64,
    /// The socket's pace, in payload bytes per second.
    pub pacing_bytes: u64,
    /// Number of the connection, counted since the datapath was loaded.
    pub connection: u32,
    /// The event.
    pub kind: Kind,
    /// SND.UNA.
    pub una: u32,
    /// SND.NXT.
    pub next: u32,
    /// Sequence number of the end of the application's data.
    pub written: u32,
    /// The window, in segments, before this record's decision.
    pub cwnd: u32,
    /// Segments sent and not cumulatively acknowledged.
    pub packets_out: u32,
    /// Of them: SACKed.
    pub sacked_out: u32,
    /// Of them: lost.
    pub lost_out: u32,
    /// Of them: retransmitted.
    pub retrans_out: u32,
    /// Segments delivered so far.
    pub delivered: u32,
    /// Of them: marked, according to the echoes.
    pub delivered_ce: u32,
    /// Segments declared lost so far.
    pub lost: u32,
    /// Segments retransmitted so far.
    pub resent: u32,
    /// Smoothed round trip, in µs.
    pub srtt_us: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Segments delivered when the newest acknowledged one was sent.
    pub prior_delivered: u32,
    /// Segments delivered since then; negative if there is no sample.
    pub sample_delivered: i32,
    /// Time between the departures of these segments, in µs.
    pub departures_us: u32,
    /// Time between their ACKs, in µs.
    pub arrivals_us: u32,
    /// Round trip in µs; negative if there is none.
    pub rtt_us: i32,
    /// Flags, which the methods below name.
    pub flags: u32,
}

impl Record {
    const IN_ACK: u32 = 1;
    const APP_LIMITED: u32 = 2;
    const RETRANSMITTED: u32 = 4;
    const CWND_LIMITED: u32 = 8;
    const RECOVERY: u32 = 16;
    const FALLBACK: u32 = 32;
    const ECN: u32 = 64;

    /// Reads a record from the ring buffer; `None` if the datapath cannot have written it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != LENGTH {
            return None;
        }
        let (long, short) = bytes.split_at(24);
        let mut longs = long.chunks_exact(8).filter_map(|b| b.try_into().ok().map(u64::from_ne_bytes));
        let mut words = short.chunks_exact(4).filter_map(|b| b.try_into().ok().map(u32::from_ne_bytes));
        let mut word = || words.next();
        Some(Self {
            time_ns: longs.next()?,
            newest_sent_us: longs.next()?,
            pacing_bytes: longs.next()?,
            connection: word()?,
            kind: Kind::of(word()?)?,
            una: word()?,
            next: word()?,
            written: word()?,
            cwnd: word()?,
            packets_out: word()?,
            sacked_out: word()?,
            lost_out: word()?,
            retrans_out: word()?,
            delivered: word()?,
            delivered_ce: word()?,
            lost: word()?,
            resent: word()?,
            srtt_us: word()?,
            mss: word()?,
            prior_delivered: word()?,
            sample_delivered: word()? as i32,
            departures_us: word()?,
            arrivals_us: word()?,
            rtt_us: word()? as i32,
            flags: word()?,
        })
    }

    /// True if both ends use ECN, so that marks are possible.
    pub fn is_ecn(&self) -> bool {
        self.flags & Self::ECN != 0
    }
    /// True if an ACK caused this event; the record of the ACK follows.
    pub fn is_in_ack(&self) -> bool {
        self.flags & Self::IN_ACK != 0
    }
    /// True if the sampled segment was sent while the flow was limited by the application.
    pub fn is_app_limited(&self) -> bool {
        self.flags & Self::APP_LIMITED != 0
    }
    /// True if the sampled segment was retransmitted.
    pub fn is_retransmitted(&self) -> bool {
        self.flags & Self::RETRANSMITTED != 0
    }
    /// True if the window was used up.
    pub fn is_cwnd_limited(&self) -> bool {
        self.flags & Self::CWND_LIMITED != 0
    }
    /// True if losses are being repaired.
    pub fn is_in_recovery(&self) -> bool {
        self.flags & Self::RECOVERY != 0
    }
    /// True if the kernel did not follow decisions.
    pub fn is_fallback(&self) -> bool {
        self.flags & Self::FALLBACK != 0
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// An empty record, for tests.
    pub(in super::super) fn blank(kind: Kind, time_us: u64) -> Record {
        let mut bytes = [0; LENGTH];
        bytes[28..32].copy_from_slice(&(kind as u32).to_ne_bytes());
        let made = Record::parse(&bytes).unwrap();
        Record { time_ns: time_us * 1000, mss: 1000, rtt_us: -1, sample_delivered: -1, ..made }
    }

    /// The same with these flags.
    pub(in super::super) fn flagged(record: Record, in_ack: bool, cwnd: bool, recovery: bool) -> Record {
        let flag = |yes: bool, bit| if yes { bit } else { 0 };
        let flags = flag(in_ack, Record::IN_ACK) | flag(cwnd, Record::CWND_LIMITED);
        Record { flags: flags | flag(recovery, Record::RECOVERY), ..record }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_lies_in_memory_and_nothing_else_is() {
        let mut bytes: Vec<u8> = [1u64, 2, 3].iter().flat_map(|n| n.to_ne_bytes()).collect();
        bytes.extend((4u32..26).flat_map(u32::to_ne_bytes));
        bytes[28..32].copy_from_slice(&1u32.to_ne_bytes());
        let record = Record::parse(&bytes).unwrap();
        assert_eq!((record.time_ns, record.newest_sent_us, record.pacing_bytes), (1, 2, 3));
        assert_eq!((record.connection, record.kind, record.una, record.mss), (4, Kind::Ack, 6, 19));
        assert_eq!((record.prior_delivered, record.rtt_us, record.flags), (20, 24, 25));
        bytes[28..32].copy_from_slice(&6u32.to_ne_bytes());
        assert!(Record::parse(&bytes).is_none(), "no such kind");
        for length in [0, 1, 111, 113] {
            assert!(Record::parse(&vec![0; length]).is_none());
        }
    }
}
