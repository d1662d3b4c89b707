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
