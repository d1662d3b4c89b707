//! Records of ports: what arrives there, in which order, and what the port decides of it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_machines::egress::{Arrived, Poll, Sent};
use thalweg_net::spec::NetworkSpec;
use thalweg_record::Port;
use thalweg_record::log::Log;
use thalweg_units::{PortId, Time};
use thalweg_wire::{Handle, Packet};

/// The records of a run. Such ports are on the reference lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortRecords(BTreeMap<PortId, Log>);

impl PortRecords {
    /// Of a network of which nothing has happened yet.
    ///
    /// # Errors
    /// If a port's record could not be replayed, with the reason.
    pub(crate) fn new(spec: &NetworkSpec) -> Result<Self, String> {
        let record = |(id, name): &(PortId, String)| {
            let egress = spec.recorded_port(*id).map_err(|why| format!("port {}: {why}", id.0))?;
            let port = Port { name: name.clone(), seed: spec.seed, entity: u64::from(id.0), egress };
            Ok((*id, Log::new(&port)?))
        };
        spec.probes.ports.iter().map(record).collect::<Result<_, String>>().map(Self)
    }

    /// No port is recorded.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A packet is handed to a port.
    pub(crate) fn arrives(&mut self, id: PortId, now: Time, handle: Handle, packet: &Packet) {
        if let Some(log) = self.0.get_mut(&id) {
            log.arrives(now, handle, packet);
        }
    }

    /// What became of it, and which packets were `given_up` for it.
    pub(crate) fn arrived(
        &mut self,
        id: PortId,
        now: Time,
        handle: Handle,
        what: Arrived,
        given_up: &[Handle],
    ) {
        let Some(log) = self.0.get_mut(&id) else { return };
        given_up.iter().for_each(|victim| log.dropped(now, *victim));
        match what {
            Arrived::Dropped => log.dropped(now, handle),
            Arrived::Trimmed { handle, cut } => log.trimmed(now, handle, cut),
            Arrived::Admitted | Arrived::PushedOut => {}
        }
    }

    /// What a port does now, and which packets it has `given_up`.
    pub(crate) fn polled(
        &mut self,
        id: PortId,
        now: Time,
        poll: Poll,
        given_up: &[Handle],
        packets: impl Fn(Handle) -> Packet,
    ) {
        let Some(log) = self.0.get_mut(&id) else { return };
        given_up.iter().for_each(|victim| log.dropped(now, *victim));
        if let Poll::Transmit { what: Sent::Packet(handle), until, arrives } = poll {
            log.sent(now, handle, until, arrives, packets(handle).ecn);
        }
        log.decided(now);
    }

    /// The records, by port, each whole as of now.
    pub fn whole(&self, now: Time) -> impl Iterator<Item = (PortId, Vec<u8>)> {
        self.0.iter().map(move |(id, log)| (*id, log.whole(now)))
    }
}
