//! The thread that emulates a path: it sleeps until a frame comes or one is due, and polls only for as long as the
//! kernel would wake it late ([`crate::wakes`]).

use crate::clock::Clock;
use crate::direction::Direction;
use crate::ports::Wire;
use crate::sys;
use crate::wakes::{Wait, Wakes};
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
        let mut wakes = Wakes::default();
        let mut rounds = 0;
        loop {
            let more = self.round(clock);
            let now = clock.now();
            let due = self.directions.iter().filter_map(Direction::wake).min();
            let wait = if more { Wait::AtOnce } else { wakes.wait(now, due) };
            rounds += 1;
            if wait == Wait::AtOnce && rounds < ROUNDS {
                continue;
            }
            rounds = 0;
            // Something leaves soon: what comes until then can wait for that.
            let busy = due.is_some_and(|due| due <= now + patience);
            let awaited = if busy { &mut fds[..1] } else { &mut fds[..] };
            match wait {
                Wait::AtOnce => sys::sleep(awaited, Some(Span::ZERO))?,
                Wait::Asleep(until) => {
                    sys::sleep(awaited, until.map(|until| until.since(now)))?;
                    let by_timer = awaited.iter().all(|fd| fd.revents == 0);
                    wakes.woken(now, clock.now(), until.filter(|_| by_timer));
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direction::Ended;
    use crate::passable;
    use crate::ports::Received;
    use crate::way::Way;
    use std::path::Path;
    use thalweg_units::Time;

    /// Frames that have waited in a ring since their stamps, oldest first; what is sent is counted.
    struct Ring {
        stamps: std::vec::IntoIter<Time>,
        sent: usize,
    }

    impl Ring {
        fn of(stamps: Vec<Time>) -> Self {
            Self { stamps: stamps.into_iter(), sent: 0 }
        }
    }

    impl Wire for Ring {
        const STAMPED: bool = true;
        fn open(_: &str) -> io::Result<Self> {
            Ok(Self::of(Vec::new()))
        }
        fn receive(&mut self, _: &Clock, most: usize, mut each: impl FnMut(&Received<'_>)) -> usize {
            let bytes = frame();
            let some = self.stamps.by_ref().take(most);
            some.map(|at| each(&Received { at, bytes: &bytes, cut: false, unfinished: false })).count()
        }
        fn send(&mut self, frames: &[&[u8]]) -> usize {
            self.sent += frames.len();
            frames.len()
        }
        fn fd(&self) -> RawFd {
            -1
        }
        fn overrun(&mut self) -> u64 {
            0
        }
    }

    /// A datagram of 1000 bytes with its Ethernet header.
    fn frame() -> Vec<u8> {
        let mut bytes = vec![2; 12];
        bytes.extend([8, 0, 0x45, 0, 3, 0xe8, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0, 9, 0, 9, 3, 0xd4, 0, 0]);
        bytes.resize(14 + 1000, 0);
        bytes
    }

    /// 10 Mb/s and a queue of ten packets.
    fn directions() -> [Direction; 2] {
        let text = "[topology]\nkind = \"dumbbell\"\npairs = 1\nbottleneck_rate = \"10Mbps\"\ndelay = \"0ns\"\n\
                    host_delay = \"0ns\"\n[switch]\nbuffer = \"10KB\"\n\
                    [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[run]\nuntil = \"10s\"\n";
        let scenario = thalweg_scenario::load(text, "t.toml", Path::new("."), &[]).expect("a scenario");
        [("switch0", "switch1"), ("switch1", "switch0")].map(|(from, to)| {
            let port =
                passable(&scenario.port(from, to).expect("a port"), "a port".into()).expect("passable");
            Direction::new(&Way::from(port), Vec::new(), None).expect("a direction")
        })
    }

    fn after_rounds(clock: &Clock, stamps: Vec<Time>, one_at_a_time: bool) -> Ended {
        let mut emulator = Emulator {
            wires: [Ring::of(vec![]), Ring::of(vec![])],
            directions: directions(),
            overrun: [0; 2],
        };
        if one_at_a_time {
            for at in stamps {
                emulator.wires[0] = Ring::of(vec![at]);
                let [up, _] = &mut emulator.directions;
                let [application, far] = &mut emulator.wires;
                application.receive(clock, 1, |frame| up.receive(frame, clock.now(), far));
                up.send(clock, at, far);
            }
        } else {
            emulator.wires[0] = Ring::of(stamps);
            while emulator.round(clock) {}
        }
        let [up, _] = emulator.directions;
        up.finish(clock.now(), 0)
    }

    /// A thread that has stood still finds 400 packets of the last 200 ms, 128 in each turn: what the port decides is
    /// what it would have decided had it looked at each as it came.
    #[test]
    fn what_has_waited_in_a_ring_is_decided_as_of_its_stamps() {
        let clock = Clock::start();
        std::thread::sleep(std::time::Duration::from_millis(220));
        let stamps: Vec<Time> = (0..400).map(|n| Time::from_us(1000 + 500 * n)).collect();
        let [late, in_time] =
            [false, true].map(|in_time| after_rounds(&clock, stamps.clone(), in_time).statistics);
        assert_eq!((late.arrived, late.dropped), (in_time.arrived, in_time.dropped));
        let drops =
            |of: &crate::statistics::Statistics| of.series.iter().map(|bin| bin.dropped).collect::<Vec<_>>();
        assert_eq!(drops(&late), drops(&in_time));
        assert!(late.dropped > 100, "1000 B every 500 us are 16 Mb/s: {}", late.dropped);
    }
}
