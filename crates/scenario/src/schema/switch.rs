//! `[switch]` and `[nic]`: output queues.

use super::{CongestionPoint, Inputs, Marking, NicOrder, Relief, Scheduler, defaults, marking};
use crate::quantity::{Capacity, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::pause::{Effects, Parameters, PauseSpec, Site};
use thalweg_machines::sharing::SharingSpec;
use thalweg_units::Bytes;

/// A table of scenarios, and in it one for each pause policy of the list: `switch.NAME`.
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
            /// The policies that are written; more than one are refused.
            pub(crate) fn pauses(&self) -> impl Iterator<Item = PauseSpec> {
                [$(self.$module.map(PauseSpec::$policy)),*].into_iter().flatten()
            }

            /// Writes down what of them follows from the switches.
            pub(crate) fn settle_pauses(&mut self, at: &Site) {
                $(self.$module.iter_mut().for_each(|own| own.settle(at));)*
            }
        }
    };
}

thalweg_machines::pause_policies!(with_pauses! {
    /// Output queues of switches.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct Switch {
        /// Which packet leaves next, and which is given up when the buffer is full.
        #[serde(default)]
        pub scheduler: Scheduler,
        /// What one port may hold, all its queues together; the packet being transmitted does not count, but of those
        /// that arrive at one instant none is transmitted yet. `500KB` if not given; with `inputs`, `shared_buffer` or
        /// the scheduler `policy`, `"unlimited"`.
        pub buffer: Option<Capacity>,
        /// Whether and when packets are marked or dropped before the buffer is full. Thresholds are compared with what
        /// waits at the port in all its classes and queues together.
        #[serde(default)]
        #[schemars(schema_with = "marking::inside_a_queue")]
        pub marking: Marking,
        /// What else packets pass on their way to `marking`, in this order: a policer in front of an AQM, say. Each
        /// sees what those before it let through, and the queue behind them all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(schema_with = "marking::in_front_of_a_queue")]
        pub stages: Vec<Marking>,
        /// Memory shared by all ports of a switch; without it every port has its own `buffer`. With it a port has no
        /// limit but its share, unless `buffer` is written too.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shared_buffer: Option<SharedBuffer>,
        /// Memory by the input at which packets came, instead of output queues with limits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub inputs: Option<Inputs>,
        /// What switches do about packets that wait behind a pause although their own way is free, or about
        /// ports that wait for each other. Needs `pfc`, and the scheduler `fifo`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub relief: Option<Relief>,
        /// ACKs, NACKs, notifications and set-up pass everything else at every port, hosts' too; no switch
        /// counts them, and no pause holds them but `nic.pause_control`.
        #[serde(default)]
        pub control_first: bool,
        /// Ports write to the sources of the flows that pass them, for controllers that listen to that.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub congestion_point: Option<CongestionPoint>,
        /// A packet that should go first interrupts the one being transmitted, which later resumes where it
        /// stopped. Not for schedulers that serve in turns.
        #[serde(default)]
        pub preemptive: bool,
        /// Another scheduler at some switches, with the same buffer and marking.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mix: Option<Mix>,
        /// Forward a packet when this many of its bytes have arrived instead of storing all of it; `0B` stores.
        #[serde(default)]
        pub cut_through: Q<Bytes>,
    }
});

impl Switch {
    /// The one pause policy of a valid scenario.
    pub(crate) fn pause(&self) -> Option<PauseSpec> {
        self.pauses().next()
    }

    /// What follows from it.
    pub(crate) fn pause_effects(&self) -> Option<Effects> {
        self.pause().map(|policy| policy.effects())
    }

    /// It stops whole ports.
    pub(crate) fn stops_ports(&self) -> bool {
        self.pause_effects().is_some_and(|effects| effects.stops_ports())
    }

    /// It stops whole ports, and gives up nothing to have them go on.
    pub(crate) fn keeps_packets(&self) -> bool {
        self.stops_ports() && !self.relief.as_ref().is_some_and(|relief| relief.drops())
    }

    /// What does not fit is cut to its header, at the ports or by the memory that they share.
    pub(crate) fn trims(&self) -> bool {
        self.scheduler.needs().trims.is_some()
            || self.shared_buffer.as_ref().is_some_and(|shared| shared.sharing.needs().trims)
    }

    /// What one port may hold.
    pub(crate) fn room(&self) -> Capacity {
        // Beneath the 500 KB of a port with memory of its own no shared memory of megabytes would ever fill.
        let shares = self.inputs.is_some() || self.shared_buffer.is_some();
        let unlimited = || shares || self.scheduler.needs().sizes_itself;
        self.buffer.unwrap_or_else(|| if unlimited() { Capacity::Unlimited } else { default::buffer() })
    }
}

/// Output queues of hosts. A host's queue runs the scheduler under test unless another is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Where the next packet comes from.
    #[serde(default)]
    #[schemars(extend("x-renamed-kinds" = { "circle": "hpcc-simulator" }))]
    pub order: NicOrder,
    /// A pause holds ACKs, NACKs and notifications too, not only data.
    #[serde(default = "default::yes")]
    pub pause_control: bool,
    /// Which packet leaves next; as `switch.scheduler` if not given.
    pub scheduler: Option<Scheduler>,
    /// What the port may hold; as `switch.buffer` if not given.
    pub buffer: Option<Capacity>,
    /// Marking; as `switch.marking` if not given.
    #[serde(default)]
    #[schemars(schema_with = "marking::inside_a_queue_or_none")]
    pub marking: Option<Marking>,
    /// What else packets pass on their way to `marking`; nothing if not given, whatever switches have.
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

/// A switch's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    /// Of one switch.
    #[schemars(extend("x-quantity" = "room"))]
    pub total: Q<Bytes>,
    /// How ports share it: who is admitted, and who makes room.
    #[serde(default)]
    pub sharing: SharingSpec,
}

/// Another scheduler at some switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Instead of `switch.scheduler`.
    #[schemars(extend("examples" = ["lstf"]))]
    pub scheduler: Scheduler,
    /// At which switches.
    #[serde(default)]
    pub nodes: Nodes,
}

/// Which switches.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Nodes {
    /// Those with odd numbers.
    // CHOICE UPS §2.3: half of the routers run another scheduler; which half is not said.
    #[default]
    Odd,
    /// Those with even numbers.
    Even,
    /// These.
    Listed {
        /// By number (switches follow the hosts) or by name.
        #[schemars(extend("x-node" = "node"))]
        nodes: Vec<u32>,
    },
}

impl Nodes {
    /// True if the node is one of them.
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
