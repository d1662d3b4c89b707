//! The idle ports that decide at the end of an instant, in the order of a draw.

use crate::cx::Cx;
use crate::events::{Draw, Event, Events, Phase, Tag};
use serde::{Deserialize, Serialize};
use thalweg_units::PortId;

/// Idle ports that decide at the end of this instant, in reverse order: the next one is the last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Deciders(Vec<PortId>);

impl Deciders {
    /// The port that is next to decide.
    pub fn first(&self) -> Option<PortId> {
        self.0.last().copied()
    }

    /// Lets an idle port decide at this instant, after everything else that happens now.
    #[inline(always)]
    pub fn insert(&mut self, cx: &Cx, id: PortId) {
        if self.0.is_empty() {
            return self.0.push(id);
        }
        self.insert_among(cx.events.ties().draw(cx.now, Phase::Decide), id);
    }

    /// Inserts a port among others that decide at this instant, in the order of their draw.
    #[inline(never)]
    fn insert_among(&mut self, draw: Draw, id: PortId) {
        let behind = self.0.iter().rposition(|other| draw.precedes(id.0, other.0)).map_or(0, |at| at + 1);
        self.0.insert(behind, id);
        debug_assert!(self.0.is_sorted_by(|a, b| draw.precedes(b.0, a.0)), "the first one last, each once");
    }

    #[inline(always)]
    pub fn next(&mut self, cx: &Cx) -> Option<PortId> {
        let id = self.first()?;
        if !comes_first(cx, id) {
            return None;
        }
        self.0.pop();
        Some(id)
    }
}

/// Whether the decision of a port precedes all pending events.
#[inline(always)]
pub(super) fn comes_first(cx: &Cx, id: PortId) -> bool {
    let tag = Tag::new(Phase::Decide, id.0);
    cx.events.next_is_after(cx.now, tag)
        && (!cx.features.partitioned || cx.boundary.comes_first(Event { at: cx.now, tag }, cx.events.ties()))
}
