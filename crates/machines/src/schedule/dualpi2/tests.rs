use super::*;
use thalweg_units::Rate;

fn order(params: &Params) -> DualPi2 {
    let rate = Rate::from_mbps(40);
    params.make(&At { rate, back: rate, stream: Stream::new(1, "dualpi2", 0), preemptive: false }).unwrap()
}
fn us(n: u64) -> Time {
    Time::from_us(n)
}
/// A full packet arrives.
fn arrive(order: &mut DualPi2, now: Time, handle: u32, ecn: Ecn) {
    order.push(now, &Packet { wire: 1500, ecn, ..Packet::default() }, Handle(handle));
}
/// With so many packets of a kind, and p' given: nothing is due before 16 ms.
fn filled(params: &Params, p: f64, n: u32, ecn: Ecn) -> DualPi2 {
    let mut order = order(params);
    (0..n).for_each(|handle| arrive(&mut order, Time::ZERO, handle, ecn));
    order.base.p = p;
    order
}
/// All leave at once: how many passed, were marked, were dropped.
fn drained(order: &mut DualPi2) -> (u32, u32, u32) {
    let (mut passed, mut marked) = (0, 0);
    while order.pop(Time::ZERO).is_some() {
        if order.has_marked() { marked += 1 } else { passed += 1 }
    }
    (passed, marked, order.dropped.len() as u32)
}
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn the_base_probability_follows_the_distance_from_the_target_and_its_change() {
    let mut o = order(&Params::default());
    arrive(&mut o, Time::ZERO, 0, Ecn::Ect0);
    o.catch_up(us(15_999));
    assert_eq!(o.base.p, 0.0, "nothing is due yet");
    // 16 ms waited: 0.16 · 1 ms + 3.2 · 16 ms.
    o.catch_up(us(16_000));
    assert!(close(o.base.p, 0.000_16 + 0.0512), "{}", o.base.p);
    // 32 ms: 0.16 · 17 ms + 3.2 · 16 ms more.
    o.catch_up(us(47_999));
    assert!(close(o.base.p, 0.051_36 + 0.002_72 + 0.0512), "{}", o.base.p);
    let p = o.base.p;
    assert!(close(o.p_c(), p * p) && close(o.p_cl(), 2.0 * p), "Classic by the square, L4S by k");
    // It leaves; at 48 ms nothing waits: 0.16 · −15 ms − 3.2 · 32 ms, and never below 0.
    o.pop(us(47_999));
    o.catch_up(us(48_000));
    assert!(close(o.base.p, p - 0.0024 - 0.1024), "{}", o.base.p);
    o.catch_up(us(64_000));
    assert_eq!(o.base.p, 0.0);
}

#[test]
fn the_longer_wait_of_both_heads_counts() {
    let mut o = order(&Params::default());
    arrive(&mut o, Time::ZERO, 0, Ecn::Ect1);
    arrive(&mut o, us(10_000), 1, Ecn::NotEct);
    o.catch_up(us(16_000));
    assert!(close(o.base.p, 0.051_36), "16 ms of L4S, 6 ms of Classic: {}", o.base.p);
}

#[test]
fn updates_that_fell_due_in_silence_are_as_if_made_in_time() {
    for (ecn, leaves) in [(Ecn::Ect0, false), (Ecn::Ect1, false), (Ecn::Ect0, true)] {
        let mut late = order(&Params::default());
        arrive(&mut late, Time::ZERO, 0, ecn);
        if leaves {
            late.pop(us(300_000));
        }
        let mut timely = late.clone();
        for tick in 0..6000 {
            timely.catch_up(us(300_000 + tick * 1000));
        }
        late.catch_up(us(6_299_000));
        assert_eq!(
            (late.base.p, late.base.prevq, late.base.next),
            (timely.base.p, timely.base.prevq, timely.base.next)
        );
        assert_eq!(late.base.p, if leaves { 0.0 } else { 1.0 });
    }
}

#[test]
fn ect1_and_ce_wait_for_l4s_and_all_else_for_classic() {
    let mut o = order(&Params::default());
    for (handle, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ce)] {
        arrive(&mut o, Time::ZERO, handle, ecn);
    }
    assert_eq!((o.lq.ring.len(), o.lq.bytes, o.cq.ring.len(), o.cq.bytes), (2, 3000, 2, 3000));
    let left: Vec<u32> = std::iter::from_fn(|| o.pop(Time::ZERO)).map(|entry| entry.handle.0).collect();
    assert_eq!(left, [2, 3, 0, 1], "L4S first");
}

#[test]
fn what_came_marked_is_not_marked_again() {
    let mut o = filled(&Params::default(), 0.4, 10, Ecn::Ce);
    assert_eq!(drained(&mut o), (10, 0, 0));
}

/// p' = 0.4: p_C = 0.16, p_CL = 0.8. Sums of these over 100 packets pass 16 and 80 whole numbers.
#[test]
fn classic_packets_meet_the_square_and_l4s_packets_twice_the_base_probability() {
    let of = |ecn| drained(&mut filled(&Params::default(), 0.4, 100, ecn));
    let near = |found: u32, expected: u32| found.abs_diff(expected) <= 1;
    let (_, marked, dropped) = of(Ecn::Ect0);
    assert!(near(marked, 16) && dropped == 0, "{marked} {dropped}");
    let (_, marked, dropped) = of(Ecn::NotEct);
    assert!(near(dropped, 16) && marked == 0, "{marked} {dropped}");
    let (_, marked, dropped) = of(Ecn::Ect1);
    assert!(near(marked, 80) && dropped == 0, "{marked} {dropped}");
}

/// At random: 3 standard deviations of 20 000 draws.
#[test]
fn drawn_at_random_the_fractions_are_the_same() {
    let params = Params { draws: Draws::Random, ..Params::default() };
    for (ecn, p) in [(Ecn::Ect0, 0.16), (Ecn::Ect1, 0.8)] {
        let (_, marked, _) = drained(&mut filled(&params, 0.4, 20_000, ecn));
        let (expected, sigma) = (20_000.0 * p, f64::sqrt(20_000.0 * p * (1.0 - p)));
        assert!((f64::from(marked) - expected).abs() < 3.0 * sigma, "{ecn:?}: {marked}");
    }
}

#[test]
fn every_fifth_packet_is_marked_where_a_fifth_is_due() {
    let mut o = filled(&Params::default(), 0.1, 16, Ecn::Ect1);
    let marks: Vec<bool> = std::iter::from_fn(|| o.pop(Time::ZERO).map(|_| o.has_marked())).collect();
    let at: Vec<usize> = (0..16).filter(|n| marks[*n]).collect();
    assert_eq!(at, [5, 10, 15], "each sum beyond a whole number: 6 · 0.2 > 1");
}

#[test]
fn l4s_marks_of_its_own_between_800_and_1200_us() {
    let mut o = filled(&Params::default(), 0.0, 3, Ecn::Ect1);
    let ramp = |o: &DualPi2, waited: u64| o.laqm(Span::from_us(waited));
    assert_eq!((ramp(&o, 800), ramp(&o, 1000), ramp(&o, 1200), ramp(&o, 9000)), (0.0, 0.5, 1.0, 1.0));
    // Only if Th_len packets stay behind.
    o.p.ramp_packets = 4;
    assert_eq!(ramp(&o, 9000), 0.0);
    // Linux's step.
    let step = Params { ramp_start: Span::from_ms(1), ramp: Span::ZERO, ..Params::default() };
    let o = filled(&step, 0.0, 3, Ecn::Ect1);
    assert_eq!((ramp(&o, 1000), o.laqm(Span::from_ns(1_000_001))), (0.0, 1.0));
}

#[test]
fn the_larger_of_both_probabilities_marks_l4s() {
    let marked = |p: f64, waited: u64| {
        let mut o = filled(&Params::default(), p, 101, Ecn::Ect1);
        (0..100).filter(|_| o.pop(us(waited)).is_some() && o.has_marked()).count()
    };
    // p_CL = 0.4, and the ramp 0.25 at 900 us, 0.75 at 1100 us.
    for (waited, expected) in [(0, 40), (900, 40), (1100, 75), (1300, 99)] {
        assert!(marked(0.2, waited).abs_diff(expected) <= 1, "{waited}: {}", marked(0.2, waited));
    }
    assert_eq!(marked(0.0, 700), 0);
}

/// A credit of −14/16 · 1500 B, to which each L4S packet adds 1/16 · 1500: the fifteenth brings it above zero.
#[test]
fn of_sixteen_full_packets_one_is_classic() {
    let mut o = order(&Params::default());
    for n in 0..40 {
        arrive(&mut o, Time::ZERO, n, Ecn::Ect1);
        arrive(&mut o, Time::ZERO, 1000 + n, Ecn::NotEct);
    }
    let classic: Vec<usize> =
        (0..40).filter(|_| o.pop(Time::ZERO).is_some_and(|entry| entry.handle.0 >= 1000)).collect();
    assert_eq!(classic, [15, 31]);
    // A tenth, as in Linux.
    let mut o = order(&Params { share: Some(0.1), ..Params::default() });
    for n in 0..40 {
        arrive(&mut o, Time::ZERO, n, Ecn::Ect1);
        arrive(&mut o, Time::ZERO, 1000 + n, Ecn::NotEct);
    }
    let classic = (0..40).filter(|_| o.pop(Time::ZERO).is_some_and(|entry| entry.handle.0 >= 1000)).count();
    assert_eq!(classic, 4);
}

#[test]
fn a_queue_that_is_alone_pays_nothing_and_an_empty_port_begins_anew() {
    let mut o = filled(&Params::default(), 0.0, 60, Ecn::Ect1);
    let credit = |o: &DualPi2| match o.turn {
        Turn::Weighted { credit, .. } => credit,
        Turn::TimeShift(_) => f64::NAN,
    };
    let first = credit(&o);
    assert!((0..30).all(|_| o.pop(Time::ZERO).is_some()));
    assert_eq!(credit(&o), first);
    arrive(&mut o, Time::ZERO, 99, Ecn::NotEct);
    o.pop(Time::ZERO);
    assert_eq!(credit(&o), first + 93.75);
    o.on_idle(Time::ZERO);
    assert_eq!(credit(&o), first);
}

/// Twice the target: a Classic packet goes first that came more than 30 ms before the L4S head.
#[test]
fn with_a_time_shift_l4s_packets_have_a_head_start() {
    let params = Params { turns: Turns::TimeShift, ..Params::default() };
    let next = |l: u64| {
        let mut o = order(&params);
        arrive(&mut o, Time::ZERO, 0, Ecn::NotEct);
        arrive(&mut o, us(l), 1, Ecn::Ect1);
        o.pop(us(l)).map(|entry| entry.handle.0)
    };
    assert_eq!((next(100), next(30_000), next(30_001)), (Some(1), Some(1), Some(0)));
}

/// p' = 0.6: p_CL = 1.2, p_C = 0.36. Marks say no more: a fraction p_C of both is dropped, ECN-capable or not, but
/// for what leaves less than two full packets behind.
#[test]
fn overload_drops_in_both_queues() {
    for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct] {
        let (passed, marked, dropped) = drained(&mut filled(&Params::default(), 0.6, 102, ecn));
        assert!(dropped.abs_diff(36) <= 1, "{ecn:?}: {dropped}");
        let expected = if ecn == Ecn::Ect1 { (0, 102 - dropped) } else { (102 - dropped, 0) };
        let more = if ecn == Ecn::Ect0 { 1 } else { 0 };
        assert!(passed.abs_diff(expected.0) <= more && marked.abs_diff(expected.1) <= more, "{ecn:?}");
        let (_, _, dropped) = drained(&mut filled(&Params::default(), 1.0, 2, ecn));
        assert_eq!(dropped, 0, "{ecn:?}: two packets");
    }
    // Just below it Classic packets that can be marked are.
    let (_, marked, dropped) = drained(&mut filled(&Params::default(), 0.499, 102, Ecn::Ect0));
    assert!(marked > 20 && dropped == 0, "{marked} {dropped}");
}

#[test]
fn the_longer_queue_gives_up_its_tail() {
    let mut o = filled(&Params::default(), 0.0, 3, Ecn::Ect1);
    (10..12).for_each(|n| arrive(&mut o, Time::ZERO, n, Ecn::Ect0));
    let gone: Vec<u32> = std::iter::from_fn(|| o.push_out(Handle(0))).map(|entry| entry.handle.0).collect();
    assert_eq!(gone, [2, 11, 1, 10, 0]);
}

#[test]
fn dualpi2s_defaults_are_the_rfcs() {
    let Params { target, coupling, ramp_start, ramp, ramp_packets, .. } = Params::default();
    assert_eq!((target, coupling), (Span::from_ms(15), 2.0));
    assert_eq!((ramp_start, ramp, ramp_packets), (Span::from_us(800), Span::from_us(400), 1));
}
