//! What controllers are notified of, for records as the datapath makes them. A segment has 1000 bytes.

use super::super::records::testing::{blank, flagged};
use super::*;
use std::cell::RefCell;
use std::rc::Rc;
use thalweg_units::Rate;

/// Writes down what it is notified of, and permits what the test sets.
#[derive(Clone, Debug)]
struct Listener {
    calls: Rc<RefCell<Vec<String>>>,
    samples: Rc<RefCell<Vec<Delivery>>>,
    permit: Permit,
}

fn us(time: Time) -> u64 {
    time.ps() / 1_000_000
}

impl Listener {
    fn note(&self, call: String) {
        self.calls.borrow_mut().push(call);
    }
}

impl CongestionControl for Listener {
    fn on_open(&mut self, _: Time, rtt: Option<Span>, _: Feedback<'_>) {
        self.note(format!("open {:?}", rtt.map(|rtt| rtt.ps() / 1_000_000)));
    }
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.note(format!("{}: sent {} of {}", us(now), bytes.get(), in_flight.get()));
    }
    fn on_ack(&mut self, a: &AckSample<'_>) {
        let flags =
            [(a.app_limited, "."), (a.cwnd_limited, "+"), (a.in_recovery, "r"), (a.marked.get() > 0, "m")];
        let flags: String = flags.iter().filter(|(yes, _)| *yes).map(|(_, flag)| *flag).collect();
        let (acked, sacked, left) = (a.acked.get(), a.sacked.get(), a.in_flight.get());
        let (una, next) = (a.acked_to, a.sent_to);
        self.note(format!("{}: ack {acked}+{sacked}, {left} left, {una}-{next} {flags}", us(a.now)));
        self.samples.borrow_mut().extend(a.delivery);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.note(format!("{}: loss with {}", us(loss.now), loss.in_flight.get()));
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.note(format!("{}: timeout with {}", us(loss.now), loss.in_flight.get()));
    }
    fn on_restart(&mut self, now: Time, idle: Span) {
        self.note(format!("{}: restart after {}", us(now), idle.ps() / 1_000_000));
    }
    fn on_tick(&mut self, now: Time) {
        self.note(format!("{}: tick", us(now)));
        self.permit.wake = None;
    }
    fn permit(&self) -> Permit {
        self.permit
    }
}

/// Opened at 1000 us, close to where sequence numbers wrap, after a round trip of 100 us.
fn opened(needs: Needs) -> (Adapter<Listener>, Record) {
    let (calls, samples) = (Rc::default(), Rc::default());
    let listener = Listener { calls, samples, permit: Permit::window(Bytes::new(10_000)) };
    let una = u32::MAX - 499;
    let first =
        Record { una, next: una, written: una, srtt_us: 100, delivered: 1, ..blank(Kind::Open, 1000) };
    let adapter = Adapter::open(listener, &needs, &first);
    assert_eq!(received(&adapter), ["open Some(100)"]);
    (adapter, first)
}

fn received(adapter: &Adapter<Listener>) -> Vec<String> {
    std::mem::take(&mut *adapter.controller().calls.borrow_mut())
}

/// An ACK `at` us: up to byte `una` of `next` sent, with so many segments out and SACKed, and so many delivered.
fn ack(
    first: &Record,
    at: u64,
    (una, next): (u32, u32),
    (out, sacked): (u32, u32),
    delivered: u32,
) -> Record {
    let (una, next) = (first.una.wrapping_add(una), first.una.wrapping_add(next));
    let counts = Record { packets_out: out, sacked_out: sacked, delivered: 1 + delivered, ..*first };
    Record { una, next, written: next.wrapping_add(1), time_ns: at * 1000, kind: Kind::Ack, ..counts }
}

#[test]
fn bytes_are_exact_and_widened_while_nothing_is_sacked() {
    let (mut a, first) = opened(Needs { calls: Calls::Sent, ..Needs::WINDOW });
    // Three segments of which the last has 100 bytes; numbers wrap on the way.
    a.on_record(&ack(&first, 1100, (1000, 2100), (2, 0), 1));
    a.on_record(&flagged(ack(&first, 1200, (2100, 2100), (0, 0), 3), false, true, false));
    assert_eq!(
        received(&a),
        [
            "100: sent 2100 of 3000",
            "100: ack 1000+0, 2000 left, 1000-2100 ",
            "200: ack 1100+0, 0 left, 2100-2100 +",
        ]
    );
    assert_eq!(a.acked_to(), 2100);
}

#[test]
fn the_loss_that_an_ack_shows_comes_after_it() {
    let (mut a, first) = opened(Needs::WINDOW);
    a.on_record(&ack(&first, 1100, (1000, 9000), (8, 2), 3));
    // set_state(Recovery) while the third SACK is taken in, then that ACK's own record.
    let shows = Record { kind: Kind::Loss, ..ack(&first, 1110, (1000, 9000), (8, 2), 3) };
    a.on_record(&flagged(shows, true, false, true));
    assert_eq!(received(&a).len(), 1, "held");
    a.on_record(&flagged(ack(&first, 1110, (1000, 9000), (8, 3), 4), false, false, true));
    a.on_record(&flagged(ack(&first, 1120, (1000, 9000), (8, 4), 5), false, false, true));
    // The repair arrives: cumulative, of five segments one is new.
    a.on_record(&ack(&first, 1200, (6000, 9000), (3, 0), 6));
    assert_eq!(
        received(&a),
        [
            "110: ack 0+1000, 5000 left, 1000-9000 ",
            "110: loss with 8000",
            "120: ack 0+1000, 4000 left, 1000-9000 r",
            "200: ack 1000+0, 3000 left, 6000-9000 r",
        ]
    );
}

#[test]
fn what_an_ack_shows_to_be_lost_is_missing_then_though_more_was_sent_meanwhile() {
    let (mut a, first) = opened(Needs { calls: Calls::Sent, ..Needs::WINDOW });
    a.on_record(&ack(&first, 1100, (1000, 9000), (8, 0), 1));
    // Two more were sent; one is SACKed, and three before it are lost.
    let shows = Record { lost: 3, lost_out: 3, ..ack(&first, 1110, (1000, 11_000), (10, 1), 2) };
    a.on_record(&shows);
    // All that is out counts as lost at a timeout, which says so.
    a.on_record(&Record { kind: Kind::Timeout, lost: 12, ..shows });
    let after = Record { lost: 12, lost_out: 8, retrans_out: 1, resent: 1, ..shows };
    a.on_record(&Record {
        time_ns: 1_300_000,
        una: shows.una.wrapping_add(1000),
        packets_out: 9,
        delivered: 4,
        ..after
    });
    assert_eq!(
        received(&a),
        [
            "100: sent 9000 of 9000",
            "100: ack 1000+0, 8000 left, 1000-9000 ",
            // Nine were in flight until now: ten but the one that arrives.
            "110: sent 2000 of 10000",
            "110: ack 0+1000, 6000 left, 1000-11000 ",
            "110: timeout with 10000",
            "300: sent 1000 of 2000",
            "300: ack 1000+0, 1000 left, 2000-11000 r",
        ]
    );
}

#[test]
fn a_loss_that_a_timer_finds_is_notified_at_once_and_a_timeout_is_no_loss() {
    let (mut a, first) = opened(Needs::WINDOW);
    a.on_record(&Record { kind: Kind::Loss, ..ack(&first, 1300, (0, 4000), (4, 0), 0) });
    a.on_record(&Record { kind: Kind::Timeout, ..ack(&first, 1500, (0, 4000), (4, 0), 0) });
    a.on_record(&ack(&first, 1600, (4000, 4000), (0, 0), 4));
    assert_eq!(
        received(&a),
        ["300: loss with 4000", "500: timeout with 4000", "600: ack 4000+0, 0 left, 4000-4000 r"]
    );
}

#[test]
fn an_ack_of_nothing_new_is_no_call() {
    let (mut a, first) = opened(Needs::WINDOW);
    a.on_record(&ack(&first, 1100, (0, 4000), (4, 0), 0));
    assert!(received(&a).is_empty());
    a.on_record(&ack(&first, 1100, (1000, 4000), (3, 0), 1));
    a.on_record(&ack(&first, 1100, (500, 4000), (3, 0), 1)); // an older one
    assert_eq!(received(&a).len(), 1);
    assert_eq!(a.acked_to(), 1000);
}

#[test]
fn silence_ends_with_a_restart_but_for_the_first_data() {
    let (mut a, first) = opened(Needs::WINDOW);
    a.on_record(&Record { kind: Kind::Restart, time_ns: 3_000_000, ..first });
    assert!(received(&a).is_empty());
    let acked = ack(&first, 3100, (1000, 1000), (0, 0), 1);
    a.on_record(&Record { written: acked.next, ..acked });
    a.on_record(&Record { kind: Kind::Restart, time_ns: 8_100_000, ..acked });
    assert_eq!(received(&a), ["2100: ack 1000+0, 0 left, 1000-1000 .", "7100: restart after 5000"]);
}

#[test]
fn a_delivery_sample_is_the_kernels_with_losses_since_the_segment_left() {
    let (mut a, first) = opened(Needs { delivery: true, ..Needs::WINDOW });
    let sampled = |record, prior, delivered, lost| Record {
        prior_delivered: prior,
        sample_delivered: delivered,
        departures_us: 40,
        arrivals_us: 50,
        newest_sent_us: 1010,
        lost,
        ..record
    };
    a.on_record(&sampled(ack(&first, 1100, (1000, 9000), (8, 0), 1), 1, 1, 0));
    a.on_record(&sampled(ack(&first, 1110, (2000, 9000), (7, 0), 2), 1, 2, 3));
    a.on_record(&sampled(ack(&first, 1200, (4000, 9000), (5, 0), 4), 3, 2, 5)); // left after three were delivered
    let samples = a.controller().samples.borrow().clone();
    let losses: Vec<u64> = samples.iter().map(|d| d.lost.get() / 1000).collect();
    assert_eq!(losses, [0, 3, 2]);
    assert_eq!(samples[2].delivered, Bytes::new(2000));
    assert_eq!((samples[2].departures, samples[2].arrivals), (Span::from_us(40), Span::from_us(50)));
    assert_eq!(samples[2].sent, Time::from_us(10));
    assert_eq!(samples[2].total, Bytes::new(5000), "the SYN counts, as in the kernel");
    a.on_record(&sampled(ack(&first, 1300, (5000, 9000), (4, 0), 5), 3, -1, 5));
    assert_eq!(a.controller().samples.borrow().len(), 3, "no sample");
}

#[test]
fn what_is_delivered_is_counted_beyond_the_kernels_32_bits() {
    let (a, first) = opened(Needs { delivery: true, ..Needs::WINDOW });
    let first = Record { delivered: u32::MAX - 1, ..first };
    let mut a = Adapter::open(a.controller().clone(), &Needs { delivery: true, ..Needs::WINDOW }, &first);
    for (segments, delivered) in [(1, u32::MAX), (3, 1)] {
        let record = ack(&first, 1100 + u64::from(segments), (1000 * segments, 9000), (8, 0), 0);
        a.on_record(&Record { delivered, prior_delivered: u32::MAX - 1, sample_delivered: 1, ..record });
    }
    let totals: Vec<u64> = a.controller().samples.borrow().iter().map(|d| d.total.get() / 1000).collect();
    assert_eq!(totals, [u64::from(u32::MAX), u64::from(u32::MAX) + 2]);
}

#[test]
fn marks_count_segments_and_never_more_than_arrived() {
    let (mut a, first) = opened(Needs::WINDOW);
    a.on_record(&Record { delivered_ce: 5, ..ack(&first, 1100, (1000, 4000), (3, 0), 1) });
    a.on_record(&Record { delivered_ce: 5, ..ack(&first, 1100, (2000, 4000), (2, 0), 2) });
    let marked: Vec<bool> = received(&a).iter().map(|call| call.ends_with('m')).collect();
    assert_eq!(marked, [true, false]);
}

#[test]
fn a_decision_is_in_whole_segments_and_payload_and_names_the_record_it_knows() {
    let (mut a, first) = opened(Needs::WINDOW);
    assert_eq!(a.decision(), Decision { time_ns: 1_000_000, pace: 0, cwnd: 10, threshold: MOST });
    // 1052 B on the wire for 1000 of payload: 8.416 Mb/s are 1 MB/s.
    a.controller.permit = Permit { pace: Some(Rate::from_bps(8_416_000)), ..Permit::window(Bytes::new(1)) };
    a.on_record(&ack(&first, 1100, (1000, 4000), (3, 0), 1));
    let decision = a.decision();
    assert_eq!((decision.time_ns, decision.pace, decision.cwnd), (1_100_000, 1_000_000, 1));
    a.controller.permit = Permit { pace: Some(Rate::INFINITE), ..Permit::window(Bytes::MAX) };
    assert_eq!(a.decision().cwnd, MOST);
}

#[test]
fn ticks_come_at_their_instant_in_the_kernels_clock() {
    let (mut a, _) = opened(Needs { calls: Calls::Ticks, ..Needs::WINDOW });
    a.controller.permit.wake = Some(Time::from_us(50));
    assert_eq!(a.wake_ns(), Some(1_050_000));
    a.on_tick(1_049_999);
    assert!(received(&a).is_empty());
    a.on_tick(1_060_000);
    assert_eq!(received(&a), ["60: tick"]);
    assert_eq!(a.wake_ns(), None);
}

#[test]
fn a_record_that_is_read_after_a_later_tick_does_not_turn_time_back() {
    let (mut a, first) = opened(Needs { calls: Calls::Ticks, ..Needs::WINDOW });
    a.controller.permit.wake = Some(Time::from_us(150));
    a.on_tick(1_160_000);
    a.on_record(&ack(&first, 1155, (1000, 4000), (3, 0), 1));
    a.on_record(&ack(&first, 1170, (2000, 4000), (2, 0), 2));
    assert_eq!(
        received(&a),
        ["160: tick", "160: ack 1000+0, 3000 left, 1000-4000 ", "170: ack 1000+0, 2000 left, 2000-4000 "]
    );
}
