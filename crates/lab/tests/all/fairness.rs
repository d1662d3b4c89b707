//! Long flows share bottlenecks max–min fairly under fair queueing.
use crate::common::*;

/// Goodput of every flow, bits per second, after the first fifth of the run. (What has arrived behind a hole is not
/// delivered yet: at most a window, 0.3 % of what a flow gets in this time.)
fn rates(topology: &str, rest: &str, traffic: &[(u32, u32)], kind: &str) -> Vec<f64> {
    let mut text = format!(
        "[topology]\n{topology}\n{rest}\n[measure]\ncontrollers = {{ every = \"10ms\" }}\n[run]\nuntil = \"500ms\"\n"
    );
    for (src, dst) in traffic {
        text.push_str(&format!("[[traffic]]\nsrc = {src}\ndst = {dst}\n{kind}\n"));
    }
    let run = run(&text);
    let (at, flow) = (column(&run, "controllers", "time_ps"), column(&run, "controllers", "flow"));
    let delivered = column(&run, "controllers", "delivered");
    let value = |f: usize, ms: i128| {
        let i = (0..at.len()).find(|i| flow[*i] == f as i128 && at[*i] == ms * 1_000_000_000);
        delivered[i.unwrap_or_else(|| panic!("flow {f} at {ms} ms"))] as f64
    };
    (0..traffic.len()).map(|f| (value(f, 500) - value(f, 100)) * 8.0 / 0.4).collect()
}

#[track_caller]
fn close(rates: &[f64], shares: &[f64], capacity: f64, what: &str) {
    for (rate, share) in rates.iter().zip(shares) {
        let expected = share * capacity * 1460.0 / 1500.0;
        assert!((rate / expected - 1.0).abs() < 0.01, "{what}: {rates:?} instead of {shares:?}");
    }
}

const BACKLOGGED: &str = "kind = \"backlogged\"";
const OVERLOAD: &str = "kind = \"udp\"\nrate = \"3Gbps\"";
/// Hosts 0 → 1 cross both bottlenecks of a parking lot; 2 → 3 the first (twice); 4 → 5 the second.
const LOT: &[(u32, u32)] = &[(0, 1), (2, 3), (2, 3), (4, 5)];
const LOT_SHARES: &[f64] = &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0];
const PARKING: &str = "kind = \"parking-lot\"\nbottlenecks = 2\nhost_rate = \"10Gbps\"\nbottleneck_rate = \"1Gbps\"\ndelay = \"5us\"";
const DUMBBELL: &str = "kind = \"dumbbell\"\npairs = 4\nhost_rate = \"10Gbps\"\nbottleneck_rate = \"1Gbps\"";

#[test]
fn datagrams_beyond_capacity_share_max_min_fairly() {
    for scheduler in ["fq", "drr"] {
        let rest = format!("[switch]\nscheduler = \"{scheduler}\"\nbuffer = \"200KB\"");
        let four: &[(u32, u32)] = &[(0, 4), (1, 5), (2, 6), (3, 7)];
        close(&rates(DUMBBELL, &rest, four, OVERLOAD), &[0.25; 4], 1e9, scheduler);
        close(&rates(PARKING, &rest, LOT, OVERLOAD), LOT_SHARES, 1e9, scheduler);
    }
}

#[test]
fn backlogged_tcp_shares_max_min_fairly() {
    for scheduler in ["fq", "drr"] {
        for (congestion, marking) in
            [("newreno", ""), ("dctcp", "marking = { kind = \"step\", threshold = \"60pkts\" }\n")]
        {
            let rest = format!(
                "[switch]\nscheduler = \"{scheduler}\"\nbuffer = \"400KB\"\n{marking}[transport]\ncongestion = \"{congestion}\"\n\
                 rto = {{ kind = \"rfc6298\", min = \"10ms\", initial = \"10ms\" }}"
            );
            let what = format!("{scheduler}, {congestion}");
            let four: &[(u32, u32)] = &[(0, 4), (1, 5), (2, 6), (3, 7)];
            close(&rates(DUMBBELL, &rest, four, BACKLOGGED), &[0.25; 4], 1e9, &what);
            close(&rates(PARKING, &rest, LOT, BACKLOGGED), LOT_SHARES, 1e9, &what);
        }
    }
}

/// The control: behind FIFO queues nothing protects the flow that crosses more bottlenecks.
#[test]
fn without_fair_queueing_they_do_not() {
    let rest = "[switch]\nscheduler = \"fifo\"\nbuffer = \"200KB\"";
    let rates = rates(PARKING, rest, LOT, OVERLOAD);
    assert!(rates[0] < 0.3e9, "{rates:?}");
}
