//! The agents of hosts, each above all flows of a transport at its host.

use serde::{Deserialize, Serialize};
use thalweg_machines::host::Agent;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{HostId, Rate, Time};

/// All agents of the network.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Agents {
    /// The transports that have one, by index in the specification, ascending.
    transports: Vec<u16>,
    /// By host, and for each host by transport.
    pub all: Vec<Seat>,
}

/// An agent and its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seat {
    pub agent: Agent,
    pub transport: u16,
    /// Its pending timer event; [`Time::MAX`]: none. Re-armed lazily: the event may be early.
    pub timer: Time,
}

impl Agents {
    /// The agents of a network. `arrival_rate`: the rate at which packets reach a host, since agents call for
    /// packets.
    pub fn new(spec: &NetworkSpec, arrival_rate: impl Fn(HostId) -> Rate) -> Self {
        let served = (0..).zip(&spec.transports).filter(|(_, transport)| Agent::serves(transport));
        let transports: Vec<u16> = served.map(|(at, _)| at).collect();
        let mut all = Vec::new();
        for host in (0..spec.hosts).filter(|_| !transports.is_empty()) {
            let seats = transports.iter().filter_map(|&transport| {
                let agent = Agent::new(&spec.transports[usize::from(transport)], arrival_rate(HostId(host)))?;
                Some(Seat { agent, transport, timer: Time::MAX })
            });
            all.extend(seats);
        }
        Self { transports, all }
    }

    /// Index of the agent of a transport's flows at a host.
    #[inline]
    pub fn at(&self, host: HostId, transport: u16) -> Option<usize> {
        let place = self.transports.iter().position(|t| *t == transport)?;
        Some(host.at() * self.transports.len() + place)
    }

    /// Whether both are of the same network.
    pub fn fits(&self, other: &Self) -> bool {
        self.transports == other.transports && self.all.len() == other.all.len()
    }
}
