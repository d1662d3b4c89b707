//! `[[link]]`: links that are not as the topology makes them, and the queues in front of them. What transmitters,
//! losses and jitter there are, their keys and their defaults stand with the machines, in `thalweg_machines::link`.

use super::{Marking, marking};
use crate::quantity::Capacity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::link::{JitterParams, LossSpec, TransmitterKind};

/// Links that are not as the topology makes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Which links.
    pub which: WhichLinks,
    /// Which directions of them.
    #[serde(default)]
    pub direction: Direction,
    /// When packets leave; at the topology's rate if not given. What needs one number for the rate (loads,
    /// base round trips, bandwidth-delay products, ideal completion times) takes the mean in the long run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmitter: Option<TransmitterKind>,
    /// What does not arrive, by chance; everything does if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// What is added to the delay of each packet, by chance; nothing if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterParams>,
    /// What the ports of switches may hold that send on them; as `switch.buffer` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Capacity>,
    /// Marking at those ports; as `switch.marking` if not given. With `which = "host-links"` and
    /// `direction = "backward"` it is that of all ports to hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "marking::inside_a_queue_or_none")]
    pub marking: Option<Marking>,
}

/// Which links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum WhichLinks {
    /// All.
    All,
    /// Those of hosts; forward is from the host. Of a host with several links those to its widest network.
    HostLinks,
    /// Those of hosts to narrower networks than their widest: GPUs' links to NVSwitches; forward is from the host.
    ServerLinks,
    /// Those from a switch with hosts to another switch; forward is from the first node that the topology names.
    CoreLinks,
    /// Those between two nodes; forward is from the first to the second.
    Between {
        /// Their two ends, by number or name; all links between them if there are several.
        #[schemars(extend("examples" = [["switch0", "switch1"]], "x-node" = "node"))]
        ends: [u32; 2],
    },
    /// Single directions: link l is port 2l from its first node and 2l + 1 from its second.
    Ports {
        /// By number, as the table `ports` has them.
        #[schemars(extend("examples" = [[4, 5]]))]
        ports: Vec<u32>,
    },
}

/// Which directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Both.
    #[default]
    Both,
    /// From the host, or from the first node.
    Forward,
    /// The other one.
    Backward,
}
