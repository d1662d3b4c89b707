use super::super::Delivery;
use super::super::contract::conformance::{loss, start};
use super::params::{DelayRule, Profile};
use super::*;
use std::collections::VecDeque;

/// Segments of 1448 B with 52 B of headers at a link of 96 Mb/s and 50 ms.
const MU: f64 = 12e6;
const MSS: u64 = 1448;
/// Two round trips' worth.
const BUFFER: f64 = 1.2e6;

fn params() -> Params {
    Params { link_rate: Some(Rate::from_mbps(96)), ..Params::default() }
}

fn flow(params: Params) -> Nimbus {
    let start = Start {
        header: 52,
        line_rate: Rate::from_gbps(1),
        base_rtt: Span::from_ms(50),
        ..start(MSS as u32, 10)
    };
    Nimbus::new(&start, params)
}

/// What the others send, B/s.
enum Others {
    Constant(f64),
    /// All that was left a round trip ago, as an ACK-clocked flow does that has the rest of the link.
    Elastic,
}

/// A fluid link, a millisecond at a time: what the flow sends and what others send pass one queue, first in, first
/// out. Returns the queue's mean delay in seconds over the last half, and the part of the time in which it competes.
fn run(c: &mut Nimbus, others: &Others, seconds: u64) -> (f64, f64) {
    let (mut queue, mut now) = (0.0f64, Time::ZERO);
    // Packets on their way: (ACK comes at, sent at, total sent with it).
    let mut flying: VecDeque<(Time, Time, u64)> = VecDeque::new();
    let (mut credit, mut sent, mut acked) = (0.0, 0u64, 0u64);
    // What had been delivered, and when, and when the packet was sent that was acknowledged then: by packet.
    let mut known: VecDeque<(u64, Time, Time)> = VecDeque::new();
    let (mut at, mut last_sent) = (Time::ZERO, Time::ZERO);
    let mut past: VecDeque<f64> = VecDeque::from(vec![MU / 2.0; 60]);
    let mut lost = Time::ZERO;
    let (mut delays, mut competes, mut samples) = (0.0, 0.0, 0.0);
    c.on_open(now, Some(Span::from_ms(50)), Feedback::None);
    for ms in 0..seconds * 1000 {
        now = Time::from_ms(ms);
        while flying.front().is_some_and(|(due, ..)| *due <= now) {
            let (due, left, _) = flying.pop_front().unwrap();
            let (before, before_at, before_sent) = known.pop_front().unwrap();
            acked += MSS;
            (at, last_sent) = (due, left);
            c.on_ack(&AckSample {
                now,
                rtt: Some(due.since(left)),
                acked: Bytes::new(MSS),
                in_flight: Bytes::new(sent - acked),
                acked_to: acked,
                sent_to: sent,
                cwnd_limited: false,
                delivery: Some(Delivery {
                    delivered: Bytes::new(acked - before),
                    departures: left.since(before_sent),
                    arrivals: due.since(before_at),
                    sent: left,
                    total: Bytes::new(acked),
                    ..Delivery::default()
                }),
                ..AckSample::default()
            });
        }
        while c.permit().wake.is_some_and(|wake| wake <= now) {
            c.on_tick(now);
        }
        let rate = c.permit().pace.unwrap().bps() as f64 / 8.0;
        let cross = match others {
            Others::Constant(rate) => *rate,
            Others::Elastic => MU - past[0],
        };
        past.pop_front();
        past.push_back(rate.min(MU));
        credit += rate * 1e-3;
        while credit >= 1500.0 {
            credit -= 1500.0;
            sent += MSS;
            let delay = Span::from_secs_f64(0.05 + queue / MU);
            flying.push_back((now.saturating_add(delay), now, sent));
            known.push_back((acked, at, last_sent));
            c.on_sent(now, Bytes::new(MSS), Bytes::new(sent - acked));
            queue += 1500.0;
        }
        queue = (queue + (cross - MU) * 1e-3).max(0.0);
        // A full buffer loses something, of which the flow is notified once per round trip.
        if queue > BUFFER {
            queue = BUFFER;
            if now.since(lost) > Span::from_secs_f64(c.measured.path.last) {
                c.on_loss(&Loss { now, ..loss(sent - acked, acked, sent) });
                lost = now;
            }
        }
        if ms >= seconds * 500 {
            delays += queue / MU;
            competes += f64::from(u8::from(c.mode == Mode::Competitive));
            samples += 1.0;
        }
    }
    (delays / samples, competes / samples)
}

#[test]
fn against_constant_traffic_it_keeps_the_delay_at_its_target() {
    let mut c = flow(params());
    let (delay, competes) = run(&mut c, &Others::Constant(MU / 2.0), 40);
    assert!(competes < 0.05, "{competes}");
    assert!((0.008..0.018).contains(&delay), "{delay}");
}

#[test]
fn against_traffic_that_takes_what_is_left_it_competes() {
    let mut c = flow(Params { initial: Mode::Delay, ..params() });
    let (_, competes) = run(&mut c, &Others::Elastic, 40);
    assert!(competes > 0.95, "{competes}");
}

#[test]
fn without_switching_the_detector_only_watches() {
    let mut c = flow(Params { switching: false, initial: Mode::Delay, ..params() });
    let (_, competes) = run(&mut c, &Others::Elastic, 20);
    assert_eq!(competes, 0.0);
    assert!(c.reading.unwrap().eta > 2.0, "{:?}", c.reading);
}

#[test]
fn every_delay_rule_keeps_delays_low_against_constant_traffic() {
    for delay in [DelayRule::BasicDelay, DelayRule::Copa, DelayRule::Vegas, DelayRule::Fast] {
        for profile in [Profile::Paper, Profile::Artifact] {
            let mut c = flow(Params { delay, profile, ..params() });
            let (delay_s, competes) = run(&mut c, &Others::Constant(MU / 2.0), 60);
            assert!(competes < 0.2 && delay_s < 0.03, "{delay:?} {profile:?}: {delay_s} {competes}");
        }
    }
}

#[test]
fn the_pulse_is_on_what_is_sent_and_falls_no_lower_than_a_twentieth_of_the_link() {
    let mut c = flow(params());
    c.begin(Time::ZERO);
    c.base = 6e6;
    let rate = |c: &mut Nimbus, ms: u64| {
        c.on_sent(Time::from_ms(ms), Bytes::new(MSS), Bytes::new(MSS));
        c.rate
    };
    assert!((rate(&mut c, 25) - 9e6).abs() < 1.0, "a quarter of the link more");
    assert!((rate(&mut c, 125) - 5e6).abs() < 1.0, "a twelfth less");
    assert!((rate(&mut c, 200) - 6e6).abs() < 1.0);
    c.base = 1e6;
    assert!((rate(&mut c, 325) - 0.6e6).abs() < 1.0);
}

#[test]
fn losses_cut_the_window_that_competes_whatever_the_mode_and_the_rate_only_there() {
    let mut c = flow(Params { initial: Mode::Delay, ..params() });
    c.begin(Time::ZERO);
    let (window, rate) = (c.competitive.window(), c.base);
    c.on_loss(&loss(10 * MSS, 0, 10 * MSS));
    assert!(c.competitive.window() < window && c.base == rate);
    let mut c = flow(params());
    c.begin(Time::ZERO);
    c.competitive.take_up(400 * MSS);
    c.base = c.competing_rate();
    let rate = c.base;
    c.on_timeout(&loss(400 * MSS, 0, 400 * MSS));
    assert!((c.base / rate - 0.7).abs() < 0.01, "{} {rate}", c.base);
}

#[test]
fn what_is_taken_up_again_is_the_rate_of_before_the_window() {
    let mut c = flow(Params { initial: Mode::Delay, ..params() });
    c.measured.path.last = 0.1;
    for n in 0..520 {
        c.history.push(Sample { received: 1e6, base: if n < 20 { 5e6 } else { 2e6 }, rtt: 0.1 });
    }
    c.switch(Time::from_ms(7000), Mode::Competitive);
    // 5 MB/s on the wire for 100 ms.
    assert!(
        (c.competitive.window() as f64 - 5e5 * 1448.0 / 1500.0).abs() < 2.0,
        "{}",
        c.competitive.window()
    );
    // Not back within the hold.
    c.switch(Time::from_ms(11_999), Mode::Delay);
    assert_eq!(c.mode, Mode::Competitive);
    c.switch(Time::from_ms(12_000), Mode::Delay);
    assert_eq!(c.mode, Mode::Delay);
}

#[test]
fn ticks_that_fell_due_in_silence_are_one() {
    let mut c = flow(params());
    c.on_open(Time::ZERO, Some(Span::from_ms(50)), Feedback::None);
    c.on_tick(Time::from_ms(9));
    assert_eq!(c.permit().wake, Some(Time::from_ms(10)));
    c.on_tick(Time::from_ms(25));
    assert_eq!(c.permit().wake, Some(Time::from_ms(30)));
}
