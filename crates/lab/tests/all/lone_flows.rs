//! A flow alone takes as long as its packets need, to the picosecond, on every topology, data and ACKs.
//!
//! The oracle follows every packet over every link (max-plus recursion: a packet leaves a link when its
//! predecessor has left and it is there itself); the engine's own `ideal_ps` is a closed form in O(links).
use crate::common::*;
use thalweg_net::spec::LinkSpec;
use thalweg_scenario::Scenario;
use thalweg_units::Stream;

/// Everything the recursion needs of a scenario besides its links.
#[derive(Clone, Copy)]
struct Setting {
    mss: u64,
    header: u64,
    ack: u64,
    syn: u64,
    handshake: bool,
    /// Bytes after which a switch may forward; 0: all.
    cut: u64,
}

/// Time on the wire: rounded up to a picosecond, or down to whole quanta.
fn on_wire(link: &LinkSpec, bytes: u64) -> u64 {
    let exact = u128::from(bytes) * 8 * 1_000_000_000_000;
    let rate = u128::from(link.rate().bps());
    match link.quantum().ps() {
        0 => exact.div_ceil(rate) as u64,
        quantum => (exact / rate) as u64 / quantum * quantum,
    }
}

/// Arrival of every packet (with its size) behind `links`, given when it is ready at the first.
fn through(links: &[&LinkSpec], packets: &[(u64, u64)], cut: u64) -> Vec<u64> {
    // When a packet may start at the latest link, and when its last bit is there.
    let mut here: Vec<(u64, u64)> = packets.iter().map(|p| (p.0, p.0)).collect();
    for (number, link) in links.iter().enumerate() {
        let into_switch = number + 1 < links.len();
        let mut free = 0;
        for ((head, last), (_, size)) in here.iter_mut().zip(packets) {
            let service = on_wire(link, *size);
            // Cut through, a packet does not leave faster than it comes.
            let start = free.max(*head).max(last.saturating_sub(service));
            free = start + service;
            *last = free + link.delay().ps();
            *head = *last;
            if into_switch && cut > 0 {
                *head = *last - service.saturating_sub(on_wire(link, cut));
            }
        }
    }
    here.into_iter().map(|(_, last)| last).collect()
}

/// Links of a shortest path, by breadth-first search.
fn path(scenario: &Scenario, src: u32, dst: u32) -> Vec<&LinkSpec> {
    let links = &scenario.graph().links;
    let mut from = std::collections::BTreeMap::from([(src, None)]);
    let mut queue = std::collections::VecDeque::from([src]);
    while let Some(node) = queue.pop_front() {
        for l in links {
            for (a, b) in [(l.a.0, l.b.0), (l.b.0, l.a.0)] {
                if a == node && !from.contains_key(&b) {
                    from.insert(b, Some((node, l)));
                    queue.push_back(b);
                }
            }
        }
    }
    let mut out = Vec::new();
    let mut node = dst;
    while let Some(Some((before, link))) = from.get(&node) {
        out.push(*link);
        node = *before;
    }
    out.reverse();
    out
}

/// From the start to the last byte at the receiver, and to its ACK at the sender.
fn expected(data: &[&LinkSpec], size: u64, s: Setting) -> (u64, u64) {
    let ack: Vec<&LinkSpec> = data.iter().rev().copied().collect();
    let mut start = 0;
    if s.handshake {
        let there = through(data, &[(0, s.syn)], s.cut)[0];
        start = through(&ack, &[(there, s.ack)], s.cut)[0];
    }
    let packets: Vec<(u64, u64)> =
        (0..size.div_ceil(s.mss)).map(|i| (start, (size - i * s.mss).min(s.mss) + s.header)).collect();
    let there = through(data, &packets, s.cut);
    let acks: Vec<(u64, u64)> = there.iter().map(|t| (*t, s.ack)).collect();
    let back = through(&ack, &acks, s.cut);
    (there[there.len() - 1], back[back.len() - 1])
}

const FILES: &[(&str, &str)] = &[
    ("links.csv", "a,b,rate,delay\n0,3,10Gbps,1us\n1,3,400Gbps,7ns\n3,4,25Gbps,999ps\n4,2,3Gbps,3us\n"),
    (
        "net.toml",
        "hosts = 2\nswitches = 2\nlinks = [{a=0,b=2,rate=\"7Gbps\",delay=\"1us\"},{a=2,b=3,rate=\"1Gbps\",delay=\"0ps\"},{a=3,b=1,rate=\"9Gbps\",delay=\"2us\"}]",
    ),
    (
        "net.json",
        "{\"hosts\":2,\"switches\":1,\"links\":[{\"a\":0,\"b\":2,\"rate\":\"333Mbps\",\"delay\":\"1us\"},{\"a\":1,\"b\":2,\"rate\":\"1Gbps\",\"delay\":\"5us\"}]}",
    ),
    ("net.txt", "4 2 3\n1 3\n0 1 10Gbps 0.001ms 0\n1 3 40Gbps 1us 0\n2 3 100Gbps 0.0005ms 0\n"),
    (
        "net.xml",
        "<graphml><graph><node id='s'/><node id='a'/><node id='b'/><edge source='s' target='a'><data key='rate'>1e9</data></edge>\
         <edge source='s' target='b'/></graph></graphml>",
    ),
];

const TOPOLOGIES: &[&str] = &[
    "kind = \"pair\"\nrate = \"3Gbps\"",
    "kind = \"star\"\nhosts = 5\nsink_rate = \"7Gbps\"",
    "kind = \"star\"\nhosts = 3\nrate = \"400Gbps\"\ntime_quantum = \"1ns\"",
    "kind = \"dumbbell\"\npairs = 2\nbottleneck_rate = \"1Gbps\"\nhost_delay = \"1us\"\ndelay = \"17us\"",
    "kind = \"parking-lot\"\nbottlenecks = 3\nbottleneck_rate = \"3Gbps\"\nbase_rtt = \"100us\"",
    "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\nlinks_per_pair = 2\nbase_rtt = \"30us\"",
    "kind = \"leaf-spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 3\nhost_rate = \"100Gbps\"\nspine_rate = \"30Gbps\"",
    "kind = \"fat-tree\"\nk = 4\nrate = \"100Gbps\"",
    "kind = \"file\"\nformat = \"links-csv\"\nfile = \"links.csv\"",
    "kind = \"file\"\nformat = \"thalweg-toml\"\nfile = \"net.toml\"",
    "kind = \"file\"\nformat = \"thalweg-json\"\nfile = \"net.json\"",
    "kind = \"file\"\nformat = \"hpcc\"\nfile = \"net.txt\"",
    "kind = \"file\"\nformat = \"graphml\"\nfile = \"net.xml\"\nrate = \"2Gbps\"\ndelay = \"3us\"",
    "kind = \"dragonfly\"\nhosts_per_router = 2\nrouters_per_group = 3\nglobal_links = 1\nlocal_rate = \"7Gbps\"",
    "kind = \"torus\"\ndimensions = [4, 3]\nhost_rate = \"3Gbps\"",
];

#[test]
fn a_lone_flow_takes_what_its_packets_need_on_every_topology() {
    let mut draw = Stream::new(5, "lone flows", 0);
    for (number, topology) in TOPOLOGIES.iter().enumerate() {
        for variant in 0..4 {
            let handshake = variant % 2 == 1;
            let cut = if variant == 3 && !topology.contains("pair") { 64 } else { 0 };
            let (mss, header, ack) =
                [(1460, 40, 40), (1000, 48, 60), (1460, 40, 64), (8960, 40, 40)][variant];
            let syn = if handshake { 52 } else { ack };
            let measured = if variant < 2 { "receiver" } else { "sender" };
            let text = |flows: &str| {
                format!(
                    "[topology]\n{topology}\n[switch]\nbuffer = \"unlimited\"\ncut_through = \"{cut}B\"\n[transport]\nmss = \"{mss}B\"\n\
                     header = \"{header}B\"\nack_size = \"{ack}B\"\nhandshake = {handshake}\n{}congestion = \"fixed\"\n\
                     initial_window = \"100000pkts\"\nrto = {{ fixed = \"10s\" }}\n[measure]\nfct = \"{measured}\"\n\
                     [[traffic]]\nkind = \"list\"\nfile = \"{flows}\"\n[run]\nuntil = \"10s\"\n",
                    if handshake { "syn_size = \"52B\"\n" } else { "" }
                )
            };
            let header_line = "id,src,dst,size_bytes,start_ns\n";
            let name = format!("lone-{number}-{variant}");
            let mut files: Vec<(&str, &str)> = FILES.to_vec();
            files.push(("one.csv", "id,src,dst,size_bytes,start_ns\n0,0,1,1,0\n"));
            let dir = Folder::new(&name, &files);
            let hosts = u64::from(scenario(&text("one.csv"), &dir.0, &[]).graph().hosts);
            // Sizes around whole packets, and any; each flow long after the one before.
            let mut list = header_line.to_owned();
            let mut flows = Vec::new();
            for i in 0..12u64 {
                let size = match i % 4 {
                    0 => 1 + draw.below(mss),
                    1 => mss * (1 + draw.below(30)),
                    2 => mss * (1 + draw.below(30)) + 1,
                    _ => 1 + draw.below(150_000),
                };
                let src = draw.below(hosts);
                let dst = (src + 1 + draw.below(hosts - 1)) % hosts;
                flows.push((src as u32, dst as u32, size));
                list.push_str(&format!("{i},{src},{dst},{size},{}\n", i * 20_000_000 + draw.below(1000)));
            }
            std::fs::write(dir.0.join("flows.csv"), list).expect("written");
            let s = scenario(&text("flows.csv"), &dir.0, &[("run.check".into(), "true".into())]);
            let run = finish(&s);
            let named = |column_name: &str| column(&run, "flows", column_name);
            let (start, received, acked) = (named("start_ps"), named("received_ps"), named("acked_ps"));
            let (fct, ideal) = (named("fct_ps"), named("ideal_ps"));
            let setting = Setting { mss, header, ack, syn, handshake, cut };
            for (i, (src, dst, size)) in flows.into_iter().enumerate() {
                let what = format!("{topology}, variant {variant}: {size} B from {src} to {dst}");
                let (there, back) = expected(&path(&s, src, dst), size, setting);
                assert_eq!(received[i] - start[i], i128::from(there), "received; {what}");
                assert_eq!(acked[i] - start[i], i128::from(back), "acked; {what}");
                assert_eq!(fct[i], ideal[i], "closed form; {what}");
            }
        }
    }
}
