//! A scheduler of one's own: ACKs overtake data; each of the two lines is first come, first served.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::plugin::Made;
use thalweg_machines::schedule::custom::{DisciplineFactory, PluggedDiscipline, register_discipline};
use thalweg_machines::schedule::{Discipline, Served, Verdict};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// Two lines in one buffer; a packet that does not fit is dropped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AcksFirst {
    limit: u64,
    bytes: u64,
    acks: VecDeque<(Handle, u32)>,
    data: VecDeque<(Handle, u32)>,
}

/// What a scenario writes under `params`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Bytes that may wait.
    buffer: u64,
}

impl Discipline for AcksFirst {
    fn enqueue(&mut self, _: Time, packet: &Packet, handle: Handle, _: &mut Vec<Handle>) -> Verdict {
        if self.bytes + u64::from(packet.wire) > self.limit {
            return Verdict::Dropped;
        }
        self.bytes += u64::from(packet.wire);
        let line = if packet.is_control() { &mut self.acks } else { &mut self.data };
        line.push_back((handle, packet.wire));
        Verdict::Queued
    }
    fn dequeue(&mut self, _: Time, _: &mut Vec<Handle>) -> Option<Served> {
        let (handle, wire) = self.acks.pop_front().or_else(|| self.data.pop_front())?;
        self.bytes -= u64::from(wire);
        Some(Served { handle, mark: false })
    }
    fn packets(&self) -> u32 {
        (self.acks.len() + self.data.len()) as u32
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl PluggedDiscipline for AcksFirst {
    fn name(&self) -> &str {
        "acks-first"
    }
    fn boxed_clone(&self) -> Box<dyn PluggedDiscipline> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }
}

fn make(_: &str, params: &[u8]) -> Made<dyn PluggedDiscipline> {
    let params: Params = serde_json::from_slice(params).map_err(|e| e.to_string())?;
    Ok(Box::new(AcksFirst { limit: params.buffer, ..Default::default() }))
}

fn load(_: &str, saved: &[u8]) -> Made<dyn PluggedDiscipline> {
    postcard::from_bytes::<AcksFirst>(saved).map(|q| Box::new(q) as _).map_err(|e| e.to_string().into())
}

/// Makes `scheduler = { kind = "custom", name = "acks-first", params = { buffer = 150000 } }` mean this.
pub fn register() {
    register_discipline("acks-first", DisciplineFactory { make, load });
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::Kind;

    /// Room for two data packets and an ACK: the third data packet is dropped, the ACK leaves first.
    #[test]
    fn an_ack_overtakes_data_and_what_does_not_fit_is_dropped() {
        let mut q = make("acks-first", br#"{"buffer": 3040}"#).unwrap();
        let (now, mut out) = (Time::ZERO, Vec::new());
        let data = Packet { wire: 1500, ..Packet::default() };
        let ack = Packet { wire: 40, kind: Kind::Ack, ..Packet::default() };
        assert_eq!(q.enqueue(now, &data, Handle(0), &mut out), Verdict::Queued);
        assert_eq!(q.enqueue(now, &data, Handle(1), &mut out), Verdict::Queued);
        assert_eq!(q.enqueue(now, &data, Handle(2), &mut out), Verdict::Dropped);
        assert_eq!(q.enqueue(now, &ack, Handle(3), &mut out), Verdict::Queued);
        let order: Vec<u32> = std::iter::from_fn(|| q.dequeue(now, &mut out)).map(|s| s.handle.0).collect();
        assert_eq!(order, [3, 0, 1]);
        assert_eq!((q.packets(), q.bytes(), out.len()), (0, 0, 0));
    }
}
