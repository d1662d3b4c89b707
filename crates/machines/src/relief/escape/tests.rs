//! Alg. 3 by hand: a switch of which port 0 is the input of flows 7 and 8, and ports 1 and 2 their outputs.

use super::super::tests::{Paper, SITE};
use super::*;
use crate::schedule::Order;
use crate::schedule::Pausable;
use crate::schedule::liftable::{HEADER, Liftable};
use thalweg_units::FlowId;
use thalweg_wire::{Handle, HopTag, Packet};

fn escape(params: Params) -> Escape {
    let mut made = params.make(&SITE);
    made.on_passing(7, 0, 1);
    made.on_passing(8, 0, 2);
    made
}
fn ticks(escape: &mut Escape, view: &Paper) -> Vec<Act> {
    let mut acts = Vec::new();
    escape.tick(Time::from_us(2), view, &mut acts);
    acts
}
fn receives(escape: &mut Escape, port: usize, signal: Signal, view: &Paper) -> Vec<Act> {
    let mut acts = Vec::new();
    escape.on_signal(Time::from_us(3), port, signal, view, &mut acts);
    acts
}
fn held_back() -> Paper {
    Paper { ports: 4, stopped_inputs: [0].into(), ..Paper::default() }
}
fn token(flow: u32, hops: u16) -> Signal {
    Signal::Token { flow, hops }
}
fn release(flow: u32, hops: u16) -> Signal {
    Signal::Release { flow, hops }
}

/// e1: p^I held back, p^E open, T > 0.
#[test]
fn a_switch_names_the_flows_whose_output_is_open_while_it_holds_their_input_back() {
    let mut one = escape(Params::default());
    assert_eq!(ticks(&mut one, &Paper { ports: 4, ..Paper::default() }), []);
    let half = Paper { stopped_outputs: [2].into(), ..held_back() };
    assert_eq!(ticks(&mut one, &half), [Act::Signal(0, token(7, 1))]);
    assert_eq!((one.pools()[1], one.pools()[2]), (7, 8));
    assert_eq!(ticks(&mut one, &Paper { hosts: [0].into(), ..held_back() }), [], "a host takes no notice");
    // The one that was not served comes first.
    assert_eq!(ticks(&mut one, &held_back()), [Act::Signal(0, token(8, 1)), Act::Signal(0, token(7, 1))]);
    assert_eq!(one.check(&[0; 4]), Ok(()));
    let (mut now, mut ticks) = (Time::ZERO, Vec::new());
    for _ in 0..100 {
        now = one.next(now);
        ticks.push(now.ps() / one.period.ps());
    }
    assert_eq!(ticks, (ticks[0]..ticks[0] + 100).collect::<Vec<_>>(), "once in every period");
}

/// e2, line 7, and e3: T falls by one for the lane, and rises as the packet leaves it.
#[test]
fn a_token_lifts_a_packet_with_one_hop_more_than_it_has_gone() {
    let mut one = escape(Params::default());
    let view = Paper { packets: vec![(1, 0, 7)], ..held_back() };
    assert_eq!(receives(&mut one, 1, token(7, 2), &view), [Act::Lift { output: 1, flow: 7, hops: 3 }]);
    assert_eq!((one.pools()[1], one.check(&[0, 1, 0, 0])), (7, Ok(())));
    one.on_sent(1);
    assert_eq!((one.pools()[1], one.check(&[0; 4])), (8, Ok(())));
}

/// e2, line 9.
#[test]
fn a_token_that_finds_nothing_goes_on_up_the_path_and_leaves_a_place_reserved() {
    let mut one = escape(Params::default());
    assert_eq!(receives(&mut one, 1, token(7, 1), &held_back()), [Act::Signal(0, token(7, 2))]);
    assert_eq!((one.pools()[1], one.check(&[0; 4])), (7, Ok(())));
    // The packet has come, is in the lane, and leaves.
    assert!(one.on_escaping(7, 1, 2), "the token went on with two hops");
    assert_eq!(one.check(&[0, 1, 0, 0]), Ok(()));
    one.on_sent(1);
    assert_eq!(one.check(&[0; 4]), Ok(()));
}

/// e2, lines 5 and 8, and M6.
#[test]
fn a_token_that_ends_gives_back_what_it_has_reserved_on_its_way() {
    let mut one = escape(Params { pool: 1, ..Params::default() });
    let free = Paper { ports: 4, ..Paper::default() };
    assert_eq!(
        receives(&mut one, 1, token(7, 3), &free),
        [Act::Signal(1, release(7, 3))],
        "the hop before is not held back"
    );
    assert_eq!(
        receives(&mut one, 1, token(99, 3), &held_back()),
        [Act::Signal(1, release(99, 3))],
        "unknown"
    );
    receives(&mut one, 1, token(7, 1), &held_back());
    assert_eq!(
        receives(&mut one, 1, token(7, 4), &held_back()),
        [Act::Signal(1, release(7, 4))],
        "the pool is empty"
    );
    assert_eq!((one.tally.ended_source, one.tally.ended_pool), (2, 1));
    // Its own comes back from the hop before, and goes on down.
    assert_eq!(receives(&mut one, 0, release(7, 2), &held_back()), [Act::Signal(1, release(7, 1))]);
    assert_eq!((one.pools()[1], one.check(&[0; 4])), (1, Ok(())));
    assert_eq!(receives(&mut one, 0, release(7, 1), &held_back()), [], "nothing was lent");
}

/// Note A: one hop too few, and T above T_cap.
#[test]
fn the_printed_arithmetic_reserves_nothing_for_what_it_lifts_and_gives_it_back_all_the_same() {
    let mut one = escape(Params { arithmetic: Arithmetic::Literal, ..Params::default() });
    let view = Paper { packets: vec![(1, 0, 7)], ..held_back() };
    assert_eq!(receives(&mut one, 1, token(7, 1), &view), [Act::Lift { output: 1, flow: 7, hops: 1 }]);
    one.on_sent(1);
    assert_eq!(one.pools()[1], 9);
}

/// X5: one token is always under way, which the timer takes for a leak.
#[test]
fn the_printed_timer_gives_back_what_is_in_use() {
    let mut one = escape(Params { reclaim: Reclaim::Paper, pool: 2, ..Params::default() });
    let view = Paper { stopped_outputs: [2].into(), ..held_back() };
    let mut now = Time::ZERO;
    for _ in 0..10 {
        // A token goes, and its packet comes and leaves within a period: T is 1 whenever it is read.
        now += Span::from_us(100);
        let mut acts = Vec::new();
        one.tick(now, &view, &mut acts);
        one.on_escaping(7, 1, 1);
        if one.pools()[1] < 1 {
            one.on_sent(1);
        }
    }
    one.on_sent(1);
    one.on_sent(1);
    assert!(one.pools()[1] > 2 && one.tally.reclaimed > 0, "{:?}", one.pools());
}

/// M8: the link to the hop before fails while two tokens are on their way up it, one of which is this switch's own.
#[test]
fn as_a_link_fails_what_was_reserved_for_packets_that_were_to_come_by_it_is_free_here_and_further_on() {
    let mut one = escape(Params::default());
    let view = Paper { stopped_outputs: [2].into(), ..held_back() };
    receives(&mut one, 1, token(7, 2), &view);
    assert_eq!((ticks(&mut one, &view), one.pools()[1]), (vec![Act::Signal(0, token(7, 1))], 6));
    let mut acts = Vec::new();
    one.on_link_down(3, &mut acts);
    assert_eq!((acts.len(), one.pools()[1]), (0, 6), "it comes by another");
    one.on_link_down(0, &mut acts);
    assert_eq!((acts, one.pools()[1]), (vec![Act::Signal(1, release(7, 2))], 8));
    // One that comes all the same, once the link is back, has no place, and a release frees none.
    assert!(!one.on_escaping(7, 1, 3));
    assert_eq!((receives(&mut one, 0, release(7, 1), &view), one.pools()[1]), (vec![], 8));
    assert_eq!(one.check(&[0; 4]), Ok(()));
}

/// X3: #7 of a flow is on the wire from n_{k-2} to n_{k-1} as the token passes n_{k-1}; n_{k-2} lifts #8; #7
/// waits behind the pause.
#[test]
fn a_packet_on_the_wire_as_its_token_passes_is_overtaken_as_published_and_goes_first_by_default() {
    for (order, left) in [(Rule::Paper, [8, 7]), (Rule::Substitute, [7, 8])] {
        let params = Params { order, ..Params::default() };
        let [mut origin, mut middle, mut first] = [params; 3].map(escape);
        let (blocked, empty) = (held_back(), Paper { stopped_outputs: [1].into(), ..held_back() });
        assert_eq!(
            ticks(&mut origin, &Paper { stopped_outputs: [2].into(), ..blocked }),
            [Act::Signal(0, token(7, 1))]
        );
        assert_eq!(
            receives(&mut middle, 1, token(7, 1), &empty),
            [Act::Signal(0, token(7, 2))],
            "nothing of the flow waits"
        );
        // #7 lands, behind the pause. #8 is lifted one switch up, and comes.
        let packet =
            |hops| Packet { flow: FlowId(7), hop: HopTag::escaping(hops), wire: 1000, ..Packet::default() };
        let mut queue = Liftable::default();
        queue.pause(0, true);
        queue.push(Time::ZERO, &packet(0), Handle(7));
        queue.index(|_| FlowId(7));
        let waits = Paper { packets: vec![(1, 0, 7)], ..empty };
        assert_eq!(receives(&mut first, 1, token(7, 2), &waits), [Act::Lift { output: 1, flow: 7, hops: 3 }]);
        assert!(middle.on_escaping(7, 1, 2));
        let instead = if middle.substitutes() { queue.lift(FlowId(7), 2) } else { None };
        queue.push(Time::ZERO, &packet(if instead.is_some() { 0 } else { 2 }), Handle(8));
        let mut order = Vec::new();
        order.extend(queue.pop(Time::ZERO).map(|entry| entry.handle));
        assert_eq!((queue.header(), queue.pop(Time::ZERO)), (HEADER, None), "only the lane passes the pause");
        queue.pause(0, false);
        order.extend(queue.pop(Time::ZERO).map(|entry| entry.handle));
        assert_eq!(order, left.map(Handle));
    }
}

/// X4: nothing is given back.
#[test]
fn without_reclaim_tokens_that_end_empty_the_pool_for_good() {
    let mut one = escape(Params { reclaim: Reclaim::None, pool: 3, ..Params::default() });
    let view = Paper { stopped_outputs: [2].into(), ..held_back() };
    let tokens: usize = (0..9).map(|_| ticks(&mut one, &view).len()).sum();
    assert_eq!((tokens, one.pools()[1]), (3, 0));
}

#[test]
fn impossible_parameters_are_refused_with_the_way_out() {
    let problems = |params: Params| {
        let mut problems = Problems::default();
        params.check(&mut problems);
        problems.0.iter().map(|p| format!("{}: {}", p.key, p.reason)).collect::<Vec<_>>()
    };
    assert_eq!(problems(Params { pool: 0, ..Params::default() }), ["pool: 0 is out of range"]);
    assert_eq!(problems(Params { table: 0, period: Some(Span::ZERO), ..Params::default() }).len(), 2);
    let vain = Params { reclaim_after: Span::from_us(5), ..Params::default() };
    assert_eq!(problems(vain), ["reclaim_after: no timer gives reservations back"]);
    assert_eq!(problems(Params::default()), Vec::<String>::new());
}
