//! A loaded scenario, and what can be made of it: its text, its estimate, its network, its list of flows.

use crate::context::Cx;
use crate::estimate::Estimate;
use crate::parse::flows::{self, FlowRow};
use crate::parse::trace;
use crate::schema::{Document, SECTIONS};
use crate::text::emit;
use crate::text::origin::Origin;
use crate::topology::{Family, Graph};
use crate::{Diagnostic, Stop, estimate, network, resolve};
use std::path::PathBuf;
use thalweg_machines::link::{OPPORTUNITY, TracedSpec};
use thalweg_net::spec::{End, NetworkSpec, Predecessor};
use thalweg_units::{FlowId, Time};

/// A scenario that has been checked, with every default filled in. [`load`](crate::load) makes one.
#[derive(Clone, Debug)]
pub struct Scenario {
    doc: Document,
    graph: Graph,
    origin: Origin,
    dir: PathBuf,
}

/// Scenarios are equal if their resolved settings are.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.doc == other.doc && self.graph == other.graph
    }
}

impl Scenario {
    pub(crate) fn new(doc: Document, graph: Graph, origin: Origin, dir: PathBuf) -> Self {
        Self { doc, graph, origin, dir }
    }

    fn cx<'a>(&'a self, stop: &'a Stop) -> Cx<'a> {
        Cx { origin: &self.origin, dir: &self.dir, stop }
    }

    /// A diagnostic about the scenario as a whole.
    pub fn whole_file(&self, reason: String) -> Diagnostic {
        Diagnostic::in_file(&self.origin.file, 0, reason)
    }

    /// A diagnostic about one of its keys.
    pub fn about(&self, key: &str, reason: String) -> Diagnostic {
        self.origin.at(key, reason)
    }

    /// Its name in reports.
    pub fn name(&self) -> &str {
        &self.doc.name
    }

    /// The seed of every random stream.
    pub fn seed(&self) -> u64 {
        self.doc.seed
    }

    /// The time at which a run ends at the latest.
    pub fn until(&self) -> Time {
        Time::from_ps(self.doc.run.until.0.ps())
    }

    /// Its settings, with every default filled in.
    pub fn document(&self) -> &Document {
        &self.doc
    }

    /// The nodes and links of its network.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The round trip of a full packet and its ACK in the empty network, from host 0 to a host farthest from it.
    pub fn base_rtt(&self) -> thalweg_units::Span {
        self.graph.base_rtt(self.doc.transport.packet_sizes())
    }

    /// The resolved scenario as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.doc).expect("plain data serialises")
    }

    /// The resolved scenario as TOML, every default written out. It loads back to an equal scenario.
    pub fn to_toml(&self) -> String {
        emit::document(&self.to_json(), SECTIONS)
    }

    /// The files that the scenario reads, relative to its folder. A copy of the scenario needs them, too.
    pub fn files(&self) -> Vec<String> {
        let mut out: Vec<String> = self.doc.topology.shape.file().map(str::to_owned).into_iter().collect();
        let traces = self.doc.link.iter().filter_map(|l| l.transmitter.as_ref()?.file());
        out.extend(traces.map(str::to_owned));
        out.extend(self.doc.routing.rule.file().map(|file| file.name.to_owned()));
        out.extend(
            resolve::schedulers(&self.doc).filter_map(|(_, s)| s.table()).map(|(_, file)| file.to_owned()),
        );
        out.extend(resolve::schedulers(&self.doc).flat_map(|(_, s)| s.files()).map(|(_, file)| file));
        out.extend(self.doc.traffic.iter().flat_map(|t| t.pattern.family().files(&self.dir)));
        out.sort();
        out.dedup();
        out
    }

    /// The delivery opportunities of a port as a Mahimahi trace; without a port, those of the only trace that the links
    /// have. An opportunity of a multiple of Mahimahi's 1504 B is written as that many lines of one instant.
    ///
    /// # Errors
    /// If the port has no trace, if links have different traces and no port is given, and if Mahimahi cannot express
    /// the trace: opportunities of other sizes, and a trace that does not repeat.
    pub fn trace_text(&self, port: Option<u32>) -> Result<String, Diagnostic> {
        let traces = self.graph.traces();
        let some = |ports: &mut dyn Iterator<Item = u32>| {
            let all: Vec<String> = ports.map(|port| port.to_string()).collect();
            all[..all.len().min(16)].join(", ") + if all.len() > 16 { ", .." } else { "" }
        };
        let refuse = |reason: String, hint: String| Err(self.whole_file(reason).hint(hint));
        let Some((first, of_first)) = traces.first() else {
            let hint = "write `transmitter = \"cellular\"`, or one of kind \"traced\", under [[link]]";
            return refuse("no link has a trace of delivery opportunities".into(), hint.into());
        };
        let listed = || some(&mut traces.iter().map(|(port, _)| *port));
        match port {
            Some(port) => match traces.iter().find(|(with, _)| *with == port) {
                Some((port, traced)) => self.as_of_mahimahi(*port, traced),
                None => refuse(
                    format!("port {port} has no trace of delivery opportunities"),
                    format!("ports that have one: {}", listed()),
                ),
            },
            None if traces.iter().all(|(_, traced)| traced == of_first) => {
                self.as_of_mahimahi(*first, of_first)
            }
            None => refuse(
                "its links have different traces of delivery opportunities".into(),
                format!("choose one of the ports {}", listed()),
            ),
        }
    }

    /// A trace in Mahimahi's format: every line is an opportunity of 1504 B, and the trace starts over at its last
    /// line.
    fn as_of_mahimahi(&self, port: u32, traced: &TracedSpec) -> Result<String, Diagnostic> {
        let (each, rest) = (traced.bytes / OPPORTUNITY, traced.bytes % OPPORTUNITY);
        let refuse = |reason: String, hint: &str| Err(self.whole_file(reason).hint(hint));
        if rest > 0 {
            let reason = format!(
                "each opportunity of port {port} delivers {} B, and one of Mahimahi's {OPPORTUNITY} B",
                traced.bytes
            );
            return refuse(reason, "write `opportunity = \"1504B\"`, or a multiple of it");
        }
        if !traced.trace.repeats() {
            let reason =
                format!("the trace of port {port} does not repeat, and Mahimahi's always start over");
            return refuse(reason, "remove `repeat`");
        }
        Ok(trace::to_text(&traced.trace, each))
    }

    /// An estimate of what a run costs, without running it.
    ///
    /// # Errors
    /// If a file was removed or changed since the scenario was loaded.
    pub fn estimate(&self) -> Result<Estimate, Diagnostic> {
        self.estimate_unless(&Stop::default())
    }

    /// As [`Scenario::estimate`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::estimate`], and if it was given up.
    pub fn estimate_unless(&self, stop: &Stop) -> Result<Estimate, Diagnostic> {
        estimate::estimate(&self.cx(stop), &self.doc, &self.graph)
    }

    /// The network that the simulator runs.
    ///
    /// # Errors
    /// What only shows when flows are drawn: flows without a pinned path, probes of flows that do not exist.
    pub fn network(&self) -> Result<NetworkSpec, Diagnostic> {
        self.network_unless(&Stop::default())
    }

    /// As [`Scenario::network`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::network`], and if it was given up.
    pub fn network_unless(&self, stop: &Stop) -> Result<NetworkSpec, Diagnostic> {
        Ok(self.numbered_network_unless(stop)?.0)
    }

    /// As [`Scenario::network_unless`], together with the number of each flow in the list that it comes from (its `id`,
    /// or its row); `None` for flows that come from no list.
    ///
    /// # Errors
    /// As [`Scenario::network_unless`].
    pub fn numbered_network_unless(
        &self,
        stop: &Stop,
    ) -> Result<(NetworkSpec, Vec<Option<u64>>), Diagnostic> {
        network::build(&self.cx(stop), &self.doc, &self.graph)
    }

    /// The flows as rows of a list.
    fn rows(&self, stop: &Stop) -> Result<Vec<FlowRow>, Diagnostic> {
        let spec = self.network_unless(stop)?;
        // In a list a flow can follow only the end of another flow.
        let listed = |before: &Predecessor| match *before {
            Predecessor::Flow { end: End::Started, .. } | Predecessor::Work { .. } => None,
            Predecessor::Flow { flow, end } => Some((u64::from(flow.0), end)),
        };
        let row = |(i, f): (usize, &thalweg_net::spec::FlowSpec)| {
            let key = format!("traffic.{}", f.group);
            if f.size == u64::MAX {
                return Err(self.cx(stop).error(
                    &key,
                    "a list of flows cannot express a flow without end",
                    "remove the section",
                ));
            }
            Ok(FlowRow {
                line: 0,
                id: i as u64,
                src: spec.host_of(f.src).0,
                dst: spec.host_of(f.dst).0,
                size: f.size,
                start: f.start,
                after: spec
                    .precedence
                    .of(FlowId(i as u32))
                    .iter()
                    .map(listed)
                    .collect::<Option<_>>()
                    .ok_or_else(|| {
                        let reason =
                            "a list of flows cannot express a flow that follows a computation, or the start of a flow";
                        self.cx(stop).error(&key, reason, "remove the section")
                    })?,
            })
        };
        spec.flows.iter().enumerate().map(row).collect()
    }

    /// The flows as CSV `id,src,dst,size_bytes,start_ns`, with `after` and `after_acked` if some follow others, so that
    /// other simulators can run them, too.
    ///
    /// # Errors
    /// If a list cannot express a flow: one without end, or one that follows a computation or the start of a flow.
    pub fn flows_csv(&self) -> Result<String, Diagnostic> {
        self.flows_csv_unless(&Stop::default())
    }

    /// As [`Scenario::flows_csv`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::flows_csv`], and if it was given up.
    pub fn flows_csv_unless(&self, stop: &Stop) -> Result<String, Diagnostic> {
        Ok(flows::to_csv(&self.rows(stop)?))
    }

    /// The flows in the HPCC ns-3 simulator's format.
    ///
    /// # Errors
    /// As [`Scenario::flows_csv`], and if a flow follows another.
    pub fn flows_hpcc(&self) -> Result<String, Diagnostic> {
        self.flows_hpcc_unless(&Stop::default())
    }

    /// As [`Scenario::flows_hpcc`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::flows_hpcc`], and if it was given up.
    pub fn flows_hpcc_unless(&self, stop: &Stop) -> Result<String, Diagnostic> {
        let rows = self.rows(stop)?;
        if rows.iter().any(|row| !row.after.is_empty()) {
            let reason = "this format cannot express that a flow follows another";
            return Err(self.cx(stop).error("traffic", reason, "write CSV, or remove the section"));
        }
        Ok(flows::to_hpcc(&rows, self.graph()))
    }
}
