//! Schedules computed by hand.

use super::*;

/// A network in which a gain of scale 1 holds: 100 Gb/s and 12 us carry 150 000 B.
const RTT: Span = Span::from_us(12);
const RATE: Rate = Rate::from_gbps(100);
const COMMON: Common = Common { mtu: 1000, payload: 1000, line_rate: RATE, base_rtt: RTT };

fn spec() -> WindowSpec {
    WindowSpec::Nscc(NsccSpec::of(RTT, RATE, true))
}
fn us(us: u64) -> Time {
    Time::from_us(us)
}
/// An ACK of so many bytes at this time, after a delay of so many us.
fn acked(at: u64, new: u64, delay: u64, marked: bool) -> Acked {
    let rtt = Some(Sample { rtt: RTT + Span::from_us(delay), lowers_base: true });
    Acked { now: us(at), new, rtt, marked, in_flight: 50_000 }
}
fn nacked(at: u64) -> Nacked {
    Nacked { now: us(at), bytes: 1000, rtt: None, spares: false, in_flight: 50_000 }
}
/// A window of so many bytes, by timeouts.
fn window(spec: &WindowSpec, size: u64) -> Window {
    let mut window = spec.make(&COMMON);
    while window.size() > size {
        window.on_timeout(spec, (window.size() - size).min(1000) as u32);
    }
    window
}

#[test]
fn it_starts_with_one_and_a_half_of_what_a_round_trip_carries() {
    assert_eq!((spec().make(&COMMON).size(), spec().make(&COMMON).base_rtt()), (225_000, RTT));
}

#[test]
fn without_marks_below_the_target_a_window_adds_four_packets_per_12_us_that_are_missing() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    // The target is 9 us; 6 are missing: 2 packets per acknowledged window. η adds 150 B, as the period is over.
    window.on_ack(&spec, &acked(13, 100_000, 3, false));
    assert_eq!(window.size(), 100_000 + 2000 + 150);
}

#[test]
fn above_it_five() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    window.on_ack(&spec, &acked(13, 100_000, 9, false));
    assert_eq!(window.size(), 100_000 + 5000 + 150);
}

#[test]
fn what_increases_have_summed_up_is_added_after_eight_packets_or_a_period() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    window.on_ack(&spec, &acked(13, 1000, 9, false)); // the first period is over: 50 B of fair increase, and η
    assert_eq!(window.size(), 100_200);
    for n in 0..8 {
        window.on_ack(&spec, &acked(14, 1000, 9, false));
        assert_eq!(window.size(), 100_200, "{n}");
    }
    window.on_ack(&spec, &acked(14, 1000, 9, false));
    assert_eq!(window.size(), 100_200 + 449, "nine times 5000 · 1000, over 100 200");
}

#[test]
fn marks_above_the_target_decrease_by_the_average_once_per_round_trip_and_below_do_nothing() {
    let NsccSpec { target, .. } = NsccSpec::of(RTT, RATE, true);
    let spec = WindowSpec::Nscc(NsccSpec { weight: 1.0, ..NsccSpec::of(RTT, RATE, true) });
    assert_eq!(target, Span::from_us(9));
    let mut window = window(&spec, 100_000);
    window.on_ack(&spec, &acked(13, 100, 8, true));
    assert_eq!(window.size(), 100_150, "η alone");
    window.on_ack(&spec, &acked(14, 100, 12, true));
    assert_eq!(window.size(), 80_120, "1 − 0.8 · 3/12");
    window.on_ack(&spec, &acked(20, 100, 12, true));
    assert_eq!(window.size(), 80_120, "6 us later");
    window.on_ack(&spec, &acked(27, 100, 36, true));
    assert_eq!(window.size(), 40_060 + 150, "1 − 0.8 · 27/36 is below a half; then η");
}

#[test]
fn a_window_without_any_delay_grows_by_a_quarter_of_what_is_acknowledged() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    window.on_ack(&spec, &acked(1, 100_000, 0, false));
    // Not more than the window yet: 9 us of 12 are missing, 3 packets (there were more than eight).
    assert_eq!(window.size(), 103_000);
    window.on_ack(&spec, &acked(2, 4000, 0, false));
    assert_eq!(window.size(), 104_000);
    window.on_ack(&spec, &acked(3, 400, 0, false));
    assert_eq!(window.size(), 104_100);
    window.on_ack(&spec, &acked(4, 400, 1, false));
    assert_eq!(window.size(), 104_100, "there was a delay");
    window.on_ack(&spec, &acked(5, 400, 0, false));
    assert_eq!(window.size(), 104_100, "it counts from the start");
}

#[test]
fn a_nack_takes_its_packet_off_unless_credits_do() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    window.on_nack(&spec, &nacked(1));
    assert_eq!(window.size(), 99_000);
    window.on_nack(&spec, &Nacked { spares: true, ..nacked(1) });
    assert_eq!(window.size(), 99_000);
    window.on_nack(&spec, &Nacked { rtt: Some(Span::from_us(6)), ..nacked(2) });
    assert_eq!((window.base_rtt(), window.most(), window.size()), (Span::from_us(6), 112_500, 98_000));
}

#[test]
fn when_little_arrives_and_packets_are_trimmed_the_window_becomes_what_has_arrived() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    // The first round begins with the first word from the receiver and lasts 12 + 9 us.
    window.on_ack(&spec, &acked(1, 1000, 3, false));
    for at in [2, 3] {
        window.on_ack(&spec, &acked(at, 6000, 3, false));
    }
    window.on_nack(&spec, &nacked(22));
    let size = window.size();
    assert!((99_000..101_000).contains(&size), "{size}: the round is not over");
    window.on_nack(&spec, &nacked(23));
    assert_eq!(window.size(), 12_000, "less than 225 000 / 8");
    // 50 000 B were in the network: until they are back marks and NACKs are ignored.
    window.on_nack(&spec, &nacked(24));
    window.on_ack(&spec, &acked(25, 48_000, 30, true));
    assert_eq!(window.size(), 12_000);
    window.on_nack(&spec, &nacked(26)); // 48 000 + 1000 + this one's: no longer
    assert_eq!(window.size(), 11_000);
}

#[test]
fn a_round_in_which_an_eighth_of_the_largest_window_arrives_does_not_adapt() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    window.on_ack(&spec, &acked(1, 1000, 3, false));
    window.on_ack(&spec, &acked(2, 28_125, 3, false));
    let size = window.size();
    window.on_nack(&spec, &nacked(23));
    assert_eq!(window.size(), size - 1000);
}

#[test]
fn a_sample_that_may_not_lower_the_shortest_round_trip_gives_no_delay_either() {
    let spec = spec();
    let mut window = window(&spec, 100_000);
    let rtt = Some(Sample { rtt: Span::from_us(11), lowers_base: false });
    window.on_ack(&spec, &Acked { rtt, ..acked(1, 100_000, 0, false) });
    assert_eq!((window.base_rtt(), window.size()), (RTT, 103_000), "the average delay is 0");
    let rtt = Some(Sample { rtt: Span::from_us(11), lowers_base: true });
    window.on_ack(&spec, &Acked { rtt, ..acked(1, 0, 0, false) });
    assert_eq!((window.base_rtt(), window.most()), (Span::from_us(11), 206_250));
}

#[test]
fn slack_keeps_the_shortest_round_trip_from_those_that_are_a_little_shorter() {
    let slack = Span::from_us(1);
    let spec = WindowSpec::Nscc(NsccSpec { slack, ..NsccSpec::of(RTT, RATE, true) });
    let mut window = spec.make(&COMMON);
    let at = |rtt| Nacked { rtt: Some(Span::from_us(rtt)), ..nacked(1) };
    window.on_nack(&spec, &at(11));
    assert_eq!(window.base_rtt(), RTT);
    window.on_nack(&spec, &at(9));
    assert_eq!(window.base_rtt(), Span::from_us(10));
}

#[test]
fn a_fixed_window_loses_a_packet_per_timeout_down_to_one() {
    let spec = WindowSpec::Fixed(FixedSpec { size: thalweg_units::Bytes::new(2500) });
    let mut window = spec.make(&COMMON);
    window.on_ack(&spec, &acked(1, 1000, 40, true));
    window.on_nack(&spec, &nacked(2));
    assert_eq!(window.size(), 2500);
    window.on_timeout(&spec, 1000);
    assert_eq!(window.size(), 1500);
    window.on_timeout(&spec, 1000);
    assert_eq!(window.size(), 1000);
}

#[test]
fn with_marks_alone_a_window_of_acks_adds_a_packet_and_a_marked_one_takes_a_quarter_of_its_bytes() {
    let spec = WindowSpec::Dctcp(DctcpSpec::of(RTT, RATE));
    let mut window = spec.make(&COMMON);
    assert_eq!(window.size(), 225_000);
    window.on_ack(&spec, &acked(1, 100_000, 5, true));
    assert_eq!(window.size(), 200_000);
    window.on_ack(&spec, &acked(2, 100_000, 5, false));
    assert_eq!(window.size(), 200_500);
    window.on_nack(&spec, &nacked(3));
    window.on_timeout(&spec, 64);
    assert_eq!(window.size(), 198_500);
    window.on_ack(&spec, &acked(4, 1_000_000, 5, true));
    assert_eq!(window.size(), 1000, "a packet at least");
}

/// Half a millisecond of timeouts, and then a packet for every window, whatever came back without delay.
#[test]
fn without_fast_increase_a_quiet_path_adds_a_packet_for_every_window() {
    let spec = WindowSpec::Dctcp(DctcpSpec { fast: 0.0, ..DctcpSpec::of(RTT, RATE) });
    let mut window = spec.make(&COMMON);
    (0..300).for_each(|_| window.on_timeout(&spec, 1000));
    assert_eq!(window.size(), 1000);
    for packets in 1..20 {
        window.on_ack(&spec, &acked(packets, packets * 1000, 0, false));
        assert_eq!(window.size(), (packets + 1) * 1000);
    }
}

#[test]
fn numbers_out_of_range_are_refused_by_key() {
    let nscc = NsccSpec::of(RTT, RATE, true);
    let key = |spec: WindowSpec| spec.check().err().map(|error| error.key.into_owned());
    assert_eq!(key(WindowSpec::Nscc(nscc)), None);
    assert_eq!(key(WindowSpec::Nscc(NsccSpec { gate: 0, ..nscc })).as_deref(), Some("gate"));
    assert_eq!(key(WindowSpec::Nscc(NsccSpec { window: 0.0, ..nscc })).as_deref(), Some("window"));
    assert_eq!(key(WindowSpec::Nscc(NsccSpec { fast: f64::NAN, ..nscc })).as_deref(), Some("fast"));
    let fixed = FixedSpec { size: thalweg_units::Bytes::ZERO };
    assert_eq!(key(WindowSpec::Fixed(fixed)).as_deref(), Some("size"));
    let dctcp = DctcpSpec { cut: 2.0, ..DctcpSpec::of(RTT, RATE) };
    assert_eq!(key(WindowSpec::Dctcp(dctcp)).as_deref(), Some("cut"));
}
