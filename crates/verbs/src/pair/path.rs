//! A path that loses, repeats and reorders: at random from a seed, or packet by packet by a schedule.

use super::{Fate, Way};
use crate::wire::{Opcode, Packet};
use std::collections::{BTreeMap, VecDeque};
use thalweg_units::{Span, Stream, Time};

/// What schedules distinguish packets by, besides their number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Of a request: number in the requests' space.
    Request,
    /// Of an answer to a Read or an Atomic: number in the answers' space.
    Response,
    /// ACK or NACK of requests: its number is the next one expected.
    Acknowledge,
    /// Read ACK or NACK: its number is the next one expected.
    ReadAcknowledge,
}

impl Kind {
    /// Names for people, with what they name.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("request", Self::Request),
        ("response", Self::Response),
        ("ack", Self::Acknowledge),
        ("read-ack", Self::ReadAcknowledge),
    ];

    /// Of a packet with this code.
    pub fn of(opcode: Opcode) -> Self {
        match opcode {
            Opcode::ReadResponse(_) | Opcode::AtomicAcknowledge => Self::Response,
            Opcode::Acknowledge => Self::Acknowledge,
            Opcode::ReadAcknowledge => Self::ReadAcknowledge,
            _ => Self::Request,
        }
    }
}

/// What happens to packets on their way.
#[derive(Clone, Debug)]
pub struct Path {
    /// One way, at least.
    pub delay: Span,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that a packet that is not lost arrives twice.
    pub repeat: f64,
    /// Up to so much more delay, uniform, for each copy: packets overtake each other.
    pub jitter: Span,
    /// For chance.
    pub seed: u64,
    /// Fates of the first, second, ... packet sent with this kind and number. Chance decides about all others.
    pub schedule: BTreeMap<(Kind, u32), VecDeque<Fate>>,
}

impl Default for Path {
    /// Faithful: everything arrives after 12 us, a half of the round trip of IRN's §4.3.1.
    fn default() -> Self {
        let schedule = BTreeMap::new();
        Self { delay: Span::from_us(12), loss: 0.0, repeat: 0.0, jitter: Span::ZERO, seed: 1, schedule }
    }
}

/// A value out of range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathError(&'static str);

impl std::fmt::Display for PathError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
impl std::error::Error for PathError {}

impl Path {
    /// As [`crate::pair::Pair::new`] wants it.
    ///
    /// # Errors
    /// If a value is out of range; the message names it.
    pub fn network(self) -> Result<impl FnMut(&Packet<'_>, Way, Time) -> Fate + Send, PathError> {
        let rules = [
            ((0.0..=1.0).contains(&self.loss), "loss must be 0 to 1"),
            ((0.0..=1.0).contains(&self.repeat), "repeat must be 0 to 1"),
            (self.jitter < Span::MAX, "jitter must be a time"),
        ];
        if let Some((_, what)) = rules.into_iter().find(|(holds, _)| !holds) {
            return Err(PathError(what));
        }
        let Self { delay, loss, repeat, jitter, seed, mut schedule } = self;
        let mut r = Stream::new(seed, "path", 0);
        Ok(move |packet: &Packet<'_>, _: Way, _: Time| {
            let key = (Kind::of(packet.opcode), packet.psn.value());
            if let Some(fate) = schedule.get_mut(&key).and_then(VecDeque::pop_front) {
                return fate;
            }
            let copies = if r.unit() < loss { 0 } else { 1 + usize::from(r.unit() < repeat) };
            (0..copies).map(|_| delay + Span::from_ps(r.below(jitter.ps() + 1))).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_machines::transport::rdma::Psn;

    fn fates(path: Path, packets: &[(Opcode, u32)]) -> Vec<Fate> {
        let mut network = path.network().unwrap();
        let packet = |(opcode, psn): &(Opcode, u32)| Packet::new(*opcode, 1, Psn::new(*psn));
        packets.iter().map(|p| network(&packet(p), Way::ToResponder, Time::ZERO)).collect()
    }

    #[test]
    fn a_schedule_is_followed_copy_by_copy_and_chance_decides_about_the_rest() {
        let (request, ack) = (Opcode::ReadRequest, Opcode::Acknowledge);
        let late = vec![Span::from_us(1), Span::from_us(90)];
        let schedule = BTreeMap::from([((Kind::Request, 3), VecDeque::from([vec![], late.clone()]))]);
        let found = fates(
            Path { schedule, ..Path::default() },
            &[(request, 3), (ack, 3), (request, 3), (request, 3)],
        );
        let usual = vec![Path::default().delay];
        assert_eq!(found, [vec![], usual.clone(), late, usual]);
    }

    #[test]
    fn chance_has_the_configured_shares_and_delays_from_its_seed() {
        let path = Path { loss: 0.2, repeat: 0.5, jitter: Span::from_us(5), ..Path::default() };
        let packets = vec![(Opcode::ReadRequest, 0); 10_000];
        let found = fates(path.clone(), &packets);
        let of = |n: usize| found.iter().filter(|fate| fate.len() == n).count();
        assert!((1_800..2_200).contains(&of(0)) && (3_800..4_200).contains(&of(2)), "{} {}", of(0), of(2));
        let most = path.delay + path.jitter;
        assert!(found.iter().flatten().all(|delay| (path.delay..=most).contains(delay)));
        assert!(found.iter().flatten().any(|delay| *delay > path.delay + Span::from_us(4)));
        assert_eq!(found, fates(path.clone(), &packets));
        assert_ne!(found, fates(Path { seed: 2, ..path }, &packets));
    }

    #[test]
    fn shares_out_of_range_are_named() {
        let odd = |loss| Path { loss, ..Path::default() }.network().err().map(|why| why.to_string());
        assert_eq!(odd(1.0), None);
        assert_eq!(odd(1.1).as_deref(), Some("loss must be 0 to 1"));
        assert_eq!(odd(f64::NAN).as_deref(), Some("loss must be 0 to 1"));
    }
}
