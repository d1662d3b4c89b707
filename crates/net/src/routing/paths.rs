//! Whole paths through the tables: by what picks among equals, by the switches that are given, of a flow.

use super::{RouteError, Routes};
use crate::spec::{FlowSpec, NetworkSpec, RouteSpec};
use thalweg_machines::route::{Ends, Pick};
use thalweg_units::{FlowId, HostId, NodeId, PortId};

impl Routes {
    /// Appends the ports from `src` to `dst` to `path`; false if there is a gap, and then only the first part.
    pub fn path(&self, src: HostId, dst: HostId, pick: Pick, path: &mut Vec<PortId>) -> bool {
        let mut port = self.nic(src);
        path.push(port);
        while self.peer(port) != NodeId(dst.0) {
            let at = self.peer(port);
            // Hosts do not forward.
            let Some(next) = (!self.is_nic(at)).then(|| self.next(at, dst, pick)).flatten() else {
                return false;
            };
            port = next;
            path.push(port);
        }
        true
    }

    /// Appends the ports through the given switches.
    ///
    /// # Errors
    /// If two consecutive nodes are not joined by a link.
    pub fn pinned(
        &self,
        flow: u32,
        src: HostId,
        dst: HostId,
        via: &[NodeId],
        path: &mut Vec<PortId>,
    ) -> Result<(), RouteError> {
        let mut port = self.nic(src);
        path.push(port);
        let broken = |from: NodeId, to: NodeId| RouteError::NotAPath { flow, from: from.0, to: to.0 };
        if let Some(&first) = via.first()
            && self.peer(port) != first
        {
            return Err(broken(NodeId(src.0), first));
        }
        for (i, &node) in via.iter().enumerate() {
            let to = via.get(i + 1).copied().unwrap_or(NodeId(dst.0));
            let found = (0..self.peer.len()).step_by(2).find_map(|p| {
                let (a, b) = (self.peer[p + 1], self.peer[p]);
                if (a, b) == (node, to) {
                    Some(PortId::from(p))
                } else if (b, a) == (node, to) {
                    Some(PortId::from(p + 1))
                } else {
                    None
                }
            });
            port = found.ok_or_else(|| broken(node, to))?;
            path.push(port);
        }
        if self.peer(port) != NodeId(dst.0) {
            return Err(broken(self.peer(port), NodeId(dst.0)));
        }
        Ok(())
    }

    /// The ports that a flow's data pass, or those that come `back`; only the first part if there is a gap.
    pub fn of_flow(&self, network: &NetworkSpec, flow: FlowId, back: bool) -> Vec<PortId> {
        let ends = &network.flows[flow.at()];
        let (from, to) = if back { (ends.dst, ends.src) } else { (ends.src, ends.dst) };
        let mut path = Vec::new();
        match network.routing.paths().map(|paths| &paths[flow.at()]) {
            Some(pinned) => {
                let via = if back { &pinned.ack } else { &pinned.data };
                // What does not follow links is refused when the network is built.
                let _ = self.pinned(flow.0, from, to, via, &mut path);
            }
            None => {
                self.path(from, to, flow_pick(&network.routing.rule, flow, ends, back), &mut path);
            }
        }
        path
    }

    /// Links on the longest shortest path between hosts: an upper bound for path storage.
    pub fn diameter(&self) -> usize {
        let mut representatives = vec![(HostId::NONE, HostId::NONE); self.attachments as usize];
        for (host, &attachment) in self.attachment.iter().enumerate() {
            let (first, last) = &mut representatives[attachment as usize];
            if *first == HostId::NONE {
                *first = HostId::from(host);
            }
            *last = HostId::from(host);
        }
        let mut path = Vec::new();
        let mut longest = 1;
        for &(src, _) in &representatives {
            for &(_, dst) in representatives.iter().filter(|(_, dst)| *dst != src) {
                path.clear();
                self.path(src, dst, Pick::Modulo(0), &mut path);
                longest = longest.max(path.len());
            }
        }
        longest
    }
}

/// What picks the ports of one direction of a flow.
#[inline]
pub fn flow_pick(rule: &RouteSpec, flow: FlowId, ends: &FlowSpec, back: bool) -> Pick {
    rule.pick(&Ends { src: ends.src, dst: ends.dst, flow, back })
}
