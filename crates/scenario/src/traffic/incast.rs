//! Many hosts send to one at the same time, repeatedly.

use super::Family;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};

/// Many hosts send to one at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Number of flows per event.
    #[schemars(range(min = 1, max = 10_000_000), extend("examples" = [10]))]
    pub fan_in: u32,
    /// Payload bytes of each flow.
    #[schemars(extend("examples" = ["64KB"]))]
    pub size: Q<Bytes>,
    /// The host that receives. If not given, drawn for each event.
    #[schemars(extend("x-node" = "host"))]
    pub receiver: Option<u32>,
    /// Which hosts send.
    #[serde(default)]
    pub senders: Senders,
    /// Time of the first event.
    #[serde(default = "default::zero")]
    pub at: Q<Span>,
    /// Time between events.
    #[serde(default = "default::zero")]
    pub period: Q<Span>,
    /// Number of events.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub repeat: u32,
}

/// The senders of an incast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Senders {
    /// Different hosts, drawn for each event.
    #[default]
    Distinct,
    /// Hosts drawn independently; a host may send several flows.
    WithReplacement,
    /// The hosts that follow the receiver by number.
    Neighbours,
}

impl Family for Incast {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        if let Some(receiver) = self.receiver {
            s.host("receiver", receiver)?;
        }
        s.start("at", self.at.0)?;
        let last =
            self.period.0.saturating_mul(u64::from(self.repeat - 1)).ps().saturating_add(self.at.0.ps());
        s.start("repeat", Span::from_ps(last))?;
        if self.repeat == 1 && !self.period.0.is_zero() {
            return Err(s.ineffective("period", "repeat", "event"));
        }
        let others = s.graph.hosts - 1;
        if self.senders != Senders::WithReplacement && self.fan_in > others {
            let reason = format!("{} different senders, but there are {others} other hosts", self.fan_in);
            let hint = format!("write at most {others}, or `senders = \"with-replacement\"`");
            return Err(s.cx.error(&s.key("fan_in"), reason, hint));
        }
        let flows = f64::from(self.fan_in) * f64::from(self.repeat);
        Ok(Expected::of(flows, s.size("size", self.size.0.get())?))
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let hosts = s.graph.hosts;
        // Distances by number from the receiver to each other host. The swaps of a draw are undone after each event.
        let mut away: Vec<u32> = (1..hosts).collect();
        let mut exchanged = Vec::new();
        for event in 0..u64::from(self.repeat) {
            s.cx.proceed()?;
            let mut stream = s.stream("incast", event);
            let receiver = self.receiver.unwrap_or_else(|| stream.below(u64::from(hosts)) as u32);
            let start = Time::from_ps(self.at.0.ps()).saturating_add(self.period.0.saturating_mul(event));
            for n in 0..self.fan_in as usize {
                let which = match self.senders {
                    Senders::Neighbours => n,
                    Senders::WithReplacement => stream.below(away.len() as u64) as usize,
                    Senders::Distinct => {
                        let pick = n + stream.below((away.len() - n) as u64) as usize;
                        away.swap(n, pick);
                        exchanged.push((n, pick));
                        n
                    }
                };
                let src = ((u64::from(receiver) + u64::from(away[which])) % u64::from(hosts)) as u32;
                out.push(s.flow(src, receiver, self.size.0.get(), start));
            }
            exchanged.drain(..).rev().for_each(|(a, b)| away.swap(a, b));
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let last = self.period.0.secs() * f64::from(self.repeat - 1);
        let receivers = if self.receiver.is_some() { 1.0 } else { f.hosts };
        let flows = f.expected.flows;
        let service = f.wire * flows / (f.line * receivers);
        let begin = self.at.0.secs();
        // Flows that have arrived by the last event, or by the end of the run, and are not complete then.
        let left = 1.0 - (last.min(f.until - begin) / service).min(1.0);
        let active = (flows * left).max(f64::from(self.fan_in)).min(flows);
        let drain = self.receiver.map(|_| f.line / f.packet);
        Course { drain, ..Course::new(begin, begin + last.max(service) + f.rtt, active) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ends, flows};

    #[test]
    fn the_neighbours_of_the_receiver_send_at_once_and_again_a_period_later() {
        let text = "kind = \"incast\"\nsize = \"1KB\"\nfan_in = 2\nreceiver = 3\nrepeat = 2\n\
                    period = \"10us\"\nsenders = \"neighbours\"";
        let flows = flows(5, text);
        assert_eq!(ends(&flows), [(4, 3), (0, 3), (4, 3), (0, 3)]);
        assert_eq!(flows.iter().map(|f| f.start.ps() / 1_000_000).collect::<Vec<_>>(), [0, 0, 10, 10]);
    }
}
