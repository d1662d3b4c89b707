//! Transports of kind `uet`.

use super::{TransportKind, bytes};
use crate::schema::{NsccWindow, Transport, Uet, UetWindow};
use thalweg_machines::transport::uet::window::{DctcpSpec, FixedSpec, NsccSpec, UnboundedSpec, WindowSpec};
use thalweg_machines::transport::{CreditSpec, TransportSpec, UetSpec};
use thalweg_units::{Bytes, Rate, Span};

/// The round trip and the link rate for which gains are stated.
const ONE: (Span, Rate) = (Span::from_us(12), Rate::from_gbps(100));

/// Bytes after which an ACK is due, on paths that hold twice as many.
pub(crate) const ACK_EVERY: u64 = 16 << 10;

impl TransportKind for Uet {
    fn spec(&self) -> TransportSpec {
        // (What depends on the topology has been resolved.)
        TransportSpec::Uet(UetSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            control: bytes(self.control_size),
            window: self.window_spec(),
            credits: self.credits.map(|credits| CreditSpec {
                initial: credits.first.map_or(Bytes::new(1), |first| first.0),
                share: credits.share,
                quanta: credits.quanta,
                closes: credits.closes,
            }),
            path_selection: self.path_selection.clone(),
            ack_every: self.ack_every.map_or(ACK_EVERY as u32, bytes),
            ack_values: self.ack_values,
            retry: self.retry.map_or(Span::from_us(15), |retry| retry.0),
            back_off: self.back_off,
            base_rtt: self.base_rtt.map_or(Span::ZERO, |rtt| rtt.0),
        })
    }
    fn slows_on_loss(&self) -> bool {
        true
    }
    fn bare(&self) -> Transport {
        let Self { payload, header, control_size, .. } = *self;
        Transport::Uet(Self { payload, header, control_size, ..Self::default() })
    }
}

impl Uet {
    fn window_spec(&self) -> WindowSpec {
        let rtt = self.base_rtt.map_or(Span::ZERO, |rtt| rtt.0);
        match self.window {
            UetWindow::Nscc(NsccWindow { target, scale, products, gamma, floor, weight, slack }) => {
                let (published, scale) = (NsccSpec::of(ONE.0, ONE.1, true), scale.unwrap_or(1.0));
                WindowSpec::Nscc(NsccSpec {
                    target: target.map_or(rtt, |target| target.0),
                    window: products,
                    gamma,
                    floor,
                    weight,
                    fair: published.fair * scale,
                    proportional: published.proportional * scale,
                    steady: published.steady * scale,
                    fast: published.fast * scale,
                    period: rtt,
                    slack: slack.0,
                    ..published
                })
            }
            UetWindow::Fixed(fixed) => WindowSpec::Fixed(FixedSpec { size: fixed.size.0 }),
            UetWindow::Dctcp(own) => {
                let fast = own.fast.unwrap_or(0.0);
                let published = DctcpSpec::of(ONE.0, ONE.1);
                WindowSpec::Dctcp(DctcpSpec { window: own.products, cut: own.cut, fast, ..published })
            }
            UetWindow::None(_) => WindowSpec::Unbounded(UnboundedSpec),
        }
    }
}
