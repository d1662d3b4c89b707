//! Functions for the fuzz targets and the short mutation test: every reader of foreign text, none of which may panic.

use crate::parse::ParseError;
use crate::parse::flows::FlowRow;
use std::path::Path;
use thalweg_net::spec::End;

const PAIR: &str =
    "topology = { kind = \"pair\" }\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";

/// A whole scenario: it must load, or be refused with one-line diagnostics. A scenario that loads must be equal to its
/// resolved text loaded again.
///
/// # Panics
/// If resolution is not stable, or a diagnostic has more than one line.
pub fn scenario(text: &str) {
    match crate::load(text, "fuzz.toml", Path::new("/nonexistent"), &[]) {
        Ok(s) => {
            let resolved = s.to_toml();
            match crate::load(&resolved, "resolved.toml", Path::new("/nonexistent"), &[]) {
                Ok(again) => assert!(again == s, "resolution is not stable:\n{resolved}"),
                Err(e) => panic!("a resolved scenario is refused: {}\n{resolved}", e[0]),
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for e in errors {
                let line = e.to_string();
                assert!(!line.is_empty() && !line.contains('\n'), "{line:?}");
            }
        }
    }
}

/// An override of a valid scenario: the first line is the key, the rest the value.
pub fn overrides(text: &str) {
    let (key, value) = text.split_once('\n').unwrap_or((text, "1"));
    let set = [(key.to_owned(), value.to_owned())];
    let _ = crate::load(PAIR, "good.toml", Path::new("/nonexistent"), &set);
}

/// Graph files.
pub fn topology(text: &str) {
    use crate::parse::graph::{gml, graphml, hpcc, htsim, links_csv, native, rocketfuel};
    let maps =
        [rocketfuel::cch, rocketfuel::weights, rocketfuel::latencies, graphml::map, gml::map, links_csv::map];
    for read in
        [graphml::parse, gml::parse, hpcc::parse, htsim::parse, links_csv::parse, native::toml, native::json]
            .into_iter()
            .chain(maps)
    {
        let Ok(whole) = read(text) else { continue };
        // A changed number can ask for a graph of millions of nodes.
        let part = (whole.nodes <= 1_000).then(|| whole.clone().largest_part());
        assert!(part.as_ref().is_none_or(|part| part.nodes <= whole.nodes && part.hosts <= whole.hosts));
        for g in [Some(whole), part].into_iter().flatten() {
            assert!(g.hosts <= g.nodes);
            assert!(g.links.iter().all(|l| l.a < g.nodes && l.b < g.nodes && l.a != l.b));
            assert!(g.names.len() <= g.nodes as usize);
            let named = (g.nodes as usize - g.names.len()) as u32;
            if let Ok(names) = crate::topology::Names::listed(named, g.names) {
                assert!((0..g.nodes).all(|n| names.node(&names.of(n)) == Ok(n)), "a name leads back");
            }
        }
    }
}

/// Distributions of sizes: one that is read can be drawn from.
pub fn cdf(text: &str) {
    use crate::schema::Interpolation::{Atoms, InverseLinear, Linear, LogLinear};
    let Ok(points) = crate::parse::cdf::parse(text) else { return };
    for between in [Linear, Atoms, LogLinear, InverseLinear] {
        for unit in [1, 1460] {
            let cdf = crate::traffic::sizes::cdf::Cdf::new(points.clone(), between, unit);
            let mut last = 0;
            for i in 0..50 {
                let size = cdf.quantile(f64::from(i) / 50.0);
                assert!(size >= last.max(1), "quantiles never fall");
                last = size;
            }
            assert!(cdf.mean().is_finite());
        }
    }
}

type ReadFlows<'a> = &'a dyn Fn(&str) -> Result<Vec<FlowRow>, ParseError>;
type WriteFlows<'a> = &'a dyn Fn(&[FlowRow]) -> String;

/// Flow lists and small tables: those that are read are equal after being written and read again.
pub fn flows(text: &str) {
    use crate::parse::{flows, tables};
    let graph = crate::topology::Graph::new(8, 2);
    let csv = |text: &str| flows::csv(text, &graph);
    let mut renumbered = graph.clone();
    let names = (0..10).map(|node| format!("n{}", (node + 3) % 10)).collect();
    renumbered.names = crate::topology::Names::listed(0, names).expect("names");
    let hpcc = |text: &str| flows::hpcc(text, &graph);
    let by_id = |text: &str| flows::hpcc(text, &renumbered);
    let to_hpcc = |rows: &[FlowRow]| flows::to_hpcc(rows, &graph);
    let to_ids = |rows: &[FlowRow]| flows::to_hpcc(rows, &renumbered);
    let readers: [(ReadFlows<'_>, WriteFlows<'_>); 3] =
        [(&csv, &flows::to_csv), (&hpcc, &to_hpcc), (&by_id, &to_ids)];
    for (read, write) in readers {
        if let Ok(rows) = read(text) {
            let again = read(&write(&rows)).expect("what was written reads");
            let same =
                |a: &FlowRow, b: &FlowRow| (a.src, a.dst, a.size, a.start) == (b.src, b.dst, b.size, b.start);
            assert!(rows.len() == again.len() && rows.iter().zip(&again).all(|(a, b)| same(a, b)));
        }
    }
    let matrix = crate::parse::matrix::parse(text, 8).unwrap_or_default();
    let known = |(id, _): &(u64, End)| matrix.iter().any(|row| row.id == *id);
    assert!(matrix.iter().all(|row| row.after.iter().all(known)), "flows follow flows of the list");
    let _ = tables::paths(text, &graph.names);
    let _ = tables::offsets(text, &graph);
    let _ = tables::histograms(text);
}

/// GOAL traces: all messages of a trace that is read have partners, and it can be assembled unless operations wait in a
/// cycle.
///
/// # Panics
/// If the two ends of a message differ.
pub fn goal(text: &str) {
    if let Ok(trace) = crate::parse::goal::parse(text) {
        job(&trace);
    }
}

/// Chakra traces, with the same file for two ranks; checked in the same way.
///
/// # Panics
/// If the two ends of a message differ.
pub fn chakra(bytes: &[u8]) {
    let Ok(nodes) = crate::parse::chakra::parse(bytes) else { return };
    if let Ok(trace) = crate::traffic::translate_chakra(&[nodes.clone(), nodes]) {
        job(&trace);
    }
}

/// Workloads of SimAI on four ranks; checked in the same way.
///
/// # Panics
/// If the two ends of a message differ.
pub fn simai(text: &str) {
    let Ok(workload) = crate::parse::simai::parse(text) else { return };
    let trace = (workload.layers.len() <= 1_000).then(|| crate::traffic::translate_simai(&workload, 4));
    if let Some(trace) = trace.flatten() {
        job(&trace);
    }
}

fn job(trace: &crate::parse::goal::Trace) {
    use crate::parse::goal::What;
    for (at, op) in trace.ops.iter().enumerate() {
        let partner = trace.partners[at].map(|partner| trace.partners[partner as usize]);
        let has_none = matches!(op.what, What::Calc { .. });
        assert!(if has_none { partner.is_none() } else { partner == Some(Some(at as u32)) });
    }
    if trace.ranks > 1_000 {
        return;
    }
    let hosts: Vec<u32> = (0..trace.ranks).collect();
    for (overhead, eager) in [(0, u64::MAX), (7, 4)] {
        let _ = crate::traffic::assemble_goal(trace, &hosts, thalweg_units::Span::from_ns(overhead), eager);
    }
}

/// Traces of cellular links: those that are read are equal after being written and read again.
pub fn trace(text: &str) {
    use crate::parse::trace;
    if let Ok(read) = trace::parse(text) {
        assert!(trace::parse(&trace::to_text(&read, 1)).is_ok_and(|again| again == read));
    }
}
