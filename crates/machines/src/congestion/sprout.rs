//! Sprout: the window is what the receiver forecasts, with high confidence, that the link will deliver. Winstein,
//! Sivaraman, Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks", NSDI
//! 2013, §3, with the constants of the authors' published code (keithw/sprout). Needs: forecasts in ACKs, which the
//! receiving end of TCP makes (`crate::forecast`); over TCP only.
//!
//! The sender tracks what it has sent and what is still queued according to the forecast, and sends as much more as the
//! forecast delivers within the next 100 ms.
//!
//! ```text
//! CHOICE Sprout §3.5: a packet is a segment. Other reading: 1440 B, as the authors' program sends.
//! CHOICE Sprout §3.5: a forecast comes with every ACK, and with one of its own when a tick is over; one that
//! the sender has already is not taken for new.
//! CHOICE Sprout §3.4: when nothing may leave for 50 ms a segment leaves all the same, so that the receiver
//! has something to observe, but no more of them are in flight than so leave in a round trip. Other reading:
//! empty packets, as the authors' program sends; with packets of any size they are one byte long, and leave
//! every 50 ms whatever is in flight.
//! CHOICE Sprout §3.5: losses and timeouts change nothing but what is in flight: the protocol does not retransmit.
//! CHOICE Sprout §3.3, §3.5: what the authors' program does that the paper does not say is three keys, each
//! of which works alone; as the paper has it, a forecast's ticks depend on each other, as the rate's do. A
//! fourth makes no difference where a forecast comes with every tick, and is not here: with each tick that
//! passes the program takes off the forecast for all ticks until then.
//! CHOICE Sprout §3.4: the last packet of a flight is flagged, and promises the next within 50 ms; the authors'
//! header has the time.
//! ```

use super::{
    AckSample, Calls, CongestionControl, Explicit, ExplicitKind, Feedback, FeedbackKind, Gives, Loss, Needs,
    Parameters, Permit, Start,
};
use crate::forecast::{Forecaster, KEEP_ALIVE, TICK};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::{Forecast, Reading};

/// Sprout: a window by cautious forecasts of what a cellular link delivers (Winstein et al., NSDI 2013).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Forecasts treat deliveries in different ticks as independent, as the authors' program does, which makes
    /// forecasts higher. Otherwise, as in the paper, a link that is slow in one tick is expected to be slow in the
    /// next.
    pub independent: bool,
    /// Packets may be of any size: as small as the open window, and one byte for keep-alives, as in the authors'
    /// program. Otherwise all are full segments.
    pub any_size: bool,
    /// The receiver counts bytes, 1400 B as a packet and any arrival as at least one, and forecasts packets of 1440 B,
    /// as the authors' program does.
    pub bytes: bool,
}

impl Default for Params {
    // CHOICE Sprout §5: what was measured and published is the authors' program. Other reading: the paper's text
    // alone, all three keys false; where a round trip takes 100 ms it comes down to keep-alives.
    fn default() -> Self {
        Self { independent: true, any_size: true, bytes: true }
    }
}

impl Parameters for Params {
    type Machine = Sprout;

    fn needs(&self) -> Needs {
        let feedback = FeedbackKind::Explicit(ExplicitKind::Forecast(self.reading()));
        Needs {
            feedback,
            round_trips: true,
            gives: Gives::OwnWindow,
            exact: self.any_size,
            calls: Calls::Both,
            ..Needs::WINDOW
        }
    }

    fn make(&self, start: &Start) -> Result<Sprout, Invalid> {
        Ok(Sprout::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default(), Self { independent: false, any_size: false, bytes: false }]
    }
}

impl Params {
    fn reading(&self) -> Reading {
        Reading::new(self.independent, self.bytes)
    }
}

/// How far ahead the sender looks, ticks: 100 ms.
const LOOK_AHEAD: usize = 5;
/// A packet of the authors' program.
const PACKET: u64 = 1440;

/// Sprout's window, bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprout {
    params: Params,
    mss: u64,
    max_window: u64,
    /// The newest forecast and when it came; before the first, one without any knowledge of the link.
    forecast: Forecast,
    came: Option<Time>,
    /// Ticks of it that have passed.
    passed: usize,
    /// Bytes that are still queued according to the forecast.
    queue: u64,
    in_flight: u64,
    rtt: Span,
    /// When the last packet was sent, and whether a keep-alive is due.
    sent: Time,
    alive: bool,
    permit: Permit,
}

impl Sprout {
    fn new(start: &Start, params: Params) -> Self {
        let mut s = Self {
            params,
            mss: u64::from(start.mss),
            max_window: start.max_window.get().max(u64::from(start.mss)),
            forecast: Forecaster::new(params.reading(), start.mss).forecast(),
            came: None,
            passed: 0,
            queue: 0,
            in_flight: 0,
            rtt: start.base_rtt,
            sent: Time::ZERO,
            alive: false,
            permit: Permit::default(),
        };
        s.set_permit(None);
        s
    }

    /// Bytes delivered within `ticks` + 1 ticks according to the forecast.
    fn delivered(&self, ticks: usize) -> u64 {
        let last = Forecast::TICKS - 1;
        let packet = if self.params.bytes { PACKET } else { self.mss };
        u64::from(self.forecast.delivers[ticks.min(last)]) * packet
    }

    /// The size of a keep-alive.
    fn least(&self) -> u64 {
        if self.params.any_size { 1 } else { self.mss }
    }

    /// §3.5: with every tick that passes, what the forecast delivers in it leaves the queue.
    fn pass(&mut self, now: Time) {
        let Some(came) = self.came else { return };
        let ticks = (now.since(came).ps() / TICK.ps()).min(Forecast::TICKS as u64 - 1) as usize;
        while self.passed < ticks {
            let before = if self.passed == 0 { 0 } else { self.delivered(self.passed - 1) };
            let left = self.delivered(self.passed).saturating_sub(before);
            self.queue = self.queue.saturating_sub(left);
            self.passed += 1;
        }
    }

    /// A keep-alive may leave: those are in flight, at most, that leave every 50 ms.
    fn quiet(&self) -> bool {
        self.params.any_size || self.in_flight <= self.mss * (1 + self.rtt.ps() / KEEP_ALIVE.ps())
    }

    /// Keep-alives of a byte leave at their instants, not with the tick after that.
    fn earlier(&self, tick: Option<Time>, now: Option<Time>) -> Option<Time> {
        let now = now?;
        let due = self.sent.saturating_add(KEEP_ALIVE);
        let due = if due > now { due } else { now.saturating_add(KEEP_ALIVE) };
        Some(tick.map_or(due, |tick| tick.min(due)))
    }

    fn set_permit(&mut self, now: Option<Time>) {
        let until = self.delivered(self.passed + LOOK_AHEAD);
        let ahead = until.saturating_sub(self.delivered(self.passed));
        let more = ahead.saturating_sub(self.queue);
        let more = if self.alive { more.max(self.least()) } else { more };
        let window = (self.in_flight + more).clamp(self.least(), self.max_window);
        let wake = match (self.came, now) {
            (Some(came), Some(now)) => {
                // The next tick of the forecast; after its end, the next tick for keep-alives.
                let ticks = now.since(came).ps() / TICK.ps() + 1;
                Some(came.saturating_add(TICK.saturating_mul(ticks)))
            }
            _ => None,
        };
        let wake = if self.params.any_size { self.earlier(wake, now) } else { wake };
        self.permit = Permit { window: Bytes::new(window), pace: None, wake };
    }
}

impl CongestionControl for Sprout {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.in_flight = in_flight.get();
        self.queue += bytes.get();
        (self.sent, self.alive) = (now, false);
        self.pass(now);
        self.set_permit(Some(now));
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.rtt = ack.rtt.unwrap_or(self.rtt);
        self.on_feedback(ack.now, ack.feedback, ack.in_flight);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>, in_flight: Bytes) {
        self.in_flight = in_flight.get();
        if let Feedback::Explicit(Explicit::Forecast(reported)) = feedback
            && (self.came.is_none() || reported.tick != self.forecast.tick)
        {
            (self.forecast, self.came, self.passed) = (reported, Some(now), 0);
            self.queue = self.in_flight;
        }
        self.pass(now);
        self.set_permit(Some(now));
    }

    fn on_loss(&mut self, _: &Loss) {}

    fn on_timeout(&mut self, loss: &Loss) {
        (self.in_flight, self.queue) = (0, 0);
        self.set_permit(Some(loss.now));
    }

    fn on_tick(&mut self, now: Time) {
        self.pass(now);
        self.alive = now.since(self.sent) >= KEEP_ALIVE && self.quiet();
        self.set_permit(Some(now));
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }
}

#[cfg(test)]
mod tests;
