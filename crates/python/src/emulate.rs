//! Emulated paths for Python: the ports of a scenario, both ways, a command, and what became of it as JSON.

use crate::scenario::{Scenario, scenario_error};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Why no path can be emulated here, with a way out if `outside` is set; `None`: it can.
#[pyfunction]
#[pyo3(signature = (outside=false))]
pub fn emulate_refusal(py: Python<'_>, outside: bool) -> Option<String> {
    py.detach(move || here::refusal(outside))
}

/// The ports towards the far end and back, along these nodes or of the bottleneck, as JSON text: name, rate (bit/s),
/// delay (ns), and of several the same of each (`hops`). `ScenarioError` if real packets cannot have one.
#[pyfunction]
pub fn emulate_ports(py: Python<'_>, scenario: &Scenario, between: Option<Vec<String>>) -> PyResult<String> {
    let inner = scenario.inner.clone();
    py.detach(move || here::ports(&inner, between)).map_err(|d| scenario_error(py, &[d]))
}

/// A command, and what runs at the far end meanwhile.
type Commands = (Vec<String>, Option<Vec<String>>);

/// Folders for records and for captures.
type Folders = (Option<PathBuf>, Option<PathBuf>);

/// How frames get in and out, and whether the far end has a way out.
type Ways = (Option<String>, bool);

/// Runs a command on the path, its outcome as JSON text. `OSError` if the kernel refuses something.
#[pyfunction]
pub fn emulate_shell(
    py: Python<'_>,
    scenario: &Scenario,
    between: Option<Vec<String>>,
    commands: Commands,
    environment: Vec<(String, String)>,
    folders: Folders,
    ways: Ways,
) -> PyResult<String> {
    let inner = scenario.inner.clone();
    py.detach(move || here::shell(&inner, between, commands, environment, folders, ways))
        .map_err(|d| scenario_error(py, &[d]))?
        .map_err(PyErr::from)
}

#[cfg(all(feature = "emulate", target_os = "linux"))]
mod here {
    use serde_json::json;
    use std::io;
    use thalweg_emulate::{Port, Shell, Way, WireKind, passable};
    use thalweg_net::port::PortSpec;
    use thalweg_scenario::{Diagnostic, Scenario};
    use thalweg_units::NodeId;

    pub fn refusal(outside: bool) -> Option<String> {
        thalweg_emulate::available(outside).err().map(|why| why.to_string())
    }

    fn both(scenario: &Scenario, between: Option<Vec<String>>) -> Result<[Way; 2], Diagnostic> {
        let names = &scenario.graph().names;
        let up = match between {
            Some(nodes) => scenario.ports(&nodes)?,
            None => vec![scenario.bottleneck()?],
        };
        let mut nodes: Vec<String> = up.iter().rev().map(|port| names.of(port.to.0)).collect();
        nodes.extend(up.first().map(|port| names.of(port.from.0)));
        Ok([way(scenario, &up)?, way(scenario, &scenario.ports(&nodes)?)?])
    }

    fn way(scenario: &Scenario, specs: &[PortSpec]) -> Result<Way, Diagnostic> {
        let of = |node: NodeId| scenario.graph().names.of(node.0);
        let port = |spec: &PortSpec| {
            let name = format!("{} -> {}", of(spec.from), of(spec.to));
            passable(spec, name.clone()).map_err(|refused| {
                scenario
                    .about(refused.key, format!("real packets cannot pass the port {name}: {}", refused.why))
            })
        };
        let mut ports = specs.iter().map(port).collect::<Result<Vec<_>, _>>()?.into_iter();
        let (Some(spec), Some(first)) = (specs.first(), ports.next()) else {
            return Err(scenario.whole_file("a path needs a port".into()));
        };
        let nodes: Vec<String> =
            std::iter::once(of(spec.from)).chain(specs.iter().map(|spec| of(spec.to))).collect();
        Ok(Way::new(nodes.join(" -> "), first, ports))
    }

    pub fn ports(scenario: &Scenario, between: Option<Vec<String>>) -> Result<String, Diagnostic> {
        let hop = |port: &Port| json!({ "port": port.name, "bps": port.rate().bps(), "delay_ns": port.delay().ps() / 1000 });
        let shown = both(scenario, between)?.map(|way| {
            let mut shown = json!({
                "port": way.name(), "bps": way.rate().bps(), "delay_ns": way.delay().ps() / 1000,
            });
            if way.is_chain() {
                shown["hops"] = way.ports().iter().map(hop).collect();
            }
            shown
        });
        Ok(json!(shown).to_string())
    }

    pub fn shell(
        scenario: &Scenario,
        between: Option<Vec<String>>,
        (command, peer): super::Commands,
        environment: Vec<(String, String)>,
        (record, capture): super::Folders,
        (wire, outside): super::Ways,
    ) -> Result<io::Result<String>, Diagnostic> {
        let [up, down] = both(scenario, between)?;
        let wire = match wire.map(|name| serde_json::from_value::<WireKind>(name.into())).transpose() {
            Ok(wire) => wire,
            Err(why) => return Ok(Err(io::Error::other(why))),
        };
        let outcome = Shell { up, down, command, peer, environment, record, capture, wire, outside }.run();
        Ok(outcome.and_then(|outcome| serde_json::to_string(&outcome).map_err(io::Error::other)))
    }
}

#[cfg(not(all(feature = "emulate", target_os = "linux")))]
mod here {
    use std::io;
    use thalweg_scenario::{Diagnostic, Scenario};

    const WHY: &str = "paths are emulated on Linux only, by builds with the feature `emulate`";

    pub fn refusal(_: bool) -> Option<String> {
        Some(WHY.into())
    }

    pub fn ports(scenario: &Scenario, _: Option<Vec<String>>) -> Result<String, Diagnostic> {
        Err(scenario.whole_file(WHY.into()))
    }

    pub fn shell(
        scenario: &Scenario,
        _: Option<Vec<String>>,
        _: super::Commands,
        _: Vec<(String, String)>,
        _: super::Folders,
        _: super::Ways,
    ) -> Result<io::Result<String>, Diagnostic> {
        Err(scenario.whole_file(WHY.into()))
    }
}
