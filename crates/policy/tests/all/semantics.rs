//! What policies mean: schedules by hand, and the properties P2 to P12 of the specification.

use crate::common::{Answer, Course, Step, compared, library, of_library, policy, run, trace};
use std::collections::{BTreeMap, VecDeque};
use thalweg_policy::{Cycle, Effect, Engine, Fault, Interpreter, Offered, Part, Policy, Verdict};
use thalweg_units::{Stream, Time};
use thalweg_wire::Handle;

fn offered(queue: u32, size: u32) -> Offered {
    Offered { queue, size, ..Offered::default() }
}

/// What leaves port 0 after these packets have come, one per picosecond, and what was dropped.
fn served(policy: &Policy, packets: &[Offered]) -> (Vec<usize>, Vec<usize>) {
    let arrivals = packets.iter().map(|packet| (1, Step::Arrive(*packet)));
    let all = arrivals.chain((0..=packets.len()).map(|_| (1, Step::Dequeue(0)))).collect();
    let record = compared(policy, &all, 1);
    let left = record.answers.iter().filter_map(|answer| match answer {
        Answer::Served(Some(served)) => Some(served.handle.0 as usize),
        _ => None,
    });
    (left.collect(), dropped(&record.effects))
}

fn dropped(effects: &[Effect]) -> Vec<usize> {
    let one = |effect: &Effect| match effect {
        Effect::Dropped(handle) => Some(handle.0 as usize),
        _ => None,
    };
    effects.iter().filter_map(one).collect()
}

/// One queue of three packets, with these orders.
fn three(adm: &str, process: &str) -> Policy {
    policy(&format!(
        "import \"openqueue\";\nbyValue(p1, p2) = (p1.value > p2.value)\nq = Queue(3 pkts); out = Port(q);\n\
         q.admPrio = {adm}; q.procPrio = {process}; q.congestion = tailDrop;"
    ))
}

#[test]
fn with_fifo_the_arriving_packet_is_the_victim_and_with_rfifo_the_oldest() {
    let packets = vec![offered(0, 100); 5];
    assert_eq!(served(&three("fifo", "fifo"), &packets), (vec![0, 1, 2], vec![3, 4]));
    assert_eq!(served(&three("rfifo", "fifo"), &packets), (vec![2, 3, 4], vec![0, 1]));
    assert_eq!(served(&three("fifo", "rfifo"), &packets), (vec![2, 1, 0], vec![3, 4]));
}

#[test]
fn of_equals_the_earlier_ranks_first_and_the_latest_is_given_up() {
    let valued = |value| Offered { value, ..Offered::default() };
    let packets: Vec<_> = [5, 1, 5, 1, 9].into_iter().map(valued).collect();
    // 3 joins three others, and ties with 1: it goes. 4 pushes out 1.
    assert_eq!(served(&three("byValue", "byValue"), &packets), (vec![4, 0, 2], vec![3, 1]));
}

#[test]
fn sizes_in_bytes_are_never_exceeded_though_the_condition_looks_at_what_was_there_before() {
    let policy = policy("q = Queue(1000); out = Port(q); q.congestion = (currSize >= size, drop(1));");
    // 900 waits, so there is no congestion; with 200 more there would be 1100: the hard bound takes the last.
    assert_eq!(served(&policy, &[offered(0, 900), offered(0, 200), offered(0, 100)]), (vec![0, 2], vec![1]));
}

#[test]
fn an_inline_key_ranks_the_largest_first_and_a_routine_chooses_the_queue() {
    let text = "a = Queue(4 pkts); b = Queue(4 pkts); out = Port(a, b); a.procPrio = inline { Packet.TOS };\n\
                out.queueSelect = inline { Packet.TOS % 2 }; first(q1, q2) = (false) out.schedPrio = first;";
    let packets: Vec<_> = [2, 4, 3, 6].into_iter().map(|tos| Offered { tos, ..Offered::default() }).collect();
    assert_eq!(served(&policy(text), &packets).0, [3, 1, 0, 2]);
}

#[test]
fn marks_and_notices_are_of_the_packet_while_it_is_there() {
    let text = "q = Queue(2 pkts); b = Buffer(9 pkts, q); out = Port(q);\n\
                q.congestion = (length >= 2, drop(1) & mark & notify).(length >= 1, mark);\n\
                b.postAdmAct = (currSize >= 2, notify); out.postSchedAct = (length == 0, mark & notify);";
    let arrivals = (0..3).map(|_| (1, Step::Arrive(offered(0, 100))));
    let all = arrivals.chain((0..2).map(|_| (1, Step::Dequeue(0)))).collect();
    let (h, q) = (Handle, Part::Buffer(0));
    let expected = [
        Effect::Marked(h(1)),
        Effect::Notified(h(1), q),
        Effect::Dropped(h(2)),
        Effect::Marked(h(1)),
        Effect::Notified(h(1), Part::Port(0)),
    ];
    assert_eq!(compared(&policy(text), &all, 1).effects, expected);
}

#[test]
fn a_state_beyond_64_bits_is_a_fault_and_no_other_number() {
    let text = "q = Queue(9); out = Port(q); q.admState = 9223372036854775;\n\
                q.congestion = (admState > 0, modify(admState := admState * 1000 + 807));";
    let mut engine = Interpreter::new(&policy(text), 1);
    let mut arrive = |n| engine.arrive(Time::ZERO, &offered(0, 1), Handle(n), &mut Vec::new());
    assert_eq!(arrive(1), Ok(Verdict::Kept));
    assert_eq!(arrive(2), Err(Fault::State(Part::Queue(0))));
}

#[test]
fn fifo_with_tail_drop_is_a_bounded_ring() {
    let policy = of_library("fifo");
    for seed in 0..4 {
        let trace = trace(&policy, seed, Course { steps: 5_000, arrivals: 10, cycles: false });
        let record = compared(&policy, &trace, seed);
        let mut ring = VecDeque::new();
        for (nth, ((_, step), answer)) in trace.iter().zip(&record.answers).enumerate() {
            let expected = match step {
                Step::Arrive(_) if ring.len() < 64 => {
                    ring.push_back(nth as u32);
                    Answer::Arrived(Verdict::Kept)
                }
                Step::Arrive(_) => Answer::Arrived(Verdict::Dropped),
                _ => {
                    let next = ring.pop_front().map(Handle);
                    let Answer::Served(served) = answer else { panic!("{answer:?}") };
                    assert_eq!(served.map(|served| served.handle), next);
                    continue;
                }
            };
            assert_eq!(*answer, expected);
        }
    }
}

#[test]
fn lqd_gives_up_the_last_packet_of_the_longest_queue() {
    let policy = of_library("lqd");
    let trace = trace(&policy, 7, Course { steps: 20_000, arrivals: 12, cycles: false });
    let record = compared(&policy, &trace, 7);
    let mut queues: Vec<VecDeque<(u32, u64)>> = vec![VecDeque::new(); 4];
    let bytes = |queue: &VecDeque<(u32, u64)>| queue.iter().map(|(_, size)| size).sum::<u64>();
    let mut dropped_by_hand = Vec::new();
    for (nth, (_, step)) in trace.iter().enumerate() {
        match step {
            Step::Arrive(one) => {
                let own = one.queue as usize;
                queues[own].push_back((nth as u32, u64::from(one.size)));
                while queues.iter().map(bytes).sum::<u64>() > 60_000 {
                    let longest = queues.iter().map(bytes).max().expect("four");
                    let first =
                        queues.iter().position(|queue| bytes(queue) == longest).expect("it is one of them");
                    let victim = if bytes(&queues[own]) == longest { own } else { first };
                    dropped_by_hand.push(queues[victim].pop_back().expect("it is the longest").0 as usize);
                }
            }
            Step::Dequeue(port) | Step::Cycle(port) => drop(queues[*port].pop_front()),
        }
    }
    assert!(dropped_by_hand.len() > 100);
    assert_eq!(dropped(&record.effects), dropped_by_hand);
}

#[test]
fn sizes_are_kept_and_every_packet_is_accounted_for_in_all_policies() {
    for (name, text) in library() {
        let policy = policy(&text);
        let trace = trace(&policy, 3, Course { steps: 4_000, arrivals: 11, cycles: false });
        let record = compared(&policy, &trace, 3);
        let arrived = trace.iter().filter(|(_, step)| matches!(step, Step::Arrive(_))).count();
        let left = record.answers.iter().filter(|answer| match answer {
            Answer::Served(Some(served)) => {
                policy.ports()[policy.queues()[served.queue as usize].port].wire.is_none()
            }
            _ => false,
        });
        let resident: u32 = record.waiting.iter().map(|(packets, _)| packets).sum();
        let gone = dropped(&record.effects).len() + left.count() + resident as usize;
        assert_eq!(arrived, gone, "{name}");
        for (queue, (packets, bytes)) in policy.queues().iter().zip(&record.waiting) {
            let limit = queue.size as u64;
            let most = if text.contains("pkts") { u64::from(*packets) } else { *bytes };
            assert!(most <= limit, "{name}: {most} in {}", queue.name);
        }
    }
}

#[test]
fn steps_drop_at_their_rates_and_the_first_that_matches_only() {
    for (fill, share) in [(74, 0.0), (75, 0.5), (89, 0.5), (90, 0.9), (94, 0.9), (95, 1.0)] {
        let policy = of_library("steps");
        let (rounds, mut lost) = (2_000, 0);
        let mut engine = Interpreter::new(&policy, fill);
        let mut effects = Vec::new();
        for nth in 0.. {
            // Whatever is dropped comes again, until so many wait.
            if engine.packets(0) as u64 == fill {
                break;
            }
            engine.arrive(Time::ZERO, &offered(0, 1), Handle(nth), &mut effects).expect("no fault");
            assert!(nth < 100_000);
        }
        effects.clear();
        for nth in 0..rounds {
            let verdict = engine.arrive(Time::ZERO, &offered(0, 1), Handle(1_000_000 + nth), &mut effects);
            if verdict == Ok(Verdict::Dropped) {
                lost += 1;
            } else {
                engine.dequeue(0, Time::ZERO, &mut effects).expect("no fault");
            }
        }
        let (n, rate) = (f64::from(rounds), f64::from(lost) / f64::from(rounds));
        assert!(
            (rate - share).abs() <= 3.0 * (share * (1.0 - share) / n).sqrt(),
            "at {fill}: {rate}, not {share}"
        );
    }
}

/// The most packets of a sequence that any choice can finish in its slots: by trying all.
fn most(slots: &[Vec<u32>], at: usize, waiting: &[u32], room: usize) -> u32 {
    let Some(arrivals) = slots.get(at) else { return 0 };
    let all: Vec<u32> = waiting.iter().chain(arrivals).copied().collect();
    let mut best = 0;
    for kept in 0u32..1 << all.len() {
        if kept.count_ones() as usize > room {
            continue;
        }
        let chosen: Vec<u32> =
            (0..all.len()).filter(|nth| kept >> nth & 1 == 1).map(|nth| all[nth]).collect();
        for nth in 0..chosen.len().max(1) {
            let mut rest = chosen.clone();
            let mut done = 0;
            if let Some(work) = rest.get_mut(nth) {
                *work -= 1;
                if *work == 0 {
                    rest.remove(nth);
                    done = 1;
                }
            }
            best = best.max(done + most(slots, at + 1, &rest, room));
        }
    }
    best
}

#[test]
fn the_shortest_remaining_first_with_push_out_finishes_as_many_as_any_choice_could() {
    let text = "srpt(p1, p2) = (p1.processing < p2.processing) q = Queue(2 pkts); out = Port(q);\n\
                q.admPrio = srpt; q.procPrio = srpt;";
    let policy = policy(text);
    for seed in 0..150 {
        let mut draw = Stream::new(seed, "slots", 0);
        let slot =
            |draw: &mut Stream| (0..draw.below(3)).map(|_| 1 + draw.below(3) as u32).collect::<Vec<u32>>();
        let slots: Vec<Vec<u32>> = (0..4).map(|_| slot(&mut draw)).collect();
        let mut steps = Vec::new();
        for arrivals in &slots {
            let packet = |work: &u32| (0, Step::Arrive(Offered { processing: *work, ..Offered::default() }));
            steps.extend(arrivals.iter().map(packet));
            steps.push((1, Step::Cycle(0)));
        }
        let record = compared(&policy, &steps, 1);
        let finished =
            record.answers.iter().filter(|answer| matches!(answer, Answer::Worked(Cycle::Left(_)))).count();
        assert_eq!(finished as u32, most(&slots, 0, &[], 2), "{slots:?}");
    }
}

#[test]
fn strict_priority_over_queues_is_one_queue_by_class_and_arrival() {
    let several = "byClass(q1, q2) = (q1.getHOL().TOS < q2.getHOL().TOS)\n\
                   q[0..2] = Queue(900 pkts); b = Buffer(24 pkts, q[0..2]); out = Port(q[0..2]);\n\
                   out.schedPrio = byClass; out.queueSelect = inline { Packet.TOS % 3 };\n\
                   b.congestion = (currSize >= size, drop(1));";
    let one = "byClass(p1, p2) = (p1.TOS < p2.TOS) q = Queue(24 pkts); out = Port(q);\n\
               q.procPrio = byClass; q.congestion = (currSize >= size, drop(1));";
    let (several, one) = (policy(several), policy(one));
    let mut trace = trace(&one, 5, Course { steps: 8_000, arrivals: 9, cycles: false });
    for (_, step) in &mut trace {
        if let Step::Arrive(packet) = step {
            packet.tos %= 3;
        }
    }
    let handles = |record: &crate::common::Record| {
        let handle = |answer: &Answer| match answer {
            Answer::Served(served) => served.map(|served| served.handle),
            _ => None,
        };
        (record.answers.iter().filter_map(handle).collect::<Vec<_>>(), record.effects.clone())
    };
    // Without a queuePrio the arriving packet's queue makes room: it is tail drop of the whole.
    assert_eq!(handles(&compared(&several, &trace, 1)), handles(&compared(&one, &trace, 1)));
}

#[test]
fn the_crossbar_loses_nothing_inside_and_keeps_the_order_of_each_pair() {
    let policy = of_library("a3");
    for seed in 0..3 {
        let mut trace = trace(&policy, seed, Course { steps: 12_000, arrivals: 4, cycles: false });
        for (_, step) in &mut trace {
            if let Step::Arrive(packet) = step {
                packet.dst = 1 + packet.queue % 3;
            }
        }
        let record = compared(&policy, &trace, seed);
        let (mut last, mut left) = (BTreeMap::new(), 0);
        // Dropped is only what a voq refuses as it comes: what has entered leaves, in order of its pair.
        let refused = dropped(&record.effects);
        for (nth, answer) in record.answers.iter().enumerate() {
            if let Answer::Arrived(verdict) = answer {
                assert_eq!(*verdict == Verdict::Dropped, refused.contains(&nth));
            }
            let Answer::Served(Some(served)) = answer else { continue };
            let port = &policy.ports()[policy.queues()[served.queue as usize].port];
            assert_eq!(port.wire.is_some(), served.next.is_some(), "what goes on is admitted");
            if port.wire.is_none() {
                let Step::Arrive(packet) = &trace[served.handle.0 as usize].1 else { panic!("it arrived") };
                let before = last.insert(packet.queue, served.handle.0);
                assert!(before.is_none_or(|before| before < served.handle.0));
                left += 1;
            }
        }
        assert!(left > 500, "{left}");
    }
}

/// Packets of each queue that leave in so many polls, when all queues are kept filled.
fn shares(policy: &Policy, polls: usize) -> Vec<u64> {
    let queues = policy.queues().len();
    let mut engine = Interpreter::new(policy, 1);
    let (mut effects, mut bytes, mut handle) = (Vec::new(), vec![0; queues], 0);
    for _ in 0..polls {
        for queue in 0..queues {
            while engine.packets(queue) < 2 {
                handle += 1;
                let packet = offered(queue as u32, 1000);
                engine.arrive(Time::ZERO, &packet, Handle(handle), &mut effects).expect("no fault");
            }
        }
        let served = engine.dequeue(0, Time::ZERO, &mut effects).expect("no fault").expect("they are filled");
        bytes[served.queue as usize] += 1;
    }
    bytes
}

#[test]
fn weighted_fair_queueing_serves_by_weight_and_cycles_in_turn() {
    assert_eq!(shares(&of_library("wfq"), 700), [100, 200, 400]);
    assert_eq!(shares(&of_library("crr"), 300), [100, 100, 100]);
}

#[test]
fn a_queue_that_was_empty_does_not_hold_the_port_until_it_has_caught_up() {
    let alone = |text: &str| {
        let policy = policy(text);
        let mut steps = Vec::new();
        // Queue 0 is served a hundred times while queue 1 is empty; then both have packets.
        for _ in 0..100 {
            steps.extend([(1, Step::Arrive(offered(0, 1))), (1, Step::Dequeue(0))]);
        }
        for _ in 0..2 {
            steps.extend([(1, Step::Arrive(offered(0, 1))), (1, Step::Arrive(offered(1, 1)))]);
        }
        steps.extend([
            (1, Step::Dequeue(0)),
            (1, Step::Dequeue(0)),
            (1, Step::Dequeue(0)),
            (1, Step::Dequeue(0)),
        ]);
        let record = compared(&policy, &steps, 1);
        let queue = |answer: &Answer| match answer {
            Answer::Served(Some(served)) => Some(served.queue),
            _ => None,
        };
        record.answers.iter().filter_map(queue).skip(100).collect::<Vec<_>>()
    };
    let text = "import \"openqueue\"\nq[0..1] = Queue(9 pkts); out = Port(q[0..1]); out.schedPrio = crr;\n\
                out.postSchedAct = (true, modify(schedState := schedState + 1));\n";
    assert_eq!(alone(text), [1, 1, 0, 0]);
    assert_eq!(alone(&format!("{text}out.returning = catchUp;")), [0, 1, 0, 1]);
}

#[test]
fn the_packets_that_need_least_first_finish_more_than_those_that_need_most() {
    // Figure 2.3: three queues of two packets, of classes that need 1, 2 and 3 cycles.
    let finished = |name: &str| -> usize {
        let policy = of_library(name);
        let run_of = |seed| {
            let mut steps = Vec::new();
            let mut draw = Stream::new(seed, "classes", 0);
            for _ in 0..2_000 {
                let queue = draw.below(3) as u32;
                let packet = Offered { queue, processing: queue + 1, ..Offered::default() };
                steps.extend([(1, Step::Arrive(packet)), (0, Step::Cycle(0))]);
            }
            let record = run(&mut Interpreter::new(&policy, 1), 3, &steps);
            record.answers.iter().filter(|answer| matches!(answer, Answer::Worked(Cycle::Left(_)))).count()
        };
        (0..5).map(run_of).sum()
    };
    let (least, most) = (finished("minqf"), finished("maxqf"));
    assert!(least > most, "{least} and {most}");
}
