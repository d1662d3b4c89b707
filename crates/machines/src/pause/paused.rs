//! The pause state of a port: what it may not send because of its neighbour.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thalweg_units::{FlowId, Span, Time};
use thalweg_wire::{Classes, Frame, QueueSet};

/// The pauses of one port, and how long they have lasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    classes: Classes,
    queues: QueueSet,
    /// Flows whose queues, whichever they are in, are paused.
    flows: BTreeSet<FlowId>,
    /// When the pause of a class ends by itself; [`Time::MAX`]: it does not.
    expires: [Time; Classes::COUNT],
    /// When the pauses of single queues end by themselves, likewise.
    queues_expire: Time,
    /// How often the rate is halved.
    halvings: u8,
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
            classes: Classes::default(),
            queues: QueueSet::default(),
            flows: BTreeSet::new(),
            expires: [Time::MAX; Classes::COUNT],
            queues_expire: Time::MAX,
            halvings: 0,
            since: Time::ZERO,
            lasted: Span::ZERO,
            count: 0,
        }
    }
}

impl Paused {
    /// Some class, queue or flow is paused.
    #[inline]
    pub fn any(&self) -> bool {
        !self.classes.is_empty() || !self.queues.is_empty() || !self.flows.is_empty()
    }
    /// Some class is paused.
    #[inline]
    pub fn any_class(&self) -> bool {
        !self.classes.is_empty()
    }
    /// The class is paused; classes above 7 share it.
    #[inline]
    pub fn class(&self, class: u8) -> bool {
        self.classes.has(class)
    }
    /// The queue of this number may not be sent: it is paused itself, or the class of its number is.
    #[inline]
    pub fn queue(&self, queue: u16) -> bool {
        self.queues.has(queue) || self.classes.has(u8::try_from(queue).unwrap_or(u8::MAX))
    }
    /// The port sends at its link's rate divided by 2 to the power of this.
    #[inline]
    pub fn halvings(&self) -> u8 {
        self.halvings
    }
    /// Queues that are paused one by one.
    pub fn queues(&self) -> &QueueSet {
        &self.queues
    }
    /// Flows that are paused one by one.
    pub fn flows(&self) -> &BTreeSet<FlowId> {
        &self.flows
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
        let queues = if self.queues.is_empty() { Time::MAX } else { self.queues_expire };
        let first = self.expires.iter().copied().fold(queues, Time::min);
        (first < Time::MAX).then_some(first)
    }
    /// What single queues are paused now stays so until then, unless it is confirmed.
    pub fn keep_queues_until(&mut self, at: Time) {
        self.queues_expire = at;
    }

    /// A frame arrives.
    pub fn on_frame(&mut self, now: Time, frame: Frame) -> Change {
        let (classes, queues, before) = (self.classes, self.queues, self.any());
        match frame {
            Frame::PauseFlow { flow } => {
                let new = self.flows.insert(flow);
                self.count_time(now, before);
                return if new { Change::Paused } else { Change::None };
            }
            Frame::ResumeFlow { flow } => {
                let gone = self.flows.remove(&flow);
                self.count_time(now, before);
                return if gone { Change::Resumed } else { Change::None };
            }
            Frame::Xoff { classes, hold } => {
                self.expire(classes, hold.map_or(Time::MAX, |hold| now.saturating_add(hold)));
                self.classes = self.classes.with(classes);
            }
            Frame::Xon { classes } => {
                self.expire(classes, Time::MAX);
                self.classes = self.classes.without(classes);
            }
            Frame::PauseQueue { queue } => self.queues.set(queue, true),
            Frame::ResumeQueue { queue } => self.queues.set(queue, false),
            Frame::Bitmap(queues) => self.queues = queues,
            Frame::Slow { halvings } => {
                let before = std::mem::replace(&mut self.halvings, halvings);
                return match halvings.cmp(&before) {
                    std::cmp::Ordering::Less => Change::Resumed,
                    std::cmp::Ordering::Equal => Change::None,
                    std::cmp::Ordering::Greater => Change::Paused,
                };
            }
            Frame::Signal(_) => {}
        }
        self.note(now, classes, queues, before)
    }

    /// Ends the pauses that have expired by `now`.
    pub fn tick(&mut self, now: Time) -> Change {
        let (classes, queues, before) = (self.classes, self.queues, self.any());
        if self.queues_expire <= now {
            self.queues_expire = Time::MAX;
            self.queues = QueueSet::default();
        }
        for class in 0..Classes::COUNT {
            if self.expires[class] <= now {
                self.expires[class] = Time::MAX;
                self.classes = self.classes.without(Classes::one(class as u8));
            }
        }
        self.note(now, classes, queues, before)
    }

    /// Clears all pauses: the link to the neighbour has failed.
    pub fn clear(&mut self, now: Time) -> Change {
        let (classes, queues, before) = (self.classes, self.queues, self.any());
        let flows = !std::mem::take(&mut self.flows).is_empty();
        let slowed = std::mem::take(&mut self.halvings) > 0;
        self.expire(Classes::ALL, Time::MAX);
        self.classes = Classes::default();
        self.queues = QueueSet::default();
        let change = self.note(now, classes, queues, before);
        if flows || slowed { Change::Resumed } else { change }
    }

    fn expire(&mut self, classes: Classes, at: Time) {
        for class in (0..Classes::COUNT).filter(|class| classes.has(*class as u8)) {
            self.expires[class] = at;
        }
    }

    /// Something was paused before, or nothing.
    fn count_time(&mut self, now: Time, before: bool) {
        match (before, self.any()) {
            (false, true) => {
                self.since = now;
                self.count += 1;
            }
            (true, false) => self.lasted += now.since(self.since),
            _ => {}
        }
    }

    /// What was paused before is known.
    fn note(&mut self, now: Time, classes: Classes, queues: QueueSet, before: bool) -> Change {
        self.count_time(now, before);
        let resumed = |word| queues.word(word) & !self.queues.word(word) != 0;
        if !classes.without(self.classes).is_empty() || (0..4).any(resumed) {
            Change::Resumed
        } else if (classes, queues) != (self.classes, self.queues) {
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
    fn a_neighbour_that_is_gone_slows_nothing_down() {
        let mut p = Paused::default();
        p.on_frame(US(1), Frame::Slow { halvings: 3 });
        assert_eq!((p.clear(US(2)), p.halvings(), p.clear(US(3))), (Change::Resumed, 0, Change::None));
    }

    #[test]
    fn a_class_is_paused_from_xoff_to_xon_and_the_time_is_counted() {
        let mut p = Paused::default();
        let xoff = Frame::Xoff { classes: Classes::one(3), hold: None };
        assert_eq!(p.on_frame(US(1), xoff), Change::Paused);
        assert_eq!(p.on_frame(US(2), xoff), Change::None);
        assert!(p.class(3) && !p.class(0) && p.any());
        assert_eq!((p.lasted(US(5)), p.count(), p.wake()), (Span::from_us(4), 1, None));
        assert_eq!(p.on_frame(US(6), Frame::Xon { classes: Classes::one(3) }), Change::Resumed);
        assert_eq!(p.on_frame(US(7), Frame::Xon { classes: Classes::one(3) }), Change::None);
        assert_eq!((p.lasted(US(9)), p.any()), (Span::from_us(5), false));
    }

    #[test]
    fn a_pause_for_quanta_ends_by_itself_unless_it_is_refreshed() {
        let mut p = Paused::default();
        let xoff = Frame::Xoff { classes: Classes::one(0), hold: Some(Span::from_us(10)) };
        p.on_frame(US(0), xoff);
        p.on_frame(US(8), xoff);
        assert_eq!((p.tick(US(10)), p.wake()), (Change::None, Some(US(18))));
        assert_eq!((p.tick(US(18)), p.wake()), (Change::Resumed, None));
        assert!(!p.class(0));
    }

    #[test]
    fn a_pause_of_single_queues_that_is_not_confirmed_ends_by_itself() {
        let mut p = Paused::default();
        p.on_frame(US(1), Frame::PauseQueue { queue: 7 });
        p.keep_queues_until(US(33));
        p.on_frame(US(3), Frame::Bitmap([7, 9].into_iter().collect()));
        p.keep_queues_until(US(35));
        assert_eq!((p.tick(US(33)), p.wake()), (Change::None, Some(US(35))));
        assert_eq!((p.tick(US(35)), p.any(), p.wake()), (Change::Resumed, false, None));
    }

    #[test]
    fn a_frame_for_all_classes_stops_every_queue_and_a_lost_neighbour_stops_none() {
        let mut p = Paused::default();
        p.on_frame(US(1), Frame::Xoff { classes: Classes::ALL, hold: None });
        assert!((0..8).all(|class| p.class(class)) && p.queue(0) && p.queue(200));
        assert_eq!(p.on_frame(US(2), Frame::Xon { classes: Classes::one(0) }), Change::Resumed);
        assert!(!p.queue(0) && p.queue(1) && p.any());
        assert_eq!((p.clear(US(3)), p.any(), p.lasted(US(9))), (Change::Resumed, false, Span::from_us(2)));
    }

    #[test]
    fn flows_are_paused_one_by_one_once_each_and_a_lost_neighbour_stops_none() {
        let mut p = Paused::default();
        let (stop, go) =
            (|n| Frame::PauseFlow { flow: FlowId(n) }, |n| Frame::ResumeFlow { flow: FlowId(n) });
        assert_eq!(
            [stop(3), stop(3), stop(5)].map(|f| p.on_frame(US(1), f)),
            [Change::Paused, Change::None, Change::Paused]
        );
        assert!(p.any() && p.flows().contains(&FlowId(3)) && p.queues().is_empty());
        assert_eq!([go(3), go(4)].map(|f| p.on_frame(US(2), f)), [Change::Resumed, Change::None]);
        assert_eq!(
            (p.clear(US(4)), p.any(), p.lasted(US(9)), p.count()),
            (Change::Resumed, false, Span::from_us(3), 1)
        );
    }

    #[test]
    fn a_bitmap_names_the_paused_queues_whatever_was_lost_before() {
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
