//! Routing rules that choose hop by hop: the machines of hosts and switches. Empty where source routes are used.
//!
//! The machines are [`thalweg_machines::route`]. A packet is given its value, if the rule gives any, at its first
//! switch. So packets are counted in the order in which they leave their NIC, which may differ from the order in
//! which they were handed to it.

use serde::{Deserialize, Serialize};
use thalweg_machines::Invalid;
use thalweg_machines::route::{RouteMachine, RouteRule, Site, SiteKind};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::HostId;

/// The routing machines of a network's nodes; none with source routes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rules {
    /// By host, for rules that stamp packets; else empty.
    hosts: Vec<RouteMachine>,
    /// See [`Needs::everywhere`](thalweg_machines::route::Needs::everywhere).
    everywhere: bool,
    /// By switch. Boxed so that a machine is taken out and put back as a pointer.
    switches: Vec<Option<Box<RouteMachine>>>,
}

impl Rules {
    /// The machines of a network.
    ///
    /// # Errors
    /// If the rule refuses its parameters.
    pub fn new(spec: &NetworkSpec) -> Result<Self, Invalid> {
        let (rule, needs) = (&spec.routing.rule, spec.routing.rule.needs());
        let make = |node, first| rule.make(&Site { seed: spec.seed, node, first });
        if needs.source_routes {
            return make(SiteKind::Switch(0), 0).map(|_| Self::default());
        }
        let hosts = if needs.stamps { spec.hosts } else { 0 };
        let of_host = |host| make(SiteKind::Host(host), spec.routing.offset(host));
        Ok(Self {
            everywhere: needs.everywhere,
            hosts: (0..hosts).map(of_host).collect::<Result<_, _>>()?,
            switches: (0..spec.switches)
                .map(|switch| make(SiteKind::Switch(switch), 0).map(|made| Some(Box::new(made))))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether both have the same number of machines.
    pub fn fits(&self, other: &Self) -> bool {
        self.hosts.len() == other.hosts.len() && self.switches.len() == other.switches.len()
    }

    /// The value that a packet which carries `value` carries from its host's switch on; `choice`: more than one
    /// path leads to its destination.
    #[inline]
    pub fn stamp(&mut self, host: HostId, value: u32, choice: bool) -> u32 {
        match self.hosts.get_mut(host.at()) {
            Some(machine) => machine.stamp(value, choice),
            None => value,
        }
    }

    /// Whether machines are shown every packet, even if there is only one candidate.
    #[inline]
    pub fn everywhere(&self) -> bool {
        self.everywhere
    }

    /// Takes out a switch's machine, so that it can be shown the network that contains it.
    #[inline]
    pub fn take(&mut self, switch: usize) -> Box<RouteMachine> {
        self.switches[switch].take().expect("it was put back")
    }

    /// Puts a switch's machine back.
    #[inline]
    pub fn put_back(&mut self, switch: usize, machine: Box<RouteMachine>) {
        self.switches[switch] = Some(machine);
    }
}
