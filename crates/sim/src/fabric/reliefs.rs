//! The state of the reliefs of a network: see [`crate::fabric::relief`].

use crate::paths::travels_forward;
use crate::port::Port;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::Invalid;
use thalweg_machines::relief::{Act, Relief, ReliefMachine, Site, Tally};
use thalweg_machines::schedule::liftable::HEADER;
use thalweg_net::spec::{FlowSpec, LinkSpec, NetworkSpec};
use thalweg_units::{PortId, Span, Stream, Time};
use thalweg_wire::{Flags, HopTag, Kind, Packet, Signal};

/// The reliefs of a network; empty if it has none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reliefs {
    /// The machines, by switch.
    pub machines: Vec<ReliefMachine>,
    /// By switch: an event for its relief's clock is pending.
    pub pending: Vec<bool>,
    /// By flow: the number of its connection, which is used in signals.
    #[serde(skip)]
    connections: Vec<u32>,
    /// By port: when its queue last sent.
    pub last_sent: Vec<Time>,
    /// By flow: the send time of the last data packet that left a port towards its host, and the offset behind that
    /// packet.
    pub last_out: Vec<(Time, u64)>,
    /// Releases on their last hop.
    pub releases: Releases,
    /// Packets that left for their host behind one of their flow that was sent later.
    pub reordered: u64,
    /// Within an event: acts still to be performed.
    #[serde(skip)]
    pub acts: Vec<Act>,
}

/// Releases in transit on their last hop: see [`crate::fabric::releases`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Releases {
    /// By the port that has sent them: their arrival times and contents, in order.
    pub under_way: Vec<VecDeque<(Time, Signal)>>,
    /// By switch: no release arrives before this instant.
    pub quiet_until: Vec<Time>,
}

impl Releases {
    /// No releases yet.
    fn new(ports: usize, switches: usize) -> Self {
        Self { under_way: vec![VecDeque::new(); ports], quiet_until: vec![Time::MAX; switches] }
    }
}

impl Reliefs {
    /// The reliefs of a network.
    ///
    /// # Errors
    /// If parameters are impossible.
    pub fn new(spec: &NetworkSpec, links: &[Vec<PortId>]) -> Result<Self, Invalid> {
        let Some(relief) = &spec.relief else { return Ok(Self::default()) };
        let delay = spec.links.iter().map(LinkSpec::delay).max().unwrap_or(Span::ZERO);
        let make = |(switch, own): (usize, &Vec<PortId>)| {
            let clock = Stream::new(spec.seed, "relief", switch as u64).bits();
            relief.make(&Site { ports: own.len(), delay, clock })
        };
        Ok(Self {
            machines: links.iter().enumerate().map(make).collect::<Result<_, _>>()?,
            pending: vec![false; links.len()],
            connections: connections(spec),
            last_sent: vec![Time::ZERO; 2 * spec.links.len()],
            last_out: vec![(Time::ZERO, 0); spec.flows.len()],
            releases: Releases::new(2 * spec.links.len(), links.len()),
            ..Self::default()
        })
    }

    /// Copies what follows from the specification and is not saved.
    pub fn resume(&mut self, built: Self) {
        self.connections = built.connections;
    }

    /// The sums over all switches.
    pub fn tally(&self) -> Tally {
        self.machines.iter().map(Relief::tally).fold(Tally::default(), |a, b| Tally {
            tokens: a.tokens + b.tokens,
            lifted: a.lifted + b.lifted,
            ended_pool: a.ended_pool + b.ended_pool,
            ended_source: a.ended_source + b.ended_source,
            signals: a.signals + b.signals,
            reclaimed: a.reclaimed + b.reclaimed,
            cycles: a.cycles + b.cycles,
            furthest: a.furthest.max(b.furthest),
        })
    }

    /// Accounts for a packet that begins to leave a port. Returns whether it left through the escape queue, which
    /// per-ingress accounting does not count. (Not inlined: few networks have relief.)
    #[inline(never)]
    pub fn on_departure(&mut self, id: PortId, port: &Port, packet: &mut Packet, at: Time) -> bool {
        let Some((switch, number)) = port.place.at_switch() else { return false };
        let hops = packet.hop.escape_hops();
        if hops > 0 {
            packet.hop = HopTag::escaping(hops - 1);
            packet.wire += if hops > 1 { HEADER } else { 0 };
            self.machines[switch].on_sent(number);
        } else {
            self.last_sent[id.at()] = at;
        }
        if port.leads_to_host() && packet.kind == Kind::Data {
            let last = &mut self.last_out[packet.flow.at()];
            let again = packet.flags.has(Flags::RETRANSMISSION);
            // Some transports send a flow's bytes in another order than that of their offsets: what must be kept is
            // the order of sending.
            self.reordered += u64::from(!again && (packet.stamp, packet.seq) < *last);
            *last = (packet.stamp, packet.seq + u64::from(packet.payload));
        }
        hops > 0
    }

    /// The flow identifier used in signals: connection number and direction. All flows of a connection share it.
    #[inline]
    pub fn name(&self, packet: &Packet) -> u32 {
        2 * self.connections[packet.flow.at()] + u32::from(!travels_forward(packet.kind))
    }
}

/// By flow: the number of its connection; a flow without a shared connection gets a number of its own.
fn connections(spec: &NetworkSpec) -> Vec<u32> {
    let shared = spec.flows.iter().map(|flow| flow.connection).filter(|c| *c != u32::MAX).max();
    let mut next = shared.map_or(0, |most| most + 1);
    let number = |flow: &FlowSpec| {
        if flow.connection != u32::MAX {
            return flow.connection;
        }
        next += 1;
        next - 1
    };
    spec.flows.iter().map(number).collect()
}
