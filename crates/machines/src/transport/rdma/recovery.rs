//! The sender's loss recovery, whichever it is: packets are counted from the flow's first, PSNs stay inside.

use super::super::{RdmaSpec, Recovery};
use super::Psn;
use super::drop_notified::DropNotifiedSender;
use super::go_back_n::GoBackNSender;
use super::irn::{IrnOptions, IrnSender};
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Loss recovery of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum LossRecovery {
    /// RoCE.
    GoBackN(GoBackNSender),
    /// Senders are notified of drops. Boxed, because it is rare and large.
    DropNotified(Box<DropNotifiedSender>),
    /// IRN; `una` is its cumulative ACK counted from the flow's first packet.
    Selective { irn: IrnSender, una: u64 },
}

/// The packet that leaves at a transmission opportunity.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) index: u64,
    /// It was sent before.
    pub(super) again: bool,
    /// Recovery begins with it.
    pub(super) enters: bool,
}

/// What an acknowledgement changed, in packets.
#[derive(Clone, Copy, Default)]
pub(super) struct AckOutcome {
    pub(super) advanced: u64,
    pub(super) sacked: u64,
    pub(super) absorbed: u64,
    /// Something was found lost.
    pub(super) lost: bool,
}

impl LossRecovery {
    pub(super) fn new(spec: &RdmaSpec) -> Self {
        match spec.recovery {
            Recovery::GoBackN { .. } => Self::GoBackN(GoBackNSender::default()),
            Recovery::DropNotified => Self::DropNotified(Box::default()),
            Recovery::Irn { sack, nack_threshold, enter_on_advance } => {
                // CHOICE IRN §4.3.1: a fresh queue pair per flow, whose PSNs start at 0.
                let options = IrnOptions { sack, nack_threshold, enter_on_advance };
                Self::Selective { irn: IrnSender::new(options, Psn::new(0)), una: 0 }
            }
        }
    }

    /// One transmission opportunity.
    #[inline]
    pub(super) fn tx_free(&mut self, more: bool, cap: u32) -> Option<Sent> {
        match self {
            Self::GoBackN(gbn) => {
                let (index, again) = gbn.tx_free(more, wide(cap))?;
                Some(Sent { index, again, enters: false })
            }
            Self::DropNotified(notified) => {
                let (index, again, enters) = notified.tx_free(more, wide(cap))?;
                Some(Sent { index, again, enters })
            }
            Self::Selective { irn, una } => {
                let (before, first) = (irn.in_recovery(), irn.una());
                let (psn, again) = irn.tx_free(more, cap)?;
                let index = *una + psn.minus(first) as u64;
                Some(Sent { index, again, enters: irn.in_recovery() && !before })
            }
        }
    }

    /// Whether a packet may be sent.
    #[inline]
    pub(super) fn can_send(&self, more: bool, cap: u32) -> bool {
        match self {
            Self::GoBackN(gbn) => gbn.can_send(more, wide(cap)),
            Self::DropNotified(notified) => notified.can_send(more, wide(cap)),
            Self::Selective { irn, .. } => irn.can_send(more, cap),
        }
    }

    /// The next packet to leave is a retransmission.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        match self {
            Self::GoBackN(gbn) => gbn.is_pending(),
            Self::DropNotified(notified) => notified.is_pending(),
            Self::Selective { irn, .. } => irn.is_pending(),
        }
    }

    /// An ACK or a NACK; only of packets below [`Recovery::high`].
    #[inline]
    pub(super) fn on_ack(&mut self, cum: u64, named: u64, nack: bool) -> AckOutcome {
        match self {
            Self::GoBackN(gbn) if nack => match gbn.on_nack(cum) {
                Some(advanced) => AckOutcome { advanced, lost: true, ..AckOutcome::default() },
                None => AckOutcome::default(),
            },
            Self::GoBackN(gbn) => AckOutcome { advanced: gbn.on_ack(cum), ..AckOutcome::default() },
            Self::DropNotified(notified) => {
                let (advanced, absorbed, sacked) = notified.on_ack(cum, named, nack);
                AckOutcome { advanced, sacked, absorbed, lost: false }
            }
            Self::Selective { irn, una } => {
                // Distances wrap like the numbers themselves.
                let psn = |index: u64| irn.una().plus(index.wrapping_sub(*una) as u32);
                let acked = irn.on_ack(psn(cum), psn(named), nack);
                *una += u64::from(acked.advanced);
                AckOutcome {
                    advanced: u64::from(acked.advanced),
                    sacked: u64::from(acked.sacked),
                    absorbed: u64::from(acked.absorbed),
                    lost: acked.lost,
                }
            }
        }
    }

    /// A loss makes the sender retransmit everything after it (go-back-N).
    #[inline]
    pub(super) fn goes_back(&self) -> bool {
        matches!(self, Self::GoBackN(_))
    }

    /// The retransmission timer fires.
    pub(super) fn on_timeout(&mut self) {
        match self {
            Self::GoBackN(gbn) => gbn.on_timeout(),
            Self::DropNotified(notified) => notified.on_timeout(),
            Self::Selective { irn, .. } => irn.on_timeout(),
        }
    }

    /// Lowest packet not acknowledged.
    #[inline]
    pub(super) fn una(&self) -> u64 {
        match self {
            Self::GoBackN(gbn) => gbn.una(),
            Self::DropNotified(notified) => notified.una,
            Self::Selective { una, .. } => *una,
        }
    }

    /// Next packet to send as new, or again after going back.
    #[inline]
    pub(super) fn nxt(&self) -> u64 {
        self.una() + self.in_flight()
    }

    /// One more than the highest packet ever sent.
    #[inline]
    pub(super) fn high(&self) -> u64 {
        match self {
            Self::GoBackN(gbn) => gbn.high(),
            Self::DropNotified(_) | Self::Selective { .. } => self.nxt(),
        }
    }

    /// Packets sent and not cumulatively acknowledged: what BDP-FC counts.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        match self {
            Self::GoBackN(gbn) => gbn.in_flight(),
            Self::DropNotified(notified) => notified.nxt - notified.una,
            Self::Selective { irn, .. } => u64::from(irn.in_flight()),
        }
    }

    /// Packets selectively acknowledged.
    #[inline]
    pub(super) fn sacked(&self) -> u64 {
        match self {
            Self::GoBackN(_) => 0,
            Self::DropNotified(notified) => notified.sacked(),
            Self::Selective { irn, .. } => u64::from(irn.sacked()),
        }
    }

    /// A loss is being repaired.
    #[inline]
    pub(super) fn in_recovery(&self) -> bool {
        match self {
            Self::GoBackN(gbn) => gbn.in_recovery(),
            Self::DropNotified(notified) => notified.is_pending(),
            Self::Selective { irn, .. } => irn.in_recovery(),
        }
    }

    /// A switch has dropped a packet; the sender is notified of it at the instant `at`.
    #[cold]
    pub(super) fn announce(&mut self, index: u64, at: Time) {
        if let Self::DropNotified(notified) = self {
            notified.announce(index, at);
        }
    }

    /// Takes in drop notifications that have arrived until `now`.
    #[inline]
    pub(super) fn take_notifications(&mut self, now: Time) {
        if let Self::DropNotified(notified) = self {
            notified.take_notifications(now);
        }
    }

    /// When the next drop notification arrives; [`Time::MAX`]: none is under way.
    #[inline]
    pub(super) fn next_notification(&self) -> Time {
        if let Self::DropNotified(notified) = self { notified.next_notification() } else { Time::MAX }
    }
}

/// `u32::MAX` means no cap, however many packets are in flight.
#[inline]
fn wide(cap: u32) -> u64 {
    if cap == u32::MAX { u64::MAX } else { u64::from(cap) }
}
