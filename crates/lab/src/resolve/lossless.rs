//! `switch.pfc`: thresholds and headroom from the topology.

use crate::quantity::Q;
use crate::schema::{Document, PfcThreshold, Scheduler};
use crate::topology::Graph;
use crate::validate::full_packet;
use std::fmt;
use thalweg_units::Bytes;

/// What may arrive at an input after it has asked for a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headroom {
    /// What the largest link holds both ways.
    pub link: Bytes,
    /// The largest packet: one that crosses the threshold, one that the frame waits for, one that the neighbour has begun.
    pub packet: u32,
    /// The pause frame.
    pub frame: Bytes,
    /// Packets besides, of `switch.relief`.
    pub more: u64,
}

impl Headroom {
    pub fn of(doc: &Document, graph: &Graph) -> Self {
        let frame = doc.switch.pfc.as_ref().map_or(Bytes::ZERO, |p| p.frame.0);
        Self {
            link: graph.largest_link(),
            packet: full_packet(doc),
            frame,
            more: doc.switch.relief.map_or(0, |relief| relief.more()),
        }
    }
    pub fn bytes(&self) -> Bytes {
        let packets = (3 + self.more).saturating_mul(u64::from(self.packet));
        let sum = self.link.get().saturating_add(packets);
        Bytes::new(sum.saturating_add(self.frame.get()))
    }
}

impl fmt::Display for Headroom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (link, frame, sum) = (self.link.get(), self.frame.get(), self.bytes().get());
        write!(
            f,
            "{link} B on the largest link both ways + {} packets of {} B + a frame of {frame} B = {sum} B",
            3 + self.more,
            self.packet
        )
    }
}

/// What follows from the topology.
pub(super) fn by_graph(doc: &mut Document, graph: &Graph) {
    let hop =
        graph.links.iter().map(|link| link.delay().saturating_mul(2)).max().filter(|hop| !hop.is_zero());
    let mixed = doc.switch.mix.as_mut().map(|mix| &mut mix.scheduler);
    for scheduler in
        [Some(&mut doc.switch.scheduler), mixed, doc.nic.scheduler.as_mut()].into_iter().flatten()
    {
        if let Scheduler::Bfc(bfc) = scheduler {
            bfc.hop_rtt = bfc.hop_rtt.or(hop);
        }
    }
    let room = Headroom::of(doc, graph);
    let memory = doc.switch.inputs.and_then(|i| i.memory);
    let Some(pfc) = &mut doc.switch.pfc else { return };
    let headroom = pfc.headroom.get_or_insert(Q(room.bytes())).0;
    if let PfcThreshold::Static { xoff, xon } = &mut pfc.threshold {
        // Without memory of its own an input has no length that follows from anything: refused later.
        if xoff.is_none() {
            *xoff = memory.map(|m| Q(Bytes::new(m.0.get().saturating_sub(headroom.get()))));
        }
        if xon.is_none() {
            *xon = *xoff;
        }
    }
}
