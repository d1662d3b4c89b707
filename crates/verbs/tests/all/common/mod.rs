//! Two ends of a queue pair and the network between them ([`thalweg_verbs::pair`]), and an eye on every packet.
#![allow(dead_code)]

pub mod cases;
pub mod workload;

use thalweg_units::{Span, Stream, Time};
pub use thalweg_verbs::pair::{Fate, Pair as Net, Way};
use thalweg_verbs::pair::{Path, Seen};
use thalweg_verbs::wire::Packet;

/// One way.
pub const DELAY: Span = Span::from_us(12);
/// Time on the link of every packet.
pub const SERIAL: Span = Net::PACKET_TIME;

/// Loses, repeats and delays at random.
pub fn random_fate(
    mut r: Stream,
    loss: f64,
    repeat: f64,
    jitter: Span,
) -> impl FnMut(&Packet<'_>, Way, Time) -> Fate + Send {
    Path { delay: DELAY, loss, repeat, jitter, seed: r.bits(), ..Path::default() }.network().unwrap()
}

/// Delivers everything in order.
pub fn faithful(_: &Packet<'_>, _: Way, _: Time) -> Fate {
    vec![DELAY]
}

/// Runs in which both ends must be able to use every packet that arrives.
pub trait Run {
    fn run_looking(&mut self, until: Time, look: impl FnMut(&mut Self, Way, &[u8]));
    fn run(&mut self, until: Time) {
        self.run_looking(until, |_, _, _| {});
    }
    /// How many packets were sent on this way that `which` picks.
    fn count(&self, way: Way, which: impl Fn(&Packet<'_>) -> bool) -> usize;
}

impl Run for Net<'_> {
    fn run_looking(&mut self, until: Time, mut look: impl FnMut(&mut Self, Way, &[u8])) {
        self.run_until(until, |net, arrival| {
            assert_eq!(arrival.taken, Ok(()), "{:?}", Packet::decode(net.setup.dialect, &arrival.bytes));
            look(net, arrival.way, &arrival.bytes);
        });
    }

    fn count(&self, way: Way, which: impl Fn(&Packet<'_>) -> bool) -> usize {
        let picked = |seen: &&Seen| {
            seen.way == way && which(&Packet::decode(self.setup.dialect, &seen.bytes).unwrap())
        };
        self.sent.iter().filter(picked).count()
    }
}
