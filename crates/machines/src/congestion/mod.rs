//! Congestion control: how much one flow may have in flight, and how fast it may send.
//!
//! Window-based, rate-based and explicit schemes are all [`CongestionControl`]. A controller is notified of what the
//! transport observed (ACKs, losses, timeouts) and answers with a [`Permit`]: a window, and a pace if it has one. It
//! never sees packets, decides nothing about retransmissions, and does not know the transport's timers. Loss detection
//! and repair are in [`crate::transport`].
//!
//! Every other file, with its folder if it has one, is one controller: `contract` has what a controller declares, what
//! it is given and how it is recorded, `parts` what several controllers are built from.

mod contract;
mod parts;

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
pub use contract::decisions;
pub use contract::declare::{
    Calls, FeedbackKind, Gives, Marks, Messages, Needs, Parameters, Paths, Rule, Rules,
};
pub use contract::interval::Interval;
pub use contract::observation::{Observation, Written};
pub use contract::recorder::Recorder;
pub use contract::report::{Quantity, Report};
pub use contract::start::{Restart, Start};
pub use parts::{pace, sampler};
use thalweg_wire::{Explicit, ExplicitKind, IntStack, Notice};

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

// The one list. Each controller has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// Which controller a flow runs, with its parameters. In text formats it is a table with a `kind`, in binary ones
    /// it is numbered.
    #[allow(clippy::large_enum_variant, reason = "one per kind of transport")]
    pub enum ControllerSpec;
    /// The controller of one flow, statically dispatched.
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
        /// Another controller whose decisions are recorded.
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

/// What one ACK reports.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct AckSample<'a> {
    /// The instant at which the ACK arrived.
    pub now: Time,
    /// The round-trip time that this ACK measures; `None` for retransmitted data (Karn's algorithm).
    pub rtt: Option<Span>,
    /// Payload bytes that the cumulative acknowledgement covers for the first time. Bytes that were SACKed before do
    /// not count again, so that the sum of `acked + sacked` over all ACKs is what was delivered.
    pub acked: Bytes,
    /// Payload bytes acknowledged for the first time selectively.
    pub sacked: Bytes,
    /// Payload bytes believed to be in the network after this ACK (RFC 6675 "pipe").
    pub in_flight: Bytes,
    /// SND.UNA after this ACK, in bytes from the start of the flow: all below is acknowledged. With `sent_to` it
    /// delimits round trips.
    pub acked_to: u64,
    /// SND.NXT: the first byte that was never sent.
    pub sent_to: u64,
    /// Of `acked + sacked`: payload bytes that the receiver reports as marked with CE.
    pub marked: Bytes,
    /// Of `acked + sacked`: payload bytes with a brake signal that is not a mark (ABC in both codepoints).
    pub braked: Bytes,
    /// The transport was already repairing a loss when this ACK arrived. TCP's windows do not grow then.
    pub in_recovery: bool,
    /// Everything that the application has written has been sent: it, not the window, limits the flow.
    pub app_limited: bool,
    /// The window was used up while the data acknowledged here was in flight: it had no room for another segment. A
    /// window that was not used up has not been tested against the path and should not grow (RFC 9438 §5.8, RFC 9002
    /// §7.8; Linux, tcp_is_cwnd_limited). With the transport's `growth = "always"` this is always true.
    pub cwnd_limited: bool,
    /// A delivery rate sample, if this ACK is of a segment newer than those acknowledged before or fills a gap. Only
    /// for controllers that declare [`Needs::delivery`]; `None` for all others.
    pub delivery: Option<Delivery>,
    /// What switches or the receiver wrote into the packet's header. It is borrowed from the packet and therefore not
    /// part of a saved sample; [`Observation`] keeps a copy.
    #[serde(skip)]
    pub feedback: Feedback<'a>,
}

impl AckSample<'_> {
    /// Payload bytes in flight just before this ACK: the FlightSize to which an ECN echo that it carries refers (RFC
    /// 9438 §4.6).
    #[inline]
    pub fn flight_before(&self) -> Bytes {
        self.in_flight + self.acked + self.sacked
    }
}

/// A delivery rate sample: draft-ietf-ccwg-bbr, §4.1. It covers what was delivered between the transmission of the
/// newest segment acknowledged here and its ACK: about the flight of one round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Delivery {
    /// Payload bytes that arrived since the newest segment acknowledged here was sent, those of this ACK included.
    pub delivered: Bytes,
    /// RS.send_elapsed: the time in which the data of this sample was sent.
    pub departures: Span,
    /// RS.ack_elapsed: the time in which the data of this sample was acknowledged.
    pub arrivals: Span,
    /// P.send_time: when the newest segment was sent.
    pub sent: Time,
    /// C.delivered: payload bytes that have arrived since the flow began.
    pub total: Bytes,
    /// The newest segment was sent more than once, so it is not known which copy arrived (Karn).
    pub resent: bool,
    /// Payload bytes that were sent again, because they were lost, in the time that the sample covers.
    pub lost: Bytes,
    /// The segment was sent while the application, not the controller, limited the flow, so the path may be faster than
    /// this sample.
    pub app_limited: bool,
}

impl Delivery {
    /// RS.interval: the longer of [`arrivals`](Self::arrivals) and [`departures`](Self::departures). A sample whose
    /// interval is shorter than the least round trip is not to be trusted: its ACKs may have come compressed.
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
    /// A congestion mark (CE); [`AckSample::marked`] counts the bytes.
    Mark,
    /// In-band telemetry of every hop in path order (HPCC), and an identifier of the path: after a change of path the
    /// hops are other ports.
    Int(&'a IntStack),
    /// An explicit header, written by routers (XCP, RCP, VCP) or by the receiver (Sprout).
    Explicit(Explicit),
}

/// The state of the flow when the transport finds packets lost, or when its retransmission timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Loss {
    /// The instant at which the loss is found.
    pub now: Time,
    /// Payload bytes sent and not cumulatively acknowledged at this instant: RFC 5681's FlightSize, including what
    /// limited transmit has sent.
    pub in_flight: Bytes,
    /// SND.UNA, in bytes from the start of the flow.
    pub acked_to: u64,
    /// SND.NXT: the first byte that was never sent.
    pub sent_to: u64,
}

/// What a controller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Permit {
    /// Payload bytes that may be in the network.
    pub window: Bytes,
    /// The rate of transmission in bits per second on the wire, headers included; `None` if the window alone limits the
    /// flow.
    pub pace: Option<Rate>,
    /// When [`CongestionControl::on_tick`] is to be called: now or later, and after a tick, later than that tick.
    /// `None`: the controller has no timer.
    pub wake: Option<Time>,
}

impl Permit {
    /// A window and nothing else.
    #[inline]
    pub const fn window(window: Bytes) -> Self {
        Self { window, pace: None, wake: None }
    }
}

/// A congestion controller of one flow. It owns no clock, no global generator and no log.
///
/// The order of calls, the same over every transport (`transport/tests/calls.rs` drives them all):
/// 1. `on_open` once, where connections are set up, before any data leaves;
/// 2. `on_sent` after each transmission, retransmissions included;
/// 3. `on_ack` for every ACK that reports new data, `on_feedback` for one that reports none but carries feedback that
///    the receiver sends on its own. Where the ACK also reveals a loss, `on_ack` comes first and `on_loss` after it,
///    before any retransmission, once per episode (IRN: when the retransmission leaves);
/// 4. `on_timeout` at each expiry of the retransmission timer, before the retransmission. Not for a SYN, nor
///    for a probe that is repeated, nor when the timer releases a sender whose window of one segment was
///    marked (RFC 3168 §6.1.2);
/// 5. `on_restart` when the application writes data after an idle period (nothing to send and nothing in flight),
///    before any of that data leaves. `restart_from` follows at once if the idle period was longer than the
///    retransmission timeout and the transport reduces the window. Ticks that fell due during the idle period come
///    before it;
/// 6. `on_tick` at the instant last named in [`Permit::wake`], in idle periods too;
/// 7. `permit` before every transmission.
///
/// `on_decision` comes from outside, between two of these calls.
///
/// After the last byte is acknowledged no call follows, with one exception: over RDMA notifications and notices may
/// come late, because the controller is handed over to the next flow of the connection.
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
    /// The SYN-ACK has arrived and no data has left yet. `rtt` is the handshake's round trip (`None` if the SYN was
    /// sent twice, Karn), `feedback` what the network wrote into the SYN. Not called without a handshake. If the SYN or
    /// its answer was lost, the controller has been made anew from the same [`Start`] with an initial window of one
    /// segment (RFC 5681 §3.1).
    fn on_open(&mut self, _now: Time, _rtt: Option<Span>, _feedback: Feedback<'_>) {}
    /// Data was acknowledged for the first time.
    fn on_ack(&mut self, ack: &AckSample<'_>);
    /// The receiver has sent feedback in an ACK that acknowledges nothing new; `in_flight` payload bytes are in flight.
    /// Called only for controllers whose receivers send such ACKs on their own (Sprout's forecasts).
    fn on_feedback(&mut self, _now: Time, _feedback: Feedback<'_>, _in_flight: Bytes) {}
    /// A loss was inferred from ACKs. Called once per recovery episode.
    fn on_loss(&mut self, loss: &Loss);
    /// The retransmission timer expired.
    fn on_timeout(&mut self, loss: &Loss);
    /// A congestion notification packet (CNP) has arrived (DCQCN), or an ECN echo where the transport passes echoes on
    /// as notifications.
    fn on_notification(&mut self, _now: Time) {}
    /// A message of a congestion point has arrived ([`crate::point`]).
    fn on_notice(&mut self, _now: Time, _notice: &Notice) {}
    /// The application has written data after the flow was idle for `idle`: nothing to send and nothing in flight.
    fn on_restart(&mut self, _now: Time, _idle: Span) {}
    /// Nothing was sent for longer than the retransmission timeout: the window must not exceed the restart window (RFC
    /// 5681 §4.1). Called over TCP only, if its key `restart` asks for it. Controllers with a model of the path ignore
    /// it, as those of Linux with `cong_control` do.
    fn restart_from(&mut self, _now: Time, _window: Restart) {}
    /// The instant named in [`Permit::wake`] has come.
    fn on_tick(&mut self, _now: Time) {}
    /// The permit now. It is called before every transmission, so it must be cheap.
    fn permit(&self) -> Permit;
    /// Slow-start threshold, for traces; [`Bytes::MAX`] where there is none.
    fn threshold(&self) -> Bytes {
        Bytes::MAX
    }
    /// Further quantities for time series, in columns of its own. Called only when the flow is sampled.
    fn report(&self, _report: &mut Report) {}
    /// The decisions recorded since the last call, if it is recorded ([`Recorder`]).
    fn take_log(&mut self) -> Option<decisions::Log> {
        None
    }
    /// For a controller whose decisions come from outside ([`external`]): what it has observed since the last decision.
    /// The next one is wanted when it is [`Interval::due`]. `None`: the controller decides by itself, or has observed
    /// nothing yet.
    fn interval(&self) -> Option<&Interval> {
        None
    }
    /// A decision from outside. It takes effect at the next tick, which is due at once; its [`Permit::wake`] is when
    /// the next decision is wanted. Controllers that decide by themselves ignore it.
    fn on_decision(&mut self, _now: Time, _decided: Permit) {}
}
