//! What rules share that send packets by way of a group of switches: the note in a packet's header, and how it is
//! followed.
//!
//! The first switch notes the group in the value that packets carry for rules; the switches on the way there go by it,
//! and the first one that is in the group takes it out again. So a path has two parts, of which each is a shortest one.
//! If the way to the group is gone, because links have failed, the packet goes on to its destination.

use super::{Around, Candidates, Passing};
use thalweg_units::Stream;

/// The way out for a network without enough groups.
pub(super) const HINT: &str = "\"ecmp\", or a topology with more groups, such as `dragonfly`";

/// What a network lacks: a third group to go by way of.
pub(super) fn missing(at: &Around) -> Option<String> {
    let has = match at.groups {
        0 => "there is none with hosts".to_owned(),
        1 => "there is one".to_owned(),
        2 => "there are two".to_owned(),
        _ => return None,
    };
    Some(format!("packets go by way of a third group of switches, and {has}"))
}

/// A group as packets carry it; 0 is none.
pub(super) fn note(group: u32) -> u32 {
    group + 1
}

/// At a switch that is not a packet's first one: the candidates lead where the packet goes from here.
#[inline]
pub(super) fn follow(packet: &mut Passing, ports: &mut impl Candidates) {
    if let Some(group) = packet.value.checked_sub(1)
        && !ports.lead_to(group)
    {
        packet.value = 0;
    }
}

/// A packet that leaves its group, at its first switch: the only ones that may go by way of another.
#[inline]
pub(super) fn may_begin(packet: &Passing, ports: &impl Candidates) -> bool {
    packet.enters && ports.groups() > 0 && ports.here().is_some() && ports.here() != ports.there()
}

/// A random candidate. Nothing is drawn where there is one only.
#[inline]
pub(super) fn any(stream: &mut Stream, ports: &impl Candidates) -> usize {
    match ports.count() {
        1 => 0,
        count => stream.below(count as u64) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_are_not_enough() {
        let at = |groups| Around { groups, ..Around::ANY };
        assert_eq!([0, 1, 2, 3, 9].map(|n| missing(&at(n)).is_some()), [true, true, true, false, false]);
        assert!(
            missing(&at(2)).is_some_and(|why| why.ends_with("a third group of switches, and there are two"))
        );
    }
}
