//! P1 to P6 on queue pairs: what IRN's loss recovery promises, in both spaces of numbers.

use crate::common::workload::{Mix, Workload, random};
use crate::common::{DELAY, Net, Run, Way, faithful, random_fate};
use std::collections::BTreeMap;
use thalweg_units::{Span, Stream, Time};
use thalweg_verbs::Setup;
use thalweg_verbs::wire::{Opcode, Packet};

const MIX: Mix = Mix { messages: 20, longest: 200, overwrites: false };
const END: Time = Time::from_ms(2_000);

fn setup(seed: u64) -> Setup {
    let cap = [1, 3, 8, 20, 110][Stream::new(seed, "cap", 0).below(5) as usize];
    Setup { mtu: 16, cap, ..Setup::default() }
}

fn start(net: &mut Net<'_>, seed: u64) -> Workload {
    let work = random(net, &mut Stream::new(seed, "work", 0), MIX);
    work.receives.iter().for_each(|wqe| net.responder.post_receive(*wqe).unwrap());
    work.post(net);
    work
}

fn is_data(packet: &Packet<'_>) -> bool {
    !matches!(packet.opcode, Opcode::Acknowledge | Opcode::ReadAcknowledge)
}

/// Copies sent and copies lost of each data packet, by way and PSN.
fn copies(net: &Net<'_>) -> BTreeMap<(bool, u32), (usize, usize)> {
    let mut copies = BTreeMap::new();
    for seen in &net.sent {
        let packet = Packet::decode(net.setup.dialect, &seen.bytes).unwrap();
        if is_data(&packet) {
            let entry: &mut (usize, usize) =
                copies.entry((seen.way == Way::ToResponder, packet.psn.value())).or_default();
            entry.0 += 1;
            entry.1 += usize::from(seen.copies == 0);
        }
    }
    copies
}

/// P1, P2, P6 (and V2a): over random loss, repetition and reordering.
#[test]
fn nothing_is_further_ahead_than_the_cap_and_everything_arrives() {
    let mut full = 0;
    for seed in 0..1_000 {
        let jitter = Span::from_us([0, 60][seed as usize % 2]);
        let mut net =
            Net::new(setup(seed), random_fate(Stream::new(seed, "fate", 0), 0.1, 0.05, jitter)).unwrap();
        let work = start(&mut net, seed);
        net.run(END);
        work.check_end(&net, &format!("seed {seed}"));
        for counters in [net.requester.counters(), net.responder.counters()] {
            assert!(counters.most_ahead < net.setup.cap, "seed {seed}: {counters:?}");
            assert!(counters.most_in_flight <= net.setup.cap, "seed {seed}: {counters:?}");
            full += u64::from(counters.most_in_flight == net.setup.cap);
        }
    }
    assert!(full > 500, "the cap was hardly ever reached: {full}");
}

/// P2: each packet's first so many copies are lost, and the first so many acknowledgements of each number.
#[test]
fn finitely_many_losses_of_each_packet_are_survived() {
    for seed in 0..300 {
        let mut r = Stream::new(seed, "losses", 0);
        let mut left: BTreeMap<(bool, u8, u32), u64> = BTreeMap::new();
        let fate = |packet: &Packet<'_>, way: Way, _: Time| {
            let key = (way == Way::ToResponder, packet.opcode.code(), packet.psn.value());
            let left = left.entry(key).or_insert_with(|| r.below(4));
            if *left > 0 {
                *left -= 1;
                return vec![];
            }
            vec![DELAY]
        };
        let mut net = Net::new(setup(seed), fate).unwrap();
        let work = start(&mut net, seed);
        net.run(END);
        work.check_end(&net, &format!("seed {seed}"));
    }
}

/// P3.
#[test]
fn a_faithful_network_sees_no_nack_and_nothing_twice() {
    for seed in 0..200 {
        let mut net = Net::new(setup(seed), faithful).unwrap();
        let work = start(&mut net, seed);
        net.run(END);
        work.check_end(&net, &format!("seed {seed}"));
        for counters in [net.requester.counters(), net.responder.counters()] {
            assert_eq!((counters.retransmitted, counters.nacks, counters.timeouts), (0, 0, 0), "seed {seed}");
        }
    }
}

/// P4 and P5: only data is lost and nothing overtakes. Without a timeout a packet is sent again only if it
/// was lost, and at most once: what is lost twice waits for the timeout.
#[test]
fn without_a_timeout_only_what_was_lost_is_sent_again_and_once() {
    let (mut repaired, mut quiet) = (0, 0);
    for seed in 0..1_500 {
        let mut r = Stream::new(seed, "fate", 0);
        let loss = [0.02, 0.05, 0.1][seed as usize % 3];
        let fate = |packet: &Packet<'_>, _: Way, _: Time| {
            if is_data(packet) && r.unit() < loss { vec![] } else { vec![DELAY] }
        };
        let mut net = Net::new(setup(seed), fate).unwrap();
        let work = start(&mut net, seed);
        net.run(END);
        work.check_end(&net, &format!("seed {seed}"));
        let ends = [net.requester.counters(), net.responder.counters()];
        for ((request, psn), (sent, lost)) in copies(&net) {
            let timeouts = ends[usize::from(!request)].timeouts as usize;
            assert!(sent <= 2 + timeouts, "seed {seed}: {psn} was sent {sent} times, {timeouts} timeouts");
            if timeouts == 0 {
                assert_eq!(sent, 1 + lost, "seed {seed}: {psn} was lost {lost} times");
                repaired += lost;
            }
        }
        quiet += ends.iter().filter(|end| end.timeouts == 0).count();
    }
    assert!(repaired > 1_000 && quiet > 500, "{repaired} {quiet}");
}
