//! Controllers over every transport that can carry them.

use std::path::Path;
use thalweg_lab::Run;
use thalweg_machines::congestion::{ControllerSpec, FeedbackKind, Messages};
use thalweg_scenario::{catalogue, explain, load};
use thalweg_wire::ExplicitKind;

/// Three senders, one receiver, marks, routers and congestion points for controllers that need them; a
/// transport and a controller.
fn incast(transport: &str, spec: &ControllerSpec) -> Result<Run, String> {
    let controller = spec.key();
    let needs = spec.needs();
    let marking = match (needs.feedback, needs.marker) {
        (FeedbackKind::Explicit(ExplicitKind::Forecast(_)), _) => r#""none""#.into(), // the receiver gives it
        (FeedbackKind::Explicit(_), _) => format!("{controller:?}"),                  // of the same name
        (_, Some(stage)) => format!("{stage:?}"),
        _ if needs.marks.required() => r#"{ kind = "step", threshold = "20KB" }"#.into(),
        _ => r#""none""#.into(),
    };
    let listens = needs.messages != Messages::None;
    let point = if listens { format!(", congestion_point = \"{controller}\"") } else { String::new() };
    let text = format!(
        r#"
topology = {{ kind = "star", hosts = 4 }}
switch = {{ buffer = "60KB", marking = {marking}{point} }}
nic = {{ order = "round-robin" }}
run = {{ until = "20s" }}
[transport]
kind = "{transport}"
congestion = "{controller}"
[[traffic]]
kind = "incast"
fan_in = 3
size = "200KB"
receiver = 0
"#
    );
    let scenario = load(&text, "s.toml", Path::new("."), &[])
        .map_err(|e| e.iter().map(|d| d.to_string()).collect::<String>())?;
    let mut run = Run::new(&scenario).map_err(|e| e.to_string())?;
    while run.step(1 << 20) {}
    Ok(run)
}

#[test]
fn every_controller_runs_over_every_transport_that_its_needs_allow() {
    for spec in ControllerSpec::all().into_iter().filter(|spec| spec.key() != "custom") {
        for transport in ["tcp", "rdma"] {
            let name = format!("{} over {transport}", spec.key());
            let run = incast(transport, &spec);
            let fits = if transport == "tcp" { spec.needs().fit_tcp() } else { spec.needs().fit_rdma() };
            if !fits {
                assert!(run.err().is_some_and(|e| e.contains("is not a choice")), "{name}");
                continue;
            }
            let run = run.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(run.summary()["flows"]["completed"], 3, "{name}: {}", run.summary());
        }
    }
}

#[test]
fn the_catalogue_and_explain_have_what_stands_with_the_algorithm() {
    let known = catalogue("controllers").expect("controllers");
    for spec in ControllerSpec::all().iter().filter(|spec| spec.key() != "custom") {
        let entry = known.iter().find(|e| e.name == spec.key()).unwrap_or_else(|| panic!("{}", spec.key()));
        assert!(!entry.summary.is_empty(), "{entry:?}");
    }
    let dcqcn = known.iter().find(|e| e.name == "dcqcn").expect("dcqcn");
    assert_eq!(
        (dcqcn.summary.as_str(), dcqcn.source.as_str()),
        ("DCQCN: rates by congestion notifications.", "Zhu et al., SIGCOMM 2015")
    );
    let text = explain("transport.congestion.gain").expect("a key");
    assert!(
        text.contains("weight of the newest observation in the moving average α")
            && text.contains("default: 0.00390625"),
        "{text}"
    );
}

#[test]
fn windows_that_a_controller_does_not_look_at_are_refused() {
    let with = |controller: &str, key: &str| {
        let text = format!(
            "topology = {{ kind = \"star\", hosts = 2 }}\nrun = {{ until = \"1ms\" }}\n[transport]\ncongestion = \"{controller}\"\n{key}\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1KB\"\n"
        );
        load(&text, "s.toml", Path::new("."), &[]).map(|_| ()).map_err(|e| e[0].to_string())
    };
    assert_eq!(with("newreno", "initial_threshold = \"5pkts\""), Ok(()));
    assert_eq!(
        with("aimd", "initial_threshold = \"5pkts\""),
        Err("s.toml:5: `transport.initial_threshold`: it has no effect: a window that starts full has no slow start; remove the key".into())
    );
    assert_eq!(
        with("timely", "initial_window = \"5pkts\""),
        Err("s.toml:5: `transport.initial_window`: it has no effect: a rate that starts at line rate is limited by `max_window` alone from the start; remove the key, or write `max_window`".into())
    );
}

#[test]
fn a_useless_key_of_a_scheme_is_reported_as_the_schemes() {
    let text = "name = \"s\"\nscheme = \"tcp+fifo\"\ntopology = { kind = \"star\", hosts = 2 }\nrun = { until = \"1ms\" }\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1KB\"\n";
    let set = [("transport.congestion", "vivace")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let errors = load(text, "s.toml", Path::new("."), &set).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "s.toml:2: `transport.initial_window`: it has no effect: the controller computes its first window from its rate and a round trip; the scheme `tcp+fifo` sets it: replace that name by its settings (`thalweg show` prints them) without this one"
    );
}

/// Threads are offered to a run that gains by them: not to one whose controllers wait for each other.
#[test]
fn controllers_that_are_called_one_after_another_are_no_reason_for_threads() {
    crate::keys::plugins::register();
    let offered = |controller: &str| {
        let text = format!(
            r#"
topology = {{ kind = "leaf-spine", leaves = 4, spines = 2, hosts_per_leaf = 4, host_rate = "100Gbps",
              spine_rate = "100Gbps", delay = "20us" }}
transport = {{ congestion = {{ kind = "custom", name = "{controller}" }} }}
[[traffic]]
kind = "permutation"
size = "100MB"
"#
        );
        let scenario = load(&text, "s.toml", Path::new("."), &[]).unwrap();
        Run::new(&scenario).unwrap().offer_threads(2)
    };
    assert_eq!((offered("still"), offered("solo")), (2, 1));
}
