//! Sequences written out.

use super::super::ControllerSpec;
use super::super::contract::conformance::{loss, start};
use super::*;

mod eager;

const US: fn(u64) -> Time = Time::from_us;

/// IRN's table: 40 Gb/s, g = 1/256, F = 5, timers of 55 us, 10 MB, 40 and 200 Mb/s.
const PAPER: Params = Params {
    gain: 1.0 / 256.0,
    fast_recovery: 5,
    alpha_timer: Span::from_us(55),
    rate_timer: Span::from_us(55),
    byte_counter: Some(Counter::Bytes(Bytes::new(10_000_000))),
    additive: Rate::from_mbps(40),
    hyper: Rate::from_mbps(200),
    min_rate: Rate::from_mbps(100),
    decrease: Decrease::AtOnce,
    back_off: None,
};
/// What the HPCC authors' scripts write for 100 Gb/s.
const CHECKED: Params = Params {
    fast_recovery: 1,
    alpha_timer: Span::from_us(1),
    rate_timer: Span::from_us(300),
    byte_counter: None,
    additive: Rate::from_mbps(20),
    min_rate: Rate::from_gbps(1),
    decrease: Decrease::Checked { every: Span::from_us(4) },
    ..PAPER
};

fn dcqcn(spec: Params, gbps: u64) -> Dcqcn {
    Dcqcn::new(&Start { line_rate: Rate::from_gbps(gbps), ..start(1024, 110) }, spec)
}
/// R_C and R_T in Mb/s.
fn rates(c: &Dcqcn) -> (f64, f64) {
    (c.rate.bps() as f64 / 1e6, c.target.bps() as f64 / 1e6)
}
/// Calls `on_tick` at every instant that the controller requests, up to `end`, and returns these instants.
fn run(c: &mut Dcqcn, end: Time) -> Vec<Time> {
    let mut ticks = vec![];
    while let Some(at) = c.permit().wake.filter(|&at| at <= end) {
        c.on_tick(at);
        ticks.push(at);
    }
    ticks
}
fn sends(c: &mut Dcqcn, at: Time, megabytes: u64) {
    (0..megabytes * 1000).for_each(|_| c.on_sent(at, Bytes::new(1000), Bytes::ZERO));
}
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-5 * b
}

#[test]
fn before_the_first_notification_the_line_is_free_and_nothing_counts() {
    let mut c = dcqcn(PAPER, 40);
    sends(&mut c, US(1), 25);
    let free = Permit { window: Bytes::MAX, pace: Some(Rate::from_gbps(40)), wake: None };
    assert_eq!((c.permit(), c.byte_count, c.bytes), (free, 0, 0));
    c.on_loss(&loss(9, 0, 9));
    c.on_timeout(&loss(9, 0, 9));
    assert_eq!(c.permit(), free, "losses are not its affair");
    // What was sent before does not bring the first expiry of the byte counter nearer.
    c.on_notification(US(10));
    sends(&mut c, US(11), 9);
    assert_eq!(rates(&c), (20_000.0, 40_000.0));
    sends(&mut c, US(11), 1);
    assert_eq!(rates(&c), (30_000.0, 40_000.0));
}

#[test]
fn the_first_notification_halves_and_fast_recovery_halves_the_way_back_five_times() {
    let mut c = dcqcn(PAPER, 40);
    c.on_notification(US(100));
    assert_eq!((rates(&c), c.alpha, c.permit().wake), ((20_000.0, 40_000.0), 1.0, Some(US(155))));
    let mut way = vec![];
    for us in [155, 210, 265, 320, 375] {
        assert_eq!(run(&mut c, US(us)), [US(us)]);
        way.push(rates(&c));
    }
    // The fifth is an additive increase already, of a target that is the line's.
    assert_eq!(way.iter().map(|w| w.0).collect::<Vec<_>>(), [30e3, 35e3, 37.5e3, 38.75e3, 39.375e3]);
    assert!(way.iter().all(|w| w.1 == 40e3));
    // α has decayed at the same five instants: (255/256)⁵ = 0.980621. Used for the cut, updated only then.
    c.on_notification(US(400));
    assert!(near(c.rate.bps() as f64, 39.375e9 * (1.0 - 0.980_621 / 2.0)), "{}", c.rate);
    assert_eq!(c.target, Rate::from_mbps(39_375));
    assert!(near(c.alpha, 0.980_621 * 255.0 / 256.0 + 1.0 / 256.0), "{}", c.alpha);
    assert_eq!(c.permit().wake, Some(US(455)));
}

#[test]
fn a_second_notification_moves_the_target_down_and_restarts_both_timers() {
    let mut c = dcqcn(PAPER, 40);
    c.on_notification(US(100));
    c.on_notification(US(150)); // nothing was due: α is still 1
    assert_eq!((rates(&c), c.permit().wake), ((10_000.0, 20_000.0), Some(US(205))));
    run(&mut c, US(205));
    assert_eq!(rates(&c), (15_000.0, 20_000.0));
}

#[test]
fn what_is_due_when_a_notification_comes_comes_first() {
    let mut c = dcqcn(PAPER, 40);
    c.on_notification(US(100));
    c.on_notification(US(155)); // a rise to 30 Gb/s, α = 255/256
    assert_eq!(rates(&c), (15_058.593_750, 30_000.0)); // 30 · (1 − 255/512)
    assert_eq!(run(&mut c, US(209)), []);
}

#[test]
fn bytes_and_time_count_apart_and_hyper_increase_needs_both_beyond_f() {
    let mut c = dcqcn(PAPER, 40);
    c.on_notification(US(100));
    c.on_notification(US(101)); // 10 Gb/s, target 20
    let by_bytes = |c: &mut Dcqcn| {
        sends(c, US(102), 10);
        rates(c)
    };
    let way: Vec<_> = (0..6).map(|_| by_bytes(&mut c)).collect();
    assert_eq!(way[..4], [15e3, 17.5e3, 18.75e3, 19.375e3].map(|rate| (rate, 20e3)));
    assert_eq!(way[4..], [(19_707.5, 20_040.0), (19_893.75, 20_080.0)]); // BC = 5, 6
    let mut targets = vec![];
    for n in 1..=7 {
        run(&mut c, US(101 + n * 55));
        targets.push(rates(&c).1);
    }
    // T = 1 to 5: additive, since BC > F and T ≤ F. T = 6: one hyper step. T = 7, BC = 6: still one.
    assert_eq!(targets, [20_120.0, 20_160.0, 20_200.0, 20_240.0, 20_280.0, 20_480.0, 20_680.0]);
    assert_eq!(by_bytes(&mut c).1, 21_080.0); // BC = 7: two
    c.on_notification(US(600));
    assert_eq!((c.time_count, c.byte_count, c.bytes), (0, 0, 0));
}

#[test]
fn without_a_byte_counter_time_stands_for_both() {
    let mut c = dcqcn(Params { byte_counter: None, ..PAPER }, 40);
    c.on_notification(US(100));
    c.on_notification(US(101));
    sends(&mut c, US(102), 100);
    let targets: Vec<_> = (1..=7)
        .map(|n| {
            run(&mut c, US(101 + n * 55));
            rates(&c).1
        })
        .collect();
    assert_eq!(targets, [20e3, 20e3, 20e3, 20e3, 20_040.0, 20_240.0, 20_640.0]);
}

#[test]
fn a_rate_is_never_below_the_floor_reaches_the_line_and_then_rests() {
    let mut c = dcqcn(PAPER, 40);
    (0..200).for_each(|n| c.on_notification(US(n)));
    assert_eq!(rates(&c), (100.0, 100.0));
    let ticks = run(&mut c, Time::from_ms(900));
    assert_eq!((rates(&c), c.permit().wake), ((40_000.0, 40_000.0), None));
    // 39.9 Gb/s at 40 Mb/s per tick, and some more to come near.
    assert!((1000..1060).contains(&ticks.len()), "{}", ticks.len());
    // A second later α has decayed 18 181 times since, seen or not: to nothing, so a notification costs nothing.
    c.on_notification(Time::from_ms(1900));
    assert_eq!(rates(&c), (40_000.0, 40_000.0));
    assert!(near(c.alpha, 1.0 / 256.0), "{}", c.alpha);
}

#[test]
fn a_loss_may_back_off_once_per_interval() {
    let mut c = dcqcn(Params { back_off: Some(Span::from_us(24)), ..PAPER }, 40);
    let at = |us| Loss { now: US(us), ..loss(9, 0, 9) };
    c.on_loss(&at(10));
    assert_eq!((rates(&c), c.permit().wake), ((20_000.0, 40_000.0), Some(US(65))));
    c.on_timeout(&at(33));
    assert_eq!(rates(&c), (20_000.0, 40_000.0));
    c.on_timeout(&at(34));
    assert_eq!((rates(&c), c.permit().wake), ((10_000.0, 20_000.0), Some(US(89))));
    assert_eq!((c.alpha, c.alpha_at), (1.0, Time::MAX), "α knows notifications only");
}

#[test]
fn checked_the_first_mark_starts_the_timers_and_cuts_nothing_yet() {
    let mut c = dcqcn(CHECKED, 100);
    let ns = |us: u64| US(us) + Span::from_ns(1);
    c.on_notification(US(10));
    assert_eq!((rates(&c), c.permit().wake), ((100e3, 100e3), Some(ns(14))));
    run(&mut c, ns(14));
    // α was updated at 11, 12, 13 and 14 us, the first mark not counted: (255/256)⁴ = 0.984466.
    assert!(near(c.rate.bps() as f64, 100e9 * (1.0 - 0.984_466 / 2.0)), "{}", c.rate);
    assert_eq!((c.target, c.permit().wake), (Rate::from_gbps(100), Some(ns(314))));
    // A mark at 16.5 us: α 15, 16 | 17 with it, 18; the look at 18.001 cuts, from the same target: nothing rose.
    let before = c.rate.bps() as f64;
    c.on_notification(Time::from_ns(16_500));
    assert_eq!(c.permit().wake, Some(ns(18)));
    run(&mut c, ns(18));
    let k = 255.0 / 256.0;
    let alpha = (0.984_466 * k * k * k + 1.0 / 256.0) * k;
    assert!(near(c.alpha, alpha) && near(c.rate.bps() as f64, before * (1.0 - alpha / 2.0)), "{}", c.rate);
    assert_eq!((c.target, c.permit().wake), (Rate::from_gbps(100), Some(ns(318))));
    // It rises at 318.001; a mark at 319 is seen at 322.001, and now the target moves to the rate.
    run(&mut c, ns(318));
    let risen = c.rate;
    assert!(near(risen.bps() as f64, (before * (1.0 - alpha / 2.0) + 100e9) / 2.0));
    c.on_notification(US(319));
    assert_eq!(run(&mut c, ns(322)), [ns(322)]);
    assert_eq!(c.target, risen);
    assert!(c.rate < risen);
}

#[test]
fn checked_the_first_rise_recovers_the_second_adds_and_all_later_ones_add_the_same_more() {
    let mut c = dcqcn(CHECKED, 100);
    let ns = |us: u64| US(us) + Span::from_ns(1);
    (0..40).for_each(|n| {
        c.on_notification(US(4 * n));
        run(&mut c, US(4 * n + 3));
    });
    run(&mut c, ns(160));
    c.target = Rate::from_gbps(50);
    let cut_at = ns(160);
    let targets: Vec<_> = (1..=5)
        .map(|n| {
            run(&mut c, cut_at + Span::from_us(300 * n));
            rates(&c).1
        })
        .collect();
    assert_eq!(targets, [50_000.0, 50_020.0, 50_220.0, 50_420.0, 50_620.0]);
}

#[test]
fn checked_a_rise_comes_before_a_look_at_the_same_instant() {
    let mut c = dcqcn(CHECKED, 100);
    let ns = |us: u64| US(us) + Span::from_ns(1);
    c.on_notification(US(10));
    run(&mut c, ns(14)); // the rise is due at 314.001, which is a look too
    let risen = c.rate.bps().midpoint(100_000_000_000);
    c.on_notification(US(313));
    run(&mut c, ns(314));
    assert!(c.target.bps().abs_diff(risen) <= 1, "{}: risen, then taken as the target", c.target);
    assert!(c.rate < c.target);
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let refuse = |spec| ControllerSpec::Dcqcn(spec).make(&start(1000, 1)).unwrap_err().to_string();
    assert!(refuse(Params { gain: 0.0, ..PAPER }).contains("`gain`: 0 is"));
    assert!(refuse(Params { alpha_timer: Span::ZERO, ..PAPER }).contains("alpha_timer"));
    assert!(refuse(Params { rate_timer: Span::ZERO, ..PAPER }).contains("rate_timer"));
    assert!(
        refuse(Params { byte_counter: Some(Counter::Bytes(Bytes::ZERO)), ..PAPER }).contains("byte_counter")
    );
    assert!(refuse(Params { min_rate: Rate::from_gbps(11), ..PAPER }).contains("`min_rate`: 11Gbps is"));
    let every = Span::from_us(4);
    let checked = Decrease::Checked { every };
    assert!(refuse(Params { decrease: checked, ..PAPER }).contains("by time alone"));
    let never = Decrease::Checked { every: Span::ZERO };
    assert!(refuse(Params { decrease: never, byte_counter: None, ..PAPER }).contains("decrease.every"));
}
