//! Laws that hold in every scenario: packets are conserved, runs are functions of their scenario, and a run cut
//! anywhere goes on as if nothing had been.
use crate::common::*;
use std::path::{Path, PathBuf};
use thalweg_lab::Run;
use thalweg_scenario::load;
use thalweg_units::Stream;

const SCHEDULERS: &[&str] = &[
    "\"fifo\"",
    "\"drr\"",
    "{ kind = \"drr\", overflow = \"tail\" }",
    "\"fq\"",
    "{ kind = \"fq\", overflow = \"tail\" }",
    "{ kind = \"priority\", classes = 3 }",
    "\"sjf\"",
    "\"srpt\"",
    "{ kind = \"ads\", queues = 4, map = { kind = \"dynamic\", interval = \"200us\" } }",
    "{ kind = \"ads\", queues = 2, map = { kind = \"static\", counts = [1, 9, 5, 3, 3, 3, 3, 9] } }",
];
const TRANSPORTS: &[&str] = &[
    "congestion = \"newreno\"",
    "congestion = \"newreno\"\nsack = \"off\"\nhandshake = true\ndelayed_acks = \"on\"",
    "congestion = \"newreno\"\necn = \"classic\"",
    "congestion = \"dctcp\"\ninitial_window = \"14pkts\"",
    "congestion = \"dctcp-rate\"\ninitial_window = \"14pkts\"",
    "congestion = \"mintcp\"\nloss = \"timeout-only\"\nprobe_after = 2\ninitial_window = \"14pkts\"",
    "congestion = \"fixed\"\nflight = \"span\"",
];

/// Random flows at 70 %, an incast, a request and its response, datagrams; small buffers. Every law is checked.
fn mixed(scheduler: &str, transport: &str, seed: u64) -> String {
    let class = if scheduler.contains("priority") { "class = 1\n" } else { "" };
    let marks = transport.contains("dctcp") || transport.contains("classic");
    let marking = if marks { "marking = { kind = \"step\", threshold = \"6pkts\" }\n" } else { "" };
    format!(
        "seed = {seed}\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\nspine_rate = \"10Gbps\"\n\
         [routing]\nkind = \"spray-random\"\n\
         [switch]\nscheduler = {scheduler}\nbuffer = \"20KB\"\n{marking}\
         [transport]\n{transport}\nrto = {{ kind = \"rfc6298\", initial = \"200us\", min = \"100us\", max = \"1ms\" }}\n\
         [transports.gram]\nkind = \"udp\"\n\
         [[traffic]]\nkind = \"poisson\"\nsizes = {{ uniform = {{ min = \"1KB\", max = \"50KB\", steps = 9 }} }}\nload = 0.7\nuntil = \"600us\"\n\
         [[traffic]]\nkind = \"incast\"\nfan_in = 6\nsize = \"30KB\"\nat = \"50us\"\nperiod = \"200us\"\nrepeat = 3\n{class}\
         [[traffic]]\nkind = \"request-response\"\nclient = 0\nserver = 5\nrequest = \"100B\"\nresponse = \"20KB\"\ncount = 4\nthink = \"9us\"\n\
         [[traffic]]\nkind = \"poisson\"\nsizes = {{ fixed = \"3KB\" }}\nload = 0.1\nuntil = \"600us\"\ntransport = \"gram\"\n\
         [[traffic]]\nkind = \"udp\"\nsrc = 1\ndst = 6\nrate = \"1Gbps\"\nspacing = \"poisson\"\n\
         [run]\nuntil = \"5ms\"\ncheck = true\n"
    )
}

#[test]
fn no_packet_is_lost_or_made_under_any_scheduler_and_transport() {
    for (i, scheduler) in SCHEDULERS.iter().enumerate() {
        for (j, transport) in TRANSPORTS.iter().enumerate() {
            let run = run(&mixed(scheduler, transport, 1 + (i * 7 + j) as u64));
            let what = format!("{scheduler} {transport}");
            assert!(run.summary()["drops"].as_u64() > Some(0), "{what}: the buffers are small on purpose");
            // Every byte of a flow with an ACK for all of it has been delivered, once.
            let (size, delivered) = (column(&run, "flows", "size"), column(&run, "flows", "delivered"));
            let (received, acked) = (column(&run, "flows", "received_ps"), column(&run, "flows", "acked_ps"));
            let group = column(&run, "flows", "group");
            for f in 0..size.len() {
                // Without end: null.
                let end = if size[f] < 0 { i128::MAX } else { size[f] };
                assert!(delivered[f] <= end, "{what}: flow {f}");
                assert_eq!(delivered[f] == end, received[f] >= 0, "{what}: flow {f}");
                let tcp = ![3, 4].contains(&group[f]);
                assert!(!tcp || acked[f] < 0 || acked[f] >= received[f], "{what}: flow {f}");
            }
            // No flow starves. (DCTCP on rates is made for networks without losses.)
            let done = received.iter().filter(|t| **t >= 0).count();
            assert!(done * 10 > size.len() * 8, "{what}: {done} of {} flows", size.len());
        }
    }
}

#[test]
fn two_runs_of_a_scenario_write_the_same_bytes() {
    for (i, scheduler) in SCHEDULERS.iter().enumerate() {
        let text = mixed(scheduler, TRANSPORTS[i % TRANSPORTS.len()], 3);
        let (one, two) = (run(&text), run(&text));
        assert_eq!(one.digest(), two.digest(), "{scheduler}");
        assert!(bytes(&one) == bytes(&two), "{scheduler}");
        assert_eq!(one.summary().to_string(), two.summary().to_string(), "{scheduler}");
    }
}

/// The run's results do not depend on how it was cut into steps, nor on saving and loading it in between.
#[track_caller]
fn cut(name: &str, text: &str, dir: &Path, set: &[(String, String)]) {
    let s = load(text, name, dir, set).unwrap_or_else(|e| panic!("{}", e[0]));
    let straight = finish(&s);
    let events = straight.progress().events;
    assert!(events > 5, "{name}: {events} events are not much of a run");
    let mut draw = Stream::new(11, name, 0);
    let mut run = Run::new(&s).unwrap_or_else(|e| panic!("{e}"));
    for _ in 0..3 {
        run.step(1 + draw.below(events.div_ceil(3)));
        run = Run::load(&run.save()).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    while run.step(1 + draw.below(events)) {}
    assert_eq!(run.digest(), straight.digest(), "{name}");
    assert!(bytes(&run) == bytes(&straight), "{name}");
    assert_eq!(run.summary(), straight.summary(), "{name}");
}

#[test]
fn a_mixed_run_cut_saved_and_resumed_ends_like_the_straight_run() {
    for (i, scheduler) in SCHEDULERS.iter().enumerate() {
        for round in 0..2 {
            let transport = TRANSPORTS[(i + 3 * round) % TRANSPORTS.len()];
            let text = mixed(scheduler, transport, 9).replace("check = true", "check = false");
            cut(&format!("{scheduler} {transport}"), &text, Path::new("."), &[]);
        }
    }
}

/// Every scenario of the repository, made small.
fn scenarios(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        if path.is_dir()
            && !name.starts_with('.')
            && !["target", "out", "runs", "node_modules"].contains(&name.as_str())
        {
            scenarios(&path, out);
        } else if name.ends_with(".toml") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if text.lines().any(|l| l.trim() == "[[traffic]]") {
                out.push(path);
            }
        }
    }
}

#[test]
fn every_scenario_of_the_repository_can_be_cut_saved_and_resumed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    scenarios(&root, &mut found);
    let mut cuts = 0;
    for path in found {
        // A recording streams out of its run: what has been taken of it is not saved.
        let text = std::fs::read_to_string(&path).expect("a file");
        let text: String =
            text.lines().filter(|l| !l.starts_with("packets = {")).map(|l| format!("{l}\n")).collect();
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let dir = path.parent().unwrap_or(Path::new("."));
        // Small: few events, small fat-trees, few flows.
        let mut set = vec![("run.max_events".to_owned(), "60000".to_owned())];
        // (An incast of different hosts needs them.)
        if text.contains("fat-tree") && !text.contains("senders = \"distinct\"") {
            set.push(("topology.k".into(), "4".into()));
        }
        let mut section = 0;
        for line in text.lines().map(str::trim) {
            match line.split(" = ").next() {
                Some("[[traffic]]") => section += 1,
                Some("kind") if line.ends_with("\"poisson\"") => {
                    set.push((format!("traffic.{}.max_flows", section - 1), "2000".into()));
                }
                // Half of the hosts that are left.
                Some("stride") => set.push((format!("traffic.{}.stride", section - 1), "8".into())),
                _ => {}
            }
        }
        if let Err(errors) = load(&text, &name, dir, &set) {
            let why = errors[0].to_string();
            // Plug-ins live in the programs that register them; reference data next to the repository.
            let elsewhere = why.contains("is registered as") || why.contains("there is no file");
            assert!(elsewhere, "{why}");
            eprintln!("SKIPPED: {why}");
            continue;
        }
        cut(&name, &text, dir, &set);
        cuts += 1;
    }
    assert!(cuts >= 6, "{cuts} scenarios");
}
