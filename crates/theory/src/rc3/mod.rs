//! RC3 (Mittal, Sherry, Ratnasamy, Shenker, NSDI 2014): the worked example of §2.1.2 packet by packet, the
//! levels of §2.1.1, and what must hold whatever the network loses.

pub mod path;
mod port;

pub use port::safe;

use crate::outcome::Outcome;
use path::{MSS, Path};
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::transport::{
    AckSpec, EcnSpec, Flight, LossDetection, Rank, Rc3Spec, RtoRule, Sack, TcpOptions, TcpSpec, TransportSpec,
};
use thalweg_units::{Bytes, Span, Stream};

/// §2.4.1: NewReno and SACK, an initial window of 4, no delayed ACKs, no handshake here; levels of 40, 400, ..
pub fn rc3() -> Rc3Spec {
    let primary = TcpSpec {
        controller: ControllerSpec::NewReno(Default::default()),
        mss: MSS as u32,
        header: 40,
        ack_wire: 40,
        syn_wire: 40,
        initial_window: Bytes::new(4 * MSS),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        rto: RtoRule::Rfc6298 {
            initial: Span::from_ms(1000),
            min: Span::from_ms(200),
            max: Span::from_ms(60_000),
        },
        loss: LossDetection::DupAck { threshold: 3 },
        limited_transmit: false,
        sack: Sack::Blocks { blocks: 3, on_wire: true },
        ack: AckSpec { every: 1, delay: Span::ZERO },
        handshake: false,
        ecn: EcnSpec::Off,
        flight: Flight::Pipe,
        timestamps: false,
        probe_after: None,
        rank: Rank::None,
        acks_in_class: true,
        impatient: false,
        writes: None,
        options: TcpOptions::default(),
    };
    Rc3Spec::published(primary)
}

fn path(outcome: &mut Outcome, spec: TransportSpec, segments: u64) -> Option<Path> {
    outcome.instances += 1;
    match Path::new(spec, segments) {
        Ok(path) => Some(path),
        Err(what) => {
            outcome.expect(false, || what);
            None
        }
    }
}

/// §2.1.2: 66 segments; 21 and 22 of the RLP loop are lost.
pub fn example(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    let Some(mut p) = path(&mut out, TransportSpec::Rc3(rc3()), 66) else { return out };
    p.run(1000, |sent| sent.class > 0 && (21..=22).contains(&sent.segment));
    let down = |from: u64, to: u64| (to..=from).rev().collect::<Vec<_>>();
    out.expect(p.handed_in(1) == down(66, 27), || format!("level 1: {:?}", p.handed_in(1)));
    out.expect(p.handed_in(2) == down(26, 5), || format!("level 2: {:?}", p.handed_in(2)));
    let first: Vec<u64> = p.wire.iter().filter(|w| w.slot < 50).map(|w| w.segment).collect();
    let published: Vec<u64> = (1..=4).chain(down(66, 27)).chain(down(26, 21)).collect();
    out.expect(first == published, || format!("first round trip: {first:?}"));
    let in_four = (150..200).contains(&p.done) && (100..150).contains(&p.received);
    out.expect(in_four, || format!("received in slot {}, done in {}", p.received, p.done));
    out.expect(p.repaired() == (0, false), || "a loss was inferred".into());
    out.packets = p.handed.len() as u64;
    out.found(|| format!("{} packets as published", p.handed.len()));
    out
}

/// The same: who brings which segment.
pub fn repaired(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    let Some(mut p) = path(&mut out, TransportSpec::Rc3(rc3()), 66) else { return out };
    p.run(1000, |sent| sent.class > 0 && (21..=22).contains(&sent.segment));
    let primary: Vec<u64> = p.first.values().filter(|s| s.class == 0).map(|s| s.segment).collect();
    let published: Vec<u64> = (1..=12).chain([21, 22]).collect();
    out.expect(primary == published, || format!("brought by the primary loop: {primary:?}"));
    out.expect(p.handed_in(0).iter().max() == Some(&22), || format!("it sends {:?}", p.handed_in(0)));
    out.packets = p.handed.len() as u64;
    out.found(|| "21 and 22 only are repaired".into());
    out
}

/// §2.1.1, and footnote 4 of §2.3.2.
pub fn levels(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    let published = [(1, 1), (40, 1), (41, 2), (440, 2), (441, 3), (4440, 3), (4441, 4)];
    for (x, level) in published {
        out.packets += 1;
        out.expect(rc3().level(x) == level, || {
            format!("segment {x} from the tail: level {}", rc3().level(x))
        });
    }
    out.instances = 1;
    out.found(|| "borders at 40, 440, 4440".into());
    out
}

/// Sixteen priorities reach a petabyte.
pub fn petabyte(_: u32, _: u64) -> Outcome {
    let segments = (0..15).map(|k| 40 * 10u128.pow(k)).sum::<u128>();
    let mut out = Outcome { instances: 1, packets: 1, ..Outcome::default() };
    out.expect(segments * u128::from(MSS) >= 10u128.pow(15), || format!("{segments} segments"));
    let deep = Rc3Spec { levels: 15, ..rc3() };
    let last = u64::try_from(segments).map(|x| deep.level(x));
    out.expect(last == Ok(15), || format!("level {last:?}"));
    out.found(|| format!("{} B", segments * u128::from(MSS)));
    out
}

/// Figure 2.2: one long flow.
pub fn fills(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    let Some(mut p) = path(&mut out, TransportSpec::Rc3(rc3()), 3000) else { return out };
    p.run(100_000, |_| false);
    let trips = p.wire.last().map_or(0, |w| w.slot / path::ROUND_TRIP);
    // From the instant at which the window holds the pipe on, a round trip later on the wire.
    let full =
        p.windows.iter().find(|w| w.1 >= path::ROUND_TRIP * MSS).map_or(u64::MAX, |w| w.0 + path::ROUND_TRIP);
    for trip in 0..trips {
        let within = |w: &&path::Sent| w.slot / path::ROUND_TRIP == trip;
        let all = p.wire.iter().filter(within).count() as u64;
        let low = p.wire.iter().filter(within).filter(|w| w.class > 0).count() as u64;
        out.expect(100 * all >= 95 * path::ROUND_TRIP, || format!("{all} packets in round trip {trip}"));
        if trip * path::ROUND_TRIP >= full {
            out.expect(50 * low <= path::ROUND_TRIP, || format!("{low} low packets in round trip {trip}"));
            out.found(|| format!("TCP fills the pipe from slot {full} on"));
        }
    }
    out.packets = p.wire.len() as u64;
    out
}

/// §2.3.2: with super-segments of 64 KB.
pub fn offload(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    let spec = Rc3Spec { together: 43, ..rc3() };
    let Some(mut p) = path(&mut out, TransportSpec::Rc3(spec), 5000) else { return out };
    p.run(100_000, |_| false);
    for border in [40, 440, 4440] {
        let right = rc3().level(border);
        let wrong = p.handed.iter().filter(|h| {
            let x = 5000 - h.segment + 1;
            h.class > right && rc3().level(x) == right
        });
        let wrong = wrong.count();
        out.expect(wrong <= 43, || format!("{wrong} packets above the border {border}"));
        out.found(|| format!("{wrong} packets above the border {border}"));
    }
    out.packets = p.handed.len() as u64;
    out
}

/// M13: each segment once below class 0; nothing harvested is sent by the primary loop; ACKs of lower classes
/// move no window; whatever is lost below class 0, no timer fires; and if all of it is lost, the primary loop
/// is TCP, packet by packet.
pub fn properties(instances: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    for i in 0..instances {
        let mut stream = Stream::new(seed, "rc3", u64::from(i));
        let segments = 1 + stream.below(500);
        let share = 64 * stream.below(5);
        let mut spec = rc3();
        if stream.below(2) == 0 {
            spec.primary.sack = Sack::Off;
        }
        if stream.below(2) == 0 {
            spec.primary.controller = ControllerSpec::Cubic(Default::default());
        }
        let primary = spec.primary.clone();
        let Some(mut p) = path(&mut out, TransportSpec::Rc3(spec), segments) else { return out };
        p.run(500_000, |sent| sent.class > 0 && stream.below(256) < share);
        out.packets += p.handed.len() as u64;
        let mut low: Vec<u64> = p.handed.iter().filter(|h| h.class > 0).map(|h| h.segment).collect();
        let sent = low.len();
        low.sort_unstable();
        low.dedup();
        out.expect(low.len() == sent, || format!("instance {i}: a segment left twice below class 0"));
        out.expect(p.known == 0, || format!("instance {i}: {} harvested segments sent", p.known));
        out.expect(p.moved == 0, || format!("instance {i}: {} windows moved", p.moved));
        out.expect(p.done != u64::MAX && p.repaired().0 == 0, || format!("instance {i}: a timeout"));
        if share == 256 {
            let Some(mut tcp) = path(&mut out, TransportSpec::Tcp(primary), segments) else { return out };
            tcp.run(500_000, |_| false);
            let of = |p: &Path| p.wire.iter().filter(|w| w.class == 0).copied().collect::<Vec<_>>();
            let differ = of(&p).iter().zip(of(&tcp)).filter(|(a, b)| **a != *b).count();
            out.differ(differ as u64, || format!("instance {i}: the primary loop is not TCP"));
            out.expect(p.windows == tcp.windows, || format!("instance {i}: windows differ"));
        }
        out.found(|| format!("{instances} flows"));
    }
    out
}
