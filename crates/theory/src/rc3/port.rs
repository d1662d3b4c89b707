//! A port of strict priority with push-out: what class 0 sees of the others (§2.5).

use crate::outcome::Outcome;
use thalweg_machines::schedule::priority::{Control, Params};
use thalweg_machines::schedule::{Discipline, DisciplineSpec, Limit, OrderSpec, Queue, Verdict};
use thalweg_machines::stage::StageSpec;
use thalweg_units::{Bytes, Rate, Stream, Time};
use thalweg_wire::{Handle, Kind, Packet};

/// 8 Gb/s: a byte lasts a nanosecond.
const RATE: Rate = Rate::from_gbps(8);
const LARGEST: u64 = 1500;

/// When, class, bytes, whether it is an ACK.
type Arrived = (u64, u8, u32, bool);

/// A port under these arrivals.
struct Port<'a> {
    arrivals: &'a [Arrived],
    queue: Queue,
    free: u64,
    begins: Vec<Option<u64>>,
    low_waiting: u64,
    /// Packets of class 0 dropped while others waited.
    wronged: u64,
}

impl<'a> Port<'a> {
    fn run(arrivals: &'a [Arrived], limit: u64, low: bool) -> Result<Self, String> {
        let order = OrderSpec::Priority(Params { classes: 5, control: Control::ByClass });
        let limit = Limit::Bytes(Bytes::new(limit));
        let spec = DisciplineSpec {
            order,
            limit,
            front: Vec::new(),
            stage: StageSpec::default(),
            preemptive: false,
        };
        let queue = spec.make(Stream::new(1, "port", 0), RATE)?;
        let begins = vec![None; arrivals.len()];
        let mut port = Self { arrivals, queue, free: 0, begins, low_waiting: 0, wronged: 0 };
        for (number, arrived) in arrivals.iter().enumerate() {
            if low || arrived.1 == 0 {
                port.arrive(number);
            }
        }
        port.serve(u64::MAX / 2);
        Ok(port)
    }

    fn is_low(&self, number: usize) -> u64 {
        u64::from(self.arrivals[number].1 > 0)
    }

    fn serve(&mut self, until: u64) {
        while self.free <= until {
            let Some(served) = self.queue.dequeue(Time::from_ns(self.free), &mut vec![]) else { return };
            let number = served.handle.0 as usize;
            self.begins[number] = Some(self.free);
            self.low_waiting -= self.is_low(number);
            self.free += u64::from(self.arrivals[number].2);
        }
    }

    fn arrive(&mut self, number: usize) {
        let (at, class, wire, ack) = self.arrivals[number];
        self.serve(at.saturating_sub(1));
        self.free = self.free.max(at);
        let kind = if ack { Kind::Ack } else { Kind::Data };
        let (packet, mut out) = (Packet { class, wire, kind, ..Packet::default() }, vec![]);
        let verdict = self.queue.enqueue(Time::from_ns(at), &packet, Handle(number as u32), &mut out);
        for victim in out {
            self.low_waiting -= self.is_low(victim.0 as usize);
        }
        if verdict == Verdict::Dropped {
            self.wronged += u64::from(class == 0 && self.low_waiting > 0);
        } else {
            self.low_waiting += self.is_low(number);
        }
    }
}

/// Non-interference, on random arrivals at one port.
pub fn safe(instances: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    for i in 0..instances {
        let mut stream = Stream::new(seed, "rc3.port", u64::from(i));
        let (mut at, mut arrivals) = (0, Vec::new());
        for _ in 0..100 {
            at += stream.below(1400);
            let wire = if stream.below(3) == 0 { 40 } else { LARGEST as u32 };
            arrivals.push((at, stream.below(5) as u8, wire, stream.below(2) == 0));
        }
        let ports = [(u64::MAX, false), (u64::MAX, true), (3000 + stream.below(17_000), true)]
            .map(|(limit, low)| Port::run(&arrivals, limit, low));
        let [Ok(alone), Ok(among), Ok(limited)] = ports else {
            out.expect(false, || "a port cannot be made".into());
            return out;
        };
        out.instances += 1;
        out.packets += arrivals.len() as u64;
        let pairs = alone.begins.iter().zip(&among.begins).zip(&arrivals).filter(|(_, a)| a.1 == 0);
        for ((one, two), a) in pairs {
            let near = matches!((one, two), (Some(one), Some(two)) if one <= two && *two <= one + LARGEST);
            out.expect(near, || {
                format!("instance {i}: the packet of {} leaves at {two:?}, alone at {one:?}", a.0)
            });
            out.found(|| "class 0 among others".into());
        }
        out.expect(limited.wronged == 0, || format!("instance {i}: class 0 is dropped while others wait"));
    }
    out
}
