//! Rows for NimbusCC.

use super::{Row, Shows};
use Shows::*;

/// A link of 10 Mb/s, 20 ms and five round trips' worth, with Poisson traffic, and for a while a flow that takes what
/// it can.
const SHARED: &str = r#"
topology = { kind = "dumbbell", pairs = 5, host_rate = "1Gbps", bottleneck_rate = "10Mbps", delay = "9ms", host_delay = "500us" }
switch = { buffer = "80pkts" }
run = { until = "16s", stop_when_done = false }
[transports.x]
[[traffic]]
kind = "backlogged"
src = 0
dst = 5
[[traffic]]
kind = "flow"
src = 1
dst = 6
size = "1KB"
transport = "x"
[[traffic]]
kind = "flow"
src = 2
dst = 7
size = "1KB"
[[traffic]]
kind = "udp"
src = 3
dst = 8
rate = "4Mbps"
spacing = "poisson"
[[traffic]]
kind = "backlogged"
src = 4
dst = 9
start = "7s"
until = "12s"
transport = "cubic"
"#;

const PLAIN: &[&str] = &["%.congestion=nimbus"];
const KNOWN: &[&str] = &["%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\"}"];
const MULTCP: &[&str] = &["%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",competitive=\"multcp\"}"];
const DELAY: &[&str] = &["%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",initial=\"delay\"}"];
/// It falls back after a second, and smooths.
const QUICK: &[&str] =
    &["%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",initial=\"delay\",detector={window=100}}"];
const ARTIFACT: &[&str] =
    &["%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",initial=\"delay\",profile=\"artifact\"}"];
const SEVERAL: &[&str] =
    &["%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",profile=\"artifact\",coordination=true}"];
/// So little next to it that it is none; so many that its share is less than a twelfth.
const LITTLE: &[&str] = &[
    "%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",initial=\"delay\"}",
    "traffic.3.rate=500kbps",
    "traffic.3.spacing=constant",
];
/// So low a threshold that residues pass it.
const FAINT: &[&str] = &[
    "%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",initial=\"delay\",detector={threshold=0.3}}",
    "traffic.3.rate=2Mbps",
];
const CROWD: &[&str] = &[
    "%.congestion={kind=\"nimbus\",link_rate=\"10Mbps\",initial=\"delay\"}",
    "traffic.3.rate=9.6Mbps",
    "traffic.3.spacing=constant",
];

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    ("%(tcp).congestion=nimbus", SHARED, &[], "nimbus", "newreno", Outcome),
    ("%(rdma).congestion=nimbus", super::lossless::LOSSY, &[], "nimbus", "newreno", Outcome),
    ("%(tcp).congestion(nimbus).link_rate", SHARED, PLAIN, "", "9Mbps", Outcome),
    ("%(tcp).congestion(nimbus).estimate", SHARED, PLAIN, "", "packet-pairs", Outcome),
    ("%(tcp).congestion(nimbus).estimate=max-received", SHARED, PLAIN, "max-received", "packet-pairs", Outcome),
    ("%(tcp).congestion(nimbus).estimate=packet-pairs", SHARED, PLAIN, "packet-pairs", "max-received", Outcome),
    ("%(tcp).congestion(nimbus).competitive", SHARED, KNOWN, "", "newreno", Outcome),
    ("%(tcp).congestion(nimbus).competitive=cubic", SHARED, KNOWN, "cubic", "newreno", Outcome),
    ("%(tcp).congestion(nimbus).competitive=newreno", SHARED, KNOWN, "newreno", "multcp", Outcome),
    ("%(tcp).congestion(nimbus).competitive=multcp", SHARED, KNOWN, "multcp", "cubic", Outcome),
    ("%(tcp).congestion(nimbus).flows", SHARED, MULTCP, "", "4", Outcome),
    ("%(tcp).congestion(nimbus).delay", SHARED, DELAY, "", "copa", Outcome),
    ("%(tcp).congestion(nimbus).delay=basic-delay", SHARED, DELAY, "basic-delay", "copa", Outcome),
    ("%(tcp).congestion(nimbus).delay=copa", SHARED, DELAY, "copa", "vegas", Outcome),
    ("%(tcp).congestion(nimbus).delay=vegas", SHARED, DELAY, "vegas", "fast", Outcome),
    ("%(tcp).congestion(nimbus).delay=fast", SHARED, DELAY, "fast", "basic-delay", Outcome),
    ("%(tcp).congestion(nimbus).target", SHARED, DELAY, "", "1.5", Outcome),
    ("%(tcp).congestion(nimbus).profile", SHARED, KNOWN, "", "artifact", Outcome),
    ("%(tcp).congestion(nimbus).profile=paper", SHARED, KNOWN, "paper", "artifact", Outcome),
    ("%(tcp).congestion(nimbus).profile=artifact", SHARED, KNOWN, "artifact", "paper", Outcome),
    ("%(tcp).congestion(nimbus).pulse", SHARED, KNOWN, "", "0.1", Outcome),
    ("%(tcp).congestion(nimbus).frequency", SHARED, KNOWN, "", "4.0", Outcome),
    ("%(tcp).congestion(nimbus).delay_frequency", SHARED, DELAY, "", "6.0", Outcome),
    ("%(tcp).congestion(nimbus).initial", SHARED, KNOWN, "", "delay", Outcome),
    ("%(tcp).congestion(nimbus).initial=competitive", SHARED, KNOWN, "competitive", "delay", Outcome),
    ("%(tcp).congestion(nimbus).initial=delay", SHARED, KNOWN, "delay", "competitive", Outcome),
    ("%(tcp).congestion(nimbus).switching", SHARED, KNOWN, "", "false", Outcome),
    ("%(tcp).congestion(nimbus).hold", SHARED, QUICK, "", "500ms", Outcome),
    ("%(tcp).congestion(nimbus).restores", SHARED, QUICK, "", "received", Outcome),
    ("%(tcp).congestion(nimbus).restores=rate", SHARED, QUICK, "rate", "received", Outcome),
    ("%(tcp).congestion(nimbus).restores=received", SHARED, QUICK, "received", "rate", Outcome),
    ("%(tcp).congestion(nimbus).measure_over", SHARED, DELAY, "", "10ms", Outcome),
    ("%(tcp).congestion(nimbus).coordination", SHARED, ARTIFACT, "", "true", Outcome),
    ("%(tcp).congestion(nimbus).kappa", SHARED, SEVERAL, "", "100.0", Outcome),
    ("%(tcp).congestion(nimbus).watcher_weight", SHARED, SEVERAL, "", "0.03", Outcome),
    ("%(tcp).congestion(nimbus).detector", SHARED, DELAY, "", "{window=100}", Outcome),
    ("%(tcp).congestion(nimbus).detector.window", SHARED, DELAY, "", "100", Outcome),
    ("%(tcp).congestion(nimbus).detector.guard_band", SHARED, QUICK, "", "2.5", Outcome),
    ("%(tcp).congestion(nimbus).detector.threshold", SHARED, DELAY, "", "0.1", Outcome),
    ("%(tcp).congestion(nimbus).detector.inelastic_below", SHARED, QUICK, "", "0.1", Outcome),
    ("%(tcp).congestion(nimbus).detector.gain", SHARED, QUICK, "", "0.01", Outcome),
    ("%(tcp).congestion(nimbus).detector.search", SHARED, QUICK, "", "true", Outcome),
    ("%(tcp).congestion(nimbus).detector.align", SHARED, QUICK, "", "true", Outcome),
    ("%(tcp).congestion(nimbus).detector.guard_little", SHARED, LITTLE, "", "false", Outcome),
    ("%(tcp).congestion(nimbus).detector.guard_faint", SHARED, FAINT, "", "false", Outcome),
    ("%(tcp).congestion(nimbus).detector.guard_hidden", SHARED, QUICK, "", "true", Outcome),
    ("%(tcp).congestion(nimbus).detector.guard_share", SHARED, CROWD, "", "false", Outcome),
];
