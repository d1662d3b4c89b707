//! What operations cost, counted (OQ-C1, OQ-C2, OQ-C3, OQ-F2.2).

use crate::common::policy;
use thalweg_policy::{Bytecode, Counts, Effect, Engine, Machine, Offered, Policy};
use thalweg_units::{Stream, Time};
use thalweg_wire::Handle;

/// Counts of so many arrivals, then as many departures, of a queue that has `resident` packets before.
fn counted(policy: &Policy, resident: u32, packets: u32) -> (Counts, Counts) {
    let mut engine = Machine::counting(policy, Bytecode::of(policy), 1, Counts::default());
    let (mut effects, mut draw): (Vec<Effect>, _) = (Vec::new(), Stream::new(1, "values", 0));
    let mut arrive = |engine: &mut Machine<Bytecode, Counts>, nth: u32| {
        let packet = Offered {
            processing: draw.below(1 << 30) as u32,
            value: draw.below(1 << 30) as i64,
            tos: draw.below(256) as u8,
            ..Offered::default()
        };
        engine.arrive(Time::from_ps(u64::from(nth)), &packet, Handle(nth), &mut effects).expect("no fault");
    };
    (0..resident).for_each(|nth| arrive(&mut engine, nth));
    let before = *engine.tally();
    (0..packets).for_each(|nth| arrive(&mut engine, resident + nth));
    let between = *engine.tally();
    let now = Time::from_ps(u64::from(resident + packets));
    (0..packets).for_each(|_| assert!(matches!(engine.dequeue(0, now, &mut Vec::new()), Ok(Some(_)))));
    (less(between, before), less(*engine.tally(), between))
}

fn less(a: Counts, b: Counts) -> Counts {
    Counts {
        inserts: a.inserts - b.inserts,
        deletes: a.deletes - b.deletes,
        victims: a.victims - b.victims,
        lookups: a.lookups - b.lookups,
        comparisons: a.comparisons - b.comparisons,
        rekeys: a.rekeys - b.rekeys,
    }
}

fn of(size: u32, adm: &str, process: &str) -> Policy {
    policy(&format!(
        "import \"openqueue\"\nbyTos(p1, p2) = (p1.TOS > p2.TOS)\nbyValue(p1, p2) = (p1.value > p2.value)\n\
         density(p1, p2) = (p1.value * p2.size > p2.value * p1.size)\nq = Queue({size} pkts); out = Port(q);\n\
         q.admPrio = {adm}; q.procPrio = {process}; q.congestion = tailDrop;"
    ))
}

#[test]
fn a_tree_of_n_packets_is_entered_by_2_log_n_comparisons_and_left_by_none() {
    for exponent in [6u32, 10, 14] {
        let n = 1 << exponent;
        for order in ["srpt", "density"] {
            let (joined, left) = counted(&of(2 * n, order, order), n, n / 4);
            let each = joined.comparisons as f64 / f64::from(n / 4);
            assert!(each <= 2.0 * f64::from(exponent) + 2.0, "{order}, {n}: {each}");
            assert!(each >= f64::from(exponent) - 2.0, "they are counted: {order}, {n}: {each}");
            assert_eq!(left.comparisons, 0);
        }
    }
}

#[test]
fn lists_and_levels_compare_nothing_however_many_wait() {
    for n in [64, 1_024, 16_384] {
        for (adm, process) in [("fifo", "fifo"), ("rfifo", "fifo"), ("byTos", "byTos"), ("byTos", "fifo")] {
            let (joined, left) = counted(&of(2 * n, adm, process), n, 100);
            assert_eq!((joined.comparisons, left.comparisons), (0, 0), "{adm}, {process}");
        }
    }
}

#[test]
fn a_packet_is_put_into_two_orders_and_taken_out_of_two_at_most() {
    // Full: each arrival has a victim.
    for (adm, process, orders) in
        [("byTos", "srpt", 2), ("fifo", "srpt", 2), ("srpt", "srpt", 1), ("fifo", "fifo", 1)]
    {
        let (joined, left) = counted(&of(64, adm, process), 64, 64);
        let expected =
            Counts { inserts: 64 * orders, deletes: 64 * orders, victims: 64, ..Counts::default() };
        assert_eq!(Counts { comparisons: 0, ..joined }, expected, "{adm}, {process}");
        let expected = Counts { deletes: 64 * orders, lookups: 64, ..Counts::default() };
        assert_eq!(Counts { comparisons: 0, ..left }, expected, "{adm}, {process}");
    }
}

#[test]
fn places_change_in_cycles_of_processing_only_and_one_packet_at_a_time() {
    let policy = of(64, "srpt", "srpt");
    let mut engine = Machine::counting(&policy, Bytecode::of(&policy), 1, Counts::default());
    for nth in 0..10 {
        let packet = Offered { processing: 3, ..Offered::default() };
        engine.arrive(Time::ZERO, &packet, Handle(nth), &mut Vec::new()).expect("no fault");
    }
    (0..4).for_each(|_| assert!(engine.cycle(0, Time::ZERO, &mut Vec::new()).is_ok()));
    // Two cycles, then it leaves, then one of the next.
    let Counts { rekeys, inserts, deletes, .. } = *engine.tally();
    assert_eq!((rekeys, inserts, deletes), (3, 10 + 3, 3 + 1));
}

#[test]
fn several_queues_move_no_resident_packet_where_a_single_one_does() {
    // Figure 2.2: packets of classes 3, 2, 1 come; in an array by class each moves all that are there.
    let (mut single, mut moved) = (Vec::new(), 0);
    for class in [3, 2, 1] {
        let at = single.partition_point(|other| *other <= class);
        moved += single.len() - at;
        single.insert(at, class);
    }
    assert_eq!(moved, 1 + 2);
    let text = "q[1..3] = Queue(9 pkts); out = Port(q[1..3]); first(q1, q2) = (false) out.schedPrio = first;";
    let policy = policy(text);
    let mut engine = Machine::counting(&policy, Bytecode::of(&policy), 1, Counts::default());
    for queue in [2, 1, 0] {
        let packet = Offered { queue, ..Offered::default() };
        engine.arrive(Time::ZERO, &packet, Handle(queue), &mut Vec::new()).expect("no fault");
    }
    assert_eq!(*engine.tally(), Counts { inserts: 3, ..Counts::default() });
}
