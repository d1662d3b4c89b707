use super::super::contract::conformance::{ack, loss, start};
use super::*;

/// As the paper's text has it.
const PAPER: Params = Params { independent: false, any_size: false, bytes: false };

fn sprout() -> Sprout {
    made(PAPER)
}
fn made(params: Params) -> Sprout {
    params.make(&Start { base_rtt: Span::from_ms(40), ..start(1000, 10) }).unwrap()
}
/// An ACK at `ms` with the forecast of a tick: so many packets per tick.
fn receives(s: &mut Sprout, ms: u64, tick: u32, per_tick: u8, in_flight: u64) {
    let delivers = [1, 2, 3, 4, 5, 6, 7, 8].map(|n| n * per_tick);
    let reported = Forecast { tick, delivers, ..Forecast::default() };
    let feedback = Feedback::Explicit(Explicit::Forecast(reported));
    let in_flight = Bytes::new(in_flight * 1000);
    s.on_ack(&AckSample { now: Time::from_ms(ms), in_flight, feedback, ..ack(1000, 0) });
}
fn window(s: &Sprout) -> u64 {
    s.permit().window.get() / 1000
}

#[test]
fn what_the_forecast_delivers_within_a_tenth_of_a_second_may_follow_less_what_is_queued() {
    let mut s = sprout();
    receives(&mut s, 100, 1, 4, 3);
    // Five ticks of four, of which three segments are out.
    assert_eq!(window(&s), 20);
    s.on_sent(Time::from_ms(101), Bytes::new(1000), Bytes::new(4000));
    assert_eq!(window(&s), 20, "what leaves is queued");
    assert_eq!(s.permit().wake, Some(Time::from_ms(120)));
    s.on_tick(Time::from_ms(120));
    assert_eq!(window(&s), 24, "a tick has passed: four of the queue are delivered");
    // Beyond its end the forecast promises nothing: 32 - 16 packets are ahead after the fourth tick, 12 after
    // the fifth.
    s.on_tick(Time::from_ms(180));
    assert_eq!((window(&s), s.queue), (4 + 12, 0));
    s.on_tick(Time::from_ms(300));
    assert_eq!(s.passed, 7);
}

#[test]
fn a_forecast_that_is_known_is_not_made_younger_by_another_ack() {
    let mut s = sprout();
    receives(&mut s, 100, 1, 4, 20);
    s.on_tick(Time::from_ms(120));
    assert_eq!((s.passed, s.queue), (1, 16_000));
    receives(&mut s, 121, 1, 4, 19);
    assert_eq!((s.passed, s.queue, s.came), (1, 16_000, Some(Time::from_ms(100))));
    receives(&mut s, 125, 2, 4, 18);
    assert_eq!((s.passed, s.queue, s.came), (0, 18_000, Some(Time::from_ms(125))));
}

#[test]
fn a_keep_alive_leaves_every_fifty_milliseconds_but_only_as_many_as_a_round_trip_has() {
    let mut s = sprout();
    receives(&mut s, 100, 1, 0, 1);
    s.on_sent(Time::from_ms(100), Bytes::new(1000), Bytes::new(1000));
    assert_eq!(window(&s), 1);
    s.on_tick(Time::from_ms(140));
    assert_eq!(window(&s), 1);
    s.on_tick(Time::from_ms(160));
    assert_eq!(window(&s), 2, "60 ms of silence");
    s.on_sent(Time::from_ms(160), Bytes::new(1000), Bytes::new(2000));
    s.on_tick(Time::from_ms(220));
    assert_eq!(window(&s), 2, "two are in flight, in a round trip of 40 ms");
}

#[test]
fn before_the_first_forecast_the_window_is_that_of_a_new_forecaster() {
    let s = sprout();
    let reported = Forecaster::new(Reading::default(), 1000).forecast().delivers;
    assert_eq!(s.permit().window.get(), (u64::from(reported[5] - reported[0]) * 1000).max(1000));
    assert_eq!(s.permit().wake, None);
}

#[test]
fn a_timeout_forgets_what_was_in_flight_and_a_loss_changes_nothing() {
    let mut s = sprout();
    receives(&mut s, 100, 1, 4, 20);
    let before = s.permit();
    s.on_loss(&loss(20_000, 0, 20_000));
    assert_eq!(s.permit(), before);
    s.on_timeout(&Loss { now: Time::from_ms(101), ..loss(20_000, 0, 20_000) });
    assert_eq!((s.queue, window(&s)), (0, 20));
}

#[test]
fn with_packets_of_any_size_a_keep_alive_is_a_byte_and_leaves_to_the_millisecond() {
    let mut s = made(Params { any_size: true, ..PAPER });
    receives(&mut s, 100, 1, 0, 1);
    s.on_sent(Time::from_ms(100), Bytes::new(1000), Bytes::new(1000));
    s.on_tick(Time::from_ms(140));
    assert_eq!((s.permit().window, s.permit().wake), (Bytes::new(1000), Some(Time::from_ms(150))));
    s.on_tick(Time::from_ms(150));
    assert_eq!(s.permit().window, Bytes::new(1001));
}

#[test]
fn by_bytes_a_forecast_is_packets_of_the_program() {
    let mut s = made(Params { bytes: true, ..Params::default() });
    receives(&mut s, 100, 1, 4, 3);
    assert_eq!(s.permit().window, Bytes::new(5 * 4 * 1440));
}
