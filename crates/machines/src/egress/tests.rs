//! The port by hand; against a FIFO written down from scratch; and laws for every order, stage and link.

use super::*;
use crate::link::{BatchedSpec, LinkSpec, LossSpec, Trace, TracedSpec, TransmitterSpec};
use crate::pause::Posted;
use crate::schedule::tests::laws;
use crate::schedule::{Discipline, DisciplineSpec, Limit, OrderSpec, priority};
use crate::stage::{MarkAt, StageSpec, abc, codel, red_ecn, step_ecn};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use thalweg_units::notation::Length;
use thalweg_units::{Bytes, FlowId, HostId, Rate, Span};
use thalweg_wire::{Classes, Ecn, Frame, IntHop, IntStack, Kind};

mod oracle;

/// 8 Gb/s: a byte lasts exactly 1 ns.
const RATE: Rate = Rate::from_gbps(8);
const NS: fn(u64) -> Time = Time::from_ns;

#[derive(Clone, Default)]
struct Pool(Vec<(Packet, Side)>);

impl Pool {
    fn add(&mut self, packet: Packet) -> Handle {
        self.0.push((packet, Side::Int(IntStack::default())));
        Handle(self.0.len() as u32 - 1)
    }
}
impl Packets for Pool {
    fn packet(&mut self, handle: Handle) -> &mut Packet {
        &mut self.0[handle.0 as usize].0
    }
    fn headers(&mut self, handle: Handle) -> (&mut Packet, &mut Side) {
        let (packet, side) = &mut self.0[handle.0 as usize];
        (packet, side)
    }
}

fn fifo(limit: Limit) -> DisciplineSpec {
    DisciplineSpec {
        order: OrderSpec::fifo(),
        limit,
        front: Vec::new(),
        stage: StageSpec::tail_drop(),
        preemptive: false,
    }
}
fn spec(queue: DisciplineSpec) -> EgressSpec {
    let link = LinkSpec::fixed(RATE, Span::from_us(1));
    EgressSpec {
        link,
        back: RATE,
        queue,
        stages: vec![],
        control_first: false,
        pause_control: false,
        frame_wire: 64,
    }
}
fn data(wire: u32) -> Packet {
    Packet { wire, ecn: Ecn::Ect0, ..Packet::default() }
}

/// What happens at a port, and what it does.
#[derive(Clone, Copy, Debug)]
enum Input {
    Packet(Packet),
    Frame(Frame),
    Post(Frame),
}

/// A port and its packets, run as a simulator would.
#[derive(Clone)]
struct Run {
    port: Egress,
    pool: Pool,
    next_poll: Option<Time>,
    /// (begun, until, what, arrives)
    sent: Vec<(Time, Time, Sent, Option<Time>)>,
    dropped: Vec<(Time, Handle)>,
}

impl Run {
    fn new(spec: &EgressSpec) -> Self {
        let port = Egress::new(spec, 5, 0).unwrap();
        Self { port, pool: Pool::default(), next_poll: None, sent: vec![], dropped: vec![] }
    }

    /// Everything that is due up to `until`, as of its own instant.
    fn advance(&mut self, until: Time) {
        while let Some(at) = [self.next_poll, self.port.wake()].into_iter().flatten().min()
            && at < until
        {
            self.at(at, &[]);
        }
    }

    /// Inputs at one instant, and then the port's decisions.
    fn at(&mut self, now: Time, inputs: &[Input]) {
        let mut out = vec![];
        if self.port.wake().is_some_and(|at| at <= now) {
            self.port.tick(now);
            assert!(self.port.wake().is_none_or(|at| at > now));
        }
        for input in inputs {
            match *input {
                Input::Packet(packet) => {
                    let handle = self.pool.add(packet);
                    let arrived = self.port.arrive(now, handle, &mut self.pool, &mut out);
                    match arrived {
                        Arrived::Admitted => assert!(out.is_empty()),
                        Arrived::PushedOut => assert!(!out.is_empty()),
                        Arrived::Trimmed { handle, cut } => {
                            assert!(out.is_empty() && cut > 0 && self.pool.packet(handle).is_trimmed());
                        }
                        // A victim may turn out to be the packet itself, after others were.
                        Arrived::Dropped => {}
                    }
                    assert!(!out.contains(&handle));
                    if arrived == Arrived::Dropped {
                        out.push(handle);
                    }
                    self.dropped.extend(out.drain(..).map(|h| (now, h)));
                }
                Input::Frame(frame) => drop(self.port.frame(now, frame)),
                Input::Post(frame) => self.port.post(because(frame)),
            }
        }
        self.next_poll = loop {
            let poll = self.port.poll(now, &mut self.pool, &mut out);
            self.dropped.extend(out.drain(..).map(|h| (now, h)));
            match poll {
                Poll::Transmit { what, until, arrives } => self.sent.push((now, until, what, arrives)),
                Poll::Wait(at) => {
                    assert!(at > now);
                    break Some(at);
                }
                Poll::Idle => break None,
            }
        };
    }

    fn story(&mut self, inputs: &[(Time, Input)]) {
        let mut rest = inputs;
        while let Some((now, _)) = rest.first() {
            let same = rest.iter().take_while(|(at, _)| at == now).count();
            self.advance(*now);
            let batch: Vec<Input> = rest[..same].iter().map(|(_, input)| *input).collect();
            self.at(*now, &batch);
            rest = &rest[same..];
        }
    }

    /// (until, number) of the packets sent.
    fn left(&self) -> Vec<(u64, u32)> {
        let packet = |(_, until, what, _): &(Time, Time, Sent, Option<Time>)| match what {
            Sent::Packet(handle) => Some((until.ps() / 1000, handle.0)),
            Sent::Frame(_) => None,
        };
        self.sent.iter().filter_map(packet).collect()
    }
}

/// A frame with a cause that is to come back with it.
fn because(frame: Frame) -> Posted {
    Posted { frame, cause: Some(7) }
}

fn packets(at: u64, wires: &[u32]) -> Vec<(Time, Input)> {
    wires.iter().map(|wire| (NS(at), Input::Packet(data(*wire)))).collect()
}

#[test]
fn a_fifo_of_two_packets_sends_one_keeps_two_and_refuses_the_fourth() {
    let mut run = Run::new(&spec(fifo(Limit::Packets(2))));
    run.story(&packets(0, &[1000]));
    run.story(&packets(10, &[500, 100, 100]));
    run.advance(NS(9999));
    assert_eq!(run.left(), [(1000, 0), (1500, 1), (1600, 2)]);
    assert_eq!(run.dropped, [(NS(10), Handle(3))]);
    assert_eq!(run.sent[1].3, Some(NS(2500)), "a microsecond away");
    let totals = EgressTotals { arrived: 4, packets: 3, bytes: 1600, dropped: 1, ..EgressTotals::default() };
    assert_eq!((run.port.totals(), run.port.waiting()), (totals, 0));
}

#[test]
fn frames_go_first_then_control_packets_then_the_queue_and_a_pause_holds_the_queue_alone() {
    let mut run = Run::new(&EgressSpec { control_first: true, ..spec(fifo(Limit::Unlimited)) });
    let ack = Input::Packet(Packet { kind: Kind::Ack, ..data(60) });
    let xoff = Frame::Xoff { classes: Classes::one(0), hold: None };
    let reported = Frame::Xoff { classes: Classes::one(0), hold: Some(Span::from_us(7)) };
    run.story(&packets(0, &[1000, 1000]));
    run.story(&[(NS(5), ack), (NS(6), Input::Post(reported)), (NS(7), Input::Frame(xoff))]);
    run.story(&[(NS(3000), Input::Frame(Frame::Xon { classes: Classes::one(0) }))]);
    run.advance(NS(9999));
    let order: Vec<Sent> = run.sent.iter().map(|s| s.2).collect();
    let [a, b, c] = [0, 1, 2].map(|h| Sent::Packet(Handle(h)));
    assert_eq!(order, [a, Sent::Frame(because(reported)), c, b]);
    assert_eq!(run.sent.iter().map(|s| s.1).collect::<Vec<_>>(), [1000, 1064, 1124, 4000].map(NS));
    assert_eq!((run.port.totals().frames, run.port.paused().lasted(NS(9999))), (1, Span::from_ns(2993)));
}

#[test]
fn a_pause_can_hold_control_packets_and_a_frame_takes_the_place_of_the_one_it_contradicts() {
    let mut run =
        Run::new(&EgressSpec { control_first: true, pause_control: true, ..spec(fifo(Limit::Unlimited)) });
    let ack = Input::Packet(Packet { kind: Kind::Ack, ..data(60) });
    let (xoff, xon) =
        (Frame::Xoff { classes: Classes::ALL, hold: None }, Frame::Xon { classes: Classes::ALL });
    run.story(&packets(0, &[1000]));
    run.story(&[
        (NS(5), Input::Post(xoff)),
        (NS(6), Input::Post(xon)),
        (NS(7), ack),
        (NS(8), Input::Frame(xoff)),
    ]);
    run.story(&[(NS(5000), Input::Frame(xon))]);
    run.advance(NS(9999));
    let sent: Vec<(Time, Sent)> = run.sent.iter().map(|s| (s.1, s.2)).collect();
    let [a, b] = [0, 1].map(|h| Sent::Packet(Handle(h)));
    assert_eq!(sent, [(NS(1000), a), (NS(1064), Sent::Frame(because(xon))), (NS(5060), b)]);
}

#[test]
fn a_port_that_is_drained_gives_up_what_is_paused_too_and_has_sent_none_of_it() {
    let queue = DisciplineSpec { order: priority::Params::from(3).into(), ..fifo(Limit::Unlimited) };
    let mut run = Run::new(&EgressSpec { control_first: true, ..spec(queue) });
    let ack = Input::Packet(Packet { kind: Kind::Ack, ..data(60) });
    run.story(&[(NS(0), Input::Frame(Frame::Xoff { classes: Classes::one(0), hold: None }))]);
    run.story(&packets(1, &[100, 100]));
    run.story(&[(NS(2), Input::Packet(Packet { class: 1, ..data(50) })), (NS(3), ack)]);
    run.story(&packets(4, &[100]));
    let (mut queue, mut control) = (vec![], vec![]);
    run.port.drain(NS(10), &mut run.pool, &mut queue);
    run.port.drain_control(&mut control);
    assert_eq!((queue.len(), control, run.port.waiting()), (3, vec![Handle(3)], 0));
    let totals = EgressTotals { arrived: 5, packets: 1, bytes: 50, dropped: 4, ..EgressTotals::default() };
    assert_eq!(run.port.totals(), totals);
}

#[test]
fn a_class_that_is_paused_lets_the_others_pass_and_goes_on_when_its_quanta_are_over() {
    let queue = DisciplineSpec { order: priority::Params::from(3).into(), ..fifo(Limit::Unlimited) };
    let mut run = Run::new(&spec(queue));
    let class = |class| Input::Packet(Packet { class, ..data(100) });
    let xoff = Frame::Xoff { classes: Classes::one(1), hold: Some(Span::from_ns(1000)) };
    run.story(&[(NS(0), Input::Frame(xoff)), (NS(0), class(1)), (NS(0), class(2))]);
    assert!(run.port.queue().packets() == 1 && run.port.queue().is_held());
    run.story(&[(NS(500), class(1)), (NS(600), class(0))]);
    run.advance(NS(9999));
    assert_eq!(run.left(), [(100, 1), (700, 3), (1100, 0), (1200, 2)]);
    // Queue by queue, and as a bitmap.
    let queue = Frame::PauseQueue { queue: 2 };
    run.story(&[(NS(10_000), Input::Frame(queue)), (NS(10_000), class(2)), (NS(10_000), class(1))]);
    run.story(&[(NS(20_000), Input::Frame(Frame::Bitmap([1].into_iter().collect())))]);
    run.advance(NS(99_999));
    assert_eq!(run.left()[4..], [(10_100, 5), (20_100, 4)]);
}

#[test]
fn telemetry_and_marks_are_written_as_a_packet_leaves() {
    let threshold = Length::Packets(1);
    let step = step_ecn::Params { threshold, at: MarkAt::Departure, include_self: false }.into();
    let mut run =
        Run::new(&EgressSpec { stages: vec![StageSpec::int(), step], ..spec(fifo(Limit::Unlimited)) });
    run.story(&packets(0, &[1000, 500, 100]));
    run.advance(NS(9999));
    let hop = |i: usize| match run.pool.0[i].1 {
        Side::Int(stack) => stack.as_slice()[0],
        other => panic!("{other:?}"),
    };
    let rate = RATE;
    assert_eq!(hop(0), IntHop { at: NS(0), tx_bytes: 0, queue: 600, rate });
    assert_eq!(hop(1), IntHop { at: NS(1000), tx_bytes: 1000, queue: 100, rate });
    assert_eq!(hop(2), IntHop { at: NS(1500), tx_bytes: 1500, queue: 0, rate });
    let marked: Vec<bool> = run.pool.0.iter().map(|(p, _)| p.ecn == Ecn::Ce).collect();
    assert_eq!((marked, run.port.totals().marked), (vec![true, true, false], 2));
}

#[test]
fn a_batch_leaves_together_and_what_comes_meanwhile_goes_with_the_next() {
    let (overhead, contention) = (Span::from_ns(500), Span::ZERO);
    let batched = BatchedSpec { overhead, contention, ..BatchedSpec::of(RATE, 2) };
    let link = LinkSpec { transmitter: batched.into(), ..LinkSpec::fixed(RATE, Span::ZERO) };
    let mut run = Run::new(&EgressSpec { link, ..spec(fifo(Limit::Unlimited)) });
    run.story(&packets(0, &[1000, 200, 300]));
    run.story(&packets(100, &[400]));
    run.advance(NS(9999));
    assert_eq!(run.left(), [(1700, 0), (1700, 1), (2900, 2), (2900, 3)]);
}

#[test]
fn a_batch_for_one_user_ends_where_the_next_packet_is_for_another() {
    let (overhead, contention) = (Span::from_ns(500), Span::ZERO);
    let batched = BatchedSpec { overhead, contention, one_user: true, ..BatchedSpec::of(RATE, 3) };
    let link = LinkSpec { transmitter: batched.into(), ..LinkSpec::fixed(RATE, Span::ZERO) };
    let story: Vec<_> = [7, 7, 9, 7, 7, 7, 7]
        .map(|dst| (Time::ZERO, Input::Packet(Packet { dst: HostId(dst), ..data(1000) })))
        .to_vec();
    let mut run = Run::new(&EgressSpec { link: link.clone(), ..spec(fifo(Limit::Unlimited)) });
    run.story(&story);
    run.advance(NS(99_999));
    let left = [(2500, 0), (2500, 1), (4000, 2), (7500, 3), (7500, 4), (7500, 5), (9000, 6)];
    assert_eq!(run.left(), left);
    let queue = DisciplineSpec { order: OrderSpec::lifo(), ..fifo(Limit::Unlimited) };
    assert!(
        Egress::new(&EgressSpec { link, ..spec(queue) }, 1, 0)
            .unwrap_err()
            .to_string()
            .contains("which packet is next")
    );
}

/// 8 Gb/s and 500 ns for every batch of two.
#[test]
fn block_acks_yield_the_rate_of_full_batches() {
    let (overhead, contention) = (Span::from_ns(500), Span::ZERO);
    let batched = BatchedSpec { overhead, contention, ..BatchedSpec::of(RATE, 2) };
    let link = LinkSpec { transmitter: batched.into(), ..LinkSpec::fixed(RATE, Span::ZERO) };
    let stage = abc::Params::default().into();
    let mut run = Run::new(&EgressSpec { link, ..spec(DisciplineSpec { stage, ..fifo(Limit::Unlimited) }) });
    assert_eq!(run.port.estimate(), Some(Rate::ZERO));
    run.story(&packets(0, &[1000, 1000]));
    run.advance(NS(9999));
    // 2000 B in 2.5 us.
    assert_eq!(run.port.estimate(), Some(Rate::from_bps(6_400_000_000)));
    run.story(&packets(10_000, &[1000]));
    // The block ACK comes 9 us later; with another packet it would have been 10: 1.6 Gb/s, weighed with 9 against 2.5.
    let found = run.port.estimate().unwrap().bps();
    assert!(found.abs_diff(2_643_478_260) < 10, "30.4 / 11.5 Gb/s, not {found}");
    let plain = EgressSpec { link: LinkSpec::fixed(RATE, Span::ZERO), ..spec(fifo(Limit::Unlimited)) };
    assert_eq!(Run::new(&plain).port.estimate(), None);
}

#[test]
fn on_a_lossy_link_packets_take_their_time_and_do_not_arrive() {
    let loss = Some(LossSpec::Independent { probability: 1.0 });
    let link = LinkSpec { loss, ..LinkSpec::fixed(RATE, Span::ZERO) };
    let mut run = Run::new(&EgressSpec { link, ..spec(fifo(Limit::Unlimited)) });
    run.story(&packets(0, &[1000, 1000]));
    run.advance(NS(9999));
    assert_eq!(run.left(), [(1000, 0), (2000, 1)]);
    assert!(run.sent.iter().all(|s| s.3.is_none()));
}

#[test]
fn opportunities_with_nothing_to_send_are_counted_and_those_of_a_paused_port_too() {
    let trace = Arc::new(Trace::from_ms(vec![1, 2, 3]).unwrap());
    let transmitter = TransmitterSpec::Traced(TracedSpec { trace, bytes: 1504 });
    let link = LinkSpec { transmitter, ..LinkSpec::fixed(RATE, Span::ZERO) };
    let mut run = Run::new(&EgressSpec { link, ..spec(fifo(Limit::Unlimited)) });
    run.story(&packets(1_500_000, &[1000]));
    let xoff = Frame::Xoff { classes: Classes::one(0), hold: None };
    run.story(&[(NS(3_500_000), Input::Frame(xoff))]);
    run.story(&packets(3_500_001, &[1504]));
    run.story(&[(NS(5_500_000), Input::Frame(Frame::Xon { classes: Classes::one(0) }))]);
    run.advance(NS(6_500_000));
    assert_eq!(run.left(), [(2_000_000, 0), (6_000_000, 1)]);
    // 1504 at 1 ms, 504 at 2 ms, 1504 each at 3 (twice it begins there), 4 and 5 ms.
    assert_eq!(run.port.totals().unused, 1504 + 504 + 3 * 1504);
}

#[test]
fn an_order_that_interrupts_transmissions_is_refused() {
    let queue = DisciplineSpec { order: OrderSpec::lifo(), preemptive: true, ..fifo(Limit::Unlimited) };
    assert!(Egress::new(&spec(queue), 1, 0).unwrap_err().to_string().contains("interrupt"));
}

fn links() -> Vec<LinkSpec> {
    let trace = Arc::new(Trace::from_ms(vec![0, 0, 1, 1, 1, 3]).unwrap());
    let (overhead, contention) = (Span::from_us(50), Span::from_us(30));
    let plain = LinkSpec::fixed(Rate::from_mbps(40), Span::from_us(3));
    let batched = BatchedSpec { overhead, contention, ..BatchedSpec::of(Rate::from_mbps(65), 3) };
    let apart = BatchedSpec { one_user: true, ..batched.clone() };
    vec![
        plain.clone(),
        LinkSpec { transmitter: TransmitterSpec::Traced(TracedSpec { trace, bytes: 1504 }), ..plain.clone() },
        LinkSpec { transmitter: batched.into(), ..plain.clone() },
        LinkSpec { transmitter: apart.into(), ..plain.clone() },
        LinkSpec { loss: Some(LossSpec::Independent { probability: 0.2 }), ..plain },
    ]
}

fn stories() -> impl Strategy<Value = Vec<(Time, Input)>> {
    let packet =
        (0u32..6, 0u8..4, 0u64..12, any::<bool>(), 0usize..4).prop_map(|(flow, class, rank, ack, wire)| {
            let kind = if ack { Kind::Ack } else { Kind::Data };
            let wire = [40, 100, 576, 1500][wire];
            let (flow, rank, dst) = (FlowId(flow), rank as i64 * 2000, HostId(flow % 2));
            let payload = wire - 40;
            Input::Packet(Packet { flow, dst, class, rank, kind, payload, input: class, ..data(wire) })
        });
    let hold = Some(Span::from_us(400));
    let frame = prop_oneof![
        (0u8..4).prop_map(|class| Frame::Xoff { classes: Classes::one(class), hold: None }),
        (0u8..4).prop_map(move |class| Frame::Xoff { classes: Classes::one(class), hold }),
        (0u8..4).prop_map(|class| Frame::Xon { classes: Classes::one(class) }),
        (0u16..4).prop_map(|queue| Frame::PauseQueue { queue }),
        (0u16..4).prop_map(|queue| Frame::ResumeQueue { queue }),
        prop::collection::vec(0u16..4, 0..3).prop_map(|q| Frame::Bitmap(q.into_iter().collect())),
    ];
    let input = prop_oneof![
        12 => packet,
        2 => frame.clone().prop_map(Input::Frame),
        1 => frame.prop_map(Input::Post),
    ];
    prop::collection::vec((0u64..400, input), 1..80).prop_map(|steps| {
        let mut now = Time::ZERO;
        let mut step = |(us, input): (u64, Input)| {
            // Bursts: every other gap is none.
            now += Span::from_us(if us % 2 == 0 { 0 } else { us });
            (now, input)
        };
        steps.into_iter().map(&mut step).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// For every order, limit, stage and link, with pauses: no packet is lost, doubled or invented;
    /// transmissions do not overlap; what may leave does; a port that is cut anywhere, saved and loaded goes
    /// on as before.
    #[test]
    fn packets_are_conserved_whatever_the_port_is_made_of(
        which in any::<[prop::sample::Index; 4]>(),
        outside in any::<bool>(),
        control_first in any::<bool>(),
        inputs in stories(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (orders, limits, markings, links) = (laws::orders(), laws::limits(), laws::markings(), links());
        let order = orders[which[0].index(orders.len())].clone();
        let order = if links[which[3].index(links.len())].is_for_one_user() { OrderSpec::fifo() } else { order };
        let limit = limits[which[1].index(limits.len())];
        let marking = markings[which[2].index(markings.len())];
        let link = links[which[3].index(links.len())].clone();
        // What a queue does not take may stand in front of it.
        let (stage, stages) = match outside || !laws::takes(&order, &marking) {
            true => (StageSpec::tail_drop(), vec![StageSpec::int(), marking]),
            false => (marking, vec![]),
        };
        let queue = DisciplineSpec { order, limit, front: Vec::new(), stage, preemptive: false };
        let one_user = link.is_for_one_user();
        let spec = EgressSpec { link, back: RATE, queue, stages, control_first, pause_control: false, frame_wire: 64 };
        let mut run = Run::new(&spec);
        let cut = cut.index(inputs.len());
        run.story(&inputs[..cut]);
        let mut resumed = Run {
            port: postcard::from_bytes(&postcard::to_allocvec(&run.port).unwrap()).unwrap(),
            ..run.clone()
        };
        let end = Time::from_ms(500);
        for run in [&mut run, &mut resumed] {
            run.story(&inputs[cut..]);
            run.advance(end);
        }
        prop_assert_eq!(&run.sent, &resumed.sent);
        prop_assert_eq!(&run.dropped, &resumed.dropped);

        let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
        run.left().iter().for_each(|(_, h)| *seen.entry(*h).or_default() += 1);
        run.dropped.iter().for_each(|(_, h)| *seen.entry(h.0).or_default() += 1);
        prop_assert!(seen.values().all(|n| *n == 1), "sent or dropped twice");
        let totals = run.port.totals();
        let arrived = inputs.iter().filter(|(_, i)| matches!(i, Input::Packet(_))).count() as u64;
        prop_assert_eq!((totals.arrived, totals.packets), (arrived, run.left().len() as u64));
        prop_assert_eq!(totals.dropped, run.dropped.len() as u64);
        prop_assert_eq!(arrived, totals.packets + totals.dropped + u64::from(run.port.waiting()));
        let bytes: u64 = run.left().iter().map(|(_, h)| u64::from(run.pool.0[*h as usize].0.wire)).sum();
        prop_assert_eq!(totals.bytes, bytes);
        for pair in run.sent.windows(2) {
            prop_assert!(pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1 || pair[0].1 <= pair[1].0, "they overlap");
        }
        for pair in run.sent.windows(2).filter(|pair| one_user && pair[0].1 == pair[1].1) {
            if let (Sent::Packet(a), Sent::Packet(b)) = (pair[0].2, pair[1].2) {
                prop_assert_eq!(run.pool.0[a.0 as usize].0.dst, run.pool.0[b.0 as usize].0.dst);
            }
        }
        if run.port.waiting() > 0 {
            prop_assert!(run.port.paused().any(), "it rests although it could send");
        }
        // Let go, everything leaves.
        let all = (0..8).map(|class| (end, Input::Frame(Frame::Xon { classes: Classes::one(class) })));
        let none = (end, Input::Frame(Frame::Bitmap(Default::default())));
        run.story(&all.chain([none]).collect::<Vec<_>>());
        run.advance(Time::from_ms(1500));
        prop_assert_eq!(run.port.waiting(), 0);
    }

    /// A stage does the same in front of the queue and behind it as inside it, the limit apart.
    #[test]
    fn a_stage_in_the_row_is_the_stage_in_the_queue(which in 0..3usize, at_departure in any::<bool>(), inputs in stories()) {
        let at = if at_departure { MarkAt::Departure } else { MarkAt::Arrival };
        let stage = match which {
            0 => StageSpec::from(codel::Params { target: Span::from_us(200), interval: Span::from_us(900), mtu: Bytes::new(600), ..codel::Params::default() }),
            1 => {
                let threshold = Length::Bytes(Bytes::new(2000));
                step_ecn::Params { threshold, at, include_self: false }.into()
            }
            _ => {
                let (min, max) = (Bytes::new(500), Bytes::new(700)); // above 700 B certainly: the streams differ
                red_ecn::Params { min, max, max_probability: 0.0, at }.into()
            }
        };
        let link = LinkSpec::fixed(Rate::from_mbps(40), Span::ZERO);
        let inside = EgressSpec { link: link.clone(), ..spec(DisciplineSpec { stage, ..fifo(Limit::Unlimited) }) };
        let outside = EgressSpec { link, stages: vec![stage], ..spec(fifo(Limit::Unlimited)) };
        let [inside, outside] = [inside, outside].map(|spec| {
            let mut run = Run::new(&spec);
            run.story(&inputs);
            run.advance(Time::from_ms(500));
            run
        });
        prop_assert_eq!(inside.sent, outside.sent);
        prop_assert_eq!(inside.dropped, outside.dropped);
        let marks = |pool: &Pool| pool.0.iter().map(|(p, _)| p.ecn == Ecn::Ce).collect::<Vec<_>>();
        prop_assert_eq!(marks(&inside.pool), marks(&outside.pool));
    }
}
