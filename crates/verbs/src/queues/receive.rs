//! Receive WQEs: a queue pair's own, or allotted from the queue that it shares; and the CQEs made for them early.

use crate::memory::Buffer;
use crate::wire::Serial;
use std::collections::VecDeque;

/// A Receive WQE: where the next Send's data may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiveRequest {
    /// Comes back with what arrives.
    pub id: u64,
    /// The sink.
    pub sink: Buffer,
}

/// A Receive WQE has expired: the responder's application is notified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// The Receive WQE's.
    pub id: u64,
    /// What expired it.
    pub what: Arrived,
    /// Payload bytes of the message.
    pub bytes: u32,
}

/// What a message brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrived {
    /// A Send.
    Send,
    /// A Send with immediate data.
    SendImmediate(u32),
    /// A Send; this key is not valid any more.
    SendInvalidate(u32),
    /// A Write with immediate data; the sink was not used.
    WriteImmediate(u32),
}

impl Arrived {
    /// The key that it invalidates.
    pub(crate) fn invalidated(self) -> Option<u32> {
        match self {
            Self::SendInvalidate(key) => Some(key),
            _ => None,
        }
    }
}

/// Receive WQEs that several queue pairs take from, in the order in which their Sends need them.
#[derive(Clone, Debug, Default)]
pub struct SharedReceives {
    waiting: VecDeque<ReceiveRequest>,
    dequeued: u64,
}

impl SharedReceives {
    /// Posts one.
    pub fn post(&mut self, request: ReceiveRequest) {
        self.waiting.push_back(request);
    }
    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
    /// None waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
    /// How many queue pairs have taken so far.
    pub fn dequeued(&self) -> u64 {
        self.dequeued
    }
}

/// A CQE made when the message's last packet arrived, kept in host memory until everything before it has arrived too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Premature {
    pub what: Arrived,
    pub bytes: u32,
}

/// Of one queue pair.
#[derive(Clone, Debug)]
pub struct Receives {
    /// recv_WQE_SN of the first outstanding one: so many have expired.
    first: Serial,
    /// Outstanding ones, by recv_WQE_SN.
    outstanding: VecDeque<ReceiveRequest>,
    /// CQEs made early, by recv_WQE_SN.
    premature: VecDeque<Option<Premature>>,
    /// They come from the shared queue.
    shared: bool,
}

impl Receives {
    pub fn new(shared: bool) -> Self {
        Self { first: Serial::new(0), outstanding: VecDeque::new(), premature: VecDeque::new(), shared }
    }

    /// Posts one to the queue pair's own queue; false if it takes from the shared one.
    pub fn post(&mut self, request: ReceiveRequest) -> bool {
        if !self.shared {
            self.outstanding.push_back(request);
        }
        !self.shared
    }

    /// How far ahead of the first outstanding one a recv_WQE_SN is; `None`: it has expired.
    pub fn ahead(&self, sn: Serial) -> Option<usize> {
        usize::try_from(sn.minus(self.first)).ok()
    }

    /// The Receive WQE with this number. From the shared queue, takes until that number is allotted (§4.4.4);
    /// not one if they would not suffice, so that other queue pairs are not starved by a request that waits
    /// anyway (CHOICE).
    pub fn find(&mut self, sn: Serial, queue: &mut SharedReceives) -> Option<ReceiveRequest> {
        let ahead = self.ahead(sn)?;
        let missing = (ahead + 1).saturating_sub(self.outstanding.len());
        if self.shared && missing <= queue.waiting.len() {
            queue.dequeued += missing as u64;
            self.outstanding.extend(queue.waiting.drain(..missing));
        }
        self.outstanding.get(ahead).copied()
    }

    /// Keeps a CQE until its turn; false if there is one with this number.
    pub fn keep(&mut self, sn: Serial, cqe: Premature) -> bool {
        let Some(ahead) = self.ahead(sn) else { return false };
        if self.premature.len() <= ahead {
            self.premature.resize(ahead + 1, None);
        }
        let free = self.premature[ahead].is_none();
        if free {
            self.premature[ahead] = Some(cqe);
        }
        free
    }

    /// Whether a CQE with this number is being kept.
    pub fn keeps(&self, sn: Serial) -> bool {
        self.ahead(sn).is_some_and(|ahead| self.premature.get(ahead).is_some_and(Option::is_some))
    }

    /// The CQE whose turn it is.
    pub fn next(&self) -> Option<Premature> {
        self.premature.front().copied().flatten()
    }

    /// The first outstanding Receive WQE expires with its CQE. `None`, and nothing happens, if there is no
    /// CQE, or no Receive WQE (a Write with immediate data takes one from the shared queue only now).
    pub fn expire(&mut self, queue: &mut SharedReceives) -> Option<Received> {
        let Premature { what, bytes } = self.next()?;
        let ReceiveRequest { id, .. } = self.find(self.first, queue)?;
        self.outstanding.pop_front();
        self.premature.pop_front();
        self.first = self.first.plus(1);
        Some(Received { id, what, bytes })
    }

    /// Forgets the CQE whose turn it is: its packet counts as not arrived.
    pub fn forget(&mut self) {
        if let Some(front) = self.premature.front_mut() {
            *front = None;
        }
    }

    /// Receive WQEs that a Send could use; `None`: not counted, they are shared.
    pub fn credits(&self) -> Option<u32> {
        (!self.shared).then_some(self.outstanding.len() as u32)
    }
}
