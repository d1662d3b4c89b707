//! What an agent keeps of each flow, in slots: a packet's flow is looked up once, by hashing its number.

use crate::schedule::FlowTable;
use serde::{Deserialize, Serialize};
use thalweg_units::FlowId;

/// A value for each flow. A flow has one slot from [`FlowSlots::insert`] to [`FlowSlots::remove`]; slots of flows that
/// have gone are used again, the latest first, so that there are as many as flows at most were here at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FlowSlots<T> {
    table: FlowTable,
    slots: Vec<Option<(FlowId, T)>>,
    vacant: Vec<u32>,
}

impl<T> FlowSlots<T> {
    /// No flow.
    pub fn new() -> Self {
        Self { table: FlowTable::default(), slots: Vec::new(), vacant: Vec::new() }
    }

    /// No flow is here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.slots.len() == self.vacant.len()
    }

    /// The slot of a flow that is here.
    #[inline]
    pub fn slot(&self, flow: FlowId) -> Option<u32> {
        self.table.get(flow)
    }

    /// The flow in a slot, and its value.
    #[inline]
    pub fn at(&mut self, slot: u32) -> Option<(FlowId, &mut T)> {
        let (flow, value) = self.slots.get_mut(slot as usize)?.as_mut()?;
        Some((*flow, value))
    }

    /// The value of a flow.
    #[inline]
    pub fn get(&self, flow: FlowId) -> Option<&T> {
        let slot = self.slot(flow)?;
        self.slots.get(slot as usize)?.as_ref().map(|(_, value)| value)
    }

    /// The value of a flow, to be changed.
    #[inline]
    pub fn get_mut(&mut self, flow: FlowId) -> Option<&mut T> {
        let slot = self.slot(flow)?;
        self.at(slot).map(|(_, value)| value)
    }

    /// A flow that is not here comes. Returns its slot.
    pub fn insert(&mut self, flow: FlowId, value: T) -> u32 {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.table.insert(flow, slot);
        self.slots[slot as usize] = Some((flow, value));
        slot
    }

    /// A flow goes, if it is here. Returns its slot and its value.
    pub fn remove(&mut self, flow: FlowId) -> Option<(u32, T)> {
        let slot = self.slot(flow)?;
        let (_, value) = self.slots.get_mut(slot as usize)?.take()?;
        self.table.remove(flow);
        self.vacant.push(slot);
        Some((slot, value))
    }

    /// All flows, in the order of their slots, which says nothing of them: work that depends on an order sorts them.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, &T)> {
        self.slots.iter().flatten().map(|(flow, value)| (*flow, value))
    }

    /// All flows, to be changed; in the same order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (FlowId, &mut T)> {
        self.slots.iter_mut().flatten().map(|(flow, value)| (*flow, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use thalweg_units::Stream;

    #[test]
    fn it_is_a_map_with_as_many_slots_as_flows_were_here_at_once() {
        let (mut flows, mut model) = (FlowSlots::new(), BTreeMap::new());
        let (mut draw, mut most) = (Stream::new(1, "flows", 0), 0);
        for step in 0..5000_u64 {
            let flow = FlowId(draw.below(40) as u32);
            match flows.slot(flow) {
                Some(slot) if draw.below(2) == 0 => {
                    assert_eq!(flows.remove(flow), Some((slot, model.remove(&flow).unwrap())));
                    assert!(flows.at(slot).is_none() && flows.remove(flow).is_none());
                }
                Some(slot) => {
                    *flows.get_mut(flow).unwrap() = step;
                    model.insert(flow, step);
                    assert_eq!(flows.at(slot), Some((flow, &mut step.clone())));
                }
                None => {
                    let slot = flows.insert(flow, step);
                    model.insert(flow, step);
                    assert_eq!(flows.slot(flow), Some(slot));
                }
            }
            most = most.max(model.len());
            let mut all: Vec<(FlowId, u64)> = flows.iter().map(|(flow, value)| (flow, *value)).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(model.iter().map(|(flow, value)| (*flow, *value))));
            assert_eq!((flows.is_empty(), flows.get(flow)), (model.is_empty(), model.get(&flow)));
            assert_eq!(flows.slots.len(), most);
        }
    }
}
