//! The links by which orders keep packets.

use std::fmt::Debug;

/// No place.
pub const NONE: u32 = u32::MAX;

/// What packets are sorted by, the least first: of 64 bits where all of a policy's keys fit, else of 128.
pub trait Key: Copy + Ord + Debug {
    /// That of what is in no order.
    const ZERO: Self;
    /// How far it is above `least`, which is not greater and of the same type.
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

/// A packet's place in one order: a list's neighbours, or a tree's.
#[derive(Clone, Copy, Debug)]
pub struct Node<K> {
    /// What it is sorted by, the least first.
    pub key: K,
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

impl<K: Key> Node<K> {
    /// In no order yet.
    pub const FREE: Self = Self { key: K::ZERO, seq: 0, before: NONE, after: NONE, above: NONE, height: 0 };
}
