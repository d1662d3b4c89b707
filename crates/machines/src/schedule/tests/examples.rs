//! Examples that can be redone by hand.

use super::*;

/// Shortest job first as the definition has it: of the best packet's flow not the earliest, but that packet itself.
fn sjf() -> OrderSpec {
    srpt(false)
}
fn longest() -> OrderSpec {
    fq(FairOverflow::LongestQueue)
}
const NONE: [u32; 0] = [];

#[test]
fn srpt_serves_the_flow_of_the_best_packet_from_its_earliest() {
    let mut port = Port::new(srpt(true), Limit::Unlimited);
    for packet in [data(1, 3000, 1500), data(2, 2000, 1500), data(1, 1500, 1500)] {
        port.arrive(packet);
    }
    // Flow 1's second packet is best (1500 left), so flow 1's first goes; then its second; then flow 2.
    assert_eq!(port.drain(), [0, 2, 1]);
}

#[test]
fn without_flow_order_the_best_packet_itself_is_served() {
    let mut port = Port::new(sjf(), Limit::Unlimited);
    for packet in [data(1, 3000, 1500), data(2, 2000, 1500), data(1, 1500, 1500)] {
        port.arrive(packet);
    }
    assert_eq!(port.drain(), [2, 1, 0]);
}

#[test]
fn a_full_ranked_queue_drops_the_latest_of_the_largest_flow_even_if_it_is_the_one_arriving() {
    let mut port = Port::new(sjf(), Limit::Packets(3));
    for packet in [data(1, 9, 100), data(1, 9, 100), data(2, 5, 100)] {
        assert_eq!(port.arrive(packet), NONE);
    }
    assert_eq!(port.arrive(data(3, 1, 100)), [1], "the latest of rank 9");
    assert_eq!(port.arrive(data(1, 9, 100)), [4], "itself: as bad as packet 0 and later");
    assert_eq!(port.drain(), [3, 2, 0]);
}

#[test]
fn one_large_packet_may_push_out_several_small_ones() {
    let mut port = Port::new(sjf(), Limit::Bytes(Bytes::new(1500)));
    for rank in [7, 8, 9] {
        port.arrive(data(1, rank, 500));
    }
    assert_eq!(port.arrive(data(2, 1, 1000)), [2, 1]);
    assert_eq!(port.drain(), [3, 0]);
}

#[test]
fn acks_go_before_all_data_and_are_never_dropped_for_it() {
    for order in [sjf(), srpt(true)] {
        let mut port = Port::new(order, Limit::Packets(2));
        port.arrive(data(1, i64::MIN, 100));
        port.arrive(ack(2));
        assert_eq!(port.arrive(ack(1)), [0], "data gives way");
        assert_eq!(port.arrive(data(1, i64::MIN, 100)), [3]);
        assert_eq!(port.arrive(ack(3)), [4], "only ACKs left: the newest");
        assert_eq!(port.drain(), [1, 2]);
    }
}

#[test]
fn strict_priority_serves_class_0_first_and_pushes_out_the_tail_of_the_lowest_class() {
    let of = |class| Packet { class, wire: 100, ..Packet::default() };
    let mut port = Port::new(priority::Params::from(3).into(), Limit::Packets(4));
    for class in [2, 1, 2, 0] {
        assert_eq!(port.arrive(of(class)), NONE);
    }
    assert_eq!(port.arrive(of(1)), [2], "the newest of class 2");
    assert_eq!(port.arrive(of(200)), [5], "shares the last class, which is the lowest that holds any");
    assert_eq!(port.arrive(Packet { class: 2, ..ack(1) }), [0], "control is of class 0");
    assert_eq!(port.drain(), [3, 6, 1, 4]);
}

#[test]
fn ads_pushes_out_the_tail_of_the_lowest_queue_and_serves_the_highest_first() {
    // Priorities 0, 1 into queue 0, 2 and above into queue 1.
    let map = ads::Map::Static { file: None, counts: Some(vec![0, 1, 1]) };
    let ads = ads::Params { queues: 2, cap: Bytes::new(15_000), map, ..ads::Params::default() };
    let mut port = Port::new(ads.into(), Limit::Packets(3));
    for rank in [9000, 1500, 3000] {
        assert_eq!(port.arrive(data(1, rank, 1500)), NONE);
    }
    assert_eq!(port.arrive(data(2, 1000, 1500)), [2]);
    assert_eq!(port.arrive(data(2, 8000, 1500)), [4]);
    assert_eq!(port.arrive(ack(3)), [0]);
    assert_eq!(port.drain(), [1, 3, 5]);
}

#[test]
fn fq_lets_a_short_packet_of_a_new_flow_overtake_a_backlog() {
    let mut port = Port::new(longest(), Limit::Unlimited);
    // Flow 1: finish numbers 1000, 2000, 3000. Flow 2 arrives 1000 ns later: the round has reached 1000 bytes.
    for _ in 0..3 {
        port.arrive_at(0, data(1, 0, 1000));
    }
    assert_eq!(port.leave_at(0), Some(0));
    port.arrive_at(1000, data(2, 0, 1500)); // 1000 + 1500 = 2500
    port.arrive_at(1000, data(3, 0, 900)); //  1000 +  900 = 1900
    assert_eq!(port.drain(), [4, 1, 3, 2]);
}

#[test]
fn fq_remembers_a_flow_that_was_served_ahead_of_its_share() {
    let mut port = Port::new(longest(), Limit::Unlimited);
    port.arrive_at(0, data(1, 0, 1000)); // F = 1000
    port.arrive_at(0, data(2, 0, 1000)); // F = 1000
    assert_eq!(port.leave_at(0), Some(0));
    // At 1000 ns the emulated server has given each 500 bytes: flow 1's next packet starts at 1000, not at 500.
    port.arrive_at(1000, data(1, 0, 200)); // F = 1200
    port.arrive_at(1000, data(3, 0, 600)); // F = 500 + 600 = 1100
    assert_eq!(port.drain(), [1, 3, 2]);
}

#[test]
fn the_longest_queue_in_bytes_gives_way_in_fair_queues() {
    for order in [longest(), drr(1500, FairOverflow::LongestQueue)] {
        let mut port = Port::new(order, Limit::Bytes(Bytes::new(4000)));
        port.arrive(data(1, 0, 1500));
        port.arrive(data(1, 0, 1500));
        for _ in 0..4 {
            port.arrive(data(2, 0, 250));
        }
        assert_eq!(port.arrive(data(3, 0, 40)), [1], "two of 1500 B are longer than four of 250 B");
        assert_eq!(port.arrive(data(1, 0, 1500)), [7]);
        let mut left = port.drain();
        left.sort();
        assert_eq!(left, [0, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn drr_as_in_the_papers_figure() {
    // Shreedhar & Varghese, Figures 3 and 4: quantum 500; queue 1 holds 200, 750, 20; queue 2: 500, 500.
    let mut port = Port::new(drr(500, FairOverflow::Tail), Limit::Unlimited);
    for (flow, wire) in [(1, 200), (2, 500), (1, 750), (2, 500), (1, 20)] {
        port.arrive(data(flow, 0, wire));
    }
    // Round 1: 200 (300 saved), 500. Round 2: 300 + 500 covers 750, the 50 left cover 20; then 500.
    assert_eq!(port.drain(), [0, 1, 2, 4, 3]);
}

#[test]
fn two_backlogged_flows_differ_by_less_than_a_quantum_and_a_packet_in_drr_and_by_a_packet_in_fq() {
    let quantum = 1500;
    for (order, bound) in [(drr(quantum, FairOverflow::Tail), quantum + 1500), (longest(), 1500)] {
        let mut port = Port::new(order, Limit::Unlimited);
        let sizes = [[1500, 1500, 1500], [100, 900, 1400], [40, 40, 41]];
        let mut flow_of = vec![];
        for i in 0..600 {
            for (flow, sizes) in sizes.iter().enumerate() {
                // As many bytes each: small-packet flows bring more packets.
                for _ in 0..1500 * 3 / sizes.iter().sum::<u32>() {
                    port.arrive(data(flow as u32, 0, sizes[i % 3]));
                    flow_of.push((flow, u64::from(sizes[i % 3])));
                }
            }
        }
        let (mut sent, mut now) = ([0u64; 3], 0);
        for _ in 0..3000 {
            let (flow, wire) = flow_of[port.leave_at(now).unwrap() as usize];
            now += wire;
            sent[flow] += wire;
            let spread = sent.iter().max().unwrap() - sent.iter().min().unwrap();
            assert!(spread <= bound, "{sent:?}");
        }
    }
}

#[test]
fn step_marking_at_departure_looks_at_what_is_left_behind() {
    let threshold = Length::Packets(2);
    let stage = step_ecn::Params { threshold, at: MarkAt::Departure, include_self: false }.into();
    let mut queue = make(&DisciplineSpec { stage, ..spec(OrderSpec::fifo(), Limit::Unlimited) });
    let packet = Packet { ecn: Ecn::Ect0, wire: 1500, ..Packet::default() };
    for i in 0..4 {
        assert_eq!(queue.enqueue(Time::ZERO, &packet, Handle(i), &mut vec![]), Verdict::Queued);
    }
    let marks: Vec<_> =
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut vec![])).map(|s| s.mark).collect();
    assert_eq!(marks, [true, true, false, false]);
}

#[test]
fn red_sees_the_port_idle_only_after_the_last_packet_has_left_the_wire() {
    let stage = red::Params {
        min: 0.4,
        max: 0.5,
        max_probability: 1.0,
        weight: 0.5,
        gentle: false,
        ecn: Some(false),
        mean_packet: Bytes::new(1000),
    }
    .into();
    // Four packets at once find 0, 1, 2, 3: averages 0, 0.5 (dropped: at max).
    let mut queue = make(&DisciplineSpec { stage, ..spec(OrderSpec::fifo(), Limit::Unlimited) });
    let packet = data(1, 0, 1000);
    let arrive = |q: &mut Queue, us| q.enqueue(Time::from_us(us), &packet, Handle(0), &mut vec![]);
    assert_eq!(arrive(&mut queue, 0), Verdict::Queued);
    assert_eq!(arrive(&mut queue, 0), Verdict::Dropped);
    queue.dequeue(Time::ZERO, &mut vec![]);
    // Idle since 1 us; at 2 us the average has halved once: 0.25, below min.
    assert_eq!(arrive(&mut queue, 2), Verdict::Queued);
}
