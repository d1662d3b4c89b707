//! Longest queue drop: complete sharing, and when the memory is full the longest queue makes room. Wei, Coyle, Hsiao,
//! "An Optimal Buffer Management Policy for High-Performance Packet Switching", GLOBECOM 1991 (*drop from the longest
//! queue*); 2-competitive for the number of packets sent: Aiello, Kesselman, Mansour, "Competitive Buffer Management
//! for Shared-Memory Switches", ACM Trans. Algorithms 5(1), 2008.
//!
//! ```text
//! CHOICE LQD: queues are compared by bytes, the arriving packet counted where it goes; there packets are cells.
//! CHOICE LQD: among equals the arriving packet's own queue makes room, then the port of the lowest number.
//! CHOICE LQD: which packet a queue gives up is its order's affair: fifo's the last one.
//! ```

use super::{Admission, Arriving, Memory, Needs, Parameters, Sharing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Longest queue drop: packets are admitted while they fit; when the memory is full, the longest queue pushes out
/// packets (Wei et al., GLOBECOM 1991).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = LongestQueue;

    fn needs(&self) -> Needs {
        Needs { pushes_out: true, ..Needs::default() }
    }
    fn make(&self) -> LongestQueue {
        LongestQueue
    }
}

/// It remembers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongestQueue;

impl LongestQueue {
    /// The port that makes room.
    #[cold]
    fn longest(memory: &impl Memory, arriving: &Arriving) -> Admission {
        let own = (arriving.waiting + u64::from(arriving.wire), true, Reverse(arriving.port));
        let all = (0..memory.ports()).map(|nth| memory.port(nth)).filter(|(port, _)| *port != arriving.port);
        let longest = all.map(|(port, waiting)| (waiting, false, Reverse(port))).fold(own, Ord::max);
        let (_, _, Reverse(port)) = longest;
        Admission::PushOut(port)
    }
}

impl Sharing for LongestQueue {
    #[inline]
    fn admit(&mut self, memory: &impl Memory, arriving: &Arriving) -> Admission {
        if u64::from(arriving.wire) <= memory.free() {
            Admission::Keep
        } else {
            Self::longest(memory, arriving)
        }
    }
}
