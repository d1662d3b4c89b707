//! What IRN promises, on a path of fixed length whose fates are drawn beforehand. One step is one packet
//! time: the sender gets one opportunity, then arrivals are handled.

use super::super::Psn;
use super::super::bitmap::TOUCHED;
use super::super::irn::*;
use proptest::prelude::*;
use std::collections::VecDeque;

struct Path {
    sender: IrnSender,
    receiver: IrnReceiver,
    data: VecDeque<(u64, Psn)>,
    acks: VecDeque<(u64, Reply)>,
    first: Psn,
    packets: u32,
    cap: u32,
    /// Packet times one way; the timer fires after six times as many without progress.
    way: u64,
    now: u64,
    progress: u64,
    timer: bool,
    /// The timer also waits until nothing is under way: never premature.
    patient: bool,
    /// Copies of each packet sent and lost so far.
    sent: Vec<u32>,
    lost: Vec<u32>,
    nacks: u32,
    timeouts: u32,
    max_distance: i32,
}

impl Path {
    fn new(options: IrnOptions, first: Psn, packets: u32, cap: u32) -> Self {
        Self {
            sender: IrnSender::new(options, first),
            receiver: IrnReceiver::new(first),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            first,
            packets,
            cap,
            way: 10,
            now: 0,
            progress: 0,
            timer: true,
            patient: false,
            sent: vec![0; packets as usize],
            lost: vec![0; packets as usize],
            nacks: 0,
            timeouts: 0,
            max_distance: -1,
        }
    }

    fn number(&self, psn: Psn) -> u32 {
        psn.minus(self.first) as u32
    }

    /// One packet time. `drop(way, n)`: what becomes of the n-th packet of that way.
    fn step(&mut self, drop: &mut dyn FnMut(usize, u32) -> bool) {
        self.now += 1;
        // A search for a hole takes no packet time.
        for _ in 0..3 {
            let more = self.number(self.sender.state().nxt) < self.packets;
            let new_allowed = self.sender.in_flight() < self.cap;
            if !self.sender.can_send(more, self.cap) {
                break;
            }
            let Some((psn, again)) = self.sender.tx_free(more, self.cap) else { continue };
            assert!(again || new_allowed, "P6: a new packet beyond the cap");
            let n = self.number(psn);
            assert_eq!(again, self.sent[n as usize] > 0);
            self.sent[n as usize] += 1;
            if drop(0, n) {
                self.lost[n as usize] += 1;
            } else {
                self.data.push_back((self.now + self.way, psn));
            }
            break;
        }
        while self.data.front().is_some_and(|d| d.0 <= self.now) {
            let psn = self.data.pop_front().unwrap().1;
            self.max_distance = self.max_distance.max(psn.minus(self.receiver.expected()));
            let reply = self.receiver.on_data(psn);
            self.nacks += u32::from(reply.kind == ReplyKind::Nack);
            if !drop(1, self.number(psn)) {
                self.acks.push_back((self.now + self.way, reply));
            }
        }
        while self.acks.front().is_some_and(|a| a.0 <= self.now) {
            let reply = self.acks.pop_front().unwrap().1;
            let acked = self.sender.on_ack(reply.cum, reply.sack, reply.kind == ReplyKind::Nack);
            if acked.advanced > 0 {
                self.progress = self.now;
            }
        }
        let quiet = self.data.is_empty() && self.acks.is_empty();
        if self.timer
            && (quiet || !self.patient)
            && self.sender.in_flight() > 0
            && self.now - self.progress > 6 * self.way
        {
            self.sender.on_timeout();
            self.timeouts += 1;
            self.progress = self.now;
        }
    }

    fn is_done(&self) -> bool {
        self.number(self.sender.state().una) == self.packets
    }

    fn run(&mut self, drop: &mut dyn FnMut(usize, u32) -> bool) {
        while !self.is_done() {
            self.step(drop);
            assert!(self.now < 1_000_000, "P2: it never ends");
        }
        assert_eq!(self.number(self.receiver.expected()), self.packets);
        assert!(self.max_distance < self.cap as i32, "P1: {} with a cap of {}", self.max_distance, self.cap);
    }
}

fn options() -> impl Strategy<Value = IrnOptions> {
    (any::<bool>(), prop_oneof![Just(1u32), Just(3)], any::<bool>()).prop_map(
        |(sack, nack_threshold, enter_on_advance)| IrnOptions { sack, nack_threshold, enter_on_advance },
    )
}

fn first() -> impl Strategy<Value = Psn> {
    prop_oneof![Just(Psn::new(0)), (0u32..200).prop_map(|n| Psn::new((1 << 24) - n))]
}

/// The k-th copy of each packet is lost if bit k of its pattern is set: finitely many drops per PSN.
fn patterns(max: u32) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![6 => Just(0u32), 4 => 0u32..max], 300)
}

/// The number of the copy of this packet (0: the first) is counted here.
fn dropper(patterns: Vec<u32>, acks: Vec<u32>) -> impl FnMut(usize, u32) -> bool {
    let (mut patterns, mut acks) = (patterns, acks);
    move |way, n| {
        let pattern = &mut [&mut patterns, &mut acks][way][n as usize % 300];
        let lost = *pattern & 1 == 1;
        *pattern >>= 1;
        lost
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn p1_p2_p6_everything_arrives_within_the_cap_whatever_is_lost(
        options in options(), first in first(), packets in 1u32..300,
        cap in prop_oneof![Just(1u32), Just(2), Just(8), Just(30), Just(275)],
        data in patterns(8), acks in patterns(8),
    ) {
        Path::new(options, first, packets, cap).run(&mut dropper(data, acks));
    }

    #[test]
    fn p3_without_trouble_nothing_is_sent_twice(options in options(), first in first(), packets in 1u32..300, cap in 1u32..300) {
        let mut path = Path::new(options, first, packets, cap);
        path.run(&mut |_, _| false);
        prop_assert!(path.sent.iter().all(|n| *n == 1));
        prop_assert_eq!((path.nacks, path.timeouts), (0, 0));
    }

    /// With whole acknowledgements, order and a patient timer, a retransmission means a loss.
    #[test]
    fn p4_only_what_was_lost_is_sent_again(
        nack_threshold in 1u32..4, enter_on_advance in any::<bool>(), first in first(), packets in 1u32..300,
        cap in prop_oneof![Just(1u32), Just(8), Just(30), Just(275)], data in patterns(8),
    ) {
        let options = IrnOptions { sack: true, nack_threshold, enter_on_advance };
        let mut path = Path::new(options, first, packets, cap);
        path.patient = true;
        path.run(&mut dropper(data, vec![0; 300]));
        for (sent, lost) in path.sent.iter().zip(&path.lost) {
            prop_assert_eq!(*sent, 1 + lost);
        }
    }

    /// A retransmission that is lost too waits for the timer, or for the partial ACK that moves `una` onto it.
    #[test]
    fn p5_each_hole_is_repaired_once_per_pass(first in first(), hole in 1u32..40) {
        let mut path = Path::new(IrnOptions::default(), first, 60, 60);
        path.timer = false;
        let mut copies = 2;
        let mut drop = |way: usize, n: u32| {
            let lost = way == 0 && n == hole && copies > 0;
            copies -= u32::from(lost);
            lost
        };
        (0..2000).for_each(|_| path.step(&mut drop));
        prop_assert!(!path.is_done());
        prop_assert_eq!(path.sent[hole as usize], 2);
        prop_assert_eq!(path.sent.iter().sum::<u32>(), 61);
        path.timer = true;
        path.run(&mut drop);
        prop_assert_eq!(path.timeouts, 1);
        prop_assert_eq!(path.sent.iter().sum::<u32>(), 62);
    }
}

/// 100 Gb/s: 275 packets in flight do not fit into 128 bits.
#[test]
fn a_cap_above_128_packets_corrupts_nothing() {
    let mut path = Path::new(IrnOptions::default(), Psn::new((1 << 24) - 100), 600, 275);
    path.way = 150; // more than a window per round trip
    // A hole at the bottom of a full window, and every third packet above it.
    let mut lost = vec![false; 600];
    path.run(&mut |way, n| {
        way == 0
            && (n == 3 || (n > 200 && n % 3 == 0 && n < 270))
            && !std::mem::replace(&mut lost[n as usize], true)
    });
    assert!(path.max_distance > 128, "{}", path.max_distance);
    assert_eq!(path.timeouts, 0);
    for (sent, lost) in path.sent.iter().zip(&path.lost) {
        assert_eq!(*sent, 1 + lost);
    }
}

/// IRN §4.5: O(words) per event. Every module touches each word of its bitmap a small constant number of times.
#[test]
fn work_per_event_is_bounded_by_the_words_of_the_bitmap() {
    for cap in [110u32, 275] {
        let mut path = Path::new(IrnOptions::default(), Psn::new(0), 5000, cap);
        let words = cap.next_power_of_two().div_ceil(64);
        let mut worst = 0;
        let mut chance = thalweg_units::Stream::new(1, "irn work", 0);
        while !path.is_done() {
            TOUCHED.set(0);
            let (sent, arrived) = (path.data.len(), path.acks.len());
            path.step(&mut |_, _| chance.below(10) == 0);
            let events = 3 + sent.abs_diff(path.data.len()) + arrived.abs_diff(path.acks.len());
            worst = worst.max(TOUCHED.get() / events as u32);
        }
        assert!(worst <= words + 1, "{worst} words per event with {words} in the bitmap");
    }
}

/// The registers keep their meaning however long nothing is lost: rec follows before it wraps.
#[test]
fn a_loss_after_a_long_peace_is_repaired_like_any_other() {
    let mut s = IrnSender::new(IrnOptions::default(), Psn::new(0));
    for n in 0..(1u32 << 23) + 1000 {
        assert_eq!(s.tx_free(true, 8), Some((Psn::new(n), false)));
        s.on_ack(Psn::new(n + 1), Psn::new(n), false);
    }
    let una = s.state().una;
    for n in 0..4 {
        assert_eq!(s.tx_free(true, 8), Some((una.plus(n), false)));
    }
    s.on_timeout();
    // A late ACK of what was acknowledged long ago ends no recovery, but takes the timer's retransmission
    // back (step 4).
    s.on_ack(una, una.plus(u32::MAX), false);
    assert!(!s.is_pending());
    assert!(s.on_ack(una, una.plus(1), true).lost);
    assert_eq!(s.tx_free(true, 8), Some((una, true)));
    assert!(s.in_recovery());
}
