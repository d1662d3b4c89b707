//! Whole paths: kernel TCP and ping over a port, where namespaces are allowed. No time below 10 ms is judged.

use crate::common::{again, allowed, installed, scenario, shell};
use std::fs;
use std::path::PathBuf;
use thalweg_emulate::replay::replay;
use thalweg_emulate::{Outcome, WireKind};

pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("thalweg-emulate-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn an_echo_takes_the_delays_of_both_directions() {
    let name = "an_echo_takes_the_delays_of_both_directions";
    if !allowed(name) || !installed(name, "ping") {
        return;
    }
    let folder = folder("ping");
    let out = folder.join("out");
    let ping = format!("ping -n -c 4 -i 0.2 {{peer}} > {}", out.display());
    let outcome = shell(&scenario("100Mbps", "20ms", ""), &["sh", "-c", &ping]).run().unwrap();
    let text = fs::read_to_string(out).unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(outcome.status.code, 0, "{text}");
    let times =
        text.lines().filter_map(|line| line.split_once("time=")?.1.split(' ').next()?.parse::<f64>().ok());
    let fastest = times.fold(f64::MAX, f64::min);
    assert!((40.0..50.0).contains(&fastest), "{text}");
    let [up, down] = [&outcome.up, &outcome.down].map(|d| d.statistics.packets);
    assert_eq!((up, down), (4, 4));
}

/// A packet with a wrong checksum would not be answered.
#[test]
fn marks_are_written_into_real_packets_and_they_still_arrive() {
    let name = "marks_are_written_into_real_packets_and_they_still_arrive";
    if !allowed(name) || !installed(name, "ping") {
        return;
    }
    let all = "[switch]\nmarking = { kind = \"random-ecn\", probability = 1.0 }\n[transport]\ncongestion = \"dctcp\"\n";
    // ECT(0), then none: those are left alone.
    let pings =
        "ping -n -q -c 5 -i 0.05 -Q 2 {peer} > /dev/null && ping -n -q -c 3 -i 0.05 {peer} > /dev/null";
    let outcome = shell(&scenario("10Mbps", "1ms", all), &["sh", "-c", pings]).run().unwrap();
    let (up, down) = (&outcome.up.statistics, &outcome.down.statistics);
    assert_eq!((outcome.status.code, up.packets, up.marked, down.packets), (0, 8, 5, 8), "{up:?}");
}

const SENT: usize = 12_000_000;

fn pattern(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16) as u8
}

/// Sends the pattern to whom the environment names.
#[test]
#[ignore = "runs within a path"]
fn sends() {
    use std::io::{Read, Write};
    let peer = std::env::var("PEER").unwrap();
    // Without checksums nothing would ever be answered.
    let most = std::time::Duration::from_secs(20);
    let mut to =
        std::net::TcpStream::connect_timeout(&format!("{peer}:5000").parse().unwrap(), most).unwrap();
    let all: Vec<u8> = (0..SENT).map(pattern).collect();
    to.write_all(&all).unwrap();
    to.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(to.read(&mut [0]).unwrap(), 1, "the receiver has checked all bytes");
}

/// Receives it, slowly at first, and compares every byte.
#[test]
#[ignore = "runs within a path"]
fn receives() {
    use std::io::{Read, Write};
    let here = std::env::var("HERE").unwrap();
    let (mut from, _) = std::net::TcpListener::bind(format!("{here}:5000")).unwrap().accept().unwrap();
    let (mut buffer, mut at) = (vec![0; 1 << 16], 0);
    loop {
        let got = from.read(&mut buffer).unwrap();
        if got == 0 {
            break;
        }
        let wrong = buffer[..got].iter().enumerate().find(|(n, byte)| **byte != pattern(at + n));
        assert_eq!(wrong, None, "after {at} bytes");
        at += got;
    }
    assert_eq!(at, SENT);
    from.write_all(&[1]).unwrap();
}

/// What a path has done, and its records; `peer`, `here`: the ends as the environment has them.
pub fn transfer(text: &str, wire: WireKind, [peer, here]: [&str; 2]) -> std::io::Result<(Outcome, PathBuf)> {
    let folder = folder(&format!("{wire:?}-{}", peer.len()));
    let mut shell = shell(text, &[]);
    shell.wire = Some(wire);
    shell.command = again("paths::sends");
    shell.peer = Some(again("paths::receives"));
    shell.environment = vec![("PEER".into(), peer.into()), ("HERE".into(), here.into())];
    shell.record = Some(folder.clone());
    Ok((shell.run()?, folder))
}

#[test]
fn tcp_fills_a_path_every_byte_arrives_and_the_records_replay_exactly() {
    let name = "tcp_fills_a_path_every_byte_arrives_and_the_records_replay_exactly";
    if allowed(name) {
        fills(WireKind::Packet, name);
    }
}

#[test]
fn tcp_fills_a_path_by_xdp_too() {
    let name = "tcp_fills_a_path_by_xdp_too";
    if allowed(name) {
        fills(WireKind::Xdp, name);
    }
}

fn fills(wire: WireKind, name: &str) {
    let text = scenario("50Mbps", "5ms", "[switch]\nbuffer = \"60KB\"\n");
    let (outcome, folder) = match transfer(&text, wire, ["{peer}", "{here}"]) {
        Err(why) if wire == WireKind::Xdp => return eprintln!("SKIPPED {name}: {why}"),
        ran => ran.unwrap(),
    };
    assert_eq!(outcome.wire, wire);
    let records =
        ["up", "down"].map(|name| replay(fs::File::open(folder.join(format!("{name}.port"))).unwrap()));
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(outcome.status.code, 0, "{outcome:?}");
    let up = &outcome.up.statistics;
    assert!(up.dropped > 0, "a buffer of one bandwidth-delay product and a window that grows: {up:?}");
    assert_eq!((up.unfinished, outcome.down.statistics.unfinished), (0, 0), "checksums are the sender's");
    // The bins in which the flow was there all along: 1448 of 1500 bytes are payload.
    let full = &up.series[5..up.series.len() - 3];
    let mean = full.iter().map(|bin| bin.bytes).sum::<u64>() as f64 * 8.0 / (full.len() as f64 * 0.1);
    assert!((0.9..1.001).contains(&(mean / 50e6)), "{mean}: {full:?}");
    for (found, direction) in records.into_iter().zip([&outcome.up, &outcome.down]) {
        let (found, direction) = (found.unwrap(), &direction.statistics);
        assert_eq!(found.difference, None);
        assert!(found.whole);
        let counted = (direction.arrived, direction.packets, direction.dropped);
        assert_eq!((found.arrived, found.sent - found.lost, found.dropped), counted);
    }
}

#[test]
fn a_path_in_a_path_has_both_delays_and_reaches_the_far_end_of_the_outer_one() {
    let name = "a_path_in_a_path_has_both_delays_and_reaches_the_far_end_of_the_outer_one";
    if !allowed(name) || !installed(name, "ping") {
        return;
    }
    let folder = folder("nested");
    let out = folder.join("out");
    let mut outer = shell(&scenario("100Mbps", "20ms", ""), &[]);
    outer.command = again("paths::within");
    let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    outer.environment = vec![of("PEER", "{peer}"), of("OUT", out.to_str().unwrap())];
    let outcome = outer.run().unwrap();
    let text = fs::read_to_string(out).unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert_eq!((outcome.status.code, outcome.addresses.level), (0, 1));
    let times =
        text.lines().filter_map(|line| line.split_once("time=")?.1.split(' ').next()?.parse::<f64>().ok());
    let fastest = times.fold(f64::MAX, f64::min);
    assert!((60.0..80.0).contains(&fastest), "{text}");
    assert_eq!(outcome.up.statistics.packets, 3, "the inner far end is the outer path's near one");
}

/// The inner one: pings the outer far end.
#[test]
#[ignore = "runs within a path"]
fn within() {
    let [peer, out] = ["PEER", "OUT"].map(|name| std::env::var(name).unwrap());
    let ping = format!("ping -n -c 3 -i 0.2 {peer} > {out}");
    let outcome = shell(&scenario("100Mbps", "10ms", ""), &["sh", "-c", &ping]).run().unwrap();
    assert_eq!((outcome.status.code, outcome.addresses.level), (0, 2), "{:?}", outcome.notes);
}

#[test]
fn the_exit_status_and_the_signal_of_the_command_are_passed_on() {
    if !allowed("the_exit_status_and_the_signal_of_the_command_are_passed_on") {
        return;
    }
    let run = |command: &[&str]| shell(&scenario("10Mbps", "1ms", ""), command).run().unwrap().status;
    assert_eq!((run(&["sh", "-c", "exit 7"]).code, run(&["sh", "-c", "exit 7"]).signal), (7, None));
    assert_eq!(run(&["sh", "-c", "kill -15 $$"]).signal, Some(15));
    assert_eq!(run(&["/no/such/program"]).code, 127);
}

#[test]
fn frames_that_are_no_packets_pass_and_are_counted() {
    let name = "frames_that_are_no_packets_pass_and_are_counted";
    if !allowed(name) || !installed(name, "ip") || !installed(name, "ping") {
        return;
    }
    let text = scenario("10Mbps", "1ms", "");
    let commands = "ip neigh del {peer} dev eth0; ping -c 1 -W 5 {peer} > /dev/null";
    let outcome = shell(&text, &["sh", "-c", commands]).run().unwrap();
    assert_eq!(outcome.status.code, 0);
    assert!(outcome.up.statistics.not_ip.values().sum::<u64>() >= 1, "{:?}", outcome.up.statistics.not_ip);
}

/// As an ordinary user.
#[test]
#[ignore = "runs as another user"]
fn ordinary() {
    let command = ["sh", "-c", "read -r _ < /proc/self/net/route && id -u && exit 5"];
    match shell(&scenario("10Mbps", "10ms", ""), &command).run() {
        Ok(outcome) => println!("{} {:?}", outcome.status.code, outcome.wire),
        Err(why) => println!("{why}"),
    }
}

/// Runs a test of this program as an ordinary user, to whom the folder is given.
pub fn as_ordinary_user(
    folder: &std::path::Path,
    test: &str,
    prepare: impl FnOnce(&mut std::process::Command),
) -> std::process::Output {
    use std::os::unix::fs::{MetadataExt, chown};
    use std::os::unix::process::CommandExt;
    let [program, arguments @ ..] = &again(test)[..] else { unreachable!() };
    // To a place that everyone may read, as checkouts often are not; and by another process: an emulator that is
    // started meanwhile would hold the open file, which cannot be run then.
    let copy = folder.join("tests");
    assert!(std::process::Command::new("cp").arg(program).arg(&copy).status().unwrap().success());
    let mut run = std::process::Command::new(copy);
    run.args(arguments).current_dir("/");
    // Only root can become another user; others are ordinary already.
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        chown(folder, Some(65534), Some(65534)).unwrap();
        run.uid(65534).gid(65534);
    }
    prepare(&mut run);
    run.output().unwrap()
}

#[test]
fn an_ordinary_user_has_paths_too() {
    use std::os::unix::fs::MetadataExt;
    let name = "an_ordinary_user_has_paths_too";
    if !allowed(name) {
        return;
    }
    let folder = folder("user");
    let ran = as_ordinary_user(&folder, "paths::ordinary", |_| {});
    fs::remove_dir_all(folder).unwrap();
    let user = fs::metadata("/proc/self").unwrap().uid();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    if said.contains("not allowed here") {
        return eprintln!("SKIPPED {name}: {said}");
    }
    assert!(said.contains("5 Packet"), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    if user == 0 {
        assert!(said.contains("65534\n"), "the user is no other one: {said}");
    }
}
