//! Exhaustive search: which orders of service at the first node can be completed to a replay at all?
//!
//! Tried are all orders at all nodes, each served as early as it can be (waiting for the next in the order even if
//! others are there): if any schedule with that order is in time, this one is. Packets may be cut into equal
//! parts whose orders are tried too, which covers preemption at their borders. Packets visit nodes in
//! rising order of index, as in the counter-examples.

use crate::instance::Instance;

/// What the search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Orders at node 0, as packets (one entry per part), that can be completed in time.
    pub feasible: Vec<Vec<usize>>,
    /// Orders at node 0 that there are.
    pub orders: u64,
    /// Placements of a part tried, at any node.
    pub placements: u64,
}

struct State<'a> {
    instance: &'a Instance,
    due: &'a [i64],
    parts: i64,
    /// Per node: packets with the hop at which they come there.
    visitors: Vec<Vec<(usize, usize)>>,
    /// Per packet: arrival at the node it goes to next.
    ready: Vec<i64>,
    /// Per packet: parts still to be served at this node.
    left: Vec<i64>,
    placements: u64,
}

/// Searches all orders at all nodes for replays in which every packet is out by `due` (ps), packets cut into
/// `parts` (which must divide service times).
///
/// # Panics
/// If a path does not visit nodes in rising order, or service times are not multiples of `parts`.
pub fn search(instance: &Instance, due: &[i64], parts: i64) -> Search {
    let mut visitors = vec![Vec::new(); instance.nodes.len()];
    for p in 0..instance.packets.len() {
        assert!(instance.path(p).is_sorted(), "nodes are searched in order of index");
        for (k, &node) in instance.path(p).iter().enumerate() {
            assert_eq!(instance.service(p, k) % parts, 0, "parts of whole picoseconds");
            visitors[node].push((p, k));
        }
    }
    let arrive = |(p, packet): (usize, &crate::instance::Packet)| packet.arrival + instance.delay(p, 0);
    let ready = instance.packets.iter().enumerate().map(arrive).collect();
    let left = vec![0; instance.packets.len()];
    let mut state = State { instance, due, parts, visitors, ready, left, placements: 0 };
    let mut found = Search::default();
    let first: Vec<usize> = state.visitors[0].iter().map(|v| v.0).collect();
    let pool: Vec<usize> = first.iter().flat_map(|&p| (0..parts).map(move |_| p)).collect();
    let mut orders = Vec::new();
    arrangements(&pool, &mut Vec::new(), &mut orders);
    for order in orders {
        found.orders += 1;
        state.left.iter_mut().for_each(|l| *l = 0);
        first.iter().for_each(|&p| state.left[p] = parts);
        if state.serve(0, i64::MIN, Some(&order)) {
            found.feasible.push(order);
        }
    }
    found.placements = state.placements;
    found
}

/// All distinct orders of `pool`, which is sorted.
fn arrangements(pool: &[usize], taken: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
    if pool.is_empty() {
        orders.push(taken.clone());
    }
    for i in 0..pool.len() {
        if i > 0 && pool[i] == pool[i - 1] {
            continue;
        }
        let mut rest = pool.to_vec();
        taken.push(rest.remove(i));
        arrangements(&rest, taken, orders);
        taken.pop();
    }
}

impl State<'_> {
    /// Can what is left at `node`, free from `free` on, and at all later nodes be served in time? `order`:
    /// only in this one.
    fn serve(&mut self, node: usize, free: i64, order: Option<&[usize]>) -> bool {
        if self.visitors[node].iter().all(|&(p, _)| self.left[p] == 0) {
            if node + 1 == self.visitors.len() {
                return true;
            }
            for i in 0..self.visitors[node + 1].len() {
                self.left[self.visitors[node + 1][i].0] = self.parts;
            }
            let done = self.serve(node + 1, i64::MIN, None);
            for i in 0..self.visitors[node + 1].len() {
                self.left[self.visitors[node + 1][i].0] = 0;
            }
            return done;
        }
        for i in 0..self.visitors[node].len() {
            let (p, k) = self.visitors[node][i];
            if self.left[p] == 0 || order.is_some_and(|order| order[0] != p) {
                continue;
            }
            self.placements += 1;
            let ready = self.ready[p];
            let part = self.instance.service(p, k) / self.parts;
            let end = ready.max(free) + part;
            self.left[p] -= 1;
            // What still must follow, uncontended; later is too late.
            let rest = self.left[p] * part + self.instance.delay(p, k + 1) + self.after(p, k + 1);
            let done = end + rest <= self.due[p] && {
                if self.left[p] == 0 {
                    self.ready[p] = end + self.instance.delay(p, k + 1);
                }
                let done = self.serve(node, end, order.map(|order| &order[1..]));
                self.ready[p] = ready;
                done
            };
            self.left[p] += 1;
            if done {
                return true;
            }
        }
        false
    }

    fn after(&self, p: usize, k: usize) -> i64 {
        if k == self.instance.hops(p) { 0 } else { self.instance.t_min_from(p, k) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Flow, Node, Packet};

    #[test]
    fn two_packets_one_server() {
        let instance = Instance {
            nodes: vec![Node { per_size: 2 }],
            flows: vec![Flow { path: vec![0], delays: vec![0, 0] }; 2],
            packets: vec![Packet { flow: 0, size: 1, arrival: 0 }, Packet { flow: 1, size: 1, arrival: 0 }],
        };
        let feasible = |due: [i64; 2], parts| search(&instance, &due, parts).feasible;
        assert_eq!(feasible([2, 4], 1), [vec![0, 1]]);
        assert_eq!(feasible([4, 4], 1), [vec![0, 1], vec![1, 0]]);
        assert!(feasible([3, 3], 2).is_empty());
        assert_eq!(feasible([3, 4], 2), [vec![0, 0, 1, 1], vec![0, 1, 0, 1], vec![1, 0, 0, 1]]);
        assert_eq!(search(&instance, &[9, 9], 2).orders, 6);
    }
}
