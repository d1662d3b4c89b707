//! How many more bytes are acknowledged than the bandwidth accounts for, because ACKs come in bursts (Wi-Fi,
//! cable): the window allows for as much. Linux, tcp_bbr.c, "ack aggregation"; draft-ietf-ccwg-bbr §5.5.9.

use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Rounds after which a maximum is forgotten, in two halves.
const ROUNDS: u8 = 5;
/// Bytes after which a new epoch begins (Linux: a million segments).
const EPOCH: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Aggregation {
    /// ack_epoch: since when, and what was acknowledged in it.
    since: Time,
    acked: u64,
    /// extra_acked: the maxima of the two halves of the window.
    extra: [u64; 2],
    rounds: u8,
    half: u8,
}

impl Aggregation {
    /// The flow begins to send after idleness: an epoch begins, so that silence does not count as time in which ACKs
    /// failed to come. The maxima measured so far are kept (draft §5.4.1; Linux, bbr_cwnd_event).
    /// CHOICE BBRv3 §5.4.1: what was acknowledged in the epoch begins anew with it, as in Linux; the draft names
    /// only its beginning, by which all that was acknowledged before would count as one burst.
    pub(in super::super) fn restart(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0);
    }

    pub(in super::super) fn on_ack(
        &mut self,
        now: Time,
        acked: u64,
        round_start: bool,
        bandwidth: u64,
        cwnd: u64,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                (self.rounds, self.half) = (0, 1 - self.half);
                self.extra[usize::from(self.half)] = 0;
            }
        }
        let mut expected = (bandwidth as f64 * now.since(self.since).secs() / 8.0) as u64;
        if self.acked <= expected || self.acked + acked >= EPOCH {
            (self.since, self.acked, expected) = (now, 0, 0);
        }
        self.acked += acked;
        let extra = self.acked.saturating_sub(expected).min(cwnd);
        let most = &mut self.extra[usize::from(self.half)];
        *most = extra.max(*most);
    }

    /// Extra bytes for the window; at most what the bandwidth delivers in 100 ms.
    pub(in super::super) fn allowance(&self, bandwidth: u64) -> u64 {
        self.extra[0].max(self.extra[1]).min(bandwidth / 80)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_what_came_beyond_the_bandwidth_and_is_forgotten_after_ten_rounds() {
        // 8 Mb/s are 1000 B per ms. An ACK of 1000 B per ms is no burst beyond itself.
        let mut a = Aggregation::default();
        for ms in 1..20 {
            a.on_ack(Time::from_ms(ms), 1000, false, 8_000_000, 50_000);
        }
        assert_eq!(a.allowance(8_000_000), 1000);
        // Ten at once.
        (0..10).for_each(|_| a.on_ack(Time::from_ms(20), 1000, false, 8_000_000, 50_000));
        assert_eq!(a.allowance(8_000_000), 10_000);
        assert_eq!(a.allowance(80_000), 1000, "at most 100 ms of the bandwidth");
        for ms in 30..40 {
            assert_eq!(a.allowance(8_000_000), 10_000);
            a.on_ack(Time::from_ms(ms), 1000, true, 8_000_000, 50_000);
        }
        assert_eq!(a.allowance(8_000_000), 1000);
    }

    #[test]
    fn a_burst_counts_up_to_the_window() {
        let mut a = Aggregation::default();
        a.on_ack(Time::from_ms(1), 90_000, false, 8_000_000, 20_000);
        assert_eq!(a.allowance(u64::MAX >> 20), 20_000);
    }

    #[test]
    fn a_restart_from_idle_begins_an_epoch_and_forgets_no_burst() {
        // 8 Mb/s are 1000 B per ms. A burst of ten in one millisecond.
        let mut a = Aggregation::default();
        (0..10).for_each(|_| a.on_ack(Time::from_ms(0), 1000, false, 8_000_000, 50_000));
        assert_eq!(a.allowance(8_000_000), 10_000);
        let before = a;
        a.restart(Time::from_ms(5));
        assert_eq!((a.extra, a.rounds, a.half), (before.extra, before.rounds, before.half));
        assert_eq!((a.since, a.acked), (Time::from_ms(5), 0));
        // What was acknowledged before does not count with what is now: 21 000 B - 1000 B from the restart on, or
        // 21 000 B - 6000 B had the epoch gone on.
        a.on_ack(Time::from_ms(6), 11_000, false, 8_000_000, 50_000);
        assert_eq!(a.allowance(8_000_000), 11_000);
    }
}
