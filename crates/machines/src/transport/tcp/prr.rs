//! Proportional rate reduction: during recovery the sender sends in proportion to what is delivered, so that the window
//! reaches the threshold when recovery ends, without a pause and without a burst. RFC 9937 (Mathis, Cardwell, Cheng,
//! Dukkipati, 2025), §6.2, which replaces RFC 6937. The names are theirs; all is in bytes.

use super::super::PrrRule;
use serde::{Deserialize, Serialize};

/// The state of one recovery episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prr {
    spec: PrrRule,
    /// RecoverFS, ssthresh.
    recover_fs: u64,
    ssthresh: u64,
    /// prr_delivered, prr_out.
    delivered: u64,
    pub(super) out: u64,
    /// The window.
    pub(super) cwnd: u64,
}

impl Prr {
    /// An episode begins with `flight` bytes above the cumulative ACK, of which `sacked` are SACKed,
    /// `delivered` bytes among what the ACK that began it reported.
    pub(super) fn begin(
        spec: PrrRule,
        flight: u64,
        sacked: u64,
        delivered: u64,
        ssthresh: u64,
    ) -> Option<Self> {
        let recover_fs = match spec {
            PrrRule::Off => return None,
            PrrRule::Rfc6937 => flight,
            // RecoverFS does not include data that had left the network before this ACK.
            PrrRule::Rfc9937 => (flight + delivered).saturating_sub(sacked),
        };
        Some(Self { spec, recover_fs: recover_fs.max(1), ssthresh, delivered: 0, out: 0, cwnd: ssthresh })
    }

    /// An ACK reports that `delivered` more bytes have left the network, which leaves `inflight` there. `safe`:
    /// it advances, and reports no further loss.
    pub(super) fn on_ack(&mut self, inflight: u64, delivered: u64, safe: bool, smss: u64) {
        if delivered == 0 && self.out > 0 && self.spec == PrrRule::Rfc9937 {
            // CHOICE RFC 9937 §6.2: not before the fast retransmit has left; RACK's timer may begin an episode
            // without an ACK. Other reading: always, so that such an episode waits for the next ACK.
            return;
        }
        self.delivered += delivered;
        let sndcnt = if inflight > self.ssthresh {
            // Proportional: never more of ssthresh / RecoverFS than was delivered.
            let share = u128::from(self.delivered) * u128::from(self.ssthresh);
            let share = share.div_ceil(u128::from(self.recover_fs));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(self.out)
        } else {
            let conserved = self.delivered.saturating_sub(self.out).max(delivered);
            let grows = self.spec == PrrRule::Rfc6937 || safe;
            (self.ssthresh - inflight).min(conserved + if grows { smss } else { 0 })
        };
        // The fast retransmit itself always leaves.
        // CHOICE RFC 9937 §6.2: with a whole segment. Other reading: only where not a byte could be sent.
        let sndcnt = if self.out == 0 { sndcnt.max(smss) } else { sndcnt };
        self.cwnd = inflight + sndcnt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1000 B: whether one fits.
    fn sends(prr: &mut Prr, inflight: &mut u64) -> u32 {
        let mut sent = 0;
        while *inflight + 1000 <= prr.cwnd {
            prr.out += 1000;
            *inflight += 1000;
            sent += 1;
        }
        sent
    }

    /// ACKs that each SACK a segment, or (`safe`) advance by one: what is in flight then, and how many segments leave.
    fn course(prr: &mut Prr, mut inflight: u64, acks: &[bool]) -> String {
        let row = acks.iter().enumerate().map(|(ack, &safe)| {
            inflight -= if ack > 0 { 1000 } else { 0 };
            prr.on_ack(inflight, 1000, safe, 1000);
            let before = inflight / 1000;
            match sends(prr, &mut inflight) {
                0 => before.to_string(),
                sent => format!("{before}+{sent}"),
            }
        });
        row.collect::<Vec<_>>().join(" ")
    }

    /// RFC 9937 §6.1. RFC 6937 §3: FlightSize.
    #[test]
    fn recover_fs_is_what_was_out_less_what_had_been_sacked_before_the_ack_that_began_it() {
        let recover_fs = |spec, flight, sacked, delivered| {
            Prr::begin(spec, flight, sacked, delivered, 10_000).unwrap().recover_fs
        };
        // The third of three SACKs: two segments were SACKed before.
        assert_eq!(recover_fs(PrrRule::Rfc9937, 22_000, 3000, 1000), 20_000);
        assert_eq!(recover_fs(PrrRule::Rfc6937, 22_000, 3000, 1000), 22_000);
        // It acknowledges two segments cumulatively, too: 22 000 were out, 4000 of them SACKed.
        assert_eq!(recover_fs(PrrRule::Rfc9937, 20_000, 5000, 3000), 18_000);
        assert_eq!(recover_fs(PrrRule::Rfc6937, 20_000, 5000, 3000), 20_000);
    }

    /// RFC 6937 §4, the first example, in bytes: of 20 segments the first is lost, limited transmit has sent two more,
    /// and the third SACK begins the episode; Reno's half. Every ACK is worth 500 B, so every second one releases a
    /// segment; the retransmission leaves with the first already. At the threshold nothing may leave, and below it one
    /// for one. RFC 6937 counts the two SACKed before in RecoverFS: 455 B each,
    /// so that fewer leave while it reduces, and more below.
    #[test]
    fn one_loss_of_twenty_sends_on_every_other_ack_and_ends_at_the_threshold() {
        let course = |spec| {
            let mut prr = Prr::begin(spec, 22_000, 3000, 1000, 10_000).unwrap();
            (course(&mut prr, 18_000, &[false; 19]), prr.out)
        };
        let new = "18+1 18 17 16+1 16 15+1 15 14+1 14 13+1 13 12+1 12 11+1 11 10 9+1 9+1 9+1";
        assert_eq!(course(PrrRule::Rfc9937), (new.into(), 10_000));
        let old = "18+1 18 17 16 15+1 15 14+1 14 13+1 13 12+1 12 11 10 9+1 9+1 9+1 9+1 9+1";
        assert_eq!(course(PrrRule::Rfc6937), (old.into(), 10_000));
    }

    /// RFC 6937 §4, the second example: the first fifteen of the 20 are lost, and SACKs of the other five come. RFC
    /// 9937 conserves (its CRB) until ACKs advance, and then grows as RFC 6937 always does (SSRB).
    #[test]
    fn of_fifteen_losses_of_twenty_one_is_repaired_per_sack_and_two_per_safe_ack() {
        let acks = [false, false, false, true, true, true, true, true, true, true];
        let course = |spec| {
            let mut prr = Prr::begin(spec, 22_000, 3000, 1000, 10_000).unwrap();
            course(&mut prr, 4000, &acks)
        };
        assert_eq!(course(PrrRule::Rfc9937), "4+1 4+1 4+1 4+2 5+2 6+2 7+2 8+2 9+1 9+1");
        assert_eq!(course(PrrRule::Rfc6937), "4+2 5+2 6+2 7+2 8+2 9+1 9+1 9+1 9+1 9+1");
    }

    /// More was lost than the cut: what is in flight is below the threshold.
    #[test]
    fn below_the_threshold_it_conserves_and_grows_only_on_safe_acks() {
        let grown = |spec, safe| {
            let mut prr = Prr::begin(spec, 20_000, 1000, 1000, 10_000).unwrap();
            let mut inflight = 4000;
            prr.on_ack(inflight, 1000, safe, 1000);
            let first = sends(&mut prr, &mut inflight);
            inflight -= 1000;
            prr.on_ack(inflight, 1000, safe, 1000);
            (first, sends(&mut prr, &mut inflight))
        };
        assert_eq!(grown(PrrRule::Rfc9937, false), (1, 1), "a segment for a segment");
        assert_eq!(grown(PrrRule::Rfc9937, true), (2, 2), "slow start towards the threshold");
        assert_eq!(grown(PrrRule::Rfc6937, false), (2, 2), "whatever is lost further");
    }

    /// RFC 9937 §6.2. RFC 6937 §3 computes on every ACK.
    #[test]
    fn an_ack_that_delivers_nothing_changes_nothing() {
        for (spec, cwnd) in [(PrrRule::Rfc9937, 6000), (PrrRule::Rfc6937, 5000)] {
            let mut prr = Prr::begin(spec, 20_000, 1000, 1000, 10_000).unwrap();
            prr.on_ack(3000, 1000, true, 1000);
            assert_eq!(prr.cwnd, 5000, "the retransmission, and a segment on a safe ACK");
            prr.out = 1000;
            prr.on_ack(3000, 2000, true, 1000);
            assert_eq!(prr.cwnd, 6000);
            prr.on_ack(2000, 0, false, 1000);
            assert_eq!(prr.cwnd, cwnd);
        }
    }

    #[test]
    fn it_never_sends_beyond_the_threshold_once_it_is_below() {
        let mut prr = Prr::begin(PrrRule::Rfc9937, 20_000, 0, 0, 10_000).unwrap();
        prr.on_ack(9500, 5000, true, 1000);
        assert_eq!(prr.cwnd, 9500 + 1000, "the retransmission leaves, beyond the threshold of 10 000");
        prr.out = 1000;
        prr.on_ack(9500, 5000, true, 1000);
        assert_eq!(prr.cwnd, 10_000);
    }
}
