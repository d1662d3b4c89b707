//! What a reader wants to know first: counts, loads, completion times, slowdowns.

use crate::job::job;
use crate::loads::loads;
use crate::run::Run;
use crate::statistics::statistics;
use crate::tables::{FlowRow, MemoryRow, flow_rows, memory_rows, utilisation, utilisation_in};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use thalweg_scenario::Section;
use thalweg_sim::{Delays, ReliefTotals};
use thalweg_units::{Bytes, PortId, Span, Time};

/// Flows without end have no completion time: what they got, how alike, and what their packets waited for. Over the
/// part of the life of each that lies in the measured window; of the traffic sections that are measured, or of one.
fn endless(run: &Run, rows: &[FlowRow<'_>], only: Option<usize>) -> Json {
    let (mut throughput, mut waiting) = (Vec::new(), Vec::new());
    let counts = |r: &&FlowRow<'_>| {
        let group = usize::from(r.spec.group);
        r.endless() && run.meta.sections[group].counted && only.is_none_or(|only| only == group)
    };
    for r in rows.iter().filter(counts) {
        let Some(share) = r.share(run) else { continue };
        throughput.push(share.delivered as f64 * 8e-9 / share.seconds);
        let Some((rtt, alone)) = share.rtt.zip(r.outcome.round_trip) else { continue };
        waiting.push(rtt.saturating_sub(alone.ps()) as f64 / 1e6);
    }
    let (sum, squares) = throughput.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    let jain = (squares > 0.0).then(|| sum * sum / (throughput.len() as f64 * squares));
    json!({
        "flows": throughput.len(),
        "sum_gbps": sum,
        "smallest_gbps": throughput.iter().copied().reduce(f64::min),
        "throughput_gbps": statistics(throughput),
        "jain": jain,
        "queueing_us": statistics(waiting),
    })
}

/// What data packets waited on their way, us: over packets, not over flows; `None`: not measured.
fn waits(delays: &[Delays]) -> Option<Json> {
    let all = delays.iter().fold(None, |sum: Option<Delays>, one| {
        let mut sum = sum.unwrap_or_default();
        sum.merge(one);
        Some(sum)
    })?;
    let us = |span: Option<Span>| span.map(|s| s.ps() as f64 / 1e6);
    if all.count() == 0 {
        return Some(json!({ "count": 0 }));
    }
    Some(json!({
        "count": all.count(),
        "mean": us(all.mean()),
        "p50": us(all.permille(500)),
        "p95": us(all.permille(950)),
        "p99": us(all.permille(990)),
        "p999": us(all.permille(999)),
        "max": us(all.max()),
    }))
}

/// The port that was used most in the window of [`loads`]: where the bottleneck is, if there is one. Both directions
/// of its link.
fn bottleneck(run: &Run) -> Json {
    let spec = run.engine.spec();
    let (from, until) = run.meta.load_window;
    let window = Time::from_ps(from)..Time::from_ps(until.min(run.engine.now().ps()));
    let ports = (0..2 * spec.links.len()).map(PortId::from);
    let used = |port: PortId| utilisation_in(run, port, &window);
    // The first of several that were used as much.
    let most =
        ports.map(|port| (port, used(port))).reduce(|best, next| if next.1 > best.1 { next } else { best });
    let Some((port, share)) = most.filter(|(_, share)| *share > 0.0) else { return Json::Null };
    let (from, to) = spec.ends(port);
    json!({
        "port": port.0,
        "from_node": from.0,
        "to_node": to.0,
        "from": run.meta.names.of(from.0),
        "to": run.meta.names.of(to.0),
        "utilisation": share,
        "back_utilisation": used(port.reverse()),
        "rate_gbps": spec.direction(port).mean_rate().bps() as f64 / 1e9,
    })
}

/// Of the flows that wait at a port of a cycle, so many are listed.
const MOST_WAITING: usize = 20;

/// What flow control did.
fn pauses(run: &Run) -> Json {
    let c = run.engine.counters();
    let ports = 2 * run.engine.spec().links.len() as u32;
    let paused: u128 = (0..ports).map(|p| u128::from(run.engine.totals(PortId(p)).paused)).sum();
    let spec = run.engine.spec();
    // Who waits: of a cycle that stands, the flows whose way leads through it.
    let waits = |d: &thalweg_sim::Deadlock| {
        let stands = d.ended == Time::MAX;
        let of = |port: &PortId| {
            let mut flows = if stands { run.engine.flows_through(*port) } else { Vec::new() };
            flows.truncate(MOST_WAITING);
            let (from, to) = spec.ends(*port);
            json!({ "port": port.0, "from_node": from.0, "to_node": to.0, "flows": flows.iter().map(|f| f.0).collect::<Vec<_>>() })
        };
        d.ports.iter().map(of).collect::<Vec<_>>()
    };
    let deadlock = |d: &thalweg_sim::Deadlock| {
        json!({
            "at_us": d.at.ps() as f64 / 1e6,
            "ended_us": (d.ended != Time::MAX).then(|| d.ended.ps() as f64 / 1e6),
            "ports": d.ports.iter().map(|p| p.0).collect::<Vec<_>>(),
            "waits": waits(d),
        })
    };
    let relief = |ReliefTotals { tally: t, reordered }: ReliefTotals| {
        json!({
            "tokens": t.tokens, "lifted": t.lifted, "ended_pool": t.ended_pool, "ended_source": t.ended_source,
            "signals": t.signals, "reclaimed": t.reclaimed, "cycles": t.cycles, "furthest": t.furthest, "reordered": reordered,
        })
    };
    json!({
        "frames": c.pause_frames,
        "resumes": c.resume_frames,
        "paused_s": paused as f64 / 1e12,
        "deadlocks": run.engine.deadlocks().iter().map(deadlock).collect::<Vec<_>>(),
        "relief": run.engine.relief().map(relief),
        "spared": run.engine.exempt_packets(),
    })
}

/// What links lost by chance, and the one that was used most: of those whose rate changes, if there are any.
fn links(run: &Run) -> Json {
    let spec = run.engine.spec();
    let all = (0..2 * spec.links.len()).map(PortId::from);
    let varies = |port: &PortId| !spec.direction(*port).is_fixed();
    let some = all.clone().any(|port| varies(&port));
    let used = |port: PortId| utilisation(run, port);
    let ports = all.filter(|port| !some || varies(port)).map(|port| (port, used(port)));
    // The first of several that were used as much.
    let most = ports.reduce(|best, next| if next.1 > best.1 { next } else { best });
    let ends = |port: PortId| [spec.ends(port).0.0, spec.ends(port).1.0];
    json!({
        "packets_lost": run.engine.lost_on_links(),
        "most_used": most.map(|(port, used)| json!({
            "port": port.0, "from_node": ends(port)[0], "to_node": ends(port)[1],
            "from": run.meta.names.of(ends(port)[0]), "to": run.meta.names.of(ends(port)[1]),
            "utilisation": used, "rate_varies": some,
        })),
    })
}

/// How full memories got: the input that held most, and the largest shares of a limit, of a shared memory and
/// of a headroom.
fn memory(run: &Run) -> Json {
    let rows = memory_rows(run);
    let share = |parts: &mut dyn Iterator<Item = (u64, u64)>| {
        parts.filter(|(_, of)| *of > 0).map(|(most, of)| most as f64 / of as f64).reduce(f64::max)
    };
    let of = |row: &MemoryRow| row.limit.map(|limit| (row.most, limit));
    let (inputs, shared): (Vec<MemoryRow>, Vec<MemoryRow>) = rows.iter().partition(|row| row.port.is_some());
    // The first of several that held as much.
    let fullest = inputs.iter().rev().max_by_key(|row| row.most);
    json!({
        "most_bytes": fullest.map(|row| row.most),
        "node": fullest.map(|row| row.node),
        "from_node": fullest.and_then(|row| row.from),
        "of_limit": share(&mut inputs.iter().filter_map(of)),
        "of_shared": share(&mut shared.iter().filter_map(of)),
        "of_headroom": share(&mut inputs.iter().filter_map(|row| row.headroom)),
    })
}

fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

/// Completion times of these flows.
fn times(rows: &[&FlowRow<'_>]) -> Json {
    json!({
        "flows": rows.len(),
        "completed": rows.iter().filter(|r| r.fct.is_some()).count(),
        "censored": rows.iter().filter(|r| r.fct.is_none()).count(),
        "fct_us": statistics(rows.iter().filter_map(|r| r.fct.map(us)).collect()),
        "slowdown": statistics(rows.iter().filter_map(|r| r.slowdown()).collect()),
    })
}

/// The same of each size class that has flows.
fn size_classes(edges: &[u64], measured: &[&FlowRow<'_>]) -> Vec<Json> {
    let mut classes = Vec::new();
    for i in 0..=edges.len() {
        let low = if i == 0 { 0 } else { edges[i - 1] };
        let high = edges.get(i).copied().unwrap_or(u64::MAX);
        let inside: Vec<&FlowRow<'_>> =
            measured.iter().copied().filter(|r| r.spec.size > low && r.spec.size <= high).collect();
        if inside.is_empty() {
            continue;
        }
        let mut class = times(&inside);
        class["name"] = match (i, edges.get(i)) {
            (_, Some(high)) => format!("up to {}", Bytes::new(*high)).into(),
            (0, None) => "all".into(),
            _ => format!("above {}", Bytes::new(low)).into(),
        };
        class["above_bytes"] = low.into();
        class["up_to_bytes"] = edges.get(i).copied().map_or(Json::Null, Json::from);
        classes.push(class);
    }
    classes
}

/// The same of each section of traffic, with what else is known of it.
fn groups(run: &Run, rows: &[FlowRow<'_>], measured: &[&FlowRow<'_>]) -> Vec<Json> {
    let delays = run.engine.delays();
    let group = |(g, section): (usize, &Section)| {
        let inside: Vec<&FlowRow<'_>> =
            measured.iter().copied().filter(|r| usize::from(r.spec.group) == g).collect();
        let mut group = times(&inside);
        group["name"] = section.name.clone().into();
        group["kind"] = section.kind.clone().into();
        group["controller"] = section.controller.clone().into();
        let own = |r: &&FlowRow<'_>| usize::from(r.spec.group) == g;
        group["endless"] =
            rows.iter().filter(own).any(FlowRow::endless).then(|| endless(run, rows, Some(g))).into();
        group["job"] = section.job.then(|| job(run, rows, g)).into();
        group["packet_queueing_us"] = waits(delays.get(g..=g).unwrap_or_default()).into();
        group
    };
    run.meta.sections.iter().enumerate().map(group).collect()
}

/// How many flows are in which state, and why some have not ended.
fn states(run: &Run, rows: &[FlowRow<'_>], measured: usize) -> Json {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for (end, reason) in rows.iter().map(|r| r.end()) {
        if let Some(reason) = reason.filter(|_| end != "stopped") {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    let in_state = |status: &str| rows.iter().filter(|r| r.status() == status).count();
    json!({
        "total": rows.len(),
        "started": run.engine.counters().flows_started,
        "completed": in_state("completed"),
        "stopped": in_state("stopped"),
        "censored": in_state("censored"),
        "not_started": in_state("not-started"),
        "failed": in_state("failed"),
        "unfinished": reasons,
        "measured": measured,
    })
}

pub(crate) fn summary(run: &Run) -> Json {
    let rows: Vec<FlowRow<'_>> = flow_rows(run).collect();
    let measured: Vec<&FlowRow<'_>> = rows.iter().filter(|r| r.is_measured(run)).collect();
    let sum = |f: &dyn Fn(&FlowRow<'_>) -> u64| rows.iter().map(f).sum::<u64>();
    let c = run.engine.counters();
    let seconds = run.engine.now().secs();
    let delivered: u64 = rows.iter().map(|r| r.outcome.delivered).sum();
    let edge = run.engine.spec().edge.map(|_| {
        json!({
            "drops": c.edge.dropped,
            "marks": c.edge.marked,
            "refreshes_by_delay": c.edge.refreshes.by_delay,
            "refreshes_by_gap": c.edge.refreshes.by_gap,
            "refreshes_by_gap_at_low_delay": c.edge.refreshes.by_gap_at_low_delay,
        })
    });
    let pauses = run.engine.spec().inputs.and_then(|i| i.pause).map(|_| pauses(run));
    let plain = run.engine.spec().links.iter().all(|l| l.ab.is_plain() && l.ba.is_plain());
    let links = (!plain || run.engine.spec().probes.links.is_some()).then(|| links(run));
    let memory = run.engine.spec().probes.memory.then(|| memory(run));
    let endless = rows.iter().any(FlowRow::endless).then(|| endless(run, &rows, None));
    let lost = run.engine.lost_to_incidents();
    let incidents = (!run.engine.spec().incidents.is_empty())
        .then(|| json!({ "packets_lost": lost.packets, "pause_frames_lost": lost.frames }));
    let goodput = if seconds > 0.0 { delivered as f64 * 8e-9 / seconds } else { 0.0 };
    json!({
        "name": run.meta.name,
        "seed": run.engine.spec().seed,
        "partial": run.is_partial(),
        "violation": run.violation(),
        "digest": format!("{:016x}", run.digest()),
        "simulated_seconds": seconds,
        "packet_hops": c.packet_hops,
        "base_rtt_us": us(run.meta.base_rtt_ps),
        "fct_measured_at": match run.meta.fct {
            thalweg_scenario::schema::Fct::Receiver => "receiver",
            thalweg_scenario::schema::Fct::Sender => "sender",
        },
        "flows": states(run, &rows, measured.len()),
        "measured": times(&measured),
        "endless": endless,
        "size_classes": size_classes(&run.meta.size_classes, &measured),
        "groups": groups(run, &rows, &measured),
        "packet_queueing_us": waits(run.engine.delays()),
        "load": loads(run, &rows),
        "bottleneck": bottleneck(run),
        "goodput_gbps": goodput,
        "contested_ties": c.contested_ties,
        "drops": c.packets_dropped,
        "links": links,
        "marks": c.packets_marked,
        "trims": c.packets_trimmed,
        "edge": edge,
        "pauses": pauses,
        "memory": memory,
        "incidents": incidents,
        "retransmissions": sum(&|r| r.outcome.counts.retransmitted),
        "timeouts": sum(&|r| r.outcome.counts.timeouts),
    })
}
