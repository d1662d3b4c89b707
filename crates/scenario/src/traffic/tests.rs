use std::path::Path;
use thalweg_net::spec::{FlowSpec, NetworkSpec, Predecessor, Step};
use thalweg_units::{FlowId, Span};

/// A star of hosts with one section of traffic.
pub(super) fn network(hosts: u32, section: &str) -> NetworkSpec {
    load(hosts, section, Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
}

fn load(hosts: u32, section: &str, folder: &Path) -> Result<NetworkSpec, crate::Diagnostic> {
    let star = format!("[topology]\nkind = \"star\"\nhosts = {hosts}\n");
    let star = if section.contains("[topology]") { "" } else { &star };
    let text = format!("[[traffic]]\n{section}\n{star}");
    crate::load(&text, "t.toml", folder, &[]).map_err(|mut e| e.remove(0))?.network()
}

/// The same, next to these files.
pub(super) fn in_folder(
    hosts: u32,
    files: &[(&str, impl AsRef<[u8]>)],
    section: &str,
) -> Result<NetworkSpec, crate::Diagnostic> {
    let name = format!("thalweg-traffic-{}-{:?}", std::process::id(), std::thread::current().id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text.as_ref()).expect("written");
    }
    let network = load(hosts, section, &folder);
    std::fs::remove_dir_all(&folder).expect("removed");
    network
}

pub(super) fn flows(hosts: u32, section: &str) -> Vec<FlowSpec> {
    network(hosts, section).flows
}

pub(super) fn ends(flows: &[FlowSpec]) -> Vec<(u32, u32)> {
    flows.iter().map(|f| (f.src.0, f.dst.0)).collect()
}

/// The flows that each flow follows, some by way of a computation that stands for them.
pub(super) fn after(net: &NetworkSpec) -> Vec<Vec<u32>> {
    let step = |before: &Predecessor| match before.step() {
        Step::Flow(flow) => vec![flow.0],
        Step::Work(work) => {
            assert_eq!((net.works[work.at()].cpu, net.works[work.at()].lasts), (None, Span::ZERO));
            let flow = |before: &Predecessor| match before.step() {
                Step::Flow(flow) => flow.0,
                Step::Work(other) => panic!("computation {work} follows computation {other}"),
            };
            net.precedence.of_work(work).iter().map(flow).collect()
        }
    };
    let of = |flow: usize| {
        let mut all: Vec<u32> = net.precedence.of(FlowId::from(flow)).iter().flat_map(step).collect();
        all.sort_unstable();
        all
    };
    (0..net.flows.len()).map(of).collect()
}

/// How much is waited for: the lengths of all lists together.
pub(super) fn waits(net: &NetworkSpec) -> usize {
    let flows = (0..net.flows.len()).map(|flow| net.precedence.of(flow.into()).len());
    let works = (0..net.works.len()).map(|work| net.precedence.of_work(work.into()).len());
    flows.chain(works).sum()
}
