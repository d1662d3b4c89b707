//! NDP in scenarios: what follows from the topology, what is counted, what is refused.

use crate::common::*;
use std::path::Path;
use thalweg_scenario::load;

/// Four hosts at each of four leaves under four spines; 10 Gb/s, 1 us a link; packets of 9 KB, 7.2 us each.
const FABRIC: &str = r#"
scheme = "ndp+trim"
topology = { kind = "leaf-spine", leaves = 4, spines = 4, hosts_per_leaf = 4, host_rate = "10Gbps", spine_rate = "10Gbps", delay = "1us" }
run = { until = "100ms" }
[measure]
fct = "receiver"
"#;

#[test]
fn the_first_window_fills_the_longest_round_trip_and_all_paths_are_numbered() {
    let text = format!("{FABRIC}[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n");
    let resolved = scenario(&text, Path::new("."), &[]).to_toml();
    // Four links of 7.2 us and 51.2 ns, and 1 us each way: 37.0 us, five packets and a bit, twice.
    assert!(resolved.contains("window = 11") && resolved.contains("paths = 4"), "{resolved}");
    let hashed = scenario(&text, Path::new("."), &set(&[("routing", "ecmp")])).to_toml();
    assert!(!hashed.contains("paths ="), "{hashed}");
}

/// 15 flows to one host: headers say at once what was cut, pulls share the link, and nothing is dropped or late.
#[test]
fn an_incast_is_trimmed_and_fills_its_link_without_a_drop_or_a_timeout() {
    let text =
        format!("{FABRIC}[[traffic]]\nkind = \"incast\"\nfan_in = 15\nsize = \"893600B\"\nreceiver = 0\n");
    let run = run(&text);
    let sum = |table: &str, name: &str| column(&run, table, name).iter().sum::<i128>();
    let trims = sum("flows", "trims");
    assert!(trims > 50, "{trims}");
    assert_eq!((sum("flows", "retransmissions"), sum("ports", "trimmed")), (trims, trims));
    assert_eq!((sum("flows", "drops"), sum("ports", "dropped"), sum("flows", "timeouts")), (0, 0, 0));
    assert_eq!(run.summary()["trims"], trims as u64);
    // 1500 packets of 7.2 us, and what the first of them needs to be there.
    let last = column(&run, "flows", "fct_ps").into_iter().max().expect("flows");
    let busy = 1500 * 7_200_000;
    assert!(last > busy && last < busy * 103 / 100, "{last} ps, and the link needs {busy} ps");
}

/// A permutation over all paths: no link has more than its share. With a window of one round trip, which what queues
/// lengthens, links are idle now and then.
#[test]
fn a_permutation_runs_at_line_rate_if_the_window_has_room_for_what_queues() {
    let worst = |window: &str| {
        let text = format!("{FABRIC}[[traffic]]\nkind = \"permutation\"\nsize = \"4468000B\"\n");
        let run = finish(&scenario(&text, Path::new("."), &set(&[("transport.window", window)])));
        let (fct, ideal) = (column(&run, "flows", "fct_ps"), column(&run, "flows", "ideal_ps"));
        fct.iter().zip(ideal).map(|(fct, ideal)| *fct as f64 / ideal as f64).fold(0.0, f64::max)
    };
    let (one, two) = (worst("6"), worst("11"));
    assert!(two < 1.1 && one > 1.2, "{one}, {two}");
}

/// A section that says no kind is of the scheme's kind, not of the default.
#[test]
fn what_is_added_to_a_section_of_a_scheme_leaves_its_kind() {
    let text = format!(
        "{FABRIC}[routing]\nconvergence = \"2ms\"\n[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n\
         [[incident]]\nkind = \"link-failure\"\nlink = [16, 20]\nat = \"50us\"\n"
    );
    let written = scenario(&text, Path::new("."), &[]).to_toml();
    assert!(written.contains("[routing]\nkind = \"numbered\"\nconvergence = \"2ms\""), "{written}");
    let set = scenario(&text, Path::new("."), &set(&[("switch.scheduler.turns", "3")])).to_toml();
    assert!(set.contains("kind = \"ndp\"") && set.contains("turns = 3"), "{set}");
}

#[track_caller]
fn refused(text: &str, pairs: &[(&str, &str)], expected: &str) {
    let text = format!("{text}[[traffic]]\nkind = \"incast\"\nfan_in = 5\nsize = \"20KB\"\n");
    let errors = load(&text, "s.toml", Path::new("."), &set(pairs)).expect_err("refused");
    let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(all.iter().any(|e| e.contains(expected)), "{}", all.join("\n"));
}

#[test]
fn what_cannot_work_is_refused_with_the_way_out() {
    refused(FABRIC, &[("nic.order", "queue")], "`nic.order = \"round-robin\"`");
    refused(
        FABRIC,
        &[("transport", "tcp")],
        "`switch.scheduler`: some transport cannot read trimmed packets",
    );
    refused(FABRIC, &[("transport.window", "0")], "`transport.window`: 0 is out of range");
    refused(FABRIC, &[("transport.pull_share", "1.5")], "`transport.pull_share`: 1.5 is out of range");
    refused(FABRIC, &[("transport.header", "0B")], "and would be empty");
    refused(FABRIC, &[("transport.paths", "4"), ("routing", "ecmp")], "`transport.paths`: it has no effect");
    refused(FABRIC, &[("switch.buffer", "unlimited")], "nothing is trimmed where everything fits");
    refused(FABRIC, &[("switch.scheduler.turns", "0")], "`switch.scheduler.turns`: 0 is out of range");
    refused(
        FABRIC,
        &[("traffic.0", "{kind=\"backlogged\",src=0,dst=1}")],
        "the receiver learns the end of a flow",
    );
    refused(FABRIC, &[("traffic.0.class", "1")], "whatever the class");
    let tcp = FABRIC.replace("scheme = \"ndp+trim\"", "routing = \"numbered\"");
    refused(&tcp, &[], "no transport numbers its paths");
}
