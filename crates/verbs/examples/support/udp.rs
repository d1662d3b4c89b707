//! Both ends of a queue pair on real UDP sockets, and between them a relay that loses, repeats and delays (IRN-V3).
//! Used by the example `verbs_udp` and by the test `udp`.
#![allow(dead_code, clippy::disallowed_methods)] // this is where there is a clock

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thalweg_units::{Stream, Time};
use thalweg_verbs::memory::Memory;
use thalweg_verbs::{Completion, Host, Received, Requester, Responder};

/// What the relay does to packets.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub seed: u64,
    /// Share of packets lost.
    pub loss: f64,
    /// Share of packets that arrive twice.
    pub repeat: f64,
    /// Share of packets that are held back, and up to how long: they are overtaken.
    pub delay: f64,
    pub longest: Duration,
}

/// What the relay did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relayed {
    pub packets: u64,
    pub lost: u64,
    pub repeated: u64,
    pub delayed: u64,
}

/// One end, as its socket's loop sees it.
pub trait End {
    fn on_packet(&mut self, now: Time, bytes: &[u8]);
    fn poll(&mut self, now: Time, out: &mut Vec<u8>) -> bool;
    fn timer(&self) -> Option<Time>;
    fn on_timer(&mut self, now: Time);
    /// It has nothing to do, for all it knows.
    fn is_done(&self) -> bool;
}

pub struct RequesterEnd {
    pub requester: Requester,
    pub memory: Memory,
    pub completions: Vec<Completion>,
    pub ignored: u64,
}

pub struct ResponderEnd {
    pub responder: Responder,
    pub host: Host,
    pub received: Vec<Received>,
    pub ignored: u64,
}

impl End for RequesterEnd {
    fn on_packet(&mut self, now: Time, bytes: &[u8]) {
        self.ignored += u64::from(self.requester.on_packet(now, &mut self.memory, bytes).is_err());
        self.completions.extend(std::iter::from_fn(|| self.requester.poll_completion()));
    }
    fn poll(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.requester.poll_transmit(now, &self.memory, out)
    }
    fn timer(&self) -> Option<Time> {
        self.requester.timer()
    }
    fn on_timer(&mut self, now: Time) {
        self.requester.on_timer(now);
    }
    fn is_done(&self) -> bool {
        self.requester.is_idle()
    }
}

impl End for ResponderEnd {
    fn on_packet(&mut self, now: Time, bytes: &[u8]) {
        self.ignored += u64::from(self.responder.on_packet(now, &mut self.host, bytes).is_err());
        self.received.extend(std::iter::from_fn(|| self.responder.poll_received()));
    }
    fn poll(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.responder.poll_transmit(now, &self.host.memory, out)
    }
    fn timer(&self) -> Option<Time> {
        self.responder.timer()
    }
    fn on_timer(&mut self, now: Time) {
        self.responder.on_timer(now);
    }
    fn is_done(&self) -> bool {
        self.responder.is_idle()
    }
}

/// Waits for a packet for at most so long.
fn receive(socket: &UdpSocket, buffer: &mut [u8], wait: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
    socket.set_read_timeout(Some(wait.clamp(Duration::from_micros(50), Duration::from_millis(2))))?;
    match socket.recv_from(buffer) {
        Ok(got) => Ok(Some(got)),
        Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(None),
        Err(why) => Err(why),
    }
}

/// Drives one end until both are done. `mine` notifies the other loop that this end is.
fn drive(
    socket: &UdpSocket,
    end: &mut impl End,
    clock: Instant,
    deadline: Instant,
    (mine, other): (&AtomicBool, &AtomicBool),
) -> io::Result<()> {
    let now = || Time::from_ns(clock.elapsed().as_nanos() as u64);
    let (mut out, mut buffer) = (Vec::new(), vec![0; 8192]);
    loop {
        while end.poll(now(), &mut out) {
            socket.send(&out)?;
        }
        mine.store(end.is_done(), Ordering::SeqCst);
        if mine.load(Ordering::SeqCst) && other.load(Ordering::SeqCst) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(io::Error::new(ErrorKind::TimedOut, "not done at the deadline"));
        }
        let ahead = end.timer().map_or(2_000_000, |at| at.ps().saturating_sub(now().ps()) / 1_000);
        if let Some((n, _)) = receive(socket, &mut buffer, Duration::from_nanos(ahead))? {
            end.on_packet(now(), &buffer[..n]);
        }
        end.on_timer(now());
    }
}

/// Passes packets on between `ends`, unreliably, until `stop`.
fn relay(
    socket: &UdpSocket,
    ends: [SocketAddr; 2],
    faults: Faults,
    stop: &AtomicBool,
) -> io::Result<Relayed> {
    let mut r = Stream::new(faults.seed, "relay", 0);
    let mut held: BTreeMap<(Instant, u64), (SocketAddr, Vec<u8>)> = BTreeMap::new();
    let mut done = Relayed::default();
    let mut buffer = vec![0; 8192];
    while !stop.load(Ordering::SeqCst) {
        while let Some(entry) = held.first_entry().filter(|entry| entry.key().0 <= Instant::now()) {
            let (to, bytes) = entry.remove();
            socket.send_to(&bytes, to)?;
        }
        let wait =
            held.keys().next().map_or(Duration::from_millis(2), |(at, _)| at.duration_since(Instant::now()));
        let Some((n, from)) = receive(socket, &mut buffer, wait)? else { continue };
        let to = if from == ends[0] { ends[1] } else { ends[0] };
        done.packets += 1;
        if r.unit() < faults.loss {
            done.lost += 1;
            continue;
        }
        let copies = 1 + u64::from(r.unit() < faults.repeat);
        done.repeated += copies - 1;
        for copy in 0..copies {
            let late = r.unit() < faults.delay;
            done.delayed += u64::from(late);
            let delay = if late { faults.longest.mul_f64(r.unit()) } else { Duration::ZERO };
            held.insert((Instant::now() + delay, done.packets * 2 + copy), (to, buffer[..n].to_vec()));
        }
    }
    Ok(done)
}

/// Runs both ends until everything is over, or names which of them is not at the deadline.
pub fn run(
    requester: &mut RequesterEnd,
    responder: &mut ResponderEnd,
    faults: Faults,
    patience: Duration,
) -> Result<Relayed, String> {
    let bind = || UdpSocket::bind(("127.0.0.1", 0)).map_err(|why| why.to_string());
    let (near, far, middle) = (bind()?, bind()?, bind()?);
    let address = |socket: &UdpSocket| socket.local_addr().map_err(|why| why.to_string());
    for socket in [&near, &far] {
        socket.connect(address(&middle)?).map_err(|why| why.to_string())?;
    }
    let ends = [address(&near)?, address(&far)?];
    let (clock, stop) = (Instant::now(), AtomicBool::new(false));
    let (requested, responded) = (AtomicBool::new(false), AtomicBool::new(false));
    let deadline = clock + patience;
    std::thread::scope(|scope| {
        let middle = scope.spawn(|| relay(&middle, ends, faults, &stop));
        let far = scope.spawn(|| drive(&far, responder, clock, deadline, (&responded, &requested)));
        let requesting = drive(&near, requester, clock, deadline, (&requested, &responded));
        let responding = far.join().map_err(|_| "the responder's thread panicked")?;
        stop.store(true, Ordering::SeqCst);
        let relayed = middle.join().map_err(|_| "the relay's thread panicked")?;
        requesting.map_err(|why| format!("requester: {why}"))?;
        responding.map_err(|why| format!("responder: {why}"))?;
        relayed.map_err(|why| format!("relay: {why}"))
    })
}
