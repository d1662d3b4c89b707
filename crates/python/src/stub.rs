//! Stands in for the laboratory until it exists: the same signatures, an invented run.

/// The public face of `thalweg-lab`, as this crate uses it.
#[allow(missing_docs)]
pub mod lab {
    use serde::{Deserialize, Serialize};
    use serde_json::json;
    use std::path::Path;
    use thalweg_machines::congestion::{AckSample, CongestionControl, Loss, Start};
    use thalweg_machines::custom::CustomController;
    use thalweg_units::{Bytes, Rate, Span, Time};

    #[derive(Clone, Debug)]
    pub struct Diagnostic {
        pub file: String,
        pub line: u32,
        pub column: u32,
        pub key: String,
        pub reason: String,
        pub hint: Option<String>,
    }
    impl std::fmt::Display for Diagnostic {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{}:{}: `{}`: {}", self.file, self.line, self.key, self.reason)?;
            self.hint.as_ref().map_or(Ok(()), |h| write!(f, "; {h}"))
        }
    }

    pub struct Estimate {
        pub flows: u64,
        pub packets: u64,
        pub packet_hops: u64,
        pub events: u64,
        pub memory_bytes: u64,
        pub seconds: f64,
    }

    #[derive(Clone, Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Scenario {
        #[serde(default = "name")]
        name: String,
        #[serde(default)]
        seed: u64,
        #[serde(default = "flows")]
        flows: u64,
        #[serde(default = "half")]
        load: f64,
        #[serde(default = "scheduler")]
        scheduler: String,
        #[serde(default)]
        controller: Controller,
    }
    #[derive(Clone, Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Controller {
        kind: String,
    }
    impl Default for Controller {
        fn default() -> Self {
            Self { kind: "newreno".into() }
        }
    }
    fn name() -> String {
        "unnamed".into()
    }
    fn flows() -> u64 {
        200
    }
    fn half() -> f64 {
        0.5
    }
    fn scheduler() -> String {
        "fifo".into()
    }

    fn parse(text: &str, file: &str, set: &[(String, String)]) -> Result<Scenario, Vec<Diagnostic>> {
        let fail = |line: u32, key: &str, reason: String, hint: Option<String>| {
            vec![Diagnostic { file: file.into(), line, column: 1, key: key.into(), reason, hint }]
        };
        let at = |key: &str| {
            text.lines().position(|l| l.trim_start().starts_with(key)).map_or(0, |n| n as u32 + 1)
        };
        let mut table: toml::Table = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |s| text[..s.start.min(text.len())].lines().count().max(1) as u32);
            fail(line, "", e.message().to_owned(), None)
        })?;
        for (key, value) in set {
            let value = toml::from_str::<toml::Table>(&format!("v = {value}"))
                .ok()
                .and_then(|mut t| t.remove("v"))
                .unwrap_or_else(|| toml::Value::String(value.clone()));
            let mut place = &mut table;
            let parts: Vec<&str> = key.split('.').collect();
            for part in &parts[..parts.len() - 1] {
                place = place
                    .entry((*part).to_owned())
                    .or_insert_with(|| toml::Value::Table(toml::Table::new()))
                    .as_table_mut()
                    .ok_or_else(|| fail(0, key, "is not a table".into(), None))?;
            }
            place.insert(parts[parts.len() - 1].to_owned(), value);
        }
        let known = ["name", "seed", "flows", "load", "scheduler", "controller"];
        for key in table.keys() {
            if !known.contains(&key.as_str()) {
                let near = known.iter().find(|k| k.starts_with(&key[..2.min(key.len())]));
                return Err(fail(
                    at(key),
                    key,
                    "unknown key".into(),
                    near.map(|n| format!("did you mean `{n}`?")),
                ));
            }
        }
        let s: Scenario =
            table.try_into().map_err(|e: toml::de::Error| fail(1, "", e.message().to_owned(), None))?;
        if !(0.0..1.0).contains(&s.load) || s.load == 0.0 {
            return Err(fail(at("load"), "load", format!("{} is outside (0, 1)", s.load), None));
        }
        Ok(s)
    }
    pub fn load(t: &str, f: &str, _d: &Path, s: &[(String, String)]) -> Result<Scenario, Vec<Diagnostic>> {
        parse(t, f, s)
    }

    impl Scenario {
        pub fn name(&self) -> &str {
            &self.name
        }
        pub fn seed(&self) -> u64 {
            self.seed
        }
        pub fn to_toml(&self) -> String {
            toml::to_string(self).unwrap_or_default()
        }
        pub fn to_json(&self) -> serde_json::Value {
            serde_json::to_value(self).unwrap_or_default()
        }
        pub fn estimate(&self) -> Result<Estimate, Diagnostic> {
            let packets = self.flows * 185;
            Ok(Estimate {
                flows: self.flows,
                packets,
                packet_hops: packets * 8,
                events: packets * 12,
                memory_bytes: 1 << 20,
                seconds: packets as f64 * 8.0 / 14e6,
            })
        }
        pub fn flows_csv(&self) -> Result<String, Diagnostic> {
            let mut out = String::from("id,src,dst,size_bytes,start_ns\n");
            for i in 0..self.flows {
                out += &format!("{i},{},{},{},{}\n", i % 7, i % 5 + 7, size(i), i * 1_000);
            }
            Ok(out)
        }
        pub fn flows_hpcc(&self) -> Result<String, Diagnostic> {
            let mut out = format!("{}\n", self.flows);
            for i in 0..self.flows {
                out += &format!("{} {} 3 100 {} 0.{:09}\n", i % 7, i % 5 + 7, size(i), i * 1_000);
            }
            Ok(out)
        }
    }
    fn size(i: u64) -> u64 {
        1460 * (1 + i.wrapping_mul(i).wrapping_mul(2654435761) % 2107)
    }

    #[derive(Clone, Copy, Default)]
    pub struct Progress {
        pub now_ps: u64,
        pub until_ps: u64,
        pub events: u64,
        pub packet_hops: u64,
        pub flows_started: u64,
        pub flows_done: u64,
        pub flows_total: u64,
        pub measured_done: u64,
        pub measured_total: u64,
    }
    pub enum ColumnData {
        U64(Vec<u64>),
        I64(Vec<i64>),
        F64(Vec<f64>),
        U32(Vec<u32>),
        Bool(Vec<u8>),
        Text(Vec<String>),
    }
    pub struct Column {
        pub name: String,
        pub unit: String,
        pub doc: String,
        pub data: ColumnData,
    }
    pub struct Table {
        pub name: String,
        pub doc: String,
        pub columns: Vec<Column>,
    }

    #[derive(Serialize, Deserialize)]
    pub struct Run {
        scenario: Scenario,
        events: u64,
        fct: Vec<u64>,
        custom: Option<CustomController>,
    }
    impl Run {
        pub fn new(scenario: &Scenario) -> Result<Run, Diagnostic> {
            let start = Start {
                mss: 1460,
                initial_window: Bytes::new(14_600),
                max_window: Bytes::MAX,
                initial_threshold: Bytes::MAX,
                line_rate: Rate::from_gbps(10),
                base_rtt: Span::from_us(16),
            };
            let kind = scenario.controller.kind.as_str();
            let custom = match kind {
                "newreno" | "dctcp" => None,
                _ => Some(CustomController::make(kind, &start, b"{}").map_err(|reason| Diagnostic {
                    file: scenario.name.clone(),
                    line: 1,
                    column: 1,
                    key: "controller.kind".into(),
                    reason,
                    hint: None,
                })?),
            };
            Ok(Run { scenario: scenario.clone(), events: 0, fct: vec![], custom })
        }
        pub fn step(&mut self, max_events: u64) -> bool {
            let total = self.scenario.flows * 10_000;
            let end = (self.events + max_events).min(total);
            while (self.fct.len() as u64 + 1) * 10_000 <= end {
                let i = self.fct.len() as u64;
                if let Some(c) = &mut self.custom {
                    for n in 0..10 {
                        c.on_ack(&AckSample {
                            now: Time::from_us(i * 10 + n),
                            rtt: Some(Span::from_us(16)),
                            acked: Bytes::new(1460),
                            sacked: Bytes::new(0),
                            in_flight: Bytes::new(14_600),
                            acked_to: n * 1460,
                            sent_to: n * 1460 + 14_600,
                            marked: Bytes::new(0),
                            in_recovery: false,
                            app_limited: false,
                        });
                    }
                    if i % 50 == 49 {
                        let now = Time::from_us(i * 10 + 10);
                        let loss = Loss { now, in_flight: Bytes::new(1), acked_to: 0, sent_to: 0 };
                        c.on_loss(&loss);
                    }
                }
                let window = self.custom.as_ref().map_or(14_600, |c| c.permit().window.get());
                let noise =
                    (i.wrapping_mul(6364136223846793005).wrapping_add(self.scenario.seed) >> 33) % 1000;
                let ideal = 16_000_000 + size(i) * 822;
                let slow = 1000.0 + noise as f64 / (1.0 - self.scenario.load);
                self.fct.push((ideal as f64 * slow / 1000.0) as u64 + window);
            }
            let t = std::time::Duration::from_micros((end - self.events) / 100);
            std::thread::sleep(t);
            self.events = end;
            end < total
        }
        pub fn progress(&self) -> Progress {
            let n = self.scenario.flows;
            let done = self.fct.len() as u64;
            Progress {
                now_ps: self.events * 1000,
                until_ps: n * 10_000_000,
                events: self.events,
                packet_hops: self.events * 2 / 3,
                flows_started: done,
                flows_done: done,
                flows_total: n,
                measured_done: done,
                measured_total: n,
            }
        }
        pub fn digest(&self) -> u64 {
            self.fct
                .iter()
                .fold(self.scenario.seed ^ 0xcbf29ce484222325, |h, f| (h ^ f).wrapping_mul(0x100000001b3))
        }
        pub fn save(&self) -> Vec<u8> {
            serde_json::to_vec(self).unwrap_or_default()
        }
        pub fn load(bytes: &[u8]) -> Result<Run, String> {
            serde_json::from_slice(bytes).map_err(|e| e.to_string())
        }
        pub fn set_check(&mut self, _on: bool) {}
        pub fn tables(&self) -> Vec<Table> {
            let c = |name: &str, unit: &str, doc: &str, data| Column {
                name: name.into(),
                unit: unit.into(),
                doc: doc.into(),
                data,
            };
            let n = self.scenario.flows;
            let done = self.fct.len() as u64;
            let fct: Vec<i64> = (0..n).map(|i| self.fct.get(i as usize).map_or(-1, |f| *f as i64)).collect();
            let ideal: Vec<u64> = (0..n).map(|i| 16_000_000 + size(i) * 822).collect();
            let slowdown =
                fct.iter().zip(&ideal).map(|(f, i)| if *f < 0 { f64::NAN } else { *f as f64 / *i as f64 });
            let slowdown = slowdown.collect();
            let status = |i| if i < done { "completed" } else { "censored" }.to_owned();
            vec![Table {
                name: "flows".into(),
                doc: "one row per flow".into(),
                columns: vec![
                    c("id", "", "position in the flow list", ColumnData::U32((0..n as u32).collect())),
                    c("src", "", "source host", ColumnData::U32((0..n as u32).map(|i| i % 7).collect())),
                    c(
                        "dst",
                        "",
                        "destination host",
                        ColumnData::U32((0..n as u32).map(|i| i % 5 + 7).collect()),
                    ),
                    c("size", "B", "payload bytes", ColumnData::U64((0..n).map(size).collect())),
                    c(
                        "start_ps",
                        "ps",
                        "when it started",
                        ColumnData::I64((0..n as i64).map(|i| i * 1_000_000).collect()),
                    ),
                    c("fct_ps", "ps", "flow completion time", ColumnData::I64(fct)),
                    c("ideal_ps", "ps", "the same alone", ColumnData::U64(ideal)),
                    c("slowdown", "", "fct / ideal", ColumnData::F64(slowdown)),
                    c(
                        "group",
                        "",
                        "traffic section",
                        ColumnData::U32((0..n as u32).map(|i| i % 2).collect()),
                    ),
                    c(
                        "measured",
                        "",
                        "counts",
                        ColumnData::Bool((0..n).map(|i| u8::from(i % 10 != 0)).collect()),
                    ),
                    c("status", "", "completed or censored", ColumnData::Text((0..n).map(status).collect())),
                ],
            }]
        }
        pub fn summary(&self) -> serde_json::Value {
            let done = self.fct.len().max(1) as f64;
            json!({
                "name": self.scenario.name,
                "flows": self.scenario.flows,
                "flows_done": self.fct.len(),
                "mean_fct_ps": self.fct.iter().sum::<u64>() as f64 / done,
            })
        }
    }

    pub fn schema() -> serde_json::Value {
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"})
    }
    pub struct Entry {
        pub name: String,
        pub summary: String,
        pub source: String,
    }
    pub fn catalogue(kind: &str) -> Option<Vec<Entry>> {
        let e = |n: &str| Entry { name: n.into(), summary: format!("the {n} one"), source: "stub".into() };
        match kind {
            "schedulers" => Some(vec![e("fifo"), e("srpt")]),
            "controllers" => Some(vec![e("newreno"), e("dctcp")]),
            "schemes" | "topologies" | "workloads" => Some(vec![e("stub")]),
            _ => None,
        }
    }
    pub const KINDS: &[(&str, &str)] = &[
        ("schemes", "scheme"),
        ("topologies", "topology"),
        ("workloads", "traffic.0.sizes"),
        ("controllers", "transport.congestion"),
        ("schedulers", "switch.scheduler"),
    ];
    pub fn explain(key: &str) -> Option<String> {
        (key == "load").then(|| "load: offered load of the host links, in (0, 1)".to_owned())
    }
    pub fn diff(a: &Scenario, b: &Scenario) -> Option<String> {
        (a.to_toml() != b.to_toml()).then(|| "event 17 at 3.2us differs".to_owned())
    }
}

/// The public face of `thalweg-bench`, as this crate uses it.
#[allow(missing_docs)]
pub mod bench {
    pub struct BenchRow {
        pub workload: String,
        pub packet_hops: u64,
        pub seconds: f64,
        pub hops_per_second: f64,
        pub ratio_to_w0: f64,
        pub peak_bytes: u64,
        pub events: u64,
    }
    pub const WORKLOADS: &[&str] = &["W0", "W1"];
    pub fn run(workload: &str, _quick: bool) -> Option<BenchRow> {
        WORKLOADS.contains(&workload).then(|| BenchRow {
            workload: workload.to_owned(),
            packet_hops: 1000,
            seconds: 0.001,
            hops_per_second: 1e6,
            ratio_to_w0: 1.0,
            peak_bytes: 1 << 20,
            events: 1500,
        })
    }
}
