//! Which of the queues that may send is served next: deficit round robin within a class, or the queue whose first
//! packet has the fewest remaining bytes.

use super::fifos::Fifos;
use serde::{Deserialize, Serialize};
use thalweg_wire::QueueSet;

/// The queues of a class, and whose turn it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Class {
    pub own: QueueSet,
    turn: u16,
    /// That queue has had its quantum in this turn.
    granted: bool,
}

impl Class {
    pub fn new(own: QueueSet) -> Self {
        Self { own, turn: 0, granted: false }
    }

    /// Of the queues `ready` that whose turn it is (Shreedhar & Varghese, SIGCOMM 1995).
    #[inline]
    pub fn in_turn(&mut self, fifos: &mut Fifos, ready: &QueueSet, quantum: u64) -> u16 {
        let Self { turn, granted, .. } = self;
        loop {
            if ready.has(*turn) {
                let fifo = &mut fifos.all[usize::from(*turn)];
                if !std::mem::replace(granted, true) {
                    fifo.deficit += quantum;
                }
                let wire = u64::from(fifos.memory.get(fifo.line.head).entry.wire);
                if wire <= fifo.deficit {
                    fifo.deficit -= wire;
                    return *turn;
                }
            }
            *turn = ready.next(*turn + 1).or_else(|| ready.next(0)).unwrap_or(0);
            *granted = false;
        }
    }
}

/// That whose first packet has the lowest rank; ties go to the lowest number.
pub(super) fn shortest(fifos: &Fifos, ready: &QueueSet) -> u16 {
    ready.iter().min_by_key(|queue| fifos.first(*queue).rank).unwrap_or(0)
}
