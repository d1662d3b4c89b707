//! From a flow to its place at one port: open addressing, sized by the flows that wait here now.

use serde::{Deserialize, Serialize};
use thalweg_units::FlowId;

const VACANT: u32 = u32::MAX;

/// Linear probing at a load of at most one half, multiplicative hashing (Knuth, TAOCP 3, §6.4), deletion by
/// shifting back (there, Algorithm R): no tombstones, so it never needs rebuilding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowTable {
    cells: Vec<(u32, u32)>, // flow, lane; a power of two of them
    used: usize,
}

impl FlowTable {
    #[inline(always)]
    fn home(&self, flow: u32) -> usize {
        let bits = self.cells.len().trailing_zeros();
        ((u64::from(flow.wrapping_mul(0x9e37_79b1)) << bits) >> 32) as usize
    }

    /// Where `flow` is, or where it would go.
    #[inline(always)]
    fn find(&self, flow: u32) -> usize {
        let mask = self.cells.len() - 1;
        let mut at = self.home(flow);
        while self.cells[at].1 != VACANT && self.cells[at].0 != flow {
            at = (at + 1) & mask;
        }
        at
    }

    /// The lane of `flow`.
    #[inline]
    pub(crate) fn get(&self, flow: FlowId) -> Option<u32> {
        if self.used == 0 {
            return None;
        }
        let (_, lane) = self.cells[self.find(flow.0)];
        (lane != VACANT).then_some(lane)
    }

    /// Remembers the lane of a flow that has none.
    #[inline]
    pub(crate) fn insert(&mut self, flow: FlowId, lane: u32) {
        if self.used * 2 >= self.cells.len() {
            self.grow();
        }
        let at = self.find(flow.0);
        debug_assert_eq!(self.cells[at].1, VACANT);
        self.cells[at] = (flow.0, lane);
        self.used += 1;
    }

    /// Forgets a flow that has a lane.
    #[inline]
    pub(crate) fn remove(&mut self, flow: FlowId) {
        let mask = self.cells.len() - 1;
        let mut hole = self.find(flow.0);
        debug_assert_ne!(self.cells[hole].1, VACANT);
        let mut next = hole;
        loop {
            next = (next + 1) & mask;
            let cell = self.cells[next];
            if cell.1 == VACANT {
                break;
            }
            // It may move back unless its home lies strictly between the hole and where it is.
            if next.wrapping_sub(self.home(cell.0)) & mask >= next.wrapping_sub(hole) & mask {
                self.cells[hole] = cell;
                hole = next;
            }
        }
        self.cells[hole].1 = VACANT;
        self.used -= 1;
    }

    #[cold]
    fn grow(&mut self) {
        let wider = (self.cells.len() * 2).max(8);
        let old = std::mem::replace(&mut self.cells, vec![(0, VACANT); wider]);
        for cell in old.into_iter().filter(|c| c.1 != VACANT) {
            let at = self.find(cell.0);
            self.cells[at] = cell;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use thalweg_units::Stream;

    #[test]
    fn it_agrees_with_a_map_through_thousands_of_arrivals_and_departures() {
        let (mut table, mut model) = (FlowTable::default(), BTreeMap::new());
        let mut draw = Stream::new(1, "table", 0);
        for step in 0..20_000 {
            let flow = FlowId(draw.below(if step < 10_000 { 40 } else { 1 << 32 }) as u32 % 100_000);
            match table.get(flow) {
                Some(_) => {
                    table.remove(flow);
                    model.remove(&flow);
                }
                None if model.len() < 30 => {
                    table.insert(flow, step);
                    model.insert(flow, step);
                }
                None => {
                    let (&oldest, _) = model.iter().next().unwrap();
                    table.remove(oldest);
                    model.remove(&oldest);
                }
            }
            assert!(model.iter().all(|(&f, &lane)| table.get(f) == Some(lane)));
            assert_eq!(table.used, model.len());
        }
        assert!(table.cells.len() <= 128, "sized by the flows present, not by those seen");
    }
}
