//! Every call of a controller as a value that can be recorded, saved and replayed.

use crate::congestion::{AckSample, CongestionControl, Feedback, Loss, Permit, Restart};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::{Explicit, IntStack, Notice};

/// An owned copy of [`Feedback`], which borrows from a packet.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Written {
    /// Nothing.
    #[default]
    Nothing,
    /// Congestion was experienced.
    Mark,
    /// Telemetry of every hop.
    Int(Box<IntStack>),
    /// What routers wrote, or the receiver.
    Explicit(Explicit),
}

impl From<Feedback<'_>> for Written {
    fn from(feedback: Feedback<'_>) -> Self {
        match feedback {
            Feedback::None => Self::Nothing,
            Feedback::Mark => Self::Mark,
            Feedback::Int(stack) => Self::Int(Box::new(*stack)),
            Feedback::Explicit(explicit) => Self::Explicit(explicit),
        }
    }
}

impl Written {
    /// The same as [`Feedback`].
    pub fn feedback(&self) -> Feedback<'_> {
        match self {
            Self::Nothing => Feedback::None,
            Self::Mark => Feedback::Mark,
            Self::Int(stack) => Feedback::Int(stack),
            Self::Explicit(explicit) => Feedback::Explicit(*explicit),
        }
    }
}

/// A call of [`CongestionControl`] with its arguments: a variant for each, in their order there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the arguments are documented with the calls")]
pub enum Observation {
    /// [`CongestionControl::on_sent`].
    Sent { now: Time, bytes: Bytes, in_flight: Bytes },
    /// [`CongestionControl::on_open`].
    Open { now: Time, rtt: Option<Span>, written: Written },
    /// [`CongestionControl::on_ack`]. The sample's own feedback is in `written`.
    Ack { sample: AckSample<'static>, written: Written },
    /// [`CongestionControl::on_feedback`].
    Feedback { now: Time, written: Written, in_flight: Bytes },
    /// [`CongestionControl::on_loss`].
    Loss(Loss),
    /// [`CongestionControl::on_timeout`].
    Timeout(Loss),
    /// [`CongestionControl::on_notification`].
    Notification { now: Time },
    /// [`CongestionControl::on_notice`].
    Notice { now: Time, notice: Notice },
    /// [`CongestionControl::on_restart`].
    Restart { now: Time, idle: Span },
    /// [`CongestionControl::restart_from`].
    RestartFrom { now: Time, window: Restart },
    /// [`CongestionControl::on_tick`]: when it was called, which in real time is later than the instant it wanted.
    Tick { now: Time },
    /// [`CongestionControl::on_decision`].
    Decision { now: Time, decided: Permit },
}

impl Observation {
    /// An ACK with what the network wrote.
    pub fn ack(ack: &AckSample<'_>) -> Self {
        // All fields by name, so that a new field does not compile until it is handled here.
        let AckSample {
            now,
            rtt,
            acked,
            sacked,
            in_flight,
            acked_to,
            sent_to,
            marked,
            braked,
            in_recovery,
            app_limited,
            cwnd_limited,
            delivery,
            feedback,
        } = *ack;
        let sample = AckSample {
            now,
            rtt,
            acked,
            sacked,
            in_flight,
            acked_to,
            sent_to,
            marked,
            braked,
            in_recovery,
            app_limited,
            cwnd_limited,
            delivery,
            feedback: Feedback::None,
        };
        Self::Ack { sample, written: feedback.into() }
    }

    /// When.
    pub fn at(&self) -> Time {
        match self {
            Self::Ack { sample, .. } => sample.now,
            Self::Loss(loss) | Self::Timeout(loss) => loss.now,
            Self::Sent { now, .. }
            | Self::Open { now, .. }
            | Self::Feedback { now, .. }
            | Self::Notification { now }
            | Self::Notice { now, .. }
            | Self::Restart { now, .. }
            | Self::RestartFrom { now, .. }
            | Self::Tick { now }
            | Self::Decision { now, .. } => *now,
        }
    }

    /// Makes the call.
    pub fn apply(&self, controller: &mut impl CongestionControl) {
        match self {
            Self::Sent { now, bytes, in_flight } => controller.on_sent(*now, *bytes, *in_flight),
            Self::Open { now, rtt, written } => controller.on_open(*now, *rtt, written.feedback()),
            Self::Ack { sample, written } => {
                controller.on_ack(&AckSample { feedback: written.feedback(), ..*sample });
            }
            Self::Feedback { now, written, in_flight } => {
                controller.on_feedback(*now, written.feedback(), *in_flight);
            }
            Self::Loss(loss) => controller.on_loss(loss),
            Self::Timeout(loss) => controller.on_timeout(loss),
            Self::Notification { now } => controller.on_notification(*now),
            Self::Notice { now, notice } => controller.on_notice(*now, notice),
            Self::Restart { now, idle } => controller.on_restart(*now, *idle),
            Self::RestartFrom { now, window } => controller.restart_from(*now, *window),
            Self::Tick { now } => controller.on_tick(*now),
            Self::Decision { now, decided } => controller.on_decision(*now, *decided),
        }
    }
}
