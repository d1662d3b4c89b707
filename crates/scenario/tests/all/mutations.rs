//! The fuzz targets' functions on mutated copies of good inputs: a second or two, the same every time.

use thalweg_scenario::fuzzing;
use thalweg_units::Stream;

const SCENARIOS: &[&str] = &[
    "scheme = \"dctcp+srpt\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nbase_rtt = \"16us\"\n[[traffic]]\nkind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = 0.7\n[measure]\nfrom = \"5ms\"\nuntil = \"15ms\"\n[run]\nuntil = \"1.5s\"\n",
    "[topology]\nkind = \"star\"\nhosts = 4\nsink_rate = \"20Gbps\"\n[switch]\nscheduler = { kind = \"drr\", quantum = \"1500B\" }\nbuffer = \"300pkts\"\nmarking = { kind = \"red\", min = 5, max = 15.5 }\nshared_buffer = { total = \"12MB\", sharing = { dynamic = { alpha = 2.0 } } }\n[[traffic]]\nkind = \"incast\"\nfan_in = 3\nsize = \"64KB\"\nat = \"1ms\"\n",
    "[topology]\nkind = \"dumbbell\"\npairs = 2\n[transport]\nkind = \"tcp\"\ninitial_window = \"4pkts\"\nrto = { kind = \"fixed\", value = \"48us\" }\nloss = \"timeout-only\"\nsack = \"off\"\ndelayed_acks = { on = {} }\n[transports.u]\nkind = \"udp\"\npace = { constant = \"1Gbps\" }\n[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\n[[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 3\nsize = \"1MB\"\ntransport = \"u\"\n",
    "[topology]\nkind = \"internet2\"\nslower = 10\n[routing]\nkind = \"lowest\"\n[switch]\nscheduler = \"lstf\"\npreemptive = true\nbuffer = \"3425pkts\"\nmix = { scheduler = \"lifo\", nodes = { listed = [100, 101] } }\n[slack]\nkind = \"virtual-clock\"\nrate = \"100Mbps\"\nclass_offset = \"1s\"\n[edge]\nkind = \"codel\"\nrefresh = \"20ms\"\n[[traffic]]\nkind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = 0.7\nof = { rate = \"1Gbps\" }\npairs = { min_links = 5 }\nweight = 2.5\nclass = 1\n[measure]\npackets = { hops = true }\n",
    "routing = \"lowest\"\n[topology]\nkind = \"backbone\"\nrouters = 9\nlinks = 12\nedges_per_router = 2\n[switch]\nscheduler = { kind = \"parity\", even = \"sjf\" }\nmarking = { kind = \"codel\", target = \"5ms\" }\n[[traffic]]\nkind = \"poisson\"\nsizes = { fixed = \"1KB\" }\nload = 0.5\nof = \"busiest-link\"\n",
    "scheme = \"irn-timely+voq-pfc\"\n[topology]\nkind = \"fat-tree\"\nk = 4\n[routing]\nconvergence = \"100us\"\n[transport]\ncap = \"auto\"\nmtu = \"1000B\"\nrtt = { segment = 4, noise = \"1us\" }\n[switch.pfc]\nthreshold = { xoff = \"100KB\", xon = \"90KB\" }\nheadroom = \"30KB\"\n[[traffic]]\nkind = \"rpc\"\nload = 0.5\nservers = \"other-pods\"\nconnection = \"per-pair\"\n[[incident]]\nkind = \"link-failure\"\nat = \"1ms\"\nuntil = \"2ms\"\nlink = [0, 16]\n[[incident]]\nkind = \"pause-loss\"\nprobability = 0.5\nport = 1\n[measure]\npauses = true\nround_trips = true\n",
    "[topology]\nkind = \"star\"\nhosts = 5\n[switch]\ninputs = { shared = \"9MB\", release = \"start\" }\npfc = { threshold = { dynamic = { alpha = 0.125 } }, frame = \"43B\" }\nmarking = { kind = \"red-ecn\", min = \"400KB\", max = \"1600KB\", max_probability = 0.2, at = \"departure\" }\ncontrol_first = true\n[nic]\norder = \"round-robin\"\npause_control = false\n[transport]\nkind = \"rdma\"\nrecovery = { go_back_n = { repeat_nack = \"500us\" } }\ncongestion = { kind = \"dcqcn\", byte_counter = \"none\", decrease = { checked = \"4us\" } }\nnotification = \"echo\"\ntimer = \"off\"\ncap = 110\nsegments = { bytes = \"16KB\", nic_pace = \"1Gbps\" }\nacks = \"per-packet\"\n[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n",
    "name = \"n\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[switch]\nmix = { scheduler = \"lifo\", nodes = { listed = [\"leaf0\", 5] } }\n[[traffic]]\nkind = \"incast\"\nfan_in = 3\nsize = \"64KB\"\nreceiver = \"h3\"\n[[traffic]]\nkind = \"flow\"\nsrc = \"h0\"\ndst = \"h2\"\nsize = \"1MB\"\n[[incident]]\nkind = \"link-failure\"\nat = \"1ms\"\nlink = [\"leaf1\", \"spine0\"]\n",
];
const TOPOLOGIES: &[&str] = &[
    "a,b,rate,delay\n0,3,10Gbps,1us\n1,3,10Gbps,1us\n2,3,10Gbps,1us\n",
    "4 1 3\n3\n0 3 10Gbps 0.001ms 0\n1 3 10Gbps 1us 0\n2 3 10Gbps 1000ns 0\n",
    "{\"hosts\":3,\"switches\":1,\"links\":[{\"a\":0,\"b\":3,\"rate\":\"1Gbps\"},{\"a\":1,\"b\":3}]}",
    "hosts = 2\nswitches = 1\nlinks = [{a=0,b=2,delay=\"1us\"},{a=1,b=2}]\n",
    "<graphml><key id=\"d\" attr.name=\"bandwidth\"/><graph><node id='x'/><node id='y'/><edge source='x' target='y'><data key='d'>1e10</data></edge></graph></graphml>",
    "# map\ngraph [\n directed 1\n node [ id 0 label \"New &amp; York\" Latitude 50.1 Longitude 8.7 graphics [ x 1 ] ]\n node [ id 1 label \"AT&T\" ]\n node [ id 2 ]\n edge [ source 0 target 1 LinkSpeedRaw 1.0E10 ]\n edge [ source 1 target 0 LinkSpeedRaw 1.0E10 ]\n edge [ source 2 target 0 LinkLabel \"622 Mbit/s\" delay \"1ms\" ]\n]\n",
    "15 @Oslo,+Norway + bb (2) &1 -> <99> <7> {-3} =a.net! r0\n99 @? (1) -> <15> =b r1\n7 @T (1) -> <15> =c r2\n-3 =x r1\n",
    "3 1 2\r\n0\r\n0 1 100Gbps\t0.001ms 0\r\n0 2 25000000000.0 1e-6 0\r\n0 3 25Gbps 0.001ms 0\r\n\r\nFirst line: nodes\r\n",
    "4 2 1 1 3 A100\n2 3 \n0 2 900Gb/s 0.000025ms 0\n1 2 900Gbps 25ns 0\n2 3 1.5MBps 0 0\n",
    "10 @N bb (14) &1 -> <11> <10> {-3} =a! r0\n11 @S + \t(2) -> <10> <40>  =b r0\n50 @? (1) -> <51> =c r2\n",
    "a,b\n5,6\n6,7\n7,5\n90,91\n",
    "<graphml><key id='c' for='edge' attr.name='capacity'><default>1Gbps</default></key><graph edgedefault='directed'><edge source='x' target='y'><data key='LinkLabel'>622 Mbit/s</data></edge><edge source='y' target='x'/><edge source='x' target='x'/><node id='x'><data key='Latitude'>50.1</data><data key='Longitude'>8.7</data></node><node id='y'><data key='Latitude'>-50</data><data key='Longitude'>1e2</data><data key='label'>7</data></node><node id='7'><data key='label'>7</data></node></graph></graphml>",
    "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\n\
     Radix_Up 2\nDownlink_Latency_ns 1\nTier 1\ndownlink_speed_gbps 100\nradix_down 2\ndownlink_latency_ns 9\n",
    "Paris London 3.5\nLondon Paris 3.5\nLondon Oslo 10\n",
    "\u{feff}a,b,rate\nweb,\"tor, left\",10Gbps\ndb,\"tor, left\",1Gbps\n17,\"tor, left\",1Gbps # slow\n",
    "hosts = 2\nswitches = 1\nnames = [\"web\", \"db\", \"tor\"]\nlinks = [{a=\"web\",b=\"tor\"},{a=1,b=2}]\n",
    "<?xml version=\"1.0\"?><!DOCTYPE g><graphml><!-- <x> --><key id='l' attr.name='label' for='node'/><graph edgedefault=\"undirected\"><node id='0'><data key='l'>New &amp; York &#233;</data></node><node id='1'><data key='l'><![CDATA[<Rome>]]></data></node><edge source='0' target='1'><data key='latency'>1ms</data></edge></graph></graphml>",
];
const CDFS: &[&str] = &[
    "0 0\n100 1\n10000 100\n",
    "1 1 0\n1 1 0.5\n2107 1 1.0\n",
    "size,p\n10,0.25\n20,1\n",
    "1744.68\n1      0.025000\n20      1.000000\n",
];
const FLOWS: &[&str] = &[
    "id,src,dst,size_bytes,start_ns\n0,92,13,1460,2633\n1,1,10,7,2000000.125\n",
    "2\n92 13 3 100 1460 0.000002633\n1 10 3 100 7 2000.000000000125\n",
    "Start_us,size_bytes,group,\"src\",dst\r\n2.5e-1,1e6,web,h3,1\r\n10,1460.0,,0,2\r\n",
    "2\r\n1 2 3 100 1e5 2.5e-05 \r\n2\t1 3 100 100000 2\r\n9 9 3 100 1 2\r\n\r\nFirst line: flows\r\n",
    "id,data_path,ack_path\n0,23-30-33,33-30-23\n",
    "Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 9 recv_done_trigger 1\n\
     trigger id 1 barrier count 1\n2->3 id 2 trigger 1 size 7\n",
    "port,priority,packets\n4,2,10\n4,0,1\n",
    "\u{feff}\"id\",\"src\",dst,size_bytes,start_ns\r\n0,h3,\"h1\",1460,2633 # one, \"two\"\r\n",
    "id,data_path,ack_path\n0,switch0-switch1,9\n",
];
const TRACES: &[&str] = &["0\n0\n1\n3\n3\n9\n", "# ms\n5\n10\n"];
const OVERRIDES: &[&str] = &[
    "run.until\n\"5ms\"",
    "switch.scheduler.kind\ndrr",
    "traffic.0\n{ kind = \"flow\" }",
    "traffic.1.kind\nudp",
    "seed\n-1",
];
/// What mistakes are made of.
const PIECES: &[&str] = &[
    "\"",
    "=",
    "[",
    "]",
    "{",
    "}",
    "\n",
    ",",
    ".",
    "-",
    "0",
    "1",
    "9",
    "99999999999999999999",
    "1e308",
    "nan",
    "&",
    "\u{feff}",
    "h0",
    "leaf",
    "-1",
    "\u{0}",
    "é",
    "kind",
    "true",
    "\"0B\"",
    "\"0ps\"",
    "18446744073709551615",
    "4294967295",
    "<",
    ">",
    "#",
    "unlimited",
    "1979-05-27",
    " ",
    "'",
    "\\",
    "0.000000000001",
];

fn mutate(text: &str, s: &mut Stream) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=s.below(4) {
        let at = s.below(chars.len() as u64 + 1) as usize;
        let piece = PIECES[s.below(PIECES.len() as u64) as usize];
        let end = (at + s.below(6) as usize).min(chars.len());
        match s.below(5) {
            0 => drop(chars.splice(at..at, piece.chars())),
            1 => drop(chars.drain(at..end)),
            2 => drop(chars.splice(at..end, piece.chars())),
            3 => {
                // A line again, somewhere else.
                let lines: Vec<&str> = text.lines().collect();
                let line = format!("\n{}\n", lines[s.below(lines.len() as u64) as usize]);
                drop(chars.splice(at..at, line.chars()));
            }
            _ => {
                // Digits change.
                if let Some(c) = chars.iter_mut().skip(at).find(|c| c.is_ascii_digit()) {
                    *c = char::from(b'0' + s.below(10) as u8);
                }
            }
        }
    }
    chars.into_iter().collect()
}

fn hammer(name: &str, corpus: &[&str], rounds: u64, read: fn(&str)) {
    for (i, text) in corpus.iter().enumerate() {
        read(text);
        let mut s = Stream::new(2026, name, i as u64);
        for _ in 0..rounds {
            read(&mutate(text, &mut s));
        }
    }
}

#[test]
fn no_mutated_scenario_panics() {
    hammer("scenario", SCENARIOS, 1500, fuzzing::scenario);
}

#[test]
fn no_mutated_override_panics() {
    hammer("overrides", OVERRIDES, 500, fuzzing::overrides);
}

#[test]
fn no_mutated_topology_panics() {
    hammer("topology", TOPOLOGIES, 3000, fuzzing::topology);
}

#[test]
fn no_mutated_trace_panics() {
    hammer("trace", TRACES, 1000, fuzzing::trace);
}

#[test]
fn no_mutated_distribution_panics() {
    hammer("cdf", CDFS, 300, fuzzing::cdf);
}

#[test]
fn no_mutated_flow_list_panics() {
    hammer("flows", FLOWS, 5000, fuzzing::flows);
}

const GOALS: &[&str] = &[
    "num_ranks 2\nrank 0 {\na: calc 1000 cpu 0\ns: send 500b to 1 tag 3\ns requires a\n}\nrank 1 {\n\
     r: recv 500b from 0 tag 3\nc: calc 20 cpu 1\nc irequires r\n}\n",
    "num_ranks 3 rank 2 { send 1b to 0 tag 1 calc 0 } /* none */ rank 0 { recv 1b from 2 tag 1 } // end\n",
];

#[test]
fn no_mutated_job_panics() {
    hammer("goal", GOALS, 3000, fuzzing::goal);
}

const WORKLOADS: &[&str] = &[
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 8 ga: 1 all_gpus: 4 checkpoints: 1 0 \
     checkpoint_initiates: 1 1 pp_comm: 0\n2\nnorm\t-1\t0\tBROADCAST\t16\t1\tNONE\t0\t1\tALLGATHER_DP_EP\t8\t100\n\
     mlp -1 7 ALLTOALL_EP 512 8 ALLTOALL 0 9 REDUCESCATTER 64 0\n",
    "DISTRIBUTED_INFERENCE\n1\na -1 1 ALLREDUCE 12 2 NONE 0 3 NONE 0 0\n",
];

#[test]
fn no_mutated_workload_panics() {
    hammer("simai", WORKLOADS, 3000, fuzzing::simai);
}
