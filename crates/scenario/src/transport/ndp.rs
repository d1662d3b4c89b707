//! Transports of kind `ndp`.

use super::{TransportKind, bytes};
use crate::schema::{Ndp, Transport};
use thalweg_machines::transport::{NdpSpec, TransportSpec};
use thalweg_units::Span;

impl TransportKind for Ndp {
    fn spec(&self) -> TransportSpec {
        TransportSpec::Ndp(NdpSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            control: bytes(self.control_size),
            // (What depends on the topology has been resolved.)
            window: self.window.unwrap_or(1),
            pull_share: self.pull_share,
            retry: self.retry.map_or(Span::from_ms(1), |retry| retry.0),
            paths: self.paths,
        })
    }
    fn bare(&self) -> Transport {
        let Self { payload, header, control_size, .. } = *self;
        Transport::Ndp(Self { payload, header, control_size, ..Self::default() })
    }
}
