//! The interface between an engine and a library with a controller, in C: a table of functions, and what they are
//! given.
//!
//! A library exports `const struct thalweg_table *thalweg_plugin(void)` ([`SYMBOL`]). The table lives as long as the
//! library does. [`VERSION`] is raised when anything here changes its meaning; a later minor change only appends
//! functions to the table, which `size` shows. Times are picoseconds, sizes bytes of payload, rates bit/s. A `u64` that
//! is absent is [`NONE`]. Functions that return a number return 0, or anything else with a reason written into the
//! [`Sink`]: the run then ends. No function may unwind. Of one controller, calls never overlap; several run in several
//! threads.

use std::ffi::c_void;

/// The version of this interface.
pub const VERSION: u32 = 1;
/// What a library exports.
pub const SYMBOL: &[u8] = b"thalweg_plugin\0";
/// There is no such value.
pub const NONE: u64 = u64::MAX;

/// The controller wants its packets marked (ECN): in [`Table::wants`].
pub const ECN: u32 = 1;
/// It wants the telemetry of switches.
pub const TELEMETRY: u32 = 2;

/// In [`Ack::flags`]: a loss is being repaired.
pub const IN_RECOVERY: u32 = 1;
/// The application had written nothing more.
pub const APP_LIMITED: u32 = 2;
/// The permit was used up.
pub const CWND_LIMITED: u32 = 4;
/// There is a delivery rate sample.
pub const DELIVERY: u32 = 8;
/// Its segment was sent more than once.
pub const RESENT: u32 = 16;
/// Its segment was sent when the application held the flow back.
pub const HELD_BACK: u32 = 32;

/// Bytes that the caller owns, valid during the call; UTF-8 where it is text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The first of them; may be null if there are none.
    pub at: *const u8,
    /// How many.
    pub len: usize,
}

/// Where a function writes a text or a state to, in as many pieces as it likes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    /// Given back to `write`.
    pub to: *mut c_void,
    /// Takes so many bytes.
    pub write: unsafe extern "C" fn(to: *mut c_void, at: *const u8, len: usize),
}

/// What a controller is given as its flow starts.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// For a generator of the flow's own: runs with the same seed have the same.
    pub seed: u64,
    /// Initial window.
    pub initial_window: u64,
    /// Largest window; [`NONE`]: any.
    pub max_window: u64,
    /// Initial slow-start threshold; [`NONE`]: none.
    pub initial_threshold: u64,
    /// Of the sender's link.
    pub line_rate: u64,
    /// Round-trip time of the empty path.
    pub base_rtt_ps: u64,
    /// Gaps of a pace are cut down to multiples of this; 0: exact.
    pub time_quantum_ps: u64,
    /// The flow's number.
    pub flow: u32,
    /// Its traffic class.
    pub class: u32,
    /// Payload of a full segment.
    pub mss: u32,
    /// Headers on the wire of each.
    pub header: u32,
    /// Switches on the path.
    pub switches: u32,
    /// Zero.
    pub reserved: u32,
}

/// What a port of a switch wrote as a packet left it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Hop {
    /// When.
    pub at_ps: u64,
    /// Sent by the port so far.
    pub tx_bytes: u64,
    /// Waiting there.
    pub queue: u64,
    /// Of its link.
    pub rate: u64,
}

/// What the network wrote into a packet.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// The hops, in their order; null without telemetry.
    pub hops: *const Hop,
    /// How many.
    pub len: usize,
    /// Which path: the same as long as these are the same ports.
    pub path: u32,
    /// 1: the packet met congestion (CE).
    pub mark: u32,
}

/// Data was acknowledged.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When.
    pub now_ps: u64,
    /// A fresh round trip; [`NONE`] for what was sent again.
    pub rtt_ps: u64,
    /// Acknowledged for the first time by the cumulative field.
    pub acked: u64,
    /// Acknowledged for the first time selectively.
    pub sacked: u64,
    /// In the network after this ACK.
    pub in_flight: u64,
    /// Cumulatively acknowledged so far.
    pub acked_to: u64,
    /// First byte never sent so far.
    pub sent_to: u64,
    /// Of what is acknowledged: reported as marked.
    pub marked: u64,
    /// Of what is acknowledged: with a brake signal that is no mark.
    pub braked: u64,
    /// Arrived since the newest segment acknowledged here was sent. This and the next five with [`DELIVERY`].
    pub delivered: u64,
    /// Between the departures of the same segments.
    pub departures_ps: u64,
    /// Between their ACKs.
    pub arrivals_ps: u64,
    /// When the newest segment was sent.
    pub sent_ps: u64,
    /// Arrived since the flow began.
    pub total: u64,
    /// Found lost meanwhile.
    pub lost: u64,
    /// What the network wrote.
    pub feedback: Feedback,
    /// [`IN_RECOVERY`] and the others.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// Packets were declared lost, or the retransmission timer expired.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When.
    pub now_ps: u64,
    /// Sent and not cumulatively acknowledged.
    pub in_flight: u64,
    /// Cumulatively acknowledged so far.
    pub acked_to: u64,
    /// First byte never sent so far.
    pub sent_to: u64,
}

/// What a controller allows.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Permit {
    /// That may be in the network.
    pub window: u64,
    /// On the wire; [`NONE`]: as the window allows.
    pub pace: u64,
    /// When `on_tick` is wanted; [`NONE`]: never. Never in the past.
    pub wake_ps: u64,
}

/// Takes one quantity of a report: `present` is 0 if it has no value yet.
pub type Add =
    unsafe extern "C" fn(to: *mut c_void, name: Text, unit: Text, doc: Text, value: f64, present: u32);

/// A callback about something that was passed in `T`.
pub type Callback<T> = Option<unsafe extern "C" fn(state: *mut c_void, it: *const T, error: Sink) -> u32>;

/// A controller: who it is, and its functions. Those that may be null say so.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// [`VERSION`].
    pub version: u32,
    /// Bytes of this table, as the library knows it.
    pub size: u32,
    /// [`ECN`], [`TELEMETRY`].
    pub wants: u32,
    /// Zero.
    pub reserved: u32,
    /// What scenarios call it.
    pub name: Text,
    /// The names under `params` as a list in JSON; empty: `make` alone decides.
    pub params: Text,
    /// One flow's, from what the scenario wrote under `params` (JSON; empty: nothing). Null with a reason: refused.
    pub make: Option<unsafe extern "C" fn(start: *const Start, params: Text, error: Sink) -> *mut c_void>,
    /// From what `save` wrote.
    pub load: Option<unsafe extern "C" fn(saved: Text, error: Sink) -> *mut c_void>,
    /// Everything that it knows.
    pub save: Option<unsafe extern "C" fn(state: *const c_void, out: Sink)>,
    /// One with the same future.
    pub copy: Option<unsafe extern "C" fn(state: *const c_void) -> *mut c_void>,
    /// The flow has ended.
    pub free: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// What is allowed now; read after each callback.
    pub permit: Option<unsafe extern "C" fn(state: *const c_void, permit: *mut Permit)>,
    /// Data was acknowledged.
    pub on_ack: Callback<Ack>,
    /// A loss was inferred: once per episode.
    pub on_loss: Callback<Loss>,
    /// The retransmission timer expired.
    pub on_timeout: Callback<Loss>,
    /// The instant of `wake_ps` has come. Null: it has no use for it.
    pub on_tick: Option<unsafe extern "C" fn(state: *mut c_void, now_ps: u64, error: Sink) -> u32>,
    /// So much was sent. May be null.
    pub on_sent: Option<
        unsafe extern "C" fn(state: *mut c_void, now_ps: u64, bytes: u64, in_flight: u64, error: Sink) -> u32,
    >,
    /// The answer to the SYN has come, with its round trip or [`NONE`]. May be null.
    pub on_open: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            now_ps: u64,
            rtt_ps: u64,
            it: *const Feedback,
            error: Sink,
        ) -> u32,
    >,
    /// A congestion notification has come. May be null.
    pub on_notification: Option<unsafe extern "C" fn(state: *mut c_void, now_ps: u64, error: Sink) -> u32>,
    /// Data comes after so long a silence. May be null.
    pub on_restart:
        Option<unsafe extern "C" fn(state: *mut c_void, now_ps: u64, idle_ps: u64, error: Sink) -> u32>,
    /// The window is at most this after a pause (RFC 5681 §4.1); `keeps`: and the threshold what it was. May be null.
    pub restart_from: Option<
        unsafe extern "C" fn(state: *mut c_void, now_ps: u64, window: u64, keeps: u32, error: Sink) -> u32,
    >,
    /// Slow-start threshold, for traces. May be null.
    pub threshold: Option<unsafe extern "C" fn(state: *const c_void) -> u64>,
    /// What else it knows, for time series. May be null.
    pub report: Option<unsafe extern "C" fn(state: *const c_void, to: *mut c_void, add: Add)>,
    /// What went wrong, on this thread, in a function that has no number to return: `save`, `copy`, `permit`,
    /// `threshold`, `report`. Called after each of them; 0: nothing did. May be null.
    pub failed: Option<unsafe extern "C" fn(error: Sink) -> u32>,
}

impl Text {
    /// Bytes that outlive the call.
    pub fn of(bytes: &[u8]) -> Self {
        Self { at: bytes.as_ptr(), len: bytes.len() }
    }

    /// The bytes.
    ///
    /// # Safety
    /// They are there for as long as `'a`.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.at.is_null() || self.len == 0 {
            return &[];
        }
        // SAFETY: the caller says so.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl Sink {
    /// One that appends to a vector, which must outlive it.
    pub fn into_vec(out: &mut Vec<u8>) -> Self {
        unsafe extern "C" fn write(to: *mut c_void, at: *const u8, len: usize) {
            // SAFETY: `to` is the vector below, which the call borrows, and the bytes are the callee's.
            unsafe { (*to.cast::<Vec<u8>>()).extend_from_slice(Text { at, len }.bytes()) }
        }
        Self { to: std::ptr::from_mut(out).cast(), write }
    }

    /// Writes all of it.
    ///
    /// # Safety
    /// It is of a call that has not returned.
    pub unsafe fn put(self, bytes: &[u8]) {
        // SAFETY: the caller says so.
        unsafe { (self.write)(self.to, bytes.as_ptr(), bytes.len()) }
    }
}
