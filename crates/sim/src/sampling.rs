//! Sampling: what probes record at their events.

use crate::boundary::Boundary;
use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, carried};
use crate::hosts::Hosts;
use crate::instruments::probe::{
    CARRIED, CONTROLLERS, ControllerSample, LINKS, LinkSample, PartSample, QUEUES, QueueSample,
};
use crate::port::Backlog;
use thalweg_machines::congestion::Report;
use thalweg_machines::schedule::Discipline;
use thalweg_machines::transport::Receiver;
use thalweg_units::{FlowId, PortId, Time};

/// Schedules the first event of every probe.
pub(crate) fn arm(cx: &mut Cx) {
    let probes = &cx.spec.probes;
    let wanted = [
        (QUEUES, probes.queues.is_some()),
        (LINKS, probes.links.is_some()),
        (CONTROLLERS, probes.controllers.is_some()),
    ];
    if let Some((from, _)) = probes.carried {
        cx.schedule(from, Phase::Sample, CARRIED);
    }
    for (probe, _) in wanted.into_iter().filter(|(_, on)| *on) {
        cx.schedule(Time::ZERO, Phase::Sample, probe);
    }
}

/// Takes the sample of a probe.
pub(crate) fn sample(cx: &mut Cx, fabric: &mut Fabric, hosts: &Hosts, probe: u32) {
    let at = cx.now;
    for id in 0..fabric.ports().len() {
        fabric.catch_up_now(cx, PortId::from(id));
    }
    let seen = &mut cx.instruments.probes;
    let every = match probe {
        QUEUES => {
            let Some((every, ports)) = &cx.spec.probes.queues else { return };
            for &port in ports {
                let Backlog { packets, bytes } = fabric.backlog(port, at);
                let totals = fabric.ports()[port.at()].totals(at);
                let (dropped, marked) = (totals.dropped, totals.marked);
                let (flows, occupied) =
                    if cx.spec.probes.queue_flows { competing(fabric, port, at) } else { (0, 0) };
                seen.queues.push(QueueSample { at, port, packets, bytes, dropped, marked, flows, occupied });
            }
            *every
        }
        LINKS => {
            let Some((every, ports)) = &cx.spec.probes.links else { return };
            for &port in ports {
                let (packets, bytes) = carried::begun(fabric, port, at);
                let estimate =
                    fabric.reference(port).and_then(|r| r.egress.estimate()).map(|rate| rate.bps());
                seen.links.push(LinkSample { at, port, packets, bytes, estimate });
            }
            *every
        }
        CARRIED => return sample_carried(cx, fabric),
        _ => {
            let Some((every, flows)) = &cx.spec.probes.controllers else { return };
            for &flow in flows {
                let slot = fabric.paths().slot(flow);
                if cx.features.partitioned {
                    seen.in_part.extend(known_here(hosts, slot, at, flow, &cx.boundary));
                    if !cx.boundary.is_home(cx.spec.flows[flow.at()].src) {
                        continue;
                    }
                }
                let Some((sender, receiver)) = hosts.ends(slot) else { continue };
                let stats = sender.stats();
                let mut report = Report::default();
                sender.report(&mut report);
                seen.own.record(seen.controllers.len(), report.values());
                seen.controllers.push(ControllerSample {
                    at,
                    flow,
                    window: stats.window.get(),
                    threshold: stats.threshold.get(),
                    in_flight: stats.in_flight.get(),
                    srtt: stats.srtt.ps(),
                    delivered: receiver.received(),
                    arrived: receiver.unique_bytes(),
                    pace: stats.pace.map(|rate| rate.bps()),
                });
            }
            *every
        }
    };
    let next = at.saturating_add(every);
    if next <= cx.spec.stop.until {
        cx.schedule(next, Phase::Sample, probe);
    }
}

/// What this part of a network knows of a flow.
fn known_here(hosts: &Hosts, slot: u32, at: Time, flow: FlowId, boundary: &Boundary) -> Option<PartSample> {
    let (sending, receiving) = hosts.both(slot)?;
    let received = boundary.is_home(receiving.host).then_some(&receiving.receiver);
    Some(PartSample {
        at,
        flow,
        balance: sending.balance.wrapping_add(receiving.balance),
        complete: u8::from(sending.complete) + u8::from(receiving.complete),
        delivered: received.map_or(0, Receiver::received),
        arrived: received.map_or(0, Receiver::unique_bytes),
    })
}

/// Number of flows of which data wait at a port, and of queues that hold them.
fn competing(fabric: &Fabric, id: PortId, now: Time) -> (u32, u32) {
    let mut flows = Vec::new();
    let port = &fabric.ports()[id.at()];
    let queue = |flows: &mut Vec<FlowId>| {
        fabric.queue(id)?.waiting(&mut |handle| flows.push(fabric.packets()[handle].flow))
    };
    // An express port is one FIFO. An on-demand port may have a single packet that bypasses its queue.
    let mut outside = 0;
    for flying in port.outside_queue(now) {
        let packet = &fabric.packets()[flying.handle];
        outside = 1;
        if !packet.is_control() {
            flows.push(packet.flow);
        }
    }
    let occupied = queue(&mut flows).unwrap_or(0).max(outside);
    flows.sort_unstable();
    flows.dedup();
    (flows.len() as u32, occupied)
}

/// Opens or closes the window of `ProbeSpec::carried`.
fn sample_carried(cx: &mut Cx, fabric: &Fabric) {
    let Some((from, until)) = cx.spec.probes.carried else { return };
    let bytes =
        (0..fabric.ports().len()).map(|port| carried::by(fabric, &cx.spec, PortId::from(port), cx.now).left);
    let probes = &mut cx.instruments.probes;
    if probes.carried.is_empty() {
        probes.carried = bytes.collect();
        debug_assert_eq!(cx.now, from);
        cx.schedule(until, Phase::Sample, CARRIED);
    } else {
        probes.carried.iter_mut().zip(bytes).for_each(|(carried, now)| *carried = now - *carried);
        probes.carried_closed = true;
    }
}
