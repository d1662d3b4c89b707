//! minTCP: pFabric's minimal rate control. Alizadeh et al., "pFabric", SIGCOMM 2013, §4.2. Starts at line
//! rate, reacts to nothing but timeouts; priority scheduling does the rest. Needs: `LossDetection::TimeoutOnly`,
//! a fixed timer of a few round trips, an initial window of one bandwidth-delay product.

use super::{AckSample, CongestionControl, Loss, Needs, Parameters, Permit, Restart, Rule, Rules, Start};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// pFabric's minimal rate control (SIGCOMM 2013 §4.2): starts at line rate, reacts to timeouts only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// A timeout sets the slow-start threshold to half the window (pFabric). Otherwise there is no threshold and the
    /// window always grows by a packet per ACK, as in the NetSys simulator's FIFO variant.
    pub halve_threshold: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { halve_threshold: true }
    }
}

impl Parameters for Params {
    type Machine = MinTcp;

    fn needs(&self) -> Needs {
        Needs::WINDOW
    }
    fn rules(&self) -> Rules {
        let simulator =
            Rule::Differs("pFabric §4.2: as NetSys/simulator, whose flows end within a few windows");
        let threshold = if self.halve_threshold { simulator } else { Rule::Foreign };
        Rules {
            held_threshold: threshold,
            loss_window: Rule::Kept,
            threshold_floor: if self.halve_threshold { Rule::Kept } else { Rule::Foreign },
            grows_when_used: simulator,
            restarts: Rule::Kept,
            ..Rules::FOREIGN
        }
    }
    fn make(&self, start: &Start) -> Result<MinTcp, Invalid> {
        Ok(MinTcp::new(start, self.halve_threshold))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { halve_threshold: true }, Self { halve_threshold: false }]
    }
}

/// minTCP's window, counted in packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinTcp {
    /// Packets.
    window: u64,
    /// Packets; `u64::MAX`: none.
    threshold: u64,
    max_window: u64,
    /// ACKs since the last growth above the threshold.
    acks: u64,
    mss: u32,
    halve_threshold: bool,
}

impl MinTcp {
    /// The window of a flow that starts.
    pub fn new(start: &Start, halve_threshold: bool) -> Self {
        let packets =
            |bytes: Bytes| if bytes == Bytes::MAX { u64::MAX } else { bytes.get() / u64::from(start.mss) };
        let max_window = packets(start.max_window).max(1);
        Self {
            window: packets(start.initial_window).clamp(1, max_window),
            threshold: packets(start.initial_threshold),
            max_window,
            acks: 0,
            mss: start.mss,
            halve_threshold,
        }
    }
}

impl CongestionControl for MinTcp {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample) {
        if ack.acked == Bytes::ZERO {
            return; // only ACKs that advance count
        }
        // CHOICE pFabric §4.2 gives no growth rule of its own: as in NetSys/simulator, a packet per ACK
        // below the threshold, then a packet per window.
        if self.window < self.threshold {
            self.window += 1;
        } else {
            self.acks += 1;
            if self.acks >= self.window {
                self.acks = 0;
                self.window += 1;
            }
        }
        self.window = self.window.min(self.max_window);
    }

    fn on_loss(&mut self, _: &Loss) {}

    fn on_timeout(&mut self, _: &Loss) {
        if self.halve_threshold {
            self.threshold = (self.window / 2).max(2);
        }
        self.window = 1;
    }

    fn restart_from(&mut self, _: Time, restart: Restart) {
        self.window = self.window.min(restart.window.get() / u64::from(self.mss)).max(1);
    }

    #[inline]
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window.saturating_mul(u64::from(self.mss))))
    }

    fn threshold(&self) -> Bytes {
        Bytes::new(self.threshold.saturating_mul(u64::from(self.mss)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    /// 12 packets at first, 15 at most, as in the reference runs.
    fn min_tcp(halve_threshold: bool) -> MinTcp {
        MinTcp::new(&Start { max_window: Bytes::new(15 * 1460), ..start(1460, 12) }, halve_threshold)
    }
    fn after_acks(c: &mut MinTcp, n: u64) -> u64 {
        (0..n).for_each(|_| c.on_ack(&ack(1460, 0)));
        c.window
    }

    #[test]
    fn grows_by_a_packet_per_advancing_ack_up_to_the_largest() {
        let mut c = min_tcp(true);
        c.on_ack(&AckSample { sacked: Bytes::new(1460), ..ack(0, 0) });
        assert_eq!(c.permit().window, Bytes::new(12 * 1460));
        assert_eq!([1, 1, 1, 1].map(|n| after_acks(&mut c, n)), [13, 14, 15, 15]);
    }

    #[test]
    fn a_timeout_starts_again_from_one_packet_towards_half_the_window() {
        let mut c = min_tcp(true);
        c.on_timeout(&loss(0, 0, 0));
        assert_eq!((c.window, c.threshold), (1, 6));
        assert_eq!(after_acks(&mut c, 5), 6); // slow start
        assert_eq!(after_acks(&mut c, 5), 6);
        assert_eq!(after_acks(&mut c, 1), 7); // the sixth ACK of a window of six
        assert_eq!(after_acks(&mut c, 7), 8);
        c.on_timeout(&loss(0, 0, 0));
        c.on_timeout(&loss(0, 0, 0));
        assert_eq!((c.window, c.threshold), (1, 2));
    }

    #[test]
    fn without_a_threshold_it_always_grows_per_ack() {
        let mut c = min_tcp(false);
        c.on_timeout(&loss(0, 0, 0));
        assert_eq!(after_acks(&mut c, 14), 15);
    }

    #[test]
    fn losses_seen_by_acks_do_not_matter() {
        let mut c = min_tcp(true);
        c.on_loss(&loss(9, 0, 9));
        assert_eq!(c, min_tcp(true));
    }
}
