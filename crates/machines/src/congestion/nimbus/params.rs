//! What can be chosen of NimbusCC, with the thesis' values. Where the thesis and the authors' published
//! implementation differ, `profile` chooses all at once, and each key by itself.

use super::super::Problems;
use crate::elasticity::{Band, DetectorSpec, Guards};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// NimbusCC: keeps delays low while no traffic competes, and competes where some does (Goyal, MIT 2022, chapter 4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// µ: the rate of the bottleneck on the wire, if it is known. If not given, it is estimated.
    pub link_rate: Option<Rate>,
    /// How the bottleneck's rate is estimated where `link_rate` is not given.
    pub estimate: Option<Estimate>,
    /// The algorithm in competitive mode (§4.4.1).
    pub competitive: Competitive,
    /// Number of NewReno windows that `multcp` emulates.
    #[schemars(extend("minimum" = 1, "maximum" = 64))]
    pub flows: u16,
    /// The algorithm in delay mode (§4.4.1).
    pub delay: DelayRule,
    /// Target delay of `basic-delay`, as a multiple of the minimum round trip.
    #[schemars(extend("exclusiveMinimum" = 1.0, "maximum" = 10.0))]
    pub target: f64,
    /// Which source is followed where the thesis and the published implementation differ.
    pub profile: Profile,
    /// Amplitude of the pulse, as a fraction of µ (§4.3.4).
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub pulse: f64,
    /// Frequency of the pulses in competitive mode, Hz (§4.3.3).
    #[schemars(extend("minimum" = 1.0, "maximum" = 10.0))]
    pub frequency: f64,
    /// Frequency of the pulses in delay mode, Hz. If not given, `frequency` in the profile `paper`, a fifth more in
    /// `artifact` (§4.4.2).
    #[schemars(extend("minimum" = 1.0, "maximum" = 12.0))]
    pub delay_frequency: Option<f64>,
    /// The initial mode.
    pub initial: Mode,
    /// The mode follows the detector. Otherwise it stays the initial one.
    pub switching: bool,
    /// Minimum time from a switch of modes until the next switch to delay mode, so that the detector's window holds
    /// samples of one mode only.
    pub hold: Span,
    /// The rate with which competitive mode begins: a past one, of one detector window ago (§4.4.1). If not given, the
    /// profile's.
    pub restores: Option<Restores>,
    /// S and R are measured over at most this time. If not given, over a round trip.
    pub measure_over: Option<Span>,
    /// Nimbus flows that share a path coordinate: one of them pulses, the others watch it and follow its mode (§4.4.2).
    pub coordination: bool,
    /// κ: if there is no pulser, at most this many watchers are expected to become pulsers per detector window
    /// (§4.4.2).
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 100.0))]
    pub kappa: f64,
    /// Weight of the newest rate in what a watcher sends, every 10 ms: its low-pass of one pole. 0.1: 1.7 Hz (§4.4.2).
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub watcher_weight: f64,
    /// Parameters of the elasticity detector that replace the profile's.
    pub detector: DetectorParams,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            link_rate: None,
            estimate: None,
            competitive: Competitive::default(),
            flows: 2, // the published implementation
            delay: DelayRule::default(),
            target: 1.25, // §4.7.1: 12.5 ms at 50 ms
            profile: Profile::default(),
            pulse: 0.25,    // §4.3.4
            frequency: 5.0, // §4.3.3
            delay_frequency: None,
            initial: Mode::Competitive, // the published implementation
            switching: true,
            hold: Span::from_secs(5), // the published implementation
            restores: None,
            measure_over: None,
            coordination: false,
            kappa: 1.0, // §4.4.2
            // CHOICE §4.4.2: "cut all frequencies in z(t) above 5 Hz" names no filter; one pole, of the rate that is
            // sent, which leaves a third of what swings at 5 Hz. Other reading: less of it.
            watcher_weight: 0.1,
            detector: DetectorParams::default(),
        }
    }
}

/// How the bottleneck's rate is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimate {
    /// The largest value so far of the smoothed receive rate. Too low if other traffic always uses part of the link.
    #[default]
    MaxReceived,
    /// Packet pairs: from the ACKs of four or more packets that were sent within a millisecond.
    PacketPairs,
}

/// What competes with elastic traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Competitive {
    /// CUBIC's window.
    #[default]
    Cubic,
    /// NewReno's window.
    Newreno,
    /// The windows of several NewReno flows.
    Multcp,
}

/// What keeps delays low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayRule {
    /// A rate by what is left of the link and how far the delay is off its target (equation 4.4).
    #[default]
    BasicDelay,
    /// Copa's default mode, with a standing queue (the published implementation).
    Copa,
    /// Vegas with 30 to 40 packets in queues (the published implementation).
    Vegas,
    /// FAST with 30 packets in queues (§G.5).
    Fast,
}

/// Which source is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The thesis.
    #[default]
    Paper,
    /// The authors' published implementation.
    Artifact,
}

/// A mode of Nimbus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It competes for bandwidth as TCP does.
    #[default]
    Competitive,
    /// It keeps delays low.
    Delay,
}

/// The rate with which competitive mode begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Restores {
    /// The rate at which the flow was to send (the thesis).
    Rate,
    /// The rate at which its packets arrived, averaged over a pulse (the published implementation).
    Received,
}

/// Parameters of the elasticity detector. Keys that are not given have the profile's values, which are in parentheses:
/// thesis, then published implementation.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DetectorParams {
    /// Number of samples, 10 ms apart, of which the spectrum is computed. (500; 512.)
    #[schemars(extend("minimum" = 100, "maximum" = 4096))]
    pub window: Option<u16>,
    /// ε, Hz: the band with which the pulse is compared begins this far above the pulse's frequency. (0.5; 1.5.)
    #[schemars(extend("minimum" = 0.1, "maximum" = 5.0))]
    pub guard_band: Option<f64>,
    /// Elasticity η at or above which cross traffic counts as elastic. (2; 2.25.)
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 100.0))]
    pub threshold: Option<f64>,
    /// Elasticity η below which cross traffic counts as inelastic; in between the verdict does not change. (The
    /// threshold; 2.)
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 100.0))]
    pub inelastic_below: Option<f64>,
    /// Weight of the newest η in its moving average. (1; 0.02.)
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub gain: Option<f64>,
    /// The pulse's line is searched for within 0.5 Hz of its frequency. (No; yes.)
    pub search: Option<bool>,
    /// Samples of the cross traffic are shifted by two round trips to align them with the pulse. (No; yes.)
    pub align: Option<bool>,
    /// Cross traffic below a tenth of the link counts as inelastic. (Yes.)
    pub guard_little: Option<bool>,
    /// A response smaller than a quarter of the flow's own pulse is discounted. (Yes.)
    pub guard_faint: Option<bool>,
    /// If the flow's own pulse is not visible in its receive rate, cross traffic counts as elastic. (No; yes.)
    pub guard_hidden: Option<bool>,
    /// If the flow has less than a twelfth of the link, cross traffic counts as elastic (§4.6). (Yes.)
    pub guard_share: Option<bool>,
}

impl Params {
    /// Pulses per second in a mode.
    pub(super) fn pulses(&self, mode: Mode) -> f64 {
        let more = if self.profile == Profile::Artifact { 1.2 } else { 1.0 };
        match mode {
            Mode::Competitive => self.frequency,
            Mode::Delay => self.delay_frequency.unwrap_or(more * self.frequency),
        }
    }

    /// What is taken up again.
    pub(super) fn restores(&self) -> Restores {
        let own = if self.profile == Profile::Artifact { Restores::Received } else { Restores::Rate };
        self.restores.unwrap_or(own)
    }

    /// The detector that its keys and the profile make.
    pub(super) fn watch(&self) -> DetectorSpec {
        let own = match self.profile {
            Profile::Paper => DetectorSpec::PAPER,
            Profile::Artifact => DetectorSpec::ARTIFACT,
        };
        let keys = &self.detector;
        let (compete, delay) = (self.pulses(Mode::Competitive), self.pulses(Mode::Delay));
        let elastic_from = keys.threshold.unwrap_or(own.elastic_from);
        let below = own.inelastic_below.min(elastic_from);
        DetectorSpec {
            window: keys.window.unwrap_or(own.window),
            spacing: own.spacing,
            pulses: Band::new(compete.min(delay), compete.max(delay)),
            guard_band: keys.guard_band.unwrap_or(own.guard_band),
            search: keys.search.unwrap_or(own.search),
            align: keys.align.unwrap_or(own.align),
            gain: keys.gain.unwrap_or(own.gain),
            elastic_from,
            // The thesis has one threshold: who moves it moves both.
            inelastic_below: keys.inelastic_below.unwrap_or(match self.profile {
                Profile::Paper => elastic_from,
                Profile::Artifact => below,
            }),
            guards: Guards {
                little: keys.guard_little.unwrap_or(own.guards.little),
                faint: keys.guard_faint.unwrap_or(own.guards.faint),
                hidden: keys.guard_hidden.unwrap_or(own.guards.hidden),
                share: keys.guard_share.unwrap_or(own.guards.share),
            },
        }
    }
}

/// What is impossible, or changes nothing.
pub(super) fn check(p: &Params, _: Rate, problems: &mut Problems) {
    if p.link_rate == Some(Rate::ZERO) {
        problems.wrong("link_rate", "a link of 0bps carries nothing", "write the bottleneck's rate");
    }
    if p.link_rate.is_some() && p.estimate.is_some() {
        problems.useless("estimate", "the rate is given", "remove it, or `link_rate`");
    }
    if p.competitive != Competitive::Multcp && p.flows != Params::default().flows {
        problems.useless(
            "flows",
            "only `multcp` has several",
            "write `competitive = \"multcp\"`, or remove it",
        );
    }
    if p.delay != DelayRule::BasicDelay && p.target != Params::default().target {
        let hint = "write `delay = \"basic-delay\"`, or remove it";
        problems.useless("target", "only `basic-delay` aims at a delay", hint);
    }
    let mut within = |key: &str, value: f64, low: f64, high: f64| {
        if !(value >= low && value <= high) {
            problems.wrong(key, format!("{value} is out of range"), format!("allowed: {low} to {high}"));
        }
    };
    within("flows", f64::from(p.flows), 1.0, 64.0);
    within("target", p.target, 1.0 + 1e-9, 10.0);
    within("pulse", p.pulse, 1e-9, 1.0);
    within("frequency", p.frequency, 1.0, 10.0);
    within("delay_frequency", p.pulses(Mode::Delay), 1.0, 12.0);
    within("kappa", p.kappa, 1e-9, 100.0);
    within("watcher_weight", p.watcher_weight, 1e-9, 1.0);
    let spec = p.watch();
    within("detector.window", f64::from(spec.window), 100.0, 4096.0);
    within("detector.guard_band", spec.guard_band, 0.1, 5.0);
    within("detector.threshold", spec.elastic_from, 1e-9, 100.0);
    within("detector.inelastic_below", spec.inelastic_below, 1e-9, 100.0);
    within("detector.gain", spec.gain, 1e-9, 1.0);
    problems.positive("hold", p.hold, "5s");
    if let Some(span) = p.measure_over {
        problems.positive("measure_over", span, "150ms");
    }
    if spec.inelastic_below > spec.elastic_from {
        let reason = format!("{} is above the threshold, {}", spec.inelastic_below, spec.elastic_from);
        problems.wrong("detector.inelastic_below", reason, "swap them");
    }
    // Two bins between the guard band and the second harmonic, at least.
    let slowest = p.pulses(Mode::Competitive).min(p.pulses(Mode::Delay));
    let resolution = 1.0 / (f64::from(spec.window) * spec.spacing);
    if slowest - spec.guard_band - 0.5 < 2.0 * resolution {
        let reason =
            format!("at {slowest} Hz nothing is left between the guard band and the second harmonic");
        problems.wrong("detector.guard_band", reason, "make it narrower, or pulses faster");
    }
    if p.coordination && p.pulses(Mode::Competitive) == p.pulses(Mode::Delay) {
        let reason = "watchers tell the pulser's mode by its frequency, and both are the same";
        problems.wrong("delay_frequency", reason, "write 6, or `profile = \"artifact\"`");
    }
    if !p.coordination && p.kappa != Params::default().kappa {
        problems.useless("kappa", "no flow draws lots", "write `coordination = true`, or remove it");
    }
    if !p.coordination && p.watcher_weight != Params::default().watcher_weight {
        problems.useless("watcher_weight", "no flow watches", "write `coordination = true`, or remove it");
    }
    if !p.switching && (p.restores.is_some() || p.hold != Params::default().hold) {
        let key = if p.restores.is_some() { "restores" } else { "hold" };
        problems.useless(key, "the mode never changes", "remove it, or `switching = false`");
    }
}

/// What the laws are tried on.
#[cfg(test)]
pub(super) fn variants() -> Vec<Params> {
    let link_rate = Some(Rate::from_gbps(10));
    let several = Params {
        profile: Profile::Artifact,
        competitive: Competitive::Multcp,
        delay: DelayRule::Copa,
        coordination: true,
        link_rate,
        ..Params::default()
    };
    let delays = Params {
        initial: Mode::Delay,
        delay: DelayRule::Vegas,
        estimate: Some(Estimate::PacketPairs),
        ..Params::default()
    };
    let fast = Params {
        delay: DelayRule::Fast,
        initial: Mode::Delay,
        link_rate,
        competitive: Competitive::Newreno,
        ..Params::default()
    };
    vec![
        Params::default(),
        Params { link_rate, initial: Mode::Delay, ..Params::default() },
        several,
        delays,
        fast,
    ]
}
