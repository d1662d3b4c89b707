//! Thresholds by hand; laws that hold for any memory, any packets and any order of departures.

use super::*;
use crate::pause::PauseSpec;
use crate::pause::pfc::{Params, Threshold};
use proptest::prelude::*;
use thalweg_units::Bytes;
use thalweg_wire::{Classes, Packet};

fn b(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}
fn per_input(limit: u64, pfc: Option<Params>) -> InputSpec {
    InputSpec {
        memory: InputMemory::PerInput(b(limit)),
        pause: pfc.map(PauseSpec::Pfc),
        release_at_start: false,
        one_per_input: false,
    }
}
fn shared(total: u64, pfc: Option<Params>) -> InputSpec {
    InputSpec {
        memory: InputMemory::Shared(b(total)),
        pause: pfc.map(PauseSpec::Pfc),
        release_at_start: false,
        one_per_input: false,
    }
}
fn fixed(xoff: u64, xon: u64, headroom: u64) -> Option<Params> {
    let threshold = Threshold::Static { xoff: Some(b(xoff)), xon: Some(b(xon)) };
    Some(Params { threshold, headroom: Some(b(headroom)), ..Params::default() })
}
fn dynamic(alpha: f64, reserve: u64, hysteresis: u64, headroom: u64) -> Option<Params> {
    let threshold = Threshold::Dynamic { alpha, reserve: b(reserve), hysteresis: b(hysteresis) };
    Some(Params { threshold, headroom: Some(b(headroom)), ..Params::default() })
}
/// The HPCC authors' switch with 16 ports of 100 Gb/s and 1 us.
fn hpcc() -> Inputs {
    Inputs::new(shared(32 << 20, dynamic(0.125, 4096, 3072, 37_500)), 16).unwrap()
}

/// Whether the neighbour of an input receives a request to stop, and whether one to resume.
trait Requests {
    fn requests_pause(&mut self, input: usize) -> bool;
    fn requests_resume(&mut self, input: usize) -> bool;
}

impl Requests for Inputs {
    fn requests_pause(&mut self, input: usize) -> bool {
        let frame = self.on_taken(Time::ZERO, Passing { input, output: 0, packet: &Packet::default() });
        assert!(frame.is_none_or(|f| f == Frame::Xoff { classes: Classes::ALL, hold: None }));
        frame.is_some()
    }
    fn requests_resume(&mut self, input: usize) -> bool {
        let frame = self.on_released(Time::ZERO, input);
        assert!(frame.is_none_or(|f| f == Frame::Xon { classes: Classes::ALL }));
        frame.is_some()
    }
}

/// Packets that an input takes until it requests a pause, that one included; `most` if it does not.
fn until_pause(m: &mut Inputs, input: usize, wire: u32, most: usize) -> usize {
    let arrives = |_: &usize| {
        assert!(m.take(input, wire));
        m.requests_pause(input)
    };
    (1..=most).find(arrives).unwrap_or(most)
}
fn until_drop(m: &mut Inputs, input: usize, wire: u32) -> usize {
    (0..).find(|_| !m.take(input, wire)).unwrap()
}
/// Departures until the input may go on, that one included.
fn until_resume(m: &mut Inputs, input: usize, wire: u32) -> usize {
    let leaves = |_: &usize| {
        m.release(input, wire);
        m.requests_resume(input)
    };
    (1..).find(leaves).unwrap()
}

#[test]
fn memory_per_input_is_full_to_the_byte_for_that_input() {
    let mut m = Inputs::new(per_input(240_000, None), 2).unwrap();
    assert_eq!(until_drop(&mut m, 0, 1090), 220); // 239 800
    assert!(!m.take(0, 201) && m.take(0, 200) && m.take(1, 1090));
    assert_eq!((m.inputs()[0].bytes, m.inputs()[1].bytes, m.is_pausing()), (240_000, 1090, false));
    m.release(0, 1090);
    assert!(m.take(0, 1090) && !m.requests_pause(0) && !m.requests_resume(0));
}

#[test]
fn shared_memory_is_full_for_all() {
    let mut m = Inputs::new(shared(10_000, None), 3).unwrap();
    assert!(m.take(0, 6000) && m.take(1, 4000) && !m.take(2, 1));
    m.release(1, 4000);
    assert!(m.take(2, 4000) && !m.take(1, 1));
}

#[test]
fn irns_switch_pauses_above_220_kb_and_has_room_for_what_is_on_its_way() {
    // X-OFF at 240 000 − 20 000; limit 220 000 + 20 000 + 3 · 1090 + 64, minus nothing that drains.
    let mut m = Inputs::new(per_input(243_334, fixed(220_000, 220_000, 23_334)), 6).unwrap();
    assert_eq!(until_pause(&mut m, 3, 1090, 999), 202); // 201 packets are 219 090 B
    assert!(m.is_pausing() && !m.requests_pause(3), "notified once");
    // 20 000 B on two wires, a packet ahead of the frame, the frame, a packet in progress: 22 244 B.
    assert!((0..20).all(|_| m.take(3, 1090)) && m.take(3, 444));
    assert_eq!(m.inputs()[3].bytes, 220_180 + 22_244);
    assert!(!m.take(3, 911) && m.take(3, 910), "243 334 and no more");
    // One threshold, no hysteresis: on at 220 000 or less.
    (0..21).for_each(|_| m.release(3, 1090)); // 220 444
    assert!(!m.requests_resume(3));
    m.release(3, 444);
    assert!(m.requests_resume(3) && !m.requests_resume(3) && !m.is_pausing());
}

#[test]
fn timelys_switch_goes_on_at_80_kb_and_inputs_are_paused_apart() {
    let mut m = Inputs::new(shared(9_000_000, fixed(100_000, 80_000, 20_000)), 11).unwrap();
    assert_eq!(until_pause(&mut m, 0, 1500, 999), 67); // 100 500
    assert_eq!(until_pause(&mut m, 1, 1500, 66), 66); // 99 000: not above
    assert!(m.is_pausing() && !m.has_paused(1));
    assert_eq!(until_pause(&mut m, 1, 1500, 1), 1);
    assert_eq!(until_resume(&mut m, 0, 1500), 14); // 79 500
    assert!(m.is_pausing() && m.has_paused(1));
    assert_eq!(until_drop(&mut m, 1, 1500), 13); // 120 000: XOFF and headroom
}

#[test]
fn hpccs_switch_pauses_a_lone_input_at_a_ninth_of_what_is_shared() {
    // 33 554 432 − 16 · 41 596 = 32 888 896 B to share. 3490 packets of 1048 B, less the reserve, are s = 3
    // 653 424; the threshold has come down to (32 888 896 − s)/8 = 3 654 434. The next would make s = 3 654
    // 472: headroom, and a pause.
    let mut m = hpcc();
    assert_eq!((m.pool(), m.account.threshold()), (32_888_896, 4_111_112));
    assert_eq!(until_pause(&mut m, 5, 1048, 9999), 3491);
    assert_eq!((m.used(), m.account.threshold(), m.inputs()[5].headroom), (3_653_424, 3_654_434, 1048));
    // 35 packets are 36 680 B of its 37 500.
    assert_eq!(until_drop(&mut m, 5, 1048), 34);
    assert_eq!((m.used(), m.inputs()[5].headroom), (3_653_424, 36_680));
    // An ACK is within the threshold still. What leaves is credited to the headroom, whatever it was counted as.
    assert!(m.take(5, 60));
    assert_eq!((m.used(), m.inputs()[5].headroom), (3_653_484, 36_680));
    m.release(5, 60);
    assert_eq!((m.used(), m.inputs()[5].headroom), (3_653_484, 36_620));
    // 35 packets empty it, the last with 60 B of the shared bytes. s + 3072 ≤ (pool − s)/8 holds from s = 3
    // 651 591 down: two more.
    assert_eq!(until_resume(&mut m, 5, 1048), 37);
    assert_eq!((m.used(), m.inputs()[5].headroom), (3_651_328, 0));
}

#[test]
fn hpccs_threshold_falls_for_all_as_others_fill_the_memory_but_is_looked_at_on_arrival_only() {
    let mut m = hpcc();
    // 3000 packets: s = 3 139 904 is below the threshold of 3 718 624.
    assert_eq!(until_pause(&mut m, 0, 1048, 3000), 3000);
    assert_eq!((m.used(), m.account.threshold()), (3_139_904, 3_718_624));
    // Others fill up: each ends paused, at an eighth of what was left when it was.
    let counts: Vec<_> = (1..8).map(|input| until_pause(&mut m, input, 1048, 9999)).collect();
    assert_eq!(counts, [3158, 2808, 2497, 2220, 1974, 1755, 1560]);
    assert!(m.account.threshold() < 3_139_904 && !m.has_paused(0), "nothing has come to input 0 since");
    assert!(m.take(0, 1048) && m.requests_pause(0));
    assert_eq!(m.inputs()[0].headroom, 1048, "it would exceed the threshold");
    // It has far to go until s + 3072 ≤ threshold, unless others make room.
    m.release(0, 1048);
    assert!(m.inputs()[0].headroom == 0 && !m.requests_resume(0));
    for input in 1..8 {
        (0..counts[input - 1]).for_each(|_| m.release(input, 1048));
    }
    assert!(m.has_paused(0), "not asked");
    m.release(0, 1048);
    assert!(m.requests_resume(0));
}

#[test]
fn an_inputs_reserve_does_not_count() {
    let mut m = hpcc();
    assert!(m.take(9, 4096));
    assert_eq!(m.used(), 0);
    assert!(m.take(9, 100));
    assert_eq!(m.used(), 100);
    m.release(9, 4096);
    assert_eq!((m.used(), m.inputs()[9].bytes), (0, 100));
}

#[test]
fn exactly_the_threshold_pauses_and_is_not_quiet() {
    // alpha 1: of 1000 B, 500 leave a threshold of 500.
    let mut m = Inputs::new(shared(1200, dynamic(1.0, 0, 0, 100)), 2).unwrap();
    assert!(!m.is_quiet(0, 500) && m.is_quiet(0, 499));
    assert!(m.take(0, 499) && !m.requests_pause(0));
    assert!(m.take(0, 1) && m.requests_pause(0));
    // Nothing to share: the threshold is zero, and what fits the reserve pauses all the same.
    let mut m = Inputs::new(shared(300, dynamic(1.0, 50, 0, 100)), 2).unwrap();
    assert!(!m.is_quiet(0, 40));
    assert!(m.take(0, 40) && m.requests_pause(0));
}

#[test]
fn with_alpha_above_one_the_memory_is_still_no_larger_than_it_is() {
    // Two inputs set 2 · 100 aside of 1200; alpha 4: with 900 of the other 1000 taken, the threshold is 400.
    let mut m = Inputs::new(shared(1200, dynamic(4.0, 0, 0, 100)), 2).unwrap();
    assert!(m.take(0, 900) && m.requests_pause(0));
    assert!(!m.take(1, 101), "100 are left, and 100 of headroom: a packet is not split");
    assert!(m.take(1, 100) && m.take(1, 100) && !m.take(1, 1));
    assert_eq!((m.used(), m.inputs()[1].headroom), (1000, 100));
}

#[test]
fn contradictions_are_refused_with_their_numbers() {
    let refuse = |spec, inputs| Inputs::new(spec, inputs).unwrap_err().to_string();
    assert!(refuse(shared(600_000, dynamic(0.125, 4096, 0, 37_500)), 16).contains("665536 B aside"));
    assert!(refuse(shared(9, dynamic(0.125, u64::MAX, 0, u64::MAX)), 16).contains("the memory has 9 B"));
    assert!(refuse(shared(9, dynamic(f64::NAN, 0, 0, 0)), 1).contains("alpha"));
    assert!(refuse(shared(9, dynamic(0.0, 0, 0, 0)), 1).contains("alpha"));
    assert!(refuse(per_input(9, dynamic(1.0, 0, 0, 0)), 1).contains("shared memory"));
    assert!(refuse(per_input(9, fixed(5, 6, 0)), 1).contains("XON (6 B) is above XOFF (5 B)"));
}

const INPUTS: usize = 4;

fn memories() -> impl Strategy<Value = InputSpec> {
    prop_oneof![
        1 => Just(per_input(5000, None)),
        1 => Just(shared(9000, None)),
        2 => lossless_memories(),
        1 => (0u64..4000, 8000u64..30_000).prop_map(|(xoff, total)| shared(total, fixed(xoff, xoff / 2, 3000))),
    ]
}

/// Memories that pause, and have room for what comes thereafter: the last of the others above may not.
fn lossless_memories() -> impl Strategy<Value = InputSpec> {
    prop_oneof![
        (0u64..4000, 0u64..1000)
            .prop_map(|(xoff, gap)| per_input(xoff + 3000, fixed(xoff, xoff.saturating_sub(gap), 3000))),
        (0u64..4000, 0u64..10_000).prop_map(|(xoff, more)| {
            shared(INPUTS as u64 * (xoff + 3000) + more, fixed(xoff, xoff / 2, 3000))
        }),
        (prop_oneof![Just(0.125), Just(0.5), Just(1.0), Just(3.0)], 0u64..900, 0u64..500, 0u64..30_000)
            .prop_map(|(alpha, reserve, hysteresis, pool)| {
                shared(pool + 4 * (reserve + 3000), dynamic(alpha, reserve, hysteresis, 3000))
            }),
    ]
}

/// A packet arrives, at an input and so long; or one of those that wait leaves.
#[derive(Clone, Copy, Debug)]
enum Step {
    In(usize, u32),
    Out(prop::sample::Index),
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..INPUTS, 1u32..1500).prop_map(|(input, wire)| Step::In(input, wire)),
        2 => any::<prop::sample::Index>().prop_map(Step::Out),
    ];
    prop::collection::vec(step, 1..most)
}

/// A switch that looks for a frame after every arrival and departure, with independent books.
struct Switch {
    memory: Inputs,
    stored: Vec<(usize, u32)>,
    paused: [bool; INPUTS],
}

impl Switch {
    fn new(spec: InputSpec) -> Self {
        Self { memory: Inputs::new(spec, INPUTS).unwrap(), stored: vec![], paused: [false; INPUTS] }
    }
    /// True: it was dropped.
    fn step(&mut self, step: Step) -> bool {
        match step {
            Step::In(input, wire) => {
                if !self.memory.take(input, wire) {
                    return true;
                }
                self.stored.push((input, wire));
                if self.memory.requests_pause(input) {
                    assert!(!std::mem::replace(&mut self.paused[input], true), "paused twice");
                }
            }
            Step::Out(index) if !self.stored.is_empty() => {
                let (input, wire) = self.stored.swap_remove(index.index(self.stored.len()));
                self.memory.release(input, wire);
                if self.memory.requests_resume(input) {
                    assert!(std::mem::replace(&mut self.paused[input], false), "resumed, but was not paused");
                }
            }
            Step::Out(_) => {}
        }
        false
    }
    fn bytes(&self, input: usize) -> u64 {
        self.stored.iter().filter(|s| s.0 == input).map(|s| u64::from(s.1)).sum()
    }
}

proptest! {
    #[test]
    fn bytes_are_conserved_limits_hold_and_pauses_alternate(spec in memories(), steps in steps(300)) {
        let mut s = Switch::new(spec);
        for step in steps {
            s.step(step);
            let m = &s.memory;
            for (input, at) in m.inputs().iter().enumerate() {
                prop_assert_eq!(at.bytes, s.bytes(input));
                prop_assert_eq!(m.has_paused(input), s.paused[input]);
            }
            prop_assert_eq!(m.is_pausing(), s.paused.contains(&true));
            let stored: u64 = m.inputs().iter().map(|at| at.bytes).sum();
            match (spec.memory, spec.claims()) {
                (InputMemory::PerInput(limit), _) => {
                    prop_assert!(m.inputs().iter().all(|at| at.bytes <= limit.get()));
                }
                (InputMemory::Shared(total), Claims::Dynamic { reserve, headroom, .. }) => {
                    let beyond = |at: &Input| (at.bytes - at.headroom).saturating_sub(reserve);
                    prop_assert_eq!(m.used(), m.inputs().iter().map(beyond).sum::<u64>());
                    prop_assert!(m.used() <= m.pool() && stored <= total.get());
                    prop_assert!(m.inputs().iter().all(|at| at.headroom <= headroom));
                    prop_assert!((0..).zip(m.inputs()).all(|(i, at)| at.headroom == 0 || m.has_paused(i)));
                }
                (InputMemory::Shared(total), _) => {
                    prop_assert_eq!(m.used(), stored);
                    prop_assert!(stored <= total.get());
                }
            }
        }
        for at in (0..s.stored.len()).rev() {
            let (input, wire) = s.stored[at];
            s.memory.release(input, wire);
            s.memory.requests_resume(input);
        }
        prop_assert_eq!(&s.memory, &Inputs::new(spec, INPUTS).unwrap(), "empty again, none waits");
    }

    #[test]
    fn quiet_inputs_stay_so_in_any_order(
        spec in memories(), steps in steps(120), input in 0..INPUTS, wire in 1u32..1500,
        leaves in prop::collection::vec(any::<bool>(), 120),
    ) {
        let mut s = Switch::new(spec);
        for step in steps {
            s.step(step);
            if !s.memory.is_quiet(input, wire) {
                continue;
            }
            let mut m = s.memory.clone();
            for (&(input, wire), _) in s.stored.iter().zip(&leaves).filter(|(_, leaves)| **leaves) {
                m.release(input, wire);
                prop_assert!(!m.requests_resume(input), "none was paused");
            }
            prop_assert!(m.take(input, wire), "{:?}", m);
            prop_assert!(!m.requests_pause(input), "{:?}", m);
        }
    }

    #[test]
    fn nothing_is_dropped_while_no_more_than_the_headroom_comes_after_a_threshold_is_crossed(
        spec in lossless_memories(), steps in steps(300)
    ) {
        let mut s = Switch::new(spec);
        // Bytes since the packet that made an input request a pause, that one included.
        let mut since = [0u64; INPUTS];
        for step in steps {
            if let Step::In(input, wire) = step {
                if s.paused[input] && since[input] + u64::from(wire) > 3000 {
                    continue; // the neighbour has stopped
                }
                since[input] = if s.paused[input] { since[input] } else { 0 } + u64::from(wire);
            }
            prop_assert!(!s.step(step), "dropped");
        }
    }
}
