//! The FIFOs of one port as linked lists in one arena with recycled slots: no allocation once the port has seen its
//! peak.

use serde::{Deserialize, Serialize};

/// No place.
pub(in crate::schedule) const NIL: u32 = u32::MAX;

/// Something that waits, and names the place of the one behind it: of the same FIFO, or of the free places.
pub(in crate::schedule) trait Linked: Copy {
    fn next(&self) -> u32;
    fn set_next(&mut self, next: u32);
}

/// A FIFO: where its oldest and its newest are. The newest means nothing in an empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::schedule) struct Line {
    pub(in crate::schedule) head: u32,
    pub(in crate::schedule) tail: u32,
}

impl Line {
    pub(in crate::schedule) const EMPTY: Self = Self { head: NIL, tail: NIL };

    #[inline]
    pub(in crate::schedule) fn is_empty(&self) -> bool {
        self.head == NIL
    }
}

/// The memory of several FIFOs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct Memory<N> {
    nodes: Vec<N>,
    free: u32,
}

impl<N: Linked> Memory<N> {
    pub(in crate::schedule) fn new() -> Self {
        Self { nodes: Vec::new(), free: NIL }
    }

    /// There is no place left.
    #[inline]
    pub(in crate::schedule) fn is_full(&self) -> bool {
        self.free == NIL && self.nodes.len() >= NIL as usize
    }

    #[inline]
    pub(in crate::schedule) fn get(&self, at: u32) -> &N {
        &self.nodes[at as usize]
    }

    /// All of one FIFO, the oldest first.
    pub(in crate::schedule) fn iter(&self, line: Line) -> impl Iterator<Item = &N> {
        let behind = |node: &&N| self.nodes.get(node.next() as usize);
        std::iter::successors(self.nodes.get(line.head as usize), behind)
    }

    /// A node that is the last of its FIFO.
    #[inline]
    pub(in crate::schedule) fn append(&mut self, line: &mut Line, node: N) {
        debug_assert_eq!(node.next(), NIL);
        let at = if self.free == NIL {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = std::mem::replace(&mut self.nodes[at as usize], node).next();
            at
        };
        match line.head {
            NIL => line.head = at,
            _ => self.nodes[line.tail as usize].set_next(at),
        }
        line.tail = at;
    }

    /// The oldest of a FIFO that is not empty leaves.
    #[inline]
    pub(in crate::schedule) fn take(&mut self, line: &mut Line) -> N {
        let node = self.recycle(line.head);
        line.head = node.next();
        node
    }

    /// The newest of a FIFO that is not empty leaves: a walk along all of it.
    pub(in crate::schedule) fn take_newest(&mut self, line: &mut Line) -> N {
        let newest = line.tail;
        if line.head == newest {
            line.head = NIL;
        } else {
            let mut before = line.head;
            while self.get(before).next() != newest {
                before = self.get(before).next();
            }
            self.nodes[before as usize].set_next(NIL);
            line.tail = before;
        }
        self.recycle(newest)
    }

    #[inline]
    fn recycle(&mut self, at: u32) -> N {
        let place = &mut self.nodes[at as usize];
        let node = *place;
        place.set_next(self.free);
        self.free = at;
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Copy)]
    struct Number {
        value: usize,
        next: u32,
    }
    impl Linked for Number {
        fn next(&self) -> u32 {
            self.next
        }
        fn set_next(&mut self, next: u32) {
            self.next = next;
        }
    }

    proptest! {
        /// Three FIFOs in one memory are three queues, and no more places are taken than were ever needed at once.
        #[test]
        fn they_are_queues_and_places_are_used_again(story in prop::collection::vec((0usize..3, 0u8..5), 1..200)) {
            let mut memory = Memory::new();
            let (mut lines, mut queues) = ([Line::EMPTY; 3], [const { VecDeque::new() }; 3]);
            let mut most = 0;
            for (value, (which, what)) in story.into_iter().enumerate() {
                let (line, queue) = (&mut lines[which], &mut queues[which]);
                match what {
                    0 | 1 => {
                        memory.append(line, Number { value, next: NIL });
                        queue.push_back(value);
                    }
                    _ if line.is_empty() => {}
                    2 | 3 => prop_assert_eq!(Some(memory.take(line).value), queue.pop_front()),
                    _ => prop_assert_eq!(Some(memory.take_newest(line).value), queue.pop_back()),
                }
                for (line, queue) in lines.iter().zip(&queues) {
                    prop_assert_eq!(&memory.iter(*line).map(|n| n.value).collect::<VecDeque<_>>(), queue);
                    prop_assert_eq!(line.is_empty(), queue.is_empty());
                }
                most = most.max(queues.iter().map(VecDeque::len).sum());
                prop_assert_eq!(memory.nodes.len(), most);
            }
        }
    }
}
