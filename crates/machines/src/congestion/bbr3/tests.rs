use super::super::Delivery;
use super::super::contract::conformance::{ack, loss, start};
use super::*;

const MS: fn(u64) -> Time = Time::from_ms;

/// 1000 B segments, 10 of them at first, a base round trip of 10 ms, a line of 1 Gb/s.
fn bbr3() -> Bbr3 {
    let start = Start { base_rtt: Span::from_ms(10), line_rate: Rate::from_gbps(1), ..start(1000, 10) };
    Bbr3::new(&start, Params { margin: 0.0, quantum: Some(1), ..Params::default() })
}

/// An ACK of one segment at `ms`, with a sample of `delivered` segments in a round trip of 10 ms; `lost`
/// segments with it; `in_flight` left.
fn observe(c: &mut Bbr3, ms: u64, delivered: u64, lost: u64, in_flight: u64) {
    let interval = Span::from_ms(10);
    let delivery =
        Delivery { delivered: Bytes::new(1000 * delivered), arrivals: interval, ..Delivery::default() };
    c.flight.in_flight = 1000 * (in_flight + lost + 1);
    c.on_ack(&AckSample {
        now: MS(ms),
        rtt: Some(interval),
        in_flight: Bytes::new(1000 * in_flight),
        delivery: Some(delivery),
        ..ack(1000, 0)
    });
}

/// Rounds of so many segments each, from `ms` on: a sample per round, of all that the round delivered. The
/// instant after.
fn rounds(c: &mut Bbr3, ms: u64, segments: u64, in_flight: u64, count: u64) -> u64 {
    for round in 0..count {
        c.flight.delivered += 1000 * (segments - 1);
        observe(c, ms + 10 * round, segments, 0, in_flight);
    }
    ms + 10 * count
}

/// A full pipe of 20 segments per round trip of 10 ms, cruising, and the instant.
fn probing() -> (Bbr3, u64) {
    let mut c = bbr3();
    let ms = rounds(&mut c, 10, 20, 40, 4);
    assert_eq!(c.state, State::Drain);
    rounds(&mut c, ms, 20, 20, 1);
    // With no queue left ProbeBW_DOWN is over with the ACK that begins it.
    assert_eq!(c.state, State::Cruise);
    (c, ms + 10)
}

#[test]
fn startup_paces_at_2_77_of_the_initial_window_per_round_trip() {
    assert_eq!(bbr3().permit().pace, Some(Rate::from_bps(22_160_000))); // 10 000 B in 10 ms are 8 Mb/s
}

/// §5.3.1.2 and the table of §5.6.1.
#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe_and_every_state_has_its_gains() {
    let mut c = bbr3();
    let mut ms = 10;
    let mut states = Vec::new();
    for delivered in [10, 20, 24, 24, 24] {
        c.flight.delivered += 1000 * (delivered - 1);
        observe(&mut c, ms, delivered, 0, 60);
        states.push((c.state, c.pacing_gain(), c.cwnd_gain()));
        ms += 10;
    }
    let startup = (State::Startup, 2.77, 2.0);
    assert_eq!(states, [startup, startup, startup, startup, (State::Drain, 0.5, 2.0)]);
    // 24 segments per 10 ms: the product is 24 segments.
    observe(&mut c, ms, 24, 0, 25);
    assert_eq!(c.state, State::Drain);
    observe(&mut c, ms, 24, 0, 24);
    assert_eq!((c.state, c.pacing_gain(), c.cwnd_gain()), (State::Cruise, 1.0, 2.0));
    // Two to three seconds, or as many rounds as the product has segments: 24.
    let before = c.rounds.count;
    while c.state == State::Cruise {
        ms = rounds(&mut c, ms + 10, 24, 24, 1);
        assert!(c.rounds.count <= before + 25);
    }
    assert_eq!((c.state, c.pacing_gain(), c.cwnd_gain()), (State::Refill, 1.0, 2.0));
    ms = rounds(&mut c, ms, 24, 24, 1);
    assert_eq!((c.state, c.pacing_gain(), c.cwnd_gain()), (State::Up, 1.25, 2.25));
    // No more than before, three rounds long.
    rounds(&mut c, ms, 24, 30, 3);
    assert_eq!((c.state, c.pacing_gain(), c.cwnd_gain()), (State::Down, 0.9, 2.0));
    assert_eq!(c.bounds, Bounds::default(), "nothing was lost");
}

/// §5.3.3.5.
#[test]
fn a_bound_in_flight_rises_by_1_2_4_8_segments_in_successive_rounds_of_a_probe() {
    let (mut c, mut ms) = probing();
    c.bounds.inflight_longterm = Some(20_000);
    (c.state, c.window.cwnd) = (State::Refill, 20_000);
    let mut seen = Vec::new();
    for round in 0..6 {
        // 20 ACKs of a segment each, the window always full.
        for n in 0..20 {
            c.window.limits = true;
            observe(&mut c, ms + n / 2, 20, 0, 10);
        }
        ms += 10;
        if round > 0 {
            seen.push(c.bounds.inflight_longterm.unwrap());
        }
    }
    assert_eq!(c.state, State::Up);
    let steps: Vec<u64> = seen.windows(2).map(|w| (w[1] - w[0]).div_ceil(1000)).collect();
    assert!(
        steps.windows(2).all(|s| s[1] >= s[0]) && steps[steps.len() - 1] >= 4 * steps[0].max(1),
        "{seen:?}"
    );
}

/// §5.5.10.3: max(latest, 0.7 of before).
#[test]
fn losses_while_cruising_lower_bounds_to_what_is_delivered_but_by_a_third_at_most() {
    let (mut c, ms) = probing();
    observe(&mut c, ms, 20, 0, 20);
    c.state = State::Cruise;
    c.window.cwnd = 40_000;
    // Rounds of 18 segments: one is lost in every other, and the ACK of the next one ends it.
    for (round, lowest) in [(1, 20), (3, 18)] {
        c.flight.delivered += 17_000;
        observe(&mut c, ms + 10 * round, 18, 1, 20);
        c.flight.delivered += 17_000;
        observe(&mut c, ms + 10 * round + 10, 18, 0, 20);
        // The round that saw the first loss began with 20 segments.
        assert_eq!(c.bounds.bw_shortterm, Some(lowest * 800_000));
    }
    assert_eq!(c.bw(), 18 * 800_000, "14.4 Mb/s");
    let signals = Signals::default();
    let mut bounds = Bounds::default();
    bounds.lower(&signals, 100, 1000, 0.7);
    assert_eq!((bounds.bw_shortterm, bounds.inflight_shortterm), (Some(70), Some(700)));
    bounds.lower(&signals, 100, 1000, 0.7);
    assert_eq!((bounds.bw_shortterm, bounds.inflight_shortterm), (Some(49), Some(489)));
}

/// §5.5.10.2: (0.02 · 95 − 1) / 0.98 of the five that were lost would have been too many.
#[test]
fn a_probe_that_loses_two_in_a_hundred_bounds_what_is_in_flight() {
    let rs = Sample { tx_in_flight: 100_000, lost: 6000, newly_lost: 5000, ..Sample::default() };
    assert_eq!(rs.inflight_at_loss(0.02), 95_918); // 95 000 + (1900 − 1000) / 0.98
    let (mut c, ms) = probing();
    (c.state, c.window.cwnd, c.cycle.is_probe_sample) = (State::Up, 40_000, true);
    observe(&mut c, ms, 20, 2, 20);
    assert_eq!(c.state, State::Down, "the probe ends at once");
    // 22 segments in flight, two lost: 20 + (0.02 · 20 − 0) / 0.98.
    assert_eq!(c.bounds.inflight_longterm, Some(20_408));
    assert_eq!(c.with_headroom(), Some(20_408 - 3061));
    observe(&mut c, ms + 1, 20, 2, 20);
    assert_eq!(c.bounds.inflight_longterm, Some(20_408), "a probe is answered once");
}

/// §5.3.3.8.
#[test]
fn it_probes_after_as_many_rounds_as_the_product_has_segments_at_most_63() {
    for (segments, most) in [(20, 20), (200, 63)] {
        let (mut c, mut ms) = probing();
        (c.bandwidth, c.rounds.since_probe_up) = (Bandwidth::default(), 0);
        let before = c.rounds.count;
        while c.state == State::Cruise {
            c.window.cwnd = 1_000_000;
            ms = rounds(&mut c, ms, segments, 10, 1); // 63 rounds are 0.6 s: never by the clock
        }
        assert_eq!(c.rounds.count - before, most);
    }
}

/// §5.3.4: half a product for 200 ms every five seconds, which costs two per cent.
#[test]
fn every_five_seconds_the_pipe_runs_half_full_for_200_ms() {
    let (mut c, _) = probing();
    c.state = State::Cruise;
    let late = |c: &mut Bbr3, ms: u64, in_flight: u64| {
        c.flight.delivered += 19_000;
        let delivery =
            Delivery { delivered: Bytes::new(20_000), arrivals: Span::from_ms(11), ..Delivery::default() };
        c.flight.in_flight = 1000 * (in_flight + 1);
        let (rtt, in_flight) = (Some(Span::from_ms(11)), Bytes::new(1000 * in_flight));
        c.on_ack(&AckSample { now: MS(ms), rtt, in_flight, delivery: Some(delivery), ..ack(1000, 0) });
    };
    late(&mut c, 4900, 20);
    assert_ne!(c.state, State::ProbeRtt);
    let before = c.window.cwnd;
    late(&mut c, 5100, 20);
    assert_eq!((c.state, c.cwnd_gain()), (State::ProbeRtt, 0.5));
    assert!(c.window.cwnd <= 11_000, "half of 20 segments: {}", c.window.cwnd);
    late(&mut c, 5110, 9);
    for ms in [5200, 5300, 5309] {
        late(&mut c, ms, 9);
        assert_eq!(c.state, State::ProbeRtt);
    }
    late(&mut c, 5311, 9);
    assert_eq!(c.state, State::Cruise);
    assert!(c.window.cwnd >= before, "{} after {before}", c.window.cwnd);
}

/// §5.3.4.3: BBREnterProbeRTT, and then BBRSaveCwnd.
#[test]
fn of_the_windows_saved_before_and_at_probe_rtt_the_larger_comes_back() {
    let (mut c, _) = probing();
    (c.state, c.window.prior_cwnd) = (State::Cruise, 500_000);
    let (now, rtt, in_flight) = (MS(5100), Some(Span::from_ms(11)), Bytes::new(20_000));
    c.on_ack(&AckSample { now, rtt, in_flight, ..ack(1000, 0) });
    assert_eq!((c.state, c.window.prior_cwnd), (State::ProbeRtt, 500_000));
}

#[test]
fn six_acks_with_losses_in_a_round_of_recovery_end_startup() {
    let mut c = bbr3();
    rounds(&mut c, 10, 10, 20, 1);
    c.on_loss(&loss(20_000, 0, 1_000_000_000));
    let mut ms = 20;
    for n in 0..8 {
        // Each ACK reports one more lost segment; the round ends with the eighth.
        c.flight.delivered += if n == 7 { 40_000 } else { 0 };
        observe(&mut c, ms, if n == 7 { 20 } else { 10 }, 1, 20);
        ms += 1;
    }
    let done = (0..3).any(|_| {
        ms = rounds(&mut c, ms, 20, 20, 1);
        c.state != State::Startup
    });
    assert!(done || c.state != State::Startup, "{:?}", c.state);
    assert!(c.bounds.inflight_longterm.is_some());
}

#[test]
fn a_timeout_leaves_one_segment_and_the_window_comes_back_after_the_repair() {
    let (mut c, ms) = probing();
    observe(&mut c, ms, 20, 0, 20);
    let before = c.window.cwnd;
    c.on_timeout(&loss(20_000, 0, 1_000_000));
    assert_eq!(c.permit().window, Bytes::new(1000));
    c.flight.in_flight = 1000;
    let acked = AckSample { now: MS(ms + 50), rtt: None, acked_to: 1_000_000, ..ack(1000, 0) };
    c.on_ack(&acked);
    assert!(c.window.cwnd >= before.min(20_000), "{} after {before}", c.window.cwnd);
}

/// §5.5.3: the largest of the present cycle and of the one before it; what is older counts until there is something
/// newer.
#[test]
fn the_bandwidth_is_the_largest_of_two_cycles() {
    let mut bandwidth = Bandwidth::default();
    let mut seen = |cycles: u64, rate| {
        (0..cycles).for_each(|_| bandwidth.advance());
        bandwidth.update(&Sample { is_there: true, rate, ..Sample::default() });
        bandwidth.max()
    };
    assert_eq!(
        [(0, 100), (1, 90), (1, 70), (0, 30), (1, 30)].map(|(n, r)| seen(n, r)),
        [100, 100, 90, 90, 70]
    );
    assert_eq!([(0, 20), (1, 10), (1, 40), (2, 5)].map(|(n, r)| seen(n, r)), [70, 30, 40, 5]);
}
