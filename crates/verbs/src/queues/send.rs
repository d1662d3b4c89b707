//! The send queue: Request WQEs in posting order, their numbers, what holds them back, and their completions.

use super::{Completion, Fence, Operation, PostError, Request, SendWith, Status};
use crate::memory::{Access, Memory};
use crate::setup::Setup;
use crate::wire::{Dialect, Serial};
use std::collections::VecDeque;
use thalweg_machines::transport::rdma::Psn;

/// Packets of one message at most: serial numbers must stay comparable.
const LONGEST: u32 = 1 << 21;
/// Packets posted and not released at most.
const FULL: i32 = 1 << 22;

/// A Request WQE with its numbers.
#[derive(Clone, Debug)]
pub struct Entry {
    pub request: Request,
    /// What must be over before it begins: at least what the application declared.
    fence: Fence,
    /// How many messages were posted before: it is done at MSN `number` + 1.
    pub number: Serial,
    /// Its request packets' numbers: from `first` on, `packets` of them. RoCE numbers a Read's responses so.
    pub first: Psn,
    pub packets: u32,
    /// recv_WQE_SN, if it takes a Receive WQE; otherwise that of the next that will.
    pub recv_sn: Serial,
    /// read_WQE_SN, if it is a Read or an Atomic; otherwise that of the next that will be.
    pub read_sn: Serial,
    /// Its response packets' numbers.
    pub first_response: Psn,
    pub responses: u32,
}

impl Entry {
    fn end(&self) -> Psn {
        self.first.plus(self.packets)
    }
    fn end_of_responses(&self) -> Psn {
        self.first_response.plus(self.responses)
    }
}

#[derive(Clone, Debug)]
pub struct SendQueue {
    dialect: Dialect,
    mtu: u32,
    read_slots: u32,
    entries: VecDeque<Entry>,
    /// Of these, how many the application has got completions for.
    delivered: usize,
    /// Keys that Sends among them invalidate, with those Sends' numbers; some that are over may be left.
    invalidated: VecDeque<(u32, Serial)>,
    /// The numbers of the next request to be posted.
    next: Entry,
    /// Messages that the responder has got, and all before them.
    msn: Serial,
    /// Reads and Atomics whose answers have arrived, and all before them.
    reads_done: Serial,
    /// Receive WQEs are known to be posted up to this recv_WQE_SN, exclusive; `None`: not counted.
    credit: Option<Serial>,
    /// The request that failed the queue pair.
    failed: Option<(Serial, Status)>,
}

impl SendQueue {
    pub fn new(setup: &Setup) -> Self {
        let zero = Serial::new(0);
        let nothing = crate::memory::Buffer { key: 0, address: 0, length: 0 };
        let operation = Operation::Send { from: nothing, with: SendWith::Nothing };
        Self {
            dialect: setup.dialect,
            mtu: setup.mtu,
            read_slots: setup.read_slots,
            entries: VecDeque::new(),
            delivered: 0,
            invalidated: VecDeque::new(),
            next: Entry {
                request: Request { id: 0, operation, fence: Fence::None },
                fence: Fence::None,
                number: zero,
                first: setup.first_request,
                packets: 0,
                recv_sn: zero,
                read_sn: zero,
                first_response: setup.first_response,
                responses: 0,
            },
            msn: zero,
            reads_done: zero,
            credit: (!setup.shared_receives).then(|| Serial::new(setup.initial_credits)),
            failed: None,
        }
    }

    pub fn post(&mut self, memory: &Memory, request: Request) -> Result<(), PostError> {
        if self.failed.is_some() {
            return Err(PostError::Failed);
        }
        let operation = request.operation;
        let buffer = operation.buffer();
        memory.check(buffer, Access::Local).map_err(PostError::Local)?;
        let atomic = matches!(operation, Operation::CompareSwap { .. } | Operation::FetchAdd { .. });
        if atomic && buffer.length != 8 {
            return Err(PostError::AtomicBuffer(buffer.length));
        }
        let whole = if atomic { 1 } else { buffer.length.div_ceil(self.mtu).max(1) };
        if whole > LONGEST {
            return Err(PostError::TooLong);
        }
        let responses = if operation.has_response() { whole } else { 0 };
        // A Read request is one packet; RoCE lets it take the numbers of its responses as well.
        let packets = if responses > 0 && self.dialect == Dialect::Irn { 1 } else { whole };
        let oldest = self.entries.front().unwrap_or(&self.next);
        let room = |from: Psn, to: Psn, n: u32| to.minus(from) + (n as i32) < FULL;
        if !room(oldest.first, self.next.first, packets)
            || !room(oldest.first_response, self.next.first_response, responses)
        {
            return Err(PostError::Full);
        }
        let fence = self.fence(&request);
        if let Operation::Send { with: SendWith::Invalidate(key), .. } = operation {
            self.invalidated.push_back((key, self.next.number));
        }
        let mut entry = Entry { request, fence, packets, responses, ..self.next.clone() };
        self.next.number = entry.number.plus(1);
        self.next.first = entry.end();
        self.next.recv_sn = entry.recv_sn.plus(u32::from(operation.takes_receive()));
        self.next.read_sn = entry.read_sn.plus(u32::from(operation.has_response()));
        if self.dialect == Dialect::Roce {
            entry.first_response = entry.first;
            self.next.first_response = self.next.first;
        } else {
            self.next.first_response = entry.end_of_responses();
        }
        self.entries.push_back(entry);
        Ok(())
    }

    /// What must be over before this request, the next to be posted, begins.
    ///
    /// ```text
    /// CHOICE IRN §4.4.3: "Send-with-Invalidate is fenced behind earlier Writes" on top of Reads and Atomics, which a
    /// fence always waits for. Other reading: behind Writes alone; then a Read's answer could lose its memory.
    /// CHOICE IRN §4.4.3 (not stated): a request with a key that an earlier Send invalidates waits for that Send.
    /// InfiniBand executes both in order, so the request is refused; placed at once, as IRN's are, a Write that
    /// overtakes the Send would land. Other reading: every request waits, which costs a round trip for each such Send.
    /// ```
    fn fence(&mut self, request: &Request) -> Fence {
        let over = |(_, number): &(u32, Serial)| self.msn.minus(*number) > 0;
        while self.invalidated.front().is_some_and(over) {
            self.invalidated.pop_front();
        }
        let is_invalidated = |key: u32| self.invalidated.iter().any(|(invalidated, _)| *invalidated == key);
        match request.operation {
            Operation::Send { with: SendWith::Invalidate(_), .. } => Fence::All,
            // RoCE's responder takes packets in order.
            operation
                if self.dialect == Dialect::Irn && operation.remote_key().is_some_and(is_invalidated) =>
            {
                Fence::All
            }
            _ => request.fence,
        }
    }

    /// The request that the packet belongs to.
    pub fn find(&self, psn: Psn) -> Option<&Entry> {
        let at = self.entries.partition_point(|entry| entry.end().minus(psn) <= 0);
        self.entries.get(at).filter(|entry| psn.minus(entry.first) >= 0)
    }

    /// The Read or Atomic that the response belongs to.
    pub fn find_response(&self, psn: Psn) -> Option<&Entry> {
        let at = self.entries.partition_point(|entry| entry.end_of_responses().minus(psn) <= 0);
        self.entries.get(at).filter(|entry| psn.minus(entry.first_response) >= 0)
    }

    /// Whether a packet that was never sent may be sent now: fences, the Read WQE buffer, credits.
    pub fn may_send(&self, psn: Psn) -> bool {
        let Some(entry) = self.find(psn) else { return false };
        let operation = entry.request.operation;
        let reads_over = || self.reads_done.minus(entry.read_sn) >= 0;
        let fence = match entry.fence {
            Fence::None => true,
            Fence::Reads => reads_over(),
            Fence::All => reads_over() && self.msn.minus(entry.number) >= 0,
        };
        let slot = !operation.has_response() || entry.read_sn.minus(self.reads_done) < self.read_slots as i32;
        // Without credit, one probe: the first packet of a Send, or a whole Write with immediate data.
        let credit = !operation.takes_receive()
            || self.credit.is_none_or(|limit| {
                let beyond = entry.recv_sn.minus(limit);
                let probe = matches!(operation, Operation::Write { .. }) || psn == entry.first;
                beyond < 0 || (beyond == 0 && probe)
            });
        fence && slot && credit && self.failed.is_none()
    }

    /// The responder has got so many messages; `credits`: it has so many Receive WQEs besides those that these took.
    /// False if it cannot have: the acknowledgement is not one.
    pub fn on_msn(&mut self, msn: Serial, credits: Option<u32>) -> bool {
        let possible = self.on_credits(msn, credits);
        if possible && msn.minus(self.msn) > 0 {
            self.msn = msn;
        }
        possible
    }

    /// The same without the messages: from the answer to a Read or an Atomic.
    pub fn on_credits(&mut self, msn: Serial, credits: Option<u32>) -> bool {
        let oldest = self.entries.front().unwrap_or(&self.next).number;
        if msn.minus(oldest) >= 0 {
            let promised = credits.map(|more| self.at_number(msn).recv_sn.plus(more));
            if let (Some(limit), Some(promised)) = (&mut self.credit, promised)
                && promised.minus(*limit) > 0
            {
                *limit = promised;
            }
        }
        msn.minus(self.next.number) <= 0
    }

    /// Every request packet before `una` has arrived: what RoCE derives MSN from.
    pub fn on_acknowledged(&mut self, una: Psn) {
        while self.msn != self.next.number && una.minus(self.at_number(self.msn).end()) >= 0 {
            self.msn = self.msn.plus(1);
        }
    }

    /// Every response before `expected` has arrived.
    pub fn on_responses(&mut self, expected: Psn) {
        let at = self.entries.partition_point(|entry| entry.end_of_responses().minus(expected) <= 0);
        self.reads_done = self.entries.get(at).unwrap_or(&self.next).read_sn;
    }

    /// Forgets requests that the application knows to be over and of which no packet can be sent again.
    pub fn release(&mut self, una: Psn) {
        while self.delivered > 0 && self.entries.front().is_some_and(|entry| una.minus(entry.end()) >= 0) {
            self.entries.pop_front();
            self.delivered -= 1;
        }
    }

    /// The next completion, in posting order.
    pub fn completion(&mut self) -> Option<Completion> {
        let entry = self.entries.get(self.delivered)?;
        let (id, bytes) = (entry.request.id, entry.request.operation.buffer().length);
        let done = if entry.request.operation.has_response() {
            self.reads_done.minus(entry.read_sn) > 0
        } else {
            self.msn.minus(entry.number) > 0
        };
        let status = match self.failed {
            _ if done => Status::Success,
            Some((number, status)) if number == entry.number => status,
            Some((number, _)) if entry.number.minus(number) > 0 => Status::Flushed,
            _ => return None,
        };
        self.delivered += 1;
        Some(Completion { id, status, bytes: if status == Status::Success { bytes } else { 0 } })
    }

    /// The request with this packet fails, and with it the queue pair.
    pub fn fail(&mut self, number: Serial, status: Status) {
        self.failed.get_or_insert((number, status));
    }

    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Everything posted is over, and the application knows.
    pub fn is_idle(&self) -> bool {
        self.delivered == self.entries.len()
    }

    /// The request before which so many were posted.
    fn at_number(&self, number: Serial) -> &Entry {
        let oldest = self.entries.front().unwrap_or(&self.next).number;
        self.entries.get(number.minus(oldest).max(0) as usize).unwrap_or(&self.next)
    }
}
