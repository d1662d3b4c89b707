//! IRN's loss recovery (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, §3; dissertation
//! UCB/EECS-2018-103, §4.2 and §4.5.2), step by step as the authors' hardware modules do it: receiveData,
//! receiveAck, txFree, timeout. Knows packet sequence numbers and nothing else: no time, no packets, no
//! bytes.

mod receiver;

pub use receiver::{IrnReceiver, Reply, ReplyKind};

use super::{Bitmap, Psn};
use serde::{Deserialize, Serialize};

/// Variants of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IrnOptions {
    /// Use the PSN that a NACK names; otherwise one hole is repaired per round trip (§4.3.3).
    pub sack: bool,
    /// Recovery begins at this many NACKs with the same cumulative field (§4.6).
    pub nack_threshold: u32,
    /// A NACK that also advances counts as one of them: §4.2 read literally. The authors' modules wait for
    /// the next one.
    pub enter_on_advance: bool,
}

impl Default for IrnOptions {
    /// The authors' modules.
    fn default() -> Self {
        Self { sack: true, nack_threshold: 1, enter_on_advance: false }
    }
}

/// No more than this may be in flight: numbers further apart cannot be compared.
pub const MAX_IN_FLIGHT: u32 = (1 << (Psn::BITS - 1)) - 1;

/// What an acknowledgement changed, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Acked {
    /// By how much the cumulative ACK rose.
    pub advanced: u32,
    /// Selectively acknowledged for the first time.
    pub sacked: u32,
    /// Of `advanced`, those that were selectively acknowledged before.
    pub absorbed: u32,
    /// A packet was found lost: it waits to be sent again and did not before.
    pub lost: bool,
}

/// The sender's seven registers, under the names of the authors' modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IrnState {
    /// Next new PSN.
    pub nxt: Psn,
    /// Cumulative ACK: the lowest PSN not acknowledged.
    pub una: Psn,
    /// PSN of the last or next retransmission.
    pub rtx: Psn,
    /// Recovery ends when this is acknowledged: the last new PSN sent before the last retransmission.
    pub rec: Psn,
    /// The retransmission of `rtx` is due.
    pub pend: bool,
    /// In recovery.
    pub in_rec: bool,
    /// The next hole above `rtx` is yet to be searched for in the bitmap.
    pub scan: bool,
}

/// The sending side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IrnSender {
    nxt: Psn,
    una: Psn,
    rtx: Psn,
    rec: Psn,
    pend: bool,
    in_rec: bool,
    scan: bool,
    /// NACKs with this `una`, while not in recovery.
    nacks: u32,
    /// Bit j: PSN una + j is selectively acknowledged.
    bitmap: Bitmap,
    options: IrnOptions,
}

impl IrnSender {
    /// A sender whose first packet is number `first`.
    pub fn new(options: IrnOptions, first: Psn) -> Self {
        Self {
            nxt: first,
            una: first,
            rtx: first,
            rec: first,
            pend: false,
            in_rec: false,
            scan: false,
            nacks: 0,
            bitmap: Bitmap::new(),
            options,
        }
    }

    /// One transmission opportunity (module txFree): the packet to send and whether it was sent before.
    /// `more`: a new packet exists, `nxt` < n; `cap`: BDP-FC, which holds back new packets only.
    ///
    /// `None` although [`IrnSender::can_send`]: the opportunity was spent on the search for a hole; retry.
    pub fn tx_free(&mut self, more: bool, cap: u32) -> Option<(Psn, bool)> {
        let mut sent = None;
        if self.pend && self.rtx.minus(self.una) >= 0 {
            // 1. A retransmission, whatever the cap.
            self.in_rec |= self.rtx == self.una;
            self.rec = self.nxt.plus(u32::MAX); // nxt − 1
            self.pend = false;
            self.scan = self.options.sack;
            sent = Some((self.rtx, true));
        } else {
            // 2. A new packet. A retransmission that was acknowledged in the meantime is forgotten.
            self.scan &= !self.pend;
            self.pend = false;
            if more && self.in_flight() < cap.min(MAX_IN_FLIGHT) {
                sent = Some((self.nxt, false));
                self.nxt = self.nxt.plus(1);
            }
        }
        // 3. The next hole: not acknowledged although something above it is. It leaves at the next opportunity.
        if self.scan {
            let from = self.rtx.plus(1).minus(self.una).max(0) as u32;
            if let Some(hole) = self.bitmap.lowest_zero_below_a_one(from) {
                self.rtx = self.una.plus(hole);
                self.pend = true;
            }
            self.scan = false;
        }
        sent
    }

    /// Whether a transmission opportunity would be of use. A sender blocked by the cap still needs it to look
    /// for holes.
    #[inline]
    pub fn can_send(&self, more: bool, cap: u32) -> bool {
        self.pend || self.scan || (more && self.in_flight() < cap.min(MAX_IN_FLIGHT))
    }

    /// An ACK, or a NACK, whose cumulative field is `cum`, sent because PSN `sack` arrived (module
    /// receiveAck). The order of the steps matters.
    pub fn on_ack(&mut self, cum: Psn, sack: Psn, nack: bool) -> Acked {
        let before = self.pend.then_some(self.rtx);
        let mut acked = Acked::default();
        // 1. After an error restart: what was sent before it has arrived after all.
        if cum.minus(self.nxt) > 0 {
            self.nxt = cum;
        }
        // 2.
        let advance = cum.minus(self.una);
        if advance > 0 {
            acked.advanced = advance as u32;
            acked.absorbed = self.bitmap.shift(acked.advanced);
            self.una = cum;
            self.nacks = 0;
        }
        // 3.
        if nack && self.options.sack {
            acked.sacked = self.on_sack(sack);
        }
        // 4. Strictly greater; also when not in recovery.
        if cum.minus(self.rec) > 0 {
            (self.in_rec, self.scan, self.pend) = (false, false, false);
        }
        // 5.
        if advance > 0 && self.in_rec {
            // Partial ACK: una is lost; no SACK above it is needed.
            let ahead = self.rtx.minus(self.una);
            if ahead < 0 || (ahead == 0 && self.pend) {
                self.resend_una();
            }
        } else if nack && !self.in_rec && self.una != self.nxt && self.counts(advance) {
            // in_rec itself is set when una leaves.
            self.nacks = self.nacks.saturating_add(1);
            if self.nacks >= self.options.nack_threshold {
                self.resend_una();
            }
        }
        // Serial numbers mean something only within 2²³ of each other, and a flow without losses never moves rec.
        if self.una.minus(self.rec) > 1 << (Psn::BITS - 2) {
            self.rec = self.una.plus(u32::MAX);
        }
        acked.lost = self.pend && before != Some(self.rtx);
        acked
    }

    /// Whether a NACK that moved `una` by `advance` counts towards the threshold.
    fn counts(&self, advance: i32) -> bool {
        match advance {
            0 => true,
            // CHOICE IRN §4.6: what may not begin recovery does not count towards it either.
            1.. => self.options.enter_on_advance,
            // CHOICE IRN §4.6: overtaken by a later ACK. The authors' modules do not look; where packets overtake each
            // other it has another cumulative field, so it does not count.
            _ => self.options.nack_threshold <= 1,
        }
    }

    /// Step 3 of [`IrnSender::on_ack`]: how many packets were named for the first time (0 or 1).
    fn on_sack(&mut self, sack: Psn) -> u32 {
        let at = sack.minus(self.una);
        let fresh = at >= 0 && self.bitmap.set(at as u32);
        if self.in_rec {
            if self.pend && self.rtx == sack {
                (self.pend, self.scan) = (false, true);
            } else if !self.pend && self.bitmap.top() as i32 <= at.max(-1) + 1 {
                self.scan = true; // nothing above it is acknowledged: the highest so far
            }
        }
        u32::from(fresh)
    }

    fn resend_una(&mut self) {
        (self.rtx, self.pend, self.scan) = (self.una, true, false);
    }

    /// The retransmission timer fires (module timeout; whether it does is decided outside). What is
    /// selectively acknowledged stays so. Nothing happens if nothing is outstanding.
    pub fn on_timeout(&mut self) {
        if self.una != self.nxt {
            self.resend_una();
        }
    }

    /// Packets sent and not cumulatively acknowledged, those selectively acknowledged included.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.nxt.minus(self.una) as u32
    }

    /// Of these, how many are selectively acknowledged.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.bitmap.ones()
    }

    /// The next opportunity goes to a retransmission that is still needed.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.pend && self.rtx.minus(self.una) >= 0
    }

    /// The lowest PSN not acknowledged.
    #[inline]
    pub fn una(&self) -> Psn {
        self.una
    }

    /// Loss repair is under way.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.in_rec
    }

    /// All registers.
    pub fn state(&self) -> IrnState {
        let &Self { nxt, una, rtx, rec, pend, in_rec, scan, .. } = self;
        IrnState { nxt, una, rtx, rec, pend, in_rec, scan }
    }

    /// Whether `psn` is selectively acknowledged.
    #[cfg(test)]
    pub(crate) fn is_sacked(&self, psn: Psn) -> bool {
        let at = psn.minus(self.una);
        at >= 0 && self.bitmap.get(at as u32)
    }

    /// An error NACK for `psn` (receiver not ready and the like): everything from there on is sent again, as
    /// if new. One that was overtaken by a later ACK is ignored.
    pub fn restart(&mut self, psn: Psn) {
        if psn.minus(self.una) < 0 {
            return;
        }
        self.bitmap.clear();
        (self.una, self.nxt) = (psn, psn);
        (self.in_rec, self.pend, self.scan, self.nacks) = (false, false, false, 0);
    }
}
