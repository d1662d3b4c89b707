//! The boundary of one part (logical process) of a network: which nodes it owns, which wires lead to other parts,
//! and what has left over them.
//!
//! A network may be run in parts ([`crate::parts`]). Each part is a copy of the whole network in which only its own
//! nodes act. What a part sends to another is collected here as it goes on its wire, with its arrival time, and is
//! put on the other part's copy of that wire before that time. Nothing else passes between parts, so a part need
//! not know what happens in another within the propagation delay of the wires between them (the lookahead).

use crate::events::{Event, Phase, Tag, Ties};
use crate::port::flying::Flying;
use thalweg_machines::pause::Posted;
use thalweg_units::{FlowId, HostId, PortId, Time};
use thalweg_wire::{Packet, Side};

/// Number of a part.
pub(crate) type Number = u16;

/// Something in transit on a wire between two parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub cargo: Cargo,
    /// The handle is of no meaning outside the part that sent it. A packet's route is relative to the beginning of
    /// its flow's path, if it has one.
    pub flying: Flying,
    /// The port that has sent it.
    pub port: PortId,
}

/// What is in transit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cargo {
    Packet(Packet),
    /// A pause frame for the port in the reverse direction.
    Frame(Posted),
}

/// What one part has sent to another in a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    transfers: Vec<Transfer>,
    /// The earliest arrival among the transfers; meaningless if there are none.
    earliest: Time,
    /// Cold headers of the packets that have any, in their order. Entries beyond `used` are left over from earlier
    /// windows, to be reused.
    sides: Vec<Side>,
    used: usize,
}

impl Batch {
    fn post(&mut self, transfer: Transfer, side: Option<&Side>) {
        let arrive = transfer.flying.arrive;
        self.earliest = if self.transfers.is_empty() { arrive } else { self.earliest.min(arrive) };
        self.transfers.push(transfer);
        let Some(side) = side else { return };
        match self.sides.get_mut(self.used) {
            Some(place) => place.copy_from(side),
            None => self.sides.push(*side),
        }
        self.used += 1;
    }

    /// The cold headers, in the order of the packets that have any.
    pub fn sides(&self) -> &[Side] {
        &self.sides[..self.used]
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.transfers.clear();
        self.used = 0;
    }

    /// What is in transit, in the order of sending.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// The earliest arrival.
    pub fn earliest(&self) -> Option<Time> {
        (!self.transfers.is_empty()).then_some(self.earliest)
    }
}

/// Something that a port has put on a wire to another part, before it is copied out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outbound {
    pub flying: Flying,
    pub port: PortId,
}

/// The boundary of one part; empty in an undivided run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boundary {
    me: Number,
    /// By node: the part that it belongs to.
    of_node: Vec<Number>,
    /// By port: the part that its wire leads to, if that is another one.
    leads_to: Vec<Option<Number>>,
    /// What leaves the part in the present window, not yet copied out.
    pub outbound: Vec<Outbound>,
    /// By part: what is in transit to it, until the barrier.
    pub out: Vec<Batch>,
    /// Flows of which an end has become complete, once per end.
    pub ended: Vec<FlowId>,
    /// Measured computations that have ended since the last barrier.
    pub works_ended: u64,
    /// While parts are run sequentially: the first event of all other parts; `None`: there is none.
    pub first_elsewhere: Option<Event>,
}

impl Boundary {
    /// The boundary of part `me`. `of_node`: the part that each node belongs to; `ends`: the node and the far end
    /// of every port.
    pub fn new(me: Number, of_node: &[Number], ends: impl Iterator<Item = (usize, usize)>) -> Self {
        let leaves =
            |(from, to): (usize, usize)| (of_node[from] == me && of_node[to] != me).then_some(of_node[to]);
        let leads_to = ends.map(leaves).collect();
        let parts = of_node.iter().max().map_or(0, |last| usize::from(*last) + 1);
        let out = vec![Batch::default(); parts];
        Self { me, leads_to, of_node: of_node.to_vec(), out, ..Self::default() }
    }

    /// Whether a node belongs to this part.
    pub fn owns(&self, node: usize) -> bool {
        self.of_node.get(node).is_none_or(|part| *part == self.me)
    }

    /// Whether a host belongs to this part, so that its flows start here.
    pub fn is_home(&self, host: HostId) -> bool {
        self.owns(host.at())
    }

    /// Whether a port's wire leads to another part.
    pub fn leads_out(&self, port: PortId) -> bool {
        self.leads_to.get(port.at()).is_some_and(Option::is_some)
    }

    /// Whether `event` precedes all events of other parts that this part must wait for.
    pub fn comes_first(&self, event: Event, ties: Ties) -> bool {
        self.first_elsewhere.is_none_or(|first| event.precedes(&first, ties))
    }

    /// The name of a pause, unique among all parts, from its number in this part.
    pub fn pause_name(&self, number: usize) -> u32 {
        (number * self.parts() + usize::from(self.me)) as u32
    }

    /// The number of a pause in its part, from its name.
    pub fn pause_number(&self, name: u32) -> usize {
        name as usize / self.parts()
    }

    fn parts(&self) -> usize {
        self.out.len().max(1)
    }

    /// Collects what a port has put on its wire to another part.
    #[inline(never)]
    pub fn leave(&mut self, port: PortId, flying: Option<Flying>) {
        self.outbound.extend(flying.map(|flying| Outbound { flying, port }));
    }

    /// Puts a transfer into the batch for the part to which its wire leads.
    #[inline]
    pub fn post(&mut self, transfer: Transfer, side: Option<&Side>) {
        if let Some(to) = self.leads_to[transfer.port.at()] {
            self.out[usize::from(to)].post(transfer, side);
        }
    }

    /// Whether this part adds an event to the digest. Sampling events take place in every part and are counted
    /// once.
    pub fn counts(&self, tag: Tag) -> bool {
        self.me == 0 || tag.phase() != Phase::Sample
    }
}
