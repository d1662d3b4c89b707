//! What an application requests of the requester, and what it is notified of in the end.

use crate::memory::{AccessError, Buffer, Remote};

/// A Request WQE's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Comes back with the completion.
    pub id: u64,
    /// What to do.
    pub operation: Operation,
    /// What must be over before it begins.
    pub fence: Fence,
}

/// One of the verbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Data into the other side's memory; with immediate data, its application is notified, at the cost of a
    /// Receive WQE.
    Write {
        /// The data.
        from: Buffer,
        /// Where it goes.
        to: Remote,
        /// Immediate data.
        immediate: Option<u32>,
    },
    /// Data out of the other side's memory.
    Read {
        /// Where it goes, and how much.
        into: Buffer,
        /// Where it is.
        from: Remote,
    },
    /// Data into the buffer of the next Receive WQE.
    Send {
        /// The data.
        from: Buffer,
        /// What goes with it.
        with: SendWith,
    },
    /// Writes `swap` if it finds `compare`: 8 bytes, little-endian, at a multiple of 8.
    CompareSwap {
        /// Where.
        at: Remote,
        /// What must be there.
        compare: u64,
        /// What replaces it.
        swap: u64,
        /// Receives the original value, little-endian: 8 bytes.
        into: Buffer,
    },
    /// Adds, modulo 2⁶⁴.
    FetchAdd {
        /// Where.
        at: Remote,
        /// What to add.
        add: u64,
        /// Receives the original value, little-endian: 8 bytes.
        into: Buffer,
    },
}

/// What goes with a Send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendWith {
    /// Nothing.
    Nothing,
    /// Immediate data.
    Immediate(u32),
    /// Invalidates this key of the responder's. Waits for everything posted before (§4.4.3); a later request with
    /// the same key waits for this one.
    Invalidate(u32),
}

/// What must be over before a request's first packet is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fence {
    /// Nothing.
    #[default]
    None,
    /// All Reads and Atomics posted before: InfiniBand's fence.
    Reads,
    /// Everything posted before. Keeps a Write from being overwritten by an earlier one that is sent again (§4.4.3).
    All,
}

/// A Request WQE has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The request's.
    pub id: u64,
    /// How it ended.
    pub status: Status,
    /// Payload bytes moved, if it succeeded.
    pub bytes: u32,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// As requested.
    Success,
    /// The responder refused it: no such memory, or without this right.
    RemoteAccess,
    /// The responder refused it: it makes no sense there.
    RemoteInvalidRequest,
    /// The responder failed.
    RemoteOperational,
    /// The responder had no Receive WQE for it, more often than [`crate::Retry::rnr_retry`] allows.
    RnrRetryExceeded,
    /// The own memory was no longer there.
    LocalAccess,
    /// An earlier request of the queue pair failed.
    Flushed,
}

/// A request that cannot be posted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PostError {
    /// The queue pair has failed.
    Failed,
    /// Too many packets are posted and not completed.
    Full,
    /// The message takes more packets than a queue pair can number: 2²¹.
    TooLong,
    /// The own buffer.
    Local(AccessError),
    /// The buffer for an Atomic's original value must have 8 bytes.
    AtomicBuffer(u32),
    /// The queue pair takes its Receive WQEs from the shared queue.
    Shared,
}

impl std::fmt::Display for PostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed => f.write_str("the queue pair has failed"),
            Self::Full => f.write_str("the send queue is full"),
            Self::TooLong => f.write_str("the message has more than 2^21 packets"),
            Self::Local(why) => write!(f, "own buffer: {why}"),
            Self::AtomicBuffer(n) => write!(f, "an Atomic's buffer has 8 bytes, not {n}"),
            Self::Shared => {
                f.write_str("this queue pair takes Receive WQEs from the shared queue: post them there")
            }
        }
    }
}
impl std::error::Error for PostError {}

impl Operation {
    /// The own memory that it reads or writes.
    pub fn buffer(&self) -> Buffer {
        match *self {
            Self::Write { from, .. } | Self::Send { from, .. } => from,
            Self::Read { into, .. } | Self::CompareSwap { into, .. } | Self::FetchAdd { into, .. } => into,
        }
    }
    /// The key of the other side's memory that it reads or writes.
    pub fn remote_key(&self) -> Option<u32> {
        match *self {
            Self::Send { .. } => None,
            Self::Write { to: at, .. } | Self::Read { from: at, .. } => Some(at.key),
            Self::CompareSwap { at, .. } | Self::FetchAdd { at, .. } => Some(at.key),
        }
    }
    /// It consumes a Receive WQE.
    pub fn takes_receive(&self) -> bool {
        matches!(self, Self::Send { .. } | Self::Write { immediate: Some(_), .. })
    }
    /// A Read or an Atomic: it is over when its answer has arrived.
    pub fn has_response(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::CompareSwap { .. } | Self::FetchAdd { .. })
    }
}
