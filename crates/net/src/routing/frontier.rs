//! The switches that a search for shortest paths has reached and not yet looked at, nearest first.

use crate::spec::LinkSpec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_units::PortId;

/// Where all hops cost the same, switches are reached in the order of distance, and a line will do; else a heap.
pub(super) enum Frontier {
    Line { reached: Vec<u32>, head: usize },
    Heap(BinaryHeap<Reverse<(u32, u32)>>),
}

impl Frontier {
    pub fn new(weighted: bool) -> Self {
        if weighted { Self::Heap(BinaryHeap::new()) } else { Self::Line { reached: Vec::new(), head: 0 } }
    }

    pub fn clear(&mut self) {
        match self {
            Self::Line { reached, head } => {
                reached.clear();
                *head = 0;
            }
            Self::Heap(heap) => heap.clear(),
        }
    }

    /// A switch was reached, or reached by a shorter way.
    pub fn push(&mut self, switch: u32, distance: u32) {
        match self {
            Self::Line { reached, .. } => reached.push(switch),
            Self::Heap(heap) => heap.push(Reverse((distance, switch))),
        }
    }

    /// The nearest switch that was not looked at yet.
    pub fn pop(&mut self, distance: &[u32]) -> Option<u32> {
        match self {
            Self::Line { reached, head } => {
                *head += 1;
                reached.get(*head - 1).copied()
            }
            // One that was reached by a shorter way since is in the heap twice.
            Self::Heap(heap) => loop {
                let Reverse((of, switch)) = heap.pop()?;
                if of == distance[switch as usize] {
                    return Some(switch);
                }
            },
        }
    }

    /// What a hop by a port costs.
    pub fn metric(&self, links: &[LinkSpec], port: PortId) -> u32 {
        match self {
            Self::Line { .. } => 1,
            Self::Heap(_) => links[port.link().at()].metric,
        }
    }
}
