//! Equal senders whose packets meet at the same instants share what being second costs.
use crate::common::*;

/// So many streams of 12 Gb/s in all, from as many hosts, into a port of 10 Gb/s with 30 KB; their losses, in
/// the order of the sources given.
fn losses(sources: &[u32], seed: u64, until: &str, ties: &str) -> Vec<i128> {
    let n = sources.len();
    let mut text = format!(
        "seed = {seed}\n[topology]\nkind = \"star\"\nhosts = {}\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
         [switch]\nbuffer = \"30KB\"\n[run]\nuntil = \"{until}\"\nties = \"{ties}\"\n",
        n + 1
    );
    for src in sources {
        text.push_str(&format!(
            "[[traffic]]\nkind = \"udp\"\nrate = \"{}Mbps\"\nsrc = {src}\ndst = {n}\n",
            12_000 / n
        ));
    }
    let run = run(&text);
    let summary = run.summary();
    let contested = summary["contested_ties"].as_u64().expect("a count");
    let packets: i128 = column(&run, "flows", "packets").iter().sum();
    assert!(contested > packets as u64 / 3, "{contested} of {packets} packets met another");
    let (src, drops) = (column(&run, "flows", "src"), column(&run, "flows", "data_drops"));
    let of = |source: &u32| (0..n).find(|&flow| src[flow] == i128::from(*source)).map(|flow| drops[flow]);
    sources.iter().map(|source| of(source).expect("a flow")).collect()
}

#[test]
fn streams_that_meet_in_every_packet_share_the_loss() {
    for n in [2, 3, 5] {
        let sources: Vec<u32> = (0..n).collect();
        let losses = losses(&sources, 1, "20ms", "drawn");
        let share = losses.iter().sum::<i128>() as f64 / f64::from(n);
        assert!(share > 600.0, "{losses:?}");
        // Two differ by less than a twentieth; of several, each draw leaves more to chance.
        let bound = if n == 2 { 0.05 } else { 0.1 };
        assert!(losses.iter().all(|loss| (*loss as f64 / share - 1.0).abs() < bound), "{losses:?}");
    }
}

#[test]
fn by_number_the_first_loses_nothing() {
    let losses = losses(&[0, 1], 1, "5ms", "by-number");
    assert!(losses[0] == 0 && losses[1] > 600, "{losses:?}");
}

/// Which of two symmetric hosts a stream comes from makes no difference to what it may expect.
#[test]
fn exchanging_the_numbers_of_two_hosts_changes_no_distribution() {
    let of_the_first = |sources: &[u32]| -> Vec<f64> {
        (1..=60).map(|seed| losses(sources, seed, "500us", "drawn")[0] as f64).collect()
    };
    let moments = |sample: &[f64]| {
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / n;
        (mean, sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n)
    };
    let ((a, va), (b, vb)) = (moments(&of_the_first(&[0, 2, 1])), moments(&of_the_first(&[2, 0, 1])));
    assert!(va > 0.0 && vb > 0.0, "seeds differ");
    assert!((a - b).abs() < 3.0 * (va + vb).sqrt(), "{a} and {b}, variances of the means {va} and {vb}");
}
