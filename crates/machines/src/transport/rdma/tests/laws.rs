//! Whatever the network does, every byte arrives, and copies, saved copies and shifted clocks change nothing.

use super::link::*;
use super::*;
use crate::congestion::dctcp_rate;
use crate::transport::testing::{Fate, scripted};
use proptest::prelude::*;
use thalweg_wire::{Flags, Kind};

fn every_variant() -> Vec<(&'static str, RdmaSpec)> {
    let selective = |sack, nack_threshold, enter_on_advance| RdmaSpec {
        recovery: Recovery::Irn { sack, nack_threshold, enter_on_advance },
        ..spec()
    };
    let pair = spec().timer;
    let paced = ControllerSpec::DctcpRate(dctcp_rate::Params {
        gain: 1.0 / 16.0,
        initial_alpha: 1.0,
        step: Rate::from_mbps(61),
        min_rate: Rate::from_mbps(100),
    });
    let segments = SegmentSpec { bytes: 3500, outstanding: 2, nic_pace: Some(Rate::from_gbps(3)) };
    let groups = RoundTrips { segment: 4, less_serialization: true, noise: Span::from_us(3), ..spec().rtt };
    let cnp = Notification::Packet { interval: Span::from_us(50), rule: CnpRule::Spaced, wire: 82 };
    vec![
        ("irn", spec()),
        ("irn, cap of 1", RdmaSpec { cap: Some(1), ..spec() }),
        ("irn without cap", RdmaSpec { cap: None, ..spec() }),
        ("irn, threshold 3", selective(true, 3, false)),
        ("irn, literal entry", selective(true, 1, true)),
        ("one hole per round trip", selective(false, 1, false)),
        ("irn, fetch delay", RdmaSpec { fetch_delay: Span::from_us(2), extra_header: 16, ..spec() }),
        (
            "irn, dynamic timeout",
            RdmaSpec {
                timer: RdmaTimer::Dynamic { initial: Span::from_us(320), min: Span::from_us(100) },
                ..spec()
            },
        ),
        ("irn, impatient", RdmaSpec { timer: RdmaTimer::Fixed { value: Span::from_us(15) }, ..spec() }),
        ("irn, groups", RdmaSpec { acks: RdmaAcks::PerSegment, rtt: groups, ..spec() }),
        (
            "irn, no sack, groups",
            RdmaSpec { acks: RdmaAcks::PerSegment, rtt: groups, ..selective(false, 1, false) },
        ),
        ("irn, window", RdmaSpec { controller: ControllerSpec::NewReno(Default::default()), ..spec() }),
        ("irn, paced", RdmaSpec { controller: paced.clone(), notification: Notification::Echo, ..spec() }),
        ("roce", roce()),
        (
            "roce, repeated nacks",
            RdmaSpec {
                recovery: Recovery::GoBackN { repeat_nack: Some(Span::from_us(50)) },
                notification: cnp,
                ..roce()
            },
        ),
        ("go-back-n with a cap", RdmaSpec { cap: Some(20), timer: pair, ..roce() }),
        ("roce, fetch delay", RdmaSpec { fetch_delay: Span::from_us(2), ..roce() }),
        ("roce, groups", RdmaSpec { acks: RdmaAcks::PerSegment, rtt: groups, ..roce() }),
        ("segments", RdmaSpec { acks: RdmaAcks::PerSegment, segments: Some(segments), ..roce() }),
        (
            "paced segments",
            RdmaSpec {
                acks: RdmaAcks::PerSegment,
                segments: Some(segments),
                controller: paced,
                notification: Notification::Echo,
                ..roce()
            },
        ),
        (
            "segments, irn",
            RdmaSpec { segments: Some(SegmentSpec { bytes: 4000, nic_pace: None, ..segments }), ..spec() },
        ),
    ]
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        5 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => (0u64..60).prop_map(|us| Fate::Late(Span::from_us(us))),
        1 => (0u64..60).prop_map(|us| Fate::Twice(Span::from_us(us))),
        1 => Just(Fate::Mark),
    ]
}

fn script() -> impl Strategy<Value = [Vec<Fate>; 2]> {
    [prop::collection::vec(fate(), 0..80), prop::collection::vec(fate(), 0..80)]
}

fn transcript(mut link: Link, script: [Vec<Fate>; 2]) -> (Vec<(Span, String)>, SenderStats) {
    link.run(scripted(script));
    let log = link.log.iter().map(|(at, what)| (at.since(link.origin), what.clone())).collect();
    (log, link.sender.stats())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_whatever_is_lost_late_or_doubled(script in script(), size in 1u64..60_000, queue in any::<bool>()) {
        for (name, spec) in every_variant() {
            let mut link = Link::bytes(spec, size);
            link.queue = queue;
            link.run(scripted(script.clone()));
            prop_assert!(link.sender.is_done() && link.receiver.is_done(), "{}", name);
            prop_assert_eq!(link.receiver.received(), size, "{}", name);
            prop_assert_eq!(link.receiver.unique_bytes(), size);
            let stats = link.sender.stats();
            prop_assert_eq!((stats.acked_bytes, stats.in_flight), (size, Bytes::ZERO));
            prop_assert_eq!(link.sender.timer(), None);
            let data = link.wire_log.iter().filter(|p| p.kind == Kind::Data);
            let (first, again): (Vec<&Packet>, Vec<&Packet>) =
                data.partition(|p| !p.flags.has(Flags::RETRANSMISSION));
            let mut next = 0;
            for p in first {
                prop_assert_eq!(p.seq, next);
                next += u64::from(p.payload);
                prop_assert_eq!(p.flags.has(Flags::LAST), next == size);
            }
            prop_assert_eq!(next, size);
            prop_assert_eq!(again.len() as u64, stats.retransmitted_packets);
        }
    }

    #[test]
    fn without_trouble_nothing_is_sent_twice(size in 1u64..200_000, queue in any::<bool>()) {
        for (name, spec) in every_variant() {
            if name == "irn, impatient" {
                continue;
            }
            // A queue of 200 packets would outlast the timer before anything is lost.
            let size = if queue && spec.timer != RdmaTimer::Off { size % 60_000 + 1 } else { size };
            let mut link = Link::bytes(spec, size);
            link.queue = queue;
            link.run_losing(&[]);
            let stats = link.sender.stats();
            prop_assert_eq!((stats.retransmitted_packets, stats.timeouts), (0, 0), "{}", name);
            prop_assert!(link.wire_log.iter().all(|p| !p.flags.has(Flags::NACK)));
        }
    }

    #[test]
    fn never_more_in_flight_than_the_cap(script in script()) {
        for (name, spec) in every_variant() {
            let Some(cap) = spec.cap else { continue };
            let mut link = Link::new(spec, 60);
            let mut fates = scripted(script.clone());
            while link.step(&mut fates) {
                prop_assert!(link.sender.repair.recovery.in_flight() <= u64::from(cap), "{}", name);
            }
        }
    }

    #[test]
    fn the_same_story_gives_the_same_run_and_a_later_one_too(script in script(), size in 1u64..40_000) {
        for (name, spec) in every_variant() {
            let run = |at| transcript(Link::starting(spec.clone(), size, at), script.clone());
            let original = run(Time::ZERO);
            prop_assert_eq!(&original, &run(Time::ZERO), "{}", name);
            prop_assert_eq!(&original, &run(Time::from_ps(987_654_321_000_000)), "{}", name);
        }
    }

    #[test]
    fn a_run_may_be_cut_copied_saved_and_resumed(script in script(), size in 1u64..40_000, cut in 0usize..200) {
        for (name, spec) in every_variant() {
            let mut link = Link::bytes(spec, size);
            let mut fates = scripted(script.clone());
            for _ in 0..cut {
                link.step(&mut fates);
            }
            let mut loaded = link.clone();
            let bytes = postcard::to_stdvec(&(&link.sender, &link.receiver)).unwrap();
            (loaded.sender, loaded.receiver) = postcard::from_bytes(&bytes).unwrap();
            prop_assert_eq!(transcript(link, script.clone()), transcript(loaded, script.clone()), "{}", name);
        }
    }

    /// Packets that no honest peer sends must not break anything either.
    #[test]
    fn nonsense_is_survived(acks in prop::collection::vec((0u64..30_000, 0u64..30_000, any::<u16>()), 0..40)) {
        for (_, spec) in every_variant() {
            let mut link = Link::new(spec, 20);
            link.run_until(Time::from_us(9), |_, _, _| Fate::Drop);
            for &(seq, trigger, flags) in &acks {
                let ack = Packet { kind: Kind::Ack, seq, trigger, payload: 1000, flags: Flags(flags), ..Packet::default() };
                let data = Packet { kind: Kind::Data, ..ack };
                link.receiver.on_packet(&link.spec, Time::from_us(10), &data, None);
                link.sender.on_packet(&link.spec, Time::from_us(10), &ack, None);
                let (mut p, mut side, mut n) = (Packet::default(), Side::default(), 0);
                while link.sender.poll_transmit(&link.spec, Time::from_us(10), &mut p, &mut side) == Transmit::Packet {
                    n += 1;
                    prop_assert!(n < 1000);
                }
            }
        }
    }
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    let refused = |spec: RdmaSpec, word: &str| {
        let start = spec.start(LINE, Span::from_us(21), Span::ZERO);
        let made = RdmaSender::new(&spec, FlowId(0), 1000, &start, Stream::new(1, "test", 0));
        let error = made.err().unwrap_or_else(|| panic!("{word}: not refused"));
        assert!(error.of == "rdma" && !error.key.is_empty() && error.why.contains(word), "{error:?}");
    };
    let selective = |nack_threshold| Recovery::Irn { sack: true, nack_threshold, enter_on_advance: false };
    let groups = RoundTrips { segment: 16, ..spec().rtt };
    let segments = SegmentSpec { bytes: 4000, outstanding: 2, nic_pace: None };
    refused(RdmaSpec { payload: 0, ..spec() }, "payload");
    refused(RdmaSpec { extra_header: u32::MAX, ..spec() }, "headers");
    refused(RdmaSpec { cap: Some(0), ..spec() }, "cap");
    refused(RdmaSpec { rtt: RoundTrips { segment: 0, ..groups }, ..spec() }, "round trip");
    refused(RdmaSpec { recovery: selective(0), ..spec() }, "nack_threshold");
    refused(RdmaSpec { timer: RdmaTimer::Fixed { value: Span::ZERO }, ..spec() }, "timeout");
    let inverted = RdmaTimer::Pair {
        low: Span::from_us(2),
        high: Span::from_us(1),
        max_in_flight: 3,
        max_rate_factor: 4,
    };
    refused(RdmaSpec { timer: inverted, ..spec() }, "RTO_low");
    refused(RdmaSpec { acks: RdmaAcks::Never, ..spec() }, "selective");
    refused(RdmaSpec { acks: RdmaAcks::Never, ..roce() }, "timer");
    refused(RdmaSpec { cap: Some(4), ..lossless() }, "cap");
    refused(RdmaSpec { notification: Notification::Echo, ..lossless() }, "echo");
    refused(RdmaSpec { segments: Some(segments), ..lossless() }, "segments");
    refused(RdmaSpec { acks: RdmaAcks::PerSegment, rtt: groups, cap: Some(15), ..spec() }, "16");
    refused(RdmaSpec { segments: Some(SegmentSpec { outstanding: 0, ..segments }), ..roce() }, "outstanding");
    refused(RdmaSpec { segments: Some(SegmentSpec { bytes: 4001, ..segments }), ..spec() }, "multiples");
    let still = SegmentSpec { nic_pace: Some(Rate::ZERO), ..segments };
    refused(RdmaSpec { segments: Some(still), ..roce() }, "nic_pace");
}

#[test]
fn ends_are_small() {
    assert!(size_of::<RdmaSender>() <= 520, "{}", size_of::<RdmaSender>());
    assert!(size_of::<RdmaReceiver>() <= 160, "{}", size_of::<RdmaReceiver>());
    assert!(size_of::<Receiver>() <= 168, "{}", size_of::<Receiver>());
}
