//! Sections of traffic: their transports, their names, what results say of each.

use crate::common::*;
use std::path::Path;
use thalweg_lab::{ColumnData, Run};
use thalweg_scenario::{Scenario, explain, load};

const HEAD: &str = r#"
topology = { kind = "dumbbell", pairs = 3, host_rate = "1Gbps", bottleneck_rate = "50Mbps", delay = "5ms" }
switch = { buffer = "2bdp" }
run = { until = "2s" }
"#;

fn endless(pair: usize, more: &str) -> String {
    format!("[[traffic]]\nkind = \"backlogged\"\nsrc = {pair}\ndst = {}\n{more}\n", pair + 3)
}

fn three(one: &str, two: &str, three: &str) -> String {
    [HEAD, &endless(0, one), &endless(1, two), &endless(2, three)].concat()
}

fn plain(text: &str) -> Scenario {
    scenario(text, Path::new("."), &[])
}

fn errors(text: &str, set: &[(String, String)]) -> Vec<String> {
    load(text, "s.toml", Path::new("."), set).expect_err("refused").iter().map(ToString::to_string).collect()
}

fn words(run: &Run, name: &str) -> Vec<String> {
    let tables = run.tables();
    let column = tables[0].columns.iter().find(|c| c.name == name).expect("a column");
    let ColumnData::Text(words) = &column.data else { panic!("words") };
    words.clone()
}

fn names(run: &Run) -> Vec<String> {
    let summary = run.summary();
    let groups = summary["groups"].as_array().expect("groups");
    groups.iter().map(|g| g["name"].as_str().expect("a name").to_owned()).collect()
}

const INLINE: [&str; 3] = [
    "transport = { congestion = \"cubic\" }",
    "transport = { congestion = \"bbr\" }",
    "transport = { congestion = \"copa\" }",
];

#[test]
fn a_transport_written_in_a_section_is_the_one_written_under_a_name() {
    let inline = plain(&three(INLINE[0], INLINE[1], INLINE[2]));
    let mut named = three("transport = \"cubic\"", "transport = \"bbr\"", "transport = \"copa\"");
    for name in ["cubic", "bbr", "copa"] {
        named += &format!("[transports.{name}]\ncongestion = \"{name}\"\n");
    }
    assert_eq!(finish(&inline).digest(), finish(&plain(&named)).digest());
    let again = plain(&inline.to_toml());
    assert!(again == inline, "{}", inline.to_toml());
    // A name alone stands for the same.
    let short = plain(&three("transport = \"cubic\"", "transport = \"bbr\"", "transport = \"copa\""));
    assert!(short == inline);
}

#[test]
fn what_a_section_leaves_out_is_as_the_main_transport_has_it() {
    let main = "[transport]\ninitial_window = \"4pkts\"\nmss = \"1000B\"\ncongestion = { kind = \"cubic\", beta = 0.5 }\n";
    let text = three(INLINE[0], INLINE[1], "") + main;
    let json = plain(&text).to_json();
    assert_eq!(json["transports"]["bbr"]["mss"], "1KB");
    assert_eq!(json["transports"]["cubic"]["initial_window"], "4pkts");
    assert_eq!(json["transports"]["cubic"]["congestion"]["beta"], 0.5, "the same kind: its parameters, too");
    assert_eq!(json["transports"]["bbr"]["congestion"]["kind"], "bbr");
    // Only sections that bring their own: the main transport says what they share, which is no mistake.
    let all = plain(&(three(INLINE[0], INLINE[1], INLINE[2]) + main));
    assert_eq!(all.to_json()["transports"]["copa"]["mss"], "1KB");
    assert!(plain(&all.to_toml()) == all, "{}", all.to_toml());
}

#[test]
fn what_no_section_can_use_of_the_main_transport_is_refused_where_it_is_written() {
    // Copa has no slow start of TCP's: its threshold means nothing there, but it does to CUBIC.
    let main = "[transport]\ninitial_threshold = \"20pkts\"\n";
    let both = plain(&(three(INLINE[0], INLINE[2], INLINE[2]) + main));
    assert_eq!(both.to_json()["transports"]["cubic"]["initial_threshold"], "20pkts");
    assert_eq!(both.to_json()["transports"]["copa"]["initial_threshold"], "unlimited");
    assert!(plain(&both.to_toml()) == both);
    let none = errors(&(three(INLINE[2], INLINE[2], INLINE[2]) + main), &[]);
    assert!(none[0].contains("`transport.initial_threshold`: it has no effect"), "{none:?}");
}

#[test]
fn what_is_wrong_in_a_section_is_reported_at_its_own_key() {
    let wrong = errors(&three("transport = { congestion = \"bbbr\" }", INLINE[1], INLINE[2]), &[]);
    assert!(
        wrong[0].starts_with("s.toml:9: `traffic.0.transport.congestion`: `bbbr` is not a choice"),
        "{wrong:?}"
    );
    assert!(wrong[0].contains("--import"), "{wrong:?}");
    let unknown = errors(&three("transport = \"bbbr\"", INLINE[1], INLINE[2]), &[]);
    assert!(
        unknown[0].contains("`traffic.0.transport`") && unknown[0].contains("did you mean `bbr`"),
        "{unknown:?}"
    );
    let udp = HEAD.to_owned()
        + "[[traffic]]\nkind = \"udp\"\nsrc = 0\ndst = 3\nrate = \"1Mbps\"\ntransport = { congestion = \"bbr\" }\n";
    assert!(errors(&udp, &[])[0].contains("brings its own transport"));
}

#[test]
fn a_sweep_over_a_sections_transport_leaves_the_others_unused_and_is_no_mistake() {
    let mut text = three("transport = \"a\"", "transport = \"b\"", "transport = \"c\"");
    for (name, congestion) in [("a", "cubic"), ("b", "bbr"), ("c", "copa")] {
        text += &format!("[transports.{name}]\ncongestion = \"{congestion}\"\n");
    }
    for choice in ["a", "b", "c", "cubic", "newreno", "{congestion=\"vegas\"}"] {
        let s = scenario(&text, Path::new("."), &set(&[("traffic.2.transport", choice)]));
        assert!(plain(&s.to_toml()) == s, "{choice}: {}", s.to_toml());
    }
    let refined = scenario(&text, Path::new("."), &set(&[("traffic.2.transport.mss", "1000B")]));
    let json = refined.to_json();
    let name = json["traffic"][2]["transport"].as_str().expect("a name");
    assert_eq!(
        (&json["transports"][name]["mss"], &json["transports"][name]["congestion"]["kind"]),
        (&"1KB".into(), &"copa".into())
    );
    // What the file itself leaves unused is a mistake of the file's.
    let spare = text + "[transports.d]\ncongestion = \"vegas\"\n";
    assert!(errors(&spare, &[])[0].contains("no traffic uses this transport"));
}

#[test]
fn sections_are_called_by_name_by_transport_or_by_kind() {
    let run = finish(&plain(&three("name = \"BBR\"\ntransport = \"bbr\"", INLINE[0], "")));
    assert_eq!(names(&run), ["BBR", "cubic", "newreno"]);
    assert_eq!(words(&run, "section"), ["BBR", "cubic", "newreno"]);
    assert_eq!(words(&run, "controller"), ["bbr", "cubic", "newreno"]);
    let alike = finish(&plain(&three("", "", "name = \"mine\"")));
    assert_eq!(names(&alike), ["backlogged-1", "backlogged-2", "mine"]);
    let twice = errors(&three("name = \"x\"", "name = \"x\"", ""), &[]);
    assert!(twice[0].contains("`traffic.1.name`: traffic.0 has the name `x`, too"), "{twice:?}");
    assert!(errors(&three("name = \"\"", "", ""), &[])[0].contains("it is empty"));
}

#[test]
fn the_throughput_of_each_section_adds_up_to_that_of_all() {
    let run = finish(&plain(&three(INLINE[0], INLINE[1], INLINE[2])));
    let summary = run.summary();
    let of = |g: usize| summary["groups"][g]["endless"]["sum_gbps"].as_f64().expect("a sum");
    let all = summary["endless"]["sum_gbps"].as_f64().expect("a sum");
    assert!((of(0) + of(1) + of(2) - all).abs() < 1e-9 && all > 0.03, "{all}");
}

#[test]
fn what_flows_without_end_do_before_the_measured_window_does_not_count() {
    let text = three("", "", "");
    let of = |more: &[(&str, &str)]| {
        let run = finish(&scenario(&text, Path::new("."), &set(more)));
        let whole = run.summary()["endless"].clone();
        let delivered = column(&run, "flows", "delivered");
        (whole["sum_gbps"].as_f64().expect("a sum"), delivered.iter().sum::<i128>())
    };
    let (all, bytes) = of(&[]);
    // Two seconds; what was delivered by the middle is that of a run that ends there.
    let (_, half) = of(&[("run.until", "1s")]);
    let (late, same) = of(&[("measure.from", "1s")]);
    let (early, _) = of(&[("measure.until", "1s")]);
    assert_eq!(bytes, same, "looking on changes nothing");
    assert!((all - bytes as f64 * 8e-9 / 2.0).abs() < 1e-12);
    assert!((late - (bytes - half) as f64 * 8e-9).abs() < 1e-12, "{late}");
    assert!((early - half as f64 * 8e-9).abs() < 1e-12, "{early}");
    let checked = of(&[("measure.from", "1s"), ("run.check", "true")]);
    assert_eq!(checked, (late, bytes));
}

#[test]
fn a_run_that_is_cut_and_resumed_keeps_its_window() {
    let s = scenario(
        &three("", "", ""),
        Path::new("."),
        &set(&[("measure.from", "500ms"), ("measure.until", "1500ms")]),
    );
    let straight = finish(&s);
    let mut run = Run::new(&s).expect("a network");
    while run.step(5_000) {
        run = Run::load(&run.save()).expect("a saved run");
    }
    assert_eq!(run.summary()["endless"], straight.summary()["endless"]);
}

#[test]
fn both_ways_to_write_a_sections_transport_are_explained() {
    let message = explain("traffic.0.transport").expect("a key");
    assert!(message.contains("[transports]") && message.contains("congestion = \"bbr\""), "{message}");
    let first = |key: &str| explain(key).and_then(|text| text.lines().next().map(str::to_owned));
    assert_eq!(first("traffic.0.transport.mss"), first("transport.mss"));
}

#[test]
fn missing_values_are_nulls() {
    let text = three("until = \"100ms\"", "", "start = \"1990ms\"")
        + "[measure]\ncontrollers = { every = \"100ms\" }\n";
    let run = finish(&plain(&text));
    for table in run.tables() {
        for c in &table.columns {
            match &c.data {
                ColumnData::U64(v) => {
                    assert!(v.iter().all(|x| *x < u64::MAX / 2), "{}.{}", table.name, c.name)
                }
                ColumnData::F64(v) => assert!(v.iter().all(|x| x.is_finite()), "{}.{}", table.name, c.name),
                _ => {}
            }
        }
    }
    assert_eq!(column(&run, "flows", "size"), [-1, -1, -1], "-1: null");
    assert_eq!(column(&run, "controllers", "srtt_ps")[0], -1, "before the first sample");
    assert!(column(&run, "controllers", "threshold").contains(&-1));
}
