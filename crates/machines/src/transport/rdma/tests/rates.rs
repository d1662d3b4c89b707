//! The rate limiter, and segments posted by the host.

use super::link::*;
use super::recorder::*;
use super::*;
use crate::transport::testing::{Fate, Way};
use thalweg_wire::{Flags, Kind};

fn paced(rate: Rate) -> RdmaSpec {
    let spec = RdmaSpec { controller: recorder(), ..spec() };
    pace(rate);
    spec
}

/// Microseconds at which data left.
fn departures(link: &Link) -> Vec<u64> {
    link.log.iter().filter(|l| l.1.as_bytes()[0].is_ascii_digit()).map(|l| l.0.ps() / 1_000_000).collect()
}

#[test]
fn packets_leave_at_the_rate_and_retransmissions_too() {
    let mut link = Link::new(paced(Rate::from_gbps(2)), 12); // one per 5 us
    link.run_losing(&[2]);
    assert_eq!(link.times("1"), [5]);
    assert_eq!(link.times("2r"), [40]); // 3 left at 15, its NACK came back at 36
    let all = departures(&link);
    assert!(all.windows(2).all(|w| w[1] - w[0] == 5), "{all:?}");
    assert_eq!(all.len(), 13);
}

#[test]
fn at_line_rate_or_above_the_port_alone_spaces_packets() {
    for rate in [LINE, Rate::from_gbps(20)] {
        let mut link = Link::new(paced(rate), 12);
        link.queue = true;
        link.run_losing(&[]);
        assert_eq!(departures(&link), [0; 12]);
    }
    let mut link = Link::new(paced(Rate::from_mbps(9999)), 12);
    link.queue = true;
    link.run_until(Time::from_us(5), |_, _, _| Fate::Deliver);
    assert_eq!(link.handed[0], 5);
}

#[test]
fn a_rate_of_zero_waits_for_the_controllers_next_word() {
    let mut link = Link::new(paced(Rate::ZERO), 2);
    permit(Permit { window: Bytes::MAX, pace: Some(Rate::ZERO), wake: Some(Time::from_us(50)) });
    link.run_until(Time::from_us(60), |_, _, _| Fate::Deliver);
    assert_eq!((link.handed[0], calls()), (0, vec![Call::Tick(Time::from_us(50))]));
    pace(Rate::from_gbps(1));
    link.sender.on_timer(&link.spec, Time::from_us(61));
    let (mut p, mut side) = (Packet::default(), Side::default());
    let answer = link.sender.poll_transmit(&link.spec, Time::from_us(61), &mut p, &mut side);
    assert_eq!(answer, Transmit::Packet);
    let again = link.sender.poll_transmit(&link.spec, Time::from_us(62), &mut p, &mut side);
    assert_eq!(again, Transmit::At(Time::from_us(71)));
}

#[test]
fn nothing_times_out_while_nothing_is_in_flight() {
    let timer = RdmaTimer::Fixed { value: Span::from_us(100) };
    let mut link = Link::new(RdmaSpec { timer, ..paced(Rate::from_mbps(50)) }, 5); // one per 200 us
    link.run_losing(&[]);
    assert_eq!((link.fct(), link.sender.stats().timeouts), (811, 0));
}

#[test]
fn a_slow_flow_does_not_use_the_short_timeout() {
    // 2 Gb/s of 10 is less than a quarter, 2.5 Gb/s is not.
    for (mbps, again) in [(2500, 100), (2000, 320)] {
        let mut link = Link::new(paced(Rate::from_mbps(mbps)), 1);
        link.run_losing(&[0]);
        assert_eq!(link.times("0r"), [again]);
    }
}

/// Segments of 4 packets: 5000 B on the wire, 4 us at line rate.
fn timely() -> RdmaSpec {
    RdmaSpec {
        recovery: Recovery::GoBackN { repeat_nack: None },
        cap: None,
        acks: RdmaAcks::PerSegment,
        timer: RdmaTimer::Off,
        rtt: RoundTrips { segment: 1, less_serialization: true, ..super::spec().rtt },
        segments: Some(SegmentSpec { bytes: 4000, outstanding: 2, nic_pace: None }),
        ..spec()
    }
}

/// The same at this rate.
fn timely_at(rate: Rate) -> RdmaSpec {
    let spec = RdmaSpec { controller: recorder(), ..timely() };
    pace(rate);
    spec
}

#[test]
fn a_host_posts_segments_at_the_rate_and_each_gives_one_round_trip() {
    for queue in [false, true] {
        let mut link = Link::new(timely_at(Rate::from_gbps(1)), 14); // 40 us per segment
        link.queue = queue;
        link.run(|_, _, _| Fate::Deliver);
        let at: Vec<Vec<u64>> = ["0", "4", "8", "12"].map(|first| link.times(first)).to_vec();
        assert_eq!(at, [[0], [40], [80], [120]]);
        assert_eq!(link.times("3"), [if queue { 0 } else { 3 }]); // a burst
        assert_eq!(link.answered(), [(14, "a4"), (54, "a8"), (94, "a12"), (132, "a14")]);
        // 24 us from post to ACK, less 4 us on the wire, and so for the last, of two packets
        let rtts: Vec<_> = samples().iter().map(|s| s.rtt).collect();
        assert_eq!(rtts, [Some(Span::from_us(20)); 4]);
        // Tables have the whole round trip of the packet that was answered: 20 us, and its own on the wire; from a
        // queue of four, or of two at last, those before it, too.
        let mean = if queue { Span::from_ns((3 * 24_000 + 22_000) / 4) } else { Span::from_us(21) };
        assert_eq!((link.sender.stats().rtt_samples, link.sender.stats().mean_rtt()), (4, Some(mean)));
        assert!(samples().iter().all(|s| !s.app_limited));
    }
}

#[test]
fn two_segments_are_outstanding_and_waiting_in_the_nic_counts_as_round_trip() {
    let mut link = Link::new(RdmaSpec { controller: recorder(), ..timely() }, 16);
    link.queue = true; // no rate: both segments are posted at once, the second waits 4 us for the first
    link.run(|_, _, _| Fate::Deliver);
    assert_eq!([link.times("0"), link.times("4"), link.times("8"), link.times("12")], [[0], [0], [24], [28]]);
    let rtts: Vec<_> = samples().iter().map(|s| s.rtt.unwrap().ps() / 1_000_000).collect();
    assert_eq!(rtts, [20, 24, 20, 20]);
}

#[test]
fn the_nic_spaces_the_packets_of_a_segment_and_segments_do_not_overlap() {
    let nic = SegmentSpec { bytes: 4000, outstanding: 2, nic_pace: Some(Rate::from_gbps(5)) };
    let mut link = Link::new(RdmaSpec { controller: recorder(), segments: Some(nic), ..timely() }, 8);
    link.run(|_, _, _| Fate::Deliver);
    assert_eq!(departures(&link), [0, 2, 4, 6, 8, 10, 12, 14]); // 2 us each
    // 0: the last leaves at 6, is acknowledged at 27; 8 us are the NIC's. 1: 35 less 8, having waited 8.
    let rtts: Vec<_> = samples().iter().map(|s| s.rtt.unwrap().ps() / 1_000_000).collect();
    assert_eq!(rtts, [19, 27]);
}

#[test]
fn a_lost_packet_of_a_segment_goes_back_at_the_rate_and_its_segment_gives_no_round_trip() {
    let mut link = Link::new(timely_at(Rate::from_gbps(1)), 12);
    link.run_losing(&[5]);
    // 4 leaves at 40, 6 at 42; its NACK is back at 63. The three that are left are posted when the rate allows: at 80.
    assert_eq!(link.sent(), ["0", "1", "2", "3", "4", "5", "6", "7", "5r", "6r", "7r", "8", "9", "10", "11"]);
    assert_eq!((link.times("5r"), link.times("8")), (vec![80], vec![110])); // three packets: 30 us
    let rtts: Vec<_> = samples().iter().map(|s| s.rtt.is_some()).collect();
    assert_eq!(rtts, [true, false, false, true]); // the NACK acknowledges 4; the segment sent again; the last
    assert!(link.sender.is_done());
}

#[test]
fn noise_is_uniform_and_the_flows_own() {
    let mut spec = timely();
    spec.rtt.noise = Span::from_us(100);
    let mut link = Link::new(RdmaSpec { controller: recorder(), ..spec }, 4000);
    link.run(|_, _, _| Fate::Deliver);
    let added: Vec<f64> = samples().iter().map(|s| s.rtt.unwrap().secs() * 1e6 - 20.0).collect();
    assert_eq!(added.len(), 1000);
    // Without a rate a segment also waits up to 4 us behind the one before.
    assert!(added.iter().all(|x| (0.0..=104.0).contains(x)));
    let mean = added.iter().sum::<f64>() / 1000.0;
    assert!((mean - 50.0).abs() < 6.0, "{mean}");
}

#[test]
fn with_selective_recovery_a_resent_packet_takes_its_share_of_the_rate() {
    let recovery = Recovery::Irn { sack: true, nack_threshold: 1, enter_on_advance: false };
    let spec = RdmaSpec { recovery, controller: recorder(), acks: RdmaAcks::PerPacket, ..timely() };
    pace(Rate::from_gbps(1)); // 10 us per packet
    let mut link = Link::new(spec, 12);
    link.run_losing(&[1]);
    assert_eq!((link.times("1r"), link.times("4"), link.times("8")), (vec![23], vec![50], vec![90]));
    assert!(link.sender.is_done() && link.receiver.received() == 12_000);
}

#[test]
fn a_connections_next_flow_goes_on_with_rate_pacing_and_count() {
    let spec = RdmaSpec { controller: recorder(), ..timely() };
    pace(Rate::from_gbps(1));
    let mut first = Link::new(spec.clone(), 4);
    first.run(|_, _, _| Fate::Deliver);
    assert_eq!(first.now, Time::from_us(24));
    let start = spec.start(LINE, Span::from_us(21), Span::ZERO);
    let mut next = RdmaSender::new(&spec, FlowId(8), 4000, &start, Stream::new(1, "test", 1)).unwrap();
    next.take_over(first.sender.hand_over().expect("queue pairs go on"));
    permit(Permit { wake: Some(Time::from_us(25)), ..first.sender.controller().permit() });
    next.start(&spec, Time::from_us(30)); // the controller's own timer ran out while nothing was sent
    let reported = calls();
    let restart = Call::Restart(Time::from_us(30), Span::from_us(6));
    assert_eq!(reported[reported.len() - 2..], [Call::Tick(Time::from_us(25)), restart]);
    assert_eq!(next.timer(), Some(Time::from_us(40))); // not before the first one's 40 us are over
    next.on_timer(&spec, Time::from_us(40));
    let (mut p, mut side) = (Packet::default(), Side::default());
    for _ in 0..4 {
        assert_eq!(next.poll_transmit(&spec, Time::from_us(40), &mut p, &mut side), Transmit::Packet);
    }
    assert!(p.flags.has(Flags::LAST) && p.seq == 3000);
    let ack = Packet { kind: Kind::Ack, seq: 4000, trigger: 3000, payload: 1000, stamp: p.stamp, ..p };
    let ack = Packet { flags: Flags::default(), ..ack };
    next.on_packet(&spec, Time::from_us(64), &ack, None);
    let last = *samples().last().unwrap();
    assert_eq!((last.acked_to, last.sent_to, last.rtt), (8000, 8000, Some(Span::from_us(20))));
}

#[test]
fn nacks_and_resends_measure_round_trips_only_where_configured() {
    for (nacks, resent, reported) in [(false, false, 3), (true, false, 4), (false, true, 4), (true, true, 5)]
    {
        let rtt = RoundTrips { nacks, resent, ..spec().rtt };
        let mut link = Link::new(RdmaSpec { controller: recorder(), rtt, ..spec() }, 5);
        link.run_losing(&[3]); // 0, 1 and 2 are acknowledged, 4 is answered by a NACK, 3 is sent again
        assert!(link.sender.is_done());
        assert_eq!(link.sender.stats().rtt_samples, reported, "{nacks} {resent}");
    }
}

#[test]
fn the_last_packet_of_every_group_measures_the_round_trip() {
    let rtt = RoundTrips { segment: 16, less_serialization: true, ..super::spec().rtt };
    let spec = RdmaSpec { controller: recorder(), rtt, ..spec() };
    let mut link = Link::new(spec, 40);
    // The 32nd packet is lost, so its ACK measures nothing; others' NACKs and retransmissions do not either.
    link.run(|way, n, _| if way == Way::ToReceiver && n == 31 { Fate::Drop } else { Fate::Deliver });
    let reported: Vec<_> = samples().iter().filter(|s| s.rtt.is_some()).map(|s| (s.now, s.rtt)).collect();
    assert_eq!(reported, [(Time::from_us(36), Some(Span::from_us(20)))]);
}

#[test]
fn a_controller_receives_delivery_rates_and_telemetry_if_needed() {
    let mut link = Link::new(RdmaSpec { controller: recorder(), ..spec() }, 5);
    link.run_losing(&[]);
    // Five packets leave back to back and arrive so: each sample is of the whole flight since the first left.
    let first = samples()[0];
    let reported: Vec<_> = samples().iter().filter_map(|s| s.delivery).collect();
    assert_eq!(reported.len(), 5);
    assert_eq!(
        reported.iter().map(|d| d.delivered.get()).collect::<Vec<_>>(),
        [1000, 2000, 3000, 4000, 5000]
    );
    assert_eq!((reported[0].interval(), reported[0].lost), (first.now.since(Time::ZERO), Bytes::ZERO));
    assert!(reported.iter().all(|d| !d.app_limited));

    let spec = RdmaSpec { controller: recorder(), ..spec() };
    let start = spec.start(LINE, Span::from_us(21), Span::ZERO);
    let mut sender = RdmaSender::new(&spec, FlowId(8), 1000, &start, Stream::new(1, "test", 1)).unwrap();
    sender.start(&spec, Time::ZERO);
    let (mut p, mut side) = (Packet::default(), Side::default());
    assert_eq!(sender.poll_transmit(&spec, Time::ZERO, &mut p, &mut side), Transmit::Packet);
    let hop = thalweg_wire::IntHop { queue: 7, ..thalweg_wire::IntHop::default() };
    side.new_int().push(3, hop);
    let ack = Packet { kind: Kind::Ack, seq: 1000, trigger: 0, payload: 1000, flags: Flags::default(), ..p };
    let reception = sender.on_packet(&spec, Time::from_us(20), &ack, Some(&side));
    assert_eq!(
        samples()[0].feedback,
        crate::congestion::Feedback::Int(&thalweg_wire::IntStack::of(3, &[hop]))
    );
    assert_eq!(reception.round_trip(), samples()[0].rtt);
}

#[test]
fn a_message_from_a_congestion_point_rescales_what_is_left_to_wait() {
    use crate::congestion::{Start, rocc};
    use crate::transport::{Endpoint, SendingEnd, Transmit};
    use thalweg_wire::{Packet, Side};
    let controller = rocc::Params { reaction: Span::ZERO, ..rocc::Params::default() }.into();
    let spec = RdmaSpec { controller, acks: RdmaAcks::Never, timer: RdmaTimer::Off, cap: None, ..roce() };
    let start = Start {
        line_rate: Rate::from_gbps(10),
        max_window: Bytes::MAX,
        ..spec.start(Rate::from_gbps(10), Span::from_us(20), Span::ZERO)
    };
    let stream = thalweg_units::Stream::default();
    let mut sender = RdmaSender::new(&spec, thalweg_units::FlowId(0), 1 << 20, &start, stream).unwrap();
    let (mut packet, mut side) = (Packet::default(), Side::Empty);
    let observe = |sender: &mut RdmaSender, ns: u64, mbps: u64| {
        let body = thalweg_wire::NoticeBody::FairRate(Rate::from_mbps(mbps));
        let notice = thalweg_wire::Notice { point: thalweg_units::PortId(3), body };
        let (now, mut side) = (Time::from_ns(ns), Side::Empty);
        let packet = side.packet_of(thalweg_wire::Message::Notice(notice), now, thalweg_units::FlowId(0), 64);
        sender.on_packet(&spec, now, &packet, Some(&side));
    };
    sender.start(&spec, Time::ZERO);
    assert_eq!(sender.poll_transmit(&spec, Time::ZERO, &mut packet, &mut side), Transmit::Packet);
    // 1250 B at 10 Gb/s take 1 us, of which 600 ns are left; at a quarter of the rate four times as much.
    observe(&mut sender, 400, 2500);
    let next = |sender: &mut RdmaSender, ns: u64| {
        sender.poll_transmit(&spec, Time::from_ns(ns), &mut Packet::default(), &mut Side::Empty)
    };
    assert_eq!(next(&mut sender, 500), Transmit::At(Time::from_ns(400 + 2400)));
    // 1.8 us are left; the rate doubles.
    observe(&mut sender, 1000, 5000);
    assert_eq!(next(&mut sender, 1000), Transmit::At(Time::from_ns(1000 + 900)));
}
