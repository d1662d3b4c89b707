use super::super::contract::conformance::{ack, loss, start};
use super::*;

fn verus() -> Verus {
    Params::default().make(&start(1000, 10)).unwrap()
}
/// A packet that left `rtt` ms before is acknowledged at `ms`; so many are in flight afterwards.
fn receives(v: &mut Verus, ms: u64, rtt: u64, in_flight: u64) {
    let in_flight = Bytes::new(in_flight * 1000);
    v.on_ack(&AckSample { now: Time::from_ms(ms), rtt: Some(Span::from_ms(rtt)), in_flight, ..ack(1000, 0) });
}
fn sends(v: &mut Verus, ms: u64, in_flight: u64) {
    v.on_sent(Time::from_ms(ms), Bytes::new(1000), Bytes::new(in_flight * 1000));
}
/// Out of slow start, with a curve of 100 ms and 2 ms per segment, and 110 ms wanted.
fn normal() -> Verus {
    let mut v = verus();
    (1..=60).for_each(|w| v.profile.see(w, 100.0 + 2.0 * f64::from(w)));
    v.profile.draw();
    (v.phase, v.delays.least, v.wanted, v.delays.mean) = (Phase::Normal, 100.0, 140.0, 120.0);
    (v.delays.last_max, v.tick, v.refit) = (Some(120.0), Some(Time::from_ms(1000)), Time::from_ms(1900));
    v
}

#[test]
fn slow_start_adds_a_segment_per_ack_and_the_profile_learns_by_the_window_a_packet_left_by() {
    let mut v = verus();
    assert_eq!(v.permit(), Permit { window: Bytes::new(1000), pace: None, wake: None });
    sends(&mut v, 0, 1);
    receives(&mut v, 100, 100, 0);
    assert_eq!(v.permit().window, Bytes::new(2000));
    sends(&mut v, 100, 1);
    sends(&mut v, 100, 2);
    receives(&mut v, 210, 110, 1);
    sends(&mut v, 210, 2); // by a window of 3
    receives(&mut v, 211, 111, 1);
    receives(&mut v, 330, 120, 0);
    let mut expected = super::profile::Profile::default();
    [(1, 100.0), (2, 110.0), (2, 111.0), (3, 120.0)].into_iter().for_each(|(w, d)| expected.see(w, d));
    assert_eq!(v.profile, expected);
}

#[test]
fn slow_start_ends_with_a_loss_or_half_a_second_of_delay_and_epochs_begin() {
    let after = |v: &Verus| (v.window, v.wanted, v.permit().wake);
    // By windows up to 20 packets have taken 100 ms.
    let started = || {
        let mut v = verus();
        (1..20).for_each(|w| v.profile.see(w, 100.0));
        v.window = 20.0;
        v
    };
    let mut slow = started();
    sends(&mut slow, 0, 1);
    receives(&mut slow, 100, 100, 5);
    receives(&mut slow, 501, 501, 5);
    // 0.7 · 20, and one over that for the ACK that ended slow start; 0.75 · 6 · 100 ms are wanted.
    let (window, wanted, wake) = after(&slow);
    assert!((window - (14.0 + 1.0 / 14.0)).abs() < 1e-9, "{window}");
    assert!(wanted <= 450.0 && wake == Some(Time::from_ms(506)), "{wanted} {wake:?}");
    let mut lossy = started();
    sends(&mut lossy, 0, 1);
    receives(&mut lossy, 100, 100, 5);
    lossy.on_loss(&Loss { now: Time::from_ms(100), ..loss(20_000, 0, 20_000) });
    let (window, wanted, wake) = after(&lossy);
    assert!((window - 14.0).abs() < 1e-9 && (wanted - 450.0).abs() < 1e-9, "{window} {wanted}");
    assert_eq!(wake, Some(Time::from_ms(105)));
}

#[test]
fn the_wanted_delay_rises_by_two_falls_by_one_when_delays_grow_and_by_two_when_they_are_far_too_long() {
    let wanted = |last: f64, max: f64| {
        let mut v = normal();
        (v.delays.last_max, v.delays.epoch_max) = (Some(last), Some(max));
        v.epoch(Time::from_ms(1000));
        (v.wanted, v.window, v.delays.last_max.unwrap())
    };
    // 142 ms is just met at 21, and 0.2 · 120 + 0.8 · 110.
    let (w, window, max) = wanted(120.0, 110.0);
    assert!(
        w == 142.0 && (20.0..=21.0).contains(&window) && (max - 112.0).abs() < 1e-9,
        "{w} {window} {max}"
    );
    assert_eq!(wanted(120.0, 120.0).0, 142.0);
    let (w, window, _) = wanted(120.0, 121.0);
    assert!(w == 139.0 && window == 19.0, "{w} {window}");
    assert_eq!(wanted(601.0, 110.0).0, 138.0, "beyond six times the least");
}

#[test]
fn an_epoch_without_an_ack_counts_the_silence() {
    let mut v = normal();
    (v.delays.last_ack, v.delays.last_max) = (Some(Time::from_ms(700)), Some(120.0));
    v.epoch(Time::from_ms(1000));
    assert_eq!(v.wanted, 139.0, "300 ms are more than 120");
    assert!((v.delays.last_max.unwrap() - (24.0 + 240.0)).abs() < 1e-9);
}

/// Equation 5: a mean delay of 120 ms is 24 epochs; W + in flight (2 - 24) / 23.
#[test]
fn an_epoch_sends_what_is_missing_to_the_window_within_a_round_trip() {
    let mut v = normal();
    (v.window, v.in_flight) = (30.0, 23_000);
    assert_eq!(v.to_send(), 8000);
    v.in_flight = 40_000;
    assert_eq!(v.to_send(), 0);
    (v.delays.mean, v.in_flight) = (4.0, 23_000);
    assert_eq!(v.to_send(), 7000, "one epoch: all of it");
    // What may leave is what is in flight and the epoch's share, however much is acknowledged meanwhile.
    (v.credit, v.in_flight) = (3000, 23_000);
    receives(&mut v, 1001, 120, 20);
    assert_eq!(v.permit().window, Bytes::new(23_000));
    sends(&mut v, 1001, 21);
    assert_eq!(v.permit().window, Bytes::new(23_000));
}

#[test]
fn a_loss_decreases_the_window_of_the_lost_packet_and_nothing_is_learnt_until_it_is_repaired() {
    let mut v = normal();
    v.windows = [(Time::from_ms(500), 40), (Time::from_ms(950), 36)].into();
    v.on_loss(&Loss { now: Time::from_ms(1000), ..loss(40_000, 0, 40_000) });
    assert_eq!((v.window, v.phase), (28.0, Phase::Repair { starting: false }));
    assert!((v.wanted - 140.0).abs() < 1e-9, "28 segments bring 156 ms: less is wanted");
    let known = v.profile.clone();
    receives(&mut v, 1010, 200, 30);
    assert!((v.window - (28.0 + 1.0 / 28.0)).abs() < 1e-9 && v.profile == known);
    v.windows = [(Time::from_ms(950), 20)].into();
    receives(&mut v, 1020, 60, 30);
    assert_eq!(v.phase, Phase::Normal);
    assert_ne!(v.profile, known);
}

#[test]
fn a_timeout_or_a_delay_that_no_window_brings_begins_anew() {
    let fresh = |v: &Verus| {
        assert_eq!(
            (v.phase, v.window, v.permit().wake, v.delays.last_max),
            (Phase::SlowStart, 1.0, None, None)
        );
        assert_eq!(v.profile, Profile::default());
    };
    let mut v = normal();
    v.on_timeout(&loss(40_000, 0, 40_000));
    fresh(&v);
    let mut flat = verus();
    (1..=20).for_each(|w| flat.profile.see(w, 100.0));
    flat.profile.draw();
    (flat.phase, flat.delays.least, flat.wanted, flat.delays.last_max) =
        (Phase::Normal, 100.0, 140.0, Some(100.0));
    (flat.tick, flat.refit) = (Some(Time::from_ms(5)), Time::MAX);
    flat.on_tick(Time::from_ms(5));
    fresh(&flat);
}

#[test]
fn at_the_least_delay_it_stops_and_takes_the_path_for_longer_when_nearly_nothing_is_in_flight() {
    let stuck = |in_flight: u64| {
        let mut v = normal();
        (v.wanted, v.delays.last_max, v.in_flight) = (101.0, Some(700.0), in_flight);
        v.epoch(Time::from_ms(1000));
        (v.wanted, v.delays.least, v.credit)
    };
    assert_eq!(stuck(50_000), (100.0, 100.0, 0));
    assert_eq!(stuck(1000).1, 110.0);
}

#[test]
fn the_curve_is_drawn_every_second_and_epochs_come_every_five_milliseconds() {
    let mut v = normal();
    (1..=60).for_each(|w| v.profile.see(w, 900.0));
    let at = |v: &Verus| v.profile.delay(30.0).unwrap();
    for n in 0..180 {
        v.on_tick(Time::from_ms(1000 + 5 * n));
        assert_eq!(v.permit().wake, Some(Time::from_ms(1005 + 5 * n)));
    }
    assert!((at(&v) - 160.0).abs() < 1.0);
    v.on_tick(Time::from_ms(1900));
    assert!(at(&v) > 200.0);
}

#[test]
fn slow_start_with_fewer_than_five_windows_begins_anew() {
    let mut v = verus();
    sends(&mut v, 0, 1);
    receives(&mut v, 100, 100, 0);
    sends(&mut v, 100, 1);
    v.on_loss(&Loss { now: Time::from_ms(200), ..loss(1000, 0, 1000) });
    assert_eq!((v.phase, v.window, v.permit().wake), (Phase::SlowStart, 1.0, None));
}

#[test]
fn after_a_timeout_slow_start_goes_on_without_delays_up_to_what_a_loss_would_have_left() {
    let unmeasured = |v: &mut Verus, bytes| {
        v.on_ack(&AckSample { now: Time::from_ms(200), rtt: None, ..ack(bytes, 0) });
        v.window
    };
    let mut v = normal();
    let decrease = v.params.decrease;
    v.window = 10.0;
    assert_eq!(unmeasured(&mut v, 3000), 10.0, "not out of slow start");
    v.on_timeout(&loss(0, 0, 0));
    let before = v.profile.clone();
    assert_eq!(unmeasured(&mut v, 2000), 3.0);
    assert_eq!(unmeasured(&mut v, 90_000), decrease * 10.0);
    assert!(v.profile == before, "nothing is learnt from them");
}
