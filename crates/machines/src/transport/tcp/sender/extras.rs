//! State that only few flows need: an application that writes at its own pace, or as a viewer requests; a second loop
//! over the same buffer, whose deliveries this one skips (RC3, [`super::super::super::rc3`]); and, until the SYN-ACK
//! arrives, what the controller was made from.
//!
//! Data that the other loop delivers is no evidence of losses, makes no room in the window and restarts no timer: only
//! ACKs of this loop's own data do. It enters the scoreboard when such an ACK arrives, and when something is to be
//! repaired.

use super::super::super::{SynLoss, TcpSpec};
use super::super::Scoreboard;
use super::super::video::Viewer;
use super::TcpSender;
use crate::congestion::Start;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Extras {
    writer: Option<Writer>,
    /// What requests that it writes, if a viewer does.
    viewer: Option<Viewer>,
    /// What the receiver has, whichever loop sent it; `None`: there is no second loop.
    delivered: Option<Delivered>,
    /// From this the controller is made anew if the SYN is lost; kept until the SYN-ACK arrives.
    opening: Option<Box<Start>>,
}

/// An application that writes at its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Writer {
    /// Bytes of all writes so far, before they are rounded up to whole segments.
    bytes: u64,
    /// End of the data written so far.
    written: u64,
    /// The next write.
    next: Time,
    /// When the last segment left.
    sent: Time,
    /// Since when there has been nothing to send and nothing in the network; [`Time::MAX`]: there is.
    silent: Time,
}

/// What a second loop has delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Delivered {
    /// From the flow's first byte on.
    board: Scoreboard,
    /// Some of it below SND.NXT is not yet in the sender's own scoreboard.
    fresh: bool,
    /// The last ACK beyond SND.NXT; `u64::MAX`: none.
    bumped: u64,
}

impl Extras {
    /// Of a flow that starts.
    pub(super) fn new(spec: &TcpSpec, start: &Start) -> Option<Box<Self>> {
        let opens = spec.handshake && spec.options.syn_loss != SynLoss::Ignored;
        let opening = opens.then(|| Box::new(*start));
        (opens || spec.writes.is_some() || spec.options.video.is_some())
            .then(|| Box::new(Self { opening, ..Self::default() }))
    }

    /// A segment leaves.
    #[cold]
    pub(super) fn on_sent(&mut self, now: Time) {
        if let Some(writer) = &mut self.writer {
            (writer.sent, writer.silent) = (now, Time::MAX);
        }
    }

    /// There is a second loop over the same buffer.
    pub(super) fn harvests(&self) -> bool {
        self.delivered.is_some()
    }

    /// What is lost, of what the scoreboard declares lost.
    // CHOICE RC3 §2.3.1: duplicate ACKs alone begin an episode. In it a hole is lost if three segments above
    // it are SACKed, as in RFC 6675, but only below the recovery point: above it lies what this loop passed
    // over, which is no report of what it has just sent.
    pub(super) fn lost(&self, by_sack: u64, in_recovery: bool, recover: u64) -> u64 {
        if in_recovery { by_sack.min(recover) } else { 0 }
    }

    /// What this loop never sent and no other loop delivered: its first piece.
    pub(super) fn unsent(&self, sent_to: u64, size: u64) -> (u64, u64) {
        let written = self.writer.map_or(size, |w| w.written.min(size));
        match &self.delivered {
            None => (sent_to, written),
            Some(delivered) => {
                let whole = u32::MAX;
                let hole = delivered.board.next_hole(sent_to, written, written, whole);
                hole.map_or((written, written), |(seq, len)| (seq, seq + u64::from(len)))
            }
        }
    }
}

impl TcpSender {
    /// The connection is open: from what its controller was made, if that was kept.
    pub(super) fn take_opening(&mut self) -> Option<Box<Start>> {
        let opening = self.extras.as_mut().and_then(|extras| extras.opening.take());
        if self.extras.as_deref() == Some(&Extras::default()) {
            self.extras = None;
        }
        opening
    }

    /// Another loop over the same buffer delivers: what it brings is reported by [`TcpSender::is_delivered`].
    pub(crate) fn harvest(&mut self) {
        let delivered = Delivered { bumped: u64::MAX, ..Delivered::default() };
        self.extras.get_or_insert_default().delivered = Some(delivered);
    }

    /// An ACK reports that the receiver has these bytes.
    pub(crate) fn is_delivered(&mut self, from: u64, to: u64) {
        let to = to.min(self.space.size);
        if let Some(delivered) = self.extras.as_mut().and_then(|extras| extras.delivered.as_mut())
            && from < to
            && delivered.board.insert(from, to) > 0
        {
            delivered.fresh = true;
        }
    }

    /// The receiver has all there is.
    pub(crate) fn all_delivered(&self) -> bool {
        let delivered = self.extras.as_ref().and_then(|b| b.delivered.as_ref());
        delivered.is_some_and(|d| d.board.sacked() >= self.space.size)
    }

    /// What the receiver has in order, as ACKs of either loop report.
    pub(crate) fn in_order(&self) -> u64 {
        let delivered = self.extras.as_ref().and_then(|b| b.delivered.as_ref());
        let first = delivered.and_then(|d| d.board.ranges().next());
        first.filter(|r| r.0 == 0).map_or(self.space.una, |r| r.1.max(self.space.una))
    }

    /// First byte this loop never sent, or passed over.
    pub(crate) fn sent_to(&self) -> u64 {
        self.space.sent_to
    }

    /// Data may be sent.
    pub(crate) fn is_open(&self) -> bool {
        self.state.is_open()
    }

    /// End of the data that the application has written.
    pub(crate) fn written(&self) -> u64 {
        let writer = self.extras.as_ref().and_then(|b| b.writer);
        writer.map_or(self.space.size, |w| w.written.min(self.space.size))
    }

    /// An ACK of this loop's data states `cumulative`: beyond SND.NXT it is a bump (RC3 §2.3.1), data that
    /// others delivered is passed over. The last bump, if there is another loop at all; `u64::MAX`: none yet.
    #[inline]
    pub(super) fn take_in(&mut self, cumulative: u64) -> Option<u64> {
        let delivered = self.extras.as_mut()?.delivered.as_mut()?;
        let skips = cumulative > self.space.sent_to;
        if skips {
            delivered.bumped = cumulative;
        }
        let bumped = delivered.bumped;
        if skips {
            self.pass_over(cumulative);
        }
        self.merge();
        Some(bumped)
    }

    /// SND.NXT moves on over what others have delivered.
    #[cold]
    pub(super) fn pass_over(&mut self, to: u64) {
        let from = self.space.sent_to;
        self.scoreboard().insert(from, to);
        self.space.sent_to = to;
    }

    /// What others have delivered below SND.NXT comes into the scoreboard: it needs no repair.
    pub(super) fn merge(&mut self) {
        let (una, sent_to) = (self.space.una, self.space.sent_to);
        let Some(mut extras) = self.extras.take() else { return };
        if let Some(delivered) = extras.delivered.as_mut().filter(|d| d.fresh) {
            delivered.fresh = false;
            for (from, to) in delivered.board.ranges() {
                let (from, to) = (from.max(una), to.min(sent_to));
                if from < to {
                    self.scoreboard().insert(from, to);
                }
            }
        }
        self.extras = Some(extras);
    }

    /// The flow starts, and with it its application.
    pub(super) fn begin_writing(&mut self, spec: &TcpSpec, now: Time) {
        let mut writer = Writer { bytes: 0, written: 0, next: Time::MAX, sent: now, silent: Time::MAX };
        if let Some(video) = &spec.options.video {
            let mut viewer = Viewer::default();
            writer.add_chunk(viewer.request(video, now), spec.mss);
            self.extras.get_or_insert_default().viewer = Some(viewer);
        } else if let Some(writes) = spec.writes {
            writer.add(writes.first, spec.mss);
            writer.next = now.saturating_add(writes.every);
        } else {
            return;
        }
        self.extras.get_or_insert_default().writer = Some(writer);
    }

    /// The application writes what is due. If that ends a silence: how long it was, and how long nothing has left.
    #[inline]
    pub(super) fn write(&mut self, spec: &TcpSpec, now: Time) -> Option<(Span, Span)> {
        if let Some(Extras { writer: Some(writer), viewer, .. }) = self.extras.as_deref_mut() {
            let (before, silent, sent) = (writer.written, writer.silent, writer.sent);
            while writer.next <= now && writer.written < self.space.size {
                let due = std::mem::replace(&mut writer.next, Time::MAX);
                if let (Some(video), Some(viewer)) = (&spec.options.video, &mut *viewer) {
                    writer.add_chunk(viewer.request(video, due), spec.mss);
                } else if let Some(writes) = spec.writes {
                    writer.add(writes.chunk, spec.mss);
                    writer.next = due.saturating_add(writes.every);
                }
            }
            if writer.written > before && silent != Time::MAX {
                writer.silent = Time::MAX;
                return Some((now.since(silent), now.since(sent)));
            }
        }
        None
    }

    /// An ACK was processed: if it acknowledges all that the application has written, an idle period begins.
    #[cold]
    pub(super) fn note_silence(&mut self, spec: &TcpSpec, now: Time) {
        let (seq, end) = self.unsent();
        // Nothing to send and SND.UNA at the end of the data: an empty flight alone may mean that data is lost.
        let silent = seq >= end && self.space.una >= end;
        if silent && let Some(Extras { writer: Some(writer), viewer, .. }) = self.extras.as_deref_mut() {
            // The ACK ends the transfer of a chunk.
            if let (Some(video), Some(viewer), Time::MAX) = (&spec.options.video, viewer, writer.silent) {
                writer.next = viewer.on_chunk(video, now);
            }
            writer.silent = writer.silent.min(now);
        }
    }

    /// A chunk of the video ends here: its viewer has it, and its next request carries the ACK.
    #[cold]
    pub(super) fn ends_chunk(&self, end: u64) -> bool {
        self.extras.as_ref().and_then(|b| b.writer).is_some_and(|writer| writer.written == end)
    }

    /// When the application writes next; [`Time::MAX`]: never.
    #[inline]
    pub(super) fn next_write(&self) -> Time {
        let writer = self.extras.as_ref().and_then(|b| b.writer);
        writer.filter(|w| w.written < self.space.size).map_or(Time::MAX, |w| w.next)
    }
}

impl Writer {
    /// The application writes `bytes`.
    // CHOICE: what a write ends with is sent as a whole segment, so that all segments but the flow's last are full.
    fn add(&mut self, bytes: Bytes, mss: u32) {
        self.bytes = self.bytes.saturating_add(bytes.get());
        self.written = self.bytes.div_ceil(u64::from(mss)).saturating_mul(u64::from(mss));
    }

    /// The application writes a chunk; that of a viewer is at least one segment.
    fn add_chunk(&mut self, bytes: Bytes, mss: u32) {
        let least = self.written.saturating_add(u64::from(mss));
        self.add(bytes, mss);
        self.written = self.written.max(least);
    }
}
