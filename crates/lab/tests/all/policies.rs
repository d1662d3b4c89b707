//! Policies of the OpenQueue language as schedulers of whole networks: they are what is written in Rust, they go on
//! after they were saved, and a change at one port is no other port's affair.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;

/// Left to right through one link, in two classes: ACKs have ports of their own.
fn one_way() -> String {
    let base = r#"
topology = { kind = "dumbbell", pairs = 4, host_rate = "10Gbps", bottleneck_rate = "10Gbps", delay = "2us" }
nic = { scheduler = "fifo", buffer = "unlimited" }
run = { until = "40ms" }
[transport]
rto = { kind = "rfc6298", initial = "300us", min = "200us", max = "900us" }
"#;
    let flow = |nth: u32| {
        let (src, size, start) = (nth % 4, 40 + nth * 37 % 400, nth * 29 % 300);
        format!(
            "[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = {}\nsize = \"{size}KB\"\nstart = \"{start}us\"\n",
            src + 4
        )
    };
    base.to_owned() + &(0..24).map(flow).collect::<String>()
}

/// All to all through a switch: data and ACKs meet.
const STAR: &str = r#"
topology = { kind = "star", hosts = 6 }
nic = { scheduler = "fifo", buffer = "unlimited" }
run = { until = "20ms" }
[transport]
rto = { kind = "rfc6298", initial = "300us", min = "200us", max = "900us" }
[[traffic]]
kind = "poisson"
sizes = { uniform = { min = "1KB", max = "100KB", steps = 10 } }
load = 0.8
until = "2ms"
[[traffic]]
kind = "incast"
fan_in = 5
size = "60KB"
receiver = 0
at = "100us"
class = 1
"#;

fn go(text: &str, set: &[(&str, &str)]) -> Run {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    finish(&scenario(text, Path::new("."), &set))
}

fn policy(text: &str, rest: &str) -> String {
    format!("{{ kind = \"policy\", text = \"{text}\"{rest} }}")
}

/// Flows, ports, and the digest of everything that happened.
#[track_caller]
fn alike(scenario: &str, policy: &[(&str, &str)], hand: &[(&str, &str)]) {
    let (policy, hand) = (go(scenario, policy), go(scenario, hand));
    assert!(column(&hand, "ports", "dropped").iter().sum::<i128>() > 50, "it overflows");
    assert!(bytes(&policy) == bytes(&hand), "flows or ports differ");
    assert_eq!(policy.digest(), hand.digest());
}

const FIFO: &str = "full(q, p) = (q.currSize + p.size > q.size, drop(1)) q = Queue(20000 bytes); out = Port(q); \
                    q.congestion = full;";

#[test]
fn fifo_with_tail_drop_is_fifo() {
    let fifo = policy(FIFO, "");
    let traffic = [("traffic.1.class", "0")];
    let policy = [("switch.scheduler", fifo.as_str()), traffic[0]];
    alike(STAR, &policy, &[("switch.scheduler", "fifo"), ("switch.buffer", "20KB"), traffic[0]]);
}

#[test]
fn a_key_of_the_class_is_strict_priority() {
    let strict = "class(a, b) = (a.TOS < b.TOS) q = Queue(12 pkts); out = Port(q); q.admPrio = class; q.procPrio = class;";
    let strict = policy(strict, "");
    let hand = "{ kind = \"priority\", classes = 2, control = \"by-class\" }";
    alike(STAR, &[("switch.scheduler", &strict)], &[("switch.scheduler", hand), ("switch.buffer", "12pkts")]);
    // The same as two queues that share a buffer.
    let queues = "first(a, b) = (a.getHOL().value > b.getHOL().value) q[0..1] = Queue(12 pkts); \
                  all = Buffer(12 pkts, q[0..1]); out = Port(q[0..1]); out.schedPrio = first; all.queuePrio = first;";
    let queues = policy(queues, "");
    alike(STAR, &[("switch.scheduler", &queues)], &[("switch.scheduler", hand), ("switch.buffer", "12pkts")]);
}

#[test]
fn shortest_remaining_first_with_push_out_is_srpt_and_by_flow_sizes_sjf() {
    let srpt = "srpt(a, b) = (a.processing < b.processing) q = Queue(12 pkts); out = Port(q); q.admPrio = srpt; \
                q.procPrio = srpt;";
    let by = policy(srpt, "");
    let hand = "{ kind = \"srpt\", flow_order = false }";
    alike(
        &one_way(),
        &[("switch.scheduler", &by)],
        &[("switch.scheduler", hand), ("switch.buffer", "12pkts")],
    );
    let by = policy(srpt, ", processing = \"flow-size\"");
    alike(
        &one_way(),
        &[("switch.scheduler", &by)],
        &[("switch.scheduler", "sjf"), ("switch.buffer", "12pkts")],
    );
    let worth = "worth(a, b) = (a.value > b.value) q = Queue(12 pkts); out = Port(q); q.admPrio = worth; \
                 q.procPrio = worth;";
    let by = policy(worth, ", value = \"rank\"");
    let policy = [("switch.scheduler", by.as_str()), ("transport.rank", "remaining")];
    alike(&one_way(), &policy, &[("switch.scheduler", hand), ("switch.buffer", "12pkts")]);
}

/// Nothing is given up here: of equal keys a PIFO gives up another one, and packets that come at one instant have such.
#[test]
fn least_slack_first_is_a_pifo_while_slack_lasts() {
    let lstf = "lstf(a, b) = (a.arrival + a.slack < b.arrival + b.slack) q = Queue(900 pkts); out = Port(q); \
                q.admPrio = lstf; q.procPrio = lstf;";
    let (lstf, class) = (policy(lstf, ""), ("traffic.3.class", "1"));
    let slack = ("slack", "{ kind = \"constant\", value = \"1s\", class_offset = \"30us\" }");
    let (policy, hand, fifo) = (
        go(&one_way(), &[("switch.scheduler", &lstf), slack, class]),
        go(&one_way(), &[("switch.scheduler", "pifo"), slack, ("switch.buffer", "900pkts"), class]),
        go(&one_way(), &[("switch.buffer", "900pkts")]),
    );
    assert_eq!(column(&hand, "ports", "dropped").iter().sum::<i128>(), 0);
    assert!(bytes(&policy) == bytes(&hand), "flows or ports differ");
    assert_eq!(policy.digest(), hand.digest());
    assert_ne!(column(&hand, "flows", "fct_ps"), column(&fifo, "flows", "fct_ps"));
}

#[test]
fn steps_that_mark_are_step_marking() {
    let marks = "q = Queue(40 pkts); out = Port(q); q.postAdmAct = (length > 8, mark);";
    let marks = policy(marks, "");
    let dctcp = ("transport.congestion", "dctcp");
    let class = ("traffic.1.class", "0");
    // It is marked if it finds eight: then nine wait, itself among them.
    let step = ("switch.marking", "{ kind = \"step\", threshold = \"8pkts\" }");
    let (policy, hand) = (
        go(STAR, &[("switch.scheduler", &marks), dctcp, class]),
        go(STAR, &[("switch.buffer", "40pkts"), step, ("nic.marking", "none"), dctcp, class]),
    );
    assert!(bytes(&policy) == bytes(&hand), "flows or ports differ");
    assert_eq!(policy.digest(), hand.digest());
}

/// One policy of all ports of the switch, and the memory that its ports share.
#[test]
fn a_buffer_of_all_ports_is_shared_memory() {
    let ports = |more: &str| {
        let all =
            "q[1..6] = Queue(30000 bytes); all = Buffer(30000 bytes, q[1..6]); out[i: 1..6] = Port(q[i]);";
        policy(&format!("{more} {all} {}", if more.is_empty() { "" } else { "all.queuePrio = lqd;" }), "")
    };
    let longest = ports("lqd(a, b) = (a.currSize < b.currSize)");
    for (sharing, by) in [("complete", ports("")), ("longest-queue", longest)] {
        let shared = format!("{{ total = \"30000B\", sharing = \"{sharing}\" }}");
        let class = ("traffic.1.class", "0");
        let hand = [("switch.shared_buffer", shared.as_str()), ("switch.buffer", "unlimited"), class];
        alike(STAR, &[("switch.scheduler", &by), class], &hand);
    }
}

#[test]
fn a_policy_of_all_ports_goes_on_where_it_was_cut_and_changes_everywhere_at_once() {
    let ports = |share: &str| {
        format!(
            "lqd(a, b) = (a.currSize < b.currSize) q[1..6] = Queue(30000 bytes); all = Buffer(30000 bytes, q[1..6]); \
             out[i: 1..6] = Port(q[i]); all.queuePrio = lqd; q[1..6].congestion = (currSize >= 0.5 * size, drop({share}));"
        )
    };
    let changes = format!(", changes = [{{ at = \"300us\", text = \"{}\" }}]", ports("0.6"));
    let set = [
        ("switch.scheduler".to_owned(), policy(&ports("0.3"), &changes)),
        ("traffic.1.class".to_owned(), "0".to_owned()),
    ];
    let scenario = scenario(STAR, Path::new("."), &set);
    let straight = finish(&scenario);
    for events in [2_000, 9_000, 30_000] {
        let mut run = Run::new(&scenario).expect("a network");
        run.step(events);
        let mut loaded = Run::load(&run.save()).expect("the run");
        while loaded.step(1 << 20) {}
        assert_eq!((loaded.digest(), bytes(&loaded)), (straight.digest(), bytes(&straight)), "{events}");
    }
    let never = go(STAR, &[("switch.scheduler", &policy(&ports("0.3"), "")), ("traffic.1.class", "0")]);
    assert_ne!(never.digest(), straight.digest(), "the change changes something");
}

#[test]
fn a_switch_has_no_more_ports_than_its_policy_and_hosts_keep_their_own_queues() {
    let by = policy("q[1..5] = Queue(9 pkts); out[i: 1..5] = Port(q[i]);", "");
    let wrong = |set: &[(&str, &str)]| {
        let set: Vec<(String, String)> =
            set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let found = thalweg_scenario::load(STAR, "s.toml", Path::new("."), &set);
        found.err().unwrap_or_default().iter().map(ToString::to_string).collect::<String>()
    };
    let class = ("traffic.1.class", "0");
    let why = wrong(&[("switch.scheduler", &by), class]);
    assert!(why.contains("has 6 ports, and the policy that they run together is written for 5"), "{why}");
    let why = wrong(&[("nic.scheduler", &by), class]);
    assert!(why.contains("`nic.scheduler.text`") && why.contains("a NIC is one"), "{why}");
    let six = policy("q[1..6] = Queue(90 pkts); out[i: 1..6] = Port(q[i]);", "");
    assert_eq!(
        wrong(&[("switch.scheduler", &six), ("topology", "{ kind = \"star\", hosts = 6 }"), class]),
        ""
    );
}

#[test]
fn a_run_under_policies_that_change_goes_on_where_it_was_cut() {
    let least = "least(a, b) = (a.schedState < b.schedState) served(o, p) = (true, modify(schedState := schedState + \
                 p.size)) q[1..2] = Queue(9000 bytes); all = Buffer(15000 bytes, q[1..2]); out = Port(q[1..2]); \
                 out.schedPrio = least; out.postSchedAct = served; out.returning = catchUp; \
                 q[1].congestion = (currSize >= 0.5 * size, drop(0.3)); q[2].congestion = (currSize >= 0.5 * size, \
                 drop(0.3));";
    let other = least.replace("0.3", "0.6");
    let changes = format!(", changes = [{{ at = \"300us\", text = \"{other}\" }}]");
    let scenario =
        scenario(STAR, Path::new("."), &[("switch.scheduler".to_owned(), policy(least, &changes))]);
    let straight = finish(&scenario);
    for events in [2_000, 9_000, 30_000] {
        let mut run = Run::new(&scenario).expect("a network");
        run.step(events);
        let mut loaded = Run::load(&run.save()).expect("the run");
        while loaded.step(1 << 20) {}
        assert_eq!((loaded.digest(), bytes(&loaded)), (straight.digest(), bytes(&straight)), "{events}");
    }
    let never = go(STAR, &[("switch.scheduler", &policy(least, ""))]);
    assert_ne!(never.digest(), straight.digest(), "the change changes something");
}

/// OQ-D1: two receivers, each with senders of its own; the policy of one port changes under load.
#[test]
fn a_change_at_one_port_leaves_the_packets_of_the_other_as_they_were_bit_by_bit() {
    let flow = |src: u32, dst: u32| {
        format!(
            "[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = {dst}\nsize = \"800KB\"\nclass = {}\n",
            src % 2
        )
    };
    let flows: String = [(2, 0), (3, 0), (4, 1), (5, 1)].map(|(src, dst)| flow(src, dst)).concat();
    let base = STAR.split("[[traffic]]").next().expect("what is before traffic");
    let text = format!("{base}\n{flows}");
    let fifo = "q = Queue(20 pkts); out = Port(q);";
    let byclass =
        "c(a, b) = (a.TOS < b.TOS) q = Queue(20 pkts); out = Port(q); q.admPrio = c; q.procPrio = c;";
    // Links are in the order of hosts; a switch's end of one is the odd port.
    let change =
        |ports: &str| format!(", changes = [{{ at = \"200us\", text = \"{byclass}\", ports = [{ports}] }}]");
    let (one, both) = (go(&text, &[("switch.scheduler", &policy(fifo, &change("1")))]), {
        go(&text, &[("switch.scheduler", &policy(fifo, &change("1, 3")))])
    });
    let none = go(&text, &[("switch.scheduler", &policy(fifo, &change("5")))]);
    let flows = |run: &Run, of: &[usize]| -> Vec<(i128, i128)> {
        let (fct, again) = (column(run, "flows", "fct_ps"), column(run, "flows", "packets"));
        of.iter().map(|flow| (fct[*flow], again[*flow])).collect()
    };
    let port = |run: &Run, id: usize| {
        ["packets", "bytes", "dropped", "max_queue"].map(|name| column(run, "ports", name)[id])
    };
    assert_eq!(flows(&one, &[2, 3]), flows(&none, &[2, 3]), "the other receiver's");
    assert_eq!(port(&one, 3), port(&none, 3));
    assert_ne!(flows(&one, &[0, 1]), flows(&none, &[0, 1]));
    assert_eq!(flows(&both, &[0, 1]), flows(&one, &[0, 1]));
    assert_ne!(flows(&both, &[2, 3]), flows(&one, &[2, 3]));
}

/// `examples/policy`: shares of one to three, then strict priority.
#[test]
fn the_example_shares_one_to_three_and_then_serves_one_class_first() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policy");
    let text = std::fs::read_to_string(dir.join("scenario.toml")).expect("the example");
    let delivered = |set: &[(&str, &str)]| {
        let set: Vec<(String, String)> =
            set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let delivered = column(&finish(&scenario(&text, &dir, &set)), "flows", "delivered");
        [delivered[0] + delivered[1], delivered[2] + delivered[3]]
    };
    let [bulk, urgent] = delivered(&[("run.until", "40ms"), ("switch.scheduler.changes", "[]")]);
    let share = urgent as f64 / (bulk + urgent) as f64;
    assert!((share - 0.75).abs() < 0.03, "{share}");
    let [after, ahead] = delivered(&[]);
    assert!(after - bulk < (ahead - urgent) / 20, "{} against {} bytes", after - bulk, ahead - urgent);
}
