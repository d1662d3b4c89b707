//! pHost's parameters as data.

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Receiver-driven transport by tokens. Classes are the transport's own: requests, tokens and ACKs have class 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhostSpec {
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Header bytes of every data packet on the wire.
    pub header: u32,
    /// Wire size of requests, tokens and ACKs.
    pub control: u32,
    /// Packets for which a source has tokens of its own as a flow starts.
    pub free: u32,
    /// Which flows have such free tokens.
    pub free_for: FreeFor,
    /// A destination sends a token this often.
    pub spacing: Span,
    /// Tokens that a flow may have beyond the last one it answered; then others go first.
    pub window: u32,
    /// A token is worth nothing after so long at its source.
    pub life: Span,
    /// A flow with a full window gets another token after so long.
    pub patience: Span,
    /// A flow that has had tokens for all its packets gets new ones for those missing after so long.
    pub again: Span,
    /// A source that receives nothing for so long repeats its request.
    pub retry: Span,
    /// Class of packets that answer a free token.
    pub free_class: u8,
    /// Class of packets that answer another.
    pub token_class: u8,
}

/// Flows that have free tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FreeFor {
    /// Those that need no others.
    Short,
    /// All, for their first packets.
    All,
}

impl PhostSpec {
    /// How many packets a flow of `size` bytes is.
    pub(crate) fn packets(&self, size: u64) -> u64 {
        size.div_ceil(u64::from(self.payload.max(1)))
    }

    /// For how many of its packets a flow has free tokens.
    pub(crate) fn free_of(&self, packets: u64) -> u64 {
        let free = u64::from(self.free);
        match self.free_for {
            FreeFor::Short if packets > free => 0,
            FreeFor::Short | FreeFor::All => packets.min(free),
        }
    }
}
