//! Source routes: the ports that the packets of each active flow pass.
//!
//! A flow's *slot* is its index in this table, and in everything else that is kept per active flow.

use crate::port::Port;
use crate::rules::Rules;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Span};
use thalweg_wire::Kind;

/// No slot: the flow has not started or has ended.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// The paths of the active flows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Paths {
    /// By flow: its slot while it is active.
    slots: Vec<u32>,
    /// Free slots.
    free: Vec<u32>,
    /// Number of slots.
    count: u32,
    /// `stride` ports per slot: the data path first, the ACK path from the middle on.
    ports: Vec<PortId>,
    stride: usize,
    /// By slot: position of its path if it was replaced; `u32::MAX` or beyond the end: the slot's own place.
    detours: Vec<u32>,
    /// Rules that choose hop by hop, instead of source routes.
    pub rules: Rules,
}

impl Paths {
    /// An empty table for paths of at most `longest` ports.
    ///
    /// # Errors
    /// If the routing rule refuses its parameters.
    pub fn new(spec: &NetworkSpec, longest: usize) -> Result<Self, String> {
        let slots = vec![NO_SLOT; spec.flows.len()];
        Ok(Self { slots, stride: 2 * longest, rules: Rules::new(spec)?, ..Self::default() })
    }

    /// Length of both directions of a path in the table.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Distance from the beginning of the data path to that of the ACK path.
    #[inline(always)]
    pub fn middle(&self) -> usize {
        self.stride / 2
    }

    /// A flow's slot; [`NO_SLOT`]: it is not active.
    #[inline(always)]
    pub fn slot(&self, flow: FlowId) -> u32 {
        self.slots[flow.at()]
    }

    /// The address of a flow's slot number, to be prefetched.
    #[inline(always)]
    pub fn place(&self, flow: FlowId) -> *const u32 {
        self.slots.as_ptr().wrapping_add(flow.at())
    }

    /// Position of a slot's path.
    #[inline(always)]
    pub fn start(&self, slot: usize) -> usize {
        match self.detours.get(slot) {
            Some(&at) if at != u32::MAX => at as usize,
            _ => slot * self.stride,
        }
    }

    /// The port at a position of the table.
    #[inline(always)]
    pub fn port(&self, at: usize) -> PortId {
        self.ports[at]
    }

    /// The entry at a position, if there is one, to be prefetched.
    #[inline(always)]
    pub fn entry(&self, at: u32) -> Option<&PortId> {
        self.ports.get(at as usize)
    }

    /// Both directions of a slot's path.
    pub fn of(&self, slot: usize) -> &[PortId] {
        &self.ports[self.start(slot)..][..self.stride]
    }

    /// The data path that begins at a position of the table.
    pub fn data(&self, start: usize) -> &[PortId] {
        &self.ports[start..][..self.middle()]
    }

    /// The beginning of the path that contains a position of the table, which is not its first.
    pub fn around(&self, route: u32) -> usize {
        (route as usize - 1) / self.stride * self.stride
    }

    /// The active flows and their slots.
    pub fn active(&self) -> impl Iterator<Item = (FlowId, usize)> + '_ {
        let active = |(_, slot): &(usize, &u32)| **slot != NO_SLOT;
        self.slots.iter().enumerate().filter(active).map(|(flow, slot)| (FlowId::from(flow), *slot as usize))
    }

    /// Takes a slot for a flow. With `moving`, its path gets a new place: packets may be under way on an older
    /// path.
    pub fn open(&mut self, flow: FlowId, path: &[PortId], moving: bool) -> usize {
        let (slot, used) = match self.free.pop() {
            Some(slot) => (slot, true),
            None => (self.count, false),
        };
        self.count += u32::from(!used);
        self.slots[flow.at()] = slot;
        let slot = slot as usize;
        if moving {
            self.detour(slot, path);
        } else if used {
            self.ports[slot * self.stride..][..self.stride].copy_from_slice(path);
        } else {
            self.ports.extend_from_slice(path);
        }
        slot
    }

    /// Replaces a slot's path by one in a new place; packets under way keep the old one.
    pub fn detour(&mut self, slot: usize, path: &[PortId]) {
        if self.detours.len() <= slot {
            self.detours.resize(slot + 1, u32::MAX);
        }
        self.detours[slot] = self.ports.len() as u32;
        self.ports.extend_from_slice(path);
    }

    /// Frees a flow's slot.
    pub fn close(&mut self, flow: FlowId) {
        self.free.push(std::mem::replace(&mut self.slots[flow.at()], NO_SLOT));
    }

    /// Least time from the arrival of a packet of `wire` bytes at the port before position `route` until its
    /// last bit has reached its host: transmission and propagation of that port and of all behind.
    pub fn time_to_exit(&self, ports: &[Port], route: u32, wire: u32) -> Span {
        let mut sum = Span::ZERO;
        for id in &self.ports[route as usize - 1..] {
            let port = &ports[id.at()];
            sum += port.span(wire) + port.timing.delay;
            if port.leads_to_host() {
                break;
            }
        }
        sum
    }

    /// The same table without any flow.
    pub fn emptied(&self) -> Self {
        let slots = vec![NO_SLOT; self.slots.len()];
        Self { slots, stride: self.stride, rules: self.rules.clone(), ..Self::default() }
    }

    /// Whether both are tables of the same network.
    pub fn fits(&self, other: &Self) -> bool {
        self.slots.len() == other.slots.len() && self.stride == other.stride && self.rules.fits(&other.rules)
    }
}

/// Data and set-up travel from the flow's sender to its receiver; everything else comes back.
#[inline(always)]
pub(crate) fn travels_forward(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Syn)
}
