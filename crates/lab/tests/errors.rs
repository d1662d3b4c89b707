//! Every class of error, literally: file, line, key, reason, way out.

use std::path::{Path, PathBuf};
use thalweg_lab::load;

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
        "s.toml:7: `switch.bufer`: unknown key; did you mean `buffer`? (known: buffer, cut_through, marking, scheduler, shared_buffer)",
    );
    wrong(
        "hosts = 4",
        "hosts = 4\nleaves = 2",
        "s.toml:5: `topology.leaves`: unknown key; known: base_rtt, delay, hosts, rate, sink_rate, time_quantum",
    );
    wrong(
        "\"fifo\"",
        "\"ffio\"",
        "s.toml:6: `switch.scheduler`: `ffio` is not a choice; did you mean `fifo`? (known: fifo, drr, fq, priority, sjf, srpt, ads, custom)",
    );
    wrong(
        "kind = \"star\"",
        "kind = \"stars\"",
        "s.toml:3: `topology`: `stars` is not a choice; did you mean `star`? (known: pair, star, dumbbell, parking-lot, leaf-spine, fat-tree, file)",
    );
    wrong(
        "load = 0.5",
        "load = 0.5\nof = \"hosts\"",
        "s.toml:14: `traffic.0.of`: `hosts` is not a choice; did you mean `host-links`? (known: host-links, core-links)",
    );
    wrong(
        "load = 0.5",
        "load = 0.5\ntransport = \"fast\"",
        "s.toml:14: `traffic.0.transport`: there is no transport `fast`; known: default",
    );
    wrong(
        "name = \"t\"",
        "scheme = \"dctcp+sprt\"",
        "s.toml:1: `scheme`: there is no scheme `dctcp+sprt`; did you mean `dctcp+srpt`? (known: mintcp+fifo, mintcp+fq, mintcp+drr, mintcp+sjf, mintcp+srpt, mintcp+ads-2, mintcp+ads-4, mintcp+ads-8, tcp+fifo, tcp+fq, tcp+drr, tcp+sjf, tcp+srpt, tcp+ads-2, tcp+ads-4, tcp+ads-8, dctcp+fifo, dctcp+fq, dctcp+drr, dctcp+sjf, dctcp+srpt, dctcp+ads-2, dctcp+ads-4, dctcp+ads-8)",
    );
}

#[test]
fn types_units_and_ranges() {
    wrong(
        "\"100KB\"",
        "\"100Gbps\"",
        "s.toml:7: `switch.buffer`: `100Gbps` is not a size: `Gbps` is not a unit of this kind (units: B, KB, MB, GB, TB, KiB, MiB, GiB, pkts)",
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
    wrong(
        "kind = \"poisson\"\n",
        "",
        "s.toml:10: `traffic.0`: `kind` is missing; known kinds: poisson, permutation, all-to-all, incast, list, backlogged, flow, request-response, udp",
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
        "s.toml:5: `topology.base_rtt`: `delay` and `base_rtt` cannot both be given; remove one: `delay` is solved from `base_rtt`",
    );
    wrong(
        "\"newreno\"",
        "\"dctcp\"",
        "s.toml:9: `transport.congestion`: DCTCP needs ECN marks, but no queue marks packets; for example `switch.marking = { kind = \"step\", threshold = \"15pkts\" }`",
    );
    wrong(
        "buffer = \"100KB\"\n[transport]\ncongestion = \"newreno\"",
        "marking = { kind = \"step\", threshold = \"15pkts\" }\n[transport]\ncongestion = \"dctcp\"\necn = \"off\"",
        "s.toml:10: `transport.ecn`: DCTCP listens to ECN marks only, and ECN is off; write \"accurate\" or remove the key",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nrto = { kind = \"rfc6298\", min = \"2s\", max = \"1s\" }",
        "s.toml:10: `transport.rto.min`: the floor, 2s, is above the ceiling, 1s; swap them",
    );
    wrong(
        "[run]",
        "[measure]\nfrom = \"20ms\"\n[run]",
        "s.toml:15: `measure.from`: the measured window is empty: from 20ms until 10ms; `from` is before `until`",
    );
    wrong(
        "[run]",
        "[measure]\nuntil = \"20ms\"\n[run]",
        "s.toml:15: `measure.until`: the measured window ends at 20ms, after the run, 10ms; lower it or raise `run.until`",
    );
    wrong(
        "[run]",
        "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 0\nsize = \"1MB\"\n[run]",
        "s.toml:17: `traffic.1.dst`: a flow from host 0 to itself; choose another `dst`",
    );
    wrong(
        "[run]",
        "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 4\nsize = \"1MB\"\n[run]",
        "s.toml:17: `traffic.1.dst`: there is no host 4; hosts are 0 to 3",
    );
    wrong(
        "[run]",
        "[[traffic]]\nkind = \"incast\"\nfan_in = 4\nsize = \"1MB\"\n[run]",
        "s.toml:16: `traffic.1.fan_in`: 4 different senders, but there are 3 other hosts; at most 3, or `senders = \"with-replacement\"`",
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
        "s.toml:10: `transport.rank`: it has no effect: no scheduler looks at ranks; use the scheduler sjf, srpt or ads, or remove the key",
    );
    wrong(
        "load = 0.5",
        "load = 0.5\nclass = 1",
        "s.toml:14: `traffic.0.class`: it has no effect: no scheduler looks at classes; use the scheduler priority, or remove the key",
    );
    wrong(
        "\"newreno\"",
        "\"newreno\"\nloss = \"timeout-only\"\nlimited_transmit = true",
        "s.toml:11: `transport.limited_transmit`: it has no effect: it acts on duplicate ACKs, and `loss` is timeout-only; write false, or `loss = \"dup-ack\"`",
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
            "--set swich.buffer: `swich`: unknown key; did you mean `switch`? (known: measure, name, nic, routing, run, scheme, seed, switch, topology, traffic, transport, transports)"
        ]
    );
    assert_eq!(
        at(&[("traffic.7.load", "0.5")]),
        ["--set traffic.7.load: `traffic.7.load`: there is no element `7`; positions are counted from 0"]
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
        ["self.csv:3: a flow from host 3 to itself; src and dst differ"]
    );
    assert_eq!(
        at("\"heavy-tailed\"", "{ file = \"sizes.txt\" }"),
        ["sizes.txt:2: the cumulative probability falls from 0.5 to 0.4; it never falls"]
    );
    assert_eq!(
        at("kind = \"star\"\nhosts = 4", "kind = \"file\"\nformat = \"links-csv\"\npath = \"split.csv\""),
        [
            "s.toml:5: `topology.path`: the graph of `split.csv` is not connected: no path from host 0 to host 2; add the missing links"
        ]
    );
    let text = RIGHT.replacen(poisson, &list("two.csv"), 1).replacen(
        "[switch]",
        "[routing]\nkind = \"pinned\"\nfile = \"paths.csv\"\n[switch]",
        1,
    );
    let s = load(&text, "s.toml", &dir.0, &[]).expect("loads");
    assert_eq!(
        s.network().expect_err("no path").to_string(),
        "paths.csv:2: `data_path` of flow 0 is not a path: no link from 1 to 5; it leads from host 1 to host 2 over linked switches"
    );
}

#[test]
fn times_that_would_overflow_the_clock() {
    wrong("\"10ms\"", "\"1000001s\"", "s.toml:15: `run.until`: `1000001s` is too long (at most 1000000s)");
    wrong(
        "hosts = 4",
        "hosts = 4\ndelay = \"1000000s\"",
        "s.toml:2: `topology`: a round trip through the empty network takes 4000000.000002464 s; at most 1000000s: raise rates or lower delays",
    );
    wrong(
        "hosts = 4",
        "hosts = 4\nrate = \"5bps\"",
        "s.toml:2: `topology`: a link has the rate 5bps; links need a rate of at least 1kbps",
    );
}

/// A name that the user registered is written like any other; a wrong one is told which exist.
#[test]
fn registered_controllers_are_names_like_any_other() {
    use thalweg_machines::custom::{ControllerFactory, register_controller};
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
        "s.toml:9: `transport.congestion`: no controller is registered as `min`; did you mean `mine`? (known: mine)",
    );
}
