//! ABC (Goyal et al., NSDI 2020; Goyal, MIT 2022, ch. 2): what follows from its two algorithms, by the
//! engine's own router and controllers.

use crate::outcome::Outcome;
use thalweg_machines::congestion::{
    AckSample, CongestionControl, Controller, ControllerSpec, Feedback, Start, abc as sender,
};
use thalweg_machines::schedule::{self, At, Weights, max_min};
use thalweg_machines::stage::{Parameters, abc as router};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
use thalweg_wire::{Explicit, Load};

const MSS: u64 = 1000;

/// A controller whose window is so many segments.
fn flow(spec: &ControllerSpec, segments: u64) -> Controller {
    let start = Start {
        mss: MSS as u32,
        initial_window: Bytes::new(segments * MSS),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        line_rate: Rate::from_gbps(10),
        base_rtt: Span::from_ms(100),
        ..Start::default()
    };
    spec.make(&start).expect("a valid controller")
}

/// ABC's window alone.
fn abc(segments: u64, additive: f64) -> Controller {
    flow(
        &ControllerSpec::Abc(sender::Params { additive, dual: false, ..sender::Params::default() }),
        segments,
    )
}

/// A segment is acknowledged; plenty is in flight.
fn reported(flow: &mut Controller, feedback: Feedback<'static>, brakes: bool) {
    flow.on_ack(&AckSample {
        now: Time::from_ms(1),
        acked: Bytes::new(MSS),
        marked: Bytes::new(if brakes { MSS } else { 0 }),
        in_flight: Bytes::new(1 << 30),
        cwnd_limited: true,
        feedback,
        ..AckSample::default()
    });
}

fn segments(flow: &Controller) -> f64 {
    flow.permit().window.get() as f64 / MSS as f64
}

/// A router that has spent its credit but for one packet's.
fn spent() -> router::Abc {
    let mut made = router::Params::default().make(Stream::new(1, "abc", 0), Rate::ZERO).expect("valid");
    while made.accelerates(0.0, 1500, false) {}
    made
}

/// §2.3.1.1: a window of ACKs of which a share f accelerates makes 2 f w of it.
pub fn window_map(_: u32, _: u64) -> Outcome {
    let mut out = Outcome::default();
    for (w, accelerate) in [(100, 100), (100, 75), (100, 50), (100, 30), (100, 1), (100, 0), (20, 13)] {
        let mut flow = abc(w, 0.0);
        (0..w).for_each(|n| reported(&mut flow, Feedback::None, n >= accelerate));
        // Never below two segments.
        let (after, expected) = (segments(&flow), (2 * accelerate).max(2) as f64);
        out.instances += 1;
        out.packets += w;
        out.expect(after == expected, || format!("{accelerate} of {w} accelerate: {after} segments"));
        out.found(|| format!("{accelerate} of {w}: {after}"));
    }
    out
}

/// §2.3.1.2: no more accelerate than the shares' sum and the credit of five; at a constant share that share,
/// give or take one.
pub fn share_is_kept(stories: u32, seed: u64) -> Outcome {
    let mut out = Outcome::default();
    let mut draw = Stream::new(seed, "shares", 0);
    for _ in 0..stories {
        let mut made =
            router::Params::default().make(Stream::new(seed, "abc", 0), Rate::ZERO).expect("valid");
        let (mut sum, mut kept) = (0.0, 0.0);
        for _ in 0..500 {
            let f = draw.unit();
            sum += f;
            kept += f64::from(u8::from(made.accelerates(f, 1500, false)));
            out.expect(kept <= sum + 5.0, || format!("{kept} of {sum}"));
        }
        let (f, mut made, mut kept) = (0.05 + 0.95 * draw.unit(), spent(), 0.0);
        for n in 1..=500 {
            kept += f64::from(u8::from(made.accelerates(f, 1500, false)));
            out.expect((kept - f * f64::from(n)).abs() <= 1.0 + 1e-6, || format!("{kept} of {n} at {f}"));
        }
        out.instances += 1;
        out.packets += 1000;
        out.found(|| format!("{kept} of 500 at {f:.3}"));
    }
    out
}

/// §2.3.1.2: a chain of routers leaves the smallest share.
pub fn chain(_: u32, _: u64) -> Outcome {
    const PACKETS: u32 = 20_000;
    let mut out = Outcome::default();
    for shares in [&[0.6, 0.5][..], &[0.49, 0.5, 0.51], &[0.9, 0.5, 0.7]] {
        let mut routers: Vec<_> = shares.iter().map(|_| spent()).collect();
        let mut kept = 0;
        for _ in 0..PACKETS {
            let mut brakes = false;
            for (router, f) in routers.iter_mut().zip(shares) {
                brakes = !router.accelerates(*f, 1500, brakes);
            }
            kept += u32::from(!brakes);
        }
        let (found, least) =
            (f64::from(kept) / f64::from(PACKETS), shares.iter().copied().fold(1.0, f64::min));
        out.instances += 1;
        out.packets += u64::from(PACKETS);
        out.expect((found - least).abs() <= 1e-3, || format!("{shares:?}: {found}"));
        out.found(|| format!("{shares:?}: {found}"));
    }
    out
}

/// §2.3.1.3: at a constant share below a half and a segment more per round trip the window settles at 1/(1 -
/// 2f), within 2 %.
pub fn settles(_: u32, _: u64) -> Outcome {
    const ACKS: u32 = 400_000;
    let mut out = Outcome::default();
    for f in [0.4, 0.45, 0.48, 0.49, 0.495] {
        let (mut flow, mut credit, mut sum) = (abc(20, 1.0), 0.0, 0.0);
        for n in 0..ACKS {
            credit += f;
            let brakes = credit < 1.0;
            credit -= if brakes { 0.0 } else { 1.0 };
            reported(&mut flow, Feedback::None, brakes);
            sum += if n >= ACKS / 2 { segments(&flow) } else { 0.0 };
        }
        let (mean, expected) = (sum / f64::from(ACKS / 2), 1.0 / (1.0 - 2.0 * f));
        out.instances += 1;
        out.packets += u64::from(ACKS);
        out.expect((mean / expected - 1.0).abs() <= 0.02, || format!("{f}: {mean} segments, not {expected}"));
        out.found(|| format!("{f}: {mean:.3}"));
    }
    out
}

/// §2.6: of ACKs of which only a share p arrives, a window changes by (2 f - 1) p w in the mean.
pub fn lost_acks(windows: u32, seed: u64) -> Outcome {
    const W: u32 = 100;
    let mut out = Outcome::default();
    let mut draw = Stream::new(seed, "acks", 0);
    for (f, p) in [(0.2, 0.3), (0.2, 0.7), (0.4, 0.3), (0.6, 0.3), (0.6, 0.7), (0.9, 0.3), (0.9, 0.7)] {
        let mut sum = 0.0;
        for _ in 0..windows {
            let mut flow = abc(u64::from(W), 0.0);
            for _ in 0..W {
                let (brakes, arrives) = (draw.unit() >= f, draw.unit() < p);
                if arrives {
                    reported(&mut flow, Feedback::None, brakes);
                }
            }
            sum += segments(&flow) - f64::from(W);
        }
        let (mean, expected) = (sum / f64::from(windows), (2.0 * f - 1.0) * p * f64::from(W));
        out.instances += 1;
        out.packets += u64::from(windows * W);
        // Five standard errors, of at most √(p W) each.
        let error = 5.0 * (p * f64::from(W) / f64::from(windows)).sqrt();
        out.expect((mean - expected).abs() <= error, || format!("f {f}, p {p}: {mean}, not {expected}"));
        (0..2).for_each(|_| out.found(|| format!("f {f}, p {p}: {mean:.2}")));
    }
    out
}

/// §2.4.3: of two queues with max-min shares a large flow that does not grow costs the others no more than
/// the headroom that it is given.
pub fn headroom_bounds_the_loss(stories: u32, seed: u64) -> Outcome {
    const CAPACITY: f64 = 1e6; // bytes per interval
    let mut out = Outcome::default();
    let mut draw = Stream::new(seed, "shares", 1);
    for _ in 0..stories {
        let growing = [1 + draw.below(4) as usize, 1 + draw.below(4) as usize];
        let all = (growing[0] + growing[1]) as f64;
        // What it wants, below its fair part of the link; it is in queue 1.
        let wants = (0.1 + 0.9 * draw.unit()) * CAPACITY / (all + 1.0);
        let p = max_min::Params::default();
        let at = At {
            rate: Rate::from_mbps(16),
            back: Rate::from_mbps(16),
            stream: Stream::default(),
            preemptive: false,
        };
        let mut shares = schedule::Parameters::make(&p, &at).expect("valid");
        let mut gets = [0.0; 2];
        for interval in 0..60 {
            let now = Time::ZERO + p.interval * interval;
            let share = shares.share(now);
            let parts = [1.0 - share, share].map(|part| part * CAPACITY);
            let still = wants.min(parts[1] / (growing[1] + 1) as f64);
            gets = [parts[0] / growing[0] as f64, (parts[1] - still) / growing[1] as f64];
            shares.joined(now, 1, FlowId(0), still as u32);
            for (queue, first) in [(0, 1), (1, 10)] {
                (0..growing[queue] as u32)
                    .for_each(|n| shares.joined(now, queue, FlowId(first + n), gets[queue] as u32));
            }
        }
        let ideal = (CAPACITY - wants) / all;
        let lost = 1.0 - gets[0].min(gets[1]) / ideal;
        out.instances += 1;
        out.expect(lost <= p.headroom + 1e-3, || format!("{growing:?}, {wants}: {gets:?}, ideal {ideal}"));
        out.found(|| format!("{growing:?}: {lost:.4}"));
    }
    out
}

/// §2.8: VCP at low load needs twelve round trips to double its window.
pub fn vcp_doubles(_: u32, _: u64) -> Outcome {
    let mut out = Outcome { instances: 1, ..Outcome::default() };
    let mut flow = flow(&ControllerSpec::vcp(), 100);
    let mut trips = 0;
    while segments(&flow) < 200.0 && trips < 100 {
        let acks = segments(&flow) as u64;
        out.packets += acks;
        (0..acks).for_each(|_| reported(&mut flow, Feedback::Explicit(Explicit::Load(Load::Low)), false));
        trips += 1;
    }
    out.expect(trips == 12, || format!("{trips} round trips"));
    out.found(|| format!("{trips} round trips"));
    out
}
