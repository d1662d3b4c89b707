//! What happens behind the decisions of an instant (agents' timers, flows that stop, pauses that expire):
//! every port has decided by then, those included that have no event for it.

use crate::common::*;
use crate::reference::{Choice, agree, build, choices, points};
use proptest::prelude::*;
use proptest::sample::Index;
use thalweg_machines::pause::PauseSpec;
use thalweg_machines::schedule::{OrderSpec, priority};
use thalweg_machines::transport::{FreeFor, HomaSpec, PhostSpec, TransportSpec, UdpPace};
use thalweg_net::spec::*;
use thalweg_units::{FlowId, Rate, Span, Time};

/// Timers of whole packet times, and of none.
fn phost(spacing: Span) -> TransportSpec {
    TransportSpec::Phost(PhostSpec {
        payload: 1460,
        header: 40,
        control: 40,
        free: 4,
        free_for: FreeFor::All,
        spacing: Some(spacing),
        window: 8,
        life: Some(Span::from_us(3)),
        patience: Some(Span::from_us(30)),
        again: Some(Span::from_us(12)),
        retry: Some(Span::from_us(100)),
        free_class: 1,
        token_class: 2,
    })
}

fn homa(resend: Span) -> TransportSpec {
    TransportSpec::Homa(HomaSpec {
        payload: 1440,
        header: 60,
        control: 60,
        rtt_bytes: 6_000,
        levels: 4,
        cutoffs: vec![3_000, 10_000],
        overcommitment: 2,
        resend,
    })
}

/// The same network with flows of an agent next to, or instead of, its own; some of its flows go on until
/// they are stopped.
fn later(choice: &Choice, agent: Index, mixed: bool, quanta: u16, stops: bool) -> NetworkSpec {
    let mut spec = build(choice);
    let us = Span::from_us;
    let agents = [phost(Span::from_ns(1200)), phost(us(1)), homa(us(20)), homa(us(7))];
    spec.transports.push(agent.get(&agents).clone());
    for (n, flow) in spec.flows.iter_mut().enumerate().filter(|(n, _)| !mixed || n % 2 == 0) {
        (flow.transport, flow.class) = (1, (n % 4) as u8);
    }
    for discipline in &mut spec.disciplines {
        discipline.order = OrderSpec::Priority(priority::Params::from(4));
    }
    if let Some(PauseSpec::Pfc(pfc)) = spec.inputs.as_mut().and_then(|inputs| inputs.pause.as_mut()) {
        pfc.quanta = (quanta > 0).then_some(quanta);
    }
    if stops {
        spec.transports.push(udp(1000, UdpPace::Constant(Rate::from_gbps(5))));
        for flow in spec.flows.iter_mut().step_by(5) {
            let until = flow.start.saturating_add(us(40));
            (flow.transport, flow.size, flow.until) = (2, u64::MAX, until);
        }
    }
    spec.stop.until = Time::from_ms(2);
    spec
}

/// pHost's tokens and Homa's grants are control packets, as is what a point reports of their flows.
#[test]
fn notices_of_points_are_neither_tokens_nor_grants() {
    let incast = (0..6).map(|src| flow(src, 6, 60_000, Time::ZERO)).collect::<Vec<_>>();
    for transport in [phost(Span::from_ns(1200)), homa(Span::from_us(20))] {
        let mut spec = star(7, Rate::from_gbps(10), Span::from_us(1), transport, incast.clone());
        spec.nic.order = NicOrder::RoundRobin;
        spec.control_first = true;
        let ends = |point| {
            let sim = run(NetworkSpec { point, ..spec.clone() });
            let ends: Vec<_> = (0..6).map(|f| sim.outcome(FlowId(f)).received).collect();
            (ends, sim.counters().packet_hops)
        };
        let (quiet, hops) = ends(None);
        for point in points() {
            let (reported, more) = ends(Some(point));
            assert!(more > hops, "nothing was said");
            for (flow, (quiet, reported)) in quiet.iter().zip(&reported).enumerate() {
                let (quiet, reported) = (quiet.expect("complete"), reported.expect("complete"));
                // Messages take their turn on the links of ACKs and tokens.
                let off = quiet.max(reported).since(quiet.min(reported));
                assert!(off < Span::from_us(20), "flow {flow}: {quiet}, notified {reported}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn short_cuts_change_nothing_for_what_acts_behind_decisions(
        choice in choices(0..5, 1..4), agent: Index, mixed: bool, quanta in prop_oneof![Just(0u16), 100u16..400], stops: bool,
    ) {
        agree(later(&choice, agent, mixed, quanta, stops))?;
    }
}
