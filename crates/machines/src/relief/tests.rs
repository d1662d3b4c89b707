//! What every relief obeys, and a switch made of paper for worked examples.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use thalweg_units::Span;

/// A switch whose state is written down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paper {
    pub ports: usize,
    pub hosts: BTreeSet<usize>,
    pub stopped_inputs: BTreeSet<usize>,
    pub stopped_outputs: BTreeSet<usize>,
    /// Output, input, flow.
    pub packets: Vec<(usize, usize, u32)>,
}

impl SwitchView for Paper {
    fn ports(&self) -> usize {
        self.ports
    }
    fn id(&self, port: usize) -> u32 {
        100 + port as u32
    }
    fn faces_switch(&self, port: usize) -> bool {
        !self.hosts.contains(&port)
    }
    fn has_paused(&self, input: usize) -> bool {
        self.stopped_inputs.contains(&input)
    }
    fn is_paused(&self, output: usize) -> bool {
        self.stopped_outputs.contains(&output)
    }
    fn waits(&self, output: usize, flow: u32) -> bool {
        self.packets.iter().any(|p| (p.0, p.2) == (output, flow))
    }
    fn waiting(&self, output: usize) -> u32 {
        self.packets.iter().filter(|p| p.0 == output).count() as u32
    }
    fn held(&self, output: usize, input: usize) -> u64 {
        1000 * self.packets.iter().filter(|p| (p.0, p.1) == (output, input)).count() as u64
    }
    fn last_sent(&self, _: usize) -> Time {
        Time::ZERO
    }
}

pub(crate) const SITE: Site = Site { ports: 4, delay: Span::from_us(1), clock: 7 };

#[derive(Clone, Debug)]
enum Step {
    Passes(u32, usize, usize),
    Stop(bool, usize),
    Go(bool, usize),
    Tick,
    Receives(usize, u32, u16, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        3 => (0u32..6, 0usize..4, 0usize..4).prop_map(|(f, i, o)| Step::Passes(f, i, o)),
        2 => (any::<bool>(), 0usize..4).prop_map(|(input, port)| Step::Stop(input, port)),
        1 => (any::<bool>(), 0usize..4).prop_map(|(input, port)| Step::Go(input, port)),
        2 => Just(Step::Tick),
        3 => (0usize..4, 0u32..6, 1u16..5, 0u8..4).prop_map(|(p, f, h, k)| Step::Receives(p, f, h, k)),
    ];
    prop::collection::vec(one, 1..150)
}

proptest! {
    /// Acts name ports that exist; what is to be lifted waits; a passage that is recalled changes nothing; a
    /// signal that only counts causes no act; a relief that is saved and loaded goes on as before; the next
    /// tick is a later one.
    #[test]
    fn reliefs_keep_the_laws(story in steps()) {
        for spec in ReliefSpec::variants() {
            let mut relief = spec.make(&SITE).unwrap();
            let mut saved: ReliefMachine = postcard::from_bytes(&postcard::to_allocvec(&relief).unwrap()).unwrap();
            let mut view = Paper { ports: 4, hosts: [3].into(), packets: vec![(0, 1, 2), (1, 2, 3), (2, 3, 5)], ..Paper::default() };
            let mut now = Time::from_ms(5);
            for step in &story {
                now += Span::from_us(3);
                let (mut acts, mut again) = (Vec::new(), Vec::new());
                match *step {
                    Step::Passes(flow, input, output) => {
                        let before = relief.recalls(flow, input, output).then(|| relief.clone());
                        relief.on_passing(flow, input, output);
                        prop_assert!(before.is_none_or(|before| before == relief));
                        saved.on_passing(flow, input, output);
                    }
                    Step::Stop(true, port) => drop(view.stopped_inputs.insert(port)),
                    Step::Stop(false, port) => drop(view.stopped_outputs.insert(port)),
                    Step::Go(true, port) => drop(view.stopped_inputs.remove(&port)),
                    Step::Go(false, port) => drop(view.stopped_outputs.remove(&port)),
                    Step::Tick => {
                        now = relief.next(now);
                        relief.tick(now, &view, &mut acts);
                        saved.tick(now, &view, &mut again);
                        prop_assert!(relief.next(now) > now);
                        // EFC: as long as nothing is held back there are no acts.
                        let calm = view.stopped_inputs.is_empty() && view.stopped_outputs.is_empty();
                        prop_assert!(!calm || acts.is_empty());
                    }
                    Step::Receives(port, flow, hops, kind) => {
                        let signal = match kind {
                            0 => Signal::Token { flow, hops },
                            1 => Signal::Release { flow, hops },
                            2 => Signal::Detect { id: 98 + flow, hops },
                            _ => Signal::Advance { id: 98 + flow, hops },
                        };
                        relief.on_signal(now, port, signal, &view, &mut acts);
                        saved.on_signal(now, port, signal, &view, &mut again);
                        prop_assert!(!signal.only_counts() || acts.is_empty());
                    }
                }
                prop_assert_eq!(&acts, &again);
                for act in acts {
                    match act {
                        Act::Signal(port, _) | Act::GiveUp(port) => prop_assert!(port < 4),
                        Act::LiftFirst { output, input } => prop_assert!(view.held(output, input) > 0),
                        Act::Lift { output, flow, hops } => prop_assert!(view.waits(output, flow) && hops > 0),
                    }
                }
            }
        }
    }
}

#[test]
fn a_detection_that_comes_back_closes_its_cycle_and_a_smaller_one_ends() {
    let mut breaker = loop_breaker::Params::default().make(&SITE);
    let view = Paper { ports: 4, stopped_outputs: [1].into(), packets: vec![(1, 0, 7)], ..Paper::default() };
    let now = Time::from_ms(2);
    let mut acts = Vec::new();
    breaker.tick(now, &view, &mut acts);
    assert_eq!(acts, [Act::Signal(1, Signal::Detect { id: 101, hops: 64 })]);
    let mut receives = |port, id| {
        let mut acts = Vec::new();
        breaker.on_signal(now, port, Signal::Detect { id, hops: 9 }, &view, &mut acts);
        acts
    };
    assert_eq!(receives(0, 101), [Act::GiveUp(1)]);
    assert_eq!(receives(0, 100), []);
    assert_eq!(receives(0, 200), [Act::Signal(1, Signal::Detect { id: 200, hops: 8 })]);
    assert_eq!(receives(2, 101), [], "nothing of that input waits there");
}

#[test]
fn a_cycle_is_turned_by_one_packet_of_each_port_until_it_is_suspected_no_longer() {
    let mut breaker = deadlock_breaker::Params::default().make(&SITE);
    let mut view =
        Paper { ports: 4, stopped_outputs: [1].into(), packets: vec![(1, 0, 7)], ..Paper::default() };
    let now = Time::from_ms(2);
    let mut receives = |view: &Paper, signal| {
        let mut acts = Vec::new();
        breaker.on_signal(now, 0, signal, view, &mut acts);
        acts
    };
    let round =
        [Act::LiftFirst { output: 1, input: 0 }, Act::Signal(1, Signal::Advance { id: 101, hops: 64 })];
    assert_eq!(receives(&view, Signal::Detect { id: 101, hops: 5 }), round);
    assert_eq!(receives(&view, Signal::Detect { id: 101, hops: 5 }), [], "it is being turned");
    assert_eq!(receives(&view, Signal::Advance { id: 101, hops: 62 }), round);
    assert_eq!(
        receives(&view, Signal::Advance { id: 300, hops: 62 })[1],
        Act::Signal(1, Signal::Advance { id: 300, hops: 61 })
    );
    view.stopped_outputs.clear();
    assert_eq!(receives(&view, Signal::Advance { id: 101, hops: 62 }), []);
}
