//! A queue pair over real UDP sockets on this machine, through a relay that loses, repeats and reorders packets:
//!
//! `cargo run --release -p thalweg-verbs --example verbs_udp -- --loss 0.05 --seed 7 --megabytes 8 --dialect irn`
//!
//! Writes a region in pieces, notifies the other side with a Send, counts with Atomics, reads everything
//! back, compares.
#![allow(clippy::disallowed_methods)] // a clock to measure how long it took

#[path = "support/udp.rs"]
mod udp;

use std::process::ExitCode;
use std::time::{Duration, Instant};
use thalweg_units::{Span, Stream};
use thalweg_verbs::memory::{Buffer, Memory, Remote, Rights};
use thalweg_verbs::wire::Dialect;
use thalweg_verbs::{
    Counters, Fence, Host, Operation, ReceiveRequest, Request, Requester, Responder, SendWith, Setup, Status,
};
use udp::{Faults, RequesterEnd, ResponderEnd};

const PIECE: u32 = 64 << 10;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

struct Arguments {
    loss: f64,
    seed: u64,
    megabytes: u32,
    dialect: Dialect,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments { loss: 0.05, seed: 1, megabytes: 4, dialect: Dialect::Irn };
    let mut words = std::env::args().skip(1);
    while let Some(name) = words.next() {
        let value = words.next().ok_or(format!("{name} needs a value"))?;
        let wrong = |what: &str| format!("{name} {value}: must be {what}");
        match name.as_str() {
            "--loss" => {
                let loss = value.parse().ok().filter(|loss| (0.0..=0.5).contains(loss));
                found.loss = loss.ok_or(wrong("0 to 0.5"))?;
            }
            "--seed" => found.seed = value.parse().map_err(|_| wrong("a whole number"))?,
            "--megabytes" => {
                let size = value.parse().ok().filter(|size| (1..=256).contains(size));
                found.megabytes = size.ok_or(wrong("1 to 256"))?;
            }
            "--dialect" => {
                found.dialect = match value.as_str() {
                    "irn" => Dialect::Irn,
                    "roce" => Dialect::Roce,
                    _ => return Err(wrong("irn or roce")),
                }
            }
            _ => return Err(format!("{name} is not known: --loss, --seed, --megabytes, --dialect")),
        }
    }
    Ok(found)
}

fn run() -> Result<(), String> {
    let Arguments { loss, seed, megabytes, dialect } = arguments()?;
    // Threads on a loopback take hundreds of microseconds for a round trip; a socket's buffer holds some 90
    // packets. RoCE has no window: without PFC it overruns that buffer, and goes back, and again.
    let setup = Setup {
        dialect,
        cap: 32,
        rto_low: Span::from_ms(5),
        rto_high: Span::from_ms(20),
        initial_credits: 1,
        ..Setup::default()
    };
    let mut r = Stream::new(seed, "data", 0);
    let size = megabytes << 20;

    // The own memory: data, and as much room to read it back, and a word.
    let mut memory = Memory::default();
    let data: Vec<u8> = (0..size).map(|_| r.bits() as u8).collect();
    let here = memory.register(0, [data.clone(), vec![0; size as usize + 8]].concat(), Rights::LOCAL);
    // The other side's: room for the data, a counter, a sink for the message.
    let mut host = Host::default();
    let there = host.memory.register(0, vec![0; size as usize + 8], Rights::ALL);
    let sink = host.memory.register(0, vec![0; 64], Rights::LOCAL);

    let mut requester = Requester::new(&setup).map_err(|why| why.to_string())?;
    let mut responder = Responder::new(&setup).map_err(|why| why.to_string())?;
    let own = |address: u32, length: u32| Buffer { key: here, address: u64::from(address), length };
    let other = |address: u32| Remote { key: there, address: u64::from(address) };
    responder
        .post_receive(ReceiveRequest { id: 1, sink: Buffer { key: sink, address: 0, length: 64 } })
        .map_err(|why| why.to_string())?;

    let pieces = || (0..size).step_by(PIECE as usize);
    let mut requests = vec![];
    for at in pieces() {
        requests.push(Operation::Write { from: own(at, PIECE), to: other(at), immediate: None });
        requests.push(Operation::FetchAdd { at: other(size), add: 1, into: own(2 * size, 8) });
    }
    requests.push(Operation::Send { from: own(0, 64), with: SendWith::Immediate(0xcafe) });
    for at in pieces() {
        requests.push(Operation::Read { into: own(size + at, PIECE), from: other(at) });
    }
    let posted = requests.len();
    for (id, operation) in (0..).zip(requests) {
        let request = Request { id, operation, fence: Fence::None };
        requester.post(&memory, request).map_err(|why| why.to_string())?;
    }

    let mut near = RequesterEnd { requester, memory, completions: vec![], ignored: 0 };
    let mut far = ResponderEnd { responder, host, received: vec![], ignored: 0 };
    let faults =
        Faults { seed, loss, repeat: loss / 2.0, delay: 2.0 * loss, longest: Duration::from_millis(1) };
    let begun = Instant::now();
    let relayed = udp::run(&mut near, &mut far, faults, Duration::from_secs(120))?;
    let took = begun.elapsed().as_secs_f64();

    println!("{dialect:?}, {megabytes} MiB there and back in {took:.2} s, {posted} requests");
    println!(
        "relay:     {} packets, {} lost, {} repeated, {} held back",
        relayed.packets, relayed.lost, relayed.repeated, relayed.delayed
    );
    for (name, counters) in
        [("requester", near.requester.counters()), ("responder", far.responder.counters())]
    {
        let Counters { sent, retransmitted, timeouts, nacks, most_in_flight, most_ahead, .. } = counters;
        println!(
            "{name}: {sent} data packets, {retransmitted} again, {timeouts} timeouts, {nacks} NACKs, \
             {most_in_flight} in flight at most, {most_ahead} ahead at most"
        );
    }
    let ordered =
        near.completions.iter().zip(0..).all(|(end, id)| end.id == id && end.status == Status::Success);
    let count =
        u64::from_le_bytes(far.host.memory.bytes(there)[size as usize..].try_into().unwrap_or_default());
    let checks = [
        ("all requests completed, in posting order", ordered && near.completions.len() == posted),
        ("the data is there", far.host.memory.bytes(there)[..size as usize] == data[..]),
        (
            "the data read back is the same",
            near.memory.bytes(here)[size as usize..2 * size as usize] == data[..],
        ),
        ("each Atomic was executed once", count == u64::from(size / PIECE)),
        (
            "the Send arrived once, whole",
            far.received.len() == 1 && far.host.memory.bytes(sink)[..] == data[..64],
        ),
    ];
    for (what, holds) in checks {
        println!("{} {what}", if holds { "yes" } else { "NO " });
    }
    if checks.iter().all(|(_, holds)| *holds) { Ok(()) } else { Err("not as it must be".into()) }
}
