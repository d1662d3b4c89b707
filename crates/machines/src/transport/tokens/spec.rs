//! Tokens as data.

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Receiver-driven transport by tokens. Classes are the transport's own: requests, tokens and ACKs have class 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenSpec {
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Header bytes of every data packet on the wire.
    pub header: u32,
    /// Wire size of requests, tokens and ACKs.
    pub control: u32,
    /// Packets that a flow may send without tokens: pHost's free tokens, a bandwidth-delay product.
    pub free: u32,
    /// Tokens that a flow may have without having answered them; then it waits for `patience`, and others go first.
    pub window: u32,
    /// A token is worth nothing after so long at its source (pHost: 1.5 times on the wire of a packet).
    pub life: Span,
    /// A flow that does not answer its tokens gets new ones after so long.
    pub patience: Span,
    /// A source that hears nothing repeats its request after so long.
    pub retry: Span,
    /// Class of packets that answer no token.
    pub free_class: u8,
    /// Class of packets that answer one.
    pub token_class: u8,
}
