//! Every refusal about RDMA, flow control, NICs, incidents and RPCs, literally.

use std::path::Path;
use thalweg_lab::load;

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

const RAMP: (&str, &str) = ("switch.marking", "{kind=\"red-ecn\",min=\"5KB\",max=\"20KB\"}");
const GBN: (&str, &str) = ("transport.recovery", "go-back-n");
const LOSSY: (&str, &str) = ("switch", "{scheduler=\"input-round-robin\",inputs={memory=\"60KB\"}}");

fn says(set: &[(&str, &str)]) -> Vec<String> {
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
fn wrong(set: &[(&str, &str)], expected: &str) {
    assert_eq!(says(set), [expected]);
}

#[track_caller]
fn right(set: &[(&str, &str)]) {
    assert_eq!(says(set), Vec::<String>::new());
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
        "`switch.pfc.headroom`: 5833B is less than what may arrive after a pause was asked for: 2500 B on the largest link both ways + 3 packets of 1090 B + a frame of 64 B = 5834 B; at least \"5834B\", or remove the key; losses that are meant: `lossy_ok = true`",
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
        "`switch.pfc.frame`: a frame of 0B is impossible; for example \"64B\"",
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
        "`switch.inputs.shared`: 4 inputs of XOFF and headroom 12834 B claim 51336 B, the memory has 50KB; at least \"51336B\"",
    );
    wrong(
        &[("switch.inputs", "{shared=\"30KB\"}"), ("switch.pfc.threshold", "dynamic")],
        "`switch.inputs.shared`: 4 inputs of reserve and headroom 9930 B claim 39720 B, the memory has 30KB; at least \"39720B\"",
    );
}

#[test]
fn memory_by_input() {
    wrong(
        &[("switch.inputs.shared", "9MB")],
        "`switch.inputs.shared`: `memory` of each input and `shared` memory exclude each other; remove one",
    );
    wrong(
        &[("switch", "{inputs={}}")],
        "`switch.inputs`: nobody says how much memory there is; write `memory = \"240KB\"`",
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
        "`switch.shared_buffer`: memory belongs to inputs or to output ports, not to both; remove the key or `switch.inputs`",
    );
    wrong(
        &[("switch", "{scheduler=\"input-round-robin\"}")],
        "`switch.scheduler`: it serves the inputs of a switch, which has none; write `switch.inputs = { memory = \"240KB\" }`, or another scheduler",
    );
    wrong(
        &[("switch", "{pfc={}}")],
        "`switch.pfc`: flow control looks at the memory of inputs, and there is none; write `switch.inputs = { memory = \"240KB\" }`",
    );
    wrong(
        &[("topology", "{kind=\"pair\"}"), ("switch", "{inputs={memory=\"60KB\"}}")],
        "`switch.inputs`: it has no effect: the topology has no switch; remove the key",
    );
    wrong(
        &[("topology", "{kind=\"star\",hosts=257}")],
        "`switch.inputs`: a switch has 257 links; at most 256, or remove the key",
    );
    wrong(
        &[("switch.marking", "{kind=\"codel\"}")],
        "`switch.marking`: it drops packets, which a network with flow control does not mend; mark with the kind \"red-ecn\" or \"step\", or remove `switch.pfc`",
    );
}

#[test]
fn crossbars() {
    const ONE: (&str, &str) =
        ("switch", "{scheduler=\"input-round-robin\",inputs={memory=\"60KB\",crossbar=\"one-per-input\"}}");
    right(&[ONE]);
    wrong(
        &[ONE, ("switch.scheduler", "fifo")],
        "`switch.inputs.crossbar`: `switch.scheduler` does not serve inputs in turn, so none can be joined with an output; write `scheduler = \"input-round-robin\"`",
    );
    wrong(
        &[ONE, ("switch.control_first", "true")],
        "`switch.inputs.crossbar`: what goes first passes the queues of inputs; remove the key or `switch.control_first`",
    );
    wrong(
        &[ONE, ("link", "[{which=\"all\",jitter={uniform=\"1us\"}}]")],
        "`switch.inputs.crossbar`: a link's rate varies, or it has jitter or loss: its port sends when the link says; links of fixed rate and delay without loss, or remove the key",
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
            "`switch.cut_through`: `{key}` goes with store and forward only; remove the key or `{key}`"
        );
        wrong(&with(&[("switch.scheduler", scheduler), ("switch.cut_through", "64B")]), &expected);
        let expected = format!(
            "`switch.preemptive`: `{key}` goes with store and forward only; remove the key or `{key}`"
        );
        let lifo = [("switch.scheduler", "lifo"), ("nic.scheduler", "fifo"), ("switch.preemptive", "true")];
        wrong(&with(&lifo), &expected);
    }
}

#[test]
fn nics() {
    let why = "it has no effect: with `nic.order = \"round-robin\"` flows keep their packets until the link is free; remove the key";
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
        "`nic.pause_control`: it has no effect: without `switch.pfc` nobody pauses; remove the key",
    );
    wrong(
        &[("nic", "{pause_control=false}")],
        "`nic.pause_control`: it has no effect: control packets wait in the queue that is paused; write `switch.control_first = true`, or `nic.order = \"round-robin\"`",
    );
    wrong(
        &[("switch.pfc", "{quanta=35}")],
        "`switch.pfc.quanta`: a pause of 35 quanta may expire before its refresh has left, behind a packet of 1090 B; at least 37",
    );
    right(&[("switch.pfc", "{quanta=37}")]);
    wrong(
        &[LOSSY, ("measure.pauses", "true")],
        "`measure.pauses`: it has no effect: without `switch.pfc` nobody pauses; remove the key",
    );
    wrong(
        &[("switch", "{scheduler=\"fifo\"}"), ("measure.memory", "true")],
        "`measure.memory`: it has no effect: without `switch.inputs` no switch counts by input; remove the key, or write `switch.inputs = { memory = \"240KB\" }`",
    );
    wrong(
        &[("transport", "{kind=\"udp\"}"), ("switch.control_first", "true")],
        "`switch.control_first`: it has no effect: nothing is acknowledged, so there are no control packets; remove the key",
    );
}

#[test]
fn acks_that_somebody_waits_for() {
    let never = ("transport.acks", "never");
    let refused = |why: &str| format!("`transport.acks`: {why}; write \"per-packet\"");
    right(&[GBN, never]);
    wrong(
        &[GBN, never, ("transport.cap", "9"), ("transport.congestion", "aimd")],
        &refused("the controller's window waits for ACKs"),
    );
    wrong(
        &[GBN, never, ("transport.congestion", "timely")],
        &refused("the controller's round trips are those of ACKs"),
    );
    wrong(&[never], &refused("the cap waits for ACKs"));
    wrong(
        &[GBN, never, ("transport.segments", "{}")],
        &refused("the host posts a segment when another is acknowledged"),
    );
    wrong(
        &[GBN, never, RAMP, ("transport.congestion", "dcqcn"), ("transport.notification", "echo")],
        &refused("the echo of marks travels in ACKs"),
    );
    wrong(&[never, ("transport.cap", "none")], &refused("the sender learns from ACKs what has arrived"));
    wrong(
        &[GBN, never, ("transport.timer", "fixed")],
        "`transport.timer`: without ACKs no timer can tell what has arrived; write \"off\", or `acks = \"per-packet\"`",
    );
    wrong(
        &[("transport.cap", "none"), ("transport.congestion", "aimd")],
        "`transport.cap`: the controller's window starts as large as the cap, and there is none; write \"auto\"",
    );
    wrong(
        &[GBN, ("transport.cap", "16"), ("transport.acks", "per-segment"), ("transport.congestion", "aimd")],
        "`transport.acks`: a window may be smaller than a segment, whose end alone is acknowledged; write \"per-packet\"",
    );
    wrong(
        &[("transport.acks", "per-segment"), ("transport.cap", "15")],
        "`transport.cap`: 15 packets are less than a segment of 16, whose end alone is acknowledged; write `transport.acks = \"per-packet\"`",
    );
    wrong(
        &[GBN, never, ("measure.fct", "sender")],
        "`measure.fct`: `sender` waits for ACKs, but no traffic is acknowledged; write `fct = \"receiver\"`",
    );
}

#[test]
fn notifications() {
    wrong(
        &[RAMP, ("transport.congestion", "dcqcn"), ("transport.notification", "off")],
        "`transport.notification`: the controller listens to marks only, and none are reported; remove the key: the controller knows which",
    );
    wrong(
        &[("transport.congestion", "dcqcn")],
        "`transport.congestion`: the controller needs ECN marks, but no queue marks packets; for example `switch.marking = { kind = \"red-ecn\", min = \"5KB\", max = \"200KB\" }`",
    );
    wrong(
        &[("transport.notification", "echo")],
        "`transport.notification`: it has no effect: no queue marks packets; for example `switch.marking = { kind = \"red-ecn\", min = \"5KB\", max = \"200KB\" }`",
    );
    wrong(
        &[RAMP, ("transport.congestion", "dctcp"), ("transport.notification", "cnp")],
        "`transport.notification`: the controller counts marked bytes, which only ACKs report; write \"echo\"",
    );
    wrong(
        &[RAMP, ("transport.notification", "cnp")],
        "`transport.notification`: it has no effect: the controller does not listen to marks; write \"off\", or the controller dcqcn or dctcp",
    );
    wrong(
        &[RAMP],
        "`switch.marking`: it has no effect: no transport is ECN-capable, so no packet can be marked; write `transport.ecn = \"classic\"`, or the controller dctcp, or remove the marking",
    );
    wrong(
        &[
            RAMP,
            ("transport.congestion", "dcqcn"),
            ("transport.notification", "{kind=\"cnp\",interval=\"11ms\"}"),
        ],
        "`transport.notification.interval`: it has no effect: the run ends before the second notification; write a shorter time",
    );
    wrong(
        &[
            ("switch.marking", "{kind=\"red-ecn\",min=\"30KB\",max=\"20KB\"}"),
            ("transport.congestion", "dcqcn"),
        ],
        "`switch.marking.max`: max, 20KB, is below min, 30KB; swap them",
    );
    wrong(
        &[
            ("switch", "{buffer=\"20KB\"}"),
            ("switch.marking", "{kind=\"red-ecn\",min=\"30KB\",max=\"40KB\"}"),
            ("transport.congestion", "dcqcn"),
        ],
        "`switch.marking.min`: it has no effect: the queue never exceeds 30KB, it holds 20000 B; lower it or raise the buffer",
    );
}

#[test]
fn a_flow_without_end_needs_a_bound_where_hosts_queue() {
    wrong(
        &[
            ("nic", "{order=\"queue\"}"),
            ("transport.recovery", "go-back-n"),
            ("traffic", "[{kind=\"backlogged\",src=0,dst=1}]"),
        ],
        "`traffic.0.transport`: a flow without end, cap, pace or window would fill the NIC's queue at once and for ever; \
         write `nic.order = \"round-robin\"`, or give the transport a `cap`",
    );
}

#[test]
fn sizes_and_times() {
    wrong(
        &[("transport.mtu", "0B")],
        "`transport.mtu`: a packet carries at least 1 byte; for example \"1460B\"",
    );
    wrong(
        &[("transport.ack_size", "0B")],
        "`transport.ack_size`: a packet of 0B is impossible; for example \"70B\"",
    );
    wrong(
        &[("transport.nack_size", "2MB")],
        "`transport.nack_size`: a packet of 2MB is impossible; for example \"70B\"",
    );
    wrong(
        &[("transport.recovery", "{kind=\"go-back-n\",repeat_nack=\"0s\"}")],
        "`transport.recovery.repeat_nack`: a NACK every 0ps never ends; for example \"500us\"",
    );
    wrong(
        &[("transport.recovery", "{kind=\"go-back-n\",sack=true}")],
        "`transport.recovery.sack`: unknown key; known: repeat_nack",
    );
    wrong(
        &[LOSSY, ("transport.timer", "{kind=\"pair\",high=\"50us\"}")],
        "`transport.timer.high`: RTO_high, 50us, is below RTO_low, 100us; swap them",
    );
    wrong(
        &[LOSSY, ("transport.timer", "{kind=\"fixed\",value=\"0s\"}")],
        "`transport.timer.value`: a time-out of 0 repeats for ever; write a time above zero",
    );
    wrong(
        &[("transport.cap", "0")],
        "`transport.cap`: 0 is out of range; allowed: at least 1 and at most 4294967295",
    );
    wrong(
        &[("transport.cap", "many")],
        "`transport.cap`: `many` is not a cap: a number of packets, \"auto\" or \"none\"",
    );
    wrong(
        &[GBN, ("transport.segments", "{bytes=\"1000B\"}")],
        "`transport.segments.bytes`: a segment of 1KB is less than a packet of 1KiB; at least \"1KiB\"",
    );
    wrong(
        &[("transport.segments", "{bytes=\"16KB\"}")],
        "`transport.segments.bytes`: a segment of 16KB ends with a short packet, which IRN cannot number; a multiple of 1KiB, for example 16 of them",
    );
    right(&[("transport.segments", "{bytes=\"16KiB\"}")]);
    wrong(
        &[GBN, ("transport.segments", "{nic_pace=\"11Gbps\"}")],
        "`transport.segments.nic_pace`: 11Gbps is above the rate of the slowest host, 10Gbps; at most \"10Gbps\"",
    );
}

#[test]
fn round_trips_that_nobody_reads() {
    wrong(
        &[("transport.rtt", "{segment=4}")],
        "`transport.rtt.segment`: it has no effect: the controller does not look at round trips; remove the key, or use the controller timely",
    );
    wrong(
        &[("transport.rtt", "{less_serialization=false}")],
        "`transport.rtt.less_serialization`: it has no effect: the controller does not look at round trips; remove the key, or use the controller timely",
    );
    wrong(
        &[("transport.rtt", "{noise=\"1us\"}")],
        "`transport.rtt.noise`: it has no effect: nobody looks at round trips; remove the key, or use the controller timely",
    );
    wrong(
        &[GBN, ("transport.segments", "{}"), ("transport.rtt", "{segment=4}")],
        "`transport.rtt.segment`: it has no effect: each posted segment gives one sample; write `segments.bytes` instead",
    );
}

#[test]
fn controllers() {
    let timely = |inside: &str| format!("{{kind=\"timely\",{inside}}}");
    let wrong_timely = |inside: &str, expected: &str| {
        wrong(&[("transport.congestion", &timely(inside))], expected);
    };
    wrong_timely(
        "t_low=\"600us\"",
        "`transport.congestion.t_high`: T_high, 500us, is below T_low, 600us; swap them",
    );
    wrong_timely(
        "min_rate=\"11Gbps\"",
        "`transport.congestion.min_rate`: 11Gbps is above the rate of the slowest host, 10Gbps; at most \"10Gbps\"",
    );
    wrong_timely(
        "min_rate=\"0bps\"",
        "`transport.congestion.min_rate`: a rate of 0bps sends nothing; write a rate above zero",
    );
    wrong_timely(
        "min_rtt=\"0s\"",
        "`transport.congestion.min_rtt`: a time of 0 never passes; for example \"20us\"",
    );
    wrong_timely(
        "hyper={after=0,below_t_low=true}",
        "`transport.congestion.hyper.below_t_low`: it has no effect: `after = 0` means that there is no hyper-active increase; remove the key or write `after = 5`",
    );
    wrong_timely(
        "variant={kind=\"patched\",rtt_ref=\"0s\"}",
        "`transport.congestion.variant.rtt_ref`: a time of 0 never passes; for example \"50us\"",
    );
    let dcqcn = |inside: &str, expected: &str| {
        let text = format!("{{kind=\"dcqcn\",{inside}}}");
        wrong(&[RAMP, ("transport.congestion", &text)], expected);
    };
    dcqcn(
        "rate_timer=\"0s\"",
        "`transport.congestion.rate_timer`: a time of 0 never passes; for example \"55us\"",
    );
    dcqcn(
        "byte_counter=\"0B\"",
        "`transport.congestion.byte_counter`: 0 bytes are always sent; for example \"10MB\", or \"none\"",
    );
    dcqcn(
        "byte_counter=\"often\"",
        "`transport.congestion.byte_counter`: `often` is not a size or \"none\": it does not begin with a number (units: B, KB, MB, GB, TB, KiB, MiB, GiB)",
    );
    dcqcn(
        "byte_counter=\"10MB\",decrease=\"checked\"",
        "`transport.congestion.byte_counter`: with checked decreases the rate rises by time alone; write \"none\" or remove the key",
    );
    dcqcn(
        "back_off=\"0s\"",
        "`transport.congestion.back_off`: a time of 0 never passes; for example \"24us\"",
    );
    // Other tests of this program register some.
    let said = says(&[("transport.congestion", "{kind=\"custom\",name=\"nobody\"}")]);
    assert!(said[0].starts_with("`transport.congestion`: no controller is registered as `nobody`; known: "));
    right(&[("switch.scheduler", "srpt")]);
    wrong(
        &[("switch.scheduler", "srpt"), ("transport", "{kind=\"phost\"}"), ("nic.order", "round-robin")],
        "`switch.scheduler`: there are transports that write no ranks to sort by; write \"fifo\" or \"round-robin\"",
    );
    wrong(
        &[("switch.scheduler", "srpt"), ("transport.rank", "{kind=\"socket-buffer\",buffer=\"1MB\"}")],
        "`transport.rank`: a queue pair is posted whole messages: there is no send buffer; write \"from-here\", \"remaining\" or \"flow-size\"",
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
        "`incident.0.at`: it has no effect: the run ends at 10ms; write an earlier time or raise `run.until`",
    );
    wrong_failure(
        "at=\"2ms\",until=\"1ms\",link=[4,6]",
        "`incident.0.until`: it ends at 1ms, no later than it begins, 2ms; `until` is later than `at`",
    );
    wrong_failure(
        "at=\"2ms\",until=\"10ms\",link=[4,6]",
        "`incident.0.until`: it has no effect: the run ends at 10ms; remove the key or raise `run.until`",
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
        "`incident.0`: it has no effect: without `switch.pfc` there are no pause frames; remove it, or write `switch.pfc = {}`",
    );
    wrong(
        &[("incident", &loss("probability=0.5,port=0"))],
        "`incident.0.port`: it has no effect: port 0 is host 0's, and hosts send no pause frames; the other way is port 1",
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

#[test]
fn connections_and_calls() {
    right(&[("traffic.0.connection", "per-pair")]);
    wrong(
        &[("transport", "{kind=\"tcp\"}"), ("traffic.0.connection", "per-pair")],
        "`traffic.0.connection`: only queue pairs carry one flow after the other; write \"fresh\", or use a transport of kind rdma",
    );
    wrong(
        &[(
            "traffic",
            "[{kind=\"permutation\",size=\"1KB\"},{kind=\"udp\",src=0,dst=1,rate=\"1Gbps\",connection=\"per-pair\"}]",
        )],
        "`traffic.1.connection`: it has no effect: datagrams have no connections; remove the key",
    );
    right(&[("traffic.0.connection", "back-to-back")]);
    let segments = "{kind=\"rdma\",recovery=\"go-back-n\",segments={}}";
    for transport in ["{kind=\"tcp\"}", segments] {
        wrong(
            &[("transport", transport), ("traffic.0.connection", "back-to-back")],
            "`traffic.0.connection`: only queue pairs whose hosts post no segments carry messages back to back; write \"fresh\" or \"per-pair\", or use a transport of kind rdma without `segments`",
        );
    }
    wrong(
        &[("traffic", "[{kind=\"backlogged\",src=0,dst=1,connection=\"back-to-back\"}]")],
        "`traffic.0.connection`: what never ends is no message: no flow could follow it; write \"fresh\" or \"per-pair\", or send flows that end",
    );
    let rpc = |inside: &str| format!("[{{kind=\"rpc\",load=0.5{inside}}}]");
    right(&[("traffic", &rpc(""))]);
    wrong(
        &[("traffic", &rpc(",request=\"0B\""))],
        "`traffic.0.request`: a flow has at least 1 byte; write \"1B\" or more",
    );
    wrong(
        &[("traffic", &rpc(",servers=\"other-pods\""))],
        "`traffic.0.servers`: no pair of hosts of this topology is such a pair; write `servers = \"others\"`",
    );
    wrong(
        &[("traffic", &rpc(",until=\"11ms\""))],
        "`traffic.0.until`: 11ms is after the end of the run, 10ms; lower it or raise `run.until`",
    );
    wrong(
        &[("traffic", &rpc(",of=\"busiest-link\""))],
        "`traffic.0.of`: only the routing `lowest` says which link is busiest; write `routing = \"lowest\"`, or `of = \"core-links\"`",
    );
}

const BFC: (&str, &str) = ("switch", "{scheduler=\"bfc\",inputs={shared=\"2MB\"},backpressure={}}");

#[test]
fn backpressure_that_names_flows_or_elides_says_what_it_does_not_go_with() {
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
        "`switch.backpressure.pauses`: frames that name flows are not repeated: with links or frames that fail, flows would wait for ever; write \"queue\", or remove the incidents",
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
        "`switch.backpressure.elide`: it has no effect: no routes here close a cycle of pauses; remove the key",
    );
}

#[test]
fn what_the_tofino_does_late_is_refused_where_nobody_would_notice() {
    let hashed = ("switch.scheduler.assignment", "hashed");
    let all = "{kind=\"bfc\",bitmap_stale=\"1us\",pipelines=4,post_queue=3,recirc_delay=\"500ns\"}";
    right(&[BFC, ("switch.scheduler", all)]);
    right(&[BFC, hashed, ("switch.scheduler.recirc_delay", "500ns")]);
    wrong(
        &[
            ("switch", "{scheduler={kind=\"bfc\",assignment=\"hashed\"}}"),
            ("switch.scheduler.recirc_delay", "500ns"),
        ],
        "`switch.scheduler.recirc_delay`: it has no effect: nobody is paused, and with `assignment = \"hashed\"` a flow's queue follows from its hash; remove the key",
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
        "`switch.scheduler`: it serves the inputs of a switch, which has none; write `switch.inputs = { memory = \"240KB\" }`, or another scheduler",
    );
}

#[test]
fn drops_are_told_on_one_path_only() {
    let told = ("transport.recovery", "told");
    right(&[LOSSY, told]);
    wrong(
        &[LOSSY, told, ("routing", "spray-random")],
        "`transport.recovery`: switches tell of drops on the way that packets have come, and those that are sprayed have none; write \"irn\", or `routing = \"ecmp\"`",
    );
}
