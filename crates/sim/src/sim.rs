//! The simulated network: four owners, and the run loop that moves events and packets between them.

use crate::cx::Cx;
use crate::events::{Event, Events, Phase};
use crate::fabric::on_demand::Tx;
use crate::fabric::promises::Promises;
use crate::fabric::{Fabric, Fate, Landing, Lost, failures, late_departures, points, relief};
use crate::flows::Flows;
use crate::hosts::{Hosts, idle};
use crate::lookahead::look_ahead;
use crate::prefetch::prefetch;
use crate::refused::NoPausePolicy;
use crate::sampling::sample;
use thalweg_machines::congestion::{Interval, Permit};
use thalweg_net::spec::Step;
use thalweg_units::{FlowId, PortId, Span, Time};
use thalweg_wire::Frame;

/// Why a call of [`Sim::run_until`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The budget of events is used up.
    Budget,
    /// All events up to the given instant are processed.
    Reached,
    /// A controller waits for a decision from outside ([`Sim::decide`]). The run may also go on without one.
    Decision,
    /// The run has ended.
    Ended,
}

/// A network at an instant. Plain data throughout: see [`crate::snapshot`].
#[derive(Clone, Debug)]
pub struct Sim {
    /// The time, the event queue and the specification; and the fourth owner, the instruments, which observe
    /// everywhere.
    pub(crate) cx: Cx,
    pub(crate) fabric: Fabric,
    pub(crate) hosts: Hosts,
    pub(crate) flows: Flows,
    /// Events processed so far.
    pub(crate) processed: u64,
    /// What had not moved when [`Sim::check_promises`] last looked.
    pub(crate) promises: Promises,
}

impl Sim {
    /// Processes at most `max_events` more events; false once the run has ended.
    pub fn run(&mut self, max_events: u64) -> bool {
        self.run_until(max_events, Time::MAX) != Halt::Ended
    }

    /// The same, but no event later than `at`.
    pub fn run_until(&mut self, max_events: u64, at: Time) -> Halt {
        let halt = if self.cx.stopped { Halt::Ended } else { self.advance(max_events, at) };
        self.catch_up();
        halt
    }

    /// Takes all decisions that fell due before the present instant, so that results can be read.
    pub(crate) fn catch_up(&mut self) {
        self.fabric.catch_up_all(&mut self.cx);
        self.account_losses();
    }

    /// Makes a port send a frame to the far end of its link now, as its switch's pause policy would: for
    /// experiments, and for policies that run outside of the simulator.
    ///
    /// # Errors
    /// If the network has no pause policy.
    pub fn send_frame(&mut self, id: PortId, frame: Frame) -> Result<(), NoPausePolicy> {
        if self.fabric.gates().is_empty() || self.cx.spec.inputs.is_none_or(|i| i.pause.is_none()) {
            return Err(NoPausePolicy);
        }
        self.fabric.post_frame(&mut self.cx, id, frame, None);
        while let Some(id) = self.fabric.next_tx(&self.cx) {
            self.tx(id);
        }
        Ok(())
    }

    /// What the controller of an active flow has observed since its last decision, if its decisions come from
    /// outside.
    pub fn interval(&self, flow: FlowId) -> Option<&Interval> {
        let (sender, _) = self.hosts.ends(self.fabric.paths().slot(flow))?;
        if sender.is_done() { None } else { sender.interval() }
    }

    /// Decides for a flow's controller whose decisions come from outside; in force as soon as the run continues.
    /// Other controllers ignore it. False if the flow is not active.
    pub fn decide(&mut self, flow: FlowId, decided: Permit) -> bool {
        self.hosts.decide(&mut self.cx, &self.fabric, flow, decided)
    }

    fn advance(&mut self, max_events: u64, at: Time) -> Halt {
        let end = self.cx.spec.stop.until;
        let until = end.min(at);
        let budget = max_events.min(self.cx.spec.stop.max_events.saturating_sub(self.processed));
        if self.process_before(until.saturating_add(Span::from_ps(1)), budget) {
            if self.cx.events.first().is_some() {
                if until < end {
                    return Halt::Reached;
                }
                self.cx.now = until;
            } else {
                relief::apply_remaining_releases(&mut self.fabric, &mut self.cx);
            }
            self.cx.stopped = true;
        } else if std::mem::take(&mut self.cx.awaits) && !self.cx.stopped {
            return Halt::Decision;
        }
        if self.processed >= self.cx.spec.stop.max_events {
            self.cx.stopped = true;
        }
        if self.cx.stopped { Halt::Ended } else { Halt::Budget }
    }

    /// Processes the events before `end`, at most `most` of them. True if none is left; false if the budget is used
    /// up or an event stops the run.
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

    /// Processes the event that has just been taken out of the queue.
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

    /// Lets the ports that are due at this instant decide, unless another event precedes them.
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
        if cx.boundary.counts(event.tag) {
            cx.mark_digest(event.tag.word());
        }
        match event.tag.phase() {
            Phase::Finish => fabric.finish(cx, PortId(entity)),
            Phase::Inject => hosts.replay_mut().expect("a replay").inject(cx, fabric),
            Phase::Start => match flows.step_of(entity) {
                Step::Flow(flow) => hosts.start(cx, fabric, flows, flow),
                Step::Work(work) => flows.on_work_event(cx, work),
            },
            Phase::SenderTimer => hosts.sender_timer(cx, fabric, flows, flow),
            Phase::ReceiverTimer => hosts.receiver_timer(cx, fabric, flows, flow),
            Phase::Tick => fabric.tick(cx, PortId(entity)),
            Phase::Sample => sample(cx, fabric, hosts, entity),
            Phase::Incident => failures::incident(fabric, cx, entity),
            Phase::Stop => hosts.stop(cx, fabric, flows, flow),
            Phase::Quanta => fabric.on_quanta(cx, entity),
            Phase::Point => points::tick(fabric, cx, PortId(entity)),
            Phase::Relief => relief::tick(fabric, cx, entity),
            Phase::DepartureNotice => late_departures::notices_due(fabric, cx, PortId(entity)),
            Phase::Agent => hosts.agent_timer(cx, fabric, entity),
            Phase::Arrive | Phase::Decide => unreachable!("dispatched above"),
        }
    }

    /// A port decides what to send. A NIC that pulls polls its host's flows.
    #[inline(always)]
    fn tx(&mut self, id: PortId) {
        if self.fabric.tx(&mut self.cx, id) == Tx::Pull {
            if self.cx.features.nic_idle {
                idle::pull(&mut self.hosts, &mut self.cx, &mut self.fabric, id);
            } else {
                self.hosts.pull(&mut self.cx, &mut self.fabric, &mut self.flows, id);
            }
            self.fabric.schedule_or_block(&mut self.cx, id);
        }
    }

    /// Accounts for the packets that the fabric has lost or trimmed: at their hosts and in the flows' records.
    #[cold]
    fn account_losses(&mut self) {
        for at in 0..self.fabric.lost().len() {
            let Lost { packet, fate } = self.fabric.lost()[at];
            match fate {
                Fate::Gone => {}
                Fate::Notified(delay) => {
                    self.hosts.notify_of_drop(&mut self.cx, &self.fabric, &packet, delay)
                }
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
