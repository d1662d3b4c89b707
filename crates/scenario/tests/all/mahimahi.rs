//! Packet lists of the Mahimahi emulator, replayed: arrivals at a traced link with a drop-tail queue of 250
//! packets. Every departure and every drop comes out as it was logged, to the millisecond. Skipped, visibly,
//! where the data is not next to the repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use thalweg_machines::egress::*;
use thalweg_machines::link::{LinkSpec, TracedSpec, TransmitterSpec};
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::stage::StageSpec;
use thalweg_scenario::parse::trace;
use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, Packet, Side};

const LISTS: [(&str, &str); 4] = [
    ("Verizon-LTE-short.down", "cubic"),
    ("Verizon-LTE-short.down", "bbr"),
    ("ATT-LTE-driving-2016.down", "cubic"),
    ("TMobile-LTE-driving.down", "cubic"),
];

fn shared() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

fn unpacked(file: &Path) -> Option<String> {
    let out = Command::new("gzip").arg("-dc").arg(file).output().ok().filter(|out| out.status.success());
    if out.is_none() {
        eprintln!("SKIPPED: `{}` is not there, or there is no gzip", file.display());
    }
    String::from_utf8(out?.stdout).ok()
}

/// When a packet came, its bytes, what became of it: milliseconds until it left, `E` dropped at arrival, `Q`
/// still queued.
fn rows(text: &str) -> Vec<(u64, u32, &str)> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let cells: Vec<&str> = line.split(',').collect();
        rows.push((cells[0].parse().expect("ms"), cells[1].parse().expect("bytes"), cells[2]));
    }
    rows
}

struct Pool(Vec<Packet>, Side);

impl Packets for Pool {
    fn packet(&mut self, handle: Handle) -> &mut Packet {
        &mut self.0[handle.0 as usize]
    }
    fn headers(&mut self, handle: Handle) -> (&mut Packet, &mut Side) {
        (&mut self.0[handle.0 as usize], &mut self.1)
    }
}

/// A port with its packets.
struct Bench {
    port: Egress,
    pool: Pool,
    /// In picoseconds; `None`: it has not left.
    left: Vec<Option<Time>>,
    out: Vec<Handle>,
    wait: Option<Time>,
}

impl Bench {
    fn poll(&mut self, now: Time) {
        self.wait = loop {
            match self.port.poll(now, &mut self.pool, &mut self.out) {
                Poll::Transmit { what: Sent::Packet(handle), until, .. } => {
                    self.left[handle.0 as usize] = Some(until);
                }
                Poll::Transmit { .. } => unreachable!("no frames are sent"),
                Poll::Wait(at) => break Some(at),
                Poll::Idle => break None,
            }
        };
    }

    fn poll_until(&mut self, end: Time) {
        while let Some(at) = self.wait.filter(|at| *at < end) {
            self.poll(at);
        }
    }
}

#[test]
fn every_departure_and_drop_of_the_emulators_logs_comes_out_to_the_millisecond() {
    for (name, scheme) in LISTS {
        let Some(trace) = unpacked(&shared().join(format!("traces/{name}.gz"))) else { return };
        let list = shared().join(format!("reference/mahimahi/packets_{name}_{scheme}.csv.gz"));
        let Some(text) = unpacked(&list) else { return };
        let trace = Arc::new(trace::parse(&trace).expect("a trace"));
        let transmitter = TransmitterSpec::Traced(TracedSpec { trace, bytes: 1504 });
        let link = LinkSpec { transmitter, delay: Span::ZERO, jitter: None, loss: None };
        let (order, limit, stage) = (OrderSpec::fifo(), Limit::Packets(250), StageSpec::tail_drop());
        let queue = DisciplineSpec { order, limit, front: Vec::new(), stage, preemptive: false };
        let spec = EgressSpec {
            back: link.mean_rate(),
            link,
            queue,
            stages: vec![],
            control_first: false,
            pause_control: true,
            frame_wire: 64,
        };
        let rows = rows(&text);
        let mut bench = Bench {
            port: Egress::new(&spec, 1, 0).expect("a port"),
            pool: Pool(Vec::new(), Side::Empty),
            left: vec![None; rows.len()],
            out: Vec::new(),
            wait: None,
        };
        let mut dropped = vec![false; rows.len()];
        for (i, (at, bytes, _)) in rows.iter().enumerate() {
            // An arrival comes after every opportunity of its millisecond.
            let now = Time::from_ms(*at) + Span::from_ps(1);
            bench.poll_until(now);
            bench.pool.0.push(Packet { wire: *bytes, ..Packet::default() });
            let handle = Handle(i as u32);
            dropped[i] = bench.port.arrive(now, handle, &mut bench.pool, &mut Vec::new()) == Arrived::Dropped;
            bench.poll(now);
        }
        // The log ends while some still wait.
        let until = rows.iter().filter_map(|row| Some(row.0 + row.2.parse::<u64>().ok()?)).max().unwrap_or(0);
        bench.poll_until(Time::from_ms(until + 1));
        let wrong = rows.iter().enumerate().find(|(i, (at, _, logged))| match *logged {
            "E" => !dropped[*i],
            "Q" => dropped[*i],
            ms => bench.left[*i] != Some(Time::from_ms(at + ms.parse::<u64>().expect("ms"))),
        });
        if let Some((i, row)) = wrong {
            panic!(
                "{name}, {scheme}: packet {i} {row:?} left at {:?}, dropped {}",
                bench.left[i], dropped[i]
            );
        }
        assert!(rows.len() > 50_000 && dropped.iter().any(|d| *d), "{} packets", rows.len());
    }
}
