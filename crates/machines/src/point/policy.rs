//! The congestion point of a queue that decides itself whom to notify: a policy of the OpenQueue language with `notify`
//! ([`crate::schedule::policy`]). What it notifies of becomes a CNP to the packet's source at the same instant, once
//! all ports have decided.

use super::{CongestionPoint, Notices, Parameters, Problems};
use crate::congestion::Messages;
use crate::problems::Invalid;
use crate::stage::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Rate, Stream, Time};
use thalweg_wire::{NoticeBody, Packet};

/// Sends the notifications of schedulers' policies (`notify`) as congestion notification packets to the packets'
/// sources (Menikkumbura, Purdue University 2022, Chapter 2; Zhu et al., SIGCOMM 2015, §3.1). It is the default where a
/// policy notifies. For controllers that react to CNPs, such as `dcqcn`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Size of a notification on the wire.
    pub message: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Self { message: Bytes::new(82) } // CHOICE IRN §4.3.1: as those of receivers, 66 B of headers and 16 B reserved
    }
}

impl Parameters for Params {
    type Machine = Notifier;

    fn sends(&self) -> Messages {
        Messages::Notifications
    }
    fn message(&self) -> Bytes {
        self.message
    }
    fn check(&self, problems: &mut Problems) {
        problems.size("message", self.message, |size| format!("a packet of {size} is impossible"), "82B");
    }
    fn make(&self, _: Stream, _: Rate) -> Result<Notifier, Invalid> {
        Ok(Notifier::default())
    }
}

/// Of one port: whom its policy has notified at this instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Notifier {
    flows: Vec<FlowId>,
    /// When; of no meaning while there are none.
    at: Time,
}

impl CongestionPoint for Notifier {
    fn on_notify(&mut self, now: Time, packet: &Packet) {
        self.at = now;
        self.flows.push(packet.flow);
    }
    fn wake(&self) -> Option<Time> {
        (!self.flows.is_empty()).then_some(self.at)
    }
    fn tick(&mut self, _: Time, _: &View, notices: &mut Notices) {
        notices.extend(self.flows.drain(..).map(|flow| (flow, NoticeBody::Congestion)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Span;

    #[test]
    fn each_packet_that_the_policy_notifies_of_is_a_notification_at_that_instant() {
        let mut point = Params::default().make(Stream::new(1, "point", 0), Rate::from_gbps(10)).unwrap();
        let view = View {
            packets: 0,
            bytes: 0,
            wire: 0,
            rate: Rate::from_gbps(10),
            sent: 0,
            idle_for: Span::ZERO,
            waited: Span::ZERO,
        };
        let (mut notices, now) = (Notices::new(), Time::from_us(3));
        let packet = |flow| Packet { flow: FlowId(flow), ..Packet::default() };
        point.on_join(now, &view, &packet(1), &mut notices);
        assert_eq!((point.wake(), notices.len()), (None, 0), "it looks at no queue");
        for flow in [4, 2, 4] {
            point.on_notify(now, &packet(flow));
        }
        assert_eq!(point.wake(), Some(now));
        point.tick(now, &view, &mut notices);
        let expected = [4, 2, 4].map(|flow| (FlowId(flow), NoticeBody::Congestion));
        assert_eq!((notices.as_slice(), point.wake()), (expected.as_slice(), None));
    }
}
