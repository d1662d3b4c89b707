//! W0: the bare fabric model that the other workloads are measured against.
//!
//! A k-ary fat-tree permutation with a fixed window and FIFO links, and nothing else: no tables, no
//! queues to speak of, no drops, no congestion control, no timers. One event per packet-hop; packets
//! are eight bytes inside the links' rings.

use std::collections::VecDeque;
use thalweg_sim::events::{Event, Events, Phase, Tag, Ties};
use thalweg_units::{Time, mix64};

#[derive(Clone, Copy)]
struct Packet {
    flow: u32,
    /// Position of the next hop in the path table.
    next: u32,
}

#[derive(Clone)]
struct Link {
    ring: VecDeque<(Packet, u64)>,
    free_at: u64,
}

struct Flow {
    data: u32,
    ack: u32,
    to_send: u32,
}

/// The model at an instant.
pub struct Bare<Q: Events> {
    events: Q,
    links: Vec<Link>,
    paths: Vec<u32>,
    flows: Vec<Flow>,
    hops: u64,
}

const DATA_PS: u64 = 1500 * 80;
const ACK_PS: u64 = 40 * 80;
const DELAY_PS: u64 = 1_000_000;
/// Ends a path: the high bit says that the packet was data.
const END_OF_DATA: u32 = u32::MAX;
const END_OF_ACK: u32 = u32::MAX - 1;

impl<Q: Events> Bare<Q> {
    /// A k-ary fat-tree at 100 Gb/s, 1 µs per link; every host sends `packets` to a fixed other host.
    pub fn new(k: u32, packets: u32, window: u32) -> Self {
        let (half, hosts) = (k / 2, k * k * k / 4);
        // Unidirectional links by level: host–edge, edge–aggregation, aggregation–core; up then down.
        let level = hosts;
        let id = |level_index: u32, up: bool, n: u32| (level_index * 2 + u32::from(!up)) * level + n;
        let mut bare = Self {
            events: Q::sized(6 * level as usize, DELAY_PS + DATA_PS, Ties::ByNumber),
            links: vec![Link { ring: VecDeque::new(), free_at: 0 }; 6 * level as usize],
            paths: Vec::new(),
            flows: Vec::new(),
            hops: 0,
        };
        for src in 0..hosts {
            let dst = (src + hosts / 2 + 1) % hosts;
            let mut path = |from: u32, to: u32, salt: u64, end: u32| {
                let start = bare.paths.len() as u32;
                let (edge, other) = (from / half, to / half);
                let (pod, other_pod) = (edge / half, other / half);
                let draw = mix64(u64::from(from) << 32 | salt);
                let (a, c) = (draw as u32 % half, (draw >> 32) as u32 % half);
                bare.paths.push(id(0, true, from));
                if edge != other {
                    bare.paths.push(id(1, true, edge * half + a));
                    if pod != other_pod {
                        bare.paths.push(id(2, true, (pod * half + a) * half + c));
                        bare.paths.push(id(2, false, (other_pod * half + a) * half + c));
                    }
                    bare.paths.push(id(1, false, other * half + a));
                }
                bare.paths.push(id(0, false, to));
                bare.paths.push(end);
                start
            };
            let data = path(src, dst, 1, END_OF_DATA);
            let ack = path(dst, src, 2, END_OF_ACK);
            bare.flows.push(Flow { data, ack, to_send: packets });
        }
        for flow in 0..hosts {
            for _ in 0..window.min(packets) {
                bare.send(0, flow);
            }
        }
        bare
    }

    fn send(&mut self, now: u64, flow: u32) {
        let f = &mut self.flows[flow as usize];
        if f.to_send > 0 {
            f.to_send -= 1;
            let next = f.data;
            self.transmit(now, Packet { flow, next }, DATA_PS);
        }
    }

    #[inline(always)]
    fn transmit(&mut self, now: u64, packet: Packet, service: u64) {
        let id = self.paths[packet.next as usize];
        let link = &mut self.links[id as usize];
        link.free_at = link.free_at.max(now) + service;
        let arrive = link.free_at + DELAY_PS;
        let idle = link.ring.is_empty();
        link.ring.push_back((Packet { next: packet.next + 1, ..packet }, arrive));
        if idle {
            self.events.push(Event { at: Time::from_ps(arrive), tag: Tag::new(Phase::Arrive, id) });
        }
    }

    /// Runs to the end; packet-hops.
    pub fn run(&mut self) -> u64 {
        while let Some(event) = self.events.pop() {
            self.hops += 1;
            let now = event.at.ps();
            let link = &mut self.links[event.tag.entity() as usize];
            let Some((packet, _)) = link.ring.pop_front() else { continue };
            if let Some(&(_, at)) = link.ring.front() {
                self.events.push(Event { at: Time::from_ps(at), tag: event.tag });
            }
            match self.paths[packet.next as usize] {
                END_OF_DATA => {
                    let next = self.flows[packet.flow as usize].ack;
                    self.transmit(now, Packet { next, ..packet }, ACK_PS);
                }
                END_OF_ACK => self.send(now, packet.flow),
                _ => {
                    // Data paths are stored before ACK paths of the same flow.
                    let data = packet.next < self.flows[packet.flow as usize].ack;
                    self.transmit(now, packet, if data { DATA_PS } else { ACK_PS });
                }
            }
        }
        self.hops
    }
}
