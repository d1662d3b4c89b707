//! Runs whose controllers are decided from outside: what is decided is all that decides, and state is data.

use crate::common::*;
use std::path::Path;
use thalweg_lab::{Every, Run, Session, Standing, decisions};
use thalweg_scenario::Stop;
use thalweg_units::{Span, Stream};

const COLUMNS: usize = Session::COLUMNS.len();
/// Two flows that are decided, and one that decides by itself, over 10 Mb/s.
const TCP: &str = r#"
seed = 5
topology = { kind = "dumbbell", pairs = 3, host_rate = "1Gbps", bottleneck_rate = "10Mbps", base_rtt = "40ms" }
switch = { buffer = "40KB" }
transport = { congestion = "external" }
transports = { own = { kind = "tcp", congestion = "cubic" } }
run = { until = "3s" }
[[traffic]]
kind = "backlogged"
src = 0
dst = 3
[[traffic]]
kind = "flow"
src = 1
dst = 4
size = "900KB"
start = "100ms"
[[traffic]]
kind = "backlogged"
src = 2
dst = 5
transport = "own"
"#;
/// Queue pairs, whose NICs pull.
const RDMA: &str = r#"
scheme = "irn+voq"
topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "2us" }
transport = { congestion = "external" }
run = { until = "1ms" }
[[traffic]]
kind = "incast"
fan_in = 3
receiver = 0
size = "200KB"
"#;

fn session(text: &str, every: Every) -> Session {
    Session::new(&Stop::default(), &scenario(text, Path::new("."), &[]), every)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Takes a session to its next decision, which is drawn; false at the end. Between some events `cut` may replace it.
fn step(
    session: &mut Session,
    chance: &mut Stream,
    seen: &mut Vec<f64>,
    cut: &mut dyn FnMut(&Session) -> Option<Session>,
) -> bool {
    loop {
        let standing = session.advance(150);
        if let Some(other) = cut(session) {
            *session = other;
        }
        match standing {
            Standing::Over => return false,
            Standing::Waits => break,
            Standing::Goes => {}
        }
    }
    let mut rows = vec![0.0; COLUMNS * session.flows().len()];
    session.observe(&mut rows);
    for (nth, of) in session.flows().to_vec().into_iter().enumerate() {
        let bdp = of.rate.bps() as f64 / 8.0 * of.base_rtt.secs();
        let pace = [f64::NAN, 0.0, of.rate.bps() as f64][chance.below(3) as usize];
        session.decide(nth, bdp * (0.25 + chance.below(8) as f64 / 4.0), pace);
    }
    seen.extend(rows);
    true
}

/// To the end: its digest, and all that was observed.
fn finish(
    text: &str,
    every: Every,
    draws: u64,
    cut: &mut dyn FnMut(&Session) -> Option<Session>,
) -> (u64, Vec<f64>) {
    let (mut session, mut chance) = (session(text, every), Stream::new(draws, "decisions", 0));
    let mut seen = Vec::new();
    while step(&mut session, &mut chance, &mut seen, cut) {}
    assert_eq!(session.run().violation(), None);
    (session.run().digest(), seen)
}

#[test]
fn a_session_that_is_cut_saved_copied_and_resumed_ends_as_the_straight_one() {
    for (text, every) in [
        (TCP, Every::RoundTrip),
        (TCP, Every::Span(Span::from_ms(50))),
        (RDMA, Every::RoundTrip),
        (RDMA, Every::Span(Span::from_us(20))),
    ] {
        let straight = finish(text, every, 1, &mut |_| None);
        assert!(straight.1.len() > 10 * COLUMNS, "{every:?}: {} rows", straight.1.len() / COLUMNS);
        let copied = finish(text, every, 1, &mut |session| Some(session.clone()));
        assert!(copied == straight, "{every:?}: a copy differs");
        let resumed = finish(text, every, 1, &mut |session| {
            Some(Session::load(&session.save(), every).expect("a session"))
        });
        assert!(resumed == straight, "{every:?}: a resumed one differs");
        let other = finish(text, every, 2, &mut |_| None);
        assert_ne!(other.0, straight.0, "other decisions, another run");
    }
}

#[test]
fn where_nothing_is_decided_the_window_stays_as_it_began() {
    let mut plain = Run::new(&scenario(TCP, Path::new("."), &[])).expect("a network");
    while plain.step(1000) {}
    let fixed = run(&TCP.replace("\"external\"", "\"fixed\""));
    for name in ["delivered", "drops"] {
        let found = column(&plain, "flows", name);
        assert_eq!(found, column(&fixed, "flows", name), "{name}");
    }
}

#[test]
fn flows_decide_together_at_multiples_of_a_time_and_each_by_its_own_round_trip() {
    let mut together = session(TCP, Every::Span(Span::from_ms(100)));
    let mut rows = [0.0; 2 * COLUMNS];
    let mut waits = Vec::new();
    while together.advance(u64::MAX) == Standing::Waits && waits.len() < 8 {
        together.observe(&mut rows);
        waits.push((rows[0] > 0.0, rows[COLUMNS] > 0.0, (rows[1] * 1e3).round() as u64));
        (0..2).for_each(|nth| together.decide(nth, f64::NAN, f64::NAN));
    }
    assert_eq!(waits[0].0 as u8 + waits[0].1 as u8, 1, "the first acknowledgement is of one flow");
    assert_eq!(waits[4..].iter().map(|(one, other, at)| (*one && *other, at % 100)).max(), Some((true, 0)));

    let mut apart = session(TCP, Every::RoundTrip);
    let mut elapsed = Vec::new();
    while apart.advance(u64::MAX) == Standing::Waits && elapsed.len() < 30 {
        apart.observe(&mut rows);
        elapsed.push(rows[2].max(rows[2 + COLUMNS]));
        (0..2).for_each(|nth| apart.decide(nth, 15_000.0, f64::NAN));
    }
    // Once both have begun.
    let (least, most) = elapsed[4..].iter().fold((1.0, 0.0), |(a, b), x| (x.min(a), x.max(b)));
    assert!((0.04..0.2).contains(&least) && most < 0.2, "{elapsed:?}");
}

/// Next to a flow without end: within a round trip of the last ACK, and not as the run ends.
#[test]
fn a_session_is_over_when_its_own_flows_are_complete() {
    let text = "topology = { kind = \"dumbbell\", pairs = 2, bottleneck_rate = \"10Mbps\", base_rtt = \"20ms\" }\n\
                run = { until = \"60s\" }\n\
                [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"20KB\"\n\
                transport = { congestion = \"external\" }\n\
                [[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 3\ntransport = { congestion = \"newreno\" }\n";
    let mut session = session(text, Every::RoundTrip);
    while session.advance(u64::MAX) == Standing::Waits {
        session.decide(0, 5_000.0, f64::NAN);
    }
    let ended = session.run().progress().now_ps as f64 * 1e-12;
    assert!(session.is_done() && ended < 2.0, "{ended} s");
}

#[test]
fn what_is_decided_is_recorded_and_replayed() {
    let text = TCP.replacen("run = ", "measure = { decisions = true }\nrun = ", 1);
    let (mut session, mut chance) = (session(&text, Every::RoundTrip), Stream::new(1, "decisions", 0));
    while step(&mut session, &mut chance, &mut Vec::new(), &mut |_| None) {}
    let mut run = Run::load(&session.save()).expect("a run");
    let found = decisions::replay(&run.take_decisions()).expect("a record");
    assert_eq!(found.iter().filter(|flow| flow.controller == "external").count(), 2);
    for flow in found {
        assert_eq!((flow.same, &flow.differs), (flow.decisions, &None));
        assert!(flow.decisions > 300, "{flow:?}");
    }
}

#[test]
fn a_scenario_without_such_a_flow_is_refused_by_its_key() {
    let plain = scenario(&TCP.replace("\"external\"", "\"cubic\""), Path::new("."), &[]);
    let refused =
        Session::new(&Stop::default(), &plain, Every::RoundTrip).err().expect("refused").to_string();
    assert!(refused.contains("transport.congestion") && refused.contains("external"), "{refused}");
}
