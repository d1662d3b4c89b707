//! A test per key: changing it changes what happens in some scenario, or the tables if it is about them.
//!
//! The list is compared with the JSON Schema: a key or a choice without an entry fails. Paths are those of
//! the schema: `switch.scheduler(drr).quantum` is a key of one kind, `switch.scheduler=drr` the choice itself.
mod common;
#[path = "keys/lossless.rs"]
mod lossless;

use common::*;
use std::collections::BTreeSet;
use std::path::Path;
use thalweg_lab::{Run, load, schema};
use thalweg_machines::congestion::{CongestionControl, Loss, Permit, Start};
use thalweg_machines::custom::{
    ControllerFactory, DisciplineFactory, PluggedController, PluggedDiscipline, register_controller,
    register_discipline,
};
use thalweg_machines::schedule::{Discipline, Served, Verdict};
use thalweg_machines::{Handle, Packet};
use thalweg_units::{Bytes, Time};

/// Where a change must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// In the digest, and in the flows or ports tables.
    Outcome,
    /// In the tables; what happens stays the same.
    Tables,
    /// In the summary; what happens and the tables stay the same.
    Summary,
    /// Nowhere: it watches.
    Nowhere,
    /// The second value is refused here.
    Refused,
}
use Shows::*;

/// Six hosts around a switch with small buffers; random flows at 80 % and an incast.
const BUSY: &str = r#"
topology = { kind = "star", hosts = 6 }
switch = { buffer = "30KB" }
run = { until = "3ms" }
[transport]
rto = { kind = "rfc6298", initial = "300us", min = "200us", max = "900us" }
[transports.x]
rto = { kind = "rfc6298", initial = "300us", min = "200us", max = "900us" }
[[traffic]]
kind = "poisson"
sizes = { uniform = { min = "1KB", max = "100KB", steps = 10 } }
load = 0.8
until = "1ms"
[[traffic]]
kind = "incast"
fan_in = 5
size = "60KB"
receiver = 0
at = "100us"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1B"
transport = "x"
"#;

/// Two racks of three hosts; random flows.
const RACKS: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 3 }
run = { until = "2ms" }
[transport]
rto = { kind = "fixed", value = "300us" }
[[traffic]]
kind = "poisson"
sizes = { kind = "fixed", size = "20KB" }
load = 0.7
until = "500us"
"#;

/// Every host sends one flow and receives one.
const SHIFT: &str = r#"
topology = { kind = "star", hosts = 4 }
run = { until = "5ms" }
[[traffic]]
kind = "permutation"
size = "100001B"
"#;

/// Two flows on the leaf-spine network, one from a file with room for pinned paths.
const PINNED: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, spine_rate = "10Gbps" }
run = { until = "5ms" }
[[traffic]]
kind = "list"
file = "flows.csv"
"#;

/// Four flows on the Internet2 backbone without edge routers, near enough to be quick.
const WIDE: &str = r#"
topology = { kind = "internet2", core_delay = "10us", access_delay = "1us" }
routing = "lowest"
run = { until = "20ms" }
[[traffic]]
kind = "permutation"
size = "20KB"
"#;

/// As on a backbone whose links are slower than its edge.
const BACKBONE: &str = r#"
topology = { kind = "backbone", routers = 6, links = 7, edges_per_router = 2, core_delay = "10us", access_delay = "1us" }
routing = "lowest"
run = { until = "20ms" }
[[traffic]]
kind = "poisson"
sizes = { kind = "fixed", size = "20KB" }
load = 0.9
of = "busiest-link"
until = "2ms"
[[traffic]]
kind = "incast"
fan_in = 5
size = "60KB"
receiver = 0
"#;

/// Everybody to one host with equal slack; a flow of another class.
const SLACK: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 1, hosts_per_leaf = 4, spine_rate = "10Gbps" }
switch = { scheduler = "lstf", buffer = "60KB" }
nic = { scheduler = "fifo", buffer = "unlimited" }
slack = { kind = "virtual-clock", rate = "1Gbps" }
run = { until = "8ms" }
[transport]
rto = { kind = "rfc6298", initial = "300us", min = "200us", max = "900us" }
[[traffic]]
kind = "incast"
fan_in = 5
size = "200KB"
receiver = 0
senders = "neighbours"
[[traffic]]
kind = "poisson"
sizes = { uniform = { min = "1KB", max = "100KB", steps = 10 } }
load = 0.6
until = "1ms"
"#;

/// One section of traffic, to be replaced, between four hosts.
const PLAIN: &str = r#"
topology = { kind = "star", hosts = 4 }
run = { until = "5ms" }
[transport]
rto = { kind = "fixed", value = "300us" }
[transports.x]
initial_window = "2pkts"
[[traffic]]
kind = "flow"
src = 3
dst = 2
size = "30KB"
transport = "x"
[[traffic]]
kind = "flow"
src = 1
dst = 0
size = "300KB"
"#;

const FILES: &[(&str, &str)] = &[
    ("flows.csv", "id,src,dst,size_bytes,start_ns\n7,0,2,200000,0\n9,1,3,200000,0\n"),
    ("other.csv", "id,src,dst,size_bytes,start_ns\n7,0,2,200000,0\n9,1,3,100000,0\n"),
    ("flows.txt", "1\n0 2 3 100 200000 0\n"),
    ("same.csv", "id,data_path,ack_path\n7,4-6-5,5-6-4\n9,4-6-5,5-6-4\n"),
    ("apart.csv", "id,data_path,ack_path\n7,4-6-5,5-6-4\n9,4-7-5,5-7-4\n"),
    ("offsets.csv", "host,first\n0,1\n1,0\n2,1\n3,0\n"),
    ("map.csv", "priority,packets\n1,10\n2,5\n20,40\n60,9\n"),
    ("flat.csv", "priority,packets\n1,1000\n60,1\n"),
    ("links.csv", "a,b,rate,delay\n0,4,10Gbps,1us\n1,4,10Gbps,1us\n2,4,10Gbps,1us\n3,4,10Gbps,1us\n"),
    ("slow.csv", "a,b,rate,delay\n0,4,1Gbps,1us\n1,4,10Gbps,1us\n2,4,10Gbps,1us\n3,4,10Gbps,1us\n"),
    ("bare.csv", "a,b\n0,4\n1,4\n2,4\n3,4\n"),
    ("net.toml", "hosts = 2\nswitches = 1\n[[links]]\na = 0\nb = 2\n[[links]]\na = 1\nb = 2\n"),
    ("net.json", "{\"hosts\":2,\"switches\":1,\"links\":[{\"a\":0,\"b\":2},{\"a\":1,\"b\":2}]}"),
    ("net.txt", "3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n"),
    (
        "net.xml",
        "<graphml><graph><node id='s'/><node id='a'/><node id='b'/><edge source='s' target='a'/><edge source='s' target='b'/></graph></graphml>",
    ),
    ("map.cch", "1 @A (2) -> <2> <3> =a r0\n2 @B (1) -> <1> =b r0\n3 @C (1) -> <1> =c r0\n"),
    ("weights.txt", "A B 3\nB A 3\nA C 1\n"),
    ("sizes.txt", "1000 0.1\n10000 0.5\n100000 1\n"),
    ("small.txt", "1000 0.9\n10000 1\n"),
];

/// path · scenario · settings that make the key matter · value · other value · where it shows.
///
/// `@` stands for `switch` and for `nic`, `~` for the other one; `@.scheduler` also for `switch.mix.scheduler`; `%` for `transport` and for `transports.x`.
/// An empty value leaves the key out.
type Row = (&'static str, &'static str, &'static [&'static str], &'static str, &'static str, Shows);

const DCTCP: &[&str] = &["%.congestion=dctcp", "@.marking={kind=\"step\",threshold=\"5pkts\"}"];
const RED: &[&str] = &["@.marking={kind=\"red\",min=3,max=8,weight=0.3}"];
const SRPT: &[&str] = &["switch.scheduler=srpt"];
const CCH: &str = "topology={kind=\"file\",format=\"rocketfuel\",path=\"map.cch\",rate=\"1Gbps\",delay=\"5us\",hosts_per_router=2}";
const FQ_CODEL: &str = "@.scheduler={kind=\"fq-codel\",target=\"10us\",interval=\"50us\"}";
const CODEL: &[&str] = &["@.marking={kind=\"codel\",target=\"10us\",interval=\"50us\"}"];
const EDGE: &[&str] = &["edge={kind=\"codel\",target=\"20us\",interval=\"100us\",refresh=\"40us\"}"];
const EDGE_ECN: &[&str] = &["transport.congestion=dctcp", "edge={kind=\"ecn\",threshold=\"5pkts\"}"];
const MIXED: &[&str] = &["topology={kind=\"dumbbell\",pairs=3}", "switch.mix={scheduler=\"lifo\"}"];
const STEP: &[&str] = &["%.congestion=dctcp", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"];

#[rustfmt::skip]
const KEYS: &[Row] = &[
    ("name", BUSY, &[], "a", "b", Summary),
    ("seed", BUSY, &[], "1", "2", Outcome),
    ("scheme", BUSY, &[], "", "tcp+fq", Outcome),

    // ---- topology
    ("topology", SHIFT, &[], "{kind=\"star\",hosts=4}", "{kind=\"star\",hosts=5}", Outcome),
    ("topology=pair", SHIFT, &[], "{kind=\"pair\"}", "{kind=\"star\",hosts=2}", Outcome),
    ("topology(pair).rate", SHIFT, &["topology={kind=\"pair\"}"], "", "20Gbps", Outcome),
    ("topology(pair).delay", SHIFT, &["topology={kind=\"pair\"}"], "", "2us", Outcome),
    ("topology(pair).base_rtt", SHIFT, &["topology={kind=\"pair\"}"], "", "20us", Outcome),
    ("topology=star", SHIFT, &[], "{kind=\"star\",hosts=4}", "{kind=\"dumbbell\",pairs=2}", Outcome),
    ("topology(star).hosts", SHIFT, &[], "4", "5", Outcome),
    ("topology(star).rate", SHIFT, &[], "", "20Gbps", Outcome),
    ("topology(star).sink_rate", SHIFT, &[], "", "20Gbps", Outcome),
    ("topology(star).delay", SHIFT, &[], "", "2us", Outcome),
    ("topology(star).base_rtt", SHIFT, &[], "", "20us", Outcome),
    ("topology=dumbbell", SHIFT, &[], "{kind=\"dumbbell\",pairs=2}", "{kind=\"parking-lot\",bottlenecks=1}", Outcome),
    ("topology(dumbbell).pairs", SHIFT, &["topology={kind=\"dumbbell\",pairs=2}"], "2", "3", Outcome),
    ("topology(dumbbell).host_rate", SHIFT, &["topology={kind=\"dumbbell\",pairs=2}"], "", "20Gbps", Outcome),
    ("topology(dumbbell).host_delay", SHIFT, &["topology={kind=\"dumbbell\",pairs=2}"], "", "2us", Outcome),
    ("topology(dumbbell).bottleneck_rate", SHIFT, &["topology={kind=\"dumbbell\",pairs=2}"], "", "1Gbps", Outcome),
    ("topology(dumbbell).bottleneck_delay", SHIFT, &["topology={kind=\"dumbbell\",pairs=2}"], "", "2us", Outcome),
    ("topology=parking-lot", SHIFT, &[], "{kind=\"parking-lot\",bottlenecks=2}", "{kind=\"dumbbell\",pairs=3}", Outcome),
    ("topology(parking-lot).bottlenecks", SHIFT, &["topology={kind=\"parking-lot\",bottlenecks=2}"], "2", "3", Outcome),
    ("topology(parking-lot).host_rate", SHIFT, &["topology={kind=\"parking-lot\",bottlenecks=2}"], "", "20Gbps", Outcome),
    ("topology(parking-lot).bottleneck_rate", SHIFT, &["topology={kind=\"parking-lot\",bottlenecks=2}"], "", "1Gbps", Outcome),
    ("topology(parking-lot).delay", SHIFT, &["topology={kind=\"parking-lot\",bottlenecks=2}"], "", "2us", Outcome),
    ("topology(parking-lot).base_rtt", SHIFT, &["topology={kind=\"parking-lot\",bottlenecks=2}"], "", "30us", Outcome),
    ("topology=leaf-spine", SHIFT, &[], "{kind=\"leaf-spine\",leaves=2,spines=1,hosts_per_leaf=2}", "{kind=\"dumbbell\",pairs=2}", Outcome),
    ("topology(leaf-spine).leaves", RACKS, &[], "2", "3", Outcome),
    ("topology(leaf-spine).spines", RACKS, &[], "2", "3", Outcome),
    ("topology(leaf-spine).hosts_per_leaf", RACKS, &[], "3", "4", Outcome),
    ("topology(leaf-spine).links_per_pair", RACKS, &[], "", "2", Outcome),
    ("topology(leaf-spine).host_rate", RACKS, &[], "", "20Gbps", Outcome),
    ("topology(leaf-spine).spine_rate", RACKS, &[], "", "10Gbps", Outcome),
    ("topology(leaf-spine).delay", RACKS, &[], "", "2us", Outcome),
    ("topology(leaf-spine).base_rtt", RACKS, &[], "", "30us", Outcome),
    ("topology=fat-tree", SHIFT, &[], "{kind=\"fat-tree\",k=4}", "{kind=\"star\",hosts=16}", Outcome),
    ("topology(fat-tree).k", SHIFT, &["topology={kind=\"fat-tree\",k=4}"], "4", "6", Outcome),
    ("topology(fat-tree).rate", SHIFT, &["topology={kind=\"fat-tree\",k=4}"], "", "20Gbps", Outcome),
    ("topology(fat-tree).delay", SHIFT, &["topology={kind=\"fat-tree\",k=4}"], "", "2us", Outcome),
    ("topology(fat-tree).base_rtt", SHIFT, &["topology={kind=\"fat-tree\",k=4}"], "", "40us", Outcome),
    ("topology=file", SHIFT, &[], "{kind=\"file\",format=\"links-csv\",path=\"slow.csv\"}", "{kind=\"star\",hosts=4}", Outcome),
    ("topology(file).path", SHIFT, &["topology={kind=\"file\",format=\"links-csv\",path=\"links.csv\"}"], "links.csv", "slow.csv", Outcome),
    ("topology(file).rate", SHIFT, &["topology={kind=\"file\",format=\"links-csv\",path=\"bare.csv\",rate=\"10Gbps\",delay=\"1us\"}"], "10Gbps", "1Gbps", Outcome),
    ("topology(file).delay", SHIFT, &["topology={kind=\"file\",format=\"links-csv\",path=\"bare.csv\",rate=\"10Gbps\",delay=\"1us\"}"], "1us", "2us", Outcome),
    ("topology(file).format", SHIFT, &["topology={kind=\"file\",format=\"links-csv\",path=\"links.csv\"}"], "links-csv", "hpcc", Refused),
    ("topology(file).format=thalweg-toml", SHIFT, &["topology={kind=\"file\",format=\"thalweg-toml\",path=\"net.toml\",rate=\"1Gbps\",delay=\"1us\"}"], "thalweg-toml", "thalweg-json", Refused),
    ("topology(file).format=thalweg-json", SHIFT, &["topology={kind=\"file\",format=\"thalweg-json\",path=\"net.json\",rate=\"1Gbps\",delay=\"1us\"}"], "thalweg-json", "thalweg-toml", Refused),
    ("topology(file).format=hpcc", SHIFT, &["topology={kind=\"file\",format=\"hpcc\",path=\"net.txt\"}"], "hpcc", "links-csv", Refused),
    ("topology(file).format=graphml", SHIFT, &["topology={kind=\"file\",format=\"graphml\",path=\"net.xml\",rate=\"1Gbps\",delay=\"1us\"}"], "graphml", "links-csv", Refused),
    ("topology(file).format=links-csv", SHIFT, &["topology={kind=\"file\",format=\"links-csv\",path=\"links.csv\"}"], "links-csv", "graphml", Refused),
    ("topology=internet2", WIDE, &[], "{kind=\"internet2\"}", "{kind=\"internet2\",slower=10}", Outcome),
    ("topology(internet2).edge_routers", WIDE, &[], "true", "false", Outcome),
    ("topology(internet2).host_rate", WIDE, &[], "", "1Gbps", Outcome),
    ("topology(internet2).edge_rate", WIDE, &[], "", "10Gbps", Outcome),
    ("topology(internet2).slower", WIDE, &[], "", "10", Outcome),
    ("topology(internet2).core_delay", WIDE, &[], "10us", "20us", Outcome),
    ("topology(internet2).access_delay", WIDE, &[], "1us", "2us", Outcome),
    ("topology=backbone", BACKBONE, &[], "{kind=\"backbone\",routers=6,links=7}", "{kind=\"backbone\",routers=6,links=8}", Outcome),
    ("topology(backbone).routers", BACKBONE, &[], "6", "7", Outcome),
    ("topology(backbone).links", BACKBONE, &[], "7", "8", Outcome),
    ("topology(backbone).seed", BACKBONE, &[], "1", "2", Outcome),
    ("topology(backbone).edges_per_router", BACKBONE, &[], "2", "3", Outcome),
    ("topology(backbone).host_rate", BACKBONE, &[], "", "1Gbps", Outcome),
    ("topology(backbone).edge_rate", BACKBONE, &[], "", "2Gbps", Outcome),
    ("topology(backbone).median_rate", BACKBONE, &[], "", "2Gbps", Outcome),
    ("topology(backbone).core_delay", BACKBONE, &[], "10us", "20us", Outcome),
    ("topology(backbone).access_delay", BACKBONE, &[], "1us", "2us", Outcome),
    ("topology(file).hosts_per_router", SHIFT, &[CCH], "2", "3", Outcome),
    ("topology(file).host_rate", SHIFT, &[CCH], "", "2Gbps", Outcome),
    ("topology(file).host_delay", SHIFT, &[CCH], "", "1us", Outcome),
    ("topology(file).format=rocketfuel", SHIFT, &[CCH], "rocketfuel", "rocketfuel-weights", Refused),
    ("topology(file).format=rocketfuel-weights", SHIFT, &["topology={kind=\"file\",format=\"rocketfuel-weights\",path=\"weights.txt\",rate=\"1Gbps\",delay=\"5us\",hosts_per_router=2}"], "rocketfuel-weights", "rocketfuel", Refused),
    ("topology(file).format=rocketfuel-latencies", SHIFT, &["topology={kind=\"file\",format=\"rocketfuel-latencies\",path=\"weights.txt\",rate=\"1Gbps\",host_delay=\"5us\",hosts_per_router=2}"], "rocketfuel-latencies", "rocketfuel", Refused),
    ("topology.time_quantum", SHIFT, &[], "", "1ns", Outcome),

    // ---- routing
    ("routing", PINNED, &[], "", "spray-random", Outcome),
    ("routing=ecmp", RACKS, &[], "ecmp", "modulo", Outcome),
    ("routing=lowest", RACKS, &[], "lowest", "ecmp", Outcome),
    ("routing=modulo", RACKS, &[], "modulo", "spray-round-robin", Outcome),
    ("routing=spray-random", RACKS, &[], "spray-random", "ecmp", Outcome),
    ("routing=spray-round-robin", RACKS, &[], "spray-round-robin", "spray-random", Outcome),
    ("routing(spray-round-robin).offsets", PINNED, &["routing=spray-round-robin"], "", "offsets.csv", Outcome),
    ("routing=pinned", PINNED, &[], "{kind=\"pinned\",file=\"same.csv\"}", "spray-random", Outcome),
    ("routing(pinned).file", PINNED, &["routing={kind=\"pinned\",file=\"same.csv\"}"], "same.csv", "apart.csv", Outcome),

    // ---- switch and nic
    ("@", BUSY, &[], "{buffer=\"30KB\"}", "{buffer=\"20KB\"}", Outcome),
    ("@.buffer", BUSY, &[], "30KB", "60KB", Outcome),
    ("@.scheduler", BUSY, &[], "fifo", "fq", Outcome),
    ("@.scheduler=fifo", BUSY, &[], "fifo", "drr", Outcome),
    ("@.scheduler=drr", BUSY, &[], "drr", "fq", Outcome),
    ("@.scheduler(drr).quantum", BUSY, &["@.scheduler=drr"], "", "6000B", Outcome),
    ("@.scheduler(drr).overflow", BUSY, &["@.scheduler=drr"], "", "tail", Outcome),
    ("@.scheduler(drr).overflow=longest-queue", BUSY, &["@.scheduler=drr"], "longest-queue", "tail", Outcome),
    ("@.scheduler(drr).overflow=tail", BUSY, &["@.scheduler=drr"], "tail", "longest-queue", Outcome),
    ("@.scheduler=fq", BUSY, &[], "fq", "fifo", Outcome),
    ("@.scheduler(fq).overflow", BUSY, &["@.scheduler=fq"], "", "tail", Outcome),
    ("@.scheduler(fq).overflow=longest-queue", BUSY, &["@.scheduler=fq"], "longest-queue", "tail", Outcome),
    ("@.scheduler(fq).overflow=tail", BUSY, &["@.scheduler=fq"], "tail", "longest-queue", Outcome),
    ("@.scheduler=priority", BUSY, &["~.scheduler=priority", "traffic.1.class=1"], "priority", "fifo", Outcome),
    ("@.scheduler(priority).classes", BUSY, &["~.scheduler=priority", "@.scheduler=priority", "traffic.0.class=1", "traffic.1.class=2"], "3", "2", Outcome),
    ("@.scheduler=sjf", BUSY, &["~.scheduler=fifo", "%.rank=flow-size"], "sjf", "{kind=\"custom\",name=\"lifo\"}", Outcome),
    ("@.scheduler=srpt", BUSY, &["~.scheduler=srpt"], "srpt", "fifo", Outcome),
    ("@.scheduler=ads", BUSY, &["~.scheduler=srpt"], "{kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}", "srpt", Outcome),
    ("@.scheduler(ads).queues", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "2", Outcome),
    ("@.scheduler(ads).cap", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "20KB", Outcome),
    ("@.scheduler(ads).mtu", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "20KB", Outcome),
    ("@.scheduler(ads).map", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "{kind=\"dynamic\",interval=\"100us\"}", "{kind=\"static\",file=\"map.csv\"}", Outcome),
    ("@.scheduler(ads).map=dynamic", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "{kind=\"dynamic\",interval=\"100us\"}", "{kind=\"static\",file=\"map.csv\"}", Outcome),
    ("@.scheduler(ads).map(dynamic).interval", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "100us", "300us", Outcome),
    ("@.scheduler(ads).map(dynamic).window", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "1", Outcome),
    ("@.scheduler(ads).map=static", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "{kind=\"static\",file=\"map.csv\"}", "{kind=\"static\",counts=[0,1000,1]}", Outcome),
    ("@.scheduler(ads).map(static).file", BUSY, &["@.scheduler={kind=\"ads\",queues=2,map={kind=\"static\",file=\"map.csv\"}}"], "map.csv", "flat.csv", Outcome),
    ("@.scheduler(ads).map(static).counts", BUSY, &["@.scheduler={kind=\"ads\",queues=2,map={kind=\"static\",counts=[1]}}"], "[0,1000,1]", "[0,1,1,1,1,1,1,1,1,1,1,1,50]", Outcome),
    ("@.scheduler=lifo", BUSY, &[], "{kind=\"lifo\"}", "{kind=\"random\"}", Outcome),
    ("@.scheduler=random", BUSY, &[], "random", "fifo", Outcome),
    ("switch.scheduler=lstf", SLACK, &["edge={kind=\"codel\"}"], "lstf", "fifo", Outcome),
    ("switch.scheduler(lstf).bucket", SLACK, &["switch.scheduler=lstf"], "", "1ms", Outcome),
    ("switch.mix.scheduler(lstf).bucket", SLACK, &["switch.scheduler=fifo", "switch.mix={scheduler=\"lstf\",nodes=\"even\"}"], "", "1ms", Outcome),
    ("nic.scheduler(lstf).bucket", SLACK, &[], "", "1ms", Refused),
    ("switch.mix.scheduler=lstf", SLACK, &["switch.scheduler=fifo", "switch.mix={scheduler=\"lstf\",nodes=\"even\"}"], "lstf", "pifo", Outcome),
    ("nic.scheduler=lstf", SLACK, &[], "fifo", "lstf", Refused),
    ("@.scheduler=pifo", BUSY, &["~.scheduler=pifo", "%.rank=flow-size"], "pifo", "fifo", Outcome),
    ("@.scheduler=round-robin", BUSY, &[], "round-robin", "fq", Outcome),
    ("@.scheduler(round-robin).bins", BUSY, &["@.scheduler=round-robin"], "", "2", Outcome),
    ("@.scheduler=fq-codel", BUSY, &[], "{kind=\"fq-codel\",target=\"10us\",interval=\"100us\"}", "round-robin", Outcome),
    ("@.scheduler(fq-codel).bins", BUSY, &[FQ_CODEL], "", "2", Outcome),
    ("@.scheduler(fq-codel).target", BUSY, &[FQ_CODEL], "10us", "5us", Outcome),
    ("@.scheduler(fq-codel).interval", BUSY, &[FQ_CODEL], "50us", "30us", Outcome),
    ("@.scheduler(fq-codel).mtu", BUSY, &[FQ_CODEL], "", "6000B", Outcome),
    ("@.scheduler=parity", BUSY, &["~.scheduler=fifo"], "parity", "fifo", Outcome),
    ("@.scheduler(parity).even", BUSY, &["@.scheduler=parity"], "", "fifo", Outcome),
    ("@.scheduler(parity).even=fifo", BUSY, &["@.scheduler=parity"], "fifo", "lifo", Outcome),
    ("@.scheduler(parity).even=lifo", BUSY, &["@.scheduler=parity"], "lifo", "fifo", Outcome),
    ("@.scheduler(parity).even=random", BUSY, &["@.scheduler=parity"], "random", "fifo", Outcome),
    ("@.scheduler(parity).even=sjf", BUSY, &["@.scheduler=parity"], "sjf", "fifo", Outcome),
    ("@.scheduler(parity).even=srpt", BUSY, &["@.scheduler=parity"], "srpt", "fifo", Outcome),
    ("@.scheduler(parity).odd", BUSY, &["@.scheduler=parity"], "", "lifo", Outcome),
    ("@.scheduler(parity).odd=fifo", BUSY, &["@.scheduler=parity"], "fifo", "lifo", Outcome),
    ("@.scheduler(parity).odd=lifo", BUSY, &["@.scheduler=parity"], "lifo", "fifo", Outcome),
    ("@.scheduler(parity).odd=random", BUSY, &["@.scheduler=parity"], "random", "fifo", Outcome),
    ("@.scheduler(parity).odd=sjf", BUSY, &["@.scheduler=parity"], "sjf", "fifo", Outcome),
    ("@.scheduler(parity).odd=srpt", BUSY, &["@.scheduler={kind=\"parity\",even=\"fifo\"}"], "srpt", "fifo", Outcome),
    ("@.scheduler=custom", BUSY, &[], "{kind=\"custom\",name=\"lifo\"}", "fifo", Outcome),
    ("@.scheduler(custom).name", BUSY, &["@.scheduler={kind=\"custom\",name=\"lifo\"}"], "lifo", "opil", Outcome),
    ("@.scheduler(custom).params", BUSY, &["@.scheduler={kind=\"custom\",name=\"lifo\"}"], "20", "3", Outcome),
    ("@.marking", BUSY, &["~.marking=none"], "none", "{kind=\"red\",min=3,max=8,weight=0.3}", Outcome),
    ("@.marking=none", BUSY, &["~.marking=none"], "none", "{kind=\"red\",min=3,max=8,weight=0.3}", Outcome),
    ("@.marking=step", BUSY, DCTCP, "{kind=\"step\",threshold=\"5pkts\"}", "{kind=\"red\",min=3,max=8,weight=0.3}", Outcome),
    ("@.marking(step).threshold", BUSY, DCTCP, "5pkts", "10pkts", Outcome),
    ("@.marking(step).at", BUSY, DCTCP, "", "departure", Outcome),
    ("@.marking(step).at=arrival", BUSY, DCTCP, "arrival", "departure", Outcome),
    ("@.marking(step).at=departure", BUSY, DCTCP, "departure", "arrival", Outcome),
    ("@.marking(step).include_self", BUSY, &["%.congestion=dctcp", "@.marking={kind=\"step\",threshold=\"7500B\",at=\"departure\"}"], "false", "true", Outcome),
    ("@.marking=red", BUSY, RED, "{kind=\"red\",min=3,max=8,weight=0.3}", "none", Outcome),
    ("@.marking(red).min", BUSY, RED, "3", "5", Outcome),
    ("@.marking(red).max", BUSY, RED, "8", "15", Outcome),
    ("@.marking(red).max_probability", BUSY, RED, "", "0.5", Outcome),
    ("@.marking(red).weight", BUSY, RED, "0.3", "1.0", Outcome),
    ("@.marking(red).gentle", BUSY, RED, "true", "false", Outcome),
    ("@.marking(red).ecn", BUSY, &["@.marking={kind=\"red\",min=3,max=8,weight=0.3}", "~.marking={kind=\"step\",threshold=\"15pkts\"}", "%.ecn=classic"], "", "false", Outcome),
    ("@.marking(red).mean_packet", BUSY, RED, "", "15KB", Outcome),
    ("@.marking=codel", BUSY, CODEL, "{kind=\"codel\",target=\"10us\",interval=\"50us\"}", "none", Outcome),
    ("@.marking(codel).target", BUSY, CODEL, "10us", "5us", Outcome),
    ("@.marking(codel).interval", BUSY, CODEL, "50us", "30us", Outcome),
    ("@.marking(codel).mtu", BUSY, CODEL, "", "15KB", Outcome),
    ("switch.preemptive", BUSY, &["switch.scheduler=lifo", "nic.scheduler=fifo"], "false", "true", Outcome),
    ("switch.mix", BUSY, &["topology={kind=\"dumbbell\",pairs=3}"], "", "{scheduler=\"lifo\"}", Outcome),
    ("switch.mix.scheduler", BUSY, MIXED, "lifo", "random", Outcome),
    ("switch.mix.nodes", BUSY, MIXED, "", "even", Outcome),
    ("switch.mix.nodes=odd", BUSY, MIXED, "odd", "even", Outcome),
    ("switch.mix.nodes=even", BUSY, MIXED, "even", "odd", Outcome),
    ("switch.mix.nodes=listed", BUSY, MIXED, "{listed=[6]}", "odd", Outcome),
    ("switch.mix.nodes(listed).nodes", BUSY, &["topology={kind=\"dumbbell\",pairs=3}", "switch.mix={scheduler=\"lifo\",nodes={kind=\"listed\",nodes=[6]}}"], "[6]", "[7]", Outcome),
    ("switch.shared_buffer", BUSY, &[], "", "{total=\"50KB\"}", Outcome),
    ("switch.shared_buffer.total", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "50KB", "30KB", Outcome),
    ("switch.shared_buffer.sharing", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "", "{kind=\"dynamic\"}", Outcome),
    ("switch.shared_buffer.sharing=complete", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "complete", "{kind=\"dynamic\"}", Outcome),
    ("switch.shared_buffer.sharing=dynamic", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "{kind=\"dynamic\"}", "complete", Outcome),
    ("switch.shared_buffer.sharing(dynamic).alpha", BUSY, &["switch.shared_buffer={total=\"50KB\",sharing={kind=\"dynamic\"}}"], "", "0.25", Outcome),
    ("switch.cut_through", BUSY, &[], "", "64B", Outcome),

    // ---- slack and edge
    ("slack", SLACK, &[], "{kind=\"constant\"}", "{kind=\"flow-size\"}", Outcome),
    ("slack=constant", SLACK, &[], "{kind=\"constant\"}", "{kind=\"virtual-clock\",rate=\"1Gbps\"}", Outcome),
    // The same for all is the same order for all.
    ("slack(constant).value", SLACK, &["slack={kind=\"constant\"}"], "", "2s", Nowhere),
    ("slack=flow-size", SLACK, &[], "{kind=\"flow-size\"}", "{kind=\"constant\"}", Outcome),
    ("slack(flow-size).unit", SLACK, &["slack={kind=\"flow-size\"}"], "", "100ns", Outcome),
    ("slack=virtual-clock", SLACK, &[], "{kind=\"virtual-clock\",rate=\"1Gbps\"}", "{kind=\"flow-size\"}", Outcome),
    ("slack(virtual-clock).rate", SLACK, &[], "1Gbps", "5Gbps", Outcome),
    ("slack(virtual-clock).ack_full_size", SLACK, &[], "", "3000B", Outcome),
    ("slack.class_offset", SLACK, &["traffic.0.class=1"], "1us", "1ms", Outcome),
    ("edge", SLACK, &[], "", "{kind=\"codel\",target=\"20us\",interval=\"100us\",refresh=\"40us\"}", Outcome),
    ("edge=codel", SLACK, &[], "{kind=\"codel\",target=\"20us\",interval=\"100us\",refresh=\"40us\"}", "{kind=\"codel\"}", Outcome),
    ("edge(codel).target", SLACK, EDGE, "20us", "30us", Outcome),
    ("edge(codel).interval", SLACK, EDGE, "100us", "50us", Outcome),
    ("edge(codel).refresh", SLACK, EDGE, "40us", "21us", Outcome),
    ("edge=ecn", SLACK, EDGE_ECN, "{kind=\"ecn\",threshold=\"5pkts\"}", "{kind=\"ecn\",threshold=\"9pkts\"}", Outcome),
    ("edge(ecn).threshold", SLACK, EDGE_ECN, "5pkts", "20us", Outcome),

    // ---- transport
    ("%", BUSY, &[], "{kind=\"tcp\"}", "{kind=\"udp\"}", Outcome),
    ("%=tcp", BUSY, &[], "{kind=\"tcp\"}", "{kind=\"udp\"}", Outcome),
    ("%=udp", BUSY, &[], "{kind=\"udp\"}", "{kind=\"tcp\"}", Outcome),
    ("%(tcp).mss", BUSY, &[], "", "1000B", Outcome),
    ("%(tcp).header", BUSY, &[], "", "60B", Outcome),
    ("%(tcp).ack_size", BUSY, &[], "", "64B", Outcome),
    ("%(tcp).syn_size", BUSY, &["%.handshake=true"], "", "64B", Outcome),
    ("%(tcp).flight", BUSY, &["switch.buffer=10KB"], "", "span", Outcome),
    ("%(tcp).flight=pipe", BUSY, &["switch.buffer=10KB"], "pipe", "span", Outcome),
    ("%(tcp).flight=span", BUSY, &["switch.buffer=10KB"], "span", "pipe", Outcome),
    ("%(tcp).flight=span-omniscient", BUSY, &["switch.buffer=10KB"], "span-omniscient", "span", Outcome),
    ("%(tcp).initial_window", BUSY, &[], "", "4pkts", Outcome),
    ("%(tcp).max_window", BUSY, &[], "", "12pkts", Outcome),
    ("%(tcp).initial_threshold", BUSY, &[], "", "5pkts", Outcome),
    ("%(tcp).congestion", BUSY, &[], "newreno", "mintcp", Outcome),
    ("%(tcp).congestion=newreno", BUSY, &[], "newreno", "fixed", Outcome),
    ("%(tcp).congestion=dctcp", BUSY, STEP, "dctcp", "dctcp-rate", Outcome),
    ("%(tcp).congestion(dctcp).gain", BUSY, STEP, "", "0.5", Outcome),
    ("%(tcp).congestion(dctcp).initial_alpha", BUSY, STEP, "", "0.0", Outcome),
    ("%(tcp).congestion(dctcp).growth", BUSY, STEP, "", "always", Outcome),
    ("%(tcp).congestion(dctcp).growth=always", BUSY, STEP, "always", "outside-cwr", Outcome),
    ("%(tcp).congestion(dctcp).growth=unmarked-acks", BUSY, STEP, "unmarked-acks", "outside-cwr", Outcome),
    ("%(tcp).congestion(dctcp).growth=outside-cwr", BUSY, STEP, "outside-cwr", "room", Outcome),
    ("%(tcp).congestion(dctcp).growth=gradual-cwr", BUSY, STEP, "gradual-cwr", "outside-cwr", Outcome),
    ("%(tcp).congestion(dctcp).growth=room", BUSY, STEP, "room", "always", Outcome),
    ("%(tcp).congestion(dctcp).cut_without_marks", BUSY, STEP, "", "true", Outcome),
    ("%(tcp).congestion=dctcp-rate", BUSY, STEP, "dctcp-rate", "dctcp", Outcome),
    ("%(tcp).congestion(dctcp-rate).gain", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "0.5", Outcome),
    ("%(tcp).congestion(dctcp-rate).initial_alpha", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "0.5", Outcome),
    ("%(tcp).congestion(dctcp-rate).step", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "100Mbps", Outcome),
    ("%(tcp).congestion(dctcp-rate).min_rate", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "5Gbps", Outcome),
    ("%(tcp).congestion=mintcp", BUSY, &[], "mintcp", "newreno", Outcome),
    ("%(tcp).congestion(mintcp).halve_threshold", BUSY, &["%.congestion=mintcp", "%.loss=timeout-only"], "true", "false", Outcome),
    ("%(tcp).congestion=fixed", BUSY, &[], "fixed", "newreno", Outcome),
    ("%(tcp).congestion=custom", BUSY, &[], "{kind=\"custom\",name=\"still\"}", "newreno", Outcome),
    ("%(tcp).congestion(custom).name", BUSY, &["%.congestion={kind=\"custom\",name=\"still\"}"], "still", "calm", Outcome),
    ("%(tcp).congestion(custom).params", BUSY, &["%.congestion={kind=\"custom\",name=\"still\"}"], "4", "9", Outcome),
    ("%(tcp).rto", BUSY, &[], "{kind=\"fixed\",value=\"100us\"}", "{kind=\"fixed\",value=\"300us\"}", Outcome),
    ("%(tcp).rto=rfc6298", BUSY, &[], "{kind=\"rfc6298\",min=\"200us\",initial=\"300us\"}", "{kind=\"fixed\",value=\"300us\"}", Outcome),
    ("%(tcp).rto(rfc6298).initial", BUSY, &["switch.buffer=10KB", "%.rto={kind=\"rfc6298\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "300us", "500us", Outcome),
    ("%(tcp).rto(rfc6298).min", BUSY, &["%.rto={kind=\"rfc6298\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "200us", "300us", Outcome),
    ("%(tcp).rto(rfc6298).max", BUSY, &["switch.buffer=10KB", "%.rto={kind=\"rfc6298\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "900us", "300us", Outcome),
    ("%(tcp).rto=fixed", BUSY, &["%.rto={kind=\"fixed\",value=\"250us\"}"], "{kind=\"fixed\",value=\"250us\"}", "{kind=\"rfc6298\",initial=\"300us\",min=\"200us\"}", Outcome),
    ("%(tcp).rto(fixed).value", BUSY, &["%.rto={kind=\"fixed\",value=\"250us\"}"], "250us", "350us", Outcome),
    ("%(tcp).loss", BUSY, &[], "dup-ack", "timeout-only", Outcome),
    ("%(tcp).loss=dup-ack", BUSY, &[], "dup-ack", "timeout-only", Outcome),
    ("%(tcp).loss(dup-ack).threshold", BUSY, &["%.loss={kind=\"dup-ack\"}"], "", "6", Outcome),
    ("%(tcp).loss=timeout-only", BUSY, &[], "timeout-only", "dup-ack", Outcome),
    ("%(tcp).limited_transmit", BUSY, &[], "", "false", Outcome),
    ("%(tcp).sack", BUSY, &[], "", "off", Outcome),
    ("%(tcp).sack=blocks", BUSY, &[], "{kind=\"blocks\"}", "off", Outcome),
    ("%(tcp).sack(blocks).blocks", BUSY, &["%.sack={kind=\"blocks\",on_wire=true}"], "4", "1", Outcome),
    ("%(tcp).sack(blocks).on_wire", BUSY, &["%.sack={kind=\"blocks\"}"], "", "true", Outcome),
    ("%(tcp).sack=off", BUSY, &[], "off", "{kind=\"blocks\"}", Outcome),
    ("%(tcp).delayed_acks", BUSY, &[], "", "{kind=\"on\"}", Outcome),
    ("%(tcp).delayed_acks=off", BUSY, &[], "off", "on", Outcome),
    ("%(tcp).delayed_acks=on", BUSY, &[], "on", "off", Outcome),
    ("%(tcp).delayed_acks(on).every", BUSY, &["%.delayed_acks=on"], "", "3", Outcome),
    ("%(tcp).delayed_acks(on).delay", BUSY, &["%.delayed_acks={kind=\"on\",delay=\"100us\"}"], "100us", "300us", Outcome),
    ("%(tcp).handshake", BUSY, &[], "false", "true", Outcome),
    ("%(tcp).ecn", BUSY, &["%.ecn=classic", "switch.marking={kind=\"red\",min=3,max=8,weight=0.3,ecn=true}"], "classic", "accurate", Outcome),
    ("%(tcp).ecn=off", BUSY, &["%.ecn=off", "switch.marking={kind=\"red\",min=3,max=8,weight=0.3}"], "off", "classic", Outcome),
    ("%(tcp).ecn=classic", BUSY, &["%.ecn=classic", "switch.marking={kind=\"red\",min=3,max=8,weight=0.3,ecn=true}"], "classic", "accurate", Outcome),
    ("%(tcp).ecn=accurate", BUSY, STEP, "accurate", "classic", Outcome),
    ("%(tcp).timestamps", BUSY, &["switch.buffer=10KB"], "false", "true", Outcome),
    ("%(tcp).probe_after", BUSY, &["switch.buffer=10KB", "%.congestion=mintcp", "%.loss=timeout-only", "%.rto={kind=\"fixed\",value=\"48us\"}"], "", "1", Outcome),
    ("%(tcp).rank", BUSY, SRPT, "", "{kind=\"socket-buffer\",buffer=\"20KB\"}", Outcome),
    ("%(tcp).rank=none", BUSY, &["measure.priority_histogram={}"], "none", "remaining", Tables),
    ("%(tcp).rank=flow-size", BUSY, &["measure.priority_histogram={}"], "flow-size", "remaining", Tables),
    ("%(tcp).rank=from-here", BUSY, SRPT, "from-here", "remaining", Outcome),
    ("%(tcp).rank=remaining", BUSY, SRPT, "remaining", "{kind=\"socket-buffer\",buffer=\"20KB\"}", Outcome),
    ("%(tcp).rank=socket-buffer", BUSY, SRPT, "{kind=\"socket-buffer\",buffer=\"20KB\"}", "remaining", Outcome),
    ("%(tcp).rank(socket-buffer).buffer", BUSY, &["switch.scheduler=srpt", "%.rank={kind=\"socket-buffer\",buffer=\"20KB\"}"], "20KB", "5KB", Outcome),
    ("%(udp).payload", BUSY, &["%={kind=\"udp\"}"], "", "1000B", Outcome),
    ("%(udp).header", BUSY, &["%={kind=\"udp\"}"], "", "60B", Outcome),
    ("%(udp).pace", BUSY, &["%={kind=\"udp\"}"], "", "{kind=\"constant\",rate=\"1Gbps\"}", Outcome),
    ("%(udp).pace=burst", BUSY, &["%={kind=\"udp\"}"], "burst", "{kind=\"poisson\",rate=\"1Gbps\"}", Outcome),
    ("%(udp).pace=constant", BUSY, &["%={kind=\"udp\"}"], "{kind=\"constant\",rate=\"1Gbps\"}", "{kind=\"poisson\",rate=\"1Gbps\"}", Outcome),
    ("%(udp).pace(constant).rate", BUSY, &["%={kind=\"udp\",pace={kind=\"constant\",rate=\"1Gbps\"}}"], "1Gbps", "2Gbps", Outcome),
    ("%(udp).pace=poisson", BUSY, &["%={kind=\"udp\"}"], "{kind=\"poisson\",rate=\"1Gbps\"}", "burst", Outcome),
    ("%(udp).pace(poisson).rate", BUSY, &["%={kind=\"udp\",pace={kind=\"poisson\",rate=\"1Gbps\"}}"], "1Gbps", "2Gbps", Outcome),
    ("%(udp).rank", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "flow-size", Tables),
    ("%(udp).rank=none", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "flow-size", Tables),
    ("%(udp).rank=flow-size", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "flow-size", "none", Tables),
    ("%(udp).rank=from-here", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "from-here", Refused),
    ("%(udp).rank=remaining", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "remaining", Refused),
    ("%(udp).rank=socket-buffer", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "{kind=\"socket-buffer\",buffer=\"20KB\"}", Refused),
    ("%(udp).rank(socket-buffer).buffer", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "", "20KB", Refused),
    ("transports", PLAIN, &[], "{x={initial_window=\"2pkts\"}}", "{x={initial_window=\"3pkts\"}}", Outcome),

    // ---- traffic
    ("traffic", PLAIN, &[], "[{kind=\"flow\",src=0,dst=1,size=\"30KB\",transport=\"x\"},{kind=\"flow\",src=1,dst=0,size=\"9KB\"}]", "[{kind=\"flow\",src=0,dst=2,size=\"30KB\",transport=\"x\"},{kind=\"flow\",src=1,dst=0,size=\"9KB\"}]", Outcome),
    ("traffic[].transport", BUSY, &["transports.x.initial_window=\"3pkts\""], "", "x", Outcome),
    ("traffic[].class", BUSY, &["switch.scheduler=priority", "traffic.1.class=1"], "", "1", Outcome),
    ("traffic[].weight", SLACK, &[], "", "20.0", Outcome),
    ("traffic[].measured", BUSY, &[], "true", "false", Tables),
    ("traffic[]=poisson", RACKS, &[], "{kind=\"poisson\",sizes=\"point\",load=0.5}", "{kind=\"permutation\",size=\"20KB\"}", Outcome),
    ("traffic[](poisson).sizes", RACKS, &[], "point", "heavy-tailed", Outcome),
    ("traffic[](poisson).sizes=heavy-tailed", RACKS, &[], "heavy-tailed", "web-search", Outcome),
    ("traffic[](poisson).sizes=web-search", RACKS, &[], "web-search", "web-search-bytes", Outcome),
    ("traffic[](poisson).sizes=web-search-bytes", RACKS, &[], "web-search-bytes", "data-mining", Outcome),
    ("traffic[](poisson).sizes=data-mining", RACKS, &["traffic.0.load=1"], "data-mining", "facebook-hadoop", Outcome),
    ("traffic[](poisson).sizes=facebook-hadoop", RACKS, &[], "facebook-hadoop", "facebook-hadoop-fine", Outcome),
    ("traffic[](poisson).sizes=facebook-hadoop-fine", RACKS, &[], "facebook-hadoop-fine", "facebook", Outcome),
    ("traffic[](poisson).sizes=facebook", RACKS, &[], "facebook", "google-rpc", Outcome),
    ("traffic[](poisson).sizes=google-rpc", RACKS, &[], "google-rpc", "facebook", Outcome),
    ("traffic[](poisson).sizes=rdma-heavy-tailed", RACKS, &[], "rdma-heavy-tailed", "facebook", Outcome),
    ("traffic[](poisson).sizes=uniform", RACKS, &[], "uniform", "bimodal", Outcome),
    ("traffic[](poisson).sizes(uniform).min", RACKS, &["traffic.0.sizes={kind=\"uniform\",max=\"100KB\",min=\"2KB\"}"], "2KB", "50KB", Outcome),
    ("traffic[](poisson).sizes(uniform).max", RACKS, &["traffic.0.sizes={kind=\"uniform\",max=\"100KB\",min=\"2KB\"}"], "100KB", "50KB", Outcome),
    ("traffic[](poisson).sizes(uniform).steps", RACKS, &["traffic.0.sizes={kind=\"uniform\",max=\"100KB\",min=\"2KB\"}"], "10", "3", Outcome),
    ("traffic[](poisson).sizes=bimodal", RACKS, &[], "{kind=\"bimodal\",large=\"100KB\"}", "uniform", Outcome),
    ("traffic[](poisson).sizes(bimodal).small", RACKS, &["traffic.0.sizes={kind=\"bimodal\",large=\"100KB\"}"], "", "9KB", Outcome),
    ("traffic[](poisson).sizes(bimodal).large", RACKS, &["traffic.0.sizes={kind=\"bimodal\",large=\"100KB\"}"], "100KB", "50KB", Outcome),
    ("traffic[](poisson).sizes(bimodal).small_fraction", RACKS, &["traffic.0.sizes={kind=\"bimodal\",large=\"100KB\"}"], "", "0.2", Outcome),
    ("traffic[](poisson).sizes=point", RACKS, &["traffic.0.load=1", "traffic.0.until=2ms"], "point", "{kind=\"fixed\",size=\"1MB\"}", Outcome),
    ("traffic[](poisson).sizes(point).size", RACKS, &["traffic.0.sizes={kind=\"point\",size=\"20KB\"}"], "20KB", "30KB", Outcome),
    ("traffic[](poisson).sizes=fixed", RACKS, &[], "{kind=\"fixed\",size=\"30KB\"}", "{kind=\"point\",size=\"20KB\"}", Outcome),
    ("traffic[](poisson).sizes(fixed).size", RACKS, &[], "20KB", "30KB", Outcome),
    ("traffic[](poisson).sizes=file", RACKS, &[], "{kind=\"file\",path=\"sizes.txt\"}", "{kind=\"fixed\",size=\"30KB\"}", Outcome),
    ("traffic[](poisson).sizes(file).path", RACKS, &["traffic.0.sizes={kind=\"file\",path=\"sizes.txt\"}"], "sizes.txt", "small.txt", Outcome),
    ("traffic[](poisson).sizes(file).unit", RACKS, &["traffic.0.sizes={kind=\"file\",path=\"small.txt\"}"], "1B", "2B", Outcome),
    ("traffic[](poisson).sizes(file).interpolation", RACKS, &["traffic.0.sizes={kind=\"file\",path=\"sizes.txt\"}"], "", "atoms", Outcome),
    ("traffic[](poisson).sizes(file).interpolation=linear", RACKS, &["traffic.0.sizes={kind=\"file\",path=\"sizes.txt\"}"], "linear", "log-linear", Outcome),
    ("traffic[](poisson).sizes(file).interpolation=atoms", RACKS, &["traffic.0.sizes={kind=\"file\",path=\"sizes.txt\"}"], "atoms", "log-linear", Outcome),
    ("traffic[](poisson).sizes(file).interpolation=log-linear", RACKS, &["traffic.0.sizes={kind=\"file\",path=\"sizes.txt\"}"], "log-linear", "inverse-linear", Outcome),
    ("traffic[](poisson).sizes(file).interpolation=inverse-linear", RACKS, &["traffic.0.sizes={kind=\"file\",path=\"sizes.txt\"}"], "inverse-linear", "linear", Outcome),
    ("traffic[](poisson).load", RACKS, &[], "0.7", "0.6", Outcome),
    ("traffic[](poisson).of", RACKS, &[], "host-links", "core-links", Outcome),
    ("traffic[](poisson).of=host-links", RACKS, &[], "host-links", "core-links", Outcome),
    ("traffic[](poisson).of=core-links", RACKS, &[], "core-links", "host-links", Outcome),
    ("traffic[](poisson).of=rate", RACKS, &[], "{kind=\"rate\",rate=\"9Gbps\"}", "host-links", Outcome),
    ("traffic[](poisson).of(rate).rate", RACKS, &["traffic.0.of={kind=\"rate\",rate=\"9Gbps\"}"], "9Gbps", "5Gbps", Outcome),
    ("traffic[](poisson).of=busiest-link", RACKS, &["routing=lowest"], "busiest-link", "core-links", Outcome),
    ("traffic[](poisson).arrivals", RACKS, &[], "", "log-normal", Outcome),
    ("traffic[](poisson).arrivals=poisson", RACKS, &[], "poisson", "log-normal", Outcome),
    ("traffic[](poisson).arrivals=log-normal", RACKS, &[], "log-normal", "poisson", Outcome),
    ("traffic[](poisson).arrivals(log-normal).sigma", RACKS, &["traffic.0.arrivals=log-normal"], "", "1.0", Outcome),
    ("traffic[](poisson).process", RACKS, &[], "", "global", Outcome),
    ("traffic[](poisson).process=per-host", RACKS, &[], "per-host", "global", Outcome),
    ("traffic[](poisson).process=global", RACKS, &[], "global", "per-host", Outcome),
    ("traffic[](poisson).pairs", RACKS, &[], "", "inter-rack", Outcome),
    ("traffic[](poisson).pairs=uniform", RACKS, &[], "uniform", "inter-rack", Outcome),
    ("traffic[](poisson).pairs=inter-rack", RACKS, &[], "inter-rack", "intra-rack", Outcome),
    ("traffic[](poisson).pairs=intra-rack", RACKS, &[], "intra-rack", "to-host-zero", Outcome),
    ("traffic[](poisson).pairs=to-host-zero", RACKS, &[], "to-host-zero", "uniform", Outcome),
    ("traffic[](poisson).pairs=min-links", RACKS, &[], "{kind=\"min-links\",links=4}", "uniform", Outcome),
    ("traffic[](poisson).pairs(min-links).links", RACKS, &["traffic.0.pairs={kind=\"min-links\",links=4}"], "4", "5", Refused),
    ("traffic[](poisson).from", RACKS, &[], "", "100us", Outcome),
    ("traffic[](poisson).until", RACKS, &[], "500us", "400us", Outcome),
    ("traffic[](poisson).max_flows", RACKS, &[], "", "3", Outcome),
    ("traffic[](poisson).packet_payload", RACKS, &[], "", "1000B", Outcome),
    ("traffic[](poisson).packet_header", RACKS, &[], "", "0B", Outcome),
    ("traffic[]=permutation", PLAIN, &["traffic.0={kind=\"permutation\",size=\"20KB\",transport=\"x\"}"], "{kind=\"permutation\",size=\"20KB\",transport=\"x\"}", "{kind=\"all-to-all\",size=\"20KB\",transport=\"x\"}", Outcome),
    ("traffic[](permutation).size", PLAIN, &["traffic.0={kind=\"permutation\",size=\"20KB\",transport=\"x\"}"], "20KB", "30KB", Outcome),
    ("traffic[](permutation).start", PLAIN, &["traffic.0={kind=\"permutation\",size=\"20KB\",transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[](permutation).jitter", PLAIN, &["traffic.0={kind=\"permutation\",size=\"20KB\",transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[]=all-to-all", PLAIN, &["traffic.0={kind=\"all-to-all\",size=\"20KB\",transport=\"x\"}"], "{kind=\"all-to-all\",size=\"20KB\",transport=\"x\"}", "{kind=\"permutation\",size=\"20KB\",transport=\"x\"}", Outcome),
    ("traffic[](all-to-all).size", PLAIN, &["traffic.0={kind=\"all-to-all\",size=\"20KB\",transport=\"x\"}"], "20KB", "30KB", Outcome),
    ("traffic[](all-to-all).start", PLAIN, &["traffic.0={kind=\"all-to-all\",size=\"20KB\",transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[](all-to-all).jitter", PLAIN, &["traffic.0={kind=\"all-to-all\",size=\"20KB\",transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[]=incast", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\"}"], "{kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\"}", "{kind=\"permutation\",size=\"20KB\",transport=\"x\"}", Outcome),
    ("traffic[](incast).fan_in", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\"}"], "2", "3", Outcome),
    ("traffic[](incast).size", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\"}"], "20KB", "30KB", Outcome),
    ("traffic[](incast).receiver", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\"}"], "0", "1", Outcome),
    ("traffic[](incast).senders", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\",repeat=9,period=\"20us\"}"], "", "neighbours", Outcome),
    ("traffic[](incast).senders=distinct", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\",repeat=9,period=\"20us\"}"], "distinct", "with-replacement", Outcome),
    ("traffic[](incast).senders=with-replacement", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\",repeat=9,period=\"20us\"}"], "with-replacement", "neighbours", Outcome),
    ("traffic[](incast).senders=neighbours", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\",repeat=9,period=\"20us\"}"], "neighbours", "distinct", Outcome),
    ("traffic[](incast).at", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[](incast).period", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\",repeat=2,period=\"20us\"}"], "20us", "30us", Outcome),
    ("traffic[](incast).repeat", PLAIN, &["traffic.0={kind=\"incast\",size=\"20KB\",fan_in=2,transport=\"x\",repeat=2,period=\"20us\"}"], "2", "3", Outcome),
    ("traffic[]=list", PLAIN, &["traffic.0={kind=\"list\",file=\"flows.csv\",transport=\"x\"}"], "{kind=\"list\",file=\"flows.csv\",transport=\"x\"}", "{kind=\"permutation\",size=\"20KB\",transport=\"x\"}", Outcome),
    ("traffic[](list).file", PLAIN, &["traffic.0={kind=\"list\",file=\"flows.csv\",transport=\"x\"}"], "flows.csv", "other.csv", Outcome),
    ("traffic[](list).jitter", PLAIN, &["traffic.0={kind=\"list\",file=\"flows.csv\",transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[](list).jitter_step", PLAIN, &["traffic.0={kind=\"list\",file=\"flows.csv\",transport=\"x\",jitter=\"100us\"}"], "", "10us", Outcome),
    ("traffic[](list).format", PLAIN, &["traffic.0={kind=\"list\",file=\"flows.csv\",transport=\"x\"}"], "csv", "hpcc", Refused),
    ("traffic[](list).format=csv", PLAIN, &["traffic.0={kind=\"list\",file=\"flows.csv\",transport=\"x\"}"], "csv", "hpcc", Refused),
    ("traffic[](list).format=hpcc", PLAIN, &["traffic.0={kind=\"list\",file=\"flows.txt\",format=\"hpcc\",transport=\"x\"}"], "hpcc", "csv", Refused),
    ("traffic[]=backlogged", PLAIN, &["traffic.0={kind=\"backlogged\",src=0,dst=1,transport=\"x\"}"], "{kind=\"backlogged\",src=0,dst=1,transport=\"x\"}", "{kind=\"flow\",src=0,dst=1,size=\"20KB\",transport=\"x\"}", Outcome),
    ("traffic[](backlogged).src", PLAIN, &["traffic.0={kind=\"backlogged\",src=0,dst=1,transport=\"x\"}"], "0", "2", Outcome),
    ("traffic[](backlogged).dst", PLAIN, &["traffic.0={kind=\"backlogged\",src=0,dst=1,transport=\"x\"}"], "1", "2", Outcome),
    ("traffic[](backlogged).start", PLAIN, &["traffic.0={kind=\"backlogged\",src=0,dst=1,transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[](backlogged).until", PLAIN, &["traffic.0={kind=\"backlogged\",src=0,dst=1,transport=\"x\"}"], "", "30us", Outcome),
    ("traffic[](backlogged).count", PLAIN, &["traffic.0={kind=\"backlogged\",src=0,dst=1,transport=\"x\"}"], "", "2", Outcome),
    ("traffic[](backlogged).spacing", PLAIN, &["traffic.0={kind=\"backlogged\",src=0,dst=1,count=2,transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[]=flow", PLAIN, &[], "{kind=\"flow\",src=0,dst=1,size=\"20KB\",transport=\"x\"}", "{kind=\"backlogged\",src=0,dst=1,transport=\"x\"}", Outcome),
    ("traffic[](flow).src", PLAIN, &[], "3", "0", Outcome),
    ("traffic[](flow).dst", PLAIN, &[], "2", "0", Outcome),
    ("traffic[](flow).size", PLAIN, &[], "30KB", "31KB", Outcome),
    ("traffic[](flow).start", PLAIN, &[], "", "10us", Outcome),
    ("traffic[]=request-response", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "{kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}", "{kind=\"flow\",src=0,dst=1,size=\"20KB\",transport=\"x\"}", Outcome),
    ("traffic[](request-response).client", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "0", "2", Outcome),
    ("traffic[](request-response).server", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "1", "2", Outcome),
    ("traffic[](request-response).request", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "1KB", "2KB", Outcome),
    ("traffic[](request-response).response", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "5KB", "6KB", Outcome),
    ("traffic[](request-response).count", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "3", "4", Outcome),
    ("traffic[](request-response).think", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[](request-response).start", PLAIN, &["traffic.0={kind=\"request-response\",client=0,server=1,request=\"1KB\",response=\"5KB\",count=3,transport=\"x\"}"], "", "10us", Outcome),
    ("traffic[]=udp", PLAIN, &["transports={}"], "{kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}", "{kind=\"flow\",src=3,dst=2,size=\"20KB\"}", Outcome),
    ("traffic[](udp).src", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "3", "1", Outcome),
    ("traffic[](udp).dst", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "2", "1", Outcome),
    ("traffic[](udp).rate", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "1Gbps", "2Gbps", Outcome),
    ("traffic[](udp).spacing", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "", "poisson", Outcome),
    ("traffic[](udp).spacing=constant", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "constant", "poisson", Outcome),
    ("traffic[](udp).spacing=poisson", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "poisson", "constant", Outcome),
    ("traffic[](udp).payload", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "", "1000B", Outcome),
    ("traffic[](udp).header", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "", "28B", Outcome),
    ("traffic[](udp).size", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "20KB", "30KB", Outcome),
    ("traffic[](udp).start", PLAIN, &["transports={}", "traffic.0={kind=\"udp\",src=3,dst=2,rate=\"1Gbps\",size=\"20KB\"}"], "", "10us", Outcome),

    // ---- measure
    ("measure", BUSY, &[], "", "{queues={every=\"100us\"}}", Tables),
    ("measure.from", BUSY, &["run.stop_when_done=false"], "", "100us", Tables),
    ("measure.until", BUSY, &["run.stop_when_done=false"], "", "500us", Tables),
    ("measure.fct", BUSY, &[], "", "sender", Tables),
    ("measure.fct=receiver", BUSY, &[], "receiver", "sender", Tables),
    ("measure.fct=sender", BUSY, &[], "sender", "receiver", Tables),
    ("measure.size_classes", BUSY, &[], "", "[\"5KB\"]", Summary),
    ("measure.queues", BUSY, &[], "", "{every=\"100us\"}", Tables),
    ("measure.queues.every", BUSY, &["measure.queues={every=\"100us\"}"], "100us", "50us", Tables),
    ("measure.queues.ports", BUSY, &["measure.queues={every=\"100us\"}"], "", "[1]", Tables),
    ("measure.links", BUSY, &[], "", "{every=\"100us\"}", Tables),
    ("measure.links.every", BUSY, &["measure.links={every=\"100us\"}"], "100us", "50us", Tables),
    ("measure.links.ports", BUSY, &["measure.links={every=\"100us\"}"], "", "[1]", Tables),
    ("measure.controllers", BUSY, &[], "", "{every=\"100us\"}", Tables),
    ("measure.controllers.every", BUSY, &["measure.controllers={every=\"100us\"}"], "100us", "50us", Tables),
    ("measure.controllers.flows", BUSY, &["measure.controllers={every=\"100us\"}"], "", "[3]", Tables),
    ("measure.packets", BUSY, &[], "", "{}", Tables),
    // In the rows of the recording, which stream past the tables: see the tests of recordings.
    ("measure.packets.hops", BUSY, &["measure.packets={}"], "false", "true", Nowhere),
    ("measure.priority_histogram", BUSY, &[], "", "{}", Tables),
    ("measure.priority_histogram.cap", BUSY, &["measure.priority_histogram={}"], "", "20KB", Tables),
    ("measure.priority_histogram.mtu", BUSY, &["measure.priority_histogram={}"], "", "3000B", Tables),

    // ---- run
    ("run", BUSY, &[], "{until=\"3ms\"}", "{until=\"1ms\"}", Outcome),
    ("run.until", BUSY, &[], "3ms", "1ms", Outcome),
    ("run.max_events", BUSY, &[], "", "1000", Outcome),
    ("run.stop_when_done", PLAIN, &["traffic.0={kind=\"backlogged\",src=2,dst=3,transport=\"x\"}"], "true", "false", Outcome),
    ("run.check", PLAIN, &[], "false", "true", Nowhere),
];

/// A user's queue: `lifo` serves the newest packet first, `opil` the oldest; `params` is its room in packets.
#[derive(Clone)]
struct Pile {
    name: String,
    room: usize,
    packets: Vec<(Handle, u32)>,
}

impl Discipline for Pile {
    fn enqueue(&mut self, _: Time, packet: &Packet, handle: Handle, _: &mut Vec<Handle>) -> Verdict {
        if self.packets.len() >= self.room {
            return Verdict::Dropped;
        }
        self.packets.push((handle, packet.wire));
        Verdict::Queued
    }
    fn dequeue(&mut self, _: Time, _: &mut Vec<Handle>) -> Option<Served> {
        let at = if self.name == "lifo" { self.packets.len().checked_sub(1)? } else { 0 };
        (at < self.packets.len()).then(|| Served { handle: self.packets.remove(at).0, mark: false })
    }
    fn packets(&self) -> u32 {
        self.packets.len() as u32
    }
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| u64::from(p.1)).sum()
    }
}

impl PluggedDiscipline for Pile {
    fn name(&self) -> &str {
        &self.name
    }
    fn boxed_clone(&self) -> Box<dyn PluggedDiscipline> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// A user's controller: `params` packets for ever; `calm` has one less.
#[derive(Clone)]
struct Still {
    name: String,
    window: Bytes,
}

impl CongestionControl for Still {
    fn on_ack(&mut self, _: &thalweg_machines::congestion::AckSample) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn permit(&self) -> Permit {
        Permit::window(self.window)
    }
}

impl PluggedController for Still {
    fn name(&self) -> &str {
        &self.name
    }
    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
}

fn number(params: &[u8], otherwise: u64) -> u64 {
    std::str::from_utf8(params).ok().and_then(|t| t.parse().ok()).unwrap_or(otherwise)
}

fn register() {
    let still = |name: &str, start: &Start, params: &[u8]| -> Result<Box<dyn PluggedController>, String> {
        let packets = number(params, 5) - u64::from(name == "calm");
        Ok(Box::new(Still { name: name.into(), window: Bytes::new(packets * u64::from(start.mss)) }))
    };
    let pile = |name: &str, params: &[u8]| -> Result<Box<dyn PluggedDiscipline>, String> {
        Ok(Box::new(Pile { name: name.into(), room: number(params, 30) as usize, packets: Vec::new() }))
    };
    for name in ["still", "calm"] {
        register_controller(name, ControllerFactory { make: still, load: |_, _| Err("not saved".into()) });
    }
    for name in ["lifo", "opil"] {
        register_discipline(name, DisciplineFactory { make: pile, load: |_, _| Err("not saved".into()) });
    }
}

/// Every key and every choice of the schema.
fn paths_of(schema: &serde_json::Value, path: &str, out: &mut BTreeSet<String>) {
    let dot = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for list in ["oneOf", "anyOf"] {
        for v in schema.get(list).and_then(|l| l.as_array()).into_iter().flatten() {
            if let Some(kind) = v.pointer("/properties/kind/const").and_then(|k| k.as_str()) {
                out.insert(format!("{path}={kind}"));
                paths_of(v, &format!("{path}({kind})"), out);
            } else if let Some(word) = v.get("const").and_then(|c| c.as_str()) {
                out.insert(format!("{path}={word}"));
            } else {
                paths_of(v, path, out);
            }
        }
    }
    for word in schema.get("enum").and_then(|e| e.as_array()).into_iter().flatten() {
        if let Some(word) = word.as_str() {
            out.insert(format!("{path}={word}"));
        }
    }
    for (name, v) in schema.get("properties").and_then(|p| p.as_object()).into_iter().flatten() {
        if name != "kind" {
            out.insert(dot(name));
            paths_of(v, &dot(name), out);
        }
    }
    if let Some(v) = schema.get("items").filter(|v| v.is_object()) {
        paths_of(v, &format!("{path}[]"), out);
    }
    if let Some(v) = schema.get("additionalProperties").filter(|v| v.is_object()) {
        paths_of(v, &format!("{path}.*"), out);
    }
}

/// `traffic[](poisson).sizes=point` → `traffic.0.sizes`.
fn key_of(path: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for c in path.split('=').next().unwrap_or_default().chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out.replace("[]", ".0").replace(".*", ".x")
}

/// Overrides: dotted key, value.
type Settings = Vec<(String, String)>;

/// A row for one of the places it stands for: its path, the settings around it.
fn rows() -> Vec<(String, Row, Settings)> {
    let mut out = Vec::new();
    for row in KEYS.iter().chain(lossless::KEYS) {
        let places: &[(&str, &str)] = if row.0.starts_with("@.scheduler") && row.0 != "@.scheduler" {
            &[("switch", "nic"), ("nic", "switch"), ("switch.mix", "nic")]
        } else if row.0.starts_with('@') {
            &[("switch", "nic"), ("nic", "switch")]
        } else if row.0.starts_with('%') {
            &[("transport", ""), ("transports.*", "")]
        } else {
            &[("", "")]
        };
        for (here, there) in places {
            let path = row.0.replacen(['@', '%'], here, 1);
            let transport = if *here == "transports.*" { "transports.x" } else { "transport" };
            let section = if row.0.starts_with('@') { *here } else { "switch" };
            let mut settings: Vec<(String, String)> = Vec::new();
            let mut set = |k: &str, v: &str| settings.push((k.to_owned(), v.to_owned()));
            if *here == "transports.*" {
                for (section, name) in [(0, "x"), (1, "x"), (2, "default")] {
                    set(&format!("traffic.{section}.transport"), name);
                }
            }
            if *here == "switch.mix" {
                // Two switches; the one before host 0 is mixed, the other has what no row has.
                set("topology", "{kind=\"dumbbell\",pairs=3}");
                set("switch.scheduler", "{kind=\"drr\",quantum=\"9000B\"}");
                set("switch.mix", "{scheduler=\"fifo\",nodes=\"even\"}");
            }
            if here.starts_with("switch") {
                // What is left out at hosts is copied from switches: here it must not be.
                set("nic.buffer", "unlimited");
                set("nic.scheduler", "fifo");
                set("nic.marking", "none");
            }
            for given in row.2 {
                let given = given.replace('@', section).replace('~', there).replace('%', transport);
                let (key, value) = given.split_once('=').expect("key=value");
                set(key, value);
            }
            out.push((path, *row, settings));
        }
    }
    out
}

fn go(text: &str, dir: &Path, set: &[(String, String)]) -> Result<Run, String> {
    let s = load(text, "s.toml", dir, set)
        .map_err(|e| e.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let mut run = Run::new(&s).map_err(|e| e.to_string())?;
    while run.step(1 << 20) {}
    if let Some(law) = run.violation() {
        return Err(law.to_owned());
    }
    Ok(run)
}

/// What happened, as text: the flows and ports tables.
fn outcome(run: &Run) -> String {
    let tables = run.tables();
    format!("{:?}", tables.iter().filter(|t| ["flows", "ports"].contains(&t.name)).collect::<Vec<_>>())
}

fn verdict(one: &Result<Run, String>, two: &Result<Run, String>, shows: Shows) -> Result<(), String> {
    let one = one.as_ref().map_err(|e| format!("the first value is refused: {e}"))?;
    let two = match two {
        Ok(_) if shows == Refused => return Err("the second value is accepted".into()),
        Ok(two) => two,
        Err(_) if shows == Refused => return Ok(()),
        Err(e) => return Err(format!("the second value is refused: {e}")),
    };
    let (digests, outcomes) = (one.digest() != two.digest(), outcome(one) != outcome(two));
    let (tables, summaries) = (bytes(one) != bytes(two), one.summary() != two.summary());
    let right = match shows {
        Outcome => digests && outcomes,
        Tables => tables,
        Summary => !digests && !tables && summaries,
        Nowhere => !digests && !tables && !summaries,
        Refused => false,
    };
    if right {
        return Ok(());
    }
    Err(format!(
        "digest {digests}, outcome {outcomes}, tables {tables}, summary {summaries}: expected {shows:?}"
    ))
}

#[test]
fn every_key_of_the_schema_has_an_entry() {
    let mut known = BTreeSet::new();
    paths_of(&schema(), "", &mut known);
    let listed: BTreeSet<String> = rows().into_iter().map(|r| r.0).filter(|p| p != "transports.*").collect();
    let missing: Vec<&String> = known.difference(&listed).collect();
    let stale: Vec<&String> = listed.difference(&known).collect();
    assert!(missing.is_empty(), "keys without a test that they take effect: {missing:#?}");
    assert!(stale.is_empty(), "no such keys: {stale:#?}");
}

/// One part of the table per test, so that they run side by side.
fn check(part: usize) {
    register();
    let files = Folder::new(&format!("keys-{part}"), FILES);
    let mut silent = Vec::new();
    for (path, row, settings) in rows().into_iter().skip(part).step_by(PARTS) {
        let key = key_of(&path);
        if let Some((_, word)) = path.split_once('=') {
            assert!(row.3.contains(word) || row.4.contains(word), "{path} is about {word}");
        }
        let with = |value: &str| {
            let mut set = settings.clone();
            if !value.is_empty() {
                set.push((key.clone(), value.to_owned()));
            }
            go(row.1, &files.0, &set)
        };
        if let Err(why) = verdict(&with(row.3), &with(row.4), row.5) {
            silent.push(format!("{path}: `{}` and `{}`: {why}", row.3, row.4));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

const PARTS: usize = 4;

#[test]
fn keys_take_effect_part_1() {
    check(0);
}
#[test]
fn keys_take_effect_part_2() {
    check(1);
}
#[test]
fn keys_take_effect_part_3() {
    check(2);
}
#[test]
fn keys_take_effect_part_4() {
    check(3);
}
