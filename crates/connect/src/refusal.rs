//! The needs of a controller that a datapath does not meet, as an error that names them.
//!
//! A controller declares its needs ([`Needs`]) and the contents of its permits ([`Gives`]); a datapath declares here
//! what it supports. A controller with other needs is refused before anything is sent.

use std::fmt;
use thalweg_machines::congestion::{FeedbackKind, Gives, Marks, Messages, Needs};
use thalweg_wire::ExplicitKind;

/// A datapath and its support for controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datapath {
    name: &'static str,
    /// It keeps the pacing rate of a permit.
    paces: bool,
    /// It calls the controller at the wake-up time of a permit.
    clock: bool,
    /// Its receivers echo exactly the marks, and its senders count the echoes.
    echoes: bool,
}

impl Datapath {
    /// QUIC under the driver of this crate.
    pub const QUIC: Self = Self { name: "QUIC", paces: true, clock: true, echoes: false };
    /// QUIC under `quinn`, whose pacer follows the window alone and which has no timer for controllers.
    pub const QUINN: Self = Self { name: "quinn", paces: false, clock: false, echoes: false };
    /// The kernel's TCP.
    pub const KERNEL: Self = Self { name: "the kernel's TCP", paces: true, clock: true, echoes: true };

    /// Its name in sentences.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Checks that the datapath can run a controller with these needs.
    ///
    /// # Errors
    /// All needs that are not met.
    pub fn check(&self, controller: &str, needs: &Needs) -> Result<(), Refusal> {
        let missing = self.missing(needs);
        if missing.is_empty() {
            return Ok(());
        }
        Err(Refusal { controller: controller.to_owned(), datapath: *self, missing })
    }

    /// The needs that are not met.
    pub fn missing(&self, needs: &Needs) -> Vec<Missing> {
        let lacks = [
            Missing::of_marks(needs.marks, self.echoes),
            needs.l4s.then_some(Missing::L4s),
            Missing::of_feedback(needs.feedback),
            (needs.messages != Messages::None).then_some(Missing::CongestionPoints),
            needs.decided.then_some(Missing::Decisions),
            (!self.paces && paces(needs.gives)).then_some(Missing::Pace),
            (!self.clock && needs.calls.ticks()).then_some(Missing::Clock),
        ];
        lacks.into_iter().flatten().collect()
    }
}

/// True if permits may have a pacing rate.
fn paces(gives: Gives) -> bool {
    match gives {
        Gives::Nothing | Gives::Window { .. } | Gives::OwnWindow => false,
        Gives::Pace
        | Gives::PacedWindow
        | Gives::PaceAndWindow
        | Gives::PaceAndOwnWindow
        | Gives::PaceAndInitialWindow
        | Gives::Anything => true,
    }
}

/// A need that a datapath does not meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Missing {
    /// The number of marked bytes.
    MarkCounts,
    /// The ECN codepoint, of two, of each packet.
    Codepoints,
    /// Packets sent with ECT(1).
    L4s,
    /// Congestion notification packets.
    Notifications,
    /// In-band telemetry of switches.
    Telemetry,
    /// Explicit feedback of routers in packets.
    RouterFeedback,
    /// Forecasts of receivers.
    Forecasts,
    /// Messages of congestion points.
    CongestionPoints,
    /// Decisions from outside.
    Decisions,
    /// A driver that paces.
    Pace,
    /// A driver with a timer.
    Clock,
}

impl Missing {
    fn of_marks(marks: Marks, echoes: bool) -> Option<Self> {
        match marks {
            Marks::Ignored | Marks::Optional | Marks::Wanted => None,
            Marks::Echoes => (!echoes).then_some(Self::MarkCounts),
            Marks::Codepoints => Some(Self::Codepoints),
            Marks::Notifications => Some(Self::Notifications),
        }
    }

    fn of_feedback(feedback: FeedbackKind) -> Option<Self> {
        match feedback {
            FeedbackKind::None => None,
            FeedbackKind::Int => Some(Self::Telemetry),
            FeedbackKind::Explicit(ExplicitKind::Forecast(_)) => Some(Self::Forecasts),
            FeedbackKind::Explicit(_) => Some(Self::RouterFeedback),
        }
    }

    /// The need, in words.
    pub fn need(self) -> &'static str {
        match self {
            Self::MarkCounts => "an exact count of the bytes that were marked",
            Self::Codepoints => "an exact echo of both ECN codepoints",
            Self::L4s => "its packets to be sent with ECT(1)",
            Self::Notifications => "congestion notification packets",
            Self::Telemetry => "telemetry that switches write into packets",
            Self::RouterFeedback => "what routers write into packets",
            Self::Forecasts => "a receiver that forecasts",
            Self::CongestionPoints => "messages of congestion points in switches",
            Self::Decisions => "decisions from outside",
            Self::Pace => "its pace to be kept",
            Self::Clock => "to be called at instants of its own",
        }
    }

    /// The reason why a datapath does not meet it.
    fn why(self) -> &'static str {
        match self {
            Self::MarkCounts => "quinn-proto reports that there were marks, not how many",
            Self::Codepoints => "both codepoints are echoed by no receiver outside the simulator",
            Self::L4s => "its packets are not ECN-capable, or sent with ECT(0)",
            Self::Notifications | Self::CongestionPoints => "no such packets cross an IP network",
            Self::Telemetry | Self::RouterFeedback => "routers write nothing but ECN into packets",
            Self::Forecasts => "receivers acknowledge, and no more",
            Self::Decisions => "they come from who runs a simulation (`thalweg.gym`)",
            Self::Pace => "its pacer spreads a window over a round trip, whatever the controller says",
            Self::Clock => "it has no timer for controllers",
        }
    }
}

/// A controller that a datapath cannot run, with all unmet needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    controller: String,
    datapath: Datapath,
    missing: Vec<Missing>,
}

impl Refusal {
    /// The unmet needs, at least one.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { controller, datapath, missing } = self;
        write!(f, "{} cannot run `{controller}`, which needs ", datapath.name)?;
        for (n, lack) in missing.iter().enumerate() {
            let and = if n == 0 { "" } else { ", and " };
            write!(f, "{and}{}: {}", lack.need(), lack.why())?;
        }
        let elsewhere = missing.iter().all(|lack| matches!(lack, Missing::Pace | Missing::Clock));
        if elsewhere { write!(f, "; the driver of `thalweg quic` can") } else { Ok(()) }
    }
}

impl std::error::Error for Refusal {}
