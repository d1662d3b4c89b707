//! RFC 8290's promises where they can be seen from outside: shares in bytes, drops from the queue that holds
//! most of them, marks.
use crate::common::*;

/// Two hosts send datagrams to two others over a bottleneck.
fn two(bottleneck: &str, switch: &str, traffic: &str, until: &str) -> String {
    format!(
        "[topology]\nkind = \"dumbbell\"\npairs = 2\nhost_rate = \"1Gbps\"\nbottleneck_rate = \"{bottleneck}\"\n\
         delay = \"1ms\"\nhost_delay = \"1us\"\n[switch]\n{switch}\n[nic]\nscheduler = \"fifo\"\nbuffer = \"unlimited\"\n\
         {traffic}\n[run]\nuntil = \"{until}\"\nstop_when_done = false\n"
    )
}

fn stream(src: u32, rate: &str, payload: &str, size: &str) -> String {
    let dst = src + 2;
    format!(
        "[[traffic]]\nkind = \"udp\"\nsrc = {src}\ndst = {dst}\nrate = \"{rate}\"\npayload = \"{payload}\"\nsize = \"{size}\"\n"
    )
}

/// Bytes on the links to the hosts 2 and 3: link l is port 2l + 1 towards its host.
fn received(text: &str) -> (i128, i128) {
    let bytes = column(&run(text), "ports", "bytes");
    (bytes[5], bytes[7])
}

#[test]
fn streams_of_large_and_of_small_datagrams_above_their_share_get_as_many_bytes() {
    let traffic = stream(0, "15Mbps", "1460B", "40MB") + &stream(1, "15Mbps", "260B", "40MB");
    let share = |scheduler: &str| {
        let switch = format!("scheduler = {scheduler}\nbuffer = \"1000pkts\"");
        let (large, small) = received(&two("20Mbps", &switch, &traffic, "10s"));
        large as f64 / small as f64
    };
    let bytes = share("\"fq-codel\"");
    assert!((bytes - 1.0).abs() < 0.05, "{bytes}");
    let packets = share("{ kind = \"fq-codel\", count = \"packets\" }");
    assert!(packets > 2.5, "as many packets of each: {packets}");
}

#[test]
fn a_full_port_gives_up_nothing_of_a_stream_that_is_never_the_longer_queue_in_bytes() {
    let switch =
        "scheduler = { kind = \"fq-codel\", target = \"10s\", interval = \"100s\" }\nbuffer = \"100KB\"";
    let traffic = stream(0, "20Mbps", "1460B", "400KB") + &stream(1, "5Mbps", "60B", "60KB");
    let drops = column(&run(&two("10Mbps", switch, &traffic, "2s")), "flows", "data_drops");
    assert!(drops[1] <= 20 && drops[0] > 0, "{drops:?}");
}

#[test]
fn tcp_with_ecn_is_marked_and_not_dropped() {
    let traffic = "[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\n[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 3\n";
    let of = |ecn: &str| {
        let switch =
            "scheduler = \"fq-codel\"\nbuffer = \"10240pkts\"\n[transport]\ncongestion = \"newreno\"\n";
        let run = run(&two("20Mbps", &format!("{switch}ecn = \"{ecn}\""), traffic, "5s"));
        let sum = |name| column(&run, "ports", name).iter().sum::<i128>();
        (sum("marked"), sum("dropped"))
    };
    let (marked, dropped) = of("classic");
    assert!(marked > 10 && dropped == 0, "{marked} {dropped}");
    let (marked, dropped) = of("off");
    assert!(marked == 0 && dropped > 10, "{marked} {dropped}");
}
