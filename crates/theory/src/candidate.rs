//! The candidates for a universal scheduler, straight from their definitions.
//!
//! This is the oracle: at every instant at which anything happens every node looks at all packets that wait there
//! and at the one in service and evaluates the rule anew. No keys are kept, no hooks, no event queue. The
//! production simulator must come to the same schedule ([`crate::engine`]).
//!
//! Order at one instant (the counter-examples depend on it): completions, then arrivals, then nodes choose.
//! Arrivals of one instant at one node come in the order of (flow, packet).

use crate::headers::Headers;
use crate::instance::Instance;

/// What a node compares; the smallest is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Least slack time first: the remaining slack of the last bit. The header holds slack; waiting is taken off it.
    Lstf,
    /// Network-wide earliest deadline first: the header holds o(p); each node knows t_min from itself on.
    Edf,
    /// Omniscient: o(p,α) of this hop.
    Omniscient,
    /// Static priorities: the header, never changed.
    Priority,
    /// FIFO+ (Clark, Shenker, Zhang, SIGCOMM 1992) as the papers use it: the header accumulates waiting at
    /// earlier hops; who has waited longest over all hops is served.
    FifoPlus,
}

/// Who goes first among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Who arrived at this node first.
    Fcfs,
    /// Who arrived at this node last: the wrong way round, to show where ties decide.
    Lcfs,
}

/// A scheduler, the same at every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What is compared.
    pub rule: Rule,
    /// A newcomer that is strictly better stops the packet in service, which later resumes.
    pub preemptive: bool,
    /// Among equals.
    pub ties: Ties,
}

impl Candidate {
    /// `rule` with preemption, ties first come, first served.
    pub const fn preemptive(rule: Rule) -> Self {
        Self { rule, preemptive: true, ties: Ties::Fcfs }
    }

    /// `rule` without preemption, ties first come, first served.
    pub const fn waiting(rule: Rule) -> Self {
        Self { rule, preemptive: false, ties: Ties::Fcfs }
    }
}

/// A packet at a node in the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// i'(p,α), ps.
    pub arrive: i64,
    /// When its last bit leaves the node, ps.
    pub leave: i64,
    /// Its header on arrival.
    pub header_in: i64,
    /// Its header as it leaves.
    pub header_out: i64,
}

/// A stretch of uninterrupted service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Service {
    /// Where.
    pub node: usize,
    /// From, ps.
    pub from: i64,
    /// To, ps.
    pub to: i64,
    /// Which packet.
    pub packet: usize,
}

/// What became of the packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Per packet, per hop.
    pub hops: Vec<Vec<Hop>>,
    /// o'(p): when the last bit of each packet is out of the network, ps.
    pub exit: Vec<i64>,
    /// Who was served where and when, in order of node and time.
    pub service: Vec<Service>,
}

impl Replay {
    /// o'(p) − o(p) where that is positive: the overdue packets and by how much, ps.
    pub fn overdue(&self, due: &[i64]) -> Vec<(usize, i64)> {
        let late = self.exit.iter().zip(due).map(|(exit, due)| exit - due).enumerate();
        late.filter(|(_, by)| *by > 0).collect()
    }

    /// How long packet `p` waited at hops `from` and later, ps.
    pub fn waited_from(&self, instance: &Instance, p: usize, from: usize) -> i64 {
        let hops = self.hops[p].iter().enumerate().skip(from);
        hops.map(|(k, h)| h.leave - h.arrive - instance.service(p, k)).sum()
    }
}

/// A packet at a node.
#[derive(Clone, Copy)]
struct Present {
    packet: usize,
    hop: usize,
    arrived: i64,
    /// How many arrived here before it.
    number: u64,
    /// Service it still needs.
    remaining: i64,
}

#[derive(Default)]
struct Server {
    present: Vec<Present>,
    /// Packet in service, and since when.
    active: Option<(usize, i64)>,
    arrivals: u64,
}

struct Run<'a> {
    instance: &'a Instance,
    headers: &'a Headers,
    candidate: Candidate,
    header: Vec<i64>,
    servers: Vec<Server>,
    /// (when, packet, hop): on the wire.
    flying: Vec<(i64, usize, usize)>,
    replay: Replay,
}

/// Runs the packets of `instance` through nodes that all follow `candidate`.
pub fn replay(instance: &Instance, headers: &Headers, candidate: Candidate) -> Replay {
    let packets = instance.packets.len();
    let mut run = Run {
        instance,
        headers,
        candidate,
        header: headers.value.clone(),
        servers: instance.nodes.iter().map(|_| Server::default()).collect(),
        flying: (0..packets).map(|p| (instance.packets[p].arrival + instance.delay(p, 0), p, 0)).collect(),
        replay: Replay { hops: vec![Vec::new(); packets], exit: vec![0; packets], service: Vec::new() },
    };
    while let Some(now) = run.next_instant() {
        for node in 0..run.servers.len() {
            run.complete(node, now);
        }
        run.land(now);
        for node in 0..run.servers.len() {
            run.choose(node, now);
        }
    }
    run.replay.service.sort_unstable();
    run.replay
}

impl Run<'_> {
    fn next_instant(&self) -> Option<i64> {
        let landings = self.flying.iter().map(|f| f.0);
        landings.chain(self.servers.iter().filter_map(Server::completes)).min()
    }

    fn complete(&mut self, node: usize, now: i64) {
        if self.servers[node].completes() != Some(now) {
            return;
        }
        self.stop(node, now);
        let server = &mut self.servers[node];
        let at = server.present.iter().position(|p| p.remaining == 0).expect("it completes");
        let Present { packet: p, hop: k, arrived, .. } = server.present.remove(at);
        let waited = now - arrived - self.instance.service(p, k);
        match self.candidate.rule {
            Rule::Lstf => self.header[p] -= waited,
            Rule::FifoPlus => self.header[p] += waited,
            Rule::Edf | Rule::Omniscient | Rule::Priority => {}
        }
        let hop = self.replay.hops[p].last_mut().expect("it arrived");
        (hop.leave, hop.header_out) = (now, self.header[p]);
        let next = now + self.instance.delay(p, k + 1);
        if k + 1 == self.instance.hops(p) {
            self.replay.exit[p] = next;
        } else {
            self.flying.push((next, p, k + 1));
        }
    }

    fn land(&mut self, now: i64) {
        let mut landing: Vec<_> = self.flying.iter().copied().filter(|f| f.0 == now).collect();
        self.flying.retain(|f| f.0 != now);
        landing.sort_unstable_by_key(|&(_, p, _)| (self.instance.packets[p].flow, p));
        for (_, packet, hop) in landing {
            let server = &mut self.servers[self.instance.path(packet)[hop]];
            let remaining = self.instance.service(packet, hop);
            assert!(remaining > 0, "nodes take time");
            server.present.push(Present { packet, hop, arrived: now, number: server.arrivals, remaining });
            server.arrivals += 1;
            let header = self.header[packet];
            self.replay.hops[packet].push(Hop {
                arrive: now,
                leave: i64::MAX,
                header_in: header,
                header_out: header,
            });
        }
    }

    fn choose(&mut self, node: usize, now: i64) {
        let server = &self.servers[node];
        let tie = |p: &Present| match self.candidate.ties {
            Ties::Fcfs => p.number as i64,
            Ties::Lcfs => -(p.number as i64),
        };
        let waits = |p: &&Present| server.active.is_none_or(|(active, _)| active != p.packet);
        let best = server.present.iter().filter(waits).min_by_key(|p| (self.rank(p, now), tie(p)));
        let Some(best) = best.copied() else { return };
        if let Some((active, _)) = server.active {
            let active = server.present.iter().find(|p| p.packet == active).expect("it is in service");
            if !self.candidate.preemptive || self.rank(&best, now) >= self.rank(active, now) {
                return;
            }
            self.stop(node, now);
        }
        self.servers[node].active = Some((best.packet, now));
    }

    /// What the rule states of `p` at `now`; the definitions.
    fn rank(&self, p: &Present, now: i64) -> i64 {
        let Present { packet, hop, arrived, .. } = *p;
        let header = self.header[packet];
        let service = self.instance.service(packet, hop);
        match self.candidate.rule {
            Rule::Lstf => header - (now - arrived) + service,
            Rule::Edf => header - self.instance.t_min_from(packet, hop) + service,
            Rule::Omniscient => self.headers.times[packet][hop],
            Rule::Priority => header,
            Rule::FifoPlus => -(header + (now - arrived)),
        }
    }

    /// Ends the stretch of service at `node`.
    fn stop(&mut self, node: usize, now: i64) {
        let server = &mut self.servers[node];
        let Some((packet, from)) = server.active.take() else { return };
        let served = server.present.iter_mut().find(|p| p.packet == packet).expect("it is in service");
        served.remaining -= now - from;
        if now > from {
            self.replay.service.push(Service { node, from, to: now, packet });
        }
    }
}

impl Server {
    fn completes(&self) -> Option<i64> {
        let (packet, since) = self.active?;
        let active = self.present.iter().find(|p| p.packet == packet).expect("it is in service");
        Some(since + active.remaining)
    }
}
