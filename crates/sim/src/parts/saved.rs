//! Snapshots of partitioned runs: the plan, the state of the barrier, and each part as a run of its own.
//!
//! The parts do not depend on the number of threads, so a snapshot may be resumed with another number.

use super::part::{Part, restrict};
use super::plan::Plan;
use super::team::Team;
use super::{BarrierState, Partitioned, lock};
use crate::boundary::Batch;
use crate::sealed::{Kind, LoadError, Sealing, open};
use crate::sim::Sim;
use std::sync::Mutex;
use thalweg_net::spec::NetworkSpec;

/// The layout number is raised with every change of what is written here; the parts have the layout of the
/// simulator's snapshots.
const KIND: Kind = Kind { magic: *b"thalwegP", layout: 4 };

impl Partitioned {
    /// The whole run as bytes, appended to others.
    pub fn save_after(&self, bytes: Vec<u8>) -> Vec<u8> {
        let parts: Vec<Vec<u8>> = self
            .parts
            .iter()
            .map(|part| {
                let mut part = lock(part);
                part.import();
                part.sim.save()
            })
            .collect();
        let mut sealing = Sealing::begin(bytes, KIND);
        let body = (&self.plan, &self.state, parts);
        sealing.bytes = postcard::to_extend(&body, sealing.bytes).expect("plain data serialises");
        sealing.finish()
    }

    /// A run from the bytes of [`Partitioned::save_after`]; `None`: the bytes are of another kind.
    ///
    /// # Errors
    /// If they are damaged, or were written by another version.
    pub fn load(bytes: &[u8]) -> Option<Result<Self, LoadError>> {
        match open(bytes, KIND) {
            Err(LoadError::NotASnapshot) => None,
            body => Some(body.and_then(Self::of_body)),
        }
    }

    fn of_body(body: &[u8]) -> Result<Self, LoadError> {
        let read: Result<(Plan, BarrierState, Vec<Vec<u8>>), _> = postcard::from_bytes(body);
        let (plan, state, saved) = read.map_err(|e| LoadError::Damaged(e.to_string()))?;
        if saved.len() != usize::from(plan.parts()) {
            return Err(LoadError::Damaged("its parts are not those of its plan".into()));
        }
        let part = |(me, bytes): (u16, Vec<u8>)| {
            let mut sim = Sim::load(&bytes)?;
            if (sim.cx.spec.hosts + sim.cx.spec.switches) as usize != plan.of_node().len() {
                return Err(LoadError::Damaged("its plan does not fit its network".into()));
            }
            restrict(&mut sim, &plan, me);
            Ok(Mutex::new(Part { sim, inbox: vec![Batch::default(); usize::from(plan.parts())] }))
        };
        let parts = (0..).zip(saved).map(part).collect::<Result<_, _>>()?;
        Ok(Self { parts, plan, state, team: Team::default() })
    }

    /// What the network was built from.
    pub fn spec(&self) -> NetworkSpec {
        let mut spec = lock(&self.parts[0]).sim.cx.spec.clone();
        let probes = [&mut spec.probes.queues, &mut spec.probes.links];
        for (probe, ports) in probes.into_iter().zip(&self.state.probed) {
            probe.iter_mut().for_each(|(_, own)| own.clone_from(ports));
        }
        spec
    }
}
