//! Timetables: the omniscient scheduler of universal packet scheduling (Mittal et al., NSDI 2016, §2). Every
//! packet enters with a priority for each switch port of its path, for example when it was served there in
//! the schedule that is to be replayed.
//!
//! The list would be in the header; here it is kept outside the packet, by its handle, as paths may be long.

use super::carried::Carry;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, Meaning, Packet};

/// Priorities at every hop.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Timetable {
    /// Switch ports come to, by handle.
    hops: Vec<u8>,
    /// `stride` priorities each.
    rows: Vec<i64>,
    stride: usize,
}

impl Timetable {
    /// For paths of at most so many ports.
    pub(super) fn new(longest_path: usize) -> Self {
        Self { stride: longest_path, ..Self::default() }
    }

    /// Number of the switch port that a packet has come to, from 0.
    #[inline]
    fn count(&mut self, handle: Handle) -> usize {
        let hops = &mut self.hops[handle.0 as usize];
        *hops += 1;
        usize::from(*hops) - 1
    }
}

impl Carry for Timetable {
    #[inline]
    fn on_arrival(&mut self, _: Time, packet: &mut Packet, handle: Handle, _: impl FnOnce() -> Span) {
        let hop = self.count(handle);
        packet.carry(Meaning::Key, self.rows[handle.0 as usize * self.stride + hop]);
    }
    #[inline]
    fn on_departure(&mut self, _: Time, _: &mut Packet, _: impl FnOnce() -> Span) {}
    #[inline]
    fn on_booking(&mut self, _: Time, _: Time, _: &mut Packet, handle: Handle) {
        self.count(handle);
    }

    fn on_entry(&mut self, handle: Handle, priorities: impl ExactSizeIterator<Item = i64>) {
        let at = handle.0 as usize;
        if self.hops.len() <= at {
            self.hops.resize(at + 1, 0);
        }
        self.hops[at] = 0;
        if self.rows.len() < (at + 1) * self.stride {
            self.rows.resize((at + 1) * self.stride, 0);
        }
        self.rows[at * self.stride..].iter_mut().zip(priorities).for_each(|(slot, time)| *slot = time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_finds_its_own_line_also_behind_one_that_does_not_look() {
        let (mut stage, mut packet) = (Timetable::new(3), Packet::default());
        stage.on_entry(Handle(1), [30, 10, 20].into_iter());
        let mut arrives = |stage: &mut Timetable| {
            stage.on_arrival(Time::ZERO, &mut packet, Handle(1), || Span::ZERO);
            packet.rank
        };
        assert_eq!(arrives(&mut stage), 30);
        stage.on_booking(Time::ZERO, Time::ZERO, &mut Packet::default(), Handle(1));
        assert_eq!(arrives(&mut stage), 20);
        // The handle's next packet begins anew.
        stage.on_entry(Handle(1), [7].into_iter());
        assert_eq!(arrives(&mut stage), 7);
    }
}
