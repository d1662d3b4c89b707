//! Paths whose ends speak IPv6, where namespaces and the kernel allow it. No time below 10 ms is judged.

use crate::common::{again, allowed, installed, scenario, shell};
use crate::paths::{folder, transfer};
use std::fs;
use std::path::Path;
use thalweg_emulate::WireKind;
use thalweg_emulate::replay::replay;

/// True if there is IPv6 here; otherwise says that a test is skipped.
fn has6(test: &str) -> bool {
    let found = Path::new("/proc/sys/net/ipv6").exists();
    if !found {
        eprintln!("SKIPPED {test}: this kernel has no IPv6");
    }
    found && allowed(test)
}

fn fastest(text: &str) -> f64 {
    let times =
        text.lines().filter_map(|line| line.split_once("time=")?.1.split(' ').next()?.parse::<f64>().ok());
    times.fold(f64::MAX, f64::min)
}

/// Exactly the echoes: no device looks for neighbours, routers or addresses through the port.
#[test]
fn an_echo_takes_both_delays_and_nothing_else_passes() {
    let name = "an_echo_takes_both_delays_and_nothing_else_passes";
    if !has6(name) || !installed(name, "ping") {
        return;
    }
    let folder = folder("ping6");
    let out = folder.join("out");
    let ping = format!("ping -n -c 4 -i 0.2 {{peer6}} > {}", out.display());
    let outcome = shell(&scenario("100Mbps", "20ms", ""), &["sh", "-c", &ping]).run().unwrap();
    let text = fs::read_to_string(out).unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(outcome.status.code, 0, "{text}");
    assert!((40.0..50.0).contains(&fastest(&text)), "{text}");
    let [up, down] = [&outcome.up, &outcome.down].map(|d| d.statistics.arrived);
    assert_eq!((up, down), (4, 4), "{:?}", outcome.up.statistics.not_ip);
}

/// Bits of the traffic class (RFC 3168 §5, RFC 8200 §7); a header of version 6 has no checksum to follow them.
#[test]
fn marks_are_written_into_the_traffic_class() {
    let name = "marks_are_written_into_the_traffic_class";
    if !has6(name) || !installed(name, "ping") {
        return;
    }
    let all = "[switch]\nmarking = { kind = \"random-ecn\", probability = 1.0 }\n[transport]\ncongestion = \"dctcp\"\n";
    let pings =
        "ping -n -q -c 5 -i 0.05 -Q 2 {peer6} > /dev/null && ping -n -q -c 3 -i 0.05 {peer6} > /dev/null";
    let outcome = shell(&scenario("10Mbps", "1ms", all), &["sh", "-c", pings]).run().unwrap();
    let (up, down) = (&outcome.up.statistics, &outcome.down.statistics);
    assert_eq!((outcome.status.code, up.packets, up.marked, down.packets), (0, 8, 5, 8), "{up:?}");
}

#[test]
fn tcp_arrives_whole_and_its_records_replay_exactly() {
    let name = "tcp_arrives_whole_and_its_records_replay_exactly";
    if !has6(name) {
        return;
    }
    let text = scenario("50Mbps", "5ms", "[switch]\nbuffer = \"60KB\"\n");
    let (outcome, folder) = transfer(&text, WireKind::Packet, ["[{peer6}]", "[{here6}]"]).unwrap();
    let records =
        ["up", "down"].map(|name| replay(fs::File::open(folder.join(format!("{name}.port"))).unwrap()));
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(outcome.status.code, 0, "{outcome:?}");
    assert_eq!((outcome.up.statistics.unfinished, outcome.down.statistics.unfinished), (0, 0));
    assert!(outcome.up.statistics.dropped > 0, "{:?}", outcome.up.statistics);
    for (found, direction) in records.into_iter().zip([&outcome.up, &outcome.down]) {
        let (found, direction) = (found.unwrap(), &direction.statistics);
        assert_eq!((found.difference, found.arrived), (None, direction.arrived));
    }
}

#[test]
fn a_path_in_a_path_reaches_the_far_end_of_the_outer_one() {
    let name = "a_path_in_a_path_reaches_the_far_end_of_the_outer_one";
    if !has6(name) || !installed(name, "ping") {
        return;
    }
    let folder = folder("nested6");
    let out = folder.join("out");
    let mut outer = shell(&scenario("100Mbps", "20ms", ""), &[]);
    outer.command = again("paths::within");
    let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    outer.environment = vec![of("PEER", "{peer6}"), of("OUT", out.to_str().unwrap())];
    let outcome = outer.run().unwrap();
    let text = fs::read_to_string(out).unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(outcome.status.code, 0, "{text}");
    assert!((60.0..80.0).contains(&fastest(&text)), "{text}");
    assert_eq!(outcome.up.statistics.packets, 3);
}
