//! What is refused of RDMA transports, their controllers and connections, and how it is message.

use super::errors_lossless::{GBN, LOSSY, RAMP, refusals, right, wrong};

#[test]
fn acks_that_a_sender_waits_for() {
    let never = ("transport.acks", "never");
    let refused = |why: &str| format!("`transport.acks`: {why}; write \"per-packet\"");
    right(&[GBN, never]);
    wrong(
        &[GBN, never, ("transport.cap", "9"), ("transport.congestion", "aimd")],
        &refused("the controller's window advances with ACKs"),
    );
    wrong(
        &[GBN, never, ("transport.congestion", "timely")],
        &refused("the controller measures round trips with ACKs"),
    );
    wrong(&[never], &refused("the cap limits packets without ACKs"));
    wrong(
        &[GBN, never, ("transport.segments", "{}")],
        &refused("the host posts the next segment when one is acknowledged"),
    );
    wrong(
        &[GBN, never, RAMP, ("transport.congestion", "dcqcn"), ("transport.notification", "echo")],
        &refused("marks are echoed in ACKs"),
    );
    wrong(&[never, ("transport.cap", "none")], &refused("the sender learns from ACKs what has arrived"));
    wrong(
        &[GBN, never, ("transport.timer", "fixed")],
        "`transport.timer`: without ACKs a retransmission timer cannot know what has arrived; write \"off\", or `acks = \"per-packet\"`",
    );
    wrong(
        &[("transport.cap", "none"), ("transport.congestion", "aimd")],
        "`transport.cap`: the controller's window starts at the size of the cap, which is off; write \"auto\"",
    );
    wrong(
        &[GBN, ("transport.cap", "16"), ("transport.acks", "per-segment"), ("transport.congestion", "aimd")],
        "`transport.acks`: only the end of a segment is acknowledged, and a window may be smaller than a segment; write \"per-packet\"",
    );
    wrong(
        &[("transport.acks", "per-segment"), ("transport.cap", "15")],
        "`transport.cap`: only the end of a segment of 16 packets is acknowledged, and the cap is 15; write `transport.acks = \"per-packet\"`",
    );
    wrong(
        &[GBN, never, ("measure.fct", "sender")],
        "`measure.fct`: `sender` measures until the last ACK, but no traffic is acknowledged; write `fct = \"receiver\"`",
    );
}

#[test]
fn notifications() {
    wrong(
        &[RAMP, ("transport.congestion", "dcqcn"), ("transport.notification", "off")],
        "`transport.notification`: the controller reacts to ECN marks only, and none are reported to it; remove the key: the default is what the controller needs",
    );
    wrong(
        &[("transport.congestion", "dcqcn")],
        "`transport.congestion`: the controller needs ECN marks, but no queue marks packets; for example `switch.marking = { kind = \"red-ecn\", min = \"1250B\", max = \"50KB\" }`",
    );
    wrong(
        &[("transport.notification", "echo")],
        "`transport.notification`: it has no effect: no queue marks packets; for example `switch.marking = { kind = \"red-ecn\", min = \"1250B\", max = \"50KB\" }`",
    );
    wrong(
        &[RAMP, ("transport.congestion", "dctcp"), ("transport.notification", "cnp")],
        "`transport.notification`: the controller counts marked bytes, which only ACKs report; write \"echo\"",
    );
    wrong(
        &[RAMP, ("transport.notification", "cnp")],
        "`transport.notification`: it has no effect: the controller does not react to ECN marks; write \"off\", or the controller dcqcn or dctcp",
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
    // 50 us is the default, and a short run has room for one notification.
    right(&[RAMP, ("transport.congestion", "dcqcn"), ("run.until", "40us")]);
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
        "`traffic.0.transport`: a flow without end, cap, pace or window would fill the NIC's queue without limit; \
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
        "`transport.ack_size`: 0B is not a packet size: it must be 1 B to 1 MB; for example \"70B\"",
    );
    wrong(
        &[("transport.nack_size", "2MB")],
        "`transport.nack_size`: 2MB is not a packet size: it must be 1 B to 1 MB; for example \"70B\"",
    );
    wrong(
        &[("transport.recovery", "{kind=\"go-back-n\",repeat_nack=\"0s\"}")],
        "`transport.recovery.repeat_nack`: the interval between NACKs must be above zero; for example \"500us\"",
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
        "`transport.timer.value`: a time-out of 0 would expire endlessly at the same instant; write a time above zero",
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
        "`transport.segments.bytes`: a segment of 1KB is smaller than a packet of 1KiB; at least \"1KiB\"",
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
fn round_trips_that_no_controller_reads() {
    wrong(
        &[("transport.rtt", "{segment=4}")],
        "`transport.rtt.segment`: it has no effect: the controller does not use round trips; remove the key, or use a controller that does, for example timely or swift",
    );
    wrong(
        &[("transport.rtt", "{less_serialization=false}")],
        "`transport.rtt.less_serialization`: it has no effect: the controller does not use round trips; remove the key, or use a controller that does, for example timely or swift",
    );
    wrong(
        &[("transport.rtt", "{noise=\"1us\"}")],
        "`transport.rtt.noise`: it has no effect: neither the controller nor the timer uses round trips; remove the key, or use a controller that does, for example timely or swift",
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
    let message = refusals(&[("transport.congestion", "{kind=\"custom\",name=\"missing\"}")]);
    assert!(
        message[0].starts_with("`transport.congestion`: no controller is registered as `missing`; known: ")
    );
    right(&[("switch.scheduler", "srpt")]);
    wrong(
        &[("switch.scheduler", "srpt"), ("transport", "{kind=\"phost\"}"), ("nic.order", "round-robin")],
        "`switch.scheduler`: it sorts by rank, and some transport writes no ranks; write \"fifo\" or \"round-robin\"",
    );
    wrong(
        &[("switch.scheduler", "srpt"), ("transport.rank", "{kind=\"socket-buffer\",buffer=\"1MB\"}")],
        "`transport.rank`: queue pairs have no send buffer: hosts post whole messages to them; write \"from-here\", \"remaining\" or \"flow-size\"",
    );
}

#[test]
fn connections_and_calls() {
    right(&[("traffic.0.connection", "per-pair")]);
    wrong(
        &[("transport", "{kind=\"tcp\"}"), ("traffic.0.connection", "per-pair")],
        "`traffic.0.connection`: only queue pairs (kind rdma) carry several flows over one connection; write \"fresh\", or use a transport of kind rdma",
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
            "`traffic.0.connection`: messages go back to back only over queue pairs whose hosts do not post segments; write \"fresh\" or \"per-pair\", or use a transport of kind rdma without `segments`",
        );
    }
    wrong(
        &[("traffic", "[{kind=\"backlogged\",src=0,dst=1,connection=\"back-to-back\"}]")],
        "`traffic.0.connection`: a flow without end never completes, so no other can follow it on its connection; write \"fresh\" or \"per-pair\", or send flows that end",
    );
    let rpc = |inside: &str| format!("[{{kind=\"rpc\",load=0.5{inside}}}]");
    right(&[("traffic", &rpc(""))]);
    wrong(
        &[("traffic", &rpc(",request=\"0B\""))],
        "`traffic.0.request`: a flow has at least 1 byte; write \"1B\" or more",
    );
    wrong(
        &[("traffic", &rpc(",servers=\"other-pods\""))],
        "`traffic.0.servers`: no two hosts of this topology are such a pair; write `servers = \"others\"`",
    );
    wrong(
        &[("traffic", &rpc(",until=\"11ms\""))],
        "`traffic.0.until`: 11ms is after the end of the run, 10ms; lower it or raise `run.until`",
    );
    wrong(
        &[("traffic", &rpc(",of=\"busiest-link\""))],
        "`traffic.0.of`: only with the routing `lowest` is the busiest link known in advance; write `routing = \"lowest\"`, or `of = \"core-links\"`",
    );
}

#[test]
fn drops_are_notified_on_one_path_only() {
    let notified = ("transport.recovery", "drop-notified");
    right(&[LOSSY, notified]);
    wrong(
        &[LOSSY, notified, ("routing", "spray-random")],
        "`transport.recovery`: switches send drop notices back along the path of a packet, and this routing chooses one for each packet; write \"irn\", or `routing = \"ecmp\"`",
    );
}

#[test]
fn keys_and_words_of_earlier_versions_are_refused_with_the_new_name() {
    wrong(
        &[("transport.recovery", "told")],
        "`transport.recovery`: `told` is not a choice; it is called `drop-notified` now",
    );
    for (key, now) in [("first_counts", "use_first_sample"), ("forgets", "reset_after_idle")] {
        let table = format!("{{kind=\"timely\",{key}=true}}");
        wrong(
            &[("transport.congestion", &table)],
            &format!("`transport.congestion.{key}`: unknown key; it is called `{now}` now"),
        );
    }
}
