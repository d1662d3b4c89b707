//! DCTCP: the window shrinks by the fraction of bytes that met congestion. Alizadeh et al., "Data Center
//! TCP", SIGCOMM 2010, §3.1; RFC 8257 §3.3. Needs: echoes per packet (`EcnSpec::Accurate`) and a queue
//! that marks above K. Growth and losses are NewReno's, or AIMD's.

mod growth;
mod htsim;
mod losses;

pub use growth::Growth;
pub use losses::Losses;

use super::newreno::NewReno;
use super::{
    AckSample, CongestionControl, Loss, Marks, Needs, Parameters, Permit, Problems, Report, Restart, Rule,
    Rules, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Time};

/// DCTCP: cuts the window in proportion to the fraction of marked bytes (Alizadeh et al., SIGCOMM 2010; RFC 8257). Over
/// RDMA the window starts at its maximum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// g: weight of the newest observation window in α, the moving average of the marked fraction.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub gain: f64,
    /// α before the first window has ended.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub initial_alpha: f64,
    /// Which ACKs grow the window.
    pub growth: Growth,
    /// As in csg-htsim: the window is cut by α/2 at the end of every observation window while α > 0, even if that
    /// window had no marks.
    pub cut_without_marks: bool,
    /// What a loss does to the window.
    pub losses: Losses,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            gain: 0.0625,       // 1/16, DCTCP §3.4
            initial_alpha: 1.0, // RFC 8257 §3.3
            growth: Growth::default(),
            cut_without_marks: false,
            losses: Losses::default(),
        }
    }
}

impl Parameters for Params {
    type Machine = Dctcp;

    fn needs(&self) -> Needs {
        Needs { marks: Marks::Echoes, ..Needs::WINDOW }
    }
    fn check(&self, _: Rate, problems: &mut Problems) {
        problems.share("gain", self.gain);
        problems.fraction("initial_alpha", self.initial_alpha);
    }
    fn rules(&self) -> Rules {
        let mark_cuts_flight = Rule::Differs("RFC 8257 §3.3: of the window");
        let aimd = Rule::Differs("`losses = \"aimd\"`: of the window, at losses and timeouts alike");
        let htsim = Rule::Differs("`cut_without_marks`: at the end of every window of data");
        let mut rules = Rules { mark_cuts_flight, ..Rules::TCP };
        if self.losses == Losses::Aimd {
            rules = Rules {
                held_threshold: aimd,
                loss_window: aimd,
                loss_cuts_flight: aimd,
                threshold_floor: aimd,
                frozen_in_repair: aimd,
                marks_and_losses_once: aimd,
                ..rules
            };
        }
        if self.cut_without_marks {
            (rules.marks_once, rules.marks_to_one) = (htsim, Rule::Foreign);
            rules.marks_and_losses_once = htsim;
        }
        if self.growth == Growth::GradualCwr {
            let gradual =
                Rule::Differs("`growth = \"gradual-cwr\"`: spread over the window of data that follows");
            (rules.marks_once, rules.marks_to_one) = (gradual, gradual);
        }
        rules
    }
    fn make(&self, start: &Start) -> Result<Dctcp, Invalid> {
        Ok(Dctcp::new(start, self))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let variant = |growth, cut_without_marks| Self { growth, cut_without_marks, ..Self::default() };
        vec![
            variant(Growth::OutsideCwr, false),
            variant(Growth::GradualCwr, false),
            variant(Growth::UnmarkedAcks, false),
            variant(Growth::Room, true),
            variant(Growth::Always, true),
            Self { losses: Losses::Aimd, ..Self::default() },
        ]
    }
}

/// DCTCP's window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dctcp {
    reno: NewReno,
    /// g.
    gain: f64,
    /// α, the estimated fraction of marked bytes.
    alpha: f64,
    /// Bytes acknowledged in this observation window.
    acked: u64,
    /// Of these, marked.
    marked: u64,
    /// DCTCP.WindowEnd: an ACK beyond this byte ends the window (`cut_without_marks`: see `htsim`).
    window_end: u64,
    growth: Growth,
    cut_without_marks: bool,
    losses: Losses,
}

impl Dctcp {
    /// The window of a flow that starts.
    fn new(start: &Start, params: &Params) -> Self {
        let Params { gain, initial_alpha, growth, cut_without_marks, losses } = *params;
        let reno = NewReno::new(start);
        // RFC 8257 §3.3: WindowEnd begins at SND.UNA, so the first ACK is an observation window of its own.
        let window_end = if cut_without_marks { htsim::window_end(&reno) } else { 0 };
        let (alpha, acked, marked) = (initial_alpha, 0, 0);
        Self { reno, gain, alpha, acked, marked, window_end, growth, cut_without_marks, losses }
    }

    /// α: the estimated fraction of bytes that meet congestion.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The end of an observation window: α ← (1 − g) α + g F.
    fn close_window(&mut self) {
        let f = self.marked as f64 / self.acked as f64;
        self.alpha = (1.0 - self.gain) * self.alpha + self.gain * f;
        (self.acked, self.marked) = (0, 0);
    }

    /// The end of a window of data renews α; the first echo of a window of data cuts.
    fn cut_when_marked(&mut self, ack: &AckSample) {
        if ack.acked_to > self.window_end && self.acked > 0 {
            self.close_window();
            self.window_end = ack.sent_to;
        }
        // At most once per window of data, at the first echo of it.
        if ack.marked > Bytes::ZERO && ack.acked_to > self.reno.cut_to && !self.losses.freeze(ack) {
            let whole = self.reno.window;
            self.cut(ack.sent_to);
            if self.growth == Growth::GradualCwr {
                self.reno.window = whole;
            }
        } else if self.growth == Growth::GradualCwr {
            growth::shrink(&mut self.reno, ack);
        }
    }

    /// cwnd ← cwnd (1 − α/2).
    fn cut(&mut self, sent_to: u64) {
        let cut = (self.reno.window as f64 * (1.0 - self.alpha / 2.0)) as u64;
        // CHOICE RFC 8257 §3.3: no floor is given; a window below one segment could not send. Linux keeps two.
        self.reno.window = cut.max(u64::from(self.reno.mss));
        self.reno.threshold = self.reno.window;
        self.reno.cut_to = sent_to;
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample) {
        // CHOICE RFC 8257 §3.3: BytesAcked counts what is SACKed, as it is, as Linux's `delivered` does. Other
        // reading: SACK options are ignored, and their bytes count once they are cumulatively acknowledged.
        self.acked += ack.acked.get() + ack.sacked.get();
        self.marked += ack.marked.get();
        if self.cut_without_marks {
            self.cut_each_window(ack); // csg-htsim's
        } else {
            self.cut_when_marked(ack);
        }
        let counts = ack.cwnd_limited && !self.losses.freeze(ack);
        let growth = if counts { self.growth.of(self.losses.counted(ack), ack, &self.reno) } else { 0 };
        if growth > 0 {
            self.reno.grow(growth);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        match self.losses {
            // csg-htsim's cuts by marks are of the window's end, and a loss cuts besides.
            Losses::Newreno if self.cut_without_marks => self.reno.cut(loss),
            Losses::Newreno => self.reno.on_loss(loss),
            Losses::Aimd => losses::halve(&mut self.reno, loss),
        }
    }
    fn on_timeout(&mut self, loss: &Loss) {
        match self.losses {
            Losses::Newreno => self.reno.on_timeout(loss),
            Losses::Aimd => losses::halve(&mut self.reno, loss),
        }
    }
    fn restart_from(&mut self, now: Time, restart: Restart) {
        self.reno.restart_from(now, restart);
    }
    #[inline]
    fn permit(&self) -> Permit {
        self.reno.permit()
    }
    fn report(&self, report: &mut Report) {
        report.add("alpha", "", "estimated fraction of marked bytes", self.alpha);
    }
    fn threshold(&self) -> Bytes {
        self.reno.threshold()
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    /// g = 1/16.
    fn with(start: &Start, initial_alpha: f64, growth: Growth, cut_without_marks: bool) -> Dctcp {
        let params =
            Params { gain: 1.0 / 16.0, initial_alpha, growth, cut_without_marks, ..Params::default() };
        Dctcp::new(start, &params)
    }
    fn dctcp(window: u64, alpha: f64) -> Dctcp {
        with(&start(1000, window), alpha, Growth::OutsideCwr, false)
    }
    /// One ACK for everything in flight: one observation window.
    fn round(c: &mut Dctcp, n: u64, marked: u64) {
        c.on_ack(&AckSample { acked_to: n * 8000, sent_to: (n + 1) * 8000 - 1, ..ack(8000, marked) });
    }

    #[test]
    fn n_windows_of_marks_make_alpha_one_minus_fifteen_sixteenths_to_the_n() {
        let mut c = dctcp(8, 0.0);
        let mut unmarked = 1.0;
        for n in 1..=40 {
            round(&mut c, n, 8000);
            unmarked *= 15.0 / 16.0;
            assert!((c.alpha() - (1.0 - unmarked)).abs() < 1e-12, "window {n}: {}", c.alpha());
        }
        // and half of the bytes marked draws α towards 1/2
        for n in 41..=400 {
            round(&mut c, n, 4000);
        }
        assert!((c.alpha() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn alpha_one_halves_and_alpha_zero_only_ends_slow_start() {
        let mut c = dctcp(16, 1.0);
        c.on_ack(&AckSample { acked_to: 1000, sent_to: 16_000, ..ack(1000, 1000) });
        assert_eq!((c.reno.window, c.reno.threshold), (8000, 8000));
        let mut c = dctcp(16, 0.0);
        c.on_ack(&AckSample { acked_to: 1000, sent_to: 16_000, ..ack(1000, 1000) });
        // α = 1/16 after this first window of one ACK: 16 000 × (1 − 1/32)
        assert_eq!((c.reno.window, c.reno.threshold), (15_500, 15_500));
    }

    #[test]
    fn one_cut_per_window_of_data_and_no_growth_until_it_is_acknowledged() {
        let mut c = dctcp(16, 1.0);
        for n in 1..=16u64 {
            c.on_ack(&AckSample { acked_to: n * 1000, sent_to: 15_000 + n * 1000, ..ack(1000, 1000) });
        }
        assert_eq!(c.reno.window, 8000); // cut at the first ACK, held up to byte 16 000
        c.on_ack(&AckSample { acked_to: 17_000, sent_to: 25_000, ..ack(1000, 1000) });
        // α stayed 1 (every byte was marked), so the next window's first echo halves again
        assert_eq!(c.reno.window, 4000);
    }

    #[test]
    fn a_gradual_cut_reaches_its_end_with_the_window_in_which_it_began() {
        let mut c = with(&start(1000, 16), 1.0, Growth::GradualCwr, false);
        let mut windows = Vec::new();
        for n in 1..=18u64 {
            c.on_ack(&AckSample {
                acked_to: n * 1000,
                sent_to: 15_000 + n * 1000,
                ..ack(1000, 1000 * u64::from(n == 1))
            });
            windows.push(c.reno.window);
        }
        // First echo: 16 000 stays, half of it is the aim. 15 ACKs to byte 16 000 take 8000 / 15 each.
        assert_eq!((windows[0], windows[1], windows[15]), (16_000, 15_467, 8000));
        assert!(windows[..16].windows(2).all(|w| w[0] > w[1]));
        assert_eq!(windows[16], 8125); // out of CWR: 1000 · 1000 / 8000 per ACK
    }

    #[test]
    fn which_acks_grow_the_window_is_a_choice() {
        let grown = |growth, marked, in_flight| {
            let start = Start { initial_threshold: Bytes::ZERO, ..start(1000, 4) };
            let mut c = with(&start, 0.0, growth, true);
            for n in 1..=3u64 {
                let in_flight = Bytes::new(in_flight);
                c.on_ack(&AckSample {
                    acked_to: n * 1000,
                    sent_to: n * 1000,
                    in_flight,
                    ..ack(1000, marked)
                });
            }
            c.reno.window - 4000
        };
        let whole = 250 + 235 + 223; // 10⁶/4000, 10⁶/4250, 10⁶/4485, rounded by kept remainders
        assert_eq!(grown(Growth::Always, 1000, 4000), whole);
        assert_eq!(grown(Growth::UnmarkedAcks, 1000, 4000), 0);
        assert_eq!(grown(Growth::UnmarkedAcks, 0, 4000), whole);
        assert_eq!(grown(Growth::Room, 0, 4000), 0);
        assert!(grown(Growth::Room, 0, 3600) < 500);
    }

    #[test]
    fn losses_are_newrenos() {
        let mut c = dctcp(16, 0.0);
        c.on_loss(&loss(16_000, 0, 16_000));
        assert_eq!(c.reno.window, 8000);
        c.on_timeout(&loss(8_000, 1000, 16_000));
        assert_eq!((c.reno.window, c.reno.threshold), (1000, 4000));
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let make = |gain, initial_alpha| {
            let params = Params { gain, initial_alpha, ..Params::default() };
            super::super::ControllerSpec::Dctcp(params)
                .make(&start(1000, 4))
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert!(make(0.0, 0.0).contains("gain"));
        assert!(make(f64::NAN, 0.0).contains("gain"));
        assert!(make(0.5, 1.5).contains("initial_alpha"));
    }
}
