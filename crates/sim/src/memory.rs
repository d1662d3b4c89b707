//! Switch memory by input: packets are admitted by the input at which they come, and give their bytes back as they leave.
//!
//! As long as nobody is paused and the bytes on the books, even with those that have left since, are too few to matter,
//! departures are booked when their ports are next touched. Near a threshold the switch settles its books first, and while
//! any of its inputs keeps a neighbour waiting, every end of a transmission there is an event.

use crate::events::{Events, Phase};
use crate::peaks::MemoryPeaks;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_machines::Handle;
use thalweg_machines::buffer::{Inputs, Pause};
use thalweg_units::PortId;

/// The memory of all switches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// By switch; empty if nobody counts.
    pub switches: Vec<Inputs>,
    /// By port: input and bytes of the packet being transmitted, not yet given back; zero bytes: none.
    pub serving: Vec<(u8, u32)>,
    /// By switch: bytes waiting, by input and output, under flow control.
    held: Vec<Vec<u32>>,
    /// Packets refused.
    pub dropped: u64,
    /// By switch: the most it has held; empty if nobody asks.
    pub peaks: Vec<MemoryPeaks>,
}

impl Memory {
    /// The memory of `ports` ports at switches with so many links each, which keep their `peaks` or do not.
    ///
    /// # Errors
    /// If the sizes contradict each other.
    pub fn new(
        spec: thalweg_machines::buffer::InputSpec,
        links: &[usize],
        ports: usize,
        peaks: bool,
    ) -> Result<Self, String> {
        let switches = links.iter().map(|&n| Inputs::new(spec, n)).collect::<Result<_, _>>()?;
        let held =
            if spec.pfc.is_some() { links.iter().map(|&n| vec![0; n * n]).collect() } else { Vec::new() };
        let peaks = if peaks { links.iter().map(|&n| MemoryPeaks::new(n)).collect() } else { Vec::new() };
        Ok(Self { switches, serving: vec![(0, 0); ports], held, dropped: 0, peaks })
    }

    /// Bytes from `input` that wait at `output`.
    pub fn held(&self, switch: usize, input: u8, output: u8) -> u32 {
        let n = self.switches[switch].inputs().len();
        self.held[switch][usize::from(input) * n + usize::from(output)]
    }

    #[inline]
    fn hold(&mut self, switch: usize, input: u8, output: u8, change: impl FnOnce(u32) -> u32) {
        if let Some(held) = self.held.get_mut(switch) {
            let n = self.switches[switch].inputs().len();
            let cell = &mut held[usize::from(input) * n + usize::from(output)];
            *cell = change(*cell);
        }
    }
}

impl<Q: Events> Sim<Q> {
    /// A packet comes to a switch that counts: false if there is no room for it.
    pub(crate) fn admit(&mut self, out: PortId, handle: Handle, wire: u32) -> bool {
        let Sim { ports, memory, .. } = self;
        let from = self.came_by;
        let (switch, output) = (ports[out.at()].owner as usize, ports[out.at()].number);
        let input = ports[(from.0 ^ 1) as usize].number;
        let at = usize::from(input);
        let quiet = memory.switches[switch].is_quiet(at, wire);
        let peak = memory.peaks.get(switch).is_some_and(|p| p.may_grow(&memory.switches[switch], at, wire));
        if !quiet || peak {
            self.settle_memory(switch);
        }
        let inputs = &mut self.memory.switches[switch];
        if !inputs.take(at, wire) {
            self.memory.dropped += 1;
            self.ports[out.at()].dropped += 1;
            return false;
        }
        if peak {
            self.memory.peaks[switch].note(inputs, at);
        }
        let was_pausing = inputs.is_pausing();
        let asks = !quiet && inputs.asks_pause(at);
        self.packets[handle].input = input;
        self.memory.hold(switch, input, output, |bytes| bytes + wire);
        if asks {
            let gate = &self.gates[out.at()];
            let cause = if gate.paused { gate.record } else { u32::MAX };
            self.post_frame(PortId(from.0 ^ 1), Pause::Off, cause);
            if !was_pausing {
                self.be_eager(switch);
            }
        }
        true
    }

    /// A packet waits no longer at a port of a switch that counts: which switch, and the packet's input there.
    #[inline]
    fn waits_no_more(&mut self, id: PortId, handle: Handle, wire: u32) -> (usize, u8) {
        let port = &self.ports[id.at()];
        let (switch, output) = (port.owner as usize, port.number);
        let input = self.packets[handle].input;
        self.memory.hold(switch, input, output, |bytes| bytes - wire);
        (switch, input)
    }

    /// A packet begins its transmission at a switch that counts.
    #[inline]
    pub(crate) fn depart(&mut self, id: PortId, handle: Handle, wire: u32) {
        let (switch, input) = self.waits_no_more(id, handle, wire);
        if self.releases_at_start {
            self.give_back(switch, input, wire);
        } else {
            self.memory.serving[id.at()] = (input, wire);
        }
    }

    /// A packet that was admitted is dropped while it waits.
    pub(crate) fn forget_admitted(&mut self, id: PortId, handle: Handle) {
        if self.counting && self.ports[id.at()].owner != u32::MAX {
            let wire = self.packets[handle].wire;
            let (switch, input) = self.waits_no_more(id, handle, wire);
            self.give_back(switch, input, wire);
        }
    }

    /// What a port transmitted last has left.
    #[inline]
    pub(crate) fn ended(&mut self, id: PortId) {
        if let Some(serving) = self.memory.serving.get_mut(id.at())
            && serving.1 > 0
        {
            let (input, wire) = std::mem::take(serving);
            self.give_back(self.ports[id.at()].owner as usize, input, wire);
        }
    }

    /// A port transmits a packet whose bytes are still on the books.
    pub(crate) fn is_serving(&self, id: PortId) -> bool {
        self.memory.serving.get(id.at()).is_some_and(|s| s.1 > 0)
    }

    fn give_back(&mut self, switch: usize, input: u8, wire: u32) {
        let inputs = &mut self.memory.switches[switch];
        inputs.release(usize::from(input), wire);
        if inputs.is_pausing() && inputs.asks_resume(usize::from(input)) {
            let still = inputs.is_pausing();
            let out = self.switch_ports[switch][usize::from(input)];
            self.post_frame(out, Pause::On, u32::MAX);
            if !still {
                for &port in &self.switch_ports[switch] {
                    self.ports[port.at()].eager = false;
                }
            }
        }
    }

    /// Books all departures of a switch up to now.
    fn settle_memory(&mut self, switch: usize) {
        for n in 0..self.switch_ports[switch].len() {
            let id = self.switch_ports[switch][n];
            self.catch_up(id, self.now);
            if self.ports[id.at()].free_at < self.now {
                self.ended(id);
            }
        }
    }

    /// From now on every end of a transmission at the switch is an event.
    fn be_eager(&mut self, switch: usize) {
        for n in 0..self.switch_ports[switch].len() {
            let id = self.switch_ports[switch][n];
            let serving = self.is_serving(id);
            let port = &mut self.ports[id.at()];
            port.eager = true;
            let at = port.free_at;
            let asleep = self.gates[id.at()].asleep;
            let pending = serving && at >= self.now || port.waiting > 0 && !asleep;
            if pending && (!port.deciding || asleep) {
                self.gates[id.at()].asleep = false;
                port.deciding = true;
                self.schedule(at.max(self.now), Phase::Decide, id.0);
            }
        }
    }
}

/// Ports by the switch they belong to, numbered.
pub(crate) fn number_ports(hosts: u32, switches: u32, ports: &mut [crate::port::Port]) -> Vec<Vec<PortId>> {
    let mut of: Vec<Vec<PortId>> = vec![Vec::new(); switches as usize];
    for id in 0..ports.len() {
        let owner = ports[id ^ 1].peer;
        if owner.0 >= hosts {
            let own = &mut of[(owner.0 - hosts) as usize];
            ports[id].owner = owner.0 - hosts;
            // Whoever needs more than 256 is refused when the network is built.
            ports[id].number = own.len() as u8;
            own.push(PortId::from(id));
        }
    }
    of
}
