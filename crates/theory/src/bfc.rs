//! Backpressure flow control (Goyal, MIT 2022, ch. 3, App. C and D): how many flows wait at once, how often
//! they collide, how long a lone flow's link is empty, what a paused queue lets go, and which Clos networks
//! could wait for themselves.

use crate::outcome::Outcome;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_machines::pause::backpressure::{self, Backpressure};
use thalweg_machines::pause::{Passing, PausePolicy};
use thalweg_machines::route;
use thalweg_machines::schedule::bfc::Params;
use thalweg_machines::schedule::{At, Order, Parameters};
use thalweg_net::dependencies::{Dependencies, Turn, Ways, elision};
use thalweg_net::spec::{Given, Incident, IncidentKind, LinkSpec, RouteSpec, RoutingSpec, Structure};
use thalweg_units::{FlowId, NodeId, Rate, Span, Stream, Time, mix64};
use thalweg_wire::{Frame, Handle, HopTag, Packet, QueueSet};

/// §3.2.3: under processor sharing N is geometric with mean ρ/(1−ρ), whatever the sizes; here fixed, and two
/// sizes a hundredfold apart.
pub fn active_flows(arrivals: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    for (law, load) in [(0, 0.5), (1, 0.5), (0, 0.8), (1, 0.8)] {
        let mut draw = Stream::new(seed, "flows", law);
        // A clock that advances by what each flow has been served: a flow leaves when it shows its size plus
        // what it showed as it came.
        let (mut shown, mut leaves) = (0.0f64, BinaryHeap::<Reverse<u64>>::new());
        let (mut empty, mut sum, mut time) = (0.0, 0.0, 0.0);
        for _ in 0..arrivals {
            let mut gap = draw.exponential(1.0 / load);
            let size = if law == 0 {
                1.0
            } else if draw.below(100) == 0 {
                50.5
            } else {
                0.5
            };
            time += gap;
            while gap > 0.0 {
                let n = leaves.len() as f64;
                let Some(Reverse(first)) = leaves.peek() else {
                    empty += gap;
                    break;
                };
                let until = (f64::from_bits(*first) - shown).max(0.0) * n;
                let step = until.min(gap);
                sum += n * step;
                shown += step / n;
                gap -= step;
                if step >= until {
                    leaves.pop();
                }
            }
            // Positive floats are in the order of their bits.
            leaves.push(Reverse((shown + size).to_bits()));
        }
        let (mean, expected) = (sum / time, load / (1.0 - load));
        out.instances += 1;
        out.packets += u64::from(arrivals);
        out.expect((mean / expected - 1.0).abs() < 0.15, || format!("law {law}, load {load}: {mean} flows"));
        out.expect((empty / time / (1.0 - load) - 1.0).abs() < 0.1, || {
            format!("law {law}, load {load}: empty for {}", empty / time)
        });
        (0..10)
            .for_each(|_| out.found(|| format!("{mean:.3} flows at load {load}, not far from {expected}")));
    }
    out
}

/// §3.3.2: for fewer collisions than one in a hundred static hashing needs a hundred queues per flow.
pub fn birthdays(draws: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    for n in 2..=1000u32 {
        let other = 1.0 - 1.0 / f64::from(100 * n);
        let none = (0..n - 1).fold(1.0, |p, _| p * other);
        out.instances += 1;
        out.expect(1.0 - none < 0.01, || format!("{n} flows: {}", 1.0 - none));
        out.expect(n < 20 || 1.0 - none > 0.0094, || format!("{n} flows: a tenth fewer would do"));
    }
    collide(&mut out, draws, seed, 31, 3100, 0.01);
    collide(&mut out, draws, seed, 31, 31, 0.75);
    out
}

/// §3.3.3.1: with a hundred entries per queue, and no more flows than queues, fewer than one flow in a
/// hundred shares its entry.
pub fn flow_table(draws: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    collide(&mut out, draws, seed, 32, 3200, 0.01);
    out
}

/// How often one of `flows` flows meets another among `places`, by the hash and the range reduction of the order `bfc`.
fn collide(out: &mut Outcome, draws: u32, seed: u64, flows: u64, places: u64, at_most: f64) {
    let mut draw = Stream::new(seed, "salts", places);
    let (mut met, mut other) = (0u32, 1.0);
    (1..flows).for_each(|_| other *= 1.0 - 1.0 / places as f64);
    for _ in 0..draws {
        let (salt, first) = (draw.bits(), draw.below(1 << 31));
        let place = |flow: u64| (u128::from(mix64(flow ^ salt)) * u128::from(places)) >> 64;
        met += u32::from((1..flows).any(|other| place(first + other) == place(first)));
    }
    let (share, expected) = (f64::from(met) / f64::from(draws), 1.0 - other);
    let error = 4.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
    out.instances += 1;
    out.packets += u64::from(draws) * flows;
    out.expect(expected < at_most && (share - expected).abs() < error, || {
        format!("{flows} flows in {places} places: {share}, expected {expected}")
    });
    (0..10).for_each(|_| out.found(|| format!("{share:.4} of the flows meet another")));
}

/// §3.3.3.1, §3.6.2.1: what the order's defaults come to at a ToR of 24 ports and at a switch of 4096 queues.
pub fn tables(_: u32, _: u64) -> Outcome {
    let mut out = Outcome { instances: 2, packets: 2, ..Outcome::default() };
    let Params { queues, table, .. } = Params::default();
    let (at_tor, at_tofino) = (24 * u32::from(queues) * table, 4096 * table);
    out.expect(at_tor == 76_800, || format!("a ToR's flow tables have {at_tor} entries"));
    out.expect(at_tofino == 409_600, || format!("a Tofino2's flow table has {at_tofino} entries"));
    out.found(|| format!("{at_tor} and {at_tofino} entries"));
    out
}

/// App. C: the share of the time a lone flow's queue is empty.
fn empty(x: f64, k: f64) -> f64 {
    (x - 1.0) / (k * x + x * x - 1.0)
}

/// Its maximum over x is at 1 + √k, of 1/((√k + 1)² + 1): a fifth for k = 1, at x = 2; falling in k, and 7.6
/// % at x = 1.1.
pub fn lone_flow(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    let mut before = f64::INFINITY;
    for tenth in 1..=80 {
        let k = f64::from(tenth) / 10.0;
        let at = 1.0 + k.sqrt();
        let most = 1.0 / (at * at + 1.0);
        let best = (1..40_000).map(|i| 1.0 + f64::from(i) / 2000.0).map(|x| empty(x, k)).fold(0.0, f64::max);
        out.instances += 1;
        out.expect((best - most).abs() < 1e-6 && (empty(at, k) - most).abs() < 1e-12, || {
            format!("k = {k}: {best} at most, not {most}")
        });
        out.expect(most < before, || format!("k = {k}: it does not fall"));
        before = most;
    }
    out.expect((empty(2.0, 1.0) - 0.2).abs() < 1e-12, || "a fifth".into());
    out.expect((empty(1.1, 1.0) - 0.1 / 1.31).abs() < 1e-9, || "7.6 %".into());
    out.found(|| "a fifth at x = 2 for k = 1; 7.63 % at x = 1.1".into());
    out
}

/// §3.3.3.2: a switch of 32 ports whose neighbours have 128 queues each keeps 4096 counters, no two of which are one.
pub fn counters(_: u32, _: u64) -> Outcome {
    let mut out = Outcome { instances: 1, ..Outcome::default() };
    let Ok(mut switch) = Backpressure::new(&backpressure::Params::default(), 32) else { return out };
    let mut paused = 0;
    for (input, queue) in (0..32).flat_map(|input| (0..128).map(move |queue| (input, queue))) {
        let packet = Packet { hop: HopTag::from_queue(queue), ..Packet::default() };
        let at = Passing { input, output: 0, packet: &packet };
        out.packets += 2;
        let frames = [switch.on_overfull(Time::ZERO, at), switch.on_overfull(Time::ZERO, at)];
        out.expect(frames == [Some(Frame::PauseQueue { queue }), None], || format!("{frames:?}"));
        paused += u32::from(frames[0].is_some());
    }
    out.expect(paused == 4096, || format!("{paused} counters"));
    out.found(|| format!("{paused} counters"));
    out
}

/// §3.3.3: whatever is paused when, a port that may send does, never from a paused queue, and a flow's
/// packets keep their order.
pub fn work_conserving(packets: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    for (number, service) in
        [(0, Params::default().service), (1, thalweg_machines::schedule::bfc::Service::Shortest)]
    {
        let mut draw = Stream::new(seed, "bfc port", number);
        let params = Params { queues: 9, service, ..Params::default() };
        let at = At {
            rate: Rate::from_gbps(100),
            back: Rate::from_gbps(100),
            stream: Stream::new(seed, "bfc order", number),
            preemptive: false,
        };
        let Ok(mut port) = params.make(&at) else { continue };
        let mut paused = QueueSet::default();
        // By flow: which of its packets left last.
        let mut last = [0; 40];
        let mut waits = 0u32;
        out.instances += 1;
        for number in 1..=packets {
            let now = Time::from_ns(80 * u64::from(number));
            out.packets += 1;
            if draw.below(5) == 0 {
                paused = (0..8).filter(|_| draw.below(3) == 0).collect();
                port.pausable_mut().unwrap().pause_only(&paused);
            }
            if draw.below(2) == 0 {
                let flow = FlowId(draw.below(40) as u32);
                let packet = Packet { flow, wire: 1000, rank: draw.below(9) as i64, ..Packet::default() };
                port.push(now, &packet, Handle(number << 6 | flow.0));
                waits += 1;
            }
            match port.pop(now) {
                Some(entry) => {
                    let (queue, flow) =
                        (port.hop_by_hop().unwrap().served_queue(), (entry.handle.0 & 63) as usize);
                    waits -= 1;
                    out.expect(!paused.has(queue), || format!("packet {number}: queue {queue} is paused"));
                    out.expect(last[flow] < entry.handle.0, || {
                        format!("packet {number}: flow {flow} out of order")
                    });
                    last[flow] = entry.handle.0;
                }
                None if waits > 0 => {
                    // Then all that waits is in queues that are paused: a copy that may send all shows where.
                    let mut copy = port.clone();
                    copy.pausable_mut().unwrap().pause_only(&QueueSet::default());
                    for _ in 0..waits {
                        let shown = copy.pop(now).map(|_| copy.hop_by_hop().unwrap().served_queue());
                        out.expect(shown.is_some_and(|queue| paused.has(queue)), || {
                            format!("packet {number}: {shown:?} might have sent")
                        });
                    }
                    out.found(|| format!("{waits} packets wait, all in paused queues"));
                }
                None => {}
            }
        }
    }
    out
}

/// A Clos network: racks of `hosts` under every one of `middles` switches of their pod, those under every top
/// of their number; one pod: no tops.
struct Clos {
    hosts: u32,
    switches: u32,
    links: Vec<LinkSpec>,
}

impl Clos {
    fn new(pods: u32, leaves: u32, middles: u32, each: u32, tops: u32) -> Self {
        let hosts = pods * leaves * each;
        let (leaf, middle, top) = (hosts, hosts + pods * leaves, hosts + pods * (leaves + middles));
        let wire =
            |a, b| LinkSpec::fixed(NodeId(a), NodeId(b), Rate::from_gbps(100), Span::from_us(1), Span::ZERO);
        let mut links: Vec<LinkSpec> = (0..hosts).map(|h| wire(h, leaf + h / each)).collect();
        for pod in 0..pods {
            let within = (0..leaves).flat_map(|l| (0..middles).map(move |m| (l, m)));
            links.extend(within.map(|(l, m)| wire(leaf + pod * leaves + l, middle + pod * middles + m)));
            let above = (0..middles).flat_map(|m| (0..tops).map(move |t| (m, t)));
            links.extend(above.map(|(m, t)| wire(middle + pod * middles + m, top + m * tops + t)));
        }
        let switches = pods * (leaves + middles) + if tops > 0 { middles * tops } else { 0 };
        Self { hosts, switches, links }
    }

    fn ways<'a>(&'a self, incidents: &'a [Incident]) -> Ways<'a> {
        static ECMP: RoutingSpec = RoutingSpec {
            rule: RouteSpec::Ecmp(route::ecmp::Params {}),
            given: Given::Nothing,
            structure: Structure { groups: Vec::new(), dimensions: Vec::new() },
        };
        let (routing, flows) = (&ECMP, &[]);
        Ways { hosts: self.hosts, switches: self.switches, links: &self.links, routing, flows, incidents }
    }
}

/// §3.5, App. D: routes of a Clos network close no cycle of pauses; with links failed they may, and what
/// comes from a higher layer and returns to one is all that has to be elided.
pub fn clos(networks: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    let mut draw = Stream::new(seed, "clos", 0);
    for number in 0..networks {
        let two = number % 2 == 0;
        let pods = if two { 1 } else { 2 + draw.below(2) as u32 };
        let (leaves, middles) = (2 + draw.below(4) as u32, 2 + draw.below(3) as u32);
        let clos = Clos::new(pods, leaves, middles, 2, if two { 0 } else { 1 + draw.below(2) as u32 });
        let (Ok(intact), between) =
            (Dependencies::of(&clos.ways(&[])), clos.links.len() as u64 - u64::from(clos.hosts))
        else {
            continue;
        };
        out.expect(intact.cycle().is_none(), || format!("network {number}: {:?}", intact.cycle()));
        let down =
            |link: u64| Incident { at: Time::ZERO, what: IncidentKind::LinkDown(clos.hosts + link as u32) };
        let failed: Vec<Incident> =
            (0..1 + draw.below(between * 2 / 3)).map(|_| down(draw.below(between))).collect();
        let ways = clos.ways(&failed);
        let (Ok(found), Ok(exempt)) = (Dependencies::of(&ways), elision(&ways)) else { continue };
        out.instances += 1;
        out.packets += found.edges().count() as u64;
        let is_exempt = |turn: Turn| exempt.binary_search(&turn).is_ok();
        let left = found.without(is_exempt).cycle();
        out.expect(left.is_none(), || format!("network {number}: {left:?} in spite of elision"));
        // Before anything fails no route turns up again.
        out.expect(!intact.edges().any(is_exempt), || format!("network {number}: an intact route is exempt"));
        if let Some(cycle) = found.cycle() {
            out.found(|| {
                format!("network {number} of {} switches: {cycle:?} wait in a circle", clos.switches)
            });
        }
    }
    out
}
