//! The memory of switches: shared by their egresses, or accounted for by ingress.

use crate::port::{Place, Port};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::Invalid;
use thalweg_machines::buffer::{InputSpec, Inputs};
use thalweg_machines::crossbar::Crossbar;
use thalweg_machines::sharing::Pool;
use thalweg_net::dependencies::Turn;
use thalweg_units::{PortId, Time};
use thalweg_wire::Packet;

/// The memory of all switches, with the ports that share it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// By switch: its ports, in the order of their numbers.
    #[serde(skip)]
    pub links: Vec<Vec<PortId>>,
    /// By switch: the memory shared by its egresses; else empty.
    pub pools: Vec<Pool>,
    /// By switch: the accounting by ingress; empty without it.
    pub switches: Vec<Inputs>,
    /// By switch: its crossbar; empty where an input may send any number of packets at a time.
    pub crossbars: Vec<Crossbar>,
    /// By port: ingress and bytes of the packet being transmitted, to be released when it ends; zero bytes: none.
    pub deferred: Vec<(u8, u32)>,
    /// By port, [`Memory::stride`] entries each: bytes waiting there, by the ingress at which they came. Empty
    /// where no pause policy stops ports.
    held: Vec<u32>,
    /// Likewise: packets that take this turn, from ingress to port, are exempt from backpressure; empty: none are.
    #[serde(skip)]
    pub exempt_turns: Vec<bool>,
    /// Number of ports of the largest switch.
    #[serde(skip)]
    pub stride: usize,
    /// By port: departed packets whose notices are under way to the switch, and when these arrive; empty where all
    /// notices arrive at once.
    pub notices_under_way: Vec<VecDeque<(Time, Packet)>>,
    /// Packets refused for want of memory.
    pub dropped: u64,
    /// By port: packets cut to their headers; empty where no queue trims.
    pub trimmed: Vec<u64>,
    /// By switch: the most it has held; empty without that probe.
    pub peaks: Vec<MemoryPeaks>,
}

impl Memory {
    /// The memory of switches with these `links`, in a network of `ports` ports; `peaks`: whether peaks are
    /// recorded.
    ///
    /// # Errors
    /// If the sizes contradict each other.
    pub fn new(spec: InputSpec, links: Vec<Vec<PortId>>, ports: usize, peaks: bool) -> Result<Self, Invalid> {
        let switches = links.iter().map(|own| Inputs::new(spec, own.len())).collect::<Result<_, _>>()?;
        let stride = links.iter().map(Vec::len).max().unwrap_or(0);
        let held = if spec.stops_ports() { vec![0; ports * stride] } else { Vec::new() };
        let crossbar = |own: &Vec<PortId>| Crossbar::new(own.len());
        let crossbars = if spec.one_per_input { links.iter().map(crossbar).collect() } else { Vec::new() };
        let none = |own: &Vec<PortId>| MemoryPeaks::new(own.len());
        let peaks = if peaks { links.iter().map(none).collect() } else { Vec::new() };
        let pools = Vec::new();
        let (deferred, exempt_turns) = (vec![(0, 0); ports], Vec::new());
        let (notices_under_way, dropped, trimmed) = (Vec::new(), 0, Vec::new());
        Ok(Self {
            links,
            pools,
            switches,
            crossbars,
            deferred,
            held,
            exempt_turns,
            stride,
            notices_under_way,
            dropped,
            trimmed,
            peaks,
        })
    }

    /// Exempts packets that take these turns, from an input to an output, from backpressure.
    pub fn exempt(&mut self, ports: &[Port], turns: &[Turn]) {
        self.exempt_turns = vec![false; ports.len() * self.stride];
        for turn in turns {
            let input = ports[turn.from.reverse().at()].place.number;
            self.exempt_turns[turn.to.at() * self.stride + usize::from(input)] = true;
        }
    }

    /// Whether packets from the ingress `input` to a port are exempt.
    #[inline]
    pub fn is_exempt(&self, out: PortId, input: u8) -> bool {
        self.exempt_turns
            .get(out.at() * self.stride + usize::from(input))
            .is_some_and(|exempt_turns| *exempt_turns)
    }

    /// The shared memory that a port uses, if it does not have its own.
    #[inline]
    pub fn pool(&mut self, place: &Place) -> Option<&mut Pool> {
        self.pools.get_mut(place.pool()?)
    }

    /// Bytes that came at the ingress `input` and wait at a port.
    pub fn held(&self, out: PortId, input: u8) -> u32 {
        self.held[out.at() * self.stride + usize::from(input)]
    }

    /// Departure notices of a port that are under way to its switch.
    pub fn notices_under_way(&self, id: PortId) -> usize {
        self.notices_under_way.get(id.at()).map_or(0, VecDeque::len)
    }

    /// Whether the bytes of a port's transmission are still to be released.
    pub fn is_deferred(&self, id: PortId) -> bool {
        self.deferred.get(id.at()).is_some_and(|(_, wire)| *wire > 0)
    }

    /// Takes the memory of a switch from the part that has run it.
    pub fn take_switch(&mut self, other: &mut Self, switch: usize) {
        exchange(&mut self.pools, &mut other.pools, switch);
        exchange(&mut self.switches, &mut other.switches, switch);
        exchange(&mut self.crossbars, &mut other.crossbars, switch);
        exchange(&mut self.peaks, &mut other.peaks, switch);
    }

    /// Takes what is kept of a port from the part that has run it.
    pub fn take_port(&mut self, other: &mut Self, port: usize) {
        exchange(&mut self.deferred, &mut other.deferred, port);
        exchange(&mut self.notices_under_way, &mut other.notices_under_way, port);
        exchange(&mut self.trimmed, &mut other.trimmed, port);
        for cell in port * self.stride..(port + 1) * self.stride {
            exchange(&mut self.held, &mut other.held, cell);
        }
    }

    /// Changes the bytes that came at the ingress `input` and wait at a port.
    #[inline]
    pub fn hold(&mut self, out: PortId, input: u8, change: impl FnOnce(u32) -> u32) {
        // The table is empty where no pause policy stops ports.
        if let Some(cell) = self.held.get_mut(out.at() * self.stride + usize::from(input)) {
            *cell = change(*cell);
        }
    }
}

/// Swaps an entry of two tables, if they have it.
fn exchange<T>(mine: &mut [T], its: &mut [T], at: usize) {
    if let (Some(mine), Some(its)) = (mine.get_mut(at), its.get_mut(at)) {
        std::mem::swap(mine, its);
    }
}

/// The most that one switch's memory has held so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPeaks {
    /// By input: bytes stored, headroom included.
    pub inputs: Vec<u64>,
    /// By input: bytes in the headroom, where it is counted apart (dynamic threshold).
    pub headrooms: Vec<u64>,
    /// Bytes in the shared memory ([`Inputs::used`]).
    pub shared: u64,
}

impl MemoryPeaks {
    pub(crate) fn new(inputs: usize) -> Self {
        Self { inputs: vec![0; inputs], headrooms: vec![0; inputs], shared: 0 }
    }

    /// Whether a packet of `wire` bytes that joins `input` may set a new peak.
    #[inline]
    pub(crate) fn may_grow(&self, memory: &Inputs, input: usize, wire: u32) -> bool {
        let wire = u64::from(wire);
        memory.inputs()[input].bytes + wire > self.inputs[input] || memory.used() + wire > self.shared
    }

    /// Updates the peaks after a packet has joined `input`, with no release deferred.
    pub(crate) fn note(&mut self, memory: &Inputs, input: usize) {
        let at = memory.inputs()[input];
        self.inputs[input] = self.inputs[input].max(at.bytes);
        self.headrooms[input] = self.headrooms[input].max(at.headroom);
        self.shared = self.shared.max(memory.used());
    }
}

/// Numbers the ports of each switch, and returns them by switch.
pub(crate) fn number_ports(hosts: u32, switches: u32, ports: &mut [Port]) -> Vec<Vec<PortId>> {
    let mut of: Vec<Vec<PortId>> = vec![Vec::new(); switches as usize];
    for id in 0..ports.len() {
        let node = ports[PortId::from(id).reverse().at()].place.peer;
        if node.0 >= hosts {
            let switch = node.0 - hosts;
            let own = &mut of[switch as usize];
            // Numbers are read under per-ingress accounting and by policies that a whole switch runs together; both
            // refuse switches with more than MOST_PORTS ports. Other switches may have more, and no use for numbers.
            ports[id].place.set_switch(switch, u8::try_from(own.len()).unwrap_or(u8::MAX));
            own.push(PortId::from(id));
        }
    }
    of
}
