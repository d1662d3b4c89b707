//! A connection of the kernel with its controller, and its summary.

use super::adapter::{Adapter, HEADER, segment};
use super::records::{Kind, Record};
use crate::{Make, Sender};
use thalweg_machines::Invalid;
use thalweg_machines::congestion::Permit;
use thalweg_machines::congestion::decisions::Log;
use thalweg_units::Span;

/// The summary of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Its number, counted since the datapath was loaded.
    pub connection: u32,
    /// Payload bytes acknowledged.
    pub acked: u64,
    /// Seconds from its first record to its last.
    pub seconds: f64,
    /// Segments declared lost; they are retransmitted.
    pub lost: u32,
    /// Segments retransmitted.
    pub resent: u32,
    /// Segments acknowledged with a mark: exact if the other end echoes exactly.
    pub marked: u32,
    /// True if both ends use ECN, so that marks are possible.
    pub ecn: bool,
    /// The kernel's smoothed round trip at the end, in seconds.
    pub rtt: f64,
    /// Records of the connection.
    pub records: u64,
    /// Of these, records while the kernel did not follow decisions.
    pub unfollowed: u64,
    /// Number of changes of its permit.
    pub decisions: u64,
    /// The last permit.
    pub permit: Permit,
    /// The kernel's window at the last record, in segments.
    pub cwnd: u32,
    /// True if it is closed.
    pub closed: bool,
}

/// A connection with its controller.
pub(super) struct Connection<M: Make> {
    adapter: Adapter<M::Controller>,
    opened: Record,
    last: Record,
    records: u64,
    unfollowed: u64,
    decisions: u64,
    permit: Permit,
}

impl<M: Make> Connection<M> {
    /// Opens a connection with its first record.
    pub(super) fn open(make: &M, sender: &Sender, opened: Record) -> Result<Self, Invalid> {
        let rtt = Span::from_us(u64::from(opened.srtt_us));
        let mut start = sender.start(opened.connection, segment(&opened), HEADER, rtt);
        // The kernel's initial window, which the user may have set (`initcwnd` of a route).
        start.initial_window =
            thalweg_units::Bytes::new(u64::from(opened.cwnd) * u64::from(segment(&opened)));
        let mut needs = make.needs();
        if sender.records {
            needs.calls = needs.calls.and_sent();
        }
        let adapter = Adapter::open(make.make(&start)?, &needs, &opened);
        let permit = adapter.permit();
        Ok(Self { adapter, opened, last: opened, records: 1, unfollowed: 0, decisions: 1, permit })
    }

    pub(super) fn adapter(&self) -> &Adapter<M::Controller> {
        &self.adapter
    }

    pub(super) fn take_log(&mut self) -> Option<Log> {
        self.adapter.take_log()
    }

    pub(super) fn on_record(&mut self, record: &Record) {
        self.records += 1;
        self.unfollowed += u64::from(record.is_fallback());
        self.last = *record;
        self.adapter.on_record(record);
        self.note();
    }

    pub(super) fn on_tick(&mut self, now_ns: u64) {
        self.adapter.on_tick(now_ns);
        self.note();
    }

    fn note(&mut self) {
        let permit = self.adapter.permit();
        self.decisions += u64::from(permit != self.permit);
        self.permit = permit;
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            connection: self.opened.connection,
            acked: self.adapter.acked_to(),
            seconds: self.last.time_ns.saturating_sub(self.opened.time_ns) as f64 / 1e9,
            lost: self.last.lost.wrapping_sub(self.opened.lost),
            resent: self.last.resent.wrapping_sub(self.opened.resent),
            marked: self.last.delivered_ce.wrapping_sub(self.opened.delivered_ce),
            ecn: self.opened.is_ecn(),
            rtt: f64::from(self.last.srtt_us) / 1e6,
            records: self.records,
            unfollowed: self.unfollowed,
            decisions: self.decisions,
            permit: self.permit,
            cwnd: self.last.cwnd,
            closed: self.last.kind == Kind::Close,
        }
    }
}
