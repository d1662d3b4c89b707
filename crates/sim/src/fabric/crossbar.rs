//! Switches whose inputs send one packet at a time ([`thalweg_machines::crossbar`]).
//!
//! Ports of such switches are gated and eager: every end of a transmission is an event. The first port that decides
//! at an instant matches the inputs and outputs of the whole switch. The others then find that they are busy, or
//! that they may send nothing. An output whose packets all wait behind a busy input needs no event: it is matched
//! at the end of that input's transmission.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::fabric::memory::Memory;
use crate::port::Lane;
use thalweg_machines::Invalid;
use thalweg_machines::crossbar::Ends;
use thalweg_machines::schedule::{DisciplineSpec, OutputQueue};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::PortId;

/// Checks that a network's other features are compatible with inputs that send one packet at a time.
pub(crate) fn check(spec: &NetworkSpec) -> Result<(), String> {
    let crossed = spec.inputs.filter(|inputs| inputs.one_per_input);
    if crossed.is_some_and(|inputs| inputs.queue_pauses().is_some())
        || crossed.is_some() && (spec.relief.is_some() || spec.point.is_some())
    {
        let why = "inputs that send one packet at a time go with pauses of whole ports only, and without congestion points";
        return Err(why.into());
    }
    Ok(())
}

/// Checks that an output can serve inputs that send one packet at a time.
pub(crate) fn serves(spec: &NetworkSpec, kind: &DisciplineSpec, lane: Lane) -> Result<(), Invalid> {
    let why = "inputs that send one packet at a time";
    if !kind.order.needs().by_input {
        return Err(format!("{why} need outputs that serve them in turn").into());
    }
    if spec.control_first || kind.preemptive {
        let why = format!("{why} keep to it: nothing passes them, and no transmission is interrupted");
        return Err(why.into());
    }
    if lane == Lane::Reference {
        let why = format!(
            "{why} need plain links, short cuts, and marking that does not depend on how long a port was idle"
        );
        return Err(why.into());
    }
    Ok(())
}

/// Whether the port belongs to a switch with a crossbar.
pub(super) fn exists_at(fabric: &Fabric, id: PortId) -> bool {
    fabric.ports[id.at()].place.switch().is_some_and(|switch| switch < fabric.memory.crossbars.len())
}

/// Whether the port's transmission keeps an input busy.
pub(super) fn holds_input(fabric: &Fabric, id: PortId) -> bool {
    let place = &fabric.ports[id.at()].place;
    let crossbar = place.switch().and_then(|switch| fabric.memory.crossbars.get(switch));
    crossbar.is_some_and(|crossbar| crossbar.source(place.number).is_some())
}

/// If the port's transmission has ended, matches what is idle at its switch. True if the port sends again.
pub(super) fn end_transmission(fabric: &mut Fabric, cx: &mut Cx, id: PortId) -> bool {
    if !holds_input(fabric, id) {
        return false;
    }
    match_idle(fabric, cx, id);
    holds_input(fabric, id)
}

/// Matches the idle inputs and outputs of the switch of the port `id`, which decides now, and lets those outputs
/// send.
pub(super) fn match_idle(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Some(switch) = fabric.ports[id.at()].place.switch() else { return };
    let mut pairs = Vec::new();
    loop {
        let free = free(fabric, cx, switch);
        let Fabric { memory, ports, queues, .. } = fabric;
        let Memory { crossbars, links, .. } = memory;
        let waiting = |output: u8| {
            let port = links[switch][usize::from(output)];
            queues[ports[port.at()].queue as usize].by_input().map(|queue| queue.inputs()).unwrap_or_default()
        };
        crossbars[switch].join(free, waiting, &mut pairs);
        if pairs.is_empty() {
            return;
        }
        for (input, output) in pairs.drain(..) {
            let port = fabric.memory.links[switch][usize::from(output)];
            let at = fabric.ports[port.at()].queue as usize;
            if let Some(queue) = fabric.queues[at].by_input_mut() {
                queue.turn_to(input);
            }
            let now = cx.now;
            fabric.dequeue_at(cx, port, now);
            if port != id {
                fabric.schedule_or_block(cx, port);
            }
        }
    }
}

/// The outputs of a switch that may send a packet at this instant. Outputs whose transmission has ended release
/// their inputs.
fn free(fabric: &mut Fabric, cx: &mut Cx, switch: usize) -> Ends {
    let mut free = Ends::default();
    for n in 0..fabric.memory.links[switch].len() {
        let id = fabric.memory.links[switch][n];
        if fabric.ports[id.at()].free_at > cx.now {
            continue;
        }
        fabric.release_deferred(cx, id);
        fabric.memory.crossbars[switch].part(n as u8);
        let gate = &fabric.gates[id.at()];
        // Frames go before everything else.
        if !gate.stopped && gate.frames.is_empty() && fabric.ports[id.at()].waiting.packets > 0 {
            free.insert(n as u8);
        }
    }
    free
}
