use super::super::contract::conformance::{ack, loss, start};
use super::*;

/// Packets of 1000 B; a target of 20 us, 16 us more for one of a packet and nothing for one of 25 and above: α = 20 us.
const PARAMS: Params = Params {
    variant: Variant::Published,
    base_target: Span::from_us(20),
    hop_target: Span::ZERO,
    flow_range: Span::from_us(16),
    flow_min: 1.0,
    flow_max: 25.0,
    additive: 1.0,
    beta: 0.8,
    max_decrease: 0.5,
    min_window: 0.01,
};

fn swift(params: Params, packets: u64) -> Swift {
    Swift::new(&Start { max_window: Bytes::MAX, ..start(1000, packets) }, params)
}
/// An ACK of a packet, after so long.
fn acked(c: &mut Swift, at_us: u64, delay_us: u64) -> u64 {
    let now = Time::from_us(at_us);
    c.on_ack(&AckSample { now, rtt: Some(Span::from_us(delay_us)), ..ack(1000, 0) });
    c.window as u64
}
fn target_us(c: &Swift) -> f64 {
    c.target() / 1e6
}

#[test]
fn the_target_falls_with_the_root_of_the_window_between_its_bounds_and_rises_by_the_switch() {
    let at = |packets| target_us(&swift(PARAMS, packets));
    // 20/1 − 4 = 16, 20/√4 − 4 = 6, 20/5 − 4 = 0, and no less.
    assert_eq!([1, 4, 25, 100].map(at), [36.0, 26.0, 20.0, 20.0]);
    let mut small = swift(PARAMS, 1);
    small.window = 250.0; // 20/½ − 4 = 36, and no more than 16
    assert_eq!(target_us(&small), 36.0);
    let far = Start { switches: 3, max_window: Bytes::MAX, ..start(1000, 25) };
    let hops = Params { hop_target: Span::from_us(2), ..PARAMS };
    assert_eq!(target_us(&Swift::new(&far, hops)), 26.0);
}

#[test]
fn below_the_target_a_window_of_acks_adds_a_packet() {
    let mut c = swift(PARAMS, 10);
    assert_eq!(acked(&mut c, 10, 19), 10_100);
    assert_eq!(acked(&mut c, 11, 19), 10_199, "1000 · 1000 / 10 100 = 99.0");
    let mut c = swift(PARAMS, 1);
    c.window = 500.0;
    assert_eq!(acked(&mut c, 10, 19), 1500, "below a packet each ACK adds one");
}

#[test]
fn above_the_target_the_window_falls_by_the_excess_once_per_round_trip_and_by_half_at_most() {
    let mut c = swift(PARAMS, 100);
    assert_eq!(acked(&mut c, 100, 40), 60_000, "1 − 0.8 · 20/40");
    assert_eq!(acked(&mut c, 139, 40), 60_000, "39 us later");
    assert_eq!(acked(&mut c, 140, 40), 36_000);
    assert_eq!(acked(&mut c, 1000, 400), 18_000, "1 − 0.8 · 380/400 would be 0.24");
}

#[test]
fn a_loss_halves_it_at_once_and_five_timeouts_in_a_row_leave_the_least() {
    let mut c = swift(PARAMS, 100);
    assert_eq!(acked(&mut c, 10, 10), 100_010);
    c.on_loss(&Loss { now: Time::from_us(20), ..loss(100_000, 0, 100_000) });
    assert_eq!(c.window as u64, 50_005);
    c.on_loss(&Loss { now: Time::from_us(25), ..loss(100_000, 0, 100_000) });
    assert_eq!(c.window as u64, 50_005, "5 us later, and a round trip takes 10");
    for n in 1..=4 {
        c.on_timeout(&Loss { now: Time::from_us(25 + 100 * n), ..loss(0, 0, 0) });
    }
    assert_eq!(c.window as u64, 3125);
    c.on_timeout(&Loss { now: Time::from_us(526), ..loss(0, 0, 0) });
    assert_eq!(c.window, 10.0);
}

#[test]
fn less_than_a_packet_is_paced_over_the_smoothed_round_trip() {
    let mut c = swift(PARAMS, 10);
    acked(&mut c, 10, 16);
    assert_eq!(c.permit().pace, None);
    c.window = 250.0;
    // 1000 B every 16 us / 0.25.
    let permit = c.permit();
    assert_eq!((permit.window, permit.pace), (Bytes::new(1000), Some(Rate::from_mbps(125))));
    acked(&mut c, 11, 24);
    assert_eq!(c.rtt, Span::from_us(17), "7/8 · 16 + 24/8");
}

#[test]
fn csg_htsim_counts_whole_bytes_and_packets_and_answers_a_loss_when_it_is_repaired() {
    let mut c = swift(Params { variant: Variant::Htsim, ..PARAMS }, 11);
    assert_eq!(acked(&mut c, 10, 19), 11_090, "90.9");
    assert_eq!(c.window, 11_090.0);
    c.window = 4999.0;
    assert_eq!(target_us(&c), 26.0, "of four packets");
    c.window = 999.0;
    assert_eq!(target_us(&c), 36.0, "of none: the bound");
    c.window = 40_000.0;
    c.on_loss(&Loss { now: Time::from_us(50), ..loss(0, 0, 0) });
    let sample = AckSample { now: Time::from_us(60), rtt: None, in_recovery: true, ..ack(1000, 0) };
    c.on_ack(&sample);
    assert_eq!(c.window, 40_000.0);
    c.on_ack(&AckSample { in_recovery: false, ..sample });
    assert_eq!(c.window, 20_000.0);
}

/// Algorithm 1: every ACK sets `retransmit_cnt` to 0, one of a retransmission, which gives no round trip, too.
#[test]
fn an_ack_without_a_round_trip_ends_a_row_of_timeouts() {
    let mut c = swift(PARAMS, 100);
    for n in 1..=4 {
        c.on_timeout(&Loss { now: Time::from_us(100 * n), ..loss(0, 0, 0) });
    }
    c.on_ack(&AckSample { now: Time::from_us(450), rtt: None, ..ack(1000, 0) });
    c.on_timeout(&Loss { now: Time::from_us(500), ..loss(0, 0, 0) });
    assert!(c.window > 1000.0, "one timeout, not five: {}", c.window);
}

#[test]
fn an_ack_without_a_round_trip_lets_a_window_grow_whose_delay_is_below_the_target() {
    let unmeasured = |mean_us: u64| {
        let mut c = swift(PARAMS, 4);
        (c.window, c.rtt) = (10.0, Span::from_us(mean_us));
        c.on_ack(&AckSample { rtt: None, ..ack(1000, 0) });
        c.window
    };
    assert_eq!(unmeasured(30), 1010.0, "after timeouts the window is 0.01 packets; the target is 36 us");
    assert_eq!([unmeasured(40), unmeasured(0)], [10.0, 10.0], "above it, or never measured");
}
