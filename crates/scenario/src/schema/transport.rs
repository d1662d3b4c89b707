//! `[transport]`: how the two ends of a flow talk.

use super::{ExpressPass, Homa, Ndp, Phost, Rank, Rdma, Tcp, Uet};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate};

/// `Name(its table), "key in scenarios";` for each. `of_kind!(transport, |table| ...)` does the same with the
/// table of whichever kind it is.
macro_rules! transports {
    ($d:tt $($(#[$doc:meta])* $name:ident($table:ty), $key:literal;)*) => {
        /// How the two ends of a flow talk.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[schemars(extend("x-default-kind" = "tcp"))]
        pub enum Transport {
            $($(#[$doc])* #[serde(rename = $key)] $name($table),)*
        }

        impl Transport {
            /// What a scenario calls them.
            pub(crate) const KINDS: &[&str] = &[$($key),*];
        }

        macro_rules! of_kind {
            ($d transport:expr, |$d table:ident| $d call:expr) => {
                match $d transport {
                    $($crate::schema::Transport::$name($d table) => $d call,)*
                }
            };
        }
        pub(crate) use of_kind;
    };
}

// The one list. What is made of each kind is in `crate::transport`.
transports! { $
    /// A byte stream with acknowledgements.
    Tcp(Tcp), "tcp";
    /// Open loop: datagrams, no feedback.
    Udp(Udp), "udp";
    /// Queue pairs: RoCE's go-back-N, IRN's selective retransmission (Mittal et al., SIGCOMM 2018), TIMELY's segments.
    Rdma(Rdma), "rdma";
    /// Receiver-driven: packets answer tokens of their destination (pHost, Gao et al., CoNEXT 2015).
    Phost(Phost), "phost";
    /// Receiver-driven: grants and priorities (Homa, Montazeri et al., SIGCOMM 2018).
    Homa(Homa), "homa";
    /// Receiver-driven: credits that every port meters (ExpressPass, Cho et al., SIGCOMM 2017).
    ExpressPass(ExpressPass), "expresspass";
    /// Receiver-driven: pulls, and headers of packets that found a queue full (NDP, Handley et al., SIGCOMM 2017).
    Ndp(Ndp), "ndp";
    /// Packets on any path, windows and credits over switches that trim (Ultra Ethernet specification 1.0).
    Uet(Uet), "uet";
}

impl Default for Transport {
    fn default() -> Self {
        Self::Tcp(Tcp::default())
    }
}

/// Open-loop datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Udp {
    /// Payload of a datagram.
    pub payload: Q<Bytes>,
    /// Headers on the wire.
    pub header: Q<Bytes>,
    /// When datagrams leave.
    pub pace: Pace,
    /// What senders write into the rank header: `none` or `flow-size`; what the schedulers need if not given.
    pub rank: Option<Rank>,
}

impl Default for Udp {
    fn default() -> Self {
        Self { payload: Q::of("1460B"), header: Q::of("40B"), pace: Pace::Burst, rank: None }
    }
}

/// Departures of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pace {
    /// All at once, when the flow starts.
    Burst,
    /// Evenly spaced.
    Constant {
        /// On the wire, headers included.
        rate: Q<Rate>,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean, on the wire, headers included.
        rate: Q<Rate>,
    },
}
