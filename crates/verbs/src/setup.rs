//! What the two ends agree on when they connect.

use crate::wire::{Dialect, MAX_PAYLOAD, RnrTimer};
use thalweg_machines::transport::rdma::Psn;
use thalweg_machines::transport::rdma::irn::IrnOptions;
use thalweg_units::Span;

/// A queue pair's constants: the same at both ends, but for the numbers of queue pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// What both speak: see [`Setup::negotiate`].
    pub dialect: Dialect,
    /// Number of the requester's queue pair: where answers go.
    pub requester_qp: u32,
    /// Number of the responder's queue pair: where requests go.
    pub responder_qp: u32,
    /// Payload bytes of a full packet.
    pub mtu: u32,
    /// BDP-FC: packets in flight at most, in each space of numbers.
    pub cap: u32,
    /// Variants of IRN's loss recovery.
    pub options: IrnOptions,
    /// RTO_low: fires with few packets in flight. Not used by RoCE.
    pub rto_low: Span,
    /// RTO_high.
    pub rto_high: Span,
    /// N: RTO_low fires with at most so many packets in flight.
    pub low_in_flight: u32,
    /// What follows when the responder refuses a request.
    pub retry: Retry,
    /// Reads and Atomics that may be outstanding: the size of the responder's Read WQE buffer, a power of two.
    pub read_slots: u32,
    /// Receive WQEs that the responder has posted before the first request; it reports others in its ACKs.
    pub initial_credits: u32,
    /// The responder takes Receive WQEs from its shared queue. Credits are then not counted.
    pub shared_receives: bool,
    /// The first request packet's number (sPSN).
    pub first_request: Psn,
    /// The first response packet's number (rPSN). RoCE numbers responses as it numbers requests.
    pub first_response: Psn,
}

/// When a request that the responder refused is sent again, and how often.
///
/// ```text
/// CHOICE IRN §4.4: an error NACK other than "not ready" carries no pause; its request is sent again after RTO_low.
/// InfiniBand's requester never sends it again (`refusals` = 1).
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retry {
    /// The responder's: its "not ready" NAKs carry this pause, which the requester makes before it sends again.
    pub min_rnr_timer: RnrTimer,
    /// The requester's: so often it sends a request again that met "not ready", with nothing achieved in between,
    /// before the queue pair fails. At most 7, which means for ever ([`Retry::FOR_EVER`]).
    pub rnr_retry: u8,
    /// The requester's: other refusals of one request, with nothing achieved in between, after which the queue pair
    /// fails. At least 1.
    pub refusals: u32,
}

impl Retry {
    /// The [`Retry::rnr_retry`] that InfiniBand does not count down.
    pub const FOR_EVER: u8 = 7;
}

impl Default for Retry {
    /// 120 us, for ever; 3.
    fn default() -> Self {
        Self { min_rnr_timer: RnrTimer::from_code(7), rnr_retry: Self::FOR_EVER, refusals: 3 }
    }
}

impl Default for Setup {
    /// IRN's of §4.3.1, 40 Gb/s and 24 us.
    fn default() -> Self {
        Self {
            dialect: Dialect::Irn,
            requester_qp: 1,
            responder_qp: 2,
            mtu: 1024,
            cap: 110,
            options: IrnOptions::default(),
            rto_low: Span::from_us(100),
            rto_high: Span::from_us(320),
            low_in_flight: 3,
            retry: Retry::default(),
            read_slots: 16,
            initial_credits: 0,
            shared_receives: false,
            first_request: Psn::new(0),
            first_response: Psn::new(0),
        }
    }
}

/// A value out of range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetupError(&'static str);

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
impl std::error::Error for SetupError {}

impl Setup {
    /// What a queue pair speaks (§4.6): IRN if both ends offer it, or else RoCE.
    pub fn negotiate(requester: Dialect, responder: Dialect) -> Dialect {
        if (requester, responder) == (Dialect::Irn, Dialect::Irn) { Dialect::Irn } else { Dialect::Roce }
    }

    /// # Errors
    /// If a value is out of range; the message names it.
    pub fn check(&self) -> Result<(), SetupError> {
        let rules = [
            (self.mtu >= 1 && self.mtu as usize <= MAX_PAYLOAD, "mtu must be 1 to 4096 bytes"),
            (self.cap >= 1 && self.cap <= 1 << 20, "cap must be 1 to 1048576 packets"),
            (
                self.read_slots.is_power_of_two() && self.read_slots <= 1 << 16,
                "read_slots must be a power of two",
            ),
            (
                !self.rto_low.is_zero() && self.rto_low <= self.rto_high,
                "rto_low must be above 0, and at most rto_high",
            ),
            (self.retry.rnr_retry <= Retry::FOR_EVER, "rnr_retry must be 0 to 7: 7 means for ever"),
            (self.retry.refusals > 0, "refusals must be at least 1: the first one ends the queue pair"),
            (self.requester_qp >> 24 == 0 && self.responder_qp >> 24 == 0, "queue pair numbers have 24 bits"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, what)| Err(SetupError(what)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_falls_back_to_roce_unless_both_ends_offer_irn() {
        use Dialect::*;
        assert_eq!(Setup::negotiate(Irn, Irn), Irn);
        for (a, b) in [(Irn, Roce), (Roce, Irn), (Roce, Roce)] {
            assert_eq!(Setup::negotiate(a, b), Roce);
        }
    }

    #[test]
    fn values_out_of_range_are_named() {
        assert_eq!(Setup::default().check(), Ok(()));
        let refused = |odd: Setup| odd.check().unwrap_err().to_string();
        let retry = |retry| Setup { retry, ..Setup::default() };
        let odd = Setup { read_slots: 12, ..Setup::default() };
        assert_eq!(refused(odd), "read_slots must be a power of two");
        assert!(
            refused(retry(Retry { rnr_retry: 8, ..Retry::default() }))
                .starts_with("rnr_retry must be 0 to 7")
        );
        assert!(
            refused(retry(Retry { refusals: 0, ..Retry::default() }))
                .starts_with("refusals must be at least 1")
        );
    }
}
