//! Every class of error about `[[link]]`, literally: file, line, key, reason, way out.

use crate::common::Folder;
use std::path::Path;
use thalweg_scenario::load;

/// A scenario that is right: two switches, one link between them that is a trace's.
const RIGHT: &str = r#"topology = { kind = "dumbbell", pairs = 2, host_rate = "100Mbps", delay = "10ms" }
run = { until = "2s" }
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
[[link]]
which = { between = ["switch0", "switch1"] }
transmitter = { kind = "traced", file = "x.trace" }
"#;

const FILES: &[(&str, &str)] = &[
    ("x.trace", "1\n2\n2\n1000\n"),
    ("long.trace", "1\n2\n5000\n"),
    ("slow.trace", "4000000\n"),
    ("empty.trace", "\n"),
    ("falls.trace", "1\n5\n4\n"),
    ("negative.trace", "1\n-2\n"),
    ("gaps.trace", "0\n0\n"),
    ("binary.trace", "\u{1f}\u{8}\u{0}\u{7}\n1\n"),
];

fn errors_in(text: &str, dir: &Path) -> Vec<String> {
    match load(text, "s.toml", dir, &[]) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

/// Replaces `from` by `to` in the right scenario; the one error that results.
#[track_caller]
fn wrong(dir: &Folder, from: &str, to: &str, expected: &str) {
    assert!(RIGHT.contains(from), "{from}");
    let errors = errors_in(&RIGHT.replacen(from, to, 1), &dir.0);
    assert_eq!(errors, [expected]);
}

const TRACED: &str = "{ kind = \"traced\", file = \"x.trace\" }";
const WHICH: &str = "{ between = [\"switch0\", \"switch1\"] }";

#[test]
fn traces() {
    let dir = Folder::new("errors-traces", FILES);
    assert_eq!(errors_in(RIGHT, &dir.0), Vec::<String>::new());
    let file = |name: &str, expected: &str| wrong(&dir, "x.trace", name, expected);
    let hint = "expected one opportunity on each line: milliseconds from the start of the trace";
    file("empty.trace", &format!("empty.trace: the trace has no delivery opportunities; {hint}"));
    file(
        "falls.trace",
        "falls.trace:3: the time falls from 5 to 4 ms; times must not fall; does the file list gaps between opportunities?",
    );
    file("negative.trace", &format!("negative.trace:2: the time `-2` is negative; {hint}"));
    file("binary.trace", &format!("binary.trace:1: `????` is not a time; {hint}"));
    file(
        "gaps.trace",
        "gaps.trace:2: the last opportunity is at 0 ms: repeated, the trace would never pass its start; the last line is the length of the trace, after which it starts over, and must be above 0",
    );
    file(
        "y.trace",
        "s.toml:9: `link.0.transmitter.file`: there is no file `y.trace`; did you mean `x.trace`? (paths are relative to the \
         scenario)",
    );
    file(
        "slow.trace",
        "s.toml:9: `link.0.transmitter`: its mean rate is 3bps; the lowest rate of a link is 1kbps",
    );
    #[cfg(unix)]
    file(
        "/dev/zero",
        "s.toml:9: `link.0.transmitter.file`: `/dev/zero` is not a regular file; pipes and devices are not read: copy it to a \
         file",
    );
    wrong(
        &dir,
        TRACED,
        "{ kind = \"traced\", file = \"long.trace\", repeat = false }",
        "s.toml:9: `link.0.transmitter.repeat`: it has no effect: the run ends at 2s, the trace at 5s; remove the key or raise \
         `run.until`",
    );
    wrong(
        &dir,
        TRACED,
        "{ kind = \"traced\", file = \"x.trace\", opportunity = \"0B\" }",
        "s.toml:9: `link.0.transmitter.opportunity`: 0B cannot leave at an opportunity; for example \"1504B\", Mahimahi's",
    );
}

#[test]
fn transmitters() {
    let dir = Folder::new("errors-transmitters", FILES);
    let kind = |table: &str, expected: &str| wrong(&dir, TRACED, table, expected);
    kind(
        "\"trace\"",
        "s.toml:9: `link.0.transmitter`: `trace` is not a choice; did you mean `traced`? (known: fixed, stepped, square-wave, \
         traced, cellular, batched)",
    );
    kind(
        "{ kind = \"fixed\", rate = \"10Gbps\" }",
        "s.toml:9: `link.0.transmitter`: it has no effect: the topology gives these links the rate 10Gbps already; write \
         another rate, or remove the `fixed` transmitter",
    );
    kind(
        "{ kind = \"stepped\", steps = [{ at = \"0s\", rate = \"1Mbps\" }] }",
        "s.toml:9: `link.0.transmitter.steps`: it has no effect: a single step is a fixed rate; write { kind = \"fixed\", rate \
         = \"1Mbps\" }",
    );
    let steps = "for example [{ at = \"0s\", rate = \"24Mbps\" }, { at = \"5s\", rate = \"12Mbps\" }]";
    kind(
        "{ kind = \"stepped\", steps = [{ at = \"1s\", rate = \"1Mbps\" }] }",
        &format!(
            "s.toml:9: `link.0.transmitter.steps`: the first step of a link is at 0, not at 1s; {steps}"
        ),
    );
    kind(
        "{ kind = \"stepped\", steps = [{ at = \"0s\", rate = \"1Mbps\" }, { at = \"2s\", rate = \"2Mbps\" }] }",
        "s.toml:9: `link.0.transmitter.steps.1.at`: it has no effect: the run ends at 2s; write an earlier time or raise \
         `run.until`",
    );
    kind(
        "{ kind = \"stepped\", steps = [{ at = \"0s\", rate = \"1Mbps\" }, { at = \"1s\", rate = \"1Mbps\" }] }",
        "s.toml:9: `link.0.transmitter.steps.1.rate`: it has no effect: the rate is 1Mbps already; write another rate, or \
         remove the step",
    );
    kind(
        "{ kind = \"stepped\", steps = [{ at = \"0s\", rate = \"1Mbps\" }, { at = \"1s\", rate = \"2Mbps\" }], period = \"3s\" }",
        "s.toml:9: `link.0.transmitter.period`: it has no effect: the run ends at 2s, before the steps begin again at 3s; \
         remove the key or raise `run.until`",
    );
    kind(
        "{ kind = \"square-wave\", first = \"1Mbps\", second = \"1Mbps\", half_period = \"1s\" }",
        "s.toml:9: `link.0.transmitter.second`: it has no effect: both rates are the same; write { kind = \"fixed\", rate = \
         \"1Mbps\" }",
    );
    kind(
        "{ kind = \"square-wave\", first = \"1Mbps\", second = \"2Mbps\", half_period = \"2s\" }",
        "s.toml:9: `link.0.transmitter.half_period`: it has no effect: the run ends at 2s, before the second rate begins; \
         write a shorter time or raise `run.until`",
    );
    kind(
        "{ kind = \"cellular\", min = \"30Mbps\" }",
        "s.toml:9: `link.0.transmitter.max`: 30Mbps is no more than the smallest rate; above `min`, \"30Mbps\"",
    );
    kind(
        "{ kind = \"cellular\", max = \"100Gbps\" }",
        "s.toml:9: `link.0.transmitter.length`: 100Gbps for 60s may have more than 20000000 opportunities; write a shorter \
         `length`, a lower `max` or larger opportunities",
    );
    kind(
        "{ kind = \"cellular\", outages = 0, outage_min = \"1s\" }",
        "s.toml:9: `link.0.transmitter.outage_min`: it has no effect: there are no outages; remove the key, or raise `outages`",
    );
    kind(
        "{ kind = \"batched\", rate = \"65Mbps\", frames = 0 }",
        "s.toml:9: `link.0.transmitter.frames`: 0 is out of range; allowed: at least 1 and at most 1000000",
    );
    kind(
        "{ kind = \"batched\", rate = \"65Mbps\", period = \"1s\" }",
        "s.toml:9: `link.0.transmitter.period`: it has no effect: the rate does not change; remove the key, or add `steps`",
    );
    kind(
        "{ kind = \"batched\", rate = \"65Mbps\", steps = [{ at = \"1s\", rate = \"0bps\" }] }",
        "s.toml:9: `link.0.transmitter.steps.0.rate`: no PHY rate is 0bps; write a rate above zero, for example \"6.5Mbps\"",
    );
    kind(
        "{ kind = \"batched\", rate = \"65Mbps\", steps = [{ at = \"0s\", rate = \"13Mbps\" }] }",
        "s.toml:9: `link.0.transmitter.steps`: steps of a link come in rising order, not 0ps after 0ps (`rate` holds from 0 on); \
         for example [{ at = \"2s\", rate = \"13Mbps\" }]",
    );
    kind(
        "{ kind = \"batched\", rate = \"65Mbps\", steps = [{ at = \"1s\", rate = \"65Mbps\" }] }",
        "s.toml:9: `link.0.transmitter.steps.0.rate`: it has no effect: the rate is 65Mbps already; write another rate, or \
         remove the step",
    );
    kind(
        "{ kind = \"batched\", rate = \"65Mbps\", frames = 1, one_user = true }",
        "s.toml:9: `link.0.transmitter.one_user`: it has no effect: a batch is one packet; remove the key, or raise `frames`",
    );
}

#[test]
fn batches_for_one_user_and_what_block_acks_report() {
    let dir = Folder::new("errors-batches", FILES);
    let users = "{ kind = \"batched\", rate = \"65Mbps\", one_user = true }";
    let with =
        |link: &str, more: &str| errors_in(&format!("{more}\n{}", RIGHT.replacen(TRACED, link, 1)), &dir.0);
    assert!(with(users, "").is_empty());
    assert_eq!(
        with(users, "switch = { scheduler = \"drr\" }"),
        [
            "s.toml:10: `link.0.transmitter.one_user`: batches for one user need the next packet in advance, which `switch.scheduler` does not know; \
          remove the key, or use the scheduler fifo"
        ]
    );
    let alone = RIGHT
        .replacen(TRACED, users, 1)
        .replacen("pairs = 2", "pairs = 1", 1)
        .replacen("dst = 2", "dst = 1", 1);
    assert_eq!(
        errors_in(&alone, &dir.0),
        [
            "s.toml:9: `link.0.transmitter.one_user`: it has no effect: all packets on these links go to one host anyway; remove the key"
        ]
    );
    let abc = "transport = { congestion = \"abc\" }\nswitch = { marking = { kind = \"abc\", exclude_idle = true } }";
    assert!(with("{ batched = \"65Mbps\" }", abc).is_empty());
    assert_eq!(
        with(TRACED, abc),
        [
            "s.toml:2: `switch.marking.exclude_idle`: it has no effect: no link of such a queue sends batches; remove the key, or \
          make a link `batched`"
        ]
    );
}

#[test]
fn losses_and_jitter() {
    let dir = Folder::new("errors-loss", FILES);
    let part = |line: &str, expected: &str| wrong(&dir, &format!("transmitter = {TRACED}"), line, expected);
    part(
        "loss = { independent = 0.0 }",
        "s.toml:9: `link.0.loss.probability`: 0 is out of range; allowed: above 0 and at most 1",
    );
    part(
        "loss = { kind = \"bursts\", enter = 0.1, leave = 0.2, good = 1.0 }",
        "s.toml:9: `link.0.loss.bad`: it has no effect: packets are lost alike in both states (1); write { kind = \
         \"independent\", probability = 1 }",
    );
    part(
        "jitter = { uniform = \"0s\" }",
        "s.toml:9: `link.0.jitter.max`: it has no effect: nothing is added to any delay; write a time above 0, or remove \
         `jitter`",
    );
    part(
        "jitter = { normal = \"1ms\" }",
        "s.toml:9: `link.0.jitter`: `kind` is missing; known kinds: uniform, exponential",
    );
    part(
        "",
        "s.toml:7: `link.0`: it sets nothing for its links; add `transmitter`, `loss`, `jitter`, `buffer` or `marking`",
    );
}

#[test]
fn patterns() {
    let dir = Folder::new("errors-which", FILES);
    let which = |pattern: &str, expected: &str| wrong(&dir, WHICH, pattern, expected);
    which(
        "{ between = [\"h0\", \"h1\"] }",
        "s.toml:8: `link.0.which.ends`: there is no link between 0 and 1; node 0 is linked to 4 (`switch0`)",
    );
    which(
        "{ between = [\"h0\", \"swich0\"] }",
        "s.toml:8: `link.0.which.ends.1`: there is no node `swich0`; nodes are `h0` to `switch1`, or by number 0 to 5",
    );
    which("{ ports = [9, 10] }", "s.toml:8: `link.0.which.ports.1`: there is no port 10; ports are 0 to 9");
    which(
        "{ ports = [8, 8] }",
        "s.toml:8: `link.0.which.ports.1`: it has no effect: port 8 is listed twice; list each once",
    );
    which(
        "{ ports = [] }",
        "s.toml:8: `link.0.which.ports`: it has no effect: no port is listed; ports are 0 to 9",
    );
    which(
        "{ ports = [8] }\ndirection = \"forward\"",
        "s.toml:9: `link.0.direction`: it has no effect: a port is one direction of a link; remove the key",
    );
    which(
        "\"core\"",
        "s.toml:8: `link.0.which`: `core` is not a choice; did you mean `core-links`? (known: all, host-links, server-links, core-links, \
         between, ports)",
    );
    let star = RIGHT.replace("kind = \"dumbbell\", pairs = 2, host_rate", "kind = \"star\", hosts = 3, rate");
    let star = star.replace(WHICH, "\"core-links\"");
    assert_eq!(
        errors_in(&star, &dir.0),
        [
            "s.toml:8: `link.0.which`: it has no effect: no link leads from a switch with hosts to another switch; write \"all\", \
          \"host-links\" or { between = [..] }"
        ]
    );
}

#[test]
fn sections_that_contradict_each_other_and_rates_that_no_link_has() {
    let dir = Folder::new("errors-overlap", FILES);
    let twice = format!("{RIGHT}[[link]]\nwhich = \"all\"\ntransmitter = {{ fixed = \"1Mbps\" }}\n");
    assert_eq!(
        errors_in(&twice, &dir.0),
        [
            "s.toml:1: `topology.host_rate`: it has no effect: every link that it applies to has a `transmitter` of its own; remove \
             the key",
            "s.toml:12: `link.1.transmitter`: link.0 sets it already for the direction from `switch0` to `switch1`; set it in one section for each direction of a link"
        ]
    );
    // Another direction, and another part, are not taken yet.
    let forward = RIGHT.replace(TRACED, &format!("{TRACED}\ndirection = \"forward\""));
    let more = "[[link]]\nwhich = \"all\"\ndirection = \"backward\"\ntransmitter = { fixed = \"1Mbps\" }\n[[link]]\nwhich = \"all\"\n\
                loss = { independent = 0.1 }\n";
    assert_eq!(errors_in(&(forward + more), &dir.0), Vec::<String>::new());
    let idle = "every link that it applies to has a `transmitter` of its own; remove the key";
    wrong(
        &dir,
        "pairs = 2",
        "pairs = 2, bottleneck_rate = \"1Gbps\"",
        &format!("s.toml:1: `topology.bottleneck_rate`: it has no effect: {idle}"),
    );
    // The default need not be left out, as a resolved scenario says everything.
    let right = RIGHT.replace("pairs = 2", "pairs = 2, bottleneck_rate = \"10Gbps\"");
    assert_eq!(errors_in(&right, &dir.0), Vec::<String>::new());
}

/// Links without a transmitter of their own take the rate if they have none of their own.
#[test]
fn a_rate_that_is_the_default_of_another_has_an_effect() {
    let dir = Folder::new("links-default-rates", &[("none", "")]);
    let flow = "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
    let fixed = "transmitter = { kind = \"fixed\", rate = \"25Gbps\" }\n";
    let rails = |more: &str| {
        format!(
            "transport = \"udp\"\n{flow}[topology]\nkind = \"rails\"\nservers = 2\ngpus = 2\nspines = 2\n\
             host_rate = \"200Gbps\"\n{more}[[link]]\nwhich = \"host-links\"\n{fixed}"
        )
    };
    let star = |more: &str| {
        format!(
            "transport = \"udp\"\n{flow}[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Gbps\"\n{more}\
             [[link]]\nwhich = {{ kind = \"between\", ends = [\"h1\", \"switch0\"] }}\n{fixed}"
        )
    };
    for text in [rails(""), star("")] {
        let one = load(&text, "s.toml", &dir.0, &[]).unwrap_or_else(|e| panic!("{}", e[0]));
        let two = load(&one.to_toml(), "resolved.toml", &dir.0, &[]).unwrap_or_else(|e| panic!("{}", e[0]));
        assert!(one == two, "{}", one.to_toml());
    }
    let idle =
        "it has no effect: every link that it applies to has a `transmitter` of its own; remove the key";
    for (text, key) in [
        (rails("spine_rate = \"100Gbps\"\n"), "s.toml:12: `topology.host_rate`"),
        (star("sink_rate = \"40Gbps\"\n"), "s.toml:10: `topology.rate`"),
    ] {
        assert_eq!(errors_in(&text, &dir.0), [format!("{key}: {idle}")]);
    }
}

#[test]
fn a_resolved_scenario_has_the_same_links() {
    let dir = Folder::new("links-resolved", FILES);
    let more = "loss = { kind = \"bursts\", enter = 0.1, leave = 0.5 }\njitter = { exponential = \"1ms\" }\n[[link]]\nwhich = \
                \"host-links\"\ndirection = \"backward\"\ntransmitter = \"cellular\"\n";
    let one = load(&format!("{RIGHT}{more}"), "s.toml", &dir.0, &[]).expect("right");
    let two = load(&one.to_toml(), "resolved.toml", &dir.0, &[]).expect("right again");
    assert!(one == two, "{}", one.to_toml());
    assert_eq!(one.files(), ["x.trace"]);
    let trace = |port: u32| one.graph().direction(thalweg_units::PortId(port)).mean_rate();
    // 4 x 1504 B in a second; each host's own.
    assert_eq!((trace(8).bps(), trace(9).bps()), (48_128, 48_128));
    assert_eq!(trace(0).bps(), 100_000_000);
    assert_ne!(trace(1), trace(3));
    let estimate = one.estimate().expect("an estimate");
    let traces = estimate.memory.iter().find(|(part, _)| *part == "traces").expect("traces").1;
    assert!(traces > 4 * 4 * 1000, "{traces} B");
}
