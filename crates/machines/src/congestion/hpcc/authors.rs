//! HPCC as its authors' simulator has it (alibaba-edu/High-Precision-Congestion-Control, CC_MODE 3, one rate
//! for all hops), to compare with it. Next to Algorithm 1:
//!
//! - a rate is kept, in whole bits per second, not a window; the window is W_init in proportion to it;
//! - telemetry travels in few bits: time in 24 bits of nanoseconds, bytes sent in 20 bits of 128 B, the queue
//!   in 17 bits of 80 B, both units multiplied by the line's rate over 25 Gb/s;
//! - W_AI is a rate, and there is a smallest rate;
//! - its header has no path id. CHOICE HPCC §4.1: it is compared here too, for in its authors' runs every flow keeps
//!   one path, and nothing shows the difference. Other reading: bytes of one port less those of another, a rate of
//!   nothing;
//! - a change of the rate moves the next departure, by what the gap after the last packet changes
//!   ([`Needs::moves_departures`](crate::congestion::Needs::moves_departures)).

use super::{Limits, Params};
use crate::congestion::{AckSample, CongestionControl, Feedback, Loss, Permit, Start};
use serde::{Deserialize, Serialize};
use thalweg_units::Rate;
use thalweg_wire::{IntHop, IntStack};

pub(super) fn additive() -> Rate {
    Rate::from_mbps(40) // the repository's run.py at 100 Gb/s
}

pub(super) fn min_rate() -> Rate {
    Rate::from_gbps(1) // the repository's run.py at 100 Gb/s
}

/// The largest values of the header's fields.
const TIME: u64 = (1 << 24) - 1;
const BYTES: u64 = (1 << 20) - 1;
const QUEUE: u64 = (1 << 17) - 1;
/// Their units at 25 Gb/s.
const BYTES_UNIT: u64 = 128;
const QUEUE_UNIT: u64 = 80;

/// HPCC's rate in the authors' simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuthorsHpcc {
    eta: f64,
    max_stage: u32,
    /// T, nanoseconds.
    base_rtt: u64,
    /// W_init, bytes.
    win: u64,
    /// By what the units of the fields are multiplied.
    multi: u64,
    additive: Rate,
    min_rate: Rate,
    /// What the links reported in the ACK before.
    l: IntStack,
    /// U.
    u: f64,
    /// R^c.
    cur_rate: Rate,
    inc_stage: u32,
    last_update_seq: u64,
    limits: Limits,
    permit: Permit,
}

/// A hop as its header has it, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub time: u64,
    pub bytes: u64,
    pub queue: u64,
}

impl Fields {
    pub(super) fn of(hop: &IntHop, multi: u64) -> Self {
        Self {
            time: (hop.at.ps() / 1000) & TIME,
            bytes: (hop.tx_bytes / (BYTES_UNIT * multi)) & BYTES,
            queue: (hop.queue / (QUEUE_UNIT * multi)) & QUEUE,
        }
    }
}

impl AuthorsHpcc {
    pub(super) fn new(start: &Start, params: &Params, additive: Rate, min_rate: Rate) -> Self {
        let base_rtt = params.base_rtt.unwrap_or(start.base_rtt).ps() / 1000;
        let bits = u128::from(base_rtt) * u128::from(start.line_rate.bps()) / 1_000_000_000;
        let win = u64::try_from(bits / 8).unwrap_or(u64::MAX);
        let limits = Limits::from(start);
        Self {
            eta: params.eta,
            max_stage: params.max_stage,
            base_rtt: base_rtt.max(1),
            win: win.max(1),
            multi: (start.line_rate.bps() / 25_000_000_000).max(1),
            additive,
            min_rate,
            l: IntStack::default(),
            u: 1.0,
            cur_rate: start.line_rate,
            inc_stage: 0,
            last_update_seq: 0,
            permit: limits.permit(win, start.line_rate),
            limits,
        }
    }

    /// The utilisation of the busiest link, averaged.
    fn measure(&mut self, ack_l: &[IntHop]) {
        let (mut max, mut dt) = (0.0, 0);
        for (new, old) in ack_l.iter().zip(self.l.as_slice()) {
            let line = new.rate.bps() as f64;
            let (new, old) = (Fields::of(new, self.multi), Fields::of(old, self.multi));
            let tau = new.time.wrapping_sub(old.time) & TIME;
            let bytes = (new.bytes.wrapping_sub(old.bytes) & BYTES) * BYTES_UNIT * self.multi;
            let queue = new.queue.min(old.queue) * QUEUE_UNIT * self.multi;
            let tx_rate = (bytes * 8) as f64 / (tau as f64 * 1e-9);
            let waiting = queue as f64 * self.limits.line_rate.bps() as f64 / line / self.win as f64;
            let u = tx_rate / line + waiting;
            if u > max && tau > 0 {
                (max, dt) = (u, tau);
            }
        }
        let dt = dt.min(self.base_rtt);
        self.u = (self.u * (self.base_rtt - dt) as f64 + max * dt as f64) / self.base_rtt as f64;
    }

    fn update(&mut self, whole: bool) {
        let c = self.u / self.eta;
        let (rate, inc_stage) = if c >= 1.0 || self.inc_stage >= self.max_stage {
            (Rate::from_bps((self.cur_rate.bps() as f64 / c) as u64), 0)
        } else {
            (self.cur_rate, self.inc_stage + 1)
        };
        let rate = Rate::from_bps(rate.bps().saturating_add(self.additive.bps()));
        let rate = rate.max(self.min_rate).min(self.limits.line_rate);
        let win = u128::from(self.win) * u128::from(rate.bps()) / u128::from(self.limits.line_rate.bps());
        self.permit = self.limits.permit(win as u64, rate);
        if whole {
            (self.cur_rate, self.inc_stage) = (rate, inc_stage);
        }
    }
}

impl CongestionControl for AuthorsHpcc {
    fn on_ack(&mut self, ack: &AckSample) {
        let Feedback::Int(ack_l) = ack.feedback else { return };
        if ack_l.as_slice().is_empty() {
            return;
        }
        let whole = ack.acked_to > self.last_update_seq;
        if self.l.path() == ack_l.path() && self.l.as_slice().len() == ack_l.as_slice().len() {
            self.measure(ack_l.as_slice());
            self.update(whole);
        }
        self.l.copy_from(ack_l);
        if whole {
            self.last_update_seq = self.last_update_seq.max(ack.sent_to);
        }
    }

    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}

    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }
}
