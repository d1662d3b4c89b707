//! What every order obeys, whatever it is.

use super::*;
use std::collections::BTreeMap;

/// Every order, in the variants that differ most.
pub(crate) fn orders() -> Vec<OrderSpec> {
    OrderSpec::variants()
}

pub(crate) fn limits() -> [Limit; 5] {
    [
        Limit::Bytes(Bytes::new(12_000)),
        Limit::Packets(7),
        Limit::Packets(0),
        Limit::Bytes(Bytes::new(1500)),
        Limit::Unlimited,
    ]
}

/// Every stage that may stand inside a queue.
pub(crate) fn markings() -> Vec<StageSpec> {
    StageSpec::variants().into_iter().filter(|stage| !stage.needs().headers).collect()
}

#[derive(Clone, Debug, PartialEq)]
enum Event {
    In(Verdict, Vec<Handle>),
    Out(Option<(Handle, bool)>, Vec<Handle>),
}

/// A run that can be cut anywhere: the queue, the generator, and the instant are all it is.
#[derive(Clone)]
struct Run {
    queue: Queue,
    draw: Stream,
    now: Time,
    next: u32,
    waiting: BTreeMap<Handle, u32>,
    limit: Limit,
    /// Bytes of headers besides the limit.
    headers: u64,
    /// At departure, so far.
    dropped: usize,
}

impl Run {
    fn new(spec: &DisciplineSpec, seed: u64) -> Self {
        Self {
            queue: make(spec),
            draw: Stream::new(seed, "laws", 0),
            now: Time::ZERO,
            next: 0,
            waiting: BTreeMap::new(),
            limit: spec.limit,
            headers: spec.order.needs().trims.map_or(0, Bytes::get),
            dropped: 0,
        }
    }

    /// One random operation; checks the laws on the way.
    fn step(&mut self, shift: Span) -> Event {
        self.now += Span::from_ns(self.draw.below(1500));
        if self.queue.wake().is_some_and(|at| at <= self.now) {
            self.queue.on_tick(self.now);
            assert!(self.queue.wake().is_none_or(|at| at > self.now));
        }
        let mut out = vec![];
        // Phases that fill and phases that drain.
        let filling = self.next / 64 % 3 != 2;
        let event = if self.draw.below(10) < if filling { 7 } else { 3 } {
            let d = &mut self.draw;
            let packet = Packet {
                flow: FlowId(d.below(9) as u32 * 1_000_003),
                rank: d.below(12) as i64 * 2000 - 2000,
                class: d.below(5) as u8,
                input: d.below(70) as u8,
                wire: [40, 100, 576, 1500][d.below(4) as usize],
                kind: if d.below(5) == 0 { Kind::Ack } else { Kind::Data },
                ecn: [Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::NotEct][d.below(4) as usize],
                ..Packet::default()
            };
            let payload = packet.wire - 40;
            let packet = Packet { payload, ..packet };
            let handle = Handle(self.next);
            self.next += 1;
            let verdict = self.queue.enqueue(self.now + shift, &packet, handle, &mut out);
            if verdict != Verdict::Dropped {
                self.waiting.insert(handle, packet.wire);
            }
            for gone in &out {
                assert_ne!(*gone, handle, "an arriving packet that is refused is not listed");
                assert!(self.waiting.remove(gone).is_some(), "pushed out, but was not waiting");
            }
            if verdict == Verdict::Marked {
                assert_ne!(packet.ecn, Ecn::NotEct);
            }
            if let Verdict::Trimmed(cut) = verdict {
                assert!(self.headers > 0, "who trims says so");
                let before = self.waiting.insert(cut, 40).expect("who is trimmed waits");
                assert!(before > 40, "trimmed twice, or nothing to cut");
            }
            Event::In(verdict, out)
        } else {
            let served = self.queue.dequeue(self.now + shift, &mut out);
            assert_eq!(served.is_none(), self.waiting.is_empty(), "work-conserving");
            for gone in &out {
                assert!(self.waiting.remove(gone).is_some(), "dropped at departure, but was not waiting");
            }
            self.dropped += out.len();
            if let Some(served) = served {
                assert!(self.waiting.remove(&served.handle).is_some(), "left twice or never came");
            }
            Event::Out(served.map(|s| (s.handle, s.mark)), out)
        };
        assert_eq!(self.queue.packets() as usize, self.waiting.len());
        assert_eq!(self.queue.bytes(), self.waiting.values().map(|&w| u64::from(w)).sum::<u64>());
        assert_eq!(self.queue.is_empty(), self.waiting.is_empty());
        match self.limit {
            Limit::Bytes(most) => assert!(self.queue.bytes() <= most.get() + self.headers),
            Limit::Packets(most) => {
                assert!(u64::from(self.queue.packets()) <= u64::from(most) + self.headers / 40)
            }
            Limit::Unlimited => {}
        }
        event
    }

    /// Memory that it shares has no room: true if it has given something up.
    fn push_out(&mut self, keeps: bool) -> bool {
        let mut out = vec![];
        let gave = self.queue.push_out(self.now, Handle::NONE, &mut out);
        assert_eq!(gave, !keeps && !self.waiting.is_empty(), "an order that keeps what waits declares it");
        assert_eq!(gave, !out.is_empty());
        for gone in &out {
            assert!(self.waiting.remove(gone).is_some(), "pushed out, but was not waiting");
        }
        assert_eq!(self.queue.packets() as usize, self.waiting.len());
        assert_eq!(self.queue.bytes(), self.waiting.values().map(|&w| u64::from(w)).sum::<u64>());
        gave
    }
}

/// A queue of this order takes this stage.
pub(crate) fn takes(order: &OrderSpec, stage: &StageSpec) -> bool {
    order.needs().manages != Manages::Room || *stage == StageSpec::default() || stage.marks_leaving()
}

fn everywhere(law: impl Fn(&DisciplineSpec, u64)) {
    for order in orders() {
        for (i, limit) in limits().into_iter().enumerate() {
            let taken = markings().into_iter().enumerate().filter(|(_, stage)| takes(&order, stage));
            for (j, stage) in taken {
                let spec = DisciplineSpec {
                    order: order.clone(),
                    limit,
                    front: Vec::new(),
                    stage,
                    preemptive: false,
                };
                let seed = (i * 8 + j) as u64;
                let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| law(&spec, seed)));
                assert!(checked.is_ok(), "{order:?}, {limit:?}, {stage:?}");
            }
        }
    }
}

#[test]
fn a_queue_makes_room_for_others_packet_by_packet_and_goes_on() {
    everywhere(|spec, seed| {
        let keeps = spec.order.needs().keeps;
        let mut run = Run::new(spec, seed);
        for round in 0..12 {
            (0..60).for_each(|_| drop(run.step(Span::ZERO)));
            // Some of what waits, and at last all of it.
            let mut left = if round == 11 { usize::MAX } else { run.waiting.len() / 2 };
            while left > 0 && run.push_out(keeps) {
                left -= 1;
            }
        }
        assert!(keeps || run.queue.is_empty());
    });
}

#[test]
fn packets_and_bytes_are_conserved_and_the_limit_is_never_exceeded() {
    everywhere(|spec, seed| {
        let mut run = Run::new(spec, seed);
        for _ in 0..2000 {
            run.step(Span::ZERO);
        }
        let staged = spec.order.needs().manages != Manages::Everything;
        let may_drop = staged && matches!(spec.stage, StageSpec::Codel(_)) && spec.limit == Limit::Unlimited;
        assert!(run.dropped > 0 || !may_drop, "CoDel's way was never taken");
    });
}

#[test]
fn only_orders_that_foretell_name_the_next_packet() {
    everywhere(|spec, seed| {
        let mut run = Run::new(spec, seed);
        for _ in 0..600 {
            let head = run.queue.head();
            assert_eq!(head.is_some(), spec.order.needs().foretells && !run.waiting.is_empty());
            if let (Some(head), Event::Out(served, dropped)) = (head, run.step(Span::ZERO)) {
                assert_eq!(Some(head), dropped.first().copied().or(served.map(|(handle, _)| handle)));
            }
        }
    });
}

#[test]
fn the_same_inputs_give_the_same_outputs_and_shifting_every_time_changes_nothing() {
    everywhere(|spec, seed| {
        let ticks = make(spec).wake().is_some();
        let (mut a, mut b, mut later) = (Run::new(spec, seed), Run::new(spec, seed), Run::new(spec, seed));
        for _ in 0..600 {
            let event = a.step(Span::ZERO);
            assert_eq!(event, b.step(Span::ZERO));
            // Ticks stay on their own grid; they are not shifted, and a map does not depend on the time.
            let shift = if ticks { Span::ZERO } else { Span::from_us(77_777) };
            assert_eq!(event, later.step(shift));
        }
    });
}

#[test]
fn a_clone_and_a_saved_and_loaded_queue_continue_identically() {
    everywhere(|spec, seed| {
        let mut run = Run::new(spec, seed);
        for _ in 0..8 {
            for _ in 0..(37 + seed) {
                run.step(Span::ZERO);
            }
            let mut copy = run.clone();
            let mut loaded = run.clone();
            let bytes = postcard::to_allocvec(&run.queue).unwrap();
            loaded.queue = postcard::from_bytes(&bytes).unwrap();
            for _ in 0..100 {
                let event = run.step(Span::ZERO);
                assert_eq!(event, copy.step(Span::ZERO));
                assert_eq!(event, loaded.step(Span::ZERO));
            }
            assert_eq!(postcard::to_allocvec(&loaded.queue), postcard::to_allocvec(&run.queue));
        }
    });
}

#[test]
fn an_empty_queue_takes_whatever_fits_exactly() {
    for order in orders() {
        for limit in [Limit::Bytes(Bytes::new(1500)), Limit::Packets(1)] {
            let mut port = Port::new(order.clone(), limit);
            assert_eq!(port.arrive(data(1, 5, 1500)), [0; 0], "{order:?}");
            if limit != Limit::Packets(1) {
                assert_eq!(port.arrive(data(2, 0, 1501)), [1], "{order:?}: larger than the whole buffer");
            }
            assert_eq!(port.queue.packets(), 1, "{order:?}");
        }
    }
}

#[test]
fn an_idle_port_is_small() {
    assert!(size_of::<Queue>() <= 160, "{}", size_of::<Queue>());
}

#[test]
fn parameters_that_cannot_work_are_refused() {
    let refuse =
        |order| spec(order, Limit::Unlimited).make(Stream::new(1, "q", 0), RATE).unwrap_err().to_string();
    assert!(refuse(drr(0, FairOverflow::Tail)).contains("quantum"));
    assert!(refuse(priority::Params::from(0).into()).contains("class"));
    assert!(
        refuse(custom::Params { name: "no such".into(), ..Default::default() }.into()).contains("no such")
    );
    let fq = spec(fq(FairOverflow::Tail), Limit::Unlimited);
    assert!(fq.make(Stream::new(1, "q", 0), Rate::ZERO).unwrap_err().to_string().contains("rate"));
    assert!(fq.make(Stream::new(1, "q", 0), Rate::INFINITE).is_ok());
}

#[test]
fn every_order_has_a_name_of_its_own_and_the_first_is_the_default() {
    let names: std::collections::BTreeSet<_> = OrderSpec::all().iter().map(OrderSpec::key).collect();
    assert_eq!(names.len(), OrderSpec::all().len());
    assert_eq!(OrderSpec::default(), OrderSpec::fifo());
}

#[test]
fn an_order_has_what_it_declares() {
    for order in orders() {
        let (needs, mut port) = (order.needs(), Port::new(order.clone(), Limit::Unlimited));
        (0..3).for_each(|n| drop(port.arrive(data(n, 0, 1500))));
        let queue = &mut port.queue;
        assert_eq!(queue.by_input().is_some(), needs.by_input, "{order:?}: inputs in turn");
        assert!(
            queue.hop_by_hop().is_some() || !needs.reports_overfull,
            "{order:?}: queues that are too long"
        );
        assert!(queue.pipeline().is_some() || !needs.apart, "{order:?}: packets between queue and wire");
        assert_eq!(queue.pausable().is_some(), queue.pausable_mut().is_some(), "{order:?}");
        assert_eq!(queue.by_input().is_some(), queue.by_input_mut().is_some(), "{order:?}");
        let mut taken = vec![];
        queue.withdraw(&mut |_| true, &mut taken);
        let (left, expected) = (queue.packets(), if needs.searchable { (0, 3) } else { (3, 0) });
        assert_eq!((left, taken.len()), expected, "{order:?}: taken out of its middle");
    }
}

#[test]
fn a_queue_whose_every_number_is_paused_is_held_while_anything_waits() {
    let mut seen = 0;
    for order in orders() {
        let mut port = Port::new(order.clone(), Limit::Unlimited);
        let Some(queues) = port.queue.pausable_mut() else { continue };
        assert!(queues.queues() > 0, "{order:?}");
        queues.pause_only(&(0..queues.queues()).collect());
        assert!(!port.queue.is_held(), "{order:?}: nothing waits");
        port.arrive(data(1, 0, 1500));
        assert!(port.queue.is_held(), "{order:?}");
        assert_eq!(port.queue.dequeue(Time::ZERO, &mut vec![]), None, "{order:?}");
        port.queue.pausable_mut().unwrap().pause_only(&thalweg_wire::QueueSet::default());
        assert!(!port.queue.is_held(), "{order:?}");
        seen += 1;
    }
    assert!(seen >= 4, "strict priority, ADS, BFC, lift-able queues");
}
