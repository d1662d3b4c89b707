//! Congestion points: ports that write to the sources of the flows that pass them.
//!
//! A point ([`CongestionPoint`]) is told of every data packet that joins its port's queue and of every one
//! that waits no longer, and may ask for a clock. What it has to say it puts into a list ([`Told`]), flow by
//! flow; whoever runs it makes messages of that ([`Notice`](thalweg_wire::Notice)) and sends them from the port's
//! node to the flows' sources, as packets of control, on their own way, with their own bytes. Nobody
//! acknowledges them.
//!
//! A point reads; it neither marks nor drops ([`crate::stage`]).

mod declare;
mod recipients;
mod spec;

// One file each of the list below.
pub mod qcn;
pub mod rocc;

pub use declare::Parameters;
pub use recipients::{Recipients, Who};

use crate::kinds::kinds;
use crate::problems::{Invalid, Problems};
use crate::stage::View;
use thalweg_units::{Bytes, FlowId, Rate, Stream, Time};
use thalweg_wire::{Packet, Says};

// The one list. Each point has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// Ports that write to the sources of flows.
    #[derive(Copy)]
    pub enum PointSpec;
    /// Any point, statically dispatched.
    pub enum PointMachine {
        rocc: Rocc(Box<rocc::Rocc>), "rocc";
        qcn: Qcn(Box<qcn::Qcn>), "qcn";
    }

    impl PointSpec {
        /// See [`Parameters::says`].
        pub fn says(&self) -> crate::congestion::Messages;
        /// See [`Parameters::message`].
        pub fn message(&self) -> Bytes;
        fn check(&self, problems: &mut Problems);
        fn unchecked as make(&self, stream: Stream, rate: Rate) -> Result<PointMachine, Invalid>;
    }

    impl CongestionPoint for PointMachine {
        #[inline]
        fn on_join(&mut self, now: Time, view: &View, packet: &Packet, told: &mut Told);
        #[inline]
        fn on_leave(&mut self, packet: &Packet);
        fn wake(&self) -> Option<Time>;
        fn tick(&mut self, now: Time, view: &View, told: &mut Told);
    }
}

/// What is to be said to whom, in that order.
pub type Told = Vec<(FlowId, Says)>;

/// A port that writes to sources. It sees data only: neither ACKs nor what the network itself sends.
///
/// ```
/// use thalweg_machines::point::{CongestionPoint, Told};
/// use thalweg_machines::stage::View;
/// use thalweg_units::{FlowId, Rate, Span, Time};
/// use thalweg_wire::{Packet, Says};
///
/// /// Tells the source of what joins a long queue how bad it is.
/// struct Alarm;
///
/// impl CongestionPoint for Alarm {
///     fn on_join(&mut self, _: Time, view: &View, packet: &Packet, told: &mut Told) {
///         if view.packets >= 100 {
///             told.push((packet.flow, Says::Severity(63)));
///         }
///     }
/// }
///
/// let (rate, idle_for, waited) = (Rate::from_gbps(10), Span::ZERO, Span::ZERO);
/// let view = View { packets: 100, bytes: 150_000, wire: 1500, rate, sent: 0, idle_for, waited };
/// let mut told = Told::new();
/// Alarm.on_join(Time::ZERO, &view, &Packet { flow: FlowId(7), ..Packet::default() }, &mut told);
/// assert_eq!(told, [(FlowId(7), Says::Severity(63))]);
/// ```
pub trait CongestionPoint {
    /// A packet has joined the queue; `view` is the queue without it.
    fn on_join(&mut self, _now: Time, _view: &View, _packet: &Packet, _told: &mut Told) {}
    /// A packet that had joined waits no longer: it is being sent, or was given up. May be said later than it
    /// happens, but before anything else is.
    fn on_leave(&mut self, _packet: &Packet) {}
    /// When [`CongestionPoint::tick`] is to be called.
    fn wake(&self) -> Option<Time> {
        None
    }
    /// The instant named by [`CongestionPoint::wake`] has come; `view` is the queue, and no packet.
    fn tick(&mut self, _now: Time, _view: &View, _told: &mut Told) {}
}

#[cfg(test)]
mod tests;
