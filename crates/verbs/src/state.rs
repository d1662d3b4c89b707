//! What IRN adds to a NIC's memory (§4.5.1), counted from the fields themselves: per queue pair, per WQE, shared.

use crate::bitmap2::Bitmap2;
use crate::wire::{NUMBER, Serial};
use thalweg_machines::transport::rdma::Psn;
use thalweg_machines::transport::rdma::irn::IrnState;

/// A field and its bits.
pub type Field = (&'static str, u32);

/// Loss recovery in one space of numbers, kept by its sender: the requester for requests, the responder for
/// answers. The next new PSN and the lowest unacknowledged one are RoCE's already.
pub const TRANSPORT: [Field; 6] =
    [("rtx", Psn::BITS), ("rec", Psn::BITS), ("pend", 1), ("in_rec", 1), ("scan", 1), ("low", 1)];

/// The responder's timer for answers, and the Read being answered: an index into the Read WQE buffer.
pub const READ: [Field; 2] = [("timer", u32::BITS), ("read", Serial::BITS)];

/// Bitmaps of a queue pair and how many of the cap's size each of them takes.
pub const BITMAPS: [Field; 4] = [
    ("responder: the 2-bitmap", 2),
    ("requester: responses that arrived", 1),
    ("requester: requests acknowledged selectively", 1),
    ("responder: answers acknowledged selectively", 1),
];

/// Bytes more in a WQE, of 64: its recv_WQE_SN or read_WQE_SN.
pub const WQE_BYTES: usize = NUMBER;

/// What all queue pairs share. CHOICE IRN §4.5.1 gives 10 bytes for the three together, not their widths.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
pub struct Shared {
    /// RTO_low, in nanoseconds.
    pub rto_low: u32,
    /// BDP-FC's cap, in packets.
    pub cap: u32,
    /// N: RTO_low fires with at most so many packets in flight.
    pub low_in_flight: u16,
}

/// Bits of some fields.
pub const fn bits(fields: &[Field]) -> u32 {
    let (mut sum, mut i) = (0, 0);
    while i < fields.len() {
        sum += fields[i].1;
        i += 1;
    }
    sum
}

/// Bits of a bitmap with room for `cap` packets: whole 64-bit words. (The machines of this crate take the
/// next power of two.)
pub const fn bitmap_bits(cap: u32) -> u32 {
    cap.next_multiple_of(64)
}

/// Bits without bitmaps that a queue pair takes at both ends together.
pub const fn transport_bits() -> u32 {
    2 * bits(&TRANSPORT) + bits(&READ)
}

/// Bits that a queue pair takes.
pub const fn queue_pair_bits(cap: u32) -> u32 {
    transport_bits() + bits(&BITMAPS) * bitmap_bits(cap)
}

/// Bytes for so many queue pairs and WQEs.
pub const fn nic_bytes(cap: u32, queue_pairs: u64, wqes: u64) -> u64 {
    queue_pairs * (queue_pair_bits(cap) as u64).div_ceil(8)
        + wqes * WQE_BYTES as u64
        + size_of::<Shared>() as u64
}

/// BDP-FC's cap: packets of so many bytes on the wire that fill a path of this rate (bit/s) and round trip (ns).
pub const fn cap(rate: u64, rtt_ns: u64, wire: u64) -> u32 {
    (rate as u128 * rtt_ns as u128 / 8 / 1_000_000_000 / wire as u128) as u32
}

/// IRN's four modules (§4.5.2), and the most 64-bit words of bitmap that one event of each touches with room
/// for `cap` packets.
pub fn words(cap: u32) -> [(&'static str, u32); 4] {
    // A sender's bitmap: whole words of a power of two, and one of them twice, as the head may fall into it.
    let sender = cap.div_ceil(64).next_power_of_two() + 1;
    [
        ("receiveData", 2 + 2 * Bitmap2::new(cap).words_bound()), // mark; run; advance
        ("txFree", sender),
        ("receiveAck", sender + 1), // shift; mark
        ("timeout", 0),
    ]
}

/// A sender's loss recovery as a NIC would keep it: [`TRANSPORT`]'s fields side by side.
pub fn pack(state: &IrnState, low: bool) -> u64 {
    let values = [
        state.rtx.value(),
        state.rec.value(),
        state.pend.into(),
        state.in_rec.into(),
        state.scan.into(),
        low.into(),
    ];
    let mut packed = 0;
    for (value, (_, bits)) in values.into_iter().zip(TRANSPORT) {
        packed = packed << bits | u64::from(value);
    }
    packed
}

/// The inverse: what RoCE keeps is left to the caller.
pub fn unpack(mut packed: u64, nxt: Psn, una: Psn) -> (IrnState, bool) {
    let mut values = [0; TRANSPORT.len()];
    for (value, (_, bits)) in values.iter_mut().zip(TRANSPORT).rev() {
        *value = (packed & ((1 << bits) - 1)) as u32;
        packed >>= bits;
    }
    let [rtx, rec, pend, in_rec, scan, low] = values;
    let flag = |value: u32| value == 1;
    let (rtx, rec) = (Psn::new(rtx), Psn::new(rec));
    (IrnState { nxt, una, rtx, rec, pend: flag(pend), in_rec: flag(in_rec), scan: flag(scan) }, flag(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{BTH, SURROUNDINGS};
    use thalweg_machines::transport::rdma::irn::{IrnOptions, IrnSender};
    use thalweg_units::Stream;

    const RTT: u64 = 24_000;
    const PACKET: u64 = (SURROUNDINGS + BTH + 1024) as u64;

    /// A sender in the middle of things.
    fn sender(seed: u64) -> IrnSender {
        let mut r = Stream::new(seed, "state", 0);
        let mut sender = IrnSender::new(IrnOptions::default(), Psn::new(r.bits() as u32));
        for _ in 0..r.below(200) {
            let state = sender.state();
            if r.below(2) == 0 {
                sender.tx_free(true, 110);
            } else if sender.in_flight() > 0 {
                let sack = state.una.plus(r.below(u64::from(sender.in_flight())) as u32);
                let advance =
                    if r.below(4) == 0 { r.below(u64::from(sender.in_flight()) + 1) as u32 } else { 0 };
                sender.on_ack(state.una.plus(advance), sack, advance == 0);
            }
        }
        sender
    }

    /// The order of Table 4.9's throughputs: receiveData is the slowest module, the timer's by far the fastest.
    #[test]
    fn an_event_touches_few_words_and_the_timer_none() {
        assert_eq!(words(110).map(|(_, n)| n), [2 + 4 * 3, 3, 4, 0]);
        assert!(words(275).iter().all(|(_, n)| *n < 64));
    }

    /// IRN-S1a: and no field is forgotten, since the state comes back whole.
    #[test]
    fn loss_recovery_takes_52_bits_at_each_end_and_160_with_reads() {
        assert_eq!(bits(&TRANSPORT), 52);
        assert_eq!(2 * bits(&TRANSPORT), 104);
        assert_eq!(bits(&READ), 56);
        assert_eq!(transport_bits(), 160);
        for seed in 0..2_000 {
            let (state, low) = (sender(seed).state(), seed % 2 == 0);
            let packed = pack(&state, low);
            assert_eq!(packed >> bits(&TRANSPORT), 0);
            assert_eq!(unpack(packed, state.nxt, state.una), (state, low));
        }
    }

    /// IRN-S1b.
    #[test]
    fn five_bitmaps_of_128_bits_hold_the_cap_at_40_gbps() {
        assert!(cap(40_000_000_000, RTT, 1024) < 128, "also if only payload is counted");
        let cap = cap(40_000_000_000, RTT, PACKET);
        assert_eq!((cap, bitmap_bits(cap)), (110, 128));
        assert_eq!(bits(&BITMAPS) * bitmap_bits(cap), 640);
        assert_eq!(queue_pair_bits(cap), 800);
        assert_eq!(Bitmap2::new(cap).capacity(), bitmap_bits(cap));
        assert_eq!(size_of::<[u8; (queue_pair_bits(110) / 8) as usize]>(), 100);
    }

    /// IRN-S1c.
    #[test]
    fn a_wqe_grows_by_3_bytes_of_64_and_10_bytes_are_shared() {
        assert_eq!(8 * WQE_BYTES, Serial::BITS as usize);
        assert_eq!(WQE_BYTES, 3);
        assert_eq!(size_of::<Shared>(), 10);
    }

    /// IRN-S1d.
    #[test]
    fn two_thousand_queue_pairs_take_3_to_10_percent_of_a_nic_cache_even_at_100_gbps() {
        let (slow, fast) = (cap(40_000_000_000, RTT, PACKET), cap(100_000_000_000, RTT, PACKET));
        let at_40 = nic_bytes(slow, 2_000, 20_000);
        assert_eq!(at_40, 260_000 + 10);
        let share = |bytes: u64, cache: f64| bytes as f64 / cache;
        assert!(
            (0.0298..0.0300).contains(&share(at_40, 8.7e6))
                && (0.0999..0.1001).contains(&share(at_40, 2.6e6))
        );
        assert_eq!((fast, bitmap_bits(fast), queue_pair_bits(fast) / 8), (275, 320, 220));
        let at_100 = nic_bytes(fast, 2_000, 20_000);
        assert_eq!(at_100, 500_000 + 10);
        assert!(share(at_100, 5.001e6) <= 0.10);
    }

    /// IRN-S1f.
    #[test]
    fn buffering_packets_instead_of_bits_would_take_110_megabytes_for_1000_flows() {
        let cap = u64::from(cap(40_000_000_000, RTT, PACKET));
        assert_eq!(cap * 1_000 * 1_000, 110_000_000);
    }
}
