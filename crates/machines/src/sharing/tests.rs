//! Exact splits of memory, and the laws of every policy.

use super::*;
use proptest::prelude::*;
use thalweg_units::Bytes;

/// A switch whose queues are counts of bytes: a policy, and what it has made of it.
struct Switch {
    pool: Pool,
    waiting: Vec<u64>,
    trimmed: u64,
}

impl Switch {
    fn new(total: u64, ports: usize, sharing: &SharingSpec) -> Self {
        Self { pool: Pool::new(Bytes::new(total), sharing), waiting: vec![0; ports], trimmed: 0 }
    }

    fn consult(&mut self, port: usize, wire: u32, header: Option<u32>) -> Admission {
        let Self { pool, waiting, .. } = self;
        let arriving = Arriving { port: PortId(port as u32), waiting: waiting[port], wire, header };
        pool.admit(&arriving, waiting.len(), |nth| (PortId(nth as u32), waiting[nth]))
    }

    fn holds(&mut self, port: usize, bytes: u64) {
        self.waiting[port] += bytes;
        self.pool.take(bytes);
    }
    fn gives(&mut self, port: usize, bytes: u64) {
        self.waiting[port] -= bytes;
        self.pool.release(bytes);
    }

    /// A packet arrives: the verdict in the end. Packets are pushed out in pieces of 100 B at the most.
    fn arrive(&mut self, port: usize, wire: u32, header: Option<u32>) -> Admission {
        loop {
            let verdict = self.consult(port, wire, header);
            match verdict {
                Admission::Keep => self.holds(port, u64::from(wire)),
                Admission::Trim => {
                    self.holds(port, u64::from(header.expect("something is left")));
                    self.trimmed += 1;
                }
                Admission::PushOut(victim) if victim.at() != port => {
                    let bytes = self.waiting[victim.at()];
                    assert!(bytes > 0, "an empty queue has nothing to give up");
                    self.gives(victim.at(), bytes.min(100));
                    continue;
                }
                // First come, first served: the arriving packet is the last.
                Admission::Drop | Admission::PushOut(_) => {}
            }
            return verdict;
        }
    }
}

/// Packets of 100 B for all ports in turn, until nothing changes: what each holds of 12 000 B.
fn fill(sharing: impl Into<SharingSpec>, ports: usize) -> Vec<u64> {
    let mut switch = Switch::new(12_000, ports, &sharing.into());
    for at in 0..200 * ports {
        switch.arrive(at % ports, 100, None);
    }
    switch.waiting
}

fn alpha(alpha: f64) -> dynamic::Params {
    dynamic::Params { alpha, ..Default::default() }
}

/// One port alone with α = 1: Q = α (B − Q), so Q = B / 2; with α = 2, two thirds.
#[test]
fn a_lone_port_holds_alpha_over_one_plus_alpha_of_the_memory() {
    assert_eq!(fill(alpha(1.0), 1), [6000]);
    assert_eq!(fill(alpha(2.0), 1), [8000]);
    assert_eq!(fill(complete::Params::default(), 1), [12_000]);
    assert_eq!(fill(longest_queue::Params {}, 1), [12_000]);
}

#[test]
fn n_ports_hold_alpha_over_one_plus_n_alpha_each() {
    assert_eq!(fill(alpha(1.0), 2), [4000, 4000]);
    assert_eq!(fill(alpha(1.0), 3), [3000, 3000, 3000]);
    assert_eq!(fill(partition::Params::default(), 3), [4000, 4000, 4000]);
}

/// A queue that came first fills all of shared memory, and leaves nothing to those that come later: but a part is a
/// part, a threshold leaves some, and the longest queue gives way until all are alike.
#[test]
fn those_that_come_late_find_what_the_policy_leaves() {
    let late = |sharing: SharingSpec| {
        let mut switch = Switch::new(12_000, 3, &sharing);
        for port in [0; 200].into_iter().chain((0..400).map(|at| 1 + at % 2)) {
            switch.arrive(port, 100, None);
        }
        switch.waiting
    };
    assert_eq!(late(complete::Params::default().into()), [12_000, 0, 0]);
    assert_eq!(late(partition::Params::default().into()), [4000; 3]);
    // 6000 stay where they are: 2 Q + 6000 + Q = 12 000.
    assert_eq!(late(alpha(1.0).into()), [6000, 2000, 2000]);
    assert_eq!(late(longest_queue::Params {}.into()), [4000; 3]);
}

#[test]
fn the_longest_queue_makes_room_counted_with_the_arriving_packet_and_its_own_among_equals() {
    let verdict = |waiting: [u64; 3], port: usize| {
        let mut switch = Switch::new(waiting.iter().sum(), 3, &SharingSpec::longest_queue());
        waiting.iter().enumerate().for_each(|(at, bytes)| switch.holds(at, *bytes));
        switch.consult(port, 100, None)
    };
    assert_eq!(verdict([700, 200, 100], 1), Admission::PushOut(PortId(0)));
    assert_eq!(verdict([300, 200, 0], 1), Admission::PushOut(PortId(1)), "300 and 300");
    assert_eq!(verdict([400, 200, 400], 1), Admission::PushOut(PortId(0)), "the lowest of two others");
    assert_eq!(verdict([0, 0, 0], 2), Admission::PushOut(PortId(2)), "it fits nowhere");
}

#[test]
fn what_is_beyond_a_threshold_is_cut_to_a_header_where_that_is_wanted_and_fits() {
    let trim = dynamic::Params { alpha: 1.0, overflow: Overflow::Trim };
    let mut switch = Switch::new(2900, 2, &trim.into());
    assert_eq!(switch.arrive(0, 1000, Some(64)), Admission::Keep);
    assert_eq!(switch.arrive(0, 1000, Some(64)), Admission::Trim, "2000, and the threshold is 2900 - 1000");
    assert_eq!(switch.waiting, [1064, 0]);
    assert_eq!(switch.arrive(0, 1000, None), Admission::Drop, "nothing but header");
    switch.holds(1, 2900 - 1064 - 63);
    assert_eq!(switch.arrive(0, 1000, Some(64)), Admission::Drop, "no memory for a header");
}

#[test]
fn the_least_memory_has_room_for_a_packet_and_less_has_not() {
    for sharing in SharingSpec::variants() {
        let least = sharing.least(1500, 4);
        for (total, keeps) in [(least, true), (least - 1, false)] {
            let mut switch = Switch::new(total, 4, &sharing);
            assert_eq!(switch.arrive(2, 1500, None) == Admission::Keep, keeps, "{total} B, {sharing:?}");
        }
    }
}

/// A port alone is filled up: no byte more than is declared, and less than a packet is left.
#[test]
fn a_port_alone_may_hold_what_is_declared() {
    for sharing in SharingSpec::variants() {
        for packet in [10, 1500] {
            let mut switch = Switch::new(100_000, 4, &sharing);
            let all = (0..100_000).take_while(|_| switch.arrive(2, packet, None) == Admission::Keep);
            let taken = all.count() as u64 * u64::from(packet);
            let most = sharing.most(100_000, 4, u64::from(packet));
            let near = most < taken + u64::from(packet);
            assert!(taken <= most && (near || most == 100_000), "{taken}: {most}, {sharing:?}");
        }
    }
}

#[test]
fn what_is_no_share_is_refused_by_name() {
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let problems = SharingSpec::from(alpha(wrong)).problems();
        assert!(matches!(&problems[..], [one] if one.key == "alpha"), "{wrong}: {problems:?}");
    }
    assert!(SharingSpec::all().iter().all(|sharing| sharing.problems().is_empty()));
}

proptest! {
    /// No more is held than there is; who makes room has something; a policy that declares to admit all does.
    #[test]
    fn laws_of_every_policy(
        total in 100u64..5000, ports in 1usize..6,
        steps in prop::collection::vec((any::<bool>(), 0usize..6, 1u32..400, any::<bool>()), 1..200),
    ) {
        for sharing in SharingSpec::variants() {
            let mut switch = Switch::new(total, ports, &sharing);
            for &(arrives, port, wire, trims) in &steps {
                let port = port % ports;
                if arrives {
                    let header = (trims && wire > 40).then_some(40);
                    let verdict = switch.arrive(port, wire, header);
                    prop_assert!(sharing.needs().trims || verdict != Admission::Trim, "{sharing:?}");
                    prop_assert!(sharing.needs().pushes_out || !matches!(verdict, Admission::PushOut(_)));
                } else {
                    switch.gives(port, u64::from(wire).min(switch.waiting[port]));
                }
                prop_assert!(switch.pool.used() <= total, "{sharing:?}");
                prop_assert_eq!(switch.pool.used(), switch.waiting.iter().sum::<u64>());
            }
        }
    }

    #[test]
    fn what_declares_it_admits_all(
        total in 100u64..20_000, ports in 1usize..5, each in 100u64..4000,
        steps in prop::collection::vec((0usize..5, 1u32..400), 1..200),
    ) {
        for sharing in SharingSpec::variants() {
            if !sharing.admits_all(total, ports as u64, each) {
                continue;
            }
            let mut switch = Switch::new(total, ports, &sharing);
            for &(port, wire) in &steps {
                let port = port % ports;
                if switch.waiting[port] + u64::from(wire) <= each {
                    prop_assert_eq!(switch.arrive(port, wire, Some(40)), Admission::Keep, "{:?}", sharing);
                }
            }
        }
    }
}
