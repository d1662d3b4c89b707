//! Links that are not as the topology makes them: what they carry, lose and delay, and what the tables say about it.

use crate::common::*;
use std::path::Path;
use thalweg_lab::{ColumnData, Run};

/// Datagrams of 1500 B from one host to another over a link between two switches (port 4 forward), for a second.
fn datagrams(rate: &str, link: &str) -> String {
    format!(
        "topology = {{ kind = \"dumbbell\", pairs = 1, host_rate = \"100Mbps\", delay = \"1ms\" }}\n\
         switch = {{ buffer = \"20pkts\" }}\nrun = {{ until = \"1s\", check = true }}\n\
         [[traffic]]\nkind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"{rate}\"\npayload = \"1460B\"\nheader = \"40B\"\n\
         [[link]]\nwhich = \"core-links\"\n{link}\n"
    )
}

/// TCP both ways over it.
fn streams(link: &str) -> String {
    let traffic = "[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 0\n";
    format!(
        "topology = {{ kind = \"dumbbell\", pairs = 1, host_rate = \"100Mbps\", delay = \"1ms\" }}\n\
         switch = {{ buffer = \"20pkts\" }}\nrun = {{ until = \"1s\", check = true }}\n{traffic}\
         [[link]]\nwhich = \"core-links\"\n{link}\n"
    )
}

fn go(dir: &Folder, text: &str, set: &[(&str, &str)]) -> Run {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    finish(&scenario(text, &dir.0, &set))
}

const NONE: &[(&str, &str)] = &[];
/// One opportunity a millisecond for a second; twelve within 10 ms for ten and then ten times that silence.
const FILES: &[(&str, &str)] =
    &[("even.trace", "1\n"), ("burst.trace", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n10\n10\n100\n")];

fn share(run: &Run, port: usize) -> f64 {
    let tables = run.tables();
    let ports = tables.iter().find(|t| t.name == "ports").expect("ports");
    let used = ports.columns.iter().find(|c| c.name == "utilisation").expect("utilisation");
    let ColumnData::F64(used) = &used.data else { panic!("a share") };
    used[port]
}

#[test]
fn a_trace_of_even_opportunities_carries_what_the_fixed_link_does() {
    let dir = Folder::new("links-even", FILES);
    // 12 Mb/s: a packet of 1500 B every millisecond.
    let traced = "transmitter = { kind = \"traced\", file = \"even.trace\", opportunity = \"1500B\" }";
    let fixed = "transmitter = { fixed = \"12Mbps\" }";
    for rate in ["20Mbps", "5Mbps"] {
        let [a, b] = [traced, fixed].map(|link| {
            let run = go(&dir, &datagrams(rate, link), NONE);
            (column(&run, "flows", "delivered")[0], column(&run, "ports", "capacity")[4], share(&run, 4))
        });
        assert!((a.0 - b.0).abs() <= 1460, "{rate}: {} and {} bytes", a.0, b.0);
        assert_eq!((a.1, b.1), (1_500_000, 1_500_000));
        assert!((a.2 - b.2).abs() < 2e-3, "{rate}: {} and {}", a.2, b.2);
        assert!(rate == "5Mbps" || a.2 > 0.995, "{}", a.2);
    }
}

#[test]
fn what_a_square_wave_carries_is_its_integral() {
    let dir = Folder::new("links-square", FILES);
    let wave = "transmitter = { kind = \"square-wave\", first = \"24Mbps\", second = \"12Mbps\", half_period = \"100ms\" }";
    let run = go(&dir, &datagrams("50Mbps", wave), NONE);
    assert_eq!(column(&run, "ports", "capacity")[4], 2_250_000);
    let carried = column(&run, "ports", "bytes")[4];
    assert!((carried - 2_250_000).abs() <= 15_000, "{carried}: all but the first round trip");
}

#[test]
fn a_trace_that_ends_carries_nothing_more() {
    let dir = Folder::new("links-once", FILES);
    let traced = |more: &str| format!("transmitter = {{ kind = \"traced\", file = \"burst.trace\"{more} }}");
    let packets = |more: &str| {
        let run = go(&dir, &datagrams("50Mbps", &traced(more)), NONE);
        let capacity = column(&run, "ports", "capacity")[4];
        (column(&run, "flows", "delivered")[0] / 1460, capacity / 1504, share(&run, 4))
    };
    let (once, offered, used) = packets(", repeat = false");
    assert_eq!(offered, 13);
    // What comes before the first packet has crossed two links goes by unused; what is left over is less than a packet.
    assert!((10..=13).contains(&once) && used > 0.7, "{once} packets, {used}");
    let (repeated, offered, _) = packets("");
    assert_eq!(offered, 130);
    assert!((125..=130).contains(&repeated), "{repeated}");
}

#[test]
fn losses_come_as_often_as_they_should_in_the_directions_that_they_should() {
    let dir = Folder::new("links-loss", FILES);
    for (direction, ports) in
        [("forward", [true, false]), ("backward", [false, true]), ("both", [true, true])]
    {
        let loss = format!("direction = \"{direction}\"\nloss = {{ independent = 0.1 }}");
        let run = go(&dir, &streams(&loss), NONE);
        let (packets, lost) = (column(&run, "ports", "packets"), column(&run, "ports", "lost"));
        for (port, loses) in [4, 5].into_iter().zip(ports) {
            assert!(packets[port] > 100, "port {port}: {} packets", packets[port]);
            let p = lost[port] as f64 / packets[port] as f64;
            let four_sigma = 4.0 * (0.09 / packets[port] as f64).sqrt();
            let expected = if loses { 0.1 } else { 0.0 };
            assert!(
                (p - expected).abs() <= if loses { four_sigma } else { 0.0 },
                "{direction}, port {port}: {p}"
            );
        }
        assert_eq!(lost[..4].iter().sum::<i128>(), 0, "host links lose nothing");
        assert_eq!(
            run.summary()["links"]["packets_lost"],
            serde_json::json!(lost.iter().sum::<i128>() as u64)
        );
        assert!(column(&run, "flows", "drops").iter().sum::<i128>() >= lost[4] + lost[5], "flows know");
    }
    // Open loop: ten thousand packets, nothing dropped in queues.
    let bursts = "loss = { kind = \"bursts\", enter = 0.01, leave = 0.24 }";
    let run = go(&dir, &datagrams("90Mbps", bursts), &[("run.until", "\"1400ms\"")]);
    let (packets, lost) = (column(&run, "ports", "packets")[4], column(&run, "ports", "lost")[4]);
    let p = lost as f64 / packets as f64; // 0.01 / 0.25; bursts of four make the mean less sure
    assert!(packets > 10_000 && (p - 0.04).abs() < 0.012, "{p} of {packets}");
    assert_eq!(column(&run, "flows", "delivered")[0] / 1460 / 100, (packets - lost) / 100);
}

#[test]
fn jitter_delays_and_only_with_reordering_overtakes() {
    let dir = Folder::new("links-jitter", FILES);
    let retransmissions = |jitter: &str| {
        let text = streams(&format!("transmitter = {{ fixed = \"20Mbps\" }}\n{jitter}"));
        let run = go(&dir, &text, &[("switch.buffer", "unlimited"), ("transport.max_window", "40pkts")]);
        (column(&run, "flows", "retransmissions").iter().sum::<i128>(), column(&run, "flows", "rtt_ps")[0])
    };
    let (none, plain) = retransmissions("");
    let (kept, later) = retransmissions("jitter = { uniform = \"10ms\" }");
    let (free, _) = retransmissions("jitter = { kind = \"uniform\", max = \"10ms\", reorder = true }");
    assert_eq!((none, kept), (0, 0), "in order nothing looks lost");
    assert!(free > 10, "{free}");
    // Two directions of 5 ms each in the mean, and what waits for those before it.
    assert!(later - plain > 8_000_000_000, "{} and {} ms", plain / 1_000_000_000, later / 1_000_000_000);
}

#[test]
fn another_seed_is_another_link_and_the_same_seed_the_same_bytes() {
    let dir = Folder::new("links-seeds", FILES);
    let text = streams(
        "transmitter = \"cellular\"\nloss = { independent = 0.01 }\njitter = { exponential = \"1ms\" }",
    );
    let one = go(&dir, &text, NONE);
    assert_eq!(bytes(&one), bytes(&go(&dir, &text, NONE)));
    assert_ne!(one.digest(), go(&dir, &text, &[("seed", "2")]).digest());
    // Cut and resumed, too.
    let mut cut = Run::new(&scenario(&text, &dir.0, &[])).expect("a network");
    cut.step(one.progress().events / 2);
    let mut resumed = Run::load(&cut.save()).expect("resumes");
    while resumed.step(1 << 20) {}
    assert_eq!((resumed.digest(), bytes(&resumed)), (one.digest(), bytes(&one)));
}

#[test]
fn an_access_point_sends_in_batches() {
    let dir = Folder::new("links-batched", FILES);
    let text = |frames: u32| {
        datagrams(
            "60Mbps",
            &format!(
                "transmitter = {{ kind = \"batched\", rate = \"65Mbps\", frames = {frames}, contention = \"0ps\" }}"
            ),
        )
    };
    let mbps = |frames| column(&go(&dir, &text(frames), NONE), "ports", "bytes")[4] as f64 * 8e-6;
    // A batch of n takes n · 184.6 us and 500 us: 17.5 Mb/s alone, 57.2 Mb/s of twenty.
    let (one, twenty) = (mbps(1), mbps(20));
    assert!((one - 17.5).abs() < 0.3, "{one}");
    assert!((45.0..58.0).contains(&twenty), "{twenty}");
}

#[test]
fn a_trace_is_written_as_it_was_read() {
    let dir = Folder::new("links-export", FILES);
    let s = scenario(&streams("transmitter = { kind = \"traced\", file = \"burst.trace\" }"), &dir.0, &[]);
    assert_eq!(s.trace_text(None).expect("one trace"), FILES[1].1);
    assert_eq!(s.trace_text(Some(5)).expect("both ways"), FILES[1].1);
    assert_eq!(
        s.trace_text(Some(0)).expect_err("a host's").to_string(),
        "s.toml: port 0 has no trace of delivery opportunities; ports that have one: 4, 5"
    );
    let made = scenario(&streams("transmitter = \"cellular\""), Path::new("."), &[]);
    assert_eq!(
        made.trace_text(None).expect_err("two").to_string(),
        "s.toml: its links have different traces of delivery opportunities; choose one of the ports 4, 5"
    );
    assert_ne!(made.trace_text(Some(4)).expect("one"), made.trace_text(Some(5)).expect("one"));
    // Mahimahi's opportunities are of 1504 B each, and its traces begin again: what is otherwise has no such text.
    let own = "transmitter = { kind = \"traced\", file = \"burst.trace\", opportunity = \"3008B\" }";
    let doubled: String = FILES[1].1.lines().map(|line| format!("{line}\n{line}\n")).collect();
    assert_eq!(scenario(&streams(own), &dir.0, &[]).trace_text(None).expect("twice each"), doubled);
    let refused = |transmitter: &str| {
        let text = streams(&format!("transmitter = {transmitter}\ndirection = \"forward\""));
        scenario(&text, &dir.0, &[]).trace_text(None).expect_err("refused").to_string()
    };
    assert_eq!(
        refused("{ kind = \"cellular\", opportunity = \"5000B\" }"),
        "s.toml: each opportunity of port 4 delivers 5000 B, and one of Mahimahi's 1504 B; write \
         `opportunity = \"1504B\"`, or a multiple of it"
    );
    assert_eq!(
        refused("{ kind = \"traced\", file = \"burst.trace\", repeat = false }"),
        "s.toml: the trace of port 4 does not repeat, and Mahimahi's always start over; remove `repeat`"
    );
    let none = scenario(&streams("loss = { independent = 0.1 }"), Path::new("."), &[]);
    assert!(
        none.trace_text(None)
            .expect_err("none")
            .to_string()
            .starts_with("s.toml: no link has a trace of delivery opportunities; ")
    );
}

#[test]
fn what_abc_takes_a_link_of_batches_for_is_in_the_table_of_links_and_nowhere_else() {
    let dir = Folder::new("links-estimate", FILES);
    let abc: &[(&str, &str)] = &[
        ("transport.congestion", "abc"),
        ("switch.marking", "abc"),
        ("switch.buffer", "250pkts"),
        ("traffic", "[{ kind = \"backlogged\", src = 0, dst = 1 }]"),
        ("measure.links", "{ every = \"10ms\", ports = [4] }"),
    ];
    let batched = "direction = \"forward\"\ntransmitter = { kind = \"batched\", rate = \"26Mbps\", contention = \"0ps\" }";
    let run = go(&dir, &streams(batched), abc);
    let estimate = column(&run, "links", "estimate");
    assert_eq!(estimate[0], -1, "nothing is known yet");
    // 20 packets of 1500 B take 9.23 ms and 0.5 ms.
    let truth = 240e3 / (240e3 / 26e6 + 0.5e-3);
    let last = *estimate.last().unwrap() as f64;
    assert!((last / truth - 1.0).abs() < 0.02, "{last} and {truth}");
    let run = go(&dir, &streams("transmitter = { fixed = \"26Mbps\" }"), abc);
    let tables = run.tables();
    let links = tables.iter().find(|t| t.name == "links").unwrap();
    assert!(links.columns.iter().all(|c| c.name != "estimate"));
}

/// Of two links with queues of their own the one that may hold 3 packets drops more than the one with 20; hosts' queues
/// are as they were.
#[test]
fn a_link_has_a_queue_of_its_own_at_switches_and_hosts_keep_theirs() {
    let most = |queue: &str| {
        let dir = Folder::new("links-queue", &[]);
        let run =
            go(&dir, &datagrams("20Mbps", &format!("transmitter = {{ fixed = \"12Mbps\" }}\n{queue}")), NONE);
        let queues = column(&run, "ports", "max_queue");
        (queues[4], column(&run, "ports", "dropped")[4], queues[0])
    };
    let (plain, short) = (most(""), most("buffer = \"3pkts\""));
    assert_eq!((plain.0, short.0), (30_000, 4_500));
    assert_eq!(short.1 - plain.1, 17, "{plain:?} {short:?}");
    assert_eq!(plain.2, short.2);
}

/// Marking at all ports but those to hosts: nothing else queues here, so nothing is marked at all.
#[test]
fn ports_to_hosts_need_not_mark() {
    let marked = |own: &str| {
        let text = format!(
            "topology = {{ kind = \"star\", hosts = 3, rate = \"100Mbps\", delay = \"1ms\" }}\ntransport = {{ congestion = \"dctcp\" }}\n\
             switch = {{ buffer = \"200pkts\", marking = {{ kind = \"step\", threshold = \"9pkts\" }} }}\nnic = {{ marking = \"none\" }}\n\
             run = {{ until = \"200ms\" }}\n[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\n[[traffic]]\nkind = \"backlogged\"\n\
             src = 1\ndst = 2\n{own}"
        );
        let dir = Folder::new("links-marks", &[]);
        column(&go(&dir, &text, NONE), "ports", "marked").iter().sum::<i128>()
    };
    assert!(marked("") > 100);
    let off = "[[link]]\nwhich = \"host-links\"\ndirection = \"backward\"\nmarking = \"none\"\n";
    assert_eq!(marked(off), 0);
}

#[track_caller]
fn refuses(link: &str, expected: &str) {
    let text = datagrams("20Mbps", link);
    let errors = thalweg_scenario::load(&text, "s.toml", Path::new("."), &[]).expect_err("refused");
    let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(all.iter().any(|e| e.contains(expected)), "{}", all.join("\n"));
}

#[test]
fn queues_of_links_that_cannot_take_effect_are_refused_with_the_way_out() {
    refuses(
        "",
        "`link.0`: it sets nothing for its links; add `transmitter`, `loss`, `jitter`, `buffer` or `marking`",
    );
    refuses("buffer = \"20pkts\"", "`link.0.buffer`: it has no effect: it is the same as `switch.buffer`");
    refuses("buffer = \"100B\"", "`link.0.buffer`: 100B cannot hold one packet of 1500 bytes");
    refuses("marking = \"none\"", "`link.0.marking`: it has no effect: it is the same as `switch.marking`");
    refuses(
        "marking = { step = \"3pkts\" }",
        "`link.0.marking`: it has no effect: no transport is ECN-capable",
    );
    let twice = "buffer = \"3pkts\"\n[[link]]\nwhich = \"all\"\nbuffer = \"4pkts\"";
    refuses(twice, "`link.1.buffer`: link.0 sets it already");
    let hosts =
        "buffer = \"3pkts\"\n[[link]]\nwhich = \"host-links\"\ndirection = \"forward\"\nbuffer = \"4pkts\"";
    refuses(hosts, "`link.1.buffer`: it has no effect: only hosts send in this direction of these links");
}
