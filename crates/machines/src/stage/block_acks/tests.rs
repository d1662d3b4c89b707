use super::*;
use crate::link::{BatchedSpec, Load, Transmitter, TransmitterSpec};
use proptest::prelude::*;
use thalweg_units::Stream;

const S: u64 = 1500;
const M: u32 = 20;
const WINDOW: Span = Span::from_ms(40);

fn batch(begun: Time, lasts: Span, packets: u32, rate: Rate) -> Batch {
    Batch { begun, acked: begun + lasts, packets, bytes: S * u64::from(packets), rate, most: M }
}

#[test]
fn a_batch_of_five_predicts_the_time_of_one_of_twenty() {
    // 60 kbit at 12 Mb/s are 5 ms, and 1 ms besides. Twenty would have taken 20 ms and 1 ms: 240 kbit in 21 ms.
    let mut acks = BlockAcks::new(WINDOW, false);
    assert_eq!(acks.rates(), None);
    acks.on_batch(&batch(Time::ZERO, Span::from_ms(6), 5, Rate::from_mbps(12)));
    assert!((acks.uncut() * 8.0 - 240e3 / 21e-3).abs() < 1e-3);
    // 60 kbit in 6 ms leave: 10 Mb/s. Then 4 ms of nothing, which count for both.
    let (mu, cr) = acks.rates().unwrap();
    assert!((cr * 8.0 - 10e6).abs() < 1e-3 && mu == acks.uncut());
    let mut without = BlockAcks { exclude_idle: true, ..acks.clone() };
    let late = batch(Time::from_ms(10), Span::from_ms(6), 5, Rate::from_mbps(12));
    acks.on_batch(&late);
    // T_IA = 10 ms: 240 kbit in 25 ms, weighed with 10 against 6.
    let expected = (6.0 * 240e3 / 21e-3 + 10.0 * 240e3 / 25e-3) / 16.0;
    assert!((acks.uncut() * 8.0 - expected).abs() < 1e-3, "{}", acks.uncut() * 8.0);
    without.on_batch(&late);
    assert!((without.uncut() * 8.0 - 240e3 / 21e-3).abs() < 1e-3, "idle time is not the link's");
    let leave = acks.rates().unwrap().1;
    assert!((leave * 8.0 - 120e3 / 16e-3).abs() < 1e-3 && without.rates().unwrap().1 == leave);
}

#[test]
fn what_left_the_window_is_forgotten_and_unused_rate_is_cut_to_twice_what_leaves() {
    let mut acks = BlockAcks::new(WINDOW, true);
    acks.on_batch(&batch(Time::ZERO, Span::from_ms(6), 5, Rate::from_mbps(12)));
    // A packet after a long silence, at another rate: 12 kbit in 2 ms, twenty would have taken 20.
    acks.on_batch(&batch(Time::from_ms(98), Span::from_ms(2), 1, Rate::from_bps(12_666_667)));
    assert!((acks.uncut() * 8.0 / 12e6 - 1.0).abs() < 1e-6, "{}", acks.uncut() * 8.0);
    let (mu, cr) = acks.rates().unwrap();
    assert!((cr * 8.0 - 12e3 / 94e-3).abs() < 1e-3 && mu == 2.0 * cr);
}

proptest! {
    /// Constant overhead and PHY rate, idle time left out: the estimate is exact whatever the batches hold.
    #[test]
    fn with_a_constant_overhead_the_estimate_is_exact_for_every_length(
        batches in prop::collection::vec((1u32..=M, 0u64..30_000_000), 1..60),
        overhead in 0u64..5_000_000, mbps in 1u64..600,
    ) {
        let (rate, overhead) = (Rate::from_mbps(mbps), Span::from_ns(overhead));
        let full = 8.0 * S as f64 * f64::from(M) / (rate.bps() as f64) + overhead.secs();
        let truth = S as f64 * f64::from(M) / full;
        let mut acks = BlockAcks::new(WINDOW, true);
        let mut free = Time::ZERO;
        for (packets, idle) in batches {
            let lasts = thalweg_units::Bytes::new(S * u64::from(packets)) / rate + overhead;
            let begun = free + Span::from_ns(idle);
            acks.on_batch(&batch(begun, lasts, packets, rate));
            free = begun + lasts;
            prop_assert!((acks.uncut() / truth - 1.0).abs() < 1e-6, "{} and {truth}", acks.uncut());
        }
    }
}

/// An access point with Poisson arrivals for a minute: means over block ACKs of μ uncut, of μ, and of the
/// lesser of 2 cr and the truth, as parts of what full batches reach.
fn at_load(load: f64, phy: Rate, exclude_idle: bool) -> [f64; 3] {
    let mut link = TransmitterSpec::from(BatchedSpec::of(phy, M)).make(Stream::new(1, "batches", 0)).unwrap();
    let full = f64::from(M) * S as f64;
    let truth = full / (full * 8.0 / phy.bps() as f64 + 1.5e-3);
    let mut arrivals = Stream::new(2, "arrivals", 0);
    let mut acks = BlockAcks::new(WINDOW, exclude_idle);
    let (mut next, mut free, mut waiting) = (0.0, 0.0, 0);
    let (mut sums, mut n) = ([0.0; 3], 0.0);
    while free < 60.0 {
        if waiting == 0 {
            free = f64::max(free, next);
        }
        while next <= free {
            waiting += 1;
            next += arrivals.exponential(S as f64 / (load * truth));
        }
        let packets = M.min(waiting);
        waiting -= packets;
        let begun = Time::from_ps((free * 1e12) as u64);
        let acked = link.send(begun, Load { packets, bytes: S * u64::from(packets) });
        acks.on_batch(&batch(begun, acked - begun, packets, phy));
        free = acked.since(Time::ZERO).secs();
        let (mu, cr) = acks.rates().unwrap();
        for (sum, x) in sums.iter_mut().zip([acks.uncut(), mu, truth.min(2.0 * cr)]) {
            *sum += x / truth;
        }
        n += 1.0;
    }
    sums.map(|sum| sum / n)
}

/// The values are those of an independent model of a few lines (Python), to three digits.
#[test]
fn a_link_that_idles_looks_slow_unless_idle_time_is_left_out_and_the_cut_hides_it() {
    for mbps in [65, 39, 13] {
        let phy = Rate::from_mbps(mbps);
        let [idle, ..] = at_load(0.1, phy, false);
        assert!((0.60..0.71).contains(&idle), "{mbps} Mb/s: {idle}");
        let [busy, ..] = at_load(0.1, phy, true);
        assert!((0.93..0.995).contains(&busy), "{mbps} Mb/s: {busy}");
        for load in [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9] {
            let [_, mu, aim] = at_load(load, phy, false);
            let within = if load > 0.7 { 0.02 } else { 0.1 };
            assert!((mu / aim - 1.0).abs() < within, "{mbps} Mb/s, load {load}: {mu} and {aim}");
        }
    }
}
