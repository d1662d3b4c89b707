//! A queue and a controller of a user's, two of each.

use thalweg_machines::congestion::custom::{
    ControllerFactory, Declared, PluggedController, declare_controller, register_controller,
};
use thalweg_machines::congestion::{CongestionControl, Loss, Permit, Start};
use thalweg_machines::plugin::Made;
use thalweg_machines::schedule::custom::{DisciplineFactory, PluggedDiscipline, register_discipline};
use thalweg_machines::schedule::{Discipline, Served, Verdict};
use thalweg_units::{Bytes, Time};
use thalweg_wire::{Handle, Packet};

/// A user's queue: `lifo` serves the newest packet first, `opil` the oldest; `params` is its room in packets.
#[derive(Clone)]
struct Pile {
    name: String,
    room: usize,
    packets: Vec<(Handle, u32)>,
}

impl Discipline for Pile {
    fn enqueue(&mut self, _: Time, packet: &Packet, handle: Handle, _: &mut Vec<Handle>) -> Verdict {
        if self.packets.len() >= self.room {
            return Verdict::Dropped;
        }
        self.packets.push((handle, packet.wire));
        Verdict::Queued
    }
    fn dequeue(&mut self, _: Time, _: &mut Vec<Handle>) -> Option<Served> {
        let at = if self.name == "lifo" { self.packets.len().checked_sub(1)? } else { 0 };
        (at < self.packets.len()).then(|| Served { handle: self.packets.remove(at).0, mark: false })
    }
    fn packets(&self) -> u32 {
        self.packets.len() as u32
    }
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| u64::from(p.1)).sum()
    }
}

impl PluggedDiscipline for Pile {
    fn name(&self) -> &str {
        &self.name
    }
    fn boxed_clone(&self) -> Box<dyn PluggedDiscipline> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// A user's controller: `params` packets for ever; `calm` has one less, and `solo` is called by one thread at a time.
#[derive(Clone)]
struct Still {
    name: String,
    window: Bytes,
}

impl CongestionControl for Still {
    fn on_ack(&mut self, _: &thalweg_machines::congestion::AckSample) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn permit(&self) -> Permit {
        Permit::window(self.window)
    }
}

impl PluggedController for Still {
    fn name(&self) -> &str {
        &self.name
    }
    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
}

fn number(params: &[u8], otherwise: u64) -> u64 {
    std::str::from_utf8(params).ok().and_then(|t| t.parse().ok()).unwrap_or(otherwise)
}

/// Registers them.
pub fn register() {
    let still = |name: &str, start: &Start, params: &[u8]| -> Made<dyn PluggedController> {
        let packets = number(params, 5) - u64::from(name == "calm");
        Ok(Box::new(Still { name: name.into(), window: Bytes::new(packets * u64::from(start.mss)) }))
    };
    let pile = |name: &str, params: &[u8]| -> Made<dyn PluggedDiscipline> {
        Ok(Box::new(Pile { name: name.into(), room: number(params, 30) as usize, packets: Vec::new() }))
    };
    for name in ["still", "calm", "solo"] {
        register_controller(name, ControllerFactory { make: still, load: |_, _| Err("not saved".into()) });
    }
    declare_controller("solo", Declared { serial: true, ..Declared::default() });
    for name in ["lifo", "opil"] {
        register_discipline(name, DisciplineFactory { make: pile, load: |_, _| Err("not saved".into()) });
    }
}
