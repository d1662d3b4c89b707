//! What holds of every row of ports.

use crate::common::{Log, Seen, arrival, decisions, passed, port, row, scenario};
use proptest::prelude::*;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use thalweg_emulate::Way;
use thalweg_emulate::chain::{Chain, Passed, Watch};
use thalweg_emulate::path::{Arrival, Decision, Fate};
use thalweg_emulate::record::Recorder;
use thalweg_emulate::replay::replay;
use thalweg_units::{Span, Time};

const KINDS: [&str; 5] = [
    "[switch]\nbuffer = \"4KB\"\n",
    "[switch]\nbuffer = \"100KB\"\nscheduler = \"fq-codel\"\n",
    "[switch]\nbuffer = \"60KB\"\nmarking = \"pie\"\n",
    "[switch]\nbuffer = \"100KB\"\nmarking = { kind = \"pi\", reference = \"3KB\", a = 0.5, b = 0.05, update = \"300us\" }\n[transport]\ncongestion = \"dctcp\"\n",
    "[[link]]\nwhich = \"core-links\"\nloss = { independent = 0.05 }\njitter = { kind = \"uniform\", max = \"9ms\", reorder = true }\n",
];

fn chain(kinds: &[usize]) -> Way {
    let rates = ["8Mbps", "5Mbps", "6Mbps"];
    let texts: Vec<String> =
        kinds.iter().zip(rates).map(|(kind, rate)| scenario(rate, "2ms", KINDS[*kind])).collect();
    row(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn arrivals(gaps: &[(u64, u32, u32)]) -> Vec<Arrival> {
    let mut at = Time::ZERO;
    let come = |(gap, wire, flow): &(u64, u32, u32)| {
        at += Span::from_us(*gap);
        arrival(at, *flow, *wire)
    };
    gaps.iter().map(come).collect()
}

/// A disk that can be read.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Vec<u8>>>);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A record of each port.
struct Records(Vec<Recorder>);

impl Watch for Records {
    fn arrival(&mut self, hop: usize, arrival: &Arrival) {
        self.0[hop].arrival(arrival);
    }
    fn decision(&mut self, hop: usize, decision: &Decision) {
        self.0[hop].decision(decision);
    }
    fn over(&mut self, _: &Passed) {}
}

proptest! {
    /// Looks in between, whenever they come, change nothing; each packet is over once, or still on the chain.
    #[test]
    fn waking_late_or_early_changes_nothing_on_a_chain(
        kinds in prop::collection::vec(0..KINDS.len(), 1..=3),
        gaps in prop::collection::vec((0u64..3000, 40u32..1500, 0u32..5), 1..300),
        looks in prop::collection::vec(0u64..3000, 0..300),
    ) {
        let (way, arrivals) = (chain(&kinds), arrivals(&gaps));
        let end = arrivals[arrivals.len() - 1].at + Span::from_ms(500);
        let lazy = passed(&way, &arrivals, end);
        let (mut chain, mut eager) = (Chain::new(&way).unwrap(), Log::default());
        let (mut looks, mut now) = (looks.into_iter(), Time::ZERO);
        for (label, arrival) in (0..).zip(&arrivals) {
            // Never past an arrival: what comes is taken in before anything is decided.
            for look in looks.by_ref() {
                now += Span::from_us(look);
                if now >= arrival.at {
                    break;
                }
                chain.advance(now, &mut eager);
            }
            now = now.max(arrival.at);
            chain.arrive(arrival, 0, label, &mut eager);
        }
        chain.advance(end, &mut eager);
        prop_assert_eq!(&lazy.0, &eager.0);
        let mut over: Vec<u64> = lazy.over().iter().map(|p| p.decision.packet).collect();
        over.sort_unstable();
        over.dedup();
        prop_assert_eq!(over.len(), lazy.over().len());
        prop_assert_eq!(over.len() + chain.within(), arrivals.len());
        // In order of time, as captures are.
        let at = |seen: &Seen| match seen {
            Seen::Arrival(_, a) => a.at,
            Seen::Decision(_, d) => d.at,
            Seen::Over(p) => p.decision.at,
        };
        prop_assert!(lazy.0.iter().map(at).is_sorted());
    }

    /// A chain of one port is that port.
    #[test]
    fn a_chain_of_one_port_is_the_port(
        kind in 0..KINDS.len(),
        gaps in prop::collection::vec((0u64..3000, 40u32..1500, 0u32..5), 1..300),
    ) {
        let arrivals = arrivals(&gaps);
        let end = arrivals[arrivals.len() - 1].at + Span::from_ms(500);
        let alone = port(&scenario("8Mbps", "2ms", KINDS[kind]));
        let log = passed(&alone.clone().into(), &arrivals, end);
        let whole: Vec<Decision> = log.over().iter().map(|p| Decision { label: 0, ..p.decision }).collect();
        prop_assert_eq!(whole, decisions(&alone, &arrivals, end));
        prop_assert!(log.over().iter().all(|p| p.waited == p.decision.at.since(p.decision.came)));
    }

    /// The record of a port replays without the ports before it, though the emulator has looked late, and stamps clash.
    #[test]
    fn each_port_of_a_chain_replays_alone(
        kinds in prop::collection::vec(0..KINDS.len(), 2..=3),
        gaps in prop::collection::vec((0u64..1500, 40u32..1500, 0u32..5), 1..300),
        late in prop::collection::vec(0u64..900, 300),
    ) {
        let (way, arrivals) = (chain(&kinds), arrivals(&gaps));
        // Each its own: clones of one are the same disk.
        let disks: Vec<Disk> = way.ports().iter().map(|_| Disk::default()).collect();
        let recorders = way.ports().iter().zip(&disks).map(|(port, disk)| Recorder::new(port, disk.clone()).unwrap());
        let (mut chain, mut records) = (Chain::new(&way).unwrap(), Records(recorders.collect()));
        let mut end = Time::ZERO;
        for ((label, arrival), late) in (0..).zip(&arrivals).zip(late) {
            end = arrival.at;
            // A stamp from before the last look.
            let at = Time::from_ps(arrival.at.ps().saturating_sub(Span::from_us(late).ps()));
            chain.arrive(&Arrival { at, ..*arrival }, 0, label, &mut records);
            chain.advance(end, &mut records);
        }
        for (recorder, disk) in records.0.into_iter().zip(disks) {
            prop_assert_eq!(recorder.finish(end), None);
            let bytes = disk.0.lock().unwrap().clone();
            let found = replay(&bytes[..]).unwrap();
            prop_assert!(found.difference.is_none() && found.whole, "{:?}", found);
        }
    }

    /// Of queues without limit that are served in order: a transmission begins when the packet is there and the one
    /// before it has left.
    #[test]
    fn departures_of_two_fifo_ports_follow_the_recursion(
        gaps in prop::collection::vec((1u64..2500, 40u32..1500, 0u32..5), 1..300),
    ) {
        const UNLIMITED: &str = "[switch]\nbuffer = \"unlimited\"\n";
        let way = row(&[&scenario("8Mbps", "2ms", UNLIMITED), &scenario("5Mbps", "3ms", UNLIMITED)]);
        let arrivals = arrivals(&gaps);
        let mut free = [Time::ZERO; 2];
        let expected: Vec<(Time, Option<Time>)> = arrivals
            .iter()
            .map(|a| {
                let wire = u64::from(a.wire);
                let sent = a.at.max(free[0]) + Span::from_us(wire);
                let begun = (sent + Span::from_ms(2)).max(free[1]);
                // 8 bits at 5 Mb/s are 1.6 us.
                free = [sent, begun + Span::from_ns(1600 * wire)];
                (begun, Some(free[1] + Span::from_ms(3)))
            })
            .collect();
        let log = passed(&way, &arrivals, Time::from_ms(60_000));
        let arrives = |fate| if let Fate::Sent { arrives, .. } = fate { arrives } else { None };
        let found: Vec<_> = log.over().iter().map(|p| (p.decision.at, arrives(p.decision.fate))).collect();
        prop_assert_eq!(found, expected);
    }

    /// Whatever is at the far end next, no wake-up is after it.
    #[test]
    fn no_packet_is_at_the_far_end_before_the_chain_wakes(
        kinds in prop::collection::vec(0..KINDS.len(), 1..=3),
        gaps in prop::collection::vec((0u64..3000, 40u32..1500, 0u32..5), 1..100),
    ) {
        let way = chain(&kinds);
        let mut chain = Chain::new(&way).unwrap();
        let arrivals = arrivals(&gaps);
        let arrives = |p: &Passed| if let Fate::Sent { arrives, .. } = p.decision.fate { arrives } else { None };
        for (label, arrival) in (0..).zip(&arrivals) {
            let mut log = Log::default();
            let soonest = chain.wake().unwrap_or(Time::MAX).min(arrival.at + chain.delay());
            chain.arrive(arrival, 0, label, &mut log);
            prop_assert!(log.over().iter().filter_map(arrives).all(|at| at >= soonest));
        }
        while let Some(wake) = chain.wake() {
            let mut log = Log::default();
            chain.advance(wake, &mut log);
            prop_assert!(log.over().iter().filter_map(arrives).all(|at| at >= wake));
        }
        prop_assert_eq!(chain.within(), 0);
    }
}
