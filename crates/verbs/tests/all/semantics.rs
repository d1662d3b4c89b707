//! Q1 to Q6: verbs keep their semantics whatever the network loses, repeats and reorders (§4.4).

use crate::common::workload::{Mix, Workload, random};
use crate::common::{Net, Run, Way, random_fate};
use std::collections::BTreeSet;
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Span, Stream, Time};
use thalweg_verbs::wire::{Dialect, Opcode, Packet};
use thalweg_verbs::{Operation, Setup};

/// Small packets and windows make many cases in few events.
fn small(seed: u64, dialect: Dialect) -> Setup {
    let mut r = Stream::new(seed, "setup", 0);
    Setup {
        dialect,
        mtu: 16,
        cap: [1, 2, 8, 70][r.below(4) as usize],
        read_slots: [1, 2, 16][r.below(3) as usize],
        // Numbers wrap in every second case.
        first_request: Psn::new(if r.below(2) == 0 { 0 } else { 0xff_fff5 }),
        first_response: Psn::new(if r.below(2) == 0 { 0 } else { 0xff_fffb }),
        ..Setup::default()
    }
}

fn hostile(seed: u64) -> (f64, f64, Span) {
    let mut r = Stream::new(seed, "network", 0);
    let loss = [0.0, 0.02, 0.1, 0.3][r.below(4) as usize];
    let repeat = [0.0, 0.1][r.below(2) as usize];
    let jitter = [Span::ZERO, Span::from_us(2), Span::from_us(40)][r.below(3) as usize];
    (loss, repeat, jitter)
}

const MIX: Mix = Mix { messages: 14, longest: 100, overwrites: true };
const END: Time = Time::from_ms(1_000);

/// What can be seen from outside after each packet that the responder takes.
struct Watcher<'w> {
    work: &'w Workload,
    first: Psn,
    /// Request packets that have arrived, counted from the first.
    arrived: BTreeSet<u32>,
    reported: usize,
}

impl Watcher<'_> {
    fn look(&mut self, net: &Net<'_>, way: Way, bytes: &[u8]) {
        let packet = Packet::decode(Dialect::Irn, bytes).unwrap();
        if way != Way::ToResponder || packet.opcode == Opcode::ReadAcknowledge {
            return;
        }
        self.arrived.insert(packet.psn.minus(self.first) as u32);
        // Q1: MSN counts messages all of whose packets, and all before, have arrived.
        let prefix = (0..).find(|n| !self.arrived.contains(n)).unwrap();
        let (mut packets, mut whole) = (0, 0);
        for message in &self.work.messages {
            packets += message.packets;
            whole += u32::from(packets <= prefix);
        }
        assert_eq!(net.responder.messages().value(), whole);
        assert_eq!(net.responder.expected(), self.first.plus(prefix));
        // Q2: notifications come in order, and everything before each is in memory.
        for reported in &net.received[self.reported..] {
            self.everything_before_is_in_memory(net, reported.id as usize, true);
        }
        self.reported = net.received.len();
        // Q3 (3): memory that an Atomic changed.
        let word = &net.host.memory.bytes(self.work.target.0)[self.work.counter..][..8];
        let executed = u64::from_le_bytes(word.try_into().unwrap()) as usize;
        if let Some(last) = executed.checked_sub(1) {
            let atomics: Vec<usize> = (0..self.work.messages.len())
                .filter(|&i| matches!(self.work.messages[i].request.operation, Operation::FetchAdd { .. }))
                .collect();
            self.everything_before_is_in_memory(net, atomics[last], false);
        }
    }

    /// Q3: the application may rely on all earlier Writes (but for places that a later one has overwritten since).
    fn everything_before_is_in_memory(&self, net: &Net<'_>, message: usize, and_itself: bool) {
        let messages = &self.work.messages;
        let until = message + usize::from(and_itself);
        for (i, earlier) in messages[..until].iter().enumerate() {
            let same_place = |other: &crate::common::workload::Message| match (&other.lands, &earlier.lands) {
                (Some((a, at, _)), Some((b, place, _))) => a == b && at == place,
                _ => false,
            };
            if !messages[i + 1..].iter().any(same_place) {
                assert!(
                    self.work.has_landed(net, earlier),
                    "{:?} is not there at {message}",
                    earlier.request
                );
            }
        }
    }
}

#[test]
fn irn_keeps_the_semantics_over_any_network() {
    let mut retransmitted = 0;
    for seed in 0..4_000 {
        let (loss, repeat, jitter) = hostile(seed);
        let setup = small(seed, Dialect::Irn);
        let first = setup.first_request;
        let mut net =
            Net::new(setup, random_fate(Stream::new(seed, "fate", 0), loss, repeat, jitter)).unwrap();
        let work = random(&mut net, &mut Stream::new(seed, "work", 0), MIX);
        work.receives.iter().for_each(|wqe| net.responder.post_receive(*wqe).unwrap());
        work.post(&mut net);
        let mut watcher = Watcher { work: &work, first, arrived: BTreeSet::new(), reported: 0 };
        let bits = net.responder.reorder_bits();
        net.run_looking(END, |net, way, bytes| {
            watcher.look(net, way, bytes);
            // Q6: nothing but bits is kept, and they do not grow.
            assert_eq!(net.responder.reorder_bits(), bits);
        });
        work.check_end(&net, &format!("seed {seed}"));
        retransmitted += net.requester.counters().retransmitted + net.responder.counters().retransmitted;
    }
    assert!(retransmitted > 10_000, "{retransmitted}: the network was too kind");
}

/// Receive WQEs come late, from the own or from the shared queue: probes, "not ready", error go-back and credits.
#[test]
fn late_receive_wqes_delay_messages_but_change_nothing() {
    let (mut refusals, mut silent) = (0, 0);
    for seed in 0..2_000 {
        let (loss, repeat, jitter) = hostile(seed);
        let shared = seed % 2 == 1;
        let setup = Setup { shared_receives: shared, ..small(seed, Dialect::Irn) };
        let mut net =
            Net::new(setup, random_fate(Stream::new(seed, "fate", 0), loss, repeat, jitter)).unwrap();
        let mut r = Stream::new(seed, "work", 1);
        let work = random(&mut net, &mut r, MIX);
        work.post(&mut net);
        for wqe in &work.receives {
            net.run(net.now + Span::from_us(r.below(400)));
            if shared {
                net.host.shared.post(*wqe);
            } else {
                net.responder.post_receive(*wqe).unwrap();
            }
        }
        net.run(END);
        work.check_end(&net, &format!("seed {seed}"));
        refusals += net.responder.counters().refusals;
        silent += u64::from(net.responder.counters().refusals == 0);
    }
    assert!(refusals > 1_000 && silent > 100, "{refusals} {silent}");
}

#[test]
fn roce_keeps_the_semantics_by_going_back() {
    let mut nacks = 0;
    for seed in 0..2_000 {
        let (loss, repeat, jitter) = hostile(seed);
        let late = seed % 2 == 1;
        let setup = Setup { shared_receives: seed % 4 > 1, ..small(seed, Dialect::Roce) };
        let shared = setup.shared_receives;
        let mut net =
            Net::new(setup, random_fate(Stream::new(seed, "fate", 0), loss, repeat, jitter)).unwrap();
        let mut r = Stream::new(seed, "work", 2);
        let work = random(&mut net, &mut r, MIX);
        work.post(&mut net);
        for wqe in &work.receives {
            net.run(net.now + Span::from_us(if late { r.below(400) } else { 0 }));
            match shared {
                true => net.host.shared.post(*wqe),
                false => net.responder.post_receive(*wqe).unwrap(),
            }
        }
        net.run(END);
        work.check_end(&net, &format!("seed {seed}"));
        nacks += net.responder.counters().nacks;
    }
    assert!(nacks > 1_000, "{nacks}");
}
