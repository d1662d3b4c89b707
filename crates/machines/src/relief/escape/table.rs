//! The flow table of a switch: where flows come in and go out.

use serde::{Deserialize, Serialize};

/// A flow's entry, which each of its packets looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    row: u32,
    input: u16,
    output: u16,
}

impl Place {
    /// No port has these numbers.
    const UNKNOWN: Self = Self { row: u32::MAX, input: u16::MAX, output: u16::MAX };
}

/// A flow that passes the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// fid.
    pub flow: u32,
    /// p^I.
    pub input: u16,
    /// p^E.
    pub output: u16,
}

/// Reservations of a flow by the hops that their packets are to escape from here on, which are the hops that
/// their tokens were sent with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lent(Vec<u32>);

impl Lent {
    /// Nothing is reserved.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// How many there are.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }
    /// One more.
    pub fn add(&mut self, hops: u16) {
        let at = usize::from(hops);
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] += 1;
    }
    /// One fewer, if there is one.
    pub fn take(&mut self, hops: u16) -> bool {
        let Some(count) = self.0.get_mut(usize::from(hops)).filter(|count| **count > 0) else { return false };
        *count -= 1;
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        true
    }
    /// All of them: hops, and how many.
    pub fn take_all(&mut self) -> impl Iterator<Item = (u16, u32)> + use<> {
        std::mem::take(&mut self.0).into_iter().enumerate().map(|(hops, count)| (hops as u16, count))
    }
}

/// The flows seen last, in a circle.
// CHOICE Escape §4.3.1: the paper keeps the last T_cap flows of each port, its FPGA 1024 in all; here so many
// of a switch, whatever the pools. A flow with a token under way keeps its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    rows: Vec<Known>,
    /// By row: reservations at p^E whose token went on, and whose packet has not come.
    lent: Vec<Lent>,
    room: usize,
    /// By fid: its row, and once more which way it goes.
    at: Vec<Place>,
    /// The row to be taken next.
    next: usize,
    /// The row after the one that was served last.
    pub turn: usize,
}

impl Table {
    /// An empty one.
    pub fn new(room: u32) -> Self {
        Self { rows: Vec::new(), lent: Vec::new(), room: room as usize, at: Vec::new(), next: 0, turn: 0 }
    }
    /// Number of flows in the table.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// All of them, in their places.
    pub fn rows(&self) -> &[Known] {
        &self.rows
    }
    /// Reservations, by place.
    pub fn lent(&mut self, at: usize) -> &mut Lent {
        &mut self.lent[at]
    }
    /// All of them, with their reservations.
    pub fn all(&self) -> impl Iterator<Item = (&Known, &Lent)> {
        self.rows.iter().zip(&self.lent)
    }
    /// Those that come by an input.
    pub fn from(&mut self, input: usize) -> impl Iterator<Item = (&Known, &mut Lent)> {
        self.rows.iter().zip(&mut self.lent).filter(move |(known, _)| usize::from(known.input) == input)
    }
    /// By fid.
    pub fn get(&mut self, flow: u32) -> Option<(Known, &mut Lent)> {
        let at = self.at.get(flow as usize)?.row as usize;
        Some((*self.rows.get(at)?, &mut self.lent[at]))
    }

    /// The flow is known, and goes this way.
    #[inline]
    pub fn has(&self, known: Known) -> bool {
        let at = self.at.get(known.flow as usize);
        at.is_some_and(|at| (at.input, at.output) == (known.input, known.output))
    }

    /// A packet of the flow passes.
    #[cold]
    pub fn learn(&mut self, known: Known) {
        if let Some((_, lent)) = self.get(known.flow) {
            if lent.is_empty() {
                let row = self.at[known.flow as usize].row;
                self.put(known, row);
            }
            return;
        }
        let flow = known.flow as usize;
        if self.at.len() <= flow {
            self.at.resize(flow + 1, Place::UNKNOWN);
        }
        if self.rows.len() < self.room {
            self.lent.push(Lent::default());
            self.rows.push(known);
            return self.put(known, self.rows.len() as u32 - 1);
        }
        for _ in 0..self.room {
            let row = self.next;
            self.next = (row + 1) % self.room;
            if self.lent[row].is_empty() {
                self.at[self.rows[row].flow as usize] = Place::UNKNOWN;
                return self.put(known, row as u32);
            }
        }
    }

    /// The flow has that row.
    fn put(&mut self, known: Known, row: u32) {
        let Known { flow, input, output } = known;
        self.rows[row as usize] = known;
        self.at[flow as usize] = Place { row, input, output };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flow_seen_first_makes_room_unless_a_token_of_it_is_under_way() {
        let mut table = Table::new(2);
        table.learn(Known { flow: 5, input: 0, output: 1 });
        table.learn(Known { flow: 9, input: 0, output: 2 });
        table.learn(Known { flow: 5, input: 0, output: 1 });
        table.get(5).unwrap().1.add(1);
        table.learn(Known { flow: 7, input: 3, output: 1 });
        assert_eq!(table.get(9), None);
        assert_eq!(table.get(7).map(|k| k.0.input), Some(3));
        assert_eq!(table.get(5).map(|k| k.0.output), Some(1));
        table.get(7).unwrap().1.add(3);
        table.learn(Known { flow: 8, input: 0, output: 0 });
        assert_eq!(table.get(8), None, "both are needed");
        assert_eq!(table.len(), 2);
        assert!(!table.get(7).unwrap().1.take(2) && table.get(7).unwrap().1.take(3));
        table.learn(Known { flow: 8, input: 0, output: 0 });
        assert_eq!(table.get(8).map(|k| k.0.input), Some(0));
        assert_eq!(table.get(7), None);
    }
}
