//! Packets that are dropped by their own NIC, where senders are notified of every drop.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::{PortId, Span, Time};

/// By NIC: when the last notice is due.
// CHOICE BFC §3.6.2.1 (notices come from switches; drops by a host's own NIC are not covered): notices follow one
// another, each when the link could have sent the packet, as the queue then has space for one more. Other reading: all
// at once; then everything that was dropped is offered to a full queue again, one packet fits, and the rest is dropped
// once more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OwnDrops(BTreeMap<PortId, Time>);

impl OwnDrops {
    /// The delay until the sender is notified of a dropped packet that takes `span` on the link.
    pub fn notice_delay(&mut self, nic: PortId, now: Time, span: Span) -> Span {
        let due = self.0.entry(nic).or_default();
        *due = now.max(*due) + span;
        *due - now
    }
}
