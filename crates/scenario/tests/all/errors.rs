//! Every class of error, literally: file, line, key, reason, way out.

use std::path::{Path, PathBuf};
use thalweg_scenario::load;

/// A scenario that is right; lines are appended to or replaced in it.
const RIGHT: &str = r#"name = "t"
[topology]
kind = "star"
hosts = 4
[switch]
scheduler = "fifo"
buffer = "100KB"
[transport]
congestion = "newreno"
[[traffic]]
kind = "poisson"
sizes = "heavy-tailed"
load = 0.5
[run]
until = "10ms"
"#;

fn errors_in(text: &str, dir: &Path, set: &[(&str, &str)]) -> Vec<String> {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    match load(text, "s.toml", dir, &set) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

/// Replaces `from` by `to` in the right scenario; the one error that results.
#[track_caller]
fn wrong(from: &str, to: &str, expected: &str) {
    assert!(RIGHT.contains(from), "{from}");
    let errors = errors_in(&RIGHT.replacen(from, to, 1), Path::new("."), &[]);
    assert_eq!(errors, [expected]);
}

#[test]
fn the_right_scenario_is_right() {
    assert_eq!(errors_in(RIGHT, Path::new("."), &[]), Vec::<String>::new());
}

#[test]
fn syntax() {
    let errors = errors_in("name = \"t\"\n[topology\n", Path::new("."), &[]);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("s.toml:2: "), "{}", errors[0]);
    let errors = errors_in("seed = inf\n", Path::new("."), &[]);
    assert_eq!(errors, ["s.toml:1: `inf` is not a finite number"]);
}

#[test]
fn unknown_keys_and_choices() {
    wrong(
        "buffer =",
        "bufer =",
        "s.toml:7: `switch.bufer`: unknown key; did you mean `buffer`? (known: backpressure, buffer, congestion_point, control_first, cut_through, gfc, inputs, marking, mix, pfc, preemptive, relief, scheduler, shared_buffer, stages)",
    );
    wrong(
        "hosts = 4",
        "hosts = 4\nleaves = 2",
        "s.toml:5: `topology.leaves`: unknown key; known: base_rtt, delay, hosts, rate, sink_rate, time_quantum",
    );
    // What was called by its shape has the field's name.
    wrong(
        "\"fifo\"",
        "\"fifo\"\nmarking = { kind = \"ramp\", min = \"5KB\", max = \"20KB\" }",
        "s.toml:7: `switch.marking`: `ramp` is not a choice; it is called `red-ecn` now",
    );
    wrong(
        "\"fifo\"",
        "\"ffio\"",
        "s.toml:6: `switch.scheduler`: `ffio` is not a choice; did you mean `fifo`? (known: fifo, drr, fq, priority, sjf, srpt, ads, lifo, random, lstf, pifo, round-robin, fq-codel, input-round-robin, parity, bfc, liftable, expresspass, ndp, max-min, zombie-list, dualpi2, policy, custom)",
    );
    wrong(
        "kind = \"star\"",
        "kind = \"stars\"",
        "s.toml:3: `topology`: `stars` is not a choice; did you mean `star`? (known: pair, star, dumbbell, parking-lot, leaf-spine, fat-tree, rails, dragonfly, torus, internet2, backbone, file)",
    );
    wrong(
        "load = 0.5",
        "load = 0.5\nof = \"hosts\"",
        "s.toml:14: `traffic.0.of`: `hosts` is not a choice; did you mean `host-links`? (known: host-links, core-links, rate, busiest-link)",
    );
    wrong(
        "load = 0.5",
        "load = 0.5\ntransport = \"fast\"",
        "s.toml:14: `traffic.0.transport`: there is no transport `fast`; known: default; or the name of a controller, or of a kind of transport",
    );
    wrong(
        "name = \"t\"",
        "scheme = \"dctcp+sprt\"",
        "s.toml:1: `scheme`: there is no scheme `dctcp+sprt`; did you mean `dctcp+srpt`? (known: (mintcp, tcp, dctcp, rcp, vivace) + (fifo, fq, drr, sjf, srpt, ads-2, ads-4, ads-8); (roce, roce-timely, roce-dcqcn, irn, irn-timely, irn-dcqcn, irn-aimd, irn-dctcp, hpcc, iwarp) + (voq, voq-pfc, pfc, bfc); homa + (spray, priorities); expresspass + credits; ndp + trim; (nscc, rccc, uet) + spray)",
    );
    // Not `ndp+trim`, which is nearer in letters.
    wrong(
        "name = \"t\"",
        "scheme = \"nscc+trim\"",
        "s.toml:1: `scheme`: there is no scheme `nscc+trim`; did you mean `nscc+spray`? (known: (mintcp, tcp, dctcp, rcp, vivace) + (fifo, fq, drr, sjf, srpt, ads-2, ads-4, ads-8); (roce, roce-timely, roce-dcqcn, irn, irn-timely, irn-dcqcn, irn-aimd, irn-dctcp, hpcc, iwarp) + (voq, voq-pfc, pfc, bfc); homa + (spray, priorities); expresspass + credits; ndp + trim; (nscc, rccc, uet) + spray)",
    );
}

#[test]
fn sizes_beyond_what_tables_hold() {
    wrong(
        "kind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = 0.5",
        "kind = \"permutation\"\nsize = \"18446744073709551615B\"",
        "s.toml:12: `traffic.0.size`: a flow of 18446744073709551615 bytes is too large; at most 9223372036854775807B; \
         flows without end are traffic of kind \"backlogged\"",
    );
    wrong(
        "congestion = \"newreno\"",
        "congestion = { kind = \"fixed\", window = \"1MB\" }",
        "s.toml:9: `transport.congestion.window`: unknown key; there is none to choose from: remove it",
    );
}

#[test]
fn types_units_and_ranges() {
    wrong(
        "\"100KB\"",
        "\"100Gbps\"",
        "s.toml:7: `switch.buffer`: `100Gbps` is not a size: `Gbps` is not a unit of this kind (units: B, KB, MB, GB, TB, KiB, MiB, GiB, pkts, bdp)",
    );
    wrong(
        "\"10ms\"",
        "\"10\"",
        "s.toml:15: `run.until`: `10` is not a time: the unit is missing (units: ps, ns, us, ms, s)",
    );
    wrong(
        "\"10ms\"",
        "10",
        "s.toml:15: `run.until`: expected a string with a unit, found an integer; for example `\"2us\"`",
    );
    wrong(
        "hosts = 4",
        "hosts = \"4\"",
        "s.toml:4: `topology.hosts`: expected a whole number, found a string",
    );
    wrong(
        "hosts = 4",
        "hosts = 1",
        "s.toml:4: `topology.hosts`: 1 is out of range; allowed: at least 2 and at most 1000000",
    );
    wrong(
        "load = 0.5",
        "load = 1.5",
        "s.toml:13: `traffic.0.load`: 1.5 is out of range; allowed: above 0 and at most 1",
    );
    wrong(
        "load = 0.5",
        "load = 0",
        "s.toml:13: `traffic.0.load`: 0 is out of range; allowed: above 0 and at most 1",
    );
    wrong("load = 0.5\n", "", "s.toml:10: `traffic.0.load`: the key is missing; for example `load = 0.7`");
    wrong("hosts = 4\n", "", "s.toml:2: `topology.hosts`: the key is missing; a whole number");
    wrong(
        "kind = \"star\"\nhosts = 4",
        "kind = \"file\"\nfile = \"x.csv\"",
        "s.toml:2: `topology.format`: the key is missing; one of thalweg-toml, thalweg-json, hpcc, htsim, graphml, \
         gml, links-csv, rocketfuel, rocketfuel-weights, rocketfuel-latencies",
    );
    wrong(
        "kind = \"poisson\"\n",
        "",
        "s.toml:10: `traffic.0`: `kind` is missing; known kinds: poisson, permutation, all-to-all, \
         incast, list, backlogged, flow, request-response, rpc, ring-all-reduce, ring-all-gather, \
         halving-doubling-all-reduce, hierarchical-all-reduce, \
         tree-all-reduce, goal, chakra, simai, udp",
    );
}

#[test]
fn impossible_settings() {
    wrong(
        "\"100KB\"",
        "\"100B\"",
        "s.toml:7: `switch.buffer`: 100B cannot hold one packet of 1500 bytes; at least \"1500B\"",
    );
    wrong(
        "hosts = 4",
        "hosts = 4\nbase_rtt = \"1us\"",
        "s.toml:5: `topology.base_rtt`: a round trip of 1us is impossible: serialisation alone takes 2464ns; write more than \"2464ns\"",
    );
    wrong(
        "hosts = 4",
        "hosts = 4\nbase_rtt = \"9us\"\ndelay = \"1us\"",
        "s.toml:5: `topology.base_rtt`: `delay` and `base_rtt` are both given, and `delay` is computed from `base_rtt`; remove one of the two",
    );
    wrong(
        "\"newreno\"",
        "\"dctcp\"",
        "s.toml:9: `transport.congestion`: the controller needs ECN marks, but no queue marks packets; for example `switch.marking = { kind = \"step\", threshold = \"15pkts\" }`",
    );
    wrong(
        "buffer = \"100KB\"\n[transport]\ncongestion = \"newreno\"",
        "marking = { kind = \"step\", threshold = \"15pkts\" }\n[transport]\ncongestion = \"dctcp\"\necn = \"off\"",
        "s.toml:10: `transport.ecn`: the controller reacts to ECN marks only, and ECN is off; write \"accurate\" or remove the key",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nrto = { kind = \"rfc6298\", min = \"2s\", max = \"1s\" }",
        "s.toml:10: `transport.rto.min`: the smallest time-out, 2s, is above the largest, 1s; swap them",
    );
    wrong(
        "[run]",
        "[measure]\nfrom = \"20ms\"\n[run]",
        "s.toml:15: `measure.from`: the measured window is empty: from 20ms until 10ms; write a `from` before `until`",
    );
    wrong(
        "[run]",
        "[measure]\nuntil = \"20ms\"\n[run]",
        "s.toml:15: `measure.until`: the measured window ends at 20ms, after the run, 10ms; lower it or raise `run.until`",
    );
    wrong(
        "[run]",
        "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 0\nsize = \"1MB\"\n[run]",
        "s.toml:17: `traffic.1.dst`: the flow goes from host 0 to itself; choose another `dst`",
    );
    wrong(
        "[run]",
        "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 4\nsize = \"1MB\"\n[run]",
        "s.toml:17: `traffic.1.dst`: there is no host 4; hosts are 0 to 3",
    );
    wrong(
        "[run]",
        "[[traffic]]\nkind = \"incast\"\nfan_in = 4\nsize = \"1MB\"\n[run]",
        "s.toml:16: `traffic.1.fan_in`: 4 different senders, but there are 3 other hosts; write at most 3, or `senders = \"with-replacement\"`",
    );
    wrong(
        "[run]",
        "[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\nstride = 8\n[run]",
        "s.toml:17: `traffic.1.stride`: with a stride of 8 each of 4 hosts would send to itself; write 1 to 3",
    );
    wrong(
        "load = 0.5",
        "load = 0.5\nof = \"core-links\"",
        "s.toml:14: `traffic.0.of`: the topology has no links between switches; write `of = \"host-links\"`",
    );
}

#[test]
fn settings_without_effect() {
    wrong(
        "\"100KB\"",
        "\"100KB\"\nmarking = { kind = \"step\", threshold = \"15pkts\" }",
        "s.toml:8: `switch.marking`: it has no effect: no transport is ECN-capable, so no packet can be marked; write `transport.ecn = \"classic\"`, or the controller dctcp, or remove the marking",
    );
    wrong(
        "\"100KB\"\n[transport]\ncongestion = \"newreno\"",
        "\"100KB\"\nmarking = { kind = \"step\", threshold = \"200KB\" }\n[transport]\ncongestion = \"dctcp\"",
        "s.toml:8: `switch.marking.threshold`: it has no effect: the queue never reaches 200KB, it holds 100KB; at most \"100KB\"",
    );
    wrong(
        "\"100KB\"\n[transport]\ncongestion = \"newreno\"",
        "\"100KB\"\nmarking = { kind = \"step\", threshold = \"20KB\", include_self = true }\n[transport]\ncongestion = \"dctcp\"",
        "s.toml:8: `switch.marking.include_self`: it has no effect: the arriving packet never counts; write `at = \"departure\"` or remove the key",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\necn = \"classic\"",
        "s.toml:10: `transport.ecn`: it has no effect: no queue marks packets; for example `switch.marking = { kind = \"step\", threshold = \"15pkts\" }`",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nrank = \"remaining\"",
        "s.toml:10: `transport.rank`: it has no effect: no scheduler reads ranks; use the scheduler sjf, srpt or ads, or remove the key",
    );
    wrong(
        "load = 0.5",
        "load = 0.5\nclass = 1",
        "s.toml:14: `traffic.0.class`: it has no effect: no scheduler serves by class; use the scheduler priority, or remove the key",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nloss = \"timeout-only\"\nlimited_transmit = true",
        "s.toml:11: `transport.limited_transmit`: it has no effect: limited transmit acts on duplicate ACKs, and `loss` is timeout-only; write false, or `loss = \"dup-ack\"`",
    );
    wrong(
        "[[traffic]]",
        "[transports.slow]\ninitial_window = \"1pkts\"\n[[traffic]]",
        "s.toml:10: `transports.slow`: it has no effect: no traffic uses this transport; write `transport = \"slow\"` in a [[traffic]] section, or remove it",
    );
    wrong(
        "\"fifo\"",
        "{ kind = \"ads\", map = { kind = \"dynamic\", interval = \"20ms\" } }",
        "s.toml:6: `switch.scheduler.map.interval`: it has no effect: the run ends at 10ms, before the first interval does; write a shorter interval or raise `run.until`",
    );
    wrong(
        "hosts = 4",
        "hosts = 4\n[measure.queues]\nevery = \"1s\"",
        "s.toml:6: `measure.queues.every`: it has no effect: the run ends before the first sample; write a shorter time",
    );
}

#[test]
fn overrides_name_themselves() {
    let at = |set: &[(&str, &str)]| errors_in(RIGHT, Path::new("."), set);
    assert_eq!(
        at(&[("traffic.0.load", "1.5")]),
        ["--set traffic.0.load: `traffic.0.load`: 1.5 is out of range; allowed: above 0 and at most 1"]
    );
    assert_eq!(
        at(&[("swich.buffer", "1MB")]),
        [
            "--set swich.buffer: `swich`: unknown key; did you mean `switch`? (known: edge, incident, link, measure, name, nic, routing, run, scheme, seed, slack, switch, topology, traffic, transport, transports)"
        ]
    );
    assert_eq!(
        at(&[("traffic.7.load", "0.5")]),
        ["--set traffic.7.load: `traffic.7.load`: there is no element `7`; positions count from 0"]
    );
    assert!(
        at(&[("switch.scheduler", "drr"), ("switch.scheduler.quantum", "3000B"), ("seed", "7")]).is_empty()
    );
}

/// A folder with files, removed at the end.
struct Folder(PathBuf);
impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let dir = std::env::temp_dir().join(format!("thalweg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        for (file, text) in files {
            std::fs::write(dir.join(file), text).expect("written");
        }
        Self(dir)
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Two racks of two hosts: leaves 4 and 5, spines 6 and 7.
const RACKS: &str = "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2";

#[test]
fn files_that_are_missing_or_broken() {
    let dir = Folder::new(
        "errors",
        &[
            ("flows.csv", "id,src,dst,size_bytes,start_ns\n0,1,9,1000,5\n"),
            ("self.csv", "id,src,dst,size_bytes,start_ns\n0,1,2,1000,5\n1,3,3,1000,5\n"),
            ("sizes.txt", "1 0.5\n2 0.4\n"),
            ("split.csv", "a,b,rate,delay\n0,4,1Gbps,1us\n1,4,1Gbps,1us\n2,5,1Gbps,1us\n3,5,1Gbps,1us\n"),
            ("paths.csv", "id,data_path,ack_path\n0,5,4\n"),
            ("twice.csv", "id,data_path,ack_path\n0,4-6-5,5-6-4\n0,4-7-5,5-6-4\n"),
            ("more.csv", "id,data_path,ack_path\n0,4-6-5,5-6-4\n7,4-7-5,5-7-4\n"),
            ("two.csv", "id,src,dst,size_bytes,start_ns\n0,1,2,1000,5\n"),
        ],
    );
    let at = |from: &str, to: &str| errors_in(&RIGHT.replacen(from, to, 1), &dir.0, &[]);
    let poisson = "kind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = 0.5";
    let list = |file: &str| format!("kind = \"list\"\nfile = \"{file}\"");
    assert_eq!(
        at(poisson, &list("flow.csv")),
        [
            "s.toml:12: `traffic.0.file`: there is no file `flow.csv`; did you mean `flows.csv`? (paths are relative to the scenario)"
        ]
    );
    assert_eq!(at(poisson, &list("flows.csv")), ["flows.csv:2: there is no host 9; hosts are 0 to 3"]);
    assert_eq!(
        at(poisson, &list("self.csv")),
        ["self.csv:3: the flow goes from host 3 to itself; name two different hosts"]
    );
    assert_eq!(
        at("\"heavy-tailed\"", "{ file = \"sizes.txt\" }"),
        [
            "sizes.txt:2: the cumulative probability falls from 0.5 to 0.4; cumulative probabilities never fall"
        ]
    );
    assert_eq!(
        at("kind = \"star\"\nhosts = 4", "kind = \"file\"\nformat = \"links-csv\"\nfile = \"split.csv\""),
        [
            "s.toml:5: `topology.file`: the graph of `split.csv` is not connected: no path from host 0 to host 2; add the missing links, or write `largest_part = true` under [topology]"
        ]
    );
    let text = RIGHT
        .replacen("kind = \"star\"\nhosts = 4", RACKS, 1)
        .replacen(poisson, &list("two.csv"), 1)
        .replacen("[switch]", "[routing]\nkind = \"pinned\"\nfile = \"paths.csv\"\n[switch]", 1);
    for (file, expected) in [
        (
            "paths.csv",
            "paths.csv:2: `data_path` of flow 0 is not a path: no link from 1 to 5 (`leaf1`); a path leads from host 1 to host 2 over switches that are linked",
        ),
        ("twice.csv", "twice.csv:3: flow 0 already has a path, in line 2; write one line for each flow"),
        ("more.csv", "more.csv:3: there is no flow 7; remove the line"),
    ] {
        let s = load(&text.replace("paths.csv", file), "s.toml", &dir.0, &[]).expect("loads");
        assert_eq!(s.network().expect_err(file).to_string(), expected);
    }
}

#[test]
fn times_that_would_overflow_the_clock() {
    wrong("\"10ms\"", "\"1000001s\"", "s.toml:15: `run.until`: `1000001s` is too long (at most 1000000s)");
    wrong(
        "hosts = 4",
        "hosts = 4\ndelay = \"1000000s\"",
        "s.toml:2: `topology`: the round trip through the empty network is 4000000.000002464 s; at most 1000000s is allowed: raise link rates or lower delays",
    );
    // A clock so coarse that links would be infinitely fast.
    wrong(
        "hosts = 4",
        "hosts = 4\ntime_quantum = \"3us\"",
        "s.toml:5: `topology.time_quantum`: rounded down to multiples of 3us, the serialisation time of a packet of 1500 B at 10Gbps is zero; write at most the exact serialisation time, 1200ns",
    );
    wrong(
        "hosts = 4",
        "hosts = 4\nrate = \"5bps\"",
        "s.toml:2: `topology`: a link has a rate of 5bps; the lowest rate of a link is 1kbps",
    );
}

/// A name that the user registered is written like any other; for a wrong one those that exist are listed.
#[test]
fn registered_controllers_are_names_like_any_other() {
    use thalweg_machines::congestion::custom::{ControllerFactory, register_controller};
    register_controller(
        "mine",
        ControllerFactory {
            make: |_, _, _| Err("not made in this test".into()),
            load: |_, _| Err("neither".into()),
        },
    );
    let text = RIGHT.replacen("\"newreno\"", "\"mine\"", 1);
    let s = load(&text, "s.toml", Path::new("."), &[]).expect("known");
    assert!(s.to_toml().contains("congestion = { kind = \"custom\", name = \"mine\""), "{}", s.to_toml());
    let again = load(&s.to_toml(), "r.toml", Path::new("."), &[])
        .unwrap_or_else(|e| panic!("{}\n{}", e[0], s.to_toml()));
    assert!(again == s);
    wrong(
        "\"newreno\"",
        "{ kind = \"custom\", name = \"min\" }",
        "s.toml:9: `transport.congestion`: no controller is registered as `min`; did you mean `mine`? (known: mine); name the file that registers it with `--import FILE` (in Python: import it first)",
    );
}

/// Settings that some other setting makes idle: found by changing every key in many contexts and comparing runs.
#[test]
fn settings_that_others_make_idle() {
    let dctcp = |at: &str, more: &str| {
        format!(
            "\"100KB\"\nmarking = {{ kind = \"step\", threshold = \"15pkts\"{at} }}\n[transport]\ncongestion = {more}"
        )
    };
    let from = "\"100KB\"\n[transport]\ncongestion = \"newreno\"";
    wrong(
        from,
        &dctcp("", "\"dctcp-rate\"\ninitial_threshold = \"9pkts\""),
        "s.toml:11: `transport.initial_threshold`: it has no effect: a rate that starts at line rate has no slow start; remove the key",
    );
    wrong(
        from,
        &dctcp("", "\"dctcp-rate\"\nmax_window = \"90pkts\""),
        "s.toml:11: `transport.max_window`: it has no effect: a rate that starts at line rate never exceeds the initial window; remove the key",
    );
    wrong(
        "\"newreno\"",
        "\"fixed\"\nmax_window = \"90pkts\"",
        "s.toml:10: `transport.max_window`: it has no effect: a fixed window never exceeds the initial window; remove the key",
    );
    wrong(
        from,
        &dctcp("", "\"mintcp\"\necn = \"classic\""),
        "s.toml:11: `transport.ecn`: it has no effect: the controller does not react to ECN marks; write \"off\", or the controller newreno or dctcp",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nsyn_size = \"60B\"",
        "s.toml:10: `transport.syn_size`: it has no effect: without a handshake there is no SYN; write `handshake = true`",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nsyn_loss = \"linux\"",
        "s.toml:10: `transport.syn_loss`: it has no effect: without a handshake there is no SYN; write `handshake = true`",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\ndelayed_acks = { kind = \"on\", delay = \"501ms\" }",
        "s.toml:10: `transport.delayed_acks.delay`: 501ms is longer than 500 ms, the most that RFC 5681 §4.2 allows for an ACK; write at most \"500ms\"",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nflight = \"span\"\nlimited_transmit = true",
        "s.toml:11: `transport.limited_transmit`: it has no effect: with this `flight` a duplicate ACK makes no room for another segment; write false, or `flight = \"pipe\"`",
    );
    wrong(
        from,
        "\"100KB\"\nmarking = { kind = \"red\", min = 5, max = 15, ecn = false }\n[transport]\ncongestion = \"dctcp\"",
        "s.toml:10: `transport.congestion`: the controller needs ECN marks, but no queue marks packets; for example `switch.marking = { kind = \"step\", threshold = \"15pkts\" }`",
    );
    wrong(
        "\"fifo\"\nbuffer = \"100KB\"",
        "{ kind = \"fq\", overflow = \"tail\" }\nbuffer = \"unlimited\"",
        "s.toml:6: `switch.scheduler.overflow`: it has no effect: the buffer never overflows; limit `switch.buffer` or remove the key",
    );
    wrong(
        "\"fifo\"",
        "\"priority\"",
        "s.toml:6: `switch.scheduler`: it has no effect: all traffic is of class 0; write `class = 1` in a [[traffic]] section, or another scheduler",
    );
    wrong(
        "\"fifo\"\nbuffer = \"100KB\"\n[transport]\ncongestion = \"newreno\"",
        "\"srpt\"\nbuffer = \"100KB\"\n[transport]\nkind = \"udp\"",
        "s.toml:6: `switch.scheduler`: it has no effect: without ACKs no sender knows how much of its flow remains; write \"sjf\", or use a transport of kind tcp",
    );
    wrong(
        "[switch]",
        "[routing]\nkind = \"spray-random\"\n[switch]",
        "s.toml:5: `routing`: it has no effect: only one path joins any two hosts, so no rule has a choice; remove the key",
    );
    wrong(
        "\"newreno\"\n[[traffic]]",
        "\"mintcp\"\n[transports.x]\nmss = \"1000B\"\n[[traffic]]\ntransport = \"x\"",
        "s.toml:8: `transport`: it has no effect: no traffic uses this transport; remove it",
    );
    wrong(
        "buffer = \"100KB\"",
        "buffer = \"100KB\"\nshared_buffer = { total = \"400KB\" }",
        "s.toml:8: `switch.shared_buffer`: it has no effect: it never fills: `switch.buffer` limits each of the 4 ports of a switch to 100KB; raise `switch.buffer`, for example to \"unlimited\"",
    );
    wrong(
        "kind = \"star\"\nhosts = 4\n[switch]",
        "kind = \"pair\"\n[nic]\nbuffer = \"300KB\"\n[switch]",
        "s.toml:8: `switch.buffer`: it has no effect: the topology has no switch; remove the key",
    );
    wrong(
        "\"fifo\"",
        "\"fq\"\ncut_through = \"64B\"",
        "s.toml:7: `switch.cut_through`: schedulers other than fifo act on complete packets; cut-through needs the scheduler fifo at switches and hosts, marking at arrival, and no stages, shared buffer or priority histogram",
    );
}

/// What the engine cannot do is said with the key that asks for it.
#[test]
fn links_that_are_not_plain_and_links_that_fail_exclude_some_switches() {
    let text = |switch: &str, more: &str| {
        format!(
            "[topology]\nkind = \"dumbbell\"\npairs = 2\n[switch]\nbuffer = \"100KB\"\n{switch}\n[[traffic]]\n\
             kind = \"permutation\"\nsize = \"1KB\"\n{more}"
        )
    };
    let fails = "[[incident]]\nkind = \"link-failure\"\nlink = [\"switch0\", \"switch1\"]\nat = \"1us\"\n";
    let jitter =
        "[[link]]\nwhich = \"core-links\"\njitter = { kind = \"uniform\", max = \"1us\", reorder = true }\n";
    let cases = [
        (
            text("cut_through = \"64B\"", fails),
            "6: `switch.cut_through`: when a link fails, the header of a packet on it may",
        ),
        (
            text("cut_through = \"64B\"", jitter),
            "6: `switch.cut_through`: it cannot be computed when a header arrives over a link",
        ),
        (
            text("scheduler = \"sjf\"\npreemptive = true", jitter),
            "7: `switch.preemptive`: it cannot be computed when a transmission ends",
        ),
        (
            text("", &format!("{jitter}{fails}")),
            "15: `incident.0.link`: packets on this link overtake each other",
        ),
    ];
    for (text, expected) in cases {
        let errors =
            load(&text, "s.toml", Path::new("."), &[]).err().map(|e| e[0].to_string()).unwrap_or_default();
        assert!(errors.starts_with(&format!("s.toml:{expected}")), "{errors}");
    }
}

#[test]
fn more_files_that_are_missing_or_broken() {
    let dir = Folder::new(
        "more-errors",
        &[
            ("short.csv", "id,src,dst,size_bytes,start_ns\n0,1,2\n"),
            ("late.csv", "id,src,dst,size_bytes,start_ns\n0,1,2,1000,20000000\n"),
            ("empty-flow.csv", "id,src,dst,size_bytes,start_ns\n0,1,2,0,5\n"),
            ("header.csv", "src,dst\n1,2\n"),
            ("hpcc.txt", "2\n0 1 3 100 1000 0\n"),
            ("sizes.txt", "1000 0.5\n2000 0.9\n"),
            ("words.txt", "1000 half\n"),
            ("none.txt", ""),
            ("lonely.csv", "a,b,rate,delay\n0,1,10Gbps,1us\n2,3,10Gbps,1us\n"),
            ("alone.toml", "hosts = 3\nswitches = 2\nlinks = [{a=0,b=3},{a=0,b=4},{a=1,b=3}]"),
            ("no-node.csv", "a,b,rate,delay\n0,3,10Gbps,1us\n1,3,fast,1us\n"),
        ],
    );
    let at = |from: &str, to: &str| errors_in(&RIGHT.replacen(from, to, 1), &dir.0, &[]);
    let poisson = "kind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = 0.5";
    let list = |file: &str, more: &str| format!("kind = \"list\"\nfile = \"{file}\"{more}");
    let graph = |format: &str, file: &str| {
        format!(
            "kind = \"file\"\nformat = \"{format}\"\nfile = \"{file}\"\nrate = \"1Gbps\"\ndelay = \"1us\""
        )
    };
    let star = "kind = \"star\"\nhosts = 4";
    let cases: &[(&str, String, &str)] = &[
        (poisson, list("short.csv", ""), "short.csv:2: the row has 3 columns instead of 5"),
        (
            poisson,
            list("late.csv", ""),
            "late.csv:2: the flow starts at 20ms, and the run ends at 10ms; raise `run.until`",
        ),
        (
            poisson,
            list("empty-flow.csv", ""),
            "empty-flow.csv:2: a flow has at least 1 byte; write 1 or more",
        ),
        (
            poisson,
            list("header.csv", ""),
            "header.csv:1: `src,dst` has no column `start_ns`; expected the header `id,src,dst,size_bytes,start_ns`, in any order; other columns are not read",
        ),
        (
            poisson,
            list("hpcc.txt", "\nformat = \"hpcc\""),
            "hpcc.txt:1: the file has 1 flows instead of the 2 that it announces",
        ),
        (
            "\"heavy-tailed\"",
            "{ file = \"sizes.txt\" }".into(),
            "sizes.txt:2: the cumulative probability ends at 0.9; it must end at 1 (or at 100 per cent)",
        ),
        ("\"heavy-tailed\"", "{ file = \"words.txt\" }".into(), "words.txt:1: `half` is not a probability"),
        (
            "\"heavy-tailed\"",
            "{ file = \"none.txt\" }".into(),
            "none.txt: the file has no points; expected `size probability` on each line",
        ),
        (
            "\"heavy-tailed\"",
            "{ file = \"word.txt\" }".into(),
            "s.toml:12: `traffic.0.sizes.file`: there is no file `word.txt`; did you mean `words.txt`? (paths are relative to the scenario)",
        ),
        (
            star,
            graph("links-csv", "lonely.csv"),
            "s.toml:6: `topology.rate`: it has no effect: every link of `lonely.csv` has its own rate; remove the key",
        ),
        (
            star,
            graph("thalweg-toml", "alone.toml"),
            "s.toml:5: `topology.file`: the graph of `alone.toml` is not connected: no path to host 2; add the missing links, or write `largest_part = true` under [topology]",
        ),
        (
            star,
            graph("links-csv", "no-node.csv"),
            "no-node.csv:3: `fast` is not a rate: it does not begin with a number (units: bps, Kbps, Mbps, Gbps, Tbps)",
        ),
        (star, graph("graphml", "lonely.csv"), "lonely.csv: there is no <graph>; is this GraphML?"),
        (
            star,
            graph("gml", "lonely.csv"),
            "lonely.csv:1: `a,b,rate,delay` stands where a key is expected; write `key value`",
        ),
        (
            star,
            graph("links-csv", "nowhere.csv"),
            "s.toml:5: `topology.file`: there is no file `nowhere.csv`; paths are relative to the scenario",
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(at(from, to), [*expected]);
    }
    // What only shows when flows are drawn.
    let text = RIGHT.replacen(star, RACKS, 1).replacen(
        "[switch]",
        "[routing]\nkind = \"pinned\"\nfile = \"nowhere.csv\"\n[switch]",
        1,
    );
    let s = load(&text, "s.toml", &dir.0, &[]).expect("loads");
    assert_eq!(
        s.network().expect_err("no file").to_string(),
        "s.toml:9: `routing.file`: there is no file `nowhere.csv`; paths are relative to the scenario"
    );
}

/// Host links slower than the controller's smallest rate: an error, not a panic in the middle of the run.
#[test]
fn a_controller_that_its_host_s_line_is_too_slow_for() {
    let text = RIGHT
        .replacen("hosts = 4", "hosts = 4\nrate = \"500Mbps\"", 1)
        .replacen("\"100KB\"", "\"100KB\"\nmarking = { kind = \"step\", threshold = \"5pkts\" }", 1)
        .replacen("\"newreno\"", "\"dctcp-rate\"", 1);
    let errors = load(&text, "s.toml", Path::new("."), &[]).map(|_| ()).expect_err("too slow");
    assert_eq!(
        errors[0].to_string(),
        "s.toml:11: `transport.congestion.min_rate`: 1Gbps is above the rate of the slowest host, 500Mbps; at most \"500Mbps\""
    );
}

#[test]
fn a_row_of_stages() {
    let of = |from: &str, to: &str| errors_in(&RIGHT.replacen(from, to, 1), Path::new("."), &[]);
    let at_switches = |keys: &str| of("buffer = \"100KB\"", keys);
    let found = [
        at_switches("stages = [\"none\"]"),
        at_switches("stages = [\"codel\", { kind = \"policer\", rate = \"0bps\" }]"),
        at_switches("stages = [\"int\"]"),
        at_switches("stages = \"codel\""),
        of("scheduler = \"fifo\"", "scheduler = \"lifo\"\npreemptive = true\nstages = [\"codel\"]"),
        at_switches("stages = [\"codel\"]\ncut_through = \"64B\""),
        of("[run]", "[nic]\norder = \"round-robin\"\nstages = [\"codel\"]\n[run]"),
    ];
    let expected = [
        "s.toml:7: `switch.stages.0`: it has no effect: the stage `none` does nothing; remove it",
        "s.toml:7: `switch.stages.1.burst`: the key is missing; for example `burst = \"64KB\"`",
        "s.toml:7: `switch.stages.0`: `int` is not a choice; known: none, step, red, red-ecn, codel, pie, abc, xcp, rcp, \
         vcp, pi, policer, random-ecn",
        "s.toml:7: `switch.stages`: expected an array, found a string",
        "s.toml:7: `switch.preemptive`: stages in front of a queue act on whole transmissions; remove the key or \
         `switch.stages`",
        "s.toml:8: `switch.cut_through`: stages in front of a queue act on complete packets; cut-through needs the scheduler fifo at switches and hosts, marking at arrival, and no stages, shared buffer or priority histogram",
        "s.toml:16: `nic.stages`: it has no effect: with `nic.order = \"round-robin\"` flows keep their packets until the link is free, so NICs have no queue; remove the key",
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, &[expected]);
    }
}
