//! The kernel's TCP under our controllers, in a network namespace of its own: what is sent arrives, decisions are
//! followed, and nothing is left. Where namespaces or BPF are not to be had, that is said and nothing is tested.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use thalweg_connect::kernel::{Attached, Error, Summary};
use thalweg_connect::{Make, Sender};
use thalweg_machines::Invalid;
use thalweg_machines::congestion::{
    AckSample, CongestionControl, ControllerSpec, Loss, Needs, Permit, Start,
};
use thalweg_units::Bytes;

const STEP: Duration = Duration::from_millis(20);
const BYTES: &str = "THALWEG_TEST_BYTES";
const SECONDS: &str = "THALWEG_TEST_SECONDS";

/// Attached, unless this machine does not allow it.
fn attached<M: Make>(make: M) -> Option<Attached<M>> {
    let skip = |why: String| {
        eprintln!("SKIPPED: {why}");
        None
    };
    if !Command::new("unshare").args(["-n", "ip", "link"]).output().is_ok_and(|out| out.status.success()) {
        return skip("no network namespaces (`unshare -n ip link`)".into());
    }
    match Attached::new(make, Sender::default()) {
        Ok(attached) => Some(attached),
        Err(error @ (Error::Rights | Error::Old { .. } | Error::NoTypes | Error::Group { .. })) => {
            skip(error.to_string())
        }
        Err(error) => panic!("{error}"),
    }
}

/// Both ends of a transfer over the loopback of a namespace of its own, in the group: this program again.
fn start<M: Make>(attached: &Attached<M>, variable: &str, value: &str) -> Child {
    let mut command = attached.group().command("unshare");
    command.args(["-n", "sh", "-c", "ip link set lo up && exec \"$0\" --exact kernel::ends --nocapture"]);
    command.arg(std::env::current_exe().unwrap()).env(variable, value).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Steps until the child is done; what it has printed.
fn finish<M: Make>(attached: &mut Attached<M>, mut child: Child) -> String {
    while child.try_wait().unwrap().is_none() {
        attached.step(STEP).unwrap();
    }
    attached.step(STEP).unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// What the child does; nothing in other runs. It sends so many bytes, or for so many seconds.
#[test]
#[allow(clippy::disallowed_methods, reason = "a real connection has a real duration")]
fn ends() {
    let number = |name| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    let (bytes, seconds) = (number(BYTES), number(SECONDS));
    if bytes.is_none() && seconds.is_none() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap();
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut buffer, mut total) = (vec![0; 1 << 16], 0);
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => return total,
                read => total += read as u64,
            }
        }
    });
    let mut stream = TcpStream::connect(to).unwrap();
    let (begun, chunk) = (Instant::now(), vec![7; 10_000]);
    let mut sent = 0;
    loop {
        let ended = match (bytes, seconds) {
            (Some(bytes), _) => sent >= bytes,
            (None, seconds) => begun.elapsed() >= Duration::from_secs(seconds.unwrap_or(0)),
        };
        if ended {
            break;
        }
        stream.write_all(&chunk).unwrap();
        sent += chunk.len() as u64;
    }
    drop(stream);
    println!("sent {sent} received {}", receiver.join().unwrap());
}

/// Of the sending end.
fn sender(summaries: &[Summary]) -> &Summary {
    summaries.iter().max_by_key(|summary| summary.acked).unwrap()
}

fn is_known(name: &str) -> bool {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    known.split_whitespace().any(|one| one == name)
}

#[test]
fn a_transfer_arrives_under_every_kind_of_controller() {
    for spec in
        [ControllerSpec::cubic(), ControllerSpec::newreno(), ControllerSpec::bbr(), ControllerSpec::copa()]
    {
        let name = spec.key();
        let Some(mut attached) = attached(spec) else { return };
        let child = start(&attached, BYTES, "20000000");
        let said = finish(&mut attached, child);
        assert!(said.contains("sent 20000000 received 20000000"), "{name}: {said}");
        let statistics = attached.statistics();
        assert_eq!((statistics.connections, statistics.lost_samples), (2, 0), "{name}");
        let sent = sender(&statistics.summaries);
        // (A window that a fast transfer does not use up does not grow: one decision may be all there is.)
        assert!(sent.acked >= 20_000_000 && sent.records > 20, "{name}: {sent:?}");
        assert!(sent.closed && statistics.latency_ns.is_some(), "{name}: {statistics:?}");
    }
}

/// A user's controller: a window of so many segments, whatever happens.
#[derive(Clone, Copy)]
struct Constant(u64);

struct Fixed(Permit);

impl CongestionControl for Fixed {
    fn on_ack(&mut self, _: &AckSample<'_>) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn permit(&self) -> Permit {
        self.0
    }
}

impl Make for Constant {
    type Controller = Fixed;
    fn name(&self) -> String {
        "constant".into()
    }
    fn needs(&self) -> Needs {
        Needs::WINDOW
    }
    fn make(&self, start: &Start) -> Result<Fixed, Invalid> {
        Ok(Fixed(Permit::window(Bytes::new(self.0 * u64::from(start.mss)))))
    }
}

#[test]
fn the_kernels_window_is_the_one_that_is_permitted() {
    for segments in [3, 17] {
        let Some(mut attached) = attached(Constant(segments)) else { return };
        let child = start(&attached, BYTES, "20000000");
        finish(&mut attached, child);
        let statistics = attached.statistics();
        let sent = sender(&statistics.summaries);
        assert_eq!((u64::from(sent.cwnd), sent.unfollowed), (segments, 0), "{sent:?}");
    }
}

#[test]
fn when_the_daemon_is_gone_the_flow_goes_on_and_the_algorithm_is_not_there_any_more() {
    let Some(mut attached) = attached(ControllerSpec::cubic()) else { return };
    let name = attached.name().to_owned();
    let folder = attached.group().path().to_owned();
    assert!(is_known(&name) && folder.exists());
    let child = start(&attached, SECONDS, "3");
    let mut acked = 0;
    while acked == 0 {
        attached.step(STEP).unwrap();
        acked = attached.statistics().summaries.iter().map(|summary| summary.acked).max().unwrap_or(0);
    }
    drop(attached);
    assert!(!is_known(&name));
    let said = child.wait_with_output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let line = said.lines().find(|line| line.starts_with("sent")).unwrap();
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [sent, received] = numbers[..] else { panic!("{line}") };
    let _ = fs::remove_dir(folder);
    assert!(sent == received && sent > 2 * acked, "{acked} B with the daemon, then {said}");
}

#[test]
fn a_daemon_that_does_not_answer_is_given_up_and_followed_again_when_it_does() {
    let Some(mut attached) = attached(Constant(4)) else { return };
    let child = start(&attached, SECONDS, "2");
    while attached.statistics().summaries.iter().all(|summary| summary.acked == 0) {
        attached.step(STEP).unwrap();
    }
    thread::sleep(Duration::from_millis(600)); // the kernel's patience is 100 ms
    finish(&mut attached, child);
    let statistics = attached.statistics();
    let sent = sender(&statistics.summaries);
    assert!(sent.unfollowed > 0 && sent.unfollowed < sent.records, "{sent:?}");
    assert_eq!(sent.cwnd, 4, "{sent:?}");
}

#[test]
fn what_cannot_run_is_refused_before_anything_is_loaded() {
    let refused = Attached::new(ControllerSpec::xcp(), Sender::default()).err().unwrap();
    assert!(refused.to_string().starts_with("the kernel's TCP cannot run `xcp`"), "{refused}");
}
