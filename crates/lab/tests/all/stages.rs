//! Stages in front of a queue: each sees what those before it let through, and the queue behind them all.
use crate::common::*;

/// One stream of 1000 B on the wire each 100 us through a port of 100 Mb/s; the switch's table is `switch`.
fn stream(switch: &str) -> String {
    format!(
        "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Mbps\"\ndelay = \"1us\"\n\
         [switch]\n{switch}\n[nic]\nscheduler = \"fifo\"\nbuffer = \"unlimited\"\nmarking = \"none\"\n[[traffic]]\n\
         kind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"77600kbps\"\npayload = \"970B\"\nsize = \"970KB\"\n[run]\nuntil = \"1s\"\n"
    )
}

const FAST: &str = "{ kind = \"policer\", rate = \"40Mbps\", burst = \"4KB\" }";
const SLOW: &str = "{ kind = \"policer\", rate = \"20Mbps\", burst = \"10KB\" }";

fn dropped(switch: &str) -> Vec<i128> {
    let run = run(&stream(switch));
    column(&run, "flows", "data_drops")
}

#[test]
fn a_stage_in_front_does_what_it_does_inside() {
    let inside = dropped(&format!("marking = {FAST}"));
    assert_eq!(dropped(&format!("stages = [{FAST}]")), inside);
    // What lets everything pass changes nothing, wherever it stands.
    let wide = "{ kind = \"policer\", rate = \"10Gbps\", burst = \"1MB\" }";
    assert_eq!(dropped(&format!("stages = [{wide}]\nmarking = {FAST}")), inside);
    assert_eq!(dropped(&format!("stages = [{FAST}, {wide}]")), inside);
    assert_ne!(dropped(""), inside);
}

#[test]
fn a_second_policer_sees_what_the_first_let_through() {
    let drops = |switch: String| dropped(&switch)[0];
    let (fast, slow) = (drops(format!("stages = [{FAST}]")), drops(format!("stages = [{SLOW}]")));
    let both = drops(format!("stages = [{FAST}, {SLOW}]"));
    let turned = drops(format!("stages = [{SLOW}, {FAST}]"));
    assert!(both >= slow && slow > fast && fast > 0, "{both} {slow} {fast}");
    // The larger burst first lets more come at once than the second passes.
    assert_ne!(both, turned);
}

#[test]
fn an_aqm_behind_a_policer_has_less_to_do() {
    let lost = |switch: &str| {
        let text = "[topology]\nkind = \"dumbbell\"\npairs = 1\nhost_rate = \"1Gbps\"\nbottleneck_rate = \"20Mbps\"\n\
                    delay = \"10ms\"\n[nic]\nscheduler = \"fifo\"\nbuffer = \"unlimited\"\nmarking = \"none\"\n\
                    [transport]\ncongestion = \"cubic\"\n[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n\
                    [run]\nuntil = \"5s\"\n";
        let run = run(&format!("{text}[switch]\nbuffer = \"1000pkts\"\n{switch}"));
        column(&run, "ports", "dropped").iter().sum::<i128>()
    };
    let policer = "stages = [{ kind = \"policer\", rate = \"15Mbps\", burst = \"30KB\" }]";
    let alone = lost("marking = \"codel\"");
    let policed = lost(&format!("{policer}\nmarking = \"codel\""));
    let only = lost(policer);
    assert_eq!(policed, only, "beneath the link's rate CoDel never drops");
    assert!(alone > 0 && policed > 0);
}
