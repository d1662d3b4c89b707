//! Schedules to be replayed: a scheduler that may do what it likes, and the check that what it did can be done.

use crate::instance::Instance;
use crate::instance::UNIT;
use thalweg_units::Stream;

/// A packet at a node in the original schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedHop {
    /// i(p,α): when the whole packet is there, ps.
    pub arrive: i64,
    /// o(p,α): when its service starts, ps.
    pub start: i64,
}

/// An original schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Per packet, per hop.
    pub hops: Vec<Vec<RecordedHop>>,
    /// o(p): when the last bit of each packet is out of the network, ps.
    pub exit: Vec<i64>,
}

impl Record {
    /// The schedule with these starts of service (per packet, per hop); arrivals and exits follow.
    pub fn from_starts(instance: &Instance, starts: &[Vec<i64>]) -> Self {
        let mut record = Self { hops: Vec::new(), exit: Vec::new() };
        for (p, starts) in starts.iter().enumerate() {
            let mut at = instance.packets[p].arrival;
            let mut hops = Vec::new();
            for (k, &start) in starts.iter().enumerate() {
                hops.push(RecordedHop { arrive: at + instance.delay(p, k), start });
                at = start + instance.service(p, k);
            }
            record.exit.push(at + instance.delay(p, starts.len()));
            record.hops.push(hops);
        }
        record
    }

    /// How long packet `p` waited at hops `from` and later, ps.
    pub fn waited_from(&self, p: usize, from: usize) -> i64 {
        self.hops[p][from..].iter().map(|h| h.start - h.arrive).sum()
    }

    /// Checks that the schedule is viable: no packet is served before it arrives, nor two at once.
    ///
    /// # Errors
    /// Who breaks which rule.
    pub fn check(&self, instance: &Instance) -> Result<(), String> {
        let mut busy = vec![Vec::new(); instance.nodes.len()];
        for (p, hops) in self.hops.iter().enumerate() {
            let mut at = instance.packets[p].arrival;
            for (k, hop) in hops.iter().enumerate() {
                if hop.arrive != at + instance.delay(p, k) {
                    return Err(format!(
                        "packet {p} does not arrive at its hop {k} when it left the one before"
                    ));
                }
                if hop.start < hop.arrive {
                    return Err(format!("packet {p} is served at its hop {k} before it arrives"));
                }
                at = hop.start + instance.service(p, k);
                busy[instance.path(p)[k]].push((hop.start, at, p));
            }
            if self.exit[p] != at + instance.delay(p, hops.len()) {
                return Err(format!("packet {p} does not leave when it has been served"));
            }
        }
        for (node, times) in busy.iter_mut().enumerate() {
            times.sort_unstable();
            if let Some(pair) = times.windows(2).find(|pair| pair[1].0 < pair[0].1) {
                return Err(format!("node {node} serves packets {} and {} at once", pair[0].2, pair[1].2));
            }
        }
        Ok(())
    }
}

/// A packet on its way to, or waiting at, a node.
struct Waiting {
    packet: usize,
    hop: usize,
    node: usize,
    eligible: i64,
}

/// The arbitrary scheduler: every node serves a random one of those that are eligible; at each node a packet
/// is held back 0 to 2 units before it becomes so. Not work-conserving, not preemptive, different at every node.
pub fn random(instance: &Instance, seed: u64, index: u64) -> Record {
    let mut stream = Stream::new(seed, "ups original", index);
    let mut starts: Vec<Vec<i64>> = vec![Vec::new(); instance.packets.len()];
    let mut free_at = vec![0; instance.nodes.len()];
    let mut waiting = Vec::new();
    let arrive = |waiting: &mut Vec<Waiting>, stream: &mut Stream, packet: usize, hop: usize, at: i64| {
        let eligible = at + instance.delay(packet, hop) + stream.below(3) as i64 * UNIT;
        waiting.push(Waiting { packet, hop, node: instance.path(packet)[hop], eligible });
    };
    for (p, packet) in instance.packets.iter().enumerate() {
        arrive(&mut waiting, &mut stream, p, 0, packet.arrival);
    }
    // The earliest start anywhere is next: service takes time, so nothing that is decided later changes who was
    // eligible there by then.
    while let Some((now, node)) = waiting.iter().map(|w| (w.eligible.max(free_at[w.node]), w.node)).min() {
        let eligible: Vec<usize> =
            (0..waiting.len()).filter(|&i| waiting[i].node == node && waiting[i].eligible <= now).collect();
        let chosen = waiting.remove(eligible[stream.below(eligible.len() as u64) as usize]);
        starts[chosen.packet].push(now);
        let done = now + instance.service(chosen.packet, chosen.hop);
        free_at[node] = done;
        if chosen.hop + 1 < instance.hops(chosen.packet) {
            arrive(&mut waiting, &mut stream, chosen.packet, chosen.hop + 1, done);
        }
    }
    Record::from_starts(instance, &starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Flow, Node, Packet, Shape};

    #[test]
    fn the_arbitrary_scheduler_makes_viable_schedules() {
        let mut idle = 0;
        for index in 0..2_000 {
            let instance = Instance::random(Shape::hops(5), 3, index);
            let record = random(&instance, 3, index);
            record.check(&instance).expect("viable");
            // Not work-conserving: a packet waits although its node has nothing to do until it starts.
            idle += record.hops.iter().flatten().filter(|h| h.start > h.arrive).count();
        }
        assert!(idle > 1_000, "{idle}");
    }

    #[test]
    fn the_check_sees_overlap_and_haste() {
        let instance = Instance {
            nodes: vec![Node { per_size: 2 }],
            flows: vec![Flow { path: vec![0], delays: vec![3, 0] }],
            packets: vec![Packet { flow: 0, size: 1, arrival: 0 }, Packet { flow: 0, size: 1, arrival: 1 }],
        };
        let check =
            |first, second| Record::from_starts(&instance, &[vec![first], vec![second]]).check(&instance);
        assert_eq!(check(3, 5), Ok(()));
        assert_eq!(check(7, 4), Ok(()));
        assert!(check(2, 5).unwrap_err().contains("before it arrives"));
        assert!(check(3, 4).unwrap_err().contains("at once"));
        let mut record = Record::from_starts(&instance, &[vec![3], vec![5]]);
        record.exit[1] += 1;
        assert!(record.check(&instance).unwrap_err().contains("does not leave"));
    }
}
