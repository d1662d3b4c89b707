//! What a priority queue costs in operations rather than in nanoseconds: comparisons of keys and moves of
//! entries per packet that leaves and packet that joins, at a steady length. A heap that sorts exactly,
//! against a queue of buckets that does not: in hardware each is a memory access (ups §5: p-heaps and bucket
//! sort).
//!
//! The bucket queue is a ring of first-come-first-served lists and a tree of 64-bit words above it, in which
//! a set bit says that something waits below: the least bucket is found with one find-first-set per level
//! (Saeed et al., "Eiffel: Efficient and Flexible Software Packet Scheduling", NSDI 2019, §3.1).

use std::collections::VecDeque;
use thalweg_units::Stream;

/// Packets: 10 to 100 000, and 10 MB, 100 MB and 500 MB of packets of 1460 B.
pub const LENGTHS: [u32; 8] = [10, 100, 1000, 6849, 10_000, 68_493, 100_000, 342_466];
/// Transmission time of a packet of 1460 B at 1 Gb/s, ps.
const PACKET: u64 = 11_680_000;

/// Operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Comparisons of two keys, or words searched for their first bit.
    pub comparisons: u64,
    /// Writes of an entry (key and packet), or of a word.
    pub moves: u64,
}

/// An entry: its key, and its number in order of arrival.
pub type Entry = (u64, u64);

/// A priority queue that counts what it does. Equal keys leave in order of arrival.
pub trait Counted {
    /// Joins.
    fn push(&mut self, entry: Entry);
    /// The least entry leaves.
    fn pop(&mut self) -> Option<Entry>;
    /// What has been done so far.
    fn counts(&self) -> Counts;
}

/// A heap in an array, of `ARITY` children each.
#[derive(Clone, Debug, Default)]
pub struct CountedHeap<const ARITY: usize> {
    entries: Vec<Entry>,
    counts: Counts,
}

impl<const ARITY: usize> CountedHeap<ARITY> {
    fn less(&mut self, a: Entry, b: Entry) -> bool {
        self.counts.comparisons += 1;
        a < b
    }
    fn put(&mut self, at: usize, entry: Entry) {
        self.counts.moves += 1;
        self.entries[at] = entry;
    }
}

impl<const ARITY: usize> Counted for CountedHeap<ARITY> {
    fn push(&mut self, entry: Entry) {
        let mut at = self.entries.len();
        self.entries.push(entry);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if !self.less(entry, self.entries[parent]) {
                break;
            }
            self.put(at, self.entries[parent]);
            at = parent;
        }
        self.put(at, entry);
    }
    fn pop(&mut self) -> Option<Entry> {
        let last = self.entries.pop()?;
        let Some(&least) = self.entries.first() else { return Some(last) };
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let mut child = first;
            for other in first + 1..(first + ARITY).min(self.entries.len()) {
                child = if self.less(self.entries[other], self.entries[child]) { other } else { child };
            }
            if child >= self.entries.len() || !self.less(self.entries[child], last) {
                break;
            }
            self.put(at, self.entries[child]);
            at = child;
        }
        self.put(at, last);
        Some(least)
    }
    fn counts(&self) -> Counts {
        self.counts
    }
}

/// Lists for as many buckets in a row as a power of 64, and the tree above them.
#[derive(Clone, Debug, Default)]
struct Row {
    lists: Vec<VecDeque<Entry>>,
    /// The words right above the lists, those above them, and so on: the last level has one word.
    levels: Vec<Vec<u64>>,
}

/// Two rows of buckets, one for the keys that come next and one for those behind; when the first is empty
/// they change places.
#[derive(Clone, Debug)]
pub struct CountedBuckets {
    width: u64,
    /// The first bucket of the row in front.
    base: u64,
    rows: [Row; 2],
    packets: usize,
    counts: Counts,
    /// Keys that lay in front of both rows or behind them.
    pub outside: u64,
}

impl CountedBuckets {
    /// Buckets of `width` for keys that all lie within `span` of each other.
    pub fn new(width: u64, span: u64) -> Self {
        let (mut buckets, mut row) = (1u64, Row::default());
        while buckets < 2 || buckets * width < span {
            row.levels.insert(0, Vec::new());
            buckets *= 64;
        }
        let mut words = buckets as usize;
        for level in &mut row.levels {
            words /= 64;
            *level = vec![0; words];
        }
        row.lists = vec![VecDeque::new(); buckets as usize];
        Self { width, base: 0, rows: [row.clone(), row], packets: 0, counts: Counts::default(), outside: 0 }
    }

    /// Buckets of both rows.
    pub fn buckets(&self) -> usize {
        2 * self.rows[0].lists.len()
    }
}

impl Counted for CountedBuckets {
    fn push(&mut self, entry: Entry) {
        let (bucket, each) = (entry.0 / self.width, self.rows[0].lists.len() as u64);
        let at = bucket.saturating_sub(self.base).min(2 * each - 1);
        self.outside += u64::from(at + self.base != bucket);
        let row = &mut self.rows[(at / each) as usize];
        let mut at = (at % each) as usize;
        self.counts.moves += 1;
        self.packets += 1;
        row.lists[at].push_back(entry);
        if row.lists[at].len() > 1 {
            return;
        }
        for level in &mut row.levels {
            let (word, bit) = (at / 64, at % 64);
            let was = level[word];
            level[word] |= 1 << bit;
            self.counts.moves += 1;
            if was != 0 {
                break;
            }
            at = word;
        }
    }
    fn pop(&mut self) -> Option<Entry> {
        if self.packets == 0 {
            return None;
        }
        let each = self.rows[0].lists.len() as u64;
        if self.rows[0].levels.last().is_some_and(|top| top[0] == 0) {
            self.counts.comparisons += 1;
            self.rows.swap(0, 1);
            self.base += each;
        }
        let row = &mut self.rows[0];
        let mut at = 0;
        for level in row.levels.iter().rev() {
            self.counts.comparisons += 1;
            at = at * 64 + level[at].trailing_zeros() as usize;
        }
        let entry = row.lists[at].pop_front();
        self.counts.moves += 1;
        self.packets -= 1;
        if row.lists[at].is_empty() {
            for level in &mut row.levels {
                let (word, bit) = (at / 64, at % 64);
                level[word] &= !(1 << bit);
                self.counts.moves += 1;
                if level[word] != 0 {
                    break;
                }
                at = word;
            }
        }
        entry
    }
    fn counts(&self) -> Counts {
        self.counts
    }
}

/// Bucket widths, ps: 1, 10, 100 us and 1 ms.
pub const WIDTHS: [u64; 4] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// As wide as the keys of [`hold`] can lie apart, with room to spare.
fn span(length: u32) -> u64 {
    2 * u64::from(length) * PACKET + 100 * PACKET
}

/// Operations per packet that leaves and packet that joins, in `pairs` pairs: keys are the present instant
/// and a uniform slack of as many transmission times as packets wait; before counting begins as many pairs as
/// three lengths have passed.
pub fn hold(queue: &mut impl Counted, length: u32, pairs: u64) -> [f64; 2] {
    let mut draw = Stream::new(3, "counts", 0);
    let mut arrive = |queue: &mut dyn Counted, number: u64, now: u64| {
        queue.push((now + draw.below(u64::from(length) * PACKET), number));
    };
    let length = u64::from(length);
    (0..length).for_each(|n| arrive(queue, n, 0));
    let mut before = Counts::default();
    for step in 0..3 * length + pairs {
        if step == 3 * length {
            before = queue.counts();
        }
        queue.pop();
        arrive(queue, length + step, (step + 1) * PACKET);
    }
    let after = queue.counts();
    [after.comparisons - before.comparisons, after.moves - before.moves].map(|n| n as f64 / pairs as f64)
}

/// The table of both heaps and all widths; `quick` counts less.
pub fn table(quick: bool) -> String {
    let pairs = if quick { 40_000 } else { 400_000 };
    let mut text = format!("{:<24}", "comparisons + moves");
    LENGTHS.iter().for_each(|n| text += &format!("{n:>14}"));
    let mut row = |name: &str, counted: &dyn Fn(u32) -> [f64; 2]| {
        text += &format!("\n{name:<24}");
        for length in LENGTHS {
            let [comparisons, moves] = counted(length);
            text += &format!("{:>14}", format!("{comparisons:.1} + {moves:.1}"));
        }
    };
    row("binary heap", &|n| hold(&mut CountedHeap::<2>::default(), n, pairs));
    row("4-ary heap", &|n| hold(&mut CountedHeap::<4>::default(), n, pairs));
    for width in WIDTHS {
        let name = format!("buckets of {} us", width / 1_000_000);
        row(&name, &|n| hold(&mut CountedBuckets::new(width, span(n)), n, pairs));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_machines::schedule::{Discipline, DisciplineSpec, Limit, pifo};
    use thalweg_machines::stage::StageSpec;
    use thalweg_units::{Rate, Time};
    use thalweg_wire::{Handle, Packet};

    /// The queue of a port, to be compared with.
    struct Port(thalweg_machines::schedule::Queue);

    impl Port {
        fn new(bucket: u64) -> Self {
            let order = pifo::Params { bucket: Some(bucket).filter(|b| *b > 0) }.into();
            let (limit, stage) = (Limit::Unlimited, StageSpec::tail_drop());
            let spec = DisciplineSpec { order, limit, front: Vec::new(), stage, preemptive: false };
            Self(spec.make(Stream::new(1, "queue", 0), Rate::from_gbps(1)).expect("a queue"))
        }
    }

    impl Counted for Port {
        fn push(&mut self, (key, number): Entry) {
            let packet = Packet { rank: key as i64, wire: 1460, ..Packet::default() };
            self.0.enqueue(Time::ZERO, &packet, Handle(number as u32), &mut vec![]);
        }
        fn pop(&mut self) -> Option<Entry> {
            self.0.dequeue(Time::ZERO, &mut vec![]).map(|served| (0, u64::from(served.handle.0)))
        }
        fn counts(&self) -> Counts {
            Counts::default()
        }
    }

    /// The numbers that leave, in order, while a queue is held at `length`.
    fn order(length: u64, mut queue: impl Counted) -> Vec<u64> {
        let (mut draw, mut left) = (Stream::new(5, "order", 0), Vec::new());
        for step in 0..20_000u64 {
            let now = step.saturating_sub(length) * PACKET;
            queue.push((now + draw.below(length * PACKET), step));
            if step >= length {
                left.extend(queue.pop().map(|(_, number)| number));
            }
        }
        left
    }

    #[test]
    fn heaps_and_buckets_serve_in_the_order_of_a_port() {
        for length in [1, 10, 100, 3000] {
            let exact = order(length, Port::new(0));
            assert_eq!(order(length, CountedHeap::<2>::default()), exact, "{length}");
            assert_eq!(order(length, CountedHeap::<4>::default()), exact, "{length}");
            for width in WIDTHS {
                let buckets = CountedBuckets::new(width, span(length as u32));
                assert_eq!(order(length, buckets), order(length, Port::new(width)), "{length}, {width}");
            }
        }
    }

    #[test]
    fn counts_are_those_of_small_examples() {
        let mut heap = CountedHeap::<2>::default();
        // 3 alone: one write. 1: one comparison, two writes. 2: one comparison (with 1), one write.
        [3, 1, 2].into_iter().for_each(|key| heap.push((key, key)));
        assert_eq!(heap.counts(), Counts { comparisons: 2, moves: 4 });
        // 2 goes to the top, compared with 3.
        assert_eq!((heap.pop(), heap.counts()), (Some((1, 1)), Counts { comparisons: 3, moves: 5 }));
        // 64 + 64 buckets of 10 with one word each: an entry and a bit; an entry; an entry and a bit behind.
        let mut buckets = CountedBuckets::new(10, 640);
        assert_eq!(buckets.buckets(), 128);
        [9, 5, 700].into_iter().for_each(|key| buckets.push((key, key)));
        assert_eq!(buckets.counts(), Counts { comparisons: 0, moves: 5 });
        // A word and an entry; the same and a bit; the empty word, its successor, an entry and a bit.
        assert_eq!((buckets.pop(), buckets.counts()), (Some((9, 9)), Counts { comparisons: 1, moves: 6 }));
        assert_eq!((buckets.pop(), buckets.counts()), (Some((5, 5)), Counts { comparisons: 2, moves: 8 }));
        assert_eq!(
            (buckets.pop(), buckets.counts()),
            (Some((700, 700)), Counts { comparisons: 4, moves: 10 })
        );
        assert_eq!(buckets.pop(), None);
    }

    #[test]
    fn no_key_lies_outside_the_buckets() {
        for length in [10, 1000] {
            let mut buckets = CountedBuckets::new(WIDTHS[0], span(length));
            hold(&mut buckets, length, 40_000);
            assert_eq!(buckets.outside, 0, "{length}");
        }
    }
}
