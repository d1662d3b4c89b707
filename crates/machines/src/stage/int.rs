//! In-band network telemetry, as HPCC reads it: every switch port appends its state to the packets that
//! request it.
//!
//! Li, Miao, Liu, Zhuang, Feng, Tang, Cao, Zhang, Kelly, Alizadeh, Yu, "HPCC: High Precision Congestion
//! Control", SIGCOMM 2019: timestamp, queue length, transmitted bytes, link rate.
//!
//! ```text
//! CHOICE HPCC: whether the packet itself counts is not stated. It counts neither in the queue nor in the bytes
//! sent, as in the authors' simulator, which writes as the packet is taken out of the queue. Other reading:
//! both with it.
//! CHOICE HPCC §4.1: the path id is the exclusive or of the switches' ids, 12 bits each. Here it is that of the
//! ports, for two switches may have several links between them, and an id is 32 bits drawn for each port: two paths
//! of a flow look alike once in 4 billion, and not once in 4096. The size on the wire is the paper's.
//! ```

use super::{Acts, HeaderStage, Needs, Parameters, View};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream, Time};
use thalweg_wire::{IntHop, Packet, Side};

/// In-band telemetry: every hop writes its queue, bytes sent, time and rate (Li et al., SIGCOMM 2019).
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Int;

    fn acts(&self) -> Acts {
        Acts::Writes
    }
    fn make(&self, mut stream: Stream, _: Rate) -> Result<Int, Invalid> {
        Ok(Int { port: (stream.bits() >> 32) as u32 })
    }
}

/// Appends an [`IntHop`] to data packets whose source has made room for it ([`Side::Int`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Int {
    /// The port's identity.
    port: u32,
}

impl HeaderStage for Int {
    fn needs(&self) -> Needs {
        Needs { headers: true, ..Needs::default() }
    }
    fn write(&mut self, now: Time, view: &View, packet: &mut Packet, side: &mut Side) {
        if packet.is_control() {
            return; // an ACK carries what the data saw
        }
        if let Side::Int(stack) = side {
            // Beyond its capacity hops are left out, as on the wire.
            stack
                .push(self.port, IntHop { at: now, tx_bytes: view.sent, queue: view.bytes, rate: view.rate });
        }
    }
    fn quiet_below(&self) -> u32 {
        u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Span;
    use thalweg_wire::{IntStack, Kind};

    fn view(bytes: u64) -> View {
        let (idle_for, waited) = (Span::ZERO, Span::ZERO);
        View { packets: 3, bytes, wire: 1000, rate: Rate::from_gbps(100), sent: 7000, idle_for, waited }
    }

    #[test]
    fn a_hop_writes_the_queue_left_behind_and_what_it_sent_before_and_the_ninth_hop_is_left_out() {
        let (mut packet, mut side) = (Packet { wire: 1000, ..Packet::default() }, Side::Empty);
        side.new_int();
        for hop in 0..9 {
            Int { port: 1 << hop }.write(Time::from_us(hop), &view(3000 + hop), &mut packet, &mut side);
        }
        let Side::Int(stack) = side else { panic!("no telemetry") };
        assert_eq!((stack.as_slice().len(), stack.path()), (IntStack::CAPACITY, 0x1ff));
        let second = IntHop { at: Time::from_us(1), tx_bytes: 7000, queue: 3001, rate: Rate::from_gbps(100) };
        assert_eq!(stack.as_slice()[1], second);
    }

    /// Four ports numbered in a row: two by two their numbers have the same exclusive or, and paths over them would
    /// look alike.
    #[test]
    fn paths_over_other_ports_have_other_ids() {
        let made = |port| Params {}.make(Stream::new(1, "stage", port), Rate::from_gbps(1)).expect("a stage");
        let path = |ports: [u64; 2]| {
            let mut side = Side::Empty;
            side.new_int();
            for port in ports {
                made(port).write(Time::ZERO, &view(0), &mut Packet::default(), &mut side);
            }
            let Side::Int(stack) = side else { panic!("no telemetry") };
            stack.path()
        };
        assert_eq!(10 ^ 20, 11 ^ 21);
        assert_ne!(path([10, 20]), path([11, 21]));
        assert_eq!(path([10, 20]), path([10, 20]));
    }

    #[test]
    fn acks_and_packets_without_room_are_left_alone() {
        let (mut ack, mut side) = (Packet { kind: Kind::Ack, ..Packet::default() }, Side::Empty);
        let mut stage = Int { port: 9 };
        stage.write(Time::ZERO, &view(0), &mut Packet::default(), &mut side);
        assert_eq!(side, Side::Empty);
        side.new_int();
        stage.write(Time::ZERO, &view(0), &mut ack, &mut side);
        assert_eq!(side, Side::Int(IntStack::default()));
        side.new_sack().push(1, 2);
        stage.write(Time::ZERO, &view(0), &mut Packet::default(), &mut side);
        assert_eq!(side.sack(), [(1, 2)]);
    }
}
