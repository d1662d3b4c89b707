//! Files over QUIC on 127.0.0.1: what arrives is what was sent, under controllers of every kind. No time is judged.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use thalweg_connect::quic::{Error, Fingerprint, Receiving, Sending, Statistics};
use thalweg_connect::{Make, Sender};
use thalweg_machines::Invalid;
use thalweg_machines::congestion::{
    AckSample, CongestionControl, ControllerSpec, Loss, Needs, Permit, Start,
};
use thalweg_units::{Bytes, Rate};

const STEP: Duration = Duration::from_millis(20);

/// A folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("thalweg-quic-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A receiver in a thread of its own, until it is dropped.
struct Server {
    address: SocketAddr,
    fingerprint: Fingerprint,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn new(folder: &Path) -> Self {
        let mut receiving = Receiving::new("127.0.0.1:0".parse().unwrap(), folder).unwrap();
        let (address, fingerprint) = (receiving.address().unwrap(), receiving.fingerprint());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                receiving.step(STEP).unwrap();
            }
        });
        Self { address, fingerprint, stop, thread: Some(thread) }
    }

    fn send<M: Make>(&self, path: &Path, make: M) -> Result<Statistics, Error> {
        let mut sending = Sending::new(path, self.address, self.fingerprint, make, Sender::default())?;
        while !sending.step(STEP)? {}
        Ok(sending.statistics())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Bytes that are not all alike.
fn data(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n * n / 7) as u8).collect()
}

fn transfers<M: Make>(make: M, bytes: usize) -> Statistics {
    let (here, there) = (Folder::new(), Folder::new());
    let server = Server::new(&there.0);
    let sent = data(bytes);
    let statistics = server.send(&here.file("data.bin", &sent), make).unwrap();
    assert!(fs::read(there.0.join("data.bin")).unwrap() == sent, "bytes differ");
    assert_eq!(there.names(), ["data.bin"], "and nothing else is left");
    assert_eq!((statistics.size, statistics.written), (bytes as u64, bytes as u64));
    assert!(
        statistics.permit.is_some() && statistics.rtt > 0.0 && statistics.sent_packets > bytes as u64 / 1500
    );
    statistics
}

#[test]
fn bytes_arrive_under_a_window() {
    transfers(ControllerSpec::cubic(), 3_000_000);
    transfers(ControllerSpec::newreno(), 1_000_000);
    transfers(ControllerSpec::vegas(), 1_000_000);
}

#[test]
fn bytes_arrive_under_a_pace_and_a_model_of_the_path() {
    transfers(ControllerSpec::bbr(), 2_000_000);
    transfers(ControllerSpec::bbr3(), 2_000_000);
    // A loaded machine's wake-ups are a queue to them: little is sent.
    transfers(ControllerSpec::copa(), 300_000);
    transfers(ControllerSpec::vivace(), 300_000);
}

#[test]
fn an_empty_file_and_one_of_a_byte_arrive() {
    let (here, there) = (Folder::new(), Folder::new());
    let server = Server::new(&there.0);
    for (name, bytes) in [("empty", &b""[..]), ("byte", b"x")] {
        server.send(&here.file(name, bytes), ControllerSpec::cubic()).unwrap();
        assert_eq!(fs::read(there.0.join(name)).unwrap(), bytes);
    }
}

/// A user's controller, in Rust: a constant window and pace.
#[derive(Clone, Copy)]
struct Constant(Permit);

impl CongestionControl for Constant {
    fn on_ack(&mut self, _: &AckSample<'_>) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn permit(&self) -> Permit {
        self.0
    }
}

impl Make for Constant {
    type Controller = Self;
    fn name(&self) -> String {
        "constant".into()
    }
    fn needs(&self) -> Needs {
        ControllerSpec::timely().needs()
    }
    fn make(&self, _: &Start) -> Result<Self, Invalid> {
        Ok(*self)
    }
}

#[test]
fn a_pace_is_never_exceeded() {
    let pace = Some(Rate::from_mbps(8));
    let statistics = transfers(Constant(Permit { pace, ..Permit::window(Bytes::new(1 << 30)) }), 500_000);
    // 4 Mbit and their headers at 8 Mb/s.
    assert!(statistics.seconds >= 0.5, "{} s", statistics.seconds);
}

#[test]
fn a_window_less_than_a_packet_lets_two_through_at_a_time() {
    transfers(Constant(Permit::window(Bytes::new(1))), 50_000);
}

/// A receiver's credit is megabytes: while they were copied at once, nothing left for 3 to 12 ms, eight times a second.
#[test]
fn between_two_looks_at_the_socket_a_chunk_of_the_file_is_handed_over() {
    let (here, there) = (Folder::new(), Folder::new());
    let server = Server::new(&there.0);
    let file = here.file("data.bin", &data(3_000_000));
    let cubic = ControllerSpec::cubic();
    let mut sending =
        Sending::new(&file, server.address, server.fingerprint, cubic, Sender::default()).unwrap();
    let (mut before, mut most) = (0, 0);
    while !sending.step(Duration::ZERO).unwrap() {
        let written = sending.statistics().written;
        most = most.max(written - before);
        before = written;
    }
    assert_eq!((before, most), (3_000_000, 64 << 10));
}

#[test]
fn what_cannot_run_is_refused_before_anything_is_sent() {
    let here = Folder::new();
    let path = here.file("data.bin", b"data");
    let pinned = "0".repeat(64).parse().unwrap();
    let to = "127.0.0.1:1".parse().unwrap();
    let refused = Sending::new(&path, to, pinned, ControllerSpec::hpcc(), Sender::default()).err().unwrap();
    assert!(refused.to_string().starts_with("QUIC cannot run `hpcc`"), "{refused}");
}

#[test]
fn another_fingerprint_is_another_receiver() {
    let (here, there) = (Folder::new(), Folder::new());
    let mut server = Server::new(&there.0);
    server.fingerprint = "ab".repeat(32).parse().unwrap();
    let error = server.send(&here.file("data.bin", b"data"), ControllerSpec::cubic()).unwrap_err();
    assert!(matches!(error, Error::Stranger { .. }), "{error}");
    assert!(there.names().is_empty());
}

#[test]
fn a_name_that_is_taken_stays_what_it_is() {
    let (here, there) = (Folder::new(), Folder::new());
    there.file("data.bin", b"mine");
    let server = Server::new(&there.0);
    let error = server.send(&here.file("data.bin", &data(100_000)), ControllerSpec::cubic()).unwrap_err();
    assert_eq!(error.to_string(), "the receiver did not keep the file: `data.bin` is there already");
    assert_eq!(fs::read(there.0.join("data.bin")).unwrap(), b"mine");
    assert_eq!(there.names(), ["data.bin"]);
}

#[test]
fn a_sender_that_goes_away_leaves_nothing() {
    let (here, there) = (Folder::new(), Folder::new());
    let server = Server::new(&there.0);
    let path = here.file("data.bin", &data(4_000_000));
    let slow = Constant(Permit { pace: Some(Rate::from_mbps(4)), ..Permit::window(Bytes::new(1 << 30)) });
    let mut sending =
        Sending::new(&path, server.address, server.fingerprint, slow, Sender::default()).unwrap();
    while there.names().is_empty() {
        assert!(!sending.step(STEP).unwrap());
    }
    drop(sending);
    drop(server);
    assert!(there.names().is_empty(), "{:?}", there.names());
}

#[test]
fn several_files_arrive_at_once() {
    let (here, there) = (Folder::new(), Folder::new());
    let server = Server::new(&there.0);
    let paths: Vec<PathBuf> = (0..3).map(|n| here.file(&format!("{n}"), &data(200_000 + n))).collect();
    thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| server.send(path, ControllerSpec::cubic()).unwrap());
        }
    });
    for (n, path) in paths.iter().enumerate() {
        assert!(fs::read(there.0.join(format!("{n}"))).unwrap() == fs::read(path).unwrap());
    }
}
