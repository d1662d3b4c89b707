//! The flow's initial conditions, and the conversion of a window and a payload rate to a permit. Shared by both
//! versions of BBR.

use super::super::{Permit, Start};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate};

/// What the flow begins with; bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Given {
    pub(in super::super) mss: u64,
    pub(in super::super) initial_window: u64,
    pub(in super::super) max_window: u64,
    pub(in super::super) line: Rate,
    /// Bytes on the wire per byte of payload.
    pub(in super::super) wire: f64,
}

impl Given {
    pub(in super::super) fn new(start: &Start) -> Self {
        let mss = u64::from(start.mss);
        let max_window = start.max_window.get().max(mss);
        Self {
            mss,
            initial_window: start.initial_window.get().clamp(mss, max_window),
            max_window,
            line: start.line_rate,
            wire: f64::from(start.mss + start.header) / f64::from(start.mss),
        }
    }

    /// The permit of a window and a pace in payload bits per second, which is scaled up by the headers and limited to
    /// the line rate.
    #[inline]
    pub(in super::super) fn permit(&self, window: u64, pace: u64) -> Permit {
        let pace = (pace as f64 * self.wire) as u64;
        Permit {
            window: Bytes::new(window),
            pace: Some(Rate::from_bps(pace.clamp(1, self.line.bps().max(1)))),
            wake: None,
        }
    }
}
