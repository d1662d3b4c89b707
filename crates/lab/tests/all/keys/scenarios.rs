//! Small scenarios in which keys matter, and the files that they read.

/// Six hosts around a switch with small buffers; random flows at 80 % and an incast.
pub const BUSY: &str = r#"
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

/// A slow link with room for slow start to double the round trips of 20 ms before it overflows.
pub const WAN: &str = r#"
topology = { kind = "dumbbell", pairs = 3, host_rate = "1Gbps", bottleneck_rate = "10Mbps", delay = "9ms", host_delay = "500us" }
switch = { buffer = "60pkts" }
run = { until = "3s" }
[transports.x]
[[traffic]]
kind = "flow"
src = 0
dst = 3
size = "2MB"
[[traffic]]
kind = "flow"
src = 1
dst = 4
size = "1KB"
transport = "x"
[[traffic]]
kind = "flow"
src = 2
dst = 5
size = "1KB"
start = "1s"
"#;

/// An application that writes more than a window, is silent for longer than the timer, and writes again.
pub const TALK: &str = r#"
topology = { kind = "pair", rate = "100Mbps", delay = "5ms" }
run = { until = "8s" }
[transport]
initial_window = "10pkts"
writes = { first = "58400B", chunk = "87600B", every = "400ms" }
[transports.x]
initial_window = "10pkts"
writes = { first = "58400B", chunk = "87600B", every = "400ms" }
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "400KB"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1B"
[[traffic]]
kind = "flow"
src = 1
dst = 0
size = "400KB"
transport = "x"
"#;

/// The same with six minutes of silence.
pub const SILENCE: &str = r#"
topology = { kind = "pair", rate = "100Mbps", delay = "5ms" }
run = { until = "400s" }
[transport]
writes = { first = "584000B", chunk = "1460000B", every = "360s" }
[transports.x]
writes = { first = "584000B", chunk = "1460000B", every = "360s" }
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "2044000B"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1B"
[[traffic]]
kind = "flow"
src = 1
dst = 0
size = "2044000B"
transport = "x"
"#;

/// Streams that use half of their windows, until another flow fills the queue and they need more.
pub const STREAMS: &str = r#"
topology = { kind = "dumbbell", pairs = 3, host_rate = "1Gbps", bottleneck_rate = "10Mbps", delay = "9ms", host_delay = "500us" }
switch = { buffer = "60pkts" }
run = { until = "4s" }
[transport]
initial_threshold = "10pkts"
writes = { first = "7300B", chunk = "7300B", every = "25ms" }
[transports.x]
initial_threshold = "10pkts"
writes = { first = "7300B", chunk = "7300B", every = "25ms" }
[transports.y]
[[traffic]]
kind = "flow"
src = 0
dst = 3
size = "400KB"
[[traffic]]
kind = "flow"
src = 0
dst = 3
size = "1B"
[[traffic]]
kind = "flow"
src = 1
dst = 4
size = "400KB"
transport = "x"
[[traffic]]
kind = "flow"
src = 2
dst = 5
size = "2MB"
start = "500ms"
transport = "y"
"#;

/// Twenty flows and a queue that marks from two packets on: windows of one segment are marked.
pub const CROWD: &str = r#"
topology = { kind = "star", hosts = 21, rate = "1Gbps", delay = "5us" }
switch = { buffer = "1000pkts", marking = { kind = "step", threshold = "2pkts" } }
run = { until = "5ms" }
[transport]
ecn = "classic"
initial_window = "2pkts"
rto = { kind = "fixed", value = "1ms" }
[transports.x]
ecn = "classic"
initial_window = "2pkts"
rto = { kind = "fixed", value = "1ms" }
[[traffic]]
kind = "incast"
fan_in = 20
size = "1MB"
receiver = 0
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1B"
[[traffic]]
kind = "incast"
fan_in = 5
size = "1MB"
receiver = 0
transport = "x"
"#;

/// Two racks of three hosts; random flows.
pub const RACKS: &str = r#"
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
pub const SHIFT: &str = r#"
topology = { kind = "star", hosts = 4 }
run = { until = "5ms" }
[[traffic]]
kind = "permutation"
size = "100001B"
"#;

/// Two flows on the leaf-spine network, one from a file with room for pinned paths.
pub const PINNED: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, spine_rate = "10Gbps" }
run = { until = "5ms" }
[[traffic]]
kind = "list"
file = "flows.csv"
"#;

/// Four flows on the Internet2 backbone without edge routers, near enough to be quick.
pub const WIDE: &str = r#"
topology = { kind = "internet2", core_delay = "10us", access_delay = "1us" }
routing = "lowest"
run = { until = "20ms" }
[[traffic]]
kind = "permutation"
size = "20KB"
"#;

/// As on a backbone whose links are slower than its edge.
pub const BACKBONE: &str = r#"
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
pub const SLACK: &str = r#"
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
pub const PLAIN: &str = r#"
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

pub const FILES: &[(&str, &str)] = &[
    ("flows.csv", "id,src,dst,size_bytes,start_ns\n7,0,2,200000,0\n9,1,3,200000,0\n"),
    ("other.csv", "id,src,dst,size_bytes,start_ns\n7,0,2,200000,0\n9,1,3,100000,0\n"),
    ("flows.txt", "1\n0 2 3 100 200000 0\n"),
    (
        "job.goal",
        "num_ranks 2\nrank 0 { a: calc 1000\n b: send 20000b to 1\n b requires a }\n\
         rank 1 { a: calc 90000\n b: recv 20000b from 0\n b requires a }\n",
    ),
    (
        "step.0.et",
        "\x03\n\x011\x06\x08\x01\x18\x048\x01$\x08\x02\x18\x05*\x01\x01R\r\n\tcomm_sizehdR\x0c\n\x08comm_dsth\x012\x08\x03\x18\x07*\x01\x02R\r\n\tcomm_typeh\x05R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0",
    ),
    (
        "step.1.et",
        "\x03\n\x011\x06\x08\x01\x18\x048Z$\x08\x02\x18\x06*\x01\x01R\r\n\tcomm_sizehdR\x0c\n\x08comm_srch\x002\x08\x03\x18\x07*\x01\x02R\r\n\tcomm_typeh\x05R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0",
    ),
    (
        "other.0.et",
        "\x03\n\x011\x06\x08\x01\x18\x048\x01$\x08\x02\x18\x05*\x01\x01R\r\n\tcomm_sizeh2R\x0c\n\x08comm_dsth\x012\x08\x03\x18\x07*\x01\x02R\r\n\tcomm_typeh\x05R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0",
    ),
    (
        "other.1.et",
        "\x03\n\x011\x06\x08\x01\x18\x048Z$\x08\x02\x18\x06*\x01\x01R\r\n\tcomm_sizeh2R\x0c\n\x08comm_srch\x002\x08\x03\x18\x07*\x01\x02R\r\n\tcomm_typeh\x05R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0",
    ),
    (
        "two.0.et",
        "\x03\n\x011/\x08\x01\x18\x07R\r\n\tcomm_typeh\0R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0/\x08\x02\x18\x07R\r\n\tcomm_typeh\0R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0",
    ),
    (
        "two.1.et",
        "\x03\n\x011/\x08\x01\x18\x07R\r\n\tcomm_typeh\0R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0/\x08\x02\x18\x07R\r\n\tcomm_typeh\0R\r\n\tcomm_sizehZR\x0b\n\x07pg_nameh\0",
    ),
    ("groups.json", "{\"0\": [0, 1]}"),
    ("work.txt", "DATA\n1\na -1 1000 NONE 0 1 NONE 0 1 ALLREDUCE 20000 0\n"),
    ("more.txt", "DATA\n1\na -1 1000 NONE 0 1 NONE 0 1 ALLREDUCE 30000 0\n"),
    ("swapped.json", "{\"0\": [1, 0]}"),
    ("other.goal", "num_ranks 2\nrank 0 { send 20000b to 1 }\nrank 1 { recv 20000b from 0 }\n"),
    ("same.csv", "id,data_path,ack_path\n7,4-6-5,5-6-4\n9,4-6-5,5-6-4\n"),
    ("apart.csv", "id,data_path,ack_path\n7,4-6-5,5-6-4\n9,4-7-5,5-7-4\n"),
    ("parts.matrix", "0,1000,20000,0\n5000,0,0,0\n0,0,0,9000\n100,100,100,0\n"),
    ("other.matrix", "0,1000,30000,0\n5000,0,0,0\n0,0,0,9000\n100,100,100,0\n"),
    ("offsets.csv", "host,first\n0,1\n1,0\n2,1\n3,0\n"),
    ("map.csv", "priority,packets\n1,10\n2,5\n20,40\n60,9\n"),
    ("flat.csv", "priority,packets\n1,1000\n60,1\n"),
    ("links.csv", "a,b,rate,delay\n0,4,10Gbps,1us\n1,4,10Gbps,1us\n2,4,10Gbps,1us\n3,4,10Gbps,1us\n"),
    ("slow.csv", "a,b,rate,delay\n0,4,1Gbps,1us\n1,4,10Gbps,1us\n2,4,10Gbps,1us\n3,4,10Gbps,1us\n"),
    ("bare.csv", "a,b\n0,4\n1,4\n2,4\n3,4\n"),
    ("net.toml", "hosts = 2\nswitches = 1\n[[links]]\na = 0\nb = 2\n[[links]]\na = 1\nb = 2\n"),
    ("net.json", "{\"hosts\":2,\"switches\":1,\"links\":[{\"a\":0,\"b\":2},{\"a\":1,\"b\":2}]}"),
    ("flows.cm", "Nodes 4\nConnections 1\n0->2 start 0 size 200000\n"),
    (
        "net.topo",
        "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 9\n\
         Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 2\nDownlink_Latency_ns 9\n",
    ),
    ("net.txt", "3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n"),
    (
        "net.xml",
        "<graphml><graph><node id='s'/><node id='a'/><node id='b'/><edge source='s' target='a'/><edge source='s' target='b'/></graph></graphml>",
    ),
    (
        "net.gml",
        "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ] edge [ source 0 target 1 ] edge [ source 0 target 2 ] ]",
    ),
    (
        "parts.csv",
        "a,b,rate,delay\nw,s,10Gbps,1us\nx,s,10Gbps,1us\ny,s,10Gbps,1us\nz,s,10Gbps,1us\nu,t,10Gbps,1us\n",
    ),
    (
        "placed.xml",
        "<graphml><graph><node id='a'><data key='Latitude'>50.1</data><data key='Longitude'>8.7</data></node><node id='b'><data key='Latitude'>50.2</data><data key='Longitude'>8.7</data></node><edge source='a' target='b'/></graph></graphml>",
    ),
    ("fifo.oq", "q = Queue(5 pkts); out = Port(q);"),
    ("lifo.oq", "late(a, b) = (a.arrival > b.arrival) q = Queue(5 pkts); out = Port(q); q.procPrio = late;"),
    ("three.oq", "q = Queue(3 pkts); out = Port(q);"),
    (
        "longest.oq",
        "long(a, b) = (a.length > b.length) q[1..2] = Queue(5 pkts); out = Port(q[1..2]); out.schedPrio = long;",
    ),
    (
        "worth.oq",
        "byTos(a, b) = (a.TOS < b.TOS) worth(a, b) = (a.value > b.value) q = Queue(5 pkts); out = Port(q); \
         q.admPrio = byTos; q.procPrio = worth;",
    ),
    (
        "work.oq",
        "less(a, b) = (a.processing < b.processing) q = Queue(5 pkts); out = Port(q); q.admPrio = less; \
         q.procPrio = less;",
    ),
    ("map.cch", "1 @A (2) -> <2> <3> =a r0\n2 @B (1) -> <1> =b r0\n3 @C (1) -> <1> =c r0\n"),
    ("weights.txt", "A B 3\nB A 3\nA C 1\n"),
    // Three switches in a ring, a host each; everybody sends two switches on.
    (
        "ring.csv",
        "a,b,rate,delay\n0,3,40Gbps,1us\n1,4,40Gbps,1us\n2,5,40Gbps,1us\n3,4,40Gbps,1us\n4,5,40Gbps,1us\n5,3,40Gbps,1us\n",
    ),
    (
        "ring-flows.csv",
        "id,src,dst,size_bytes,start_ns\n0,0,2,200000,0\n1,1,0,200000,0\n2,2,1,200000,0\n3,0,2,200000,0\n4,1,0,200000,0\n5,2,1,200000,0\n6,0,2,200000,0\n7,1,0,200000,0\n8,2,1,200000,0\n9,0,2,200000,0\n10,1,0,200000,0\n11,2,1,200000,0\n12,0,2,200000,0\n13,1,0,200000,0\n14,2,1,200000,0\n",
    ),
    (
        "ring-paths.csv",
        "id,data_path,ack_path\n0,3-4-5,5-4-3\n1,4-5-3,3-5-4\n2,5-3-4,4-3-5\n3,3-4-5,5-4-3\n4,4-5-3,3-5-4\n5,5-3-4,4-3-5\n6,3-4-5,5-4-3\n7,4-5-3,3-5-4\n8,5-3-4,4-3-5\n9,3-4-5,5-4-3\n10,4-5-3,3-5-4\n11,5-3-4,4-3-5\n12,3-4-5,5-4-3\n13,4-5-3,3-5-4\n14,5-3-4,4-3-5\n",
    ),
    ("sizes.txt", "1000 0.1\n10000 0.5\n100000 1\n"),
    ("cell.trace", "1\n2\n2\n3\n5\n8\n9\n10\n"),
    ("other.trace", "2\n4\n6\n7\n"),
    ("small.txt", "1000 0.9\n10000 1\n"),
];
