//! No default caps a setting in silence: of every pair of capacities each changes what happens while the other is
//! left at its default, or is refused.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::load;

/// 32 hosts send 64 KB to one, all at once.
const INCAST: &str = r#"
topology = { kind = "star", hosts = 33 }
run = { until = "20ms" }
[[traffic]]
kind = "incast"
fan_in = 32
receiver = 0
size = "64KB"
"#;

/// Six flows share a slow link.
const SLOW: &str = r#"
topology = { kind = "dumbbell", pairs = 6, host_rate = "1Gbps", bottleneck_rate = "100Mbps", delay = "2ms" }
run = { until = "300ms" }
[[traffic]]
kind = "flow"
src = 0
dst = 6
size = "2MB"
[[traffic]]
kind = "flow"
src = 1
dst = 7
size = "2MB"
"#;

/// A key, the settings that it needs, its values; the other key of its pair is left out.
type Pair = (&'static str, &'static str, &'static [(&'static str, &'static str)], [&'static str; 2]);

#[rustfmt::skip]
const PAIRS: &[Pair] = &[
    // Beneath `switch.buffer`.
    ("switch.shared_buffer", INCAST, &[], ["{total=\"300KB\"}", "{total=\"600KB\"}"]),
    ("switch.shared_buffer", INCAST, &[], ["{total=\"600KB\"}", "{total=\"1200KB\"}"]),
    ("switch.shared_buffer.sharing", INCAST, &[("switch.shared_buffer.total", "1MB")],
        ["{kind=\"dynamic\",alpha=1.0}", "{kind=\"dynamic\",alpha=8.0}"]),
    ("switch.inputs", INCAST, &[("switch.scheduler", "input-round-robin")], ["{memory=\"20KB\"}", "{memory=\"40KB\"}"]),
    ("switch.marking.threshold", INCAST,
        &[("switch.marking", "{kind=\"step\",threshold=\"100KB\"}"), ("transport.congestion", "dctcp")], ["100KB", "400KB"]),
    // Beneath `switch.shared_buffer`, beneath `nic.buffer`.
    ("switch.buffer", INCAST, &[("switch.shared_buffer", "{total=\"4MB\"}")], ["200KB", "400KB"]),
    ("switch.buffer", INCAST, &[], ["100KB", "400KB"]),
    ("nic.buffer", INCAST, &[("transport.initial_window", "60pkts")], ["20KB", "50KB"]),
    // Windows.
    ("transport.initial_window", SLOW, &[], ["20pkts", "40pkts"]),
    ("transport.initial_threshold", SLOW, &[], ["20pkts", "40pkts"]),
    ("transport.max_window", SLOW, &[], ["20pkts", "40pkts"]),
    ("transport.writes", SLOW, &[], ["{first=\"50KB\",chunk=\"50KB\",every=\"5ms\"}", "{first=\"50KB\",chunk=\"20KB\",every=\"5ms\"}"]),
    // Timers: little room, so that they matter.
    ("transport.rto.min", SLOW, &[("switch.buffer", "6KB"), ("transport.rto", "{kind=\"rfc6298\"}")], ["10ms", "50ms"]),
    ("transport.rto.initial", SLOW, &[("switch.buffer", "1500B"), ("transport.rto", "{kind=\"rfc6298\",min=\"1ms\"}")], ["5ms", "50ms"]),
    // Rates.
    ("topology.bottleneck_rate", SLOW, &[], ["50Mbps", "200Mbps"]),
    ("topology.host_rate", SLOW, &[], ["200Mbps", "500Mbps"]),
];

fn digest(text: &str, set: &[(String, String)]) -> Result<u64, String> {
    let scenario = load(text, "s.toml", Path::new("."), set).map_err(|errors| errors[0].to_string())?;
    let mut run = Run::new(&scenario).map_err(|e| e.to_string())?;
    while run.step(1 << 20) {}
    Ok(run.digest())
}

#[test]
fn of_every_pair_of_capacities_each_counts_while_the_other_is_left_out() {
    let mut silent = Vec::new();
    for (key, text, around, values) in PAIRS {
        let with = |value: &str| {
            let mut set: Vec<_> = around.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            set.push(((*key).to_owned(), value.to_owned()));
            digest(text, &set)
        };
        match values.map(with) {
            [Ok(one), Ok(two)] if one != two => {}
            found => silent.push(format!("{key} {values:?} with {around:?}: {found:?}")),
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn shared_memory_leaves_a_port_no_limit_but_its_share() {
    let set = |more: &[(&str, &str)]| -> Vec<(String, String)> {
        let shared = [("switch.shared_buffer", "{total=\"4MB\",sharing={kind=\"dynamic\",alpha=8.0}}")];
        shared.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    // 32 x 64 KB are 2 MB: alpha 8 lets one port have 8/9 of 4 MB.
    let plain = finish(&scenario(INCAST, Path::new("."), &set(&[])));
    assert_eq!(plain.summary()["drops"], 0);
    let message = finish(&scenario(INCAST, Path::new("."), &set(&[("switch.buffer", "unlimited")])));
    assert_eq!(plain.digest(), message.digest());
    let capped = finish(&scenario(INCAST, Path::new("."), &set(&[("switch.buffer", "500KB")])));
    assert!(capped.summary()["drops"].as_u64() > Some(0), "a limit that is written is kept");
}

#[test]
fn a_window_larger_than_the_limit_next_to_it_is_refused() {
    let refused = |key: &str, value: &str| {
        let set = [(key.to_owned(), value.to_owned())];
        digest(INCAST, &set).expect_err(value)
    };
    assert!(refused("transport.max_window", "5pkts").contains("below the initial window"));
    assert!(refused("switch.shared_buffer", "{total=\"1000B\"}").contains("cannot hold one packet"));
}

/// A receive window of four segments, whatever a controller begins with.
#[test]
fn a_small_window_can_be_written_for_every_controller() {
    let with = |controller: &str, more: &[(&str, &str)]| {
        let keys = [("transport.congestion", controller), ("transport.max_window", "4pkts")];
        let set: Vec<(String, String)> =
            keys.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        digest(INCAST, &set)
    };
    for controller in ["timely", "vivace", "nimbus", "sprout"] {
        with(controller, &[]).unwrap_or_else(|error| panic!("{controller}: {error}"));
    }
    for controller in ["bbr", "bbr3", "copa", "cubic", "newreno"] {
        let error = with(controller, &[]).expect_err(controller);
        assert!(error.contains("below the initial window"), "{controller}: {error}");
        let fits = with(controller, &[("transport.initial_window", "4pkts")]);
        fits.unwrap_or_else(|error| panic!("{controller}: {error}"));
    }
}
