//! Laws of every pause policy.

use super::*;
use thalweg_units::{Bytes, Rate};
use thalweg_wire::{Flags, HopTag};

const INPUTS: usize = 3;

fn held(bytes: u64) -> Held {
    Held { bytes, headroom: bytes.saturating_sub(3000), threshold: 2500 }
}

/// Packets come by an input until it holds a good deal, and leave again.
fn fill_and_drain(policy: &mut PauseMachine, queue: u16) -> Vec<Frame> {
    let packet = Packet { hop: HopTag::from_queue(queue), flags: Flags::HELD_BACK, ..Packet::default() };
    let at = Passing { input: 1, output: 2, packet: &packet };
    let mut frames = Vec::new();
    for n in 1..=5 {
        frames.extend(policy.on_taken(Time::ZERO, at, held(1000 * n)));
        frames.extend(policy.on_overfull(Time::ZERO, at));
    }
    for n in (0..5).rev() {
        frames.extend(policy.on_departed(Time::ZERO, at));
        frames.extend(policy.on_released(Time::ZERO, 1, held(1000 * n)));
    }
    frames
}

#[test]
fn every_pause_ends_in_a_resume_and_leaves_no_state() {
    for spec in PauseSpec::variants() {
        let fresh = spec.make(INPUTS).unwrap();
        let mut policy = fresh.clone();
        let frames = fill_and_drain(&mut policy, 7);
        assert!(frames.len() >= 2, "{spec:?} sent {frames:?}");
        assert_eq!(policy, fresh, "{spec:?}");
        assert!((0..INPUTS).all(|input| !policy.has_paused(input)) && !policy.is_pausing(), "{spec:?}");
    }
}

#[test]
fn a_saved_policy_goes_on_as_it_would_have() {
    for spec in PauseSpec::variants() {
        let mut policy = spec.make(INPUTS).unwrap();
        let packet = Packet { hop: HopTag::from_queue(3), flags: Flags::HELD_BACK, ..Packet::default() };
        let at = Passing { input: 0, output: 2, packet: &packet };
        policy.on_taken(Time::ZERO, at, held(5000));
        policy.on_overfull(Time::ZERO, at);
        let bytes = postcard::to_allocvec(&policy).unwrap();
        let mut loaded: PauseMachine = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(fill_and_drain(&mut loaded, 9), fill_and_drain(&mut policy, 9), "{spec:?}");
    }
}

#[test]
fn parameters_are_saved_in_text_and_in_bytes() {
    for spec in PauseSpec::variants() {
        let bytes = postcard::to_allocvec(&spec).unwrap();
        assert_eq!(postcard::from_bytes::<PauseSpec>(&bytes).unwrap(), spec);
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<PauseSpec>(&text).unwrap(), spec);
    }
}

#[test]
fn effects_and_checks_agree_with_what_is_made() {
    let roomy = Site {
        memory: Some(Bytes::kb(200)),
        shared: Some(Bytes::kb(900)),
        inputs: vec![Input { link: Bytes::new(1000), rate: Rate::from_gbps(10), back: Rate::from_gbps(10) }],
        packet: 1000,
        more: 0,
    };
    for mut spec in PauseSpec::variants() {
        spec.settle(&roomy);
        let wrong: Vec<_> = spec.problems(&roomy).into_iter().filter(|p| !p.useless).collect();
        assert_eq!(wrong, [], "{spec:?}");
        assert!(spec.effects().frame.get() > 0, "{spec:?}");
        // Two settle as one does.
        let mut again = spec;
        again.settle(&roomy);
        assert_eq!(again, spec);
    }
}

/// 1 us each way at 10 Gb/s: 2500 B. Packets of 1000 B, frames of 64 B.
#[test]
fn headroom_is_that_of_the_input_that_needs_most() {
    let input = |rate, back| Input { link: Bytes::new(250 * rate), rate: Rate::from_gbps(rate), back };
    let site = |inputs| Site { memory: None, shared: None, inputs, packet: 1000, more: 0 };
    let (slow, fast) = (Rate::from_gbps(1), Rate::from_gbps(10));
    let of = |inputs| site(inputs).headroom(smallest_frame());
    assert_eq!(of(vec![input(10, fast)]).bytes(), Bytes::new(2500 + 3 * 1000 + 64));
    // The frame, and the packet that it waits for, leave at a tenth of the rate of what comes.
    let lopsided = of(vec![input(1, fast), input(10, slow), input(10, fast)]);
    assert_eq!(lopsided.bytes(), Bytes::new(2500 + 2 * 1000 + 10_640));
    assert_eq!(
        lopsided.to_string(),
        "2500 B on the largest link both ways + 2 packets of 1000 B + 10640 B at 10Gbps while one and a frame of 64 B leave at 1Gbps = 15140 B"
    );
    // 250 B, two packets, and 106.4 B, rounded up.
    assert_eq!(of(vec![input(1, fast)]).bytes(), Bytes::new(250 + 2 * 1000 + 107));
}
