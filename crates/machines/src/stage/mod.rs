//! Active queue management, and everything else that a port does to packets other than ordering them: it admits, marks
//! or drops them as they arrive or leave, and writes into their headers.
//!
//! A *header stage* ([`HeaderStage`]) is called as a packet arrives, before it joins the queue, and as it leaves, after
//! it has left the queue and before its first bit is on the wire. Both times it sees the port ([`View`]). It declares
//! which further callbacks and fields it uses ([`Needs`]), so that a port does not pay for what no stage reads. Several
//! stages form a [`Row`].
//!
//! The buffer's limit is not a stage: it belongs to the queue.

mod block_acks;
mod carried;
mod declare;
mod edge;
mod explicit;
mod row;
mod shortest;
mod sliding;
mod spec;

// One file each of what packets carry.
mod deadline;
mod slack;
mod timetable;

// One file each of the list of stages.
pub mod abc;
pub mod codel;
pub mod int;
pub mod pi;
pub mod pie;
pub mod policer;
pub mod random_ecn;
pub mod rcp;
pub mod red;
pub mod red_ecn;
pub mod step_ecn;
pub mod tail_drop;
pub mod vcp;
pub mod xcp;

pub(crate) use sliding::Sliding;

pub use abc::Abc;
pub use block_acks::{Batch, BlockAcks};
pub use carried::Carry;
pub use codel::{Codel, CodelStage, Departure};
pub use declare::{Acts, Around, MarkAt, Parameters};
pub use edge::{EdgeCodel, EdgeSpec, Refreshes, edge_ecn};
pub use int::Int;
pub use pi::Pi;
pub use pie::Pie;
pub use policer::Policer;
pub use rcp::Rcp;
pub use red::Red;
pub use red_ecn::RedEcn;
pub use row::{Left, Row};
pub use step_ecn::StepEcn;
pub use tail_drop::TailDrop;
pub use vcp::Vcp;
pub use xcp::Xcp;

use crate::kinds::kinds;
use crate::link::TransmitterSpec;
use crate::problems::{Invalid, Problems};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};
use thalweg_wire::{Ecn, Handle, Packet, Side};

// The one list. Each stage has a file of its own, which declares its `Params` ([`Parameters`]). The large
// ones are boxed.
kinds! {
    /// Active queue management.
    #[derive(Copy)]
    pub enum StageSpec;
    /// Any stage, statically dispatched. The large and rare ones are boxed.
    pub enum StageMachine {
        tail_drop: TailDrop(tail_drop::TailDrop), "none";
        step_ecn: StepEcn(step_ecn::StepEcn), "step";
        red: Red(Box<red::Red>), "red";
        red_ecn: RedEcn(Box<red_ecn::RedEcn>), "red-ecn";
        codel: Codel(Box<codel::CodelStage>), "codel";
        int: Int(int::Int), "int";
        pie: Pie(Box<pie::Pie>), "pie";
        abc: Abc(Box<abc::Abc>), "abc";
        xcp: Xcp(Box<xcp::Xcp>), "xcp";
        rcp: Rcp(Box<rcp::Rcp>), "rcp";
        vcp: Vcp(Box<vcp::Vcp>), "vcp";
        pi: Pi(Box<pi::Pi>), "pi";
        policer: Policer(policer::Policer), "policer";
        random_ecn: RandomEcn(random_ecn::RandomEcn), "random-ecn";
    }

    impl StageSpec {
        /// See [`Parameters::acts`].
        pub fn acts(&self) -> Acts;
        /// See [`Parameters::resolve`].
        pub fn resolve(&mut self, ecn_capable: bool);
        fn check(&self, at: &Around, problems: &mut Problems);
        fn unchecked as make(&self, stream: Stream, rate: Rate) -> Result<StageMachine, Invalid>;
    }

    impl HeaderStage for StageMachine {
        #[inline]
        fn needs(&self) -> Needs;
        fn stands_before(&mut self, link: &TransmitterSpec);
        #[inline]
        fn on_arrival(&mut self, now: Time, view: &View, packet: &Packet) -> Arrival;
        #[inline]
        fn on_departure(&mut self, now: Time, view: &View, packet: Leaving) -> Leave;
        fn write(&mut self, now: Time, view: &View, packet: &mut Packet, side: &mut Side);
        #[inline]
        fn on_unused(&mut self, now: Time);
        fn on_opportunity(&mut self, at: Time, bytes: u32);
        fn on_batch(&mut self, batch: &Batch);
        fn estimate(&self) -> Option<Rate>;
        fn wake(&self) -> Option<Time>;
        fn tick(&mut self, now: Time, view: &View);
        fn quiet_below(&self) -> u32;
        fn bypass_limit(&self) -> u64;
    }
}

// The one list of what packets carry. Each has a file of its own: two stages around the queues of switches ([`Carry`]).
carried::carried! {
    /// The remaining slack in ps: every hop subtracts the time that the packet has waited.
    slack: Slack;
    /// The deadline o(p) at the exit, ps.
    deadline: Deadline;
    /// A priority for every hop, fixed when the packet enters the network.
    timetable: Timetable;
}

/// A port as its stages see it when a packet arrives or leaves. The queue is without that packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Packets waiting, without this packet and the one being transmitted.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes on the wire of the packet itself.
    pub wire: u32,
    /// The link's present rate.
    pub rate: Rate,
    /// Bytes that the port has begun to send so far, without this packet.
    pub sent: u64,
    /// How long the port has been idle: zero while it transmits or anything waits. Only for [`Needs::idle_time`].
    pub idle_for: Span,
    /// How long the packet that leaves has waited; zero at arrival. Only for [`Needs::wait`].
    pub waited: Span,
}

impl View {
    /// Bytes waiting with the packet.
    #[inline]
    pub fn bytes_with(&self) -> u64 {
        self.bytes + u64::from(self.wire)
    }
}

/// What to do with an arriving packet, regardless of the buffer's limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// Take it.
    Admit,
    /// Take it and set CE (only ever returned for ECN-capable packets).
    Mark,
    /// Refuse it.
    Drop,
}

/// What to do with a packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// Send it.
    Pass,
    /// Send it and set CE (only ever returned for ECN-capable packets).
    Mark,
    /// Send it and turn accelerate into brake (only ever returned for ECT(1); ABC).
    Brake,
    /// Discard it; the stage is called for the next one at the same instant.
    Drop,
}

/// What a stage sees of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Its ECN bits.
    pub ecn: Ecn,
}

impl Leaving {
    /// It may be marked.
    #[inline]
    pub fn ecn_capable(self) -> bool {
        self.ecn != Ecn::NotEct
    }
}

impl From<&Packet> for Leaving {
    #[inline]
    fn from(packet: &Packet) -> Self {
        Self { ecn: packet.ecn }
    }
}

/// Callbacks and [`View`] fields that a stage uses; a driver may omit the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// [`HeaderStage::on_departure`] and [`HeaderStage::on_unused`].
    pub departures: bool,
    /// [`View::idle_for`].
    pub idle_time: bool,
    /// [`View::waited`].
    pub wait: bool,
    /// [`HeaderStage::write`].
    pub headers: bool,
    /// [`HeaderStage::on_batch`].
    pub batches: bool,
}

/// A stage that packets of a port pass.
///
/// ```
/// use thalweg_machines::stage::{Arrival, HeaderStage, View};
/// use thalweg_units::{Rate, Span, Time};
/// use thalweg_wire::{Ecn, Packet};
///
/// /// Marks what finds at least so many packets waiting.
/// struct Step(u32);
///
/// impl HeaderStage for Step {
///     fn on_arrival(&mut self, _: Time, view: &View, packet: &Packet) -> Arrival {
///         if view.packets >= self.0 && packet.ecn != Ecn::NotEct { Arrival::Mark } else { Arrival::Admit }
///     }
/// }
///
/// let (rate, idle_for, waited) = (Rate::from_gbps(10), Span::ZERO, Span::ZERO);
/// let queue = |packets| View { packets, bytes: 1500, wire: 1500, rate, sent: 0, idle_for, waited };
/// let packet = Packet { ecn: Ecn::Ect0, ..Packet::default() };
/// assert_eq!(Step(20).on_arrival(Time::ZERO, &queue(19), &packet), Arrival::Admit);
/// assert_eq!(Step(20).on_arrival(Time::ZERO, &queue(20), &packet), Arrival::Mark);
/// ```
pub trait HeaderStage {
    /// What it uses.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Passes the link behind the stage if that is more than a fixed rate ([`View::rate`]). Called before all other
    /// methods.
    fn stands_before(&mut self, _link: &TransmitterSpec) {}
    /// A packet arrives; `view` is the queue before it joins.
    #[inline]
    fn on_arrival(&mut self, _now: Time, _view: &View, _packet: &Packet) -> Arrival {
        Arrival::Admit
    }
    /// A packet leaves; `view` is what it leaves behind.
    #[inline]
    fn on_departure(&mut self, _now: Time, _view: &View, _packet: Leaving) -> Leave {
        Leave::Pass
    }
    /// The transmission of a packet that all stages have let pass begins: the stage may write into its headers.
    fn write(&mut self, _now: Time, _view: &View, _packet: &mut Packet, _side: &mut Side) {}
    /// The port could have sent at `now`, and nothing waited.
    #[inline]
    fn on_unused(&mut self, _now: Time) {}
    /// For links with delivery opportunities: one has passed unused or partly unused; this many more bytes could have
    /// left.
    #[inline]
    fn on_opportunity(&mut self, _at: Time, _bytes: u32) {}
    /// For links that send batches: a batch begins, and `batch` describes its block ACK. Nothing else leaves before
    /// that.
    fn on_batch(&mut self, _batch: &Batch) {}
    /// Its estimate of the link's rate, if it has to estimate it; zero before it can.
    fn estimate(&self) -> Option<Rate> {
        None
    }
    /// When [`HeaderStage::tick`] is to be called.
    fn wake(&self) -> Option<Time> {
        None
    }
    /// The instant named by [`HeaderStage::wake`] has come.
    fn tick(&mut self, _now: Time, _view: &View) {}
    /// While fewer packets than this wait, arrivals are admitted unmarked and do not change the stage's state, so that
    /// it need not be called.
    fn quiet_below(&self) -> u32 {
        0
    }
    /// A packet of at most this many bytes that finds nothing waiting and leaves nothing behind is admitted unmarked
    /// and does not change the stage's state, so that it may bypass the stage. 0: the stage must see all packets.
    fn bypass_limit(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests;
