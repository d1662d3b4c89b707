//! TIMELY's rate engine (Mittal et al., SIGCOMM 2015, §3.2.3 and §3.4 of the dissertation's Chapter 3): the
//! host posts whole segments, spaced by the flow's rate, and keeps few of them outstanding; the NIC sends
//! each as a burst. The round trip is the segment's, from its post, so waiting in the NIC counts, less its
//! time on the wire.

use super::super::{RdmaSpec, SegmentSpec};
use super::layout::Layout;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Rate, Serializer, Span, Time};

/// A segment handed to the NIC and not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Segment {
    /// One more than its last packet.
    end: u64,
    posted: Time,
    wire: u32,
    /// Some of it was sent before.
    again: bool,
}

/// The engine of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Segments {
    /// Packets below this may leave.
    posted: u64,
    /// The connection's last post and its bytes on the wire.
    last: Option<(Time, u32)>,
    /// No segment is posted before this, as planned at the last post.
    due: Time,
    /// When the engine is to be called again; [`Time::MAX`]: only when something completes.
    look: Time,
    /// Since when there has been something to post.
    backlog_since: Time,
    /// At the last post, the flow had not used its rate.
    app_limited: bool,
    outstanding: VecDeque<Segment>,
}

/// The flow's and the NIC's pace, on which posts depend.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) rate: Option<Rate>,
    pub(super) quantum: Span,
}

impl Pace {
    /// The gap from the start of `wire` bytes to the next post.
    #[inline]
    pub(super) fn gap(&self, wire: u32) -> Span {
        self.rate.map_or(Span::ZERO, |rate| Serializer::new(rate, self.quantum).span(wire))
    }
}

impl Segments {
    pub(super) fn new() -> Self {
        Self {
            posted: 0,
            last: None,
            due: Time::ZERO,
            look: Time::MAX,
            backlog_since: Time::ZERO,
            app_limited: false,
            outstanding: VecDeque::new(),
        }
    }

    /// The flow starts. `waited`: it had to wait for the connection's earlier flow, so there was no time
    /// without backlog.
    pub(super) fn start(&mut self, now: Time, waited: bool) {
        if !waited {
            self.backlog_since = now;
        }
    }

    /// The engine of the next flow on the connection, which continues where this one stops.
    pub(super) fn successor(&self) -> Self {
        let &Self { last, due, backlog_since, app_limited, .. } = self;
        Self { last, due, backlog_since, app_limited, ..Self::new() }
    }

    /// Packets below this may leave.
    #[inline]
    pub(super) fn posted(&self) -> u64 {
        self.posted
    }

    /// When the engine is to be called again; [`Time::MAX`]: only when something completes.
    #[inline]
    pub(super) fn look(&self) -> Time {
        self.look
    }

    /// At the last post, the flow had not used its rate.
    #[inline]
    pub(super) fn app_limited(&self) -> bool {
        self.app_limited
    }

    /// Posts every segment that may be posted now. `high`: packets below were sent before.
    pub(super) fn post(&mut self, spec: &SegmentSpec, layout: &Layout, now: Time, pace: Pace, high: u64) {
        self.look = Time::MAX;
        while self.posted < layout.packets() && self.outstanding.len() < spec.outstanding as usize {
            if pace.rate == Some(Rate::ZERO) {
                return; // until the controller says otherwise
            }
            if let Some((last, wire)) = self.last {
                // Evaluated lazily: a rate that has fallen since postpones the planned post, one that has risen does
                // not bring it forward.
                if now >= self.due {
                    self.due = self.due.max(last.saturating_add(pace.gap(wire)));
                }
                if now < self.due {
                    self.look = self.due;
                    return;
                }
                self.app_limited = self.backlog_since > self.due && idled(now.since(last), wire, pace.rate);
            }
            let end = layout.segment_end(self.posted);
            let wire = layout.wire(self.posted, end);
            self.outstanding.push_back(Segment { end, posted: now, wire, again: self.posted < high });
            self.posted = end;
            self.last = Some((now, wire));
            self.due = now.saturating_add(pace.gap(wire));
        }
    }

    /// Everything below packet `cum` is acknowledged, by the arrival of packet `named`; the round trip of the
    /// segment that ends with it, if it was sent once.
    // CHOICE TIMELY §3.2.1: an ACK that completes several segments (one was lost) measures the last of them only.
    pub(super) fn complete(
        &mut self,
        spec: &RdmaSpec,
        cum: u64,
        named: u64,
        now: Time,
        line: Rate,
    ) -> Option<Span> {
        // After going back, an ACK may cover what was not posted again yet.
        self.posted = self.posted.max(cum);
        let mut rtt = None;
        while let Some(segment) = self.outstanding.front().copied().filter(|s| s.end <= cum) {
            self.outstanding.pop_front();
            if segment.end == named + 1 && !segment.again {
                let pace = spec.segments.as_ref().and_then(|s| s.nic_pace).unwrap_or(line);
                let wire = if spec.rtt.less_serialization {
                    Serializer::new(pace, Span::ZERO).span(segment.wire)
                } else {
                    Span::ZERO
                };
                rtt = Some(now.since(segment.posted).saturating_sub(wire));
            }
        }
        rtt
    }

    /// Everything from packet `index` on is posted again, at the flow's rate.
    pub(super) fn go_back(&mut self, index: u64) {
        while self.outstanding.back().is_some_and(|s| s.end > index) {
            self.outstanding.pop_back();
        }
        self.posted = self.posted.min(index);
    }

    /// Packet `index` alone is sent again: its segment gives no round trip, and its bytes count against the rate.
    pub(super) fn resend(&mut self, index: u64, now: Time, gap: Span) {
        if let Some(segment) = self.outstanding.iter_mut().find(|s| s.end > index) {
            segment.again = true;
        }
        self.due = self.due.max(now).saturating_add(gap);
    }
}

/// §3.4: a post so long after the last one used no more than 80 % of the rate.
fn idled(since: Span, wire: u32, rate: Option<Rate>) -> bool {
    // wire · 8 / since ≤ 0.8 rate
    rate.is_some_and(|rate| {
        u128::from(wire) * 10_000_000_000_000 <= u128::from(rate.bps()) * u128::from(since.ps())
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    const POSTED: SegmentSpec = SegmentSpec { bytes: 10_000, outstanding: 2, nic_pace: None };

    fn at(rate: u64) -> Pace {
        Pace { rate: Some(Rate::from_mbps(rate)), quantum: Span::ZERO }
    }

    /// Segments of ten packets of 1250 B on the wire: 100 us at 1 Gb/s.
    fn engine() -> (Segments, RdmaSpec, Layout) {
        let mut spec = RdmaSpec { segments: Some(POSTED), ..spec() };
        spec.rtt.less_serialization = true;
        let layout = Layout::new(&spec, u64::MAX);
        (Segments::new(), spec, layout)
    }

    #[test]
    fn segments_are_posted_at_the_flows_rate_and_few_are_outstanding() {
        let (mut s, spec, layout) = engine();
        s.post(&POSTED, &layout, Time::ZERO, at(1000), 0);
        assert_eq!((s.posted(), s.look()), (10, Time::from_us(100)));
        s.post(&POSTED, &layout, Time::from_us(99), at(1000), 10);
        assert_eq!(s.posted(), 10);
        s.post(&POSTED, &layout, Time::from_us(100), at(1000), 10);
        assert_eq!((s.posted(), s.look()), (20, Time::MAX)); // two are outstanding
        // 10 us of the 110 us are the segment's own time on a wire of 10 Gb/s
        let line = Rate::from_gbps(10);
        let rtt = s.complete(&spec, 10, 9, Time::from_us(110), line);
        assert_eq!(rtt, Some(Span::from_us(100)));
        s.post(&POSTED, &layout, Time::from_us(110), at(1000), 20);
        assert_eq!((s.posted(), s.look()), (20, Time::from_us(200)));
        // An ACK of both, named by neither's last packet: no sample. One too early for the burst itself: 0.
        assert_eq!(s.complete(&spec, 20, 12, Time::from_us(200), line), None);
        s.post(&POSTED, &layout, Time::from_us(200), at(1000), 20);
        assert_eq!(s.complete(&spec, 30, 29, Time::from_us(205), line), Some(Span::ZERO));
    }

    #[test]
    fn a_decrease_postpones_what_was_planned_and_an_increase_does_not_bring_it_forward() {
        let (mut s, _, layout) = engine();
        s.post(&POSTED, &layout, Time::ZERO, at(1000), 0);
        s.post(&POSTED, &layout, Time::from_us(50), at(2000), 0); // half the gap would be over
        assert_eq!((s.posted(), s.look()), (10, Time::from_us(100)));
        s.post(&POSTED, &layout, Time::from_us(100), at(500), 0);
        assert_eq!((s.posted(), s.look()), (10, Time::from_us(200)));
        s.post(&POSTED, &layout, Time::from_us(150), at(1000), 0); // up again: too late for this one
        assert_eq!((s.posted(), s.look()), (10, Time::from_us(200)));
        s.post(&POSTED, &layout, Time::from_us(200), at(1000), 0);
        assert_eq!(s.posted(), 20);
    }

    #[test]
    fn a_flow_that_had_nothing_to_post_and_used_less_than_four_fifths_is_limited_by_its_application() {
        for (start, limited) in [(80, false), (124, false), (125, true)] {
            let (mut first, _, layout) = engine();
            first.post(&POSTED, &layout, Time::ZERO, at(1000), 0);
            assert!(!first.app_limited());
            let mut next = first.successor();
            next.start(Time::from_us(start), false); // 100 us / 0.8 = 125 us
            next.post(&POSTED, &layout, Time::from_us(start), at(1000), 0);
            next.post(&POSTED, &layout, Time::from_us(start.max(100)), at(1000), 0);
            assert_eq!((next.posted(), next.app_limited()), (10, limited), "{start}");
        }
        // One that waited for an earlier flow is not, nor one held back by what is outstanding.
        let (mut first, _, layout) = engine();
        first.post(&POSTED, &layout, Time::ZERO, at(1000), 0);
        let mut next = first.successor();
        next.start(Time::from_us(300), true);
        next.post(&POSTED, &layout, Time::from_us(300), at(1000), 0);
        assert!(next.posted() == 10 && !next.app_limited());
        let (mut s, spec, layout) = engine();
        s.post(&POSTED, &layout, Time::ZERO, at(1000), 0);
        s.post(&POSTED, &layout, Time::from_us(100), at(1000), 0);
        s.complete(&spec, 10, 9, Time::from_us(900), Rate::from_gbps(10));
        s.post(&POSTED, &layout, Time::from_us(900), at(1000), 0);
        assert!(s.posted() == 30 && !s.app_limited());
    }

    #[test]
    fn what_is_sent_again_is_posted_again_at_the_rate_and_gives_no_round_trip() {
        let (mut s, spec, layout) = engine();
        s.post(&POSTED, &layout, Time::ZERO, at(1000), 0);
        s.post(&POSTED, &layout, Time::from_us(100), at(1000), 10);
        s.go_back(13);
        assert_eq!(s.posted(), 13);
        s.complete(&spec, 13, 9, Time::from_us(110), Rate::from_gbps(10));
        s.post(&POSTED, &layout, Time::from_us(110), at(1000), 20);
        assert_eq!((s.posted(), s.look()), (13, Time::from_us(200)));
        s.post(&POSTED, &layout, Time::from_us(200), at(1000), 20); // the seven that are left of it
        assert_eq!(s.posted(), 20);
        assert_eq!(s.complete(&spec, 20, 19, Time::from_us(300), Rate::from_gbps(10)), None);
        s.post(&POSTED, &layout, Time::from_us(300), at(1000), 20);
        assert!(s.complete(&spec, 30, 29, Time::from_us(400), Rate::from_gbps(10)).is_some());
    }

    #[test]
    fn what_a_late_ack_covers_is_not_posted_again() {
        let (mut s, spec, layout) = engine();
        s.post(&POSTED, &layout, Time::ZERO, at(1000), 0);
        s.post(&POSTED, &layout, Time::from_us(100), at(1000), 10);
        s.go_back(0); // the timer fired too early
        s.complete(&spec, 13, 12, Time::from_us(150), Rate::from_gbps(10));
        s.post(&POSTED, &layout, Time::from_us(200), at(1000), 20);
        assert_eq!((s.posted(), s.outstanding[0].wire), (20, 7 * 1250));
    }

    #[test]
    fn without_a_rate_only_what_is_outstanding_counts() {
        let (mut s, spec, layout) = engine();
        let pace = Pace { rate: None, quantum: Span::ZERO };
        s.post(&POSTED, &layout, Time::ZERO, pace, 0);
        assert_eq!((s.posted(), s.look()), (20, Time::MAX));
        s.complete(&spec, 10, 9, Time::from_us(3), Rate::from_gbps(10));
        s.post(&POSTED, &layout, Time::from_us(3), pace, 20);
        assert_eq!(s.posted(), 30);
    }
}
