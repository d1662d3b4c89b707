//! The RFC's numbers, and windows that can be redone by hand: segments of 1000 B.

use super::super::contract::conformance::{ack, loss, start};
use super::*;

const PLAIN: Params =
    Params { c: 0.4, beta: 0.7, fast_convergence: true, reno_friendly: false, hystart: false };

/// In congestion avoidance at `window` segments, with round trips of `rtt_ms`.
fn cubic(params: Params, window: u64, rtt_ms: u64) -> Cubic {
    let start =
        Start { initial_threshold: Bytes::ZERO, base_rtt: Span::from_ms(rtt_ms), ..start(1000, window) };
    Cubic::new(&start, params)
}
/// An ACK of one segment.
fn reported(c: &mut Cubic, at_ms: u64) {
    let now = Time::from_ms(at_ms);
    c.on_ack(&AckSample { now, rtt: None, ..ack(1000, 0) });
}
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.abs().max(1.0)
}

#[test]
fn a_loss_leaves_seven_tenths_and_k_is_when_the_window_is_back() {
    let mut c = cubic(PLAIN, 100, 100);
    c.on_loss(&loss(100_000, 0, 100_000));
    assert!(near(c.cwnd, 70.0) && near(c.ssthresh, 70.0) && c.w_max == Some(100.0) && c.cwnd_prior == 100.0);
    reported(&mut c, 1000);
    // K = ∛(30 / 0.4) = ∛75 = 4.2171633 s
    let k = c.epoch.unwrap().k;
    assert!((k - 4.217_163_3).abs() < 1e-7, "{k}");
    assert!(near(c.w_cubic(0.0, k, 100.0), 70.0) && near(c.w_cubic(k, k, 100.0), 100.0));
    assert!(near(c.w_cubic(2.0 * k, k, 100.0), 130.0), "as convex after as concave before");
}

#[test]
fn each_ack_goes_its_part_of_the_way_to_the_window_a_round_trip_ahead() {
    let mut c = cubic(PLAIN, 100, 100);
    c.on_loss(&loss(100_000, 0, 100_000));
    reported(&mut c, 1000);
    // t = 0, target W(0.1) = 0.4 (0.1 − 4.21716)³ + 100 = 72.0841 ; a seventieth of the way
    let target = 0.4 * libm::pow(0.1 - libm::cbrt(75.0), 3.0) + 100.0;
    assert!((target - 72.084_1).abs() < 1e-3, "{target}");
    assert!(near(c.cwnd, 70.0 + (target - 70.0) / 70.0), "{}", c.cwnd);
    // An ACK of two segments goes twice as far as one.
    let (before, mut twice) = (c.cwnd, c.clone());
    reported(&mut c, 1000);
    twice.on_ack(&AckSample { now: Time::from_ms(1000), rtt: None, ..ack(2000, 0) });
    assert!(near(twice.cwnd - before, 2.0 * (c.cwnd - before)));
}

#[test]
fn far_beyond_the_maximum_a_window_of_acks_adds_half_of_it_at_most() {
    let mut c = cubic(PLAIN, 100, 100);
    c.on_loss(&loss(100_000, 0, 100_000));
    reported(&mut c, 0);
    let before = c.cwnd;
    reported(&mut c, 60_000); // W(60 s) is 69 000 segments
    assert!(near(c.cwnd, before + 0.5), "{}", c.cwnd);
    // And a target below the window, after a pause that was not counted, never shrinks it.
    let mut c = cubic(PLAIN, 100, 100);
    c.on_loss(&loss(100_000, 0, 100_000));
    reported(&mut c, 0);
    c.cwnd = 90.0;
    reported(&mut c, 100);
    assert!(near(c.cwnd, 90.0));
}

#[test]
fn a_flow_whose_maximum_fell_gives_way() {
    let mut c = cubic(PLAIN, 100, 100);
    c.on_loss(&loss(100_000, 0, 100_000));
    c.cwnd = 80.0;
    c.on_loss(&loss(80_000, 100_000, 180_000));
    assert!(near(c.w_max.unwrap(), 68.0), "80 (1 + 0.7) / 2");
    assert!(near(c.cwnd, 56.0));
    let mut c = cubic(Params { fast_convergence: false, ..PLAIN }, 100, 100);
    c.on_loss(&loss(100_000, 0, 100_000));
    c.cwnd = 80.0;
    c.on_loss(&loss(80_000, 100_000, 180_000));
    assert_eq!(c.w_max, Some(80.0));
}

#[test]
fn where_reno_would_be_faster_the_window_is_renos() {
    let mut c = cubic(Params { reno_friendly: true, ..PLAIN }, 20, 1);
    c.on_loss(&loss(20_000, 0, 20_000));
    assert!(near(c.cwnd, 14.0));
    // α_cubic = 3 · 0.3 / 1.7 = 0.529 segments per window of ACKs, in a millisecond, when the curve has not moved yet.
    (0..14).for_each(|_| reported(&mut c, 0));
    assert!((c.cwnd - 14.529).abs() < 0.02, "{}", c.cwnd);
    // From the window of before (20) on, 1 per window.
    (0..2000).for_each(|_| {
        if c.cwnd < 20.0 {
            reported(&mut c, 1)
        }
    });
    let before = c.cwnd;
    (0..20).for_each(|_| reported(&mut c, 1));
    assert!((c.cwnd - before - 1.0).abs() < 0.05, "{}", c.cwnd - before);
}

#[test]
fn a_timeout_starts_from_one_segment_and_the_curve_from_where_slow_start_ends() {
    let mut c = cubic(PLAIN, 100, 100);
    c.on_timeout(&loss(50_000, 0, 100_000));
    assert!(near(c.cwnd, 1.0) && near(c.ssthresh, 35.0));
    (0..34).for_each(|_| reported(&mut c, 10));
    assert!(near(c.cwnd, 35.0));
    reported(&mut c, 20);
    assert_eq!((c.w_max, c.epoch.unwrap().k), (Some(35.0), 0.0));
}

#[test]
fn a_mark_cuts_once_per_window_of_data() {
    let mut c = cubic(PLAIN, 100, 100);
    let in_flight = Bytes::new(99_000);
    let marked = |acked_to| AckSample { acked_to, sent_to: acked_to + 100_000, in_flight, ..ack(1000, 1000) };
    c.on_ack(&marked(1000));
    c.on_ack(&marked(2000));
    c.on_ack(&marked(101_000));
    assert!(near(c.cwnd, 70.0));
    c.on_ack(&marked(102_000));
    assert!(near(c.cwnd, 49.0));
}

#[test]
fn idle_time_does_not_count() {
    let mut c = cubic(PLAIN, 100, 100);
    c.on_loss(&loss(100_000, 0, 100_000));
    reported(&mut c, 0);
    let mut idle = c.clone();
    reported(&mut c, 500);
    idle.on_restart(Time::from_ms(10_500), Span::from_ms(10_000));
    reported(&mut idle, 10_500);
    assert_eq!(c.cwnd, idle.cwnd);
}

/// RFC 9438 §5.1, figure 5: one loss every 1/p segments makes (C (3 + β) / (4 (1 − β)))^¼ (RTT / p)^¾ on
/// average, if the maximum is where that average belongs: 4 / (3 + β) of it. It stays there.
#[test]
fn the_average_window_is_that_of_the_rfcs_formula() {
    // Round trips of 0.1 s: p = 1e-4 → 187 segments, 1e-5 → 1054.
    for (every, expected) in [(10_000u64, 187.0), (100_000, 1054.0)] {
        let top = expected * 4.0 / 3.7;
        let mut c = cubic(Params { fast_convergence: false, ..PLAIN }, 1, 100);
        c.cwnd = top;
        c.on_loss(&Loss { now: Time::ZERO, ..loss(1_000_000_000, 0, 0) });
        let (mut now, mut area) = (0.0, 0.0);
        for n in 1..=4 * every {
            let gap = 0.1 / c.cwnd; // a window per round trip
            (now, area) = (now + gap, area + c.cwnd * gap);
            let at = Time::from_ns((now * 1e9) as u64);
            if n % every == 0 {
                assert!((c.cwnd / top - 1.0).abs() < 2e-3, "{} after {n}, {top}", c.cwnd);
                c.on_loss(&Loss { now: at, ..loss(1_000_000_000, 0, 0) });
            } else {
                c.on_ack(&AckSample { now: at, rtt: None, ..ack(1000, 0) });
            }
        }
        let average = area / now;
        assert!((average / expected - 1.0).abs() < 2e-3, "{average}, the RFC has {expected}");
    }
}

/// A round of `n` ACKs with round trips of `rtt_ms`; bytes go on from `from`.
fn round(c: &mut Cubic, from: &mut u64, n: u64, rtt_ms: u64) {
    for _ in 0..n {
        *from += 1000;
        let window = c.permit().window.get();
        c.on_ack(&AckSample {
            rtt: Some(Span::from_ms(rtt_ms)),
            acked_to: *from,
            sent_to: *from + window,
            ..ack(1000, 0)
        });
    }
}

/// The rest of HyStart++'s round.
fn finish(c: &mut Cubic, from: &mut u64, rtt_ms: u64) {
    let left = (c.hystart.unwrap().window_end - *from) / 1000;
    round(c, from, left, rtt_ms);
}

#[test]
fn hystart_slows_down_when_round_trips_grow_and_ends_slow_start_after_five_rounds() {
    let mut c = Cubic::new(&start(1000, 10), Params { hystart: true, ..PLAIN });
    let mut at = 0;
    round(&mut c, &mut at, 1, 40); // the first ACK opens the first round
    let first = c.hystart.unwrap().window_end / 1000;
    round(&mut c, &mut at, first - 1, 40);
    let before = c.cwnd;
    assert!(near(before, 10.0 + first as f64), "a segment per ACK");
    // 40 → 45 ms: an eighth of 40 is 5. After eight samples growth is a quarter.
    round(&mut c, &mut at, 8, 45);
    assert!(c.hystart.unwrap().conservative.is_some());
    let before = c.cwnd;
    round(&mut c, &mut at, 4, 45);
    assert!(near(c.cwnd, before + 1.0));
    // Four more rounds, and it is over without a loss.
    let mut acks = 0;
    while c.hystart.is_some() && acks < 1000 {
        round(&mut c, &mut at, 1, 45);
        acks += 1;
    }
    assert!(c.hystart.is_none() && c.ssthresh <= c.cwnd && c.cwnd_prior == c.ssthresh, "{c:?}");
    // The round in which it began and four whole ones of 20 to 50 segments.
    assert!((80..250).contains(&acks), "{acks}");
}

#[test]
fn hystart_goes_on_if_round_trips_fall_again_and_four_milliseconds_are_noise() {
    let mut c = Cubic::new(&start(1000, 10), Params { hystart: true, ..PLAIN });
    let mut at = 0;
    round(&mut c, &mut at, 1, 10);
    let first = c.hystart.unwrap().window_end / 1000;
    round(&mut c, &mut at, first - 1, 10);
    round(&mut c, &mut at, 8, 13);
    assert!(c.hystart.unwrap().conservative.is_none(), "less than MIN_RTT_THRESH");
    finish(&mut c, &mut at, 13);
    round(&mut c, &mut at, 8, 20);
    assert!(c.hystart.unwrap().conservative.is_some());
    finish(&mut c, &mut at, 20);
    round(&mut c, &mut at, 8, 12);
    assert!(c.hystart.unwrap().conservative.is_none());
}

/// RFC 9406 §4.3.
#[test]
fn hystart_is_for_the_first_slow_start_only() {
    let mut c = Cubic::new(&start(1000, 10), Params { hystart: true, ..PLAIN });
    assert!(c.hystart.is_some());
    c.on_timeout(&loss(10_000, 0, 10_000));
    reported(&mut c, 10);
    assert!(c.cwnd < c.ssthresh && c.hystart.is_none());
}
