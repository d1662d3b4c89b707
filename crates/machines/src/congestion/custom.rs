//! Controllers written by users, registered by name.

use super::{
    AckSample, Calls, CongestionControl, Feedback, FeedbackKind, Gives, Loss, Marks, Needs, Parameters,
    Permit, Report, Restart, Rule, Rules, Start,
};
use crate::plugin::{Json, Made, Registry, boxed_state};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::Notice;

/// A user's controller: the contract, and how to clone and save it.
pub trait PluggedController: CongestionControl + Send + Sync {
    /// The name its factory is registered under.
    fn name(&self) -> &str;
    /// A copy with the same future.
    fn boxed_clone(&self) -> Box<dyn PluggedController>;
    /// Everything it knows, as bytes that its loader understands.
    fn save(&self) -> Vec<u8>;
}

/// How controllers of one name are made and brought back.
#[derive(Clone, Copy)]
pub struct ControllerFactory {
    /// A new one for a flow that starts; `params` is what the scenario wrote under `params`. It is called once before a
    /// run: parameters that it accepts then it accepts for every flow, as no flow is refused in the middle of a run.
    pub make: fn(name: &str, start: &Start, params: &[u8]) -> Made<dyn PluggedController>,
    /// From the bytes of [`PluggedController::save`].
    pub load: fn(name: &str, saved: &[u8]) -> Made<dyn PluggedController>,
}

/// What a controller declares before any flow starts: scenarios are checked against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// It uses ECN marks, so its packets may be marked unless the scenario says otherwise.
    pub ecn: bool,
    /// It uses the telemetry that switches write into packets.
    pub telemetry: bool,
    /// Its calls are serialised (as by Python's interpreter lock), so that a run gains nothing from more threads.
    pub serial: bool,
    /// It ignores [`CongestionControl::restart_from`].
    pub ignores_restarts: bool,
    /// The names that it accepts under `params`; `None`: its factory alone decides.
    pub params: Option<Vec<String>>,
}

/// The earliest instant at which a wake-up may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Earliest {
    /// Any instant: it was checked when it was requested, before the run was saved.
    Any,
    /// None: the time is not known yet.
    Unknown,
    /// From this instant on.
    At(Time),
}

/// A permit in plain numbers, as foreign code states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stated {
    /// Payload bytes.
    pub window: u64,
    /// Bits per second on the wire, if there is a pace.
    pub pace: Option<u64>,
    /// The wake-up in picoseconds, if one is wanted.
    pub wake_ps: Option<u64>,
}

/// Why a stated permit is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Impermissible {
    /// A pace of 0: a pace is 1 bit/s at least.
    Pace,
    /// A wake-up at no instant: the clock ends before 2^63 ps.
    NoInstant,
    /// A wake-up while the time is not known yet.
    TooSoonToSay,
    /// A wake-up before this instant: it would never come, or time would stand still.
    Before(Time),
}

impl Stated {
    /// The permit, if it is allowed.
    ///
    /// # Errors Why it is refused.
    ///
    /// ```
    /// use thalweg_machines::congestion::custom::{Earliest, Impermissible, Stated};
    /// use thalweg_units::Time;
    ///
    /// let stated = Stated { window: 15_000, pace: None, wake_ps: Some(7) };
    /// assert!(stated.permit(Earliest::At(Time::from_ps(7))).is_ok());
    /// let late = stated.permit(Earliest::At(Time::from_ps(8)));
    /// assert_eq!(late, Err(Impermissible::Before(Time::from_ps(8))));
    /// ```
    pub fn permit(self, earliest: Earliest) -> Result<Permit, Impermissible> {
        if self.pace == Some(0) {
            return Err(Impermissible::Pace);
        }
        let wake = match (self.wake_ps, earliest) {
            (Some(ps), _) if ps >= 1 << 63 => return Err(Impermissible::NoInstant),
            (Some(_), Earliest::Unknown) => return Err(Impermissible::TooSoonToSay),
            (Some(ps), Earliest::At(earliest)) if ps < earliest.ps() => {
                return Err(Impermissible::Before(earliest));
            }
            (wake, _) => wake.map(Time::from_ps),
        };
        Ok(Permit { window: Bytes::new(self.window), pace: self.pace.map(Rate::from_bps), wake })
    }
}

static FACTORIES: Registry<ControllerFactory> = Registry::new();
static DECLARED: Registry<Declared> = Registry::new();

/// Makes controllers called `name` available to scenarios; a second registration replaces the first.
pub fn register_controller(name: &str, factory: ControllerFactory) {
    FACTORIES.insert(name, factory);
    DECLARED.remove(name);
}

/// Adds declarations to the controllers registered as `name`; scenarios are checked against them.
pub fn declare_controller(name: &str, declared: Declared) {
    DECLARED.insert(name, declared);
}

/// What was declared of the controllers registered as `name`; the default if nothing was.
pub fn declared(name: &str) -> Declared {
    DECLARED.get(name).unwrap_or_default()
}

/// The registered controllers' names, sorted.
pub fn controllers() -> Vec<String> {
    FACTORIES.names()
}

/// A controller registered by the user.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-registry" = "controllers"))]
pub struct Params {
    /// The name it was registered under.
    pub name: String,
    /// Parameters for its factory, which receives them as JSON.
    #[serde(default)]
    pub params: Json,
}

impl Parameters for Params {
    type Machine = CustomController;

    fn needs(&self) -> Needs {
        let declared = declared(&self.name);
        let marks = if declared.ecn { Marks::Wanted } else { Marks::Optional };
        let feedback = if declared.telemetry { FeedbackKind::Int } else { FeedbackKind::None };
        Needs {
            marks,
            feedback,
            round_trips: true,
            delivery: true,
            gives: Gives::Anything,
            calls: Calls::Both,
            ..Needs::WINDOW
        }
    }

    fn rules(&self) -> Rules {
        let restarts = if declared(&self.name).ignores_restarts { Rule::Foreign } else { Rule::Kept };
        Rules { grows_when_used: Rule::Kept, restarts, ..Rules::FOREIGN }
    }

    fn make(&self, start: &Start) -> Result<CustomController, Invalid> {
        CustomController::make(&self.name, start, self.params.0.to_string().as_bytes())
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![] // it obeys its author
    }
}

/// A boxed user controller that clones, saves and loads like any other state.
pub struct CustomController(pub Box<dyn PluggedController>);

impl CustomController {
    /// Makes the controller registered as `name`.
    ///
    /// # Errors
    /// If nothing is registered under the name or its factory refuses the parameters.
    pub fn make(name: &str, start: &Start, params: &[u8]) -> Result<Self, Invalid> {
        let unknown = || Invalid::new(format!("no controller is registered as `{name}`")).at("name");
        let factory = FACTORIES.get(name).ok_or_else(unknown)?;
        (factory.make)(name, start, params).map(Self)
    }
}

impl CongestionControl for CustomController {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.0.on_sent(now, bytes, in_flight);
    }
    fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
        self.0.on_open(now, rtt, feedback);
    }
    fn on_ack(&mut self, ack: &AckSample) {
        self.0.on_ack(ack);
    }
    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>, in_flight: Bytes) {
        self.0.on_feedback(now, feedback, in_flight);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.0.on_timeout(loss);
    }
    fn on_notice(&mut self, now: Time, notice: &Notice) {
        self.0.on_notice(now, notice);
    }
    fn on_notification(&mut self, now: Time) {
        self.0.on_notification(now);
    }
    fn on_restart(&mut self, now: Time, idle: Span) {
        self.0.on_restart(now, idle);
    }
    fn restart_from(&mut self, now: Time, window: Restart) {
        self.0.restart_from(now, window);
    }
    fn on_tick(&mut self, now: Time) {
        self.0.on_tick(now);
    }
    fn permit(&self) -> Permit {
        self.0.permit()
    }
    fn threshold(&self) -> Bytes {
        self.0.threshold()
    }
    fn report(&self, report: &mut Report) {
        self.0.report(report);
    }
}

boxed_state!(CustomController, FACTORIES);
