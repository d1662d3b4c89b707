use super::*;
use proptest::prelude::*;

const TRACE: &str = "num_ranks 2\n\
    /* two ranks\n   say hello */\n\
    rank 0 {\n\
    l1: calc 100 cpu 1 // busy\n\
    l2: send 10b to 1 tag 5 nic 3\n\
    recv 7b from 1 tag 6\n\
    l2 requires l1 }\n\
    rank 1 { a : recv 10b from 0 tag 5 cpu 2\n\
    b: send 7b to 0 tag 6\n\
    b irequires a b requires a }\n";

fn message(text: &str) -> String {
    let e = parse(text).expect_err(text);
    format!("{}: {}", e.line, e.reason)
}

#[test]
fn operations_are_read_with_what_they_wait_for_and_matched() {
    let trace = parse(TRACE).expect("a trace");
    let op = |line, rank, cpu, what, after| Op { line, rank, cpu: Some(cpu), what, after };
    let expected = [
        op(5, 0, 1, What::Calc { lasts: Span::from_ns(100) }, vec![]),
        op(6, 0, 0, What::Send { size: 10, to: 1, tag: 5 }, vec![(0, Wait::Done)]),
        op(7, 0, 0, What::Recv { size: 7, from: 1, tag: 6 }, vec![]),
        op(9, 1, 2, What::Recv { size: 10, from: 0, tag: 5 }, vec![]),
        op(10, 1, 0, What::Send { size: 7, to: 0, tag: 6 }, vec![(3, Wait::Started), (3, Wait::Done)]),
    ];
    assert_eq!(trace.ops, expected);
    assert_eq!((trace.ranks, trace.partners), (2, vec![None, Some(3), Some(4), Some(1), Some(2)]));
}

#[test]
fn sends_and_receives_of_one_tag_are_matched_in_their_order() {
    let text = "num_ranks 2 rank 0 { send 1b to 1 send 2b to 1 tag 7 send 3b to 1 }\n\
                rank 1 { recv 2b from 0 tag 7 recv 1b from 0 tag 0 recv 3b from 0 }";
    assert_eq!(parse(text).expect("a trace").partners, [4, 3, 5, 1, 0, 2].map(Some));
}

#[test]
fn what_is_wrong_is_reported_with_its_line() {
    let with = |from: &str, to: &str| message(&TRACE.replacen(from, to, 1));
    assert_eq!(message(""), "1: the trace ends where `num_ranks` is expected");
    assert_eq!(with("num_ranks 2", "ranks 2"), "1: `ranks` is not `num_ranks`");
    assert_eq!(with("num_ranks 2", "num_ranks 0"), "1: `0` is not a number of ranks");
    assert_eq!(with("num_ranks 2", "num_ranks x"), "1: `x` is not the number of ranks");
    assert_eq!(with("hello */", "hello"), "2: the comment has no end");
    assert_eq!(with("rank 0", "task 0"), "4: `task` is not `rank`");
    assert_eq!(with("rank 0", "rank 2"), "4: `2` is not a rank");
    assert_eq!(with("rank 1", "rank 0"), "9: rank 0 has a block already, in line 4");
    assert_eq!(with("l1 }", "l1"), "9: `rank` is not an operation");
    assert_eq!(with("b requires a }", "b requires a"), "12: the trace ends where `}` is expected");
    assert_eq!(with("calc 100", "calc -100"), "5: `-100` is not a time in nanoseconds");
    assert_eq!(with("calc 100", "calc 3600000000001"), "5: `3600000000001` is too long");
    assert_eq!(with("calc 100 cpu 1", "calc 100 tag 1"), "5: `tag` does not apply to a computation");
    assert_eq!(with("calc 100 cpu 1", "calc 100 cpu 1 cpu 2"), "5: `cpu` is given twice");
    assert_eq!(with("calc 100 cpu 1", "sleep 100"), "5: `sleep` is not an operation");
    assert_eq!(with("cpu 1", "cpu -1"), "5: `-1` is not a processor");
    assert_eq!(with("nic 3", "nic x"), "6: `x` is not a link");
    assert_eq!(with("send 10b", "send 10"), "6: `10` is not a size");
    assert_eq!(with("send 10b", "send 9223372036854775808b"), "6: `9223372036854775808b` is too large");
    assert_eq!(with("to 1", "at 1"), "6: `at` is not `to`");
    assert_eq!(with("to 1", "to 0"), "6: `0` is the rank itself");
    assert_eq!(with("from 1", "from 2"), "7: `2` is not a rank");
    assert_eq!(with("from 1", "from -1"), "7: `-1` means any source, which is not supported");
    assert_eq!(with("from 1 tag 6", "from 1 tag -1"), "7: `-1` means any tag, which is not supported");
    assert_eq!(with("l2: ", "l1: "), "6: `l1` is the label of an earlier operation");
    assert_eq!(with("l2 requires l1", "l2 requires a"), "8: `a` is not a label of rank 0");
    assert_eq!(with("l2 requires l1", "l3 requires l1"), "8: `l3` is not a label of rank 0");
    assert_eq!(with("l2 requires l1", "l2 requires l2"), "8: `l2` waits for itself");
    assert_eq!(with("l2 requires l1", "l2 awaits l1"), "8: `l2` is not an operation");
    let lonely = "6: rank 0 sends from 0 to 1 with tag 4, and there is no receive for it";
    assert_eq!(with("1 tag 5", "1 tag 4"), lonely);
    let lonely = "7: rank 0 receives from 1 to 0 with tag 4, and there is no send for it";
    assert_eq!(with("from 1 tag 6", "from 1 tag 4"), lonely);
    assert_eq!(with("recv 7b", "recv 8b"), "10: it has 7 bytes, and the other end in line 7 has 8");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(words in prop::collection::vec(0..24usize, 0..60)) {
        const WORDS: [&str; 24] = [
            "num_ranks", "2", "rank", "0", "{", "}", "a", ":", "send", "recv", "calc", "10b", "to", "from", "1",
            "tag", "cpu", "requires", "irequires", "//", "\n", "/*", "*/", "-1",
        ];
        let text: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        crate::fuzzing::goal(&text.join(" "));
        crate::fuzzing::goal(&format!("num_ranks 2 rank 0 {{ a: calc 1 {}", text.join(" ")));
    }
}
