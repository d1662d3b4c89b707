//! `[transport]` of kind `rdma`: queue pairs of RoCE, IRN and the variants between them.

use super::{Rank, congestion, defaults};
use crate::quantity::{Cap, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::{ControllerSpec, fixed};
pub use thalweg_machines::transport::{CnpRule, PathValues, RdmaAcks, RdmaTimer, Recovery, TimerRestart};
use thalweg_units::{Bytes, Rate, Span};

/// RDMA, with a queue pair per flow: RoCE's go-back-N, IRN's selective retransmission, TIMELY's segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rdma {
    /// The congestion controller, by rate or window. Flows start at line rate, with the largest window that `cap`
    /// allows.
    #[schemars(schema_with = "congestion::over_rdma")]
    pub congestion: ControllerSpec,
    /// Payload bytes of a full packet.
    pub mtu: Q<Bytes>,
    /// Header bytes of every data packet on the wire.
    pub header: Q<Bytes>,
    /// Further header bytes on every data packet that its flow's ideal completion time does not count (IRN §4.5.3: 16 B
    /// in the worst case).
    pub extra_header: Q<Bytes>,
    /// Size of an ACK on the wire.
    pub ack_size: Q<Bytes>,
    /// Size of a NACK on the wire. If not given, as `ack_size`; 4 B more with the recoveries `irn` and `drop-notified`,
    /// whose NACKs hold the PSN of the packet that triggered them.
    pub nack_size: Option<Q<Bytes>>,
    /// Bytes of in-band telemetry on the wire, in addition to the headers, in every data packet (from its source on)
    /// and in every ACK and NACK. If not given, `42B` if the controller reads telemetry (HPCC, SIGCOMM 2019, §4.1: five
    /// hops of 8 B, and 2 B), else none.
    pub telemetry: Option<Q<Bytes>>,
    /// How losses are repaired.
    #[schemars(extend("x-renamed-kinds" = { "told": "drop-notified" }))]
    pub recovery: Recovery,
    /// BDP-FC: largest number of packets from the lowest unacknowledged one to the highest one sent. `"auto"`: the
    /// bandwidth-delay product of the fastest host's rate and the longest path (propagation only); `"none"`: no cap. If
    /// not given, `auto` with the recoveries `irn` and `drop-notified`, `none` with `go-back-n`.
    pub cap: Option<Cap>,
    /// What receivers acknowledge, NACKs apart. If not given, `per-packet`; `per-segment` with `segments` and
    /// `go-back-n`; and no more than the controller needs with `go-back-n` under PFC, if no link loses packets or fails
    /// and neither jitter nor routing reorders them.
    pub acks: Option<RdmaAcks>,
    /// The retransmission timer. If not given: `off` with PFC if no link loses packets or fails (with `go-back-n`, only
    /// if neither jitter nor routing reorders packets); otherwise `pair` with the recovery `irn`, and `fixed` with
    /// `go-back-n` and `drop-notified`. A default `low` is then at least two base round trips of the longest path, a
    /// default `high` or `value` at least four.
    pub timer: Option<RdmaTimer>,
    /// Which acknowledgements restart a running timer.
    pub timer_restart: TimerRestart,
    /// Time from the detection of a loss until the packet can be sent again, during which the flow sends nothing new
    /// (IRN §4.5.3: 2 us in the worst case).
    pub fetch_delay: Q<Span>,
    /// What senders write into the rank header. If not given, what the schedulers sort by; `from-here` if that is the
    /// remaining size.
    pub rank: Option<Rank>,
    /// Congestion notifications from receiver to sender. If not given, those that the controller needs.
    pub notification: Option<Notification>,
    /// Which round trips are reported to the controller.
    pub rtt: RttSamples,
    /// The host posts whole segments to the NIC, of which few are outstanding (TIMELY §3.2). If not given, packets
    /// leave one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Segments>,
    /// Path values that senders write into every packet, which the routing `entropy` hashes; ACKs return them. If not
    /// given, all are 0.
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
    /// Packets per sample. A sample is taken at the ACK of the last of them, and one at the end of the flow. (With
    /// `segments`, each segment gives one.) If not given, 16 for TIMELY and if ACKs are sent per segment, 1 for other
    /// controllers that use round trips.
    // CHOICE TIMELY §3.5: its segments are 16 KB, here 16 packets. Swift (§3.1), Vegas, Copa and others take a sample
    // from every ACK. With one of 16 their windows would grow by a sixteenth.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// Subtract the serialisation time of that packet, or of the whole segment if the host posts segments.
    pub less_serialization: bool,
    /// Also from NACKs.
    // CHOICE IRN §4.3.1: with IRN, whose packets out of order are answered by NACKs, the paper does not say.
    pub nacks: bool,
    /// Also from retransmitted packets, as the answer shows which copy it answers. If not given, for controllers that
    /// get a sample from every ACK.
    // CHOICE IRN §4.3.1: TCP's rule (RFC 6298, §3) for the others. Packets of Swift, Copa and Verus carry time stamps.
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

/// How receivers notify senders of marked packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Notification {
    /// A congestion notification packet (CNP) when marked data arrives (DCQCN: Zhu et al., SIGCOMM 2015, §3.1).
    Cnp {
        /// Interval in which a flow gets at most one CNP.
        #[serde(default = "default::cnp_interval")]
        interval: Q<Span>,
        /// What happens to marks that arrive within the interval.
        #[serde(default)]
        rule: CnpRule,
        /// Size of a CNP on the wire.
        #[serde(default = "default::cnp_size")]
        size: Q<Bytes>,
    },
    /// Every ACK reports whether the packet that triggered it was marked.
    Echo,
    /// Data is not ECN-capable.
    Off,
}

/// A host that posts segments to its NIC (TIMELY §3.2.3, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Segments {
    /// Payload bytes of a segment.
    pub bytes: Q<Bytes>,
    /// Number of segments of a flow that may be posted and not acknowledged.
    // CHOICE TIMELY §3.4: "a static worst-case limit" without a value.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: u32,
    /// Rate on the wire at which the NIC spaces the packets of a segment; this time is not part of round trips. If not
    /// given, packets leave as a burst at line rate.
    pub nic_pace: Option<Q<Rate>>,
}

impl Default for Segments {
    fn default() -> Self {
        Self { bytes: Q::of("16KB"), outstanding: 2, nic_pace: None }
    }
}

impl Notification {
    /// DCQCN's CNPs with default parameters.
    pub(crate) fn cnp() -> Self {
        Self::Cnp { interval: default::cnp_interval(), rule: CnpRule::default(), size: default::cnp_size() }
    }
}

defaults! {
    cnp_interval: Q<Span> = Q::of("50us"); // DCQCN §3.1
    cnp_size: Q<Bytes> = Q::of("82B"); // CHOICE IRN §4.3.1: 66 B of headers and 16 B reserved
}
