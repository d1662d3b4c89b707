//! The rank header, which senders write for ranked schedulers (SRPT, SJF and the like).

use thalweg_units::{Bytes, tagged};

tagged! {
    /// What senders write into the rank header; lower is served first by ranked schedulers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Rank {
        /// Nothing.
        None,
        /// The flow's size.
        FlowSize,
        /// The flow's bytes not yet acknowledged when the packet is sent.
        Remaining,
        /// The flow's bytes from the packet's first byte on, whatever is acknowledged.
        FromHere,
        /// Bytes in the socket's send buffer, sent or not: all that an unmodified host knows of the flow's size (ADS
        /// §3.2).
        SocketBuffer {
            /// Size of the send buffer.
            buffer: Bytes,
        },
    }
}

impl Rank {
    /// The rank of the packet at `seq` of a flow of `size` bytes, of which the receiver is known to have `acked`
    /// cumulatively and `sacked` above that. Flows without end rank last.
    #[inline]
    pub fn of(&self, size: u64, acked: u64, sacked: u64, seq: u64) -> i64 {
        let bytes = match self {
            Self::None => 0,
            Self::FlowSize => size,
            // This packet's own bytes count: they are not acknowledged.
            Self::Remaining => size.saturating_sub(acked).saturating_sub(sacked),
            Self::FromHere if size == u64::MAX => size,
            Self::FromHere => size.saturating_sub(seq),
            // ADS §3.2: written by the application and not yet acknowledged. It has written all that the
            // buffer could take, and only the cumulative ACK frees the buffer.
            Self::SocketBuffer { buffer } => size.saturating_sub(acked).min(buffer.get()),
        };
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_of_ten_megabytes_with_four_acknowledged_and_one_sacked() {
        let rank = |r: Rank| r.of(10_000_000, 4_000_000, 1_000_000, 7_000_000);
        assert_eq!(rank(Rank::None), 0);
        assert_eq!(rank(Rank::FlowSize), 10_000_000);
        assert_eq!(rank(Rank::Remaining), 5_000_000);
        assert_eq!(rank(Rank::FromHere), 3_000_000);
        assert_eq!(Rank::FromHere.of(u64::MAX, 0, 0, 1460), i64::MAX);
        let buffer = Bytes::new(3_000_000);
        assert_eq!(rank(Rank::SocketBuffer { buffer }), 3_000_000);
        assert_eq!(Rank::SocketBuffer { buffer }.of(10_000_000, 9_000_000, 0, 0), 1_000_000);
        assert_eq!(Rank::Remaining.of(u64::MAX, 5, 0, 0), i64::MAX);
    }
}
