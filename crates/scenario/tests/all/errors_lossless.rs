//! Every refusal about flow control, switch memory, NICs and incidents, literally.

use std::path::Path;
use thalweg_scenario::load;

/// A scenario that is right; settings are laid over it.
const RIGHT: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, spine_rate = "10Gbps" }
[switch]
scheduler = "input-round-robin"
inputs = { memory = "60KB" }
pfc = {}
[nic]
order = "round-robin"
[transport]
kind = "rdma"
[[traffic]]
kind = "permutation"
size = "100KB"
[run]
until = "10ms"
"#;

pub const RAMP: (&str, &str) = ("switch.marking", "{kind=\"red-ecn\",min=\"5KB\",max=\"20KB\"}");
pub const GBN: (&str, &str) = ("transport.recovery", "go-back-n");
pub const LOSSY: (&str, &str) = ("switch", "{scheduler=\"input-round-robin\",inputs={memory=\"60KB\"}}");

pub fn refusals(set: &[(&str, &str)]) -> Vec<String> {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    match load(RIGHT, "s.toml", Path::new("."), &set) {
        Ok(_) => Vec::new(),
        // Where it was written is the same for all: an override.
        Err(errors) => errors
            .iter()
            .map(|e| {
                let text = e.to_string();
                text.split_once(": `").map_or(text.clone(), |(_, rest)| format!("`{rest}"))
            })
            .collect(),
    }
}

#[track_caller]
pub fn wrong(set: &[(&str, &str)], expected: &str) {
    assert_eq!(refusals(set), [expected]);
}

#[track_caller]
pub fn right(set: &[(&str, &str)]) {
    assert_eq!(refusals(set), Vec::<String>::new());
}

#[test]
fn what_is_right_is_accepted() {
    right(&[]);
    right(&[LOSSY]);
    right(&[GBN]);
    right(&[LOSSY, GBN]);
    right(&[RAMP, ("transport.congestion", "dcqcn")]);
    right(&[("transport.congestion", "timely")]);
    right(&[GBN, ("transport.congestion", "timely")]);
    right(&[("switch.inputs", "{shared=\"9MB\"}"), ("switch.pfc.threshold", "dynamic")]);
    right(&[("transport.segments", "{}"), GBN]);
}

#[test]
fn the_headroom_is_enough_and_the_sum_is_shown() {
    // 10 Gb/s x 2 x 1 us = 2500 B; packets of 1024 + 66 B; frames of 64 B.
    right(&[("switch.pfc.headroom", "5834B")]);
    wrong(
        &[("switch.pfc.headroom", "5833B")],
        "`switch.pfc.headroom`: 5833B is less than what may arrive after a pause was requested: 2500 B on the largest link both ways + 3 packets of 1090 B + a frame of 64 B = 5834 B; at least \"5834B\", or remove the key; losses that are meant: `lossy_ok = true`",
    );
    wrong(
        &[("switch.inputs.memory", "2500B")],
        "`switch.pfc.threshold.xoff`: the memory of an input, 2500B, is not above its headroom, 5834B; raise it, or `switch.inputs.memory`",
    );
    right(&[("switch.pfc", "{headroom=\"5833B\",lossy_ok=true}")]);
    wrong(
        &[("switch.pfc.lossy_ok", "true")],
        "`switch.pfc.lossy_ok`: it has no effect: the headroom, 5834B, is enough; remove the key, or write less than \"5834B\"",
    );
    wrong(
        &[("switch.pfc.frame", "0B"), ("switch.pfc.headroom", "9KB")],
        "`switch.pfc.frame`: 0B is not a frame size: it must be 1 B to 1 MB; for example \"64B\"",
    );
}

#[test]
fn thresholds() {
    wrong(
        &[("switch.pfc.threshold", "{kind=\"static\",xoff=\"10KB\",xon=\"11KB\"}")],
        "`switch.pfc.threshold.xon`: XON, 11KB, is above XOFF, 10KB; swap them",
    );
    wrong(
        &[("switch.pfc.threshold", "{kind=\"static\",xoff=\"59KB\"}")],
        "`switch.pfc.threshold.xoff`: XOFF, 59000 B, and headroom, 5834 B, are 64834 B, the memory of an input is 60KB; at most \"54166B\", or `switch.inputs.memory` at least \"64834B\"",
    );
    wrong(
        &[("switch.pfc.threshold", "{kind=\"static\",xoff=\"0B\"}")],
        "`switch.pfc.threshold.xoff`: a pause from the first byte on never ends; raise it, or `switch.inputs.memory`",
    );
    wrong(
        &[("switch.pfc.threshold", "dynamic")],
        "`switch.pfc.threshold`: a dynamic threshold is a fraction of shared memory, and there is none; write `switch.inputs = { shared = \"9MB\" }`",
    );
    wrong(
        &[("switch.inputs", "{shared=\"9MB\"}")],
        "`switch.pfc`: shared memory says nothing about the length at which an input pauses; for example `threshold = { kind = \"static\", xoff = \"100KB\" }`, or the kind \"dynamic\"",
    );
    // A leaf has two hosts and two spines.
    wrong(
        &[("switch.inputs", "{shared=\"50KB\"}"), ("switch.pfc.threshold", "{xoff=\"7KB\"}")],
        "`switch.inputs.shared`: the 4 inputs of a switch claim 12834 B each (XOFF and headroom): 51336 B, and the memory has 50KB; at least \"51336B\"",
    );
    wrong(
        &[("switch.inputs", "{shared=\"30KB\"}"), ("switch.pfc.threshold", "dynamic")],
        "`switch.inputs.shared`: the 4 inputs of a switch claim 9930 B each (reserve and headroom): 39720 B, and the memory has 30KB; at least \"39720B\"",
    );
}

#[test]
fn memory_by_input() {
    wrong(
        &[("switch.inputs.shared", "9MB")],
        "`switch.inputs.shared`: `memory` of each input and `shared` memory exclude each other; remove one of the two",
    );
    wrong(
        &[("switch", "{inputs={}}")],
        "`switch.inputs`: no amount of memory is given; write `memory = \"240KB\"`",
    );
    wrong(
        &[("switch", "{inputs={memory=\"1089B\"}}")],
        "`switch.inputs.memory`: 1089B cannot hold one packet of 1090 bytes; at least \"1090B\"",
    );
    wrong(
        &[("switch.buffer", "500KB")],
        "`switch.buffer`: with memory by input, output queues have no limit of their own; write \"unlimited\" or remove the key",
    );
    wrong(
        &[("switch.shared_buffer", "{total=\"90KB\"}"), ("nic.buffer", "unlimited")],
        "`switch.shared_buffer`: memory is counted by input or by output port, not by both; remove the key or `switch.inputs`",
    );
    wrong(
        &[("switch", "{scheduler=\"input-round-robin\"}")],
        "`switch.scheduler`: it serves the inputs of a switch one by one, and `switch.inputs` is not set; write `switch.inputs = { memory = \"240KB\" }`, or another scheduler",
    );
    wrong(
        &[("switch", "{pfc={}}")],
        "`switch.pfc`: flow control pauses by the memory of inputs, and `switch.inputs` is not set; write `switch.inputs = { memory = \"240KB\" }`",
    );
    wrong(
        &[("topology", "{kind=\"pair\"}"), ("switch", "{inputs={memory=\"60KB\"}}")],
        "`switch.inputs`: it has no effect: the topology has no switch; remove the key",
    );
    wrong(
        &[("topology", "{kind=\"star\",hosts=257}")],
        "`switch.inputs`: a switch has 257 ports, and at most 256 inputs can be counted; use smaller switches, or remove the key",
    );
    wrong(
        &[("switch.marking", "{kind=\"codel\"}")],
        "`switch.marking`: it drops packets, and `switch.pfc` is for networks that drop none; mark with the kind \"red-ecn\" or \"step\", or remove `switch.pfc`",
    );
}

#[test]
fn crossbars() {
    const ONE: (&str, &str) =
        ("switch", "{scheduler=\"input-round-robin\",inputs={memory=\"60KB\",crossbar=\"one-per-input\"}}");
    right(&[ONE]);
    wrong(
        &[ONE, ("switch.scheduler", "fifo")],
        "`switch.inputs.crossbar`: a crossbar connects inputs and outputs, and `switch.scheduler` does not serve inputs in turn; write `scheduler = \"input-round-robin\"`",
    );
    wrong(
        &[ONE, ("switch.control_first", "true")],
        "`switch.inputs.crossbar`: control packets that go first bypass the crossbar; remove the key or `switch.control_first`",
    );
    wrong(
        &[ONE, ("link", "[{which=\"all\",jitter={uniform=\"1us\"}}]")],
        "`switch.inputs.crossbar`: some link has a varying rate, jitter or loss, and then the link decides when its port sends, not the crossbar; use links of fixed rate and delay without loss, or remove the key",
    );
    wrong(
        &[("switch.inputs.crossbar", "one-per-inputs")],
        "`switch.inputs.crossbar`: `one-per-inputs` is not a choice; did you mean `one-per-input`? (known: unlimited, one-per-input)",
    );
}

#[test]
fn whole_packets_only() {
    for key in ["switch.inputs", "switch.control_first", "nic.order"] {
        let (scheduler, set) = match key {
            "switch.inputs" => ("fifo", ("switch.inputs", "{memory=\"60KB\"}")),
            "switch.control_first" => ("fifo", (key, "true")),
            _ => ("fifo", (key, "round-robin")),
        };
        let order = if key == "nic.order" { "round-robin" } else { "queue" };
        let plain = [("switch", "{}"), ("nic", "{}"), ("nic.order", order), set];
        let with = |more: &[(&'static str, &'static str)]| [&plain[..], more].concat();
        right(&plain);
        let expected = format!(
            "`switch.cut_through`: `{key}` needs store and forward, and whole transmissions; remove the key or `{key}`"
        );
        wrong(&with(&[("switch.scheduler", scheduler), ("switch.cut_through", "64B")]), &expected);
        let expected = format!(
            "`switch.preemptive`: `{key}` needs store and forward, and whole transmissions; remove the key or `{key}`"
        );
        let lifo = [("switch.scheduler", "lifo"), ("nic.scheduler", "fifo"), ("switch.preemptive", "true")];
        wrong(&with(&lifo), &expected);
    }
}

#[test]
fn nics() {
    let why = "it has no effect: with `nic.order = \"round-robin\"` flows keep their packets until the link is free, so NICs have no queue; remove the key";
    wrong(&[("nic.scheduler", "drr")], &format!("`nic.scheduler`: {why}"));
    wrong(&[("nic.buffer", "100KB")], &format!("`nic.buffer`: {why}"));
    let ramp = "{kind=\"red-ecn\",min=\"5KB\",max=\"20KB\"}";
    wrong(
        &[RAMP, ("nic.marking", ramp), ("transport.congestion", "dcqcn")],
        &format!("`nic.marking`: {why}"),
    );
    wrong(
        &[("nic", "{scheduler=\"input-round-robin\"}")],
        "`nic.scheduler`: a host has no inputs to serve in turn; write \"fifo\", or `nic.order = \"round-robin\"`",
    );
    wrong(
        &[LOSSY, ("nic.pause_control", "false")],
        "`nic.pause_control`: it has no effect: without `switch.pfc` nothing is paused; remove the key",
    );
    wrong(
        &[("nic", "{pause_control=false}")],
        "`nic.pause_control`: it has no effect: control packets wait in the queue of data, which is paused with them; write `switch.control_first = true`, or `nic.order = \"round-robin\"`",
    );
    wrong(
        &[("switch.pfc", "{quanta=35}")],
        "`switch.pfc.quanta`: a pause of 35 quanta may expire before its refresh has left, behind a packet of 1090 B; at least 37",
    );
    right(&[("switch.pfc", "{quanta=37}")]);
    wrong(
        &[LOSSY, ("measure.pauses", "true")],
        "`measure.pauses`: it has no effect: without `switch.pfc` nothing is paused; remove the key",
    );
    wrong(
        &[("switch", "{scheduler=\"fifo\"}"), ("measure.memory", "true")],
        "`measure.memory`: it has no effect: without `switch.inputs` no switch counts memory by input; remove the key, or write `switch.inputs = { memory = \"240KB\" }`",
    );
    wrong(
        &[("transport", "{kind=\"udp\"}"), ("switch.control_first", "true")],
        "`switch.control_first`: it has no effect: nothing is acknowledged, so there are no control packets; remove the key",
    );
}

#[test]
fn incidents() {
    let failure = |inside: &str| ("incident".to_owned(), format!("[{{kind=\"link-failure\",{inside}}}]"));
    let wrong_failure = |inside: &str, expected: &str| {
        let (k, v) = failure(inside);
        wrong(&[(&k, &v)], expected);
    };
    right(&[("incident", "[{kind=\"link-failure\",at=\"1ms\",until=\"2ms\",link=[6,4]}]")]);
    wrong_failure(
        "at=\"1ms\",link=[0,5]",
        "`incident.0.link`: there is no link between 0 and 5 (`leaf1`); node 0 is linked to 4 (`leaf0`)",
    );
    wrong_failure("at=\"1ms\",link=[0,99]", "`incident.0.link`: there is no node 99; nodes are 0 to 7");
    wrong_failure(
        "at=\"1ms\",link=[0]",
        "`incident.0.link`: expected 2 entries, found 1; for example `[0,4]`",
    );
    wrong_failure(
        "at=\"10ms\",link=[4,6]",
        "`incident.0.at`: it has no effect: the run is over by then: it ends at 10ms; write an earlier time or raise `run.until`",
    );
    wrong_failure(
        "at=\"2ms\",until=\"1ms\",link=[4,6]",
        "`incident.0.until`: it ends at 1ms, and begins at 2ms; write an `until` later than `at`",
    );
    wrong_failure(
        "at=\"2ms\",until=\"10ms\",link=[4,6]",
        "`incident.0.until`: it has no effect: the run is over by then: it ends at 10ms; remove the key or raise `run.until`",
    );
    wrong_failure(
        "at=\"2ms\",until=\"4ms\",link=[4,6]},{kind=\"link-failure\",at=\"3ms\",link=[6,4]",
        "`incident.1`: it overlaps with incident 0; let one end before the other begins",
    );
    right(&[(
        "incident",
        "[{kind=\"link-failure\",at=\"2ms\",until=\"3ms\",link=[4,6]},{kind=\"link-failure\",at=\"3ms\",link=[6,4]}]",
    )]);
    wrong(
        &[("routing.convergence", "2ms")],
        "`routing.convergence`: it has no effect: no link ever fails; remove the key, or add an [[incident]] of kind \"link-failure\"",
    );
    let loss = |inside: &str| format!("[{{kind=\"pause-loss\",{inside}}}]");
    right(&[("incident", &loss("probability=0.5"))]);
    wrong(
        &[LOSSY, ("incident", &loss("probability=0.5"))],
        "`incident.0`: it has no effect: without `switch.pfc` there are no pause frames to lose; remove it, or write `switch.pfc = {}`",
    );
    wrong(
        &[("incident", &loss("probability=0.5,port=0"))],
        "`incident.0.port`: it has no effect: port 0 belongs to host 0, and hosts send no pause frames; the other direction of the link is port 1",
    );
    // A host's further link is a node of its own, with a number that no host has.
    let rails = ("topology", "{kind=\"rails\",servers=2,gpus=2,spines=2}");
    wrong(
        &[rails, ("switch.inputs.memory", "1MB"), ("incident", &loss("probability=0.5,port=18"))],
        "`incident.0.port`: it has no effect: port 18 belongs to host 1 (`h1.1`), and hosts send no pause frames; the other direction of the link is port 19",
    );
    wrong(
        &[("incident", &loss("probability=0.5,port=16"))],
        "`incident.0.port`: there is no port 16; ports are 0 to 15",
    );
    wrong(
        &[("incident", &loss("probability=0.0"))],
        "`incident.0.probability`: 0 is out of range; allowed: above 0 and at most 1",
    );
    wrong(
        &[(
            "incident",
            "[{kind=\"pause-loss\",probability=0.5},{kind=\"pause-loss\",probability=0.1,port=1}]",
        )],
        "`incident.1`: it overlaps with incident 0; let one end before the other begins",
    );
}

const BFC: (&str, &str) = ("switch", "{scheduler=\"bfc\",inputs={shared=\"2MB\"},backpressure={}}");

#[test]
fn backpressure_that_names_flows_or_elides_is_refused_with_what_it_does_not_fit() {
    right(&[BFC, ("switch.backpressure.pauses", "flow")]);
    right(&[BFC, ("switch.backpressure.elide", "cycles")]);
    wrong(
        &[BFC, ("switch.backpressure.pauses", "flow"), ("switch.backpressure.every", "5us")],
        "`switch.backpressure.every`: it has no effect: frames that name flows are not repeated, and no pause of a flow expires; remove the key",
    );
    wrong(
        &[
            BFC,
            ("switch.backpressure.pauses", "flow"),
            ("incident", "[{kind=\"pause-loss\",probability=0.5}]"),
        ],
        "`switch.backpressure.pauses`: pause frames that name flows are not repeated, so one lost in an incident would stop its flow for ever; write \"queue\", or remove the incidents",
    );
    wrong(
        &[
            BFC,
            ("switch.backpressure.pauses", "flow"),
            ("switch.scheduler.sampling", "0.5"),
            ("nic.scheduler", "fifo"),
            ("nic.order", "queue"),
        ],
        "`switch.scheduler.sampling`: which flows wait where is not known if only some of their packets are counted; remove the key, or write `pauses = \"queue\"`",
    );
    // A star has nothing that could close a cycle.
    wrong(
        &[BFC, ("topology", "{kind=\"star\",hosts=4}"), ("switch.backpressure.elide", "cycles")],
        "`switch.backpressure.elide`: it has no effect: no routes of this topology close a cycle of pauses; remove the key",
    );
}

#[test]
fn what_the_tofino_does_late_is_refused_where_it_has_no_effect() {
    let hashed = ("switch.scheduler.assignment", "hashed");
    let all = "{kind=\"bfc\",bitmap_stale=\"1us\",pipelines=4,post_queue=3,recirc_delay=\"500ns\"}";
    right(&[BFC, ("switch.scheduler", all)]);
    right(&[BFC, hashed, ("switch.scheduler.recirc_delay", "500ns")]);
    wrong(
        &[
            ("switch", "{scheduler={kind=\"bfc\",assignment=\"hashed\"}}"),
            ("switch.scheduler.recirc_delay", "500ns"),
        ],
        "`switch.scheduler.recirc_delay`: it has no effect: none is paused, and with `assignment = \"hashed\"` a flow's queue follows from its hash; remove the key",
    );
    wrong(
        &[BFC, hashed, ("switch.scheduler.bitmap_stale", "1us")],
        "`switch.scheduler.bitmap_stale`: it has no effect: with `assignment = \"hashed\"` no empty queue is looked for; remove the key",
    );
    wrong(
        &[BFC, hashed, ("switch.scheduler.pipelines", "4")],
        "`switch.scheduler.pipelines`: it has no effect: with `assignment = \"hashed\"` no empty queue is looked for; remove the key",
    );
    wrong(
        &[BFC, ("switch.scheduler.pipelines", "17")],
        "`switch.scheduler.pipelines`: 17 is out of range; allowed: at least 1 and at most 16",
    );
    wrong(
        &[BFC, ("switch.scheduler.post_queue", "2000")],
        "`switch.scheduler.post_queue`: 2000 is out of range; allowed: at least 0 and at most 1024",
    );
    wrong(
        &[("switch", "{scheduler={kind=\"bfc\",pipelines=2}}")],
        "`switch.scheduler`: it serves the inputs of a switch one by one, and `switch.inputs` is not set; write `switch.inputs = { memory = \"240KB\" }`, or another scheduler",
    );
}

#[test]
fn the_nic_order_of_another_simulator_is_called_after_it() {
    let text = "[topology]\nkind = \"pair\"\n[nic]\norder = \"circle\"\n\
                [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1KB\"\n";
    let errors = thalweg_scenario::load(text, "s.toml", std::path::Path::new("."), &[]).expect_err("renamed");
    let line = errors[0].to_string();
    assert!(line.starts_with("s.toml:4: `nic.order`: `circle` is not a choice"), "{line}");
    assert!(line.ends_with("`circle` is now called `hpcc-simulator`"), "{line}");
}
