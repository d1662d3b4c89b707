//! Ultra Ethernet's parameters as data.

use super::window::WindowSpec;
use crate::Invalid;
use crate::transport::PathSelectionSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Bytes of a quantum of credit (UET §3.6: pulls count in 256 B).
pub(crate) const QUANTUM: u64 = 256;

/// Ultra Ethernet: packets are sprayed over paths and acknowledged by number; congestion control by windows, credits,
/// or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UetSpec {
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Header bytes of every data packet on the wire: what is left of a trimmed one.
    pub header: u32,
    /// Wire size of ACKs, NACKs, pulls and requests to send.
    pub control: u32,
    /// The window, which limits the bytes in flight at the sender.
    pub window: WindowSpec,
    /// Credits of receivers; `None`: the window alone.
    pub credits: Option<CreditSpec>,
    /// The entropy values of data; `None`: packets carry none.
    pub path_selection: Option<PathSelectionSpec>,
    /// Bytes on the wire after which a receiver sends an ACK, if nothing has triggered one before.
    pub ack_every: u32,
    /// Which entropy values an ACK brings back.
    pub ack_values: AckValues,
    /// Retransmission timeout: a packet that is neither ACKed nor NACKed for this time is sent again.
    pub retry: Span,
    /// Largest number of doublings of the timeout: it doubles with each retransmission of a packet.
    pub back_off: u32,
    /// Round trip of a full packet and its ACK on the longest path without queues.
    pub base_rtt: Span,
}

/// Which entropy values an ACK of several packets brings back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckValues {
    /// That of the packet that triggered it.
    #[default]
    One,
    /// Those of all packets since the ACK before that came unmarked, within 64 numbers (REPS §3.3).
    All,
}

/// Credits of receivers (RCCC).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreditSpec {
    /// Initial (speculative) credit of a sender, and the most credit that it may have, in bytes on the wire.
    pub initial: Bytes,
    /// Fraction of its link rate for which a receiver grants credit.
    pub share: f64,
    /// Credit per pull, in quanta of 256 B.
    pub quanta: u32,
    /// A flow whose data has all arrived is granted no more credit.
    pub closes: bool,
}

impl UetSpec {
    /// There is a window; otherwise credits alone limit the flow.
    pub(crate) fn has_window(&self) -> bool {
        !matches!(self.window, WindowSpec::Unbounded(_))
    }

    /// A full packet on the wire.
    pub(crate) fn full(&self) -> u32 {
        self.payload.saturating_add(self.header)
    }

    /// Number of packets of a flow of `size` bytes.
    pub(crate) fn packets(&self, size: u64) -> u64 {
        size.div_ceil(u64::from(self.payload.max(1)))
    }

    /// The timeout of a packet that was sent again `resent` times.
    pub(crate) fn timeout(&self, resent: u16) -> Span {
        let doublings = u32::from(resent).min(self.back_off).min(30);
        Span::from_ps(self.retry.ps().saturating_mul(1 << doublings))
    }

    /// Refuses what cannot work, by name.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let refuse = |key, why, hint| Err(Invalid::new(why).of("UET").at(key).hint(hint));
        if self.payload == 0 || self.control == 0 || self.payload.checked_add(self.header).is_none() {
            return refuse("", "a packet of no bytes, or of more than 4 GB", "");
        }
        if !self.has_window() && self.credits.is_none() {
            return refuse("window", "without window and credits nothing bounds what is sent", "");
        }
        self.window.check()?;
        if self.retry.is_zero() {
            return refuse("retry", "retry is 0", "allowed: above");
        }
        if let Some(credits) = self.credits {
            if credits.initial == Bytes::ZERO {
                return refuse("credits", "no first credit: nothing would call for more", "allowed: above");
            }
            if !(credits.share > 0.0 && credits.share <= 1.0) || credits.quanta == 0 {
                return refuse("credits", "a share above 0 and at most 1, in pulls of at least 256 B", "");
            }
        }
        Ok(())
    }
}

impl CreditSpec {
    /// Serialisation time of `quanta` on a link of this rate.
    pub(crate) fn spacing(&self, line_rate: Rate, quanta: u64) -> Span {
        let rate = Rate::from_bps((line_rate.bps() as f64 * self.share) as u64);
        Bytes::new(quanta * QUANTUM) / rate
    }
}
