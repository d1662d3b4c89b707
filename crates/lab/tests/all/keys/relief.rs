//! Rows for relief and gentle flow control.

use super::lossless::LOSSY;
use super::{Row, Shows};
use Shows::*;

/// A ring that waits for itself.
pub const RING: &str = r#"
topology = { kind = "file", file = "ring.csv", format = "links-csv" }
routing = { kind = "pinned", file = "ring-paths.csv" }
nic = { order = "round-robin" }
run = { until = "3ms" }
[switch]
inputs = { memory = "200KB" }
pfc = { threshold = { kind = "static", xoff = "40KB", xon = "20KB" } }
control_first = true
[transport]
kind = "rdma"
recovery = "go-back-n"
acks = "per-packet"
[[traffic]]
kind = "list"
file = "ring-flows.csv"
"#;
const ESCAPE: &[&str] = &["switch.relief=escape"];
const TIMED: &[&str] = &["switch.relief={kind=\"escape\",reclaim=\"paper\"}"];
const TURNS: &[&str] = &["switch.relief={kind=\"deadlock-breaker\",after=\"100us\"}"];
const DROPS: &[&str] = &["switch.relief={kind=\"loop-breaker\",after=\"100us\"}"];
const SLOWS: &[&str] = &["switch.gfc={first=\"6KB\",last=\"16KB\"}"];

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    ("switch.relief", RING, &[], "", "escape", Outcome),
    ("switch.relief=escape", RING, &[], "escape", "{kind=\"loop-breaker\",after=\"100us\"}", Outcome),
    ("switch.relief(escape).period", RING, ESCAPE, "", "8us", Outcome),
    ("switch.relief(escape).pool", RING, ESCAPE, "8", "1", Outcome),
    ("switch.relief(escape).table", RING, ESCAPE, "", "2", Outcome),
    ("switch.relief(escape).order", RING, ESCAPE, "", "paper", Outcome),
    ("switch.relief(escape).order=substitute", RING, ESCAPE, "substitute", "paper", Outcome),
    ("switch.relief(escape).order=paper", RING, ESCAPE, "paper", "substitute", Outcome),
    ("switch.relief(escape).reclaim", RING, ESCAPE, "", "none", Outcome),
    ("switch.relief(escape).reclaim=release", RING, ESCAPE, "release", "paper", Outcome),
    ("switch.relief(escape).reclaim=paper", RING, ESCAPE, "paper", "release", Outcome),
    ("switch.relief(escape).reclaim=none", RING, ESCAPE, "none", "release", Outcome),
    ("switch.relief(escape).reclaim_after", RING, TIMED, "", "4us", Outcome),
    ("switch.relief(escape).arithmetic", RING, ESCAPE, "", "literal", Outcome),
    ("switch.relief(escape).arithmetic=consistent", RING, ESCAPE, "consistent", "literal", Outcome),
    ("switch.relief(escape).arithmetic=literal", RING, ESCAPE, "literal", "consistent", Outcome),
    ("switch.relief(escape).scan", RING, ESCAPE, "", "head", Outcome),
    ("switch.relief(escape).scan=round-robin", RING, ESCAPE, "round-robin", "head", Outcome),
    ("switch.relief(escape).scan=head", RING, ESCAPE, "head", "round-robin", Outcome),
    ("switch.relief=deadlock-breaker", RING, &[], "{kind=\"deadlock-breaker\",after=\"100us\"}", "escape", Outcome),
    ("switch.relief(deadlock-breaker).after", RING, TURNS, "100us", "300us", Outcome),
    ("switch.relief=loop-breaker", RING, &[], "{kind=\"loop-breaker\",after=\"100us\"}", "escape", Outcome),
    ("switch.relief(loop-breaker).after", RING, DROPS, "100us", "300us", Outcome),

    ("switch.gfc", LOSSY, &[], "", "{first=\"6KB\",last=\"16KB\"}", Outcome),
    ("switch.gfc.first", LOSSY, SLOWS, "6KB", "10KB", Outcome),
    ("switch.gfc.last", LOSSY, SLOWS, "16KB", "12KB", Outcome),
    ("switch.gfc.stages", LOSSY, SLOWS, "", "1", Outcome),
    ("switch.gfc.frame", LOSSY, SLOWS, "", "200B", Outcome),
];
