//! Ultra Ethernet in scenarios: what follows from the topology, closed forms, what is refused.

use crate::common::*;
use std::path::Path;
use thalweg_scenario::load;

/// Four hosts at each of four leaves under four spines; 100 Gb/s, 1 us a link.
fn fabric(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n\
         topology = {{ kind = \"leaf-spine\", leaves = 4, spines = 4, hosts_per_leaf = 4, \
         host_rate = \"100Gbps\", spine_rate = \"100Gbps\", delay = \"1us\" }}\n\
         run = {{ until = \"100ms\" }}\n[measure]\nfct = \"sender\"\n"
    )
}

/// Four links of 1 us each way, of 332.8 ns for a packet of 4160 B and 5.12 ns for an ACK: 9351.68 ns. That is 116 896
/// B, 28.1 packets.
#[test]
fn round_trip_queue_and_thresholds_follow_from_the_topology() {
    let text = format!("{}[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n", fabric("uet+spray"));
    let resolved = scenario(&text, Path::new("."), &[]).to_toml();
    let wanted = [
        "base_rtt = \"9351680ps\"",
        "target = \"7013760ps\"",
        "first = \"175344B\"",
        "buffer = \"120640B\"",
        "min = \"24960B\"",
        "max = \"99840B\"",
    ];
    for part in wanted {
        assert!(resolved.contains(part), "{part} in\n{resolved}");
    }
    let own = scenario(&text, Path::new("."), &set(&[("switch.buffer", "50KB")])).to_toml();
    assert!(own.contains("buffer = \"50KB\"") && own.contains("min = \"24960B\""), "{own}");
}

/// n packets over h links, the last ACK at the sender: (n − 2 + h) T + t + h p + h (a + p).
#[test]
fn a_lone_flow_takes_the_time_of_its_closed_form() {
    let text = format!(
        "{}[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 15\nsize = \"100000B\"\n",
        fabric("nscc+spray")
    );
    let run = run(&text);
    // 24 packets of 4096 B and one of 1696; at 80 ps a byte.
    let (full, last, ack, delay, links) = (332_800, 140_800, 5_120, 1_000_000, 4);
    let closed = (25 - 2 + links) * full + last + links * delay + links * (ack + delay);
    assert_eq!(column(&run, "flows", "fct_ps"), [closed]);
}

/// The link is busy from the first packet on, whichever end decides.
#[test]
fn an_incast_is_trimmed_and_fills_its_link() {
    for scheme in ["nscc+spray", "rccc+spray", "uet+spray"] {
        let text = format!(
            "{}[[traffic]]\nkind = \"incast\"\nfan_in = 15\nsize = \"409600B\"\nreceiver = 0\n",
            fabric(scheme)
        );
        let run = run(&text);
        let sum = |name: &str| column(&run, "flows", name).iter().sum::<i128>();
        assert!(sum("trims") > 100, "{scheme}: {}", sum("trims"));
        assert_eq!((sum("drops"), sum("timeouts"), sum("retransmissions")), (0, 0, sum("trims")), "{scheme}");
        let last = column(&run, "flows", "fct_ps").into_iter().max().expect("flows");
        let busy = 1500 * 332_800;
        assert!(last > busy && last < busy * 107 / 100, "{scheme}: {last} ps, the link needs {busy} ps");
    }
}

/// What both ends of a broken link lose is repaired by timeouts; REPS leaves it, chance does not.
#[test]
fn reps_leaves_a_dead_link_and_chance_does_not() {
    let timeouts = |selection: &str| {
        let text = format!(
            "{}[[traffic]]\nkind = \"permutation\"\nsize = \"4MB\"\n\
             [[incident]]\nkind = \"link-failure\"\nlink = [16, 20]\nat = \"50us\"\nuntil = \"1ms\"\n",
            fabric("nscc+spray")
        );
        let settings =
            [("routing", "{kind=\"entropy\",convergence=\"1s\"}"), ("transport.path_selection", selection)];
        let run = finish(&scenario(&text, Path::new("."), &set(&settings)));
        column(&run, "flows", "timeouts").iter().sum::<i128>()
    };
    let (reps, random) = (timeouts("reps"), timeouts("random"));
    assert!(reps > 0 && reps * 3 < random, "{reps}, {random}");
}

/// The timer may be overdue as what was sent longest ago, and is given up later than others, is acknowledged.
#[test]
fn flows_end_whose_packets_are_given_up_in_another_order_than_they_were_sent() {
    let text = "topology = { kind = \"star\", hosts = 2, rate = \"100Gbps\", delay = \"1us\" }\n\
        transport = { kind = \"uet\", back_off = 3, ack_every = \"1B\" }\n\
        nic = { order = \"round-robin\" }\nrun = { until = \"1s\" }\n\
        [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"2MB\"\n\
        [[link]]\nwhich = \"host-links\"\nloss = { kind = \"independent\", probability = 0.02 }\n";
    for seed in 1..=20 {
        let run = finish(&scenario(text, Path::new("."), &set(&[("seed", &seed.to_string())])));
        let timeouts = column(&run, "flows", "timeouts")[0];
        let groups = &run.summary()["groups"][0];
        assert!(timeouts > 0 && groups["completed"] == 1, "{seed}: {timeouts} timeouts, {groups}");
    }
}

/// Pulls that a failed link loses are not acknowledged: a source that waits for them requests more in time.
#[test]
fn flows_whose_pulls_are_lost_with_a_link_complete() {
    for window in ["", "window = \"none\"\n"] {
        for from in [60, 150, 300] {
            let run = run(&format!(
                "topology = {{ kind = \"star\", hosts = 17 }}\nrun = {{ until = \"1s\" }}\n\
                 switch = {{ buffer = \"50KB\", scheduler = \"ndp\" }}\nnic = {{ order = \"round-robin\" }}\n\
                 [transport]\nkind = \"uet\"\ncredits = {{}}\n{window}\
                 [[traffic]]\nkind = \"incast\"\nfan_in = 16\nsize = \"60KB\"\nreceiver = 0\n\
                 [[incident]]\nkind = \"link-failure\"\nlink = [\"h1\", \"switch0\"]\nat = \"{from}us\"\n\
                 until = \"{}us\"\n",
                from + 1000
            ));
            assert_eq!(run.summary()["flows"]["completed"], 16, "{window} {from} us");
        }
    }
}

#[track_caller]
fn refused(pairs: &[(&str, &str)], expected: &str) {
    let text =
        format!("{}[[traffic]]\nkind = \"incast\"\nfan_in = 5\nsize = \"20KB\"\n", fabric("nscc+spray"));
    let errors = load(&text, "s.toml", Path::new("."), &set(pairs)).expect_err("refused");
    let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(all.iter().any(|e| e.contains(expected)), "{}", all.join("\n"));
}

#[test]
fn what_cannot_work_is_refused_with_the_way_out() {
    refused(&[("nic.order", "queue")], "`nic.order = \"round-robin\"`");
    refused(&[("transport.window", "none")], "neither a window nor credits limit the data in flight");
    refused(
        &[("transport.window", "{kind=\"fixed\",size=\"100B\"}")],
        "a full packet is larger than a window of 100B",
    );
    refused(&[("transport.window.products", "0.0")], "out of range");
    refused(&[("transport.window.weight", "0.0")], "out of range");
    refused(&[("transport.credits", "{quanta=0}")], "out of range");
    refused(&[("transport.credits", "{share=1.5}")], "out of range");
    refused(&[("transport.credits", "{first=\"0B\"}")], "never requests more");
    refused(&[("transport.path_selection", "reps"), ("routing", "ecmp")], "it has no effect");
    refused(&[("transport.path_selection", "{kind=\"random\",values=1}")], "1 is out of range");
    refused(&[("transport.path_selection", "{kind=\"oblivious\",values=48}")], "no power of two");
    refused(&[("transport.header", "0B")], "and would be empty");
    refused(&[("transport.retry", "0s")], "a time of 0");
    refused(&[("transport.base_rtt", "0s")], "a round trip of 0 is impossible");
    refused(&[("traffic.0", "{kind=\"backlogged\",src=0,dst=1}")], "the receiver learns the end of a flow");
    refused(&[("traffic.0.class", "1")], "whatever the class");
}
