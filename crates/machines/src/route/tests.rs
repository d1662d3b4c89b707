//! The laws of every rule, on every variant.

use super::*;
use thalweg_units::Stream;

/// Candidates as a test has them.
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    ids: Vec<u32>,
    waiting: Vec<u64>,
    /// How often they were looked at.
    looks: u32,
    detour: Detour,
}

/// By way of which groups packets may go. A test without any has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detour {
    pub groups: u32,
    /// The group of the switch, and that of the destination.
    pub ends: (u32, u32),
    /// Where the candidates lead now, which are two ports for each group: those of the number twice the group's, and
    /// one more. Shown instead of the others.
    pub to: Option<u32>,
    /// A group that no path leads to.
    pub cut_off: Option<u32>,
}

impl Ports {
    /// Ports 0, 2, 4, .. of which only how much waits is given.
    pub fn waiting(waiting: &[u64]) -> Self {
        let ids = (0..waiting.len() as u32).map(|n| 2 * n).collect();
        Self { ids, waiting: waiting.to_vec(), looks: 0, detour: Detour::default() }
    }
    /// In group `ends.0` of so many, for a destination in group `ends.1`, which one port leads to. Those that lead to
    /// another group g are 100 + 2g and 101 + 2g, and so much waits at each of them.
    pub fn between(groups: u32, ends: (u32, u32), waiting: &[u64]) -> Self {
        Self { detour: Detour { groups, ends, ..Detour::default() }, ..Self::waiting(waiting) }
    }
    /// No path leads to this group.
    pub fn without(mut self, group: u32) -> Self {
        self.detour.cut_off = Some(group);
        self
    }
    /// To which group the candidates lead; `None`: to the destination.
    pub fn to(&self) -> Option<u32> {
        self.detour.to
    }
    pub fn idle(count: usize) -> Self {
        Self::waiting(&vec![0; count])
    }
    /// Idle ports of these numbers.
    pub fn of(ids: &[u32]) -> Self {
        Self { ids: ids.to_vec(), ..Self::idle(ids.len()) }
    }
    pub fn set(&mut self, candidate: usize, waiting: u64) {
        self.waiting[candidate] = waiting;
    }
    pub fn looks(&self) -> u32 {
        self.looks
    }
}

impl Candidates for Ports {
    fn count(&self) -> usize {
        self.detour.to.map_or(self.ids.len(), |_| 2)
    }
    fn port(&self, candidate: usize) -> PortId {
        PortId(self.detour.to.map_or_else(|| self.ids[candidate], |to| 100 + 2 * to + candidate as u32))
    }
    fn waiting(&mut self, candidate: usize) -> u64 {
        self.looks += 1;
        // Nothing waits on a detour.
        self.detour.to.map_or_else(|| self.waiting[candidate], |_| 0)
    }
    fn load(&mut self, candidate: usize) -> Load {
        Load { used: self.waiting(candidate), of: 10_000 }
    }
    fn rate(&self, _: usize) -> Rate {
        Rate::from_gbps(10)
    }
    fn groups(&self) -> u32 {
        self.detour.groups
    }
    fn here(&self) -> Option<u32> {
        (self.detour.groups > 0).then_some(self.detour.ends.0)
    }
    fn there(&self) -> Option<u32> {
        (self.detour.groups > 0).then_some(self.detour.ends.1)
    }
    fn lead_to(&mut self, group: u32) -> bool {
        let leads = group != self.detour.ends.0 && self.detour.cut_off != Some(group);
        if leads {
            self.detour.to = Some(group);
        }
        leads
    }
    fn lead_home(&mut self) {
        self.detour.to = None;
    }
    /// Two to a group, and three from it.
    fn hops(&self) -> u32 {
        if self.detour.to.is_some() { 5 } else { 3 }
    }
}

pub(crate) fn at_switch(number: u32) -> Site {
    Site { seed: 5, node: SiteKind::Switch(number), first: 0 }
}

pub(crate) fn at_host(number: u32) -> Site {
    Site { node: SiteKind::Host(number), ..at_switch(0) }
}

pub(crate) fn passing(flow: u32) -> Passing {
    Passing { flow: FlowId(flow), dst: HostId(9), value: 0, wire: 1500, leaf: 1, enters: true }
}

fn by_packet() -> impl Iterator<Item = RouteSpec> {
    RouteSpec::variants().into_iter().filter(|rule| !rule.needs().source_routes)
}

/// A switch sees 2000 packets of 20 flows, over two to five ports of eight that come and go; what it chooses.
fn drive(machine: &mut RouteMachine, from: u64, to: u64) -> (Vec<u32>, u32) {
    let mut looks = 0;
    let mut one = |n: u64| {
        let mut chance = Stream::new(1, "law", n);
        let first = chance.below(4) as u32;
        let ids: Vec<u32> = (first..first + 2 + chance.below(4) as u32).collect();
        let waiting = ids.iter().map(|_| chance.below(3) * 1500).collect();
        let detour = Detour { groups: 5, ends: (0, 1 + chance.below(3) as u32), ..Detour::default() };
        let mut ports = Ports { ids, waiting, looks: 0, detour };
        let value = chance.below(1 << 16) as u32;
        let (flow, dst) = (FlowId(chance.below(20) as u32), HostId(chance.below(3) as u32));
        let wire = if n.is_multiple_of(3) { 64 } else { 1500 };
        let mut packet = Passing { flow, dst, value, wire, leaf: dst.0, enters: n.is_multiple_of(2) };
        let chosen = machine.choose(Time::from_ns(n * 700), &mut packet, &mut ports);
        looks += ports.looks;
        assert!(chosen < ports.count());
        ports.port(chosen).0
    };
    ((from..to).map(&mut one).collect(), looks)
}

#[test]
fn what_is_chosen_is_a_candidate_and_follows_from_the_seed() {
    for rule in by_packet() {
        let run = |seed| drive(&mut rule.make(&Site { seed, ..at_switch(2) }).unwrap(), 0, 2000);
        let (chosen, looks) = run(5);
        assert_eq!(chosen, run(5).0, "{rule:?}");
        assert_eq!(looks > 0, rule.needs().waiting, "{rule:?} looks at what waits if it says so");
        if rule.needs().draws {
            // Switches of a seed draw apart from each other.
            let other = drive(&mut rule.make(&at_switch(3)).unwrap(), 0, 2000).0;
            assert_ne!(chosen, other, "{rule:?}");
        }
    }
}

#[test]
fn a_machine_that_is_saved_and_loaded_goes_on_as_it_would_have() {
    for rule in by_packet() {
        let mut straight = rule.make(&at_switch(2)).unwrap();
        drive(&mut straight, 0, 1000);
        let bytes = postcard::to_allocvec(&straight).unwrap();
        let mut loaded: RouteMachine = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(drive(&mut straight, 1000, 2000), drive(&mut loaded, 1000, 2000), "{rule:?}");
    }
}

#[test]
fn a_rule_that_neither_draws_nor_remembers_goes_by_the_packet_alone() {
    for rule in by_packet().filter(|rule| !rule.needs().draws && !rule.needs().remembers) {
        let mut used = rule.make(&at_switch(2)).unwrap();
        drive(&mut used, 0, 1000);
        let fresh = drive(&mut rule.make(&at_switch(2)).unwrap(), 1000, 2000);
        assert_eq!(drive(&mut used, 1000, 2000), fresh, "{rule:?}");
    }
}

#[test]
fn only_rules_that_declare_to_stamp_change_values() {
    for rule in by_packet() {
        let mut host = rule.make(&at_host(3)).unwrap();
        let stamps = (0..64).any(|n| host.stamp(n + 7, true) != n + 7);
        assert_eq!(stamps, rule.needs().stamps, "{rule:?}");
    }
}

#[test]
fn source_routes_go_by_the_flow_alone_and_keep_its_packets_in_order() {
    for rule in RouteSpec::variants() {
        let needs = rule.needs();
        assert!(!needs.source_routes || !needs.reorders && !needs.waiting && !needs.stamps, "{rule:?}");
        let ends = Ends { src: HostId(3), dst: HostId(9), flow: FlowId(4), back: false };
        let other = Ends { flow: FlowId(5), ..ends };
        assert_eq!(rule.pick(&ends), rule.pick(&ends));
        if needs.source_routes && needs.per_pair && needs.paths != Paths::Given {
            assert_eq!(rule.pick(&ends), rule.pick(&other), "{rule:?}");
        }
        if needs.back == Back::Alike {
            let back = Ends { back: true, ..ends };
            assert_eq!(rule.pick(&ends), rule.pick(&back), "{rule:?}");
        }
    }
}

#[test]
fn parameters_are_the_same_after_a_file_and_after_a_snapshot() {
    for rule in RouteSpec::variants() {
        let bytes = postcard::to_allocvec(&rule).unwrap();
        assert_eq!(postcard::from_bytes::<RouteSpec>(&bytes).unwrap(), rule);
        let text = serde_json::to_value(&rule).unwrap();
        assert_eq!(text["kind"], rule.key());
        assert_eq!(serde_json::from_value::<RouteSpec>(text).unwrap(), rule);
    }
}
