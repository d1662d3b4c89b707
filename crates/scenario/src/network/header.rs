//! `[slack]` and `[edge]`, translated for the simulator.

use crate::quantity::Delay;
use crate::resolve::full_packet;
use crate::schema::{Document, Edge, Slack, SlackRule};
use crate::topology::Graph;
use thalweg_machines::slack as m;
use thalweg_machines::stage::EdgeSpec;
use thalweg_units::{Rate, Serializer, Span};

pub(super) fn slack(slack: &Slack, doc: &Document) -> m::SlackSpec {
    let rule = match &slack.rule {
        SlackRule::Constant(c) => m::SlackRule::Constant(c.value.0),
        SlackRule::FlowSize(f) => {
            m::SlackRule::FlowSize { unit: f.unit.0, mss: doc.transport.wire().payload }
        }
        SlackRule::VirtualClock(v) => m::SlackRule::VirtualClock {
            rates: doc.traffic.iter().map(|t| entitled(v.rate.0, t.weight)).collect(),
            ack_full_size: v.ack_full_size.map(|b| b.0.get() as u32),
        },
    };
    m::SlackSpec { rule, class_offset: slack.class_offset.0 }
}

/// The rate to which a flow of this weight is entitled (r_est), to the nearest bit per second.
pub(crate) fn entitled(rate: Rate, weight: f64) -> Rate {
    Rate::from_bps(libm::round(rate.bps() as f64 * weight) as u64)
}

pub(super) fn edge(edge: Edge, doc: &Document, graph: &Graph) -> EdgeSpec {
    match edge {
        Edge::Codel { target, interval, refresh } => {
            EdgeSpec::Codel { target: target.0, interval: interval.0, refresh: refresh.0 }
        }
        Edge::Ecn { threshold: Delay::Time(threshold) } => EdgeSpec::Ecn { threshold },
        Edge::Ecn { threshold: Delay::Packets(k) } => {
            // Validation has checked that all hosts' links have the same rate.
            let rate = graph.nic_rates().first().copied().unwrap_or(Rate::INFINITE);
            let one = Serializer::new(rate, Span::ZERO).span(full_packet(doc));
            EdgeSpec::Ecn { threshold: one.saturating_mul(u64::from(k)) }
        }
    }
}
