//! Records of ports whose drivers hold the packets: whole, damaged, cut off, of another layout.

use proptest::prelude::*;
use thalweg_machines::egress::EgressSpec;
use thalweg_machines::link::LinkSpec;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::stage::StageSpec;
use thalweg_record::Port;
use thalweg_record::log::Log;
use thalweg_record::path::{Decision, Fate, Path};
use thalweg_record::replay::{port, replay};
use thalweg_units::{FlowId, Rate, Span, Stream, Time};
use thalweg_wire::{Ecn, Flags, Handle, Kind, Packet};

fn srpt() -> Port {
    let queue = DisciplineSpec {
        order: OrderSpec::srpt(),
        limit: Limit::Packets(6),
        front: Vec::new(),
        stage: StageSpec::tail_drop(),
        preemptive: false,
    };
    let link = LinkSpec::fixed(Rate::from_gbps(1), Span::from_us(3));
    let egress = EgressSpec {
        back: link.mean_rate(),
        link,
        queue,
        stages: vec![],
        control_first: false,
        pause_control: false,
        frame_wire: 64,
    };
    Port { name: "switch0 -> h1".into(), seed: 7, entity: 3, egress }
}

/// Every field says something, and so does every bit of some.
fn packet(draw: &mut Stream) -> Packet {
    let wire = 64 + draw.below(1437) as u32;
    Packet {
        stamp: Time::from_ps(draw.below(1 << 60)),
        seq: draw.below(u64::MAX),
        trigger: draw.below(u64::MAX),
        rank: draw.below(9) as i64 - 4,
        flow: FlowId(draw.below(5) as u32),
        wire,
        payload: wire - 40,
        route: draw.below(1 << 32) as u32,
        kind: [Kind::Data, Kind::Ack, Kind::Control][draw.below(3) as usize],
        ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][draw.below(3) as usize],
        class: draw.below(256) as u8,
        input: draw.below(256) as u8,
        flags: Flags(draw.below(1 << 16) as u16),
        ..Packet::default()
    }
}

/// A port under twice its load: packets come in groups, some of them after the port has decided at that instant.
fn recorded(seed: u64, packets: u32) -> Vec<u8> {
    let port = srpt();
    let (mut log, mut path) = (Log::new(&port).unwrap(), Path::new(&port).unwrap());
    let mut draw = Stream::new(seed, "log", 0);
    let mut now = Time::from_us(1);
    let note = |log: &mut Log, decisions: &mut Vec<Decision>| {
        for Decision { label, at, fate, .. } in decisions.drain(..) {
            match fate {
                Fate::Sent { until, arrives, ecn } => log.sent(at, Handle(label), until, arrives, ecn),
                Fate::Dropped => log.dropped(at, Handle(label)),
                Fate::Trimmed { cut } => log.trimmed(at, Handle(label), cut),
            }
        }
    };
    let mut decisions = Vec::new();
    for label in 0..packets {
        match draw.below(3) {
            0 => now += Span::from_us(draw.below(20)),
            1 => {
                path.advance(now, &mut |d| decisions.push(d));
                note(&mut log, &mut decisions);
                log.decided(now);
            }
            _ => {}
        }
        let packet = packet(&mut draw);
        // What is due before is decided before it comes.
        path.advance(Time::from_ps(now.ps() - 1), &mut |d| decisions.push(d));
        note(&mut log, &mut decisions);
        log.arrives(now, Handle(label), &packet);
        path.join(now, packet, label, &mut |d| decisions.push(d));
        note(&mut log, &mut decisions);
    }
    path.advance(now, &mut |d| decisions.push(d));
    note(&mut log, &mut decisions);
    log.decided(now);
    log.whole(now)
}

/// Bytes of a record before its entries.
fn head() -> usize {
    Log::new(&srpt()).unwrap().whole(Time::ZERO).len() - 17
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_written_is_read_again(seed in 0u64..1000) {
        let bytes = recorded(seed, 300);
        prop_assert_eq!(port(&mut &bytes[..]).unwrap(), srpt());
        let found = replay(&bytes[..]).unwrap();
        prop_assert_eq!((&found.difference, found.whole, found.arrived), (&None, true, 300), "{:?}", found);
        prop_assert!(found.together > 100 && found.sent > 50 && found.dropped > 10, "{:?}", found);
    }

    #[test]
    fn damage_is_a_message_or_a_difference_and_never_a_panic(seed in 0u64..20, at in 0usize..10_000, bit in 0u8..8) {
        let mut bytes = recorded(seed, 60);
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        if let Ok(found) = replay(&bytes[..]) {
            prop_assert!(found.arrived <= 60);
        }
    }
}

#[test]
fn a_record_that_was_cut_off_is_compared_as_far_as_it_goes() {
    let bytes = recorded(1, 200);
    let mut sent = Vec::new();
    for cut in (head()..bytes.len()).step_by(17) {
        let found = replay(&bytes[..cut]).unwrap();
        assert_eq!((found.difference, found.whole), (None, false), "{cut}");
        sent.push(found.sent);
    }
    assert!(sent.is_sorted() && sent.first() < sent.last());
    for cut in 0..head() {
        assert!(replay(&bytes[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn another_layout_is_refused_with_the_way_out() {
    let mut bytes = recorded(1, 3);
    assert_eq!(bytes[8..12], [3, 0, 0, 0]);
    for layout in [1, 2] {
        bytes[8] = layout;
        let why = replay(&bytes[..]).unwrap_err().to_string();
        assert!(why.contains(&format!("layout {layout}; this version reads layout 3")), "{why}");
        assert!(why.contains("record again"), "{why}");
    }
}

#[test]
fn the_first_decision_that_differs_is_named() {
    let bytes = recorded(1, 200);
    let found = replay(&bytes[..]).unwrap();
    // The first packet, without any in front, is sent as it comes: entry 2, packet 0. Its last bit leaves a picosecond
    // later than it did.
    let first = [&[2], &[0; 8][..]].concat();
    let at = bytes.windows(9).skip(head()).position(|window| window == first).unwrap() + head();
    let mut other = bytes.clone();
    let until = u64::from_le_bytes(bytes[at + 17..at + 25].try_into().unwrap());
    other[at + 17..at + 25].copy_from_slice(&(until + 1).to_le_bytes());
    let replayed = replay(&other[..]).unwrap();
    let (recorded, now) = replayed.difference.unwrap();
    assert!(
        recorded.starts_with("packet 0: sent from ") && recorded.contains(&format!("until {} ps", until + 1))
    );
    assert_eq!(now, recorded.replace(&(until + 1).to_string(), &until.to_string()));
    assert_eq!((replayed.sent, replayed.dropped), (0, 0), "of {}", found.sent);
}

#[test]
fn almost_every_byte_of_a_record_says_something() {
    let bytes = recorded(1, 200);
    let places = (head()..bytes.len() - 17).step_by(7);
    let says = |at: &usize| {
        let mut other = bytes.clone();
        other[*at] ^= 1;
        replay(&other[..]).map_or(true, |found| found.difference.is_some() || !found.whole)
    };
    // Fields of headers that this port does not look at say nothing.
    let (all, count) = (places.clone().count(), places.filter(says).count());
    assert!(count * 3 > all, "{count} of {all}");
}

#[test]
fn packets_that_arrive_before_others_are_refused() {
    let mut log = Log::new(&srpt()).unwrap();
    let at = Time::from_us(5);
    log.arrives(at, Handle(0), &Packet::default());
    log.arrives(Time::from_us(4), Handle(1), &Packet::default());
    let why = replay(&log.whole(at)[..]).unwrap_err().to_string();
    assert!(why.contains("packet 1 arrives before"), "{why}");
}

#[test]
fn packets_that_wait_for_the_decision_of_the_last_instant_have_none() {
    let (port, at) = (srpt(), Time::from_us(5));
    let mut log = Log::new(&port).unwrap();
    log.arrives(at, Handle(0), &Packet { wire: 100, payload: 60, ..Packet::default() });
    let found = replay(&log.whole(at)[..]).unwrap();
    assert_eq!((found.difference, found.whole, found.arrived, found.sent), (None, true, 1, 0));
}
