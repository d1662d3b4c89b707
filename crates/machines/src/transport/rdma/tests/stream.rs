//! Messages back to back on one queue pair.

use super::link::{LINE, Link, roce};
use super::recorder::{Call, calls, pace, permit, recorder};
use super::*;
use crate::transport::testing::{Fate, Way};
use proptest::prelude::*;

impl Link {
    /// One more message; its end.
    fn append(&mut self, bytes: u64) -> u64 {
        let end = self.sender.append(&self.spec, self.now, bytes).expect("a queue pair without segments");
        self.receiver.resize(end);
        end
    }
}

#[test]
fn each_message_begins_a_packet_and_offsets_count_packets_as_full() {
    let mut link = Link::bytes(spec(), 2500);
    assert_eq!(link.append(0), 3000);
    assert_eq!(link.append(300), 4000);
    assert_eq!(link.append(2000), 6000);
    assert_eq!(link.append(1), 7000);
    link.run(|_, _, _| Fate::Deliver);
    let data: Vec<&Packet> = link.wire_log.iter().filter(|p| p.kind == thalweg_wire::Kind::Data).collect();
    let sent: Vec<(u64, u32, u32)> = data.iter().map(|p| (p.seq, p.payload, p.wire)).collect();
    let full = |seq| (seq, 1000, 1250);
    let expected =
        [full(0), full(1000), (2000, 500, 750), (3000, 300, 550), full(4000), full(5000), (6000, 1, 251)];
    assert_eq!(sent, expected);
    assert!(link.sender.is_done() && link.receiver.is_done() && link.receiver.received() == 7000);
    assert_eq!(link.sender.progress(), Progress { sent: 7000, acked: 7000 });
    assert_eq!(link.sender.stats().in_flight, Bytes::ZERO);
}

#[test]
fn what_follows_a_queue_pair_at_rest_is_a_restart_after_the_controllers_own_clock() {
    let mut link = Link::bytes(RdmaSpec { controller: recorder(), ..roce() }, 900);
    link.append(0);
    link.run(|_, _, _| Fate::Deliver); // 0.92 us on the wire, 20 us of delay
    pace(LINE);
    permit(Permit { wake: Some(Time::from_us(30)), ..link.sender.controller().permit() });
    link.now = Time::from_us(40);
    link.append(500);
    let reported = calls();
    let idle = Time::from_us(40) - Time::from_ns(20_920);
    let expected = [Call::Tick(Time::from_us(30)), Call::Restart(Time::from_us(40), idle)];
    assert_eq!(reported[reported.len() - 2..], expected);
}

#[test]
fn a_host_that_posts_segments_has_no_messages() {
    let segments = Some(SegmentSpec { bytes: 16_000, outstanding: 1, nic_pace: None });
    let mut link = Link::bytes(RdmaSpec { segments, ..roce() }, 900);
    assert_eq!(link.sender.append(&link.spec, Time::ZERO, 100), None);
    assert!(!link.spec.streams() && roce().streams());
}

proptest! {
    /// Whatever is lost, and whenever messages come: all of them arrive, each with its own bytes, and the
    /// books are closed.
    #[test]
    fn all_messages_arrive(
        sizes in prop::collection::vec((1u64..4500, 0u64..60), 1..12),
        lost in prop::collection::btree_set(0u64..40, 0..12),
        back in any::<bool>(),
    ) {
        let mut link = Link::bytes(if back { roce() } else { spec() }, sizes[0].0);
        link.append(0);
        let lose = |way: Way, n: u64, _: &Packet| {
            if way == Way::ToReceiver && lost.contains(&n) { Fate::Drop } else { Fate::Deliver }
        };
        let mut end = 0;
        for (size, at) in &sizes[1..] {
            let at = link.now + Span::from_us(*at);
            link.run_until(at, lose);
            link.now = link.now.max(at);
            end = link.append(*size);
            link.look();
        }
        link.run(lose);
        prop_assert!(link.sender.is_done() && link.receiver.is_done());
        prop_assert!(end == 0 || link.receiver.received() == end);
        prop_assert_eq!(link.sender.stats().in_flight, Bytes::ZERO);
        let mut first = std::collections::BTreeMap::new();
        for p in link.wire_log.iter().filter(|p| p.kind == thalweg_wire::Kind::Data) {
            let before = *first.entry(p.seq).or_insert(p.payload);
            prop_assert_eq!(before, p.payload, "what is sent again is the same");
        }
        let bytes: u64 = first.values().map(|payload| u64::from(*payload)).sum();
        prop_assert_eq!(bytes, sizes.iter().map(|(size, _)| size).sum::<u64>());
    }
}
