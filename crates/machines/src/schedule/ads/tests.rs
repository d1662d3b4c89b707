//! Worked examples of the mapping and a brute-force control plane.

use super::*;
use proptest::prelude::*;
use thalweg_units::{Bytes, Span, Stream};

fn spec(queues: u8, map: Map) -> Params {
    Params { queues, map, ..Params::default() }
}
fn given(counts: Vec<u64>) -> Map {
    Map::Static { file: None, counts: Some(counts) }
}
fn equal(counts: &[u64], k: u8) -> Vec<u8> {
    split::equal(counts, k).unwrap().collect()
}
/// Straight from the formula, each H(p⁻) summed anew.
fn formula(counts: &[u64], k: u8) -> Vec<u8> {
    let total: u64 = counts.iter().sum();
    let below = |p: usize| counts[..p].iter().sum::<u64>();
    (0..counts.len()).map(|p| (u64::from(k) * below(p) / total).min(u64::from(k) - 1) as u8).collect()
}

#[test]
fn two_megabytes_in_full_frames_are_priority_1334_and_larger_flows_too() {
    let table = Table::new(Bytes::new(2_000_000), 1500).unwrap();
    let of = |remaining| table.priority(remaining);
    assert_eq!((of(0), of(1), of(1500), of(1501)), (0, 1, 1, 2));
    assert_eq!((of(2_000_000), of(i64::MAX), of(-5)), (1334, 1334, 0));
    assert_eq!(table.entries(), 1335);
    assert!(Table::new(Bytes::new(4095 * 1500), 1500).is_ok());
    assert!(Table::new(Bytes::new(4095 * 1500 + 1), 1500).is_err());
    assert!(Table::new(Bytes::new(2_000_000), 0).is_err());
}

#[test]
fn eight_packets_of_eight_priorities_over_four_queues_go_two_by_two() {
    assert_eq!(equal(&[1; 8], 4), [0, 0, 1, 1, 2, 2, 3, 3]);
}

#[test]
fn a_priority_with_most_packets_is_never_divided() {
    // 6 of 8 packets have priority 1: ⌊2·0/8⌋, ⌊2·0/8⌋, ⌊2·6/8⌋, ⌊2·7/8⌋, ⌊2·8/8⌋ capped at 1.
    assert_eq!(equal(&[0, 6, 1, 1, 0], 2), [0, 0, 1, 1, 1]);
    // The queues it straddles stay empty: of 4, queues 1 and 2 are not used.
    assert_eq!(equal(&[0, 6, 2], 4), [0, 0, 3]);
}

#[test]
fn before_the_first_tick_powers_of_the_fourth_root_part_the_queues() {
    let map: Vec<u8> = split::log_uniform(1296, 4).collect(); // 1296 = 6⁴
    for (p, queue) in [(0, 0), (1, 0), (5, 0), (6, 1), (35, 1), (36, 2), (215, 2), (216, 3), (1296, 3)] {
        assert_eq!(map[p], queue, "{p}");
    }
    assert_eq!(split::log_uniform(0, 3).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_static_map_comes_from_its_histogram_and_an_empty_one_stays_log_uniform() {
    let ads = Ads::new(&spec(2, given(vec![0, 5, 5]))).unwrap();
    assert_eq!(ads.table().queues().take(4).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!(ads.wake(), None);
    let empty = Ads::new(&spec(2, given(vec![]))).unwrap();
    assert!(empty.table().queues().eq(split::log_uniform(1334, 2)));
    assert!(Ads::new(&spec(2, given(vec![1; 1336]))).unwrap_err().to_string().contains("1336"));
}

proptest! {
    #[test]
    fn the_equal_split_is_the_formula_and_monotone(
        counts in prop::collection::vec(0u64..50, 1..60), k in 1u8..12
    ) {
        if counts.iter().sum::<u64>() == 0 {
            prop_assert!(split::equal(&counts, k).is_none());
        } else {
            let map = equal(&counts, k);
            prop_assert!(map.is_sorted());
            prop_assert_eq!(map, formula(&counts, k));
        }
    }
}

#[test]
fn the_dynamic_map_is_that_of_the_last_w_intervals_recomputed_from_every_packet() {
    let (interval, window) = (Span::from_ms(5), 3);
    let mut ads = Ads::new(&spec(4, Map::Dynamic { interval, window })).unwrap();
    let mut draw = Stream::new(5, "sizes", 0);
    let mut seen: Vec<Vec<u32>> = vec![];
    let mut expected: Vec<u8> = split::log_uniform(1334, 4).collect();
    for tick in 1..40u64 {
        assert!(ads.table().queues().eq(expected.iter().copied()), "tick {tick}");
        // A quiet stretch longer than the window: the map stays.
        let packets = if (20..26).contains(&tick) { 0 } else { draw.below(200) };
        let mut counted = vec![];
        for _ in 0..packets {
            let rank = draw.below(3_000_000) as i64 / (1 + draw.below(1000) as i64);
            ads.push(Time::ZERO, &Packet { rank, ..Packet::default() }, Handle(0));
            counted.push(ads.table().priority(rank));
        }
        seen.push(counted);
        assert_eq!(ads.wake(), Some(Time::from_ms(5 * tick)));
        ads.on_tick(Time::from_ms(5 * tick));
        let mut counts = vec![0u64; 1335];
        seen.iter().rev().take(3).flatten().for_each(|&p| counts[p as usize] += 1);
        if counts.iter().sum::<u64>() > 0 {
            expected = formula(&counts, 4);
        }
    }
}

#[test]
fn a_late_tick_closes_one_long_interval_and_returns_to_the_grid() {
    let map = Map::Dynamic { interval: Span::from_ms(5), window: 3 };
    let mut ads = Ads::new(&spec(4, map)).unwrap();
    ads.on_tick(Time::from_ms(4));
    assert_eq!(ads.wake(), Some(Time::from_ms(5)), "too early: ignored");
    ads.on_tick(Time::from_ms(17));
    assert_eq!(ads.wake(), Some(Time::from_ms(20)));
}
