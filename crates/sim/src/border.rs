//! Where a part of a network ends: which nodes are its own, which of their wires lead out, and what has left by them.
//!
//! A network may be run in parts ([`crate::parts`]). Each part is the whole network of which only its own nodes do
//! anything. What one part sends another leaves here as it goes on its wire, with the instant at which it arrives,
//! and is on the other part's copy of that wire before that instant has come. Nothing else passes between parts, so
//! no part needs to know what happens in another one until the delay of a wire between them has passed.

use crate::events::{Event, Phase, Tag, Ties};
use crate::port::flying::Flying;
use thalweg_machines::pause::Posted;
use thalweg_units::{FlowId, HostId, PortId, Time};
use thalweg_wire::{Packet, Side};

/// A part of a network, by number.
pub(crate) type Number = u16;

/// Something on a wire between two parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub cargo: Cargo,
    /// Its handle means nothing here; a packet's route is counted from where its flow's path begins, if it has one.
    pub flying: Flying,
    /// Whose wire.
    pub port: PortId,
}

/// What it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cargo {
    Packet(Packet),
    /// A frame for the port that leads back.
    Frame(Posted),
}

/// What one part has sent another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    crossings: Vec<Crossing>,
    /// When the first of them arrives, if there are any.
    earliest: Time,
    /// Cold headers, in the order of the packets that have any; those beyond `used` are left from before.
    sides: Vec<Side>,
    used: usize,
}

impl Batch {
    fn post(&mut self, crossing: Crossing, side: Option<&Side>) {
        let arrive = crossing.flying.arrive;
        self.earliest = if self.crossings.is_empty() { arrive } else { self.earliest.min(arrive) };
        self.crossings.push(crossing);
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

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.crossings.clear();
        self.used = 0;
    }

    /// What it is, as it left.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// When the first of it arrives.
    pub fn earliest(&self) -> Option<Time> {
        (!self.crossings.is_empty()).then_some(self.earliest)
    }
}

/// Something that has been put on a wire between two parts: what its port has of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub flying: Flying,
    pub port: PortId,
}

/// Of one part; of a network that is run whole: empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Border {
    me: Number,
    /// By node: the part that it belongs to.
    of_node: Vec<Number>,
    /// By port: the part that its wire leads to, if it leaves this one.
    leads: Vec<Option<Number>>,
    /// What leaves the part in the present window.
    pub leaving: Vec<Leaving>,
    /// By part: what has left for it, until it is taken there.
    pub out: Vec<Batch>,
    /// Flows one end of which has become complete, once for each.
    pub ended: Vec<FlowId>,
    /// Computations that the run waits for and that are over.
    pub works_ended: u64,
    /// The first event of all other parts, where parts take turns; `None`: none of this instant or before.
    pub elsewhere: Option<Event>,
}

impl Border {
    /// The border of part `me`; `of_node`: the part that each node belongs to; `ends`: of every port, its node and its
    /// far end.
    pub fn new(me: Number, of_node: &[Number], ends: impl Iterator<Item = (usize, usize)>) -> Self {
        let leaves =
            |(from, to): (usize, usize)| (of_node[from] == me && of_node[to] != me).then_some(of_node[to]);
        let leads = ends.map(leaves).collect();
        let parts = of_node.iter().max().map_or(0, |last| usize::from(*last) + 1);
        let out = vec![Batch::default(); parts];
        Self { me, leads, of_node: of_node.to_vec(), out, ..Self::default() }
    }

    /// A node is the part's own.
    pub fn owns(&self, node: usize) -> bool {
        self.of_node.get(node).is_none_or(|part| *part == self.me)
    }

    /// A host is the part's own: flows start here.
    pub fn is_home(&self, host: HostId) -> bool {
        self.owns(host.at())
    }

    /// A port's wire leaves the part.
    pub fn is_left_by(&self, port: PortId) -> bool {
        self.leads.get(port.at()).is_some_and(Option::is_some)
    }

    /// Nothing happens in other parts before `event`, as far as this part must wait for them.
    pub fn comes_first(&self, event: Event, ties: Ties) -> bool {
        self.elsewhere.is_none_or(|first| event.precedes(&first, ties))
    }

    /// The name of a pause by its number in this part, among those of all parts.
    pub fn name(&self, number: usize) -> u32 {
        (number * self.parts() + usize::from(self.me)) as u32
    }

    /// The number in its part of a pause of that name.
    pub fn number(&self, name: u32) -> usize {
        name as usize / self.parts()
    }

    fn parts(&self) -> usize {
        self.out.len().max(1)
    }

    /// What a port has put on its wire, which leads out of the part.
    #[inline(never)]
    pub fn leave(&mut self, port: PortId, flying: Option<Flying>) {
        self.leaving.extend(flying.map(|flying| Leaving { flying, port }));
    }

    /// It goes to the part to which its wire leads.
    #[inline]
    pub fn post(&mut self, crossing: Crossing, side: Option<&Side>) {
        if let Some(to) = self.leads[crossing.port.at()] {
            self.out[usize::from(to)].post(crossing, side);
        }
    }

    /// What happens is to be counted here: probes look in every part, and are counted once.
    pub fn counts(&self, tag: Tag) -> bool {
        self.me == 0 || tag.phase() != Phase::Sample
    }
}
