//! Worked traces of IRN's sender, every register after every event. The first agrees with the authors'
//! hardware modules.

use super::super::Psn;
use super::super::irn::*;

fn p(n: u32) -> Psn {
    Psn::new(n)
}

/// A sender, next to its expected registers.
struct Trace {
    s: IrnSender,
    first: u32,
    cap: u32,
    packets: u32,
}

impl Trace {
    fn new(options: IrnOptions, first: u32, cap: u32, packets: u32) -> Self {
        Self { s: IrnSender::new(options, p(first)), first, cap, packets }
    }
    /// txFree: what was sent.
    fn tx(&mut self) -> Option<u32> {
        let more = self.s.state().nxt.minus(p(self.first)) < self.packets as i32;
        self.s.tx_free(more, self.cap).map(|(psn, _)| psn.minus(p(self.first)) as u32)
    }
    fn ack(&mut self, cum: u32, sack: u32) -> Acked {
        self.s.on_ack(p(self.first + cum), p(self.first + sack), false)
    }
    fn nack(&mut self, cum: u32, sack: u32) -> Acked {
        self.s.on_ack(p(self.first + cum), p(self.first + sack), true)
    }
    /// nxt una rtx rec | pend in_rec scan | selectively acknowledged.
    #[track_caller]
    fn is(&self, numbers: [u32; 4], flags: [u8; 3], sacked: &[u32]) {
        let [nxt, una, rtx, rec] = numbers.map(|n| p(n + self.first));
        let [pend, in_rec, scan] = flags.map(|f| f == 1);
        assert_eq!(self.s.state(), IrnState { nxt, una, rtx, rec, pend, in_rec, scan });
        let named: Vec<u32> = (0..64).filter(|n| self.s.is_sacked(p(n + self.first))).collect();
        assert_eq!(named, sacked);
    }
}

/// 0, and two that wrap in the middle.
const FIRSTS: [u32; 3] = [0, (1 << 24) - 6, (1 << 24) - 11];

#[test]
fn two_losses_in_a_window_of_eight() {
    for first in FIRSTS {
        let mut t = Trace::new(IrnOptions::default(), first, 8, 14);
        t.is([0, 0, 0, 0], [0, 0, 0], &[]);
        for n in 0..8 {
            assert_eq!(t.tx(), Some(n));
        }
        t.is([8, 0, 0, 0], [0, 0, 0], &[]);
        assert_eq!(t.tx(), None); // the cap
        t.is([8, 0, 0, 0], [0, 0, 0], &[]);
        assert_eq!(t.ack(1, 0), Acked { advanced: 1, ..Acked::default() });
        assert_eq!(t.tx(), Some(8));
        t.is([9, 1, 0, 0], [0, 0, 0], &[]);
        t.ack(2, 1);
        assert_eq!(t.tx(), Some(9));
        t.is([10, 2, 0, 0], [0, 0, 0], &[]);
        assert_eq!(t.nack(2, 3), Acked { sacked: 1, lost: true, ..Acked::default() });
        t.is([10, 2, 2, 0], [1, 0, 0], &[3]);
        assert_eq!(t.tx(), Some(2));
        t.is([10, 2, 2, 9], [0, 1, 0], &[3]);
        assert_eq!(t.nack(2, 4), Acked { sacked: 1, ..Acked::default() });
        t.is([10, 2, 2, 9], [0, 1, 1], &[3, 4]);
        assert_eq!(t.tx(), None); // the search finds nothing
        t.is([10, 2, 2, 9], [0, 1, 0], &[3, 4]);
        t.nack(2, 6);
        t.is([10, 2, 2, 9], [0, 1, 1], &[3, 4, 6]);
        assert_eq!(t.tx(), None); // it finds 5
        t.is([10, 2, 5, 9], [1, 1, 0], &[3, 4, 6]);
        assert_eq!(t.tx(), Some(5));
        t.is([10, 2, 5, 9], [0, 1, 0], &[3, 4, 6]);
        t.nack(2, 7);
        assert_eq!(t.tx(), None);
        t.is([10, 2, 5, 9], [0, 1, 0], &[3, 4, 6, 7]);
        t.nack(2, 8);
        t.nack(2, 9);
        assert_eq!(t.tx(), None);
        t.is([10, 2, 5, 9], [0, 1, 0], &[3, 4, 6, 7, 8, 9]);
        // Partial ACK: 5 was sent again already.
        assert_eq!(t.ack(5, 2), Acked { advanced: 3, absorbed: 2, ..Acked::default() });
        t.is([10, 5, 5, 9], [0, 1, 0], &[6, 7, 8, 9]);
        assert_eq!([t.tx(), t.tx(), t.tx(), t.tx()], [Some(10), Some(11), Some(12), None]);
        t.is([13, 5, 5, 9], [0, 1, 0], &[6, 7, 8, 9]);
        assert_eq!(t.ack(10, 5), Acked { advanced: 5, absorbed: 4, ..Acked::default() });
        t.is([13, 10, 5, 9], [0, 0, 0], &[]); // 10 > rec: recovery ends
        assert_eq!(t.tx(), Some(13));
        t.is([14, 10, 5, 9], [0, 0, 0], &[]);
    }
}

#[test]
fn a_lost_retransmission_is_repaired_by_the_timer() {
    for first in FIRSTS {
        let mut t = Trace::new(IrnOptions::default(), first, 8, 3);
        assert_eq!([t.tx(), t.tx(), t.tx()], [Some(0), Some(1), Some(2)]);
        t.ack(1, 0);
        t.nack(1, 2);
        t.is([3, 1, 1, 0], [1, 0, 0], &[2]);
        assert_eq!(t.tx(), Some(1));
        t.is([3, 1, 1, 2], [0, 1, 0], &[2]);
        assert_eq!(t.s.in_flight(), 2);
        t.s.on_timeout();
        t.is([3, 1, 1, 2], [1, 1, 0], &[2]);
        assert_eq!(t.tx(), Some(1));
        t.is([3, 1, 1, 2], [0, 1, 0], &[2]);
        assert_eq!(t.ack(3, 1), Acked { advanced: 2, absorbed: 1, ..Acked::default() });
        t.is([3, 3, 1, 2], [0, 0, 0], &[]);
        t.s.on_timeout(); // with nothing outstanding: nothing
        t.is([3, 3, 1, 2], [0, 0, 0], &[]);
    }
}

#[test]
fn without_sack_one_hole_is_repaired_per_partial_ack() {
    let options = IrnOptions { sack: false, ..IrnOptions::default() };
    let mut t = Trace::new(options, 0, 8, 8);
    (0..8).for_each(|n| assert_eq!(t.tx(), Some(n)));
    t.ack(1, 0); // 1 and 4 are lost
    t.nack(1, 2);
    t.is([8, 1, 1, 0], [1, 0, 0], &[]);
    assert_eq!(t.tx(), Some(1));
    t.is([8, 1, 1, 7], [0, 1, 0], &[]);
    for sack in [3, 5, 6, 7] {
        assert_eq!(t.nack(1, sack), Acked::default());
        assert_eq!(t.tx(), None);
        t.is([8, 1, 1, 7], [0, 1, 0], &[]);
    }
    assert_eq!(t.ack(4, 1), Acked { advanced: 3, lost: true, ..Acked::default() });
    t.is([8, 4, 4, 7], [1, 1, 0], &[]);
    assert_eq!(t.tx(), Some(4));
    t.ack(8, 4);
    t.is([8, 8, 4, 7], [0, 0, 0], &[]);
}

#[test]
fn recovery_begins_at_the_third_nack_of_a_gap_or_by_choice_at_one_that_advances() {
    let options = IrnOptions { nack_threshold: 3, ..IrnOptions::default() };
    let mut t = Trace::new(options, 0, 9, 9);
    (0..9).for_each(|_| _ = t.tx());
    assert!(!t.nack(0, 1).lost);
    assert!(!t.nack(0, 2).lost);
    assert!(!t.ack(3, 0).lost); // the gap was filled: reordering, not loss
    assert!(!t.nack(3, 4).lost);
    assert!(!t.nack(3, 5).lost);
    assert!(!t.nack(1, 5).lost); // overtaken: another cumulative field
    assert!(t.nack(3, 6).lost);
    assert_eq!(t.tx(), Some(3));

    for (enter_on_advance, at_once) in [(false, false), (true, true)] {
        let mut t = Trace::new(IrnOptions { enter_on_advance, ..IrnOptions::default() }, 0, 8, 8);
        (0..8).for_each(|_| _ = t.tx());
        // The ACK of 0 was lost: the first report to the sender is that 2 came.
        assert_eq!(t.nack(1, 2).lost, at_once);
        assert!(t.nack(1, 3).lost != at_once);
        assert_eq!(t.tx(), Some(1));
    }
}

#[test]
fn an_error_goes_back_and_a_stale_one_does_nothing() {
    let mut t = Trace::new(IrnOptions::default(), 0, 8, 9);
    (0..8).for_each(|_| _ = t.tx());
    t.ack(2, 1);
    t.nack(2, 5);
    t.s.restart(p(1));
    t.is([8, 2, 2, 0], [1, 0, 0], &[5]);
    t.s.restart(p(2));
    t.is([2, 2, 2, 0], [0, 0, 0], &[]);
    assert_eq!([t.tx(), t.tx()], [Some(2), Some(3)]);
    t.ack(6, 5); // sent before the restart, and they did arrive
    t.is([6, 6, 2, 0], [0, 0, 0], &[]);
    assert_eq!(t.tx(), Some(6));
}
