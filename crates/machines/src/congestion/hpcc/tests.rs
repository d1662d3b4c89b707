//! Worked by hand: 100 Gb/s (0.0125 bytes in a picosecond), T = 10 us, so W_init = 125 000 B.

use super::authors::Fields;
use super::*;
use crate::congestion::contract::conformance::{ack, start};
use thalweg_units::Time;

const MSS: u64 = 1000;

fn params(max_stage: u32) -> Params {
    let (base_rtt, additive) = (Some(Span::from_us(10)), Some(Bytes::new(500)));
    Params { eta: 0.95, max_stage, base_rtt, additive, variant: Variant::Published }
}

fn hpcc(max_stage: u32) -> Hpcc {
    let start = Start { line_rate: Rate::from_gbps(100), ..start(MSS as u32, 10) };
    Hpcc::new(&start, &params(max_stage))
}

/// A hop of 100 Gb/s at a time in ns, after so many bytes, with such a queue.
fn hop(ns: u64, tx_bytes: u64, queue: u64) -> IntHop {
    IntHop { at: Time::from_ps(ns * 1000), tx_bytes, queue, rate: Rate::from_gbps(100) }
}

/// An ACK up to byte `acked_to`, when `sent_to` has been sent.
fn reported<C: CongestionControl>(c: &mut C, acked_to: u64, sent_to: u64, hops: &[IntHop]) -> Permit {
    c.on_ack(&AckSample {
        acked_to,
        sent_to,
        feedback: Feedback::Int(&IntStack::of(1, hops)),
        ..ack(MSS, 0)
    });
    c.permit()
}

/// The same by another path.
fn by<C: CongestionControl>(c: &mut C, path: u32, acked_to: u64, sent_to: u64, hops: &[IntHop]) -> Permit {
    let stack = IntStack::of(path, hops);
    c.on_ack(&AckSample { acked_to, sent_to, feedback: Feedback::Int(&stack), ..ack(MSS, 0) });
    c.permit()
}

/// W in whole packets, and R.
fn permit(packets: u64, bps: u64) -> Permit {
    Permit { pace: Some(Rate::from_bps(bps)), ..Permit::window(Bytes::new(packets * MSS)) }
}

#[test]
fn a_flow_starts_with_a_product_at_the_lines_rate_and_the_first_ack_is_only_kept() {
    let mut c = hpcc(5);
    let full = permit(125, 100_000_000_000);
    assert_eq!(c.permit(), full);
    assert_eq!(reported(&mut c, 1000, 125_000, &[hop(0, 0, 500_000)]), full);
    assert_eq!((c.u, c.last_update_seq), (1.0, 125_000));
    c.on_ack(&AckSample { feedback: Feedback::Mark, ..ack(MSS, MSS) });
    c.on_loss(&Loss::default());
    c.on_timeout(&Loss::default());
    assert_eq!(c.permit(), full);
}

#[test]
fn the_busiest_link_counts_with_the_smaller_of_two_queues() {
    let mut c = hpcc(5);
    reported(&mut c, 1000, 125_000, &[hop(0, 0, 0), hop(100, 0, 50_000)]);
    // In 4 us 25 000 B through the first, u' = 0.5; in 2 us 25 000 B through the second, which had 50 000 B
    // and has 25 000 B: u' = 0.2 + 1. The busiest's interval is 2 of 10 us: U = 0.8 + 0.2 x 1.2 = 1.04.
    let w = reported(&mut c, 2000, 126_000, &[hop(4000, 25_000, 9), hop(2100, 25_000, 25_000)]);
    assert!((c.u - 1.04).abs() < 1e-12, "{}", c.u);
    // Within the round trip: W = 125 000 / (1.04/0.95) + 500 = 114 682.69, W^c stays. R = W/T.
    assert_eq!(w, permit(115, 91_746_153_846));
    assert_eq!((c.w_c, c.inc_stage, c.last_update_seq), (125_000.0, 0, 125_000));
}

#[test]
fn every_ack_reacts_to_the_same_reference_window_which_moves_once_per_round_trip() {
    let mut c = hpcc(5);
    let mut at = 0;
    let mut next = |c: &mut Hpcc, acked_to, sent_to| {
        at += 1;
        // A link at the line's rate with a queue of half a product: u' = 1.5 each time.
        reported(c, acked_to, sent_to, &[hop(10_000 * at, 125_000 * at, 62_500)])
    };
    next(&mut c, 1000, 20_000);
    // An interval of T and more is all that counts: U = 1.5. W = 125 000 / (1.5/0.95) + 500 = 79 666.67.
    for acked_to in [2000, 3000] {
        assert_eq!(next(&mut c, acked_to, 21_000), permit(80, 63_733_333_333));
    }
    // Beyond lastUpdateSeq: the same W, which is W^c from now on; the next starts from there: 50 955.56.
    assert_eq!(next(&mut c, 21_000, 40_000), permit(80, 63_733_333_333));
    assert_eq!(next(&mut c, 22_000, 41_000), permit(51, 40_764_444_444));
    assert_eq!(c.last_update_seq, 40_000);
}

#[test]
fn below_eta_the_window_grows_by_w_ai_for_max_stage_round_trips_and_then_in_proportion() {
    let mut c = hpcc(2);
    (c.w_c, c.u) = (50_000.0, 0.5);
    let mut windows = Vec::new();
    for round in 0..5 {
        // Half of the line, nothing waits: U = 0.5.
        reported(&mut c, 1000 * round + 1, 1000 * round + 1, &[hop(10_000 * round, 62_500 * round, 0)]);
        windows.push((c.w_c, c.inc_stage));
    }
    let grown = 51_000.0 / (0.5 / 0.95) + 500.0;
    assert_eq!(windows[..3], [(50_000.0, 0), (50_500.0, 1), (51_000.0, 2)]);
    assert_eq!(windows[3], (grown, 0)); // 97 400
    assert_eq!(windows[4], (grown + 500.0, 1));
    // Nothing in the network at all: no more than a product.
    c.inc_stage = 2;
    reported(&mut c, 9001, 9001, &[hop(90_000, 62_500 * 4, 0)]);
    assert_eq!((c.w_c, c.permit()), (125_000.0, permit(125, 100_000_000_000)));
}

#[test]
fn a_window_below_a_packet_allows_one_and_the_rate_keeps_it_apart() {
    let mut c = hpcc(0);
    reported(&mut c, 1000, 1000, &[hop(0, 0, 100_000_000)]);
    // 800 products wait: W = 125 000 / (801/0.95) + 500 = 648.25 B.
    let w = reported(&mut c, 2000, 2000, &[hop(10_000, 125_000, 100_000_000)]);
    assert_eq!(w, permit(1, 518_601_747));
}

#[test]
fn another_path_and_acks_that_were_overtaken_are_no_measure() {
    let mut c = hpcc(5);
    reported(&mut c, 1000, 125_000, &[hop(5000, 0, 0)]);
    let before = c.clone();
    reported(&mut c, 2000, 126_000, &[hop(4000, 0, 90_000)]);
    assert_eq!(c, before);
    reported(&mut c, 3000, 127_000, &[]);
    reported(&mut c, 3000, 127_000, &[]);
    assert_eq!((c.permit(), c.u), (before.permit(), 1.0)); // no switch on the way
    reported(&mut c, 3000, 127_000, &[hop(6000, 0, 9), hop(7000, 0, 9)]);
    assert_eq!((c.permit(), c.u, c.l.as_slice().len()), (before.permit(), 1.0, 2));
}

/// The path id distinguishes two paths of as many hops: the second switch has sent 9 MB before, which is no rate of
/// this flow's.
#[test]
fn records_of_a_path_of_as_many_hops_are_no_measure() {
    let mut c = hpcc(5);
    by(&mut c, 7, 1000, 125_000, &[hop(1000, 0, 0)]);
    let before = (c.permit(), c.u, c.w_c);
    assert_eq!(by(&mut c, 8, 2000, 126_000, &[hop(2000, 9_000_000, 500_000)]), before.0);
    assert_eq!((c.permit(), c.u, c.w_c, c.last_update_seq), (before.0, before.1, before.2, 126_000));
    // From there on it is measured as ever: half of the line in 10 us, an empty queue.
    by(&mut c, 8, 3000, 127_000, &[hop(12_000, 9_062_500, 0)]);
    assert_eq!(c.u, 0.5);
    let mut c = simulator();
    by(&mut c, 7, 1000, 52_000, &[hop(1000, 0, 0)]);
    let before = c.permit();
    assert_eq!(by(&mut c, 8, 53_000, 53_000, &[hop(2000, 9_000_000, 500_000)]), before);
    // 5120 of the 52 000 B that the line carries in 4160 ns; 9 000 000 B are 17578.125 units of 512 B.
    assert_eq!(by(&mut c, 8, 54_000, 54_000, &[hop(6160, 9_005_120, 0)]), before);
}

#[test]
fn without_a_key_w_ai_shares_the_headroom_among_a_hundred() {
    let c = Hpcc::new(&start(1000, 10), &Params { additive: None, ..params(5) });
    // 10 Gb/s, 10 us: 12 500 B, of which 5 % are 625 B.
    assert!((c.w_ai - 6.25).abs() < 1e-9, "{}", c.w_ai);
}

#[test]
fn impossible_and_useless_parameters_are_named() {
    let line = Rate::from_gbps(10);
    let found = |p: Params| {
        let mut problems = Problems::default();
        p.check(line, &mut problems);
        problems.0.into_iter().map(|p| (p.key, p.useless)).collect::<Vec<_>>()
    };
    let variant = Variant::Simulator { additive: Rate::from_mbps(40), min_rate: Rate::from_gbps(100) };
    assert_eq!(found(params(5)), []);
    assert_eq!(found(Params { eta: 1.5, ..params(5) }), [("eta".into(), false)]);
    assert_eq!(found(Params { base_rtt: Some(Span::ZERO), ..params(5) }), [("base_rtt".into(), false)]);
    assert_eq!(found(Params { additive: Some(Bytes::ZERO), ..params(5) }), [("additive".into(), false)]);
    let both = [("variant.min_rate".into(), false), ("additive".into(), true)];
    assert_eq!(found(Params { variant, ..params(5) }), both);
}

/// The authors' simulator with T = 4160 ns: W_init = 52 000 B, fields in units of 512 B and 320 B.
fn simulator() -> authors::AuthorsHpcc {
    let start = Start { line_rate: Rate::from_gbps(100), ..start(MSS as u32, 10) };
    let params = Params { base_rtt: Some(Span::from_ns(4160)), ..params(0) };
    authors::AuthorsHpcc::new(&start, &params, Rate::from_mbps(40), Rate::from_gbps(1))
}

#[test]
fn the_simulators_header_cuts_and_wraps_what_it_carries() {
    let field = |hop: IntHop| Fields::of(&hop, 4);
    assert_eq!(field(hop(16_777_217, 1023, 639)), Fields { time: 1, bytes: 1, queue: 1 });
    assert_eq!(field(hop(16_777_215, 512 << 20, 0)), Fields { time: 16_777_215, bytes: 0, queue: 0 });
}

#[test]
fn the_simulators_rate_follows_the_fields() {
    let mut c = simulator();
    assert_eq!(c.permit(), permit(52, 100_000_000_000));
    reported(&mut c, 1000, 52_000, &[hop(16_777_200, 536_870_000, 700)]);
    // 1040 ns later, across the end of both counters: 1048575 to 12 units of 512 B, 13 in all, are 6656 B or
    // 51.2 Gb/s; the smaller queue is one unit, 320 of 52 000 B. U = (3120 + 1040 (0.512 + 0.00615)) / 4160,
    // c = U / 0.95.
    let w = reported(&mut c, 2000, 53_000, &[hop(16_778_240, 536_877_500, 639)]);
    let u = (3120.0 + 1040.0 * (0.512 + 320.0 / 52_000.0)) / 4160.0;
    let rate = (1e11 / (u / 0.95)) as u64 + 40_000_000;
    assert_eq!(w.pace, Some(Rate::from_bps(rate.min(100_000_000_000))));
    // The smaller queue again, and nothing sent: the line's rate.
    let w = reported(&mut c, 53_000, 53_000, &[hop(16_790_000, 536_877_500, 10_000_000)]);
    assert_eq!(w, permit(52, 100_000_000_000));
    // Two long queues, 192 products: the least rate, and 52 000 B x 1/100 in whole packets.
    let w = reported(&mut c, 54_000, 54_000, &[hop(16_800_000, 537_000_000, 20_000_000)]);
    assert_eq!(w, permit(1, 1_000_000_000));
}
