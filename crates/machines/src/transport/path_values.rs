//! RDMA's path values: what a sender writes into every packet for switches to hash ([`crate::route::entropy`]), and
//! what it makes of those that ACKs bring back.
//!
//! The network keeps the value in [`Packet::route`](crate::Packet::route); a receiver copies it from the data into the
//! ACK. Without recycling a value is drawn for every packet: spraying, by the sender. With it a value that came back
//! unmarked is used again, once: [REPS](super::path_selection::reps) without its freezing, which needs timeouts.

use super::path_selection::reps::{Params, Reps};
use super::path_selection::{Choice, PathFeedback};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Stream, Time};

/// Values that senders write into their packets for switches to hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PathValues {
    /// How many values there are: 0 to this less one.
    #[schemars(extend("minimum" = 2, "maximum" = 4_294_967_295_u32))]
    pub count: u32,
    /// Values that came back unmarked are reused, each once (REPS, 2024); otherwise every packet draws a new one.
    pub recycle: bool,
}

impl Default for PathValues {
    /// 16 bits, as the source port of UDP has.
    fn default() -> Self {
        Self { count: 1 << 16, recycle: false }
    }
}

impl PathValues {
    /// The same of the machine.
    #[inline]
    fn reps(&self) -> Params {
        Params { values: self.count, freeze: false, ..Params::default() }
    }
}

/// What a sender knows of its paths. Of what is not recycled the machine learns nothing: it always draws.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Writer {
    paths: Reps,
}

impl Writer {
    /// Of a flow whose transport draws from `stream`.
    pub fn new(stream: &Stream, flow: FlowId) -> Self {
        let seed = stream.clone().bits();
        Self { paths: Reps::new(Stream::new(seed, "path values", u64::from(flow.0))) }
    }

    /// The value of the next packet. (Without freezing neither time nor window matter.)
    #[inline]
    pub fn next(&mut self, spec: &PathValues) -> u32 {
        self.paths.next(&spec.reps(), Time::ZERO, 0)
    }

    /// An ACK has brought a value back; `marked`: its data met congestion.
    #[inline]
    pub fn on_ack(&mut self, spec: &PathValues, value: u32, marked: bool) {
        if spec.recycle && !marked {
            self.paths.on_feedback(&spec.reps(), Time::ZERO, value, PathFeedback::Good);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn unmarked_values_are_used_again_once_the_oldest_of_eight_first() {
        let mut writer = Writer::new(&Stream::new(1, "transport", 0), FlowId(0));
        let spec = PathValues { count: 1 << 16, recycle: true };
        (100..110).for_each(|value| writer.on_ack(&spec, value, value == 105));
        // 105 was marked, and nine came back besides: 100 has gone.
        assert_eq!([(); 8].map(|()| writer.next(&spec)), [101, 102, 103, 104, 106, 107, 108, 109]);
        assert_ne!(writer.next(&spec), writer.next(&spec), "drawn again");
    }

    #[test]
    fn without_recycling_every_packet_draws() {
        let mut writer = Writer::new(&Stream::new(1, "transport", 0), FlowId(0));
        let spec = PathValues { count: 4, recycle: false };
        writer.on_ack(&spec, 3, false);
        let mut drawn = [0u32; 4];
        (0..4000).for_each(|_| drawn[writer.next(&spec) as usize] += 1);
        assert!(drawn.iter().all(|n| n.abs_diff(1000) < 82), "{drawn:?}");
    }

    /// The rule as it was written before it went on the machine of REPS: the same draws, the same values.
    #[test]
    fn values_are_those_of_a_queue_of_eight() {
        for (seed, count, recycle) in [(1, 64, true), (2, 1 << 16, true), (3, u32::MAX, true), (4, 9, false)]
        {
            let (transport, flow, spec) =
                (Stream::new(seed, "transport", 0), FlowId(5), PathValues { count, recycle });
            let mut writer = Writer::new(&transport, flow);
            let mut draws = Stream::new(transport.clone().bits(), "path values", 5);
            let (mut queue, mut chance) = (VecDeque::new(), Stream::new(seed, "acks", 0));
            for _ in 0..5000 {
                if chance.below(2) == 0 {
                    let value = queue.pop_front().unwrap_or_else(|| draws.below(u64::from(count)) as u32);
                    assert_eq!(writer.next(&spec), value);
                    continue;
                }
                let (value, marked) = (chance.below(u64::from(count)) as u32, chance.below(3) == 0);
                writer.on_ack(&spec, value, marked);
                if recycle && !marked {
                    queue.push_back(value);
                    if queue.len() > 8 {
                        queue.pop_front();
                    }
                }
            }
        }
    }
}
