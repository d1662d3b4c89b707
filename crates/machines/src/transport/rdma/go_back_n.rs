//! RoCE's loss recovery: go-back-N, as InfiniBand's reliable connection does it (IRN §4.1.1). The receiver
//! keeps nothing that is out of order. Packets are counted from the flow's first without wrapping: where only
//! NACKs are sent, a sender never learns what has arrived, and no distance is safe.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// The sending side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GoBackNSender {
    una: u64,
    nxt: u64,
    /// One more than the highest packet ever sent.
    high: u64,
    /// Recovery from a NACK lasts until this is acknowledged.
    recover: u64,
}

impl GoBackNSender {
    /// One transmission opportunity: the packet to send and whether it was sent before.
    #[inline]
    pub fn tx_free(&mut self, more: bool, cap: u64) -> Option<(u64, bool)> {
        let index = self.can_send(more, cap).then_some(self.nxt)?;
        self.nxt += 1;
        let again = index < self.high;
        self.high = self.high.max(self.nxt);
        Some((index, again))
    }

    /// Whether a packet may be sent. What is sent again counts against the cap like anything else.
    #[inline]
    pub fn can_send(&self, more: bool, cap: u64) -> bool {
        more && self.in_flight() < cap
    }

    /// ACK(c): by how much the cumulative ACK rose.
    #[inline]
    pub fn on_ack(&mut self, cum: u64) -> u64 {
        let advanced = cum.saturating_sub(self.una);
        self.una += advanced;
        self.nxt = self.nxt.max(self.una);
        advanced
    }

    /// NACK(c): everything from there on again. By how much the cumulative ACK rose; `None`: it was overtaken
    /// by a later ACK.
    // CHOICE IRN §4.1.1: going back below what is acknowledged makes no sense, so such a NACK is ignored.
    pub fn on_nack(&mut self, cum: u64) -> Option<u64> {
        let advanced = cum.checked_sub(self.una)?;
        (self.una, self.nxt) = (cum, cum);
        self.recover = self.high;
        Some(advanced)
    }

    /// The retransmission timer fires.
    pub fn on_timeout(&mut self) {
        self.nxt = self.una;
        self.recover = 0;
    }

    /// Lowest packet not acknowledged.
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }
    /// Next packet to send.
    #[inline]
    pub fn nxt(&self) -> u64 {
        self.nxt
    }
    /// One more than the highest packet ever sent.
    #[inline]
    pub fn high(&self) -> u64 {
        self.high
    }
    /// Packets sent, as far as the sender counts on them, and not acknowledged.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.nxt - self.una
    }
    /// The next packet was sent before.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.nxt < self.high
    }
    /// Not all that a NACK requested again is acknowledged.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.una < self.recover
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GbnReply {
    /// The next one: taken, ACK.
    Ack,
    /// Out of order: discarded; the gap is to be reported.
    Nack,
    /// Out of order: discarded; the gap was reported already.
    Silence,
    /// Had arrived before: discarded, ACK.
    Duplicate,
}

/// The receiving side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GoBackNReceiver {
    e: u64,
    /// When the gap at `e` was reported last.
    nacked: Option<Time>,
}

impl GoBackNReceiver {
    /// A data packet arrives. `repeat`: time after which a gap is reported again.
    // CHOICE IRN §4.1.1: InfiniBand's rule, one NACK per gap; a NACK that is lost is not replaced. The HPCC
    // authors' simulator repeats it after 500 us, as `repeat` does.
    #[inline]
    pub fn on_data(&mut self, now: Time, index: u64, repeat: Option<Span>) -> GbnReply {
        if index == self.e {
            self.e += 1;
            self.nacked = None;
            return GbnReply::Ack;
        }
        if index < self.e {
            return GbnReply::Duplicate;
        }
        let silent = self.nacked.is_some_and(|at| repeat.is_none_or(|span| now < at.saturating_add(span)));
        if silent {
            return GbnReply::Silence;
        }
        self.nacked = Some(now);
        GbnReply::Nack
    }

    /// The next packet expected.
    #[inline]
    pub fn expected(&self) -> u64 {
        self.e
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_reported_once_or_again_after_a_while() {
        for (repeat, expected) in [(None, GbnReply::Silence), (Some(Span::from_us(500)), GbnReply::Nack)] {
            let mut r = GoBackNReceiver::default();
            let mut at = |us, index| r.on_data(Time::from_us(us), index, repeat);
            assert_eq!(at(0, 0), GbnReply::Ack);
            assert_eq!(at(1, 2), GbnReply::Nack);
            assert_eq!(at(2, 3), GbnReply::Silence);
            assert_eq!(at(500, 4), GbnReply::Silence);
            assert_eq!(at(501, 5), expected);
            assert_eq!(at(502, 0), GbnReply::Duplicate);
            assert_eq!(at(503, 1), GbnReply::Ack);
            assert_eq!(at(504, 3), GbnReply::Nack); // another gap, reported at once
            assert_eq!(r.expected(), 2);
        }
    }

    #[test]
    fn the_sender_goes_back_to_the_nack_or_the_oldest() {
        let mut s = GoBackNSender::default();
        for n in 0..5 {
            assert_eq!(s.tx_free(true, 5), Some((n, false)));
        }
        assert_eq!(s.tx_free(true, 5), None);
        assert_eq!(s.on_ack(1), 1);
        assert_eq!(s.tx_free(true, 5), Some((5, false)));
        assert_eq!(s.on_nack(2), Some(1));
        assert!(s.in_recovery() && s.is_pending() && s.in_flight() == 0);
        assert_eq!(s.tx_free(true, 5), Some((2, true)));
        assert_eq!(s.on_nack(1), None); // overtaken
        assert_eq!(s.nxt(), 3);
        assert_eq!(s.on_ack(5), 3); // packets sent before the NACK had arrived after all
        assert_eq!(s.tx_free(true, 5), Some((5, true)));
        assert_eq!(s.tx_free(true, 5), Some((6, false)));
        s.on_timeout();
        assert!(!s.in_recovery());
        assert_eq!(s.tx_free(true, 5), Some((5, true)));
        assert_eq!(s.tx_free(true, 5), Some((6, true)));
        assert_eq!(s.tx_free(false, 5), None);
    }
}
