//! Counts of operations, for measurements.

/// Counts operations on orders of packets. `()` counts none and costs nothing.
pub trait Tally {
    /// A packet was put into an order.
    #[inline]
    fn note_insert(&mut self) {}
    /// A packet was taken out of an order.
    #[inline]
    fn note_delete(&mut self) {}
    /// The victim of a queue was looked up.
    #[inline]
    fn note_victim(&mut self) {}
    /// The head of a queue was looked up.
    #[inline]
    fn note_lookup(&mut self) {}
    /// Two packets, or two keys, were compared.
    #[inline]
    fn note_comparison(&mut self) {}
    /// A packet changed its place because its remaining processing changed.
    #[inline]
    fn note_rekey(&mut self) {}
}

impl Tally for () {}

/// Counts of all operations. Rebuilt orders are not counted, because none is rebuilt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets put into orders.
    pub inserts: u64,
    /// Packets taken out of orders.
    pub deletes: u64,
    /// Victims looked up.
    pub victims: u64,
    /// Heads looked up.
    pub lookups: u64,
    /// Comparisons.
    pub comparisons: u64,
    /// Changes of place.
    pub rekeys: u64,
}

impl Tally for Counts {
    fn note_insert(&mut self) {
        self.inserts += 1;
    }
    fn note_delete(&mut self) {
        self.deletes += 1;
    }
    fn note_victim(&mut self) {
        self.victims += 1;
    }
    fn note_lookup(&mut self) {
        self.lookups += 1;
    }
    fn note_comparison(&mut self) {
        self.comparisons += 1;
    }
    fn note_rekey(&mut self) {
        self.rekeys += 1;
    }
}
