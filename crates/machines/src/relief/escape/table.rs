//! The flow table of a switch: where flows come in and go out.

use serde::{Deserialize, Serialize};

const UNKNOWN: u32 = u32::MAX;

/// A flow that passes the switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// fid.
    pub flow: u32,
    /// p^I.
    pub input: usize,
    /// p^E.
    pub output: usize,
    /// Reservations at p^E whose token went on, and whose packet has not come.
    pub lent: Lent,
}

/// Reservations of a flow by the hops that their packets are to escape from here on, which are the hops that their tokens were sent with.
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
// CHOICE Escape §4.3.1: the paper keeps the last T_cap flows of each port, its FPGA 1024 in all; here so many of a switch, whatever the pools. A
// flow with a token under way keeps its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    rows: Vec<Known>,
    room: usize,
    /// By fid: its row.
    at: Vec<u32>,
    /// The row to be taken next.
    next: usize,
    /// The row after the one that was served last.
    pub turn: usize,
}

impl Table {
    /// An empty one.
    pub fn new(room: u32) -> Self {
        Self { rows: Vec::new(), room: room as usize, at: Vec::new(), next: 0, turn: 0 }
    }
    /// How many flows it knows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// All of them, in their places.
    pub fn rows(&self) -> &[Known] {
        &self.rows
    }
    /// By place.
    pub fn row(&mut self, at: usize) -> &mut Known {
        &mut self.rows[at]
    }
    /// Those that come by an input.
    pub fn from(&mut self, input: usize) -> impl Iterator<Item = &mut Known> {
        self.rows.iter_mut().filter(move |known| known.input == input)
    }
    /// By fid.
    pub fn get(&mut self, flow: u32) -> Option<&mut Known> {
        let at = *self.at.get(flow as usize)?;
        self.rows.get_mut(at as usize)
    }

    /// A packet of the flow passes.
    #[inline]
    pub fn learn(&mut self, flow: u32, input: usize, output: usize) {
        if let Some(known) = self.get(flow) {
            if (known.input, known.output) != (input, output) && known.lent.is_empty() {
                (known.input, known.output) = (input, output);
            }
            return;
        }
        self.insert(Known { flow, input, output, lent: Lent::default() });
    }

    #[cold]
    fn insert(&mut self, known: Known) {
        let flow = known.flow as usize;
        if self.at.len() <= flow {
            self.at.resize(flow + 1, UNKNOWN);
        }
        if self.rows.len() < self.room {
            self.at[flow] = self.rows.len() as u32;
            return self.rows.push(known);
        }
        for _ in 0..self.room {
            let place = self.next;
            self.next = (place + 1) % self.room;
            if self.rows[place].lent.is_empty() {
                self.at[self.rows[place].flow as usize] = UNKNOWN;
                self.at[flow] = place as u32;
                self.rows[place] = known;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flow_seen_first_makes_room_unless_a_token_of_it_is_under_way() {
        let mut table = Table::new(2);
        table.learn(5, 0, 1);
        table.learn(9, 0, 2);
        table.learn(5, 0, 1);
        table.get(5).unwrap().lent.add(1);
        table.learn(7, 3, 1);
        assert_eq!(table.get(9), None);
        assert_eq!(table.get(7).map(|k| k.input), Some(3));
        assert_eq!(table.get(5).map(|k| k.output), Some(1));
        table.get(7).unwrap().lent.add(3);
        table.learn(8, 0, 0);
        assert_eq!(table.get(8), None, "both are needed");
        assert_eq!(table.len(), 2);
        assert!(!table.get(7).unwrap().lent.take(2) && table.get(7).unwrap().lent.take(3));
        table.learn(8, 0, 0);
        assert_eq!(table.get(8).map(|k| k.input), Some(0));
        assert_eq!(table.get(7), None);
    }
}
