use crate::{Estimate, Scenario, load};
use std::path::Path;

fn scenario(text: &str) -> Scenario {
    load(text, "s.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]))
}

fn part(e: &Estimate, name: &str) -> u64 {
    e.memory.iter().find(|(part, _)| *part == name).map_or(0, |(_, bytes)| *bytes)
}

/// Two long flows from hosts of 1 Gb/s share a bottleneck of 10 Mb/s: it carries 833 packets in a second.
#[test]
fn a_bottleneck_bounds_what_long_flows_send() {
    for traffic in [
        "[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\n[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 3\n",
        "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"10GB\"\n",
    ] {
        let s = scenario(&format!(
            "[topology]\nkind = \"dumbbell\"\npairs = 2\nhost_rate = \"1Gbps\"\nbottleneck_rate = \"10Mbps\"\ndelay = \"5ms\"\n\
             [switch]\nbuffer = \"50pkts\"\n{traffic}[run]\nuntil = \"1s\"\n"
        ));
        let estimate = s.estimate().expect("an estimate");
        assert!((800..=840).contains(&estimate.packets), "{estimate:?}");
    }
}

/// 65 million flows take 50 GB, samples every picosecond of a second terabytes; neither is drawn to find out.
#[test]
fn what_cannot_fit_is_counted_without_making_it() {
    let s = scenario(
        "[topology]\nkind = \"star\"\nhosts = 65\n[[traffic]]\nkind = \"incast\"\nfan_in = 65\nsize = \"1KB\"\n\
         senders = \"with-replacement\"\nperiod = \"1ns\"\nrepeat = 1000000\n",
    );
    let e = s.estimate().expect("an estimate");
    assert_eq!(e.flows, 65_000_000);
    assert_eq!(e.memory[0].0, "flows", "the largest first: {e:?}");
    assert!((30e9..60e9).contains(&(part(&e, "flows") as f64)), "{e:?}");
    assert_eq!(e.memory.iter().map(|(_, bytes)| bytes).sum::<u64>(), e.memory_bytes);

    let s = scenario(
        "topology = { kind = \"pair\" }\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n\
         [measure]\nqueues = { every = \"1ps\", ports = [0] }\n[run]\nuntil = \"1s\"\nstop_when_done = false\n",
    );
    let e = s.estimate().expect("an estimate");
    assert!((90e12..105e12).contains(&(part(&e, "probes") as f64)), "{e:?}");
    // It stops once its flow is complete, after 0.8 ms, and so do the samples.
    let done = load(&s.to_toml(), "s.toml", Path::new("."), &[("run.stop_when_done".into(), "true".into())]);
    let e = done.unwrap_or_else(|e| panic!("{}", e[0])).estimate().expect("an estimate");
    assert!((50e9..110e9).contains(&(part(&e, "probes") as f64)), "{e:?}");
}

/// What flows wait for is counted as what is made, by way of stand-ins or in a list.
#[test]
fn waits_are_counted() {
    let with = |traffic: &str| {
        let text = format!("[topology]\nkind = \"star\"\nhosts = 8\n[[traffic]]\n{traffic}\n");
        load(&text, "s.toml", &std::env::temp_dir(), &[]).unwrap_or_else(|e| panic!("{}", e[0]))
    };
    let made = |s: &Scenario| {
        let net = s.network().expect("a network");
        let flows = (0..net.flows.len()).map(|flow| net.precedence.of(flow.into()).len());
        let works = (0..net.works.len()).map(|work| net.precedence.of_work(work.into()).len());
        flows.chain(works).sum::<usize>() as u64
    };
    let exchange = "kind = \"all-to-all\"\nsize = \"1KB\"\niterations = 3";
    for (traffic, waits) in [
        (exchange.to_owned(), 2 * 3 * 56),
        (format!("{exchange}\nrelay = 4"), 2 * 3 * 56 + 3 * 8 * 3),
        (exchange.replace("3", "1"), 0),
    ] {
        let s = with(&traffic);
        let estimate = s.estimate().expect("an estimate");
        assert_eq!((made(&s), part(&estimate, "waits")), (waits, 40 * waits), "{traffic}");
    }
    let name = format!("thalweg-waits-{}.csv", std::process::id());
    let file = std::env::temp_dir().join(&name);
    let all = (0..99).map(|id| format!("{id},0,1,1000,0,\n")).collect::<String>();
    let ids = (0..99).map(|id| id.to_string()).collect::<Vec<_>>().join(" ");
    let rows = format!("id,src,dst,size_bytes,start_us,after\n{all}99,1,2,1000,0,{ids}\n");
    std::fs::write(&file, rows).expect("written");
    let s = with(&format!("kind = \"list\"\nfile = \"{name}\""));
    let estimate = s.estimate().expect("an estimate");
    assert_eq!((made(&s), part(&estimate, "waits")), (99, 40 * 99));
    std::fs::remove_file(&file).expect("removed");
}

/// An all-to-all of 512 hosts, twice, waits for 800 000 flows; it was refused for 500 million.
#[test]
fn many_hosts_may_exchange_again_and_again() {
    let s = scenario(
        "[topology]\nkind = \"star\"\nhosts = 512\n[[traffic]]\nkind = \"all-to-all\"\nsize = \"1KB\"\niterations = 2\n",
    );
    let e = s.estimate().expect("an estimate");
    assert_eq!((e.flows, part(&e, "waits")), (2 * 512 * 511, 40 * 3 * 512 * 511));
}

/// A fat-tree of 8192 hosts has 49 152 ports; ADS keeps two tables of 1335 entries at each: 1.2 GB.
#[test]
fn schedulers_are_counted() {
    let with = |scheduler: &str| {
        scenario(&format!(
            "[topology]\nkind = \"fat-tree\"\nk = 32\n[switch]\nscheduler = {scheduler}\n\
             [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n"
        ))
        .estimate()
        .expect("an estimate")
    };
    let ads = with("{ kind = \"ads\", queues = 2 }");
    assert!((1.1e9..1.4e9).contains(&(ads.memory_bytes as f64)), "{ads:?}");
    assert_eq!(ads.memory[0].0, "schedulers");
    assert_eq!(part(&with("\"fifo\""), "schedulers"), 0);
}
