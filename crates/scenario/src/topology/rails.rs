//! A cluster of GPU servers on rails: GPUs at the same position of their servers share leaves, and the GPUs of a server
//! share an NVSwitch.
//!
//! ```text
//! CHOICE: links to the NVSwitch are links like others, with packets, and an NVSwitch is a switch like others, with the
//! buffers and the marking of [switch]; [[link]] can set others. GPUs do not forward: flows from one rail to another
//! cross the spines. (NCCL's PXN, which first goes over the NVSwitch to the GPU on the receiver's rail, is two flows.)
//! ```

use super::declare::default;
use super::{Delays, Family, Graph, MOST_LINKS};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// GPU servers on rails: every GPU is a host with a link to the leaf of its rail, and one to the NVSwitch of its
/// server, which flows within the server take (Wang et al., HOTI 2024).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rails {
    /// Number of servers.
    #[schemars(range(min = 1, max = 100_000))]
    pub servers: u32,
    /// Number of GPUs of each server, which is the number of rails. Host h is GPU h mod gpus of server h / gpus.
    #[schemars(range(min = 2, max = 1_000))]
    pub gpus: u32,
    /// Number of servers that share a set of leaves, one leaf for each rail. If not given, all servers.
    #[schemars(range(min = 1, max = 100_000))]
    pub servers_per_leaf: Option<u32>,
    /// Number of spines; every leaf is linked to every spine. 0: the rails are not connected, and flows from one rail
    /// to another are refused.
    #[schemars(range(min = 0, max = 10_000))]
    pub spines: u32,
    /// Links between each leaf and each spine.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub links_per_pair: u32,
    /// Rate of the links from GPUs to leaves, each direction.
    #[serde(default = "host_rate")]
    pub host_rate: Q<Rate>,
    /// Rate of every leaf–spine link, each direction. If not given, as `host_rate`. Only with spines.
    pub spine_rate: Option<Q<Rate>>,
    /// Rate of the links from GPUs to their NVSwitch, each direction.
    #[serde(default = "nvlink_rate")]
    pub nvlink_rate: Q<Rate>,
    /// One-way propagation delay of the links from GPUs to their NVSwitch.
    #[serde(default = "nvlink_delay")]
    pub nvlink_delay: Q<Span>,
    /// One-way propagation delay of the other links; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path between leaves in the
    /// empty network, serialisation at every hop included; the delay of the links is computed from it.
    pub base_rtt: Option<Q<Span>>,
}

fn host_rate() -> Q<Rate> {
    Q::of("400Gbps")
}

fn nvlink_rate() -> Q<Rate> {
    // NVLink 4: 18 links of 25 GB/s each way.
    Q::of("3600Gbps")
}

fn nvlink_delay() -> Q<Span> {
    // The default of SimAI's generator of topologies.
    Q::of("25ns")
}

impl Rails {
    /// Number of sets of leaves.
    fn groups(&self) -> u32 {
        self.servers.div_ceil(self.servers_per_leaf.unwrap_or(self.servers).max(1))
    }
}

impl Family for Rails {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let (gpus, groups) = (self.gpus, self.groups());
        let all = u64::from(self.servers) * u64::from(gpus);
        let leaves = u64::from(groups) * u64::from(gpus);
        let up = leaves * u64::from(self.spines) * u64::from(self.links_per_pair);
        if 2 * all + up > MOST_LINKS {
            let reason = format!("the network would have {} links", 2 * all + up);
            return Err(cx.error("topology", reason, format!("at most {MOST_LINKS}")));
        }
        if self.servers_per_leaf.is_some_and(|each| each > self.servers) {
            let reason = format!("it is more than the {} servers that there are", self.servers);
            return Err(cx.error("topology.servers_per_leaf", reason, "lower it or remove the key"));
        }
        let useless =
            [("spine_rate", self.spine_rate.is_some()), ("links_per_pair", self.links_per_pair > 1)];
        if let Some((key, _)) = useless.into_iter().find(|(_, given)| *given && self.spines == 0) {
            let reason = "it has no effect: there are no spines";
            return Err(cx.error(&format!("topology.{key}"), reason, "remove the key"));
        }
        let (hosts, leaves) = (all as u32, leaves as u32);
        let tiers = [("leaf", leaves), ("spine", self.spines), ("nv", self.servers)];
        let mut g = Graph::tiers(hosts, &tiers);
        let (spine, nvswitch) = (hosts + leaves, hosts + leaves + self.spines);
        let each = self.servers_per_leaf.unwrap_or(self.servers);
        for h in 0..hosts {
            g.link(h, hosts + h / gpus / each * gpus + h % gpus, self.host_rate, Span::ZERO);
        }
        let spine_rate = self.spine_rate.unwrap_or(self.host_rate);
        for leaf in 0..leaves {
            for place in 0..self.spines {
                for _ in 0..self.links_per_pair {
                    g.link(hosts + leaf, spine + place, spine_rate, Span::ZERO);
                }
            }
        }
        for h in 0..hosts {
            g.link(h, nvswitch + h / gpus, self.nvlink_rate, self.nvlink_delay.0);
        }
        Ok(g)
    }

    fn delays(&mut self) -> Option<Delays<'_>> {
        let own = self.servers as usize * self.gpus as usize;
        Some(Delays { own, ..Delays::alike(&mut self.delay, &mut self.base_rtt) })
    }

    fn resolve(&mut self) {
        self.servers_per_leaf.get_or_insert(self.servers);
        if self.spines > 0 {
            self.spine_rate.get_or_insert(self.host_rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, PacketSizes};
    use std::path::Path;
    use thalweg_net::spec::NetworkSpec;
    use thalweg_units::{NodeId, Span};

    fn load(topology: &str, traffic: &str) -> Result<(Graph, NetworkSpec), String> {
        let doc = format!("[topology]\nkind = \"rails\"\n{topology}\n[[traffic]]\n{traffic}\n");
        let s = crate::load(&doc, "t.toml", Path::new("."), &[]).map_err(|e| e[0].to_string())?;
        let network = s.network().map_err(|e| e.to_string())?;
        Ok((s.graph().clone(), network))
    }

    const ALL: &str = "kind = \"all-to-all\"\nsize = \"1MB\"";

    /// Six servers of four GPUs, two servers on a set of leaves: 12 leaves, each with two GPUs.
    #[test]
    fn gpus_of_one_place_share_leaves_and_those_of_a_server_an_nvswitch() {
        let (g, net) =
            load("servers = 6\ngpus = 4\nservers_per_leaf = 2\nspines = 3\nbase_rtt = \"16us\"", ALL)
                .expect("a network");
        assert_eq!((g.hosts, g.nics(), g.switches, g.links.len()), (24, 48, 12 + 3 + 6, 24 + 36 + 24));
        let at = |node: &str| g.names.find(node).expect("a node");
        assert_eq!([at("h23"), at("h0.1"), at("leaf0"), at("nv5")], [23, 24, 48, 68]);
        let racks = g.racks();
        // Servers 0 and 1 are on leaves 0 to 3, servers 2 and 3 on leaves 4 to 7.
        let leaves = [0, 5, 8, 15].map(|host: usize| g.names.of(racks[host].0));
        assert_eq!(leaves, ["leaf0", "leaf1", "leaf4", "leaf7"]);
        assert_eq!(g.names.of(racks[24 + 23].0), "nv5");
        // The way out and back over four links, of 400 Gb/s: 4 × 30 ns + 4 × 0.8 ns, the rest by their delays.
        assert_eq!(g.base_rtt(PacketSizes { full: 1500, ack: 40 }), Span::from_us(16));
        assert_eq!((g.links[60].delay(), g.links[0].delay()), (Span::from_ns(25), Span::from_ps(1_984_600)));
        // Within servers by NVLink, and by nothing else.
        for flow in &net.flows {
            let own = [flow.src, flow.dst].map(|nic| net.host_of(nic).0 / 4);
            let inside = [flow.src, flow.dst].map(|nic| nic.0 >= 24);
            assert_eq!(inside, [own[0] == own[1]; 2]);
        }
        assert!(g.is_wide(NodeId(23)) && !g.is_wide(NodeId(24)));
    }

    #[test]
    fn without_spines_nothing_leaves_its_rail_but_by_way_of_another_gpu() {
        let rails = "servers = 2\ngpus = 2\nspines = 0";
        let wrong = load(rails, ALL).expect_err("no path").replace('`', "");
        let reason = "no path joins host 0 to host 3: their links lead into separate networks";
        assert!(wrong.contains(reason), "{wrong}");
        let (_, net) =
            load(rails, "kind = \"hierarchical-all-reduce\"\ngroup = 2\nsize = \"1MB\"").expect("rails");
        assert_eq!(net.flows.len(), 4 * 4);
        let unused = load(&format!("{rails}\nspine_rate = \"1Gbps\""), ALL).expect_err("no spines");
        assert!(unused.contains("topology.spine_rate") && unused.contains("no effect"), "{unused}");
    }
}
