//! A policy in the form for users: entities, keys and data structures, thresholds.

use crate::normal::rank::Rank;
use crate::normal::{Comparator, Policy, PortRate};
use crate::syntax::print;
use crate::syntax::tree::{RateUnit, SizeUnit};
use std::fmt::Write;

/// `policy` as text: the file without comments, then the results of the checker.
pub fn show(policy: &Policy) -> String {
    let mut text = print(&policy.source);
    text.push('\n');
    for port in &policy.ports {
        line(&mut text, format_args!("port {} at {}", port.name, rate(port.rate)));
        if let Some(order) = &port.order {
            line(&mut text, format_args!("  serves by {}", of_queues(order)));
        }
        if let Some(wire) = &port.wire {
            let names: Vec<&str> = wire.to.iter().map(|queue| policy.queues[*queue].name.as_str()).collect();
            let how = if wire.waits { "once it admits" } else { "which may drop" };
            line(&mut text, format_args!("  goes on to {}, {how}", names.join(", ")));
        }
        for queue in port.queues.iter().map(|queue| &policy.queues[*queue]) {
            line(&mut text, format_args!("  queue {} of {} {}", queue.name, queue.size, unit(queue.unit)));
            line(&mut text, format_args!("    serves {}", of_packets(&queue.processing)));
            line(&mut text, format_args!("    keeps {}", of_packets(&queue.admission)));
        }
    }
    for buffer in &policy.buffers {
        line(&mut text, format_args!("buffer {} of {} {}", buffer.name, buffer.size, unit(buffer.unit)));
        let order =
            buffer.order.as_ref().map_or("the arriving packet's queue makes room".to_owned(), |order| {
                format!("the last makes room, by {}", of_queues(order))
            });
        line(&mut text, format_args!("  {order}"));
    }
    text
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{what}");
}

fn unit(of: SizeUnit) -> &'static str {
    match of {
        SizeUnit::Packets => "pkts",
        SizeUnit::Bytes => "bytes",
    }
}

fn rate(of: PortRate) -> String {
    match (of.unit, of.kbps()) {
        (RateUnit::Percent, _) | (_, None) => {
            format!("{} % of its link", of.amount.digits as f64 / 10f64.powi(of.amount.decimals as i32))
        }
        (_, Some(kbps)) => format!("{kbps} kbps"),
    }
}

fn of_packets(order: &Comparator) -> String {
    match &order.rank {
        Rank::Arrival { latest: false } => "the earliest first: a list".to_owned(),
        Rank::Arrival { latest: true } => "the latest first: a list".to_owned(),
        Rank::Bounded { levels, .. } => format!("by a key of {levels} values: a list for each"),
        Rank::General { .. } => "by a key: a tree".to_owned(),
        Rank::Unranked => "by its comparator, which has no key: a tree".to_owned(),
    }
}

fn of_queues(order: &Comparator) -> &'static str {
    if order.rank == Rank::Unranked { "its comparator, which has no key" } else { "a key" }
}
