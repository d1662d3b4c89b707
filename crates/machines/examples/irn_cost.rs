//! What IRN's four modules cost per event on one core (IRN §4.5.2 synthesises them for an FPGA; its slowest
//! does 45 Mpps).
//!
//! `cargo run --release -p thalweg-machines --example irn_cost`
#![allow(clippy::disallowed_methods)] // a benchmark looks at the clock

use std::hint::black_box;
use std::time::Instant;
use thalweg_machines::transport::RdmaTimer;
use thalweg_machines::transport::rdma::Psn;
use thalweg_machines::transport::rdma::irn::{IrnOptions, IrnReceiver, IrnSender};
use thalweg_machines::transport::rdma::timer::{Outlook, expiry};
use thalweg_units::{Rate, Span};

const EVENTS: u32 = 5_000_000;

/// Nanoseconds per event.
fn time(events: u32, mut run: impl FnMut(u32)) -> f64 {
    run(events / 4);
    let start = Instant::now();
    run(events);
    start.elapsed().as_secs_f64() * 1e9 / f64::from(events)
}

/// A sender with `cap` packets in flight, in recovery, and every packet but every `gap`-th named by a NACK.
fn worst_sender(cap: u32, gap: u32) -> IrnSender {
    let mut sender = IrnSender::new(IrnOptions::default(), Psn::new(0));
    (0..cap).for_each(|_| _ = sender.tx_free(true, cap));
    for n in (1..cap).filter(|n| n % gap != 0) {
        sender.on_ack(Psn::new(0), Psn::new(n), true);
    }
    sender.tx_free(true, cap);
    sender
}

fn main() {
    println!("{:<44}{:>10}{:>10}", "ns per event", "cap 110", "cap 275");
    let row = |name: &str, cost: &dyn Fn(u32) -> f64| {
        println!("{name:<44}{:>10.1}{:>10.1}", cost(110), cost(275));
    };
    row("receiveData, in order", &|_| {
        let (mut receiver, mut psn) = (IrnReceiver::new(Psn::new(0)), Psn::new(0));
        time(EVENTS, |n| {
            for _ in 0..n {
                black_box(receiver.on_data(black_box(psn)));
                psn = psn.plus(1);
            }
        })
    });
    row("receiveData, a full window behind one gap", &|cap| {
        let (mut receiver, mut psn) = (IrnReceiver::new(Psn::new(0)), Psn::new(0));
        time(EVENTS, |n| {
            for _ in 0..n / cap {
                (1..cap).for_each(|i| _ = black_box(receiver.on_data(psn.plus(i))));
                black_box(receiver.on_data(psn));
                psn = psn.plus(cap);
            }
        })
    });
    row("txFree and receiveAck, without losses", &|cap| {
        let (mut sender, mut psn) = (IrnSender::new(IrnOptions::default(), Psn::new(0)), Psn::new(0));
        time(EVENTS, |n| {
            for _ in 0..n {
                black_box(sender.tx_free(true, cap));
                black_box(sender.on_ack(psn.plus(1), psn, false));
                psn = psn.plus(1);
            }
        })
    });
    row("receiveAck, a NACK in recovery", &|cap| {
        let mut sender = worst_sender(cap, 2);
        time(EVENTS, |n| {
            (0..n).for_each(|i| _ = black_box(sender.on_ack(Psn::new(0), Psn::new(i % (cap - 1) + 1), true)));
        })
    });
    row("txFree, a search over the whole bitmap", &|cap| {
        // All but the lowest packet and the last but one: the timer and its retransmission start the search anew.
        let mut sender = worst_sender(cap, cap - 2);
        time(EVENTS, |n| {
            for _ in 0..n {
                sender.on_timeout();
                black_box(sender.tx_free(true, cap));
            }
        })
    });
    row("timeout", &|cap| {
        let (us, line) = (Span::from_us, Rate::from_gbps(40));
        let pair = RdmaTimer::Pair { low: us(100), high: us(320), max_in_flight: 3, max_rate_factor: 4 };
        time(EVENTS, |n| {
            for i in 0..n {
                let outlook = Outlook { in_flight: u64::from(i % cap), line, rate: Some(line) };
                black_box(expiry(black_box(&pair), true, outlook));
            }
        })
    });
}
