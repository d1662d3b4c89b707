//! What a controller declares: its keys with defaults, documentation and ranges, what it needs of transport and
//! network, and what its permits consist of. The scenario schema, `explain`, the catalogue, the manual, the checks and
//! the conformance tests are all derived from it.

use crate::congestion::{CongestionControl, Start};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use thalweg_units::{Rate, Span};
use thalweg_wire::ExplicitKind;

/// A controller's parameters: its table in scenarios. The doc comment of the struct is the controller's
/// summary, with its source in parentheses; those of the fields document the keys; [`Default`] holds the
/// defaults.
pub trait Parameters:
    Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The state machine.
    type Machine: CongestionControl;

    /// What it needs of transport and network, and what it permits.
    fn needs(&self) -> Needs;

    /// Which rules of TCP's standards its window follows. The conformance tests (`conformance/rules.rs`) drive it to
    /// check.
    fn rules(&self) -> Rules {
        Rules::FOREIGN
    }

    /// Fills in keys whose defaults depend on other keys or on the network.
    fn resolve(&mut self, _paths: &mut dyn Paths) {}

    /// Reports what is impossible or cannot take effect; `line` is the rate of the slowest sender's link. Ranges of
    /// plain numbers that the schema states are checked here again, because parameters need not come from a file.
    fn check(&self, _line: Rate, _problems: &mut Problems) {}

    /// The controller of a flow that starts, from parameters that were checked.
    ///
    /// # Errors
    /// If it cannot work on this flow's path.
    fn make(&self, start: &Start) -> Result<Self::Machine, Invalid>;

    /// The variants on which the conformance tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// Whether a controller keeps a rule of TCP's standards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// It follows the rule.
    Kept,
    /// It deviates from the rule, for this reason (a `CHOICE` in its file).
    Differs(&'static str),
    /// The rule does not apply: it has no such mechanism.
    Foreign,
}

/// For each rule of TCP's standards for windows, whether a controller follows it. `docs/controllers-rules.md` tabulates
/// all controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// RFC 5681 §3.1: the threshold is held when a segment that the timer has resent times out again.
    pub held_threshold: Rule,
    /// RFC 5681 §3.1: one segment is left after a timeout.
    pub loss_window: Rule,
    /// RFC 5681 §3.1 (4), RFC 9438 §4.6: a loss cuts by what is in flight, where that is less than the window.
    pub loss_cuts_flight: Rule,
    /// RFC 5681 §3.1 (4): no threshold below two segments.
    pub threshold_floor: Rule,
    /// RFC 5681 §3.2, RFC 6675 §5: no growth while a loss is repaired.
    pub frozen_in_repair: Rule,
    /// RFC 3168 §6.1.2: marks cut once per window of data.
    pub marks_once: Rule,
    /// RFC 3168 §6.1.2: a loss does not cut a window of data again that a mark has cut.
    pub marks_and_losses_once: Rule,
    /// RFC 3168 §6.1.2: marks cut down to one segment.
    pub marks_to_one: Rule,
    /// RFC 9438 §4.6: a mark cuts by what is in flight, where that is less than the window.
    pub mark_cuts_flight: Rule,
    /// RFC 9438 §5.8, RFC 9002 §7.8, RFC 7661 §4.3: no growth of a window that is not used up.
    pub grows_when_used: Rule,
    /// RFC 5681 §4.1: no more than the restart window after a pause, where the transport says so.
    pub restarts: Rule,
    /// RFC 9438 §4.2: silence does not count in the time since the last cut.
    pub silence_stops_clock: Rule,
}

impl Rules {
    /// For controllers without a window of TCP's kind.
    pub const FOREIGN: Self = Self {
        held_threshold: Rule::Foreign,
        loss_window: Rule::Foreign,
        loss_cuts_flight: Rule::Foreign,
        threshold_floor: Rule::Foreign,
        frozen_in_repair: Rule::Foreign,
        marks_once: Rule::Foreign,
        marks_and_losses_once: Rule::Foreign,
        marks_to_one: Rule::Foreign,
        mark_cuts_flight: Rule::Foreign,
        grows_when_used: Rule::Foreign,
        restarts: Rule::Foreign,
        silence_stops_clock: Rule::Foreign,
    };
    /// For a window with slow start, congestion avoidance and a threshold, which does not depend on time.
    pub const TCP: Self = Self {
        held_threshold: Rule::Kept,
        loss_window: Rule::Kept,
        loss_cuts_flight: Rule::Kept,
        threshold_floor: Rule::Kept,
        frozen_in_repair: Rule::Kept,
        marks_once: Rule::Kept,
        marks_and_losses_once: Rule::Kept,
        marks_to_one: Rule::Kept,
        mark_cuts_flight: Rule::Kept,
        grows_when_used: Rule::Kept,
        restarts: Rule::Kept,
        silence_stops_clock: Rule::Foreign,
    };

    /// All, with their sections.
    pub fn all(&self) -> [(&'static str, &'static str, Rule); 12] {
        let hold = "the threshold is held when a resent segment times out again";
        [
            ("RFC 5681 §3.1", hold, self.held_threshold),
            ("RFC 5681 §3.1", "one segment is left after a timeout", self.loss_window),
            (
                "RFC 5681 §3.1 (4), RFC 9438 §4.6",
                "a loss cuts what is in flight, if less than the window",
                self.loss_cuts_flight,
            ),
            ("RFC 5681 §3.1 (4)", "no threshold below two segments", self.threshold_floor),
            ("RFC 5681 §3.2, RFC 6675 §5", "no growth while a loss is repaired", self.frozen_in_repair),
            ("RFC 3168 §6.1.2", "marks cut once per window of data", self.marks_once),
            (
                "RFC 3168 §6.1.2",
                "a loss does not cut a window of data again that a mark has cut",
                self.marks_and_losses_once,
            ),
            ("RFC 3168 §6.1.2", "marks cut down to one segment", self.marks_to_one),
            (
                "RFC 9438 §4.6",
                "a mark cuts what is in flight, if less than the window",
                self.mark_cuts_flight,
            ),
            (
                "RFC 9438 §5.8, RFC 9002 §7.8, RFC 7661 §4.3",
                "a window that is not used up does not grow",
                self.grows_when_used,
            ),
            ("RFC 5681 §4.1", "no more than the restart window after a pause", self.restarts),
            (
                "RFC 9438 §4.2",
                "silence does not count in the time since the last cut",
                self.silence_stops_clock,
            ),
        ]
    }
}

/// The network's longest path, computed on demand: in large networks the search takes long.
pub trait Paths {
    /// There and back, propagation only.
    fn propagation(&mut self) -> Span;
    /// A full packet there and its ACK back when nothing else is on the way: with their times on the wire.
    fn base_rtt(&mut self) -> Span;
}

/// Where one answer does for both.
impl<F: FnMut() -> Span> Paths for F {
    fn propagation(&mut self) -> Span {
        self()
    }
    fn base_rtt(&mut self) -> Span {
        self()
    }
}

/// What a controller needs, and what its permits are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// What it makes of congestion marks.
    pub marks: Marks,
    /// Its packets say in the network that it slows down in proportion to marks: they are sent with ECT(1), by which
    /// L4S queues know them (RFC 9331 §4.1).
    pub l4s: bool,
    /// The stage whose marks it understands, by its name in scenarios, if those of others would mean
    /// something else to it.
    pub marker: Option<&'static str>,
    /// It looks at [`AckSample::rtt`](crate::congestion::AckSample::rtt).
    pub round_trips: bool,
    /// It expects one round trip for a segment of many packets, and not one for each ACK.
    pub segments: bool,
    /// It looks at [`AckSample::delivery`](crate::congestion::AckSample::delivery): its senders keep a record of every
    /// segment.
    pub delivery: bool,
    /// What the network writes into its packets on the way
    /// ([`AckSample::feedback`](crate::congestion::AckSample::feedback)): senders make room for it, switches write it,
    /// receivers send it back.
    pub feedback: FeedbackKind,
    /// The messages of congestion points that it requires ([`CongestionControl::on_notice`]).
    pub messages: Messages,
    /// What its permits are made of.
    pub gives: Gives,
    /// Its windows are exact to the byte: segments are cut to what fits, and where nothing fits nothing
    /// leaves until its next tick.
    pub exact: bool,
    /// A new pace also moves the departure that the old one had planned; otherwise it counts from the next packet on.
    pub moves_departures: bool,
    /// The calls that it requires besides those for ACKs and losses; no others are made.
    pub calls: Calls,
    /// Its decisions come from outside ([`CongestionControl::on_decision`]).
    pub decided: bool,
}

/// Calls that only few controllers use; for the others they are left out of the packet path. One byte, as
/// every sender holds one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Calls {
    /// It is notified of ACKs and losses only.
    Neither,
    /// It has a clock ([`Permit::wake`](crate::congestion::Permit::wake)).
    Ticks,
    /// It is notified of what is sent ([`CongestionControl::on_sent`]).
    Sent,
    /// Both.
    Both,
}

impl Calls {
    /// It has a clock.
    #[inline]
    pub fn ticks(self) -> bool {
        matches!(self, Self::Ticks | Self::Both)
    }
    /// And it is notified of what is sent.
    pub fn and_sent(self) -> Self {
        if self.ticks() { Self::Both } else { Self::Sent }
    }
    /// It is notified of what is sent.
    #[inline]
    pub fn sent(self) -> bool {
        matches!(self, Self::Sent | Self::Both)
    }
}

impl Needs {
    /// A window that moves, by ACKs and losses alone.
    pub const WINDOW: Self = Self {
        marks: Marks::Ignored,
        l4s: false,
        marker: None,
        round_trips: false,
        segments: false,
        delivery: false,
        feedback: FeedbackKind::None,
        messages: Messages::None,
        gives: Gives::Window { slow_start: true },
        exact: false,
        moves_departures: false,
        calls: Calls::Neither,
        decided: false,
    };

    /// TCP can carry it: a stream of ACKs, without notifications or messages.
    pub fn fit_tcp(self) -> bool {
        self.marks != Marks::Notifications && self.messages == Messages::None
    }

    /// It makes something of what congestion points send that send this.
    pub fn receives(self, sent: Messages) -> bool {
        match sent {
            Messages::None => false,
            Messages::Notifications => matches!(self.marks, Marks::Wanted | Marks::Notifications),
            Messages::FairRate | Messages::Severity => self.messages == sent,
        }
    }

    /// Queue pairs can carry it: their receiving ends do not forecast, and their packets are not L4S.
    pub fn fit_rdma(self) -> bool {
        // Data of queue pairs are sent with ECT(0).
        !self.l4s && !matches!(self.feedback, FeedbackKind::Explicit(ExplicitKind::Forecast(_)))
    }
}

/// What the network writes into a controller's packets. More kinds will come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FeedbackKind {
    /// Nothing but marks.
    None,
    /// Telemetry of every switch ([`Feedback::Int`](crate::congestion::Feedback::Int)).
    Int,
    /// What routers, or the receiver, signal explicitly
    /// ([`Feedback::Explicit`](crate::congestion::Feedback::Explicit)).
    Explicit(ExplicitKind),
}

/// Messages of congestion points ([`crate::point`]) that a controller understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Messages {
    /// Nothing.
    None,
    /// A fair rate (RoCC).
    FairRate,
    /// How bad it is (QCN).
    Severity,
    /// That there is congestion, as receivers of marked data say it: CNPs
    /// ([`CongestionControl::on_notification`]).
    Notifications,
}

/// What a controller makes of congestion marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// Nothing.
    Ignored,
    /// It slows down if there are any ([`AckSample::marked`](crate::congestion::AckSample::marked)), and can do
    /// without.
    Optional,
    /// It has an exact echo of every mark, unless the scenario says otherwise.
    Wanted,
    /// It does not work without an exact echo of every mark.
    Echoes,
    /// It does not work without an exact echo of both ECN codepoints
    /// ([`AckSample::braked`](crate::congestion::AckSample::braked)), besides marks.
    Codepoints,
    /// It does not work without notifications ([`CongestionControl::on_notification`]).
    Notifications,
}

impl Marks {
    /// It does not work without.
    pub fn required(self) -> bool {
        matches!(self, Self::Echoes | Self::Codepoints | Self::Notifications)
    }
    /// Packets are ECN-capable, unless the scenario says otherwise.
    pub fn by_default(self) -> bool {
        self == Self::Wanted || self.required()
    }
}

/// What a controller's permits are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// The initial window, for ever.
    Nothing,
    /// A window that moves.
    Window {
        /// It begins with slow start, up to the initial threshold.
        slow_start: bool,
    },
    /// A window that begins with slow start, up to the initial threshold, and a pace that follows it.
    PacedWindow,
    /// A window that moves, the initial one its own, whatever the transport's.
    OwnWindow,
    /// A pace; the window is the largest allowed, for ever.
    Pace,
    /// A pace, and a window that follows it; the initial one belongs to the line's rate.
    PaceAndWindow,
    /// The same with an initial window of its own, whatever the transport's.
    PaceAndOwnWindow,
    /// A pace and a window, which begin with the initial window and follow a model of the path.
    PaceAndInitialWindow,
    /// Whatever a user's does.
    Anything,
}

impl Gives {
    /// It begins with the transport's initial window.
    pub fn from_initial(self) -> bool {
        !matches!(self, Self::OwnWindow | Self::Pace | Self::PaceAndOwnWindow)
    }
    /// Its window moves, so that it waits for ACKs.
    pub fn moves_window(self) -> bool {
        matches!(
            self,
            Self::Window { .. }
                | Self::PacedWindow
                | Self::OwnWindow
                | Self::PaceAndWindow
                | Self::PaceAndOwnWindow
                | Self::PaceAndInitialWindow
                | Self::Anything
        )
    }
}
