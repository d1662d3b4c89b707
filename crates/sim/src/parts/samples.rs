//! Samples of senders in a partitioned network.
//!
//! A flow's sender is in one part, its receiver perhaps in another, and its packets may have been lost in a third.
//! Each part notes what it knows; here that is combined to the samples of an undivided run.

use crate::instruments::own::OwnColumns;
use crate::instruments::probe::{ControllerSample, PartSample, Probes};
use std::collections::BTreeMap;
use thalweg_units::{FlowId, Time};

/// What all parts together know of a flow.
#[derive(Default)]
struct Known {
    balance: u32,
    complete: u8,
    delivered: u64,
    arrived: u64,
}

/// Combines the samples of all parts, and what controllers reported then; `flows`: the sampled flows, in their
/// order.
pub(super) fn combine(flows: &[FlowId], all: &[&Probes]) -> (Vec<ControllerSample>, OwnColumns) {
    let places: BTreeMap<FlowId, usize> =
        flows.iter().enumerate().map(|(place, flow)| (*flow, place)).collect();
    let mut known: BTreeMap<(Time, FlowId), Known> = BTreeMap::new();
    for &PartSample { at, flow, balance, complete, delivered, arrived } in all.iter().flat_map(|p| &p.in_part)
    {
        let of = known.entry((at, flow)).or_default();
        of.balance = of.balance.wrapping_add(balance);
        of.complete += complete;
        (of.delivered, of.arrived) = (of.delivered + delivered, of.arrived + arrived);
    }
    // In the order of sampling of an undivided run.
    let mut looks: Vec<(Time, usize, usize, usize)> = Vec::new();
    for (part, probes) in all.iter().enumerate() {
        let look =
            |(number, sample): (usize, &ControllerSample)| (sample.at, places[&sample.flow], part, number);
        looks.extend(probes.controllers.iter().enumerate().map(look));
    }
    looks.sort_unstable();
    let (mut controllers, mut own) = (Vec::with_capacity(looks.len()), OwnColumns::default());
    for (_, _, part, number) in looks {
        let sample = all[part].controllers[number];
        let Some(of) = known.get(&(sample.at, sample.flow)) else { continue };
        // The flow was over by then: an undivided run forgets it at once, a partitioned one at the next barrier.
        if of.balance == 0 && of.complete == 2 {
            continue;
        }
        own.record(controllers.len(), all[part].own.of(number));
        controllers.push(ControllerSample { delivered: of.delivered, arrived: of.arrived, ..sample });
    }
    (controllers, own)
}
