//! Transports of kind `homa`.

use super::{TransportKind, bytes};
use crate::schema::{Homa, Transport};
use thalweg_machines::transport::{HomaSpec, TransportSpec};
use thalweg_units::Span;

impl Homa {
    /// The cutoffs between levels.
    pub(crate) fn cuts(&self) -> Vec<u64> {
        self.cutoffs.iter().flatten().map(|size| size.0.get()).collect()
    }
}

impl TransportKind for Homa {
    fn spec(&self) -> TransportSpec {
        // (What depends on other keys has been resolved.)
        let (levels, cutoffs) = (self.levels.unwrap_or(1), self.cuts());
        let scheduled = u32::from(levels).saturating_sub(cutoffs.len() as u32 + 1).max(1);
        TransportSpec::Homa(HomaSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            control: bytes(self.control_size),
            rtt_bytes: self.rtt_bytes.map_or(u64::MAX, |q| q.0.get()),
            levels,
            cutoffs,
            overcommitment: self.overcommitment.unwrap_or(scheduled),
            resend: self.resend.map_or(Span::from_ms(5), |resend| resend.0),
        })
    }
    fn classes(&self) -> u8 {
        self.levels.map_or(0, |levels| levels.saturating_sub(1))
    }
    fn bare(&self) -> Transport {
        let Self { payload, header, control_size, .. } = *self;
        Transport::Homa(Self { payload, header, control_size, ..Self::default() })
    }
}
