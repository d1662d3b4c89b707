//! Several NimbusCC flows on one path, without a message between them. Goyal 2022, §4.4.2: one of them, the *pulser*,
//! pulses at one frequency while it competes and at another while it keeps delays low; the others, its *watchers*, see
//! in their own R which frequency is present, follow its mode, and smooth what they send, so that the pulser sees them
//! as inelastic. If no flow pulses, watchers become pulsers at random. Thresholds and gains are those of the published
//! implementation.
//!
//! CHOICE: it reports every 5 ms; gains here are twice as large, for ticks of 10 ms.
//! CHOICE §4.4.2: watchers follow only while they see a pulser. Other reading (the published implementation): always,
//! whereby noise leads them to compete when it leaves.

use super::params::{Mode, Params};
use crate::elasticity::{Band, Spectrum};
use serde::{Deserialize, Serialize};
use thalweg_units::Stream;

/// Number of samples, 10 ms apart, in a watcher's spectrum; the band in which it looks for a pulser, and one in which
/// there is none.
const WINDOW: usize = 256;
const QUIET: Band = Band::new(7.0, 15.0);
/// Half the width of the search for a pulse, Hz.
const HALF: f64 = 0.5;
/// Gains per tick: of following, of seeing a pulser, of seeing several.
const FOLLOWS: f64 = 0.04;
const SEES: f64 = 0.02;
const CONFLICTS: f64 = 0.04;
/// Thresholds: to follow, to see no pulser, to see several.
const FOLLOW_FROM: f64 = 1.25;
const NONE_BELOW: f64 = 1.5;
const SEVERAL_FROM: f64 = 2.0;
/// With this probability per tick a pulser that sees others becomes a watcher.
const STEPS_DOWN: f64 = 0.01;
/// Initial value: a watcher assumes that there is a pulser until its window is full.
const TAKEN_FOR_GRANTED: f64 = 10.0;
/// If others use less than this fraction of the link, no flow needs to compete.
const LITTLE: f64 = 0.1;

/// What a flow does for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    Pulser,
    Watcher,
}

/// What a flow sees at a tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// Its mode.
    pub(super) mode: Mode,
    /// R and µ̂, B/s.
    pub(super) received: f64,
    pub(super) mu: f64,
    /// Mean of ẑ over the last quarter of the detector's window.
    pub(super) cross: f64,
    /// |Z| and |R| where pulsers are, if its detector's window is full.
    pub(super) lines: Option<(f64, f64)>,
    /// T_FFT and τ, s.
    pub(super) window: f64,
    pub(super) tick: f64,
}

/// A flow's part in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Coordination {
    role: Role,
    stream: Stream,
    kappa: f64,
    /// Where a pulser that competes is, and one that keeps delays low.
    competes: Band,
    delays: Band,
    spectrum: Spectrum,
    follow: f64,
    present: f64,
    conflict: f64,
    /// The smoothed rate, B/s, and what the newest one counts in it.
    rate: Option<f64>,
    weight: f64,
}

impl Coordination {
    pub(super) fn new(params: &Params, tick: f64, stream: Stream) -> Self {
        let around = |mode| {
            let f = params.pulses(mode);
            Band::new(f - HALF, f + HALF)
        };
        let (competes, delays) = (around(Mode::Competitive), around(Mode::Delay));
        Self {
            role: Role::Watcher, // §4.7.4
            stream,
            kappa: params.kappa,
            competes,
            delays,
            spectrum: Spectrum::new(WINDOW, tick, Band::new(competes.from.min(delays.from), QUIET.to)),
            follow: 1.0,
            present: TAKEN_FOR_GRANTED,
            conflict: 1.0,
            rate: None,
            weight: params.watcher_weight,
        }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// The band of pulsers' frequencies in either mode.
    pub(super) fn pulsers(&self) -> Band {
        Band::new(self.competes.from.min(self.delays.from), self.competes.to.max(self.delays.to))
    }

    /// What a watcher sends of the rate that its controller wants (B/s).
    pub(super) fn smooth(&mut self, rate: f64) -> f64 {
        let before = self.rate.unwrap_or(rate);
        *self.rate.insert(before + (rate - before) * self.weight)
    }

    /// A tick. Returns the mode into which a watcher follows, if any.
    pub(super) fn on_tick(&mut self, seen: &Sight) -> Option<Mode> {
        self.spectrum.push(seen.received);
        match self.role {
            Role::Pulser => {
                self.watch_for_others(seen);
                None
            }
            Role::Watcher if self.spectrum.is_full() => self.watch(seen),
            Role::Watcher => None,
        }
    }

    /// Several pulsers see each other as elastic traffic, which is safe; but one of them suffices, so others step down
    /// at random.
    fn watch_for_others(&mut self, seen: &Sight) {
        let Some((cross, own)) = seen.lines else { return };
        self.conflict += (cross / own.max(f64::MIN_POSITIVE) - self.conflict) * CONFLICTS;
        if self.conflict > SEVERAL_FROM && self.stream.unit() < STEPS_DOWN {
            (self.role, self.rate, self.present, self.follow) = (Role::Watcher, None, TAKEN_FOR_GRANTED, 1.0);
        }
    }

    fn watch(&mut self, seen: &Sight) -> Option<Mode> {
        let quiet = self.spectrum.above(QUIET).max(f64::MIN_POSITIVE);
        // Not the bin below, which a slow drift of R alone lifts above [`NONE_BELOW`]: its spectrum falls with 1/f.
        let loudest = self.spectrum.above(self.pulsers());
        self.present += ((loudest / quiet).min(1e6) - self.present) * SEES;
        if self.present < NONE_BELOW {
            self.draw_lots(seen);
            return None;
        }
        let (here, there, other) = match seen.mode {
            Mode::Competitive => (self.competes, self.delays, Mode::Delay),
            Mode::Delay => (self.delays, self.competes, Mode::Competitive),
        };
        let ratio = self.spectrum.above(there) / self.spectrum.above(here).max(f64::MIN_POSITIVE);
        self.follow += (ratio.min(1e6) - self.follow) * FOLLOWS;
        let reason = other == Mode::Delay || seen.cross > LITTLE * seen.mu;
        if self.follow <= FOLLOW_FROM || !reason {
            return None;
        }
        self.follow = 0.0;
        Some(other)
    }

    /// Equation 4.5: p = κ τ/T_FFT · R/µ, so that of all watchers together κ become pulsers in a window, at most.
    fn draw_lots(&mut self, seen: &Sight) {
        let likely = self.kappa * seen.tick / seen.window * seen.received / seen.mu;
        if self.stream.unit() < likely {
            (self.role, self.conflict, self.rate) = (Role::Pulser, 1.0, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const TICK: f64 = 0.01;
    const MU: f64 = 12e6;

    fn made(seed: u64) -> Coordination {
        let params = Params { profile: super::super::params::Profile::Artifact, ..Params::default() };
        Coordination::new(&params, TICK, Stream::new(seed, "test", 0))
    }
    fn sight(mode: Mode, received: f64) -> Sight {
        Sight { mode, received, mu: MU, cross: MU / 2.0, lines: None, window: 5.0, tick: TICK }
    }
    /// R with a line at `hz`, and a little noise at 9 and 11 Hz.
    fn received(hz: f64, amplitude: f64, n: u32) -> f64 {
        let line = |f: f64, a: f64| a * libm::sin(2.0 * PI * f * f64::from(n) * TICK);
        MU / 4.0 + line(hz, amplitude) + line(9.0, 1e4) + line(11.0, 1e4)
    }

    #[test]
    fn a_watcher_follows_the_pulsers_frequency_and_stays_a_watcher() {
        let mut c = made(1);
        let mut switches = Vec::new();
        let mut mode = Mode::Competitive;
        for n in 0..3000 {
            let hz = if n < 1500 { 6.0 } else { 5.0 };
            if let Some(to) = c.on_tick(&sight(mode, received(hz, 1e5, n))) {
                switches.push((n, to));
                mode = to;
            }
        }
        let modes: Vec<Mode> = switches.iter().map(|(_, to)| *to).collect();
        assert_eq!(modes, [Mode::Delay, Mode::Competitive], "{switches:?}");
        assert!((1500..1900).contains(&switches[1].0), "{switches:?}");
        assert_eq!(c.role(), Role::Watcher);
    }

    /// κ per window for a flow that has the whole link, and none while another pulses.
    #[test]
    fn without_a_pulser_lots_are_drawn_at_the_rate_of_equation_4_5() {
        let (mut elected, trials) = (0u32, 4000);
        for seed in 0..trials {
            let mut c = made(seed);
            c.present = 0.0;
            for _ in 0..500 {
                if c.role == Role::Watcher {
                    c.draw_lots(&sight(Mode::Delay, MU));
                }
            }
            elected += u32::from(c.role == Role::Pulser);
        }
        // 500 draws of 1/500: the first comes with 1 − 1/e.
        let share = f64::from(elected) / trials as f64;
        assert!((share - 0.632).abs() < 0.02, "{share}");
    }

    #[test]
    fn a_watcher_that_sees_no_pulser_becomes_one() {
        let mut c = made(3);
        let mut after = 0;
        while c.role() == Role::Watcher && after < 100_000 {
            let _ = c.on_tick(&sight(Mode::Delay, received(12.0, 3e4, after)));
            after += 1;
        }
        assert!((WINDOW as u32..20_000).contains(&after), "{after}");
    }

    /// The line of a drift is 1.49 times as high from 4.5 Hz on as from 7 Hz on, and 1.63 times from 4.3 Hz on.
    #[test]
    fn a_drift_is_not_taken_for_a_pulser() {
        let mut c = made(3);
        let mut after = 0;
        while c.role() == Role::Watcher && after < 100_000 {
            let _ = c.on_tick(&sight(Mode::Competitive, MU / 4.0 + f64::from(after)));
            after += 1;
        }
        assert!((WINDOW as u32..50_000).contains(&after), "{after}");
    }

    #[test]
    fn a_pulser_that_sees_a_line_which_is_not_its_own_steps_down() {
        let mut c = made(1);
        c.role = Role::Pulser;
        let lines = |ratio: f64| Sight { lines: Some((ratio, 1.0)), ..sight(Mode::Competitive, MU / 4.0) };
        (0..2000).for_each(|_| _ = c.on_tick(&lines(1.0)));
        assert_eq!(c.role(), Role::Pulser, "elastic traffic has just the line that arrives");
        (0..2000).for_each(|_| _ = c.on_tick(&lines(3.0)));
        assert_eq!(c.role(), Role::Watcher);
    }

    /// A third of what swings at 5 Hz is left.
    #[test]
    fn a_watcher_smooths_what_it_sends() {
        let mut c = made(1);
        let swing = |n: u32| 6e6 + 1e6 * libm::sin(2.0 * PI * 5.0 * f64::from(n) * TICK);
        let largest = (0..1000).map(|n| c.smooth(swing(n))).skip(500).fold(0.0, f64::max);
        assert!((largest - 6.32e6).abs() < 0.02e6, "{largest}");
    }
}
