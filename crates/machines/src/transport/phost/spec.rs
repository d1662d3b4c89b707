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
    /// Free tokens: packets that a sender may send when the flow starts, without tokens of the receiver.
    pub free: u32,
    /// Which flows have free tokens.
    pub free_for: FreeFor,
    /// Interval between a receiver's tokens.
    pub spacing: Option<Span>,
    /// Tokens that a flow may have unanswered; beyond that, other flows are served first.
    pub window: u32,
    /// Lifetime of a token at the sender.
    pub life: Option<Span>,
    /// A flow with a full window of unanswered tokens gets another token after this time.
    pub patience: Option<Span>,
    /// A flow that has had tokens for all its packets gets new ones for the missing packets after this time.
    pub again: Option<Span>,
    /// A sender that has received nothing for this time repeats its request.
    pub retry: Option<Span>,
    /// Traffic class of packets sent with free tokens.
    pub free_class: u8,
    /// Traffic class of packets sent with other tokens.
    pub token_class: u8,
}

/// Flows that have free tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FreeFor {
    /// Only flows that need no other tokens.
    Short,
    /// All flows, for their first packets.
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
    /// Where a full packet takes so long, and a flow may have `window` tokens unanswered.
    ///
    /// CHOICE pHost §3.2: those of the authors' simulator, whose window is 8 packets, the product of its network: 25,
    /// 9 and 250 packets. Over longer paths an answer takes as much longer as the window is larger; with the times of 8
    /// packets, tokens would be sent again before they can have been answered.
    pub fn of_packet(packet: Span, window: u32) -> Self {
        let window = u64::from(window.max(1));
        Self {
            spacing: packet,
            life: packet.saturating_mul(3) / 2,
            patience: packet.saturating_mul(3 * window + 1),
            again: packet.saturating_mul(window + 1),
            retry: packet.saturating_mul((250 * window).div_ceil(8)),
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
        let own = PhostTimes::of_packet(self.packet(line_rate), self.window);
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
