//! Homa's parameters as data, and what follows from them.

use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Receiver-driven transport by grants. Classes are the transport's own: grants and ACKs have class 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomaSpec {
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Header bytes of every data packet on the wire.
    pub header: u32,
    /// Wire size of grants, requests to send again and ACKs.
    pub control: u32,
    /// RTTbytes, in payload bytes: how much of a message is sent unscheduled, and how much of it the receiver keeps
    /// granted but not received.
    pub rtt_bytes: u64,
    /// Priority levels, 0 the highest.
    pub levels: u8,
    /// Levels of unscheduled packets: level i is for messages of at most `cutoffs[i]` bytes, the level after the last
    /// cutoff for larger ones.
    pub cutoffs: Vec<u64>,
    /// Degree of overcommitment: number of messages that a receiver grants to at once.
    pub overcommitment: u32,
    /// A receiver that has received nothing of a message for this time requests the missing data again.
    pub resend: Span,
}

impl HomaSpec {
    /// What is wrong with it.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let refuse = |key: &'static str, why: &'static str| Err(Invalid::new(why).of("Homa").at(key));
        if self.payload == 0 || self.payload.checked_add(self.header).is_none() || self.control == 0 {
            return refuse("payload", "a packet of no bytes, or of more than 4 GB");
        }
        if self.rtt_bytes == 0 {
            return refuse(
                "rtt_bytes",
                "without unscheduled bytes no destination is notified of a message; allowed: at least 1",
            );
        }
        if self.overcommitment == 0 {
            return refuse(
                "overcommitment",
                "overcommitment is 0: nothing is ever granted; allowed: at least 1",
            );
        }
        if self.cutoffs.len() >= usize::from(self.levels.max(1)) || !self.cutoffs.is_sorted() {
            return refuse("cutoffs", "cutoffs must rise, and be fewer than the levels");
        }
        if self.resend.is_zero() {
            return refuse("resend", "resend is 0; allowed: above");
        }
        Ok(())
    }

    /// Rounds `bytes` up to whole packets, limited to the message's size.
    pub(crate) fn whole(&self, bytes: u64, size: u64) -> u64 {
        bytes.next_multiple_of(u64::from(self.payload.max(1))).min(size)
    }

    /// Bytes of a message that are sent without a grant.
    pub(crate) fn unscheduled(&self, size: u64) -> u64 {
        self.whole(self.rtt_bytes, size)
    }

    /// The level of a message's unscheduled packets (§3.4): smaller messages, higher levels.
    pub(crate) fn unscheduled_level(&self, size: u64) -> u8 {
        self.cutoffs.partition_point(|cutoff| *cutoff < size) as u8
    }

    /// The level of scheduled packets of the message at `place` among the `active` ones that are granted to (§3.4): the
    /// lowest ones, so that a shorter message finds a higher one free.
    // CHOICE Homa §3.4: where all levels are for unscheduled packets, scheduled ones share the lowest.
    pub(crate) fn scheduled_level(&self, place: u32, active: u32) -> u8 {
        let unscheduled = self.cutoffs.len() as u32 + 1;
        let scheduled = u32::from(self.levels).saturating_sub(unscheduled).max(1);
        let used = active.clamp(1, scheduled);
        (u32::from(self.levels.max(1)) - used + place.min(used - 1)) as u8
    }
}
