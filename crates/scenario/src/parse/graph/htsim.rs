//! Trees of csg-htsim (`.topo`): a header, `Nodes`, `Tiers` (2 or 3) and `Podsize`, then a section `Tier n` for the
//! ToRs (0), the switches above them (1) and the core (2). Keys are case-insensitive; `#` begins a comment.
//!
//! | key of a tier | what |
//! |---|---|
//! | `Downlink_speed_Gbps`, `Downlink_Latency_ns` | of the links below it |
//! | `Radix_Down`, `Radix_Up` | its switches' ports; the top tier has no `Radix_Up` |
//! | `Bundle` | parallel links to each switch below; 1 if not given |
//! | `Oversubscribed` | rate from below over rate to above, in bit/s; 1 if not given |
//! | `Switch_Latency_ns` | of its switches; 0 if not given |
//!
//! Hosts are numbered as in csg-htsim: ToR by ToR. Core switch `c` is linked to the switch `c mod n` of every pod with
//! `n` switches of the middle tier.
// CHOICE: half of a switch's latency is added to each of its links. A packet arrives over one and leaves over another,
// so the sum is the same. Other reading: all of it on the link by which the packet leaves, which needs two delays per
// link.

use super::{RawGraph, RawLink};
use crate::parse::{ParseError, field, lines, quoted};
use std::collections::BTreeMap;
use thalweg_units::{Rate, Span};

const HEADER: [&str; 3] = ["nodes", "tiers", "podsize"];
const KEYS: [&str; 7] = [
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "radix_down",
    "radix_up",
    "bundle",
    "oversubscribed",
    "switch_latency_ns",
];
const BEGIN: &str = "a file begins with `Nodes`, `Tiers` and `Podsize`; sections `Tier 0`, `Tier 1` follow";
/// Largest latency (a second), and largest number of ports.
const MOST: u64 = 1_000_000_000;
const MOST_PORTS: u64 = 100_000;

/// Values by key, with their lines.
#[derive(Default)]
struct Section {
    line: usize,
    values: BTreeMap<&'static str, (usize, u64)>,
}

impl Section {
    fn set(&mut self, known: &[&'static str], line: usize, row: &str) -> Result<(), ParseError> {
        let mut cells = row.split_whitespace();
        let word = cells.next().unwrap_or_default();
        let low = word.to_ascii_lowercase();
        let Some(key) = known.iter().copied().find(|key| *key == low) else {
            let hint = match low.as_str() {
                "queue_up" | "queue_down" => "remove the line; queues are `buffer` under [switch]".to_owned(),
                _ => format!("supported: {}", known.join(", ")),
            };
            return Err(ParseError::new(line, format!("`{}` is not supported here", quoted(word)), hint));
        };
        let value: u64 = field(line, "a whole number", cells.next())?;
        let most = if ["radix_down", "radix_up", "bundle"].contains(&key) { MOST_PORTS } else { MOST };
        if value > most {
            return Err(ParseError::new(line, format!("{value} is out of range"), format!("at most {most}")));
        }
        if let Some(more) = cells.next() {
            let reason = format!("`{}` follows the value of `{word}`", quoted(more));
            return Err(ParseError::new(line, reason, "write one value"));
        }
        match self.values.insert(key, (line, value)) {
            Some((before, _)) => {
                let reason = format!("`{word}` is given twice");
                Err(ParseError::new(line, reason, format!("remove it here or in line {before}")))
            }
            None => Ok(()),
        }
    }

    fn or(&self, key: &str, other: u64) -> u64 {
        self.values.get(key).map_or(other, |(_, value)| *value)
    }

    /// The value of a key, which must be positive.
    fn need(&self, key: &str) -> Result<u64, ParseError> {
        match self.values.get(key) {
            Some((_, value)) if *value > 0 => Ok(*value),
            Some((line, _)) => Err(ParseError::new(*line, format!("`{key}` is 0"), "write 1 or more")),
            None => Err(ParseError::new(self.line, format!("`{key}` is missing"), BEGIN)),
        }
    }

    /// The line of a key; without it, of the section.
    fn at(&self, key: &str) -> usize {
        self.values.get(key).map_or(self.line, |(line, _)| *line)
    }

    fn delay(&self) -> Result<u64, ParseError> {
        let key = "downlink_latency_ns";
        let missing = || ParseError::new(self.line, format!("`{key}` is missing"), BEGIN);
        self.values.get(key).map(|(_, ns)| *ns).ok_or_else(missing)
    }
}

/// Reads a network of switches in tiers.
///
/// # Errors
/// The first invalid line; tiers that do not fit each other.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    let (header, tiers) = sections(text)?;
    let [nodes, pod] = [header.need("nodes")?, header.need("podsize")?];
    if nodes % pod != 0 {
        let reason = format!("{nodes} hosts cannot be divided into pods of {pod}");
        return Err(ParseError::new(header.at("podsize"), reason, ""));
    }
    if tiers.len() == 2 && pod != nodes {
        let reason = format!("with two tiers a pod is the whole network, and `Podsize` is {pod}");
        return Err(ParseError::new(header.at("podsize"), reason, format!("write {nodes}")));
    }
    build(nodes, pod, &tiers)
}

/// The header and the tiers.
fn sections(text: &str) -> Result<(Section, Vec<Section>), ParseError> {
    let (mut header, mut found) = (Section::default(), BTreeMap::new());
    let mut open: Option<u64> = None;
    for (line, row) in lines(text) {
        let mut cells = row.split_whitespace();
        if cells.next().is_some_and(|word| word.eq_ignore_ascii_case("tier")) {
            let tier: u64 = field(line, "a tier", cells.next())?;
            if found.insert(tier, Section { line, ..Section::default() }).is_some() {
                return Err(ParseError::new(line, format!("there is a second section of tier {tier}"), ""));
            }
            open = Some(tier);
            continue;
        }
        match open.and_then(|tier| found.get_mut(&tier)) {
            Some(section) => section.set(&KEYS, line, row)?,
            None => header.set(&HEADER, line, row)?,
        }
    }
    let count = header.need("tiers")?;
    if !(2..=3).contains(&count) {
        let reason = format!("there are {count} tiers");
        return Err(ParseError::new(header.at("tiers"), reason, "write 2 or 3"));
    }
    if let Some((tier, section)) = found.iter().find(|(tier, _)| **tier >= count) {
        let reason = format!("there is no tier {tier} of {count}");
        return Err(ParseError::new(section.line, reason, "tiers are counted from 0"));
    }
    if let Some(missing) = (0..count).find(|tier| !found.contains_key(tier)) {
        return Err(ParseError::new(0, format!("tier {missing} has no section"), BEGIN));
    }
    let tiers: Vec<Section> = found.into_values().collect();
    let top = &tiers[tiers.len() - 1];
    if top.values.contains_key("radix_up") {
        let reason = "the top tier has no uplinks";
        return Err(ParseError::new(top.at("radix_up"), reason, "remove `Radix_Up` there"));
    }
    if tiers[0].or("bundle", 1) != 1 {
        let hint = "a host has exactly one link: write `Bundle 1` or remove the line";
        return Err(ParseError::new(tiers[0].at("bundle"), "hosts have several links", hint));
    }
    Ok((header, tiers))
}

/// `whole / part`, if that is a whole number.
fn divide(section: &Section, key: &str, whole: u64, part: u64, what: &str) -> Result<u64, ParseError> {
    if part > 0 && whole.is_multiple_of(part) {
        return Ok(whole / part);
    }
    Err(ParseError::new(section.at(key), format!("{whole} {what} cannot be divided by {part}"), ""))
}

/// Checks that a radix has the only possible value.
fn expect(section: &Section, key: &str, wanted: u64, why: &str) -> Result<(), ParseError> {
    let given = section.need(key)?;
    if given == wanted {
        return Ok(());
    }
    Err(ParseError::new(section.at(key), format!("`{key}` is {given}, and {why}"), format!("write {wanted}")))
}

fn check_share(below: &Section, above: &Section) -> Result<(), ParseError> {
    let down = below.need("radix_down")? * below.need("downlink_speed_gbps")?;
    let up = below.need("radix_up")? * above.need("downlink_speed_gbps")?;
    let share = below.or("oversubscribed", 1);
    if up.checked_mul(share) == Some(down) {
        return Ok(());
    }
    let reason = format!("{down} Gb/s come from below and {up} go up, and `Oversubscribed` is {share}");
    let hint = if down % up == 0 { format!("write `Oversubscribed {}`", down / up) } else { String::new() };
    Err(ParseError::new(below.at("oversubscribed"), reason, hint))
}

fn build(nodes: u64, pod: u64, tiers: &[Section]) -> Result<RawGraph, ParseError> {
    let (tor, agg) = (&tiers[0], &tiers[1]);
    let per_tor = tor.need("radix_down")?;
    let tors = divide(tor, "radix_down", pod, per_tor, "hosts of a pod")?;
    let bundle = agg.or("bundle", 1);
    let aggs = divide(agg, "bundle", tor.need("radix_up")?, bundle, "uplinks of a ToR")?;
    expect(
        agg,
        "radix_down",
        tors * bundle,
        &format!("{tors} ToRs of a pod have {bundle} links to it each"),
    )?;
    check_share(tor, agg)?;
    let pods = nodes / pod;
    let core = match tiers.get(2) {
        None => None,
        Some(core) => {
            let bundle = core.or("bundle", 1);
            let each =
                divide(core, "bundle", agg.need("radix_up")?, bundle, "uplinks of a switch of tier 1")?;
            expect(
                core,
                "radix_down",
                pods * bundle,
                &format!("{pods} pods have {bundle} links to it each"),
            )?;
            check_share(agg, core)?;
            Some((core, each, bundle))
        }
    };
    let cores = core.map_or(0, |(_, each, _)| aggs * each);
    let switches = pods * (tors + aggs) + cores;
    let links = nodes + pods * aggs * tors * bundle + core.map_or(0, |(_, each, b)| pods * aggs * each * b);
    if nodes + switches > u64::from(super::MOST_NODES) || links > crate::topology::MOST_LINKS {
        let reason = format!("the network would have {} nodes and {links} links", nodes + switches);
        return Err(ParseError::new(0, reason, format!("at most {} nodes", super::MOST_NODES)));
    }
    let latency = |tier: usize| tiers.get(tier).map_or(0, |section| section.or("switch_latency_ns", 0));
    let link = |tier: usize, a: u64, b: u64| -> Result<RawLink, ParseError> {
        let section = &tiers[tier];
        let halves = latency(tier) + if tier > 0 { latency(tier - 1) } else { 0 };
        let delay = Span::from_ps(section.delay()? * 1000 + halves * 500);
        let rate = Rate::from_gbps(section.need("downlink_speed_gbps")?);
        Ok(RawLink {
            rate: Some(rate),
            delay: Some(delay),
            ..RawLink::bare(a as u32, b as u32, section.line)
        })
    };
    let (first_tor, first_agg) = (nodes, nodes + pods * tors);
    let first_core = first_agg + pods * aggs;
    let mut found = Vec::with_capacity(links as usize);
    for host in 0..nodes {
        found.push(link(0, host, first_tor + host / per_tor)?);
    }
    for tor in 0..pods * tors {
        for agg in 0..aggs {
            for _ in 0..bundle {
                found.push(link(1, first_tor + tor, first_agg + tor / tors * aggs + agg)?);
            }
        }
    }
    if let Some((_, each, bundle)) = core {
        for agg in 0..pods * aggs {
            for nth in 0..each {
                for _ in 0..bundle {
                    found.push(link(2, first_agg + agg, first_core + agg % aggs + aggs * nth)?);
                }
            }
        }
    }
    let named = |name: &'static str, count: u64| (0..count).map(move |n| format!("{name}{n}"));
    let names = named("tor", pods * tors).chain(named("agg", pods * aggs)).chain(named("core", cores));
    let graph = RawGraph::new(nodes as u32, (nodes + switches) as u32, found)?;
    Ok(RawGraph { names: names.collect(), ..graph })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made up: two tiers, four to one, switches with a latency.
    const LEAVES: &str = "# a rack or two\nNodes 8\nTiers 2\nPodsize 8\n\nTier 0\n\
        Downlink_speed_Gbps 100\nRadix_Down 4\n\
        Radix_Up 2\nDownlink_Latency_ns 500\nSwitch_Latency_ns 100\nOversubscribed 2\n\
        tier 1\ndownlink_speed_gbps 100\nradix_down 2\ndownlink_latency_ns 1000\nswitch_latency_ns 300\n";
    /// Three tiers of 2 pods: 2 ToRs with 2 hosts, 2 switches above with 2 links to the ToRs each, 2 cores.
    const TREE: &str = "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\n\
        Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 1\nBundle 2\n\
        Downlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 2\nDownlink_Latency_ns 2000\n";

    fn message(text: &str) -> String {
        let e = parse(text).expect_err(text);
        format!("{}: {}; {}", e.line, e.reason, e.hint)
    }

    #[test]
    fn two_tiers_are_leaves_and_spines_and_the_latency_of_switches_is_on_their_links() {
        let g = parse(LEAVES).expect("a network");
        assert_eq!((g.hosts, g.nodes, g.links.len()), (8, 12, 8 + 4));
        assert_eq!(g.names, ["tor0", "tor1", "agg0", "agg1"]);
        let (host, up) = (g.links[5], g.links[10]);
        assert_eq!((host.a, host.b, host.delay), (5, 9, Some(Span::from_ns(550)))); // 500 + 100 / 2
        assert_eq!((up.a, up.b, up.delay), (9, 10, Some(Span::from_ns(1200)))); // 1000 + (100 + 300) / 2
    }

    #[test]
    fn three_tiers_are_pods_below_a_core_and_bundles_are_parallel_links() {
        let g = parse(TREE).expect("a network");
        assert_eq!((g.hosts, g.nodes, g.links.len()), (8, 8 + 4 + 4 + 2, 8 + 16 + 4));
        let ends = |n: usize| (g.links[n].a, g.links[n].b);
        assert_eq!([ends(8), ends(9), ends(10)], [(8, 12), (8, 12), (8, 13)]);
        assert_eq!([ends(24), ends(25), ends(26), ends(27)], [(12, 16), (13, 17), (14, 16), (15, 17)]);
        assert_eq!(g.links[27].rate, Some(Rate::from_gbps(400)));
    }

    #[test]
    fn what_does_not_fit_is_reported_with_its_line_and_what_would() {
        let with = |from: &str, to: &str| message(&LEAVES.replacen(from, to, 1));
        assert_eq!(with("Nodes 8\n", ""), "0: `nodes` is missing; ".to_owned() + BEGIN);
        assert_eq!(with("Tiers 2", "Tiers 4"), "3: there are 4 tiers; write 2 or 3");
        assert_eq!(
            with("Podsize 8", "Podsize 4").split(';').next(),
            Some("4: with two tiers a pod is the whole network, and `Podsize` is 4")
        );
        assert_eq!(with("Podsize 8", "Podsize 3"), "4: 8 hosts cannot be divided into pods of 3; ");
        assert_eq!(with("Radix_Down 4", "Radix_Down 3"), "8: 8 hosts of a pod cannot be divided by 3; ");
        assert!(with("radix_down 2", "radix_down 3").starts_with("15: `radix_down` is 3, and 2 ToRs"));
        assert_eq!(
            with("Oversubscribed 2", "Oversubscribed 1"),
            "12: 400 Gb/s come from below and 200 go up, and `Oversubscribed` is 1; write `Oversubscribed 2`"
        );
        assert!(
            with("Radix_Up 2", "Queue_Up 2")
                .starts_with("9: `Queue_Up` is not supported here; remove the line")
        );
        assert!(with("Radix_Up 2", "Radix_Up 2 3").starts_with("9: `3` follows the value"));
        assert!(with("Radix_Up 2", "Radix_Up two").starts_with("9: `two` is not a whole number"));
        assert!(with("Radix_Up 2", "Radix_Down 2").starts_with("9: `Radix_Down` is given twice; remove it"));
        assert!(with("tier 1", "tier 0").starts_with("13: there is a second section of tier 0"));
        assert!(with("tier 1", "tier 2").starts_with("13: there is no tier 2 of 2"));
        assert!(
            with("radix_down 2", "radix_down 2\nradix_up 2").starts_with("16: the top tier has no uplinks")
        );
        assert!(with("Radix_Up 2", "Radix_Up 2\nBundle 2").starts_with("10: hosts have several links"));
        assert!(with("Downlink_Latency_ns 500\n", "").starts_with("6: `downlink_latency_ns` is missing"));
        assert!(message("").starts_with("0: `tiers` is missing"));
    }
}
