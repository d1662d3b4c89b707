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
    /// µ, the rate of the bottleneck, on the wire, if it is known; otherwise it is estimated.
    pub link_rate: Option<Rate>,
    /// How the bottleneck's rate is estimated where `link_rate` is not given.
    pub estimate: Option<Estimate>,
    /// What competes with elastic traffic (§4.4.1).
    pub competitive: Competitive,
    /// Flows whose windows `multcp` has.
    #[schemars(extend("minimum" = 1, "maximum" = 64))]
    pub flows: u16,
    /// What keeps delays low where no traffic competes (§4.4.1).
    pub delay: DelayRule,
    /// The delay that is aimed at where no traffic competes, times the least round trip.
    #[schemars(extend("exclusiveMinimum" = 1.0, "maximum" = 10.0))]
    pub target: f64,
    /// Who is followed where thesis and published implementation differ.
    pub profile: Profile,
    /// Peak of the pulse, as a part of µ (§4.3.4).
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub pulse: f64,
    /// Pulses per second while it competes (§4.3.3).
    #[schemars(extend("minimum" = 1.0, "maximum" = 10.0))]
    pub frequency: f64,
    /// Pulses per second while it keeps delays low; if not given: `frequency` in the thesis' profile, a fifth
    /// more in the other one (§4.4.2).
    #[schemars(extend("minimum" = 1.0, "maximum" = 12.0))]
    pub delay_frequency: Option<f64>,
    /// The mode that a flow begins in.
    pub initial: Mode,
    /// The mode follows the detector; otherwise it stays what it is at first.
    pub switching: bool,
    /// At least so much time passes after a switch before delays are kept low again: the window of the detector must
    /// hold samples of one mode.
    pub hold: Span,
    /// What is taken up again when some traffic competes: a rate of one detector's window ago (§4.4.1).
    pub restores: Option<Restores>,
    /// S and R are measured over at most so much time of ACKs; if not given, over a round trip, whatever its length.
    pub measure_over: Option<Span>,
    /// Several such flows share a path: one pulses, the others watch it and do as it does (§4.4.2).
    pub coordination: bool,
    /// κ: how many watchers become pulsers per window of the detector, at most, if there is none (§4.4.2).
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 100.0))]
    pub kappa: f64,
    /// Weight of the newest rate in what a watcher sends, every 10 ms: its low-pass of one pole. 0.1: 1.7 Hz (§4.4.2).
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub watcher_weight: f64,
    /// Keys of the detector, in place of the profile's.
    pub detector: Detector,
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
            detector: Detector::default(),
        }
    }
}

/// How the bottleneck's rate is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimate {
    /// The largest rate at which packets have arrived, smoothed; too little while others take part of the link.
    #[default]
    MaxReceived,
    /// From the ACKs of packets that left within a millisecond, four or more.
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

/// Which text is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The thesis.
    #[default]
    Paper,
    /// The authors' published implementation.
    Artifact,
}

/// A mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It competes as TCP does.
    #[default]
    Competitive,
    /// It keeps delays low.
    Delay,
}

/// What is taken up again when some traffic competes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Restores {
    /// The rate it was to send at (the thesis).
    Rate,
    /// The rate at which its packets arrived, over a pulse (the published implementation).
    Received,
}

/// Keys of the detector; those that are not given are the profile's.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Detector {
    /// Samples of 10 ms that the spectrum is taken of. (500 in the thesis, 512 in the published implementation.)
    #[schemars(extend("minimum" = 100, "maximum" = 4096))]
    pub window: Option<u16>,
    /// ε: what is compared with the pulse begins so far above its frequency, Hz. (0.5; 1.5.)
    #[schemars(extend("minimum" = 0.1, "maximum" = 5.0))]
    pub guard_band: Option<f64>,
    /// η from which traffic is elastic. (2; 2.25.)
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 100.0))]
    pub threshold: Option<f64>,
    /// η below which it is inelastic; in between it is what it was. (The threshold; 2.)
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 100.0))]
    pub inelastic_below: Option<f64>,
    /// What a new η counts, of the smoothed one. (1; 0.02.)
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub gain: Option<f64>,
    /// The pulse is looked for within half a hertz of its frequency. (No; yes.)
    pub search: Option<bool>,
    /// Samples of the cross traffic are moved by two round trips. (No; yes.)
    pub align: Option<bool>,
    /// Cross traffic of less than a tenth of the link is none. (Yes.)
    pub guard_little: Option<bool>,
    /// A response of less than a quarter of the flow's own pulse is too small to be one. (Yes.)
    pub guard_faint: Option<bool>,
    /// Where the flow's own pulse does not arrive, traffic counts as elastic. (No; yes.)
    pub guard_hidden: Option<bool>,
    /// With less than a twelfth of the link, traffic counts as elastic (§4.6). (Yes.)
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
        problems.useless("kappa", "nobody draws lots", "write `coordination = true`, or remove it");
    }
    if !p.coordination && p.watcher_weight != Params::default().watcher_weight {
        problems.useless("watcher_weight", "nobody watches", "write `coordination = true`, or remove it");
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
