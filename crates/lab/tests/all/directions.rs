//! Links whose two directions differ: what reckons with a rate reckons with that of the direction it is about.

use crate::common::*;
use thalweg_lab::Run;

/// A star of three hosts at 10 Gb/s, 1 us a link. Of one host's link, the direction `from` it, or else the one to it,
/// has another rate.
fn star(host: u32, from: bool, rate: &str, rest: &str) -> Run {
    let direction = if from { "forward" } else { "backward" };
    run(&format!(
        "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
         [[link]]\nwhich = {{ kind = \"between\", ends = [{host}, 3] }}\ndirection = \"{direction}\"\n\
         transmitter = {{ kind = \"fixed\", rate = \"{rate}\" }}\n\
         [nic]\nbuffer = \"unlimited\"\n{rest}"
    ))
}

/// Datagrams: from, to, rate.
fn udp(of: &[(u32, u32, &str)]) -> String {
    let one = |(src, dst, rate): &(u32, u32, &str)| {
        format!(
            "[[traffic]]\nkind = \"udp\"\nsrc = {src}\ndst = {dst}\nrate = \"{rate}\"\nsize = \"300KB\"\n"
        )
    };
    of.iter().map(one).collect()
}

fn sum(run: &Run, table: &str, name: &str) -> i128 {
    column(run, table, name).iter().sum()
}

fn most(run: &Run, table: &str, name: &str) -> i128 {
    column(run, table, name).into_iter().max().expect("rows")
}

/// IEEE 802.3 Annex 31B: a pause lasts so many bit times of the port that is paused. 200 quanta of 512 bit times at
/// 10 Gb/s are 10.24 us, whatever the way of the frames.
#[test]
fn an_xoff_is_repeated_by_the_quanta_of_the_port_that_it_pauses() {
    let rest = "[switch]\ninputs = { memory = \"60KB\" }\npfc = { threshold = { kind = \"static\", \
                xoff = \"20KB\", xon = \"10KB\" }, headroom = \"30KB\", quanta = 200 }\n[measure]\npauses = true\n\
                [run]\nuntil = \"2ms\"\n";
    let two = udp(&[(1, 0, "10Gbps"), (2, 0, "10Gbps")]);
    // The switch sends at 2.5 Gb/s: half of 200 quanta are 20.48 us there, and 5.12 us at the port that they stop.
    let run = star(1, false, "2.5Gbps", &format!("{rest}{two}"));
    assert_eq!(sum(&run, "ports", "dropped"), 0);
    let [host, began, ended] = ["from_node", "began_ps", "ended_ps"].map(|name| column(&run, "pauses", name));
    let lasts = (0..host.len()).filter(|i| host[*i] == 1).map(|i| ended[i] - began[i]);
    let longest = lasts.max().expect("pauses");
    assert!(longest > 10_240_000, "{longest} ps: a pause that nothing has to keep up");
}

/// What comes while the frame waits and is sent comes at the rate of the input, and the frame leaves at that of the
/// way back.
#[test]
fn headroom_is_for_what_comes_at_the_rate_of_the_input_while_a_frame_leaves_by_the_way_back() {
    let go = |host, from, rate: &str, traffic: &str| {
        let rest = format!(
            "[switch]\ninputs = {{ memory = \"90KB\" }}\npfc = {{}}\n[measure]\nmemory = true\n\
             [run]\nuntil = \"2ms\"\nstop_when_done = false\n{traffic}"
        );
        let run = star(host, from, rate, &rest);
        assert_eq!(sum(&run, "ports", "dropped"), 0, "{host} {from} {rate}");
        most(&run, "memory", "headroom_bytes")
    };
    let back = |rate: &str| udp(&[(1, 0, "10Gbps"), (2, 0, "10Gbps"), (0, 1, rate)]);
    // The way back at 1 Gb/s: 2 x 10 Gb/s x 1 us, two packets of 1500 B, and ten times what the frame of 64 B and the
    // packet before it have.
    assert_eq!(go(1, false, "1Gbps", &back("1Gbps")), 2500 + 2 * 1500 + 10 * 1564);
    // The input at 100 Gb/s.
    let fast = udp(&[(1, 0, "100Gbps"), (2, 0, "10Gbps"), (0, 1, "9Gbps")]);
    assert_eq!(go(1, true, "100Gbps", &fast), 25_000 + 2 * 1500 + 10 * 1564);
    // The input at 1 Gb/s: 250 B, two packets, and 156.4 B. Links of 10 Gb/s both ways need 2500, three, and 64.
    assert_eq!(go(1, true, "1Gbps", &back("9Gbps")), 2500 + 3 * 1500 + 64);
}

/// Two flows of 2 MB each to host 0.
fn flows() -> &'static str {
    "[[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 0\nsize = \"2MB\"\n\
     [[traffic]]\nkind = \"flow\"\nsrc = 2\ndst = 0\nsize = \"2MB\"\n[run]\nuntil = \"200ms\"\n"
}

/// ExpressPass §3.1: credits are metered so that the data that they call for fit the way that the data take.
#[test]
fn credits_are_metered_by_the_way_of_the_data() {
    let go = |from| {
        let ports = "scheduler = \"expresspass\"\n";
        let rest = format!(
            "scheduler = \"expresspass\"\n[switch]\n{ports}buffer = \"unlimited\"\n\
             [transport]\nkind = \"expresspass\"\n{}",
            flows()
        );
        star(0, from, "1Gbps", &rest)
    };
    // Data at 1 Gb/s: nothing waits but what crosses.
    let (port, slow) = (1, go(false));
    let queue = column(&slow, "ports", "max_queue")[port];
    assert!(queue < 30_000, "{queue} B wait for host 0");
    // Data at 10 Gb/s, credits at 1 Gb/s, of which they need a half: 4 MB and headers in 3.4 ms.
    let fct = most(&go(true), "flows", "fct_ps");
    assert!(fct < 6_000_000_000, "{fct} ps");
}

/// A refresh has to leave in time: behind a packet at 1 Gb/s it comes after 15 640 B at 10 Gb/s.
#[test]
fn quanta_that_end_before_their_refresh_can_leave_are_refused() {
    let text = "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
        [[link]]\nwhich = { kind = \"between\", ends = [1, 3] }\ndirection = \"backward\"\n\
        transmitter = { kind = \"fixed\", rate = \"1Gbps\" }\n[switch]\ninputs = { memory = \"90KB\" }\n\
        pfc = { quanta = 488 }\n[[traffic]]\nkind = \"udp\"\nsrc = 1\ndst = 0\nrate = \"1Gbps\"\n[run]\nuntil = \"1ms\"\n";
    let found = refusals(text, &[]);
    assert!(found.len() == 1 && found[0].contains("at least 489"), "{found:?}");
    run(&text.replace("488", "489"));
}

/// Credits that a switch meters are for data that come the other way.
#[test]
fn credits_do_not_go_with_data_whose_rate_changes() {
    let text = "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
        [[link]]\nwhich = { kind = \"between\", ends = [1, 3] }\ndirection = \"forward\"\n\
        transmitter = { kind = \"square-wave\", first = \"1Gbps\", second = \"2Gbps\", half_period = \"1ms\" }\n\
        [switch]\nscheduler = \"expresspass\"\n[transport]\nkind = \"expresspass\"\n\
        [[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 0\nsize = \"1MB\"\n[run]\nuntil = \"10ms\"\n";
    let found = refusals(text, &[]);
    assert!(found.iter().any(|one| one.contains("`switch.scheduler` computes with")), "{found:?}");
}

/// NDP §3.2: pulls leave so that the packets that they call for fit the link by which these come.
#[test]
fn pulls_are_paced_by_the_link_by_which_the_data_come() {
    let go = |from| {
        let rest = format!(
            "order = \"round-robin\"\n[switch]\nscheduler = \"ndp\"\nbuffer = \"8pkts\"\n\
             [transport]\nkind = \"ndp\"\n{}",
            flows()
        );
        star(0, from, "1Gbps", &rest)
    };
    // Data at 1 Gb/s: only the first windows meet a full queue.
    let trims = sum(&go(false), "flows", "trims");
    assert!(trims < 100, "{trims}");
    // Data at 10 Gb/s: 4 MB and headers in 3.2 ms.
    let fct = most(&go(true), "flows", "fct_ps");
    assert!(fct < 4_000_000_000, "{fct} ps");
}
