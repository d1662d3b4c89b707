//! `[switch]` and `[nic]`: output queues and memory.

use super::{CongestionPoint, Inputs, Marking, NicOrder, Relief, Scheduler, defaults, marking};
use crate::quantity::{Capacity, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::pause::{Effects, Parameters, PauseSpec, Site};
use thalweg_machines::sharing::SharingSpec;
use thalweg_units::Bytes;

/// Declares a table of scenarios with, in addition to its own keys, one key `NAME` for each pause policy of the list.
macro_rules! with_pauses {
    ({ $(#[$meta:meta])* pub struct $table:ident { $($field:tt)* } } $($module:ident: $policy:ident, $doc:literal;)*) => {
        $(#[$meta])*
        pub struct $table {
            $($field)*
            $(
                #[doc = $doc]
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $module: Option<thalweg_machines::pause::$module::Params>,
            )*
        }

        impl $table {
            /// The policies that are given; validation refuses more than one.
            pub(crate) fn pauses(&self) -> impl Iterator<Item = PauseSpec> {
                [$(self.$module.map(PauseSpec::$policy)),*].into_iter().flatten()
            }

            /// Fills in the keys of the policies whose defaults depend on the switches.
            pub(crate) fn settle_pauses(&mut self, at: &Site) {
                $(self.$module.iter_mut().for_each(|own| own.settle(at));)*
            }
        }
    };
}

thalweg_machines::pause_policies!(with_pauses! {
    /// Output queues and memory of switches.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct Switch {
        /// The scheduler: which packet leaves next, and which is dropped when the buffer is full.
        #[serde(default)]
        pub scheduler: Scheduler,
        /// Buffer of each port, for all its queues together. The packet in transmission does not count, but packets
        /// that arrive at the same instant all do, also the one that will be sent first. If not given, `500KB`; with
        /// `inputs`, `shared_buffer` or the scheduler `policy`, `"unlimited"`.
        pub buffer: Option<Capacity>,
        /// Active queue management: whether and when packets are marked or dropped before the buffer is full.
        /// Thresholds are compared with all bytes or packets that wait at the port, over all classes and queues.
        #[serde(default)]
        #[schemars(schema_with = "marking::inside_a_queue")]
        pub marking: Marking,
        /// Further stages in front of `marking`, passed in this order: for example a policer before an AQM. Each stage
        /// sees the packets that the stages before it let through, and the same queue.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(schema_with = "marking::in_front_of_a_queue")]
        pub stages: Vec<Marking>,
        /// Memory shared by all ports of a switch, instead of a `buffer` for each. A port is then limited by its share
        /// alone, and in addition by `buffer` if that is given, too.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shared_buffer: Option<SharedBuffer>,
        /// Memory accounted to the input at which packets arrived, instead of limits of output queues. PFC and the
        /// other pause policies need it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub inputs: Option<Inputs>,
        /// What switches do about packets that a pause holds although their own further path is free (head-of-line
        /// blocking), or about ports that wait for each other in a cycle. Needs `pfc` and the scheduler `fifo`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub relief: Option<Relief>,
        /// Strict priority for control packets (ACKs, NACKs, notifications and connection set-up) at every port, of
        /// hosts, too. They do not count against the memory of switches, and pauses do not stop them, except at a NIC
        /// with `nic.pause_control`.
        #[serde(default)]
        pub control_first: bool,
        /// Congestion points: switch ports send notifications to the sources of the flows that pass them, for
        /// controllers that use these.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub congestion_point: Option<CongestionPoint>,
        /// A packet that the scheduler ranks first interrupts the one in transmission, which later resumes where it
        /// stopped. Needs a scheduler that can rank a later packet before the one in transmission; not those that serve
        /// queues in turn.
        #[serde(default)]
        pub preemptive: bool,
        /// Another scheduler at some of the switches, with the same buffer and marking.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mix: Option<Mix>,
        /// Cut-through: a packet is forwarded as soon as this many of its bytes have arrived. `0B`: store and forward.
        #[serde(default)]
        pub cut_through: Q<Bytes>,
    }
});

impl Switch {
    /// The pause policy; a valid scenario has at most one.
    pub(crate) fn pause(&self) -> Option<PauseSpec> {
        self.pauses().next()
    }

    /// The effects of the pause policy on neighbours.
    pub(crate) fn pause_effects(&self) -> Option<Effects> {
        self.pause().map(|policy| policy.effects())
    }

    /// True if the pause policy stops whole ports.
    pub(crate) fn stops_ports(&self) -> bool {
        self.pause_effects().is_some_and(|effects| effects.stops_ports())
    }

    /// True if the pause policy stops whole ports and no relief drops packets to let them resume.
    pub(crate) fn keeps_packets(&self) -> bool {
        self.stops_ports() && !self.relief.as_ref().is_some_and(|relief| relief.drops())
    }

    /// True if a packet that does not fit is trimmed to its header, by the scheduler or by the policy of the shared
    /// memory.
    pub(crate) fn trims(&self) -> bool {
        self.scheduler.needs().trims.is_some()
            || self.shared_buffer.as_ref().is_some_and(|shared| shared.sharing.needs().trims)
    }

    /// The buffer of one port.
    pub(crate) fn room(&self) -> Capacity {
        // A limit of 500 KB per port would keep a shared memory of megabytes from ever filling up.
        let shares = self.inputs.is_some() || self.shared_buffer.is_some();
        let unlimited = || shares || self.scheduler.needs().sizes_itself;
        self.buffer.unwrap_or_else(|| if unlimited() { Capacity::Unlimited } else { default::buffer() })
    }
}

/// Output queues of hosts. A host's queue runs the scheduler of the switches unless another is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// NIC scheduling: from which flow the next packet is taken.
    #[serde(default)]
    #[schemars(extend("x-renamed-kinds" = { "circle": "hpcc-simulator" }))]
    pub order: NicOrder,
    /// A pause stops ACKs, NACKs and notifications of the host, too, not only data. `false` needs
    /// `switch.control_first`, or a NIC `order` that pulls.
    #[serde(default = "default::yes")]
    pub pause_control: bool,
    /// The scheduler of the host's queue. If not given, as `switch.scheduler`; `fifo` if that one works in switches
    /// only, or sorts by slack, or if `order` pulls.
    pub scheduler: Option<Scheduler>,
    /// Buffer of the host's port. If not given, as `switch.buffer`; `"unlimited"` if `order` pulls.
    pub buffer: Option<Capacity>,
    /// Marking in the host's queue. If not given, as `switch.marking`; `"none"` if `order` pulls.
    #[serde(default)]
    #[schemars(schema_with = "marking::inside_a_queue_or_none")]
    pub marking: Option<Marking>,
    /// Further stages in front of `marking`. If not given, none, even if `switch.stages` has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "marking::in_front_of_a_queue")]
    pub stages: Vec<Marking>,
}

impl Default for Nic {
    fn default() -> Self {
        Self {
            order: NicOrder::default(),
            pause_control: true,
            scheduler: None,
            buffer: None,
            marking: None,
            stages: Vec::new(),
        }
    }
}

/// Memory shared by all ports of a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    /// Size of the memory of each switch.
    #[schemars(extend("x-quantity" = "room"))]
    pub total: Q<Bytes>,
    /// The sharing policy: which packets are admitted, and which are pushed out to make room.
    #[serde(default)]
    pub sharing: SharingSpec,
}

/// Another scheduler at some of the switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The scheduler that these switches run instead of `switch.scheduler`.
    #[schemars(extend("examples" = ["lstf"]))]
    pub scheduler: Scheduler,
    /// Which switches run it.
    #[serde(default)]
    pub nodes: Nodes,
}

/// A choice of switches.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Nodes {
    /// Switches with odd node numbers.
    // CHOICE UPS §2.3: half of the routers run another scheduler; which half is not said.
    #[default]
    Odd,
    /// Switches with even node numbers.
    Even,
    /// The given switches.
    Listed {
        /// Switches by node number (switches are numbered after the hosts) or by name.
        #[schemars(extend("x-node" = "node"))]
        nodes: Vec<u32>,
    },
}

impl Nodes {
    /// True if the node is among them.
    pub(crate) fn has(&self, node: u32) -> bool {
        match self {
            Self::Odd => !node.is_multiple_of(2),
            Self::Even => node.is_multiple_of(2),
            Self::Listed { nodes } => nodes.contains(&node),
        }
    }
}

defaults! {
    buffer: Capacity = Capacity::Bytes(Bytes::kb(500)); // ads §2.2
    yes: bool = true;
}
