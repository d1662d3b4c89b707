//! Who goes before the packet in service, and where that one is put back.

use super::*;

fn preemptive(order: OrderSpec) -> Port {
    let spec = DisciplineSpec { preemptive: true, ..spec(order, Limit::Unlimited) };
    assert!(spec.order.needs().overtakes);
    Port { queue: make(&spec), arrivals: 0 }
}

#[test]
fn in_a_stack_the_latest_goes_first_and_the_interrupted_one_keeps_its_place() {
    let mut port = preemptive(OrderSpec::lifo());
    port.arrive(data(1, 0, 100));
    port.arrive(data(1, 0, 100));
    assert_eq!(port.leave_at(0), Some(1));
    assert!(!port.queue.preempt(Time::ZERO), "0 came before it");
    port.arrive(data(1, 0, 100));
    port.arrive(data(1, 0, 100));
    assert!(port.queue.preempt(Time::ZERO));
    assert_eq!(port.queue.packets(), 4);
    assert_eq!(port.leave_at(0), Some(3));
    assert!(!port.queue.preempt(Time::ZERO));
    assert_eq!(port.drain(), [2, 1, 0]);
}

#[test]
fn a_strictly_more_important_class_goes_first_and_the_interrupted_packet_leads_its_class() {
    let of = |class| Packet { class, wire: 100, ..Packet::default() };
    let mut port = preemptive(priority::Params::from(3).into());
    port.arrive(of(1));
    port.arrive(of(1));
    assert_eq!(port.leave_at(0), Some(0));
    port.arrive(of(1));
    port.arrive(of(2));
    assert!(!port.queue.preempt(Time::ZERO), "none is more important");
    port.arrive(of(0));
    assert!(port.queue.preempt(Time::ZERO));
    assert_eq!(port.drain(), [4, 0, 1, 2, 3]);
}

#[test]
fn a_random_port_draws_anew_at_every_arrival_among_all_the_one_in_service_included() {
    // With m waiting and one in service, each is in service afterwards with probability 1/(m + 1).
    let (mut kept, mut served) = (0, [0u32; 4]);
    const RUNS: u32 = 40_000;
    for seed in 0..RUNS {
        let spec = DisciplineSpec { preemptive: true, ..spec(OrderSpec::random(), Limit::Unlimited) };
        let queue = spec.make(Stream::new(u64::from(seed), "queue", 0), RATE).unwrap();
        let mut port = Port { queue, arrivals: 0 };
        port.arrive(data(1, 0, 100));
        assert_eq!(port.leave_at(0), Some(0));
        (0..3).for_each(|_| assert!(port.arrive(data(1, 0, 100)).is_empty()));
        let now = if port.queue.preempt(Time::ZERO) {
            let now = port.leave_at(0).unwrap();
            assert_ne!(now, 0, "what is drawn is another packet");
            now
        } else {
            kept += 1;
            0
        };
        served[now as usize] += 1;
        assert_eq!(port.drain().len(), 3);
    }
    // Five standard deviations of a binomial count.
    let spread = 5.0 * (f64::from(RUNS) * 0.25 * 0.75).sqrt();
    assert!(served.iter().all(|&n| (f64::from(n) - f64::from(RUNS) / 4.0).abs() < spread), "{served:?}");
    assert_eq!(kept, served[0]);
}

#[test]
fn random_order_is_uniform_over_all_orders() {
    let mut counts = [0u32; 27];
    const RUNS: u32 = 60_000;
    for seed in 0..RUNS {
        let spec = spec(OrderSpec::random(), Limit::Unlimited);
        let queue = spec.make(Stream::new(9, "queue", u64::from(seed)), RATE).unwrap();
        let mut port = Port { queue, arrivals: 0 };
        (0..3).for_each(|_| assert!(port.arrive(data(1, 0, 100)).is_empty()));
        counts[port.drain().iter().fold(0, |code, &p| code * 3 + p as usize)] += 1;
    }
    let seen: Vec<f64> = counts.iter().filter(|&&n| n > 0).map(|&n| f64::from(n)).collect();
    let spread = 5.0 * (f64::from(RUNS) / 6.0 * 5.0 / 6.0).sqrt();
    assert_eq!(seen.len(), 6);
    assert!(seen.iter().all(|n| (n - f64::from(RUNS) / 6.0).abs() < spread), "{seen:?}");
}

#[test]
fn orders_that_serve_in_turns_refuse_to_be_preemptive_and_never_are() {
    let parity = OrderSpec::parity();
    for order in [
        OrderSpec::fifo(),
        drr(1500, FairOverflow::Tail),
        fq(FairOverflow::Tail),
        OrderSpec::round_robin(),
        OrderSpec::input_round_robin(),
        parity,
    ] {
        let spec = spec(order, Limit::Unlimited);
        assert!(!spec.order.needs().overtakes);
        let refused = DisciplineSpec { preemptive: true, ..spec.clone() }.make(Stream::new(1, "q", 0), RATE);
        assert!(refused.unwrap_err().to_string().contains("preemptive"));
        let mut port = Port { queue: make(&spec), arrivals: 0 };
        port.arrive(data(2, 5, 100));
        port.leave_at(0);
        port.arrive(data(2, -5, 100));
        assert!(!port.queue.preempt(Time::ZERO));
    }
    let stage = StageSpec::Codel(codel::Params::SHORT);
    let both = DisciplineSpec { stage, preemptive: true, ..spec(OrderSpec::lifo(), Limit::Unlimited) };
    assert!(both.make(Stream::new(1, "q", 0), RATE).unwrap_err().to_string().contains("codel"));
}
