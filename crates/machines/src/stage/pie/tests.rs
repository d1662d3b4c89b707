use super::super::tests::{behind, finds};
use super::*;

const MS_AT: fn(u64) -> Time = Time::from_ms;

/// Its updates are due at multiples of 15 ms.
fn pie(p: Params) -> Pie {
    let mut pie = p.make(Stream::new(1, "pie", 0), Rate::ZERO).unwrap();
    pie.catch_up(Time::ZERO, 0);
    pie
}
fn rfc(p: &mut Pie) -> &mut Rfc {
    match &mut p.law {
        Law::Rfc(law) => law,
        Law::Emulated(_) => panic!("the emulator's"),
    }
}
/// A packet leaves that waited `ms`; others remain.
fn leaves(p: &mut Pie, at: u64, ms: u64) {
    let view = View { waited: Span::from_ms(ms), ..behind(10, 15_000, 1500) };
    assert_eq!(p.on_departure(MS_AT(at), &view, Leaving { ecn: Ecn::NotEct }), Leave::Pass);
}
fn arrives(p: &mut Pie, at: u64, packets: u32, ecn: Ecn) -> Arrival {
    let packet = Packet { ecn, wire: 1500, ..Packet::default() };
    p.on_arrival(MS_AT(at), &finds(packets, u64::from(packets) * 1500, 1500), &packet)
}

#[test]
fn the_probability_follows_the_delay_and_its_change_in_steps_that_grow_with_it() {
    let mut p = pie(Params::default());
    leaves(&mut p, 1, 55);
    // 0.125 · 0.040 + 1.25 · 0.055 = 0.07375; the first step is a 2048th of it.
    arrives(&mut p, 15, 10, Ecn::NotEct);
    assert!((p.probability - 0.07375 / 2048.0).abs() < 1e-12, "{}", p.probability);
    // Then the delay stands: 0.005, a 128th of it.
    arrives(&mut p, 30, 10, Ecn::NotEct);
    assert!((p.probability - 0.07375 / 2048.0 - 0.005 / 128.0).abs() < 1e-12, "{}", p.probability);
    p.probability = 0.05;
    arrives(&mut p, 45, 10, Ecn::NotEct);
    assert!((p.probability - 0.0525).abs() < 1e-12);
    // §5.5: from a tenth on by 0.02 at most.
    p.probability = 0.2;
    rfc(&mut p).old = Span::ZERO;
    let mut sudden = Pie { p: Params { gradual: false, ..p.p }, ..p.clone() };
    arrives(&mut p, 60, 10, Ecn::NotEct);
    arrives(&mut sudden, 60, 10, Ecn::NotEct);
    assert!((p.probability - 0.22).abs() < 1e-12);
    assert!((sudden.probability - 0.27375).abs() < 1e-12);
}

#[test]
fn an_empty_queue_takes_two_hundredths_off_and_brings_back_the_burst() {
    let mut p = pie(Params { alpha: 0.0, ..Params::default() });
    p.probability = 0.5;
    rfc(&mut p).burst = Span::ZERO;
    p.on_departure(
        MS_AT(1),
        &View { waited: Span::from_ms(9), ..behind(0, 0, 1500) },
        Leaving { ecn: Ecn::NotEct },
    );
    arrives(&mut p, 15, 0, Ecn::NotEct);
    assert!((p.probability - 0.49).abs() < 1e-12);
    p.probability = 0.0;
    arrives(&mut p, 30, 0, Ecn::NotEct);
    assert_eq!(rfc(&mut p).burst, Span::from_ms(135), "150 ms less the update that gave them");
}

#[test]
fn a_burst_passes_for_150_ms_and_then_drops_begin() {
    let always = Params { alpha: 1000.0, beta: 0.0, ..Params::default() };
    let mut p = pie(always);
    let mut first = None;
    for at in 1..400 {
        leaves(&mut p, at, 100);
        if first.is_none() && arrives(&mut p, at, 10, Ecn::NotEct) == Arrival::Drop {
            first = Some(at);
        }
    }
    // The tenth update, at 150 ms, uses up the allowance.
    assert_eq!(first, Some(150));
}

/// A probability of `at`, no allowance, a delay that stands at 100 ms and moves nothing.
fn standing(at: f64, p: Params) -> Pie {
    let mut p = pie(Params { alpha: 0.0, beta: 0.0, ..p });
    p.probability = at;
    let law = rfc(&mut p);
    (law.delay, law.old, law.burst) = (Span::from_ms(100), Span::from_ms(100), Span::ZERO);
    p
}
fn drops(p: &mut Pie, packets: u32, n: u32) -> u32 {
    (0..n).filter(|_| arrives(p, 1, packets, Ecn::NotEct) == Arrival::Drop).count() as u32
}

#[test]
fn drops_come_with_the_probability_but_never_from_a_queue_of_two() {
    let mut p = standing(0.1, Params::default());
    let seen = drops(&mut p, 3, 100_000);
    assert!((9500..10_500).contains(&seen), "{seen}");
    assert_eq!(drops(&mut p, 1, 1000), 0, "1500 B are less than two packets");
    p.probability = 1.0;
    assert_eq!(drops(&mut p, 2, 1000), 0, "3000 B are two packets: §4.1 says not more than 2 MEAN_PKTSIZE");
    assert_eq!(drops(&mut p, 3, 1), 1);
    let mut calm = standing(0.19, Params::default());
    rfc(&mut calm).old = Span::from_ms(7);
    assert_eq!(drops(&mut calm, 9, 1000), 0, "below half the target a small probability does nothing");
    calm.probability = 0.2;
    assert!(drops(&mut calm, 9, 1000) > 100);
}

#[test]
fn derandomised_drops_keep_apart() {
    let mut p = standing(0.1, Params { derandomize: true, ..Params::default() });
    let mut gaps = Vec::new();
    let mut gap = 0;
    for _ in 0..20_000 {
        gap += 1;
        if arrives(&mut p, 1, 9, Ecn::NotEct) == Arrival::Drop {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    // 0.85 takes nine packets (eight or nine of 0.1 as floats add up); 8.5 takes 85 or 86.
    assert!(gaps.iter().all(|gap| (9..=86).contains(gap)), "{:?} {:?}", gaps.iter().min(), gaps.iter().max());
}

#[test]
fn capable_packets_are_marked_up_to_a_probability_of_a_tenth() {
    let ecn = Params { ecn: Some(true), ..Params::default() };
    let seen = |at: f64, ecn_bits, params| {
        let mut p = standing(at, params);
        (0..1000).map(|_| arrives(&mut p, 1, 9, ecn_bits)).find(|a| *a != Arrival::Admit)
    };
    assert_eq!(seen(0.09, Ecn::Ect0, ecn), Some(Arrival::Mark));
    assert_eq!(seen(0.11, Ecn::Ect0, ecn), Some(Arrival::Drop));
    assert_eq!(seen(0.09, Ecn::NotEct, ecn), Some(Arrival::Drop));
    assert_eq!(seen(0.09, Ecn::Ect0, Params { ecn: Some(false), ..ecn }), Some(Arrival::Drop));
}

#[test]
fn any_number_of_skipped_updates_is_made_up_for() {
    let mut p = pie(Params::default());
    p.probability = 0.3;
    arrives(&mut p, 10_000_000, 0, Ecn::NotEct);
    assert_eq!((p.probability, rfc(&mut p).next), (0.0, Some(MS_AT(10_000_005))));
    let burst = rfc(&mut p).burst;
    assert_eq!(burst, Span::from_ms(135));
}

#[test]
fn nonsense_is_refused_with_its_value() {
    let refuse = |p: Params| {
        super::super::StageSpec::from(p).make(Stream::new(1, "pie", 0), Rate::ZERO).unwrap_err().to_string()
    };
    assert!(refuse(Params { target: Span::ZERO, ..Params::default() }).contains("never passes"));
    assert!(refuse(Params { alpha: f64::NAN, ..Params::default() }).contains("NaN"));
    let emulated = Params { variant: Variant::Mahimahi, target: Span::from_us(1500), ..Params::default() };
    assert!(refuse(emulated).contains("whole milliseconds"));
}
