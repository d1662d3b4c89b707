//! What is broken now.

use crate::port::flying::Flying;
use serde::{Deserialize, Serialize};
use thalweg_net::routing::Routes;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Stream};

/// Failed links, and chances that pause frames are lost.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outages {
    /// By link: it has failed.
    pub down: Vec<bool>,
    /// By link: it had failed, as far as the routes know.
    known: Vec<bool>,
    /// By port: packets of its ring that were in flight on a failed link and will not arrive.
    in_flight: Vec<u32>,
    /// By port: chance that a pause frame is lost, and where the draws come from.
    frame_loss: Vec<(f64, Stream)>,
    /// Packets lost so far because a link had failed.
    pub lost: u64,
    /// Pause frames lost so far.
    pub frames_lost: u64,
    /// The routes as built, once others are in use.
    #[serde(skip)]
    pub intact: Option<Box<Routes>>,
}

impl Outages {
    pub fn new(spec: &NetworkSpec) -> Self {
        if spec.incidents.is_empty() {
            return Self::default();
        }
        let ports = 2 * spec.links.len();
        Self {
            down: vec![false; spec.links.len()],
            known: vec![false; spec.links.len()],
            in_flight: vec![0; ports],
            frame_loss: (0..ports).map(|id| (0.0, Stream::new(spec.seed, "pause loss", id as u64))).collect(),
            ..Self::default()
        }
    }

    /// The routes converge after an incident: they know from now on that a link has failed, or has not. Of incidents
    /// since, they know nothing yet.
    pub fn converge(&mut self, link: u32, failed: bool) {
        self.known[link as usize] = failed;
    }

    /// Routes for what was left of the network when they converged last.
    pub fn remaining_routes(&self, spec: &NetworkSpec) -> Routes {
        Routes::without(spec.hosts, spec.switches, &spec.links, spec.seed, &self.known)
            .unwrap_or_else(|_| unreachable!("the whole network could be routed"))
    }

    /// No link has failed.
    pub fn is_intact(&self) -> bool {
        self.down.iter().all(|down| !down)
    }

    /// A port's link has failed, in a network that may have none that do.
    pub fn has_failed(&self, id: PortId) -> bool {
        !self.down.is_empty() && self.is_down(id)
    }

    /// A port's link has failed.
    pub fn is_down(&self, id: PortId) -> bool {
        self.down[id.link().at()]
    }

    /// A port's link fails with so many packets in flight.
    pub fn fail_in_flight(&mut self, id: PortId, packets: u32) {
        self.in_flight[id.at()] = packets;
    }

    /// What should land now was in flight on a link when it failed.
    pub fn failed_in_flight(&mut self, id: PortId) -> bool {
        let failed = &mut self.in_flight[id.at()];
        let lost = *failed > 0;
        *failed -= u32::from(lost);
        lost
    }

    /// From now on, frames are lost with this chance on their way to the far end of a port.
    pub fn set_frame_loss(&mut self, id: usize, chance: f64) {
        self.frame_loss[id].0 = chance;
    }

    /// A pause frame cannot leave: its link has failed.
    pub fn lose_frame(&mut self) {
        self.frames_lost += 1;
    }

    /// Something is lost on its way; true if it is a packet.
    pub fn lose_on_the_way(&mut self, flying: &Flying) -> bool {
        let frame = flying.is_frame();
        self.frames_lost += u64::from(frame);
        self.lost += u64::from(!frame);
        !frame
    }

    /// Whether a frame that reaches the far end of a port is lost.
    pub fn loses_frame(&mut self, id: PortId) -> bool {
        let (chance, stream) = &mut self.frame_loss[id.at()];
        let lost = *chance > 0.0 && stream.unit() < *chance;
        self.frames_lost += u64::from(lost);
        lost
    }
}
