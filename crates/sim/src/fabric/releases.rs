//! Releases of reliefs on their last hop, which have no event of their own.
//!
//! Whoever is told one only counts ([`Signal::only_counts`]): nobody needs to hear of it before the count is looked at, and is then told of what has arrived
//! by then, in the order of events. It takes its time on the link as any other frame does, but no place among what is on the wire. Where links may fail, and on the
//! reference lane, it lands at an event like others.
//!
//! [`Signal::only_counts`]: thalweg_machines::relief::Signal::only_counts

use crate::cx::Cx;
use crate::events::{Events, Phase, Tag};
use crate::fabric::reliefs::Releases;
use crate::fabric::{Fabric, relief};
use std::collections::VecDeque;
use thalweg_machines::relief::Signal;
use thalweg_units::{PortId, Span, Time};

/// The port `id` has sent one, which reaches a switch at `arrive`.
pub(super) fn send(fabric: &mut Fabric, id: PortId, arrive: Time, signal: Signal) {
    let switch = fabric.ports[id.at() ^ 1].place.owner as usize;
    let Releases { under_way, quiet_until } = &mut fabric.stages.relief.releases;
    under_way[id.at()].push_back((arrive, signal));
    quiet_until[switch] = quiet_until[switch].min(arrive);
}

/// A switch hears of those that have arrived before what lands now by the port `by`.
#[inline]
pub(super) fn hear_before<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: usize, by: PortId) {
    let now = cx.now;
    hear(fabric, cx, switch, (now, by));
}

/// Of those that have arrived up to now.
pub(super) fn hear_up_to_now<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: usize) {
    let now = cx.now;
    hear(fabric, cx, switch, (now, PortId::NONE));
}

/// All switches hear of those that arrive before `end`.
pub(super) fn hear_all<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, end: Time) {
    for switch in 0..fabric.stages.relief.releases.quiet_until.len() {
        hear(fabric, cx, switch, (end, PortId(0)));
    }
}

/// Nothing else will happen: what is under way arrives, unless the run is over by then.
#[cold]
pub(crate) fn hear_the_rest<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>) {
    let until = cx.spec.stop.until;
    let last = fabric.stages.relief.releases.under_way.iter().filter_map(VecDeque::back);
    let last = last.map(|(at, _)| *at).filter(|at| *at <= until).max();
    hear_all(fabric, cx, until.saturating_add(Span::from_ps(1)));
    cx.now = last.map_or(cx.now, |at| at.max(cx.now));
}

#[inline]
fn hear<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: usize, end: (Time, PortId)) {
    if fabric.stages.relief.releases.quiet_until[switch] <= end.0 {
        hear_now(fabric, cx, switch, end);
    }
}

/// They only count, and do not look at what the other has counted: those of one port after those of another.
#[inline(never)]
fn hear_now<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: usize, end: (Time, PortId)) {
    let mut quiet_until = Time::MAX;
    for number in 0..fabric.memory.links[switch].len() {
        let back = fabric.memory.links[switch][number];
        let by = PortId(back.0 ^ 1);
        loop {
            let under_way = &mut fabric.stages.relief.releases.under_way[by.at()];
            let Some(&(at, signal)) = under_way.front() else { break };
            if (at, by) >= end {
                quiet_until = quiet_until.min(at);
                break;
            }
            under_way.pop_front();
            cx.instruments.mark(at, Tag::new(Phase::Arrive, by.0).word());
            relief::hears(fabric, cx, switch, number, at, signal);
        }
    }
    fabric.stages.relief.releases.quiet_until[switch] = quiet_until;
}
