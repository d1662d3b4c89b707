//! Routing rules that choose hop by hop: the machines of hosts and switches, where there are any.
//!
//! The machines are [`thalweg_machines::route`]. A packet is given its value, if the rule gives any, where it meets its
//! first switch: packets are counted in the order in which they leave their NIC, which may order them otherwise than
//! they were handed to it.

use serde::{Deserialize, Serialize};
use thalweg_machines::Invalid;
use thalweg_machines::route::{RouteMachine, RouteRule, Site, SiteKind};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::HostId;

/// The machines of a network's nodes; none where source routes do.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rules {
    /// Of rules that stamp.
    hosts: Vec<RouteMachine>,
    /// See [`Needs::everywhere`](thalweg_machines::route::Needs::everywhere).
    everywhere: bool,
    /// In boxes, so that one is taken out and put back as a pointer.
    switches: Vec<Option<Box<RouteMachine>>>,
}

impl Rules {
    /// Those of a network.
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

    /// Whether both are of networks with as many machines.
    pub fn fits(&self, other: &Self) -> bool {
        self.hosts.len() == other.hosts.len() && self.switches.len() == other.switches.len()
    }

    /// The value that a packet with this one carries from its host's switch on; `choice`: there is more than one way.
    #[inline]
    pub fn stamp(&mut self, host: HostId, value: u32, choice: bool) -> u32 {
        match self.hosts.get_mut(host.at()) {
            Some(machine) => machine.stamp(value, choice),
            None => value,
        }
    }

    /// Whether switches look at every packet, though there be one way.
    #[inline]
    pub fn everywhere(&self) -> bool {
        self.everywhere
    }

    /// Takes a switch's machine, so that it can look at the network that it is part of.
    #[inline]
    pub fn take(&mut self, switch: usize) -> Box<RouteMachine> {
        self.switches[switch].take().expect("it was put back")
    }

    /// Puts it back.
    #[inline]
    pub fn put_back(&mut self, switch: usize, machine: Box<RouteMachine>) {
        self.switches[switch] = Some(machine);
    }
}
