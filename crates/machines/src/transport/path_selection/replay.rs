//! REPS as it ran in the consortium's simulator, row by row.

use super::reps::{Explore, Params, Reps};
use super::*;
use crate::transport::traces::Trace;
use std::collections::BTreeMap;
use thalweg_units::Span;

/// On top of the trace's values: no draw gives them, so that those which are used again are seen to be.
const AWAY: u32 = 1 << 20;

fn replays(name: &'static str, freezes: bool) {
    let Some(trace) = Trace::read(name) else { return };
    let p = Params {
        values: 64,
        exit_after: Span::from_ms(10),
        explore: Explore::Packets(16),
        ..Params::default()
    };
    let mut flows: BTreeMap<u64, Reps> = BTreeMap::new();
    let mut frozen = 0;
    trace.replay(|row| {
        let flow = row.number("flow");
        let reps = flows.entry(flow).or_insert_with(|| p.make(Stream::new(1, "paths", flow)));
        let (now, detail) = (Time::from_ps(row.number("time_ps")), row.word("detail"));
        let value = || row.number("ev") as u32 + AWAY;
        match (row.word("event"), detail) {
            ("fb", "good") => reps.on_feedback(&p, now, value(), PathFeedback::Good),
            ("fb", "ecn") => reps.on_feedback(&p, now, value(), PathFeedback::Marked),
            ("fb", "nack") => reps.on_feedback(&p, now, value(), PathFeedback::Trimmed),
            ("fb", "timeout") => reps.on_timeout(&p, now, value(), 1.0),
            ("freeze", _) => frozen += 1,
            ("send", how) => {
                let next = reps.next(&p, now, 29);
                let expected = match how {
                    "random" | "explore" => next < p.values,
                    "recycled" | "frozen" => next == value(),
                    other => panic!("{other}"),
                };
                return (!expected).then(|| format!("sent {next}"));
            }
            (other, _) => panic!("{other}"),
        }
        None
    });
    assert_eq!(frozen > 0, freezes, "{frozen} freezes");
}

#[test]
fn a_permutation_with_an_ack_per_four_packets() {
    replays("uet/lb_perm32_nscc_reps.csv.gz", false);
}
#[test]
fn slow_links_with_an_ack_per_packet() {
    replays("uet/lb_slow32_nscc_reps1.csv.gz", false);
}
#[test]
fn flows_that_freeze_because_a_link_is_dead() {
    replays("uet/lb_dead32_nscc_reps1.csv.gz", true);
}
