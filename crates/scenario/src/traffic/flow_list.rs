//! Flows from a file, some of which may start after others.

use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::{Draft, Drafts};
use super::order::{Place, in_order};
use super::section::{Expected, Section};
use super::{Arrives, Family};
use crate::Diagnostic;
use crate::parse::flows::{self, FlowRow};
use crate::parse::matrix;
use crate::quantity::Q;
use crate::topology::Graph;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{NodeId, Span};

/// Flows from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowList {
    /// The file, relative to the scenario.
    #[schemars(extend("examples" = ["flows.csv"]))]
    pub file: String,
    /// Format of the file.
    #[serde(default)]
    pub format: ListFormat,
    /// Each start is delayed at random by up to this time.
    #[serde(default = "default::zero")]
    pub jitter: Q<Span>,
    /// The random delay is a multiple of this.
    #[serde(default = "default::nanosecond")]
    pub jitter_step: Q<Span>,
}

/// Formats of flow lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    /// CSV with the header `id,src,dst,size_bytes,start_ns`; hosts by number or by name. Columns may be in any order,
    /// other columns are ignored, and `id` may be missing; starts may have other units (`start_us`). A flow with ids in
    /// the column `after`, separated by blanks or `;`, starts after all of those flows have arrived; one with ids in
    /// `after_acked`, after the senders of those flows have received the last ACK (without ACKs, have sent the last
    /// byte). `start` is then the pause after that.
    #[default]
    Csv,
    /// The HPCC ns-3 simulator's: the number of flows, then `src dst class port size start` for each, the start in
    /// seconds. Only as many flows as that number are read. Hosts are numbered as in the topology file.
    Hpcc,
    /// csg-htsim's connection matrix (`.cm`): `src->dst id start size` with starts in picoseconds. Flows with a
    /// `trigger` start after those with this `recv_done_trigger` or `send_done_trigger` (`oneshot`, `barrier`).
    Htsim,
}

impl FlowList {
    /// Number of steps that fit into the jitter.
    fn steps(&self) -> u64 {
        self.jitter.0.ps().checked_div(self.jitter_step.0.ps()).unwrap_or(0)
    }

    /// The rows in the order of the file, and the order in which their flows are made.
    fn read(&self, s: &Section<'_>) -> Result<(Vec<FlowRow>, Vec<Place>), Diagnostic> {
        let text = s.cx.read(&s.key("file"), &self.file)?;
        let rows = match self.format {
            ListFormat::Csv => flows::csv(&text, s.graph),
            ListFormat::Hpcc => flows::hpcc(&text, s.graph),
            ListFormat::Htsim => matrix::parse(&text, s.graph.hosts),
        };
        let rows = rows.map_err(|e| e.in_file(&self.file))?;
        if rows.is_empty() {
            return Err(
                Diagnostic::in_file(&self.file, 1, "the list has no flows").hint("remove the section")
            );
        }
        if self.jitter.0.is_zero() && self.jitter_step != default::nanosecond() {
            let reason = "it has no effect: no start is put off";
            return Err(s.cx.error(&s.key("jitter_step"), reason, "write `jitter`, or remove the key"));
        }
        if !self.jitter.0.is_zero() && self.steps() == 0 {
            let reason =
                format!("no multiple of {} fits into the jitter, {}", self.jitter_step.0, self.jitter.0);
            return Err(s.cx.error(
                &s.key("jitter_step"),
                reason,
                "write a step above zero, and not above the jitter",
            ));
        }
        let at = |(line, reason, hint): (u32, String, String)| {
            Diagnostic::in_file(&self.file, line, reason).hint(hint)
        };
        rows.iter().try_for_each(|row| self.check(s, row)).map_err(at)?;
        let order = in_order(&rows).map_err(at)?;
        Ok((rows, order))
    }

    fn check(&self, s: &Section<'_>, r: &FlowRow) -> Result<(), (u32, String, String)> {
        let wrong = |reason: String, hint: String| Err((r.line, reason, hint));
        if let Some(host) = [r.src, r.dst].into_iter().find(|host| *host >= s.graph.hosts) {
            return wrong(
                format!("there is no host {host}"),
                format!("hosts are 0 to {}", s.graph.hosts - 1),
            );
        }
        if r.src == r.dst {
            let reason = format!("the flow goes from host {} to itself", s.graph.shown(NodeId(r.src)));
            return wrong(reason, "name two different hosts".into());
        }
        if r.size == 0 {
            return wrong("a flow has at least 1 byte".into(), "write 1 or more".into());
        }
        let start = Span::from_ps(r.start.saturating_add(self.jitter.0).ps());
        if start >= s.end {
            let reason = match r.after.is_empty() {
                true => format!("the flow starts at {start}, and the run ends at {}", s.end),
                false => format!("the flow starts {start} after others, and the run ends at {}", s.end),
            };
            return wrong(reason, "raise `run.until`".into());
        }
        Ok(())
    }
}

impl Family for FlowList {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        let (rows, order) = self.read(s)?;
        let bytes = rows.iter().map(|r| r.size as f64).sum();
        let (active, last) = under_way(s.graph, &rows, &order);
        let span = last + self.jitter.0.secs();
        let waits = order.iter().map(|(_, before)| before.len() as f64).sum();
        Ok(Expected { flows: rows.len() as f64, bytes, endless: 0.0, span, active, waits })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let (rows, order) = self.read(s)?;
        let steps = self.steps();
        let mut position = vec![0; rows.len()];
        for (row, before) in order {
            let r = &rows[row];
            let later = if steps == 0 { 0 } else { s.stream("starts", row as u64).below(steps + 1) };
            let start = r.start.saturating_add(self.jitter_step.0.saturating_mul(later));
            let judged = before.is_empty().then_some(start);
            let before = before.into_iter().map(|(row, end)| (position[row], end)).collect::<Vec<_>>();
            let flow = Draft { listed: Some(r.id), judged, ..s.flow(r.src, r.dst, r.size, start) };
            position[row] = out.follow_ends(flow, before);
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let e = f.expected;
        let end = (e.span + f.wire / f.line).max(e.bytes / (f.line * f.hosts)) + f.rtt;
        Course::new(0.0, end, e.active.max(1.0))
    }

    fn packets(&self, mean: f64, payload: f64) -> f64 {
        (mean / payload + 0.5).max(1.0)
    }

    fn arrives(&self) -> Option<Arrives> {
        Some(Arrives { from: Span::ZERO, until: None })
    }

    fn file(&self) -> Option<&str> {
        Some(&self.file)
    }
}

/// The average number of concurrent flows over the busy time, and the last start in seconds, if each host's link
/// carries the flows to it one after the other.
fn under_way(graph: &Graph, rows: &[FlowRow], order: &[Place]) -> (f64, f64) {
    let rate = (graph.host_rate() / 8.0).max(1.0);
    let mut free = vec![0.0f64; graph.hosts as usize];
    let mut done = vec![0.0f64; rows.len()];
    let (mut sum, mut begin, mut last, mut end) = (0.0, f64::INFINITY, 0.0f64, 0.0f64);
    for (row, before) in order {
        let r = &rows[*row];
        let start =
            Span::from_ps(r.start.ps()).secs() + before.iter().map(|(b, _)| done[*b]).fold(0.0, f64::max);
        let over = free[r.dst as usize].max(start) + r.size as f64 / rate;
        (free[r.dst as usize], done[*row]) = (over, over);
        sum += over - start;
        (begin, last, end) = (begin.min(start), last.max(start), end.max(over));
    }
    (sum / (end - begin).max(1e-12), last)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, in_folder};

    #[test]
    fn flows_of_a_list_follow_all_that_their_row_names_wherever_these_stand() {
        let list = "id,src,dst,size_bytes,start_us,after\n\
                    7,0,1,1000,0,\n8,1,2,1000,3,7 9\n9,2,0,1000,5,\n4,0,2,1000,1,8;7\n";
        let net =
            in_folder(3, &[("flows.csv", list)], "kind = \"list\"\nfile = \"flows.csv\"").expect("fits");
        // 7 and 9 start at given times, then 8, then 4.
        let starts: Vec<u64> = net.flows.iter().map(|f| f.start.ps() / 1_000_000).collect();
        assert_eq!((starts, after(&net)), (vec![0, 5, 3, 1], vec![vec![], vec![], vec![0, 1], vec![0, 2]]));
    }

    #[test]
    fn a_list_without_flows_and_numbers_that_tables_cannot_hold_are_errors() {
        let error = |list: &str| {
            let list = format!("id,src,dst,size_bytes,start_us\n{list}");
            in_folder(3, &[("flows.csv", &list)], "kind = \"list\"\nfile = \"flows.csv\"")
                .expect_err("refused")
                .to_string()
        };
        assert!(
            error("").contains("flows.csv:1: the list has no flows; remove the section"),
            "{}",
            error("")
        );
        let large = error("9223372036854775808,0,1,1000,0\n");
        assert!(large.contains("flows.csv:2: the flow number 9223372036854775808 is too large"), "{large}");
    }

    #[test]
    fn a_circle_in_a_list_is_an_error_of_its_line() {
        let list = "id,src,dst,size_bytes,start_us,after\n7,0,1,1000,0,8\n8,1,2,1000,3,7\n";
        let e = in_folder(3, &[("flows.csv", list)], "kind = \"list\"\nfile = \"flows.csv\"")
            .expect_err("a circle");
        let line = e.to_string();
        assert!(line.contains("flows.csv:2: flows follow each other in a cycle: 7, 8"), "{line}");
    }
}
