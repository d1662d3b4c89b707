//! A way out of a path: programs on it reach the network around, by the path. No time below 10 ms is judged.

use crate::common::{again, allowed, allowed_outside, scenario, shell};
use crate::paths::folder;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use thalweg_emulate::replay::replay;
use thalweg_emulate::{Outcome, Shell};

/// The machine's own 127.0.0.1, as programs on the path see it.
const AROUND: &str = "100.64.0.2";
const BYTES: usize = 200_000;

/// So many bytes for each of so many connections, on this machine; its port.
fn serve(connections: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            stream.unwrap().write_all(&[7; BYTES]).unwrap();
        }
    });
    port
}

/// Fetches from the port that the environment names; prints how many bytes came, and what resolver there is.
#[test]
#[ignore = "runs within a path"]
fn fetches() {
    let port = std::env::var("PORT").unwrap();
    let around = std::env::var("AROUND").unwrap_or_else(|_| AROUND.into());
    let address = format!("{around}:{port}").parse().unwrap();
    let mut all = Vec::new();
    match TcpStream::connect_timeout(&address, Duration::from_secs(20)) {
        Ok(mut from) => from.read_to_end(&mut all).map(drop).unwrap(),
        Err(why) => all = why.to_string().into_bytes(),
    }
    let resolver = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let got = if all.iter().all(|byte| *byte == 7) {
        all.len().to_string()
    } else {
        String::from_utf8_lossy(&all).into_owned()
    };
    fs::write(std::env::var("OUT").unwrap(), format!("{got}|{resolver}")).unwrap();
}

/// A path whose command fetches and writes to this file.
fn fetching(text: &str, port: u16, out: &std::path::Path) -> Shell {
    let mut run = shell(text, &[]);
    run.command = again("outside::fetches");
    run.environment =
        vec![("PORT".into(), port.to_string()), ("OUT".into(), out.to_str().unwrap().to_owned())];
    run
}

#[test]
fn a_transfer_from_outside_passes_both_ports_and_takes_their_time() {
    let name = "a_transfer_from_outside_passes_both_ports_and_takes_their_time";
    if !allowed_outside(name) {
        return;
    }
    let folder = folder("outside");
    let out = folder.join("out");
    let before = fs::read("/etc/resolv.conf").ok();
    let mut run = fetching(&scenario("2Mbps", "20ms", ""), serve(1), &out);
    (run.outside, run.record) = (true, Some(folder.clone()));
    let outcome = run.run().unwrap();
    let said = fs::read_to_string(&out).unwrap();
    let records =
        ["up", "down"].map(|way| replay(fs::File::open(folder.join(format!("{way}.port"))).unwrap()));
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(outcome.status.code, 0, "{said}");
    let (got, resolver) = said.split_once('|').unwrap();
    assert_eq!(got, BYTES.to_string());
    assert!(before.is_none() || resolver == "nameserver 100.64.0.3\n", "{resolver}");
    assert_eq!(fs::read("/etc/resolv.conf").ok(), before, "nothing outside is changed");
    assert!(outcome.seconds >= 0.8 + 0.08, "1.6 Mb at 2 Mb/s, after two round trips: {}", outcome.seconds);
    let (up, down) = (&outcome.up.statistics, &outcome.down.statistics);
    assert!(down.bytes as usize > BYTES && up.packets > 10, "{up:?} {down:?}");
    assert_eq!((up.unfinished, down.unfinished), (0, 0), "checksums are the senders'");
    for found in records {
        let found = found.unwrap();
        assert_eq!((found.difference, found.whole), (None, true));
    }
    assert!(!outcome.notes.iter().any(|note| note.contains("64 KB")), "{:?}", outcome.notes);
}

#[test]
fn without_a_way_out_the_network_around_is_unreachable() {
    let name = "without_a_way_out_the_network_around_is_unreachable";
    if !allowed(name) {
        return;
    }
    let folder = folder("inside");
    let out = folder.join("out");
    let mut run = fetching(&scenario("100Mbps", "1ms", ""), 80, &out);
    // Of RFC 5737, for documentation: no machine has it.
    run.environment.push(("AROUND".into(), "192.0.2.1".into()));
    let outcome = run.run().unwrap();
    let said = fs::read_to_string(&out).unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(outcome.status.code, 0);
    assert!(said.starts_with("Network is unreachable"), "{said}");
}

/// A path within: with a way out if `INNER` says so. Prints why it could not be, or nothing.
#[test]
#[ignore = "runs within a path"]
fn within() {
    let [port, out, inner] = ["PORT", "OUT", "INNER"].map(|name| std::env::var(name).unwrap());
    let mut run =
        fetching(&scenario("100Mbps", "100ms", ""), port.parse().unwrap(), std::path::Path::new(&out));
    run.outside = inner == "true";
    if let Err(why) = run.run() {
        fs::write(out, why.to_string()).unwrap();
    }
}

/// What a path within one says, and what the outer one has counted.
fn nested(name: &str, [outer, inner]: [bool; 2], port: u16) -> (String, Outcome) {
    let folder = folder(name);
    let out = folder.join("out");
    let mut run = fetching(&scenario("100Mbps", "100ms", ""), port, &out);
    run.command = again("outside::within");
    run.environment.push(("INNER".into(), inner.to_string()));
    run.outside = outer;
    let outcome = run.run().unwrap();
    let said = fs::read_to_string(&out).unwrap();
    fs::remove_dir_all(folder).unwrap();
    (said, outcome)
}

#[test]
fn a_path_in_a_path_has_the_way_out_of_the_outer_one_or_none() {
    let name = "a_path_in_a_path_has_the_way_out_of_the_outer_one_or_none";
    if !allowed_outside(name) {
        return;
    }
    let port = serve(2);
    for inner in [true, false] {
        let (said, outcome) = nested("outer", [true, inner], port);
        assert_eq!(said.split('|').next().unwrap(), BYTES.to_string(), "{said}");
        assert!(outcome.seconds >= 0.8, "two round trips of 400 ms: {}", outcome.seconds);
        assert!(outcome.down.statistics.bytes as usize > BYTES);
        let limited = outcome.notes.iter().any(|note| note.contains("at most 2.621 Mb/s"));
        assert!(limited, "64 KB per 200 ms: {:?}", outcome.notes);
    }
    let (said, _) = nested("none", [false, true], port);
    assert!(said.contains("give it to the outermost path"), "{said}");
}

/// As an ordinary user.
#[test]
#[ignore = "runs as another user"]
fn ordinary() {
    let [port, out] = ["PORT", "OUT"].map(|name| std::env::var(name).unwrap());
    let mut run =
        fetching(&scenario("10Mbps", "10ms", ""), port.parse().unwrap(), std::path::Path::new(&out));
    run.outside = true;
    if let Err(why) = run.run() {
        fs::write(out, why.to_string()).unwrap();
    }
}

#[test]
fn an_ordinary_user_has_a_way_out_too() {
    let name = "an_ordinary_user_has_a_way_out_too";
    if !allowed_outside(name) {
        return;
    }
    let folder = folder("outside-user");
    let ran = crate::paths::as_ordinary_user(&folder, "outside::ordinary", |run| {
        run.env("PORT", serve(1).to_string()).env("OUT", folder.join("out"));
    });
    let said = fs::read_to_string(folder.join("out")).unwrap_or_default();
    fs::remove_dir_all(folder).unwrap();
    if said.contains("not allowed here") || said.contains("/dev/net/tun") {
        return eprintln!("SKIPPED {name}: {said}");
    }
    assert_eq!(said.split('|').next().unwrap(), BYTES.to_string(), "{said} {ran:?}");
}

/// A process of this name below this one.
fn below(name: &str) -> Option<u32> {
    let stat = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let parent = |pid| stat(pid)?.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok();
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let ours = |pid: &u32| {
        stat(*pid).is_some_and(|stat| stat.contains(name))
            && parent(*pid).and_then(parent) == Some(std::process::id())
    };
    pids.into_iter().find(ours)
}

#[test]
fn a_way_out_that_ends_before_the_command_is_reported() {
    let name = "a_way_out_that_ends_before_the_command_is_reported";
    if !allowed_outside(name) {
        return;
    }
    // Its way out is killed while it sleeps.
    let folder = folder("ended");
    // Paths of other tests wait for this one meanwhile.
    let [begun, go] = ["begun", "go"].map(|name| folder.join(name));
    let waits = format!(
        "touch {}; for i in $(seq 600); do [ -e {} ] && exit 4; sleep 0.1; done",
        begun.display(),
        go.display()
    );
    let mut run = shell(&scenario("10Mbps", "1ms", ""), &["sh", "-c", &waits]);
    run.outside = true;
    let running = std::thread::spawn(move || run.run().unwrap());
    let killed = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        begun.exists()
            && below("(slirp4netns)").is_some_and(|pid| {
                std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success()
            })
    });
    fs::write(go, "").unwrap();
    let outcome = running.join().unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert!(killed);
    assert_eq!(outcome.status.code, 4);
    let said = outcome.notes.iter().any(|note| note.contains("the way out ended before the command did"));
    assert!(said, "{:?}", outcome.notes);
}
