//! Path values: written into every packet, brought back by its ACK.

use super::link::*;
use super::*;
use crate::transport::PathValues;
use crate::transport::testing::{Fate, Way};
use std::collections::BTreeMap;
use thalweg_wire::{Flags, Kind};

#[test]
fn every_ack_brings_back_the_value_of_the_packet_that_it_answers() {
    let path_values = Some(PathValues { count: 1 << 16, recycle: false });
    let mut link = Link::new(RdmaSpec { path_values, ..spec() }, 50);
    let (mut written, mut back) = (BTreeMap::new(), Vec::new());
    link.run(|way, n, packet| {
        match way {
            Way::ToReceiver => {
                written.insert((packet.seq, packet.flags.has(Flags::RETRANSMISSION)), packet.route)
            }
            Way::ToSender if packet.kind == Kind::Ack => {
                back.push(((packet.trigger, packet.flags.has(Flags::RETRANSMISSION)), packet.route));
                None
            }
            Way::ToSender => None,
        };
        if way == Way::ToReceiver && n == 20 { Fate::Drop } else { Fate::Deliver }
    });
    // NACKs too; what was sent again has a value of its own.
    assert_eq!(back.len(), 50);
    assert!(back.iter().all(|(of, value)| written[of] == *value), "{written:?} {back:?}");
    assert_ne!(written[&(20_000, false)], written[&(20_000, true)]);
    let different: std::collections::BTreeSet<u32> = written.values().copied().collect();
    assert!(different.len() >= 50, "51 draws of 65536");
}

#[test]
fn without_path_values_all_packets_carry_0() {
    let mut link = Link::new(spec(), 50);
    link.run(|_, _, packet| {
        assert_eq!(packet.route, 0);
        Fate::Deliver
    });
}
