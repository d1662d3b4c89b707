//! What a round trip is when nothing waits, where the directions of links differ, and where paths do.
use crate::common::*;

/// One packet in flight, so that nothing waits, or many, behind a link of 1 Gb/s, 10 Mb/s the other way.
fn uneven(window: &str, rest: &str) -> thalweg_lab::Run {
    run(&format!(
        "[topology]\nkind = \"dumbbell\"\npairs = 1\nhost_rate = \"40Gbps\"\nbottleneck_rate = \"1Gbps\"\ndelay = \"1us\"\n\
         [[link]]\nwhich = \"core-links\"\ndirection = \"backward\"\ntransmitter = {{ kind = \"fixed\", rate = \"10Mbps\" }}\n\
         [switch]\nbuffer = \"unlimited\"\n{rest}\n\
         [transport]\ncongestion = \"fixed\"\ninitial_window = \"{window}\"\n\
         [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[run]\nuntil = \"20ms\"\n"
    ))
}

fn queueing(run: &thalweg_lab::Run) -> f64 {
    run.summary()["endless"]["queueing_us"]["mean"].as_f64().expect("one flow")
}

/// Twice 1500 B and 40 B at 40 Gb/s, one each at the rate of their direction, six wires.
#[test]
fn each_direction_of_a_link_takes_its_own_time() {
    let alone = 2.0 * (0.3 + 0.008) + 12.0 + 32.0 + 6.0;
    let lone = uneven("1pkts", "");
    assert!((lone.summary()["base_rtt_us"].as_f64().unwrap() - alone).abs() < 1e-6);
    assert_eq!(queueing(&lone), 0.0);
    let many = uneven("100pkts", "");
    let rtt = column(&many, "flows", "rtt_ps")[0] as f64 * 1e-6;
    assert!((queueing(&many) - (rtt - alone)).abs() < 1e-5, "{} of {rtt}", queueing(&many));
    assert!(queueing(&many) > 2000.0, "ACKs wait behind 10 Mb/s");
}

#[test]
fn nothing_waits_where_switches_cut_through() {
    let text = |window: &str| {
        format!(
            "topology = {{ kind = \"dumbbell\", pairs = 1, host_rate = \"10Gbps\", bottleneck_rate = \"10Gbps\" }}\n\
             switch = {{ buffer = \"unlimited\", cut_through = \"64B\" }}\nmeasure = {{ from = \"1ms\" }}\n\
             transport = {{ congestion = \"fixed\", initial_window = \"{window}\" }}\n\
             [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[run]\nuntil = \"3ms\"\n"
        )
    };
    let alone = column(&run(&text("1pkts")), "flows", "rtt_ps")[0] as f64 * 1e-6;
    // 30 packets of 1.2 us are always somewhere on their way.
    let many = queueing(&run(&text("30pkts")));
    assert!((many - (36.0 - alone)).abs() < 1e-5, "{many}, alone {alone}");
}

/// Two spines, of which the links of one are a hundred times as slow: nothing waits at either.
#[test]
fn what_waits_is_measured_against_the_path_that_a_flow_takes() {
    let rtt = |seed: u32| {
        let run = run(&format!(
            "seed = {seed}\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
             host_rate = \"10Gbps\"\n[[link]]\nwhich = {{ kind = \"between\", ends = [2, 4] }}\n\
             transmitter = {{ kind = \"fixed\", rate = \"100Mbps\" }}\n\
             [transport]\ncongestion = \"fixed\"\ninitial_window = \"1pkts\"\n\
             [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[run]\nuntil = \"5ms\"\n"
        ));
        assert!(queueing(&run) < 1e-6, "one packet: {}", queueing(&run));
        column(&run, "flows", "rtt_ps")[0]
    };
    let rtts: Vec<i128> = (1..9).map(rtt).collect();
    assert!(rtts.iter().max() > rtts.iter().min().map(|least| 5 * least).as_ref(), "both ways: {rtts:?}");
}

/// Half of the rate at which hosts send, whatever the rate at which they receive.
#[test]
fn a_load_is_of_the_direction_that_it_names() {
    let offered = |direction: &str, rate: &str| {
        let run = run(&format!(
            "topology = {{ kind = \"star\", hosts = 6, rate = \"10Gbps\" }}\ntransport = \"udp\"\n\
             nic = {{ buffer = \"unlimited\" }}\nswitch = {{ buffer = \"unlimited\" }}\n\
             [[link]]\nwhich = \"host-links\"\ndirection = \"{direction}\"\ntransmitter = {{ kind = \"fixed\", rate = \"{rate}\" }}\n\
             [[traffic]]\nkind = \"poisson\"\nsizes = {{ kind = \"fixed\", size = \"14600B\" }}\nload = 0.5\n[run]\nuntil = \"100ms\"\n"
        ));
        run.summary()["load"]["host_links"]["offered"].as_f64().unwrap()
    };
    for (direction, rate) in [("backward", "1Gbps"), ("forward", "1Gbps")] {
        let share = offered(direction, rate);
        assert!((share - 0.5).abs() < 0.03, "{direction} {rate}: {share}");
    }
}
