//! The gradient against a fluid queue; fairness of two flows at one.

use super::*;

const GBPS: f64 = 1e9;

#[test]
fn the_gradient_is_the_rate_mismatch_of_a_fluid_queue() {
    // dq/dt = (y − C)/C, q in time; zero where the queue is empty (§3.3.2). Sampled every minRTT.
    let measured = |load: f64, start_us: f64| {
        let mut c = timely(Params { alpha: 0.5, ..PLAIN });
        let mut queue = start_us;
        for n in 0..40u64 {
            let rtt = Some(Span::from_ps(((20.0 + queue) * 1e6) as u64));
            c.on_ack(&AckSample { now: Time::from_us(20 * n), rtt, ..ack(1000, 0) });
            queue = (queue + 20.0 * (load - 1.0)).max(0.0);
        }
        c.rtt_diff / 20e6
    };
    for (load, start_us, gradient) in [(1.3, 0.0, 0.3), (1.0, 70.0, 0.0), (0.8, 900.0, -0.2), (0.8, 0.0, 0.0)]
    {
        assert!((measured(load, start_us) - gradient).abs() < 1e-6, "{load}: {}", measured(load, start_us));
    }
}

/// Two flows that post 16 KB segments at their rates into one queue of 10 Gb/s, 30 us there and back: Jain's
/// index of their rates at the end, and the load.
fn share_of_two(spec: Params, share: f64, millis: u64) -> (f64, f64) {
    const SEGMENT_BITS: f64 = 16_000.0 * 8.0;
    let mut flows = [share, 1.0 - share].map(|share| timely(Params { initial_share: share, ..spec }));
    let mut posts = [0.0, 3e-6];
    // When the queue is empty again; completions that are on their way: (when, flow, round trip).
    let (mut empty_at, mut coming) = (0.0f64, Vec::<(f64, usize, f64)>::new());
    let (mut sent, end) = (0.0, millis as f64 / 1e3);
    loop {
        let flow = usize::from(posts[1] < posts[0]);
        let now = posts[flow];
        if now > end {
            break;
        }
        coming.sort_by(|a, b| a.0.total_cmp(&b.0));
        while coming.first().is_some_and(|c| c.0 <= now) {
            let (at, flow, rtt) = coming.remove(0);
            let (now, rtt) = (Span::from_secs_f64(at), Some(Span::from_secs_f64(rtt)));
            flows[flow].on_ack(&AckSample { now: Time::ZERO + now, rtt, ..ack(16_000, 0) });
        }
        empty_at = empty_at.max(now) + SEGMENT_BITS / (10.0 * GBPS);
        let rtt = 30e-6 + (empty_at - now) - SEGMENT_BITS / (10.0 * GBPS);
        coming.push((now + rtt + SEGMENT_BITS / (10.0 * GBPS), flow, rtt));
        posts[flow] = now + SEGMENT_BITS / flows[flow].rate.bps() as f64;
        sent += SEGMENT_BITS;
    }
    let [a, b] = flows.map(|c| c.rate.bps() as f64);
    ((a + b) * (a + b) / (2.0 * (a * a + b * b)), sent / end / (10.0 * GBPS))
}

#[test]
fn two_flows_at_four_to_one_converge_to_equal_shares() {
    // α and minRTT as calibrated for 30 us of base round trip (specification of TIMELY, parameters).
    let spec = Params { alpha: 0.08, min_rtt: Some(Span::from_us(30)), scale_updates: true, ..PLAIN };
    let (unfair, _) = share_of_two(spec, 0.8, 0);
    assert!(unfair < 0.74, "{unfair}"); // 1 / (2 (0.64 + 0.04))
    // Claim TIM-M4-d requires 0.95; 0.983 after 30 ms, then between 0.993 and 0.997, at 98.5 % of the link.
    for ms in [30, 100, 1000] {
        let (jain, load) = share_of_two(spec, 0.8, ms);
        assert!(jain >= 0.95 && load > 0.95, "{ms} ms: {jain}, {load}");
    }
}
