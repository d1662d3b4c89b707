//! The thread that emulates a path: it sleeps until a frame comes or one is due, and never spins.
//!
//! A real-time thread that takes 95 % of a second is stopped for the rest of it (`sched_rt_runtime_us`), so waiting
//! must be sleeping.

use crate::clock::Clock;
use crate::direction::Direction;
use crate::ports::Wire;
use crate::sys;
use std::io;
use std::os::fd::RawFd;
use thalweg_units::Span;

/// Frames that are taken in before others leave.
const TURN: usize = 128;
/// A ring holds what comes in so long: 8192 frames, of 64 bytes at 4 Gb/s.
const LONGEST: Span = Span::from_ms(1);
/// Rounds without sleep after which the end of the run is looked for.
const ROUNDS: u32 = 64;

/// A path: towards the far end, and back.
pub(crate) struct Emulator<W> {
    /// The application's device, the far end's.
    pub wires: [W; 2],
    /// Towards the far end, back.
    pub directions: [Direction; 2],
    /// Frames that found no room in the rings.
    pub overrun: [u64; 2],
}

impl<W: Wire> Emulator<W> {
    /// Emulates until `end` can be read.
    ///
    /// # Errors
    /// If waiting fails.
    pub fn run(&mut self, clock: &Clock, end: RawFd) -> io::Result<()> {
        let mut fds = [end, self.wires[0].fd(), self.wires[1].fd()].map(sys::readable);
        let patience = self.patience();
        let mut awake = 0;
        loop {
            let more = self.round(clock);
            let now = clock.now();
            let wake = self.directions.iter().filter_map(Direction::wake).min();
            let rest = wake.map(|at| at.since(now.min(at)));
            awake += 1;
            if (more || rest == Some(Span::ZERO)) && awake < ROUNDS {
                continue;
            }
            awake = 0;
            // Something leaves soon: what comes until then can wait for that.
            let busy = rest.is_some_and(|rest| rest <= patience);
            let awaited = if busy { &mut fds[..1] } else { &mut fds[..] };
            sys::sleep(awaited, if more { Some(Span::ZERO) } else { rest })?;
            if fds[0].revents != 0 {
                return Ok(());
            }
        }
    }

    /// For so long frames that come need not be looked at. With the kernel's stamps on them it does not matter when
    /// they are taken in, as long as that is before they are due at the other end: half of the shorter delay, and not
    /// so long that a ring fills up. Half of all wake-ups are saved by that.
    fn patience(&self) -> Span {
        let delays = self.directions.iter().map(Direction::delay);
        let most = if W::STAMPED { LONGEST } else { Span::ZERO };
        delays.map(|delay| Span::from_ps(delay.ps() / 2)).min().map_or(most, |half| half.min(most))
    }

    /// Takes in what has come and sends what is due; whether more has come than one turn takes.
    ///
    /// What is not taken in yet has come later than what was, and later than this turn began if the ring was emptied:
    /// up to there all arrivals are known, and decisions can be made.
    fn round(&mut self, clock: &Clock) -> bool {
        let [application, far] = &mut self.wires;
        let [up, down] = &mut self.directions;
        let now = clock.now();
        let mut known = [now; 2];
        let from_application = application.receive(clock, TURN, |frame| {
            known[0] = frame.at.min(now);
            up.receive(frame, now, far);
        });
        let from_far = far.receive(clock, TURN, |frame| {
            known[1] = frame.at.min(now);
            down.receive(frame, now, application);
        });
        let more = [from_application == TURN, from_far == TURN];
        let until = |way: usize| if more[way] { known[way] } else { now };
        up.send(clock, until(0), far);
        down.send(clock, until(1), application);
        more[0] || more[1]
    }

    /// Reads the counters of the rings.
    pub fn count(&mut self) {
        for (all, wire) in self.overrun.iter_mut().zip(&mut self.wires) {
            *all += wire.overrun();
        }
    }
}
