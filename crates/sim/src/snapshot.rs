//! State is data: a run cut at any instant, saved and resumed elsewhere has the digest of the straight run.
//!
//! What follows from the specification (routes, rates, delays) is rebuilt; everything else is written.

use crate::arena::{Arena, Packets};
use crate::connection::Connection;
use crate::events::{Event, Events};
use crate::flow::{FlowRecord, Receiving, Sending};
use crate::gate::Gate;
use crate::incident::{Outages, remaining_routes};
use crate::journal::Journal;
use crate::memory::Memory;
use crate::pause::{Deadlock, PauseRecord};
use crate::port::Port;
use crate::preempt::Services;
use crate::probe::Probes;
use crate::recording::Recorder;
use crate::replay::Replay;
use crate::sealed::{Kind, LoadError, Sealing, open};
use crate::sim::{Sim, Spray, Tally};
use crate::spec::NetworkSpec;
use serde::{Deserialize, Serialize};
use thalweg_machines::Side;
use thalweg_machines::aqm::EdgeCodel;
use thalweg_machines::buffer::SharedPool;
use thalweg_machines::schedule::Queue;
use thalweg_machines::slack::SlackClock;
use thalweg_units::{PortId, Time};

/// Of the simulator's part; the layout is raised with every change of what is written here.
const KIND: Kind = Kind { magic: *b"thalwegN", layout: 8 };

#[derive(Serialize, Deserialize)]
struct Network {
    ports: Vec<Port>,
    queues: Vec<Queue>,
    pools: Vec<SharedPool>,
    packets: Packets,
    sides: Arena<Side>,
    spray: Vec<Spray>,
    services: Services,
    clocks: Vec<SlackClock>,
    edges: Vec<EdgeCodel>,
    journal: Option<Journal>,
    recorder: Option<Recorder>,
    replay: Option<Replay>,
    gates: Vec<Gate>,
    memory: Memory,
    outages: Outages,
    shared: Vec<Connection>,
    pauses: Vec<PauseRecord>,
    deadlocks: Vec<Deadlock>,
}

#[derive(Serialize, Deserialize)]
struct Flows {
    records: Vec<FlowRecord>,
    connections: Vec<u32>,
    sending: Vec<Sending>,
    receiving: Vec<Receiving>,
    free_connections: Vec<u32>,
    paths: Vec<PortId>,
    detours: Vec<u32>,
    next_start: u32,
}

#[derive(Serialize, Deserialize)]
struct Progress {
    now: Time,
    events: Vec<Event>,
    processed: u64,
    digest: u64,
    stopped: bool,
    choosers: Vec<PortId>,
    tally: Tally,
    probes: Probes,
}

impl<Q: Events> Sim<Q> {
    /// The whole run as bytes, with a head by which [`Sim::load`] finds any damage.
    pub fn save(&self) -> Vec<u8> {
        self.save_after(Vec::new())
    }

    /// [`Sim::save`], appended to other bytes.
    pub fn save_after(&self, bytes: Vec<u8>) -> Vec<u8> {
        let network = Network {
            ports: self.ports.clone(),
            queues: self.queues.clone(),
            pools: self.pools.clone(),
            packets: self.packets.clone(),
            sides: self.sides.clone(),
            spray: self.spray.clone(),
            services: self.services.clone(),
            clocks: self.clocks.clone(),
            edges: self.edges.clone(),
            journal: self.journal.clone(),
            recorder: self.recorder.clone(),
            replay: self.replay.clone(),
            gates: self.gates.clone(),
            memory: self.memory.clone(),
            outages: self.outages.clone(),
            shared: self.shared.clone(),
            pauses: self.pauses.clone(),
            deadlocks: self.deadlocks.clone(),
        };
        let flows = Flows {
            records: self.records.clone(),
            connections: self.connections.clone(),
            sending: self.sending.clone(),
            receiving: self.receiving.clone(),
            free_connections: self.free_connections.clone(),
            paths: self.paths.clone(),
            detours: self.detours.clone(),
            next_start: self.next_start,
        };
        let progress = Progress {
            now: self.now,
            events: self.events.sorted(),
            processed: self.processed,
            digest: self.digest,
            stopped: self.stopped,
            choosers: self.choosers.clone(),
            tally: self.tally,
            probes: self.probes.clone(),
        };
        let mut sealing = Sealing::begin(bytes, KIND);
        let all = (&self.spec, network, flows, progress);
        sealing.bytes = postcard::to_extend(&all, sealing.bytes).expect("plain data serialises");
        sealing.finish()
    }

    /// A run from the bytes of [`Sim::save`].
    ///
    /// # Errors
    /// If the bytes are not a snapshot, are damaged, or were written by another version.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        let body = open(bytes, KIND)?;
        let damaged = |e: &dyn std::fmt::Display| LoadError::Damaged(e.to_string());
        let (spec, network, flows, progress): (NetworkSpec, Network, Flows, Progress) =
            postcard::from_bytes(body).map_err(|e| damaged(&e))?;
        let mut sim = Self::new(spec).map_err(|e| damaged(&e))?;
        if sim.unreliable {
            let routes = remaining_routes(&sim.spec, &network.outages);
            sim.intact = Some(Box::new(std::mem::replace(&mut sim.routes, routes)));
        }
        let fits = network.ports.len() == sim.ports.len()
            && network.queues.len() == sim.queues.len()
            && flows.records.len() == sim.records.len()
            && flows.sending.len() == flows.receiving.len();
        let fits = fits && network.gates.len() == sim.gates.len();
        if !fits {
            return Err(LoadError::Damaged("its tables do not fit its network".into()));
        }
        while sim.events.pop().is_some() {}
        for event in progress.events {
            sim.events.push(event);
        }
        Ok(Self {
            ports: network.ports,
            queues: network.queues,
            pools: network.pools,
            packets: network.packets,
            sides: network.sides,
            spray: network.spray,
            services: network.services,
            clocks: network.clocks,
            edges: network.edges,
            journal: network.journal,
            recorder: network.recorder,
            replay: network.replay,
            gates: network.gates,
            memory: network.memory,
            outages: network.outages,
            shared: network.shared,
            pauses: network.pauses,
            deadlocks: network.deadlocks,
            records: flows.records,
            connections: flows.connections,
            sending: flows.sending,
            receiving: flows.receiving,
            free_connections: flows.free_connections,
            paths: flows.paths,
            detours: flows.detours,
            next_start: flows.next_start,
            now: progress.now,
            processed: progress.processed,
            digest: progress.digest,
            stopped: progress.stopped,
            choosers: progress.choosers,
            tally: progress.tally,
            probes: progress.probes,
            ..sim
        })
    }
}
