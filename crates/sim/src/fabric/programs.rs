//! Policies that all ports of a switch run together. The shared policy engine is lent to whichever port is being
//! served; victims it names at other ports are dropped there. All ports of such a switch are on the reference lane,
//! so none decides late.

use super::egress::{Reference, queue_of_mut};
use super::memory::Memory;
use crate::port::{Lane, Port};
use thalweg_machines::schedule::Programmed;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::PortId;
use thalweg_wire::{Handle, Packet};

fn programmed<'a>(ports: &[Port], egresses: &'a mut [Reference], id: PortId) -> Option<&'a mut Programmed> {
    queue_of_mut(&ports[id.at()], &mut [], egresses)?.programmed_mut()
}

/// All ports of a port's switch.
fn ports_of_switch<'a>(ports: &[Port], memory: &'a Memory, id: PortId) -> &'a [PortId] {
    ports[id.at()].place.switch().and_then(|switch| memory.links.get(switch)).map_or(&[], Vec::as_slice)
}

/// Moves the policy engine of a switch to this port of it.
#[inline(never)]
pub(super) fn fetch_engine(ports: &[Port], egresses: &mut [Reference], memory: &Memory, id: PortId) {
    if programmed(ports, egresses, id).is_none_or(|here| here.has_program()) {
        return;
    }
    let lend = |other: &PortId| programmed(ports, egresses, *other)?.lend();
    let program = ports_of_switch(ports, memory, id).iter().find_map(lend);
    if let (Some(here), Some(program)) = (programmed(ports, egresses, id), program) {
        here.receive(program);
    }
}

/// Writes the input by which a packet came into the packet; it may decide which queue the packet joins.
pub(super) fn set_input(ports: &[Port], packet: &mut Packet, from: PortId) {
    if from != PortId::NONE {
        packet.input = ports[from.reverse().at()].place.number;
    }
}

/// Takes a packet that the policy has given up at another port: that port, and the packet.
pub(super) fn take_victim(
    ports: &[Port],
    egresses: &mut [Reference],
    memory: &Memory,
    id: PortId,
) -> Option<(PortId, Handle)> {
    let gone = programmed(ports, egresses, id)?.take_elsewhere()?;
    let port = *ports_of_switch(ports, memory, id).get(usize::from(gone.port))?;
    let handle = egresses[ports[port.at()].queue as usize].egress.lose(gone.place)?;
    Some((port, handle))
}

/// Connects the ports of each switch whose ports run a policy together.
///
/// # Errors
/// If a switch has more ports than its policy, or some of its ports run something else.
pub(crate) fn join_ports(
    spec: &NetworkSpec,
    ports: &[Port],
    egresses: &mut [Reference],
    switches: &[Vec<PortId>],
) -> Result<(), String> {
    let order = |id: &PortId| &spec.disciplines[usize::from(spec.port_discipline[id.at()])].order;
    for (switch, own) in switches.iter().enumerate() {
        let Some(first) = own.iter().find(|id| order(id).needs().together.is_some()) else { continue };
        let most = order(first).needs().together.unwrap_or_default();
        let named = format!("switch {switch}");
        if own.len() > usize::from(most) {
            return Err(format!(
                "{named} has {} ports, and its policy is for {most}, which run it together",
                own.len()
            ));
        }
        if let Some(other) = own.iter().find(|id| order(id) != order(first)) {
            return Err(format!(
                "{named}: port {} does not run the policy that port {} runs, and all ports of a switch run it together",
                other.0, first.0
            ));
        }
        for (number, id) in own.iter().enumerate() {
            if ports[id.at()].mode.lane != Lane::Reference {
                return Err(format!("{named}: port {} has a link without a rate, where nothing waits", id.0));
            }
            let joined = u8::try_from(number).ok().zip(programmed(ports, egresses, *id));
            if !joined.is_some_and(|(number, here)| here.join(number)) {
                return Err(format!("{named}: its policy has no port {number}"));
            }
        }
    }
    Ok(())
}
