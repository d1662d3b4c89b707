//! Whatever the network does, every byte arrives once and in order, nothing exceeds the permit, and
//! copies, saved copies and shifted clocks change nothing.

use super::super::testing::*;
use super::super::*;
use crate::congestion::{ControllerSpec, dctcp, dctcp_rate};
use proptest::prelude::*;

fn every_transport() -> Vec<(&'static str, TcpSpec)> {
    let dctcp = ControllerSpec::Dctcp(dctcp::Params {
        gain: 1.0 / 16.0,
        initial_alpha: 1.0,
        growth: dctcp::Growth::OutsideCwr,
        cut_without_marks: false,
        losses: dctcp::Losses::default(),
    });
    let delayed = AckSpec { every: 2, delay: Span::from_us(500) };
    vec![
        ("sack", tcp()),
        ("newreno", reno()),
        ("rack", rack()),
        (
            "rack, no probes, delayed acks",
            TcpSpec { loss: LossDetection::Rack { tail_probes: false }, ack: delayed, ..tcp() },
        ),
        ("rack, time stamps, delayed acks", TcpSpec { timestamps: true, ack: delayed, ..rack() }),
        ("mintcp", min_tcp()),
        ("mintcp, span", TcpSpec { flight: Flight::Span, ..min_tcp() }),
        ("mintcp without sack", TcpSpec { sack: Sack::Off, probe_after: Some(1), ..min_tcp() }),
        (
            "dctcp, delayed acks",
            TcpSpec { controller: dctcp.clone(), ecn: EcnSpec::Accurate, ack: delayed, ..tcp() },
        ),
        (
            "dctcp on rates",
            TcpSpec {
                controller: ControllerSpec::DctcpRate(dctcp_rate::Params {
                    gain: 1.0 / 16.0,
                    initial_alpha: 1.0,
                    step: Rate::from_mbps(61),
                    min_rate: Rate::from_mbps(100),
                }),
                ecn: EcnSpec::Accurate,
                ..tcp()
            },
        ),
        ("classic ecn, handshake", TcpSpec { ecn: EcnSpec::Classic, handshake: true, ..tcp() }),
        (
            "one block, no limited transmit",
            TcpSpec {
                sack: Sack::Blocks { blocks: 1, on_wire: true },
                limited_transmit: false,
                probe_after: Some(2),
                ..tcp()
            },
        ),
        (
            "newreno, delayed acks",
            TcpSpec { ack: delayed, limited_transmit: false, handshake: true, ..reno() },
        ),
        (
            "fixed window, fixed timer",
            TcpSpec {
                controller: ControllerSpec::Fixed(Default::default()),
                rto: RtoRule::Fixed { value: Span::from_us(60) }, // shorter than a round trip: always spurious
                ..tcp()
            },
        ),
    ]
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        5 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => (0u64..250).prop_map(|us| Fate::Late(Span::from_us(us))),
        1 => (0u64..250).prop_map(|us| Fate::Twice(Span::from_us(us))),
        1 => Just(Fate::Mark),
    ]
}

fn script() -> impl Strategy<Value = [Vec<Fate>; 2]> {
    [prop::collection::vec(fate(), 0..60), prop::collection::vec(fate(), 0..60)]
}

/// A run's every packet and final numbers.
fn transcript(mut pair: Pair, script: [Vec<Fate>; 2]) -> (Vec<(u64, String)>, SenderStats) {
    pair.run(scripted(script));
    (pair.log.clone(), pair.stats())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_whatever_is_lost_late_or_doubled(script in script(), size in 1u64..60_000) {
        for (name, spec) in every_transport() {
            let mut pair = Pair::bytes(spec, size);
            pair.run(scripted(script.clone()));
            prop_assert_eq!(pair.receiver.received(), size, "{}", name);
            prop_assert_eq!(pair.receiver.unique_bytes(), size);
            prop_assert_eq!(pair.stats().acked_bytes, size);
            prop_assert_eq!(pair.sender.timer(), None);
            let data = pair.wire_log.iter().filter(|p| p.kind == thalweg_wire::Kind::Data && p.payload > 0);
            let (first, again): (Vec<&Packet>, Vec<&Packet>) = data.partition(|p| !p.flags.has(thalweg_wire::Flags::RETRANSMISSION));
            // New data leaves in order, each byte once.
            let mut next = 0;
            for p in first {
                prop_assert_eq!(p.seq, next);
                next += u64::from(p.payload);
            }
            prop_assert_eq!(next, size);
            prop_assert_eq!(again.len() as u64, pair.stats().retransmitted_packets);
        }
    }

    #[test]
    fn without_trouble_nothing_is_sent_twice(size in 1u64..200_000) {
        for (name, spec) in every_transport() {
            if name == "fixed window, fixed timer" {
                continue;
            }
            let mut pair = Pair::bytes(spec, size);
            pair.run_losing(&[]);
            prop_assert_eq!(pair.stats().retransmitted_packets, 0, "{}", name);
            prop_assert_eq!(pair.stats().timeouts, 0);
            prop_assert_eq!(pair.stats().sent_packets, size.div_ceil(MSS));
        }
    }

    #[test]
    fn never_more_in_the_network_than_permitted(script in script()) {
        for (name, spec) in every_transport() {
            let probes = spec.loss == LossDetection::Rack { tail_probes: true };
            let limited = spec.limited_transmit && spec.sack == Sack::Off;
            let excess = if limited { 2 * MSS } else { u64::from(probes) * MSS };
            let span = spec.flight == Flight::Span;
            let mut pair = Pair::new(spec, 60);
            let mut fates = scripted(script.clone());
            let mut before = pair.stats();
            while pair.step(&mut fates) {
                let stats = pair.stats();
                if stats.sent_packets > before.sent_packets && !span {
                    // Beyond it: what limited transmit sends, and one resend when a loss was declared.
                    let limit = stats.window.get().max(MSS) + excess;
                    let one_resend = stats.sent_packets == before.sent_packets + 1
                        && stats.retransmitted_packets == before.retransmitted_packets + 1;
                    prop_assert!(stats.in_flight.get() <= limit || one_resend, "{name}: {stats:?}");
                }
                before = stats;
            }
        }
    }

    #[test]
    fn the_same_story_gives_the_same_run_and_a_later_one_too(script in script(), size in 1u64..40_000) {
        for (name, spec) in every_transport() {
            let run = |at| transcript(Pair::starting(spec.clone(), size, at), script.clone());
            let original = run(Time::ZERO);
            prop_assert_eq!(&original, &run(Time::ZERO), "{}", name);
            prop_assert_eq!(&original, &run(Time::from_ps(987_654_321_000_000)), "{}", name);
        }
    }

    #[test]
    fn a_run_may_be_cut_copied_saved_and_resumed(script in script(), size in 1u64..40_000, cut in 0usize..200) {
        for (name, spec) in every_transport() {
            let mut pair = Pair::bytes(spec, size);
            let mut fates = scripted(script.clone());
            for _ in 0..cut {
                pair.step(&mut fates);
            }
            let copy = pair.clone();
            let mut loaded = pair.clone();
            let bytes = postcard::to_stdvec(&(&pair.sender, &pair.receiver)).unwrap();
            (loaded.sender, loaded.receiver) = postcard::from_bytes(&bytes).unwrap();
            let straight = transcript(pair, script.clone());
            prop_assert_eq!(&straight, &transcript(copy, script.clone()), "{}", name);
            prop_assert_eq!(&straight, &transcript(loaded, script.clone()), "{}", name);
        }
    }

    /// Packets that no honest peer sends must not break anything either.
    #[test]
    fn nonsense_is_survived(
        acks in prop::collection::vec((0u64..30_000, prop::collection::vec((0u64..40_000, 1u64..5000), 0..4), any::<bool>()), 0..40)
    ) {
        for (_, spec) in every_transport() {
            let mut pair = Pair::new(spec, 20);
            pair.step(&mut |_, _, _| Fate::Drop);
            for (seq, blocks, ece) in &acks {
                let mut side = Side::default();
                let sack = side.new_sack();
                for &(s, len) in blocks {
                    sack.push(s, s + len);
                }
                let flags = thalweg_wire::Flags(u16::from(*ece));
                let ack = Packet { kind: thalweg_wire::Kind::Ack, seq: *seq, payload: 1000, flags, side: 0, ..Packet::default() };
                pair.sender.on_packet(&pair.spec, Time::from_us(200), &ack, Some(&side));
                let mut p = Packet::default();
                let mut n = 0;
                while pair.sender.poll_transmit(&pair.spec, Time::from_us(200), &mut p, &mut side) == Transmit::Packet {
                    n += 1;
                    prop_assert!(n < 1000);
                }
            }
        }
    }
}

#[test]
fn ends_are_small_and_stay_so_without_losses() {
    // 32 bytes beyond four cache lines: counts and a sum of round trips that do not end.
    assert!(size_of::<Sender>() <= 288, "Sender: {} bytes", size_of::<Sender>());
    assert!(size_of::<Receiver>() <= 128, "Receiver: {} bytes", size_of::<Receiver>());
}
