//! Nothing is left, whatever is killed when: no namespace, no device, no process.

use crate::common::{again, allowed, allowed_outside, scenario, shell};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use thalweg_units::Stream;

/// The parent of a process.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// All processes below one, and their network namespaces.
fn below(root: u32) -> Vec<(u32, Option<PathBuf>)> {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| Some((pid, parent(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let of = found[at];
        found.extend(all.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        at += 1;
    }
    found.iter().map(|pid| (*pid, fs::read_link(format!("/proc/{pid}/ns/net")).ok())).collect()
}

/// Processes that are in one of these namespaces.
fn within(namespaces: &[PathBuf]) -> Vec<String> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    pids.filter(|pid| fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|ns| namespaces.contains(&ns)))
        .collect()
}

/// What is killed.
#[test]
#[ignore = "never ends"]
fn runs_for_long() {
    let command = ["sh", "-c", "sleep 1000 & sleep 1000"];
    let mut run = shell(&scenario("10Mbps", "1ms", ""), &command);
    run.peer = Some(command.map(str::to_owned).to_vec());
    run.outside = std::env::var_os("OUTSIDE").is_some();
    let _ = run.run();
}

#[test]
fn whichever_process_is_killed_at_whichever_moment_nothing_is_left() {
    let name = "whichever_process_is_killed_at_whichever_moment_nothing_is_left";
    if allowed(name) {
        kill(None);
    }
}

#[test]
fn nothing_is_left_of_a_path_with_a_way_out_either() {
    let name = "nothing_is_left_of_a_path_with_a_way_out_either";
    if allowed_outside(name) {
        kill(Some("OUTSIDE"));
    }
}

/// Pipes of which a process holds more than one end.
fn pipes_held_twice(pid: u32) -> Vec<PathBuf> {
    let fds = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let mut pipes: Vec<PathBuf> = fds
        .filter_map(|fd| fs::read_link(fd.ok()?.path()).ok())
        .filter(|to| to.to_str().is_some_and(|to| to.starts_with("pipe:")))
        .collect();
    pipes.sort();
    pipes.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0].clone()).collect()
}

/// Killed between the start of number 1 and its asking for the emulator's life, the emulator would not be missed: the
/// caller would wait for ever.
#[test]
fn no_process_of_a_run_holds_both_ends_of_a_pipe() {
    if !allowed("no_process_of_a_run_holds_both_ends_of_a_pipe") {
        return;
    }
    let [program, arguments @ ..] = &again("removal::runs_for_long")[..] else { unreachable!() };
    let mut run = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let all = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        Some(below(run.id())).filter(|all| all.len() >= 6)
    });
    let held: Vec<_> = all.iter().flatten().map(|(pid, _)| (*pid, pipes_held_twice(*pid))).collect();
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(held.len() >= 6, "{held:?}");
    assert!(held.iter().all(|(_, pipes)| pipes.is_empty()), "{held:?}");
}

/// Kills runs, with this variable in their environment.
fn kill(variable: Option<&str>) {
    let here = fs::read_link("/proc/self/ns/net").unwrap();
    let devices = || fs::read_to_string("/proc/net/dev").unwrap().lines().count();
    let before = devices();
    let mut draw = Stream::new(5, "kill", 0);
    let mut whole = 0;
    for round in 0..16 {
        let [program, arguments @ ..] = &again("removal::runs_for_long")[..] else { unreachable!() };
        let mut run = Command::new(program)
            .args(arguments)
            .envs(variable.map(|name| (name, "")))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(draw.below(if round % 2 == 0 { 80 } else { 1500 })));
        let processes = below(run.id());
        whole += u32::from(processes.len() >= if variable.is_some() { 7 } else { 6 });
        let namespaces: Vec<PathBuf> =
            processes.iter().filter_map(|(_, ns)| ns.clone()).filter(|ns| *ns != here).collect();
        // The caller, the emulator, or number 1. Without its way out, which is older than that, a run goes on.
        let mut killed: Vec<u32> = processes.iter().map(|(pid, _)| *pid).collect();
        if variable.is_some() && killed.len() > 2 {
            killed.remove(2);
        }
        let victim = killed[draw.below(killed.len().min(3) as u64) as usize];
        let killed =
            Command::new("kill").args(["-9", &victim.to_string()]).stderr(Stdio::null()).status().unwrap();
        assert!(killed.success());
        let ended = (0..400).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            run.try_wait().unwrap().is_some()
        });
        assert!(ended, "round {round}: killed {victim} of {processes:?}, the caller still waits");
        let mut left = Vec::new();
        for _ in 0..100 {
            let alive = |pid: &u32| {
                fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
            };
            let running = processes.iter().map(|(pid, _)| *pid).filter(alive).map(|pid| pid.to_string());
            left = running.chain(within(&namespaces)).collect();
            if left.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(left.is_empty(), "round {round}: killed {victim} of {processes:?}, left {left:?}");
        assert_eq!(devices(), before);
    }
    assert!(whole > 0, "some were killed with everything running");
}
