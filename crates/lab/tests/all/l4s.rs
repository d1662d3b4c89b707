//! L4S from outside: what RFC 9332 promises of DualPI2, and what the laws of both kinds of window make of a
//! probability.
use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::load;

const CLASSIC: &str = "[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 3\n";
const L4S: &str = "[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\ntransport = \"l4s\"\n";
const BOTH: &str = "[transport]\ncongestion = \"cubic\"\n[transports.l4s]\ncongestion = \"prague\"";
const PRAGUE: &str = "[transport]\ncongestion = \"prague\"";
const DUALPI2: &str = "scheduler = \"dualpi2\"";

/// Hosts of 1 Gb/s, 20 ms there and back; the first third of a run is left out.
fn dumbbell(rate: &str, switch: &str, transports: &str, traffic: &str, seconds: u32) -> String {
    format!(
        "[topology]\nkind = \"dumbbell\"\npairs = 2\nhost_rate = \"1Gbps\"\nbottleneck_rate = \"{rate}\"\n\
         delay = \"10ms\"\nhost_delay = \"1us\"\n[switch]\nbuffer = \"1250KB\"\n{switch}\n[nic]\nscheduler = \"fifo\"\n\
         buffer = \"unlimited\"\nmarking = \"none\"\n{transports}\n{traffic}[measure]\nfrom = \"{}s\"\n\
         round_trips = true\ncontrollers = {{ every = \"10ms\" }}\n\
         [run]\nuntil = \"{seconds}s\"\nstop_when_done = false\n",
        seconds / 3
    )
}

/// What a flow's samples have in a column, after the first third.
fn samples(run: &Run, name: &str, flow: i128, seconds: u32) -> Vec<i128> {
    let (at, flows) = (column(run, "controllers", "time_ps"), column(run, "controllers", "flow"));
    let values = column(run, "controllers", name);
    let from = i128::from(seconds / 3) * 1_000_000_000_000;
    (0..at.len()).filter(|i| flows[*i] == flow && at[*i] >= from).map(|i| values[i]).collect()
}

/// Goodput, bits per second.
fn rate(run: &Run, flow: i128, seconds: u32) -> f64 {
    let delivered = samples(run, "delivered", flow, seconds);
    let bytes = delivered[delivered.len() - 1] - delivered[0];
    bytes as f64 * 8.0 / (0.01 * (delivered.len() - 1) as f64)
}

/// Mean window, segments.
fn window(run: &Run, flow: i128, seconds: u32) -> f64 {
    let windows = samples(run, "window", flow, seconds);
    windows.iter().sum::<i128>() as f64 / windows.len() as f64 / 1460.0
}

/// A quantile of a flow's queueing delay, milliseconds: of its round trips, less 20 ms and the times on the wire at
/// 40 Mb/s (a full packet of 300 us, twice 12 us at its ends, an ACK of 8 us).
fn wait(run: &Run, flow: i128, quantile: f64) -> f64 {
    let (flows, rtts) = (column(run, "round_trips", "flow"), column(run, "round_trips", "rtt_ps"));
    let mut of: Vec<i128> = (0..rtts.len()).filter(|i| flows[*i] == flow).map(|i| rtts[i]).collect();
    of.sort_unstable();
    of[((of.len() - 1) as f64 * quantile) as usize] as f64 * 1e-9 - 20.0 - 0.336
}

/// RFC 9332 §1, §2: about as much for each flow of either kind, though only one of them waits.
#[test]
fn prague_and_cubic_share_a_link_and_only_cubic_waits() {
    let run = run(&dumbbell("40Mbps", DUALPI2, BOTH, &format!("{L4S}{CLASSIC}"), 60));
    let (l4s, classic) = (rate(&run, 0, 60), rate(&run, 1, 60));
    let ratio = l4s / classic;
    assert!((0.5..2.0).contains(&ratio), "{l4s} : {classic} = {ratio}");
    let sum = (l4s + classic) / 40e6 * 1500.0 / 1460.0;
    assert!(sum > 0.97, "{sum} of the link");
    let (low, high) = (wait(&run, 0, 0.5), wait(&run, 1, 0.5));
    assert!(low < 1.0, "L4S waits for {low} ms");
    assert!((10.0..20.0).contains(&high), "Classic waits for {high} ms");
}

/// The control: in one queue, where both are marked alike, Prague leaves CUBIC next to nothing, or both wait.
#[test]
fn in_one_queue_they_do_not() {
    let text = dumbbell(
        "40Mbps",
        "marking = \"pie\"",
        &BOTH.replace("\"cubic\"", "\"cubic\"\necn = \"classic\""),
        &format!("{L4S}{CLASSIC}"),
        60,
    );
    let run = run(&text);
    let ratio = rate(&run, 0, 60) / rate(&run, 1, 60);
    let low = wait(&run, 0, 0.5);
    assert!(ratio > 3.0 && low > 5.0, "{ratio} {low}");
}

#[test]
fn prague_alone_fills_the_link_with_less_than_a_millisecond_of_queue() {
    let run = run(&dumbbell("40Mbps", DUALPI2, PRAGUE, CLASSIC, 30));
    let used = rate(&run, 0, 30) / 40e6 * 1500.0 / 1460.0;
    assert!(used > 0.95, "{used}");
    let (half, most) = (wait(&run, 0, 0.5), wait(&run, 0, 0.99));
    assert!(half < 1.0 && most < 2.5, "{half} {most}");
    assert_eq!(column(&run, "ports", "dropped").iter().sum::<i128>(), 0);
}

#[test]
fn cubic_alone_is_kept_at_the_target_by_drops_or_by_marks() {
    for ecn in ["off", "classic"] {
        let cubic = format!("[transport]\ncongestion = \"cubic\"\necn = \"{ecn}\"");
        let run = run(&dumbbell("40Mbps", DUALPI2, &cubic, CLASSIC, 45));
        let (half, used) = (wait(&run, 0, 0.5), rate(&run, 0, 45) / 40e6 * 1500.0 / 1460.0);
        assert!((10.0..20.0).contains(&half) && used > 0.9, "{ecn}: {half} ms, {used}");
        let sum = |name| column(&run, "ports", name).iter().sum::<i128>();
        assert_eq!((sum("dropped") > 0, sum("marked") > 0), (ecn == "off", ecn == "classic"), "{ecn}");
    }
}

/// PI2 §3: a window of Reno is 1.22 / √p, so that a drop of p'² is to it what a mark of k p' is to one of 1 / p.
#[test]
fn under_a_given_probability_renos_window_goes_by_its_root_and_pragues_by_itself() {
    // Both switches mark: with half of it, nearly.
    let under = |transport: &str, p: f64| {
        let marking =
            format!("marking = {{ kind = \"random-ecn\", probability = {} }}", 1.0 - f64::sqrt(1.0 - p));
        let run = run(&dumbbell("1Gbps", &marking, &format!("[transport]\n{transport}"), CLASSIC, 60));
        window(&run, 0, 60)
    };
    for p in [0.002, 0.008] {
        let (mean, expected) = (under("congestion = \"newreno\"\necn = \"classic\"", p), 1.22 / f64::sqrt(p));
        assert!((mean / expected - 1.0).abs() < 0.1, "Reno at {p}: {mean} against {expected}");
    }
    // Prague: α ≈ p. From one cut to the next a round trip passes, and then 1/p packets until the mark that cuts:
    // 1 + 1/c round trips with W = c / p, in which the window grows by (1 − p) (1 + 1/c) and then loses c / 2. So
    // c² / 2 = c + 1.
    for p in [0.04, 0.08] {
        let prague = "congestion = { kind = \"prague\", rtt_scaling = \"none\" }";
        let (mean, expected) = (under(prague, p), (1.0 + f64::sqrt(3.0)) * (1.0 - p) / p);
        assert!((mean / expected - 1.0).abs() < 0.1, "Prague at {p}: {mean} against {expected}");
    }
}

/// Every stage and order that marks takes ECT(1) for ECN-capable.
#[test]
fn all_that_mark_mark_prague_and_drop_nothing_of_it() {
    for switch in [
        "marking = { kind = \"step\", threshold = \"20pkts\" }",
        "marking = \"codel\"",
        "marking = { kind = \"red\", min = 10, max = 60 }",
        "marking = { kind = \"red-ecn\", min = \"15KB\", max = \"90KB\" }",
        "marking = { kind = \"pie\", burst = \"0ms\", ecn_threshold = 1.0 }",
        "scheduler = \"fq-codel\"",
        "scheduler = { kind = \"fq-codel\", ce_threshold = \"1ms\" }",
    ] {
        // Slow start ends where the link is full: it would overflow the buffer before PIE has a probability.
        let transport = format!("{PRAGUE}\ninitial_threshold = \"70pkts\"");
        let run = run(&dumbbell("40Mbps", switch, &transport, CLASSIC, 9));
        let sum = |name| column(&run, "ports", name).iter().sum::<i128>();
        assert!(sum("marked") > 20 && sum("dropped") == 0, "{switch}: {} {}", sum("marked"), sum("dropped"));
    }
}

#[test]
fn where_ect1_would_mean_two_things_the_scenario_is_refused() {
    let refused = |switch: &str, transports: &str| {
        let text = dumbbell("40Mbps", switch, transports, &format!("{L4S}{CLASSIC}"), 9);
        load(&text, "s.toml", Path::new("."), &[]).map(|_| ()).expect_err(switch)[0].to_string()
    };
    let abc = "marking = { kind = \"abc\", encoding = \"full\" }";
    let both = "[transport]\ncongestion = { kind = \"abc\", encoding = \"full\" }\n[transports.l4s]\ncongestion = \"prague\"";
    assert!(refused(abc, both).contains("reads as ABC's accelerate"), "{}", refused(abc, both));
    let full = "[transport]\ncongestion = \"cubic\"\n[transports.l4s]\ncongestion = { kind = \"abc\", encoding = \"full\" }";
    let dual = format!("{DUALPI2}\n{abc}");
    assert!(refused(&dual, full).contains("reads ECT(1) as L4S"), "{}", refused(&dual, full));
    let classic =
        "[transport]\ncongestion = \"cubic\"\n[transports.l4s]\ncongestion = \"prague\"\necn = \"classic\"";
    assert!(refused(DUALPI2, classic).contains("exact echo"), "{}", refused(DUALPI2, classic));
}
