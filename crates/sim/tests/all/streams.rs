//! Messages back to back on one queue pair.
use crate::common::*;
use proptest::prelude::*;
use thalweg_machines::congestion::{ControllerSpec, aimd, fixed};
use thalweg_machines::schedule::Limit;
use thalweg_machines::transport::*;
use thalweg_net::spec::*;
use thalweg_sim::FlowEnd;
use thalweg_units::{Bytes, FlowId, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(10);
const DELAY: Span = Span::from_us(1);

/// Packets of 1000 B in 1250 B on the wire: 1 us; ACKs of 125 B.
pub(crate) fn queue_pair(recovery: Recovery, controller: ControllerSpec) -> TransportSpec {
    TransportSpec::Rdma(RdmaSpec {
        controller,
        payload: 1000,
        header: 250,
        extra_header: 0,
        answers: AnswerSpec { ack: 125, nack: 125 },
        recovery,
        cap: Some(60),
        acks: RdmaAcks::PerPacket,
        timer: RdmaTimer::Fixed { value: Span::from_us(200) },
        timer_restart: TimerRestart::Progress,
        fetch_delay: Span::ZERO,
        rank: Rank::None,
        notification: Notification::Off,
        rtt: RoundTrips {
            segment: 1,
            less_serialization: false,
            nacks: false,
            resent: false,
            noise: Span::ZERO,
        },
        segments: None,
        path_values: None,
    })
}

const ROCE: Recovery = Recovery::GoBackN { repeat_nack: None };
const IRN: Recovery = Recovery::Irn { sack: true, nack_threshold: 1, enter_on_advance: false };

fn plain() -> TransportSpec {
    queue_pair(ROCE, ControllerSpec::Fixed(fixed::Params::default()))
}

fn message(size: u64, start_ns: u64) -> FlowSpec {
    FlowSpec { connection: 0, back_to_back: true, ..flow(0, 1, size, Time::from_ns(start_ns)) }
}

fn ns(at: Option<Time>) -> u64 {
    at.expect("it happened").ps() / 1000
}

#[test]
fn a_message_follows_the_one_before_without_a_gap() {
    // A store-and-forward switch between two links: the second begins with the first packet at 2 us and has
    // no gap either.
    let flows = vec![message(2500, 0), message(300, 0), message(1000, 3_000), message(1000, 20_000)];
    let sim = run(chain(&[(RATE, DELAY), (RATE, DELAY)], plain(), flows));
    let outcome = |flow| sim.outcome(FlowId(flow));
    // Nothing limits the sender but the NIC, whose queue has wire for 1 + 1 + 0.6 us, then 0.44, then 1 us;
    // the last after a rest. Each begins when its first packet is on the link.
    let begun: Vec<u64> = (0..4).map(|flow| ns(outcome(flow).begun)).collect();
    assert_eq!(begun, [0, 2_600, 3_040, 20_000]);
    let received: Vec<u64> = (0..4).map(|flow| ns(outcome(flow).received)).collect();
    assert_eq!(received, [5_600, 6_040, 7_040, 24_000]);
    let back = 2 * (1_000 + 100);
    assert_eq!(ns(outcome(2).acked), 7_040 + back);
    for flow in 0..4 {
        let o = outcome(flow);
        assert_eq!((o.end, o.delivered), (FlowEnd::Completed, sim.spec().flows[flow as usize].size));
        assert_eq!(o.counts.sent, if flow == 0 { 6 } else { 0 }, "the first speaks for the connection");
    }
}

#[test]
fn one_after_the_other_waits_for_the_ack() {
    let flows = [0, 0].map(|at| FlowSpec { back_to_back: false, ..message(1000, at) });
    let sim = run(chain(&[(RATE, DELAY), (RATE, DELAY)], plain(), flows.to_vec()));
    assert_eq!(sim.outcome(FlowId(1)).begun, sim.outcome(FlowId(0)).acked);
}

#[test]
fn the_message_that_is_arriving_counts_as_far_as_it_has_come() {
    let mut spec =
        chain(&[(RATE, DELAY), (RATE, DELAY)], plain(), vec![message(1500, 0), message(100_000, 0)]);
    spec.stop.until = Time::from_us(20);
    let sim = run(spec);
    let [first, second] = [0, 1].map(|flow| sim.outcome(FlowId(flow)));
    assert_eq!((first.delivered, first.end), (1500, FlowEnd::Completed));
    // Two packets of 1 and 0.6 us before it on the wire (0.75 kB), 3 us from the first wire to the end of the second.
    assert_eq!((second.delivered, second.end), (15_000, FlowEnd::Censored));
}

#[test]
fn what_cannot_be_a_message_is_refused_by_name() {
    let refused = |transport: TransportSpec, flow: FlowSpec| match Network::new(chain(
        &[(RATE, DELAY)],
        transport,
        vec![flow],
    )) {
        Ok(_) => panic!("it was accepted"),
        Err(why) => why.to_string(),
    };
    assert!(
        refused(plain(), FlowSpec { size: u64::MAX, ..message(1, 0) }).contains("never ends is no message")
    );
    assert!(refused(plain(), FlowSpec { connection: u32::MAX, ..message(1, 0) }).contains("of its own"));
    let datagrams = udp(1000, UdpPace::Constant(RATE));
    assert!(refused(datagrams, message(1, 0)).contains("only queue pairs"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Queue pairs of several hosts through one lossy switch: every message arrives, in the order of its
    /// connection, and with the laws of the fabric checked at every event.
    #[test]
    fn every_message_arrives_in_the_order_of_its_connection(seed in any::<u64>(), back in any::<bool>()) {
        let mut flows = random_flows(seed, 60, 4, 9000, 200_000);
        for flow in &mut flows {
            flow.connection = flow.src.0 * 4 + flow.dst.0;
            flow.back_to_back = true;
        }
        let controller = ControllerSpec::Aimd(aimd::Params::default());
        let transport = queue_pair(if back { ROCE } else { IRN }, controller);
        let mut spec = star(4, RATE, DELAY, transport, flows);
        spec.disciplines[0].limit = Limit::Bytes(Bytes::new(6000));
        let sim = run_checked(spec, 1);
        let mut last = std::collections::BTreeMap::new();
        for (n, flow) in sim.spec().flows.iter().enumerate() {
            let outcome = sim.outcome(FlowId(n as u32));
            prop_assert_eq!((outcome.end, outcome.delivered), (FlowEnd::Completed, flow.size));
            let begun = outcome.begun.unwrap();
            prop_assert!(outcome.started.unwrap() <= begun && begun < outcome.received.unwrap());
            let before = last.insert(flow.connection, outcome.received.unwrap());
            prop_assert!(before.is_none_or(|before| before <= outcome.received.unwrap()));
        }
    }
}
