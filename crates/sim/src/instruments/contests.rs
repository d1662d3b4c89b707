//! Contested ties: packets that join one queue at one instant from different links, so that only a draw, or the
//! links' numbers, decides their order ([`Ties`](crate::events::Ties)).

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};

/// Counts contested ties.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Contests {
    /// Packets that joined a queue which another packet had joined at the same instant.
    pub decided: u64,
    /// The packet at hand has landed at the same instant as another.
    tied: bool,
    more: bool,
    /// By port: when such a packet last joined its queue. Empty until the first does.
    joined: Vec<Time>,
}

impl Contests {
    /// A packet lands; `more`: another one lands at this instant after it.
    #[inline(always)]
    pub fn note_landing(&mut self, more: bool) {
        self.tied = more | self.more;
        self.more = more;
    }

    /// The packet that has landed joins a port's queue.
    #[inline(always)]
    pub fn note_joining(&mut self, port: PortId, now: Time) {
        if self.tied {
            self.note_tie(port, now);
        }
    }

    #[inline(never)]
    fn note_tie(&mut self, port: PortId, now: Time) {
        if self.joined.len() <= port.at() {
            self.joined.resize(port.at() + 1, Time::MAX);
        }
        if std::mem::replace(&mut self.joined[port.at()], now) == now {
            self.decided += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packets_that_meet_in_one_queue_contest_it() {
        let mut contests = Contests::default();
        let mut land = |now: u64, next: bool, port: u32| {
            contests.note_landing(next);
            contests.note_joining(PortId(port), Time::from_ps(now));
        };
        land(1, false, 0);
        land(2, false, 0);
        // The third at 3 finds the first; at 4 each has a queue of its own; at 5 two find one.
        let landings = [(3, true, 0), (3, true, 1), (3, false, 0), (4, true, 0), (4, false, 1)];
        for (at, next, port) in landings.into_iter().chain([(5, true, 2), (5, true, 2), (5, false, 2)]) {
            land(at, next, port);
        }
        assert_eq!(contests.decided, 1 + 2);
    }
}
