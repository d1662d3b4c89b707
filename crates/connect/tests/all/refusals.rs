//! Which datapath can run which controller, and why not: the whole list.

use thalweg_connect::{Datapath, Missing};
use thalweg_machines::congestion::ControllerSpec;

/// One row per controller: what is missing over QUIC, under quinn, and in the kernel.
fn row(spec: &ControllerSpec) -> String {
    let needs = spec.needs();
    let cell = |datapath: Datapath| {
        let missing = datapath.missing(&needs);
        if missing.is_empty() { "runs".to_owned() } else { format!("{missing:?}") }
    };
    let cells = [Datapath::QUIC, Datapath::QUINN, Datapath::KERNEL].map(cell);
    format!("{}: {}", spec.key(), cells.join(" | "))
}

#[test]
fn every_controller_runs_or_is_refused_with_the_reason() {
    let rows: Vec<String> = ControllerSpec::all().iter().map(row).collect();
    assert_eq!(
        rows,
        [
            "newreno: runs | runs | runs",
            "cubic: runs | runs | runs",
            "dctcp: [MarkCounts] | [MarkCounts] | runs",
            "dctcp-rate: [MarkCounts] | [MarkCounts, Pace] | runs",
            "mintcp: runs | runs | runs",
            "fixed: runs | runs | runs",
            "aimd: runs | runs | runs",
            "dcqcn: [Notifications] | [Notifications, Pace, Clock] | [Notifications]",
            "timely: runs | [Pace] | runs",
            "hpcc: [Telemetry] | [Telemetry, Pace] | [Telemetry]",
            "rtt-target: runs | [Pace] | runs",
            "rocc: [CongestionPoints] | [CongestionPoints, Pace, Clock] | [CongestionPoints]",
            "qcn: [CongestionPoints] | [CongestionPoints, Pace, Clock] | [CongestionPoints]",
            "vegas: runs | runs | runs",
            "bbr: runs | [Pace] | runs",
            "bbr3: runs | [Pace] | runs",
            "copa: runs | [Pace] | runs",
            "vivace: runs | [Pace] | runs",
            "verus: runs | [Clock] | runs",
            "sprout: [Forecasts] | [Forecasts, Clock] | [Forecasts]",
            "abc: [MarkCounts] | [MarkCounts] | runs",
            "xcp: [RouterFeedback] | [RouterFeedback] | [RouterFeedback]",
            "rcp: [RouterFeedback] | [RouterFeedback, Pace] | [RouterFeedback]",
            "vcp: [RouterFeedback] | [RouterFeedback] | [RouterFeedback]",
            "swift: runs | runs | runs",
            "nimbus: runs | [Pace, Clock] | runs",
            "compound: runs | runs | runs",
            "prague: [MarkCounts, L4s] | [MarkCounts, L4s, Pace] | [L4s]",
            "external: [Decisions] | [Decisions, Pace, Clock] | [Decisions]",
            "custom: runs | [Pace, Clock] | runs",
        ]
    );
}

#[test]
fn a_refusal_names_the_datapath_the_controller_every_need_and_the_way_out() {
    let refusal =
        |spec: ControllerSpec, datapath: Datapath| datapath.check(spec.key(), &spec.needs()).unwrap_err();
    assert_eq!(
        refusal(ControllerSpec::hpcc(), Datapath::KERNEL).to_string(),
        "the kernel's TCP cannot run `hpcc`, which needs telemetry that switches write into packets: routers write \
         nothing but ECN into packets"
    );
    let bbr = refusal(ControllerSpec::bbr(), Datapath::QUINN);
    assert_eq!(bbr.missing(), [Missing::Pace]);
    assert_eq!(
        bbr.to_string(),
        "quinn cannot run `bbr`, which needs its pace to be kept: its pacer spreads a window over a round trip, \
         whatever the controller says; the driver of `thalweg quic` can"
    );
    let dcqcn = refusal(ControllerSpec::dcqcn(), Datapath::QUINN).to_string();
    assert!(dcqcn.contains(", and its pace to be kept: ") && !dcqcn.contains("thalweg quic"), "{dcqcn}");
}
