//! The links of packets in orders.

use std::fmt::Debug;

/// No place.
pub const NONE: u32 = u32::MAX;

/// A key by which packets are sorted, the smallest first: with 64 bits if all keys of a policy fit, else with 128.
pub trait Key: Copy + Ord + Debug {
    /// The key of a packet in no order.
    const ZERO: Self;
    /// The distance above `least`, which is not greater and fits the type.
    fn above(self, least: i128) -> usize;
}

impl Key for i64 {
    const ZERO: Self = 0;
    #[inline]
    fn above(self, least: i128) -> usize {
        (self - least as Self) as usize
    }
}

impl Key for i128 {
    const ZERO: Self = 0;
    #[inline]
    fn above(self, least: i128) -> usize {
        (self - least) as usize
    }
}

/// A packet's links in one order: the neighbours in a list, or in a tree.
#[derive(Clone, Copy, Debug)]
pub struct Node<K> {
    /// The key, the smallest first.
    pub key: K,
    /// Its arrival number, which breaks ties.
    pub seq: u64,
    /// The one before, or the left subtree.
    pub before: u32,
    /// The one after, or the right subtree.
    pub after: u32,
    /// The other end of its group of equal packets, or the parent node.
    pub above: u32,
    /// The height of its subtree.
    pub height: u32,
}

impl<K: Key> Node<K> {
    /// In no order yet.
    pub const FREE: Self = Self { key: K::ZERO, seq: 0, before: NONE, after: NONE, above: NONE, height: 0 };
}
