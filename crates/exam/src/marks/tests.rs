//! Marks of runs that are written down here, by hand.

use super::*;

/// A link of 8 Mb/s, sampled every 100 ms for ten seconds, that carries nothing for so many seconds and then all.
fn link(idle: u64) -> Link {
    let at: Vec<u64> = (0..=100).map(|n| n * 100_000_000_000).collect();
    let capacity: Vec<u64> = (0..=100).map(|n| n * 100_000).collect();
    let bytes = capacity.iter().map(|bytes| bytes.saturating_sub(idle * 1_000_000)).collect();
    Link { time_ps: at, bytes, capacity }
}

fn look(settles: Settles) -> Look {
    Look { from: 0.0, event: 0.0, settles, window: 1.0, base_rtt: vec![] }
}

fn flows(packets: [u64; 2], drops: [u64; 2]) -> Flows {
    Flows {
        id: vec![0, 1],
        group: vec![0, 1],
        start_ps: vec![Some(0), Some(1_000_000_000_000)],
        fct_ps: vec![Some(2_000_000_000_000), Some(3_000_000_000_000)],
        packets: packets.into(),
        data_drops: drops.into(),
    }
}

#[test]
fn a_link_that_was_idle_for_two_seconds_of_ten_is_used_for_eight_and_settles_soon_after() {
    let seen = Seen { link: link(2), ..Seen::default() };
    let (marks, curves) = measure(&look(Settles::Link), &seen);
    assert_eq!(marks.utilisation, 0.8);
    // The first window of a second that carries 80 % begins at 1.8 s.
    assert!((marks.settled_s - 1.8).abs() < 1e-9, "{marks:?}");
    assert_eq!((curves.seconds.len(), curves.capacity[50].round()), (100, 8.0));
    let late = measure(&Look { from: 2.0, ..look(Settles::Link) }, &seen).0;
    assert_eq!(late.utilisation, 1.0);
    let never = measure(&look(Settles::Link), &Seen { link: link(10), ..Seen::default() }).0;
    assert_eq!((never.utilisation, never.settled_s), (0.0, f64::INFINITY));
}

#[test]
fn loss_and_delay_are_of_the_flows_examined_alone() {
    let trips = Trips {
        time_ps: vec![1, 2, 3],
        flow: vec![0, 1, 0],
        rtt_ps: vec![45_000_000_000, 99_000_000_000, 42_000_000_000],
    };
    let seen = Seen {
        flows: flows([100, 10], [5, 10]),
        trips,
        examined: vec![0],
        base_rtt_ms: 40.0,
        ..Seen::default()
    };
    let (marks, _) = measure(&look(Settles::Nothing), &seen);
    assert_eq!((marks.loss, marks.delay_ms), (0.05, 5.0));
    assert!(marks.utilisation.is_nan() && marks.settled_s.is_nan() && marks.fairness.is_nan());
    let far = measure(&Look { base_rtt: vec![44.0], ..look(Settles::Nothing) }, &seen).0;
    assert_eq!(far.delay_ms, 1.0);
}

#[test]
fn who_gets_three_quarters_has_half_more_than_its_share() {
    let progress = Progress {
        time_ps: vec![0, 0, 10_000_000_000_000, 10_000_000_000_000],
        flow: vec![0, 1, 0, 1],
        delivered: vec![0, 0, 3000, 1000],
    };
    let seen =
        Seen { flows: flows([1, 1], [0, 0]), link: link(0), progress, examined: vec![0], ..Seen::default() };
    let (marks, _) = measure(&look(Settles::Share), &seen);
    assert_eq!((marks.share, marks.fairness), (1.5, 0.8));
    assert_eq!(marks.settled_s, f64::INFINITY, "0.8 is below 0.9 all the time");
    let alone = measure(&look(Settles::Share), &Seen { examined: vec![0, 1], ..seen }).0;
    assert!(alone.share.is_nan() && alone.fairness == 0.8);
}

#[test]
fn all_is_done_when_the_last_flow_is() {
    let seen = Seen { flows: flows([1, 1], [0, 0]), ..Seen::default() };
    assert_eq!(measure(&look(Settles::Done), &seen).0.settled_s, 4.0);
    let mut cut = seen.clone();
    cut.flows.fct_ps[1] = None;
    assert_eq!(measure(&look(Settles::Done), &cut).0.settled_s, f64::INFINITY);
    assert_eq!(measure(&look(Settles::Done), &Seen::default()).0.settled_s, f64::INFINITY);
}

#[test]
fn the_delay_has_settled_where_it_stays() {
    // 50 ms of queue for four seconds, then 1 ms; a round trip every 10 ms.
    let at: Vec<u64> = (0..1000).map(|n| n * 10_000_000_000).collect();
    let rtt =
        at.iter().map(|at| if *at < 4_000_000_000_000 { 90_000_000_000 } else { 41_000_000_000 }).collect();
    let trips = Trips { flow: vec![0; at.len()], time_ps: at, rtt_ps: rtt };
    let seen = Seen {
        flows: flows([1, 1], [0, 0]),
        link: link(0),
        trips,
        examined: vec![0],
        base_rtt_ms: 40.0,
        ..Seen::default()
    };
    let settled = measure(&look(Settles::Delay), &seen).0.settled_s;
    // Half a window is looked at: its median falls once more than half of it lies behind four seconds.
    assert!((3.7..=4.0).contains(&settled), "{settled}");
}
