//! Links: when a packet may leave, when it has left, and when it arrives. A link is a *transmitter*, which decides the
//! former, and a *path* behind it, which decides when, and whether, the packet reaches the far end.
//!
//! | transmitter | a packet leaves |
//! |---|---|
//! | [`Fixed`] | at a rate |
//! | [`Stepped`] | at a rate that changes at known instants: square waves, outages |
//! | [`Traced`] | at the delivery opportunities of a recorded cellular link |
//! | [`Batched`] | together with others, after a per-batch overhead: a Wi-Fi access point |
//!
//! The driver of a link calls [`Link::opens`] before it takes a packet out of its queue, and hands the packet
//! over at that instant ([`Link::send`]). It hands over no other packet before that one has left, and then
//! calls [`Link::arrives`] for the instant at which it reaches the far end. Opportunities that passed with
//! nothing to send are reported by [`Link::take_unused`]. The present rate is computed on demand
//! ([`Link::rate`]); no copy of it is kept.

mod batched;
mod cellular;
mod declare;
mod fixed;
mod jitter;
mod kinds;
mod loss;
mod square;
mod stepped;
mod trace;
mod traced;
mod transmitter;

pub use batched::{Batched, BatchedSpec};
pub use declare::{Making, Parameters};
pub use fixed::{Fixed, FixedSpec};
pub use jitter::{Jitter, JitterParams, JitterShape, JitterSpec};
pub use kinds::TransmitterKind;
pub use loss::{Loss, LossSpec};
pub use stepped::{Step, Stepped, SteppedSpec};
pub use trace::Trace;
pub use traced::{OPPORTUNITY, Traced, TracedSpec};
pub use transmitter::{TransmitterMachine, TransmitterSpec};

use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};

/// What a transmitter sends at once: one packet, or several if [`Transmitter::batch`] allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// How many.
    pub packets: u32,
    /// Their bytes on the wire.
    pub bytes: u64,
}

impl Load {
    /// One packet of `wire` bytes.
    #[inline]
    pub fn one(wire: u32) -> Self {
        Self { packets: 1, bytes: u64::from(wire) }
    }
}

/// A delivery opportunity that was unused or partly unused because nothing waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused {
    /// When it came.
    pub at: Time,
    /// Bytes that could still have left.
    pub bytes: u32,
}

/// When a packet may leave, and when it has left, in one direction of a link. One load is transmitted at a time.
///
/// ```
/// use thalweg_machines::link::{Load, Transmitter};
/// use thalweg_units::{Bytes, Rate, Span, Time};
///
/// /// 1 Gb/s, and a microsecond before each packet.
/// struct Hesitant;
///
/// impl Transmitter for Hesitant {
///     fn send(&mut self, now: Time, load: Load) -> Time {
///         now + Span::from_us(1) + Bytes::new(load.bytes) / self.rate(now)
///     }
///     fn rate(&self, _: Time) -> Rate {
///         Rate::from_gbps(1)
///     }
/// }
///
/// assert_eq!(Hesitant.opens(Time::ZERO), Time::ZERO);
/// assert_eq!(Hesitant.send(Time::ZERO, Load::one(1500)), Time::from_us(13));
/// ```
pub trait Transmitter {
    /// The first instant from `now` on at which a transmission may begin, if the one before has ended;
    /// [`Time::MAX`]: never.
    #[inline]
    fn opens(&self, now: Time) -> Time {
        now
    }
    /// How many packets may leave together, at least 1. They are all taken out of the queue as their common
    /// transmission begins, and have all left at its end.
    #[inline]
    fn batch(&self) -> u32 {
        1
    }
    /// Packets that leave together must have one destination: the longest such run at the head of the queue.
    #[inline]
    fn one_user(&self) -> bool {
        false
    }
    /// A transmission begins `now`, an instant at which the transmitter is open: when has the last bit left?
    fn send(&mut self, now: Time, load: Load) -> Time;
    /// The present rate in bits per second. Transmitters without a momentary rate define over what it is averaged.
    fn rate(&self, now: Time) -> Rate;
    /// The earliest opportunity before `before` that passed unused and has not been reported yet.
    /// Transmitters that can send at any time have none.
    #[inline]
    fn take_unused(&mut self, _before: Time) -> Option<Unused> {
        None
    }
    /// Bytes of the transmission in progress, `last`, that leave after `now`. By default they leave at a constant rate.
    fn remaining(&self, now: Time, last: &Transmission) -> u64 {
        let (all, left) = (last.until.since(last.begun).ps(), last.until.since(now).ps());
        let share = u128::from(last.bytes) * u128::from(left.min(all)) / u128::from(all.max(1));
        share as u64 // no more than its bytes
    }
}

/// A transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transmission {
    /// When it began.
    pub begun: Time,
    /// When its last bit has left.
    pub until: Time,
    /// What left together.
    pub bytes: u64,
}

/// One direction of a link, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// When packets leave.
    pub transmitter: TransmitterSpec,
    /// Propagation delay.
    pub delay: Span,
    /// Additional delay per packet.
    pub jitter: Option<JitterSpec>,
    /// Losses on the link.
    pub loss: Option<LossSpec>,
}

impl LinkSpec {
    /// A link of a fixed rate, exact to the picosecond, that loses nothing.
    pub fn fixed(rate: Rate, delay: Span) -> Self {
        let transmitter = TransmitterSpec::Fixed(FixedSpec { rate, quantum: Span::ZERO });
        Self { transmitter, delay, jitter: None, loss: None }
    }

    /// The most that it ever carries: see [`TransmitterSpec::peak_rate`].
    pub fn peak_rate(&self) -> Rate {
        self.transmitter.peak_rate()
    }

    /// Its rate in the long run: see [`TransmitterSpec::mean_rate`].
    pub fn mean_rate(&self) -> Rate {
        self.transmitter.mean_rate()
    }

    /// Serialisation times are rounded down to multiples of this (fixed links only).
    pub fn quantum(&self) -> Span {
        match &self.transmitter {
            TransmitterSpec::Fixed(fixed) => fixed.quantum,
            _ => Span::ZERO,
        }
    }

    /// Several packets may leave together.
    pub fn is_batched(&self) -> bool {
        matches!(self.transmitter, TransmitterSpec::Batched(_))
    }

    /// What leaves together must be for one user.
    pub fn is_for_one_user(&self) -> bool {
        matches!(&self.transmitter, TransmitterSpec::Batched(batched) if batched.one_user)
    }

    /// A fixed rate and a fixed delay, and everything arrives: when a packet arrives is known as it leaves,
    /// by a closed form.
    pub fn is_plain(&self) -> bool {
        matches!(self.transmitter, TransmitterSpec::Fixed(_)) && self.jitter.is_none() && self.loss.is_none()
    }

    /// A fixed rate, whatever becomes of packets then.
    pub fn is_fixed(&self) -> bool {
        matches!(self.transmitter, TransmitterSpec::Fixed(_))
    }

    /// The link; chance draws from streams of `seed` for `entity`.
    ///
    /// # Errors
    /// If a parameter is out of range, with its value.
    pub fn make(&self, seed: u64, entity: u64) -> Result<Link, Invalid> {
        let stream = |purpose| Stream::new(seed, purpose, entity);
        Ok(Link {
            transmitter: self.transmitter.make(stream("link batches"))?,
            delay: self.delay,
            jitter: self.jitter.map(|spec| Jitter::new(spec, stream("link jitter"))).map(Box::new),
            loss: self.loss.map(|spec| Loss::new(spec, stream("link loss"))).transpose()?.map(Box::new),
        })
    }
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    transmitter: TransmitterMachine,
    delay: Span,
    jitter: Option<Box<Jitter>>,
    loss: Option<Box<Loss>>,
}

impl Link {
    /// See [`Transmitter::opens`].
    #[inline]
    pub fn opens(&self, now: Time) -> Time {
        self.transmitter.opens(now)
    }
    /// See [`Transmitter::batch`].
    #[inline]
    pub fn batch(&self) -> u32 {
        self.transmitter.batch()
    }
    /// See [`Transmitter::one_user`].
    #[inline]
    pub fn one_user(&self) -> bool {
        self.transmitter.one_user()
    }
    /// See [`Transmitter::send`].
    #[inline]
    pub fn send(&mut self, now: Time, load: Load) -> Time {
        self.transmitter.send(now, load)
    }
    /// See [`Transmitter::rate`].
    #[inline]
    pub fn rate(&self, now: Time) -> Rate {
        self.transmitter.rate(now)
    }
    /// See [`Transmitter::remaining`].
    pub fn remaining(&self, now: Time, last: &Transmission) -> u64 {
        self.transmitter.remaining(now, last)
    }
    /// See [`Transmitter::take_unused`].
    #[inline]
    pub fn take_unused(&mut self, before: Time) -> Option<Unused> {
        self.transmitter.take_unused(before)
    }
    /// Propagation, without jitter.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Packets may overtake each other on the way.
    pub fn reorders(&self) -> bool {
        self.jitter.as_ref().is_some_and(|jitter| jitter.reorders())
    }

    /// When a packet that has left at `left` reaches the far end; `None`: it is lost on the way. Calls are in
    /// the order of departures. Every packet draws the same number of times, lost or not.
    #[inline]
    pub fn arrives(&mut self, left: Time) -> Option<Time> {
        let plain = left.saturating_add(self.delay);
        let lost = self.loss.as_mut().is_some_and(|loss| loss.strikes());
        let at = match &mut self.jitter {
            Some(jitter) => jitter.arrives(plain),
            None => plain,
        };
        (!lost).then_some(at)
    }
}

#[cfg(test)]
mod tests;
