//! `scheduler` of `[switch]`, `[nic]` and `switch.mix`, and `switch.preemptive`.

use super::Report;
use crate::diagnostic::suggest;
use crate::parse::tables::MOST_PRIORITIES;
use crate::quantity::{Capacity, Q};
use crate::schema::{AdsMap, ClassOrder, Document, Marking, Overflow, Rank, Scheduler, Transport};
use crate::topology::Graph;
use crate::{network, resolve};
use thalweg_machines::schedule::{DisciplineSpec, Limit};
use thalweg_machines::stage::StageSpec;
use thalweg_units::{Bytes, Span};

/// What a scheduler's own settings say.
pub(super) fn scheduler(r: &mut Report<'_>, section: &str, s: &Scheduler, doc: &Document) {
    let at = |name: &str| format!("{section}.scheduler.{name}");
    match s {
        Scheduler::Drr { quantum, .. } if quantum.0.get() == 0 || quantum.0.get() > 1 << 30 => {
            r.error(
                &at("quantum"),
                format!("a quantum of {} is impossible", quantum.0),
                "for example \"1500B\"",
            );
        }
        Scheduler::Ads { cap, mtu, map, .. } => {
            if mtu.0.get() == 0 || mtu.0.get() > 1 << 30 {
                r.error(&at("mtu"), format!("steps of {} are impossible", mtu.0), "for example \"1500B\"");
            } else if cap.0.get().div_ceil(mtu.0.get()) >= MOST_PRIORITIES as u64 {
                let reason = format!("{} in steps of {} do not fit the 12-bit header", cap.0, mtu.0);
                let most = mtu.0.get() * (MOST_PRIORITIES as u64 - 1);
                r.error(&at("cap"), reason, format!("at most \"{most}B\""));
            } else if cap.0 < mtu.0 {
                let reason = format!("the cap, {}, is below one step, {}", cap.0, mtu.0);
                r.error(&at("cap"), reason, "for example \"2MB\"");
            }
            ads_map(r, &at("map"), map, doc);
        }
        Scheduler::FqCodel { target, interval, mtu, .. } => {
            codel(r, &format!("{section}.scheduler"), *target, *interval, *mtu);
        }
        Scheduler::Custom { name, .. } => {
            let known = thalweg_machines::custom::disciplines();
            if !known.contains(name) {
                let reason = format!("no scheduler is registered as `{name}`");
                r.error(&format!("{section}.scheduler"), reason, suggest(name, &known));
            }
        }
        _ => {}
    }
}

/// Settings of a scheduler that need what the rest of the scenario does not give.
pub(super) fn order(r: &mut Report<'_>, section: &str, s: &Scheduler, doc: &Document) {
    let (buffer, marking) = match section {
        "nic" => (doc.nic.buffer.unwrap_or(doc.switch.room()), doc.nic.marking.unwrap_or_default()),
        _ => (doc.switch.room(), doc.switch.marking),
    };
    match s {
        Scheduler::Drr { overflow, .. } | Scheduler::Fq { overflow }
            if *overflow != Overflow::default() && buffer == Capacity::Unlimited =>
        {
            let hint = format!("limit `{section}.buffer` or remove the key");
            r.useless(&format!("{section}.scheduler.overflow"), "the buffer never overflows", hint);
        }
        Scheduler::Custom { name, .. } if marking != Marking::None => {
            let why = format!("the registered scheduler `{name}` marks for itself");
            r.useless(&format!("{section}.marking"), &why, "write \"none\"");
        }
        Scheduler::Priority { .. } if doc.traffic.iter().all(|t| t.class == 0) => {
            let hint = "write `class = 1` in a [[traffic]] section, or another scheduler";
            r.useless(&format!("{section}.scheduler"), "all traffic is of class 0", hint);
        }
        Scheduler::FqCodel { .. } if matches!(marking, Marking::Codel { .. }) => {
            let reason = "the scheduler has CoDel in every queue";
            r.error(&format!("{section}.marking"), reason, "write \"none\", or the scheduler round-robin");
        }
        Scheduler::Pifo
            if doc.slack.is_none() && resolve::used(doc).all(|t| resolve::written_rank(t) == Rank::None) =>
        {
            let reason = "without ranks the scheduler cannot tell packets apart";
            let hint = "write `transport.rank = \"flow-size\"`, or [slack]";
            r.error(&format!("{section}.scheduler"), reason, hint);
        }
        Scheduler::Parity { even, odd }
            if [*even, *odd].contains(&ClassOrder::Sjf) && [*even, *odd].contains(&ClassOrder::Srpt) =>
        {
            let reason = "sjf and srpt need different ranks in one header";
            r.error(&format!("{section}.scheduler.odd"), reason, "write \"fifo\"");
        }
        s if resolve::rank_of(s).is_some() && resolve::used(doc).any(|t| matches!(t, Transport::Rdma(_))) => {
            let reason = "transports of kind rdma write no ranks to sort by";
            r.error(&format!("{section}.scheduler"), reason, "write \"fifo\" or \"round-robin\"");
        }
        Scheduler::Srpt | Scheduler::Ads { .. }
            if !resolve::used(doc).any(|t| matches!(t, Transport::Tcp(_))) =>
        {
            let why = "nothing is acknowledged, so nobody knows what remains";
            r.useless(&format!("{section}.scheduler"), why, "write \"sjf\", or use a transport of kind tcp");
        }
        _ => {}
    }
}

/// `switch.preemptive`: who can interrupt, and who must not be interrupted.
pub(super) fn turns(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    if !doc.switch.preemptive {
        return;
    }
    let key = "switch.preemptive";
    if graph.switches == 0 {
        return r.useless(key, "the topology has no switch", "remove the key");
    }
    let (limit, stage) = (Limit::Unlimited, StageSpec::TailDrop);
    let serves_in_turns = |s: &Scheduler| {
        !DisciplineSpec { order: network::order(s, None), limit, stage, preemptive: true }.can_preempt()
    };
    let turned = resolve::schedulers(doc).find(|(section, s)| *section != "nic" && serves_in_turns(s));
    if let Some((section, _)) = turned {
        let reason = format!("`{section}.scheduler` never puts a later packet before the one being sent");
        r.error(key, reason, "remove the key, or use lstf, pifo, sjf, srpt, priority, lifo or random");
    } else if doc.switch.shared_buffer.is_some() {
        let reason = "an interrupted packet has left the shared memory";
        r.error(key, reason, "remove the key or `switch.shared_buffer`");
    } else if doc.switch.cut_through.0.get() > 0 {
        let reason = "a packet that is being forwarded while it arrives cannot be interrupted";
        r.error(key, reason, "remove the key or `switch.cut_through`");
    } else if matches!(doc.switch.marking, Marking::Codel { .. }) {
        let reason = "an interrupted packet has passed CoDel already";
        r.error(key, reason, "remove the key, or write `switch.marking = \"none\"`");
    }
}

/// CoDel's times, wherever it stands.
pub(super) fn codel(r: &mut Report<'_>, key: &str, target: Q<Span>, interval: Q<Span>, mtu: Q<Bytes>) {
    if interval.0.is_zero() {
        r.error(&format!("{key}.interval"), "an interval of 0 drops everything", "for example \"100ms\"");
    } else if target.0 >= interval.0 {
        let reason = format!("the target, {}, is not below the interval, {}", target.0, interval.0);
        r.error(&format!("{key}.target"), reason, "for example a twentieth of it");
    }
    if mtu.0.get() > 1 << 30 {
        r.error(
            &format!("{key}.mtu"),
            format!("a packet of {} is impossible", mtu.0),
            "for example \"1500B\"",
        );
    }
}

fn ads_map(r: &mut Report<'_>, key: &str, map: &AdsMap, doc: &Document) {
    match map {
        AdsMap::Dynamic { interval, .. } if interval.0.is_zero() => {
            r.error(&format!("{key}.interval"), "an interval of 0 never ends", "for example \"5ms\"");
        }
        AdsMap::Dynamic { interval, .. } if interval.0 >= doc.run.until.0 => {
            let why = format!("the run ends at {}, before the first interval does", doc.run.until.0);
            r.useless(&format!("{key}.interval"), &why, "write a shorter interval or raise `run.until`");
        }
        AdsMap::Dynamic { .. } => {}
        AdsMap::Static { file: Some(_), counts: Some(_) } => {
            r.error(&format!("{key}.counts"), "`file` and `counts` cannot both be given", "remove one");
        }
        AdsMap::Static { file: None, counts: None } => {
            r.error(key, "a static map needs a histogram", "write `file` or `counts`");
        }
        AdsMap::Static { counts: Some(counts), .. } => {
            if counts.len() > MOST_PRIORITIES {
                let reason = format!("{} priorities do not fit the 12-bit header", counts.len());
                r.error(&format!("{key}.counts"), reason, format!("at most {MOST_PRIORITIES}"));
            } else if counts.iter().all(|c| *c == 0) {
                r.error(
                    &format!("{key}.counts"),
                    "the histogram is empty",
                    "record one with `measure.priority_histogram`",
                );
            }
        }
        AdsMap::Static { .. } => {}
    }
}
