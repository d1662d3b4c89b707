//! Connections that are set up while packets are lost.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;

/// A round trip of 20 ms over 100 Mb/s; the first SYN, which leaves at 0, is lost with its link.
const SYN_LOST: &str = r#"
[topology]
kind = "dumbbell"
pairs = 1
host_rate = "1Gbps"
bottleneck_rate = "100Mbps"
delay = "8ms"
host_delay = "1ms"
[transport]
handshake = true
congestion = "newreno"
initial_window = "10pkts"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "14600B"
[measure]
controllers = { every = "1ms" }
[routing]
convergence = "1ms"
[[incident]]
kind = "link-failure"
at = "1us"
until = "50ms"
link = ["switch0", "switch1"]
[run]
until = "10s"
"#;

fn with(set: &[(&str, &str)]) -> Run {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    finish(&scenario(SYN_LOST, Path::new("."), &set))
}

/// When the flow is complete at the receiver, in microseconds.
fn complete(run: &Run) -> i128 {
    column(run, "flows", "fct_ps")[0] / 1_000_000
}

/// What is in flight in the sample at this millisecond.
fn in_flight(run: &Run, ms: i128) -> i128 {
    let at = column(run, "controllers", "time_ps");
    let sample = at.iter().position(|&t| t == ms * 1_000_000_000).expect("a sample");
    column(run, "controllers", "in_flight")[sample]
}

/// RFC 5681 §3.1: the second SYN leaves at 1 s, its answer comes at 1.020 s; 1, 2, 4 and 3 segments follow, a round
/// trip apart.
#[test]
fn after_a_lost_syn_the_initial_window_is_one_segment() {
    for congestion in ["newreno", "cubic", "dctcp", "vegas", "compound"] {
        let marking = ("switch.marking", "{kind=\"step\",threshold=\"100pkts\"}");
        let mut set = vec![("transport.congestion", congestion)];
        set.extend((congestion == "dctcp").then_some(marking));
        let run = with(&set);
        assert_eq!(in_flight(&run, 1021), 1460, "{congestion}");
        assert!((1_090_000..1_092_000).contains(&complete(&run)), "{congestion}: {}", complete(&run));
    }
}

/// Nothing is in flight beyond a segment with controllers that have a first window or pace of their own.
#[test]
fn after_a_lost_syn_one_segment_is_out_whatever_the_controller() {
    for congestion in ["fixed", "bbr", "bbr3", "copa", "aimd", "mintcp", "timely", "swift", "verus", "vivace"]
    {
        let run = with(&[("transport.congestion", congestion)]);
        assert_eq!(in_flight(&run, 1021), 1460, "{congestion}");
    }
}

/// Linux, tcp_init_metrics.
#[test]
fn linux_forgives_one_lost_syn_and_not_two() {
    let linux = ("transport.syn_loss", "linux");
    assert_eq!(in_flight(&with(&[linux]), 1021), 14_600);
    assert_eq!(in_flight(&with(&[linux, ("incident.0.until", "1500ms")]), 3021), 1460);
    assert_eq!(in_flight(&with(&[("transport.syn_loss", "ignored")]), 1021), 14_600);
}

/// RFC 6298 §5.7: the one segment leaves at 1.0200 s, is lost, and leaves again 3 s later.
#[test]
fn after_a_lost_syn_the_first_data_waits_three_seconds_for_its_timer() {
    let again = "[{kind=\"link-failure\",at=\"1us\",until=\"50ms\",link=[\"switch0\",\"switch1\"]},\
                 {kind=\"link-failure\",at=\"1020100us\",until=\"1100ms\",link=[\"switch0\",\"switch1\"]}]";
    let lost = [("incident", again), ("traffic.0.size", "1460B"), ("run.until", "20s")];
    let run = with(&lost);
    assert!((4_029_900..4_030_500).contains(&complete(&run)), "{}", complete(&run));
    let ignored = with(&[lost[0], lost[1], lost[2], ("transport.syn_loss", "ignored")]);
    assert!((3_029_900..3_030_500).contains(&complete(&ignored)), "{}", complete(&ignored));
    let fixed = with(&[lost[0], lost[1], lost[2], ("transport.rto", "{kind=\"fixed\",value=\"1s\"}")]);
    assert!((2_029_900..2_030_500).contains(&complete(&fixed)), "{}", complete(&fixed));
}
