//! What a scheduler is given: resources, paths, packets. And a generator of small random instances.
//!
//! As in the papers a *node* is one transmission resource, an output queue and its link, not a switch: packets of
//! all flows queue for the same server and may go on to different nodes. Whatever lies between nodes takes
//! propagation time only. Every node counts as a congestion point.
//!
//! All times are `i64` picoseconds: slack is signed, and so is everything it is added to.

use thalweg_units::Stream;

/// One unit of the worked examples, in picoseconds: 6 µs, so that halves, thirds and fifths are exact.
pub const UNIT: i64 = 6_000_000;

/// A resource: it serves one packet at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Picoseconds of service per unit of packet size, at least 1.
    pub per_size: i64,
}

/// A simple path through the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The nodes, in order, none of them twice.
    pub path: Vec<usize>,
    /// Propagation, ps: before the first node, between nodes, after the last; one more than nodes.
    pub delays: Vec<i64>,
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of its flow.
    pub flow: usize,
    /// Its length; service takes this many times the node's `per_size`.
    pub size: i64,
    /// i(p): when it enters the network, ps.
    pub arrival: i64,
}

/// Nodes, flows, packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The resources.
    pub nodes: Vec<Node>,
    /// The paths.
    pub flows: Vec<Flow>,
    /// The packets in order of (arrival, flow).
    pub packets: Vec<Packet>,
}

impl Instance {
    /// The path of packet `p`.
    pub fn path(&self, p: usize) -> &[usize] {
        &self.flows[self.packets[p].flow].path
    }

    /// How many nodes packet `p` passes.
    pub fn hops(&self, p: usize) -> usize {
        self.path(p).len()
    }

    /// Propagation, ps, of packet `p` before its hop `k` (`k` = hops: after the last).
    pub fn delay(&self, p: usize, k: usize) -> i64 {
        self.flows[self.packets[p].flow].delays[k]
    }

    /// T(p,α), ps, at hop `k`.
    pub fn service(&self, p: usize, k: usize) -> i64 {
        self.packets[p].size * self.nodes[self.path(p)[k]].per_size
    }

    /// t_min(p,α,dest), ps: from the arrival at hop `k` until the last bit is out of the network, the service
    /// at both ends included, if no other packet were there.
    pub fn t_min_from(&self, p: usize, k: usize) -> i64 {
        (k..self.hops(p)).map(|k| self.service(p, k) + self.delay(p, k + 1)).sum()
    }

    /// t_min(p,src,dest), ps.
    pub fn t_min(&self, p: usize) -> i64 {
        self.delay(p, 0) + self.t_min_from(p, 0)
    }
}

/// What random instances look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Every path has 1 to this many nodes.
    pub max_hops: usize,
    /// All packets have size 1, else 1 to 3.
    pub equal_sizes: bool,
}

impl Shape {
    /// Paths of at most `max_hops` nodes, packets of different sizes.
    pub const fn hops(max_hops: usize) -> Self {
        Self { max_hops, equal_sizes: false }
    }
}

/// Service per unit of size, in sixths of a [`UNIT`]: a half, one, one and a half, two, three.
const SIXTHS: [i64; 5] = [3, 6, 9, 12, 18];

impl Instance {
    /// Instance number `index` under `seed`: 1 to 9 nodes of random rate, 2 to 6 flows over random simple paths with
    /// propagation of 0 to 2 units per segment, 3 to 14 packets that arrive at whole units in [0, 12].
    pub fn random(shape: Shape, seed: u64, index: u64) -> Self {
        let mut stream = Stream::new(seed, "ups instance", index);
        let mut draw = |from: i64, to: i64| from + stream.below((to - from + 1) as u64) as i64;
        let nodes: Vec<Node> =
            (0..draw(1, 9)).map(|_| Node { per_size: UNIT / 6 * SIXTHS[draw(0, 4) as usize] }).collect();
        let flows: Vec<Flow> = (0..draw(2, 6))
            .map(|_| {
                let hops = draw(1, shape.max_hops.min(nodes.len()) as i64) as usize;
                let mut unused: Vec<usize> = (0..nodes.len()).collect();
                let path =
                    (0..hops).map(|_| unused.remove(draw(0, unused.len() as i64 - 1) as usize)).collect();
                Flow { path, delays: (0..=hops).map(|_| draw(0, 2) * UNIT).collect() }
            })
            .collect();
        let mut packets: Vec<Packet> = (0..draw(3, 14))
            .map(|_| Packet {
                flow: draw(0, flows.len() as i64 - 1) as usize,
                size: if shape.equal_sizes { 1 } else { draw(1, 3) },
                arrival: draw(0, 12) * UNIT,
            })
            .collect();
        packets.sort_by_key(|p| (p.arrival, p.flow));
        Self { nodes, flows, packets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_min_counts_both_ends_and_every_wire() {
        let instance = Instance {
            nodes: vec![Node { per_size: UNIT }, Node { per_size: UNIT / 2 }],
            flows: vec![Flow { path: vec![0, 1], delays: vec![UNIT, 2 * UNIT, 0] }],
            packets: vec![Packet { flow: 0, size: 2, arrival: 0 }],
        };
        assert_eq!(instance.t_min_from(0, 1), UNIT);
        assert_eq!(instance.t_min_from(0, 0), 5 * UNIT);
        assert_eq!(instance.t_min(0), 6 * UNIT);
    }

    #[test]
    fn random_instances_are_as_declared() {
        for index in 0..2_000 {
            let i = Instance::random(Shape::hops(3), 7, index);
            assert!((1..=9).contains(&i.nodes.len()) && (2..=6).contains(&i.flows.len()));
            assert!((3..=14).contains(&i.packets.len()));
            for flow in &i.flows {
                assert!((1..=3).contains(&flow.path.len()) && flow.delays.len() == flow.path.len() + 1);
                let mut seen = flow.path.clone();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), flow.path.len(), "a node twice");
            }
            assert!(i.packets.is_sorted_by_key(|p| (p.arrival, p.flow)));
        }
    }
}
