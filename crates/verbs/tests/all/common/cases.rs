//! What the cases made by hand are made of.

use super::{DELAY, Fate, Net, Way};
use thalweg_units::Time;
use thalweg_verbs::memory::{Buffer, Remote, Rights};
use thalweg_verbs::wire::Packet;
use thalweg_verbs::{Fence, Operation, Request, SendWith, Setup};

/// Four bytes per packet; a region of 64 bytes at each end, ones here and zeros there.
pub const MTU: u32 = 4;
pub const KEY: u32 = 1;

pub fn small() -> Setup {
    Setup { mtu: MTU, cap: 8, initial_credits: 100, ..Setup::default() }
}

pub fn net<'f>(setup: Setup, fate: impl FnMut(&Packet<'_>, Way, Time) -> Fate + Send + 'f) -> Net<'f> {
    let mut net = Net::new(setup, fate).unwrap();
    assert_eq!(net.local.register(0, (0..64).collect(), Rights::LOCAL), KEY);
    assert_eq!(net.host.memory.register(0, vec![0; 64], Rights::ALL), KEY);
    net
}

pub fn at(address: u64, length: u32) -> Buffer {
    Buffer { key: KEY, address, length }
}

pub fn there(address: u64) -> Remote {
    Remote { key: KEY, address }
}

pub fn write(from: u64, length: u32, to: u64) -> Operation {
    Operation::Write { from: at(from, length), to: there(to), immediate: None }
}

pub fn send(from: u64, length: u32) -> Operation {
    Operation::Send { from: at(from, length), with: SendWith::Nothing }
}

pub fn post(net: &mut Net<'_>, id: u64, operation: Operation, fence: Fence) {
    net.post(Request { id, operation, fence }).unwrap();
}

/// Loses the first copy of these request packets.
pub fn lose_first(psns: &'static [u32]) -> impl FnMut(&Packet<'_>, Way, Time) -> Fate + Send {
    let mut left = psns.to_vec();
    move |packet, way, _| {
        let hit = left.iter().position(|psn| way == Way::ToResponder && packet.psn.value() == *psn);
        if let Some(hit) = hit.filter(|_| packet.opcode.is_request()) {
            left.remove(hit);
            return vec![];
        }
        vec![DELAY]
    }
}
