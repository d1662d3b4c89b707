//! Which hosts send to which, and at what rate for a given load.

use super::section::Section;
use crate::Diagnostic;
use crate::quantity::Q;
use crate::topology::lowest;
use crate::topology::near::{Ball, Nearness};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream};

/// The capacity of which a load is a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LoadOf {
    /// Each host's link, outgoing direction. Of a host with several links, the sum of those to its widest network.
    #[default]
    HostLinks,
    /// The sum of all links from edge switches into the core, one direction each, whether or not a flow crosses them.
    CoreLinks,
    /// The same given rate for every host that sends.
    Rate {
        /// Rate of one host at load 1.
        rate: Q<Rate>,
    },
    /// The busiest link between switches if every host sends to all its partners equally. Only with the routing
    /// `lowest`, which determines that link, or if there is only one path between any two hosts.
    BusiestLink,
}

/// Which pairs of hosts communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pairs {
    /// Any two different hosts.
    #[default]
    Uniform,
    /// Two hosts on different edge switches.
    InterRack,
    /// Two hosts on the same edge switch.
    IntraRack,
    /// Every other host sends to host 0, which sends nothing.
    ToHostZero,
    /// Two hosts at least this many links apart.
    MinLinks {
        /// Number of links on the shortest path between the two hosts, those of the hosts included.
        #[schemars(range(min = 3, max = 1_000))]
        links: u32,
    },
}

/// Hosts as ranges of numbers in ascending order: a pod is one range instead of thousands of numbers.
#[derive(Clone, Default)]
struct Ranges {
    /// First and last host of each range, and the number of hosts in the ranges before it.
    ranges: Vec<(u32, u32, u32)>,
}

impl Ranges {
    fn new(hosts: impl IntoIterator<Item = u32>) -> Self {
        let mut ranges: Vec<(u32, u32, u32)> = Vec::new();
        for host in hosts {
            match ranges.last_mut() {
                Some((_, last, _)) if *last + 1 == host => *last = host,
                Some(&mut (first, last, before)) => ranges.push((host, host, before + last - first + 1)),
                None => ranges.push((host, host, 0)),
            }
        }
        Self { ranges }
    }
    fn len(&self) -> u32 {
        self.ranges.last().map_or(0, |(first, last, before)| before + last - first + 1)
    }
    fn contains(&self, host: u32) -> bool {
        let at = self.ranges.partition_point(|(first, ..)| *first <= host);
        at > 0 && host <= self.ranges[at - 1].1
    }
    /// The `n`-th host, from 0, outside these ranges.
    fn nth_other(&self, n: u32) -> u32 {
        // `first - before` hosts outside the ranges precede a range.
        let at = self.ranges.partition_point(|(first, _, before)| first - before <= n);
        n + at.checked_sub(1).map_or(0, |i| {
            let (first, last, before) = self.ranges[i];
            before + last - first + 1
        })
    }
}

/// The hosts that each source may send to.
pub(super) struct Partners {
    pairs: Pairs,
    hosts: u32,
    /// Hosts sorted by rack, and where each host's rack begins and ends in that list.
    sorted: Vec<u32>,
    rack: Vec<(u32, u32)>,
    /// With `min-links`: the hosts that are too near, the rack's own included; one set per rack, at the position of its
    /// first host.
    near: Vec<Ranges>,
}

impl Partners {
    pub fn new(s: &Section<'_>, pairs: Pairs) -> Result<Self, Diagnostic> {
        if s.graph.has_further_nics() && !matches!(pairs, Pairs::Uniform | Pairs::ToHostZero) {
            let reason = "hosts have links to several switches, so no single one is their rack";
            return Err(s.cx.error(
                &s.key("pairs"),
                reason,
                "write \"uniform\", or give the flows in a list",
            ));
        }
        let racks = s.graph.racks();
        let mut sorted: Vec<u32> = (0..s.graph.hosts).collect();
        sorted.sort_by_key(|h| (racks[*h as usize], *h));
        let mut rack = vec![(0, 0); sorted.len()];
        let mut begin = 0;
        while begin < sorted.len() {
            let this = racks[sorted[begin] as usize];
            let len = sorted[begin..].iter().take_while(|h| racks[**h as usize] == this).count();
            for h in &sorted[begin..begin + len] {
                rack[*h as usize] = (begin as u32, (begin + len) as u32);
            }
            begin += len;
        }
        let mut near = Vec::new();
        if let Pairs::MinLinks { links } = pairs {
            near = vec![Ranges::default(); sorted.len()];
            let nearness = Nearness::new(s.graph);
            let mut ball = Ball::default();
            for (i, first) in sorted.iter().enumerate().filter(|(i, h)| rack[**h as usize].0 as usize == *i) {
                s.cx.proceed()?;
                near[i] = Ranges::new(nearness.hosts_nearer(*first, links, &mut ball).iter().copied());
            }
        }
        Ok(Self { pairs, hosts: s.graph.hosts, sorted, rack, near })
    }

    /// Hosts too near for a host to send to, itself included.
    fn near(&self, src: u32) -> &Ranges {
        &self.near[self.rack[src as usize].0 as usize]
    }

    /// True if `src` sends to `dst`.
    pub fn talk(&self, src: u32, dst: u32) -> bool {
        let same = self.rack[src as usize] == self.rack[dst as usize];
        src != dst
            && match self.pairs {
                Pairs::Uniform => true,
                Pairs::InterRack => !same,
                Pairs::IntraRack => same,
                Pairs::ToHostZero => dst == 0,
                Pairs::MinLinks { .. } => !self.near(src).contains(dst),
            }
    }

    /// Number of partners of a host.
    pub fn count(&self, src: u32) -> u32 {
        let (begin, end) = self.rack[src as usize];
        match self.pairs {
            Pairs::Uniform => self.hosts - 1,
            Pairs::InterRack => self.hosts - (end - begin),
            Pairs::IntraRack => end - begin - 1,
            Pairs::ToHostZero => u32::from(src != 0),
            Pairs::MinLinks { .. } => self.hosts - self.near(src).len(),
        }
    }

    pub fn draw(&self, src: u32, stream: &mut Stream) -> u32 {
        let n = stream.below(u64::from(self.count(src))) as u32;
        let (begin, end) = self.rack[src as usize];
        match self.pairs {
            Pairs::Uniform => n + u32::from(n >= src),
            Pairs::InterRack => self.sorted[(if n >= begin { n + (end - begin) } else { n }) as usize],
            Pairs::IntraRack => {
                let other = self.sorted[(begin + n) as usize];
                // Hosts of a rack are in ascending order, so the source is skipped by moving up by one from it on.
                if other >= src { self.sorted[(begin + n + 1) as usize] } else { other }
            }
            Pairs::ToHostZero => 0,
            Pairs::MinLinks { .. } => self.near(src).nth_other(n),
        }
    }
}

/// Number of hosts up to which the busiest link is searched, which takes all pairs.
const MOST_HOSTS: u32 = 5000;

/// The rate of every host at which the busiest link between switches is full, if all send to their partners equally. A
/// fraction `back` of the bytes goes in the other direction.
fn busiest(s: &Section<'_>, partners: &Partners, back: f64) -> Result<Option<f64>, Diagnostic> {
    let one = |src, dst| {
        if partners.talk(src, dst) { 1.0 / f64::from(partners.count(src)) } else { 0.0 }
    };
    let weight = |src, dst| match back {
        0.0 => one(src, dst),
        _ => (1.0 - back) * one(src, dst) + back * one(dst, src),
    };
    let carried = lowest::carried(s.graph, weight, || s.cx.proceed())?;
    let ways = s.graph.links.iter().flat_map(|l| [(l, &l.ab), (l, &l.ba)]).zip(&carried);
    let between = ways.filter(|((l, _), c)| !s.graph.is_nic(l.a) && !s.graph.is_nic(l.b) && **c > 0.0);
    Ok(between.map(|((_, way), c)| way.mean_rate().bps() as f64 / c).min_by(f64::total_cmp))
}

/// The hosts that send, with their flows per second. `flows` gives the flows per second for a rate in bits per second;
/// a fraction `back` of the bytes goes in the other direction. `key`: the key that chooses pairs, and the hint if there
/// are none.
pub(super) fn sources(
    s: &Section<'_>,
    of: LoadOf,
    partners: &Partners,
    key: (&str, &str),
    back: f64,
    flows: impl Fn(f64) -> f64,
) -> Result<Vec<(u32, f64)>, Diagnostic> {
    let who: Vec<u32> = (0..s.graph.hosts).filter(|h| partners.count(*h) > 0).collect();
    if who.is_empty() {
        return Err(s.cx.error(&s.key(key.0), "no two hosts of this topology are such a pair", key.1));
    }
    Ok(match of {
        LoadOf::HostLinks => {
            let rates = s.graph.wide_rates();
            who.iter().map(|h| (*h, flows(rates[*h as usize].bps() as f64))).collect()
        }
        LoadOf::CoreLinks => {
            let capacity = s.graph.core_capacity() as f64;
            if capacity == 0.0 {
                let hint = "write `of = \"host-links\"`";
                return Err(s.cx.error(&s.key("of"), "the topology has no links between switches", hint));
            }
            who.iter().map(|h| (*h, flows(capacity) / who.len() as f64)).collect()
        }
        LoadOf::Rate { rate } => {
            if rate.0.bps() == 0 {
                return Err(s.cx.error(
                    &s.key("of.rate"),
                    "a rate of 0bps sends nothing",
                    "write a rate above zero",
                ));
            }
            who.iter().map(|h| (*h, flows(rate.0.bps() as f64))).collect()
        }
        LoadOf::BusiestLink if s.graph.has_further_nics() => {
            let reason = "hosts have several links, and which of them a flow takes is not known in advance";
            return Err(s.cx.error(&s.key("of"), reason, "write `of = \"host-links\"`, or a rate"));
        }
        LoadOf::BusiestLink if s.graph.hosts > MOST_HOSTS => {
            let hint = "write `of = \"core-links\"`, or a rate";
            let reason = format!("finding the busiest link among {} hosts takes too long", s.graph.hosts);
            return Err(s.cx.error(&s.key("of"), reason, hint));
        }
        LoadOf::BusiestLink => {
            let Some(rate) = busiest(s, partners, back)? else {
                let hint = "write `of = \"host-links\"`";
                return Err(s.cx.error(&s.key("of"), "the traffic crosses no link between switches", hint));
            };
            who.iter().map(|h| (*h, flows(rate))).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_other_host_is_found_without_counting() {
        let near = Ranges::new([2, 3, 4, 7, 9]);
        assert_eq!(near.ranges, [(2, 4, 0), (7, 7, 3), (9, 9, 4)]);
        assert_eq!(near.len(), 5);
        let others: Vec<u32> = (0..7).map(|n| near.nth_other(n)).collect();
        assert_eq!(others, [0, 1, 5, 6, 8, 10, 11]);
        let inside: Vec<u32> = (0..12).filter(|h| near.contains(*h)).collect();
        assert_eq!(inside, [2, 3, 4, 7, 9]);
        assert_eq!((Ranges::default().nth_other(5), Ranges::new([0]).nth_other(0)), (5, 1));
    }
}
