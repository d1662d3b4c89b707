//! The queues of a port: lists in one memory.

use crate::pause::QueueSet;
use crate::schedule::Entry;
use serde::{Deserialize, Serialize};

/// No place.
pub(super) const NIL: u32 = u32::MAX;

/// A packet that waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Node {
    pub entry: Entry,
    pub rank: i64,
    /// The entry of the flow table that counts it, or [`NIL`].
    pub cell: u32,
    /// The one behind it, or the next free place.
    pub next: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Fifo {
    pub bytes: u64,
    /// DRR's.
    pub deficit: u64,
    pub head: u32,
    tail: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fifos {
    pub all: Vec<Fifo>,
    pub nodes: Vec<Node>,
    free: u32,
    pub occupied: QueueSet,
}

impl Fifos {
    pub fn new(queues: u16) -> Self {
        let empty = Fifo { bytes: 0, deficit: 0, head: NIL, tail: NIL };
        let all = vec![empty; usize::from(queues)];
        Self { all, nodes: Vec::new(), free: NIL, occupied: QueueSet::default() }
    }

    /// The first packet of a queue that holds any.
    #[inline]
    pub fn first(&self, queue: u16) -> &Node {
        &self.nodes[self.all[usize::from(queue)].head as usize]
    }

    /// All that wait, queue by queue.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        let first = |queue: u16| self.nodes.get(self.all[usize::from(queue)].head as usize);
        let behind = |node: &&Node| self.nodes.get(node.next as usize);
        self.occupied.iter().flat_map(move |queue| std::iter::successors(first(queue), behind))
    }

    #[inline]
    pub fn append(&mut self, queue: u16, node: Node) {
        let at = if self.free == NIL {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = std::mem::replace(&mut self.nodes[at as usize], node).next;
            at
        };
        let fifo = &mut self.all[usize::from(queue)];
        match fifo.tail {
            NIL => fifo.head = at,
            tail => self.nodes[tail as usize].next = at,
        }
        fifo.tail = at;
        fifo.bytes += u64::from(node.entry.wire);
        self.occupied.set(queue, true);
    }

    /// The first of a queue that holds any leaves.
    #[inline]
    pub fn take(&mut self, queue: u16) -> Node {
        let fifo = &mut self.all[usize::from(queue)];
        let at = fifo.head;
        let place = &mut self.nodes[at as usize];
        let node = *place;
        place.next = self.free;
        self.free = at;
        fifo.head = node.next;
        fifo.bytes -= u64::from(node.entry.wire);
        if node.next == NIL {
            fifo.tail = NIL;
            fifo.deficit = 0;
            self.occupied.set(queue, false);
        }
        node
    }
}
