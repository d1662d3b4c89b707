//! What a controller says of itself, once: its keys with their defaults, documentation and ranges, what it needs and what it
//! gives. The scenario's schema, `explain`, the catalogue, the manual, the checks and the laws all come from here.

use super::{CongestionControl, Start};
use crate::packet::ExplicitKind;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use thalweg_units::{Rate, Span};

/// A controller's parameters: its table in scenarios. The doc comment of the struct is the controller's summary, with its
/// source in parentheses; those of the fields document the keys; [`Default`] holds the defaults.
pub trait Parameters:
    Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The state machine.
    type Machine: CongestionControl;

    /// What it needs of transport and network, and what it permits.
    fn needs(&self) -> Needs;

    /// Writes down what depends on other keys, or on the network.
    fn resolve(&mut self, _paths: &mut dyn Paths) {}

    /// What is impossible, or cannot take effect, where the slowest sender's line has this rate. (Ranges of plain numbers that
    /// the schema states are checked again, for those who come without a file.)
    fn check(&self, _line: Rate, _problems: &mut Problems) {}

    /// The controller of a flow that starts, from parameters that were checked.
    ///
    /// # Errors
    /// If it cannot work on this flow's path.
    fn make(&self, start: &Start) -> Result<Self::Machine, String>;

    /// What the laws of every controller are tried on: the variants that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// The network's longest path, for those who ask: to find it takes long in large networks.
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
    /// The stage whose marks it understands, by its name in scenarios, if those of others would mean something else to it.
    pub marker: Option<&'static str>,
    /// It looks at [`AckSample::rtt`](super::AckSample::rtt).
    pub round_trips: bool,
    /// It looks at [`AckSample::delivery`](super::AckSample::delivery): its senders keep a record of every segment.
    pub delivery: bool,
    /// What the network writes into its packets on the way ([`AckSample::feedback`](super::AckSample::feedback)): senders make
    /// room for it, switches write it, receivers send it back.
    pub feedback: FeedbackKind,
    /// What it must be told by congestion points ([`CongestionControl::on_notice`]).
    pub messages: Messages,
    /// What its permits are made of.
    pub gives: Gives,
    /// Its windows are exact to the byte: segments are cut to what fits, and where nothing fits nothing leaves until its next tick.
    pub exact: bool,
    /// A new pace also moves the departure that the old one had planned; otherwise it counts from the next packet on.
    pub moves_departures: bool,
    /// What it is asked and told besides ACKs and losses; others are not.
    pub calls: Calls,
}

/// Calls that few controllers make anything of, and the path of a packet spares the others. A byte: every sender has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Calls {
    /// ACKs and losses are all it hears of.
    Neither,
    /// It has a clock ([`Permit::wake`](super::Permit::wake)).
    Ticks,
    /// It hears of what is sent ([`CongestionControl::on_sent`]).
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
    /// It hears of what is sent.
    #[inline]
    pub fn sent(self) -> bool {
        matches!(self, Self::Sent | Self::Both)
    }
}

impl Needs {
    /// A window that moves, by ACKs and losses alone.
    pub const WINDOW: Self = Self {
        marks: Marks::Ignored,
        marker: None,
        round_trips: false,
        delivery: false,
        feedback: FeedbackKind::None,
        messages: Messages::None,
        gives: Gives::Window { slow_start: true },
        exact: false,
        moves_departures: false,
        calls: Calls::Neither,
    };

    /// TCP can carry it: a stream of ACKs, without notifications or messages.
    pub fn fit_tcp(self) -> bool {
        self.marks != Marks::Notifications && self.messages == Messages::None
    }

    /// Queue pairs can carry it: their receiving ends do not forecast.
    pub fn fit_rdma(self) -> bool {
        !matches!(self.feedback, FeedbackKind::Explicit(ExplicitKind::Forecast(_)))
    }
}

/// What the network writes into a controller's packets. More kinds will come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FeedbackKind {
    /// Nothing but marks.
    None,
    /// Telemetry of every switch ([`Feedback::Int`](super::Feedback::Int)).
    Int,
    /// What routers, or the receiver, tell outright ([`Feedback::Explicit`](super::Feedback::Explicit)).
    Explicit(ExplicitKind),
}

/// What congestion points ([`crate::point`]) tell, and controllers listen to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Messages {
    /// Nothing.
    None,
    /// A fair rate (RoCC).
    FairRate,
    /// How bad it is (QCN).
    Severity,
}

/// What a controller makes of congestion marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// Nothing.
    Ignored,
    /// It slows down if there are any ([`AckSample::marked`](super::AckSample::marked)), and can do without.
    Heard,
    /// It has an exact echo of every mark, unless the scenario says otherwise.
    Wanted,
    /// It does not work without an exact echo of every mark.
    Echoes,
    /// It does not work without an exact echo of both ECN codepoints ([`AckSample::braked`](super::AckSample::braked)), besides marks.
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
    /// A window that moves, the initial one its own, whatever the transport's.
    OwnWindow,
    /// A pace; the window is the largest allowed, for ever.
    Pace,
    /// A pace, and a window that follows it; the initial one belongs to the line's rate.
    PaceAndWindow,
    /// The same with an initial window of its own, whatever the transport's.
    PaceAndOwnWindow,
    /// Whatever a user's does.
    Anything,
}

impl Gives {
    /// Its window moves, so that it waits for ACKs.
    pub fn moves_window(self) -> bool {
        matches!(
            self,
            Self::Window { .. }
                | Self::OwnWindow
                | Self::PaceAndWindow
                | Self::PaceAndOwnWindow
                | Self::Anything
        )
    }
}
