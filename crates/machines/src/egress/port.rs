//! The machine itself.

use super::{Arrived, EgressTotals, Packets, Poll, Sent};
use crate::link::{Link, LinkSpec, Load, Transmission};
use crate::pause::{Change, Outbox, Paused, Posted};
use crate::problems::Invalid;
use crate::schedule::{Discipline, DisciplineSpec, Entry, Manages, OutputQueue, Queue, Sojourn, Verdict};
use crate::stage::{Arrival, Batch, HeaderStage, Leaving, Left, Row, StageSpec, View};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{HostId, Rate, Span, Stream, Time};
use thalweg_wire::{Ecn, Frame, Handle, Packet};

/// What a port is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EgressSpec {
    /// What it sends on.
    pub link: LinkSpec,
    /// The rate of the direction that leads back.
    pub back: Rate,
    /// Its queue: order and limit, and the first of its stages.
    pub queue: DisciplineSpec,
    /// Further stages: before the queue at arrival, and behind it at departure.
    pub stages: Vec<StageSpec>,
    /// Control packets have a queue of their own ahead of the other, without limit or stages.
    pub control_first: bool,
    /// A pause of the whole port holds that queue, too.
    pub pause_control: bool,
    /// A frame's bytes on the wire.
    pub frame_wire: u32,
}

/// An egress port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Egress {
    link: Link,
    queue: Queue,
    stages: Row,
    paused: Paused,
    /// To be sent ahead of everything.
    frames: Outbox,
    control: Option<VecDeque<(Handle, u32)>>,
    pause_control: bool,
    frame_wire: u32,
    /// The transmission in progress, or the last one.
    last: Transmission,
    /// When the queue last sent, and how long that took at the link's rate.
    paced: (Time, Span),
    /// What leaves together with the packet returned last.
    together: VecDeque<Handle>,
    /// Since when packets wait, if a stage needs it.
    sojourn: Option<Sojourn>,
    totals: EgressTotals,
}

impl Egress {
    /// A port that has seen nothing; chance draws from streams of `seed` for the port number `entity`.
    ///
    /// # Errors
    /// If parameters contradict each other, with their values, or the queue is to interrupt transmissions.
    pub fn new(spec: &EgressSpec, seed: u64, entity: u64) -> Result<Self, Invalid> {
        if spec.queue.preemptive {
            return Err(Invalid::new("a reference port does not interrupt transmissions").at("preemptive"));
        }
        if spec.link.is_for_one_user() && !spec.queue.order.needs().foretells {
            let why = "batches for one user need an order that knows which packet is next: fifo";
            return Err(Invalid::new(why).at("order"));
        }
        let link = spec.link.make(seed, entity)?;
        let rate = spec.link.mean_rate();
        let stream = Stream::new(seed, "queue", entity);
        let mut order = spec.queue.clone();
        let front = std::mem::take(&mut order.front);
        let mut stages = Vec::with_capacity(front.len() + 1 + spec.stages.len());
        for (i, stage) in front.iter().enumerate() {
            stages.push(stage.make(Stream::new(seed, "front", entity << 8 | i as u64), rate)?);
        }
        // A queue knows only one number as its rate; a stage outside the queue sees the link.
        let own =
            matches!(order.order.needs().manages, Manages::Everything | Manages::Room | Manages::Shares);
        if !own && order.stage != StageSpec::default() {
            let stage = std::mem::take(&mut order.stage);
            stages.push(stage.make(stream, rate)?);
        }
        let queue = order.make_between(stream, rate, spec.back)?;
        for (i, stage) in spec.stages.iter().enumerate() {
            stages.push(stage.make(Stream::new(seed, "stage", entity << 8 | i as u64), rate)?);
        }
        stages.iter_mut().for_each(|stage| stage.stands_before(&spec.link.transmitter));
        let stages = Row::new(stages);
        Ok(Self {
            sojourn: stages.needs().wait.then(Sojourn::default),
            link,
            queue,
            stages,
            paused: Paused::default(),
            frames: Outbox::default(),
            control: spec.control_first.then(VecDeque::new),
            pause_control: spec.pause_control,
            frame_wire: spec.frame_wire,
            last: Transmission::default(),
            paced: (Time::ZERO, Span::ZERO),
            together: VecDeque::new(),
            totals: EgressTotals::default(),
        })
    }

    /// A packet arrives. What is discarded to make room for it is appended to `out`.
    pub fn arrive(
        &mut self,
        now: Time,
        handle: Handle,
        packets: &mut impl Packets,
        out: &mut Vec<Handle>,
    ) -> Arrived {
        self.note_unused(now);
        self.totals.arrived += 1;
        let packet = packets.packet(handle);
        if let Some(control) = self.control.as_mut().filter(|_| packet.is_control()) {
            control.push_back((handle, packet.wire));
            return Arrived::Admitted;
        }
        let arrival = if self.stages.is_empty() {
            Arrival::Admit
        } else {
            let idle = self.stages.needs().idle_time && self.queue.is_empty();
            let idle_for = if idle { now.since(self.last.until) } else { Span::ZERO };
            let view = self.view(now, packet.wire, idle_for, Span::ZERO);
            self.stages.on_arrival(now, &view, packet)
        };
        let given_up = out.len();
        let verdict = match arrival {
            Arrival::Drop => Verdict::Dropped,
            Arrival::Admit | Arrival::Mark => {
                if self.queue.is_empty() && self.last.until < now {
                    self.queue.on_idle(self.last.until);
                }
                self.queue.enqueue(now, packet, handle, out)
            }
        };
        self.totals.dropped += (out.len() - given_up) as u64;
        for victim in &out[given_up..] {
            self.forget(*victim);
        }
        if verdict == Verdict::Dropped {
            self.totals.dropped += 1;
            return Arrived::Dropped;
        }
        if let Some(sojourn) = &mut self.sojourn {
            sojourn.joined(now, handle);
        }
        if arrival == Arrival::Mark || verdict == Verdict::Marked {
            packet.ecn = Ecn::Ce;
            self.totals.marked += 1;
        }
        if let Verdict::Trimmed(handle) = verdict {
            self.totals.trimmed += 1;
            return Arrived::Trimmed { handle, cut: packets.packet(handle).trim() };
        }
        if out.len() > given_up { Arrived::PushedOut } else { Arrived::Admitted }
    }

    /// The neighbour's frame arrives. True: something may be sent now that could not be before.
    pub fn frame(&mut self, now: Time, frame: Frame) -> bool {
        let change = self.paused.on_frame(now, frame);
        self.apply(change)
    }

    /// Queues a frame for the neighbour, ahead of all packets that wait.
    pub fn post(&mut self, posted: Posted) {
        self.frames.post(posted);
    }

    /// Gives up the next frame that waits.
    pub fn drop_frame(&mut self) -> Option<Posted> {
        self.frames.pop()
    }

    /// Drops everything in the queue, paused or not, as if it left without being carried by the link. The packets are
    /// appended to `out`.
    pub fn drain(&mut self, now: Time, packets: &mut impl Packets, out: &mut Vec<Handle>) {
        if let Some(queues) = self.queue.pausable_mut() {
            (0..queues.queues()).for_each(|queue| queues.pause(queue, false));
        }
        let before = self.totals;
        let given_up = out.len();
        while let Some(entry) = self.next(now, None, packets, out) {
            out.push(entry.handle);
        }
        // Nothing was scheduled.
        self.queue.take_notified(&mut |_| {});
        self.totals = EgressTotals { dropped: before.dropped + (out.len() - given_up) as u64, ..before };
        self.hold_queues();
    }

    /// Drops the packets of the queue for which `belongs` is true; they are appended to `out`.
    pub fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, out: &mut Vec<Handle>) {
        let before = out.len();
        self.queue.withdraw(belongs, out);
        self.totals.dropped += (out.len() - before) as u64;
        for victim in &out[before..] {
            self.forget(*victim);
        }
    }

    /// The queue pushes out the packet that its order would drop, or several at once, because the memory that it shares
    /// is full. They are appended to `out`; the one that arrived last, `arriving`, may be among them. Returns false if
    /// nothing was pushed out.
    pub fn push_out(&mut self, now: Time, arriving: Handle, out: &mut Vec<Handle>) -> bool {
        let before = out.len();
        let gave = self.queue.push_out(now, arriving, out);
        self.totals.dropped += (out.len() - before) as u64;
        for victim in &out[before..] {
            self.forget(*victim);
        }
        gave
    }

    /// A packet has been given up that waited here ([`Programmed::lose`](crate::schedule::Programmed::lose)).
    pub fn lose(&mut self, place: u32) -> Option<Handle> {
        let handle = self.queue.programmed_mut()?.lose(place);
        self.totals.dropped += 1;
        self.forget(handle);
        Some(handle)
    }

    /// Drops the control packets in their own queue; they are appended to `out`.
    pub fn drain_control(&mut self, out: &mut Vec<Handle>) {
        let lane = self.control.iter_mut().flat_map(|lane| lane.drain(..));
        let before = out.len();
        out.extend(lane.map(|(handle, _)| handle));
        self.totals.dropped += (out.len() - before) as u64;
    }

    /// Counts the opportunities that have passed unused before `now`. A caller that reads totals between
    /// events needs it.
    pub fn catch_up(&mut self, now: Time) {
        self.note_unused(now);
    }

    /// When [`Egress::tick`] is to be called.
    pub fn wake(&self) -> Option<Time> {
        [self.paused.wake(), self.wake_control_plane()].into_iter().flatten().min()
    }

    /// The same without the ends of pauses.
    pub fn wake_control_plane(&self) -> Option<Time> {
        [self.queue.wake(), self.stages.wake()].into_iter().flatten().min()
    }

    /// The instant named by [`Egress::wake`] has come. True: something may be sent now that could not be before.
    pub fn tick(&mut self, now: Time) -> bool {
        self.note_unused(now);
        let change = self.paused.tick(now);
        let resumed = self.apply(change);
        if self.queue.wake().is_some_and(|at| at <= now) {
            self.queue.on_tick(now);
        }
        let view = self.view(now, 0, Span::ZERO, Span::ZERO);
        self.stages.tick(now, &view);
        resumed
    }

    /// What the port does now. It must be called after all events of an instant, after every [`Poll::Transmit`], and at
    /// the instant of a [`Poll::Wait`]. Packets dropped as they leave are appended to `out`.
    pub fn poll(&mut self, now: Time, packets: &mut impl Packets, out: &mut Vec<Handle>) -> Poll {
        if let Some(handle) = self.together.pop_front() {
            return self.transmitting(Sent::Packet(handle));
        }
        if now < self.last.until {
            return Poll::Wait(self.last.until);
        }
        self.note_unused(now);
        if !self.is_ready() {
            return Poll::Idle;
        }
        let opens = self.opens(now);
        if opens > now {
            return if opens == Time::MAX { Poll::Idle } else { Poll::Wait(opens) };
        }
        if let Some(posted) = self.frames.pop() {
            self.totals.frames += 1;
            self.send(now, Load::one(self.frame_wire));
            return self.transmitting(Sent::Frame(posted));
        }
        if let Some((handle, wire)) = self.next_control() {
            self.note_sent(1, u64::from(wire));
            self.send(now, Load::one(wire));
            return self.transmitting(Sent::Packet(handle));
        }
        let mut load = Load { packets: 0, bytes: 0 };
        let mut user = None;
        while load.packets < self.link.batch()
            && let Some(entry) = self.next(now, user, packets, out)
        {
            if self.link.one_user() {
                user = Some(packets.packet(entry.handle).dst);
            }
            load.packets += 1;
            load.bytes += u64::from(entry.wire);
            self.together.push_back(entry.handle);
        }
        let Some(first) = self.together.pop_front() else {
            // All that waited was dropped.
            return Poll::Idle;
        };
        self.send(now, load);
        self.paced = (now, self.last.until.since(now));
        if self.stages.needs().batches {
            let (rate, most) = (self.link.rate(now), self.link.batch());
            let Load { packets, bytes } = load;
            self.stages.on_batch(&Batch { begun: now, acked: self.last.until, packets, bytes, rate, most });
        }
        self.transmitting(Sent::Packet(first))
    }

    /// Whether a packet or frame waits that no pause holds.
    pub fn is_ready(&self) -> bool {
        let control = self.control.as_ref().is_some_and(|lane| !lane.is_empty()) && !self.holds_control();
        !self.frames.is_empty() || control || !self.queue.is_empty() && !self.is_stopped()
    }

    /// When something may leave, from `at` on: the link opens, and what is left of the rate allows for it.
    pub fn opens(&self, at: Time) -> Time {
        let halvings = self.paused.halvings();
        let first = || {
            !self.frames.is_empty()
                || self.control.as_ref().is_some_and(|lane| !lane.is_empty()) && !self.holds_control()
        };
        if halvings == 0 || first() {
            return self.link.opens(at);
        }
        let (since, span) = self.paced;
        self.link.opens(at.max(since.saturating_add(span.saturating_mul(1 << halvings))))
    }

    /// From `at` on, what waits may not leave as soon as the link opens, because the neighbour has slowed the port
    /// down: a frame that is posted or a higher rate may have something leave before [`Egress::opens`].
    pub fn is_slowed(&self, at: Time) -> bool {
        self.opens(at) > self.link.opens(at)
    }

    fn holds_control(&self) -> bool {
        self.pause_control && self.is_stopped()
    }

    fn next_control(&mut self) -> Option<(Handle, u32)> {
        if self.holds_control() { None } else { self.control.as_mut()?.pop_front() }
    }

    /// The packet would join the queue of control packets.
    #[inline]
    pub fn is_first(&self, packet: &Packet) -> bool {
        self.control.is_some() && packet.is_control()
    }

    /// Nothing of what waits in the queue may leave. Where queues have no numbers, any class that is paused
    /// stops them all.
    pub fn is_stopped(&self) -> bool {
        if self.queue.pausable().is_some() { self.queue.is_held() } else { self.paused.any() }
    }

    /// Takes over what the neighbour has paused, from a caller that keeps account of it.
    pub fn set_paused(&mut self, paused: &Paused) {
        self.paused.clone_from(paused);
        self.hold_queues();
    }

    /// The next packet to leave, past those that stages drop; if `user` is given, as long as what is next is
    /// for that one.
    fn next(
        &mut self,
        now: Time,
        user: Option<HostId>,
        packets: &mut impl Packets,
        out: &mut Vec<Handle>,
    ) -> Option<Entry> {
        loop {
            if let (Some(user), Some(head)) = (user, self.queue.head())
                && packets.packet(head).dst != user
            {
                return None;
            }
            let given_up = out.len();
            let served = self.queue.serve(now, out, |handle| Entry::new(packets.packet(handle), handle));
            self.totals.dropped += (out.len() - given_up) as u64;
            for victim in &out[given_up..] {
                self.forget(*victim);
            }
            let Some((mut entry, mark)) = served else {
                if self.queue.is_empty() {
                    self.stages.on_unused(now);
                }
                return None;
            };
            entry.wire += self.queue.header();
            if self.stages.is_empty() {
                if mark {
                    packets.packet(entry.handle).ecn = entry.ecn;
                    self.totals.marked += 1;
                }
                self.note_sent(1, u64::from(entry.wire));
                return Some(entry);
            }
            let waited = self.sojourn.as_mut().map_or(Span::ZERO, |s| now.since(s.left(entry.handle)));
            let view = self.view(now, entry.wire, Span::ZERO, waited);
            let Entry { handle, wire, ecn, .. } = entry;
            let leaving = Leaving { ecn };
            let Left::Sent(also) = self.stages.on_departure(now, &view, leaving) else {
                self.totals.dropped += 1;
                out.push(handle);
                continue;
            };
            if mark || also.is_some() {
                packets.packet(handle).ecn = also.unwrap_or(ecn);
                self.totals.marked += 1;
            }
            if self.stages.needs().headers {
                let (packet, side) = packets.headers(handle);
                self.stages.write(now, &view, packet, side);
            }
            self.note_sent(1, u64::from(wire));
            return Some(entry);
        }
    }

    /// A packet was discarded while it waited.
    fn forget(&mut self, victim: Handle) {
        if let Some(sojourn) = &mut self.sojourn {
            sojourn.left(victim);
        }
    }

    fn note_sent(&mut self, packets: u64, bytes: u64) {
        self.totals.packets += packets;
        self.totals.bytes += bytes;
    }

    fn send(&mut self, now: Time, load: Load) {
        let until = self.link.send(now, load);
        self.last = Transmission { begun: now, until, bytes: load.bytes };
    }

    fn transmitting(&mut self, what: Sent) -> Poll {
        let until = self.last.until;
        Poll::Transmit { what, until, arrives: self.link.arrives(until) }
    }

    /// Opportunities that have passed with nothing to send.
    fn note_unused(&mut self, now: Time) {
        while let Some(unused) = self.link.take_unused(now) {
            self.totals.unused += u64::from(unused.bytes);
            // Otherwise all that waits is paused.
            if self.queue.is_empty() {
                self.stages.on_unused(unused.at);
                self.stages.on_opportunity(unused.at, unused.bytes);
            }
        }
    }

    /// Applies a change of the pause state to the queue.
    fn apply(&mut self, change: Change) -> bool {
        if change != Change::None {
            self.hold_queues();
        }
        change == Change::Resumed
    }

    fn hold_queues(&mut self) {
        if let Some(queues) = self.queue.pausable_mut() {
            queues.apply(&self.paused);
        }
    }

    fn view(&self, now: Time, wire: u32, idle_for: Span, waited: Span) -> View {
        let (packets, bytes) = (self.queue.packets(), self.queue.bytes());
        View { packets, bytes, wire, rate: self.link.rate(now), sent: self.totals.bytes, idle_for, waited }
    }

    /// A stage's estimate of the link's rate, if one has to estimate it; zero before it can.
    pub fn estimate(&self) -> Option<Rate> {
        self.stages.estimate()
    }
    /// Packets waiting, including control packets in their own queue.
    pub fn waiting(&self) -> u32 {
        self.queue.packets() + self.control.as_ref().map_or(0, |lane| lane.len() as u32)
    }
    /// The queue, to lift packets.
    pub fn queue_mut(&mut self) -> &mut Queue {
        &mut self.queue
    }
    /// The queue.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }
    /// The link.
    pub fn link(&self) -> &Link {
        &self.link
    }
    /// What the neighbour has paused.
    pub fn paused(&self) -> &Paused {
        &self.paused
    }
    /// Bytes of the transmission in progress that leave after `now`; 0: there is none.
    pub fn remaining(&self, now: Time) -> u64 {
        if self.last.until > now { self.link.remaining(now, &self.last) } else { 0 }
    }
    /// When the transmission in progress, or the last one, ends.
    pub fn free_at(&self) -> Time {
        self.last.until
    }
    /// What it has done so far.
    pub fn totals(&self) -> EgressTotals {
        self.totals
    }
}
