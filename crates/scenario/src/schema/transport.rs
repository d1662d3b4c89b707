//! `[transport]`: the transport protocol of flows.

use super::{ExpressPass, Homa, Ndp, Phost, Rank, Rdma, Tcp, Uet};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate};

/// The list has `Name(its table), "key in scenarios";` for each kind. `of_kind!(transport, |table| ...)` evaluates an
/// expression on the table of a transport, whichever kind it is.
macro_rules! transports {
    ($d:tt $($(#[$doc:meta])* $name:ident($table:ty), $key:literal;)*) => {
        /// The transport protocol of flows.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[schemars(extend("x-default-kind" = "tcp"))]
        pub enum Transport {
            $($(#[$doc])* #[serde(rename = $key)] $name($table),)*
        }

        impl Transport {
            /// The names of all kinds in scenarios.
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

// The one list. `crate::transport` turns each kind into the parameters of its machine.
transports! { $
    /// TCP: a byte stream with acknowledgements.
    Tcp(Tcp), "tcp";
    /// Datagrams without feedback: open loop.
    Udp(Udp), "udp";
    /// Queue pairs: RoCE's go-back-N, IRN's selective retransmission (Mittal et al., SIGCOMM 2018), TIMELY's segments.
    Rdma(Rdma), "rdma";
    /// Receiver-driven: receivers admit packets by tokens (pHost, Gao et al., CoNEXT 2015).
    Phost(Phost), "phost";
    /// Receiver-driven: receivers admit packets by grants, with priorities (Homa, Montazeri et al., SIGCOMM 2018).
    Homa(Homa), "homa";
    /// Receiver-driven: receivers admit packets by credits, whose rate every port limits (ExpressPass, Cho et al.,
    /// SIGCOMM 2017).
    ExpressPass(ExpressPass), "expresspass";
    /// Receiver-driven: receivers admit packets by pulls, over switches that trim packets to their headers (NDP,
    /// Handley et al., SIGCOMM 2017).
    Ndp(Ndp), "ndp";
    /// Ultra Ethernet (specification 1.0): packets sprayed over all paths, windows and credits, over switches that
    /// trim.
    Uet(Uet), "uet";
}

impl Default for Transport {
    fn default() -> Self {
        Self::Tcp(Tcp::default())
    }
}

/// Datagrams without feedback.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Udp {
    /// Payload bytes of a full datagram.
    pub payload: Q<Bytes>,
    /// Header bytes of every datagram on the wire.
    pub header: Q<Bytes>,
    /// When datagrams leave.
    pub pace: Pace,
    /// What senders write into the rank header: `none` or `flow-size`. If not given, what the schedulers sort by.
    pub rank: Option<Rank>,
}

impl Default for Udp {
    fn default() -> Self {
        Self { payload: Q::of("1460B"), header: Q::of("40B"), pace: Pace::Burst, rank: None }
    }
}

/// When the datagrams of a flow leave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pace {
    /// All when the flow starts.
    Burst,
    /// At a constant rate, evenly spaced.
    Constant {
        /// Rate on the wire, headers included.
        rate: Q<Rate>,
    },
    /// At random, with exponential gaps.
    Poisson {
        /// Mean rate on the wire, headers included.
        rate: Q<Rate>,
    },
}
