//! What failures cost, and when routes know of them.

use crate::common::*;
use thalweg_lab::Run;

/// A packet each millisecond, 1000 of them, over the first spine that is thought to work; routes converge after 100 ms.
fn go(incidents: &[(&str, &str, &str)]) -> Run {
    let incidents: String = incidents
        .iter()
        .map(|(spine, at, until)| {
            let until = if until.is_empty() { String::new() } else { format!("until = \"{until}\"\n") };
            format!("[[incident]]\nkind = \"link-failure\"\nat = \"{at}\"\n{until}link = [\"leaf0\", \"{spine}\"]\n")
        })
        .collect();
    run(&format!(
        "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 1\nhost_rate = \"100Mbps\"\n\
         spine_rate = \"100Mbps\"\ndelay = \"10us\"\n[routing]\nkind = \"lowest\"\nconvergence = \"100ms\"\n{incidents}\
         [[traffic]]\nkind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"12Mbps\"\nsize = \"1460KB\"\n\
         [run]\nuntil = \"2s\"\nstop_when_done = false\n"
    ))
}

/// Drops of the flow, and those that the summary puts down to failures.
fn lost(run: &Run) -> (i128, u64) {
    (column(run, "flows", "drops")[0], run.summary()["incidents"]["packets_lost"].as_u64().expect("a number"))
}

/// What fails, or is restored, while routes converge after something else is known 100 ms after itself. (A packet more
/// is on the way as a link fails.)
#[test]
fn routes_know_of_an_incident_when_they_have_converged_after_it() {
    // Away from the first spine at 300 ms, onto the second, which fails at 290 ms and is known to at 390 ms.
    let both = lost(&go(&[("spine0", "200ms", ""), ("spine1", "290ms", "")]));
    assert!((190..=191).contains(&both.0), "{both:?}");
    let apart = lost(&go(&[("spine0", "200ms", ""), ("spine1", "310ms", "")]));
    assert!((200..=202).contains(&apart.0), "{apart:?}");
    // The first spine works again from 290 ms on, but is known to from 390 ms on, whatever else is known at 300 ms.
    let repaired = go(&[("spine0", "100ms", "290ms"), ("spine2", "200ms", "")]);
    let packets = column(&repaired, "ports", "packets");
    let from = column(&repaired, "ports", "from");
    let to = column(&repaired, "ports", "to");
    let over = |spine: i128| (0..from.len()).find(|p| (from[*p], to[*p]) == (2, spine)).map(|p| packets[p]);
    assert!(over(5).is_some_and(|second| (189..=191).contains(&second)), "{:?}", over(5));
    for run in [both, apart, lost(&repaired)] {
        assert_eq!(run.0, i128::from(run.1), "what failures lose is counted as theirs");
    }
}

/// All three fail: packets come to a failed link, and then find no way at all.
#[test]
fn what_finds_no_way_is_lost_to_failures_too() {
    let (drops, counted) =
        lost(&go(&[("spine0", "200ms", ""), ("spine1", "200ms", ""), ("spine2", "200ms", "")]));
    assert!((798..=801).contains(&drops) && i128::from(counted) == drops, "{drops}, {counted}");
}

/// A packet that finds no way is dropped by the port through which it came, as its recording says.
#[test]
fn what_finds_no_way_is_counted_at_the_port_through_which_it_came() {
    let run = go(&[("spine0", "200ms", ""), ("spine1", "200ms", ""), ("spine2", "200ms", "")]);
    let drops = run.summary()["drops"].as_u64().expect("a number");
    let dropped = column(&run, "ports", "dropped");
    assert!(drops > 0 && dropped.iter().sum::<i128>() == i128::from(drops), "{drops}, {dropped:?}");
    // Port 0: from host 0 to its leaf, which has no other way.
    assert!((697..=701).contains(&dropped[0]), "{dropped:?}");
}

/// What is on a link as it fails is lost, also on a port whose transmissions may be interrupted: 1500 B take 12 ms at
/// 1 Mb/s, and the link fails after five.
#[test]
fn a_transmission_under_way_as_its_link_fails_is_lost() {
    let lost = |preemptive: bool| {
        let run = run(&format!(
            "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"1Gbps\"\nsink_rate = \"1Mbps\"\ndelay = \"1us\"\n[switch]\n\
             buffer = \"20pkts\"\nscheduler = \"sjf\"\npreemptive = {preemptive}\n[transport]\nkind = \"udp\"\n\
             [[incident]]\nkind = \"link-failure\"\nlink = [\"h0\", \"switch0\"]\nat = \"5ms\"\nuntil = \"20ms\"\n\
             [[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 0\nsize = \"1460B\"\n[[traffic]]\nkind = \"flow\"\nsrc = 1\n\
             dst = 0\nsize = \"1460B\"\nstart = \"8ms\"\n[[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 0\nsize = \"1460B\"\n\
             start = \"25ms\"\n[run]\nuntil = \"100ms\"\nstop_when_done = false\ncheck = true\n"
        ));
        (column(&run, "flows", "drops"), run.summary()["incidents"]["packets_lost"].as_u64())
    };
    assert_eq!(lost(false), (vec![1, 1, 0], Some(2)));
    assert_eq!(lost(true), lost(false));
}
