use super::*;
use proptest::prelude::*;
use thalweg_units::Span;
use thalweg_wire::Kind;

/// Packets of 1000 B; four of them are RTTbytes. Eight levels, of which three are for unscheduled packets.
fn spec() -> HomaSpec {
    HomaSpec {
        payload: 1000,
        header: 40,
        control: 40,
        rtt_bytes: 4000,
        levels: 8,
        cutoffs: vec![1000, 3000],
        overcommitment: 2,
        resend: Span::from_us(100),
    }
}
const US: fn(u64) -> Time = Time::from_us;

fn agent(spec: &HomaSpec) -> HomaAgent {
    HomaAgent::new(spec, Rate::from_gbps(10))
}
/// A packet of a message of so many packets has come, by which `received` have.
fn data(a: &mut HomaAgent, spec: &HomaSpec, at: Time, flow: u32, packets: u64, received: u64) {
    let packet = Packet { flow: FlowId(flow), payload: 1000, ..Packet::default() };
    let side = Side::Message(Message::Length { size: packets * 1000 });
    let (side, end) = (Some(&side), End::Destination);
    a.on_packet(spec, at, Came { packet: &packet, side, end, arrived: received * 1000 });
}
/// (flow, packet granted to, level) of every grant that is due.
fn grants(a: &mut HomaAgent, spec: &HomaSpec) -> Vec<(u32, u64, u8)> {
    let (mut packet, mut side) = (Packet::default(), Side::Empty);
    let next = || {
        let answer = a.poll_transmit(spec, US(0), &mut packet, &mut side);
        (answer == Transmit::Packet).then_some((packet, side))
    };
    std::iter::from_fn(next)
        .map(|(p, side)| {
            assert_eq!((p.kind, p.wire, p.class, p.rank), (Kind::Control, 40, 0, 0));
            let Some(&Message::Grant { offset, level, .. }) = side.message() else { panic!("a grant") };
            (p.flow.0, offset / 1000, level)
        })
        .collect()
}

#[test]
fn each_packet_brings_its_message_the_next_grant_at_the_lowest_level() {
    let (spec, mut a) = (spec(), agent(&spec()));
    data(&mut a, &spec, US(0), 1, 7, 1);
    assert_eq!(grants(&mut a, &spec), [(1, 5, 7)]);
    data(&mut a, &spec, US(1), 1, 7, 2);
    data(&mut a, &spec, US(2), 1, 7, 3);
    data(&mut a, &spec, US(3), 1, 7, 4);
    assert_eq!(grants(&mut a, &spec), [(1, 6, 7), (1, 7, 7)], "and no more than there is");
}

#[test]
fn what_leaves_unscheduled_needs_no_grants() {
    let (spec, mut a) = (spec(), agent(&spec()));
    data(&mut a, &spec, US(0), 1, 4, 1);
    assert!(grants(&mut a, &spec).is_empty() && a.timer(&spec).is_none());
}

#[test]
fn the_shorter_message_takes_the_higher_level_and_the_longer_one_the_lowest() {
    let (spec, mut a) = (spec(), agent(&spec()));
    data(&mut a, &spec, US(0), 1, 100, 1);
    data(&mut a, &spec, US(1), 2, 10, 1);
    assert_eq!(grants(&mut a, &spec), [(1, 5, 7), (2, 5, 6)]);
    data(&mut a, &spec, US(2), 1, 100, 2);
    assert_eq!(grants(&mut a, &spec), [(1, 6, 7)]);
}

#[test]
fn no_more_messages_than_the_overcommitment_are_granted_to_and_the_next_one_when_one_is_through() {
    let (spec, mut a) = (spec(), agent(&spec()));
    data(&mut a, &spec, US(0), 1, 100, 1);
    data(&mut a, &spec, US(1), 2, 6, 1);
    data(&mut a, &spec, US(2), 3, 50, 1);
    assert_eq!(grants(&mut a, &spec), [(1, 5, 7), (2, 5, 6), (3, 5, 7)], "3 goes before 1");
    data(&mut a, &spec, US(3), 1, 100, 2);
    assert_eq!(grants(&mut a, &spec), [], "1 is the third");
    data(&mut a, &spec, US(4), 2, 6, 2);
    // 2 is granted to its end: 1 is the second, and two packets of it have come.
    assert_eq!(grants(&mut a, &spec), [(2, 6, 6), (1, 6, 7)]);
}

#[test]
fn more_messages_than_levels_share_the_lowest() {
    let spec = HomaSpec { overcommitment: 10, ..spec() };
    assert_eq!([0, 1, 4, 5, 6].map(|place| spec.scheduled_level(place, 7)), [3, 4, 7, 7, 7]);
    assert_eq!([0, 1].map(|place| spec.scheduled_level(place, 2)), [6, 7]);
    assert_eq!([1, 1000, 1001, 3000, 3001].map(|size| spec.unscheduled_level(size)), [0, 0, 1, 1, 2]);
    let one = HomaSpec { levels: 1, cutoffs: Vec::new(), ..spec };
    assert_eq!((one.scheduled_level(0, 3), one.scheduled_level(2, 3), one.unscheduled_level(9)), (0, 0, 0));
}

#[test]
fn the_grant_of_a_silent_message_is_repeated() {
    let (spec, mut a) = (spec(), agent(&spec()));
    data(&mut a, &spec, US(0), 1, 100, 1);
    data(&mut a, &spec, US(50), 2, 10, 1);
    assert_eq!(grants(&mut a, &spec).len(), 2);
    assert_eq!(a.timer(&spec), Some(US(100)));
    a.on_timer(&spec, US(100));
    assert_eq!((grants(&mut a, &spec), a.timer(&spec)), (vec![(1, 5, 7)], Some(US(150))));
    a.on_over(&spec, US(120), FlowId(1), End::Destination);
    a.on_over(&spec, US(120), FlowId(2), End::Destination);
    assert_eq!(a.timer(&spec), None);
}

#[test]
fn of_a_source_s_messages_the_one_with_the_least_to_send_goes_first() {
    let a = agent(&spec());
    assert!(a.rank(FlowId(1), 500) < a.rank(FlowId(0), 600));
}

proptest! {
    /// §3.3 to §3.5, whatever comes in which order: never more than RTTbytes (and a packet's rest) granted
    /// beyond what was received, never to a message behind the first ones, at scheduled levels only; and all
    /// is granted in the end.
    #[test]
    fn grants_never_exceed_the_rules(
        sizes in prop::collection::vec(1u64..30, 1..8), order in prop::collection::vec(0usize..8, 0..200)
    ) {
        let (spec, mut a) = (spec(), agent(&spec()));
        let mut received = vec![0; sizes.len()];
        let mut granted: Vec<u64> = sizes.iter().map(|size| 4.min(*size)).collect();
        let everything = (0..sizes.len()).cycle().take(300 * sizes.len());
        for message in order.into_iter().map(|i| i % sizes.len()).chain(everything) {
            if received[message] == granted[message] {
                continue;
            }
            received[message] += 1;
            data(&mut a, &spec, US(1), message as u32, sizes[message], received[message]);
            if received[message] == sizes[message] {
                a.on_over(&spec, US(1), FlowId(message as u32), End::Destination);
            }
            for (flow, to, level) in grants(&mut a, &spec) {
                let flow = flow as usize;
                prop_assert!(to > granted[flow] && to <= (received[flow] + 4).min(sizes[flow]));
                prop_assert!((3..8).contains(&level));
                let left = |i: usize| (sizes[i] - received[i], i);
                let before = |i: &usize| received[*i] > 0 && granted[*i] < sizes[*i] && left(*i) < left(flow);
                prop_assert!((0..sizes.len()).filter(before).count() < 2, "{flow} is not among the first");
                granted[flow] = to;
            }
        }
        prop_assert_eq!(received, sizes);
    }
}
