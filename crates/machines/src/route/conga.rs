//! CONGA: flowlets take the least congested path to the leaf of their destination.
//!
//! Alizadeh, Edsall, Dharmapurikar, Vaidyanathan, Chu, Fingerhut, Lam, Matus, Pan, Yadav, Varghese, "CONGA: Distributed
//! Congestion-Aware Load Balancing for Datacenters", SIGCOMM 2014, §3. Every port between switches estimates the load
//! of its link ([`Estimator`]). A packet collects the largest estimate on its way from leaf to leaf ([`Header`]). The
//! destination leaf stores it by source leaf and uplink, and feeds it back in packets that go to that leaf anyway, one
//! uplink per packet. So every leaf knows the congestion of the paths from each of its uplinks to each other leaf,
//! about one round trip ago. The first packet of a flowlet takes the uplink with the least congestion, which is the
//! larger of the uplink's own estimate and the one fed back; the others follow it.
//!
//! ```text
//! CHOICE CONGA §3.2 (estimator): a packet counts when the switch decides where it leaves, as in published simulators.
//! Other reading: when it is transmitted. They differ by the bytes that wait, and only while the estimate is at its
//! top.
//! CHOICE CONGA §3.2 (α, T_dre): α is an eighth and T_dre 20 us; the paper gives their time constant T_dre/α, 160 us.
//! CHOICE CONGA §3.3 (aging): a metric falls by one level after each `forget` without an update. The paper's metrics
//! that were not updated for long (say 10 ms) "gradually decay to zero"; it gives no rule.
//! CHOICE CONGA §3.3 (feedback): as in the paper, metrics that have changed since they were last fed back come first,
//! in round-robin order. If none has changed, all are fed back in that order.
//! CHOICE CONGA §3.3 (path): the path ends at the destination leaf; the link to the host does not count.
//! CHOICE CONGA §7 (more tiers): switches between two leaves choose by a hash of the flow.
//! CHOICE CONGA §3.1 (header): LBTag has 6 bits, not 4 as in the paper's VXLAN header, for leaves of up to 64 uplinks.
//! ```
//!
//! The paper is cited from memory and from published summaries: its sections could not be checked.

use super::flowlets::{Aging, Flowlets};
use super::{Around, Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site, SiteKind, spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Rate, Span, Stream, Time};

/// CONGA: a flowlet takes the uplink with the least congested path to the leaf of its destination, which feeds the
/// congestion back (Alizadeh et al., SIGCOMM 2014).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// T_fl: the flowlet timeout. 13 ms gives one choice per flow (CONGA-Flow).
    pub timeout: Span,
    /// Size of the flowlet table of each leaf, in entries.
    #[schemars(extend("minimum" = 1, "maximum" = 16_777_216))]
    pub entries: u32,
    /// How the end of a flowlet is detected.
    pub aging: Aging,
    /// T_dre: the interval at which estimates of links' loads decay.
    pub interval: Span,
    /// α: the fraction by which an estimate decays each time. T_dre/α is its time constant.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub decay: f64,
    /// Q: the bits of an estimate in packets and in the tables of leaves.
    #[schemars(extend("minimum" = 1, "maximum" = 3))]
    pub bits: u32,
    /// A fed-back metric falls by one level each time that this passes without an update.
    pub forget: Span,
}

impl Default for Params {
    /// The paper's (§3, §5); α and T_dre have its time constant.
    fn default() -> Self {
        Self {
            timeout: Span::from_us(500),
            entries: 1 << 16,
            aging: Aging::AgeBit,
            interval: Span::from_us(20),
            decay: 0.125,
            bits: 3,
            forget: Span::from_ms(10),
        }
    }
}

impl Parameters for Params {
    type Machine = Conga;

    fn needs(&self) -> Needs {
        Needs { draws: true, remembers: true, everywhere: true, ..Needs::PACKET }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        problems.positive("timeout", self.timeout, "500us");
        problems.positive("interval", self.interval, "20us");
        problems.positive("forget", self.forget, "10ms");
        problems.table("entries", self.entries);
        if !(self.decay > 0.0 && self.decay < 1.0) {
            problems.wrong("decay", format!("{} is not a fraction", self.decay), "above 0 and below 1");
        }
        if !(1..=3).contains(&self.bits) {
            problems.wrong("bits", format!("a header has no room for {} bits", self.bits), "allowed: 1 to 3");
        }
        let most = [("uplinks", at.uplinks, Header::UPLINKS), ("switches", at.switches, Header::LEAVES)];
        for (what, has, most) in most.into_iter().filter(|(_, has, most)| has > most) {
            let why = format!("a header distinguishes {most} {what}, and there are {has}");
            problems.wrong("kind", why, "\"flowlet\", or a smaller network");
        }
    }

    fn make(&self, at: &Site) -> Conga {
        let (SiteKind::Host(number) | SiteKind::Switch(number)) = at.node;
        Conga {
            leaf: number,
            salt: at.salt(),
            flowlets: Flowlets::new(at.salt(), self.entries),
            stream: at.stream("conga"),
            links: Links(Vec::new()),
            uplinks: Vec::new(),
            towards: Vec::new(),
            from: Vec::new(),
            p: self.clone(),
        }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let few = Self { timeout: Span::from_us(3), entries: 5, ..Self::default() };
        vec![Self { aging: Aging::Exact, bits: 1, forget: Span::from_us(9), ..few.clone() }, few]
    }
}

/// What a packet carries between leaves: the overlay's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// The source leaf, by its number among the switches.
    leaf: u32,
    /// LBTag: the number of the uplink by which the packet left.
    uplink: u8,
    /// CE: the largest estimate on the path so far.
    congestion: u8,
    /// FB_LBTag, FB_Metric: an uplink of the destination leaf, and the congestion of the path from it.
    feedback: Option<(u8, u8)>,
}

impl Header {
    /// Leaves that can be distinguished.
    const LEAVES: u32 = 1 << 13;
    /// Uplinks of a leaf.
    const UPLINKS: u32 = 1 << 6;

    fn bits(self) -> u32 {
        let (uplink, metric) = self.feedback.unwrap_or_default();
        self.leaf << 19
            | u32::from(self.uplink) << 13
            | u32::from(self.congestion) << 10
            | u32::from(self.feedback.is_some()) << 9
            | u32::from(uplink) << 3
            | u32::from(metric)
    }

    fn of(bits: u32) -> Self {
        let field = |from: u32, width: u32| bits >> from & ((1 << width) - 1);
        Self {
            leaf: field(19, 13),
            uplink: field(13, 6) as u8,
            congestion: field(10, 3) as u8,
            feedback: (field(9, 1) == 1).then_some((field(3, 6) as u8, field(0, 3) as u8)),
        }
    }
}

/// The discounting rate estimator (DRE) of a link: counts the bytes sent, and loses a fraction of the sum at each
/// interval. At a constant rate R it stands at R times its time constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Estimator {
    port: PortId,
    /// X.
    bytes: f64,
    /// Intervals that have passed.
    ticks: u64,
    /// X of a fully used link.
    full: f64,
}

impl Estimator {
    fn new(p: &Params, port: PortId, rate: Rate) -> Self {
        let constant = p.interval.ps() as f64 * 1e-12 / p.decay;
        Self { port, bytes: 0.0, ticks: 0, full: (rate.bps() as f64 / 8.0 * constant).max(1.0) }
    }

    /// The estimate at `now`, quantised to 2^Q levels.
    fn level(&mut self, p: &Params, now: Time) -> u8 {
        let ticks = now.ps() / p.interval.ps();
        self.bytes *= power(1.0 - p.decay, ticks - self.ticks);
        self.ticks = ticks;
        let levels = f64::from(1u32 << p.bits);
        (self.bytes / self.full * levels).min(levels - 1.0) as u8
    }

    /// Counts a packet, and returns the estimate that includes it.
    fn send(&mut self, p: &Params, now: Time, wire: u32) -> u8 {
        self.level(p, now);
        self.bytes += f64::from(wire);
        self.level(p, now)
    }
}

/// `base` to the power of `n`, by multiplications alone: the same bits on every machine, as `powi` does not promise.
fn power(base: f64, n: u64) -> f64 {
    let (mut square, mut rest, mut product) = (base, n, 1.0);
    while rest > 0 && product > 0.0 {
        if rest & 1 == 1 {
            product *= square;
        }
        square *= square;
        rest >>= 1;
    }
    product
}

/// The estimators of a switch, in the order of their ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Links(Vec<Estimator>);

impl Links {
    /// That of a port, whose link has this rate.
    fn of(&mut self, p: &Params, port: PortId, rate: Rate) -> &mut Estimator {
        let found = self.0.binary_search_by_key(&port, |link| link.port);
        let at = found.unwrap_or_else(|at| {
            self.0.insert(at, Estimator::new(p, port, rate));
            at
        });
        &mut self.0[at]
    }
}

/// The congestion of the path from an uplink, as another leaf has fed it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Remote {
    level: u8,
    /// When it was fed back.
    at: Time,
}

impl Remote {
    fn level(self, p: &Params, now: Time) -> u8 {
        let forgotten = (now - self.at).ps() / p.forget.ps();
        self.level.saturating_sub(forgotten.min(u64::from(u8::MAX)) as u8)
    }
}

/// The congestion of packets from another leaf by uplink of that leaf, to be fed back to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    by_uplink: Vec<Option<Metric>>,
    /// The uplink whose turn it is.
    next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Metric {
    level: u8,
    /// Since it was last fed back.
    changed: bool,
}

impl Seen {
    fn note(&mut self, uplink: u8, level: u8) {
        let one = at_or_new(&mut self.by_uplink, usize::from(uplink));
        let changed = one.is_none_or(|before| before.changed || before.level != level);
        *one = Some(Metric { level, changed });
    }

    /// The uplink and level to feed back next.
    fn next_feedback(&mut self) -> Option<(u8, u8)> {
        let count = self.by_uplink.len();
        let turns = || (0..count).map(|turn| (self.next + turn) % count);
        let is = |at: &usize, changed: bool| self.by_uplink[*at].is_some_and(|one| one.changed || !changed);
        let at = turns().find(|at| is(at, true)).or_else(|| turns().find(|at| is(at, false)))?;
        self.next = at + 1;
        let one = self.by_uplink[at].as_mut()?;
        one.changed = false;
        Some((at as u8, one.level))
    }
}

/// The element at `at` of a table that grows on first use.
fn at_or_new<T: Clone + Default>(table: &mut Vec<T>, at: usize) -> &mut T {
    if table.len() <= at {
        table.resize(at + 1, T::default());
    }
    &mut table[at]
}

/// One switch: a leaf for packets from and to its own hosts, a spine for those of others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conga {
    p: Params,
    /// Its number among the switches.
    leaf: u32,
    salt: u64,
    flowlets: Flowlets,
    stream: Stream,
    /// Of its ports to other switches.
    links: Links,
    /// Ports that have been candidates for packets from hosts; an uplink's number is its place here.
    uplinks: Vec<PortId>,
    /// Congestion-To-Leaf: by leaf, by its own uplink.
    towards: Vec<Vec<Remote>>,
    /// Congestion-From-Leaf: by leaf.
    from: Vec<Seen>,
}

impl Conga {
    fn number(&mut self, uplink: PortId) -> u8 {
        let known = self.uplinks.iter().position(|port| *port == uplink);
        let at = known.unwrap_or_else(|| {
            self.uplinks.push(uplink);
            self.uplinks.len() - 1
        });
        at as u8
    }

    /// The congestion of the path to a leaf by a candidate: of its own link, or as the leaf has fed it back.
    fn congestion(&mut self, now: Time, leaf: u32, candidate: usize, ports: &impl Candidates) -> u8 {
        let (port, rate) = (ports.port(candidate), ports.rate(candidate));
        let uplink = usize::from(self.number(port));
        let remote = self.towards.get(leaf as usize).and_then(|row| row.get(uplink)).copied();
        let remote = remote.map_or(0, |remote| remote.level(&self.p, now));
        self.links.of(&self.p, port, rate).level(&self.p, now).max(remote)
    }

    /// Chooses for the first packet of a flowlet: a least congested candidate. The flow moves only to a better one;
    /// among equals the choice is random.
    fn decide(&mut self, now: Time, leaf: u32, before: Option<usize>, ports: &impl Candidates) -> usize {
        let (mut least, mut equals) = (u8::MAX, 0);
        let mut chosen = 0;
        for candidate in 0..ports.count() {
            let congestion = self.congestion(now, leaf, candidate, ports);
            if congestion < least {
                (least, equals, chosen) = (congestion, 0, candidate);
            }
            if congestion > least {
                continue;
            }
            equals += 1;
            // Reservoir sampling: each of the equals is chosen with the same probability.
            if equals > 1 && self.stream.below(equals) == 0 {
                chosen = candidate;
            }
        }
        match before {
            Some(before) if self.congestion(now, leaf, before, ports) == least => before,
            _ => chosen,
        }
    }

    /// Takes the header of a packet that has reached its destination leaf.
    fn receive(&mut self, now: Time, header: Header) {
        at_or_new(&mut self.from, header.leaf as usize).note(header.uplink, header.congestion);
        if let Some((uplink, level)) = header.feedback {
            let row = at_or_new(&mut self.towards, header.leaf as usize);
            *at_or_new(row, usize::from(uplink)) = Remote { level, at: now };
        }
    }
}

impl RouteRule for Conga {
    fn choose(&mut self, now: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        if packet.leaf == self.leaf {
            if !packet.enters {
                self.receive(now, Header::of(packet.value));
            }
            return 0;
        }
        let (candidate, mut header) = if packet.enters {
            let entry = *self.flowlets.entry(packet.hash());
            let before = entry.named(&*ports);
            let goes_on = self.p.aging.goes_on(self.p.timeout, entry.last, now);
            let candidate = match before.filter(|_| goes_on) {
                Some(candidate) => candidate,
                None => self.decide(now, packet.leaf, before, &*ports),
            };
            self.flowlets.entry(packet.hash()).take(candidate, &*ports, now);
            let uplink = self.number(ports.port(candidate));
            let feedback = self.from.get_mut(packet.leaf as usize).and_then(Seen::next_feedback);
            (candidate, Header { leaf: self.leaf, uplink, congestion: 0, feedback })
        } else {
            (spread(packet.hash(), self.salt, ports.count()), Header::of(packet.value))
        };
        let (port, rate) = (ports.port(candidate), ports.rate(candidate));
        let sent = self.links.of(&self.p, port, rate).send(&self.p, now, packet.wire);
        header.congestion = header.congestion.max(sent);
        packet.value = header.bits();
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    const US: Time = Time::from_us(1);

    fn leaf(number: u32) -> Conga {
        Params::default().make(&at_switch(number))
    }

    /// From a host of the switch to a host of that leaf.
    fn to(leaf: u32, flow: u32) -> Passing {
        Passing { leaf, wire: 64, ..passing(flow) }
    }

    /// A packet from another leaf, which left by that uplink of it.
    fn arriving(at: u32, header: Header) -> Passing {
        Passing { leaf: at, enters: false, value: header.bits(), ..passing(1) }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        for feedback in [None, Some((0, 0)), Some((63, 7))] {
            for (leaf, uplink, congestion) in [(0, 0, 0), (8191, 63, 7), (5, 1, 4)] {
                let header = Header { leaf, uplink, congestion, feedback };
                assert_eq!(Header::of(header.bits()), header);
            }
        }
    }

    /// §3.2: X is R·τ, so that a level is an eighth of the rate; a sawtooth of a part of α stands on it.
    #[test]
    fn the_estimate_of_a_constant_rate_is_that_rate() {
        let p = Params::default();
        for tenths in 1..10 {
            let mut link = Estimator::new(&p, PortId(1), Rate::from_gbps(10));
            // 1250 B at 10 Gb/s take 1 us.
            let every = 10.0 / f64::from(tenths);
            let sent =
                (0..).map(|n| (f64::from(n) * every * 1e6) as u64).take_while(|at| *at < 2_000_000_000);
            let (mut sum, mut count) = (0.0, 0.0);
            for at in sent {
                link.send(&p, Time::from_ps(at), 1250);
                if at > 1_000_000_000 {
                    (sum, count) = (sum + link.bytes / link.full, count + 1.0);
                }
            }
            let (found, rate) = (sum / count, f64::from(tenths) / 10.0);
            assert!((found - rate).abs() < 0.08 * rate, "{found} of {rate}");
            assert_eq!(link.level(&p, Time::from_ms(4)), 0, "2 ms later");
        }
    }

    #[test]
    fn a_flowlet_takes_the_path_with_the_least_reported_congestion_and_stays_on_it() {
        let (mut here, mut ports) = (leaf(0), Ports::idle(2));
        // Uplinks have numbers once they have been candidates.
        here.choose(Time::ZERO, &mut to(1, 9), &mut ports);
        for (uplink, level) in [(0, 5), (1, 2)] {
            let header = Header { leaf: 1, uplink: 0, congestion: 0, feedback: Some((uplink, level)) };
            here.choose(US, &mut arriving(0, header), &mut Ports::idle(1));
        }
        assert!((10..40).all(|flow| here.choose(US, &mut to(1, flow), &mut ports) == 1));
        // Of another leaf nothing is known.
        let mut other: Vec<usize> =
            (110..140).map(|flow| here.choose(US, &mut to(2, flow), &mut ports)).collect();
        other.sort_unstable();
        other.dedup();
        assert_eq!(other, [0, 1]);
        // What was said changes: those under way stay, others do not come.
        let header = Header { leaf: 1, uplink: 0, congestion: 0, feedback: Some((1, 7)) };
        here.choose(US + Span::from_us(1), &mut arriving(0, header), &mut Ports::idle(1));
        let later = US + Span::from_us(400);
        assert!((10..40).all(|flow| here.choose(later, &mut to(1, flow), &mut ports) == 1));
        assert!((50..80).all(|flow| here.choose(later, &mut to(1, flow), &mut ports) == 0));
    }

    #[test]
    fn a_new_flowlet_moves_only_to_a_path_that_is_better() {
        let (mut here, mut ports) = (leaf(0), Ports::idle(8));
        let first = here.choose(Time::ZERO, &mut to(1, 3), &mut ports);
        for n in 1..50 {
            assert_eq!(here.choose(Time::from_ms(20 * n), &mut to(1, 3), &mut ports), first);
        }
    }

    /// The largest of the links on the way, said back to the leaf that it came from, by its uplink.
    #[test]
    fn congestion_is_collected_on_the_way_and_fed_back() {
        let (mut near, mut spine, mut far) = (leaf(0), leaf(2), leaf(1));
        let mut ports = Ports::idle(2);
        let mut busy = to(1, 4);
        let candidate = near.choose(Time::ZERO, &mut busy, &mut ports);
        // 200 packets of 1500 B in no time are 1.5 times what 160 us hold at 10 Gb/s: seven eighths and more.
        for _ in 0..200 {
            let mut other = Passing { enters: false, leaf: 1, value: Header::of(0).bits(), ..passing(8) };
            spine.choose(Time::ZERO, &mut other, &mut Ports::idle(1));
        }
        busy.enters = false;
        spine.choose(Time::ZERO, &mut busy, &mut Ports::idle(1));
        assert_eq!(Header::of(busy.value).congestion, 7);
        far.choose(Time::ZERO, &mut busy, &mut Ports::idle(1));
        let mut back = to(0, 4);
        far.choose(US, &mut back, &mut ports);
        let said = Header::of(back.value).feedback;
        assert_eq!(said, Some((near.number(ports.port(candidate)), 7)));
        back.enters = false;
        near.choose(US, &mut back, &mut Ports::idle(1));
        assert_eq!(near.congestion(US, 1, candidate, &ports), 7);
        assert_eq!(near.congestion(US, 1, 1 - candidate, &ports), 0);
    }

    #[test]
    fn changed_metrics_are_fed_back_first_and_then_all_in_turn() {
        let mut seen = Seen::default();
        assert_eq!(seen.next_feedback(), None);
        for (uplink, level) in [(0, 1), (1, 2), (3, 4)] {
            seen.note(uplink, level);
        }
        assert_eq!([(); 3].map(|()| seen.next_feedback()), [Some((0, 1)), Some((1, 2)), Some((3, 4))]);
        seen.note(1, 2);
        seen.note(3, 5);
        assert_eq!(
            [(); 4].map(|()| seen.next_feedback()),
            [Some((3, 5)), Some((0, 1)), Some((1, 2)), Some((3, 5))]
        );
    }

    #[test]
    fn old_feedback_is_forgotten_a_level_at_a_time() {
        let p = Params::default();
        let said = Remote { level: 3, at: Time::from_ms(1) };
        let levels = [10, 11, 20, 21, 31, 90].map(|ms| said.level(&p, Time::from_ms(ms)));
        assert_eq!(levels, [3, 2, 2, 1, 0, 0]);
    }
}
