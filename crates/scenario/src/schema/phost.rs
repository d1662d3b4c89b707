//! `[transport]` of kind `phost`: senders send packets when their receivers send tokens.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Receiver-driven transport by tokens (pHost, Gao et al., CoNEXT 2015). A flow sends a request, and then one packet
/// for each token of its receiver, which reserves its downlink for the flow with the fewest remaining bytes. Times that
/// are not given are those of the authors' simulator, shown in parentheses, in transmission times of a full packet on
/// the host's link: the receiver's for `spacing`, `patience` and `again`, the sender's for `token_life` and `retry`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Phost {
    /// Payload bytes of a full packet.
    pub payload: Q<Bytes>,
    /// Header bytes of every data packet on the wire.
    pub header: Q<Bytes>,
    /// Size of a request, a token or an ACK on the wire.
    pub control_size: Q<Bytes>,
    /// Free tokens: packets that a flow may send when it starts, without tokens of its receiver. If not given, as many
    /// as `window`.
    pub free_tokens: Option<u32>,
    /// Which flows have free tokens.
    pub free_for: FreeFor,
    /// Interval between the tokens of a receiver. (1 packet.)
    pub spacing: Option<Q<Span>>,
    /// Largest number of tokens that a flow has not answered; beyond that, other flows are served first. If not given,
    /// the bandwidth-delay product of the fastest host's rate and the longest base round trip, in full packets, and at
    /// least 8.
    // CHOICE pHost §3.2: "a BDP worth"; in the authors' simulator 8.
    pub window: Option<u32>,
    /// Lifetime of a token at the sender. (1.5 packets.)
    pub token_life: Option<Q<Span>>,
    /// A flow with a full window of unanswered tokens gets another one after this time. (Three windows and a packet.)
    pub patience: Option<Q<Span>>,
    /// A flow that has had tokens for all its packets gets new ones for the missing packets after this time. (A window
    /// and a packet.)
    pub again: Option<Q<Span>>,
    /// A sender that has received nothing for this time repeats its request. (31 windows: long enough for a flow that
    /// waits behind others. In the authors' simulator no request is lost.)
    pub retry: Option<Q<Span>>,
    /// Traffic class of packets sent with free tokens. Control packets have class 0. If not given, 1 if the switches'
    /// scheduler has such a class, else 0.
    pub free_class: Option<u8>,
    /// Traffic class of packets sent with other tokens. If not given, 2 if there is such a class, else as `free_class`.
    pub token_class: Option<u8>,
}

impl Default for Phost {
    fn default() -> Self {
        Self {
            payload: Q::of("1460B"),
            header: Q::of("40B"),
            control_size: Q::of("40B"),
            free_tokens: None,
            free_for: FreeFor::Short,
            spacing: None,
            window: None,
            token_life: None,
            patience: None,
            again: None,
            retry: None,
            free_class: None,
            token_class: None,
        }
    }
}

/// Which flows have free tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreeFor {
    /// Only flows that need no other tokens, as in the authors' simulator.
    Short,
    /// All flows, for their first packets.
    All,
}
