//! Releases of reliefs on their last hop: they have no event of their own.
//!
//! A release only increments a counter of its receiver ([`Signal::only_counts`]), so it is applied when that
//! counter is next read: all that have arrived by then, in the order of events. A release takes its time on
//! the link as any other frame does, but no place among what is on the wire. Where links may fail, and on the
//! reference lane, a release lands at an event like other frames.
//!
//! [`Signal::only_counts`]: thalweg_wire::Signal::only_counts

use crate::cx::Cx;
use crate::events::{Events, Phase, Tag};
use crate::fabric::Fabric;
use crate::fabric::reliefs::Releases;
use thalweg_units::{PortId, Time};
use thalweg_wire::Signal;

/// Notes a release that the port `id` has sent to a switch, and when it arrives there.
pub(super) fn send(fabric: &mut Fabric, id: PortId, switch: usize, release: (Time, Signal)) {
    let Releases { under_way, quiet_until } = &mut fabric.mechanisms.relief.releases;
    under_way[id.at()].push_back(release);
    quiet_until[switch] = quiet_until[switch].min(release.0);
}

/// Whether no release arrives at a switch up to `end`, so that there is nothing to apply.
#[inline]
pub(super) fn is_quiet(fabric: &Fabric, switch: usize, end: Time) -> bool {
    fabric.mechanisms.relief.releases.quiet_until[switch] > end
}

/// Takes the next release due at a switch before (`end.0`, `end.1`), the instant and the port of the event being
/// processed. Returns the number of the switch's port by which it came, its arrival time, and the signal. Releases
/// only increment counters and do not read others, so those of one port may be applied after those of another.
pub(super) fn next(
    fabric: &mut Fabric,
    cx: &mut Cx,
    switch: usize,
    end: (Time, PortId),
) -> Option<(usize, Time, Signal)> {
    let Releases { under_way, quiet_until } = &mut fabric.mechanisms.relief.releases;
    let draw = cx.events.ties().draw(end.0, Phase::Arrive);
    let mut quiet = Time::MAX;
    for (number, back) in fabric.memory.links[switch].iter().enumerate() {
        let by = back.reverse();
        let Some(&(at, signal)) = under_way[by.at()].front() else { continue };
        if at < end.0 || at == end.0 && draw.precedes(by.0, end.1.0) {
            under_way[by.at()].pop_front();
            cx.instruments.mark(at, Tag::new(Phase::Arrive, by.0).word());
            return Some((number, at, signal));
        }
        quiet = quiet.min(at);
    }
    quiet_until[switch] = quiet;
    None
}

/// The arrival of the last release before the end of the run.
pub(super) fn last(fabric: &Fabric, cx: &Cx) -> Option<Time> {
    let all = fabric.mechanisms.relief.releases.under_way.iter().flatten();
    all.map(|(at, _)| *at).filter(|at| *at <= cx.spec.stop.until).max()
}
