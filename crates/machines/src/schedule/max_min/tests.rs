use super::*;
use proptest::prelude::*;
use thalweg_units::Stream;

/// 8 Mb/s: a million bytes per second.
fn max_min(p: Params) -> MaxMin {
    p.make(&At {
        rate: Rate::from_mbps(8),
        back: Rate::from_mbps(8),
        stream: Stream::new(1, "queue", 0),
        preemptive: false,
    })
    .unwrap()
}

#[test]
fn short_flows_are_served_first_and_the_rest_is_shared_alike() {
    // 1000 − 100; the smallest wants 50, the next 200; 650 is left for two.
    let mut demands = [(600.0, 0), (50.0, 1), (200.0, 0), (900.0, 1)];
    assert_eq!(fill(1000.0, [100.0, 0.0], &mut demands), [100.0 + 200.0 + 325.0, 50.0 + 325.0]);
    assert_eq!(fill(1000.0, [300.0, 900.0], &mut [(1.0, 0)]), [300.0, 900.0], "nothing is left");
    assert_eq!(fill(1000.0, [0.0, 0.0], &mut [(10.0, 0), (20.0, 1)]), [10.0, 20.0], "all are satisfied");
}

#[test]
fn three_flows_against_one_get_three_quarters_after_an_interval() {
    let mut m = max_min(Params::default());
    // All send as much; each wants a tenth more than it got.
    for ms in 0..500 {
        (0..4).for_each(|flow| m.joined(Time::from_ms(ms), usize::from(flow > 0), FlowId(flow), 250));
    }
    assert_eq!(m.share, 0.5, "not yet");
    m.joined(Time::from_ms(500), 0, FlowId(0), 250);
    assert!((m.share - 0.75).abs() < 1e-9, "{}", m.share);
    assert_eq!((m.top[0].seen(), m.top[1].seen()), (250, 0), "a new interval");
}

#[test]
fn shares_stay_within_a_twentieth_of_all_and_nothing_and_without_traffic_as_they_are() {
    let mut m = max_min(Params::default());
    m.joined(Time::ZERO, 1, FlowId(1), 1500);
    m.joined(Time::from_ms(600), 1, FlowId(1), 1500);
    assert_eq!(m.share, 0.95);
    m.top[1].clear();
    m.measured(1.0);
    assert_eq!(m.share, 0.95);
}

proptest! {
    /// Against the water level, found by halving.
    #[test]
    fn the_link_is_filled_to_one_level(
        capacity in 1.0f64..1000.0,
        short in (0.0f64..300.0, 0.0f64..300.0),
        mut demands in prop::collection::vec((0.1f64..500.0, 0usize..2), 1..12),
    ) {
        let given = fill(capacity, [short.0, short.1], &mut demands);
        let rest = (capacity - short.0 - short.1).max(0.0);
        let wanted: f64 = demands.iter().map(|d| d.0).sum();
        let (mut low, mut high) = (0.0, 501.0);
        for _ in 0..200 {
            let level = (low + high) / 2.0;
            let used: f64 = demands.iter().map(|d| d.0.min(level)).sum();
            if used > rest { high = level } else { low = level }
        }
        for queue in 0..2 {
            let own = demands.iter().filter(|d| d.1 == queue).map(|d| d.0.min(low)).sum::<f64>();
            prop_assert!((given[queue] - [short.0, short.1][queue] - own).abs() < 1e-6);
        }
        let all = given[0] + given[1] - short.0 - short.1;
        prop_assert!((all - rest.min(wanted)).abs() < 1e-6, "nothing is left over");
    }

    /// §2.4.3: two long flows, of which the one in queue 1 has a part of its fair rate and does not grow: it
    /// loses at most X.
    #[test]
    fn a_flow_that_does_not_grow_keeps_its_rate_and_no_more_than_the_headroom_is_lost(part in 0.1f64..0.5) {
        let mut m = max_min(Params::default());
        let small = (1e6 * part) as u64;
        m.top[1].add(FlowId(1), small);
        m.top[0].add(FlowId(0), 1_000_000 - small);
        m.measured(1.0);
        let kept = m.share * 1e6;
        prop_assert!(kept >= small as f64 - 1.0 && kept <= (1.1 * small as f64).max(5e4) + 1.0, "{kept} of {small}");
    }
}

#[test]
fn unequal_long_flows_come_closer_by_the_headroom_each_interval() {
    let mut m = max_min(Params::default());
    let mut share = 0.2;
    for _ in 0..20 {
        m.top[1].add(FlowId(1), (share * 1e6) as u64);
        m.top[0].add(FlowId(0), ((1.0 - share) * 1e6) as u64);
        m.measured(1.0);
        assert!(m.share >= share - 1e-6 && m.share <= share * 1.1 + 1e-6, "{share}: {}", m.share);
        share = m.share;
    }
    assert!((share - 0.5).abs() < 1e-3, "{share}");
}
