//! Windows and paces of senders that something else than the path holds back: an application, an outage,
//! marks without end.

use crate::common::*;
use thalweg_lab::Run;

const MSS: i128 = 1460;

/// (time in ms, value) of a column of the table of controllers.
fn over_time(run: &Run, name: &str) -> Vec<(f64, i128)> {
    let times = column(run, "controllers", "time_ps");
    times.into_iter().map(|t| t as f64 * 1e-9).zip(column(run, "controllers", name)).collect()
}

fn most(series: &[(f64, i128)], from_ms: f64) -> i128 {
    series.iter().filter(|(t, _)| *t >= from_ms).map(|(_, v)| *v).max().unwrap()
}
fn least(series: &[(f64, i128)], from_ms: f64, to_ms: f64) -> i128 {
    series.iter().filter(|(t, _)| (from_ms..=to_ms).contains(t)).map(|(_, v)| *v).min().unwrap()
}

/// 600 KB, about 19 s of silence, 600 KB: in congestion avoidance from the start.
fn silence(transport: &str) -> Run {
    run(&format!(
        r#"
topology = {{ kind = "pair", rate = "12Mbps", delay = "20ms" }}
nic = {{ buffer = "unlimited" }}
measure = {{ controllers = {{ every = "10ms" }} }}
run = {{ until = "60s" }}
[transport]
initial_window = "30pkts"
initial_threshold = "30pkts"
writes = {{ first = "600KB", chunk = "600KB", every = "20s" }}
{transport}
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1200KB"
"#
    ))
}

#[test]
fn the_clock_of_cubic_stands_still_while_the_application_is_silent() {
    // RFC 9438 §4.2, §4.3: nine round trips before and nine after the silence, of at most a segment each.
    for restart in ["keep", "linux", "rfc5681"] {
        let run = silence(&format!(
            "congestion = {{ kind = \"cubic\", hystart = false }}\nrestart = \"{restart}\""
        ));
        let window = over_time(&run, "window");
        let top = most(&window, 0.0) as f64 / MSS as f64;
        assert!(top <= 55.0, "{restart}: {top} segments");
        if restart == "keep" {
            assert!(top >= 48.0, "as without the silence, 50: {top}");
        }
    }
}

#[test]
fn after_a_silence_a_window_is_the_initial_one_and_a_scenario_may_keep_it() {
    for controller in ["newreno", "cubic", "vegas"] {
        let at_restart = |restart: &str| {
            let text = format!("congestion = \"{controller}\"\nrestart = \"{restart}\"");
            let window = over_time(&silence(&text), "window");
            let before = window.iter().rev().find(|(t, _)| *t < 19_990.0).unwrap().1 / MSS;
            let after = window.iter().find(|(t, _)| *t > 20_005.0).unwrap().1 / MSS;
            (before, after)
        };
        let (before, after) = at_restart("rfc5681");
        assert!(before > 30 && after == 30, "{controller}: {before}, {after}");
        let (before, after) = at_restart("keep");
        assert_eq!(before, after, "{controller}");
    }
}

/// An answer of 10 MB fills a path of 100 Mb/s; after it two segments every 100 ms follow. Or ten of them
/// from the start.
fn trickle(controller: &str, writes: &str, size: &str, delay: &str) -> Run {
    run(&format!(
        r#"
topology = {{ kind = "dumbbell", pairs = 1, host_rate = "1Gbps", bottleneck_rate = "100Mbps", delay = "{delay}", host_delay = "1ms" }}
switch = {{ buffer = "600pkts" }}
measure = {{ controllers = {{ every = "10ms" }} }}
run = {{ until = "20s" }}
transport = {{ congestion = "{controller}", writes = {writes} }}
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "{size}"
"#
    ))
}

/// draft-ietf-ccwg-bbr §4.1.2.4, §5.5.3: such samples count only if they are above the maximum.
#[test]
fn samples_of_an_application_with_little_to_send_are_not_taken_for_the_path() {
    // Version 3 paces at nine tenths while it drains what a probe has left.
    for (controller, pace) in [("bbr", 90_000_000), ("bbr3", 85_000_000)] {
        let writes = "{ first = \"10MB\", chunk = \"2920B\", every = \"100ms\" }";
        let run = trickle(controller, writes, "10200000B", "18ms");
        let slowest = least(&over_time(&run, "pace"), 1000.0, 6500.0);
        assert!(slowest >= pace, "{controller}: {slowest} b/s");
    }
}

/// §5.3.1.2: nor are they ever a full pipe. 14 600 B in a round trip of 50 ms, times the gain of STARTUP, are 6.7 Mb/s.
#[test]
fn a_pipe_that_the_application_never_filled_is_not_full() {
    for controller in ["bbr", "bbr3"] {
        let writes = "{ first = \"14600B\", chunk = \"14600B\", every = \"100ms\" }";
        let run = trickle(controller, writes, "1460000B", "23ms");
        let pace = over_time(&run, "pace");
        let (first, slowest) = (pace[0].1, least(&pace, 0.0, 9_900.0));
        assert!(
            slowest >= 6_000_000 && slowest * 100 >= first * 97,
            "{controller}: {first}, then {slowest} b/s"
        );
    }
}

#[test]
fn an_outage_of_several_timeouts_reduces_the_threshold_once() {
    for (controller, left) in
        [("{ kind = \"cubic\", hystart = false }", 42), ("\"newreno\"", 30), ("\"vegas\"", 0)]
    {
        let run = run(&format!(
            r#"
topology = {{ kind = "dumbbell", pairs = 1, host_rate = "1Gbps", bottleneck_rate = "20Mbps", delay = "18ms", host_delay = "1ms" }}
switch = {{ buffer = "200pkts" }}
transport = {{ congestion = {controller}, max_window = "60pkts" }}
traffic = [{{ kind = "backlogged", src = 0, dst = 1 }}]
measure = {{ controllers = {{ every = "10ms" }} }}
routing = {{ convergence = "1ms" }}
incident = [{{ kind = "link-failure", at = "2s", until = "3s", link = ["switch0", "switch1"] }}]
run = {{ until = "8s" }}
"#
        ));
        let threshold = over_time(&run, "threshold");
        let during: Vec<i128> =
            threshold.iter().filter(|(t, _)| (2300.0..=3000.0).contains(t)).map(|(_, v)| *v).collect();
        assert!(during.iter().all(|v| *v == during[0]), "{controller}: {during:?}");
        if left > 0 {
            assert_eq!(during[0], left * MSS, "{controller}");
            assert_eq!(least(&threshold, 2300.0, 4000.0), left * MSS, "{controller}");
        }
    }
}

/// Five segments per 100 ms in a window of ten.
fn half_used(transport: &str, switch: &str) -> Run {
    run(&format!(
        r#"
topology = {{ kind = "star", hosts = 2, rate = "100Mbps", delay = "10ms" }}
{switch}
measure = {{ controllers = {{ every = "20ms" }} }}
run = {{ until = "60s" }}
[transport]
writes = {{ first = "7300B", chunk = "7300B", every = "100ms" }}
{transport}
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "4380000B"
"#
    ))
}

/// RFC 9438 §5.8, RFC 9002 §7.8: a window that is not used up does not grow, with any controller.
#[test]
fn windows_that_are_not_used_do_not_grow() {
    let avoiding = "initial_threshold = \"10pkts\"";
    for (controller, given) in [
        ("cubic", avoiding),
        ("newreno", avoiding),
        ("vegas", avoiding),
        ("newreno", ""),
        ("cubic", ""),
        ("copa", ""),
        ("swift", ""),
    ] {
        let run = half_used(&format!("congestion = \"{controller}\"\n{given}"), "");
        let top = most(&over_time(&run, "window"), 0.0) / MSS;
        assert!(top <= 15, "{controller}: {top} segments");
    }
    // What RFC 5681 says to the letter is a key: one segment more for each window of ACKs.
    let run = half_used(
        "congestion = \"newreno\"\ngrowth = \"always\"\nrestart = \"keep\"\ninitial_threshold = \"10pkts\"",
        "",
    );
    assert!(most(&over_time(&run, "window"), 50_000.0) / MSS > 50);
}

/// RFC 9438 §4.6: five segments in flight leave three and a half, whatever the window was.
#[test]
fn a_mark_cuts_by_what_is_in_flight() {
    for controller in ["{ kind = \"cubic\", hystart = false }", "\"newreno\"", "\"vegas\""] {
        let marking = "switch = { marking = { kind = \"random-ecn\", probability = 0.005 } }\nnic = { marking = \"none\" }";
        let run = half_used(
            &format!("ecn = \"classic\"\ncongestion = {controller}\ninitial_threshold = \"10pkts\""),
            marking,
        );
        let window = over_time(&run, "window");
        let after: Vec<i128> = window.windows(2).filter(|w| w[1].1 < w[0].1).map(|w| w[1].1).collect();
        assert!(!after.is_empty(), "{controller}: no mark");
        assert!(after.iter().all(|w| *w <= 4 * MSS), "{controller}: {after:?}");
    }
}

/// RFC 3168 §6.1.2: a window is halved down to one segment, and below that the timer paces.
#[test]
fn sixty_four_flows_under_marks_keep_a_packet_each_at_most() {
    let waiting = |transport: &str| {
        let run = run(&format!(
            r#"
topology = {{ kind = "star", hosts = 65, rate = "1Gbps", delay = "5us" }}
switch = {{ buffer = "1000pkts", marking = {{ kind = "step", threshold = "10pkts" }} }}
transport = {{ ecn = "classic", initial_window = "2pkts", {transport} }}
traffic = [{{ kind = "incast", fan_in = 64, size = "10MB", receiver = 0 }}]
measure = {{ queues = {{ every = "100us" }} }}
run = {{ until = "200ms" }}
"#
        ));
        let (times, ports) = (column(&run, "queues", "time_ps"), column(&run, "queues", "port"));
        let packets = column(&run, "queues", "packets");
        let mut sums = std::collections::BTreeMap::<i128, (i128, i128)>::new();
        for ((at, port), n) in times.into_iter().zip(ports).zip(packets) {
            if at >= 100_000_000_000 {
                let sum = sums.entry(port).or_default();
                *sum = (sum.0 + n, sum.1 + 1);
            }
        }
        sums.values().map(|(sum, n)| *sum as f64 / *n as f64).fold(0.0, f64::max)
    };
    for controller in ["newreno", "cubic", "vegas"] {
        let timed = waiting(&format!("congestion = \"{controller}\""));
        let plain = waiting(&format!("congestion = \"{controller}\", ecn_floor = \"segment\""));
        assert!(plain <= 64.0 && timed <= plain, "{controller}: {timed}, and {plain} without the timer");
    }
}
