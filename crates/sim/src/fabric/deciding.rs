//! When ports decide: at events, or at the end of an instant in the order of a draw.

use crate::cx::Cx;
use crate::events::{Draw, Event, Events, Phase, Tag};
use crate::fabric::Fabric;
use crate::fabric::on_demand::Tx;
use thalweg_units::PortId;

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
            if LAST && self.tx_ready.is_empty() && self.comes_first(cx, id) {
                // Packets never join the queue of a NIC that pulls.
                let done = self.tx(cx, id);
                debug_assert_eq!(done, Tx::Done);
                return;
            }
            self.ports[id.at()].state.tx_pending = true;
            self.schedule_tx(cx, id);
        } else if port.state.eager | port.flight.is_empty() {
            // An empty wire: the port sends a release of a relief, whose arrival has no event that would make it
            // catch up.
            port.state.tx_pending = true;
            cx.schedule(at, Phase::Decide, id.0);
        }
    }

    /// Lets an idle port decide at this instant, after everything else that happens now.
    #[inline(always)]
    pub(crate) fn schedule_tx(&mut self, cx: &Cx, id: PortId) {
        if self.tx_ready.is_empty() {
            return self.tx_ready.push(id);
        }
        self.schedule_tx_among(cx.events.ties().draw(cx.now, Phase::Decide), id);
    }

    /// Inserts a port among others that decide at this instant, in the order of their draw.
    #[inline(never)]
    fn schedule_tx_among(&mut self, draw: Draw, id: PortId) {
        let behind =
            self.tx_ready.iter().rposition(|other| draw.precedes(id.0, other.0)).map_or(0, |at| at + 1);
        self.tx_ready.insert(behind, id);
        debug_assert!(
            self.tx_ready.is_sorted_by(|a, b| draw.precedes(b.0, a.0)),
            "the first one last, each once"
        );
    }

    /// Takes the next port that decides at this instant, unless another event precedes it.
    #[inline(always)]
    pub(crate) fn next_tx(&mut self, cx: &Cx) -> Option<PortId> {
        let id = *self.tx_ready.last()?;
        if !self.comes_first(cx, id) {
            return None;
        }
        self.tx_ready.pop();
        Some(id)
    }

    /// Whether the decision of that port precedes all pending events.
    #[inline(always)]
    fn comes_first(&self, cx: &Cx, id: PortId) -> bool {
        let tag = Tag::new(Phase::Decide, id.0);
        cx.events.next_is_after(cx.now, tag)
            && (!cx.features.partitioned
                || cx.boundary.comes_first(Event { at: cx.now, tag }, cx.events.ties()))
    }
}
