//! When ports decide: at events, or at the end of an instant ([`super::deciders`]).

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::fabric::deciders::comes_first;
use crate::fabric::on_demand::Tx;
use thalweg_units::{PortId, Time};

impl Fabric {
    /// Ensures that a port with waiting packets, which has caught up, will decide: at the end of this instant if it
    /// is idle, at an event if it is busy and eager; otherwise an arrival of what it sends will make it catch up.
    #[inline(always)]
    pub(super) fn request_tx<const LAST: bool>(&mut self, cx: &mut Cx, id: PortId) {
        let port = &mut self.ports[id.at()];
        if port.state.tx_pending || port.waiting.packets == 0 {
            return;
        }
        let at = port.free_at;
        if at <= cx.now {
            if LAST && self.deciders.first().is_none() && comes_first(cx, id) {
                // Packets never join the queue of a NIC that pulls.
                let done = self.tx(cx, id);
                debug_assert_eq!(done, Tx::Done);
                return;
            }
            self.decide_at(cx, id, at);
        } else if port.state.eager | port.flight.is_empty() {
            // An empty wire: the port sends a release of a relief, whose arrival has no event that would make it
            // catch up.
            self.decide_at(cx, id, at);
        }
    }

    /// A port decides at `at`: at an event, or, if that is not later than now, at the end of this instant.
    #[inline(always)]
    pub(crate) fn decide_at(&mut self, cx: &mut Cx, id: PortId, at: Time) {
        self.ports[id.at()].state.tx_pending = true;
        if at <= cx.now {
            self.deciders.insert(cx, id);
        } else {
            cx.schedule(at, Phase::Decide, id.0);
        }
    }

    /// Takes the next port that decides at this instant, unless another event precedes it.
    #[inline(always)]
    pub(crate) fn next_tx(&mut self, cx: &Cx) -> Option<PortId> {
        self.deciders.next(cx)
    }
}
