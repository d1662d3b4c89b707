//! Round-robin NICs as the HPCC authors' simulator has them (alibaba-edu/High-Precision-Congestion-Control,
//! `RdmaEgressQueue::GetNextQindex`, `QbbNetDevice::DequeueAndTransmit`).
//!
//! Flows have places in a ring, in the order in which they began, and the NIC scans it from behind the one
//! that sent last. Two quirks of the peer are kept: a flow that is over leaves when a scan meets it, those
//! behind it move up, and the mark of who sent last does not move with them; and a NIC that finds no packet
//! sets *one* timer, for the flow that may send first then: one that may send earlier, because it began or
//! was served later, has to wait for that timer, an ACK, or the end of another packet. What a flow's window
//! says does not count for the timer, and while a flow waits for its window that its rate would allow to
//! send, none is set. An ACK that changes a flow's rate brings the timer forward to that flow's next packet,
//! if it is later.

use super::{Needs, Order, Waits};
use crate::transport::Transmit;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};

pub(super) struct HpccSimulator;

impl Order for HpccSimulator {
    const NEEDS: Needs = Needs { pulls: true, waits: Waits::AtPlaces };
}

/// The flows of one NIC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Places {
    /// In the order in which they began; those that are over stay until a scan meets them.
    places: Vec<FlowId>,
    /// Which of them sent last.
    last: usize,
    /// The timer, if it lies ahead, and for which flow.
    timer: (Time, FlowId),
}

/// The flows as the NIC sees them.
pub trait Backlog {
    /// All of it is acknowledged.
    fn is_over(&self, flow: FlowId) -> bool;
    /// When its rate allows the next packet, if it has one, whatever its window is.
    fn due(&self, flow: FlowId) -> Option<Time>;
    /// Its next packet, if it may send one.
    fn poll(&mut self, flow: FlowId) -> Transmit;
}

/// The result of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// This flow sends what it was polled for.
    Sends(FlowId),
    /// The NIC scans again then: this flow's timer.
    Timer(FlowId, Time),
    /// Nothing to do until some other event.
    Idle,
}

impl Places {
    /// No flow has a place.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A flow begins, or receives a packet from its receiver.
    pub fn join(&mut self, flow: FlowId, over: bool) {
        if !over && !self.places.contains(&flow) {
            self.places.push(flow);
        }
    }

    /// When the NIC scans next, if it is for this flow's sake: its event is the flow's timer.
    pub fn timer_of(&self, flow: FlowId, now: Time) -> Option<Time> {
        let (at, whose) = self.timer;
        (whose == flow && at >= now).then_some(at)
    }

    /// An ACK has changed a flow's rate, so that its next packet is allowed at `at`: if the timer lies behind
    /// that, it is brought forward.
    pub fn bring_forward(&mut self, flow: FlowId, at: Time, now: Time) {
        if self.timer.0 > now && at < self.timer.0 {
            self.timer = (at.max(now), flow);
        }
    }

    /// The next packet.
    pub fn scan(&mut self, now: Time, flows: &mut impl Backlog) -> Scan {
        let all = self.places.len();
        let (mut sends, mut first_over, mut earliest) = (None, usize::MAX, (Time::MAX, FlowId::NONE));
        for step in 1..=all {
            let at = (self.last + step) % all;
            let flow = self.places[at];
            if flows.is_over(flow) {
                first_over = first_over.min(at);
                continue;
            }
            match flows.poll(flow) {
                Transmit::Packet => {
                    sends = Some(flow);
                    break;
                }
                // The peer's timer does not look at windows.
                Transmit::Idle => {
                    let due = flows.due(flow).unwrap_or(Time::MAX);
                    earliest = earliest.min((due, flow));
                }
                Transmit::At(at) => earliest = earliest.min((at, flow)),
            }
        }
        self.close_up(first_over, flows);
        if let Some(flow) = sends {
            self.last = self.places.iter().position(|f| *f == flow).unwrap_or(0);
            return Scan::Sends(flow);
        }
        if earliest.0 == Time::MAX || earliest.0 <= now {
            return Scan::Idle; // no flow is due later, or one is due and waits for its window: no timer
        }
        if self.timer.0 <= now {
            self.timer = earliest;
        }
        if self.timer == earliest { Scan::Timer(earliest.1, earliest.0) } else { Scan::Idle }
    }

    /// From `first` on, those that are over leave.
    fn close_up(&mut self, first: usize, flows: &impl Backlog) {
        let mut at = 0;
        self.places.retain(|flow| {
            at += 1;
            at <= first || !flows.is_over(*flow)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows by number: over, or what they answer.
    struct Fixed(Vec<Option<Transmit>>);

    /// When flow 0 would be due without its window, ns.
    const DUE: u64 = 30;

    impl Backlog for Fixed {
        fn is_over(&self, flow: FlowId) -> bool {
            self.0[flow.at()].is_none()
        }
        fn due(&self, flow: FlowId) -> Option<Time> {
            (flow == FlowId(0)).then_some(Time::from_ps(DUE * 1000))
        }
        fn poll(&mut self, flow: FlowId) -> Transmit {
            self.0[flow.at()].expect("a flow that is over is not polled")
        }
    }

    fn nic(flows: u32) -> Places {
        let mut nic = Places::default();
        (0..flows).for_each(|flow| nic.join(FlowId(flow), false));
        nic
    }

    #[test]
    fn the_last_sender_stays_marked_when_flows_before_it_leave() {
        let mut nic = nic(4);
        let mut flows = Fixed(vec![Some(Transmit::Packet); 4]);
        assert_eq!([1, 2].map(|_| nic.scan(Time::ZERO, &mut flows)), [1, 2].map(|f| Scan::Sends(FlowId(f))));
        // Flow 0 is over; the scan from 3 on does not meet it, and flow 3 sends.
        flows.0[0] = None;
        assert_eq!(nic.scan(Time::ZERO, &mut flows), Scan::Sends(FlowId(3)));
        // This one does: 1 sends, and is now first.
        assert_eq!(nic.scan(Time::ZERO, &mut flows), Scan::Sends(FlowId(1)));
        assert_eq!((nic.places.len(), nic.last), (3, 0));
    }

    #[test]
    fn a_flow_that_waits_for_its_window_is_due_and_then_nothing_is_timed() {
        let at = |ns: u64| Time::from_ps(ns * 1000);
        let mut flows = Fixed(vec![Some(Transmit::Idle), Some(Transmit::At(at(40)))]);
        assert_eq!(nic(2).scan(at(0), &mut flows), Scan::Timer(FlowId(0), at(30)));
        assert_eq!(nic(2).scan(at(30), &mut flows), Scan::Idle);
    }

    #[test]
    fn a_new_rate_brings_the_timer_forward_and_never_puts_it_off() {
        let at = |ns: u64| Time::from_ps(ns * 1000);
        let mut nic = nic(2);
        let mut flows = Fixed(vec![Some(Transmit::At(at(50))), Some(Transmit::At(at(60)))]);
        nic.bring_forward(FlowId(1), at(9), at(0)); // there is none yet
        assert_eq!(nic.scan(at(0), &mut flows), Scan::Timer(FlowId(0), at(50)));
        nic.bring_forward(FlowId(1), at(70), at(10));
        assert_eq!(nic.timer_of(FlowId(0), at(10)), Some(at(50)));
        nic.bring_forward(FlowId(1), at(45), at(10));
        assert_eq!(nic.timer_of(FlowId(1), at(10)), Some(at(45)));
        nic.bring_forward(FlowId(0), at(5), at(20));
        assert_eq!(nic.timer_of(FlowId(0), at(20)), Some(at(20)));
    }

    #[test]
    fn one_timer_serves_all_flows_and_an_earlier_one_has_to_wait_for_it() {
        let at = |ns: u64| Transmit::At(Time::from_ps(ns * 1000));
        let mut nic = nic(2);
        let mut flows = Fixed(vec![Some(at(50)), Some(at(40))]);
        assert_eq!(nic.scan(Time::ZERO, &mut flows), Scan::Timer(FlowId(1), Time::from_ps(40_000)));
        nic.join(FlowId(2), false);
        flows.0.push(Some(at(10)));
        assert_eq!(nic.scan(Time::ZERO, &mut flows), Scan::Idle);
        assert_eq!(nic.timer_of(FlowId(2), Time::ZERO), None);
    }
}
