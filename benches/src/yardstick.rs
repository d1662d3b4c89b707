//! The event queue of W0: a calendar (Brown, CACM 1988) that stays as it is.
//!
//! Ratios to W0 compare engines of different days on different machines, so what they are ratios to must not
//! become faster with the engine. This is what the engine's calendar was when the goals were set: days of a
//! fixed width, sorted by insertion when they are reached, a bitmap of those that hold something, a heap for
//! what lies beyond the year.

use thalweg_sim::events::{Event, Events, Heap, Phase, Tag, Ties};
use thalweg_units::Time;

/// How long after the beginning of its day (ps), above the entity: all that happens in a bare network is that
/// packets arrive.
type Word = u64;

/// Bits of a [`Tag`].
const TAG: u32 = 36;
/// Events per day that the width aims at.
const PER_DAY: u64 = 2;
/// Bounds of the number of days in a year.
const DAYS: (u64, u64) = (256, 1 << 15);

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// A day lasts 2^shift ps.
    shift: u32,
    /// Number of days in the year, minus one.
    mask: u64,
    days: Vec<Vec<Word>>,
    busy: Vec<u64>,
    /// The running day, largest first.
    today: Vec<Word>,
    day: u64,
    later: Heap,
}

impl Yardstick {
    #[inline(always)]
    fn word(&self, event: Event) -> Word {
        (event.at.ps() & ((1 << self.shift) - 1)) << TAG | event.tag.word()
    }

    #[inline(always)]
    fn event(&self, word: Word) -> Event {
        // All that happens in a bare network is that packets arrive.
        let tag = Tag::new(Phase::Arrive, word as u32);
        Event { at: Time::from_ps((self.day << self.shift) + (word >> TAG)), tag }
    }

    #[inline]
    fn next_busy(&self) -> Option<u64> {
        let words = self.busy.len();
        let start = (self.day + 1) & self.mask;
        let (mut word, bit) = ((start >> 6) as usize, start & 63);
        let mut bits = self.busy[word] & (!0u64 << bit);
        for _ in 0..=words {
            if bits != 0 {
                let slot = (word as u64) << 6 | u64::from(bits.trailing_zeros());
                return Some(self.day + 1 + (slot.wrapping_sub(start) & self.mask));
            }
            word = if word + 1 == words { 0 } else { word + 1 };
            bits = self.busy[word];
        }
        None
    }

    fn advance(&mut self) -> bool {
        let later = self.later.peek().map(|e| e.at.ps() >> self.shift);
        let day = match (self.next_busy(), later) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) => a,
            (None, Some(b)) => b,
            (None, None) => return false,
        };
        self.day = day;
        let slot = (day & self.mask) as usize;
        std::mem::swap(&mut self.today, &mut self.days[slot]);
        self.busy[slot >> 6] &= !(1 << (slot & 63));
        while let Some(first) = self.later.peek() {
            let due = first.at.ps() >> self.shift;
            if due - day > self.mask {
                break;
            }
            let event = self.later.pop().expect("peeked");
            let word = self.word(event);
            if due == day { self.today.push(word) } else { self.file(due, word) }
        }
        sort_descending(&mut self.today);
        true
    }

    #[inline(always)]
    fn file(&mut self, day: u64, word: Word) {
        let slot = (day & self.mask) as usize;
        self.days[slot].push(word);
        self.busy[slot >> 6] |= 1 << (slot & 63);
    }
}

#[inline]
fn sort_descending(words: &mut [Word]) {
    for i in 1..words.len() {
        let word = words[i];
        let mut hole = i;
        while hole > 0 && words[hole - 1] < word {
            words[hole] = words[hole - 1];
            hole -= 1;
        }
        words[hole] = word;
    }
}

/// Ties go by number: what it measures has none that matter.
impl Events for Yardstick {
    fn ties(&self) -> Ties {
        Ties::ByNumber
    }

    fn ties_with_next(&self, _: Event) -> bool {
        false
    }

    fn sized(pending: usize, horizon: u64, _: Ties) -> Self {
        let width = (horizon * PER_DAY / (pending as u64).max(1)).clamp(64, 1 << (Word::BITS - TAG));
        let shift = width.ilog2();
        let days = ((2 * horizon) >> shift).next_power_of_two().clamp(DAYS.0, DAYS.1);
        Self {
            shift,
            mask: days - 1,
            days: vec![Vec::new(); days as usize],
            busy: vec![0; (days as usize).div_ceil(64)],
            today: Vec::with_capacity(64),
            day: 0,
            later: Heap::default(),
        }
    }

    #[inline]
    fn push(&mut self, event: Event) {
        let day = event.at.ps() >> self.shift;
        let word = self.word(event);
        let ahead = day.wrapping_sub(self.day);
        if ahead == 0 {
            let mut hole = self.today.len();
            self.today.push(word);
            while hole > 0 && self.today[hole - 1] < word {
                self.today[hole] = self.today[hole - 1];
                hole -= 1;
            }
            self.today[hole] = word;
        } else if ahead <= self.mask {
            self.file(day, word);
        } else {
            self.later.push(event);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(word) = self.today.pop() {
                return Some(self.event(word));
            }
            if !self.advance() {
                return None;
            }
        }
    }

    fn next_is_after(&self, now: Time, tag: Tag) -> bool {
        self.today.last().is_none_or(|&next| next > self.word(Event { at: now, tag }))
    }

    fn sorted(&self) -> Vec<Event> {
        let mut rest = self.clone();
        std::iter::from_fn(|| rest.pop()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bare::Bare;
    use thalweg_sim::events::Calendar;

    #[test]
    fn the_bare_network_does_the_same_on_all_queues() {
        let hops = Bare::<Yardstick>::new(4, 50, 10).run();
        assert_eq!(hops, Bare::<Calendar>::new(4, 50, 10).run());
        assert_eq!(hops, Bare::<Heap>::new(4, 50, 10).run());
    }
}
