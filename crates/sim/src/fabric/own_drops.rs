//! Drops at the NICs of their own senders, where senders are notified of every drop.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::{PortId, Span, Time};

/// By NIC: when the last notice is due.
// CHOICE BFC §3.6.2.1 (notices come from switches; what a host's own NIC drops is not in it): one after the other, each
// when the link could have sent the packet, as the queue takes one more. Other reading: at once, and then all that was
// dropped is offered to a full queue again, one of it finds room, and the rest is dropped once more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OwnDrops(BTreeMap<PortId, Time>);

impl OwnDrops {
    /// In how long the sender is notified of a packet, which takes `span` on the link.
    pub fn way(&mut self, nic: PortId, now: Time, span: Span) -> Span {
        let due = self.0.entry(nic).or_default();
        *due = now.max(*due) + span;
        *due - now
    }
}
