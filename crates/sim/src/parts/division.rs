//! Division of a network: estimates where its traffic is, and forms parts with about equal work that exchange
//! little traffic.

use crate::boundary::Number;
use crate::sim::Sim;
use thalweg_units::{Bytes, FlowId, PortId, Rate, Span, Time};

/// Number of flows whose paths are sampled to estimate the traffic.
const LOOKED_AT: usize = 20_000;
/// Largest work of a part, in hundredths of its share.
const BALANCE: u64 = 104;
/// Largest number of rounds in which groups move to better parts.
const ROUNDS: usize = 8;
/// Assumed packet size in bytes.
pub(super) const PACKET: u64 = 1500;

/// Estimated traffic of each group of nodes, and between two groups.
pub(super) struct Traffic {
    /// Estimated number of packet-hops of the run.
    hops: u64,
    /// Estimated duration of the run.
    lasts: Span,
    /// By group: bytes that its ports send.
    work: Vec<u64>,
    /// By group: its neighbours, and the bytes exchanged with each.
    near: Vec<Vec<(usize, u64)>>,
}

impl Traffic {
    /// The traffic of a network whose nodes are in `count` groups.
    pub fn of(sim: &Sim, groups: &[usize], count: usize) -> Self {
        let spec = &sim.cx.spec;
        let mut carried = vec![1u64; 2 * spec.links.len()];
        let every = spec.flows.len().div_ceil(LOOKED_AT).max(1);
        let capacity = |id: PortId, from: Time| {
            let (bps, time) = (spec.direction(id).mean_rate().bps(), spec.stop.until.since(from).ps());
            u64::try_from(u128::from(bps) * u128::from(time) / 8_000_000_000_000).unwrap_or(u64::MAX)
        };
        for (number, flow) in spec.flows.iter().enumerate().step_by(every) {
            let path = sim.fabric.lay_path(spec, FlowId::from(number));
            let path = || path.iter().copied().filter(|id| *id != PortId::NONE);
            // At most what the slowest link of its path carries until the end; an endless flow counts as a long
            // one.
            let most = path().map(|id| capacity(id, flow.start)).min().unwrap_or(0);
            let bytes = flow.size.min(most).min(1 << 30);
            path().for_each(|id| carried[id.at()] = carried[id.at()].saturating_add(bytes));
        }
        // Altogether at most what each link carries.
        for (id, bytes) in carried.iter_mut().enumerate() {
            *bytes = (*bytes).min(capacity(PortId::from(id), Time::ZERO) / every as u64).max(1);
        }
        let hops = carried.iter().sum::<u64>() / PACKET * every as u64;
        let busy = |(id, bytes): (usize, &u64)| {
            let rate = spec.direction(PortId::from(id)).mean_rate();
            if rate == Rate::ZERO { Span::ZERO } else { Bytes::new(bytes * every as u64) / rate }
        };
        let busiest = carried.iter().enumerate().map(busy).max().unwrap_or(Span::ZERO);
        let last = spec.flows.iter().map(|flow| flow.start).max().unwrap_or(Time::ZERO);
        let lasts = last.saturating_add(busiest).min(spec.stop.until).since(Time::ZERO);
        let mut traffic = Self { hops, lasts, work: vec![0; count], near: vec![Vec::new(); count] };
        for (id, bytes) in carried.into_iter().enumerate() {
            let (from, to) = spec.ends(PortId::from(id));
            let (from, to) = (groups[from.at()], groups[to.at()]);
            traffic.work[from] += bytes;
            if from != to {
                traffic.note(from, to, bytes);
                traffic.note(to, from, bytes);
            }
        }
        traffic
    }

    /// Estimated number of packet-hops of the run.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// Estimated number of packet-hops in a window of this length.
    pub fn hops_in(&self, window: Span) -> u128 {
        u128::from(self.hops) * u128::from(window.ps()) / u128::from(self.lasts.ps().max(1))
    }

    fn note(&mut self, from: usize, to: usize, bytes: u64) {
        match self.near[from].iter_mut().find(|(group, _)| *group == to) {
            Some((_, sum)) => *sum += bytes,
            None => self.near[from].push((to, bytes)),
        }
    }

    /// By group: its part. Initially, consecutive groups form parts with equal work. Then each group moves to the
    /// part that it exchanges most traffic with, as long as that part does not get too much work (Fiduccia and
    /// Mattheyses, DAC 1982, without their buckets).
    pub fn divide(&self, parts: usize) -> Vec<Number> {
        let total: u64 = self.work.iter().sum();
        let share = (total / parts as u64).max(1);
        // Large groups allow a coarser balance only.
        let largest = self.work.iter().copied().max().unwrap_or(0);
        let most = (share * BALANCE / 100).max(share + largest / 2);
        let mut before = 0;
        let mut of: Vec<usize> = Vec::with_capacity(self.work.len());
        let mut held = vec![0u64; parts];
        for work in &self.work {
            let part = (((before + work / 2) / share) as usize).min(parts - 1);
            of.push(part);
            held[part] += work;
            before += work;
        }
        for _ in 0..ROUNDS {
            let mut moved = false;
            for group in 0..of.len() {
                let here = of[group];
                let mut pull = vec![0u64; parts];
                self.near[group].iter().for_each(|(to, bytes)| pull[of[*to]] += bytes);
                let work = self.work[group];
                let fits = |part: usize| held[part] + work <= most || held[part] + work < held[here];
                let better = |part: &usize| *part != here && fits(*part);
                let Some(best) = (0..parts).filter(better).max_by_key(|part| (pull[*part], parts - part))
                else {
                    continue;
                };
                let relieves = held[here] > most && held[best] + work < held[here];
                if pull[best] > pull[here] || relieves {
                    held[here] -= work;
                    held[best] += work;
                    of[group] = best;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        // Empty parts are left out.
        numbered(&of).into_iter().map(|part| part as Number).collect()
    }
}

/// Renumbers sets without gaps, in the order of their first members.
pub(super) fn numbered(sets: &[usize]) -> Vec<usize> {
    let mut numbers = vec![None; sets.iter().max().map_or(0, |last| last + 1)];
    let mut count = 0;
    sets.iter()
        .map(|set| {
            *numbers[*set].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_numbered_as_they_come() {
        assert_eq!(numbered(&[7, 2, 7, 0, 2]), [0, 1, 0, 2, 1]);
        assert!(numbered(&[]).is_empty());
    }

    /// Two clusters of thirty groups, two of each numbered among the others.
    #[test]
    fn groups_go_where_their_traffic_is() {
        let cluster = |group: usize| usize::from(matches!(group, 28 | 29) || group >= 32);
        let mut traffic =
            Traffic { hops: 0, lasts: Span::ZERO, work: vec![10; 60], near: vec![Vec::new(); 60] };
        for (from, to) in (0..60).flat_map(|from| (0..60).map(move |to| (from, to))) {
            if from != to && cluster(from) == cluster(to) {
                traffic.note(from, to, 1);
            }
        }
        assert!(
            traffic.divide(2).iter().enumerate().all(|(group, part)| usize::from(*part) == cluster(group))
        );
    }
}
