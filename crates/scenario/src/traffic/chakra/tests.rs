use super::super::tests::{ends, in_folder};
use crate::parse::chakra::encode::{attribute, file, node, number, text};
use thalweg_net::spec::{Edge, End, NetworkSpec, Predecessor, Step};
use thalweg_units::{FlowId, WorkId};

const SEND: u64 = 5;
const RECV: u64 = 6;
const COLL: u64 = 7;

fn try_network(files: &[Vec<u8>], keys: &str) -> Result<NetworkSpec, crate::Diagnostic> {
    let names: Vec<String> = (0..files.len()).map(|rank| format!("t.{rank}.et")).collect();
    let groups = ("groups.json", &b"{\"tp\": [2, 0], \"all\": [0, 0]}"[..]);
    let mut named: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(files.iter().map(Vec::as_slice)).collect();
    named.push(groups);
    in_folder(5, &named, &format!("kind = \"chakra\"\nfile = \"t\"\n{keys}"))
}

fn network(files: &[Vec<u8>], keys: &str) -> NetworkSpec {
    try_network(files, keys).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(files: &[Vec<u8>], keys: &str) -> String {
    try_network(files, keys).expect_err("refused").to_string()
}

fn collective(kind: u64, size: u64) -> Vec<u8> {
    node(1, COLL, &[], &[attribute("comm_type", kind), attribute("comm_size", size)])
}

/// The same operation of so many ranks.
fn together(ranks: usize, kind: u64, size: u64) -> NetworkSpec {
    network(&vec![file(&[collective(kind, size)]); ranks], "")
}

/// Who sends to whom, and how much, in the order of the rounds: all flows by the number of flows before them.
fn sent(net: &NetworkSpec) -> Vec<(u32, u32, u64)> {
    net.flows.iter().map(|f| (f.src.0, f.dst.0, f.size)).collect()
}

#[test]
fn messages_computations_and_dependencies_of_both_kinds() {
    let size = || attribute("comm_size", 70);
    let ranks = [
        file(&[
            node(1, 4, &[], &[number(7, 20)]),
            node(2, SEND, &[1], &[size(), attribute("comm_dst", 1), attribute("comm_tag", 4)]),
        ]),
        file(&[
            node(1, RECV, &[], &[size(), attribute("comm_src", 0), attribute("comm_tag", 4)]),
            node(2, 4, &[], &[number(4, 1), number(7, 30)]),
        ]),
    ];
    let net = network(&ranks, "hosts = [3, 1]");
    assert_eq!((ends(&net.flows), net.flows[0].size), (vec![(3, 1)], 70));
    let works: Vec<_> = net.works.iter().map(|w| (w.host.0, w.cpu, w.lasts.ps() / 1_000_000)).collect();
    assert_eq!(works, [(3, Some(0), 20), (1, Some(0), 30)]);
    let of = |step| net.precedence.of_step(step).to_vec();
    assert_eq!(of(Step::Flow(FlowId(0))), [Predecessor::Work { work: WorkId(0), edge: Edge::Ended }]);
    assert_eq!(of(Step::Work(WorkId(1))), [Predecessor::Flow { flow: FlowId(0), end: End::Received }]);
}

#[test]
fn collective_operations_send_the_messages_of_their_tables() {
    // Chunks of 3, 3 and 4 bytes; in the first step place i sends chunk i.
    let net = together(3, 0, 10);
    assert_eq!(net.flows.len(), 12);
    let mut first = sent(&net)[..3].to_vec();
    first.sort_unstable();
    assert_eq!(first, [(0, 1, 3), (1, 2, 3), (2, 0, 4)]);
    let bytes = |net: &NetworkSpec, src: u32| -> u64 {
        net.flows.iter().filter(|f| f.src.0 == src).map(|f| f.size).sum()
    };
    // 2 S (P - 1) / P, S (P - 1) / P; of all-gather every rank has S.
    for (kind, each) in [(0, 24), (2, 48), (7, 12), (6, 12)] {
        let net = together(4, kind, 16);
        assert_eq!((0..4).map(|src| bytes(&net, src)).collect::<Vec<_>>(), [each; 4], "kind {kind}");
    }
    // To the one after it, to the one after that.
    let mut pairs = ends(&together(3, 6, 9).flows);
    pairs.sort_unstable();
    assert_eq!(pairs, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
    let mut tree = sent(&together(5, 5, 9));
    tree.sort_unstable();
    assert_eq!(tree, [(0, 1, 9), (0, 2, 9), (0, 4, 9), (1, 3, 9)]);
}

/// Two all-reduces of two ranks that depend on nothing: the second begins at a rank after the end of the first there,
/// or at once.
#[test]
fn operations_of_a_group_come_one_after_the_other_or_at_once() {
    let call = |id| node(id, COLL, &[], &[attribute("comm_type", 0), attribute("comm_size", 10)]);
    let ranks = vec![file(&[call(1), call(2)]); 2];
    let first = |keys: &str| {
        let net = network(&ranks, keys);
        let free = |work: &usize| net.precedence.of_step(Step::Work(WorkId::from(*work))).is_empty();
        (net.flows.len(), (0..net.works.len()).filter(free).count())
    };
    assert_eq!(first(""), (8, 2));
    assert_eq!(first("collectives = \"at-once\""), (8, 4));
}

/// Whether a step comes after a flow, directly or by way of others.
fn comes_after(net: &NetworkSpec, step: Step, flow: Step) -> bool {
    let before = net.precedence.of_step(step);
    before.iter().any(|one| one.step() == flow || comes_after(net, one.step(), flow))
}

/// The root of two broadcasts, which has everything from the beginning: the second begins as the first has arrived.
#[test]
fn a_broadcast_is_over_at_its_root_when_it_has_arrived() {
    let call = |id| node(id, COLL, &[], &[attribute("comm_type", 5), attribute("comm_size", 10)]);
    let ranks = vec![file(&[call(1), call(2)]); 2];
    for (keys, expected) in [("", true), ("collectives = \"at-once\"", false)] {
        let net = network(&ranks, keys);
        assert_eq!(sent(&net), [(0, 1, 10), (0, 1, 10)]);
        let [first, second] = [0, 1].map(|flow| Step::Flow(FlowId(flow)));
        assert_eq!(comes_after(&net, second, first), expected, "{keys}");
    }
}

#[test]
fn the_ranks_of_a_group_are_those_of_its_file() {
    let of = |group: &str| {
        let call = [attribute("comm_type", 5), attribute("comm_size", 9), text("pg_name", group)];
        file(&[node(1, COLL, &[], &call)])
    };
    let nothing = file(&[node(1, 1, &[], &[])]);
    let ranks = [of("tp"), nothing.clone(), of("tp")];
    let e = refused(&ranks, "");
    assert!(
        e.contains("node 1 of rank 0 belongs to the process group `tp`, whose ranks are not known"),
        "{e}"
    );
    let e = refused(&ranks, "groups = \"groups.json\"");
    assert!(e.contains("group `all` has no ranks, or one twice"), "{e}");
}

#[test]
fn what_does_not_match_is_refused() {
    let other = [file(&[collective(0, 10)]), file(&[collective(0, 11)])];
    let e = refused(&other, "");
    assert!(
        e.contains(
            "node 1 of rank 1 differs in kind or size from node 1 of rank 0, the same call of the group"
        ),
        "{e}"
    );
    let from = |root| {
        let call = [attribute("comm_type", 5), attribute("comm_size", 9), attribute("comm_src", root)];
        file(&[node(1, COLL, &[], &call)])
    };
    let e = refused(&[from(0), from(1)], "");
    assert!(
        e.contains("node 1 of rank 1 broadcasts from rank 1, and another rank of its group from 0"),
        "{e}"
    );
    let none = [file(&[collective(0, 10)]), file(&[])];
    let e = refused(&none, "");
    assert!(e.contains("node 1 of rank 0 is call 0 in its group, and rank 1 makes fewer calls"), "{e}");
    let e = refused(&[file(&[node(1, 4, &[9], &[])]), file(&[])], "");
    assert!(e.contains("node 1 of rank 0 waits for node 9, which is not in the file"), "{e}");
    let twice = file(&[node(1, 4, &[], &[]), node(1, 4, &[], &[])]);
    let e = refused(&[twice, file(&[])], "");
    assert!(e.contains("node 1 of rank 0 has the same number as an earlier node"), "{e}");
    let to = |rank| {
        let size = attribute("comm_size", 9);
        refused(&[file(&[node(1, SEND, &[], &[size, attribute("comm_dst", rank)])]), file(&[])], "")
    };
    assert!(to(2).contains("node 1 of rank 0 names rank 2, which does not exist"), "{}", to(2));
    assert!(to(0).contains("node 1 of rank 0 names its own rank"), "{}", to(0));
    let lonely = "rank 0 sends from 0 to 1 with tag 0, and there is no receive for it";
    assert!(to(1).contains(lonely), "{}", to(1));
    let circle = file(&[collective(0, 10), node(2, 4, &[3], &[]), node(3, 4, &[2], &[])]);
    let e = refused(&[circle, file(&[collective(0, 10)])], "");
    assert!(e.contains("nodes wait for each other in a cycle: "), "{e}");
    let e = refused(&[file(&[node(1, 4, &[], &[number(7, 9)])])], "");
    assert!(e.contains("the traces contain no messages"), "{e}");
    let e = refused(&vec![file(&[collective(0, 10)]); 2], "hosts = [0, 1, 2]");
    assert!(e.contains("the trace has 2 ranks, and 3 hosts are named"), "{e}");
}
