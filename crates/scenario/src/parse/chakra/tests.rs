use super::encode::{attribute, bytes, file, node, number, text};
use super::*;
use proptest::prelude::*;
use thalweg_units::Stream;

fn one(node: Vec<u8>) -> Result<What, String> {
    parse(&file(&[node])).map(|mut nodes| nodes.remove(0).what).map_err(|e| e.reason)
}

#[test]
fn nodes_are_read_with_both_kinds_of_dependencies() {
    let size = || attribute("comm_size", 300);
    let nodes = [
        node(7, 4, &[], &[number(7, 20), attribute("is_cpu_op", 1)]),
        node(8, 5, &[7], &[number(4, 300), size(), attribute("comm_dst", 3), attribute("comm_tag", 200)]),
        node(300, 6, &[8, 7, 8], &[size(), attribute("comm_src", 2)]),
        node(301, 3, &[], &[number(7, 2), bytes(2, b"a name"), number(6, 99)]),
        node(302, 7, &[], &[size(), attribute("comm_type", 0), text("pg_name", "tp")]),
        node(303, 1, &[], &[]),
    ];
    let read = parse(&file(&nodes)).expect("a trace");
    let expected = [
        (7, vec![], What::Compute(Span::from_us(20))),
        (8, vec![7, 300], What::Send { size: 300, to: 3, tag: 200 }),
        (300, vec![7, 8], What::Recv { size: 300, from: 2, tag: 0 }),
        (301, vec![], What::Memory(Span::from_us(2))),
        (
            302,
            vec![],
            What::Collective { kind: Collective::AllReduce, size: 300, group: Some("tp".into()), root: None },
        ),
        (303, vec![], What::Nothing),
    ];
    let expected: Vec<Node> =
        expected.into_iter().map(|(id, after, what)| Node { id, after, what }).collect();
    assert_eq!(read, expected);
}

#[test]
fn what_is_not_supported_is_refused_by_its_name() {
    let size = || attribute("comm_size", 300);
    let refused = |kind, more: &[Vec<u8>]| one(node(5, kind, &[], more)).expect_err("refused");
    let collective = |kind| refused(7, &[size(), attribute("comm_type", kind)]);
    let names = [(1, "REDUCE"), (3, "GATHER"), (4, "SCATTER"), (8, "REDUCE_SCATTER_BLOCK"), (9, "BARRIER")];
    for (kind, name) in names {
        let reason = format!("node 5 is a collective operation of kind {name}, which is not supported");
        assert_eq!(collective(kind), reason);
    }
    assert_eq!(collective(99), "node 5 is a collective operation of kind unknown, which is not supported");
    assert_eq!(refused(7, &[size()]), "node 5 is a collective operation without `comm_type`");
    assert_eq!(refused(7, &[attribute("comm_type", 0)]), "node 5 has no `comm_size`");
    let some = bytes(10, &[bytes(1, b"involved_dim"), bytes(28, &bytes(1, &[1, 0]))].concat());
    let reason = "node 5 leaves out dimensions of a network (`involved_dim`)";
    assert_eq!(refused(7, &[size(), attribute("comm_type", 0), some]), reason);
    let all = bytes(10, &[bytes(1, b"involved_dim"), bytes(28, &bytes(1, &[1, 1]))].concat());
    assert!(one(node(5, 7, &[], &[size(), attribute("comm_type", 0), all])).is_ok());
    assert_eq!(refused(8, &[]), "node 5 is a STORAGE_NODE, which is not supported");
    assert_eq!(refused(9, &[]), "node 5 is a BATCH_NODE, which is not supported");
    assert_eq!(refused(10, &[]), "node 5 is a CHECKPOINT_NODE, which is not supported");
    assert_eq!(refused(0, &[]), "node 5 has an unknown type");
    assert_eq!(refused(4, &[attribute("num_ops", 9)]), "node 5 has `num_ops` but no `duration_micros`");
    assert_eq!(refused(4, &[text("num_ops", "9.5")]), "node 5 has `num_ops` but no `duration_micros`");
    assert_eq!(refused(4, &[number(7, 3_600_000_001)]), "node 5 lasts more than an hour");
    let reason = "node 5 sends, and has no `comm_dst` or `comm_tag` that is a number";
    assert_eq!(refused(5, &[size()]), reason);
    let named = [size(), attribute("comm_dst", 3), text("comm_tag", "A")];
    assert_eq!(refused(5, &named), reason);
    assert_eq!(parse(b"{\"nodes\": []}").expect_err("JSON").reason, "this is not a Chakra trace");
    assert_eq!(parse(b"").expect_err("nothing").reason, "this is not a Chakra trace");
}

/// All-to-all and all-reduce after a computation; and a message to the other rank, which both send: refused.
#[test]
fn no_mutated_job_panics() {
    let call = |id, after: &[u64], kind| {
        node(id, 7, after, &[attribute("comm_type", kind), attribute("comm_size", 300)])
    };
    let message = [attribute("comm_size", 300), attribute("comm_dst", 1), attribute("comm_tag", 7)];
    let calls = [node(1, 4, &[], &[]), call(2, &[1], 6), call(3, &[2, 1], 0)];
    for good in [file(&calls), file(&[node(1, 4, &[], &[]), node(9, 5, &[1], &message)])] {
        assert!(parse(&good).is_ok());
        crate::fuzzing::chakra(&good);
        let mut s = Stream::new(2026, "chakra", good.len() as u64);
        for _ in 0..5000 {
            let mut bytes = good.clone();
            for _ in 0..=s.below(3) {
                let at = s.below(bytes.len() as u64) as usize;
                match s.below(3) {
                    0 => bytes[at] = s.below(256) as u8,
                    1 => bytes.insert(at, s.below(256) as u8),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            crate::fuzzing::chakra(&bytes);
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        noise in prop::collection::vec(any::<u8>(), 0..80),
        at in 0..60usize,
        byte: u8,
    ) {
        let _ = parse(&noise);
        let size = attribute("comm_size", 300);
        let mut good = file(&[node(8, 5, &[7], &[size, attribute("comm_dst", 3)]), node(9, 4, &[], &[])]);
        let at = at % good.len();
        good[at] = byte;
        let _ = parse(&good);
        let _ = parse(&good[..at]);
    }
}
