//! The emulator's clock, and the only place that reads a clock.

use std::io;
use thalweg_units::{Span, Time};

/// The time of a clock of the kernel, in ns.
fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec of ours that the call may write to.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut now) };
    debug_assert_eq!(failed, 0, "{}", io::Error::last_os_error());
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Time since the emulator started.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    base: u64,
}

impl Clock {
    /// Starts the clock at 0.
    pub fn start() -> Self {
        Self { base: read(libc::CLOCK_MONOTONIC) }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        Time::from_ns(read(libc::CLOCK_MONOTONIC) - self.base)
    }

    /// The offset of the wall clock, with which the kernel timestamps packets. It must be read again for each group of
    /// timestamps, because the wall clock may be set.
    pub fn wall(&self) -> Wall {
        let mono = read(libc::CLOCK_MONOTONIC) - self.base;
        Wall { ahead: read(libc::CLOCK_REALTIME) - mono }
    }
}

/// The offset of the wall clock from the emulator's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wall {
    ahead: u64,
}

impl Wall {
    /// The emulator's time of a wall-clock timestamp in ns.
    pub fn time(self, stamp: u64) -> Time {
        Time::from_ns(stamp.saturating_sub(self.ahead))
    }

    /// The wall-clock timestamp of a time of the emulator, in ns since 1970.
    pub fn stamp(self, at: Time) -> u64 {
        at.ps() / 1000 + self.ahead
    }
}

/// CPU time that this process has used.
pub fn cpu_time() -> Span {
    Span::from_ps(read(libc::CLOCK_PROCESS_CPUTIME_ID) * 1000)
}
