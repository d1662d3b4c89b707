//! What IRN's four modules cost on one core of this machine (stand-in for the paper's FPGA synthesis, Table
//! 4.9): time per event over random states up to a full window, over the worst state, and how many 64-bit
//! words of bitmap an event can touch.
//!
//! `cargo run --release -p thalweg-verbs --example irn_modules [-- --json]`
#![allow(clippy::disallowed_methods)] // a benchmark looks at the clock

use std::hint::black_box;
use std::time::Instant;
use thalweg_machines::transport::rdma::Psn;
use thalweg_machines::transport::rdma::irn::{IrnOptions, IrnSender};
use thalweg_units::{Stream, Time};
use thalweg_verbs::Setup;
use thalweg_verbs::bitmap2::{Bitmap2, Class, Passed};
use thalweg_verbs::state::words;
use thalweg_verbs::timer::Rto;

const STATES: usize = 1024;
const ROUNDS: usize = 400;

/// receiveData with the 2-bitmap: a packet of this class arrives `d` above the next expected.
fn receive_data(map: &mut Bitmap2, e: &mut Psn, d: u32, class: Class) -> (Psn, bool, Passed) {
    map.set(d, class);
    let mut passed = Passed::default();
    if d == 0 {
        let run = map.run();
        passed = map.advance(run);
        *e = e.plus(run);
    }
    (*e, d > 0, passed)
}

/// The timeout: extend, or fire.
fn timeout(rto: &mut Rto, sender: &mut IrnSender, setup: &Setup, now: Time) -> bool {
    let fires = rto.expire(setup, now, sender.in_flight());
    if fires {
        sender.on_timeout();
    }
    fires
}

/// Median nanoseconds per event. States are made anew for every round, outside the measured time.
fn measure<S: Clone, E>(states: &[S], events: &[E], mut event: impl FnMut(&mut S, &E)) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut states = states.to_vec();
            let begun = Instant::now();
            for (state, which) in states.iter_mut().zip(events) {
                event(black_box(state), black_box(which));
            }
            begun.elapsed().as_nanos() as f64 / states.len() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A receiver with `ones` packets above a gap, the ring's head anywhere.
fn receiver(r: &mut Stream, cap: u32, ones: u32) -> Bitmap2 {
    let mut map = Bitmap2::new(cap);
    let turn = r.below(u64::from(map.capacity())) as u32;
    (0..turn).for_each(|d| map.set(d, Class::Part));
    map.advance(turn);
    for _ in 0..ones {
        let class = [Class::Part, Class::Part, Class::Last, Class::Completion][r.below(4) as usize];
        let d = if ones + 1 == cap { 0 } else { 1 + r.below(u64::from(cap) - 1) as u32 };
        if d > 0 && map.get(d).is_none() {
            map.set(d, class);
        }
    }
    if ones + 1 == cap {
        (1..cap).for_each(|d| map.set(d, Class::Completion));
    }
    map
}

/// A sender with a full window, `sacked` packets acknowledged selectively, at a random stage of recovery.
fn sender(r: &mut Stream, cap: u32, sacked: u32) -> IrnSender {
    let mut sender = IrnSender::new(IrnOptions::default(), Psn::new(r.bits() as u32));
    while sender.tx_free(true, cap).is_some() {}
    let una = sender.state().una;
    for n in 0..sacked {
        let d = if sacked + 1 == cap { n + 1 } else { 1 + r.below(u64::from(cap) - 1) as u32 };
        sender.on_ack(una, una.plus(d), true);
        if r.below(2) == 0 {
            sender.tx_free(true, cap);
        }
    }
    sender
}

struct Module {
    name: &'static str,
    random: f64,
    worst: f64,
    words: u32,
}

fn modules(cap: u32) -> Vec<Module> {
    let mut r = Stream::new(1, "modules", u64::from(cap));
    let psn = Psn::new(0);
    let some = |r: &mut Stream| r.below(u64::from(cap)) as u32;
    let class = |r: &mut Stream| [Class::Part, Class::Last, Class::Completion][r.below(3) as usize];
    let random = |r: &mut Stream| -> Vec<IrnSender> {
        (0..STATES)
            .map(|_| {
                let ones = some(r);
                sender(r, cap, ones)
            })
            .collect()
    };
    let full = |r: &mut Stream| -> Vec<IrnSender> { (0..STATES).map(|_| sender(r, cap, cap - 1)).collect() };

    let maps: Vec<_> = (0..STATES)
        .map(|_| {
            let ones = some(&mut r).min(cap - 2);
            (receiver(&mut r, cap, ones), psn)
        })
        .collect();
    let full_maps: Vec<_> = (0..STATES).map(|_| (receiver(&mut r, cap, cap - 1), psn)).collect();
    let arrivals: Vec<_> =
        (0..STATES).map(|_| (if r.below(2) == 0 { 0 } else { some(&mut r) }, class(&mut r))).collect();
    let gaps: Vec<_> = (0..STATES).map(|_| (0, Class::Completion)).collect();
    let receive = |(map, e): &mut (Bitmap2, Psn), (d, class): &(u32, Class)| {
        black_box(receive_data(map, e, *d, *class));
    };

    let senders = random(&mut r);
    // A search over a window in which everything but una is acknowledged finds nothing until its end.
    let mut searching = full(&mut r);
    for sender in &mut searching {
        sender.on_timeout();
    }
    let opportunities = vec![true; STATES];
    let free = |sender: &mut IrnSender, more: &bool| {
        black_box(sender.tx_free(*more, cap));
    };

    let acks: Vec<_> = senders
        .iter()
        .map(|sender| {
            let una = sender.state().una;
            let advance = if r.below(2) == 0 { 0 } else { some(&mut r) + 1 };
            (una.plus(advance), una.plus(some(&mut r)), advance == 0 || r.below(2) == 0)
        })
        .collect();
    let whole = full(&mut r);
    let everything: Vec<_> =
        whole.iter().map(|s| (s.state().una.plus(cap), s.state().una.plus(cap - 1), true)).collect();
    let ack = |sender: &mut IrnSender, (cum, sack, nack): &(Psn, Psn, bool)| {
        black_box(sender.on_ack(*cum, *sack, *nack));
    };

    let setup = Setup { cap, ..Setup::default() };
    let timers = |senders: &[IrnSender]| -> Vec<(Rto, IrnSender)> {
        let mut rto = Rto::default();
        rto.start(&setup, Time::ZERO);
        senders.iter().map(|sender| (rto, sender.clone())).collect()
    };
    let nows: Vec<_> = (0..STATES).map(|_| Time::from_us(50 + r.below(300))).collect();
    let late = vec![Time::from_us(400); STATES];
    let expire = |(rto, sender): &mut (Rto, IrnSender), now: &Time| {
        black_box(timeout(rto, sender, &setup, *now));
    };

    let [receive_words, free_words, ack_words, timer_words] = words(cap).map(|(_, words)| words);
    vec![
        Module {
            name: "receiveData",
            random: measure(&maps, &arrivals, receive),
            worst: measure(&full_maps, &gaps, receive),
            words: receive_words,
        },
        Module {
            name: "txFree",
            random: measure(&senders, &opportunities, free),
            worst: measure(&searching, &opportunities, free),
            words: free_words,
        },
        Module {
            name: "receiveAck",
            random: measure(&senders, &acks, ack),
            worst: measure(&whole, &everything, ack),
            words: ack_words,
        },
        Module {
            name: "timeout",
            random: measure(&timers(&senders), &nows, expire),
            worst: measure(&timers(&whole), &late, expire),
            words: timer_words,
        },
    ]
}

fn main() {
    let json = std::env::args().any(|word| word == "--json");
    let mut rows = vec![];
    for cap in [110, 275] {
        for Module { name, random, worst, words } in modules(cap) {
            if json {
                rows.push(format!(
                    "  {{\"module\": \"{name}\", \"cap\": {cap}, \"ns\": {random:.2}, \"worst_ns\": {worst:.2}, \
                     \"mpps\": {:.2}, \"words\": {words}}}",
                    1e3 / random
                ));
            } else {
                println!(
                    "{name:<11} cap {cap}: {random:6.2} ns/event ({:7.2} M/s), worst state {worst:6.2} ns, \
                     at most {words} words",
                    1e3 / random
                );
            }
        }
    }
    if json {
        println!("[\n{}\n]", rows.join(",\n"));
    }
}
