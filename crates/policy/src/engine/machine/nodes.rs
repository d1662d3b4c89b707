//! Where packets wait: a slab, by place; and the links by which orders keep them.

use crate::engine::packet::Stored;
use thalweg_wire::Handle;

/// No place.
pub const NONE: u32 = u32::MAX;

/// A packet's place in one order: a list's neighbours, or a tree's.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What it is sorted by, the least first.
    pub key: i128,
    /// Its number in the order of arrival, by which ties go.
    pub seq: u64,
    /// The one before, or the left subtree.
    pub before: u32,
    /// The one after, or the right subtree.
    pub after: u32,
    /// The other end of its group of equals, or the node above.
    pub above: u32,
    /// The height of its subtree.
    pub height: u32,
}

impl Node {
    /// In no order yet.
    pub const FREE: Self = Self { key: 0, seq: 0, before: NONE, after: NONE, above: NONE, height: 0 };
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its fields.
    pub packet: Stored,
    /// Which.
    pub handle: Handle,
}

/// All packets of an engine. A place is used again once its packet has left.
#[derive(Clone, Debug, Default)]
pub struct Slab {
    slots: Vec<Slot>,
    free: Vec<u32>,
    links: Links,
}

/// Links of all places, by order. (The first is the only one where one structure serves both.)
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Of the order of processing.
    pub processing: Vec<Node>,
    /// Of the order of admission.
    pub admission: Vec<Node>,
}

impl Slab {
    /// A place for `slot`.
    #[inline]
    pub fn put(&mut self, slot: Slot) -> u32 {
        if let Some(at) = self.free.pop() {
            self.slots[at as usize] = slot;
            return at;
        }
        let at = self.slots.len() as u32;
        self.slots.push(slot);
        self.links.processing.push(Node::FREE);
        self.links.admission.push(Node::FREE);
        at
    }
    /// What is there leaves.
    #[inline]
    pub fn take(&mut self, at: u32) -> Slot {
        self.free.push(at);
        self.slots[at as usize]
    }
    /// Places where a packet waits.
    pub fn taken(&self) -> impl Iterator<Item = u32> {
        let mut taken = vec![true; self.slots.len()];
        self.free.iter().for_each(|at| taken[*at as usize] = false);
        (0..).zip(taken).filter_map(|(at, taken)| taken.then_some(at))
    }
    /// What is there.
    #[inline]
    pub fn at(&self, at: u32) -> &Slot {
        &self.slots[at as usize]
    }
    /// To change its fields.
    #[inline]
    pub fn packet_mut(&mut self, at: u32) -> &mut Stored {
        &mut self.slots[at as usize].packet
    }
    /// The links, next to the slots.
    #[inline]
    pub fn links_mut(&mut self) -> (&mut Links, &[Slot]) {
        (&mut self.links, &self.slots)
    }
    /// The links.
    #[inline]
    pub fn links(&self) -> &Links {
        &self.links
    }
}
