//! A run: a scenario's network, taken forward step by step.

use crate::engine::Engine;
use crate::recording::RecordingCounts;
use crate::threads::{BegunInParts, NotParallel};
use crate::window::Window;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::decisions;
use thalweg_net::spec::NetworkSpec;
use thalweg_scenario::schema::Fct;
use thalweg_scenario::topology::{Graph, Names};
use thalweg_scenario::{Diagnostic, Scenario, Section, Stop};
use thalweg_sim::sealed::{self, Kind, Sealing};
use thalweg_sim::{Halt, Recorded};
use thalweg_units::{Span, Time};

/// What tables and summaries need of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub name: String,
    pub scenario: String,
    pub fct: Fct,
    /// Upper edges of the size classes, bytes.
    pub size_classes: Vec<u64>,
    /// The interval of the loads, ps: see [`crate::summary`].
    pub load_window: (u64, u64),
    /// The sections of traffic.
    pub sections: Vec<Section>,
    pub base_rtt_ps: u64,
    /// What nodes are called.
    pub names: Names,
    /// By flow: the number that its list gives it; empty where there is no list.
    pub listed: Vec<Option<u64>>,
    pub check: bool,
    /// As the scenario says.
    pub threads: Option<u32>,
}

/// A run that can be stepped, watched, cut, saved and resumed.
#[derive(Clone)]
pub struct Run {
    pub(crate) engine: Engine,
    pub(crate) meta: Meta,
    /// What flows without end have done of it in the measured window.
    pub(crate) window: Window,
    running: bool,
    violation: Option<String>,
    /// If every packet is recorded: counts over the rows taken.
    pub(crate) recorded: Option<RecordingCounts>,
    /// Why it was not divided when that was last tried.
    whole: Option<NotParallel>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Simulated time.
    pub now_ps: u64,
    /// When the run ends at the latest.
    pub until_ps: u64,
    /// Events so far.
    pub events: u64,
    /// Transmissions of packets on links so far.
    pub packet_hops: u64,
    /// Flows that have started.
    pub flows_started: u64,
    /// Flows complete at both ends.
    pub flows_done: u64,
    /// All flows.
    pub flows_total: u64,
    /// Measured flows complete at both ends.
    pub measured_done: u64,
    /// All measured flows.
    pub measured_total: u64,
}

/// Of a saved run; the layout is raised with every change of [`Meta`].
const KIND: Kind = Kind { magic: *b"thalwegR", layout: 6 };

impl Run {
    /// The network as a graph, with its names.
    pub(crate) fn graph(&self) -> Graph {
        let spec = self.engine.spec();
        let (further, switches, links) = (spec.further_nics.clone(), spec.switches, spec.links.clone());
        let hosts = spec.hosts - further.len() as u32;
        let structure = spec.routing.structure.clone();
        Graph { hosts, further, switches, links, names: self.meta.names.clone(), structure }
    }

    /// Builds the network of a scenario.
    ///
    /// # Errors
    /// As [`Scenario::network`], and what the simulator refuses.
    pub fn new(scenario: &Scenario) -> Result<Self, Diagnostic> {
        Self::new_unless(&Stop::default(), scenario)
    }

    /// As [`Run::new`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Run::new`], and if it was given up.
    pub fn new_unless(stop: &Stop, scenario: &Scenario) -> Result<Self, Diagnostic> {
        let (mut spec, mut listed) = scenario.numbered_network_unless(stop)?;
        if listed.iter().all(Option::is_none) {
            listed.clear();
        }
        let doc = scenario.document();
        let load_window = scenario.load_window(&spec);
        spec.probes.carried = Some(load_window);
        let meta = Meta {
            name: doc.name.clone(),
            scenario: scenario.to_toml(),
            fct: doc.measure.fct,
            size_classes: doc.measure.size_classes.iter().map(|q| q.0.get()).collect(),
            load_window: (load_window.0.ps(), load_window.1.ps()),
            sections: scenario.sections(),
            base_rtt_ps: scenario.base_rtt().ps(),
            names: scenario.graph().names.clone(),
            listed,
            check: doc.run.check,
            threads: doc.run.threads,
        };
        let window = Window::new(&spec, scenario.measured_window());
        let engine = Engine::new(spec).map_err(|e| scenario.whole_file(e))?;
        let recorded = engine.spec().probes.record.map(|_| RecordingCounts::default());
        let mut run = Self { engine, meta, window, running: true, violation: None, recorded, whole: None };
        if let Some(threads) = run.meta.threads {
            let cannot =
                |why: NotParallel| scenario.about("run.threads", format!("cannot take effect: {why}"));
            run.set_threads(threads as usize).map_err(cannot)?;
        }
        Ok(run)
    }

    /// Runs on so many threads; on how many: as many at most as the network has parts. Nothing of the result depends on
    /// it.
    ///
    /// # Errors
    /// If it stays on one, with the reason.
    pub fn set_threads(&mut self, threads: usize) -> Result<usize, NotParallel> {
        self.divide(threads, false)
    }

    /// Why it runs on one thread although `run.threads` requests more; `None`: it does not.
    pub fn why_one_thread(&self) -> Option<NotParallel> {
        let missed = self.meta.threads.is_some_and(|wanted| wanted > 1) && self.engine.threads() == 1;
        missed.then(|| if self.meta.check { Some(NotParallel::Checked) } else { self.whole.clone() })?
    }

    /// As [`Run::set_threads`] if the scenario does not say otherwise, and if the network is large enough for it.
    pub fn offer_threads(&mut self, threads: usize) -> usize {
        if self.meta.threads.is_some() {
            self.engine.threads()
        } else {
            self.divide(threads, true).unwrap_or(1)
        }
    }

    fn divide(&mut self, threads: usize, pays: bool) -> Result<usize, NotParallel> {
        let divided = if self.meta.check && threads > 1 {
            Err(NotParallel::Checked)
        } else {
            self.engine.divide(threads, pays)
        };
        self.whole = divided.as_ref().err().cloned();
        divided
    }

    /// Processes at most `max_events` more events; false once the run has ended.
    pub fn step(&mut self, max_events: u64) -> bool {
        self.advance(max_events, Time::MAX) != Halt::Ended
    }

    /// The same, but no event later than `until`, and no further than to where a controller waits for a decision.
    pub(crate) fn advance(&mut self, max_events: u64, until: Time) -> Halt {
        if !self.running {
            return Halt::Ended;
        }
        // Sums of flows without end are noted where the measured window opens and closes.
        let note = self.window.next();
        let at = note.min(until);
        let halt = if self.meta.check {
            self.engine.run_checked(max_events, at).unwrap_or_else(|law| {
                self.violation = Some(law);
                Halt::Ended
            })
        } else {
            self.engine.run_until(max_events, at)
        };
        self.running = halt != Halt::Ended;
        if !self.running && self.violation.is_none() {
            self.violation = self.engine.check_lossless().err();
        }
        if halt == Halt::Reached && at == note {
            self.window.note(&self.engine);
            return if note < until { Halt::Budget } else { Halt::Reached };
        }
        halt
    }

    /// Rows of the recording that are ready; at the `end` all, packets still in the network included.
    pub fn take_recorded(&mut self, end: bool) -> Recorded {
        let rows = self.engine.take_recorded(end);
        if let Some(counts) = &mut self.recorded {
            counts.add(&rows, &self.engine.spec().flows);
        }
        rows
    }

    /// The decisions recorded since the last time, as a file or a part of one; empty where they are not recorded.
    pub fn take_decisions(&mut self) -> Vec<u8> {
        if self.engine.spec().probes.decisions {
            decisions::write(&self.engine.take_decisions())
        } else {
            vec![]
        }
    }

    /// The records of ports, whole as of now, with the names of their files.
    pub fn port_records(&self) -> Vec<(String, Vec<u8>)> {
        let records = self.engine.probes().ports.whole(self.engine.now());
        records.map(|(id, record)| (format!("port{}.port", id.0), record)).collect()
    }

    /// Whether the run has not ended: its results are partial.
    pub fn is_partial(&self) -> bool {
        self.running || self.violation.is_some()
    }

    /// The invariant that did not hold: a bug of the simulator. Most are looked at with `check` only; that a
    /// network with flow control drops nothing, always.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let c = self.engine.counters();
        Progress {
            now_ps: self.engine.now().ps(),
            until_ps: self.engine.spec().stop.until.ps(),
            events: c.events,
            packet_hops: c.packet_hops,
            flows_started: c.flows_started,
            flows_done: c.flows_done,
            flows_total: c.flows_total,
            measured_done: c.measured_done,
            measured_total: c.measured_total,
        }
    }

    /// A hash of everything that has happened.
    pub fn digest(&self) -> u64 {
        self.engine.digest()
    }

    /// The network that is run.
    pub fn spec(&self) -> &NetworkSpec {
        self.engine.spec()
    }

    /// The resolved scenario.
    pub fn scenario_toml(&self) -> &str {
        &self.meta.scenario
    }

    /// The round trip of a full packet and its ACK over the longest path when nothing waits.
    pub fn base_rtt(&self) -> Span {
        Span::from_ps(self.meta.base_rtt_ps)
    }

    /// Checks invariants from now on (slow), or stops doing so.
    ///
    /// # Errors
    /// If the run is under way in parts: the laws are those of a whole network.
    pub fn set_check(&mut self, check: bool) -> Result<(), BegunInParts> {
        if check {
            self.engine.unite()?;
        }
        self.meta.check = check;
        Ok(())
    }

    /// The whole run as bytes, to be resumed by [`Run::load`] here or elsewhere.
    pub fn save(&self) -> Vec<u8> {
        let head = serde_json::to_vec(&(&self.meta, &self.window, self.running, &self.violation))
            .expect("plain data serialises");
        let mut sealing = Sealing::begin(Vec::new(), KIND);
        sealing.bytes.extend_from_slice(&(head.len() as u64).to_le_bytes());
        sealing.bytes.extend_from_slice(&head);
        sealing.bytes = self.engine.save_after(sealing.bytes);
        sealing.finish()
    }

    /// A run from the bytes of [`Run::save`].
    ///
    /// # Errors
    /// If the bytes are not a saved run, are damaged, or were written by another version.
    pub fn load(bytes: &[u8]) -> Result<Self, String> {
        let rest = sealed::open(bytes, KIND).map_err(|e| e.to_string())?;
        let (len, rest) = rest.split_first_chunk::<8>().ok_or("this saved run is cut short")?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| "this saved run is damaged")?;
        let (head, body) = rest.split_at_checked(len).ok_or("this saved run is cut short")?;
        let (meta, window, running, violation): (Meta, _, _, _) =
            serde_json::from_slice(head).map_err(|e| format!("this saved run is damaged: {e}"))?;
        // Rows that were taken before the run was saved are not in it: a recording cannot be continued.
        let engine = Engine::load(body)?;
        let threads = meta.threads.map_or(1, |threads| threads as usize);
        let mut run = Self { engine, meta, window, running, violation, recorded: None, whole: None };
        // What was run whole stays so, and so does what is checked; the run then knows why.
        let _threads = run.divide(threads, false);
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_machines::pause::PauseSpec;

    /// Seven hosts send to one; a threshold of 20 packets, and a packet less headroom than it takes.
    const SHORT: &str = r#"
scheme = "roce+voq-pfc"
topology = { kind = "star", hosts = 16 }
switch = { inputs = { memory = "26544B" }, pfc = { headroom = "4744B", lossy_ok = true } }
run = { until = "5ms" }
[[traffic]]
kind = "incast"
fan_in = 15
receiver = 0
size = "262144B"
[[traffic]]
kind = "permutation"
size = "1048576B"
jitter = "10us"
"#;

    #[test]
    fn a_network_with_flow_control_that_drops_is_an_error_without_checks_too() {
        let scenario =
            thalweg_scenario::load(SHORT, "short.toml", std::path::Path::new("."), &[]).expect("a scenario");
        let ended = |meant: bool| {
            let mut run = Run::new(&scenario).expect("a network");
            let mut spec = run.spec().clone();
            let inputs = spec.inputs.as_mut().expect("flow control");
            let Some(PauseSpec::Pfc(pfc)) = &mut inputs.pause else { panic!("{inputs:?}") };
            pfc.lossy_ok = meant;
            run.engine = Engine::new(spec).expect("a network");
            while run.step(1_000_000) {}
            run.violation().map(str::to_owned)
        };
        assert_eq!(ended(true), None);
        let reported = ended(false).expect("a violation");
        assert!(
            reported.starts_with("flow control is on, and ") && reported.ends_with(" packets were dropped"),
            "{reported}"
        );
    }

    /// What a value consists of, without what it is.
    fn shape(value: &serde_json::Value) -> String {
        use serde_json::Value;
        match value {
            Value::Null => "null".into(),
            Value::Bool(_) => "bool".into(),
            Value::Number(_) => "number".into(),
            Value::String(_) => "text".into(),
            // Tuples have parts of several kinds, lists have one.
            Value::Array(parts) => {
                let mut parts: Vec<String> = parts.iter().map(shape).collect();
                parts.dedup();
                format!("[{}]", parts.join(" "))
            }
            Value::Object(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|(key, part)| format!("{key}:{}", shape(part))).collect();
                format!("{{{}}}", parts.join(" "))
            }
        }
    }

    /// The layout of saved runs and what their head consists of.
    const SAVED: (u32, &str) = (
        6,
        "[{base_rtt_ps:number check:bool fct:text listed:[] load_window:[number] name:text \
         names:[{Numbered:[text number]}] scenario:text sections:[{answers:bool controller:text counted:bool job:bool \
         kind:text name:text}] size_classes:[number] threads:null} {closed:[] flows:[] from:number opened:[] \
         until:number} bool null]",
    );

    #[test]
    fn the_layout_of_saved_runs_is_raised_with_what_they_consist_of() {
        let scenario =
            thalweg_scenario::load(SHORT, "short.toml", std::path::Path::new("."), &[]).expect("a scenario");
        let run = Run::new(&scenario).expect("a network");
        let head = serde_json::to_value((&run.meta, &run.window, run.running, &run.violation)).expect("data");
        let found = shape(&head);
        assert_eq!((u32::from(KIND.layout), found.as_str()), SAVED, "raise the layout, then write both here");
    }
}
