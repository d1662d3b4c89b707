//! Loads of a part of a run: windows cut through packets, and rates change within them.

use crate::common::*;

/// A host sends at its link's rate, 10 Gb/s and then 5 Gb/s, the other one nothing: half of what both could. Packets
/// take 1.2 us or 2.4 us; no window opens or closes between two of them, and one spans less than a packet.
#[test]
fn a_window_counts_the_bits_that_have_left_in_it() {
    let changing = "[[link]]\nwhich = \"all\"\n\
        transmitter = { kind = \"stepped\", steps = [{ at = \"0us\", rate = \"10Gbps\" }, { at = \"5us\", rate = \"5Gbps\" }] }\n";
    for scheduler in ["fifo", "sjf"] {
        for link in ["", changing] {
            for (from, until) in [("0us", "0.6us"), ("0.3us", "0.9us"), ("1.3us", "2.6us"), ("4.9us", "7us")]
            {
                let run = run(&format!(
                    "{link}[topology]\nkind = \"pair\"\nrate = \"10Gbps\"\ndelay = \"1us\"\n[nic]\nscheduler = \"{scheduler}\"\n\
                     [[traffic]]\nkind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"10Gbps\"\npayload = \"1472B\"\n\
                     [measure]\nfrom = \"{from}\"\nuntil = \"{until}\"\n[run]\nuntil = \"30us\"\n"
                ));
                let load = run.summary()["load"]["host_links"]["carried"].as_f64().expect("a number");
                let what = format!("{scheduler}, {link}, {from} to {until}: {load}");
                // Two instants, each to a byte.
                assert!((load - 0.5).abs() < 2e-3, "{what}");
            }
        }
    }
}

/// Where no switch is, the ports of hosts are sampled.
#[test]
fn samples_of_a_network_without_switches_are_of_its_hosts() {
    let run = run(
        "[topology]\nkind = \"pair\"\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"100KB\"\n\
         [measure]\nqueues = { every = \"10us\" }\nlinks = { every = \"10us\" }\n[run]\nuntil = \"1ms\"\n",
    );
    for table in ["queues", "links"] {
        assert_eq!(column(&run, table, "port")[..2], [0, 1], "{table}");
    }
}

/// Three flows of 20 KB to one host, all at once: listed or written out, at the start or later, what is measured is the
/// same part of the run, and they are in it.
#[test]
fn a_list_whose_flows_start_at_one_instant_has_a_load() {
    for at in ["0", "1000"] {
        let text: String = (1..4).map(|src| format!("{src},0,20000,{at}\n")).collect();
        let list = format!("src,dst,size_bytes,start_ns\n{text}");
        let dir = Folder::new(&format!("loads-{at}"), &[("l.csv", list.as_str())]);
        let of = |traffic: &str| {
            let base = "topology = { kind = \"star\", hosts = 5, rate = \"1Gbps\", delay = \"3us\" }\n\
                        run = { until = \"10ms\" }\n";
            finish(&scenario(&format!("{base}{traffic}"), &dir.0, &[])).summary()["load"].clone()
        };
        let flow = |src| {
            format!(
                "[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = 0\nsize = \"20000B\"\nstart = \"{at}ns\"\n"
            )
        };
        let listed = of("[[traffic]]\nkind = \"list\"\nfile = \"l.csv\"\n");
        assert_eq!(listed, of(&(1..4).map(flow).collect::<String>()), "at {at} ns");
        assert!(listed["host_links"]["offered"].as_f64() > Some(0.1), "{listed}");
    }
}
