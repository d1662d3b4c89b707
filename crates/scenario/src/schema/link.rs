//! `[[link]]`: links that differ from what the topology makes, and the queues in front of them. The kinds of
//! transmitters, losses and jitter, with their keys and defaults, are declared with the machines, in
//! `thalweg_machines::link`.

use super::{Marking, marking};
use crate::quantity::Capacity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::link::{JitterParams, LossSpec, TransmitterKind};

/// Links that differ from what the topology makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Which links the section applies to.
    pub which: WhichLinks,
    /// Which directions of these links.
    #[serde(default)]
    pub direction: Direction,
    /// How the transmitter sends: its rate over time. If not given, at the fixed rate that the topology gives. Loads,
    /// base round trips, bandwidth-delay products and ideal completion times use the long-term mean rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmitter: Option<TransmitterKind>,
    /// Random losses of packets on the link. If not given, none is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Random delay added to each packet's propagation delay. If not given, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterParams>,
    /// Buffer of the switch ports that send on these links. If not given, as `switch.buffer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Capacity>,
    /// Marking at the switch ports that send on these links. If not given, as `switch.marking`. For all ports to hosts:
    /// `which = "host-links"` and `direction = "backward"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "marking::inside_a_queue_or_none")]
    pub marking: Option<Marking>,
}

/// A choice of links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum WhichLinks {
    /// All links.
    All,
    /// Links of hosts; forward is from the host. Of a host with several links, those to its widest network, the one
    /// that reaches most hosts.
    HostLinks,
    /// Links of hosts to networks other than their widest: those of GPUs to NVSwitches. Forward is from the host.
    ServerLinks,
    /// Links between a switch with hosts and another switch; forward is from the node that the topology names first.
    CoreLinks,
    /// Links between two given nodes; forward is from the first to the second.
    Between {
        /// The two ends, by number or name. If several links join them, all of them.
        #[schemars(extend("examples" = [["switch0", "switch1"]], "x-node" = "node"))]
        ends: [u32; 2],
    },
    /// Single directions, by port number: link l is port 2l from its first node and port 2l + 1 from its second.
    Ports {
        /// Port numbers, as in the table `ports` of the results.
        #[schemars(extend("examples" = [[4, 5]]))]
        ports: Vec<u32>,
    },
}

/// Directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Both directions.
    #[default]
    Both,
    /// From the host, or from the first node.
    Forward,
    /// To the host, or to the first node.
    Backward,
}
