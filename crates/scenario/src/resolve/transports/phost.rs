//! `[transport]` of kind `phost`: times from the rate of the hosts' links if all have the same, classes from the
//! schedulers.

use super::super::Delivery;
use super::Dependent;
use crate::quantity::Q;
use crate::schema::{Phost, Rank};
use crate::topology::Graph;
use crate::transport::phost::LEAST_WINDOW;
use thalweg_machines::congestion::Paths;
use thalweg_machines::transport::PhostTimes;
use thalweg_units::Bytes;

impl Dependent for Phost {
    fn ecn_capable(&self) -> bool {
        false
    }

    fn resolve(&mut self, _: Option<Rank>, _: Delivery) {}

    fn by_classes(&mut self, classes: u32) {
        let highest = classes.saturating_sub(1).min(2) as u8;
        let free = *self.free_class.get_or_insert(highest.min(1));
        self.token_class.get_or_insert(highest.max(free));
    }

    fn by_graph(&mut self, graph: &Graph, paths: &mut dyn Paths) {
        let wire = self.payload.0.get().saturating_add(self.header.0.get());
        if self.window.is_none() && wire > 0 {
            let product = graph.fastest_host().over(paths.base_rtt()).get().div_ceil(wire);
            self.window = Some(u32::try_from(product).unwrap_or(u32::MAX).max(LEAST_WINDOW));
        }
        let window = self.window.unwrap_or(LEAST_WINDOW);
        self.free_tokens.get_or_insert(window);
        // With different links each host has times of its own, so there is no value to fill in.
        let Some(rate) = graph.one_host_rate().filter(|rate| rate.bps() > 0) else { return };
        let times = PhostTimes::of_packet(Bytes::new(wire) / rate, window);
        self.spacing.get_or_insert(Q(times.spacing));
        self.token_life.get_or_insert(Q(times.life));
        self.patience.get_or_insert(Q(times.patience));
        self.again.get_or_insert(Q(times.again));
        self.retry.get_or_insert(Q(times.retry));
    }
}
