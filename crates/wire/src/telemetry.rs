//! In-band network telemetry: what ports write into data packets that leave them.

use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Time};

/// What a port reports of itself as a packet leaves it (in-band network telemetry; HPCC, SIGCOMM 2019, §3.1, Figure 7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IntHop {
    /// When.
    pub at: Time,
    /// Bytes sent by the port so far.
    pub tx_bytes: u64,
    /// Bytes waiting in its queue.
    pub queue: u64,
    /// Rate of its link.
    pub rate: Rate,
}

/// The telemetry of a packet's path: a record per hop, in the order of the hops, and which path it was (HPCC, SIGCOMM
/// 2019, §4.1).
#[derive(Clone, Copy, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct IntStack {
    count: u8,
    path: u32,
    hops: [IntHop; IntStack::CAPACITY],
}

/// A stack as it is written: the hops that it holds, and not what lies in places that were used before.
#[derive(Serialize, Deserialize)]
struct Written {
    path: u32,
    hops: Vec<IntHop>,
}

impl From<IntStack> for Written {
    fn from(stack: IntStack) -> Self {
        Self { path: stack.path, hops: stack.as_slice().to_vec() }
    }
}

impl From<Written> for IntStack {
    fn from(written: Written) -> Self {
        Self::of(written.path, &written.hops)
    }
}

impl IntStack {
    /// Hops beyond these go unrecorded: a three-tier fabric has five.
    pub const CAPACITY: usize = 8;

    /// These hops, no more than fit, of a path.
    pub fn of(path: u32, hops: &[IntHop]) -> Self {
        let mut stack = Self { path, ..Self::default() };
        stack.set(hops);
        stack
    }
    /// Appends a hop of the port with this identity; false (and no hop is recorded) if full.
    pub fn push(&mut self, port: u32, hop: IntHop) -> bool {
        self.path ^= port;
        let room = usize::from(self.count) < Self::CAPACITY;
        if room {
            self.hops[usize::from(self.count)] = hop;
            self.count += 1;
        }
        room
    }
    /// Forgets all hops.
    pub fn clear(&mut self) {
        (self.count, self.path) = (0, 0);
    }
    /// Which path: the exclusive or of the identities of its ports, those beyond the capacity included. Records of
    /// two packets can be compared if it is the same.
    #[inline]
    pub fn path(&self) -> u32 {
        self.path
    }
    /// The hops so far.
    #[inline]
    pub fn as_slice(&self) -> &[IntHop] {
        &self.hops[..usize::from(self.count)]
    }
    /// As `other`; no more than its hops are copied.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.path = other.path;
        self.set(other.as_slice());
    }
    #[inline]
    fn set(&mut self, hops: &[IntHop]) {
        let count = hops.len().min(Self::CAPACITY);
        self.hops[..count].copy_from_slice(&hops[..count]);
        self.count = count as u8;
    }
}

/// Of the hops that it holds; what lies in places that were used before does not count.
impl PartialEq for IntStack {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.as_slice() == other.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ninth_hop_is_not_recorded() {
        let mut stack = IntStack::default();
        assert!((0..8).all(|queue| stack.push(1 << queue, IntHop { queue, ..IntHop::default() })));
        assert!(!stack.push(1 << 8, IntHop::default()));
        assert_eq!((stack.as_slice().len(), stack.path()), (8, 0x1ff));
        assert_eq!(stack.as_slice()[7].queue, 7);
    }

    #[test]
    fn what_is_written_is_what_it_holds_whatever_it_held_before() {
        let hop = |queue| IntHop { queue, ..IntHop::default() };
        let mut used = IntStack::of(1, &[hop(7); 8]);
        used.copy_from(&IntStack::of(2, &[hop(3)]));
        let [fresh, used] =
            [IntStack::of(2, &[hop(3)]), used].map(|stack| postcard::to_allocvec(&stack).unwrap());
        assert_eq!(used, fresh);
        assert_eq!(postcard::from_bytes::<IntStack>(&used).unwrap().as_slice(), [hop(3)]);
    }

    #[test]
    fn two_stacks_are_equal_by_the_hops_they_hold_and_their_path() {
        let hop = |queue| IntHop { queue, ..IntHop::default() };
        assert_eq!(IntStack::of(1, &[hop(7); 9]).as_slice(), [hop(7); 8]);
        assert_ne!(IntStack::of(1, &[hop(7)]), IntStack::of(2, &[hop(7)]));
    }
}
