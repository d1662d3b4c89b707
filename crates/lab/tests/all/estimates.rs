//! Estimates, and the runs that they are of.

use crate::common::*;
use std::path::Path;

/// Two long flows from hosts of 1 Gb/s share a bottleneck of 10 Mb/s: estimated are hops within a factor of two.
#[test]
fn estimated_hops_are_those_of_the_run_within_a_factor_of_two() {
    for traffic in [
        "[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\n[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 3\n",
        "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"10GB\"\n",
    ] {
        let text = format!(
            "[topology]\nkind = \"dumbbell\"\npairs = 2\nhost_rate = \"1Gbps\"\nbottleneck_rate = \"10Mbps\"\ndelay = \"5ms\"\n\
             [switch]\nbuffer = \"50pkts\"\n{traffic}[run]\nuntil = \"1s\"\n"
        );
        let s = scenario(&text, Path::new("."), &[]);
        let estimate = s.estimate().expect("an estimate");
        let hops = finish(&s).progress().packet_hops as f64;
        let factor = estimate.packet_hops as f64 / hops;
        assert!((0.5..2.0).contains(&factor), "{estimate:?}, {hops} hops");
    }
}
