//! Failed links, and links that lose pause frames.

use crate::port::flying::Flying;
use serde::{Deserialize, Serialize};
use thalweg_net::routing::Routes;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Stream};

/// Failed links, and the loss probabilities of pause frames.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outages {
    /// By link: it has failed.
    pub down: Vec<bool>,
    /// By link: it had failed when the routes last converged.
    known: Vec<bool>,
    /// By port: packets still on its ring that were in flight when the link failed, and are lost on arrival.
    in_flight: Vec<u32>,
    /// By port: probability that a pause frame is lost, and its random stream.
    frame_loss: Vec<(f64, Stream)>,
    /// Packets lost so far because a link had failed.
    pub lost: u64,
    /// Pause frames lost so far.
    pub frames_lost: u64,
    /// The routes of the intact network, once others are in use.
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

    /// The routes converge after an incident: from now on they take the state of this link into account. Later
    /// incidents are not known to them yet.
    pub fn converge(&mut self, link: u32, failed: bool) {
        self.known[link as usize] = failed;
    }

    /// Routes for the network as it was when they last converged.
    pub fn remaining_routes(&self, spec: &NetworkSpec) -> Routes {
        Routes::of(spec, &self.known).unwrap_or_else(|_| unreachable!("the whole network could be routed"))
    }

    /// Whether no link has failed.
    pub fn is_intact(&self) -> bool {
        self.down.iter().all(|down| !down)
    }

    /// Whether a port's link has failed, in any network.
    pub fn has_failed(&self, id: PortId) -> bool {
        !self.down.is_empty() && self.is_down(id)
    }

    /// Whether a port's link has failed, in a network with incidents.
    pub fn is_down(&self, id: PortId) -> bool {
        self.down[id.link().at()]
    }

    /// A port's link fails with this many packets in flight.
    pub fn fail_in_flight(&mut self, id: PortId, packets: u32) {
        self.in_flight[id.at()] = packets;
    }

    /// Whether what lands now was in flight when its link failed.
    pub fn failed_in_flight(&mut self, id: PortId) -> bool {
        let failed = &mut self.in_flight[id.at()];
        let lost = *failed > 0;
        *failed -= u32::from(lost);
        lost
    }

    /// Sets the probability that frames are lost on their way to the far end of a port.
    pub fn set_frame_loss(&mut self, id: usize, chance: f64) {
        self.frame_loss[id].0 = chance;
    }

    /// Counts a pause frame that cannot leave because its link has failed.
    pub fn lose_frame(&mut self) {
        self.frames_lost += 1;
    }

    /// Counts a loss on a failed link. True if a packet was lost, false if a frame was.
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
