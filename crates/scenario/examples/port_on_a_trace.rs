//! One port of a scenario, fed with packets from a file, without the simulator:
//!
//! ```text
//! cargo run -p thalweg-scenario --example port_on_a_trace -- SCENARIO.toml [TRACE.csv]
//! ```
//!
//! The port is the scenario's bottleneck. A line of the trace is `time_s,flow,bytes`, in order of time, `bytes` on the
//! wire; without a file there are Poisson arrivals at 1.2 times the rate of the port's link. All packets are data and
//! ECN-capable. What is printed of each packet: when it came, what became of it, when it was sent and whether it was
//! marked.
#![allow(dead_code)] // by tests that include this file

use std::path::Path;
use thalweg_machines::egress::{Arrived, Packets, Poll, Sent};
use thalweg_machines::schedule::Discipline;
use thalweg_net::port::PortSpec;
use thalweg_scenario::{Scenario, load};
use thalweg_units::{FlowId, Span, Stream, Time};
use thalweg_wire::{Ecn, Handle, NO_SIDE, Packet, Side};

/// A packet of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When its last bit is here.
    pub at: Time,
    /// Its flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub wire: u32,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was sent.
    Sent {
        /// When its last bit had left.
        until: Time,
        /// When it reaches the far end; `None`: the link loses it.
        arrives: Option<Time>,
        /// Congestion was experienced.
        marked: bool,
    },
    /// It was dropped.
    Dropped,
    /// It still waits: the link does not open any more, or the queue lets nothing leave.
    Waits,
}

/// The packets, by handle: their number in the trace.
struct Pool(Vec<(Packet, Side)>);

impl Packets for Pool {
    fn packet(&mut self, handle: Handle) -> &mut Packet {
        &mut self.0[handle.0 as usize].0
    }
    fn headers(&mut self, handle: Handle) -> (&mut Packet, &mut Side) {
        let (packet, side) = &mut self.0[handle.0 as usize];
        (packet, side)
    }
}

/// Runs the trace through the port; packet by packet, what became of it.
///
/// # Errors
/// If the port needs more of its switch than a trace says, by name.
pub fn play(spec: &PortSpec, trace: &[Arrival]) -> Result<Vec<Fate>, String> {
    let unsupported = [
        (spec.shared.is_some(), "memory that it shares with other ports"),
        (spec.inputs.is_some(), "memory by input, and the pauses that come of it"),
        (spec.point.is_some(), "a congestion point, whose messages go to the sources of flows"),
    ];
    if let Some((_, what)) = unsupported.iter().find(|(has, _)| *has) {
        return Err(format!("next to the port its switch has {what}: a trace does not say what that does"));
    }
    let mut port = spec.make().map_err(|e| e.to_string())?;
    let packet = |(number, a): (usize, &Arrival)| Packet {
        seq: number as u64,
        flow: FlowId(a.flow),
        wire: a.wire,
        payload: a.wire,
        ecn: Ecn::Ect0,
        ..Packet::default()
    };
    let with_header = |packet| (Packet { side: NO_SIDE, ..packet }, Side::Empty);
    let mut pool = Pool(trace.iter().enumerate().map(packet).map(with_header).collect());
    let mut fates = vec![Fate::Waits; trace.len()];
    let (mut next, mut poll_at, mut gone) = (0, None::<Time>, Vec::new());
    loop {
        let comes = trace.get(next).map(|a| a.at);
        // A control plane that ticks for ever is of interest while something comes or leaves.
        let busy = comes.is_some() || poll_at.is_some();
        let wakes = port.wake().filter(|_| busy);
        let Some(now) = [comes, poll_at, wakes].into_iter().flatten().min() else { return Ok(fates) };
        if wakes.is_some_and(|at| at <= now) {
            port.tick(now);
        }
        while trace.get(next).is_some_and(|a| a.at == now) {
            let handle = Handle(next as u32);
            if port.arrive(now, handle, &mut pool, &mut gone) == Arrived::Dropped {
                gone.push(handle);
            }
            next += 1;
        }
        // The port decides after all that comes at this instant has come.
        poll_at = loop {
            match port.poll(now, &mut pool, &mut gone) {
                Poll::Transmit { what: Sent::Packet(handle), until, arrives } => {
                    let marked = pool.packet(handle).ecn == Ecn::Ce;
                    fates[handle.0 as usize] = Fate::Sent { until, arrives, marked };
                }
                Poll::Transmit { .. } => {}
                Poll::Wait(at) => break Some(at),
                Poll::Idle => break port.queue().held_until().filter(|at| *at > now),
            }
        };
        gone.drain(..).for_each(|handle| fates[handle.0 as usize] = Fate::Dropped);
    }
}

/// Reads a trace.
///
/// # Errors
/// The line that is none, and why.
pub fn read(text: &str) -> Result<Vec<Arrival>, String> {
    let mut trace: Vec<Arrival> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line == "time_s,flow,bytes" {
            continue;
        }
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let parsed = match cells[..] {
            [time, flow, wire] => (time.parse::<f64>().ok(), flow.parse().ok(), wire.parse().ok()),
            _ => (None, None, None),
        };
        let (Some(seconds), Some(flow), Some(wire)) = parsed else {
            return Err(format!("line {number}: `{line}` is not time_s,flow,bytes"));
        };
        if !(0.0..1e6).contains(&seconds) {
            return Err(format!("line {number}: {seconds} s is out of range"));
        }
        let at = Time::from_ps((seconds * 1e12).round() as u64);
        if trace.last().is_some_and(|before| before.at > at) {
            return Err(format!("line {number}: it comes before the line above"));
        }
        trace.push(Arrival { at, flow, wire });
    }
    Ok(trace)
}

/// Poisson arrivals of ten flows at 1.2 times the rate of the port's link.
pub fn generated(spec: &PortSpec, packets: u32) -> Vec<Arrival> {
    let wire = 1500;
    let gap = 8e12 * f64::from(wire) / (1.2 * spec.egress.link.mean_rate().bps() as f64);
    let mut draw = Stream::new(spec.seed, "trace", 0);
    let mut at = Time::ZERO;
    (0..packets)
        .map(|_| {
            at += Span::from_ps((draw.exponential(gap)) as u64);
            Arrival { at, flow: draw.below(10) as u32, wire }
        })
        .collect()
}

/// The fates as lines, and their sums.
pub fn report(trace: &[Arrival], fates: &[Fate]) -> String {
    let mut out = String::from("time_ps,flow,bytes,fate,until_ps,marked\n");
    let (mut sent, mut dropped, mut marks) = (0, 0, 0);
    for (Arrival { at, flow, wire }, fate) in trace.iter().zip(fates) {
        let rest = match fate {
            Fate::Sent { until, marked, arrives } => {
                sent += 1;
                marks += u32::from(*marked);
                let word = if arrives.is_some() { "sent" } else { "lost" };
                format!("{word},{},{}", until.ps(), u8::from(*marked))
            }
            Fate::Dropped => {
                dropped += 1;
                "dropped,,".into()
            }
            Fate::Waits => "waits,,".into(),
        };
        out += &format!("{},{flow},{wire},{rest}\n", at.ps());
    }
    out + &format!("# {sent} sent, {dropped} dropped, {marks} marked\n")
}

fn scenario(file: &str) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let dir = Path::new(file).parent().unwrap_or(Path::new("."));
    load(&text, file, dir, &[])
        .map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn show(args: &[String]) -> Result<String, String> {
    let [file, rest @ ..] = args else { return Err("which scenario?".into()) };
    let scenario = scenario(file)?;
    let port = scenario.bottleneck().map_err(|e| e.to_string())?;
    let trace = match rest {
        [] => generated(&port, 1000),
        [trace, ..] => read(&std::fs::read_to_string(trace).map_err(|e| format!("{trace}: {e}"))?)
            .map_err(|e| format!("{trace}: {e}"))?,
    };
    let names = &scenario.graph().names;
    let title = format!("# {} -> {}\n", names.of(port.from.0), names.of(port.to.0));
    Ok(title + &report(&trace, &play(&port, &trace)?))
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match show(&args) {
        Ok(text) => print!("{text}"),
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(1);
        }
    }
}
