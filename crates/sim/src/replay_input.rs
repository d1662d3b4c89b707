//! Feeding a replay ([`crate::replay`]): packets in, exits out.

use crate::hosts::replay::{Exit, Injection};
use crate::sim::Sim;

impl Sim {
    /// Gives a replay its next packet. Packets come in the order in which they enter, none before [`Sim::now`].
    ///
    /// # Panics
    /// If the network is not a replay, the flow does not exist or the timetable is longer than its path can be.
    pub fn push(&mut self, next: Injection<'_>) {
        let longest = self.fabric.paths().middle();
        assert!(next.flow.at() < self.cx.spec.flows.len() && next.times.len() <= longest);
        self.hosts.replay_mut().expect("a replay").push(&mut self.cx, next);
    }

    /// Nothing more will be pushed: the replay ends when its last packet has left.
    pub fn push_end(&mut self) {
        if let Some(replay) = self.hosts.replay_mut() {
            replay.end(&mut self.cx);
        }
    }

    /// A replay waits for its next packet.
    pub fn needs_input(&self) -> bool {
        self.hosts.replay().is_some_and(|replay| replay.needs_input())
    }

    /// The packets of a replay that have left since this was called last, in the order in which they left.
    pub fn take_exits(&mut self) -> Vec<Exit> {
        self.hosts.replay_mut().map(|replay| replay.take_exits()).unwrap_or_default()
    }
}
