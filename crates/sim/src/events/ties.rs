//! Ties: the order among events of one phase at one instant.
//!
//! Two equal senders whose packets repeatedly meet in the same picosecond must share the cost. If numbers decided,
//! the same sender would always be second: all losses of two equal streams at a full queue would fall on the flow
//! with the higher number. So the order is drawn anew at every instant. A draw is a pure function of (seed,
//! instant, entity): it has no history, and each part of a partitioned network draws the same order.
//!
//! Only the entities of a tie are ranked: events without a tie cost nothing.

use super::Phase;
use serde::{Deserialize, Serialize};
use thalweg_units::{Time, mix64};

/// The order of events of one phase at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ties {
    /// The entity with the lower number is first: for schedules that are computed by hand.
    #[default]
    ByNumber,
    /// Drawn anew at every instant.
    Drawn {
        /// Seed of the draws.
        seed: u64,
    },
}

/// Phases whose order is drawn, because their entities compete as equals. In the others, events keep the order of
/// the scenario (incidents, probes), or each entity acts on itself alone.
const DRAWN: u32 = 1 << Phase::Finish as u32
    | 1 << Phase::Arrive as u32
    | 1 << Phase::SenderTimer as u32
    | 1 << Phase::ReceiverTimer as u32
    | 1 << Phase::Decide as u32
    | 1 << Phase::Agent as u32
    | 1 << Phase::Point as u32
    | 1 << Phase::Relief as u32
    | 1 << Phase::DepartureNotice as u32;

impl Ties {
    /// The order among events of a phase at an instant.
    #[inline]
    pub fn draw(self, at: Time, phase: Phase) -> Draw {
        match self {
            Self::Drawn { seed } if DRAWN >> phase as u32 & 1 == 1 => {
                Draw(Some(mix64(seed ^ at.ps().wrapping_mul(0x9e37_79b9_7f4a_7c15))))
            }
            _ => Draw(None),
        }
    }
}

/// The order among the events of one phase at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Draw(Option<u64>);

impl Draw {
    /// The rank of an entity, lowest first. No two entities have the same: a draw is a bijection of 64 bits.
    #[inline]
    pub fn rank(self, entity: u32) -> u64 {
        self.0.map_or(u64::from(entity), |instant| mix64(instant ^ u64::from(entity)))
    }

    /// Whether the first of two entities precedes the second.
    #[inline]
    pub fn precedes(self, first: u32, second: u32) -> bool {
        self.rank(first) < self.rank(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(ties: Ties, at: u64, phase: Phase, entities: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..entities).collect();
        order.sort_by_key(|entity| ties.draw(Time::from_ps(at), phase).rank(*entity));
        order
    }

    #[test]
    fn each_of_three_is_equally_often_at_each_place() {
        let mut places = [[0u32; 3]; 3];
        for at in 0..30_000 {
            for (place, entity) in
                order(Ties::Drawn { seed: 1 }, at * 1_231_200, Phase::Arrive, 3).iter().enumerate()
            {
                places[place][*entity as usize] += 1;
            }
        }
        // 10 000 expected, standard deviation 82.
        assert!(places.iter().flatten().all(|&n| n.abs_diff(10_000) < 330), "{places:?}");
    }

    #[test]
    fn another_seed_draws_another_order_and_numbers_stay_where_equals_do_not_compete() {
        let ties = |seed| Ties::Drawn { seed };
        let all = |seed| (0..64).map(|at| order(ties(seed), at, Phase::Decide, 4)).collect::<Vec<_>>();
        assert_ne!(all(1), all(2));
        assert_eq!(all(1), all(1));
        assert_eq!(order(ties(1), 7, Phase::Incident, 5), [0, 1, 2, 3, 4]);
        assert_eq!(order(Ties::ByNumber, 7, Phase::Arrive, 5), [0, 1, 2, 3, 4]);
    }
}
