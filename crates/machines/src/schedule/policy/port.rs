//! A port that runs a policy: it offers packets to the engine and reports the engine's decisions to the port's owner.
//!
//! A policy of several ports has one engine per switch, which is lent to the port that is being served. Packets that it
//! drops at other ports are left for the owner to remove there ([`Programmed::take_elsewhere`]).

mod saved;
mod shared;

pub use shared::{Elsewhere, Program};

use super::engine::Engine;
use super::{Classify, Compiled, Params, Value, given};
use crate::plugin::{self, Failed};
use crate::schedule::{Discipline, Entry, Limit, OutputQueue, Served, Verdict};
use saved::Saved;
use serde::{Deserialize, Serialize};
use shared::Member;
use std::fmt;
use thalweg_policy::{Effect, Fault, Offered, Part};
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
    /// Effects of the present call; kept to avoid allocation.
    effects: Vec<Effect>,
    /// Packets that the policy has notified of, until their owner takes note.
    notified: Vec<Handle>,
    /// The policy at work, unless it is with another port of the switch.
    program: Option<Program>,
    /// Which port of its switch this is, where all of them run one policy.
    member: Option<Box<Member>>,
    params: Params,
}

/// The failure of a policy that cannot continue, reported by [`plugin::fail`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The instant of the failure.
    pub at: Time,
    /// The reason.
    pub why: String,
}

impl Stopped {
    /// The first on this thread since the last call.
    pub fn take() -> Option<Self> {
        plugin::take_failure()?.what.downcast().ok().map(|stopped| *stopped)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the policy cannot go on at {}: {}", self.at, self.why)
    }
}

/// Maps a packet to the fields that its policy sees.
#[derive(Clone, Copy, Debug)]
struct Classifier {
    by: Classify,
    value: Value,
    queues: u32,
    salt: u64,
}

impl Classifier {
    /// Which of so many queues a packet joins.
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
        let program = Program::new(versions.first()?, Engine::new(&versions, &params, seed)?);
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
            program: Some(program),
            member: None,
            params,
        })
    }

    /// A packet as the policy sees it.
    #[inline]
    fn offered(&self, now: Time, packet: &Packet) -> Offered {
        let Some(member) = &self.member else { return self.classifier.offered(now, packet) };
        let entry = member.entry(packet.input);
        let nth = Classifier { queues: entry.len() as u32, ..self.classifier }.queue(packet);
        let dst = if member.has_levels { u32::from(member.number) + 1 } else { packet.dst.0 };
        Offered {
            queue: entry.get(nth as usize).copied().unwrap_or(0),
            dst,
            ..self.classifier.offered(now, packet)
        }
    }

    /// The engine's name of a packet.
    #[inline]
    fn name(&self, place: u32) -> Handle {
        self.member.as_ref().map_or(Handle(place), |member| member.name(place))
    }

    /// Where a packet is that the engine names, unless it is at another port, which then has to take it out.
    #[inline]
    fn place(&mut self, name: Handle) -> Option<u32> {
        let Some(member) = &mut self.member else { return Some(name.0) };
        member.place(name)
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

    /// The policy cannot go on, and neither can what runs the port.
    #[cold]
    fn stop(&mut self, now: Time, fault: Fault) {
        debug_assert!(matches!(fault, Fault::State(_)), "{fault}");
        if let Some(program) = &mut self.program {
            program.stopped = true;
        }
        self.effects.clear();
        let stopped = Stopped { at: now, why: self.reason(fault) };
        plugin::fail(Failed { at: Some(now), what: Box::new(stopped) });
    }

    /// A fault in the words of the policy's text.
    fn reason(&self, fault: Fault) -> String {
        let Params { file, text, .. } = &self.params;
        let compiled = given(file.as_ref(), text.as_ref()).and_then(super::Text::compiled);
        let (Fault::State(part), Some(Compiled { policy, .. })) = (fault, compiled) else {
            return fault.to_string();
        };
        let (kind, name) = match part {
            Part::Queue(at) => ("queue", policy.queues().get(at as usize).map(|queue| &queue.name)),
            Part::Buffer(at) => ("buffer", policy.buffers().get(at as usize).map(|buffer| &buffer.name)),
            Part::Port(at) => ("port", policy.ports().get(at as usize).map(|port| &port.name)),
        };
        name.map_or_else(
            || fault.to_string(),
            |name| format!("a state of {kind} `{name}` would exceed 64 bits"),
        )
    }

    /// It has stopped.
    #[inline]
    fn is_stopped(&self) -> bool {
        debug_assert!(self.program.is_some(), "the engine is at another port");
        self.program.as_ref().is_none_or(|program| program.stopped)
    }

    /// What waits leaves, once the policy has stopped.
    #[cold]
    fn drain(&mut self) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.handle != Handle::NONE)?;
        Some(self.take(at as u32))
    }

    #[cold]
    fn leave_to_others(&mut self, now: Time) -> Option<Entry> {
        match self.program.as_mut()?.engine.give_up() {
            Ok(Some(Handle(at))) => Some(self.take(at)),
            Ok(None) => None,
            Err(fault) => {
                self.stop(now, fault);
                None
            }
        }
    }

    /// A packet is offered to the policy, and what can go on within the switch does.
    #[inline]
    fn offer(&mut self, now: Time, packet: &Packet, at: u32) -> Result<(), Fault> {
        let (offered, name) = (self.offered(now, packet), self.name(at));
        let Self { program: Some(program), member, effects, .. } = self else { return Ok(()) };
        program.engine.arrive(now, &offered, name, effects)?;
        match member {
            Some(member) if member.has_levels => program.go_on(now, effects),
            _ => Ok(()),
        }
    }

    /// What the policy serves next, likewise.
    #[inline]
    fn next(&mut self, now: Time) -> Result<Option<Handle>, Fault> {
        let Self { program: Some(program), member, effects, .. } = self else { return Ok(None) };
        let Some(member) = member else { return program.engine.dequeue(ONLY, now, effects) };
        let served = program.engine.dequeue(member.output, now, effects)?;
        if served.is_some() && member.has_levels {
            program.go_on(now, effects)?;
        }
        Ok(served)
    }
}

impl Programmed {
    /// It is the port of this number in its switch from now on; the first has the engine. False: the policy has no
    /// such port.
    pub fn join(&mut self, number: u8) -> bool {
        let member = self.params.versions().and_then(|all| Member::new(all.first()?, number));
        self.member = member.map(Box::new);
        if number > 0 {
            self.program = None;
        }
        self.member.is_some()
    }

    /// The engine is here.
    pub fn has_program(&self) -> bool {
        self.program.is_some()
    }

    /// The engine goes to another port.
    pub fn lend(&mut self) -> Option<Program> {
        self.program.take()
    }

    /// It comes.
    pub fn receive(&mut self, program: Program) {
        self.program = Some(program);
    }

    /// Packets of other ports that the policy has given up: one at a time.
    pub fn take_elsewhere(&mut self) -> Option<Elsewhere> {
        self.member.as_mut()?.elsewhere.pop()
    }

    /// A packet of this port has been given up as another one was served or joined.
    pub fn lose(&mut self, place: u32) -> Handle {
        self.take(place).handle
    }
}

/// The port of a policy that has one.
const ONLY: usize = 0;

impl OutputQueue for Programmed {
    #[inline]
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        _look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        if self.is_stopped() {
            return self.drain().map(|entry| (entry, false));
        }
        let served = match self.next(now) {
            Ok(served) => served,
            Err(fault) => {
                self.stop(now, fault);
                return self.drain().map(|entry| (entry, false));
            }
        };
        let at = self.place(served?);
        debug_assert!(at.is_some(), "what leaves by a port waits there");
        let mut entry = self.take(at?);
        // After scheduling nothing is dropped, but where it goes on; what is left to do is to mark, and to notify.
        let mut marks = false;
        for nth in 0..self.effects.len() {
            match self.effects[nth] {
                Effect::Notified(..) => self.notified.push(entry.handle),
                Effect::Marked(_) => marks = entry.ecn != Ecn::NotEct,
                Effect::Dropped(name) => {
                    if let Some(at) = self.place(name) {
                        let gone = self.take(at);
                        out.push(gone.handle);
                    }
                }
            }
        }
        self.effects.clear();
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
        if self.packets >= self.max_packets || bytes > self.max_bytes || self.is_stopped() {
            return Verdict::Dropped;
        }
        let at = self.put(Entry::new(packet, handle));
        if let Err(fault) = self.offer(now, packet, at) {
            self.stop(now, fault);
            self.take(at);
            return Verdict::Dropped;
        }
        let mut verdict = Verdict::Queued;
        for nth in 0..self.effects.len() {
            match self.effects[nth] {
                Effect::Dropped(name) => {
                    let Some(gone) = self.place(name) else { continue };
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
        // (If a policy runs on a whole switch, one port does not show which of its queues hold what.)
        self.program.as_ref().filter(|_| self.member.is_none()).map(|program| program.engine.filled())
    }
    fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, out: &mut Vec<Handle>) {
        let Self { entries, program: Some(program), member, .. } = self else { return };
        let member = member.as_deref();
        let place = |name: Handle| match member {
            None => Some(name.0),
            Some(member) => member.is_here(name),
        };
        let mut left: Vec<u32> = Vec::new();
        program.engine.withdraw(
            &mut |name| place(name).is_some_and(|at| belongs(entries[at as usize].handle)),
            &mut |name| left.extend(place(name)),
        );
        out.extend(left.into_iter().map(|at| self.take(at).handle));
    }
    fn push_out(&mut self, now: Time, _: Handle, out: &mut Vec<Handle>) -> bool {
        let gone = if self.is_stopped() { self.drain() } else { self.leave_to_others(now) };
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
        self.program.as_ref()?.engine.wake()
    }
    fn on_tick(&mut self, now: Time) {
        if let Some(program) = &mut self.program {
            program.engine.on_tick(now, &self.params);
        }
    }
}
