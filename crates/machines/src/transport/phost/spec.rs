//! pHost's parameters as data.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Receiver-driven transport by tokens. Classes are the transport's own: requests, tokens and ACKs have class 0. A time
/// that is not given is that of the host which keeps it, by the rate of its link: [`PhostTimes::of_packet`].
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
    pub spacing: Option<Span>,
    /// Tokens that a flow may have beyond the last one it answered; then others go first.
    pub window: u32,
    /// A token is worth nothing after so long at its source.
    pub life: Option<Span>,
    /// A flow with a full window gets another token after so long.
    pub patience: Option<Span>,
    /// A flow that has had tokens for all its packets gets new ones for those missing after so long.
    pub again: Option<Span>,
    /// A source that receives nothing for so long repeats its request.
    pub retry: Option<Span>,
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

/// What a host waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhostTimes {
    /// See [`PhostSpec::spacing`].
    pub spacing: Span,
    /// See [`PhostSpec::life`].
    pub life: Span,
    /// See [`PhostSpec::patience`].
    pub patience: Span,
    /// See [`PhostSpec::again`].
    pub again: Span,
    /// See [`PhostSpec::retry`].
    pub retry: Span,
}

impl PhostTimes {
    /// Where a full packet takes so long: those of the authors' simulator.
    pub fn of_packet(packet: Span) -> Self {
        Self {
            spacing: packet,
            life: packet.saturating_mul(3) / 2,
            patience: packet.saturating_mul(25),
            again: packet.saturating_mul(9),
            retry: packet.saturating_mul(250),
        }
    }
}

impl PhostSpec {
    /// How long a full packet takes on a link of this rate.
    pub(crate) fn packet(&self, line_rate: Rate) -> Span {
        Bytes::new(u64::from(self.payload) + u64::from(self.header)) / line_rate
    }

    /// At a host whose link has this rate.
    pub(crate) fn times(&self, line_rate: Rate) -> PhostTimes {
        let own = PhostTimes::of_packet(self.packet(line_rate));
        PhostTimes {
            spacing: self.spacing.unwrap_or(own.spacing),
            life: self.life.unwrap_or(own.life),
            patience: self.patience.unwrap_or(own.patience),
            again: self.again.unwrap_or(own.again),
            retry: self.retry.unwrap_or(own.retry),
        }
    }

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
