//! A calendar queue (Brown, CACM 1988) with one year and a heap for everything beyond it.
//!
//! Days are narrow (a few events each) and are sorted when they are reached; a bitmap skips empty days. Events of
//! the running day are inserted in order. Timers, which are mostly far away and mostly cancelled, wait in the heap
//! and enter the year as it advances.
//!
//! Within its day an event is one word, which sorts by instant, phase and entity. Among events of one instant and
//! phase the draw decides ([`Ties`]): it is applied when a day is reached, and when an event joins the running day.

use super::order::{Word, sort_descending};
use super::{Event, Events, Heap, Phase, Tag, Ties};
use thalweg_units::Time;

/// Bits of a [`Tag`].
const TAG: u32 = 36;
const _: () = assert!(Phase::ALL.len() <= 1 << (TAG - 32));
/// A day lasts 2^28 ps at most: the bits of a word that the tag leaves.
const WIDEST: u32 = Word::BITS - TAG;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// A day lasts 2^shift ps.
    shift: u32,
    /// Number of days in the year, minus one (a power of two minus one).
    mask: u64,
    /// Events of later days of this year, unsorted; index = day number & mask.
    days: Vec<Vec<Word>>,
    /// One bit per day: set if the day holds events.
    busy: Vec<u64>,
    /// The running day's events, largest first: the next event is the last.
    today: Vec<Word>,
    /// Number of the running day (instant >> shift).
    day: u64,
    /// Events beyond the year, by instant.
    later: Heap,
    ties: Ties,
    /// Scratch space: the events of a tie, with their ranks.
    drawn: Vec<(u64, Word)>,
    /// The running day has begun since [`Events::bucket_advanced`] was called last.
    advanced: bool,
    /// How far apart most pending events are expected to be, ps.
    horizon: u64,
    /// Target number of events per day.
    per_day: u64,
    /// Days begun, and the sum of the events that they began with, since the width was last adapted.
    begun: (u64, u64),
}

/// Target number of events per day, in small and in large networks. Few events are fast to sort; in large networks,
/// where waiting for memory dominates, there must be enough to prefetch.
const PER_DAY: (u64, u64) = (2, 24);
/// Number of pending events above which a network counts as large.
const LARGE: usize = 2048;
/// Number of days after which the width is adapted again.
const LOOK: u64 = if cfg!(test) { 8 } else { 512 };
/// Days that begin with this many times the target are too wide. (On long links few events are pending, but they
/// are much closer together than the links' delays suggest.)
const CROWDED: u64 = if cfg!(test) { 4 } else { 32 };
/// Smallest and largest number of days in a year.
const DAYS: (u64, u64) = (256, 1 << 15);

impl Calendar {
    /// An event as a word of its day.
    #[inline(always)]
    fn word(&self, event: Event) -> Word {
        (event.at.ps() & ((1 << self.shift) - 1)) << TAG | event.tag.word()
    }

    /// The event that a word of `day` stands for.
    #[inline(always)]
    fn event(&self, day: u64, word: Word) -> Event {
        Event { at: self.instant(day, word), tag: tag(word) }
    }

    #[inline(always)]
    fn instant(&self, day: u64, word: Word) -> Time {
        Time::from_ps((day << self.shift) + (word >> TAG))
    }

    /// The next day after `self.day` that holds events, within the year.
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

    /// The next day that holds events, if any are pending.
    #[inline]
    fn next_day(&self) -> Option<u64> {
        let later = self.later.peek().map(|e| e.at.ps() >> self.shift);
        match (self.next_busy(), later) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Makes the next day that holds events the running day, if it begins before `end`. False if there is none.
    fn advance(&mut self, end: Time) -> bool {
        if self.begun.0 == LOOK {
            self.adapt_width();
        }
        let Some(day) = self.next_day().filter(|day| day << self.shift < end.ps()) else { return false };
        self.day = day;
        self.advanced = true;
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
        if self.ties != Ties::ByNumber {
            self.draw_ties();
        }
        self.begun = (self.begun.0 + 1, self.begun.1 + self.today.len() as u64);
        true
    }

    /// Puts the running day's events of one instant and phase in the order of their draw.
    #[inline]
    fn draw_ties(&mut self) {
        let mut first = 0;
        while first + 1 < self.today.len() {
            if tie(self.today[first], self.today[first + 1]) {
                first = self.draw_tie(first);
            } else {
                first += 1;
            }
        }
    }

    /// Orders the tie that begins at index `first`, and returns where it ends.
    #[inline(never)]
    fn draw_tie(&mut self, first: usize) -> usize {
        let of = self.today[first];
        let draw = self.ties.draw(self.instant(self.day, of), tag(of).phase());
        let end = self.today[first..]
            .iter()
            .position(|&word| !tie(word, of))
            .map_or(self.today.len(), |n| first + n);
        if let [a, b] = &mut self.today[first..end] {
            if draw.precedes(tag(*a).entity(), tag(*b).entity()) {
                std::mem::swap(a, b);
            }
            return end;
        }
        self.drawn.clear();
        self.drawn.extend(self.today[first..end].iter().map(|&word| (draw.rank(tag(word).entity()), word)));
        self.drawn.sort_unstable_by(|a, b| b.cmp(a));
        for (place, (_, word)) in self.today[first..end].iter_mut().zip(&self.drawn) {
            *place = *word;
        }
        end
    }

    /// Moves `hole`, which is behind a tie that `word` joins, to the place of `word` in that tie.
    #[inline(never)]
    fn make_room_in_tie(&mut self, mut hole: usize, word: Word) -> usize {
        let draw = self.ties.draw(self.instant(self.day, word), tag(word).phase());
        let rank = draw.rank(tag(word).entity());
        while hole > 0 && tie(self.today[hole - 1], word) {
            if draw.rank(tag(self.today[hole - 1]).entity()) >= rank {
                break;
            }
            self.today[hole] = self.today[hole - 1];
            hole -= 1;
        }
        hole
    }

    /// Whether the first of two words of the running day precedes the second.
    #[inline(always)]
    fn precedes(&self, first: Word, second: Word) -> bool {
        if tie(first, second) { self.precedes_by_draw(first, second) } else { first < second }
    }

    #[inline(never)]
    fn precedes_by_draw(&self, first: Word, second: Word) -> bool {
        let draw = self.ties.draw(self.instant(self.day, first), tag(first).phase());
        draw.precedes(tag(first).entity(), tag(second).entity())
    }

    /// Makes days narrower if they have been crowded. This affects performance only.
    #[cold]
    fn adapt_width(&mut self) {
        let (days, events) = std::mem::take(&mut self.begun);
        let crowd = events / (days * self.per_day);
        if crowd < CROWDED || self.shift <= 6 {
            return;
        }
        self.rebuild(self.shift.saturating_sub((crowd / 4).ilog2()).max(6));
    }

    /// Files all events again, in days of 2^`shift` ps.
    #[cold]
    fn rebuild(&mut self, shift: u32) {
        let pending = self.sorted();
        // Start one day before the first event, so that its day is begun in the usual way.
        let before = pending.first().map_or(0, |e| (e.at.ps() >> shift).saturating_sub(1));
        *self = Self { day: before, ..Self::of_width(shift, self.horizon, self.per_day, self.ties) };
        pending.into_iter().rev().for_each(|event| self.push(event));
    }

    fn of_width(shift: u32, horizon: u64, per_day: u64, ties: Ties) -> Self {
        let days = ((2 * horizon) >> shift).next_power_of_two().clamp(DAYS.0, DAYS.1);
        Self {
            shift,
            mask: days - 1,
            days: vec![Vec::new(); days as usize],
            busy: vec![0; (days as usize).div_ceil(64)],
            today: Vec::with_capacity(64),
            day: 0,
            later: Heap::default(),
            ties,
            drawn: Vec::new(),
            advanced: false,
            horizon,
            per_day,
            begun: (0, 0),
        }
    }

    /// Moves all events to a calendar sized for about `pending` events. This affects performance only.
    pub fn resize(&mut self, pending: usize) {
        let mut resized = Self::sized(pending, self.horizon, self.ties);
        while let Some(event) = self.pop() {
            resized.push(event);
        }
        *self = resized;
    }

    #[inline(always)]
    fn file(&mut self, day: u64, word: Word) {
        let slot = (day & self.mask) as usize;
        self.days[slot].push(word);
        self.busy[slot >> 6] |= 1 << (slot & 63);
    }
}

#[inline(always)]
fn tag(word: Word) -> Tag {
    Tag(word & ((1 << TAG) - 1))
}

/// Instant and phase of a word.
#[inline(always)]
fn moment(word: Word) -> Word {
    word >> 32
}

/// Whether two words of a day have the same instant and phase.
#[inline(always)]
fn tie(a: Word, b: Word) -> bool {
    moment(a ^ b) == 0
}

impl Events for Calendar {
    fn sized(pending: usize, horizon: u64, ties: Ties) -> Self {
        let per_day = if pending > LARGE { PER_DAY.1 } else { PER_DAY.0 };
        let width = (horizon * per_day / (pending as u64).max(1)).clamp(64, 1 << WIDEST);
        Self::of_width(width.ilog2(), horizon, per_day, ties)
    }

    fn ties(&self) -> Ties {
        self.ties
    }

    #[inline]
    fn push(&mut self, event: Event) {
        let day = event.at.ps() >> self.shift;
        let word = self.word(event);
        let ahead = day.wrapping_sub(self.day);
        if ahead == 0 {
            // Search from the end, where the present is.
            let mut hole = self.today.len();
            self.today.push(word);
            while hole > 0 && moment(self.today[hole - 1]) < moment(word) {
                self.today[hole] = self.today[hole - 1];
                hole -= 1;
            }
            if hole > 0 && tie(self.today[hole - 1], word) {
                hole = self.make_room_in_tie(hole, word);
            }
            self.today[hole] = word;
        } else if ahead <= self.mask {
            self.file(day, word);
        } else if day > self.day {
            self.later.push(event);
        } else {
            // This happens only if the run has stopped before the first event of the running day.
            self.later.push(event);
            self.rebuild(self.shift);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(word) = self.today.pop() {
                return Some(self.event(self.day, word));
            }
            if !self.advance(Time::MAX) {
                return None;
            }
        }
    }

    #[inline]
    fn pop_before(&mut self, end: Time) -> Option<Event> {
        loop {
            if let Some(&word) = self.today.last() {
                let event = self.event(self.day, word);
                if event.at >= end {
                    return None;
                }
                self.today.pop();
                return Some(event);
            }
            if !self.advance(end) {
                return None;
            }
        }
    }

    fn first(&self) -> Option<Event> {
        if let Some(&word) = self.today.last() {
            return Some(self.event(self.day, word));
        }
        let day = self.next_day()?;
        let words = self.days[(day & self.mask) as usize].iter().map(|&word| self.event(day, word));
        let within = words.filter(|_| self.next_busy() == Some(day));
        within.chain(self.later.peek().copied()).min_by(|a, b| {
            if a.precedes(b, self.ties) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
        })
    }

    /// All events of the present instant are in the running day.
    #[inline(always)]
    fn next_is_after(&self, now: Time, tag: Tag) -> bool {
        self.today.last().is_none_or(|&next| self.precedes(self.word(Event { at: now, tag }), next))
    }

    #[inline(always)]
    fn ties_with_next(&self, event: Event) -> bool {
        self.today.last().is_some_and(|&next| tie(next, self.word(event)))
    }

    #[inline(always)]
    fn next_entity(&self) -> u32 {
        tag(self.today.last().copied().unwrap_or(0)).entity()
    }

    #[inline(always)]
    fn upcoming(&self, ahead: usize) -> Option<Tag> {
        self.today.len().checked_sub(ahead + 1).map(|i| tag(self.today[i]))
    }

    #[inline(always)]
    fn bucket_advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    #[inline(always)]
    fn next_bucket(&self) -> impl Iterator<Item = Tag> {
        let day = self.next_busy().map_or(&[][..], |day| &self.days[(day & self.mask) as usize]);
        day.iter().map(|&word| tag(word))
    }

    fn sorted(&self) -> Vec<Event> {
        let year =
            (self.day + 1..=self.day + self.mask).map(|day| (day, &self.days[(day & self.mask) as usize]));
        let days = year.chain(std::iter::once((self.day, &self.today)));
        let mut events: Vec<_> = days
            .flat_map(|(day, words)| words.iter().map(move |&word| self.event(day, word)))
            .chain(self.later.iter().copied())
            .collect();
        events.sort_unstable();
        events
    }
}
