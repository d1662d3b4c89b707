//! Numbers of flows and destinations for the machines, in the order in which they are first seen.

use crate::header::Tuple;
use std::collections::HashMap;
use thalweg_units::{FlowId, HostId};

/// Number of flows with numbers of their own; later ones share numbers.
const MOST: u32 = 1 << 20;

/// Flows and destinations of one direction.
#[derive(Debug, Default)]
pub struct Flows {
    flows: HashMap<Tuple, u32>,
    hosts: HashMap<[u8; 16], u32>,
    /// The last lookup, because packets of a flow often follow each other.
    last: Option<(Tuple, FlowId, HostId)>,
}

impl Flows {
    /// The numbers of a packet's flow and destination.
    pub fn of(&mut self, tuple: &Tuple) -> (FlowId, HostId) {
        if let Some((last, flow, host)) = self.last
            && last == *tuple
        {
            return (flow, host);
        }
        let (flow, host) = (number(&mut self.flows, *tuple), number(&mut self.hosts, tuple.dst));
        self.last = Some((*tuple, FlowId(flow), HostId(host)));
        (FlowId(flow), HostId(host))
    }

    /// Number of flows seen; above a million they are not counted.
    pub fn seen(&self) -> usize {
        self.flows.len()
    }
}

fn number<K: std::hash::Hash + Eq + Fold>(known: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = known.len() as u32;
    if let Some(number) = known.get(&key) {
        return *number;
    }
    if next == MOST {
        return key.fold() % MOST;
    }
    known.insert(key, next);
    next
}

/// A hash of all bytes.
trait Fold {
    fn fold(&self) -> u32;
}

fn fold(bytes: &[u8], from: u32) -> u32 {
    bytes.iter().fold(from, |sum, byte| sum.wrapping_mul(0x0100_0193) ^ u32::from(*byte)) // FNV-1
}

impl Fold for [u8; 16] {
    fn fold(&self) -> u32 {
        fold(self, 0)
    }
}

impl Fold for Tuple {
    fn fold(&self) -> u32 {
        let [a, b] = self.ports.map(u32::from);
        fold(&self.src, fold(&self.dst, a << 16 ^ b ^ u32::from(self.protocol) << 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_numbered_as_they_come_and_destinations_by_themselves() {
        let tuple = |port: u16, to: u8| Tuple { src: [1; 16], dst: [to; 16], ports: [port, 80], protocol: 6 };
        let mut flows = Flows::default();
        let of = [(9, 2), (8, 2), (9, 2), (9, 3)].map(|(port, to)| flows.of(&tuple(port, to)));
        let ids = [(0, 0), (1, 0), (0, 0), (2, 1)].map(|(flow, host)| (FlowId(flow), HostId(host)));
        assert_eq!((of, flows.seen()), (ids, 3));
    }

    #[test]
    fn what_comes_after_a_million_shares_numbers() {
        let mut flows = Flows::default();
        let tuple =
            |n: u32| Tuple { src: [0; 16], dst: [0; 16], ports: [(n >> 16) as u16, n as u16], protocol: 17 };
        for n in 0..MOST + 1000 {
            let (flow, _) = flows.of(&tuple(n));
            assert!(flow.0 < MOST && (n >= MOST || flow.0 == n));
        }
        assert_eq!((flows.seen(), flows.of(&tuple(7)).0), (MOST as usize, FlowId(7)));
    }
}
