//! A row of ports in virtual time, against schedules by hand.

use crate::common::{Log, Seen, arrival, passed, row, scenario};
use thalweg_emulate::chain::{Chain, Passed};
use thalweg_emulate::path::{Arrival, Fate};
use thalweg_units::{Span, Time};
use thalweg_wire::Ecn;

fn ms(ms: u64) -> Time {
    Time::from_ms(ms)
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn ps(ps: u64) -> Span {
    Span::from_ps(ps)
}

/// So many packets of 1000 bytes at 20 ms, each a picosecond after the one before.
fn burst(packets: u64) -> Vec<Arrival> {
    (0..packets).map(|n| arrival(ms(20) + ps(n), 1, 1000)).collect()
}

/// Number, port, instant, waits, what it was: until when it was sent, or dropped.
fn shown(log: &Log) -> Vec<(u64, usize, Time, Span, Option<Time>)> {
    let until = |fate| if let Fate::Sent { until, .. } = fate { Some(until) } else { None };
    let of = |p: &Passed| (p.decision.packet, p.hop, p.decision.at, p.waited, until(p.decision.fate));
    log.over().iter().map(of).collect()
}

/// 8 Mb/s and 5 ms, where 1000 bytes take a millisecond; then 4 Mb/s and 3 ms, where they take two. The first port
/// sends from 20, 21 and 22 ms on, the second has that at 26, 27 and 28 ms.
#[test]
fn two_ports_of_different_rates_send_when_computed_by_hand() {
    let way = row(&[&scenario("8Mbps", "5ms", ""), &scenario("4Mbps", "3ms", "")]);
    let mut arrivals = burst(3);
    arrivals.push(arrival(ms(30), 1, 500));
    let log = passed(&way, &arrivals, ms(100));
    let expected = [
        (0, 1, ms(26), Span::ZERO, Some(ms(28))),
        (1, 1, ms(28), Span::from_ms(2) - ps(1), Some(ms(30))),
        (2, 1, ms(30), Span::from_ms(4) - ps(2), Some(ms(32))),
        (3, 1, us(35_500), Span::ZERO, Some(us(36_500))),
    ];
    assert_eq!(shown(&log), expected);
    let at: Vec<Time> = log.arrivals(1).iter().map(|a| a.at).collect();
    assert_eq!(at, [ms(26), ms(27), ms(28), us(35_500)]);
    // Each has come when it came to the first port, and is at the far end 3 ms after it was sent.
    for (passed, sent) in log.over().iter().zip(&arrivals) {
        let Fate::Sent { until, arrives, ecn } = passed.decision.fate else { panic!("{passed:?}") };
        assert_eq!(
            (arrives, ecn, passed.decision.came),
            (Some(until + Span::from_ms(3)), Ecn::Ect0, sent.at)
        );
    }
}

/// The second port, of 2 Mb/s, has room for one packet besides the one that it sends from 26 ms until 30 ms.
#[test]
fn a_packet_that_finds_the_second_port_full_is_dropped_there() {
    let full = scenario("2Mbps", "3ms", "[switch]\nbuffer = \"1pkts\"\n");
    let way = row(&[&scenario("8Mbps", "5ms", ""), &full]);
    let log = passed(&way, &burst(3), ms(100));
    let expected = [
        (0, 1, ms(26), Span::ZERO, Some(ms(30))),
        (2, 1, ms(28), Span::from_ms(2) - ps(2), None),
        (1, 1, ms(30), Span::from_ms(4) - ps(1), Some(ms(34))),
    ];
    assert_eq!(shown(&log), expected);
}

/// The third packet finds one waiting at the second port, at the instant at which that is sent.
#[test]
fn a_mark_of_either_port_is_one_of_the_chain() {
    let marks = "[switch]\nbuffer = \"unlimited\"\nmarking = { kind = \"step\", threshold = \"1KB\" }\n\
                 [transport]\ncongestion = \"dctcp\"\n";
    let plain = "[switch]\nbuffer = \"unlimited\"\n";
    let of = |first: &str, second: &str| {
        let way = row(&[&scenario("8Mbps", "5ms", first), &scenario("4Mbps", "3ms", second)]);
        let log = passed(&way, &burst(3), ms(100));
        let [first, second] =
            [0, 1].map(|hop| log.decisions(hop).iter().map(|d| d.marked).collect::<Vec<_>>());
        let whole: Vec<bool> = log.over().iter().map(|p| p.decision.marked).collect();
        let bits: Vec<Ecn> = log.arrivals(1).iter().map(|a| a.ecn).collect();
        (first, second, whole, bits)
    };
    let (none, third) = (vec![false; 3], vec![false, false, true]);
    let (clean, ce) = (vec![Ecn::Ect0; 3], vec![Ecn::Ect0, Ecn::Ect0, Ecn::Ce]);
    assert_eq!(of(plain, marks), (none.clone(), third.clone(), third.clone(), clean));
    // What the first has marked the second does not mark again, and it arrives there with its mark.
    assert_eq!(of(marks, marks), (third.clone(), none.clone(), third.clone(), ce.clone()));
    assert_eq!(of(marks, plain), (third.clone(), none, third, ce));
}

/// At 26 ms the first port sends its seventh packet, and the first packet is at the second port, which sends it.
#[test]
fn at_one_instant_ports_upstream_go_first_and_arrivals_before_decisions() {
    let way = row(&[&scenario("8Mbps", "5ms", ""), &scenario("8Mbps", "3ms", "")]);
    let log = passed(&way, &burst(10), ms(100));
    let at = |when: Time| {
        let of = |seen: &Seen| match seen {
            Seen::Arrival(hop, a) if a.at == when => Some(("arrives", *hop, 0)),
            Seen::Decision(hop, d) if d.at == when => Some(("decides", *hop, d.packet)),
            _ => None,
        };
        log.0.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(at(ms(26)), [("decides", 0, 6), ("arrives", 1, 0), ("decides", 1, 0)]);
    assert_eq!(at(ms(27)), [("decides", 0, 7), ("arrives", 1, 0), ("decides", 1, 1)]);
}

/// An opportunity of 1504 bytes at 10 ms sends two packets of 700 at once, and the link takes no time.
#[test]
fn packets_of_one_instant_arrive_in_order_a_picosecond_apart() {
    let trace = std::env::temp_dir().join(format!("thalweg-chain-{}.trace", std::process::id()));
    std::fs::write(&trace, "10\n30\n").unwrap();
    let file = trace.to_str().unwrap();
    let traced = format!(
        "[[link]]\nwhich = {{ between = [\"switch0\", \"switch1\"] }}\ndirection = \"forward\"\ntransmitter = {{ kind = \"traced\", file = {file:?} }}\n"
    );
    let way = row(&[&scenario("8Mbps", "0ms", &traced), &scenario("8Mbps", "3ms", "")]);
    std::fs::remove_file(&trace).unwrap();
    let arrivals: Vec<Arrival> = (0..4).map(|n| arrival(ms(1) + ps(n), n as u32, 700)).collect();
    let log = passed(&way, &arrivals, ms(100));
    let found: Vec<(Time, u32)> = log.arrivals(1).iter().map(|a| (a.at, a.flow.0)).collect();
    assert_eq!(found, [(ms(10), 0), (ms(10) + ps(1), 1), (ms(30), 2), (ms(30) + ps(1), 3)]);
    let begun: Vec<Time> = log.over().iter().map(|p| p.decision.at).collect();
    assert_eq!(begun, [us(10_000), us(10_700), us(30_000), us(30_700)]);
}

#[test]
fn a_chain_wakes_no_later_than_the_next_packet_is_at_the_far_end() {
    let way = row(&[&scenario("8Mbps", "5ms", ""), &scenario("4Mbps", "3ms", "")]);
    let (mut chain, mut log) = (Chain::new(&way).unwrap(), Log::default());
    assert_eq!((chain.wake(), chain.delay(), way.delay()), (None, Span::from_ms(8), Span::from_ms(8)));
    chain.arrive(&arrival(ms(20), 1, 1000), 0, 0, &mut log);
    // It is at the second port at 26 ms, and then takes 3 ms at least.
    assert_eq!((chain.wake(), chain.within()), (Some(ms(29)), 1));
    chain.advance(ms(26), &mut log);
    // The second port is free again at 28 ms.
    assert_eq!((chain.wake(), chain.within()), (Some(ms(31)), 0));
    chain.advance(ms(28), &mut log);
    assert_eq!(chain.wake(), None);
}

/// CS6 is the most urgent but one of eight classes, and of the two that the other port has, of the more urgent one.
#[test]
fn a_packet_has_the_class_of_its_code_point_at_every_port() {
    let classes = |n| format!("[switch]\nscheduler = {{ kind = \"priority\", classes = {n} }}\n");
    let more = "[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 0\nclass = 1\n";
    let [eight, two] = [8, 2].map(|n| scenario("8Mbps", "5ms", &format!("{}{more}", classes(n))));
    let way = row(&[&eight, &two]);
    let (mut chain, mut log) = (Chain::new(&way).unwrap(), Log::default());
    for (label, dscp) in [(0, 48), (1, 0), (2, 8)] {
        chain.arrive(&arrival(ms(20), 1, 1000), dscp, label, &mut log);
    }
    chain.advance(ms(100), &mut log);
    let classes = [0, 1].map(|hop| log.arrivals(hop).iter().map(|a| a.class).collect::<Vec<_>>());
    assert_eq!(classes, [vec![1, 7, 6], vec![0, 1, 1]]);
}
