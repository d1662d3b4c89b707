//! What a flow has measured of its path: round trips, S and R, the bottleneck's rate. Goyal 2022, §4.3.1.

use super::super::{AckSample, Delivery, Report, Start};
use super::capacity::Capacity;
use super::params::Params;
use super::seen::Seen;
use crate::elasticity::{Flight, Meter, Passage, cross_traffic};
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// Gain of the smoothed round trip per tick: twice that of the published implementation's reports.
const SMOOTHS: f64 = 0.1;

/// Segments, as they are counted here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Segment {
    /// Payload bytes.
    pub(super) mss: f64,
    /// Bytes on the wire per byte of payload.
    pub(super) overhead: f64,
}

/// Round trips, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Path {
    pub(super) last: f64,
    /// x_min.
    // CHOICE: it never expires (the published implementation): routes that change are out of the thesis' scope.
    least: f64,
    pub(super) smoothed: f64,
}

impl Path {
    fn on_sample(&mut self, rtt: Span) {
        self.last = rtt.secs().max(1e-9);
        self.least = self.least.min(self.last);
    }

    /// The smallest round trip so far; before one was measured, the expected one.
    pub(super) fn least(&self) -> f64 {
        self.least.min(self.last)
    }
}

/// What a flow has measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    segment: Segment,
    pub(super) path: Path,
    meter: Meter,
    capacity: Capacity,
    /// Payload bytes acknowledged since the last tick.
    acked: u64,
    app_limited: bool,
}

impl Measured {
    pub(super) fn new(start: &Start, params: &Params) -> Self {
        let mss = f64::from(start.mss);
        let overhead = 1.0 + f64::from(start.header) / mss;
        let rtt = start.base_rtt.secs().max(1e-6);
        Self {
            segment: Segment { mss, overhead },
            path: Path { last: rtt, least: f64::INFINITY, smoothed: rtt },
            meter: Meter::new(overhead, params.measure_over),
            capacity: Capacity::new(params),
            acked: 0,
            app_limited: false,
        }
    }

    pub(super) fn segment(&self) -> Segment {
        self.segment
    }

    /// µ̂, B/s.
    pub(super) fn mu(&self) -> f64 {
        self.capacity.rate()
    }

    /// S and R, B/s.
    pub(super) fn flight(&self) -> Flight {
        self.meter.flight()
    }

    /// ẑ, B/s.
    pub(super) fn cross(&self) -> f64 {
        let Flight { sent, received } = self.flight();
        cross_traffic(self.mu(), sent, received)
    }

    /// S, R and µ̂ are valid: packets have arrived, and the application did not limit the flow.
    pub(super) fn counts(&self) -> bool {
        !self.app_limited && self.flight().received > 0.0 && self.mu() > 0.0
    }

    /// The handshake's round trip.
    pub(super) fn on_open(&mut self, rtt: Span) {
        self.path.on_sample(rtt);
        self.path.smoothed = self.path.last;
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample<'_>) {
        if let Some(rtt) = ack.rtt {
            self.path.on_sample(rtt);
        }
        self.app_limited = ack.app_limited;
        self.acked += (ack.acked + ack.sacked).get();
        // A segment that was sent twice gives no sample: which copy arrived is not known.
        let Some(of) = ack.delivery.as_ref().filter(|of| !of.resent) else { return };
        let (sent, total) = (of.sent, of.total.get());
        let Delivery { departures, arrivals, .. } = *of;
        let passage = Passage { delivered: of.delivered.get(), departures, arrivals, sent, total };
        self.meter.on_ack(ack.now, &passage);
        self.capacity.on_ack(ack.now, sent, total, self.segment.overhead);
    }

    pub(super) fn on_tick(&mut self) {
        self.path.smoothed += (self.path.last - self.path.smoothed) * SMOOTHS;
        self.capacity.on_tick(self.meter.flight());
    }

    /// All of it, as delay modes are given it, with what was acknowledged since [`Measured::begin`].
    pub(super) fn seen(&self, now: Time) -> Seen {
        let Segment { mss, overhead } = self.segment;
        Seen {
            now,
            mu: self.mu(),
            sent: self.flight().sent,
            cross: self.cross(),
            rtt: self.path.last,
            least: self.path.least(),
            smoothed: self.path.smoothed,
            acked: self.acked as f64 * overhead,
            packet: mss * overhead,
        }
    }

    /// S, R, ẑ and µ̂ in bits per second, and the least round trip.
    pub(super) fn report(&self, report: &mut Report) {
        let Flight { sent, received } = self.flight();
        let known = |rate: f64| (received > 0.0).then_some(8.0 * rate);
        report.min_rtt(self.path.least.is_finite().then_some(1e12 * self.path.least));
        report.add(
            "sent_rate",
            "b/s",
            "S: at which the packets of the last round trip were sent, on the wire",
            known(sent),
        );
        report.add("received_rate", "b/s", "R: at which the same packets arrived", known(received));
        report.add(
            "cross_rate",
            "b/s",
            "estimated rate of the cross traffic (equation 4.1)",
            known(self.cross()),
        );
        let mu = "what the bottleneck's rate is taken for; null: nothing yet";
        report.add("link_rate", "b/s", mu, Some(8.0 * self.mu()).filter(|rate| *rate > 0.0));
    }

    /// What is acknowledged counts from here on.
    pub(super) fn begin(&mut self) {
        self.acked = 0;
    }
}
