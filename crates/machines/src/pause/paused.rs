//! What a port may not send, because its neighbour said so.

use super::{Frame, QueueSet};
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// Classes of IEEE 802.1Q.
const CLASSES: usize = 8;

/// The pauses of one port, and how long they have lasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    classes: [bool; CLASSES],
    /// When the pause of a class ends by itself; [`Time::MAX`]: it does not.
    expires: [Time; CLASSES],
    queues: QueueSet,
    /// Since when anything is paused.
    since: Time,
    /// Pauses that are over.
    lasted: Span,
    /// How often something was paused while nothing was.
    count: u64,
}

/// What a frame, or time, has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// Something that could be sent may not be sent now.
    Paused,
    /// Something that could not be sent may be sent now.
    Resumed,
}

impl Default for Paused {
    fn default() -> Self {
        Self {
            classes: [false; CLASSES],
            expires: [Time::MAX; CLASSES],
            queues: QueueSet::default(),
            since: Time::ZERO,
            lasted: Span::ZERO,
            count: 0,
        }
    }
}

impl Paused {
    /// Some class or queue is paused.
    #[inline]
    pub fn any(&self) -> bool {
        !self.queues.is_empty() || self.classes.contains(&true)
    }
    /// The class is paused; classes above 7 share it.
    #[inline]
    pub fn class(&self, class: u8) -> bool {
        self.classes[usize::from(class).min(CLASSES - 1)]
    }
    /// Some class is.
    #[inline]
    pub fn any_class(&self) -> bool {
        self.classes.contains(&true)
    }
    /// Queues that are paused one by one.
    pub fn queues(&self) -> &QueueSet {
        &self.queues
    }
    /// How often something was paused while nothing was.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// For how long something has been paused, a pause that stands included.
    pub fn lasted(&self, now: Time) -> Span {
        self.lasted + if self.any() { now.since(self.since) } else { Span::ZERO }
    }
    /// When the next pause ends by itself.
    pub fn wake(&self) -> Option<Time> {
        self.expires.iter().copied().min().filter(|at| *at < Time::MAX)
    }

    /// A frame arrives.
    pub fn on_frame(&mut self, now: Time, frame: Frame) -> Change {
        let before = (self.classes, self.queues);
        let was = self.any();
        match frame {
            Frame::Xoff { class, hold } => {
                let class = usize::from(class).min(CLASSES - 1);
                self.classes[class] = true;
                self.expires[class] = hold.map_or(Time::MAX, |hold| now.saturating_add(hold));
            }
            Frame::Xon { class } => {
                let class = usize::from(class).min(CLASSES - 1);
                self.classes[class] = false;
                self.expires[class] = Time::MAX;
            }
            Frame::PauseQueue { queue } => self.queues.set(queue, true),
            Frame::ResumeQueue { queue } => self.queues.set(queue, false),
            Frame::Bitmap(queues) => self.queues = queues,
        }
        self.note(now, was, before)
    }

    /// Time has come to `now`.
    pub fn tick(&mut self, now: Time) -> Change {
        let before = (self.classes, self.queues);
        let was = self.any();
        for class in 0..CLASSES {
            if self.expires[class] <= now {
                self.classes[class] = false;
                self.expires[class] = Time::MAX;
            }
        }
        self.note(now, was, before)
    }

    fn note(&mut self, now: Time, was: bool, before: ([bool; CLASSES], QueueSet)) -> Change {
        match (was, self.any()) {
            (false, true) => {
                self.since = now;
                self.count += 1;
            }
            (true, false) => self.lasted += now.since(self.since),
            _ => {}
        }
        let class = |c: usize| before.0[c] && !self.classes[c];
        let queue = |w: usize| before.1.word(w) & !self.queues.word(w) != 0;
        if (0..CLASSES).any(class) || (0..4).any(queue) {
            Change::Resumed
        } else if before != (self.classes, self.queues) {
            Change::Paused
        } else {
            Change::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = Time::from_us;

    #[test]
    fn a_class_is_paused_from_xoff_to_xon_and_the_time_is_counted() {
        let mut p = Paused::default();
        let xoff = Frame::Xoff { class: 3, hold: None };
        assert_eq!(p.on_frame(US(1), xoff), Change::Paused);
        assert_eq!(p.on_frame(US(2), xoff), Change::None);
        assert!(p.class(3) && !p.class(0) && p.any_class());
        assert_eq!((p.lasted(US(5)), p.count(), p.wake()), (Span::from_us(4), 1, None));
        assert_eq!(p.on_frame(US(6), Frame::Xon { class: 3 }), Change::Resumed);
        assert_eq!(p.on_frame(US(7), Frame::Xon { class: 3 }), Change::None);
        assert_eq!((p.lasted(US(9)), p.any()), (Span::from_us(5), false));
    }

    #[test]
    fn a_pause_for_quanta_ends_by_itself_unless_it_is_refreshed() {
        let mut p = Paused::default();
        let xoff = Frame::Xoff { class: 0, hold: Some(Span::from_us(10)) };
        p.on_frame(US(0), xoff);
        p.on_frame(US(8), xoff);
        assert_eq!((p.tick(US(10)), p.wake()), (Change::None, Some(US(18))));
        assert_eq!((p.tick(US(18)), p.wake()), (Change::Resumed, None));
        assert!(!p.class(0));
    }

    #[test]
    fn a_bitmap_says_which_queues_are_paused_whatever_was_lost_before() {
        let mut p = Paused::default();
        assert_eq!(p.on_frame(US(1), Frame::PauseQueue { queue: 7 }), Change::Paused);
        let map = [2, 9].into_iter().collect();
        assert_eq!(p.on_frame(US(2), Frame::Bitmap(map)), Change::Resumed);
        assert!(!p.queues().has(7) && p.queues().has(2) && p.queues().has(9));
        assert_eq!(p.on_frame(US(3), Frame::ResumeQueue { queue: 2 }), Change::Resumed);
        assert_eq!(p.on_frame(US(4), Frame::Bitmap(QueueSet::default())), Change::Resumed);
        assert_eq!(p.lasted(US(9)), Span::from_us(3));
    }
}
