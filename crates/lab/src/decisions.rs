//! Records of decisions, wherever they were made: as a table, replayed, compared.

use crate::table::column;
use crate::{ColumnData, Table};
use std::collections::BTreeMap;
use thalweg_machines::congestion::decisions::difference;
pub use thalweg_machines::congestion::decisions::{Damage, Decision, Log, read};
use thalweg_machines::congestion::{Observation, Permit};

/// What a replay has found of one controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The flow that it was made for.
    pub flow: u32,
    /// Its name in scenarios.
    pub controller: &'static str,
    /// Decisions recorded.
    pub decisions: u64,
    /// Of these, the same ones up to the first that is not.
    pub same: u64,
    /// Of all permits.
    pub digest: u64,
    /// The first that is not the same, in words.
    pub differs: Option<String>,
}

/// Gives controllers anew what was recorded, flow by flow.
///
/// # Errors
/// If the file is damaged, or a controller cannot be made here.
pub fn replay(file: &[u8]) -> Result<Vec<Replayed>, Damage> {
    let one = |log: Log| {
        let found = log.replay()?;
        let differs = found.differs.map(|(observation, recorded, now)| {
            let after =
                observation.map_or("before any observation".into(), |o| format!("after {}", call(&o)));
            format!("{after} {} was recorded, and is now {}", allowed(recorded), allowed(now))
        });
        Ok(Replayed {
            flow: log.flow().0,
            controller: log.spec()?.key(),
            decisions: log.len(),
            same: found.same,
            digest: log.digest(),
            differs,
        })
    };
    read(file)?.into_iter().map(one).collect()
}

/// The first decision that differs between two files, flow by flow; flows whose decisions are the same are left out.
///
/// # Errors
/// If either file is damaged.
pub fn compare(left: &[u8], right: &[u8]) -> Result<Vec<(u32, String)>, Damage> {
    let by_flow = |file| Ok(read(file)?.into_iter().map(|log| (log.flow().0, log)).collect());
    let (left, right): (BTreeMap<u32, Log>, BTreeMap<u32, Log>) = (by_flow(left)?, by_flow(right)?);
    let mut found = BTreeMap::new();
    for (flow, a) in &left {
        let Some(b) = right.get(flow) else {
            found.insert(*flow, "only the first record has it".to_owned());
            continue;
        };
        if let Some(parts) = difference(a, b)? {
            let [one, other] = &parts.decisions;
            let made = if parts.alike { "" } else { "the controllers were made differently; " };
            let next = match (one, other) {
                (None, None) => "they end".to_owned(),
                _ => pair(one.as_ref(), other.as_ref()),
            };
            let words = format!("{made}{} decisions are the same; then {next}", parts.after);
            found.insert(*flow, words);
        }
    }
    let missing = right.keys().filter(|flow| !left.contains_key(flow));
    found.extend(missing.map(|flow| (*flow, "only the second record has it".to_owned())));
    Ok(found.into_iter().collect())
}

fn pair(one: Option<&Decision>, other: Option<&Decision>) -> String {
    match (one, other) {
        (Some(a), Some(b)) if a.observation == b.observation => {
            let (first, second) = (allowed(a.permit), allowed(b.permit));
            format!("after {} the first allows {first}, the second {second}", call(&a.observation))
        }
        _ => {
            let next = |d: Option<&Decision>| {
                d.map_or("has ended".into(), |d| format!("has {}", call(&d.observation)))
            };
            format!("the first {}, the second {}", next(one), next(other))
        }
    }
}

fn allowed(permit: Permit) -> String {
    let Permit { window, pace, wake } = permit;
    let pace = pace.map(|rate| format!(" at {} b/s", rate.bps())).unwrap_or_default();
    let wake = wake.map(|at| format!(" until {} ps", at.ps())).unwrap_or_default();
    format!("{} B{pace}{wake}", window.get())
}

fn call(observation: &Observation) -> String {
    let (name, at) = (name(observation), observation.at().ps());
    match observation {
        Observation::Ack { sample, .. } => {
            let bytes = (sample.acked + sample.sacked).get();
            format!("`{name}` of {bytes} B up to {} at {at} ps", sample.acked_to)
        }
        Observation::Loss(loss) | Observation::Timeout(loss) => {
            format!("`{name}` with {} B in flight at {at} ps", loss.in_flight.get())
        }
        _ => format!("`{name}` at {at} ps"),
    }
}

/// The call's name in the contract.
fn name(observation: &Observation) -> &'static str {
    match observation {
        Observation::Sent { .. } => "on_sent",
        Observation::Open { .. } => "on_open",
        Observation::Ack { .. } => "on_ack",
        Observation::Feedback { .. } => "on_feedback",
        Observation::Loss(_) => "on_loss",
        Observation::Timeout(_) => "on_timeout",
        Observation::Notification { .. } => "on_notification",
        Observation::Notice { .. } => "on_notice",
        Observation::Restart { .. } => "on_restart",
        Observation::RestartFrom { .. } => "restart_from",
        Observation::Tick { .. } => "on_tick",
        Observation::Decision { .. } => "on_decision",
        _ => "another call",
    }
}

/// A row for each decision.
///
/// # Errors
/// If the file is damaged.
pub fn table(file: &[u8]) -> Result<Table, Damage> {
    let mut rows = Vec::new();
    for log in read(file)? {
        for decision in log.decisions() {
            rows.push((log.flow().0, decision?));
        }
    }
    let of =
        |f: &dyn Fn(&Decision) -> Option<u64>| ColumnData::Maybe(rows.iter().map(|(_, d)| f(d)).collect());
    let ack = |f: &dyn Fn(&thalweg_machines::congestion::AckSample<'static>) -> Option<u64>| {
        of(&|d| match &d.observation {
            Observation::Ack { sample, .. } => f(sample),
            _ => None,
        })
    };
    let in_flight = of(&|d| match &d.observation {
        Observation::Ack { sample, .. } => Some(sample.in_flight.get()),
        Observation::Loss(loss) | Observation::Timeout(loss) => Some(loss.in_flight.get()),
        Observation::Sent { in_flight, .. } | Observation::Feedback { in_flight, .. } => {
            Some(in_flight.get())
        }
        _ => None,
    });
    let rtt = of(&|d| match &d.observation {
        Observation::Ack { sample, .. } => sample.rtt.map(|rtt| rtt.ps()),
        Observation::Open { rtt, .. } => rtt.map(|rtt| rtt.ps()),
        _ => None,
    });
    let columns = vec![
        column(
            "flow",
            "",
            "number of the flow",
            ColumnData::U32(rows.iter().map(|(flow, _)| *flow).collect()),
        ),
        column("at_ps", "ps", "when the call came", of(&|d| Some(d.observation.at().ps()))),
        column(
            "call",
            "",
            "the call of the contract",
            ColumnData::Text(rows.iter().map(|(_, d)| name(&d.observation).to_owned()).collect()),
        ),
        column(
            "acked",
            "B",
            "newly acknowledged, selectively too",
            ack(&|s| Some((s.acked + s.sacked).get())),
        ),
        column("marked", "B", "of these, with congestion experienced", ack(&|s| Some(s.marked.get()))),
        column("rtt_ps", "ps", "round trip measured, of data or of the SYN; null: none", rtt),
        column("in_flight", "B", "in the network; null: the call does not say", in_flight),
        column("window", "B", "allowed after it", of(&|d| Some(d.permit.window.get()))),
        column("pace_bps", "b/s", "pace after it; null: none", of(&|d| d.permit.pace.map(|rate| rate.bps()))),
        column("wake_ps", "ps", "next tick wanted; null: none", of(&|d| d.permit.wake.map(|at| at.ps()))),
    ];
    Ok(Table {
        name: "decisions",
        doc: "A row for each call of a congestion controller, by flow and time.",
        columns,
    })
}
