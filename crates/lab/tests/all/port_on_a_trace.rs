//! A port alone does what it does in the network: same arrivals, same departures, drops and marks.

#[path = "../../../scenario/examples/port_on_a_trace.rs"]
mod example;

use crate::common::*;
use example::{Arrival, Fate, play};
use std::collections::BTreeSet;
use std::fmt::Write;
use thalweg_sim::Sim;
use thalweg_sim::port::Lane;
use thalweg_units::{FlowId, Span, Stream, Time};

const HOSTS: u64 = 40;

/// A packet each from hosts in turn, so that it leaves its NIC at once: at 1.2 times what 8 Gb/s carry. Retransmissions
/// would come after the end of the run.
fn flows() -> String {
    let mut draw = Stream::new(7, "port on a trace", 0);
    let (mut out, mut start) = (String::from("src,dst,size_bytes,start_ns\n"), 0);
    let mut arrivals = BTreeSet::new();
    for n in 0..600u64 {
        start += 1 + draw.below(1000);
        let size = 100 + draw.below(1000);
        // A byte takes 1 ns: where two packets would arrive at once, a draw decides which is first.
        while !arrivals.insert(start + size) {
            start += 1;
        }
        let _ = writeln!(out, "{},0,{size},{start}", 1 + n % (HOSTS - 1));
    }
    out
}

fn text(switch: &str, link: &str) -> String {
    // A controller that reads marks needs some.
    let controller = if switch.contains("marking") { "dctcp" } else { "newreno" };
    format!(
        "topology = {{ kind = \"star\", hosts = {HOSTS}, rate = \"8Gbps\", delay = \"1us\" }}\n\
         transport = {{ kind = \"tcp\", congestion = \"{controller}\", handshake = false }}\nnic = {{ buffer = \"unlimited\" }}\n\
         switch = {{ {switch} }}\nrun = {{ until = \"1ms\", stop_when_done = false }}\n\
         [[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n{link}"
    )
}

#[test]
fn a_port_alone_does_what_it_does_in_the_network() {
    let folder = Folder::new("port-on-a-trace", &[("flows.csv", &flows())]);
    let to_host_0 = "[[link]]\nwhich = { kind = \"between\", ends = [40, 0] }\ndirection = \"forward\"\n";
    let step = "transmitter = { kind = \"stepped\", steps = [{ at = \"0s\", rate = \"8Gbps\" }, \
                { at = \"100us\", rate = \"4Gbps\" }, { at = \"200us\", rate = \"12Gbps\" }] }\n";
    let lossy = "loss = { kind = \"independent\", probability = 0.1 }\n";
    let ramp = "marking = { kind = \"red-ecn\", min = \"2KB\", max = \"8KB\", max_probability = 0.5 }";
    let (drops, both) = ((true, false), (true, true));
    for (switch, link, lane, (drop, mark)) in [
        ("buffer = \"9KB\"", String::new(), Lane::Express, drops),
        (
            "buffer = \"9KB\", marking = { kind = \"step\", threshold = \"4KB\" }",
            String::new(),
            Lane::Express,
            both,
        ),
        (&format!("buffer = \"9KB\", {ramp}"), String::new(), Lane::Express, both),
        (
            "buffer = \"9KB\", scheduler = \"lifo\", marking = { kind = \"step\", threshold = \"4KB\" }",
            String::new(),
            Lane::OnDemand,
            both,
        ),
        ("buffer = \"9KB\", scheduler = \"fq\"", String::new(), Lane::OnDemand, drops),
        (&format!("buffer = \"9KB\", {ramp}"), format!("{to_host_0}{step}"), Lane::Reference, both),
        (&format!("buffer = \"9KB\", {ramp}"), format!("{to_host_0}{lossy}"), Lane::Reference, both),
    ] {
        let text = text(switch, &link);
        let scenario = scenario(&text, &folder.0, &[]);
        let network = scenario.network().expect("a network");
        let port = scenario.bottleneck().expect("a port");
        let wire = network.transports[0].wire();
        let access = |bytes: u32| Span::from_ps(1000 * u64::from(bytes)) + Span::from_us(1);
        let mut trace: Vec<Arrival> = (0..network.flows.len())
            .map(|number| {
                let (flow, bytes) = (&network.flows[number], wire.last(network.flows[number].size));
                Arrival { at: flow.start + access(bytes), flow: number as u32, wire: bytes }
            })
            .collect();
        trace.sort_by_key(|a| a.at);
        assert!(trace.is_sorted_by(|a, b| a.at < b.at), "no two arrive at once");
        let fates = play(&port, &trace).expect("it stands alone");

        let mut sim = Sim::new(network).expect("a network");
        assert_eq!(sim.ports()[port.id.at()].mode.lane, lane, "{switch}");
        while sim.run(1 << 20) {}
        let arrived = |fate: &Fate| if let Fate::Sent { arrives, .. } = fate { *arrives } else { None };
        let alone: Vec<Option<Time>> = fates.iter().map(arrived).collect();
        let inside: Vec<Option<Time>> = trace.iter().map(|a| sim.outcome(FlowId(a.flow)).received).collect();
        assert_eq!(alone, inside, "{text}");
        let totals = sim.totals(port.id);
        let count = |is: &dyn Fn(&Fate) -> bool| fates.iter().filter(|fate| is(fate)).count() as u64;
        assert_eq!(count(&|fate| *fate == Fate::Dropped), totals.dropped, "{text}");
        assert_eq!(count(&|fate| matches!(fate, Fate::Sent { marked: true, .. })), totals.marked, "{text}");
        assert_eq!((totals.dropped > 20, totals.marked > 20), (drop, mark), "{totals:?} {text}");
    }
}
