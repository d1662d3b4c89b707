//! Ideal loss recovery: switches notify the sender of every packet that they drop, and it sends just that
//! one again (Goyal, MIT 2022, §3.6.2.1: HPCC without PFC). The receiver keeps what is out of order and names
//! it, as IRN's does.

use super::bitmap::Bitmap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::Time;

/// The sending side.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DropNotifiedSender {
    /// Lowest packet not acknowledged, and next to be sent for the first time.
    pub una: u64,
    pub nxt: u64,
    /// Acknowledged out of order: bit 0 is packet `una`.
    above: Bitmap,
    /// Reported as dropped, and not sent again yet: bit 0 is packet `una`.
    lost: Bitmap,
    /// Notifications that are on their way: when each arrives, and of which packet.
    coming: VecDeque<(Time, u64)>,
    /// Recovery ends when this packet is acknowledged.
    recover: u64,
}

impl DropNotifiedSender {
    /// A switch has dropped a packet; the sender is notified of it at the instant `at`.
    pub fn announce(&mut self, index: u64, at: Time) {
        let behind = self.coming.iter().rposition(|(earlier, _)| *earlier <= at).map_or(0, |last| last + 1);
        self.coming.insert(behind, (at, index));
    }

    /// When the next notification arrives; [`Time::MAX`]: none is under way.
    pub fn next_notification(&self) -> Time {
        self.coming.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// Takes in the notifications that have arrived until `now`.
    pub fn take_notifications(&mut self, now: Time) {
        while let Some(&(_, index)) = self.coming.front().filter(|(at, _)| *at <= now) {
            self.coming.pop_front();
            // Another copy of the packet, sent by the timer, may have arrived.
            if index >= self.una && !self.above.get((index - self.una) as u32) {
                self.lost.set((index - self.una) as u32);
            }
        }
    }

    /// One transmission opportunity: which packet, whether it was sent before, and whether a recovery begins with it.
    // CHOICE BFC §3.6.2.1: what was dropped goes first, whatever the window, as with IRN; the window counts
    // what is out and not known to be lost.
    pub fn tx_free(&mut self, more: bool, cap: u64) -> Option<(u64, bool, bool)> {
        if let Some(above) = self.lost.take_lowest() {
            let index = self.una + u64::from(above);
            let enters = index >= self.recover;
            if enters {
                self.recover = self.nxt;
            }
            return Some((index, true, enters));
        }
        self.may_send_new(more, cap).then(|| {
            self.nxt += 1;
            (self.nxt - 1, false, false)
        })
    }

    /// Whether a packet may be sent.
    pub fn can_send(&self, more: bool, cap: u64) -> bool {
        self.is_pending() || self.may_send_new(more, cap)
    }

    /// The next to leave was sent before.
    pub fn is_pending(&self) -> bool {
        self.lost.ones() > 0
    }

    fn may_send_new(&self, more: bool, cap: u64) -> bool {
        more && self.nxt - self.una - self.sacked() - u64::from(self.lost.ones()) < cap
    }

    /// Everything below `cum` has arrived, and with `nack` also the packet `named`. Returns by how much `una` has
    /// risen, how many of those packets had been named before, and how many are named for the first time (0 or 1).
    pub fn on_ack(&mut self, cum: u64, named: u64, nack: bool) -> (u64, u64, u64) {
        let advanced = cum.saturating_sub(self.una);
        let mut absorbed = 0;
        if advanced > 0 {
            self.una = cum;
            absorbed = u64::from(self.above.shift(advanced as u32));
            self.lost.shift(advanced as u32);
        }
        let Some(named) = named.checked_sub(self.una) else { return (advanced, absorbed, 0) };
        self.lost.clear_bit(named as u32);
        let fresh = nack && self.above.set(named as u32);
        (advanced, absorbed, u64::from(fresh))
    }

    /// The retransmission timer fires: the last ACK was lost, or a packet was lost on a link, where no switch notices.
    pub fn on_timeout(&mut self) {
        if self.una < self.nxt {
            self.lost.set(0);
        }
    }

    /// Acknowledged out of order.
    pub fn sacked(&self) -> u64 {
        u64::from(self.above.ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = Time::from_us;

    #[test]
    fn what_was_dropped_and_nothing_else_is_sent_again_as_soon_as_word_comes_whatever_the_window() {
        let mut reported = DropNotifiedSender::default();
        let sent: Vec<u64> =
            std::iter::from_fn(|| reported.tx_free(true, 4)).map(|(index, ..)| index).collect();
        assert_eq!(sent, [0, 1, 2, 3]);
        // Word of 2 is quicker than that of 1.
        reported.announce(1, US(9));
        reported.announce(2, US(5));
        assert_eq!(reported.next_notification(), US(5));
        reported.take_notifications(US(4));
        assert!(!reported.can_send(true, 4));
        reported.take_notifications(US(9));
        assert_eq!(reported.tx_free(true, 4), Some((1, true, true)), "a recovery begins");
        assert_eq!(reported.tx_free(true, 4), Some((2, true, false)), "the same one");
        assert_eq!((reported.tx_free(true, 4), reported.next_notification()), (None, Time::MAX));
        // 0 has come, and 3, which is named: two places in the window.
        assert_eq!(reported.on_ack(1, 0, false), (1, 0, 0));
        assert_eq!(reported.on_ack(1, 3, true), (0, 0, 1));
        assert_eq!(
            [reported.tx_free(true, 4), reported.tx_free(true, 4)],
            [Some((4, false, false)), Some((5, false, false))]
        );
        assert_eq!((reported.on_ack(4, 2, false), reported.sacked()), ((3, 1, 0), 0));
    }

    #[test]
    fn word_of_what_has_come_meanwhile_is_ignored_and_a_timer_sends_the_lowest() {
        let mut reported = DropNotifiedSender::default();
        (0..3).for_each(|n| assert_eq!(reported.tx_free(true, 9), Some((n, false, false))));
        reported.announce(0, US(1));
        reported.on_ack(1, 0, false);
        reported.take_notifications(US(1));
        assert!(!reported.is_pending());
        reported.on_timeout();
        assert_eq!(reported.tx_free(false, 9), Some((1, true, true)));
        reported.on_ack(3, 2, false);
        reported.on_timeout();
        assert!(!reported.is_pending(), "nothing is outstanding");
    }
}
