//! The agents above the flows of hosts, and where they work.

use serde::{Deserialize, Serialize};
use thalweg_machines::host::Agent;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{HostId, Rate, Time};

/// All agents of the network.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Agents {
    /// The transports that have one, by index in the specification, ascending.
    transports: Vec<u16>,
    /// By host, and of each by transport.
    pub all: Vec<Seat>,
}

/// An agent where it works.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seat {
    pub agent: Agent,
    pub transport: u16,
    /// Its pending timer event; [`Time::MAX`]: none. Re-armed lazily: the event may be early.
    pub timer: Time,
}

impl Agents {
    /// Those of a network, by the rates at which packets come to its hosts: an agent calls for packets, and those come
    /// by the direction of a link that leads to its host.
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

    /// The agent of a transport's flows at a host.
    #[inline]
    pub fn at(&self, host: HostId, transport: u16) -> Option<usize> {
        let place = self.transports.iter().position(|t| *t == transport)?;
        Some(host.at() * self.transports.len() + place)
    }

    /// It was written for the same network.
    pub fn fits(&self, other: &Self) -> bool {
        self.transports == other.transports && self.all.len() == other.all.len()
    }
}
