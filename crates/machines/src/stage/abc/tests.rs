use super::super::tests::{behind, finds};
use super::*;
use crate::link::{BatchedSpec, Step, SteppedSpec, Trace, TracedSpec};
use proptest::prelude::*;
use std::sync::Arc;

/// Before a link of one opportunity of 1500 B per ms, of which the router knows all that passes.
fn traced(p: Params) -> Abc {
    let trace = Arc::new(Trace::from_ms((1..=100).collect()).unwrap());
    let mut m = abc(p);
    m.stands_before(&TracedSpec { trace, bytes: 1500 }.into());
    m
}
fn abc(p: Params) -> Abc {
    p.make(Stream::new(1, "abc", 0), Rate::ZERO).unwrap()
}
/// A router without credit.
fn spent() -> Abc {
    Abc { token: 0.0, ..abc(Params::default()) }
}
const CAPABLE: Leaving = Leaving { ecn: Ecn::Ect0 };

#[test]
fn half_of_the_packets_accelerate_in_turn_and_all_but_the_first_at_a_share_of_one() {
    let mut half = spent();
    let seen: Vec<bool> = (0..8).map(|_| half.accelerates(0.5, 1500, false)).collect();
    assert_eq!(seen, [false, false, true, false, true, false, true, false], "1.0 is not above 1");
    let mut all = spent();
    let seen: Vec<bool> = (0..4).map(|_| all.accelerates(1.0, 1500, false)).collect();
    assert_eq!(seen, [false, true, true, true]);
}

proptest! {
    /// Never more than the share and the credit; at a constant share, that share.
    #[test]
    fn of_n_packets_the_sum_of_shares_accelerates_give_or_take_the_credit(
        shares in prop::collection::vec(0.0f64..1.0, 1..300), constant in 0.05f64..1.0
    ) {
        let mut m = abc(Params::default());
        let kept = shares.iter().filter(|f| m.accelerates(**f, 1500, false)).count() as f64;
        prop_assert!(kept <= shares.iter().sum::<f64>() + 5.0);
        let mut m = spent();
        for n in 1..500 {
            let before = m.clone();
            let kept = f64::from(u8::from(m.accelerates(constant, 1500, false)));
            prop_assert!((before.token + constant - kept - m.token).abs() < 1e-9, "{n}");
            prop_assert!((0.0..=2.0).contains(&m.token));
        }
    }
}

/// The dissertation, §2.3.1.2: a chain of routers leaves the smallest share.
#[test]
fn through_several_routers_the_smallest_share_is_left() {
    for shares in [vec![0.6, 0.5], vec![0.49, 0.5, 0.51], vec![0.9, 0.5, 0.7]] {
        let mut routers: Vec<Abc> = shares.iter().map(|_| spent()).collect();
        let mut kept = 0;
        for _ in 0..20_000 {
            let mut accelerates = true;
            for (router, f) in routers.iter_mut().zip(&shares) {
                accelerates = router.accelerates(*f, 1500, !accelerates);
            }
            kept += u32::from(accelerates);
        }
        let least = shares.iter().copied().fold(1.0, f64::min);
        assert!((f64::from(kept) / 20_000.0 - least).abs() < 1e-3, "{shares:?}: {kept}");
    }
}

/// 1500 B per ms (12 Mb/s) have left for long; the packet leaves `packets` behind.
fn share(mut m: Abc, packets: u64) -> f64 {
    let mut f = 0.0;
    for ms in 0..100 {
        m.offered.push(Time::from_ms(ms), 1500);
        m.departed.push(Time::from_ms(ms), 1500);
        f = m.share(Time::from_ms(ms), packets * 1500, 1500, Rate::from_mbps(12));
    }
    f
}

#[test]
fn the_share_is_half_the_target_over_what_leaves_and_falls_by_the_excess_delay() {
    for m in [abc(Params::default()), traced(Params::default())] {
        assert!((share(m.clone(), 0) - 0.49).abs() < 1e-9);
        assert!((share(m.clone(), 49) - 0.49).abs() < 1e-9, "50 ms may stand");
        // 20 ms more: (0.98 − 20/133) / 2.
        assert!((share(m.clone(), 69) - 0.5 * (0.98 - 20.0 / 133.0)).abs() < 1e-9);
        assert_eq!(share(m, 300), 0.0, "a negative target is none");
    }
}

#[test]
fn unused_opportunities_are_capacity() {
    let mut m = traced(Params::default());
    // One in two is used: the share is twice as large, at most 1.
    for ms in 0..100 {
        m.on_opportunity(Time::from_ms(ms), 1500);
        assert_eq!(m.on_departure(Time::from_ms(ms), &behind(0, 0, 1500), CAPABLE), Leave::Pass);
    }
    assert_eq!((m.offered.sum(), m.departed.sum()), (60_000, 30_000));
    assert!((m.share(Time::from_ms(99), 0, 1500, Rate::ZERO) - 0.98).abs() < 1e-9);
}

/// The flaw of counting departures as capacity where there are no opportunities: they are never more than
/// what leaves, so that no sender could accelerate.
#[test]
fn a_fixed_link_that_idles_has_its_whole_rate_to_give() {
    let mut m = abc(Params::default());
    let view = View { rate: Rate::from_mbps(12), ..behind(0, 0, 1500) };
    for ms in (0..100).step_by(2) {
        m.on_departure(Time::from_ms(ms), &view, CAPABLE);
    }
    assert!((m.share(Time::from_ms(98), 0, 1500, view.rate) - 0.98).abs() < 1e-9, "half of it is used");
}

#[test]
fn with_foresight_it_aims_at_what_the_link_will_offer() {
    // 100 ms of two opportunities per ms, then 100 ms of one.
    let ms = (1..=100).flat_map(|ms| [ms, ms]).chain(101..=200).collect();
    let trace = Arc::new(Trace::from_ms(ms).unwrap());
    let mut m = abc(Params { foresight: Span::from_ms(100), ..Params::default() });
    m.stands_before(&TracedSpec { trace, bytes: 1500 }.into());
    for ms in 1..=50 {
        m.departed.push(Time::from_ms(ms), 3000);
    }
    let f = m.share(Time::from_ms(50), 0, 1500, Rate::ZERO);
    assert!((f - 0.245).abs() < 1e-9, "half of what leaves now will do: {f}");
    let f = m.share(Time::from_ms(60), 30 * 1500, 1500, Rate::ZERO);
    assert!((f - 0.49).abs() < 1e-9, "half has left the window: {f}");
}

#[test]
fn the_published_queue_aims_at_a_part_of_what_leaves_and_pays_for_idle_time() {
    let p = Params { arithmetic: Arithmetic::Artifact, tokens: 5.0, ..Params::default() };
    let mut m = traced(p);
    let other = Leaving { ecn: Ecn::NotEct };
    m.on_departure(Time::from_ms(1), &behind(0, 0, 1500), other);
    assert_eq!((m.departed.sum(), m.offered.sum()), (0, 1500), "not seen");
    for ms in 2..12 {
        m.on_opportunity(Time::from_ms(ms), 1500);
    }
    assert!((m.token - 9.9).abs() < 1e-9, "ten times 0.49, above the limit until a packet is marked");
    assert_eq!(m.on_departure(Time::from_ms(12), &behind(0, 0, 1500), CAPABLE), Leave::Pass);
    assert_eq!(m.token, 5.0);
    assert!(
        (m.share(Time::from_ms(12), 0, 1500, Rate::ZERO) - 0.49).abs() < 1e-9,
        "whatever the link offers"
    );
}

#[test]
fn credit_in_bytes_is_the_same_for_full_packets_and_lets_small_ones_spend_less() {
    let bytes = || Abc { token: 0.0, ..abc(Params { credit: Credit::Bytes, ..Params::default() }) };
    let (mut a, mut b) = (bytes(), spent());
    for _ in 0..100 {
        assert_eq!(a.accelerates(0.3, 1500, false), b.accelerates(0.3, 1500, false));
    }
    let mut small = bytes();
    small.accelerates(1.0, 1500, true);
    assert!(
        small.accelerates(0.0, 750, false) && !small.accelerates(0.0, 750, false),
        "0.5 is not above 0.5"
    );
    assert!((small.token - 0.5).abs() < 1e-12);
}

#[test]
fn compared_with_arrivals_a_burst_brakes_before_it_leaves() {
    let mut m = abc(Params { compared: Compared::Arrivals, ..Params::default() });
    for ms in 0..40 {
        for _ in 0..2 {
            m.on_arrival(Time::from_ms(ms), &finds(9, 13_500, 1500), &Packet::default());
        }
    }
    // 3000 B arrive per ms where 1500 B can leave.
    assert!((m.share(Time::from_ms(39), 0, 1500, Rate::from_mbps(12)) - 0.245).abs() < 1e-9);
}

#[test]
fn what_brakes_stays_so_and_what_cannot_is_let_alone() {
    let mut m = Abc { token: 0.0, ..abc(Params { threshold: Span::ZERO, ..Params::default() }) };
    let long = View { rate: Rate::from_mbps(12), ..behind(1000, 1_500_000, 1500) };
    assert_eq!(m.on_departure(Time::from_ms(1), &long, CAPABLE), Leave::Mark);
    let marked = Leaving { ecn: Ecn::Ce };
    assert_eq!(m.on_departure(Time::from_ms(1), &long, marked), Leave::Pass);
    let other = Leaving { ecn: Ecn::NotEct };
    assert_eq!(m.on_departure(Time::from_ms(1), &long, other), Leave::Pass);
    assert_eq!(m.token, 0.0);
}

#[test]
fn by_chance_as_many_accelerate() {
    let mut m = abc(Params { credit: Credit::Chance, ..Params::default() });
    let kept = (0..100_000).filter(|_| m.accelerates(0.3, 1500, false)).count();
    assert!((29_000..31_000).contains(&kept), "{kept}");
}

#[test]
fn nonsense_is_refused_with_its_value() {
    let refuse = |p: Params| {
        crate::stage::StageSpec::from(p).make(Stream::new(1, "abc", 0), Rate::ZERO).unwrap_err().to_string()
    };
    assert!(refuse(Params { tokens: 1.0, ..Params::default() }).contains("never enough"));
    assert!(refuse(Params { utilisation: 1.2, ..Params::default() }).contains("1.2"));
    assert!(
        refuse(Params { foresight: Span::from_ms(5), ..Params::default() }).contains("half of the window")
    );
    assert!(refuse(Params { drain: Span::ZERO, ..Params::default() }).contains("never passes"));
}

#[test]
fn before_a_link_that_sends_batches_block_acks_report_its_rates() {
    let mut m = abc(Params::default());
    m.stands_before(&BatchedSpec::of(Rate::from_mbps(12), 20).into());
    assert!(m.needs().batches && !abc(Params::default()).needs().batches);
    let view = View { rate: Rate::from_mbps(12), ..behind(0, 0, 1500) };
    assert_eq!(m.share(Time::ZERO, 1_000_000, 1500, view.rate), 1.0, "nothing is known yet");
    // Ten packets, 10 ms and 5 ms besides: 8 Mb/s leave; twenty would have taken 25 ms: 9.6 Mb/s.
    let (begun, rate) = (Time::ZERO, Rate::from_mbps(12));
    m.on_batch(&Batch { begun, acked: Time::from_ms(15), packets: 10, bytes: 15_000, rate, most: 20 });
    let f = m.share(Time::from_ms(15), 0, 1500, view.rate);
    assert!((f - 0.49 * 9.6 / 8.0).abs() < 1e-9, "{f}");
    // 84 kB are 70 ms at 9.6 Mb/s, 20 ms too many.
    let f = m.share(Time::from_ms(15), 82_500, 1500, view.rate);
    assert!((f - 0.5 * (0.98 - 20.0 / 133.0) * 9.6 / 8.0).abs() < 1e-9, "{f}");
}

#[test]
fn keys_of_block_acks_are_in_vain_without_any() {
    let found = |p: Params, batches| {
        let mut problems = Problems::default();
        p.check(&Around { batches, ..Around::ANY }, &mut problems);
        problems.0.into_iter().map(|p| (p.key, p.useless)).collect::<Vec<_>>()
    };
    let narrow = Params { ack_window: Span::from_ms(20), ..Params::default() };
    let without = Params { exclude_idle: true, ..Params::default() };
    assert_eq!(found(narrow, false), [("ack_window".into(), true)]);
    assert_eq!(found(without, false), [("exclude_idle".into(), true)]);
    assert!(found(narrow, true).is_empty() && found(without, true).is_empty());
    let knows = Params { foresight: Span::from_ms(100), ..without };
    assert_eq!(found(knows, true), [("exclude_idle".into(), true)]);
    assert!(found(Params { ack_window: Span::ZERO, ..narrow }, true) == [("ack_window".into(), false)]);
}

#[test]
fn in_both_codepoints_accelerate_turns_into_brake_and_what_others_marked_or_braked_stays() {
    let p = Params { encoding: Encoding::Full, threshold: Span::ZERO, ..Params::default() };
    let mut m = Abc { token: 0.0, ..abc(p) };
    let long = View { rate: Rate::from_mbps(12), ..behind(1000, 1_500_000, 1500) };
    assert_eq!(m.on_departure(Time::from_ms(1), &long, Leaving { ecn: Ecn::Ect1 }), Leave::Brake);
    for ecn in [Ecn::Ect0, Ecn::Ce, Ecn::NotEct] {
        assert_eq!(m.on_departure(Time::from_ms(1), &long, Leaving { ecn }), Leave::Pass, "{ecn:?}");
    }
    // With credit ECT(1) stays what it is; the others spend none of it.
    m.token = 3.0;
    for (ecn, left) in [(Ecn::Ect0, 3.0), (Ecn::Ce, 3.0), (Ecn::Ect1, 2.0)] {
        assert_eq!(m.on_departure(Time::from_ms(1), &long, Leaving { ecn }), Leave::Pass);
        assert_eq!(m.token, left, "{ecn:?}");
    }
}

/// 8 Mb/s: a packet of 1504 B every 1.504 ms, and 14 of them in every window of 20 ms.
#[test]
fn a_busy_link_is_found_as_fast_as_it_is() {
    let mut m = abc(Params::default());
    let mut f = 0.0;
    for n in 0..100 {
        let now = Time::from_us(1504 * n);
        m.departed.push(now, 1504);
        f = m.share(now, 0, 1504, Rate::from_mbps(8));
    }
    assert!((f - 0.49).abs() < 1e-9, "{f}");
}

/// 12 Mb/s: an opportunity per ms. Otherwise a router before a fast link would brake half of what a slow one lets pass.
#[test]
fn the_published_queue_earns_credit_for_idle_time_where_a_link_has_a_rate() {
    let mut m = Abc { token: 0.0, ..abc(Params { arithmetic: Arithmetic::Artifact, ..Params::default() }) };
    let view =
        View { rate: Rate::from_mbps(12), idle_for: Span::from_ms(4), sent: 1500, ..finds(0, 0, 1500) };
    m.on_arrival(Time::from_ms(9), &view, &Packet::default());
    assert!((m.token - 4.0 * 0.49).abs() < 1e-9, "{}", m.token);
    assert_eq!((m.needs().idle_time, m.quiet_below()), (true, 0));
    let mut paper = Abc { token: 0.0, ..abc(Params::default()) };
    paper.on_arrival(Time::from_ms(9), &view, &Packet::default());
    assert_eq!(paper.token, 0.0);
}

/// 24 Mb/s until 100 ms, then 12: at 110 ms half of the window's departures are those of before.
#[test]
fn what_left_before_a_rate_fell_counts_as_it_left() {
    let steps =
        [(0, 24), (100, 12)].map(|(ms, rate)| Step { at: Span::from_ms(ms), rate: Rate::from_mbps(rate) });
    let mut m = abc(Params::default());
    m.stands_before(&SteppedSpec { steps: steps.into(), period: None }.into());
    let mut f = 0.0;
    for (n, us) in (0..100_000).step_by(500).chain((100_000..=110_000).step_by(1000)).enumerate() {
        let rate = Rate::from_mbps(if us < 100_000 { 24 } else { 12 });
        m.departed.push(Time::from_us(us), 1500);
        f = m.share(Time::from_us(us), 0, 1500, rate);
        assert!(n < 40 || us >= 100_000 || (f - 0.49).abs() < 1e-9, "{us}: {f}");
    }
    // 1.5 MB/s are aimed at, 10 ms · 3 MB/s and 10 ms · 1.5 MB/s have left.
    assert!((f - 0.49 * 1.5 / 2.25).abs() < 1e-9, "{f}");
}
