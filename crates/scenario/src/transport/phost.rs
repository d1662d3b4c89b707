//! Transports of kind `phost`.

use super::{TransportKind, bytes};
use crate::quantity::Q;
use crate::schema::{FreeFor, Phost, Transport};
use thalweg_machines::transport::{self, PhostSpec, TransportSpec};
use thalweg_units::Span;

/// Tokens that a flow may have unanswered, at least: those of the authors' simulator.
pub(crate) const LEAST_WINDOW: u32 = 8;

impl TransportKind for Phost {
    fn spec(&self) -> TransportSpec {
        // (Classes have been resolved.)
        let span = |time: Option<Q<Span>>| time.map(|q| q.0);
        TransportSpec::Phost(PhostSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            control: bytes(self.control_size),
            free: self.free_tokens.unwrap_or(LEAST_WINDOW),
            free_for: match self.free_for {
                FreeFor::Short => transport::FreeFor::Short,
                FreeFor::All => transport::FreeFor::All,
            },
            spacing: span(self.spacing),
            window: self.window.unwrap_or(LEAST_WINDOW),
            life: span(self.token_life),
            patience: span(self.patience),
            again: span(self.again),
            retry: span(self.retry),
            free_class: self.free_class.unwrap_or(0),
            token_class: self.token_class.unwrap_or(0),
        })
    }
    fn classes(&self) -> u8 {
        self.free_class.max(self.token_class).unwrap_or(0)
    }
    fn bare(&self) -> Transport {
        let Self { payload, header, control_size, .. } = *self;
        Transport::Phost(Self { payload, header, control_size, ..Self::default() })
    }
}
