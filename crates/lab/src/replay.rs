//! A recorded run again, under another scheduler whose headers are made from what was recorded (ups §2.1).
//!
//! Streamed: rows are fed in batches, and what is known about a packet is forgotten when it has left.

use crate::Table;
use crate::engine::Engine;
use crate::lateness::Lateness;
use crate::originals::{Original, Originals};
use serde_json::{Value as Json, json};
use thalweg_machines::link::TransmitterKind;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, lstf, pifo};
use thalweg_machines::stage::{CarriedSpec, StageSpec};
use thalweg_net::spec::{NetworkSpec, NicOrder, NicSpec, ProbeSpec, StopSpec};
use thalweg_scenario::{Diagnostic, Scenario};
use thalweg_sim::{Exit, Injection};
use thalweg_units::{FlowId, NodeId, PortId, Serializer, Span, Time};

/// Slack of a packet that had not left when the recording ended (the value of the paper's own simulator).
const UNKNOWN_EXIT: Span = Span::from_ms(100_000);

/// The candidates: what the header holds and how switch ports use it (ups §2.1, App. A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// Least slack time first: the slack o(p) − i(p) − t_min, less what has been waited.
    Lstf,
    /// Network-wide earliest deadline first: o(p), less the least time from here to the exit.
    Edf,
    /// Simple priorities: o(p), the same at every port.
    Priority,
    /// A time per port: when its service began there in the original. Needs recorded hops.
    Omniscient,
}

impl Candidate {
    /// Their names.
    pub const NAMES: [&str; 4] = ["lstf", "edf", "priority", "omniscient"];

    /// By name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "lstf" => Self::Lstf,
            "edf" => Self::Edf,
            "priority" => Self::Priority,
            "omniscient" => Self::Omniscient,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Ports look at the slack of the last bit.
    fn adds_transmission(self) -> bool {
        matches!(self, Self::Lstf | Self::Edf)
    }

    fn rule(self) -> CarriedSpec {
        match self {
            Self::Lstf => CarriedSpec::Slack,
            Self::Edf => CarriedSpec::Deadline,
            Self::Priority => CarriedSpec::Nothing,
            Self::Omniscient => CarriedSpec::Timetable,
        }
    }
}

/// Rows of a recording, in order of ingress. Times in ps; `exit` −1: had not left.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the columns of `packets.parquet`
pub struct Rows<'a> {
    pub flow: &'a [u32],
    pub forward: &'a [u8],
    pub wire: &'a [u32],
    pub handed: &'a [i64],
    pub ingress: &'a [i64],
    pub exit: &'a [i64],
    pub waited: &'a [i64],
    pub queues: &'a [u8],
    pub hops: &'a [u8],
    /// Omniscient: when service began at each switch port, packets one after the other; 0: had not begun.
    pub starts: &'a [i64],
}

/// The first section of links, and its part, for which a packet's path does not say how long it takes.
fn varying(scenario: &Scenario) -> Option<(usize, &'static str)> {
    scenario.document().link.iter().enumerate().find_map(|(i, link)| {
        let changes = link.transmitter.as_ref().filter(|t| !matches!(t, TransmitterKind::Fixed(_)));
        let parts = [
            (changes.is_some(), "transmitter"),
            (link.loss.is_some(), "loss"),
            (link.jitter.is_some(), "jitter"),
        ];
        parts.into_iter().find(|(has, _)| *has).map(|(_, part)| (i, part))
    })
}

/// What is known about one direction of a flow: for packets of one size.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    wire: u32,
    hops: u8,
    t_min: u64,
}

/// A replay under way.
pub struct Replay {
    engine: Engine,
    candidate: Candidate,
    preemptive: bool,
    bucket: Span,
    name: String,
    seed: u64,
    lateness: Lateness,
    /// By flow and direction, as they are needed.
    paths: Vec<Path>,
    originals: Originals,
    fed: u64,
    last: u64,
    times: Vec<i64>,
}

impl Replay {
    /// The network of a recorded scenario with the candidate at every switch port: unlimited queues, nothing
    /// marked or dropped. Ports sort in buckets as wide as `bucket` (zero: exactly). `threshold` only says what is
    /// reported.
    ///
    /// # Errors
    /// If what happened in the recorded network cannot be repeated packet by packet.
    pub fn new(
        scenario: &Scenario,
        candidate: Candidate,
        preemptive: bool,
        bucket: Span,
        threshold: Span,
    ) -> Result<Self, Diagnostic> {
        let original = scenario.network()?;
        let refuse = |reason: &str, hint: &str| Err(scenario.whole_file(reason.to_owned()).hint(hint));
        if !original.routing.rule.needs().source_routes {
            return refuse(
                "cannot be replayed: its routing chooses packet by packet, so a packet's path is not known \
                 from its flow",
                "record it with a routing by flow (`routing = \"ecmp\"`)",
            );
        }
        if !original.incidents.is_empty() {
            return refuse(
                "cannot be replayed: it has incidents, and packets took other paths after them",
                "record it without [[incident]]",
            );
        }
        if original.trims() {
            return refuse(
                "cannot be replayed: its switches may cut packets to their headers, and what is recorded of a packet is \
                 what was left of it",
                "record it with a buffer that drops instead",
            );
        }
        if original.cut_through.is_some() {
            return refuse(
                "cannot be replayed: its switches cut through, so service begins before a packet has arrived",
                "record it with `switch.cut_through = \"0B\"`",
            );
        }
        if let Some((link, part)) = varying(scenario) {
            let reason =
                "cannot be replayed: what a packet meets on such links does not depend on its path alone";
            return Err(scenario
                .about(&format!("link.{link}.{part}"), reason.to_owned())
                .hint("record it without the key"));
        }
        if candidate == Candidate::Omniscient && original.disciplines.iter().any(|d| d.preemptive) {
            return refuse(
                "cannot be replayed by an omniscient scheduler: with interrupted transmissions a packet has no one \
                 time of service per port",
                "record it without `preemptive`, or replay it with lstf",
            );
        }
        if candidate.adds_transmission() && original.links.iter().any(|l| !l.quantum().is_zero()) {
            return refuse(
                "cannot be replayed by a scheduler that counts transmission times in picoseconds: its links cut them down \
                 to whole quanta",
                "record it without `topology.time_quantum`, or replay it with priority or omniscient",
            );
        }
        let flows = original.flows.len();
        let spec = network(original, candidate, preemptive, bucket);
        let seed = spec.seed;
        let engine = Engine::new(spec).map_err(|e| scenario.whole_file(e))?;
        Ok(Self {
            engine,
            candidate,
            preemptive,
            bucket,
            name: scenario.name().to_owned(),
            seed,
            lateness: Lateness::new(threshold),
            paths: vec![Path::default(); 2 * flows],
            originals: Originals::default(),
            fed: 0,
            last: 0,
            times: Vec::new(),
        })
    }

    /// Feeds rows that follow those fed before.
    ///
    /// # Errors
    /// If a row cannot have been recorded from this network; the replay is then of no further use.
    pub fn feed(&mut self, rows: &Rows<'_>) -> Result<(), String> {
        let mut start = 0;
        for row in 0..rows.flow.len() {
            let hops = usize::from(rows.hops[row]);
            let starts = match self.candidate {
                Candidate::Omniscient => {
                    let mine = rows.starts.get(start..start + hops);
                    mine.ok_or_else(|| self.damaged("its hops are missing"))?
                }
                _ => &[],
            };
            start += starts.len();
            self.feed_row(rows, row, starts)?;
        }
        Ok(())
    }

    fn feed_row(&mut self, rows: &Rows<'_>, row: usize, starts: &[i64]) -> Result<(), String> {
        let (flow, wire, forward) = (rows.flow[row], rows.wire[row], rows.forward[row] != 0);
        if flow as usize >= self.paths.len() / 2 {
            let known = self.paths.len() / 2;
            return Err(self.damaged(&format!("flow {flow} does not exist: the scenario has {known}")));
        }
        let path = self.path(flow, forward, wire);
        let (handed, ingress) = (rows.handed[row] as u64, rows.ingress[row] as u64);
        if rows.ingress[row] < 0 || ingress < self.last {
            return Err(self.damaged("it enters before the packet above it"));
        }
        if rows.handed[row] < 0 || handed > ingress || rows.waited[row] < 0 {
            return Err(self.damaged("its times contradict each other"));
        }
        self.last = ingress;
        let left = rows.exit[row] >= 0;
        let exit = if left { rows.exit[row] as u64 } else { ingress + path.t_min + UNKNOWN_EXIT.ps() };
        if exit < ingress + path.t_min {
            return Err(
                self.damaged("it left sooner than its path allows: the scenario is not the recorded one")
            );
        }
        let hops = rows.hops[row];
        if if left { hops != path.hops } else { hops > path.hops } {
            let text =
                format!("it passed {hops} switch ports, its path has {}: a port is missing", path.hops);
            return Err(self.damaged(&text));
        }
        let header = match self.candidate {
            Candidate::Lstf => (exit - ingress - path.t_min) as i64,
            Candidate::Edf | Candidate::Priority => exit as i64,
            Candidate::Omniscient => {
                self.times.clear();
                // Ports at which its service had not begun: behind everything known.
                self.times.extend(starts.iter().map(|t| if *t == 0 { exit as i64 } else { *t }));
                self.times.resize(usize::from(path.hops), exit as i64);
                0
            }
        };
        let original = Original {
            exit: if left { exit } else { u64::MAX },
            waited: rows.waited[row] as u64,
            nic: ingress - handed,
        };
        self.lateness.enter(&original, rows.queues[row], hops);
        self.originals.add(original);
        self.engine.feed(Injection {
            flow: FlowId(flow),
            forward,
            wire,
            number: self.fed,
            at: Time::from_ps(ingress),
            header,
            times: &self.times,
        });
        self.fed += 1;
        Ok(())
    }

    fn damaged(&self, why: &str) -> String {
        format!("packet {}: {why}", self.fed)
    }

    fn path(&mut self, flow: u32, forward: bool, wire: u32) -> Path {
        let at = 2 * flow as usize + usize::from(forward);
        if self.paths[at].wire != wire {
            let ports = self.engine.path(FlowId(flow), forward);
            // The first port is the NIC.
            let hops = u8::try_from(ports.len() - 1).unwrap_or(u8::MAX);
            let t_min = self.engine.t_min(FlowId(flow), forward, wire).ps();
            self.paths[at] = Path { wire, hops, t_min };
        }
        self.paths[at]
    }

    /// Nothing more comes.
    pub fn feed_end(&mut self) {
        self.engine.feed_end();
    }

    /// True if it needs more rows, or notice that there are none.
    pub fn needs_input(&self) -> bool {
        self.engine.needs_input()
    }

    /// Processes at most `max_events` more events; false if it needs input or has ended.
    pub fn step(&mut self, max_events: u64) -> bool {
        let more = self.engine.run(max_events);
        for exit in self.engine.take_exits() {
            self.leave(&exit);
        }
        more
    }

    fn leave(&mut self, exit: &Exit) {
        if let Some(original) = self.originals.take(exit.number) {
            self.lateness.leave(&original, exit.at.ps(), exit.waited.ps());
        }
    }

    /// The longest packet time of `wire` bytes among these ports.
    pub fn packet_time(scenario: &Scenario, wire: u32, ports: &[u32]) -> Span {
        let graph = scenario.graph();
        let link = |port: &u32| graph.has_port(PortId(*port)).then(|| graph.direction(PortId(*port)));
        let spans =
            ports.iter().filter_map(link).map(|l| Serializer::new(l.mean_rate(), l.quantum()).span(wire));
        spans.max().unwrap_or(Span::ZERO)
    }

    /// Rows fed, packets compared, events, simulated ps.
    pub fn progress(&self) -> (u64, u64, u64, u64) {
        (self.fed, self.lateness.compared(), self.engine.counters().events, self.engine.now().ps())
    }

    /// What a reader wants to know first.
    pub fn summary(&self) -> Json {
        let counters = self.engine.counters();
        let mut out = json!({
            "name": format!("{}: {}", self.name, self.candidate.name()),
            "seed": self.seed,
            "partial": false,
            "digest": format!("{:016x}", self.engine.digest()),
            "scheduler": self.candidate.name(),
            "preemptive": self.preemptive,
            "bucket_us": self.bucket.ps() as f64 / 1e6,
            "simulated_seconds": self.engine.now().secs(),
            "events": counters.events,
            "packet_hops": counters.packet_hops,
        });
        if let (Json::Object(out), Json::Object(more)) = (&mut out, self.lateness.summary()) {
            out.extend(more);
        }
        out
    }

    /// The distributions.
    pub fn tables(&self) -> Vec<Table> {
        self.lateness.tables()
    }
}

/// The same network with the candidate at every switch port.
fn network(original: NetworkSpec, candidate: Candidate, preemptive: bool, bucket: Span) -> NetworkSpec {
    let unlimited = |order| DisciplineSpec {
        order,
        limit: Limit::Unlimited,
        front: Vec::new(),
        stage: StageSpec::tail_drop(),
        preemptive: false,
    };
    let bucket = Some(bucket).filter(|bucket| !bucket.is_zero());
    let order = match candidate.adds_transmission() {
        true => lstf::Params { bucket }.into(),
        false => pifo::Params { bucket: bucket.map(Span::ps) }.into(),
    };
    let switch = DisciplineSpec { preemptive, ..unlimited(order) };
    let is_host = |node: NodeId| node.0 < original.hosts;
    let ends = original.links.iter().flat_map(|l| [l.a, l.b]);
    NetworkSpec {
        port_discipline: ends.map(|from| u16::from(!is_host(from))).collect(),
        disciplines: vec![unlimited(OrderSpec::fifo()), switch],
        shared_buffer: None,
        carried: candidate.rule(),
        stages: vec![],
        point: None,
        relief: None,
        slack: None,
        edge: None,
        // Memory has no limit, so nothing is paused; what NICs let go, and when, is in the recording.
        inputs: None,
        nic: NicSpec { order: NicOrder::default(), pause_control: true },
        control_first: false,
        replay: true,
        probes: ProbeSpec::default(),
        stop: StopSpec { until: Time::MAX, when_measured_done: false, max_events: u64::MAX },
        ..original
    }
}
