//! Algorithm 1 branch by branch, with numbers that can be redone by hand.

use super::super::ControllerSpec;
use super::super::contract::conformance::{ack, loss, start};
use super::*;

mod hpcc;
mod queues;

/// §3.5: δ 10 Mb/s, β 0.8, thresholds of 50 and 500 us, hyper-active after five. α 1 and no scaling make
/// arithmetic plain.
const PLAIN: Params = Params {
    variant: Variant::Original,
    initial_share: 0.1,
    t_low: Span::from_us(50),
    t_high: Span::from_us(500),
    min_rtt: Some(Span::from_us(20)),
    alpha: 1.0,
    beta: 0.8,
    additive: Rate::from_mbps(10),
    hyper: Hyper { after: 5, step: Rate::from_mbps(50), below_t_low: false, count: Count::Gradient },
    gradient_cap: None,
    scale_updates: false,
    once_per_round: false,
    use_first_sample: false,
    reset_after_idle: true,
    idle_holds: true,
    max_decrease: 0.5,
    min_rate: Rate::from_mbps(10),
    back_off: None,
};

/// A flow that starts at 1 Gb/s of 10.
fn timely(spec: Params) -> Timely {
    Timely::new(&start(1000, 10), spec)
}
/// Mb/s, to three decimals, after an ACK at `at` with a round trip of `rtt`, both in us.
fn sample(c: &mut Timely, at: u64, rtt: u64) -> f64 {
    c.on_ack(&AckSample { now: Time::from_us(at), rtt: Some(Span::from_us(rtt)), ..ack(1000, 0) });
    libm::round(c.rate.bps() as f64 / 1e3) / 1e3
}
/// Mb/s after each of these round trips, 100 us apart.
fn samples(spec: Params, rtts: &[u64]) -> Vec<f64> {
    let mut c = timely(spec);
    (1..).zip(rtts).map(|(n, &rtt)| sample(&mut c, 100 * n, rtt)).collect()
}

#[test]
fn the_first_sample_is_only_stored_and_the_window_never_binds() {
    let mut c = timely(PLAIN);
    assert_eq!(sample(&mut c, 1, 900), 1000.0);
    assert_eq!(c.permit().window, Bytes::MAX);
    assert_eq!(c.permit().pace, Some(Rate::from_gbps(1)));
    assert_eq!(samples(Params { initial_share: 1.0, ..PLAIN }, &[100]), [10_000.0]);
}

#[test]
fn below_t_low_the_rate_rises_by_delta_whatever_the_gradient() {
    assert_eq!(samples(PLAIN, &[20, 49, 49, 20]), [1000.0, 1010.0, 1020.0, 1030.0]);
    // Never hyper-active, however many falls in a row, unless configured.
    let falls = [49, 48, 47, 46, 45, 44, 43];
    assert_eq!(samples(PLAIN, &falls)[6], 1060.0);
    let below = Hyper { below_t_low: true, ..PLAIN.hyper };
    assert_eq!(samples(Params { hyper: below, ..PLAIN }, &falls)[6], 1000.0 + 4.0 * 10.0 + 2.0 * 50.0);
}

#[test]
fn above_t_high_the_rate_falls_by_the_excess() {
    // 1 − 0.8 (1 − 500/1000) = 0.6, of a falling round trip too.
    assert_eq!(samples(PLAIN, &[1000, 1000]), [1000.0, 600.0]);
    assert_eq!(samples(PLAIN, &[2000, 1000]), [1000.0, 600.0]);
    // 1 − 0.8 (1 − 500/4000) = 0.3: at most half at once, unless that bound is off.
    assert_eq!(samples(PLAIN, &[1000, 4000]), [1000.0, 500.0]);
    assert_eq!(samples(Params { max_decrease: 1.0, ..PLAIN }, &[1000, 4000])[1].round(), 300.0);
    assert_eq!(samples(PLAIN, &[500, 500]), [1000.0, 1010.0], "T_high itself is in the band");
}

#[test]
fn in_the_band_the_gradient_decides() {
    // 100 → 104 us: g = 4/20 = 0.2, factor 1 − 0.16 = 0.84. Level: g = 0, + 10 Mb/s.
    assert_eq!(samples(PLAIN, &[100, 104, 104]), [1000.0, 840.0, 850.0]);
    assert_eq!(samples(PLAIN, &[100, 99]), [1000.0, 1010.0]);
    // 50 us is no longer below T_low.
    assert_eq!(samples(PLAIN, &[46, 50])[1].round(), 840.0);
}

#[test]
fn the_average_weighs_the_newest_difference_by_alpha() {
    // α = 1/4: differences 8 and 0 make 2 and 1.5 us, gradients 0.1 and 0.075, factors 0.92 and 0.94.
    let spec = Params { alpha: 0.25, ..PLAIN };
    assert_eq!(samples(spec, &[100, 108, 108]), [1000.0, 920.0, 864.8]);
    // History is kept current outside the band: after a climb from 40 to 60, g = 20/20, not (60 − 100)/20.
    assert_eq!(samples(PLAIN, &[100, 40, 60]), [1000.0, 1010.0, 505.0]);
}

#[test]
fn the_gradient_may_be_capped_which_a_scaled_update_shows() {
    // g = 60/20 = 3; 5 us after the last: f = 1/4. 1 − 0.8 · 3/4 = 0.4, and half is the bound; capped, 1 − 0.2.
    let run = |spec| {
        let mut c = timely(Params { scale_updates: true, ..spec });
        sample(&mut c, 100, 100);
        sample(&mut c, 105, 160)
    };
    assert_eq!(run(PLAIN), 500.0);
    assert_eq!(run(Params { gradient_cap: Some(1.0), ..PLAIN }), 800.0);
    assert_eq!(run(Params { max_decrease: 1.0, ..PLAIN }).round(), 400.0);
}

#[test]
fn five_negative_gradients_in_a_row_make_the_step_five_times_as_large() {
    let falls = [200, 199, 198, 197, 196, 195, 194];
    let expected = [1000.0, 1010.0, 1020.0, 1030.0, 1040.0, 1090.0, 1140.0];
    assert_eq!(samples(PLAIN, &falls), expected);
    // A level round trip is not negative: it ends the row, itself with the small step.
    assert_eq!(samples(PLAIN, &[200, 199, 198, 197, 196, 196, 195])[6], 1060.0);
    // Those below T_low count too.
    assert_eq!(samples(PLAIN, &[100, 49, 48, 47, 46, 45, 44])[6], 1060.0);
    assert_eq!(
        samples(PLAIN, &[70, 49, 48, 47, 46, 80, 55])[6],
        samples(PLAIN, &[70, 49, 48, 47, 46, 80])[5] + 10.0
    );
    let never = Hyper { after: 0, ..PLAIN.hyper };
    assert_eq!(samples(Params { hyper: never, ..PLAIN }, &falls)[6], 1060.0);
}

#[test]
fn what_counts_towards_hyper_active_increase_is_a_choice() {
    // α = 1/2. Differences −8, −1, +1, −1, −1: averages −4, −2.5, −0.75, −0.875, −0.9375: five negative gradients in a
    // row, but only two negative differences. The fifth step is the large one by the gradient only.
    let rtts = [200, 192, 191, 192, 191, 190];
    let fifth = |count| {
        let hyper = Hyper { count, ..PLAIN.hyper };
        let rates = samples(Params { alpha: 0.5, hyper, ..PLAIN }, &rtts);
        rates[5] - rates[4]
    };
    assert_eq!(fifth(Count::Gradient), 50.0);
    assert_eq!(fifth(Count::Difference), 10.0);
    // Increases count if five came before, level and below T_low or not.
    assert_eq!(fifth(Count::Increase), 10.0);
    let hyper = Hyper { count: Count::Increase, below_t_low: true, ..PLAIN.hyper };
    let spec = Params { hyper, ..PLAIN };
    assert_eq!(samples(spec, &[30; 8])[5..], [1050.0, 1100.0, 1150.0]);
    assert_eq!(samples(spec, &[60; 8])[5..], [1050.0, 1100.0, 1150.0]);
    assert_eq!(samples(spec, &[60, 60, 60, 60, 64, 60, 60, 60])[7], 895.2, "a decrease ends the row");
}

#[test]
fn updates_closer_than_min_rtt_count_in_proportion() {
    let mut c = timely(Params { scale_updates: true, ..PLAIN });
    sample(&mut c, 100, 30);
    assert_eq!(sample(&mut c, 105, 30), 1002.5); // 5 us of 20: a quarter
    assert_eq!(sample(&mut c, 125, 30), 1012.5);
    assert_eq!(sample(&mut c, 925, 30), 1022.5); // never more than one
    // Decreases alike: 1 − 0.8 (1 − 500/1000)/4 = 0.9.
    assert_eq!(sample(&mut c, 930, 1000), 920.25);
    // Four quarters are one whole where the step is additive.
    let mut c = timely(Params { scale_updates: true, ..PLAIN });
    let whole = [100, 105, 110, 115, 120].map(|at| sample(&mut c, at, 30));
    assert_eq!(whole[4], 1010.0);
}

#[test]
fn with_one_threshold_the_size_of_the_queue_is_controlled_and_no_gradient() {
    let one = Span::from_us(100);
    let spec = Params { t_low: one, t_high: one, ..PLAIN };
    // Below: + δ, rising or falling. Above: 1 − 0.8 (1 − 100/125) = 0.84. At it: nothing.
    assert_eq!(samples(spec, &[90, 99, 98, 125]), [1000.0, 1010.0, 1020.0, 856.8]);
    assert_eq!(samples(spec, &[90, 100, 100]), [1000.0, 1000.0, 1000.0]);
    // Whatever α, minRTT and the hyper-active step are, the rates are the same: gradients are never used.
    let rtts: Vec<u64> = (0..300).map(|n| 60 + n * 37 % 90).collect();
    let hyper = Hyper { after: 1, step: Rate::from_gbps(1), ..PLAIN.hyper };
    let other = Params { alpha: 0.3, min_rtt: Some(Span::from_us(1)), hyper, ..spec };
    assert_eq!(samples(spec, &rtts), samples(other, &rtts));
}

#[test]
fn patched_the_gradient_weighs_between_increase_and_a_decrease_by_the_distance_from_the_reference() {
    let rtt_ref = Span::from_us(50);
    let spec = Params { variant: Variant::Patched { rtt_ref }, beta: 0.008, ..PLAIN };
    // g = −5/20 = −1/4: w = 0, + δ.
    assert_eq!(samples(spec, &[105, 100])[1], 1010.0);
    // g = 0: w = 1/2, error (100 − 50)/50 = 1: 10/2 + 1000 (1 − 0.008/2) = 5 + 996.
    assert_eq!(samples(spec, &[100, 100])[1], 1001.0);
    // g = 2/20: w = 0.7; 3 + 1000 (1 − 0.0056) = 997.4.
    assert_eq!(samples(spec, &[98, 100])[1], 997.4);
    // g = 10/20: w = 1, nothing is added: 992.
    assert_eq!(samples(spec, &[90, 100])[1], 992.0);
    // At the reference the rate only rises; outside the band all is as in Algorithm 1.
    assert_eq!(samples(spec, &[50, 50])[1], 1005.0);
    assert_eq!(samples(spec, &[49, 49])[1], 1010.0);
    assert_eq!(samples(spec, &[1000, 1000])[1], 996.0);
}

#[test]
fn once_per_round_acks_of_data_sent_before_the_last_update_are_passed_over() {
    let mut c = timely(Params { once_per_round: true, ..PLAIN });
    let mut at = |acked_to, sent_to, rtt| {
        let (now, rtt) = (Time::from_us(acked_to), Some(Span::from_us(rtt)));
        c.on_ack(&AckSample { now, rtt, acked_to, sent_to, ..ack(1000, 0) });
        c.rate.bps() / 1_000_000
    };
    assert_eq!(at(1000, 9000, 30), 1000); // stored
    assert_eq!(at(2000, 10_000, 900), 1000);
    assert_eq!(at(9000, 17_000, 900), 1000);
    assert_eq!(at(10_000, 18_000, 30), 1010);
    assert_eq!(at(18_000, 26_000, 30), 1010);
    assert_eq!(at(19_000, 27_000, 30), 1020);
}

#[test]
fn a_flow_that_its_application_limits_may_fall_but_not_rise() {
    let mut c = timely(PLAIN);
    let mut limited = |rtt| {
        let rtt = Some(Span::from_us(rtt));
        c.on_ack(&AckSample { rtt, app_limited: true, in_flight: Bytes::new(1), ..ack(1000, 0) });
        c.rate.bps() / 1_000_000
    };
    assert_eq!([30, 30, 100, 99, 1000].map(&mut limited), [1000, 1000, 500, 500, 300]);
    let mut c = timely(Params { idle_holds: false, ..PLAIN });
    let rtt = Some(Span::from_us(30));
    let samples = [0, 1].map(|_| {
        c.on_ack(&AckSample { rtt, app_limited: true, ..ack(1000, 0) });
        c.rate.bps() / 1_000_000
    });
    assert_eq!(samples, [1000, 1010], "the rule is off");
}

#[test]
fn after_ten_min_rtt_without_anything_to_send_the_next_sample_is_a_first_one() {
    let run = |idle: Option<u64>| {
        let mut c = timely(PLAIN);
        let rtt = Some(Span::from_us(100));
        c.on_ack(&AckSample { now: Time::ZERO, rtt, ..ack(1000, 0) });
        let resumes = Time::from_us(idle.unwrap_or(5000));
        if let Some(idle) = idle {
            c.on_restart(resumes, Span::from_us(idle));
        }
        c.on_sent(resumes, Bytes::new(1000), Bytes::new(1000));
        sample(&mut c, resumes.ps() / 1_000_000 + 104, 104)
    };
    assert_eq!(run(Some(201)), 1000.0);
    assert_eq!(run(Some(200)), 840.0, "not longer than 10 minRTT");
    assert_eq!(run(None), 840.0, "that long is the gap of a slow pace, not idleness");
}

#[test]
fn with_first_counts_a_sample_without_a_predecessor_is_an_update_with_a_difference_of_zero() {
    let spec = Params { use_first_sample: true, scale_updates: true, ..PLAIN };
    // 1 - 0.8 (1 - 500 / 1000), a whole one although nothing was before.
    assert_eq!(samples(spec, &[1000, 30]), [600.0, 610.0]);
    assert_eq!(samples(spec, &[100, 104]), [1010.0, 848.4]); // no gradient yet; then 4 us of 20
    let mut c = timely(spec);
    sample(&mut c, 1, 400);
    c.on_restart(Time::from_us(1000), Span::from_us(201));
    assert_eq!(sample(&mut c, 1000, 100), 1020.0); // not a gradient of -300 us
}

#[test]
fn without_forgetting_a_sample_after_a_pause_goes_on_from_the_one_before() {
    let mut c = timely(Params { reset_after_idle: false, ..PLAIN });
    sample(&mut c, 1, 100);
    c.on_restart(Time::from_us(9000), Span::from_us(8000));
    assert_eq!(sample(&mut c, 9000, 104), 840.0);
}

#[test]
fn rates_stay_between_the_floor_and_the_line_and_samples_may_be_missing() {
    assert_eq!(samples(PLAIN, &[1000; 9])[8], 16.796); // 1000 · 0.6⁸
    assert_eq!(*samples(PLAIN, &[1000; 30]).last().unwrap(), 10.0);
    let spec = Params { initial_share: 1.0, ..PLAIN };
    assert_eq!(*samples(spec, &[30; 9]).last().unwrap(), 10_000.0);
    let mut c = timely(PLAIN);
    c.on_ack(&AckSample { rtt: None, ..ack(1000, 1000) });
    assert_eq!(c.prev_rtt, None);
    assert_eq!(samples(PLAIN, &[0, 0]), [1000.0, 1010.0]);
}

#[test]
fn a_loss_may_back_off_once_per_interval() {
    let at = |us| Loss { now: Time::from_us(us), ..loss(9, 0, 9) };
    let mut c = timely(PLAIN);
    c.on_loss(&at(1));
    c.on_timeout(&at(1));
    assert_eq!(c.rate, Rate::from_gbps(1));
    let mut c = timely(Params { back_off: Some(Span::from_us(24)), ..PLAIN });
    let rates = [10, 33, 34, 57].map(|us| {
        c.on_loss(&at(us));
        c.rate.bps() / 1_000_000
    });
    assert_eq!(rates, [500, 500, 250, 250]);
    c.on_timeout(&at(58));
    assert_eq!(c.rate, Rate::from_mbps(125));
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let refuse = |spec| ControllerSpec::Timely(spec).make(&start(1000, 1)).unwrap_err().to_string();
    assert!(refuse(Params { initial_share: 0.0, ..PLAIN }).contains("initial_share"));
    assert!(refuse(Params { alpha: f64::NAN, ..PLAIN }).contains("alpha"));
    assert!(refuse(Params { beta: 1.5, ..PLAIN }).contains("`beta`: 1.5 is"));
    assert!(refuse(Params { max_decrease: 0.0, ..PLAIN }).contains("max_decrease"));
    assert!(refuse(Params { gradient_cap: Some(0.0), ..PLAIN }).contains("gradient_cap"));
    assert!(refuse(Params { min_rtt: Some(Span::ZERO), ..PLAIN }).contains("min_rtt"));
    assert!(refuse(Params { t_low: Span::ZERO, t_high: Span::ZERO, ..PLAIN }).contains("t_high"));
    assert!(refuse(Params { t_low: Span::from_us(501), ..PLAIN }).contains("T_low, 501us"));
    let variant = Variant::Patched { rtt_ref: Span::ZERO };
    assert!(refuse(Params { variant, ..PLAIN }).contains("rtt_ref"));
    assert!(refuse(Params { min_rate: Rate::from_gbps(11), ..PLAIN }).contains("`min_rate`: 11Gbps is"));
}
