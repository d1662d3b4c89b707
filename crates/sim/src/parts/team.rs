//! Whether the windows of a run are worth all its threads, measured as it runs.
//!
//! On a busy machine a thread that could go on may wait for a core for milliseconds, and with it every window: two
//! threads can be a hundred times slower than one, which waits for no other. So the pace of the run is compared
//! with all threads and with one. Results do not depend on it.

use std::time::{Duration, Instant};

/// The pace of a run is measured over so much time: long next to a window, short next to what a person notices.
const STRETCH: Duration = Duration::from_millis(10);
/// A speed-up at which the pace of one thread alone is not worth measuring.
const WORTHWHILE: f64 = 1.25;
/// At most so many stretches pass between two comparisons: some ten seconds.
const MOST_PATIENCE: u32 = 1024;

/// Who runs the next windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// All threads.
    #[default]
    Together,
    /// The first thread.
    Alone,
}

/// The threads of a run, and its pace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Team {
    threads: usize,
    mode: Mode,
    stretch: Stretch,
    /// The pace of the stretch before, which was the other mode's, if the two are to be compared.
    other: Option<f64>,
    /// Stretches until the other mode is tried, and how many they were after the last comparison.
    left: u32,
    patience: u32,
}

/// Some windows of one mode.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    /// When the last window was over, or the run went on.
    last: Option<Instant>,
    /// Time that has passed while the run went on, and that in which the first thread processed events.
    wall: Duration,
    worked: Duration,
    /// The run's number of events when the stretch began.
    events: u64,
}

impl Team {
    /// The run goes on with `threads` threads.
    pub fn begin(&mut self, threads: usize, now: Instant, events: u64) {
        if threads != self.threads {
            *self = Self { threads, patience: 1, ..Self::default() };
            self.stretch.events = events;
        }
        self.stretch.last = Some(now);
    }

    /// Whether the first thread runs the next window alone.
    pub fn is_alone(&self) -> bool {
        self.mode == Mode::Alone
    }

    /// A window is over, in which the first thread processed events for `worked`. `events`: those of the run so
    /// far.
    pub fn note_window(&mut self, now: Instant, worked: Duration, events: impl FnOnce() -> u64) {
        let stretch = &mut self.stretch;
        stretch.wall += stretch.last.map_or(Duration::ZERO, |last| now.duration_since(last));
        stretch.last = Some(now);
        stretch.worked += worked;
        if stretch.wall >= STRETCH {
            self.judge(events());
        }
    }

    /// A stretch is over: decides who runs the next one.
    fn judge(&mut self, events: u64) {
        let Stretch { last, wall, worked, events: before } = self.stretch;
        self.stretch = Stretch { last, events, ..Stretch::default() };
        let pace = (events - before) as f64 / wall.as_secs_f64();
        // At least: threads that wait for a core seem to work.
        let speed_up = worked.as_secs_f64() * self.threads as f64 / wall.as_secs_f64();
        self.left = self.left.saturating_sub(1);
        if let Some(other) = self.other.take() {
            if other > pace {
                self.mode = self.mode.other();
            }
            self.patience = (2 * self.patience).min(MOST_PATIENCE);
            self.left = self.patience;
        } else if self.left == 0 && self.threads > 1 && (self.is_alone() || speed_up < WORTHWHILE) {
            self.other = Some(pace);
            self.mode = self.mode.other();
        }
    }
}

impl Mode {
    fn other(self) -> Self {
        match self {
            Self::Together => Self::Alone,
            Self::Alone => Self::Together,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sync::now;
    use super::*;

    /// Runs a team of two from one millisecond to another. `pace`: events per millisecond together and alone;
    /// `share` of the time in which the first thread works when both do. Returns the number of events.
    fn run(team: &mut Team, start: Instant, ms: std::ops::Range<u64>, pace: (u64, u64), share: f64) -> u64 {
        let mut events = 0;
        team.stretch.events = 0;
        team.begin(2, start + Duration::from_millis(ms.start), 0);
        for ms in ms {
            let (done, share) = if team.is_alone() { (pace.1, 1.0) } else { (pace.0, share) };
            events += done;
            let worked = Duration::from_millis(1).mul_f64(share);
            team.note_window(start + Duration::from_millis(ms + 1), worked, || events);
        }
        events
    }

    /// Threads that are worth it stay: no time is spent on a comparison.
    #[test]
    fn an_idle_machine_keeps_all_threads() {
        let mut team = Team::default();
        assert_eq!(run(&mut team, now(), 0..1000, (190, 100), 0.95), 190 * 1000);
    }

    /// A run whose threads wait for cores goes on alone after two stretches, and looks again ever less often.
    #[test]
    fn a_busy_machine_is_left_to_others() {
        let mut team = Team::default();
        let events = run(&mut team, now(), 0..10_000, (1, 100), 0.1);
        assert!(team.is_alone());
        assert!(events > 10_000 * 98, "{events}");
    }

    /// Threads come back once there is a core for them, in a time like that for which they were of no use.
    #[test]
    fn threads_come_back() {
        let (mut team, begun) = (Team::default(), now());
        run(&mut team, begun, 0..1000, (1, 100), 0.1);
        let events = run(&mut team, begun, 1000..5000, (190, 100), 0.95);
        assert!(!team.is_alone());
        assert!(events > 190 * 2500, "{events}");
    }

    /// Where the parts are uneven, threads wait although all have cores: they stay if that is faster.
    #[test]
    fn uneven_parts_keep_threads_that_are_faster() {
        let mut team = Team::default();
        let events = run(&mut team, now(), 0..10_000, (120, 100), 0.5);
        assert!(!team.is_alone());
        assert!(events > 10_000 * 119, "{events}");
    }

    /// One thread is compared with nothing.
    #[test]
    fn one_thread_is_never_alone() {
        let mut team = Team::default();
        let start = now();
        team.begin(1, start, 0);
        for ms in 0..100 {
            team.note_window(start + Duration::from_millis(ms), Duration::ZERO, || 0);
        }
        assert!(!team.is_alone());
    }
}
