//! What controllers are notified of, for sequences as quinn-proto reports them. A packet has 1000 bytes.

use super::*;
use std::cell::RefCell;
use std::rc::Rc;
use thalweg_machines::congestion::Needs;

const US: fn(u64) -> Time = Time::from_us;

/// Writes down what it is notified of, and permits what the test sets.
#[derive(Clone, Debug)]
struct Listener {
    calls: Rc<RefCell<Vec<String>>>,
    permit: Permit,
}

impl Listener {
    fn note(&self, call: String) {
        self.calls.borrow_mut().push(call);
    }
}

impl CongestionControl for Listener {
    fn on_open(&mut self, now: Time, rtt: Option<Span>, _: Feedback<'_>) {
        self.note(format!("{}: open {}", us(now), rtt.map_or(0, |rtt| rtt.ps() / 1_000_000)));
    }
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.note(format!("{}: sent {} of {}", us(now), bytes.get(), in_flight.get()));
    }
    fn on_ack(&mut self, a: &AckSample<'_>) {
        let flags = [
            (a.app_limited, "."),
            (a.cwnd_limited, "+"),
            (a.in_recovery, "r"),
            (a.marked.get() > 0, "m"),
            (a.delivery.is_some(), "d"),
        ];
        let flags: String = flags.iter().filter(|(yes, _)| *yes).map(|(_, flag)| *flag).collect();
        let rtt = a.rtt.map_or("-".into(), |rtt| (rtt.ps() / 1_000_000).to_string());
        let (acked, left, to) = (a.acked.get(), a.in_flight.get(), a.acked_to);
        self.note(format!("{}: ack {acked} to {to}, {left} left, rtt {rtt} {flags}", us(a.now)));
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

fn us(time: Time) -> u64 {
    time.ps() / 1_000_000
}

/// Opened at 0 after a round trip of 100 us, with a window of so many packets.
fn opened(window: u64, needs: Needs) -> Adapter<Listener> {
    let listener = Listener { calls: Rc::default(), permit: Permit::window(Bytes::new(window * 1000)) };
    let adapter = Adapter::open(listener, &needs, (1000, 28), (US(0), Span::from_us(100)), 0);
    assert_eq!(received(&adapter), ["0: open 100"]);
    adapter
}

/// What it was notified of since the last time.
fn received(adapter: &Adapter<Listener>) -> Vec<String> {
    std::mem::take(&mut *adapter.controller().calls.borrow_mut())
}

/// An ACK frame of packets sent at these instants.
fn ack(adapter: &mut Adapter<Listener>, now: u64, sent: &[u64], app_limited: bool) {
    for &at in sent {
        adapter.on_acked(US(now), US(at), 1000, app_limited);
    }
    let left = adapter.in_flight() - 1000 * sent.len() as u64;
    adapter.on_end_acks(US(now), left, app_limited);
}

#[test]
fn an_ack_frame_is_one_call_whatever_it_acknowledges() {
    let mut a = opened(3, Needs { calls: Calls::Sent, ..Needs::WINDOW });
    for at in [0, 10, 20] {
        a.on_sent(US(at), 1000);
    }
    assert!(!a.has_room());
    ack(&mut a, 100, &[0, 10], false);
    assert!(a.has_room());
    a.on_sent(US(100), 1000);
    ack(&mut a, 130, &[20], false);
    ack(&mut a, 200, &[100], true);
    assert_eq!(
        received(&a),
        [
            "0: sent 1000 of 1000",
            "10: sent 1000 of 2000",
            "20: sent 1000 of 3000",
            // The newest one's round trip; the window of three was full.
            "100: ack 2000 to 2000, 1000 left, rtt 90 +",
            "100: sent 1000 of 2000",
            "130: ack 1000 to 3000, 1000 left, rtt 110 +",
            // Two of three were in flight.
            "200: ack 1000 to 4000, 0 left, rtt 100 .",
        ]
    );
}

#[test]
fn a_loss_is_notified_once_for_all_that_left_before_it_was_known() {
    let mut a = opened(100, Needs::WINDOW);
    (0..8).for_each(|n| a.on_sent(US(n), 1000));
    ack(&mut a, 100, &[3], false);
    a.on_congestion(US(100), US(0), false, 1000);
    a.on_sent(US(101), 1000);
    ack(&mut a, 102, &[4], false);
    a.on_congestion(US(102), US(1), false, 1000); // of the same episode
    ack(&mut a, 201, &[101], false);
    a.on_sent(US(202), 1000);
    a.on_congestion(US(300), US(202), false, 1000); // sent later: news
    assert_eq!(
        received(&a),
        [
            "100: ack 1000 to 4000, 7000 left, rtt 97 ",
            "100: loss with 7000",
            "102: ack 1000 to 5000, 6000 left, rtt 98 r",
            "201: ack 1000 to 9000, 4000 left, rtt 100 ",
            "300: loss with 5000",
        ]
    );
}

#[test]
fn what_was_declared_lost_is_missing_at_the_next_ack() {
    let mut a = opened(100, Needs { calls: Calls::Sent, ..Needs::WINDOW });
    (0..8).for_each(|n| a.on_sent(US(n), 1000));
    ack(&mut a, 100, &[3], false);
    a.on_congestion(US(100), US(2), false, 3000);
    a.on_sent(US(101), 1000);
    ack(&mut a, 102, &[4], false);
    a.on_sent(US(103), 1000);
    assert_eq!(
        received(&a)[8..],
        [
            "100: ack 1000 to 4000, 7000 left, rtt 97 ",
            "100: loss with 7000",
            "101: sent 1000 of 8000",
            // 8000 were in flight, 1000 arrive, 4000 are left: 3000 are missing.
            "102: ack 1000 to 5000, 4000 left, rtt 98 r",
            "103: sent 1000 of 5000",
        ]
    );
}

#[test]
fn persistent_congestion_is_a_timeout_and_no_loss_besides() {
    let mut a = opened(100, Needs::WINDOW);
    (0..4).for_each(|n| a.on_sent(US(1000 * n), 1000));
    ack(&mut a, 9000, &[3000], false);
    a.on_congestion(US(9000), US(2000), true, 3000);
    assert_eq!(received(&a)[1..], ["9000: timeout with 3000"]);
    assert_eq!(a.in_flight(), 0);
}

#[test]
fn an_older_packet_gives_no_round_trip() {
    let mut a = opened(100, Needs::WINDOW);
    (0..3).for_each(|n| a.on_sent(US(n), 1000));
    ack(&mut a, 100, &[2], false);
    ack(&mut a, 150, &[0, 1], false);
    assert_eq!(
        received(&a),
        ["100: ack 1000 to 3000, 2000 left, rtt 98 ", "150: ack 2000 to 3000, 0 left, rtt - "]
    );
}

#[test]
fn a_mark_is_reported_with_the_next_ack_or_as_a_loss_to_those_who_ignore_marks() {
    let mut a = opened(100, Needs { marks: Marks::Optional, ..Needs::WINDOW });
    (0..3).for_each(|n| a.on_sent(US(n), 1000));
    ack(&mut a, 100, &[0], false);
    a.on_congestion(US(100), US(0), false, 0);
    ack(&mut a, 101, &[1], false);
    ack(&mut a, 102, &[2], false);
    let marked: Vec<bool> = received(&a).iter().map(|call| call.ends_with('m')).collect();
    assert_eq!(marked, [false, true, false]);

    let mut deaf = opened(100, Needs::WINDOW);
    deaf.on_sent(US(0), 1000);
    deaf.on_sent(US(1), 1000);
    ack(&mut deaf, 100, &[0], false);
    deaf.on_congestion(US(100), US(0), false, 0);
    assert_eq!(received(&deaf)[1..], ["100: loss with 1000"]);
    assert_eq!(deaf.in_flight(), 1000, "nothing was lost");
}

#[test]
fn silence_ends_with_a_restart_before_what_is_sent() {
    let mut a = opened(10, Needs { calls: Calls::Sent, ..Needs::WINDOW });
    a.on_sent(US(0), 1000);
    ack(&mut a, 100, &[0], true);
    a.on_sent(US(5100), 1000);
    a.on_sent(US(5200), 1000);
    assert_eq!(
        received(&a)[2..],
        ["5100: restart after 5000", "5100: sent 1000 of 1000", "5200: sent 1000 of 2000"]
    );
    // More to send, but held back by a pace: no silence.
    ack(&mut a, 5300, &[5100, 5200], false);
    a.on_sent(US(9000), 1000);
    assert!(received(&a).iter().all(|call| !call.contains("restart")));
}

#[test]
fn ticks_come_at_their_instant_and_only_to_those_who_declare_a_clock() {
    for (calls, ticks) in [(Calls::Ticks, 1), (Calls::Neither, 0)] {
        let mut a = opened(10, Needs { calls, ..Needs::WINDOW });
        a.controller.permit.wake = Some(US(50));
        a.on_tick(US(49));
        assert!(received(&a).is_empty());
        a.on_tick(US(51));
        assert_eq!(received(&a).len(), ticks);
    }
}

#[test]
fn a_window_is_spread_over_a_round_trip_and_a_pace_is_kept_as_it_is() {
    let mut a = opened(10, Needs::WINDOW);
    // 10 000 B and ten headers of 28 B in 100 us, twice as fast in slow start.
    assert_eq!(a.pace(), Some(Rate::from_bps(1_644_800_000)));
    a.controller.permit.pace = Some(Rate::from_mbps(3));
    assert_eq!(a.pace(), Some(Rate::from_mbps(3)));
}

#[test]
fn two_full_packets_may_be_in_flight_however_small_the_window_and_large_the_packets() {
    let mut a = opened(1, Needs::WINDOW);
    a.on_mtu(1450);
    a.on_sent(US(0), 1450);
    assert!(a.has_room());
    a.on_sent(US(1), 1450);
    assert!(!a.has_room());
    assert_eq!(a.window(), Bytes::new(2900));
}

#[test]
fn delivery_samples_come_only_where_they_are_needed_and_a_mark_takes_none_away() {
    for (delivery, flag) in [(false, ""), (true, "d")] {
        let mut a = opened(10, Needs { delivery, ..Needs::WINDOW });
        (0..3).for_each(|n| a.on_sent(US(n), 1000));
        ack(&mut a, 100, &[2], false);
        a.on_congestion(US(100), US(2), false, 0);
        ack(&mut a, 101, &[0], false);
        let acks: Vec<String> = received(&a).into_iter().filter(|call| call.contains("ack")).collect();
        assert!(acks.len() == 2 && acks.iter().all(|call| call.ends_with('d') == (flag == "d")), "{acks:?}");
    }
}
