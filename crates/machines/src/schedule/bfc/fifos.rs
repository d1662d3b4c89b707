//! The queues of a port: lists in one memory.

use crate::schedule::Entry;
use crate::schedule::structures::linked::{Line, Linked, Memory};
use serde::{Deserialize, Serialize};
use thalweg_wire::QueueSet;

pub(super) use crate::schedule::structures::linked::NIL;

/// A packet that waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Node {
    pub entry: Entry,
    pub rank: i64,
    /// The entry of the flow table that counts it, or [`NIL`].
    pub cell: u32,
    pub next: u32,
}

impl Linked for Node {
    #[inline]
    fn next(&self) -> u32 {
        self.next
    }
    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Fifo {
    pub bytes: u64,
    /// DRR's.
    pub deficit: u64,
    pub line: Line,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fifos {
    pub all: Vec<Fifo>,
    pub memory: Memory<Node>,
    pub occupied: QueueSet,
}

impl Fifos {
    pub fn new(queues: u16) -> Self {
        let empty = Fifo { bytes: 0, deficit: 0, line: Line::EMPTY };
        let all = vec![empty; usize::from(queues)];
        Self { all, memory: Memory::new(), occupied: QueueSet::default() }
    }

    /// There is no place left.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.memory.is_full()
    }

    /// The first packet of a queue that holds any.
    #[inline]
    pub fn first(&self, queue: u16) -> &Node {
        self.memory.get(self.all[usize::from(queue)].line.head)
    }

    /// All that wait, queue by queue.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        self.occupied.iter().flat_map(|queue| self.memory.iter(self.all[usize::from(queue)].line))
    }

    #[inline]
    pub fn append(&mut self, queue: u16, node: Node) {
        let fifo = &mut self.all[usize::from(queue)];
        self.memory.append(&mut fifo.line, node);
        fifo.bytes += u64::from(node.entry.wire);
        self.occupied.set(queue, true);
    }

    /// The first of a queue that holds any leaves.
    #[inline]
    pub fn take(&mut self, queue: u16) -> Node {
        let fifo = &mut self.all[usize::from(queue)];
        let node = self.memory.take(&mut fifo.line);
        fifo.bytes -= u64::from(node.entry.wire);
        if fifo.line.is_empty() {
            fifo.deficit = 0;
            self.occupied.set(queue, false);
        }
        node
    }
}
