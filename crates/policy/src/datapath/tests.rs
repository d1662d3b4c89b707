//! Schedules that can be redone by hand, and the law of the account.

use super::*;
use crate::{Bytecode, Interpreter, Machine, check};
use proptest::prelude::*;
use thalweg_units::Stream;

fn policy(text: &str) -> Policy {
    check(text, "test.oq").unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn of_library(name: &str) -> Policy {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("library/{name}.oq"));
    policy(&std::fs::read_to_string(path).expect("a policy of the library"))
}

fn interpreted(policy: &Policy, seed: u64) -> Interpreter {
    Interpreter::new(policy, seed)
}

/// Packets of 125 bytes, 1 µs at 1 Gb/s, that come at these instants (ns).
fn at(instants: &[u64], offered: impl Fn(usize) -> Offered) -> Vec<Arrival> {
    let one = |(nth, ns): (usize, &u64)| Arrival {
        at: Time::from_ns(*ns),
        offered: Offered { size: 125, ..offered(nth) },
    };
    instants.iter().enumerate().map(one).collect()
}

fn sending(policy: &Policy) -> Work {
    Work::Sending(line_rates(policy, Rate::from_gbps(1)).expect("rates"))
}

fn run(policy: &Policy, work: &Work, arrivals: &[Arrival]) -> Record {
    Datapath::new(policy, 1, interpreted).run(work, arrivals, None).expect("no fault")
}

/// What became of each packet, and when, ns.
fn fates(record: &Record) -> Vec<(Fate, u64)> {
    record.outcomes.iter().map(|one| (one.fate, one.at.ps() / 1000)).collect()
}

const FIFO: &str = "q = Queue(2 pkts); out = Port(q); q.congestion = (currSize >= size, drop(1));";

#[test]
fn a_port_sends_one_after_another_and_a_full_queue_drops() {
    // 0 is sent at once; 1 and 2 wait, 3 is one too many; at 1000, 4 comes before the port takes 1, and is dropped.
    let arrivals = at(&[0, 100, 200, 300, 1000, 1001], |_| Offered::default());
    let record = run(&policy(FIFO), &sending(&policy(FIFO)), &arrivals);
    let expected = [
        (Fate::Sent, 1000),
        (Fate::Sent, 2000),
        (Fate::Sent, 3000),
        (Fate::Dropped, 300),
        (Fate::Dropped, 1000),
        (Fate::Sent, 4000),
    ];
    assert_eq!(fates(&record), expected);
    assert_eq!(record.departures, [0, 1, 2, 5]);
    let counters = &record.counters[0];
    assert_eq!((counters.max, counters.current, counters.dropped, counters.total), (2, 0, 2, 6));
    assert_eq!((counters.sent, counters.peak, record.lasted), (4, 2, Span::from_ns(4000)));
    // One waits from 100, two from 200 to 1000, one to 1001, two to 2000, one to 3000: packets times ns.
    assert_eq!(counters.area / 1000, 100 + 2 * 800 + 1 + 2 * 999 + 1000);
}

#[test]
fn ports_send_at_their_own_rates_and_none_is_faster_than_its_link() {
    let two = policy("a = Queue(9 pkts); b = Queue(9 pkts); x = Port(50%, a); y = Port(250 Mbps, b);");
    let arrivals = at(&[0, 0, 10, 10], |nth| Offered { queue: nth as u32 % 2, ..Offered::default() });
    let left: Vec<u64> = fates(&run(&two, &sending(&two), &arrivals)).iter().map(|(_, at)| *at).collect();
    assert_eq!(left, [2000, 4000, 4000, 8000]);
    let refused = line_rates(&two, Rate::from_mbps(200)).unwrap_err();
    assert_eq!(refused.to_string(), "port y sends at 250 Mb/s, more than its link");
    let exact = policy("a = Queue(9 pkts); x = Port(33.3%, a);");
    assert_eq!(line_rates(&exact, Rate::from_bps(1_000)), Ok(vec![Rate::from_bps(333)]));
}

#[test]
fn what_goes_on_enters_the_next_queue_at_once_and_waits_until_that_admits_it() {
    let text = "first = Queue(9 pkts); next = Queue(1 pkts); a = Port(first); b = Port(25%, next);\n\
                connect(a -> next);";
    // Port b needs 4 µs for each. 0 passes through both at once; 1 waits for port a, then in `next`; 2 has no room
    // there until b takes 1 at 4000.
    let record = run(&policy(text), &sending(&policy(text)), &at(&[0, 0, 0], |_| Offered::default()));
    assert_eq!(fates(&record), [(Fate::Sent, 4000), (Fate::Sent, 8000), (Fate::Sent, 12000)]);
    let waited: Vec<u128> = record.counters.iter().map(|one| one.area / 1000).collect();
    assert_eq!(waited, [1000 + 4000, (4000 - 1000) + (8000 - 4000)]);
    let drops = run(
        &policy(&format!("{text} a.whenFull = drop;")),
        &sending(&policy(text)),
        &at(&[0, 0, 0], |_| Offered::default()),
    );
    assert_eq!(fates(&drops), [(Fate::Sent, 4000), (Fate::Sent, 8000), (Fate::Dropped, 2000)]);
    assert_eq!((drops.counters[0].sent, drops.counters[1].dropped), (3, 1));
}

#[test]
fn cycles_take_work_off_the_least_and_a_packet_leaves_with_its_last() {
    let text = "srpt(p1, p2) = (p1.processing < p2.processing) q = Queue(2 pkts); out = Port(q);\n\
                q.admPrio = srpt; q.procPrio = srpt;";
    // Slots of 1 µs. At 0: work 3 (now 2). From 500 on work 1 is there, first at 1000, leaves at 2000. At 1500 work 2
    // comes and ties with what is left of the first, which is earlier; at 1600 work 4 is one too many.
    let work = [3, 1, 2, 4];
    let packet = |nth: usize| Offered { processing: work[nth], ..Offered::default() };
    let cycles = Work::Cycles(Span::from_us(1));
    let record = run(&policy(text), &cycles, &at(&[0, 500, 1500, 1600], packet));
    let expected = [(Fate::Sent, 4000), (Fate::Sent, 2000), (Fate::Sent, 6000), (Fate::Dropped, 1600)];
    assert_eq!(fates(&record), expected);
    // Nothing happens in slots without packets.
    let late = run(&policy(text), &cycles, &at(&[7_300], |_| Offered::default()));
    assert_eq!(fates(&late), [(Fate::Sent, 9_000)]);
}

#[test]
fn one_core_does_one_thing_after_another_and_its_rings_overflow() {
    // 100 ns to admit, 50 to send, packets of 1 µs; rings of one.
    let core = Core { arrival: Span::from_ns(100), departure: Span::from_ns(50), inputs: 2, ring: 1 };
    let fifo = policy("q = Queue(9 pkts); out = Port(q);");
    let Work::Sending(rates) = sending(&fifo) else { panic!("it sends") };
    // 0 and 1 come to different inputs at 0, 2 and 3 to input 0 at 10 and 20, where 2 is in the way of 3. The core
    // admits 0 until 100, 1 until 200, hands 0 to the port until 250, admits 2 until 350; the port has begun 0, so that
    // it takes 1 as well, until 400. 2 waits until the port begins 1 at 1250, and is handed over until 1300.
    let arrivals = at(&[0, 0, 10, 20], |nth| Offered { flow: u32::from(nth == 1), ..Offered::default() });
    let record = run(&fifo, &Work::OneCore(rates, core), &arrivals);
    let expected = [(Fate::Sent, 1250), (Fate::Sent, 2250), (Fate::Sent, 3250), (Fate::Overrun, 20)];
    assert_eq!(fates(&record), expected);
    assert_eq!(record.busy, Span::from_ns(3 * 150));
    assert_eq!(record.counters[0].total, 3, "what overruns a ring is not the policy's");
}

#[test]
fn a_costly_policy_sends_less_where_the_core_is_the_bottleneck() {
    let fifo = of_library("fifo");
    let arrivals = at(&(0..4000).map(|nth| nth * 10).collect::<Vec<_>>(), |nth| Offered {
        flow: nth as u32,
        ..Offered::default()
    });
    let sent = |ns: u64| {
        let core = Core { arrival: Span::from_ns(ns), departure: Span::from_ns(ns), inputs: 2, ring: 64 };
        let work = Work::OneCore(vec![Rate::from_gbps(1000)], core);
        let record = Datapath::new(&fifo, 1, interpreted).run(&work, &arrivals, Some(Time::from_us(40)));
        record.expect("no fault").counters[0].clone()
    };
    // Two admitted for one that is sent: 40 µs are 1333 rounds of 30 ns, or 666 of 60.
    assert!((1330..=1334).contains(&sent(10).sent), "{:?}", sent(10));
    assert!((665..=668).contains(&sent(20).sent), "{:?}", sent(20));
    assert!(sent(10).dropped > 1000);
}

#[test]
fn the_queue_of_a_packet_that_was_its_own_victim_is_known_where_the_port_selects() {
    let text = "import \"openqueue\"; a = Queue(1 pkts); b = Queue(1 pkts); out = Port(a, b);\n\
                out.schedPrio = lqf; out.queueSelect = random; a.congestion = tailDrop; b.congestion = tailDrop;";
    let arrivals = at(&(0..400).map(|nth| nth * 600).collect::<Vec<_>>(), |_| Offered::default());
    for (make, seed) in [(1, 7), (2, 9)] {
        let random = policy(text);
        let engine = |policy: &Policy, seed: u64| -> Box<dyn Engine> {
            if make == 1 {
                Box::new(Interpreter::new(policy, seed))
            } else {
                Box::new(Machine::new(policy, Bytecode::of(policy), seed))
            }
        };
        let record =
            Datapath::new(&random, seed, engine).run(&sending(&random), &arrivals, None).expect("no fault");
        for counters in &record.counters {
            assert_eq!(counters.total, counters.dropped + counters.sent + counters.current);
            assert!(counters.dropped > 20 && counters.sent > 20, "{counters:?}");
        }
    }
}

#[test]
fn a_change_falls_before_what_arrives_at_its_instant_and_old_packets_leave_first() {
    let by = |order: &str| {
        policy(&format!(
            "import \"openqueue\"; byValue(p1, p2) = (p1.value > p2.value) q = Queue(9 pkts); out = Port(q);\n\
             q.procPrio = {order}; q.admPrio = byValue;"
        ))
    };
    let (old, new) = (by("fifo"), by("byValue"));
    let values = [0, 1, 2, 3, 9];
    let arrivals = at(&[0, 100, 200, 500, 500], |nth| Offered { value: values[nth], ..Offered::default() });
    let mut datapath = Datapath::new(&old, 1, interpreted);
    datapath.change(Time::from_ns(500), &new);
    let record = datapath.run(&sending(&old), &arrivals, None).expect("no fault");
    assert_eq!(record.departures, [0, 1, 2, 4, 3]);
    let versions: Vec<u32> = record.outcomes.iter().map(|one| one.version).collect();
    assert_eq!(versions, [0, 0, 0, 1, 1]);
    let other = policy("r = Queue(9 pkts); out = Port(r);");
    let mut datapath = Datapath::new(&old, 1, interpreted);
    datapath.change(Time::ZERO, &other);
    assert!(matches!(datapath.run(&sending(&old), &arrivals, None), Err(Stop::Unlike(_))));
}

#[test]
fn arrivals_out_of_their_order_are_refused_by_number() {
    let arrivals = at(&[0, 5, 4], |_| Offered::default());
    let refused = Datapath::new(&policy(FIFO), 1, interpreted).run(&sending(&policy(FIFO)), &arrivals, None);
    assert_eq!(refused.unwrap_err().to_string(), "packet 2 arrives before packet 1");
    let nowhere = at(&[0], |_| Offered { queue: 7, ..Offered::default() });
    let refused = Datapath::new(&policy(FIFO), 1, interpreted).run(&sending(&policy(FIFO)), &nowhere, None);
    assert_eq!(refused, Err(Stop::Fault(Fault::NoSuchQueue(7))));
}

#[test]
fn a_bench_fills_queues_until_they_hold_no_more_and_counts_what_comes_and_goes() {
    let (fifo, mut ticks) = (of_library("fifo"), 0);
    let mut engine = Machine::new(&fifo, Bytecode::of(&fifo), 1);
    let packets = [Offered { tos: 3, ..Offered::default() }; 8];
    let mut bench = Bench::new(&mut engine, &fifo, &packets);
    assert_eq!((bench.fill(10), bench.resident()), (Ok(10), 10));
    assert_eq!(bench.fill(1_000), Ok(64));
    let mut clock = || {
        ticks += 70;
        ticks
    };
    let lap = bench.lap(Pace { arrivals: 2, departures: 1 }, 10, &mut clock).expect("no fault");
    // Full: of two that come the first is dropped each time, the port makes room for the second of the next round's.
    let expected = Lap { ns: 70, arrived: 20, sent: 10, dropped: 11, worth: 30 };
    assert_eq!(lap, expected);
    let (a3, packets) =
        (of_library("a3"), Traffic { packets: 90, gap: Span::from_ns(1), mix: Mix::default() });
    let packets: Vec<Offered> = packets.arrivals(&a3, 1).iter().map(|one| one.offered).collect();
    let mut engine = Machine::new(&a3, Bytecode::of(&a3), 1);
    let mut bench = Bench::new(&mut engine, &a3, &packets);
    assert_eq!(bench.fill(1_000), Ok(9 * 8));
    assert!(bench.lap(Pace { arrivals: 1, departures: 1 }, 5_000, &mut || 0).expect("no fault").sent > 500);
}

#[test]
fn random_traffic_enters_from_outside_and_goes_where_its_queue_leads() {
    let a3 = of_library("a3");
    let traffic = Traffic { packets: 2_000, gap: Span::from_ns(2_000), mix: Mix::default() };
    let arrivals = traffic.arrivals(&a3, 4);
    assert_eq!(entrances(&a3), (0..9).collect::<Vec<_>>());
    assert!(arrivals.iter().all(|one| one.offered.dst == 1 + one.offered.queue % 3));
    let mean = arrivals[1_999].at.ps() / 2_000;
    assert!((1_900_000..2_100_000).contains(&mean), "{mean}");
    let record = run(&a3, &sending(&a3), &arrivals);
    // (i,j) keeps its order, and nothing is lost behind the first queues.
    assert!(record.counters[9..].iter().all(|inner| inner.dropped == 0 && inner.total > 0));
    for queue in 0..9 {
        let left: Vec<u32> = record
            .departures
            .iter()
            .copied()
            .filter(|nth| arrivals[*nth as usize].offered.queue == queue)
            .collect();
        assert!(left.len() > 50 && left.is_sorted());
    }
}

/// Arrivals = dropped + overrun + sent + waiting, packet by packet and queue by queue (P6), and sizes hold (P5).
fn balanced(policy: &Policy, record: &Record, arrivals: usize) {
    let count = |fate| record.outcomes.iter().filter(|one| one.fate == fate).count();
    let [waiting, sent, dropped, overrun] =
        [Fate::Waiting, Fate::Sent, Fate::Dropped, Fate::Overrun].map(count);
    assert_eq!(waiting + sent + dropped + overrun, arrivals);
    assert_eq!(record.departures.len(), sent);
    let sum = |of: fn(&Counters) -> u64| record.counters.iter().map(of).sum::<u64>() as usize;
    assert_eq!((sum(|one| one.dropped), sum(|one| one.current)), (dropped, waiting));
    for (queue, counters) in policy.queues().iter().zip(&record.counters) {
        assert_eq!(counters.total, counters.dropped + counters.sent + counters.current, "{}", queue.name);
        assert!(!counters.in_packets || counters.peak <= counters.max as u64, "{}", queue.name);
    }
    let exits = |nth: &usize| policy.ports()[policy.queues()[*nth].port].wire.is_none();
    let left: u64 = (0..policy.queues().len()).filter(exits).map(|nth| record.counters[nth].sent).sum();
    assert_eq!(left as usize, sent);
}

fn files() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = std::fs::read_dir(folder).expect("the library").map(name).collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_packet_is_accounted_for_in_every_policy(
        nth in 0usize..24, seed in any::<u64>(), load in 1u64..40, work in 0..3,
    ) {
        let names = files();
        let policy = of_library(&names[nth % names.len()]);
        let mix = Mix { tos: vec![1, 63], ..Mix::default() };
        let mut draw = Stream::new(seed, "gap", 0);
        let traffic = Traffic { packets: 600, gap: Span::from_ns(load * 100 + draw.below(50)), mix };
        let arrivals = traffic.arrivals(&policy, seed);
        let rates = line_rates(&policy, Rate::from_gbps(10)).expect("rates");
        let core = Core { arrival: Span::from_ns(700), departure: Span::from_ns(500), inputs: 2, ring: 8 };
        let work = match work {
            0 => Work::Sending(rates),
            1 => Work::OneCore(rates, core),
            _ => Work::Cycles(Span::from_ns(1_000)),
        };
        // Longer than all of it, or to the middle.
        for until in [None, Some(Time::from_ps(arrivals[300].at.ps()))] {
            let machine = |policy: &Policy, seed| Machine::new(policy, Bytecode::of(policy), seed);
            let said = Datapath::new(&policy, seed, interpreted).run(&work, &arrivals, until).expect("no fault");
            let done = Datapath::new(&policy, seed, machine).run(&work, &arrivals, until).expect("no fault");
            prop_assert_eq!(&said, &done);
            if until.is_none() {
                balanced(&policy, &said, arrivals.len());
                prop_assert!(said.outcomes.iter().all(|one| one.fate != Fate::Waiting));
            }
        }
    }
}
