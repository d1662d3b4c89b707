//! Which calls of the contract come, when, in which order and with what: every transport is driven through
//! set-up, silence, limits of the application, losses, timeouts and its end. A round trip is 100 us.

use super::super::recorder::{Call, calls, permit, recorder};
use super::super::testing::*;
use super::super::*;
use crate::congestion::{AckSample, CongestionControl, Feedback, Loss, Permit, Restart};
use thalweg_wire::Flags;

/// What a controller was notified of: `open`, `s` a transmission, `a3` an ACK up to segment 3 (`+` the permit was used
/// up, `.` the application had no more, `r` in recovery, `l` its sample is the application's), `loss`,
/// `timeout`, `tick`, `restart`, `from` a window. Grouped by instant.
fn recorded() -> Vec<String> {
    let mut lines: Vec<(u64, String)> = vec![];
    for call in calls() {
        let flag = |yes: bool, text| if yes { text } else { "" };
        let (at, what) = match call {
            Call::Open(at, _) => (at, "open".into()),
            Call::Sent(at, ..) => (at, "s".into()),
            Call::Ack(a) => {
                let limited = a.delivery.is_some_and(|d| d.app_limited);
                let flags = [
                    flag(a.cwnd_limited, "+"),
                    flag(a.app_limited, "."),
                    flag(a.in_recovery, "r"),
                    flag(limited, "l"),
                ];
                (a.now, format!("a{}{}", a.acked_to / MSS, flags.concat()))
            }
            Call::Feedback(at) => (at, "feedback".into()),
            Call::Loss(l) => (l.now, format!("loss {}", l.in_flight.get() / MSS)),
            Call::Timeout(l) => (l.now, format!("timeout {}", l.in_flight.get() / MSS)),
            Call::Notification(at) => (at, "notified".into()),
            Call::Notice(at) => (at, "notice".into()),
            Call::Tick(at) => (at, "tick".into()),
            Call::Restart(at, idle) => (at, format!("restart {}", idle.ps() / 1_000_000)),
            Call::RestartFrom(at, Restart { window, .. }) => (at, format!("from {}", window.get() / MSS)),
        };
        let at = at.ps() / 1_000_000;
        match lines.last_mut() {
            Some((t, line)) if *t == at => *line += &format!(" {what}"),
            _ => lines.push((at, format!("{at}: {what}"))),
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

fn window(segments: u64) {
    permit(Permit::window(Bytes::new(segments * MSS)));
}

/// Three segments at once, and three more every 10 ms.
fn writes_thrice(spec: TcpSpec) -> TcpSpec {
    let bytes = Bytes::new(3 * MSS);
    let writes = Some(Writes { first: bytes, chunk: bytes, every: Span::from_ms(10) });
    TcpSpec { controller: recorder(), writes, ..spec }
}

#[test]
fn tcp_opens_sends_receives_falls_silent_and_restarts() {
    let mut pair = Pair::new(TcpSpec { handshake: true, ..writes_thrice(tcp()) }, 6);
    window(10);
    pair.run(|_, _, _| Fate::Deliver);
    assert_eq!(
        recorded(),
        [
            "100: open s s s",
            "200: a1. a2. a3.",
            // Longer than the timer's floor of 1 ms, but the initial window is ten segments, too.
            "10000: restart 9800 s s s",
            "10100: a4.l a5.l a6.l",
        ]
    );
}

#[test]
fn after_a_pause_longer_than_the_timer_the_window_is_the_initial_one_unless_the_scenario_keeps_it() {
    let restarted = |restart, every_ms| {
        let options = TcpOptions { restart, ..TcpOptions::default() };
        let bytes = Bytes::new(3 * MSS);
        let writes = Some(Writes { first: bytes, chunk: bytes, every: Span::from_ms(every_ms) });
        let initial_window = Bytes::new(4 * MSS);
        let spec = TcpSpec { controller: recorder(), writes, options, initial_window, ..tcp() };
        let mut pair = Pair::new(spec, 6);
        window(80);
        pair.run(|_, _, _| Fate::Deliver);
        let from = calls().into_iter().find_map(|call| match call {
            Call::RestartFrom(_, restart) => Some((restart.window.get() / MSS, restart.keeps_threshold)),
            _ => None,
        });
        let restarts = calls().iter().filter(|call| matches!(call, Call::Restart(..))).count();
        (restarts, from)
    };
    // The timer runs for 1 ms, its floor. Nothing was sent for all of the time between the writes.
    assert_eq!(restarted(RestartRule::Rfc5681, 10), (1, Some((4, false))));
    assert_eq!(restarted(RestartRule::Rfc5681, 1), (1, None), "not longer than the timer");
    // RFC 2861: half for every whole timeout that it was longer: 80, 40, 20, 10.
    assert_eq!(restarted(RestartRule::Linux, 2), (1, Some((40, true))));
    assert_eq!(restarted(RestartRule::Linux, 4), (1, Some((10, true))));
    assert_eq!(restarted(RestartRule::Linux, 10), (1, Some((4, true))));
    assert_eq!(restarted(RestartRule::Keep, 10), (1, None));
    assert_eq!(restarted(RestartRule::Rfc7661, 10), (1, None));
    assert_eq!(restarted(RestartRule::Rfc7661, 301_000), (1, Some((40, true))));
}

#[test]
fn every_way_to_repair_losses_restarts_once_per_silence() {
    let span = TcpSpec { flight: Flight::Span, ..tcp() };
    for spec in [tcp(), rack(), reno(), span, TcpSpec { loss: LossDetection::TimeoutOnly, ..tcp() }] {
        let mut pair = Pair::new(writes_thrice(spec), 12);
        window(10);
        pair.run_losing(&[1, 5, 8]);
        let restarts: Vec<Time> = calls()
            .into_iter()
            .filter_map(|call| if let Call::Restart(at, _) = call { Some(at) } else { None })
            .collect();
        assert_eq!(restarts, [10, 20, 30].map(Time::from_ms), "{:?}", pair.spec);
    }
}

#[test]
fn an_ack_reports_whether_the_window_was_used_up_in_its_round_trip() {
    let mut pair = Pair::new(writes_thrice(tcp()), 6);
    window(3); // exactly what is written: there is no room for another
    pair.run(|_, _, _| Fate::Deliver);
    assert_eq!(
        recorded()[1..],
        ["100: a1+. a2+. a3+.", "10000: restart 9900 s s s", "10100: a4+.l a5+.l a6+.l"]
    );
    let mut pair = Pair::new(TcpSpec { controller: recorder(), ..tcp() }, 5);
    window(2);
    pair.run(|_, _, _| Fate::Deliver);
    assert_eq!(recorded(), ["0: s s", "100: a1+ s a2+ s", "200: a3+ s a4+.", "300: a5+."]);
    // Half of it is enough for RFC 7661, nothing is for the letter of RFC 5681.
    for (growth, used) in [(Growth::WhenUsed, false), (Growth::WhenHalfUsed, true), (Growth::Always, true)] {
        let options = TcpOptions { growth, ..TcpOptions::default() };
        let mut pair = Pair::new(TcpSpec { options, ..writes_thrice(tcp()) }, 3);
        window(6);
        pair.run(|_, _, _| Fate::Deliver);
        assert!(calls().iter().all(|c| !matches!(c, Call::Ack(a) if a.cwnd_limited != used)), "{growth:?}");
    }
}

#[test]
fn a_pace_that_holds_data_back_uses_no_window_up() {
    let mut pair = Pair::new(TcpSpec { controller: recorder(), ..tcp() }, 3);
    // 1040 B each: one per 40 us.
    permit(Permit { pace: Some(Rate::from_mbps(208)), ..Permit::window(Bytes::new(100 * MSS)) });
    pair.run(|_, _, _| Fate::Deliver);
    assert_eq!(recorded(), ["0: s", "40: s", "80: s", "100: a1.", "140: a2.", "180: a3."]);
    // To the letter of RFC 5681 a window grows all the same.
    let options = TcpOptions { growth: Growth::Always, ..TcpOptions::default() };
    let mut pair = Pair::new(TcpSpec { controller: recorder(), options, ..tcp() }, 3);
    permit(Permit { pace: Some(Rate::from_mbps(208)), ..Permit::window(Bytes::new(100 * MSS)) });
    pair.run(|_, _, _| Fate::Deliver);
    assert_eq!(recorded(), ["0: s", "40: s", "80: s", "100: a1+.", "140: a2+.", "180: a3+."]);
}

#[test]
fn the_ack_comes_before_the_loss_that_it_reports_and_that_before_its_repair() {
    let mut pair = Pair::new(TcpSpec { controller: recorder(), ..tcp() }, 6);
    window(6);
    pair.run_losing(&[0]);
    // The third SACK shows the loss; then the first segment leaves again, and the last one (RFC 6675 §4 (4)), whose
    // sample is no limit of the path.
    assert_eq!(recorded(), ["0: s s s s s s", "100: a0+. a0+. a0+. loss 6 s s a0+.r a0+.rl", "200: a6+.rl"]);
}

#[test]
fn timeouts_are_notified_each_with_what_is_outstanding_and_none_of_a_syn_that_is_lost() {
    let mut pair = Pair::new(TcpSpec { controller: recorder(), handshake: true, ..tcp() }, 1);
    window(4);
    pair.run_losing(&[0, 2, 3]);
    let lines = recorded();
    assert_eq!(lines[0], "3100: open s", "nothing of the SYN that is lost");
    let timeouts = lines.iter().filter(|line| line.ends_with("timeout 1 s")).count();
    assert_eq!((timeouts, lines.len()), (2, 4), "{lines:?}");
    assert!(lines[3].ends_with("a1+.l"), "{lines:?}");
    assert!(matches!(calls()[0], Call::Open(_, None)), "sent twice: no round trip");
}

#[test]
fn a_marked_window_of_one_segment_waits_for_the_timer_and_that_is_no_timeout() {
    let sent = |ecn_floor| {
        let options = TcpOptions { ecn_floor, ..TcpOptions::default() };
        let spec = TcpSpec { controller: recorder(), ecn: EcnSpec::Classic, options, ..tcp() };
        let mut pair = Pair::new(spec, 4);
        window(1);
        pair.run(
            |_, n, p| if n == 1 && p.kind == thalweg_wire::Kind::Data { Fate::Mark } else { Fate::Deliver },
        );
        assert_eq!(pair.stats().timeouts, 0);
        assert!(calls().iter().all(|call| !matches!(call, Call::Timeout(_))));
        (pair.sent(), pair.wire_log.iter().filter(|p| p.flags.has(Flags::CWR)).count())
    };
    // The second is marked: its echo comes at 200 us, and the timer runs for 1 ms from there.
    assert_eq!(sent(EcnFloor::Timer).0, ["0: 0", "100: 1", "1200: 2c", "1300: 3"]);
    assert_eq!(sent(EcnFloor::Segment).0, ["0: 0", "100: 1", "200: 2c", "300: 3"]);
}

#[test]
fn a_users_controller_gets_every_call_that_a_built_in_one_would() {
    let start = crate::congestion::Start { mss: 1000, ..Default::default() };
    let mut c = recorder().make(&start).unwrap();
    let (now, idle) = (Time::from_us(1), Span::from_us(2));
    let restart = Restart { window: Bytes::new(1), keeps_threshold: true };
    let point = thalweg_units::PortId(0);
    let none = Feedback::None;
    c.on_open(now, None, none);
    c.on_sent(now, Bytes::ZERO, Bytes::ZERO);
    c.on_ack(&AckSample::default());
    c.on_feedback(now, none, Bytes::ZERO);
    c.on_loss(&Loss::default());
    c.on_timeout(&Loss::default());
    c.on_notification(now);
    c.on_notice(now, &thalweg_wire::Notice { point, body: thalweg_wire::NoticeBody::Severity(1) });
    c.on_restart(now, idle);
    c.restart_from(now, restart);
    c.on_tick(now);
    let expected = [
        Call::Open(now, None),
        Call::Sent(now, Bytes::ZERO, Bytes::ZERO),
        Call::Ack(AckSample::default()),
        Call::Feedback(now),
        Call::Loss(Loss::default()),
        Call::Timeout(Loss::default()),
        Call::Notification(now),
        Call::Notice(now),
        Call::Restart(now, idle),
        Call::RestartFrom(now, restart),
        Call::Tick(now),
    ];
    assert_eq!(calls(), expected);
}
