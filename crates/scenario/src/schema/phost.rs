//! `[transport]` of kind `phost`: packets that answer tokens of their destination.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Receiver-driven transport by tokens (pHost, Gao et al., CoNEXT 2015): a flow sends a request, and each of
/// its packets answers a token of its destination, which promises its downlink to the flow with the fewest
/// bytes left. Where not said otherwise, times are those of the authors' simulator, in transmission times of
/// a full packet on the link of the host that keeps them: of the destination (`spacing`, `patience`, `again`) or of the
/// source (`token_life`, `retry`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Phost {
    /// Payload of a full packet.
    pub payload: Q<Bytes>,
    /// Headers of every data packet on the wire.
    pub header: Q<Bytes>,
    /// A request, a token or an ACK on the wire.
    pub control_size: Q<Bytes>,
    /// Packets for which a source has tokens of its own as a flow starts. Without the key as many as `window`.
    pub free_tokens: Option<u32>,
    /// Which flows have such free tokens.
    pub free_for: FreeFor,
    /// A destination sends a token this often. (1 packet.)
    pub spacing: Option<Q<Span>>,
    /// Tokens that a flow may have beyond the last one it answered; then others go first. Without the key the product of
    /// the fastest host's rate and the longest round trip, in full packets, and at least 8.
    // CHOICE pHost §3.2: "a BDP worth"; in the authors' simulator 8.
    pub window: Option<u32>,
    /// A token is worth nothing after so long at its source. (1.5 packets.)
    pub token_life: Option<Q<Span>>,
    /// A flow with a full window gets another token after so long. (Three windows and a packet.)
    pub patience: Option<Q<Span>>,
    /// A flow that has had tokens for all its packets gets new ones for those missing after so long. (A window and a packet.)
    pub again: Option<Q<Span>>,
    /// A source that receives nothing repeats its request after so long. (31 windows: long enough
    /// that a flow which others precede does not repeat it in vain; in the authors' simulator no request is lost.)
    pub retry: Option<Q<Span>>,
    /// Class of packets that answer a free token; what controls has class 0. Without the key 1 where the
    /// switches' scheduler looks at classes, else 0.
    pub free_class: Option<u8>,
    /// Class of packets that answer another. Without the key 2 where there is such a class, else as `free_class`.
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

/// Flows that have free tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreeFor {
    /// Those that need no others: as in the authors' simulator.
    Short,
    /// All, for their first packets.
    All,
}
