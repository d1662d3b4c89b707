//! A port that runs a policy: packets to its engine, and what the engine decides to the port's owner.

mod saved;

use super::engine::Engine;
use super::{Classify, Params, Value};
use crate::schedule::{Discipline, Entry, Limit, OutputQueue, Served, Verdict};
use saved::Saved;
use serde::{Deserialize, Serialize};
use thalweg_policy::{Effect, Offered};
use thalweg_units::{Time, mix64};
use thalweg_wire::{Ecn, Handle, Packet};

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Saved", try_from = "Saved")]
pub struct Programmed {
    packets: u32,
    max_packets: u32,
    bytes: u64,
    max_bytes: u64,
    classifier: Classifier,
    /// Waiting packets; the engine knows them by their places here.
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Of the call at hand; kept for its memory.
    effects: Vec<Effect>,
    /// Packets that the policy has notified of, until their owner takes note.
    notified: Vec<Handle>,
    engine: Engine,
    /// The policy could not go on.
    stopped: bool,
    params: Params,
}

/// From a packet to what its policy sees of it.
#[derive(Clone, Copy, Debug)]
struct Classifier {
    by: Classify,
    value: Value,
    queues: u32,
    salt: u64,
}

impl Classifier {
    #[inline]
    fn queue(self, packet: &Packet) -> u32 {
        match self.by {
            _ if self.queues == 1 => 0,
            Classify::Class => u32::from(packet.class).min(self.queues - 1),
            Classify::Flow => (mix64(self.salt ^ u64::from(packet.flow.0)) % u64::from(self.queues)) as u32,
        }
    }

    #[inline]
    fn offered(self, now: Time, packet: &Packet) -> Offered {
        let Packet { rank, flow, wire, dst, class, .. } = *packet;
        Offered {
            queue: self.queue(packet),
            value: match self.value {
                Value::Class => i64::from(u8::MAX - class),
                Value::Rank => rank.saturating_neg(),
            },
            processing: rank.clamp(0, i64::from(u32::MAX)) as u32,
            slack: rank.saturating_sub(now.ps() as i64).max(0) as u64,
            flow: flow.0,
            size: wire,
            tos: class,
            dst: dst.0,
        }
    }
}

impl Programmed {
    /// An empty one; `None`: a policy was not read, or is wrong.
    pub(super) fn new(params: Params, limit: Limit, seed: u64) -> Option<Self> {
        let versions = params.versions()?;
        let queues = versions.first()?.policy.queues().len() as u32;
        let salt = mix64(seed ^ 1);
        let classifier = Classifier { by: params.classify, value: params.value, queues, salt };
        let engine = Engine::new(&versions, &params, seed)?;
        let (max_packets, max_bytes) = match limit {
            Limit::Bytes(bytes) => (u32::MAX, bytes.get()),
            Limit::Packets(packets) => (packets, u64::MAX),
            Limit::Unlimited => (u32::MAX, u64::MAX),
        };
        Some(Self {
            packets: 0,
            max_packets,
            bytes: 0,
            max_bytes,
            classifier,
            entries: Vec::new(),
            free: Vec::new(),
            effects: Vec::new(),
            notified: Vec::new(),
            engine,
            stopped: false,
            params,
        })
    }

    /// A place for a packet.
    #[inline]
    fn put(&mut self, entry: Entry) -> u32 {
        self.packets += 1;
        self.bytes += u64::from(entry.wire);
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = entry;
            return at;
        }
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// What is there leaves.
    #[inline]
    fn take(&mut self, at: u32) -> Entry {
        let entry = self.entries[at as usize];
        // What has left is known by that.
        self.entries[at as usize].handle = Handle::NONE;
        self.free.push(at);
        self.packets -= 1;
        self.bytes -= u64::from(entry.wire);
        entry
    }

    /// The policy cannot go on.
    #[cold]
    fn stop(&mut self, fault: thalweg_policy::Fault) {
        debug_assert!(matches!(fault, thalweg_policy::Fault::State(_)), "{fault}");
        self.stopped = true;
        self.effects.clear();
    }

    /// What waits leaves, once the policy has stopped.
    #[cold]
    fn drain(&mut self) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.handle != Handle::NONE)?;
        Some(self.take(at as u32))
    }

    #[cold]
    fn leave_to_others(&mut self) -> Option<Entry> {
        match self.engine.give_up() {
            Ok(Some(Handle(at))) => Some(self.take(at)),
            Ok(None) => None,
            Err(fault) => {
                self.stop(fault);
                None
            }
        }
    }
}

impl OutputQueue for Programmed {
    #[inline]
    fn serve(
        &mut self,
        now: Time,
        _: &mut Vec<Handle>,
        _look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        if self.stopped {
            return self.drain().map(|entry| (entry, false));
        }
        let served = match self.engine.dequeue(now, &mut self.effects) {
            Ok(served) => served,
            Err(fault) => {
                self.stop(fault);
                return self.drain().map(|entry| (entry, false));
            }
        };
        let mut entry = self.take(served?.0);
        // After scheduling nothing is dropped: what is left to do is to mark, and to notify.
        let mut marks = false;
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Notified(..) => self.notified.push(entry.handle),
                Effect::Marked(_) => marks = entry.ecn != Ecn::NotEct,
                Effect::Dropped(_) => debug_assert!(false, "the language has no such action there"),
            }
        }
        if marks {
            entry.ecn = Ecn::Ce;
        }
        Some((entry, marks))
    }
}

impl Discipline for Programmed {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
        let bytes = self.bytes.saturating_add(u64::from(packet.wire));
        if self.packets >= self.max_packets || bytes > self.max_bytes || self.stopped {
            return Verdict::Dropped;
        }
        let at = self.put(Entry::new(packet, handle));
        let offered = self.classifier.offered(now, packet);
        if let Err(fault) = self.engine.arrive(now, &offered, Handle(at), &mut self.effects) {
            self.stop(fault);
            self.take(at);
            return Verdict::Dropped;
        }
        let mut verdict = Verdict::Queued;
        for nth in 0..self.effects.len() {
            match self.effects[nth] {
                Effect::Dropped(Handle(gone)) => {
                    let entry = self.take(gone);
                    if gone == at { verdict = Verdict::Dropped } else { out.push(entry.handle) }
                }
                // The arriving one: nothing else is marked on arrival.
                Effect::Marked(_) if packet.ecn != Ecn::NotEct => verdict = Verdict::Marked,
                Effect::Marked(_) => {}
                // Likewise, while it is there; what drops it comes later.
                Effect::Notified(..) => self.notified.push(handle),
            }
        }
        self.effects.clear();
        verdict
    }
    #[inline]
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served> {
        let look = |_| unreachable!("a policy's port knows its packets");
        self.serve(now, out, look).map(|(entry, mark)| Served { handle: entry.handle, mark })
    }
    fn waiting(&self, see: &mut dyn FnMut(Handle)) -> Option<u32> {
        let waits = |entry: &&Entry| entry.handle != Handle::NONE && !entry.control;
        self.entries.iter().filter(waits).for_each(|entry| see(entry.handle));
        Some(self.engine.filled())
    }
    fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, out: &mut Vec<Handle>) {
        let Self { entries, engine, .. } = self;
        let mut left: Vec<u32> = Vec::new();
        engine.withdraw(&mut |Handle(at)| belongs(entries[at as usize].handle), &mut |Handle(at)| {
            left.push(at)
        });
        out.extend(left.into_iter().map(|at| self.take(at).handle));
    }
    fn push_out(&mut self, _: Time, _: Handle, out: &mut Vec<Handle>) -> bool {
        let gone = if self.stopped { self.drain() } else { self.leave_to_others() };
        out.extend(gone.map(|entry| entry.handle));
        gone.is_some()
    }
    fn take_notified(&mut self, see: &mut dyn FnMut(Handle)) {
        self.notified.drain(..).for_each(see);
    }
    #[inline]
    fn packets(&self) -> u32 {
        self.packets
    }
    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }
    fn wake(&self) -> Option<Time> {
        self.engine.wake()
    }
    fn on_tick(&mut self, now: Time) {
        self.engine.on_tick(now, &self.params);
    }
}
