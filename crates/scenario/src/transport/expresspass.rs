//! Transports of kind `expresspass`.

use super::{TransportKind, bytes};
use crate::schema::{ExpressPass, Transport};
use thalweg_machines::schedule::expresspass;
use thalweg_machines::transport::{ExpressPassSpec, TransportSpec};
use thalweg_units::{Bytes, Rate, Span};

impl ExpressPass {
    /// The share of a link's rate for credits.
    pub(crate) fn share(&self, link: Rate) -> Rate {
        let credit = Bytes::new(self.credit_min.0.get().saturating_add(self.credit_max.0.get()) / 2);
        let packet = Bytes::new(self.payload.0.get().saturating_add(self.header.0.get()));
        expresspass::Params { credit, packet, ..Default::default() }.rate(link)
    }
}

impl TransportKind for ExpressPass {
    fn spec(&self) -> TransportSpec {
        TransportSpec::ExpressPass(ExpressPassSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            control: bytes(self.control_size),
            credit_min: bytes(self.credit_min),
            credit_max: bytes(self.credit_max),
            // (It has been resolved.)
            max_rate: self.max_rate.map_or(Rate::INFINITE, |q| q.0),
            alpha: self.alpha,
            w_init: self.w_init,
            w_min: self.w_min,
            target_loss: self.target_loss,
            jitter: self.jitter,
            retry: self.retry.map_or(Span::from_ms(1), |retry| retry.0),
        })
    }
    fn bare(&self) -> Transport {
        let Self { payload, header, control_size, .. } = *self;
        Transport::ExpressPass(Self { payload, header, control_size, ..Self::default() })
    }
}
