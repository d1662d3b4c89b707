//! Delivery opportunities, as Mahimahi records them.

use crate::problems::Invalid;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use thalweg_units::{Rate, Span, Time};

/// Opportunities to send, and when they begin again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(Vec<u32>, bool)", into = "(Vec<u32>, bool)")]
pub struct Trace {
    ms: Vec<u32>,
    once: bool,
}

/// One opportunity among those of all rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    /// When its round began.
    round: Time,
    /// Its number in the round.
    index: u64,
    /// When it comes; [`Time::MAX`]: never, the trace is over.
    pub at: Time,
}

impl Trace {
    /// Opportunities at these milliseconds, one for each entry; the last is the period.
    ///
    /// # Errors
    /// If there are none, they fall, or the last is at 0 (then time would stand still).
    pub fn from_ms(ms: Vec<u32>) -> Result<Self, Invalid> {
        if let Some(at) = ms.windows(2).position(|pair| pair[0] > pair[1]) {
            let why = format!("opportunity {} falls from {} to {} ms", at + 2, ms[at], ms[at + 1]);
            return Err(Invalid::new(why));
        }
        match ms.last() {
            None => Err(Invalid::new("a trace needs at least one opportunity")),
            Some(0) => {
                let why = "the last opportunity is at 0 ms: repeated, the trace would never pass its start";
                Err(Invalid::new(why))
            }
            Some(_) => Ok(Self { ms, once: false }),
        }
    }

    /// The same without an end that is a beginning: after the last opportunity there is none.
    pub fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// It begins again at its last opportunity.
    pub fn repeats(&self) -> bool {
        !self.once
    }

    /// When they come, in milliseconds: never falling.
    pub fn ms(&self) -> &[u32] {
        &self.ms
    }

    /// Opportunities of one round.
    pub fn opportunities(&self) -> usize {
        self.ms.len()
    }

    /// After what time it begins again.
    pub fn period(&self) -> Span {
        Span::from_ms(self.ms.last().copied().map_or(1, u64::from))
    }

    /// Where opportunity `k` is, counted from 0 through all rounds.
    pub(super) fn place(&self, k: u64) -> Place {
        let n = self.ms.len() as u64;
        self.placed(
            Time::ZERO.saturating_add(self.period().saturating_mul(k / n)),
            k % n,
            self.once && k >= n,
        )
    }

    /// The one that comes so many after another. Next to it is near: no division.
    #[inline]
    pub(super) fn after(&self, from: Place, more: u64) -> Place {
        let n = self.ms.len() as u64;
        let index = from.index + more;
        if index < n || from.at == Time::MAX {
            return self.placed(from.round, index.min(n - 1), from.at == Time::MAX);
        }
        let rounds = self.period().saturating_mul(index / n);
        self.placed(from.round.saturating_add(rounds), index % n, self.once)
    }

    /// Opportunity `index` of the round that begins there; over: the trace has ended before.
    #[inline]
    fn placed(&self, round: Time, index: u64, over: bool) -> Place {
        let offset = Span::from_ms(1).saturating_mul(u64::from(self.ms[index as usize]));
        Place { round, index, at: if over { Time::MAX } else { round.saturating_add(offset) } }
    }

    /// How many opportunities come before one.
    pub(super) fn number(&self, place: Place) -> u64 {
        let period = self.ms.last().map_or(0, |ms| Span::from_ms(u64::from(*ms)).ps());
        let rounds = place.round.ps().checked_div(period).unwrap_or(0);
        rounds.saturating_mul(self.ms.len() as u64).saturating_add(place.index)
    }

    /// How many opportunities come before `at`.
    pub(super) fn before(&self, at: Time) -> u64 {
        let n = self.ms.len() as u64;
        let ms = at.ps().div_ceil(Span::from_ms(1).ps()); // an opportunity at t ms is before `at` if t < ms
        if self.once {
            return self.ms.partition_point(|t| u64::from(*t) < ms) as u64;
        }
        let period = u64::from(*self.ms.last().expect("a trace has an opportunity"));
        // The last of a round come with the first of the next, at a whole number of periods.
        let round = ms.saturating_sub(1) / period;
        n * round + self.ms.partition_point(|t| u64::from(*t) < ms - round * period) as u64
    }

    /// The rate of the millisecond that has most opportunities, if each carries `bytes`.
    pub fn peak_rate(&self, bytes: u32) -> Rate {
        let most = self.ms.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0);
        rate(most as u64, bytes, Span::from_ms(1))
    }

    /// Its mean rate if each opportunity carries `bytes`.
    pub fn mean_rate(&self, bytes: u32) -> Rate {
        rate(self.ms.len() as u64, bytes, self.period())
    }
}

impl TryFrom<(Vec<u32>, bool)> for Trace {
    type Error = Invalid;
    fn try_from((ms, once): (Vec<u32>, bool)) -> Result<Self, Invalid> {
        Self::from_ms(ms).map(|trace| Self { once, ..trace })
    }
}
impl From<Trace> for (Vec<u32>, bool) {
    fn from(trace: Trace) -> Self {
        (trace.ms, trace.once)
    }
}

/// Writes a shared trace.
pub(super) fn save<S: Serializer>(trace: &Arc<Trace>, serializer: S) -> Result<S::Ok, S::Error> {
    (&trace.ms, trace.once).serialize(serializer)
}
/// Reads one.
pub(super) fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Trace>, D::Error> {
    Trace::deserialize(deserializer).map(Arc::new)
}

/// What so many opportunities of so many bytes are in a span.
pub(super) fn rate(opportunities: u64, bytes: u32, span: Span) -> Rate {
    let bits = u128::from(opportunities) * u128::from(bytes) * 8;
    let bps = bits * 1_000_000_000_000 / u128::from(span.ps().max(1));
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}
