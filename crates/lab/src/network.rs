//! From a resolved scenario to the network that the simulator runs.

use crate::Diagnostic;
use crate::context::Cx;
use crate::parse::tables;
use crate::quantity::{Capacity, Q};
use crate::schema::{
    AdsMap, ClassOrder, Congestion, DelayedAcks, Document, EcnMode, Flight, Growth, LossDetection, MarkAt,
    Marking, Overflow, Pace, Pattern, Rank, Routing, Rto, Sack, Scheduler, Sharing, Spacing, Transport,
};
use crate::topology::Graph;
use crate::workload::{self, Draft};
use std::collections::BTreeMap;
use thalweg_machines::aqm::CodelSpec;
use thalweg_machines::congestion::{ControllerSpec, DctcpGrowth};
use thalweg_machines::schedule as s;
use thalweg_machines::transport as t;
use thalweg_sim::spec::{
    CutThrough, FlowSpec, HopRule, NetworkSpec, NicOrder, NicSpec, PinnedPath, ProbeSpec, RecordSpec,
    RoutingSpec, SharedBufferSpec, StopSpec,
};
use thalweg_units::{Bytes, FlowId, HostId, NodeId, PortId, Span, Time};

pub(crate) mod header;

/// Builds everything.
pub(crate) fn build(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<NetworkSpec, Diagnostic> {
    let (flows, labels) = flows(cx, doc, graph)?;
    let (disciplines, port_discipline) = queues(cx, doc, graph)?;
    let shared_buffer = doc.switch.shared_buffer.as_ref().map(|b| SharedBufferSpec {
        total: b.total.0,
        alpha: match b.sharing {
            Sharing::Complete => f64::INFINITY,
            Sharing::Dynamic { alpha } => alpha,
        },
    });
    let header = doc.switch.cut_through.0.get();
    Ok(NetworkSpec {
        seed: doc.seed,
        hosts: graph.hosts,
        switches: graph.switches,
        links: graph.links.clone(),
        disciplines,
        port_discipline,
        shared_buffer,
        inputs: None,
        nic: NicSpec { order: NicOrder::Queue, pause_control: true },
        control_first: false,
        incidents: Vec::new(),
        convergence: Span::ZERO,
        hop_rule: if doc.slack.is_some() { HopRule::Slack } else { HopRule::Plain },
        slack: doc.slack.as_ref().map(|s| header::slack(s, doc)),
        edge: doc.edge.map(|e| header::edge(e, doc, graph)),
        replay: false,
        routing: routing(cx, doc, graph, &flows, &labels)?,
        cut_through: (header > 0).then_some(CutThrough { header: header as u32 }),
        transports: transports(doc),
        probes: probes(cx, doc, graph, flows.len())?,
        stop: StopSpec {
            until: Time::from_ps(doc.run.until.0.ps()),
            // Without a measured flow "all are done" is true at once.
            when_measured_done: doc.run.stop_when_done && flows.iter().any(|f| f.measured),
            max_events: doc.run.max_events.unwrap_or(u64::MAX),
        },
        flows,
    })
}

/// The flows in the simulator's order, and what their files call them.
fn flows(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<(Vec<FlowSpec>, Vec<u64>), Diagnostic> {
    let drafts = workload::generate(cx, doc, graph)?;
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    // Those that start by the clock by (start, position), then those that follow.
    order.sort_by_key(|i| {
        (
            drafts[*i].after.is_some(),
            if drafts[*i].after.is_some() { Time::ZERO } else { drafts[*i].start },
            *i,
        )
    });
    let mut place = vec![0u32; drafts.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new as u32;
    }
    let names: Vec<&String> = doc.transports.keys().collect();
    let mut udp = 1 + names.len();
    let transport_of: Vec<u16> = doc
        .traffic
        .iter()
        .map(|t| match &t.pattern {
            Pattern::Udp(_) => {
                udp += 1;
                (udp - 1) as u16
            }
            _ => names.iter().position(|n| **n == t.transport).map_or(0, |i| i as u16 + 1),
        })
        .collect();
    let from = Time::from_ps(doc.measure.from.0.ps());
    let until = Time::from_ps(doc.measure.until.map_or(doc.run.until.0, |q| q.0).ps());
    let spec = |d: &Draft| {
        let section = &doc.traffic[usize::from(d.group)];
        let inside = d.after.is_some() || (d.start >= from && d.start < until);
        FlowSpec {
            src: HostId(d.src),
            dst: HostId(d.dst),
            size: d.size,
            start: d.start,
            after: d.after.map_or(FlowId::NONE, |i| FlowId(place[i])),
            connection: u32::MAX,
            transport: transport_of[usize::from(d.group)],
            class: section.class,
            measured: section.measured && inside && d.size != u64::MAX,
            group: d.group,
        }
    };
    let flows = order.iter().map(|i| spec(&drafts[*i])).collect();
    let labels = order.iter().enumerate().map(|(new, i)| drafts[*i].label.unwrap_or(new as u64)).collect();
    Ok((flows, labels))
}

fn queues(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
) -> Result<(Vec<s::DisciplineSpec>, Vec<u16>), Diagnostic> {
    let switch = (&doc.switch.scheduler, doc.switch.buffer, doc.switch.marking, "switch");
    let nic = (
        doc.nic.scheduler.as_ref().unwrap_or(&doc.switch.scheduler),
        doc.nic.buffer.unwrap_or(doc.switch.buffer),
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
                aqm: aqm(marking),
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
        // "Within a flow earliest sequence first" (ads M2.3) is pFabric's rule too.
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

fn aqm(marking: Marking) -> s::AqmSpec {
    match marking {
        Marking::None => s::AqmSpec::TailDrop,
        Marking::Step { threshold, at, include_self } => s::AqmSpec::StepEcn {
            threshold: match threshold {
                crate::quantity::Length::Bytes(b) => s::Threshold::Bytes(b),
                crate::quantity::Length::Packets(p) => s::Threshold::Packets(p),
            },
            at_departure: at == MarkAt::Departure,
            include_self,
        },
        Marking::Codel { target, interval, mtu } => s::AqmSpec::Codel(codel(target, interval, mtu)),
        Marking::Red { min, max, max_probability, weight, gentle, ecn, mean_packet } => {
            s::AqmSpec::Red(s::RedSpec {
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

/// `[transport]`, then `[transports]` by name, then those of traffic of kind `udp`.
fn transports(doc: &Document) -> Vec<t::TransportSpec> {
    let mut out = vec![transport(&doc.transport)];
    out.extend(doc.transports.values().map(transport));
    for traffic in &doc.traffic {
        if let Pattern::Udp(u) = &traffic.pattern {
            out.push(t::TransportSpec::Udp(t::UdpSpec {
                payload: u.payload.0.get() as u32,
                header: u.header.0.get() as u32,
                pace: match u.spacing {
                    Spacing::Constant => t::UdpPace::Constant(u.rate.0),
                    Spacing::Poisson => t::UdpPace::Poisson(u.rate.0),
                },
                rank: t::RankSpec::None,
            }));
        }
    }
    out
}

fn transport(transport: &Transport) -> t::TransportSpec {
    let rank = |r: Option<Rank>| match r {
        None | Some(Rank::None) => t::RankSpec::None,
        Some(Rank::FlowSize) => t::RankSpec::FlowSize,
        Some(Rank::Remaining) => t::RankSpec::Remaining,
        Some(Rank::FromHere) => t::RankSpec::FromHere,
        Some(Rank::SocketBuffer { buffer }) => t::RankSpec::SocketBuffer { buffer: buffer.0 },
    };
    let tcp = match transport {
        Transport::Udp(u) => {
            return t::TransportSpec::Udp(t::UdpSpec {
                payload: u.payload.0.get() as u32,
                header: u.header.0.get() as u32,
                pace: match u.pace {
                    Pace::Burst => t::UdpPace::Burst,
                    Pace::Constant { rate } => t::UdpPace::Constant(rate.0),
                    Pace::Poisson { rate } => t::UdpPace::Poisson(rate.0),
                },
                rank: rank(u.rank),
            });
        }
        Transport::Tcp(tcp) => tcp,
    };
    let mss = tcp.mss.0.get() as u32;
    t::TransportSpec::Tcp(t::TcpSpec {
        controller: match &tcp.congestion {
            Congestion::Newreno => ControllerSpec::NewReno,
            Congestion::Dctcp { gain, initial_alpha, growth, cut_without_marks } => ControllerSpec::Dctcp {
                gain: *gain,
                initial_alpha: *initial_alpha,
                growth: match growth {
                    Growth::Always => DctcpGrowth::Always,
                    Growth::UnmarkedAcks => DctcpGrowth::UnmarkedAcks,
                    Growth::OutsideCwr => DctcpGrowth::OutsideCwr,
                    Growth::GradualCwr => DctcpGrowth::GradualCwr,
                    Growth::Room => DctcpGrowth::Room,
                },
                cut_without_marks: *cut_without_marks,
            },
            Congestion::DctcpRate { gain, initial_alpha, step, min_rate } => ControllerSpec::DctcpRate {
                gain: *gain,
                initial_alpha: *initial_alpha,
                step: step.0,
                min_rate: min_rate.0,
            },
            Congestion::Mintcp { halve_threshold } => {
                ControllerSpec::MinTcp { halve_threshold: *halve_threshold }
            }
            Congestion::Fixed => ControllerSpec::FixedWindow,
            Congestion::Custom { name, params } => {
                ControllerSpec::Custom { name: name.clone(), params: params.to_string().into_bytes() }
            }
        },
        mss,
        header: tcp.header.0.get() as u32,
        ack_wire: tcp.ack_size.0.get() as u32,
        syn_wire: tcp.syn_size.unwrap_or(tcp.ack_size).0.get() as u32,
        flight: match tcp.flight {
            Flight::Pipe => t::FlightSpec::Pipe,
            Flight::Span => t::FlightSpec::Span,
            Flight::SpanOmniscient => t::FlightSpec::SpanOmniscient,
        },
        initial_window: tcp.initial_window.bytes(mss),
        max_window: tcp.max_window.bytes(mss),
        initial_threshold: tcp.initial_threshold.bytes(mss),
        rto: match tcp.rto {
            Rto::Rfc6298 { initial, min, max } => {
                t::RtoSpec::Rfc6298 { initial: initial.0, min: min.0, max: max.0 }
            }
            Rto::Fixed { value } => t::RtoSpec::Fixed(value.0),
        },
        loss: match tcp.loss {
            LossDetection::DupAck { threshold } => t::LossSpec::DupAck { threshold },
            LossDetection::TimeoutOnly => t::LossSpec::Timeout,
        },
        limited_transmit: tcp.limited_transmit.unwrap_or(false),
        sack: match tcp.sack {
            Sack::Off => t::SackSpec::Off,
            Sack::Blocks { blocks, on_wire } => t::SackSpec::Blocks { blocks, on_wire },
        },
        ack: match tcp.delayed_acks {
            DelayedAcks::Off => t::AckSpec { every: 1, delay: thalweg_units::Span::ZERO },
            DelayedAcks::On { every, delay } => t::AckSpec { every, delay: delay.0 },
        },
        handshake: tcp.handshake,
        ecn: match tcp.ecn {
            None | Some(EcnMode::Off) => t::EcnSpec::Off,
            Some(EcnMode::Classic) => t::EcnSpec::Classic,
            Some(EcnMode::Accurate) => t::EcnSpec::Accurate,
        },
        timestamps: tcp.timestamps,
        probe_after: (tcp.probe_after > 0).then_some(tcp.probe_after),
        rank: rank(tcp.rank),
    })
}

fn routing(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
    flows: &[FlowSpec],
    labels: &[u64],
) -> Result<RoutingSpec, Diagnostic> {
    Ok(match &doc.routing {
        Routing::Ecmp => RoutingSpec::Ecmp,
        Routing::Lowest => RoutingSpec::Lowest,
        Routing::Modulo => RoutingSpec::Modulo,
        Routing::SprayRandom => RoutingSpec::SprayRandom,
        Routing::SprayRoundRobin { offsets: None } => RoutingSpec::SprayRoundRobin { offsets: Vec::new() },
        Routing::SprayRoundRobin { offsets: Some(file) } => {
            let text = cx.read("routing.offsets", file)?;
            let offsets = tables::offsets(&text, graph.hosts).map_err(|e| e.in_file(file))?;
            RoutingSpec::SprayRoundRobin { offsets }
        }
        Routing::Pinned { file } => {
            let text = cx.read("routing.file", file)?;
            let rows = tables::paths(&text).map_err(|e| e.in_file(file))?;
            let by_id: BTreeMap<u64, &tables::PathRow> = rows.iter().map(|r| (r.id, r)).collect();
            let adjacency = graph.adjacency();
            let mut paths = Vec::with_capacity(flows.len());
            for (f, label) in flows.iter().zip(labels) {
                let Some(row) = by_id.get(label) else {
                    let d = Diagnostic::in_file(file, 0, format!("there is no path for flow {label}"));
                    return Err(d.hint("write a line for every flow"));
                };
                let (src, dst) = (NodeId(f.src.0), NodeId(f.dst.0));
                for (name, path, from, to) in
                    [("data_path", &row.data, src, dst), ("ack_path", &row.ack, dst, src)]
                {
                    let hops: Vec<NodeId> =
                        std::iter::once(from).chain(path.iter().copied()).chain([to]).collect();
                    let joined = |w: &[NodeId]| {
                        w[0].at() < adjacency.len() && adjacency[w[0].at()].iter().any(|(_, n)| *n == w[1])
                    };
                    if let Some(gap) = hops.windows(2).find(|w| !joined(w)) {
                        let reason = format!(
                            "`{name}` of flow {label} is not a path: no link from {} to {}",
                            gap[0], gap[1]
                        );
                        let hint = format!("it leads from host {from} to host {to} over linked switches");
                        return Err(Diagnostic::in_file(file, row.line, reason).hint(hint));
                    }
                    if let Some(host) = path.iter().find(|n| graph.is_host(**n)) {
                        let reason = format!("`{name}` of flow {label} passes host {host}");
                        return Err(Diagnostic::in_file(file, row.line, reason).hint("hosts do not forward"));
                    }
                }
                paths.push(PinnedPath { data: row.data.clone(), ack: row.ack.clone() });
            }
            RoutingSpec::Pinned { paths }
        }
    })
}

fn probes(cx: &Cx<'_>, doc: &Document, graph: &Graph, flows: usize) -> Result<ProbeSpec, Diagnostic> {
    let ports = |listed: &[u32]| -> Vec<PortId> {
        if !listed.is_empty() {
            return listed.iter().map(|p| PortId(*p)).collect();
        }
        let ends = graph.links.iter().enumerate().flat_map(|(i, l)| [(2 * i, l.a), (2 * i + 1, l.b)]);
        ends.filter(|(_, node)| !graph.is_host(*node)).map(|(p, _)| PortId(p as u32)).collect()
    };
    let m = &doc.measure;
    let controllers = match &m.controllers {
        None => None,
        Some(c) => {
            if let Some(i) = c.flows.iter().position(|f| *f as usize >= flows) {
                let key = format!("measure.controllers.flows.{i}");
                let hint = format!("flows are 0 to {}", flows as i64 - 1);
                return Err(cx.error(&key, format!("there is no flow {}", c.flows[i]), hint));
            }
            let first = 0..flows.min(16) as u32;
            let ids = if c.flows.is_empty() { first.collect() } else { c.flows.clone() };
            Some((c.every.0, ids.into_iter().map(FlowId).collect()))
        }
    };
    Ok(ProbeSpec {
        pauses: false,
        queues: m.queues.as_ref().map(|q| (q.every.0, ports(&q.ports))),
        links: m.links.as_ref().map(|l| (l.every.0, ports(&l.ports))),
        carried: None,
        controllers,
        priority_histogram: m.priority_histogram.as_ref().map(|h| (h.cap.0, h.mtu.0.get() as u32)),
        record: m.packets.map(|p| RecordSpec { hops: p.hops }),
    })
}
