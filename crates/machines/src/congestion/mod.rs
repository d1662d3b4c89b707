//! How much one flow may have in the network, and how fast.
//!
//! Window-based, rate-based and explicit schemes are all [`CongestionControl`]. A controller receives
//! what the transport observed and answers with a [`Permit`]; it never sees packets, sequence
//! numbers to retransmit, or timers of the transport.

mod back_off;
#[cfg(test)]
mod conformance;
pub mod decisions;
mod declare;
mod interval;
mod observation;
pub mod pace;
mod recorder;
mod report;
mod spec;
mod start;
mod windowed;

// One file each of the list below.
pub mod abc;
pub mod aimd;
pub mod bbr;
pub mod bbr3;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod custom;
pub mod dcqcn;
pub mod dctcp;
pub mod dctcp_rate;
pub mod external;
pub mod fixed;
pub mod hpcc;
pub mod mintcp;
pub mod newreno;
pub mod nimbus;
pub mod prague;
pub mod qcn;
pub mod rcp;
pub mod rocc;
pub mod rtt_target;
pub mod sampler;
pub mod sprout;
pub mod swift;
pub mod timely;
pub mod vcp;
pub mod vegas;
pub mod verus;
pub mod vivace;
pub mod xcp;

use crate::kinds::kinds;
pub use crate::problems::{Invalid, Problem, Problems};
pub use declare::{Calls, FeedbackKind, Gives, Marks, Messages, Needs, Parameters, Paths, Rule, Rules};
pub use interval::Interval;
pub use observation::{Observation, Written};
pub use recorder::Recorder;
pub use report::{Quantity, Report};
pub use start::{Restart, Start};
use thalweg_wire::{Explicit, ExplicitKind, IntStack, Notice};

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

// The one list. Each controller has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// Which controller a flow runs, with its parameters. In text formats a table with a `kind`, in
    /// binary ones by number.
    #[allow(clippy::large_enum_variant, reason = "one per kind of transport")]
    pub enum ControllerSpec;
    /// A flow's controller: static dispatch on the packet path.
    pub enum Controller {
        newreno: NewReno(newreno::NewReno), "newreno";
        cubic: Cubic(Box<cubic::Cubic>), "cubic";
        dctcp: Dctcp(dctcp::Dctcp), "dctcp";
        dctcp_rate: DctcpRate(dctcp_rate::DctcpRate), "dctcp-rate";
        mintcp: MinTcp(mintcp::MinTcp), "mintcp";
        fixed: Fixed(fixed::FixedWindow), "fixed";
        aimd: Aimd(aimd::Aimd), "aimd";
        dcqcn: Dcqcn(Box<dcqcn::Dcqcn>), "dcqcn";
        timely: Timely(Box<timely::Timely>), "timely";
        hpcc: Hpcc(Box<hpcc::Machine>), "hpcc";
        rtt_target: RttTarget(rtt_target::RttTarget), "rtt-target";
        rocc: Rocc(Box<rocc::Rocc>), "rocc";
        qcn: Qcn(Box<qcn::Qcn>), "qcn";
        vegas: Vegas(Box<vegas::Vegas>), "vegas";
        bbr: Bbr(Box<bbr::Bbr>), "bbr";
        bbr3: Bbr3(Box<bbr3::Bbr3>), "bbr3";
        copa: Copa(Box<copa::Copa>), "copa";
        vivace: Vivace(Box<vivace::Vivace>), "vivace";
        verus: Verus(Box<verus::Verus>), "verus";
        sprout: Sprout(Box<sprout::Sprout>), "sprout";
        abc: Abc(Box<abc::Abc>), "abc";
        xcp: Xcp(xcp::Xcp), "xcp";
        rcp: Rcp(Box<rcp::Rcp>), "rcp";
        vcp: Vcp(vcp::Vcp), "vcp";
        swift: Swift(Box<swift::Swift>), "swift";
        nimbus: Nimbus(Box<nimbus::Nimbus>), "nimbus";
        compound: Compound(Box<compound::Compound>), "compound";
        prague: Prague(Box<prague::Prague>), "prague";
        external: External(Box<external::External>), "external";
        custom: Custom(custom::CustomController), "custom";
        /// One of the others, recorded.
        around Recorded(Box<Recorder<Controller>>);
    }

    impl ControllerSpec {
        /// See [`Parameters::needs`].
        pub fn needs(&self) -> Needs;
        /// See [`Parameters::rules`].
        pub fn rules(&self) -> Rules;
        /// See [`Parameters::resolve`].
        pub fn resolve(&mut self, paths: &mut dyn Paths);
        fn check(&self, line: Rate, problems: &mut Problems);
        fn unchecked as make(&self, start: &Start) -> Result<Controller, Invalid>;
    }

    impl CongestionControl for Controller {
        #[inline]
        fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes);
        fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>);
        #[inline]
        fn on_ack(&mut self, ack: &AckSample<'_>);
        fn on_loss(&mut self, loss: &Loss);
        fn on_timeout(&mut self, loss: &Loss);
        fn on_notification(&mut self, now: Time);
        fn on_notice(&mut self, now: Time, notice: &Notice);
        fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>, in_flight: Bytes);
        fn on_tick(&mut self, now: Time);
        fn on_restart(&mut self, now: Time, idle: Span);
        fn restart_from(&mut self, now: Time, window: Restart);
        #[inline(always)]
        fn permit(&self) -> Permit;
        fn threshold(&self) -> Bytes;
        fn report(&self, report: &mut Report);
        fn take_log(&mut self) -> Option<decisions::Log>;
        fn interval(&self) -> Option<&Interval>;
        fn on_decision(&mut self, now: Time, decided: Permit);
    }
}

/// Data was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct AckSample<'a> {
    /// The instant at which the ACK arrived.
    pub now: Time,
    /// A fresh round-trip time, absent for retransmitted data (Karn).
    pub rtt: Option<Span>,
    /// Payload bytes acknowledged for the first time by the cumulative field; what was SACKed before does
    /// not count again, so `acked + sacked` sums to what was delivered.
    pub acked: Bytes,
    /// Payload bytes acknowledged for the first time selectively.
    pub sacked: Bytes,
    /// Payload bytes believed to be in the network after this ACK (RFC 6675 "pipe").
    pub in_flight: Bytes,
    /// Cumulatively acknowledged so far: with `sent_to` this delimits rounds.
    pub acked_to: u64,
    /// First byte never sent so far.
    pub sent_to: u64,
    /// Of `acked + sacked`: payload bytes reported as having met congestion (CE).
    pub marked: Bytes,
    /// Of `acked + sacked`: payload bytes with a brake signal that is not a mark (ABC in both codepoints).
    pub braked: Bytes,
    /// The transport is repairing a loss: windows do not grow.
    pub in_recovery: bool,
    /// All that the application has written was sent before this ACK came.
    pub app_limited: bool,
    /// The permit was used up while what is acknowledged here was in flight: the window had no room for
    /// another segment. Otherwise the window says nothing of the path, and does
    /// not grow (RFC 9438 §5.8, RFC 9002 §7.8; Linux, tcp_is_cwnd_limited). With `growth = "always"` it is
    /// always true.
    pub cwnd_limited: bool,
    /// How fast data is delivered, when this ACK is of a segment newer than those acknowledged before or
    /// fills a gap. Only for controllers that need it ([`Needs::delivery`]); for all others `None`.
    pub delivery: Option<Delivery>,
    /// What the network wrote on the way. Lent by a packet, so that saved samples are without: [`Observation`] has it.
    #[serde(skip)]
    pub feedback: Feedback<'a>,
}

impl AckSample<'_> {
    /// Payload bytes in the network before this ACK: FlightSize of the echo that it carries (RFC 9438 §4.6).
    #[inline]
    pub fn flight_before(&self) -> Bytes {
        self.in_flight + self.acked + self.sacked
    }
}

/// A delivery rate sample: draft-ietf-ccwg-bbr, §4.1. It is of the newest segment acknowledged, and of what
/// arrived since that one was sent: the flight of one round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Delivery {
    /// Payload bytes that arrived since the newest segment acknowledged here was sent, those of this ACK included.
    pub delivered: Bytes,
    /// RS.send_elapsed: between the departures of the same segments.
    pub departures: Span,
    /// RS.ack_elapsed: between the ACKs of the same segments.
    pub arrivals: Span,
    /// P.send_time: when the newest segment was sent.
    pub sent: Time,
    /// C.delivered: payload bytes that have arrived since the flow began.
    pub total: Bytes,
    /// That segment was sent more than once: it is not known which copy arrived (Karn).
    pub resent: bool,
    /// Payload bytes found lost and sent again meanwhile.
    pub lost: Bytes,
    /// The segment was sent when the application, not the controller, held the flow back: the path may be faster.
    pub app_limited: bool,
}

impl Delivery {
    /// RS.interval: in so much time; that between the ACKs, or between the departures if that is longer. May be
    /// shorter than a round trip, which is not to be trusted.
    #[inline]
    pub fn interval(&self) -> Span {
        self.departures.max(self.arrivals)
    }
}

/// What the network wrote into the packet that an ACK answers. More kinds will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Feedback<'a> {
    /// Nothing.
    #[default]
    None,
    /// It met congestion (CE): [`AckSample::marked`] counts the bytes.
    Mark,
    /// Telemetry of every hop, in their order, and which path it was: hops of another path are other ports (HPCC).
    Int(&'a IntStack),
    /// What routers wrote (XCP, RCP, VCP), or the receiver (Sprout).
    Explicit(Explicit),
}

/// The transport declared packets lost.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Loss {
    /// When.
    pub now: Time,
    /// Payload bytes sent and not cumulatively acknowledged when the loss was declared: RFC 5681's
    /// FlightSize, what limited transmit sent included.
    pub in_flight: Bytes,
    /// Cumulatively acknowledged so far.
    pub acked_to: u64,
    /// First byte never sent so far.
    pub sent_to: u64,
}

/// What a controller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Permit {
    /// Payload bytes that may be in the network.
    pub window: Bytes,
    /// The pace of transmissions, if the scheme is rate-based: bits per second on the wire.
    pub pace: Option<Rate>,
    /// When [`CongestionControl::on_tick`] wants to be called: not before the present instant, and once it has been
    /// called, later than that.
    pub wake: Option<Time>,
}

impl Permit {
    /// A window and nothing else.
    #[inline]
    pub const fn window(window: Bytes) -> Self {
        Self { window, pace: None, wake: None }
    }
}

/// How much one flow may have in the network, and how fast. Owns no clock, no global generator, no log.
///
/// The order of calls, the same over every transport (`transport/tests/calls.rs` drives them all):
/// 1. `on_open` once, where connections are set up, before any data leaves;
/// 2. `on_sent` after each transmission, retransmissions included;
/// 3. `on_ack` for every ACK that reports new data, `on_feedback` for one that reports none and carries the
///    receiver's own word. Where the ACK also reveals a loss, `on_ack` comes first and `on_loss` after it,
///    before any retransmission, once per episode (IRN: when the retransmission leaves);
/// 4. `on_timeout` at each expiry of the retransmission timer, before the retransmission. Not for a SYN, nor
///    for a probe that is repeated, nor when the timer releases a sender whose window of one segment was
///    marked (RFC 3168 §6.1.2);
/// 5. `on_restart` when data comes after silence: nothing to send, and nothing in the network. Before any of
///    it leaves; at once after it `restart_from`, if the pause was longer than the retransmission timeout and
///    the transport reduces the window. Ticks that fell due in the silence come before it;
/// 6. `on_tick` at the instant last named in [`Permit::wake`], during silence too;
/// 7. `permit` before every transmission.
///
/// `on_decision` comes from outside, between two of these calls.
///
/// After the last byte is acknowledged, no call follows, but for notifications and notices that come late over RDMA:
/// there the controller is handed over to the next flow of the connection.
///
/// ```
/// use thalweg_machines::congestion::{AckSample, CongestionControl, Loss, Permit};
/// use thalweg_units::Bytes;
///
/// /// Grows by what is acknowledged, and halves at a loss.
/// struct Window(u64);
///
/// impl CongestionControl for Window {
///     fn on_ack(&mut self, ack: &AckSample<'_>) {
///         self.0 += ack.acked.get();
///     }
///     fn on_loss(&mut self, _: &Loss) {
///         self.0 /= 2;
///     }
///     fn on_timeout(&mut self, _: &Loss) {
///         self.0 = 1460;
///     }
///     fn permit(&self) -> Permit {
///         Permit::window(Bytes::new(self.0))
///     }
/// }
///
/// let mut flow = Window(14_600);
/// flow.on_ack(&AckSample { acked: Bytes::new(2920), ..AckSample::default() });
/// assert_eq!(flow.permit().window, Bytes::new(17_520));
/// flow.on_loss(&Loss::default());
/// assert_eq!(flow.permit().window, Bytes::new(8760));
/// ```
pub trait CongestionControl {
    /// `bytes` of payload were handed to the network; `in_flight` includes them. Called only for controllers
    /// that declare it ([`Calls::Sent`]).
    fn on_sent(&mut self, _now: Time, _bytes: Bytes, _in_flight: Bytes) {}
    /// The answer to the SYN has come, before any data leaves: its round trip (absent if the SYN was sent
    /// twice, Karn) and what the network wrote into the SYN. Never without a handshake. If the SYN or its
    /// answer was lost this is another machine, made from the same [`Start`] but for an initial window of one
    /// segment (RFC 5681 §3.1).
    fn on_open(&mut self, _now: Time, _rtt: Option<Span>, _feedback: Feedback<'_>) {}
    /// Data was acknowledged for the first time: the only moment a window may grow.
    fn on_ack(&mut self, ack: &AckSample<'_>);
    /// The receiver has sent feedback in an ACK that acknowledges nothing new; so much is in flight. Called
    /// only for controllers whose receivers send such ACKs on their own (forecasts).
    fn on_feedback(&mut self, _now: Time, _feedback: Feedback<'_>, _in_flight: Bytes) {}
    /// A loss was inferred from ACKs: once per episode.
    fn on_loss(&mut self, loss: &Loss);
    /// The retransmission timer expired.
    fn on_timeout(&mut self, loss: &Loss);
    /// The network requests a lower rate: a congestion notification packet has arrived (DCQCN), or an echo
    /// where the transport passes echoes on as notifications.
    fn on_notification(&mut self, _now: Time) {}
    /// A congestion point has written to the flow's source ([`crate::point`]).
    fn on_notice(&mut self, _now: Time, _notice: &Notice) {}
    /// The connection sends again after it had nothing to send and nothing in the network for so long.
    fn on_restart(&mut self, _now: Time, _idle: Span) {}
    /// Nothing was sent for longer than the retransmission timeout: the window is at most `window` from now
    /// on (RFC 5681 §4.1). Over TCP only, as its key `restart` says. Controllers with a model of the path
    /// ignore it, as Linux' with `cong_control` do.
    fn restart_from(&mut self, _now: Time, _window: Restart) {}
    /// The instant named in [`Permit::wake`] has come.
    fn on_tick(&mut self, _now: Time) {}
    /// What is allowed now. Must be cheap: called before every transmission.
    fn permit(&self) -> Permit;
    /// Slow-start threshold, for traces; [`Bytes::MAX`] where there is none.
    fn threshold(&self) -> Bytes {
        Bytes::MAX
    }
    /// What else it knows, for time series: columns of its own. Called only when it is sampled.
    fn report(&self, _report: &mut Report) {}
    /// What it has recorded of its decisions since the last time, if it does ([`Recorder`]).
    fn take_log(&mut self) -> Option<decisions::Log> {
        None
    }
    /// What it has observed since its last decision, if these come from outside ([`external`]): one is wanted when
    /// it is [`Interval::due`]. `None`: it decides by itself, or nothing was observed yet.
    fn interval(&self) -> Option<&Interval> {
        None
    }
    /// A decision from outside: in force from its next tick, which it wants at once. [`Permit::wake`] says when the
    /// next decision is wanted. Controllers that decide by themselves ignore it.
    fn on_decision(&mut self, _now: Time, _decided: Permit) {}
}
