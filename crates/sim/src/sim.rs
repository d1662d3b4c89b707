//! The simulated network: four owners, and the run loop that moves events and packets between them.

use crate::cx::Cx;
use crate::events::{Event, Events, Phase};
use crate::fabric::on_demand::Tx;
use crate::fabric::promises::Promises;
use crate::fabric::{Fabric, Fate, Landing, Lost, failures, points, relief, settling};
use crate::flows::Flows;
use crate::hosts::{Hosts, idle};
use crate::lookahead::look_ahead;
use crate::prefetch::prefetch;
use crate::sampling::sample;
use thalweg_machines::congestion::{Interval, Permit};
use thalweg_net::spec::Step;
use thalweg_units::{FlowId, PortId, Span, Time};
use thalweg_wire::Frame;

/// Why a run stops for the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It has processed as many events as it may.
    Budget,
    /// All events until the instant are done.
    Reached,
    /// A controller waits for a decision from outside ([`Sim::decide`]). The run may go on without.
    Decision,
    /// It has ended.
    Ended,
}

/// A network at an instant. Plain data throughout: see [`crate::snapshot`].
#[derive(Clone, Debug)]
pub struct Sim {
    /// The time, the event queue, the specification; and the fourth owner, the instruments, which look on everywhere.
    pub(crate) cx: Cx,
    pub(crate) fabric: Fabric,
    pub(crate) hosts: Hosts,
    pub(crate) flows: Flows,
    /// Events so far.
    pub(crate) processed: u64,
    /// What stood still when the laws were last checked.
    pub(crate) promises: Promises,
}

impl Sim {
    /// Processes at most `max_events` more events; false once the run has ended.
    pub fn run(&mut self, max_events: u64) -> bool {
        self.run_until(max_events, Time::MAX) != Pause::Ended
    }

    /// The same, but no event later than `at`.
    pub fn run_until(&mut self, max_events: u64, at: Time) -> Pause {
        let pause = if self.cx.stopped { Pause::Ended } else { self.advance(max_events, at) };
        self.catch_up();
        pause
    }

    /// All that fell due before the present instant: so that results can be read.
    pub(crate) fn catch_up(&mut self) {
        self.fabric.catch_up_all(&mut self.cx);
        self.account_losses();
    }

    /// Has a port send a frame to the far end of its link now, as its switch's pause policy would: for
    /// experiments, and for policies that live elsewhere.
    ///
    /// # Errors
    /// If the network has no flow control.
    pub fn send_frame(&mut self, id: PortId, frame: Frame) -> Result<(), String> {
        if self.fabric.gates().is_empty() || self.cx.spec.inputs.is_none_or(|i| i.pause.is_none()) {
            return Err("a network without flow control has no frames".into());
        }
        self.fabric.post_frame(&mut self.cx, id, frame, u32::MAX);
        while let Some(id) = self.fabric.next_tx(&self.cx) {
            self.tx(id);
        }
        Ok(())
    }

    /// What the controller of an active flow has observed since its last decision, if these come from outside.
    pub fn interval(&self, flow: FlowId) -> Option<&Interval> {
        let (sender, _) = self.hosts.ends(self.fabric.paths().slot(flow))?;
        if sender.is_done() { None } else { sender.interval() }
    }

    /// Decides for a flow's controller whose decisions come from outside; in force as soon as the run goes on. Others
    /// ignore it. False if the flow is not active.
    pub fn decide(&mut self, flow: FlowId, decided: Permit) -> bool {
        self.hosts.decide(&mut self.cx, &self.fabric, flow, decided)
    }

    fn advance(&mut self, max_events: u64, at: Time) -> Pause {
        let end = self.cx.spec.stop.until;
        let until = end.min(at);
        let budget = max_events.min(self.cx.spec.stop.max_events.saturating_sub(self.processed));
        if self.process_before(until.saturating_add(Span::from_ps(1)), budget) {
            if self.cx.events.first().is_some() {
                if until < end {
                    return Pause::Reached;
                }
                self.cx.now = until;
            } else {
                relief::apply_remaining_releases(&mut self.fabric, &mut self.cx);
            }
            self.cx.stopped = true;
        } else if std::mem::take(&mut self.cx.awaits) && !self.cx.stopped {
            return Pause::Decision;
        }
        if self.processed >= self.cx.spec.stop.max_events {
            self.cx.stopped = true;
        }
        if self.cx.stopped { Pause::Ended } else { Pause::Budget }
    }

    /// The events before `end`, at most so many; true: there are no more. Ends early where one of them stops the run.
    #[inline(never)]
    pub(crate) fn process_before(&mut self, end: Time, most: u64) -> bool {
        for _ in 0..most {
            let Some(event) = self.cx.events.pop_before(end) else { return true };
            self.process(event);
            if self.cx.stopped | self.cx.awaits {
                return false;
            }
        }
        false
    }

    /// The next event, which has just been taken out of the queue.
    #[inline(always)]
    pub(crate) fn process(&mut self, event: Event) {
        debug_assert!(event.at >= self.cx.now, "time travel");
        self.cx.now = event.at;
        self.processed += 1;
        if self.cx.features.look_ahead {
            look_ahead(&mut self.cx.events, &self.fabric, &self.hosts);
        } else {
            let next = self.cx.events.next_entity() as usize;
            prefetch(self.fabric.ports().as_ptr().wrapping_add(next));
        }
        self.dispatch(event);
    }

    #[inline(always)]
    fn dispatch(&mut self, event: Event) {
        let entity = event.tag.entity();
        if event.tag.is(Phase::Arrive) {
            self.cx.note_landing(event);
            if let Landing::Host(handle) = self.fabric.arrive(&mut self.cx, PortId(entity)) {
                self.hosts.deliver(&mut self.cx, &mut self.fabric, &mut self.flows, handle);
            }
        } else if event.tag.is(Phase::Decide) {
            self.tx(PortId(entity));
        } else {
            self.dispatch_rare(event);
        }
        self.settle_ready();
    }

    /// The ports that decide now do so, unless something else comes first at this instant.
    #[inline(always)]
    pub(crate) fn settle_ready(&mut self) {
        while let Some(id) = self.fabric.next_tx(&self.cx) {
            self.tx(id);
        }
        if !self.fabric.lost().is_empty() {
            self.account_losses();
        }
    }

    #[inline(never)]
    fn dispatch_rare(&mut self, event: Event) {
        let entity = event.tag.entity();
        let flow = FlowId(entity);
        let Self { cx, fabric, hosts, flows, .. } = self;
        if cx.border.counts(event.tag) {
            cx.mark_digest(event.tag.word());
        }
        match event.tag.phase() {
            Phase::Finish => fabric.finish(cx, PortId(entity)),
            Phase::Inject => hosts.replay_mut().expect("a replay").inject(cx, fabric),
            Phase::Start => match flows.step(entity) {
                Step::Flow(flow) => hosts.start(cx, fabric, flows, flow),
                Step::Work(work) => flows.work(cx, work),
            },
            Phase::SenderTimer => hosts.sender_timer(cx, fabric, flows, flow),
            Phase::ReceiverTimer => hosts.receiver_timer(cx, fabric, flows, flow),
            Phase::Tick => fabric.tick(cx, PortId(entity)),
            Phase::Sample => sample(cx, fabric, hosts, entity),
            Phase::Incident => failures::incident(fabric, cx, entity),
            Phase::Stop => hosts.stop(cx, fabric, flows, flow),
            Phase::Quanta => fabric.quanta_over(cx, entity),
            Phase::Point => points::tick(fabric, cx, PortId(entity)),
            Phase::Relief => relief::tick(fabric, cx, entity),
            Phase::Return => settling::return_due(fabric, cx, PortId(entity)),
            Phase::Agent => hosts.agent_timer(cx, fabric, entity),
            Phase::Arrive | Phase::Decide => unreachable!("dispatched above"),
        }
    }

    /// A port decides; if it is a NIC that pulls, its host's flows do.
    #[inline(always)]
    fn tx(&mut self, id: PortId) {
        if self.fabric.tx(&mut self.cx, id) == Tx::Pull {
            if self.cx.features.nic_idle {
                idle::pull(&mut self.hosts, &mut self.cx, &mut self.fabric, id);
            } else {
                self.hosts.pull(&mut self.cx, &mut self.fabric, &mut self.flows, id);
            }
            self.fabric.rest(&mut self.cx, id);
        }
    }

    /// Packets that the fabric has lost are missed by their hosts.
    #[cold]
    fn account_losses(&mut self) {
        for at in 0..self.fabric.lost().len() {
            let Lost { packet, fate } = self.fabric.lost()[at];
            match fate {
                Fate::Gone => {}
                Fate::Notified(way) => self.hosts.notify_of_drop(&mut self.cx, &self.fabric, &packet, way),
                Fate::Trimmed => {
                    self.flows.trim(packet.flow);
                    continue;
                }
            }
            self.hosts.lose(&mut self.fabric, &mut self.flows, &packet);
        }
        self.fabric.forget_lost();
    }
}
