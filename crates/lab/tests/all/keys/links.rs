//! Rows for `[[link]]`.

use super::{Row, Shows};
use Shows::*;

/// Two flows one way and one the other over a slow link between two switches.
const SLOW: &str = r#"
topology = { kind = "dumbbell", pairs = 2, host_rate = "100Mbps", delay = "1ms" }
switch = { buffer = "30KB" }
run = { until = "500ms", stop_when_done = false }
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
[[traffic]]
kind = "flow"
src = 1
dst = 3
size = "500KB"
[[traffic]]
kind = "flow"
src = 3
dst = 0
size = "200KB"
"#;

/// One section about the link between the switches.
const FIXED: &[&str] = &["link=[{which=\"core-links\",transmitter={kind=\"fixed\",rate=\"10Mbps\"}}]"];
const STEPS: &[&str] = &[
    "link=[{which=\"core-links\",transmitter={kind=\"stepped\",steps=[{at=\"0s\",rate=\"10Mbps\"},{at=\"200ms\",rate=\"2Mbps\"}]}}]",
];
const SQUARE: &[&str] = &[
    "link=[{which=\"core-links\",transmitter={kind=\"square-wave\",first=\"10Mbps\",second=\"2Mbps\",half_period=\"100ms\"}}]",
];
/// Behind a switch and behind a NIC.
const WAVES: &str = "link=[{which=\"core-links\",transmitter={kind=\"square-wave\",first=\"10Mbps\",second=\"2Mbps\",half_period=\"50ms\"}},{which={between=[\"h0\",\"switch0\"]},transmitter={kind=\"square-wave\",first=\"10Mbps\",second=\"2Mbps\",half_period=\"50ms\"}}]";
const TRACED: &[&str] = &["link=[{which=\"core-links\",transmitter={kind=\"traced\",file=\"cell.trace\"}}]"];
const CELLULAR: &[&str] = &["link=[{which=\"core-links\",transmitter={kind=\"cellular\",length=\"5s\"}}]"];
/// Outages within the second that it takes.
const OUTAGES: &[&str] = &[
    "run.until=1s",
    "link=[{which=\"core-links\",transmitter={kind=\"cellular\",length=\"5s\",min=\"5Mbps\",outages=4,outage_max=\"150ms\"}}]",
];
const BATCHED: &[&str] = &["link=[{which=\"core-links\",transmitter={kind=\"batched\",rate=\"20Mbps\"}}]"];
const MCS: &[&str] = &[
    "link=[{which=\"core-links\",transmitter={kind=\"batched\",rate=\"20Mbps\",steps=[{at=\"100ms\",rate=\"6500kbps\"}]}}]",
];
/// Likewise behind a switch and behind a NIC.
const BATCHES: &str = "link=[{which=\"core-links\",transmitter={kind=\"batched\",rate=\"20Mbps\",steps=[{at=\"100ms\",rate=\"6500kbps\"}]}},{which={between=[\"h0\",\"switch0\"]},transmitter={kind=\"batched\",rate=\"20Mbps\",steps=[{at=\"100ms\",rate=\"6500kbps\"}]}}]";
const LOSS: &[&str] = &["link=[{which=\"core-links\",loss={kind=\"independent\",probability=0.05}}]"];
const BURSTS: &[&str] = &["link=[{which=\"core-links\",loss={kind=\"bursts\",enter=0.02,leave=0.5}}]"];
const BUFFER: &[&str] =
    &["link=[{which=\"core-links\",transmitter={kind=\"fixed\",rate=\"10Mbps\"},buffer=\"20KB\"}]"];
const MARKING: &[&str] = &[
    "transport.ecn=classic",
    "link=[{which=\"core-links\",transmitter={kind=\"fixed\",rate=\"10Mbps\"},marking={kind=\"step\",threshold=\"3pkts\"}}]",
];
const UNIFORM: &[&str] = &["link=[{which=\"core-links\",jitter={kind=\"uniform\",max=\"2ms\"}}]"];
const EXPONENTIAL: &[&str] = &["link=[{which=\"core-links\",jitter={kind=\"exponential\",mean=\"2ms\"}}]"];

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    ("link", SLOW, &[], "", "[{which=\"all\",loss={independent=0.05}}]", Outcome),
    ("link[].which", SLOW, LOSS, "core-links", "all", Outcome),
    ("link[].which=all", SLOW, LOSS, "all", "core-links", Outcome),
    ("link[].which=host-links", SLOW, LOSS, "host-links", "core-links", Outcome),
    ("link[].which=server-links", SLOW, &["topology={kind=\"rails\",servers=2,gpus=2,spines=1}", "traffic.1.dst=0", LOSS[0]], "server-links", "core-links", Outcome),
    ("link[].which=core-links", SLOW, LOSS, "core-links", "host-links", Outcome),
    ("link[].which=between", SLOW, LOSS, "{between=[\"h0\",\"switch0\"]}", "core-links", Outcome),
    ("link[].which(between).ends", SLOW, &["link=[{which={kind=\"between\",ends=[4,5]},loss={independent=0.05}}]"], "[4,5]", "[\"h0\",4]", Outcome),
    ("link[].which=ports", SLOW, LOSS, "{ports=[8]}", "core-links", Outcome),
    ("link[].which(ports).ports", SLOW, &["link=[{which={kind=\"ports\",ports=[8]},loss={independent=0.05}}]"], "[8]", "[9]", Outcome),
    ("link[].direction", SLOW, LOSS, "", "forward", Outcome),
    ("link[].direction=both", SLOW, LOSS, "both", "forward", Outcome),
    ("link[].direction=forward", SLOW, LOSS, "forward", "backward", Outcome),
    ("link[].direction=backward", SLOW, LOSS, "backward", "both", Outcome),
    ("link[].transmitter", SLOW, FIXED, "{fixed=\"10Mbps\"}", "cellular", Outcome),
    ("link[].transmitter=fixed", SLOW, FIXED, "{fixed=\"10Mbps\"}", "{batched=\"10Mbps\"}", Outcome),
    ("link[].transmitter(fixed).rate", SLOW, FIXED, "10Mbps", "5Mbps", Outcome),
    ("link[].transmitter=stepped", SLOW, STEPS, "{kind=\"stepped\",steps=[{at=\"0s\",rate=\"10Mbps\"},{at=\"200ms\",rate=\"2Mbps\"}]}", "{fixed=\"10Mbps\"}", Outcome),
    ("link[].transmitter(stepped).steps", SLOW, STEPS, "[{at=\"0s\",rate=\"9Mbps\"},{at=\"1ms\",rate=\"8Mbps\"}]", "[{at=\"0s\",rate=\"9Mbps\"},{at=\"1ms\",rate=\"7Mbps\"}]", Outcome),
    ("link[].transmitter(stepped).steps[].at", SLOW, STEPS, "0s", "1ms", Refused),
    ("link[].transmitter(stepped).steps[].rate", SLOW, STEPS, "10Mbps", "9Mbps", Outcome),
    ("link[].transmitter(stepped).period", SLOW, STEPS, "", "300ms", Outcome),
    ("link[].transmitter=square-wave", SLOW, SQUARE, "{kind=\"square-wave\",first=\"10Mbps\",second=\"2Mbps\",half_period=\"100ms\"}", "{fixed=\"10Mbps\"}", Outcome),
    ("link[].transmitter(square-wave).first", SLOW, SQUARE, "10Mbps", "9Mbps", Outcome),
    ("link[].transmitter(square-wave).second", SLOW, SQUARE, "2Mbps", "3Mbps", Outcome),
    ("link[].transmitter(square-wave).half_period", SLOW, SQUARE, "100ms", "200ms", Outcome),
    ("link[].transmitter=traced", SLOW, TRACED, "{kind=\"traced\",file=\"cell.trace\"}", "cellular", Outcome),
    ("link[].transmitter(traced).file", SLOW, TRACED, "cell.trace", "other.trace", Outcome),
    ("link[].transmitter(traced).opportunity", SLOW, TRACED, "", "3000B", Outcome),
    ("link[].transmitter(traced).repeat", SLOW, TRACED, "", "false", Outcome),
    ("link[].transmitter=cellular", SLOW, CELLULAR, "cellular", "{fixed=\"5Mbps\"}", Outcome),
    ("link[].transmitter(cellular).min", SLOW, CELLULAR, "", "5Mbps", Outcome),
    ("link[].transmitter(cellular).max", SLOW, CELLULAR, "", "20Mbps", Outcome),
    ("link[].transmitter(cellular).step", SLOW, CELLULAR, "", "50ms", Outcome),
    ("link[].transmitter(cellular).volatility", SLOW, CELLULAR, "", "0.3", Outcome),
    ("link[].transmitter(cellular).outages", SLOW, CELLULAR, "", "20", Outcome),
    ("link[].transmitter(cellular).outage_min", SLOW, OUTAGES, "", "120ms", Outcome),
    ("link[].transmitter(cellular).outage_max", SLOW, OUTAGES, "150ms", "300ms", Outcome),
    ("link[].transmitter(cellular).length", SLOW, CELLULAR, "5s", "200ms", Outcome),
    ("link[].transmitter(cellular).opportunity", SLOW, CELLULAR, "", "3000B", Outcome),
    ("link[].transmitter=batched", SLOW, BATCHED, "{batched=\"20Mbps\"}", "{fixed=\"20Mbps\"}", Outcome),
    ("link[].transmitter(batched).rate", SLOW, BATCHED, "20Mbps", "30Mbps", Outcome),
    ("link[].transmitter(batched).frames", SLOW, BATCHED, "", "2", Outcome),
    ("link[].transmitter(batched).overhead", SLOW, BATCHED, "", "1ms", Outcome),
    ("link[].transmitter(batched).contention", SLOW, BATCHED, "", "0ps", Outcome),
    ("link[].transmitter(batched).steps", SLOW, BATCHED, "[]", "[{at=\"100ms\",rate=\"6500kbps\"}]", Outcome),
    ("link[].transmitter(batched).steps[].at", SLOW, MCS, "100ms", "150ms", Outcome),
    ("link[].transmitter(batched).steps[].rate", SLOW, MCS, "6500kbps", "65Mbps", Outcome),
    ("link[].transmitter(batched).period", SLOW, MCS, "", "200ms", Outcome),
    ("link[].transmitter(batched).one_user", SLOW, BATCHED, "", "true", Outcome),
    ("link[].loss", SLOW, UNIFORM, "", "{independent=0.05}", Outcome),
    ("link[].loss=independent", SLOW, LOSS, "{independent=0.05}", "{kind=\"bursts\",enter=0.05,leave=0.5}", Outcome),
    ("link[].loss(independent).probability", SLOW, LOSS, "0.05", "0.1", Outcome),
    ("link[].loss=bursts", SLOW, BURSTS, "{kind=\"bursts\",enter=0.02,leave=0.5}", "{independent=0.02}", Outcome),
    ("link[].loss(bursts).enter", SLOW, BURSTS, "0.02", "0.05", Outcome),
    ("link[].loss(bursts).leave", SLOW, BURSTS, "0.5", "0.1", Outcome),
    ("link[].loss(bursts).good", SLOW, BURSTS, "", "0.05", Outcome),
    ("link[].loss(bursts).bad", SLOW, BURSTS, "", "0.3", Outcome),
    ("link[].jitter", SLOW, LOSS, "", "{uniform=\"2ms\"}", Outcome),
    ("link[].jitter=uniform", SLOW, UNIFORM, "{uniform=\"2ms\"}", "{exponential=\"2ms\"}", Outcome),
    ("link[].jitter(uniform).max", SLOW, UNIFORM, "2ms", "3ms", Outcome),
    ("link[].jitter(uniform).reorder", SLOW, UNIFORM, "", "true", Outcome),
    ("link[].jitter=exponential", SLOW, EXPONENTIAL, "{exponential=\"2ms\"}", "{uniform=\"2ms\"}", Outcome),
    ("link[].jitter(exponential).mean", SLOW, EXPONENTIAL, "2ms", "3ms", Outcome),
    ("link[].jitter(exponential).reorder", SLOW, EXPONENTIAL, "", "true", Outcome),
    ("link[].buffer", SLOW, BUFFER, "20KB", "10KB", Outcome),
    ("link[].marking", SLOW, MARKING, "{kind=\"step\",threshold=\"3pkts\"}", "{kind=\"step\",threshold=\"9pkts\"}", Outcome),
    ("@.marking(abc).ack_window", SLOW, &[BATCHES, "transport.congestion=abc", "@.marking=abc"], "", "15ms", Outcome),
    ("@.marking(abc).exclude_idle", SLOW, &[BATCHES, "transport.congestion=abc", "@.marking=abc"], "", "true", Outcome),
    ("@.marking(abc).foresight", SLOW, &[WAVES, "transport.congestion=abc", "@.marking=abc"], "", "50ms", Outcome),
];
