//! State is data: a run cut at any instant, saved and resumed elsewhere has the digest of the straight run.
//!
//! A snapshot is the specification, the head, and each owner's part. What follows from the specification
//! (routes, rates, delays) is rebuilt; everything else is written.

use crate::events::{Event, Events};
use crate::fabric::Fabric;
use crate::flows::Flows;
use crate::hosts::Hosts;
use crate::instruments::Instruments;
use crate::refused::BuildError;
use crate::sealed::{Kind, LoadError, Sealing, open};
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::Time;

/// The simulator's snapshots. The layout number is raised with every change of what is written here.
const KIND: Kind = Kind { magic: *b"thalwegN", layout: 69 };

/// The state of the run loop.
#[derive(Serialize, Deserialize)]
struct Head {
    now: Time,
    events: Vec<Event>,
    processed: u64,
    stopped: bool,
}

impl Sim {
    /// The whole run as bytes, with a head by which [`Sim::load`] finds any damage.
    pub fn save(&self) -> Vec<u8> {
        self.save_after(Vec::new())
    }

    /// [`Sim::save`], appended to other bytes.
    pub fn save_after(&self, bytes: Vec<u8>) -> Vec<u8> {
        let Self { cx, fabric, hosts, flows, processed, promises: _ } = self;
        let head =
            Head { now: cx.now, events: cx.events.sorted(), processed: *processed, stopped: cx.stopped };
        let parts = (&cx.spec, head, fabric, hosts, flows, &cx.instruments);
        let mut sealing = Sealing::begin(bytes, KIND);
        sealing.bytes = postcard::to_extend(&parts, sealing.bytes).expect("plain data serialises");
        sealing.finish()
    }

    /// A run from the bytes of [`Sim::save`].
    ///
    /// # Errors
    /// If the bytes are not a snapshot, are damaged, or were written by another version.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        let body = open(bytes, KIND)?;
        type Parts = (NetworkSpec, Head, Fabric, Hosts, Flows, Instruments);
        let parts: Result<Parts, _> = postcard::from_bytes(body);
        let (spec, head, fabric, hosts, flows, instruments) =
            parts.map_err(|e| LoadError::Damaged(e.to_string()))?;
        let mut sim = Self::new(spec).map_err(|e: BuildError| LoadError::Damaged(e.to_string()))?;
        sim.fabric = sim.fabric.resume(fabric, &sim.cx.spec).map_err(LoadError::Damaged)?;
        sim.hosts = sim.hosts.resume(hosts).map_err(LoadError::Damaged)?;
        sim.flows = sim.flows.resume(&sim.cx.spec, flows).map_err(LoadError::Damaged)?;
        while sim.cx.events.pop().is_some() {}
        for event in head.events {
            sim.cx.events.push(event);
        }
        sim.cx.now = head.now;
        sim.cx.stopped = head.stopped;
        sim.cx.instruments = instruments;
        sim.processed = head.processed;
        Ok(sim)
    }
}
