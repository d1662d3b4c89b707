//! The library: every file is right, says where it is from, and is what it says.

use crate::common::{library, of_library};
use thalweg_policy::normal::rank::Rank;
use thalweg_policy::show;

#[test]
fn every_policy_of_the_library_is_right_and_names_its_source() {
    let all = library();
    assert!(all.len() >= 20);
    for (name, text) in all {
        let policy = thalweg_policy::check(&text, &name).unwrap_or_else(|wrong| panic!("{}", wrong.render()));
        let sourced = text.contains("OpenQueue (Menikkumbura") || text.contains("Beyond the paper");
        assert!(text.starts_with("// ") && sourced, "{name} says what it is and where it is from");
        assert!(show(&policy).contains(policy.ports()[0].name.as_str()));
    }
}

#[test]
fn structures_follow_from_comparators() {
    let rank = |name: &str| of_library(name).queues()[0].processing.rank.clone();
    assert_eq!(rank("fifo"), Rank::Arrival { latest: false });
    assert_eq!(rank("rfifo"), Rank::Arrival { latest: true });
    assert!(matches!(rank("srpt"), Rank::General { .. }));
    assert!(matches!(rank("algorithm-c"), Rank::Bounded { levels: 256, least: -255, .. }));
    assert!(matches!(rank("two-priorities"), Rank::Bounded { levels: 8, .. }));
    assert_eq!(rank("density"), Rank::Unranked);
}

#[test]
fn the_crossbar_has_fifteen_ports_and_twenty_one_queues_wired_in_three_levels() {
    let a3 = of_library("a3");
    assert_eq!((a3.ports().len(), a3.queues().len()), (15, 21));
    let name = |queue: &usize| a3.queues()[*queue].name.clone();
    let wire = a3.ports()[1].wire.as_ref().expect("in[2] is connected");
    assert_eq!(wire.to.iter().map(name).collect::<Vec<_>>(), ["cq[2][1]", "cq[2][2]", "cq[2][3]"]);
    let crosspoint = a3.ports().iter().find(|port| port.name == "cp[3][1]").expect("a crosspoint");
    assert_eq!(
        crosspoint.wire.as_ref().expect("connected").to.iter().map(name).collect::<Vec<_>>(),
        ["oq[1]"]
    );
}
