//! A port in virtual time, against schedules by hand, and against the port that is driven by a trace.

#[path = "../../../scenario/examples/port_on_a_trace.rs"]
mod reference;

use crate::common::{arrival, decisions, port, scenario};
use proptest::prelude::*;
use thalweg_emulate::path::{Arrival, Fate, Path};
use thalweg_units::{Span, Time};
use thalweg_wire::Ecn;

fn ms(ms: u64) -> Time {
    Time::from_ms(ms)
}

/// 8 Mb/s: 1000 bytes take 1 ms. 5 ms to the far end. Room for two waiting packets.
const TWO: &str = "[switch]\nbuffer = \"2KB\"\n";

#[test]
fn four_packets_at_once_find_a_link_and_room_for_two() {
    let port = port(&scenario("8Mbps", "5ms", TWO));
    let arrivals = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (10, 500)];
    let arrivals = arrivals.map(|(at, wire)| arrival(Time::from_ms(20 + at), 1, wire));
    let found = decisions(&port, &arrivals, ms(100));
    // One that comes at the instant of another comes a picosecond after it.
    let late = |n| Span::from_ps(n);
    let sent = |at: Time, took: Span| Fate::Sent {
        until: at + took,
        arrives: Some(at + took + Span::from_ms(5)),
        ecn: Ecn::Ect0,
    };
    let (full, half) = (Span::from_ms(1), Span::from_us(500));
    let expected = [
        (0, ms(20), sent(ms(20), full)),
        (3, ms(20) + late(3), Fate::Dropped),
        (1, ms(21), sent(ms(21), full)),
        (2, ms(22), sent(ms(22), full)),
        (4, ms(30), sent(ms(30), half)),
    ];
    let found: Vec<_> = found.iter().map(|d| (d.packet, d.at, d.fate)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_mark_is_made_where_two_packets_wait() {
    let more = "[switch]\nbuffer = \"unlimited\"\nmarking = { kind = \"step\", threshold = \"2KB\" }\n\
                [transport]\ncongestion = \"dctcp\"\n";
    let port = port(&scenario("8Mbps", "5ms", more));
    let arrivals: Vec<Arrival> = (0..6).map(|_| arrival(ms(1), 1, 1000)).collect();
    let marked: Vec<bool> = decisions(&port, &arrivals, ms(100)).iter().map(|d| d.marked).collect();
    assert_eq!(marked.len(), 6);
    assert!(!marked[0] && !marked[1] && marked[4] && marked[5], "{marked:?}");
}

#[test]
fn nothing_waits_for_a_wake_up_that_is_not_needed() {
    let port = port(&scenario("8Mbps", "5ms", TWO));
    let mut path = Path::new(&port).unwrap();
    assert_eq!(path.wake(), None);
    path.arrive(&arrival(ms(3), 1, 1000), 7, &mut |d| assert_eq!((d.label, d.at), (7, ms(3))));
    // The port decides again when its link is free, and then has nothing to decide any more.
    assert_eq!(path.wake(), Some(ms(4)));
    path.advance(ms(4), &mut |_| unreachable!("nothing waits"));
    assert_eq!(path.wake(), None);
}

#[test]
fn packets_leave_at_the_opportunities_of_a_trace_and_wait_through_its_gap() {
    let trace = std::env::temp_dir().join(format!("thalweg-emulate-{}.trace", std::process::id()));
    std::fs::write(&trace, "10\n11\n30\n").unwrap();
    let more = format!(
        "[[link]]\nwhich = {{ between = [\"switch0\", \"switch1\"] }}\ndirection = \"forward\"\ntransmitter = {{ kind = \"traced\", file = {:?} }}\n",
        trace.to_str().unwrap()
    );
    let port = port(&scenario("8Mbps", "5ms", &more));
    let arrivals: Vec<Arrival> = (0..5).map(|_| arrival(ms(1), 1, 1500)).collect();
    let left = |fate: Fate| if let Fate::Sent { until, .. } = fate { until } else { Time::ZERO };
    let found: Vec<Time> = decisions(&port, &arrivals, ms(100)).iter().map(|d| left(d.fate)).collect();
    std::fs::remove_file(trace).unwrap();
    assert_eq!(found, [10, 11, 30, 40, 41].map(ms));
}

const KINDS: [&str; 7] = [
    TWO,
    "[switch]\nbuffer = \"100KB\"\nscheduler = \"fq-codel\"\n",
    "[switch]\nbuffer = \"60KB\"\nscheduler = \"drr\"\n",
    "[switch]\nbuffer = \"100KB\"\nmarking = \"pie\"\n",
    "[switch]\nbuffer = \"100KB\"\nmarking = \"codel\"\n",
    "[switch]\nbuffer = \"100KB\"\nmarking = { kind = \"pi\", reference = \"3KB\", a = 0.5, b = 0.05, update = \"300us\" }\n[transport]\ncongestion = \"dctcp\"\n",
    "[[link]]\nwhich = \"core-links\"\nloss = { independent = 0.05 }\njitter = { kind = \"uniform\", max = \"9ms\", reorder = true }\n",
];

proptest! {
    /// The law that makes a late emulator an exact one: looks in between, whenever they come, change nothing.
    #[test]
    fn waking_late_or_early_changes_nothing(
        kind in 0..KINDS.len(),
        gaps in prop::collection::vec((0u64..3000, 40u32..1500, 0u32..5), 1..400),
        looks in prop::collection::vec(0u64..3000, 0..400),
    ) {
        let port = port(&scenario("8Mbps", "5ms", KINDS[kind]));
        let mut at = Time::ZERO;
        let arrivals: Vec<Arrival> = gaps
            .iter()
            .map(|(gap, wire, flow)| {
                at += Span::from_us(*gap);
                arrival(at, *flow, *wire)
            })
            .collect();
        let end = at + Span::from_ms(500);
        let lazy = decisions(&port, &arrivals, end);
        let mut path = Path::new(&port).unwrap();
        let (mut eager, mut looks, mut now) = (Vec::new(), looks.into_iter(), Time::ZERO);
        for arrival in &arrivals {
            // Never past an arrival: what comes is taken in before anything is decided.
            for look in looks.by_ref() {
                now += Span::from_us(look);
                if now >= arrival.at {
                    break;
                }
                path.advance(now, &mut |d| eager.push(d));
            }
            now = now.max(arrival.at);
            path.arrive(arrival, 0, &mut |d| eager.push(d));
        }
        path.advance(end, &mut |d| eager.push(d));
        prop_assert_eq!(&lazy, &eager);
        prop_assert_eq!(lazy.len() as u32 + path.waiting(), arrivals.len() as u32);
    }
}

proptest! {
    /// Control planes tick while nothing waits, too: what a trace of known arrivals gives is given packet by packet.
    #[test]
    fn decisions_are_those_of_the_port_on_a_trace(
        kind in 0..KINDS.len(),
        gaps in prop::collection::vec((1u64..400, 40u32..1500, 0u32..5, 0u32..20), 1..300),
    ) {
        let text = scenario("8Mbps", "5ms", KINDS[kind]);
        let loaded = thalweg_scenario::load(&text, "t.toml", std::path::Path::new("."), &[]).unwrap();
        let spec = loaded.port("switch0", "switch1").unwrap();
        let mut at = Time::ZERO;
        let trace: Vec<reference::Arrival> = gaps
            .iter()
            .map(|&(gap, wire, flow, rest)| {
                // Bursts, and rests of up to a second.
                at += if rest == 0 { Span::from_ms(3 * gap) } else { Span::from_us(2 * gap) };
                reference::Arrival { at, flow, wire }
            })
            .collect();
        let whole = |a: &reference::Arrival| Arrival { payload: a.wire, ..arrival(a.at, a.flow, a.wire) };
        let arrivals: Vec<Arrival> = trace.iter().map(whole).collect();
        let mut found = vec![reference::Fate::Waits; trace.len()];
        for decision in decisions(&port(&text), &arrivals, at + Span::from_ms(60_000)) {
            found[decision.packet as usize] = match decision.fate {
                Fate::Sent { until, arrives, ecn } => reference::Fate::Sent { until, arrives, marked: ecn == Ecn::Ce },
                Fate::Dropped => reference::Fate::Dropped,
                Fate::Trimmed { .. } => unreachable!("such ports are refused"),
            };
        }
        prop_assert_eq!(found, reference::play(&spec, &trace).unwrap());
    }
}
