//! Records of ports: what arrives, in which order, and what the port decides.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_machines::egress::{Arrived, Poll, Sent};
use thalweg_net::spec::NetworkSpec;
use thalweg_record::Port;
use thalweg_record::log::Log;
use thalweg_units::{PortId, Time};
use thalweg_wire::{Handle, Packet};

/// The port records of a run. Recorded ports are on the reference lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortRecords(BTreeMap<PortId, Log>);

impl PortRecords {
    /// The records of a network at time zero.
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

    /// Whether no port is recorded.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records that a packet arrives at a port.
    pub(crate) fn arrives(&mut self, id: PortId, now: Time, handle: Handle, packet: &Packet) {
        if let Some(log) = self.0.get_mut(&id) {
            log.arrives(now, handle, packet);
        }
    }

    /// Records what the port did with an arrival, and the packets `given_up` for it.
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

    /// Records what a port decides now, and the packets that it has `given_up`.
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

    /// The records, by port, each complete as of now.
    pub fn whole(&self, now: Time) -> impl Iterator<Item = (PortId, Vec<u8>)> {
        self.0.iter().map(move |(id, log)| (*id, log.whole(now)))
    }
}
