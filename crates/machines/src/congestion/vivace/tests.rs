use super::super::contract::conformance::{ack, loss, start};
use super::*;
use thalweg_units::Span;

/// Segments of 1000 B and no headers; 100 ms; starts at 100 000 B/s: 100 segments per second.
fn vivace() -> Vivace {
    let params = Params { initial_rate: Rate::from_bps(800_000), ..Params::default() };
    params.make(&Start { base_rtt: Span::from_ms(100), ..start(1000, 10) }).unwrap()
}

/// A path: what leaves is answered for after a round trip, which may change, or lost.
struct Path {
    v: Vivace,
    now: Time,
    in_flight: std::collections::VecDeque<(Time, Span, bool)>,
}

impl Path {
    fn of(v: Vivace) -> Self {
        Self { v, now: Time::ZERO, in_flight: [].into() }
    }
    /// For so long, with round trips by instant and the losses of every so many packets (0: none).
    fn goes_on(&mut self, ms: u64, rtt: impl Fn(Time, f64) -> Span, one_in: u64) {
        let until = self.now.saturating_add(Span::from_ms(ms));
        let mut next = self.now;
        while self.now < until {
            let answered = self.in_flight.front().map(|(sent, rtt, _)| sent.saturating_add(*rtt));
            if let Some(at) = answered.filter(|at| *at <= next) {
                let (_, rtt, lost) = self.in_flight.pop_front().unwrap();
                self.now = at;
                let in_flight = Bytes::new(1000 * self.in_flight.len() as u64);
                if !lost {
                    self.v.on_ack(&AckSample { now: at, rtt: Some(rtt), in_flight, ..ack(1000, 0) });
                }
                continue;
            }
            self.now = next;
            let rate = self.v.permit().pace.unwrap().bps() as f64 / 8.0;
            let lost = one_in > 0 && (self.v.totals.sent / 1000).is_multiple_of(one_in);
            let last = self.in_flight.back().map_or(Time::ZERO, |(sent, rtt, _)| sent.saturating_add(*rtt));
            let arrives = next.saturating_add(rtt(next, rate)).max(last);
            self.in_flight.push_back((next, arrives.since(next), lost));
            self.v.on_sent(next, Bytes::new(1000), Bytes::new(1000 * self.in_flight.len() as u64));
            next = next.saturating_add(Span::from_secs_f64(1000.0 / rate));
        }
    }
}

/// Of so many bytes per second it queues what is more: the round trip grows.
fn link(capacity: f64) -> impl Fn(Time, f64) -> Span {
    let queue = std::cell::Cell::new((0.0, Time::ZERO));
    move |now, _| {
        let (bytes, since) = queue.get();
        let left = f64::max(bytes - capacity * now.since(since).secs(), 0.0) + 1000.0;
        queue.set((left, now));
        Span::from_secs_f64(0.1 + left / capacity)
    }
}

#[test]
fn a_rate_is_worth_itself_less_its_latency_and_losses() {
    let p = Params::default();
    assert_eq!(worth(&p, 1e6, 0.0, 0.0), 1e6);
    // 900 · 0.05 and 11 · 0.01.
    assert!((worth(&p, 1e6, 0.05, 0.0) - (1e6 - 45e6)).abs() < 1e-3);
    assert!((worth(&p, 1e6, 0.0, 0.01) - 890_000.0).abs() < 1e-3);
    // 10 Mb/s: 10^0.9 = 7.943, less 10 · 11.35 · 0.02 = 2.27.
    let published = Params { utility: Utility::Published, ..p };
    assert!((worth(&published, 1.25e6, 0.0, 0.02) * 8e-6 - 5.673).abs() < 1e-3);
}

/// Losses of a share L make u = r (1 - 11 L): it pays to grow below 1/11, whatever the rate, and to shrink above.
#[test]
fn a_random_loss_of_nine_per_cent_is_where_climbing_turns() {
    for (one_in, grows) in [(20, true), (7, false)] {
        let mut path = Path::of(vivace());
        (path.v.mode, path.v.rate) = (Mode::Probing, 1e6);
        path.v.begin(Time::ZERO);
        path.goes_on(5000, |_, _| Span::from_ms(100), one_in);
        assert_eq!(path.v.rate > 1e6, grows, "1 in {one_in}: {}", path.v.rate);
    }
}

#[test]
fn it_starts_by_half_as_much_again_per_interval_while_that_pays_and_goes_back() {
    let mut v = vivace();
    let mut rates = Vec::new();
    for worth in [1.0, 2.0, 3.0, 2.5] {
        rates.push(v.rate);
        v.trial.intervals[0].utility = Some(worth);
        v.decide();
    }
    assert_eq!(rates, [1e5, 1.5e5, 2.25e5, 3.375e5]);
    assert_eq!((v.rate, v.mode), (2.25e5, Mode::Probing));
}

#[test]
fn an_interval_has_fifty_packets_and_a_round_trip_and_neither_its_first_ten_nor_its_last_ten_count() {
    let mut v = vivace();
    let sends = |v: &mut Vivace, ms: u64| v.on_sent(Time::from_ms(ms), Bytes::new(1000), Bytes::ZERO);
    let totals = |v: &mut Vivace, ms: u64, in_flight: u64| {
        let in_flight = Bytes::new(in_flight * 1000);
        v.on_ack(&AckSample {
            now: Time::from_ms(ms),
            rtt: Some(Span::from_ms(100)),
            in_flight,
            ..ack(1000, 0)
        });
    };
    (0..60).for_each(|n| sends(&mut v, n));
    assert_eq!(v.trial.intervals[0].end, None, "nothing has been answered for");
    totals(&mut v, 100, 59);
    assert!(v.trial.intervals[0].end == Some(60_000) && (v.trial.intervals[0].lasted - 0.1).abs() < 1e-9);
    assert_eq!(v.permit().pace, Some(Rate::from_bps(800_000)), "goes on at its rate");
    (1..9).for_each(|n| totals(&mut v, 100 + n, 59 - n));
    assert_eq!(v.trial.intervals[0].from, None);
    totals(&mut v, 109, 50);
    assert_eq!(v.trial.intervals[0].from.unwrap().1.answered, 10_000);
    (10..50).for_each(|n| totals(&mut v, 100 + n, 59 - n));
    assert_eq!(v.rate, 1e5, "50 of 60 have been answered for");
    totals(&mut v, 150, 9);
    assert_eq!(v.last, Some((1e5, 1e5)), "nothing grew, nothing was lost: worth its rate");
    assert_eq!((v.rate, v.trial.intervals[0].begin), (1.5e5, 60_000));
}

#[test]
fn a_probe_is_two_pairs_in_random_order_and_both_must_agree() {
    let mut orders = std::collections::BTreeSet::new();
    let mut v = vivace();
    v.mode = Mode::Probing;
    for _ in 0..64 {
        v.begin(Time::ZERO);
        let rates = v.trial.intervals.map(|one| one.rate);
        for pair in rates.chunks(2) {
            assert!((pair[0] + pair[1] - 2e5).abs() < 1e-6 && ((pair[0] - pair[1]).abs() - 1e4).abs() < 1e-6);
        }
        orders.insert((rates[0] > rates[1], rates[2] > rates[3]));
    }
    assert_eq!(orders.len(), 4);
    let mut reported = |first_wins: [bool; 2]| {
        (v.mode, v.rate, v.last) = (Mode::Probing, 1e5, None);
        let rates = [1.05e5, 0.95e5, 0.95e5, 1.05e5];
        let wins = [first_wins[0], !first_wins[0], first_wins[1], !first_wins[1]];
        for (n, one) in v.trial.intervals.iter_mut().enumerate() {
            (one.rate, one.utility) = (rates[n], Some(n as f64 + if wins[n] { 5.0 } else { 3.0 }));
        }
        v.trial.count = 4;
        v.decide();
        (v.mode, v.rate, v.last)
    };
    // The utility of the second pair, which is that of the last two intervals.
    assert_eq!(reported([true, false]), (Mode::Moving, 1.05e5, Some((1.05e5, 8.0))));
    assert_eq!(reported([false, true]), (Mode::Moving, 0.95e5, Some((0.95e5, 7.0))));
    assert_eq!(reported([true, true]), (Mode::Probing, 1e5, None));
}

#[test]
fn steps_follow_the_gradient_get_longer_and_are_bounded_both_ways() {
    let mut v = vivace();
    (v.mode, v.rate, v.last) = (Mode::Moving, 1e6, Some((9e5, 9e5)));
    // A gradient of one, the third in a row: 3 · 25 000 B/s.
    v.climb(1e6);
    assert_eq!((v.rate, v.last, v.steps.amplifier), (1.075e6, Some((1e6, 1e6)), 3));
    // Two, four times: more than a tenth of the rate.
    v.climb(1e6 + 2.0 * 7.5e4);
    assert!((v.rate - 1.1825e6).abs() < 1e-3 && (v.steps.bound - 0.17).abs() < 1e-9, "{}", v.rate);
    // Hardly a gradient: 2.2 % all the same.
    v.climb(v.last.unwrap().1 + 1.0);
    assert!((v.rate - 1.1825e6 * 1.022).abs() < 1e-3 && v.steps.bound == 0.1);
    // A steep one downwards: a tenth of the rate that was tried, and a probe there; two directions in a row pass
    // before the amplifier grows again.
    let tried = v.rate;
    v.climb(v.last.unwrap().1 - 1e7);
    assert!((v.rate - 0.9 * tried).abs() < 1e-3);
    assert_eq!((v.mode, v.steps.amplifier, v.steps.swing), (Mode::Probing, 2, 1));
    (v.mode, v.rate, v.last) = (Mode::Moving, 1e6, Some((9e5, 9e5)));
    v.climb(1e6);
    assert_eq!((v.steps.amplifier, v.steps.swing), (2, 0));
}

/// The rate that won is compared with itself, which is no gradient; after a step down there is a probe.
#[test]
fn a_probe_is_followed_by_the_least_step_up_whichever_rate_won() {
    let mut v = vivace();
    (v.mode, v.rate) = (Mode::Probing, 1e6);
    v.begin(Time::ZERO);
    for one in &mut v.trial.intervals {
        one.utility = Some(-one.rate);
    }
    v.decide();
    assert_eq!((v.mode, v.rate, v.last), (Mode::Moving, 9.5e5, Some((9.5e5, -9.5e5))));
    v.climb(-9.5e5);
    assert_eq!((v.mode, v.rate, v.steps.amplifier), (Mode::Moving, 9.5e5 * 1.022, 3));
    v.climb(-9.5e5 * 1.022);
    // A gradient of minus one, the direction turned: 2 · 25 000 B/s down.
    assert!((v.rate - (9.5e5 * 1.022 - 5e4)).abs() < 1e-6 && v.mode == Mode::Probing, "{}", v.rate);
}

/// Alone on a link its rate stays around the capacity, and its queue small: u falls as soon as one grows by 3 %.
#[test]
fn alone_on_a_link_it_finds_its_rate() {
    let mut path = Path::of(vivace());
    let link = link(1.5e6); // 12 Mb/s
    path.goes_on(20_000, &link, 0);
    let (sent, mut waits) = (path.v.totals.sent, Vec::new());
    for _ in 0..200 {
        path.goes_on(50, &link, 0);
        waits.push(path.v.totals.srtt - 0.1);
    }
    let used = (path.v.totals.sent - sent) as f64 / 10.0 / 1.5e6;
    waits.sort_by(f64::total_cmp);
    assert!((0.85..=1.02).contains(&used), "{used}");
    assert!(waits[100] < 0.05, "{waits:?}");
}

#[test]
fn after_a_timeout_one_segment_leaves_until_an_ack_comes_and_then_it_probes() {
    let mut v = vivace();
    v.on_timeout(&loss(10_000, 0, 10_000));
    assert_eq!(v.permit().window, Bytes::new(1000));
    v.on_ack(&ack(1000, 0));
    assert_eq!((v.mode, v.trial.count, v.rate), (Mode::Probing, 4, 1e5));
    assert!(v.permit().window > Bytes::new(1000));
}

#[test]
fn the_window_is_twice_what_the_rate_brings_in_a_round_trip_and_four_segments_at_least() {
    let v = vivace();
    assert_eq!(
        v.permit(),
        Permit { window: Bytes::new(20_000), pace: Some(Rate::from_bps(800_000)), wake: None }
    );
    let slow = Params { initial_rate: Rate::from_bps(8), ..Params::default() };
    let v = slow.make(&Start { base_rtt: Span::from_ms(100), ..start(1000, 10) }).unwrap();
    assert_eq!(v.permit().window, Bytes::new(4000));
    assert_eq!(v.bounded(1.0), 20_000.0, "two per round trip");
}
