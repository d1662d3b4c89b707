//! NDP's parameters as data.

use crate::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Receiver-driven transport over switches that trim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NdpSpec {
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Header bytes of every data packet on the wire: what is left of a trimmed one.
    pub header: u32,
    /// Wire size of ACKs, NACKs and pulls.
    pub control: u32,
    /// Initial window: packets that a sender sends without a pull.
    pub window: u32,
    /// Fraction of the receiver's link rate at which its pulls request data.
    pub pull_share: f64,
    /// A sender that has received nothing for this time retransmits.
    pub retry: Span,
    /// Number of paths; each packet takes the next one of a random permutation. `None`: packets carry no path number.
    pub paths: Option<u32>,
}

impl NdpSpec {
    /// Number of packets of a flow of `size` bytes.
    pub(crate) fn packets(&self, size: u64) -> u64 {
        size.div_ceil(u64::from(self.payload.max(1)))
    }

    /// The interval between pulls of a receiver whose link has this rate.
    pub(crate) fn spacing(&self, line_rate: Rate) -> Span {
        let rate = Rate::from_bps((line_rate.bps() as f64 * self.pull_share) as u64);
        Bytes::new(u64::from(self.payload) + u64::from(self.header)) / rate
    }

    /// Refuses what cannot work, by name.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let refuse = |key, why, hint| Err(Invalid::new(why).of("NDP").at(key).hint(hint));
        if self.payload == 0 || self.control == 0 || self.payload.checked_add(self.header).is_none() {
            return refuse("", "a packet of no bytes, or of more than 4 GB", "");
        }
        if self.window == 0 {
            return refuse("window", "window is 0: nothing would ever be pulled", "allowed: at least 1");
        }
        if !(self.pull_share > 0.0 && self.pull_share <= 1.0) {
            return refuse("pull_share", "pull_share is not above 0 and at most 1", "");
        }
        if self.retry.is_zero() {
            return refuse("retry", "retry is 0", "allowed: above");
        }
        if self.paths == Some(0) {
            return refuse("paths", "paths is 0", "allowed: at least 1");
        }
        Ok(())
    }
}
