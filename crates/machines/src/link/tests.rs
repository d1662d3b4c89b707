//! What every link obeys, whatever it is.

use super::*;
use proptest::prelude::*;
use std::sync::Arc;

fn transmitters() -> Vec<TransmitterSpec> {
    let mbps = Rate::from_mbps;
    let step = |ms, rate| Step { at: Span::from_ms(ms), rate };
    vec![
        TransmitterSpec::Fixed(FixedSpec { rate: mbps(7), quantum: Span::ZERO }),
        TransmitterSpec::Fixed(FixedSpec { rate: mbps(100), quantum: Span::from_ns(1) }),
        TransmitterSpec::Stepped(SteppedSpec {
            steps: vec![step(0, mbps(24)), step(5, Rate::ZERO), step(9, mbps(1))],
            period: Some(Span::from_ms(11)),
        }),
        TransmitterSpec::Stepped(SteppedSpec {
            steps: vec![step(0, mbps(3)), step(40, mbps(30))],
            period: None,
        }),
        TransmitterSpec::Traced(TracedSpec {
            trace: Arc::new(Trace::from_ms(vec![0, 0, 3, 4, 4, 4, 9]).unwrap()),
            bytes: OPPORTUNITY,
        }),
        BatchedSpec::of(mbps(65), 4).into(),
        TransmitterSpec::from(BatchedSpec {
            steps: vec![step(7, mbps(13)), step(20, mbps(39))],
            period: Some(Span::from_ms(30)),
            ..BatchedSpec::of(mbps(65), 4)
        }),
    ]
}

fn link(transmitter: TransmitterSpec) -> LinkSpec {
    let jitter = JitterSpec { shape: JitterShape::Uniform(Span::from_ms(2)), reorder: false };
    let loss = LossSpec::Bursts { enter: 0.1, leave: 0.5, good: 0.01, bad: 1.0 };
    LinkSpec { transmitter, delay: Span::from_ms(20), jitter: Some(jitter), loss: Some(loss) }
}

/// Sends loads `(gap before, bytes)` as early as each may leave: (begun, left, arrives) of each.
fn story(m: &mut Link, loads: &[(u64, u32)], mut free: Time) -> Vec<(Time, Time, Option<Time>)> {
    let send = |(gap, wire): &(u64, u32)| {
        let begun = m.opens(free + Span::from_us(*gap));
        free = m.send(begun, Load::one(*wire));
        (begun, free, m.arrives(free))
    };
    loads.iter().map(send).collect()
}

proptest! {
    #[test]
    fn nothing_begins_early_ends_before_it_began_or_overtakes(
        which in 0..transmitters().len(),
        loads in prop::collection::vec((0u64..20_000, 1u32..9000), 1..60),
        at in 0u64..100_000,
    ) {
        let mut m = link(transmitters()[which].clone()).make(7, 3).unwrap();
        let mut earliest = Time::from_us(at);
        let mut latest = Time::ZERO;
        for (i, (begun, left, arrives)) in story(&mut m, &loads, earliest).into_iter().enumerate() {
            prop_assert!(begun >= earliest + Span::from_us(loads[i].0) && left >= begun);
            prop_assert_eq!(m.opens(left).max(left), m.opens(left), "never in the past");
            if let Some(at) = arrives {
                prop_assert!(at >= left + Span::from_ms(20) && at >= latest);
                latest = at;
            }
            earliest = left;
        }
    }

    #[test]
    fn queries_change_nothing_and_clones_and_snapshots_go_on_identically(
        which in 0..transmitters().len(),
        loads in prop::collection::vec((0u64..20_000, 1u32..9000), 2..40),
    ) {
        let mut straight = link(transmitters()[which].clone()).make(7, 3).unwrap();
        let mut cut = straight.clone();
        let (first, second) = loads.split_at(loads.len() / 2);
        let whole = story(&mut straight, &loads, Time::ZERO);
        let begun = story(&mut cut, first, Time::ZERO);
        let free = begun.last().map_or(Time::ZERO, |s| s.1);
        let saved = postcard::to_allocvec(&cut).unwrap();
        let mut resumed: Link = postcard::from_bytes(&saved).unwrap();
        for m in [&mut cut, &mut resumed] {
            let _ = (m.rate(free), m.opens(free), m.opens(free + Span::from_ms(50)), m.batch(), m.reorders());
            let rest = story(m, second, free);
            prop_assert_eq!([begun.clone(), rest].concat(), whole.clone());
        }
    }
}

#[test]
fn every_transmitter_of_the_list_obeys_the_laws() {
    let (all, mut tested): (Vec<usize>, Vec<usize>) =
        transmitters().iter().map(TransmitterSpec::number).unzip();
    tested.dedup();
    assert_eq!(tested, (0..all[0]).collect::<Vec<_>>(), "one is not tested, or they are out of order");
}

#[test]
fn two_links_of_one_seed_lose_different_packets() {
    let spec = link(transmitters()[0].clone());
    let arrive = |entity| {
        let mut m = spec.make(7, entity).unwrap();
        (0..200).map(|i| m.arrives(Time::from_ms(i))).collect::<Vec<_>>()
    };
    assert_eq!(arrive(1), arrive(1));
    assert_ne!(arrive(1), arrive(2));
}
