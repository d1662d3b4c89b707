//! Congestion points: ports that send messages to the sources of the flows that pass them.
//!
//! A point ([`CongestionPoint`]) is notified of every data packet that joins or leaves its port's queue, and may
//! request ticks. It appends its reports to a list ([`Notices`]), one per flow. Its driver sends them as messages
//! ([`Notice`](thalweg_wire::Notice)) from the port's node to the flows' sources, as control packets on paths of their
//! own. They are not acknowledged.
//!
//! A point only observes; marking and dropping are stages ([`crate::stage`]).

mod declare;
mod recipients;
mod spec;

// One file each of the list below.
pub mod policy;
pub mod qcn;
pub mod rocc;

pub use declare::Parameters;
pub use recipients::{Recipients, Who};

use crate::kinds::kinds;
use crate::problems::{Invalid, Problems};
use crate::stage::View;
use thalweg_units::{Bytes, FlowId, Rate, Stream, Time};
use thalweg_wire::{NoticeBody, Packet};

// The one list. Each point has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// Congestion points: ports that send messages to the sources of flows.
    #[derive(Copy)]
    pub enum PointSpec;
    /// Any point, statically dispatched.
    pub enum PointMachine {
        rocc: Rocc(Box<rocc::Rocc>), "rocc";
        qcn: Qcn(Box<qcn::Qcn>), "qcn";
        policy: Policy(Box<policy::Notifier>), "policy";
    }

    impl PointSpec {
        /// See [`Parameters::sends`].
        pub fn sends(&self) -> crate::congestion::Messages;
        /// See [`Parameters::message`].
        pub fn message(&self) -> Bytes;
        fn check(&self, problems: &mut Problems);
        fn unchecked as make(&self, stream: Stream, rate: Rate) -> Result<PointMachine, Invalid>;
    }

    impl CongestionPoint for PointMachine {
        #[inline]
        fn on_join(&mut self, now: Time, view: &View, packet: &Packet, notices: &mut Notices);
        #[inline]
        fn on_leave(&mut self, packet: &Packet);
        fn on_notify(&mut self, now: Time, packet: &Packet);
        fn wake(&self) -> Option<Time>;
        fn tick(&mut self, now: Time, view: &View, notices: &mut Notices);
    }
}

/// The flows whose sources are notified, and the messages, in that order.
pub type Notices = Vec<(FlowId, NoticeBody)>;

/// The congestion point of a port. It sees data packets only, no ACKs and no messages of the network.
///
/// ```
/// use thalweg_machines::point::{CongestionPoint, Notices};
/// use thalweg_machines::stage::View;
/// use thalweg_units::{FlowId, Rate, Span, Time};
/// use thalweg_wire::{Packet, NoticeBody};
///
/// /// Tells the source of what joins a long queue how bad it is.
/// struct Alarm;
///
/// impl CongestionPoint for Alarm {
///     fn on_join(&mut self, _: Time, view: &View, packet: &Packet, notices: &mut Notices) {
///         if view.packets >= 100 {
///             notices.push((packet.flow, NoticeBody::Severity(63)));
///         }
///     }
/// }
///
/// let (rate, idle_for, waited) = (Rate::from_gbps(10), Span::ZERO, Span::ZERO);
/// let view = View { packets: 100, bytes: 150_000, wire: 1500, rate, sent: 0, idle_for, waited };
/// let mut notices = Notices::new();
/// Alarm.on_join(Time::ZERO, &view, &Packet { flow: FlowId(7), ..Packet::default() }, &mut notices);
/// assert_eq!(notices, [(FlowId(7), NoticeBody::Severity(63))]);
/// ```
pub trait CongestionPoint {
    /// A packet has joined the queue; `view` is the queue without it.
    fn on_join(&mut self, _now: Time, _view: &View, _packet: &Packet, _notices: &mut Notices) {}
    /// A packet has left the queue: it is being sent, or was dropped. It may be reported late, but before any later
    /// event.
    fn on_leave(&mut self, _packet: &Packet) {}
    /// The queue's own policy notifies of a packet, which joins or leaves at this instant.
    fn on_notify(&mut self, _now: Time, _packet: &Packet) {}
    /// When [`CongestionPoint::tick`] is to be called.
    fn wake(&self) -> Option<Time> {
        None
    }
    /// The instant named by [`CongestionPoint::wake`] has come; `view` is the queue, and no packet.
    fn tick(&mut self, _now: Time, _view: &View, _notices: &mut Notices) {}
}

#[cfg(test)]
mod tests;
