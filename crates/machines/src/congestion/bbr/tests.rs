use super::super::contract::conformance::{ack, loss, start};
use super::*;

const MS: fn(u64) -> Time = Time::from_ms;

/// 1000 B segments, 10 of them at first, a base round trip of 10 ms, a line of 1 Gb/s.
fn bbr() -> Bbr {
    let start = Start { base_rtt: Span::from_ms(10), line_rate: Rate::from_gbps(1), ..start(1000, 10) };
    Bbr::new(&start, Params { margin: 0.0, quantum: Some(1), aggregation: false, ..Params::default() })
}

/// An ACK of one segment at `ms`, with a rate sample of `delivered` segments in 10 ms and a round trip of 10 ms.
fn sample(c: &mut Bbr, ms: u64, delivered: u64, in_flight: u64) {
    let interval = Span::from_ms(10);
    let delivery =
        Delivery { delivered: Bytes::new(1000 * delivered), arrivals: interval, ..Delivery::default() };
    c.flight.in_flight = 1000 * (in_flight + 1);
    c.on_ack(&AckSample {
        now: MS(ms),
        rtt: Some(interval),
        in_flight: Bytes::new(1000 * in_flight),
        delivery: Some(delivery),
        ..ack(1000, 0)
    });
}

#[test]
fn startup_paces_at_two_over_ln_two_of_the_initial_window_per_round_trip() {
    // 10 000 B in 10 ms are 8 Mb/s.
    assert_eq!(bbr().permit().pace, Some(Rate::from_bps(23_080_000)));
    let framed = Bbr { given: Given { wire: 1.05, ..bbr().given }, ..bbr() };
    assert_eq!(framed.permit().pace, Some(Rate::from_bps(24_234_000)), "on the wire, headers included");
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe_and_what_is_too_much_drains() {
    let mut c = bbr();
    c.flight.in_flight = 100_000;
    let mut states = Vec::new();
    for (round, delivered) in [10, 20, 24, 24, 24, 24].into_iter().enumerate() {
        // Each sample begins a round: what it covers was sent after the last one.
        c.flight.delivered += 1000 * delivered;
        sample(&mut c, 10 * (1 + round as u64), delivered, 60);
        states.push(c.state);
    }
    // 20 is double; 24 is no quarter more than 20 was, three times.
    use State::*;
    assert_eq!(states, [Startup, Startup, Startup, Startup, Drain, Drain]);
    assert_eq!(c.pacing_gain(), 1.0 / 2.885);
    // 24 segments per 10 ms: the product is 24 segments, and 3 for the quanta.
    assert_eq!(c.inflight(c.bw(), 1.0, 0), 27_000);
    sample(&mut c, 70, 24, 28);
    assert_eq!(c.state, Drain);
    sample(&mut c, 71, 24, 27);
    assert_eq!(c.state, ProbeBw);
    assert_ne!(c.cycle.phase, 1, "never the lower gain first");
}

/// A full pipe of 20 segments per round trip of 10 ms, in phase `phase` since `ms`.
fn probing(phase: u8, ms: u64) -> Bbr {
    let mut c = bbr();
    c.bandwidth.update(10, 0, 16_000_000);
    (c.trips.rtprop, c.trips.at) = (Some(Span::from_ms(10)), MS(ms));
    (c.pipe.filled, c.state, c.cycle.phase, c.cycle.since) = (true, State::ProbeBw, phase, MS(ms));
    (c.flight.delivered, c.rounds.next) = (1_000_000, u64::MAX);
    c.window.cwnd = 40_000;
    c
}

#[test]
fn the_cycle_probes_until_the_queue_is_there_drains_until_it_is_gone_and_cruises_six_round_trips() {
    let mut c = probing(0, 100);
    // 1.25 · 20 + 3 + 2 segments must have been in flight.
    sample(&mut c, 111, 20, 28);
    assert_eq!((c.cycle.phase, c.pacing_gain()), (0, 1.25));
    sample(&mut c, 112, 20, 29);
    assert_eq!((c.cycle.phase, c.pacing_gain()), (1, 0.75));
    assert_eq!(c.permit().pace, Some(Rate::from_mbps(12)));
    sample(&mut c, 113, 20, 23);
    assert_eq!(c.cycle.phase, 1);
    sample(&mut c, 114, 20, 22);
    assert_eq!((c.cycle.phase, c.pacing_gain()), (2, 1.0), "23 segments were in flight: nothing waits");
    for (ms, phase) in [(124, 2), (125, 3), (136, 4), (147, 5), (158, 6), (169, 7), (180, 0)] {
        sample(&mut c, ms, 20, 20);
        assert_eq!(c.cycle.phase, phase, "{ms}");
    }
}

#[test]
fn the_window_is_two_products_and_three_quanta() {
    let mut c = probing(3, 100);
    for n in 0..20 {
        sample(&mut c, 101 + n / 4, 20, 20);
    }
    assert_eq!(c.permit().window, Bytes::new(43_000));
    let linux = Bbr { params: Params { quantum: None, ..c.params }, ..c };
    // 16 Mb/s are two segments in 1 ms: 40 + 6.
    assert_eq!(linux.inflight(linux.bw(), 2.0, 0), 46_000);
    // 64 KiB are sent at once at most, 65 segments of 1000 B; and 127 of any size.
    assert_eq!(Bbr { pace: 10_000_000_000, ..linux }.quantum(), 65);
    let small = Bbr { given: Given { mss: 100, ..linux.given }, pace: 10_000_000_000, ..linux };
    assert_eq!(small.quantum(), 127);
}

#[test]
fn ten_seconds_without_a_smaller_round_trip_leave_four_segments_for_a_fifth_of_a_second() {
    let mut c = probing(3, 100);
    let slower = |c: &mut Bbr, ms, in_flight: u64| {
        c.flight.in_flight = 1000 * (in_flight + 1);
        let rtt = Some(Span::from_ms(12));
        let delivery = Some(Delivery { arrivals: Span::from_ms(12), ..Delivery::default() });
        c.on_ack(&AckSample {
            now: MS(ms),
            rtt,
            in_flight: Bytes::new(1000 * in_flight),
            delivery,
            ..ack(1000, 0)
        });
    };
    slower(&mut c, 10_100, 20);
    assert_eq!(c.state, State::ProbeBw);
    slower(&mut c, 10_101, 20);
    assert_eq!((c.state, c.permit().window), (State::ProbeRtt, Bytes::new(4000)));
    assert_eq!(c.trips.rtprop, Some(Span::from_ms(12)), "the old one has expired");
    slower(&mut c, 10_110, 4);
    assert_eq!(c.trips.done_at, Some(MS(10_310)));
    // A round must pass too.
    c.rounds.next = 0;
    slower(&mut c, 10_310, 4);
    assert_eq!(c.state, State::ProbeRtt);
    slower(&mut c, 10_311, 4);
    assert_eq!((c.state, c.trips.at), (State::ProbeBw, MS(10_311)));
    assert!(c.permit().window >= Bytes::new(40_000), "{:?}", c.permit());
}

#[test]
fn samples_of_an_application_or_of_probe_rtt_only_raise_the_bandwidth() {
    let mut c = probing(3, 100);
    c.flight.limited = (990_000, 1_000_000);
    let limited = |c: &mut Bbr, delivered, app_limited| {
        let sample = Delivery {
            delivered: Bytes::new(delivered),
            arrivals: Span::from_ms(10),
            app_limited,
            ..Delivery::default()
        };
        c.rounds.count += 20;
        c.update_bandwidth(MS(101), Some(sample), 0);
        c.bw()
    };
    assert_eq!(limited(&mut c, 10_000, false), 16_000_000, "sent while PROBE_RTT held it back");
    assert_eq!(limited(&mut c, 5000, true), 16_000_000);
    assert_eq!(limited(&mut c, 30_000, true), 24_000_000);
    assert_eq!(limited(&mut c, 15_000, false), 12_000_000, "twenty rounds later");
}

#[test]
fn a_round_of_repair_conserves_packets_and_then_the_window_comes_back() {
    let mut c = probing(3, 100);
    c.window.cwnd = 40_000;
    // 40 in flight; an ACK of one reports three as lost.
    c.flight.in_flight = 40_000;
    c.on_ack(&AckSample {
        now: MS(101),
        in_flight: Bytes::new(36_000),
        acked_to: 0,
        rtt: None,
        ..ack(1000, 0)
    });
    assert_eq!((c.flight.lost, c.window.cwnd), (3000, 38_000));
    c.on_loss(&loss(40_000, 0, 40_000));
    assert_eq!((c.window.cwnd, c.window.prior), (37_000, 40_000));
    c.flight.in_flight = 37_000;
    c.on_ack(&AckSample {
        now: MS(102),
        in_flight: Bytes::new(36_000),
        acked_to: 0,
        rtt: None,
        ..ack(1000, 0)
    });
    assert_eq!(c.window.cwnd, 37_000, "one in, one out");
    c.flight.in_flight = 37_000;
    c.on_ack(&AckSample {
        now: MS(103),
        in_flight: Bytes::new(2000),
        acked_to: 40_000,
        rtt: None,
        ..ack(35_000, 0)
    });
    assert_eq!((c.window.repair, c.window.cwnd), (Repair::No, 43_000));
}

#[test]
fn after_a_timeout_a_segment_and_after_its_repair_the_window_of_before() {
    let mut c = probing(3, 100);
    c.on_timeout(&loss(40_000, 0, 40_000));
    assert_eq!(c.permit().window, Bytes::new(1000));
    c.flight.in_flight = 1000;
    c.on_ack(&AckSample { now: MS(300), in_flight: Bytes::ZERO, acked_to: 1000, rtt: None, ..ack(1000, 0) });
    assert_eq!(c.window.cwnd, 4000, "the least there is");
    c.on_ack(&AckSample {
        now: MS(301),
        in_flight: Bytes::ZERO,
        acked_to: 40_000,
        rtt: None,
        ..ack(1000, 0)
    });
    assert_eq!(c.window.cwnd, 41_000);
}

/// Draft, §4.3.5: BBREnterProbeRTT, and then BBRSaveCwnd, which keeps what was saved last if it is larger.
#[test]
fn a_larger_window_that_was_saved_before_comes_back_after_probe_rtt() {
    let mut c = probing(3, 100);
    c.window.prior = 500_000;
    let slower = |ms| AckSample {
        now: MS(ms),
        rtt: Some(Span::from_ms(12)),
        in_flight: Bytes::new(20_000),
        ..ack(1000, 0)
    };
    c.on_ack(&slower(10_100));
    c.on_ack(&slower(10_101));
    assert_eq!((c.state, c.window.prior), (State::ProbeRtt, 500_000));
}
