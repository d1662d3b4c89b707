//! A flow alone in the network takes exactly as long as the closed form states.
use crate::common::*;
use proptest::prelude::*;
use thalweg_machines::transport::TransportSpec;
use thalweg_net::spec::CutThrough;
use thalweg_units::{FlowId, Rate, Span, Time};

#[test]
fn one_packet_across_two_links_takes_two_serialisations_and_two_propagations() {
    let g = Rate::from_gbps(10);
    let us = Span::from_us(1);
    let sim =
        run(chain(&[(g, us), (g, us)], TransportSpec::Tcp(wide_open()), vec![flow(0, 1, 1460, Time::ZERO)]));
    let outcome = sim.outcome(FlowId(0));
    assert_eq!(outcome.received, Some(Time::from_ns(2 * 1200 + 2000)));
    assert_eq!(outcome.acked, Some(Time::from_ns(2 * 1200 + 2000 + 2 * 32 + 2000)));
}

#[test]
fn the_pfabric_reference_formula_holds_across_racks() {
    // Four links, 10/40/40/10 Gb/s, 200 ns each: 1200 n + 3480 ns for n packets, ACK included.
    let (h, s, d) = (Rate::from_gbps(10), Rate::from_gbps(40), Span::from_ns(200));
    for n in [1u64, 2, 3, 50] {
        let links = [(h, d), (s, d), (s, d), (h, d)];
        let sim = run(chain(&links, TransportSpec::Tcp(wide_open()), vec![flow(0, 1, 1460 * n, Time::ZERO)]));
        assert_eq!(sim.outcome(FlowId(0)).acked, Some(Time::from_ns(1200 * n + 3480)), "{n} packets");
    }
}

fn rates() -> impl Strategy<Value = Rate> {
    prop_oneof![
        Just(Rate::from_gbps(10)),
        Just(Rate::from_gbps(40)),
        Just(Rate::from_gbps(100)),
        Just(Rate::from_mbps(5556)),
        (1_000_000u64..400_000_000_000).prop_map(Rate::from_bps),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_closed_form_is_exact_for_any_chain_and_size(
        links in proptest::collection::vec((rates(), 0u64..5_000_000), 1..7),
        size in 1u64..200_000,
        handshake: bool,
    ) {
        let links: Vec<_> = links.into_iter().map(|(r, d)| (r, Span::from_ps(d))).collect();
        let mut tcp = wide_open();
        tcp.handshake = handshake;
        let sim = run(chain(&links, TransportSpec::Tcp(tcp), vec![flow(0, 1, size, Time::from_ns(7))]));
        let outcome = sim.outcome(FlowId(0));
        let took = |t: Option<Time>| t.map(|t| t - Time::from_ns(7));
        prop_assert_eq!(took(outcome.received), Some(outcome.ideal));
        prop_assert_eq!(took(outcome.acked), Some(outcome.ideal_acked));
        prop_assert_eq!(outcome.counts.retransmitted, 0);
    }

    #[test]
    fn the_closed_form_is_exact_with_cut_through(
        links in proptest::collection::vec((rates(), 0u64..5_000_000), 1..7),
        size in 1u64..100_000,
        header in 1u32..200,
    ) {
        let links: Vec<_> = links.into_iter().map(|(r, d)| (r, Span::from_ps(d))).collect();
        let mut spec = chain(&links, TransportSpec::Tcp(wide_open()), vec![flow(0, 1, size, Time::ZERO)]);
        spec.cut_through = Some(CutThrough { header });
        let sim = run(spec);
        let outcome = sim.outcome(FlowId(0));
        prop_assert_eq!(outcome.received.map(|t| t - Time::ZERO), Some(outcome.ideal));
        prop_assert_eq!(outcome.acked.map(|t| t - Time::ZERO), Some(outcome.ideal_acked));
    }
}

#[test]
fn a_sender_that_knows_what_its_receiver_has_resends_none_of_it() {
    use thalweg_machines::transport::{Flight, LossDetection, RtoRule};
    // Three packets arrive after 10 us, their ACKs after 20 us; the timer fires at 15 us.
    let hops = |flight| {
        let mut tcp = wide_open();
        (tcp.flight, tcp.loss, tcp.rto) =
            (flight, LossDetection::TimeoutOnly, RtoRule::Fixed { value: Span::from_us(15) });
        let link = [(Rate::from_gbps(100), Span::from_us(10))];
        let mut sim = run(chain(&link, TransportSpec::Tcp(tcp), vec![flow(0, 1, 3 * 1460, Time::ZERO)]));
        while sim.run(1000) {}
        (sim.outcome(FlowId(0)).acked, sim.counters().packet_hops)
    };
    let (acked, spurious) = hops(Flight::Span);
    let (acked_too, knowing) = hops(Flight::SpanOmniscient);
    assert_eq!(acked, acked_too);
    assert_eq!(knowing, 6, "three packets and their ACKs");
    assert!(spurious > knowing);
}
