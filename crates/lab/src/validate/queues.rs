//! `[switch]` and `[nic]`.

use super::Report;
use super::marking::{self, Queue};
use crate::diagnostic::suggest;
use crate::parse::tables::MOST_PRIORITIES;
use crate::quantity::{Capacity, Q};
use crate::schema::{
    AdsMap, ClassOrder, Document, MarkAt, Marking, Mix, Nodes, Overflow, Rank, Scheduler, Sharing, Switch,
    Transport,
};
use crate::topology::Graph;
use crate::{network, resolve};
use thalweg_machines::schedule::{AqmSpec, DisciplineSpec, Limit};
use thalweg_units::{Bytes, Span};

pub(super) fn check(r: &mut Report<'_>, written: &Document, doc: &Document, graph: &Graph) {
    let full = full_packet(doc);
    let shared = doc.switch.shared_buffer.as_ref().map(|s| s.total.0.get());
    let room = |buffer: Capacity| buffer.bytes(full).get().min(shared.unwrap_or(u64::MAX));
    scheduler(r, "switch", &doc.switch.scheduler, doc);
    let own = doc.switch.room();
    buffer(r, "switch", own, full);
    let queue = Queue { section: "switch", buffer: own, room: room(own), full };
    marking::check(r, doc.switch.marking, &queue, doc);
    // What the NIC copied from the switch has been reported there.
    if let Some(s) = &written.nic.scheduler {
        scheduler(r, "nic", s, doc);
    }
    if let Some(m) = &doc.switch.mix {
        scheduler(r, "switch.mix", &m.scheduler, doc);
        mix(r, m, doc, graph);
    }
    if let Some(b) = written.nic.buffer {
        buffer(r, "nic", b, full);
    }
    if let (Some(m), Some(b)) = (doc.nic.marking, doc.nic.buffer)
        && (written.nic.marking.is_some() || written.nic.buffer.is_some())
    {
        marking::check(r, m, &Queue { section: "nic", buffer: b, room: b.bytes(full).get(), full }, doc);
    }
    no_switch(r, written, doc, graph);
    for (section, s) in resolve::schedulers(doc) {
        if section != "nic" || written.nic.scheduler.is_some() {
            order(r, section, s, doc);
        }
    }
    turns(r, doc, graph);
    if let Some(s) = &doc.switch.shared_buffer {
        let total = s.total.0;
        if graph.switches == 0 {
            r.useless("switch.shared_buffer", "the topology has no switch", "remove the key");
        } else if total.get() < u64::from(full) {
            let reason = format!("{total} cannot hold one packet of {full} bytes");
            r.error("switch.shared_buffer.total", reason, format!("at least \"{full}B\""));
        } else {
            never_shared(r, doc, graph, full);
        }
        if let Sharing::Dynamic { alpha } = s.sharing
            && !alpha.is_finite()
        {
            r.error(
                "switch.shared_buffer.sharing.alpha",
                "it is not finite",
                "write `sharing = \"complete\"`",
            );
        }
    }
    let header = doc.switch.cut_through.0.get();
    if header > 0 && graph.switches == 0 {
        r.useless("switch.cut_through", "the topology has no switch", "remove the key");
    } else if header >= u64::from(full) {
        let why = format!("no packet is longer than {full} bytes");
        r.useless("switch.cut_through", &why, "write the header's size, for example \"64B\"");
    } else if header > 0 {
        let marks_late =
            |m: Marking| matches!(m, Marking::Step { at: MarkAt::Departure, .. } | Marking::Codel { .. });
        let why = if resolve::schedulers(doc).any(|(_, s)| *s != Scheduler::Fifo) {
            "the scheduler decides when a packet has arrived whole"
        } else if shared.is_some() {
            "memory is shared by packets that have arrived whole"
        } else if marks_late(doc.switch.marking) || doc.nic.marking.is_some_and(marks_late) {
            "marking at departure waits for whole packets"
        } else if doc.measure.priority_histogram.is_some() {
            "a priority histogram counts packets that have arrived whole"
        } else {
            ""
        };
        if !why.is_empty() {
            let hint = "cut-through needs fifo at switches and hosts, marking at arrival, and no shared buffer or histogram";
            r.error("switch.cut_through", why, hint);
        }
    }
}

/// `switch.preemptive`: who can interrupt, and who must not be interrupted.
fn turns(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    if !doc.switch.preemptive {
        return;
    }
    let key = "switch.preemptive";
    if graph.switches == 0 {
        return r.useless(key, "the topology has no switch", "remove the key");
    }
    let (limit, aqm) = (Limit::Unlimited, AqmSpec::TailDrop);
    let serves_in_turns = |s: &Scheduler| {
        !DisciplineSpec { order: network::order(s, None), limit, aqm, preemptive: true }.can_preempt()
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

fn mix(r: &mut Report<'_>, m: &Mix, doc: &Document, graph: &Graph) {
    let key = "switch.mix.nodes";
    let (first, end) = (graph.hosts, graph.nodes() as u32);
    if graph.switches == 0 {
        return r.useless("switch.mix", "the topology has no switch", "remove the key");
    }
    if m.scheduler == doc.switch.scheduler {
        let why = "all switches have this scheduler";
        return r.useless("switch.mix.scheduler", why, "write another one or remove `switch.mix`");
    }
    if let Nodes::Listed { nodes } = &m.nodes
        && let Some(wrong) = nodes.iter().find(|n| **n < first || **n >= end)
    {
        let hint = format!("switches are {first} to {}", end - 1);
        return r.error(key, format!("there is no switch {wrong}"), hint);
    }
    let mixed = (first..end).filter(|n| m.nodes.has(*n)).count();
    if mixed == 0 {
        r.useless(key, "no switch is meant", format!("switches are {first} to {}", end - 1));
    } else if mixed == graph.switches as usize {
        let why = "every switch is meant, so none has `switch.scheduler`";
        r.error(key, why, "write it as `switch.scheduler` and remove `switch.mix`");
    }
}

/// In a network without switches `[switch]` only says what hosts do that say nothing themselves.
fn no_switch(r: &mut Report<'_>, written: &Document, doc: &Document, graph: &Graph) {
    if graph.switches > 0 {
        return;
    }
    let plain = Switch::default();
    let (nic, s) = (&written.nic, &doc.switch);
    let useless = [
        (
            "scheduler",
            nic.scheduler.as_ref().is_some_and(|n| *n != s.scheduler) && s.scheduler != plain.scheduler,
        ),
        ("buffer", nic.buffer.is_some_and(|n| n != s.room()) && s.room() != plain.room()),
        ("marking", nic.marking.is_some_and(|n| n != s.marking) && s.marking != plain.marking),
    ];
    for (key, _) in useless.into_iter().filter(|(_, is)| *is) {
        r.useless(&format!("switch.{key}"), "the topology has no switch", "remove the key");
    }
}

/// Settings of a scheduler that need what the rest of the scenario does not give.
fn order(r: &mut Report<'_>, section: &str, s: &Scheduler, doc: &Document) {
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

/// Shared memory that the ports' own limits never let fill.
fn never_shared(r: &mut Report<'_>, doc: &Document, graph: &Graph, full: u32) {
    let Some(s) = &doc.switch.shared_buffer else { return };
    let mut degree = vec![0u64; graph.nodes()];
    for l in &graph.links {
        degree[l.a.at()] += 1;
        degree[l.b.at()] += 1;
    }
    let ports = degree[graph.hosts as usize..].iter().copied().max().unwrap_or(0);
    let own = doc.switch.room().bytes(full).get();
    let most = own.saturating_mul(ports);
    let never = match s.sharing {
        Sharing::Complete => s.total.0.get() >= most,
        Sharing::Dynamic { alpha } => s.total.0.get().saturating_sub(most) as f64 * alpha >= own as f64,
    };
    if never {
        let why = format!("the {ports} ports of a switch hold at most {} each", doc.switch.room());
        r.useless("switch.shared_buffer", &why, "raise `switch.buffer`, for example to \"unlimited\"");
    }
}

/// The largest packet that any traffic sends, bytes on the wire.
pub(crate) fn full_packet(doc: &Document) -> u32 {
    let sizes = resolve::transports(doc).into_iter().map(|(_, t)| match t {
        Transport::Tcp(t) => t.mss.0.get().saturating_add(t.header.0.get()),
        Transport::Udp(u) => u.payload.0.get().saturating_add(u.header.0.get()),
        Transport::Rdma(r) => {
            [r.header, r.extra_header].iter().fold(r.mtu.0.get(), |sum, h| sum.saturating_add(h.0.get()))
        }
    });
    u32::try_from(sizes.max().unwrap_or(1500)).unwrap_or(u32::MAX)
}

fn buffer(r: &mut Report<'_>, section: &str, buffer: Capacity, full: u32) {
    if buffer.bytes(full).get() < u64::from(full) {
        let reason = format!("{buffer} cannot hold one packet of {full} bytes");
        r.error(&format!("{section}.buffer"), reason, format!("at least \"{full}B\""));
    }
}

fn scheduler(r: &mut Report<'_>, section: &str, s: &Scheduler, doc: &Document) {
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
