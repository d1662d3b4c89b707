//! Output queues: order, limit, marking.

use crate::Diagnostic;
use crate::context::Cx;
use crate::parse::tables;
use crate::quantity::{Capacity, Q};
use crate::schema::{AdsMap, ClassOrder, Document, MarkAt, Marking, Overflow, Scheduler};
use crate::topology::Graph;
use std::collections::BTreeMap;
use thalweg_machines::schedule as s;
use thalweg_machines::stage::{self, CodelSpec, StageSpec};
use thalweg_units::{Bytes, NodeId, Span};

pub(super) fn queues(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
) -> Result<(Vec<s::DisciplineSpec>, Vec<u16>), Diagnostic> {
    let switch = (&doc.switch.scheduler, doc.switch.room(), doc.switch.marking, "switch");
    let nic = (
        doc.nic.scheduler.as_ref().unwrap_or(&doc.switch.scheduler),
        doc.nic.buffer.unwrap_or(doc.switch.room()),
        doc.nic.marking.unwrap_or(doc.switch.marking),
        "nic",
    );
    let mixed = doc.switch.mix.as_ref();
    let mix = (mixed.map_or(switch.0, |m| &m.scheduler), switch.1, switch.2, "switch.mix");
    let roles = [switch, nic, mix];
    let role = |node: NodeId| match mixed {
        _ if graph.is_host(node) => 1,
        Some(m) if m.nodes.has(node.0) => 2,
        _ => 0,
    };
    let mut histograms = Vec::new();
    for (scheduler, _, _, section) in roles {
        histograms.push(match scheduler {
            Scheduler::Ads { map: AdsMap::Static { file: Some(file), .. }, .. } => {
                let key = format!("{section}.scheduler.map.file");
                let text = cx.read(&key, file)?;
                Some((tables::histograms(&text).map_err(|e| e.in_file(file))?, key))
            }
            _ => None,
        });
    }
    let mut kinds: Vec<s::DisciplineSpec> = Vec::new();
    let mut known: BTreeMap<(usize, Option<u32>), u16> = BTreeMap::new();
    let mut out = Vec::with_capacity(2 * graph.links.len());
    for (i, link) in graph.links.iter().enumerate() {
        for (port, node) in [(2 * i as u32, link.a), (2 * i as u32 + 1, link.b)] {
            let role = role(node);
            let ((scheduler, buffer, marking, _), histogram) = (roles[role], &histograms[role]);
            let (counts, per_port) = match histogram {
                None => (None, None),
                Some((all, key)) => match (all.get(&Some(port)), all.get(&None)) {
                    (Some(mine), _) => (Some(mine), Some(port)),
                    (None, Some(any)) => (Some(any), None),
                    // A port that the recording run never used: like all the others together.
                    (None, None) if all.is_empty() => {
                        return Err(cx.error(
                            key,
                            "the histogram is empty",
                            "record one with `measure.priority_histogram`",
                        ));
                    }
                    (None, None) => (None, None),
                },
            };
            let pooled = histogram.as_ref().filter(|_| counts.is_none()).map(|(all, _)| pool(all));
            if let Some(kind) = known.get(&(role, per_port)) {
                out.push(*kind);
                continue;
            }
            let spec = s::DisciplineSpec {
                order: order(scheduler, counts.or(pooled.as_ref())),
                limit: match buffer {
                    Capacity::Bytes(b) => s::Limit::Bytes(b),
                    Capacity::Packets(p) => s::Limit::Packets(p),
                    Capacity::Unlimited => s::Limit::Unlimited,
                },
                stage: stage(marking),
                preemptive: doc.switch.preemptive && !graph.is_host(node),
            };
            let kind = match kinds.iter().position(|k| *k == spec).filter(|_| per_port.is_none()) {
                Some(kind) => kind as u16,
                None if kinds.len() > usize::from(u16::MAX) => {
                    return Err(cx.error(
                        "switch.scheduler.map.file",
                        "more than 65536 different maps",
                        "pool the ports",
                    ));
                }
                None => {
                    kinds.push(spec);
                    (kinds.len() - 1) as u16
                }
            };
            known.insert((role, per_port), kind);
            out.push(kind);
        }
    }
    Ok((kinds, out))
}

fn pool(all: &tables::Histograms) -> Vec<u64> {
    let mut out = vec![0u64; all.values().map(Vec::len).max().unwrap_or(0)];
    for counts in all.values() {
        for (sum, n) in out.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*n);
        }
    }
    out
}

pub(crate) fn order(scheduler: &Scheduler, histogram: Option<&Vec<u64>>) -> s::OrderSpec {
    let victim = |o: &Overflow| match o {
        Overflow::LongestQueue => s::FairOverflow::LongestQueue,
        Overflow::Tail => s::FairOverflow::Tail,
    };
    match scheduler {
        Scheduler::Fifo => s::OrderSpec::Fifo,
        Scheduler::Drr { quantum, overflow } => {
            s::OrderSpec::Drr { quantum: quantum.0.get() as u32, overflow: victim(overflow) }
        }
        Scheduler::Fq { overflow } => s::OrderSpec::Fq { overflow: victim(overflow) },
        Scheduler::Priority { classes } => s::OrderSpec::Priority { classes: *classes },
        // "Within a flow earliest sequence first" (SJF of ADS §2.2) is pFabric's rule too.
        Scheduler::Sjf | Scheduler::Srpt => s::OrderSpec::Rank { flow_order: true },
        Scheduler::Ads { queues, cap, mtu, map } => s::OrderSpec::Ads(s::AdsSpec {
            queues: *queues,
            cap: cap.0,
            mtu: mtu.0.get() as u32,
            map: match map {
                AdsMap::Dynamic { interval, window } => {
                    s::AdsMap::Dynamic { interval: interval.0, window: *window }
                }
                AdsMap::Static { counts, .. } => {
                    s::AdsMap::Static { counts: histogram.or(counts.as_ref()).cloned().unwrap_or_default() }
                }
            },
        }),
        Scheduler::Lifo => s::OrderSpec::Lifo,
        Scheduler::Random => s::OrderSpec::Random,
        Scheduler::Lstf { bucket } => {
            s::OrderSpec::Pifo { add_transmission: true, bucket: bucket.map_or(Span::ZERO, |b| b.0) }
        }
        Scheduler::Pifo => s::OrderSpec::Pifo { add_transmission: false, bucket: Span::ZERO },
        Scheduler::RoundRobin { bins } => s::OrderSpec::RoundRobin { bins: *bins, codel: None },
        Scheduler::FqCodel { bins, target, interval, mtu } => {
            s::OrderSpec::RoundRobin { bins: *bins, codel: Some(codel(*target, *interval, *mtu)) }
        }
        Scheduler::InputRoundRobin => s::OrderSpec::InputRoundRobin,
        Scheduler::Parity { even, odd } => {
            s::OrderSpec::Parity { even: Box::new(class_order(*even)), odd: Box::new(class_order(*odd)) }
        }
        Scheduler::Custom { name, params } => {
            s::OrderSpec::Custom { name: name.clone(), params: params.to_string().into_bytes() }
        }
    }
}

fn class_order(order: ClassOrder) -> s::OrderSpec {
    match order {
        ClassOrder::Fifo => s::OrderSpec::Fifo,
        ClassOrder::Lifo => s::OrderSpec::Lifo,
        ClassOrder::Random => s::OrderSpec::Random,
        ClassOrder::Sjf | ClassOrder::Srpt => s::OrderSpec::Rank { flow_order: true },
    }
}

fn codel(target: Q<Span>, interval: Q<Span>, mtu: Q<Bytes>) -> CodelSpec {
    CodelSpec { target: target.0, interval: interval.0, mtu: mtu.0.get() as u32 }
}

fn stage(marking: Marking) -> StageSpec {
    match marking {
        Marking::None => StageSpec::TailDrop,
        Marking::Step { threshold, at, include_self } => StageSpec::StepEcn(stage::StepEcnSpec {
            threshold: match threshold {
                crate::quantity::Length::Bytes(b) => stage::Threshold::Bytes(b),
                crate::quantity::Length::Packets(p) => stage::Threshold::Packets(p),
            },
            at_departure: at == MarkAt::Departure,
            include_self,
        }),
        Marking::Ramp { min, max, max_probability, at } => StageSpec::RedEcn(stage::RedEcnSpec {
            min: min.0,
            max: max.0,
            max_probability,
            at_departure: at == MarkAt::Departure,
        }),
        Marking::Codel { target, interval, mtu } => StageSpec::Codel(codel(target, interval, mtu)),
        Marking::Red { min, max, max_probability, weight, gentle, ecn, mean_packet } => {
            StageSpec::Red(stage::RedSpec {
                min,
                max,
                max_probability,
                weight,
                gentle,
                ecn: ecn.unwrap_or(false),
                mean_packet: mean_packet.0.get() as u32,
            })
        }
    }
}
