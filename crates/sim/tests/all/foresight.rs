//! NICs that pull know beforehand that a flow will wait: that spares events, and changes nothing.
use crate::common::*;
use crate::reference::{build, choices, points, rdma};
use proptest::prelude::*;
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::transport::*;
use thalweg_net::spec::*;
use thalweg_units::{FlowId, PortId, Rate, Span, Time};

/// The same network with a failure that comes after the run's end: where anything fails, NICs foresee nothing.
fn blind(spec: &NetworkSpec) -> NetworkSpec {
    let at = spec.stop.until + Span::from_us(1);
    NetworkSpec { incidents: vec![Incident { at, what: IncidentKind::PauseLoss(None, 0.0) }], ..spec.clone() }
}

/// A flow of a host each, which pace themselves, to one.
fn paced() -> NetworkSpec {
    let roce = Recovery::GoBackN { repeat_nack: None };
    let TransportSpec::Rdma(rdma) = rdma(roce, RdmaTimer::Off, ControllerSpec::rocc()) else {
        unreachable!()
    };
    let transport = TransportSpec::Rdma(RdmaSpec { acks: RdmaAcks::Never, cap: None, ..rdma });
    let flows = (0..3).map(|src| flow(src, 3, 4_000_000, Time::ZERO)).collect();
    let mut spec = star(4, Rate::from_gbps(10), Span::from_us(1), transport, flows);
    spec.point = Some(points()[0]);
    spec.nic.order = NicOrder::RoundRobin;
    spec.control_first = true;
    spec
}

#[test]
fn a_paced_flow_has_one_event_for_each_packet_at_its_nic() {
    let (sighted, blind) = (run(paced()).counters(), run(blind(&paced())).counters());
    assert_eq!(sighted.packet_hops, blind.packet_hops);
    // Of 12 000 packets; the first ones leave at the line's rate.
    assert!(sighted.events + 8_000 < blind.events, "{} {}", sighted.events, blind.events);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_nics_foresee_changes_nothing(choice in choices(0..5, 1..2)) {
        let spec = NetworkSpec { incidents: vec![], ..build(&choice) };
        let (mut sighted, mut blind) = (Network::new(spec.clone()).unwrap(), Network::new(blind(&spec)).unwrap());
        while sighted.run(1 << 20) {}
        while blind.run(1 << 20) {}
        for flow in (0..spec.flows.len()).map(FlowId::from) {
            prop_assert_eq!(sighted.outcome(flow), blind.outcome(flow), "flow {}", flow.0);
        }
        prop_assert_eq!(sighted.pauses(), blind.pauses());
        prop_assert_eq!(sighted.deadlocks(), blind.deadlocks());
        prop_assert_eq!(sighted.memory_peaks(), blind.memory_peaks());
        for port in (0..sighted.ports().len()).map(PortId::from) {
            let (a, b) = (sighted.totals(port), blind.totals(port));
            prop_assert_eq!((a.packets, a.bytes, a.max_queue, a.dropped), (b.packets, b.bytes, b.max_queue, b.dropped));
        }
        let first = sighted.probes().queues.iter().zip(&blind.probes().queues).find(|(a, b)| a != b);
        prop_assert_eq!(first, None);
        prop_assert_eq!(sighted.take_recorded(true), blind.take_recorded(true));
    }
}
