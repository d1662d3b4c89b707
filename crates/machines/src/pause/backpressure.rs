//! Backpressure flow control: a queue of the hop before is paused as long as packets of it wait here that
//! found their queues too long. Goyal, "Congestion Control in Highly Variable Networks", MIT 2022, §3.3.3.2.
//!
//! The order of service determines which queues are too long ([`crate::schedule::bfc`]); this module keeps
//! one counter per input and queue of its neighbour. The neighbour periodically receives the whole state, so
//! that the effect of a lost frame lasts no longer than a period.

use super::{
    Claims, Effects, Held, Parameters, Passing, PausePolicy, QueuePauses, Reach, Site, smallest_frame,
};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::{Bytes, FlowId, Span, Time};
use thalweg_wire::{Flags, Frame, QueueSet};

/// Backpressure flow control (Goyal, MIT 2022, §3.3; Goyal et al., NSDI 2022): a queue of the hop before
/// pauses as long as packets of it wait that made a queue of the scheduler `bfc` too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Period of the reminders, which repeat the whole pause state to a neighbour while queues of it are paused, and
    /// for two more periods. The effect of a lost frame lasts no longer than this.
    pub every: Span,
    /// A paused queue resumes by itself if its pause has not been confirmed for this time.
    // CHOICE BFC §3.3.3.2: not in the paper, whose bitmaps go on for ever. Here they end when nothing has
    // been paused for two periods; if all of them are lost, and the RESUME before them, this keeps the queue
    // from standing still for good.
    pub expires: Span,
    /// Size of a frame on the wire.
    pub frame: Bytes,
    /// NICs obey these pauses, flow by flow if `nic.order` is `round-robin`. Otherwise NICs ignore them (App. E).
    pub nics: bool,
    /// What a frame names.
    pub pauses: Pauses,
    /// Which packets are exempt from accounting, to prevent deadlocks.
    pub elide: Elide,
}

/// What a frame of backpressure names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pauses {
    /// The queue that a packet came from, whatever waits in it now.
    #[default]
    Queue,
    /// The flow: the hop before pauses the queue that it waits in, whichever that is then. The ideal to which
    /// BFC compares its sticky queues (Goyal, MIT 2022, §3.3.3.2), with `sticky = 0` in the scheduler; frames
    /// are not repeated, and must not be lost.
    Flow,
}

/// What is exempt from the accounting of backpressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Elide {
    /// Nothing is exempt.
    #[default]
    None,
    /// As many as it takes to leave no cycle of pauses (BFC: Goyal, MIT 2022, §3.5, App. D). In a network of layers
    /// packets that come from a higher layer and return to one; elsewhere those of ways through a switch none of which
    /// can be left out. `thalweg check deadlock` lists them.
    Cycles,
}

impl Default for Params {
    fn default() -> Self {
        // CHOICE BFC §3.3.3.2: the paper gives neither period nor sizes. A hop's round trip; the artifact has 1 us.
        let (every, expires) = (Span::from_us(2), Span::from_us(32));
        let (pauses, elide) = (Pauses::Queue, Elide::None);
        Self { every, expires, frame: smallest_frame(), nics: true, pauses, elide }
    }
}

impl Parameters for Params {
    type Machine = Backpressure;

    fn check(&self, _: &Site, problems: &mut Problems) {
        let Self { every, expires, .. } = *self;
        problems.positive("every", every, "2us");
        if expires <= every {
            let reason = format!("pauses would expire after {expires}, and are confirmed every {every}");
            problems.wrong("expires", reason, "write more than `every`, for example 16 times as much");
        }
        let default = Self::default();
        if self.pauses == Pauses::Flow {
            for (key, differs) in [("every", every != default.every), ("expires", expires != default.expires)]
            {
                if differs {
                    let why = "frames that name flows are not repeated, and no pause of a flow expires";
                    problems.useless(key, why, "remove the key");
                }
            }
        }
    }

    fn effects(&self) -> Effects {
        let Self { every, expires, nics, .. } = *self;
        let (flows, elide) = (self.pauses == Pauses::Flow, self.elide == Elide::Cycles);
        let reach = Reach::Queues(QueuePauses { every, expires, nics, flows, elide });
        Effects { frame: self.frame, reach, claims: Claims::None, lossless: false }
    }

    fn make(&self, inputs: usize) -> Result<Backpressure, Invalid> {
        Backpressure::new(self, inputs)
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default(), Self { pauses: Pauses::Flow, ..Self::default() }]
    }
}

/// The pause counters of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backpressure {
    /// By input, [`QueueSet::CAPACITY`] each: packets waiting here that came from that queue and found theirs too long.
    counters: Vec<u32>,
    /// By input: queues whose counter is not zero.
    paused: Vec<QueueSet>,
    /// Where frames name flows, instead: packets waiting here by the input they came by and their flow.
    // CHOICE BFC §3.3.3.2: the variant is mentioned only. A counter per input and flow; the hop before pauses
    // the queue that the flow is in at the time.
    flows: Option<BTreeMap<(usize, FlowId), u32>>,
}

impl Backpressure {
    /// A switch with so many inputs, which has paused no queue.
    ///
    /// # Errors
    /// If reminders would take no time, or come too late to confirm a pause.
    pub fn new(spec: &Params, inputs: usize) -> Result<Self, Invalid> {
        if spec.every.is_zero() || spec.expires <= spec.every {
            let Params { every, expires, .. } = spec;
            let why = format!(
                "pauses are confirmed every {every} and expire after {expires}: \
                 the first must be above zero and below the second"
            );
            return Err(Invalid::new(why).at("every"));
        }
        let by_flow = spec.pauses == Pauses::Flow;
        let counters = if by_flow { 0 } else { inputs * usize::from(QueueSet::CAPACITY) };
        let flows = by_flow.then(BTreeMap::new);
        Ok(Self { counters: vec![0; counters], paused: vec![QueueSet::default(); inputs], flows })
    }

    /// The counter of the queue that a packet came from.
    #[inline]
    fn counter(&mut self, at: Passing<'_>) -> (u16, &mut u32) {
        let queue = at.packet.hop.queue() % QueueSet::CAPACITY;
        (queue, &mut self.counters[at.input * usize::from(QueueSet::CAPACITY) + usize::from(queue)])
    }
}

impl PausePolicy for Backpressure {
    fn on_taken(&mut self, _: Time, _: Passing<'_>, _: Held) -> Option<Frame> {
        None
    }
    /// The first overfull packet of a queue pauses it.
    #[inline]
    fn on_overfull(&mut self, _: Time, at: Passing<'_>) -> Option<Frame> {
        if let Some(flows) = &mut self.flows {
            let counter = flows.entry((at.input, at.packet.flow)).or_insert(0);
            *counter += 1;
            return (*counter == 1).then_some(Frame::PauseFlow { flow: at.packet.flow });
        }
        let (queue, counter) = self.counter(at);
        *counter += 1;
        if *counter > 1 {
            return None;
        }
        self.paused[at.input].set(queue, true);
        Some(Frame::PauseQueue { queue })
    }
    /// The departure of the last one resumes it.
    #[inline]
    fn on_departed(&mut self, _: Time, at: Passing<'_>) -> Option<Frame> {
        if !at.packet.flags.has(Flags::HELD_BACK) {
            return None;
        }
        if let Some(flows) = &mut self.flows {
            let key = (at.input, at.packet.flow);
            let left = flows.get(&key).copied().unwrap_or(1) - 1;
            if left > 0 {
                flows.insert(key, left);
                return None;
            }
            flows.remove(&key);
            return Some(Frame::ResumeFlow { flow: at.packet.flow });
        }
        let (queue, counter) = self.counter(at);
        *counter -= 1;
        if *counter > 0 {
            return None;
        }
        self.paused[at.input].set(queue, false);
        Some(Frame::ResumeQueue { queue })
    }
    fn on_released(&mut self, _: Time, _: usize, _: Held) -> Option<Frame> {
        None
    }
    fn reminder(&self, input: usize) -> Option<Frame> {
        self.flows.is_none().then(|| Frame::Bitmap(self.paused[input]))
    }
    fn restate(&self, input: usize) -> Vec<Frame> {
        match &self.flows {
            Some(flows) => {
                let of_input = flows.keys().filter(|(from, _)| *from == input);
                of_input.map(|(_, flow)| Frame::PauseFlow { flow: *flow }).collect()
            }
            None if self.paused[input].is_empty() => Vec::new(),
            None => vec![Frame::Bitmap(self.paused[input])],
        }
    }
    fn has_paused(&self, input: usize) -> bool {
        let flow = |flows: &BTreeMap<(usize, FlowId), u32>| flows.keys().any(|(from, _)| *from == input);
        !self.paused[input].is_empty() || self.flows.as_ref().is_some_and(flow)
    }
    /// The sum over all queues, or flows, of all neighbours.
    fn counted(&self) -> u64 {
        let flows = self.flows.iter().flat_map(|flows| flows.values());
        self.counters.iter().chain(flows).map(|count| u64::from(*count)).sum()
    }
    /// Only the departures of marked packets matter, and their ports know.
    fn is_pausing(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::{HopTag, Packet};

    fn from(queue: u16) -> Packet {
        Packet { hop: HopTag::from_queue(queue), flags: Flags::HELD_BACK, ..Packet::default() }
    }

    /// §3.3.3.2: on the counter's first step up, and on its last one down, whatever the order, output and
    /// flow of what leaves.
    #[test]
    fn a_queue_is_paused_once_and_resumed_when_all_packets_that_were_held_back_have_left() {
        let mut switch = Backpressure::new(&Params::default(), 2).unwrap();
        let packet = from(7);
        let at = |input, output| Passing { input, output, packet: &packet };
        let now = Time::ZERO;
        assert_eq!(switch.on_overfull(now, at(0, 1)), Some(Frame::PauseQueue { queue: 7 }));
        assert_eq!(switch.on_overfull(now, at(0, 3)), None);
        assert_eq!(
            switch.on_overfull(now, at(1, 1)),
            Some(Frame::PauseQueue { queue: 7 }),
            "another neighbour"
        );
        let free = Packet { hop: HopTag::from_queue(7), ..Packet::default() };
        assert_eq!(switch.on_departed(now, Passing { input: 0, output: 1, packet: &free }), None);
        assert_eq!(switch.on_departed(now, at(0, 3)), None);
        assert_eq!(switch.counted(), 2);
        assert_eq!(switch.on_departed(now, at(0, 1)), Some(Frame::ResumeQueue { queue: 7 }));
        assert_eq!((switch.has_paused(0), switch.has_paused(1), switch.counted()), (false, true, 1));
    }

    #[test]
    fn a_reminder_names_the_counters_above_zero() {
        let mut switch = Backpressure::new(&Params::default(), 1).unwrap();
        for queue in [3, 200, 3] {
            switch.on_overfull(Time::ZERO, Passing { input: 0, output: 1, packet: &from(queue) });
        }
        switch.on_departed(Time::ZERO, Passing { input: 0, output: 1, packet: &from(3) });
        assert_eq!(switch.reminder(0), Some(Frame::Bitmap([3, 200].into_iter().collect())));
    }

    /// M8.4 of the design: whatever queue its packets came from.
    #[test]
    fn where_frames_name_flows_a_flow_is_paused_once_per_input_without_reminders() {
        let mut switch = Backpressure::new(&Params { pauses: Pauses::Flow, ..Params::default() }, 2).unwrap();
        let (a, b) = (Packet { flow: FlowId(4), ..from(7) }, Packet { flow: FlowId(4), ..from(9) });
        let at = |input, packet| Passing { input, output: 1, packet };
        let (now, stop, go) =
            (Time::ZERO, Frame::PauseFlow { flow: FlowId(4) }, Frame::ResumeFlow { flow: FlowId(4) });
        assert_eq!(switch.on_overfull(now, at(0, &a)), Some(stop));
        assert_eq!(switch.on_overfull(now, at(0, &b)), None);
        assert_eq!(switch.on_overfull(now, at(1, &b)), Some(stop), "another neighbour");
        assert_eq!((switch.counted(), switch.reminder(0)), (3, None));
        assert_eq!(switch.on_departed(now, at(0, &a)), None);
        assert_eq!(switch.on_departed(now, at(0, &b)), Some(go));
        assert_eq!((switch.has_paused(0), switch.has_paused(1)), (false, true));
    }

    #[test]
    fn reminders_that_would_never_come_are_refused() {
        let new = |every, expires| Backpressure::new(&Params { every, expires, ..Params::default() }, 1);
        assert!(new(Span::ZERO, Span::from_us(1)).unwrap_err().to_string().contains("expire"));
        assert!(new(Span::from_us(9), Span::from_us(9)).unwrap_err().to_string().contains("every 9"));
    }
}
