//! How late the kernel's timers wake this thread, learnt from every wake-up, so that it can be woken that much earlier.
//!
//! A core that has halted wakes late, in a virtual machine by 5 to 50 us, and by much the same each time. A thread that
//! is woken earlier by the median of that polls for what is left, which is as long as wake-ups differ: a few
//! microseconds. What is polled is bounded by what was slept, because the kernel stops real-time threads that hardly
//! sleep (`sched_rt_runtime_us`), and because the applications need the cores, too.

use thalweg_units::{Span, Time};

/// Each wake-up moves the estimate by this much, so it follows the median, however late single ones are.
const STEP: Span = Span::from_ns(250);
/// No wake-up is asked for earlier than this: timers that are later are those of a busy machine, and not by the same
/// each time.
const EARLIEST: Span = Span::from_us(50);
/// Time slept for each unit of time polled.
const SLEPT_PER_POLLED: u64 = 2;
/// Time to poll that can be saved up.
const CREDIT: Span = Span::from_ms(1);

/// What a thread does until the next thing is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It looks again at once.
    AtOnce,
    /// It sleeps until this instant, or until something comes.
    Asleep(Option<Time>),
}

/// What is known of wake-ups.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wakes {
    /// The median lateness of wake-ups by a timer.
    late: Span,
    /// Time that may still be polled.
    credit: Span,
    /// Since when it polls.
    polling: Option<Time>,
}

impl Wakes {
    /// How to wait for what is due next.
    pub fn wait(&mut self, now: Time, due: Option<Time>) -> Wait {
        if let Some(since) = self.polling.take() {
            self.credit = self.credit.saturating_sub(now.since(since));
        }
        let Some(due) = due else { return Wait::Asleep(None) };
        if due <= now {
            return Wait::AtOnce;
        }
        if due > now + self.late {
            return Wait::Asleep(Some(Time::from_ps(due.ps() - self.late.ps())));
        }
        if self.credit.is_zero() {
            // It will be late, by what timers are late.
            return Wait::Asleep(Some(due));
        }
        self.polling = Some(now);
        Wait::AtOnce
    }

    /// The thread has slept. `alarm`: for when a timer was set, if that has woken it.
    pub fn woken(&mut self, asleep: Time, now: Time, alarm: Option<Time>) {
        let slept = now.since(asleep);
        self.credit = (self.credit + Span::from_ps(slept.ps() / SLEPT_PER_POLLED)).min(CREDIT);
        let Some(alarm) = alarm else { return };
        self.late = if now > alarm + self.late {
            (self.late + STEP).min(EARLIEST)
        } else {
            self.late.saturating_sub(STEP)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It has slept 1000 times for 1 ms, and was woken late by this many microseconds.
    fn after(late: impl Fn(u64) -> u64) -> Wakes {
        let mut wakes = Wakes::default();
        for n in 0..1000 {
            let alarm = Time::from_us(1000 * n + 1000);
            wakes.woken(Time::from_us(1000 * n), alarm + Span::from_us(late(n)), Some(alarm));
        }
        wakes
    }

    const NOW: Time = Time::from_ms(2000);

    fn until(wakes: &mut Wakes, due: Time) -> Time {
        match wakes.wait(NOW, Some(due)) {
            Wait::Asleep(Some(until)) => until,
            other => panic!("it does not sleep: {other:?}"),
        }
    }

    #[test]
    fn sleeps_are_shortened_by_the_median_of_what_timers_are_late() {
        let mut wakes = after(|n| if n % 10 == 9 { 3000 } else { 20 + n % 3 });
        let early = (NOW + Span::from_us(100)).since(until(&mut wakes, NOW + Span::from_us(100)));
        assert!((Span::from_us(20)..=Span::from_us(23)).contains(&early), "{early}");
        // A timer would be late for that.
        assert_eq!(wakes.wait(NOW, Some(NOW + Span::from_us(15))), Wait::AtOnce);
    }

    #[test]
    fn where_timers_are_in_time_nothing_is_polled() {
        let due = NOW + Span::from_ns(1);
        assert_eq!(until(&mut after(|_| 0), due), due);
    }

    #[test]
    fn no_more_than_half_of_what_was_slept_is_polled() {
        let mut wakes = after(|_| 20);
        let mut now = NOW;
        let soon = Span::from_us(10);
        assert_eq!(wakes.wait(now, Some(now + soon)), Wait::AtOnce);
        now += CREDIT;
        let due = now + soon;
        assert_eq!(
            wakes.wait(now, Some(due)),
            Wait::Asleep(Some(due)),
            "all that was saved up is polled away"
        );
        wakes.woken(now, now + Span::from_us(40), None);
        now += Span::from_us(40);
        for left in [true, true, false] {
            let polls = wakes.wait(now, Some(now + soon)) == Wait::AtOnce;
            assert_eq!(polls, left);
            now += soon;
        }
    }

    #[test]
    fn a_busy_machine_does_not_make_it_poll_for_milliseconds() {
        let due = NOW + Span::from_us(100);
        assert_eq!(until(&mut after(|_| 5000), due), due - EARLIEST);
    }

    #[test]
    fn what_is_due_is_done_at_once_and_nothing_due_is_slept_through() {
        let mut wakes = after(|_| 20);
        assert_eq!(wakes.wait(NOW, Some(NOW)), Wait::AtOnce);
        assert_eq!(wakes.wait(NOW, None), Wait::Asleep(None));
    }
}
