//! Finds the queue with the smallest key among many: one comparison per level when a key changes (M7: an indexed
//! structure for more than 16 queues).

/// Largest number of queues that are searched one by one.
pub const SEARCHED: usize = 16;

/// A complete binary tree over players, each of which has a key or does not take part. The smallest key wins, then the
/// smallest number.
#[derive(Clone, Debug)]
pub struct Tournament {
    keys: Vec<Option<i128>>,
    /// The winner below each node, from the root at 1. Players are at the end.
    winners: Vec<u32>,
    leaves: usize,
}

impl Tournament {
    /// A tournament of this many players, none of which takes part yet.
    pub fn new(players: usize) -> Self {
        let leaves = players.next_power_of_two();
        let mut winners = vec![0; 2 * leaves];
        for (nth, leaf) in winners[leaves..].iter_mut().enumerate() {
            *leaf = nth as u32;
        }
        let mut all = Self { keys: vec![None; leaves], winners, leaves };
        (1..leaves).rev().for_each(|at| all.play(at));
        all
    }

    fn play(&mut self, at: usize) {
        let (a, b) = (self.winners[2 * at], self.winners[2 * at + 1]);
        let wins = match (self.keys[a as usize], self.keys[b as usize]) {
            (Some(a), Some(b)) => a <= b,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        self.winners[at] = if wins { a } else { b };
    }

    /// Changes the key of a player.
    pub fn set(&mut self, player: usize, key: Option<i128>) {
        if self.keys[player] == key {
            return;
        }
        self.keys[player] = key;
        let mut at = (self.leaves + player) / 2;
        while at > 0 {
            self.play(at);
            at /= 2;
        }
    }

    /// The winner and its key.
    pub fn winner(&self) -> Option<(usize, i128)> {
        let winner = self.winners[if self.leaves == 1 { 0 } else { 1 }] as usize;
        self.keys[winner].map(|key| (winner, key))
    }

    /// A player's key.
    pub fn key(&self, player: usize) -> Option<i128> {
        self.keys[player]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_winner_is_the_first_of_those_with_the_least_key(
            players in 2usize..40,
            changes in proptest::collection::vec((any::<usize>(), proptest::option::of(0i128..5)), 1..100)
        ) {
            let (mut all, mut keys) = (Tournament::new(players), vec![None; players]);
            for (player, key) in changes {
                let player = player % players;
                keys[player] = key;
                all.set(player, key);
                let least = keys.iter().enumerate().filter_map(|(nth, key)| key.map(|key| (key, nth))).min();
                prop_assert_eq!(all.winner(), least.map(|(key, nth)| (nth, key)));
            }
        }
    }
}
