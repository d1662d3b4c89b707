//! The laws of every path selection, and schedules of REPS.

use super::reps::{Explore, Params, Reps};
use super::*;
use std::collections::BTreeSet;
use thalweg_units::Span;

fn stream(n: u64) -> Stream {
    Stream::new(n, "paths", 0)
}

/// What a network of chance makes of a flow's packets: values sent, and the machine afterwards.
fn played(spec: &PathSelectionSpec, seed: u64, packets: u64) -> (Vec<u32>, PathSelector) {
    let (mut paths, mut chance) = (spec.make(stream(seed)), Stream::new(seed, "network", 0));
    let mut sent = Vec::new();
    for n in 0..packets {
        let now = Time::from_ns(100 * n);
        sent.push(paths.next(spec, now, 20));
        let of = sent[chance.below(sent.len() as u64) as usize];
        match chance.below(40) {
            0..20 => paths.on_feedback(spec, now, of, PathFeedback::Good),
            20..25 => paths.on_feedback(spec, now, of, PathFeedback::Marked),
            25..30 => paths.on_feedback(spec, now, of, PathFeedback::Trimmed),
            30 => paths.on_timeout(spec, now, of, 1.0),
            _ => {}
        }
    }
    (sent, paths)
}

#[test]
fn a_selector_fits_into_a_cache_line() {
    assert!(size_of::<PathSelector>() <= 64, "{}", size_of::<PathSelector>());
}

#[test]
fn all_kinds_stay_among_their_values_and_repeat_exactly() {
    for spec in PathSelectionSpec::variants() {
        assert!(spec.problems().is_empty(), "{spec:?}: {:?}", spec.problems());
        let (sent, paths) = played(&spec, 7, 3000);
        assert!(sent.iter().all(|value| *value < spec.values()), "{spec:?}");
        assert_eq!(played(&spec, 7, 3000), (sent, paths), "{spec:?}");
    }
}

#[test]
fn a_saved_selector_goes_on_as_if_it_had_not_been() {
    for spec in PathSelectionSpec::variants() {
        let (_, mut paths) = played(&spec, 3, 500);
        let bytes = postcard::to_allocvec(&(&spec, &paths)).unwrap();
        let (read, mut back): (PathSelectionSpec, PathSelector) = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(read, spec);
        let now = Time::from_ms(1);
        for _ in 0..100 {
            assert_eq!(paths.next(&spec, now, 9), back.next(&read, now, 9), "{spec:?}");
        }
    }
}

#[test]
fn two_flows_do_not_choose_alike() {
    for spec in PathSelectionSpec::all() {
        if spec.key() == "reps-legacy" {
            continue; // its first window counts
        }
        let [one, other] = [1, 2].map(|seed| played(&spec, seed, 50).0);
        assert_ne!(one, other, "{spec:?}");
    }
}

#[test]
fn what_is_impossible_or_in_vain_is_refused_by_key() {
    let keys = |spec: PathSelectionSpec| -> Vec<String> {
        spec.problems().into_iter().map(|problem| problem.key).collect()
    };
    assert_eq!(keys(ecmp::Params { values: 1 }.into()), ["values"]);
    assert_eq!(keys(oblivious::Params { values: 100 }.into()), ["values"]);
    assert_eq!(keys(bitmap::Params { values: 1 << 17 }.into()), ["values"]);
    assert_eq!(keys(mixed::Params { values: 65 }.into()), ["values"]);
    assert_eq!(
        keys(plb::Params { share: 1.0, rounds: 0, ..plb::Params::default() }.into()),
        ["share", "rounds"]
    );
    assert_eq!(keys(subflows::Params { count: 0, ..subflows::Params::default() }.into()), ["count"]);
    let never = Params { freeze: false, explore: Explore::Packets(16), ..Params::default() };
    assert_eq!(keys(never.into()), ["explore"]);
    assert_eq!(
        keys(Params { exit_after: Span::ZERO, ..never }.into()),
        ["exit_after", "explore", "exit_after"]
    );
}

#[test]
fn scenarios_name_a_kind_and_what_differs_from_its_defaults() {
    let read = |text| serde_json::from_str::<PathSelectionSpec>(text).unwrap();
    let spec = read(r#"{"kind": "reps", "values": 64, "exit_after": "10ms", "explore": {"packets": 16}}"#);
    let ours = Params {
        values: 64,
        exit_after: Span::from_ms(10),
        explore: Explore::Packets(16),
        ..Params::default()
    };
    assert_eq!(spec, ours.into());
    assert_eq!(read(r#"{"kind": "reps-legacy"}"#), PathSelectionSpec::reps_legacy());
}

/// Values that no draw gives.
const AWAY: u32 = 1 << 20;

fn reps(p: &Params) -> Reps {
    Parameters::make(p, stream(1))
}
fn good(p: &Params, reps: &mut Reps, now: Time, values: impl IntoIterator<Item = u32>) {
    values.into_iter().for_each(|value| reps.on_feedback(p, now, AWAY + value, PathFeedback::Good));
}
/// The next values; `None`: drawn.
fn sends<const N: usize>(p: &Params, reps: &mut Reps, now: Time) -> [Option<u32>; N] {
    [(); N].map(|()| reps.next(p, now, 32).checked_sub(AWAY))
}

#[test]
fn unmarked_values_are_used_again_once_the_oldest_of_eight_first() {
    let p = Params::default();
    let (mut reps, now) = (reps(&p), Time::ZERO);
    assert_eq!(sends(&p, &mut reps, now), [None; 3]);
    good(&p, &mut reps, now, 0..9);
    reps.on_feedback(&p, now, AWAY + 20, PathFeedback::Marked);
    reps.on_feedback(&p, now, AWAY + 21, PathFeedback::Trimmed);
    // Nine came back: the first has gone.
    assert_eq!(sends(&p, &mut reps, now), [1, 2, 3, 4].map(Some));
    good(&p, &mut reps, now, [9]);
    assert_eq!(sends(&p, &mut reps, now), [Some(5), Some(6), Some(7), Some(8), Some(9), None, None]);
}

#[test]
fn after_a_timeout_only_values_that_came_back_are_used_in_turn_whether_or_not_they_were() {
    let p = Params::default();
    let (mut reps, now) = (reps(&p), Time::ZERO);
    good(&p, &mut reps, now, [0, 1, 2]);
    assert_eq!(sends(&p, &mut reps, now), [Some(0)]);
    reps.on_timeout(&p, now, AWAY + 7, 1.0);
    assert_eq!(sends(&p, &mut reps, now), [0, 1, 2, 0].map(Some));
    // What comes back now lengthens the turn.
    good(&p, &mut reps, now, [3]);
    assert_eq!(sends(&p, &mut reps, now), [1, 2, 3, 0, 1].map(Some));
    // A second timeout does not lengthen the freeze: it ends with the first feedback after 100 us.
    reps.on_timeout(&p, Time::from_us(90), AWAY + 7, 1.0);
    good(&p, &mut reps, Time::from_us(100), [4]);
    assert_eq!(sends(&p, &mut reps, Time::from_us(100)), [2, 3, 4].map(Some));
    reps.on_feedback(&p, Time::from_us(101), AWAY + 5, PathFeedback::Marked);
    assert_eq!(sends(&p, &mut reps, Time::from_us(101)), [None]);
}

#[test]
fn a_value_may_be_for_several_packets_and_the_next_one_waits() {
    let p = Params { uses: 3, ..Params::default() };
    let (mut reps, now) = (reps(&p), Time::ZERO);
    good(&p, &mut reps, now, [0, 1]);
    assert_eq!(sends(&p, &mut reps, now), [0, 0].map(Some));
    good(&p, &mut reps, now, [2]);
    assert_eq!(sends(&p, &mut reps, now), [0, 1, 1, 1, 2, 2, 2].map(Some));
    assert_eq!(sends(&p, &mut reps, now), [None]);
    // One that has to give way does so with what is left of it.
    good(&p, &mut reps, now, 0..8);
    assert_eq!(sends(&p, &mut reps, now), [Some(0)]);
    good(&p, &mut reps, now, [8]);
    assert_eq!(sends(&p, &mut reps, now), [1, 1, 1, 2].map(Some));
}

/// Where switches drop a packet may be lost for want of room: round trips were long then.
#[test]
fn a_timeout_after_long_round_trips_does_not_freeze() {
    let p = Params { freeze_below: Some(1.65), ..Params::default() };
    for (delay, frozen) in [(1.64, true), (1.65, false)] {
        let (mut reps, now) = (reps(&p), Time::ZERO);
        good(&p, &mut reps, now, [0]);
        reps.on_timeout(&p, now, 0, delay);
        assert_eq!(sends(&p, &mut reps, now), [Some(0), frozen.then_some(0)], "{delay}");
    }
}

#[test]
fn a_freeze_without_any_value_draws() {
    let p = Params::default();
    let mut reps = reps(&p);
    reps.on_timeout(&p, Time::ZERO, 0, 1.0);
    assert_eq!(sends(&p, &mut reps, Time::ZERO), [None; 20]);
}

/// Frozen at 0, and thawed by a value that came back after the time.
fn thawed(p: &Params) -> Reps {
    let mut reps = reps(p);
    reps.on_timeout(p, Time::ZERO, 0, 1.0);
    good(p, &mut reps, Time::from_us(101), [0]);
    reps
}

#[test]
fn after_a_freeze_every_eighth_packet_of_a_window_draws() {
    let p = Params::default();
    let (mut reps, now) = (thawed(&p), Time::from_us(102));
    // The window is 32: the 1st, 9th, 17th and 25th packet draw, though there are values.
    for n in 0..40 {
        good(&p, &mut reps, now, [n]);
        let drawn = n < 32 && n % 8 == 0;
        assert_eq!(sends::<1>(&p, &mut reps, now)[0].is_none(), drawn, "{n}");
        // While it explores no timeout freezes it.
        reps.on_timeout(&p, now, 0, 1.0);
        if n == 31 {
            break;
        }
    }
    reps.on_timeout(&p, now, 0, 1.0);
    good(&p, &mut reps, now, [50]);
    assert!(sends::<20>(&p, &mut reps, now).iter().all(Option::is_some), "frozen");
}

#[test]
fn or_sixteen_in_a_row_do() {
    let p = Params { explore: Explore::Packets(16), ..Params::default() };
    let (mut reps, now) = (thawed(&p), Time::from_us(102));
    assert_eq!(sends(&p, &mut reps, now), [None; 16]);
    assert_eq!(sends(&p, &mut reps, now), [Some(0), None]);
}

#[test]
fn without_freezing_a_timeout_changes_nothing() {
    let p = Params { freeze: false, ..Params::default() };
    let (mut reps, now) = (reps(&p), Time::ZERO);
    good(&p, &mut reps, now, [0]);
    reps.on_timeout(&p, now, 0, 1.0);
    assert_eq!(sends(&p, &mut reps, now), [Some(0), None, None]);
}

#[test]
fn a_frozen_flow_uses_eight_values_at_most() {
    let p = Params::default();
    for seed in 0..20 {
        let (mut reps, mut chance) = (Parameters::make(&p, stream(seed)), Stream::new(seed, "network", 0));
        good(&p, &mut reps, Time::ZERO, (0..chance.below(20)).map(|n| n as u32 + 1));
        good(&p, &mut reps, Time::ZERO, [0]);
        reps.on_timeout(&p, Time::ZERO, 0, 1.0);
        let mut used = BTreeSet::new();
        for n in 0..500 {
            let value = reps.next(&p, Time::from_ns(n), 32);
            used.insert(value);
            if chance.below(4) > 0 {
                reps.on_feedback(&p, Time::from_ns(n), value, PathFeedback::Good);
            }
        }
        assert!(used.len() <= 8 && used.iter().all(|value| *value >= AWAY), "{used:?}");
    }
}
