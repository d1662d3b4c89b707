//! The responder: places what arrives, acknowledges it, answers Reads and Atomics, and notifies its
//! application of what came. Owns no clock, no socket and no memory: see [`Responder`].

mod accept;
mod irn;
mod reads;
mod responses;
mod roce;

use crate::arriving::{Ignored, open};
use crate::memory::Memory;
use crate::queues::{PostError, ReceiveRequest, Received, Receives, SharedReceives};
use crate::requester::Counters;
use crate::setup::{Setup, SetupError};
use crate::wire::{Credits, Dialect, Serial, Syndrome};
use std::collections::VecDeque;
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Time;

/// What the queue pairs of a host share.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Its registered memory.
    pub memory: Memory,
    /// Its shared receive queue.
    pub shared: SharedReceives,
}

/// The other end of a queue pair. After every [`Responder::on_packet`] and [`Responder::on_timer`], poll
/// [`Responder::poll_transmit`] until it returns false; call [`Responder::on_timer`] at [`Responder::timer`].
#[derive(Clone, Debug)]
pub struct Responder {
    setup: Setup,
    ledger: Ledger,
    engine: Engine,
    counters: Counters,
}

#[derive(Clone, Debug)]
enum Engine {
    Irn(irn::Engine),
    Roce(roce::Engine),
}

/// What both dialects keep.
#[derive(Clone, Debug)]
struct Ledger {
    /// Messages that have arrived, and all before them.
    msn: Serial,
    receives: Receives,
    /// For the application.
    received: VecDeque<Received>,
}

impl Ledger {
    /// "All is well", with the Receive WQEs that are left.
    fn ack(&self) -> Syndrome {
        Syndrome::Ack(self.receives.credits().map(Credits::at_most))
    }
}

/// What an engine works with.
struct Context<'a> {
    setup: &'a Setup,
    ledger: &'a mut Ledger,
    counters: &'a mut Counters,
    now: Time,
}

impl Context<'_> {
    /// "No Receive WQE", with the pause that the set-up wants.
    fn not_ready(&self) -> Syndrome {
        Syndrome::NotReady(self.setup.retry.min_rnr_timer)
    }

    /// The first outstanding Receive WQE expires with the CQE kept for it.
    ///
    /// # Errors
    /// If there is none, or its Send was to invalidate a key that is not valid. Nothing has changed then.
    fn expire(&mut self, host: &mut Host) -> Result<(), Syndrome> {
        let receives = &mut self.ledger.receives;
        let invalidated = receives.next().and_then(|cqe| cqe.what.invalidated());
        if invalidated.is_some_and(|key| !host.memory.is_valid(key)) {
            return Err(accept::FORBIDDEN);
        }
        let Some(received) = receives.expire(&mut host.shared) else { return Err(self.not_ready()) };
        if let Some(key) = invalidated {
            let valid = host.memory.invalidate(key);
            debug_assert_eq!(valid, Ok(()));
        }
        self.ledger.received.push_back(received);
        Ok(())
    }
}

impl Responder {
    /// A responder that has received nothing.
    ///
    /// # Errors
    /// If a value of the set-up is out of range.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        setup.check()?;
        let engine = new_engine!(setup);
        let receives = Receives::new(setup.shared_receives);
        let ledger = Ledger { msn: Serial::new(0), receives, received: VecDeque::new() };
        Ok(Self { setup: setup.clone(), ledger, engine, counters: Counters::default() })
    }

    /// Posts a Receive WQE.
    ///
    /// # Errors
    /// If the queue pair takes them from the shared queue.
    pub fn post_receive(&mut self, request: ReceiveRequest) -> Result<(), PostError> {
        self.ledger.receives.post(request).then_some(()).ok_or(PostError::Shared)
    }

    /// Something arrived.
    ///
    /// # Errors
    /// If it is not for this end or makes no sense; then nothing has changed. A request that is refused is no
    /// error here.
    pub fn on_packet(&mut self, now: Time, host: &mut Host, bytes: &[u8]) -> Result<(), Ignored> {
        let packet = open(&self.setup, self.setup.responder_qp, bytes)?;
        engine!(self.ledger, now, |engine, context| engine.on_packet(context, host, &packet))
    }

    /// Writes the next packet to `out`; false: nothing to send until something arrives or the timer fires.
    pub fn poll_transmit(&mut self, now: Time, memory: &Memory, out: &mut Vec<u8>) -> bool {
        engine!(self.ledger, now, |engine, context| engine.poll_transmit(context, memory, out))
    }

    /// When [`Responder::on_timer`] must be called: IRN's responder sees to its own answers. RoCE's never.
    pub fn timer(&self) -> Option<Time> {
        match &self.engine {
            Engine::Irn(engine) => engine.timer(&self.setup),
            Engine::Roce(_) => None,
        }
    }

    /// The time that [`Responder::timer`] named has come. Calls before it do nothing.
    pub fn on_timer(&mut self, now: Time) {
        let context =
            &mut Context { setup: &self.setup, ledger: &mut self.ledger, counters: &mut self.counters, now };
        if let Engine::Irn(engine) = &mut self.engine {
            engine.on_timer(context);
        }
    }

    /// The next message that expired a Receive WQE, in order.
    pub fn poll_received(&mut self) -> Option<Received> {
        self.ledger.received.pop_front()
    }

    /// Messages all of whose packets, and all packets before them, have arrived: MSN.
    pub fn messages(&self) -> Serial {
        self.ledger.msn
    }

    /// The next request packet expected.
    pub fn expected(&self) -> Psn {
        match &self.engine {
            Engine::Irn(engine) => engine.expected(),
            Engine::Roce(engine) => engine.expected(),
        }
    }

    /// Bits that the NIC keeps about packets out of order, whatever they carried. 0 for RoCE: it drops them.
    pub fn reorder_bits(&self) -> u32 {
        match &self.engine {
            Engine::Irn(engine) => engine.reorder_bits(),
            Engine::Roce(_) => 0,
        }
    }

    /// Whether every answer sent has been acknowledged (IRN), or sent (RoCE).
    pub fn is_idle(&self) -> bool {
        match &self.engine {
            Engine::Irn(engine) => engine.is_idle(),
            Engine::Roce(engine) => engine.is_idle(),
        }
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
