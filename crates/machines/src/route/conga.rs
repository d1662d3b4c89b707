//! CONGA: flowlets take the path to the destination's leaf that is congested least.
//!
//! Alizadeh, Edsall, Dharmapurikar, Vaidyanathan, Chu, Fingerhut, Lam, Matus, Pan, Yadav, Varghese, "CONGA: Distributed
//! Congestion-Aware Load Balancing for Datacenters", SIGCOMM 2014, §3. Every port between switches estimates the load
//! of its link ([`Estimator`]). Packets collect the largest estimate on their way from leaf to leaf ([`Header`]); the
//! last leaf notes it by source leaf and uplink, and says it to that leaf in packets that go there anyway, one uplink
//! each. So a leaf knows how congested the paths from each of its uplinks to each other leaf are, a round trip ago. The
//! first packet of a flowlet takes the uplink whose own load, or whose path's, is least; the others follow it.
//!
//! ```text
//! CHOICE CONGA §3.2 (estimator): a packet counts as the switch decides where it leaves, as in published simulators.
//! Other reading: as it leaves. They differ by what waits, while the estimate is above what can be said anyway.
//! CHOICE CONGA §3.2 (α, T_dre): an eighth every 20 us; the paper gives the time constant T_dre/α of 160 us alone.
//! CHOICE CONGA §3.3 (aging): after `forget` without news a level less, and one for each `forget` more. The paper's
//! metrics that were not updated for long (say 10 ms) "gradually decay to zero", without a rule.
//! CHOICE CONGA §3.3 (feedback): those uplinks of the other leaf first whose metric has changed since it was last said,
//! in turn, as in the paper; if none has, all in turn.
//! CHOICE CONGA §3.3 (between leaves): the largest estimate is over links between switches: the last, to the host, has
//! no other.
//! CHOICE CONGA §7 (more tiers): switches that packets pass between two leaves choose by a hash of the flow.
//! CHOICE CONGA §3.1 (header): an uplink's number has 6 bits, not 4 (VXLAN's), for leaves of up to 64 uplinks.
//! ```
//!
//! The paper is cited from memory and from published summaries: its sections could not be checked.

use super::flowlets::{Aging, Flowlets};
use super::{
    Around, Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site, SiteKind, salt, spread,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Rate, Span, Stream, Time};

/// CONGA: a flowlet takes the uplink from which the path to its destination's leaf is congested least, as that leaf
/// says in packets that come back (Alizadeh et al., SIGCOMM 2014).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// T_fl, the flowlet timeout: 500 us, or 13 ms for one choice per flow (CONGA-Flow).
    pub timeout: Span,
    /// Entries of the flowlet table of each leaf.
    #[schemars(extend("minimum" = 1, "maximum" = 16_777_216))]
    pub entries: u32,
    /// How an entry notices that its flowlet is over.
    pub aging: Aging,
    /// T_dre: how often the estimate of a link's load decays.
    pub interval: Span,
    /// α: by what part of itself.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub decay: f64,
    /// Q: bits of an estimate in a packet, and in the tables of leaves.
    #[schemars(extend("minimum" = 1, "maximum" = 3))]
    pub bits: u32,
    /// After so long without news of a path it is taken to be less congested, by one level each time.
    pub forget: Span,
}

impl Default for Params {
    /// Those of the paper's §3 and §5, and α and T_dre with its time constant.
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
        if !(1..=1 << 24).contains(&self.entries) {
            problems.wrong(
                "entries",
                format!("a table of {} entries", self.entries),
                "allowed: 1 to 16777216",
            );
        }
        if !(self.decay > 0.0 && self.decay < 1.0) {
            problems.wrong("decay", format!("{} is no part of a whole", self.decay), "above 0 and below 1");
        }
        if !(1..=3).contains(&self.bits) {
            problems.wrong("bits", format!("a header has no room for {}", self.bits), "allowed: 1 to 3");
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
            salt: salt(at.seed, number),
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
    /// The leaf that it comes from, by its number among the switches.
    leaf: u32,
    /// LBTag: the uplink by which it left, by number.
    uplink: u8,
    /// CE: the largest estimate on its way so far.
    congestion: u8,
    /// FB_LBTag, FB_Metric: what came to its leaf by that uplink of the leaf that it goes to.
    feedback: Option<(u8, u8)>,
}

impl Header {
    /// Leaves that can be distinguished.
    const LEAVES: u32 = 1 << 13;
    /// Uplinks of a leaf.
    const UPLINKS: u32 = 1 << 6;

    fn bits(self) -> u32 {
        let (uplink, metric) = self.feedback.map_or((0, 0), |(uplink, metric)| (uplink, metric));
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

/// The discounting rate estimator (DRE) of a link: bytes sent, of which a part is forgotten every so often. Of a
/// constant rate R it holds R times its time constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Estimator {
    port: PortId,
    /// X.
    bytes: f64,
    /// Decays so far.
    ticks: u64,
    /// X of a link that is never idle.
    full: f64,
}

/// After so many decays in a row nothing is left of what a link can have sent.
const LONG: u64 = 1 << 12;

impl Estimator {
    fn new(p: &Params, port: PortId, rate: Rate) -> Self {
        let constant = p.interval.ps() as f64 * 1e-12 / p.decay;
        Self { port, bytes: 0.0, ticks: 0, full: (rate.bps() as f64 / 8.0 * constant).max(1.0) }
    }

    /// The estimate at `now`, in levels.
    fn level(&mut self, p: &Params, now: Time) -> u8 {
        let ticks = now.ps() / p.interval.ps();
        if ticks - self.ticks > LONG {
            self.bytes = 0.0;
        } else {
            (self.ticks..ticks).for_each(|_| self.bytes *= 1.0 - p.decay);
        }
        self.ticks = ticks;
        let levels = f64::from(1u32 << p.bits);
        (self.bytes / self.full * levels).min(levels - 1.0) as u8
    }

    /// A packet is sent; the estimate with it.
    fn send(&mut self, p: &Params, now: Time, wire: u32) -> u8 {
        self.level(p, now);
        self.bytes += f64::from(wire);
        self.level(p, now)
    }
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

/// How congested the path from an uplink is, as another leaf has said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Remote {
    level: u8,
    /// When it said so.
    at: Time,
}

impl Remote {
    fn level(self, p: &Params, now: Time) -> u8 {
        let forgotten = (now - self.at).ps() / p.forget.ps();
        self.level.saturating_sub(forgotten.min(u64::from(u8::MAX)) as u8)
    }
}

/// What has come from another leaf by each of its uplinks, to be said to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    by_uplink: Vec<Option<Metric>>,
    /// Whose turn it is.
    next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Metric {
    level: u8,
    /// Since it was last said.
    changed: bool,
}

impl Seen {
    fn note(&mut self, uplink: u8, level: u8) {
        let one = at_or_new(&mut self.by_uplink, usize::from(uplink));
        let changed = one.is_none_or(|before| before.changed || before.level != level);
        *one = Some(Metric { level, changed });
    }

    /// What to say next.
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

/// The element at `at` of a table that grows as its rows are first used.
fn at_or_new<T: Clone + Default>(table: &mut Vec<T>, at: usize) -> &mut T {
    if table.len() <= at {
        table.resize(at + 1, T::default());
    }
    &mut table[at]
}

/// One switch: a leaf for the hosts that hang off it, a spine for the packets of others.
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
    /// The ports that have been uplinks: their places are their numbers.
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

    /// How congested the path by a candidate to a leaf is: its own link, or what the leaf has said.
    fn congestion(&mut self, now: Time, leaf: u32, candidate: usize, ports: &impl Candidates) -> u8 {
        let (port, rate) = (ports.port(candidate), ports.rate(candidate));
        let uplink = usize::from(self.number(port));
        let remote = self.towards.get(leaf as usize).and_then(|row| row.get(uplink)).copied();
        let remote = remote.map_or(0, |remote| remote.level(&self.p, now));
        self.links.of(&self.p, port, rate).level(&self.p, now).max(remote)
    }

    /// The first packet of a flowlet to a leaf: the least congested path, where that is the one before it stays; else
    /// one of the equals, drawn.
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
            // Of equals each is drawn alike: the nth takes the place of those before it once in n times.
            if equals > 1 && self.stream.below(equals) == 0 {
                chosen = candidate;
            }
        }
        match before {
            Some(before) if self.congestion(now, leaf, before, ports) == least => before,
            _ => chosen,
        }
    }

    /// A packet has come to its last leaf.
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
