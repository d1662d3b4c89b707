//! `[transport]` of kind `rdma`: queue pairs of RoCE, IRN and what lies between.

use super::{Rank, congestion, defaults};
use crate::quantity::{Cap, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::{ControllerSpec, fixed};
pub use thalweg_machines::transport::{CnpRule, PathValues, RdmaAcks, RdmaTimer, Recovery, TimerRestart};
use thalweg_units::{Bytes, Rate, Span};

/// A queue pair per flow: RoCE's go-back-N, IRN's selective retransmission, TIMELY's segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rdma {
    /// Rate or window control. Every flow starts at line rate, with a window as large as its cap.
    #[schemars(schema_with = "congestion::over_rdma")]
    pub congestion: ControllerSpec,
    /// Payload of a full packet.
    pub mtu: Q<Bytes>,
    /// Headers of every data packet on the wire.
    pub header: Q<Bytes>,
    /// More headers on every data packet, not part of its ideal completion time (IRN §4.5.3: 16 B at worst).
    pub extra_header: Q<Bytes>,
    /// An ACK on the wire.
    pub ack_size: Q<Bytes>,
    /// A NACK on the wire. Without the key, as `ack_size`, and 4 B more with the recoveries `irn` and `drop-notified`,
    /// for the PSN that triggered it.
    pub nack_size: Option<Q<Bytes>>,
    /// In-band telemetry on the wire, in every data packet from its source on and in every ACK and NACK,
    /// besides their headers. Without the key `42B` where the controller reads it (HPCC, SIGCOMM 2019, §4.1:
    /// five hops of 8 B, and 2 B).
    pub telemetry: Option<Q<Bytes>>,
    /// How losses are repaired.
    #[schemars(extend("x-renamed-kinds" = { "told": "drop-notified" }))]
    pub recovery: Recovery,
    /// BDP-FC: packets that may be sent from the lowest unacknowledged one on. `"auto"`: as many as fill the
    /// longest path at the hosts' rate (propagation only); `"none"`: no cap. Without the key, `auto` with the
    /// recoveries `irn` and `drop-notified`, `none` with `go-back-n`.
    pub cap: Option<Cap>,
    /// What receivers acknowledge, NACKs apart. Without the key, `per-packet`; with the recovery `go-back-n`
    /// under PFC (if no link loses packets or fails, and none overtakes another), or with `segments`, no more than the
    /// controller needs.
    pub acks: Option<RdmaAcks>,
    /// The retransmission timer. Without the key, `off` with PFC (if no link loses packets or fails, and with
    /// `go-back-n` none overtakes another), else `pair` with the recovery `irn` and `fixed` with `go-back-n` and
    /// `drop-notified`; a `low` of the defaults is then at least two base round trips of the longest path, a `high` and
    /// a `value` at least four.
    pub timer: Option<RdmaTimer>,
    /// Which acknowledgements start a running timer again.
    pub timer_restart: TimerRestart,
    /// A packet to be sent again leaves no earlier than this after it was found lost, and nothing new leaves meanwhile
    /// (IRN §4.5.3: 2 us at worst).
    pub fetch_delay: Q<Span>,
    /// What senders write into the rank header; without the key what the schedulers sort by, `from-here`
    /// where that is what remains.
    pub rank: Option<Rank>,
    /// Congestion notifications from receiver to sender; what the controller needs if not given.
    pub notification: Option<Notification>,
    /// Which round trips are reported to the controller.
    pub rtt: RttSamples,
    /// The host posts whole segments and keeps few of them outstanding (TIMELY §3.2); without the key packets
    /// leave one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Segments>,
    /// Values that senders write into every packet for the routing `entropy` to hash; ACKs bring them back. Without the
    /// key all write 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_values: Option<PathValues>,
}

impl Default for Rdma {
    fn default() -> Self {
        Self {
            congestion: ControllerSpec::Fixed(fixed::Params {}),
            mtu: Q::of("1024B"),
            header: Q::of("66B"), // Ethernet 14, 802.1Q 4, FCS 4, IPv4 20, UDP 8, BTH 12, ICRC 4
            extra_header: Q::of("0B"),
            ack_size: Q::of("70B"), // and AETH 4
            nack_size: None,
            telemetry: None,
            recovery: Recovery::default(),
            cap: None,
            acks: None,
            timer: None,
            timer_restart: TimerRestart::default(),
            fetch_delay: Q::of("0s"),
            rank: None,
            notification: None,
            rtt: RttSamples::default(),
            segments: None,
            path_values: None,
        }
    }
}

/// Which round trips are reported to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RttSamples {
    /// Packets per sample: one sample at the ACK of the last of them, and one at the flow's end. (Posted segments give
    /// one each.) Without the key: 16 for TIMELY and wherever ACKs are sent per segment, 1 for other controllers that
    /// use round trips.
    // CHOICE TIMELY §3.5: its segments are 16 KB, here 16 packets. Swift (§3.1), Vegas, Copa and others take a sample
    // from every ACK, and with one of 16 their windows would grow by a sixteenth.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// Subtract the serialisation time of that packet, or of the whole segment where the host posts segments.
    pub less_serialization: bool,
    /// Also from NACKs.
    // CHOICE IRN §4.3.1: with IRN, whose packets out of order are answered by NACKs, the paper does not say.
    pub nacks: bool,
    /// Also from retransmitted packets, as the answer shows which copy it answers. Without the key for those controllers
    /// that get a sample from every ACK.
    // CHOICE IRN §4.3.1: TCP's rule (RFC 6298, §3) for the others. Swift's, Copa's and Verus' packets carry time stamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resent: Option<bool>,
    /// Measurement noise added to every sample, uniform from 0 to this.
    pub noise: Q<Span>,
}

impl Default for RttSamples {
    fn default() -> Self {
        Self { segment: None, less_serialization: true, nacks: false, resent: None, noise: Q(Span::ZERO) }
    }
}

/// Congestion notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Notification {
    /// Congestion notification packets when marked data arrives (DCQCN: Zhu et al., SIGCOMM 2015, §3.1).
    Cnp {
        /// At most one per flow in this time.
        #[serde(default = "default::cnp_interval")]
        interval: Q<Span>,
        /// What becomes of marks that arrive in between.
        #[serde(default)]
        rule: CnpRule,
        /// On the wire.
        #[serde(default = "default::cnp_size")]
        size: Q<Bytes>,
    },
    /// Every ACK indicates whether the packet that triggered it was marked.
    Echo,
    /// Data is not ECN-capable.
    Off,
}

/// The rate engine of a host that posts segments (TIMELY §3.2.3, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Segments {
    /// Payload of a segment.
    pub bytes: Q<Bytes>,
    /// Segments that may be outstanding.
    // CHOICE TIMELY §3.4: "a static worst-case limit" without a value.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: u32,
    /// The NIC spaces the packets of a segment at this rate on the wire, and round trips are net of it; a burst at line
    /// rate if not given.
    pub nic_pace: Option<Q<Rate>>,
}

impl Default for Segments {
    fn default() -> Self {
        Self { bytes: Q::of("16KB"), outstanding: 2, nic_pace: None }
    }
}

impl Notification {
    /// DCQCN's notifications with their defaults.
    pub(crate) fn cnp() -> Self {
        Self::Cnp { interval: default::cnp_interval(), rule: CnpRule::default(), size: default::cnp_size() }
    }
}

defaults! {
    cnp_interval: Q<Span> = Q::of("50us"); // DCQCN §3.1
    cnp_size: Q<Bytes> = Q::of("82B"); // CHOICE IRN §4.3.1: 66 B of headers and 16 B reserved
}
