//! Windows and queues in steady state against the fluid models of DCTCP and TCP.
use crate::common::*;

/// Samples of one column of a series, from a time on: (time in us, value).
fn series(run: &thalweg_lab::Run, table: &str, name: &str, from_us: i128) -> Vec<(f64, f64)> {
    let (at, value) = (column(run, table, "time_ps"), column(run, table, name));
    let later = at.iter().zip(value).filter(|(t, _)| **t >= from_us * 1_000_000);
    later.map(|(t, v)| (*t as f64 * 1e-6, v as f64)).collect()
}

/// Peaks of a sawtooth: its largest values between two crossings of the middle. Also their mean distance.
fn sawtooth(samples: &[(f64, f64)]) -> (f64, f64, f64) {
    let high = samples.iter().map(|s| s.1).fold(0.0, f64::max);
    let low = samples.iter().map(|s| s.1).fold(f64::MAX, f64::min);
    let middle = f64::midpoint(high, low);
    let (mut peaks, mut valleys, mut up) = (Vec::new(), Vec::new(), false);
    let mut extreme = samples[0];
    for s in samples {
        let is_up = if up { s.1 > middle - (high - low) / 6.0 } else { s.1 > middle + (high - low) / 6.0 };
        if is_up != up {
            if up {
                peaks.push(extreme)
            } else {
                valleys.push(extreme)
            }
            (up, extreme) = (is_up, *s);
        }
        if (up && s.1 > extreme.1) || (!up && s.1 < extreme.1) {
            extreme = *s;
        }
    }
    let mean = |v: &[(f64, f64)]| v.iter().map(|p| p.1).sum::<f64>() / v.len() as f64;
    let (peaks, valleys) = (&peaks[1..], &valleys[1..]);
    assert!(peaks.len() > 10, "{} teeth", peaks.len());
    let period = (peaks[peaks.len() - 1].0 - peaks[0].0) / (peaks.len() - 1) as f64;
    (mean(peaks), mean(valleys), period)
}

/// N synchronised flows: A = ½ √(2 N (C·RTT + K)), Q_max = K + N, Q_min = Q_max − A, a period of A/N round trips
/// (Alizadeh et al., SIGCOMM 2010, §3.3, equations 8 to 11).
#[test]
fn dctcp_s_queue_swings_around_k_by_its_model() {
    for (flows, threshold) in [(1u32, 40.0), (2, 40.0), (10, 60.0)] {
        let run = run(&format!(
            "[topology]\nkind = \"dumbbell\"\npairs = {flows}\nhost_rate = \"100Gbps\"\nbottleneck_rate = \"10Gbps\"\nhost_delay = \"10us\"\ndelay = \"29us\"\n\
             [switch]\nbuffer = \"unlimited\"\nmarking = {{ kind = \"step\", threshold = \"{threshold}pkts\" }}\n[nic]\nmarking = \"none\"\n\
             [transport]\ncongestion = {{ kind = \"dctcp\", growth = \"always\" }}\n\
             {}[measure]\nqueues = {{ every = \"2us\", ports = [{}] }}\n[run]\nuntil = \"80ms\"\n",
            (0..flows)
                .map(|f| format!("[[traffic]]\nkind = \"backlogged\"\nsrc = {f}\ndst = {}\n", f + flows))
                .collect::<String>(),
            4 * flows
        ));
        let n = f64::from(flows);
        let rtt = run.base_rtt().ps() as f64 * 1e-6;
        let in_flight = rtt * 1e-6 * 10e9 / 12_000.0;
        let amplitude = 0.5 * (2.0 * n * (in_flight + threshold)).sqrt();
        let (high, low) = (threshold + n, threshold + n - amplitude);
        let loop_us = (in_flight + threshold) * 1.2;
        let period = amplitude / n * loop_us;
        let samples = series(&run, "queues", "packets", 20_000);
        let found = sawtooth(&samples);
        let mean = samples.iter().map(|s| s.1).sum::<f64>() / samples.len() as f64;
        let what = format!("N = {flows}: found {found:?}, mean {mean}; model {high}, {low}, {period}");
        println!("{what}");
        // The model is a fluid: windows are whole packets and their sum need not peak with the last one (±1), the
        // queue is sampled without the packet being transmitted (−1), flows are not quite in phase.
        assert!((found.0 - high).abs() < 1.5, "{what}");
        assert!((mean - f64::midpoint(high, low)).abs() < 1.0, "{what}");
        if flows <= 2 {
            assert!((found.1 - low).abs() < 1.5, "{what}");
            // A tooth lasts a whole number of round trips, about seven of them.
            assert!((found.2 / period - 1.0).abs() < 1.0 / 7.0, "{what}");
        } else {
            // Ten flows fall out of step: the queue swings less than the model's, never more (the paper's §3.3).
            assert!(found.1 > low - 1.0 && found.1 < high, "{what}");
        }
    }
}

/// One flow and a buffer of one bandwidth-delay product: the window halves at each loss and the link never idles.
#[test]
fn reno_s_window_swings_between_half_and_full_and_the_link_never_idles() {
    // 1 Gb/s, 1500 B: 12 us per packet; a round trip of about 600 us is 50 packets.
    let run = run(
        "[topology]\nkind = \"dumbbell\"\npairs = 1\nhost_rate = \"10Gbps\"\nbottleneck_rate = \"1Gbps\"\nhost_delay = \"50us\"\ndelay = \"192us\"\n\
         [switch]\nbuffer = \"51pkts\"\n[nic]\nbuffer = \"unlimited\"\n[transport]\nrto = { kind = \"rfc6298\", min = \"10ms\", initial = \"10ms\" }\n\
         [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n\
         [measure]\ncontrollers = { every = \"20us\" }\nlinks = { every = \"20us\", ports = [4] }\nqueues = { every = \"20us\", ports = [4] }\n[run]\nuntil = \"1s\"\n",
    );
    let rtt = run.base_rtt().ps() as f64 * 1e-6;
    let window: Vec<(f64, f64)> =
        series(&run, "controllers", "in_flight", 100_000).into_iter().map(|(t, w)| (t, w / 1460.0)).collect();
    let found = sawtooth(&window);
    let bytes = series(&run, "links", "bytes", 100_000);
    let (first, last) = (bytes[0], bytes[bytes.len() - 1]);
    let used = (last.1 - first.1) * 8.0 / (last.0 - first.0) / 1e3;
    let what = format!("{found:?}, utilisation {used}, round trip {rtt} us");
    println!("{what}");
    // What fits: the pipe and the buffer, a packet more being transmitted.
    let pipe = rtt / 12.0;
    assert!((found.0 - (pipe + 51.0)).abs() < 2.0, "{what}");
    assert!((found.1 - f64::midpoint(0.0, pipe + 51.0)).abs() < 2.0, "{what}");
    // One packet more per round trip, each as long as its window needs at the bottleneck; then a round trip of repair.
    let rounds: f64 = (0..51).map(|i| (pipe + f64::from(i)) * 12.0).sum();
    assert!((found.2 / (rounds + 2.0 * rtt) - 1.0).abs() < 0.03, "{what}, {rounds}");
    assert!((used - 1.0).abs() < 1e-3, "{what}");
}

/// Only the way of the ACKs is silent for 140 ms, and a tail probe leaves meanwhile: nothing was lost, so the windows
/// of controllers that infer losses from what is missing of the flight stand (draft-ietf-ccwg-bbr-06 §5.5.10: a loss is
/// what loss detection has marked as lost).
#[test]
fn a_probe_for_nothing_is_no_loss() {
    for controller in ["bbr", "bbr3"] {
        let text = format!(
            r#"
switch = {{ buffer = "1000pkts" }}
nic = {{ buffer = "unlimited" }}
measure = {{ controllers = {{ every = "10ms" }} }}
run = {{ until = "11s" }}
[topology]
kind = "dumbbell"
pairs = 1
host_rate = "1Gbps"
bottleneck_rate = "20Mbps"
delay = "20ms"
host_delay = "0ps"
[transport]
congestion = "{controller}"
rto = {{ kind = "rfc6298", min = "1s" }}
loss = {{ kind = "rack", tail_probes = true }}
writes = {{ first = "4MB", chunk = "29200B", every = "500ms" }}
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "6MB"
[[link]]
which = {{ kind = "between", ends = ["switch0", "switch1"] }}
direction = "backward"
[link.transmitter]
kind = "stepped"
steps = [{{ at = "0s", rate = "20Mbps" }}, {{ at = "10010ms", rate = "0bps" }}, {{ at = "10150ms", rate = "20Mbps" }}]
"#
        );
        let run = run(&text);
        assert!(column(&run, "flows", "retransmissions")[0] > 0 && column(&run, "flows", "drops")[0] == 0);
        let windows = series(&run, "controllers", "window", 10_000_000);
        let first = windows[0].1;
        assert!(windows.iter().all(|(_, window)| *window >= first), "{controller}: {windows:?}");
    }
}

/// A host's own link is a square wave of 100 and 10 Mb/s: what it may hand over is bounded by the 100.
#[test]
fn paces_may_be_as_high_as_the_hosts_link_ever_is() {
    for controller in ["bbr", "copa", "vivace"] {
        let text = format!(
            r#"
topology = {{ kind = "pair", delay = "10ms" }}
nic = {{ buffer = "200pkts" }}
transport = {{ congestion = "{controller}" }}
run = {{ until = "4s" }}
[[traffic]]
kind = "backlogged"
src = 0
dst = 1
[[link]]
which = "all"
direction = "forward"
[link.transmitter]
kind = "stepped"
steps = [{{ at = "0s", rate = "100Mbps" }}, {{ at = "500ms", rate = "10Mbps" }}]
period = "1s"
[measure]
controllers = {{ every = "10ms" }}
"#
        );
        let paces = column(&run(&text), "controllers", "pace");
        assert!(paces.iter().any(|pace| *pace > 60_000_000), "{controller}: {:?}", paces.iter().max());
    }
}
