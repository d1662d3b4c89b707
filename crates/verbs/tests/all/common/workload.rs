//! Random messages whose outcome does not depend on the order in which their packets arrive, and that outcome.

use super::Net;
use thalweg_units::Stream;
use thalweg_verbs::memory::{Buffer, Remote, Rights};
use thalweg_verbs::{Arrived, Fence, Operation, ReceiveRequest, Received, Request, SendWith, Setup, Status};

const LOCAL: u64 = 0x1000;
const REMOTE: u64 = 0x9000;
const SINKS: u64 = 0x70_0000;

/// One message and what it must do.
#[derive(Clone, Debug)]
pub struct Message {
    pub request: Request,
    /// Request packets (IRN's count).
    pub packets: u32,
    /// Where its data must be at the responder afterwards, if it brings some.
    pub lands: Option<(u32, usize, Vec<u8>)>,
    /// Where an answer must be at the requester afterwards.
    pub answer: Option<(usize, Vec<u8>)>,
    pub is_write: bool,
    pub is_atomic: bool,
}

/// A workload with its outcome.
pub struct Workload {
    pub messages: Vec<Message>,
    pub receives: Vec<ReceiveRequest>,
    /// What the responder's application must be notified of, in order.
    pub received: Vec<Received>,
    /// The responder's memory in the end, of which nothing may differ; and its key.
    pub target: (u32, Vec<u8>),
    pub local: u32,
    /// The counter that only Fetch-and-Adds of 1 touch: so many have been executed.
    pub counter: usize,
}

/// What may be in it.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub messages: u64,
    pub longest: u64,
    /// Overwrites of earlier Writes, fenced.
    pub overwrites: bool,
}

/// Registers memory at both ends of `net` and makes a workload for it.
pub fn random(net: &mut Net<'_>, r: &mut Stream, mix: Mix) -> Workload {
    let Setup { mtu, .. } = net.setup;
    let noise = |r: &mut Stream, n: usize| (0..n).map(|_| r.bits() as u8).collect::<Vec<u8>>();
    let room = mix.messages as usize * mix.longest as usize;
    // The upper half of the own memory receives answers.
    let own = noise(r, 2 * room + 64);
    let local = net.local.register(LOCAL, own.clone(), Rights::LOCAL);
    let target = net.host.memory.register(REMOTE, noise(r, room + 64), Rights::ALL);
    let sinks = net.host.memory.register(SINKS, vec![0; room + 64], Rights::LOCAL);
    // Two words at the end: one counts, one is swapped.
    let counter = room.next_multiple_of(8) + 8;
    net.host.memory.bytes_mut(target)[counter..counter + 8].fill(0);
    let mut model = net.host.memory.bytes(target).to_vec();

    let (mut messages, mut receives, mut received) = (Vec::new(), Vec::new(), Vec::new());
    let (mut sink, mut count, mut swapped) = (0, 0u64, 0u64);
    let mut written: Vec<usize> = Vec::new();
    model[counter + 8..counter + 16].fill(0);
    net.host.memory.bytes_mut(target)[counter + 8..counter + 16].fill(0);
    for i in 0..mix.messages as usize {
        let length = r.below(mix.longest + 1) as usize;
        let from = r.below((room - length) as u64 + 1) as usize;
        let data = own[from..from + length].to_vec();
        let own_at =
            |at: usize, n: usize| Buffer { key: local, address: LOCAL + at as u64, length: n as u32 };
        let there = |at: usize| Remote { key: target, address: REMOTE + at as u64 };
        let mine = i * mix.longest as usize;
        let back = room + mine;
        let mut fence = if r.below(8) == 0 { Fence::Reads } else { Fence::None };
        let (mut lands, mut answer, mut is_write, mut is_atomic) = (None, None, false, false);
        let mut expect = |id: u64, what: Arrived, sink: &mut usize| {
            received.push(Received { id, what, bytes: length as u32 });
            let place = *sink;
            *sink += mix.longest as usize;
            let buffer = Buffer { key: sinks, address: SINKS + place as u64, length: mix.longest as u32 };
            receives.push(ReceiveRequest { id, sink: buffer });
            place
        };
        let operation = match r.below(10) {
            kind @ 0..=3 => {
                let immediate = (kind == 3).then(|| r.bits() as u32);
                let mut at = mine;
                if mix.overwrites && !written.is_empty() && r.below(2) == 0 {
                    at = written[r.below(written.len() as u64) as usize];
                    fence = Fence::All;
                }
                written.push(at);
                model[at..at + length].copy_from_slice(&data);
                if let Some(data) = immediate {
                    expect(i as u64, Arrived::WriteImmediate(data), &mut sink);
                }
                (lands, is_write) = (Some((target, at, data)), true);
                Operation::Write { from: own_at(from, length), to: there(at), immediate }
            }
            4 | 5 => {
                // What an earlier Write brought, or what was there from the beginning.
                let at = if written.is_empty() { 0 } else { written[r.below(written.len() as u64) as usize] };
                // Later Writes to the same place are fenced; own fresh ranges were never written.
                answer = Some((back, model[at..at + length].to_vec()));
                Operation::Read { into: own_at(back, length), from: there(at) }
            }
            kind @ (6 | 7) => {
                let (with, what) = if kind == 6 {
                    (SendWith::Nothing, Arrived::Send)
                } else if r.below(2) == 0 {
                    let data = r.bits() as u32;
                    (SendWith::Immediate(data), Arrived::SendImmediate(data))
                } else {
                    let key = net.host.memory.register(0, vec![0; 8], Rights::ALL);
                    (SendWith::Invalidate(key), Arrived::SendInvalidate(key))
                };
                let place = expect(i as u64, what, &mut sink);
                lands = Some((sinks, place, data));
                Operation::Send { from: own_at(from, length), with }
            }
            8 => {
                is_atomic = true;
                answer = Some((back, count.to_le_bytes().to_vec()));
                count += 1;
                Operation::FetchAdd { at: there(counter), add: 1, into: own_at(back, 8) }
            }
            _ => {
                // Half of them find what they compare with.
                let compare = if r.below(2) == 0 { swapped } else { r.bits() };
                let swap = r.bits();
                answer = Some((back, swapped.to_le_bytes().to_vec()));
                if compare == swapped {
                    swapped = swap;
                }
                Operation::CompareSwap { at: there(counter + 8), compare, swap, into: own_at(back, 8) }
            }
        };
        let packets = if operation.has_response() { 1 } else { length.div_ceil(mtu as usize).max(1) as u32 };
        let request = Request { id: i as u64, operation, fence };
        messages.push(Message { request, packets, lands, answer, is_write, is_atomic });
    }
    model[counter..counter + 8].copy_from_slice(&count.to_le_bytes());
    model[counter + 8..counter + 16].copy_from_slice(&swapped.to_le_bytes());
    Workload { messages, receives, received, target: (target, model), local, counter }
}

impl Workload {
    pub fn post(&self, net: &mut Net<'_>) {
        for message in &self.messages {
            net.post(message.request).unwrap();
        }
    }

    /// Whether the data of this message is where it must be.
    pub fn has_landed(&self, net: &Net<'_>, message: &Message) -> bool {
        message
            .lands
            .as_ref()
            .is_none_or(|(key, at, data)| net.host.memory.bytes(*key)[*at..*at + data.len()] == *data)
    }

    /// Everything has come to what it must: Q5 and the order of completions.
    pub fn check_end(&self, net: &Net<'_>, what: &str) {
        let ids: Vec<u64> = net.completions.iter().map(|c| c.id).collect();
        let all: Vec<u64> = (0..self.messages.len() as u64).collect();
        assert_eq!(ids, all, "{what}: completions");
        assert!(net.completions.iter().all(|c| c.status == Status::Success), "{what}: {:?}", net.completions);
        assert_eq!(net.received, self.received, "{what}: the responder's CQEs");
        assert!(net.host.memory.bytes(self.target.0) == self.target.1, "{what}: memory differs");
        let own = net.local.bytes(self.local);
        for message in &self.messages {
            if let Some((at, answer)) = &message.answer {
                assert!(
                    own[*at..*at + answer.len()] == answer[..],
                    "{what}: answer to {:?}",
                    message.request
                );
            }
            if !message.is_write {
                assert!(self.has_landed(net, message), "{what}: {:?}", message.request);
            }
            if let Operation::Send { with: SendWith::Invalidate(key), .. } = message.request.operation {
                assert!(!net.host.memory.is_valid(key), "{what}: key {key} is still valid");
            }
        }
        assert!(net.requester.is_idle() && net.responder.is_idle(), "{what}: not idle");
    }
}
