//! The requester: takes work requests, sends request packets, takes acknowledgements and responses, and
//! reports when a request is over. Owns no clock and no socket: see [`Requester`].

mod irn;
mod packets;
mod refusals;
mod roce;

use crate::arriving::{Ignored, open};
use crate::memory::Memory;
use crate::queues::send::SendQueue;
use crate::queues::{Completion, PostError, Request, Status};
use crate::setup::{Setup, SetupError};
use crate::wire::{Aeth, Credits, Dialect, Refusal, RnrTimer, Syndrome};
use thalweg_units::Time;

/// What an end has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Data packets sent, retransmissions included: requests here, responses at the responder.
    pub sent: u64,
    /// Of these, retransmissions.
    pub retransmitted: u64,
    /// Timeouts that fired.
    pub timeouts: u64,
    /// NACKs sent for packets out of order.
    pub nacks: u64,
    /// Error NACKs sent (responder), or refusals that they stood for (requester).
    pub refusals: u64,
    /// Packets in flight at most, in the space of numbers that this end sends.
    pub most_in_flight: u32,
    /// Greatest distance from the next packet expected at which one arrived.
    pub most_ahead: u32,
}

/// One end of a queue pair. After every [`Requester::post`], [`Requester::on_packet`] and [`Requester::on_timer`], poll
/// [`Requester::poll_transmit`] until it returns false; call [`Requester::on_timer`] at [`Requester::timer`].
#[derive(Clone, Debug)]
pub struct Requester {
    setup: Setup,
    queue: SendQueue,
    engine: Engine,
    counters: Counters,
}

#[derive(Clone, Debug)]
enum Engine {
    Irn(irn::Engine),
    Roce(roce::Engine),
}

/// What an engine works with.
struct Context<'a> {
    setup: &'a Setup,
    queue: &'a mut SendQueue,
    counters: &'a mut Counters,
    now: Time,
}

/// An error NACK.
enum Verdict {
    /// Not now, for want of a Receive WQE; again after this pause at the earliest.
    NotReady(RnrTimer),
    /// Never: how the request ends.
    Refused(Status),
}

impl Verdict {
    /// `None`: an ACK, or the NACK of a packet out of order, which is no error.
    fn of(syndrome: Syndrome) -> Option<Self> {
        match syndrome {
            Syndrome::Ack(_) | Syndrome::Nak(Refusal::Sequence) => None,
            Syndrome::NotReady(timer) => Some(Self::NotReady(timer)),
            Syndrome::Nak(Refusal::InvalidRequest) => Some(Self::Refused(Status::RemoteInvalidRequest)),
            Syndrome::Nak(Refusal::RemoteAccess) => Some(Self::Refused(Status::RemoteAccess)),
            Syndrome::Nak(Refusal::RemoteOperational) => Some(Self::Refused(Status::RemoteOperational)),
        }
    }
}

impl Context<'_> {
    /// Any acknowledgement header carries credits, that of an answer too.
    fn on_credits(&mut self, aeth: Aeth) -> Result<(), Ignored> {
        let possible = self.queue.on_credits(aeth.msn, credits(aeth));
        possible.then_some(()).ok_or(Ignored::Number)
    }
}

fn credits(aeth: Aeth) -> Option<u32> {
    match aeth.syndrome {
        Syndrome::Ack(credits) => credits.map(Credits::count),
        _ => None,
    }
}

impl Requester {
    /// A requester that has sent nothing.
    ///
    /// # Errors
    /// If a value of the set-up is out of range.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        setup.check()?;
        let engine = new_engine!(setup);
        Ok(Self { setup: setup.clone(), queue: SendQueue::new(setup), engine, counters: Counters::default() })
    }

    /// Posts a request.
    ///
    /// # Errors
    /// If it cannot be; nothing is posted then.
    pub fn post(&mut self, memory: &Memory, request: Request) -> Result<(), PostError> {
        self.queue.post(memory, request)
    }

    /// Something arrived.
    ///
    /// # Errors
    /// If it is not for this end or makes no sense; then nothing has changed.
    pub fn on_packet(&mut self, now: Time, memory: &mut Memory, bytes: &[u8]) -> Result<(), Ignored> {
        let packet = open(&self.setup, self.setup.requester_qp, bytes)?;
        engine!(self.queue, now, |engine, context| engine.on_packet(context, memory, &packet))
    }

    /// Writes the next packet to `out`; false: nothing to send until something arrives or the timer fires.
    pub fn poll_transmit(&mut self, now: Time, memory: &Memory, out: &mut Vec<u8>) -> bool {
        engine!(self.queue, now, |engine, context| engine.poll_transmit(context, memory, out))
    }

    /// When [`Requester::on_timer`] must be called.
    pub fn timer(&self) -> Option<Time> {
        match &self.engine {
            Engine::Irn(engine) => engine.timer(&self.setup),
            Engine::Roce(engine) => engine.timer(&self.setup),
        }
    }

    /// The time that [`Requester::timer`] named has come. Calls before it do nothing.
    pub fn on_timer(&mut self, now: Time) {
        engine!(self.queue, now, |engine, context| engine.on_timer(context));
    }

    /// The next request that is over, in posting order.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        let completion = self.queue.completion();
        let una = match &self.engine {
            Engine::Irn(engine) => engine.una(),
            Engine::Roce(engine) => engine.una(),
        };
        self.queue.release(una);
        completion
    }

    /// Every request posted is over and has been reported.
    pub fn is_idle(&self) -> bool {
        self.queue.is_idle()
    }

    /// A request failed: all later ones are flushed, and none can be posted.
    pub fn has_failed(&self) -> bool {
        self.queue.has_failed()
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
