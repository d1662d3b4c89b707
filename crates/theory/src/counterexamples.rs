//! The three counter-examples of the papers (N Fig. 7 to 9, D Fig. A.1 to A.3), with their schedules.
//!
//! Between the nodes there are routers without service time; all propagation is 0 except on L in the second. A
//! packet is out of the network when its last node has served it.

use crate::table::Example;

/// N Fig. 7, D Fig. A.1: nothing that only knows i(p), o(p) and path(p) replays both. T = 1 everywhere.
///
/// `case` 1 or 2. Arrivals, paths and, of a and x, the exits are the same in both.
pub fn no_universal_scheduler(case: usize) -> Example {
    let packets: &[(&str, &[usize], i64, i64)] = &[
        ("a", &[0, 1, 2], 0, 0),
        ("x", &[0, 3, 4], 0, 0),
        ("b1", &[1], 0, 2),
        ("b2", &[1], 0, 3),
        ("b3", &[1], 0, 4),
        ("c1", &[2], 0, 2),
        ("c2", &[2], 0, 3),
        ("y1", &[3], 0, 2),
        ("y2", &[3], 0, 3),
        ("z", &[4], 0, 2),
    ];
    let tables = [
        [
            "a(0,0) x(0,1)",
            "a(1,1) b1(2,2) b2(3,3) b3(4,4)",
            "c1(2,2) c2(3,3) a(2,4)",
            "x(2,2) y1(2,3) y2(3,4)",
            "z(2,2) x(3,3)",
        ],
        [
            "x(0,0) a(0,1)",
            "a(2,2) b1(2,3) b2(3,4) b3(4,5)",
            "c1(2,2) c2(3,3) a(3,4)",
            "x(1,1) y1(2,2) y2(3,3)",
            "z(2,2) x(2,3)",
        ],
    ];
    Example::new(&["1"; 5], packets, &tables[case - 1])
}

/// What LSTF makes of [`no_universal_scheduler`]: x first, for its slack is 1 and a's is 2. Case 1 by the rules of M2;
/// case 2 is the original.
pub const LSTF_CASE_1: [&str; 5] = [
    "x(0,0) a(0,1)",
    "b1(2,2) a(2,3) b2(3,4) b3(4,5)",
    "c1(2,2) c2(3,3) a(4,4)",
    "x(1,1) y1(2,2) y2(3,3)",
    "z(2,2) x(2,3)",
];

/// N Fig. 8, D Fig. A.2: two congestion points are too many for static priorities; a must go before b at α1,
/// b before c at α2, c before a at α3. Nodes 0, 1, 2 are α1, α2, α3; L joins the first and the last for a.
pub fn priorities_in_a_circle() -> Example {
    let packets: &[(&str, &[usize], i64, i64)] =
        &[("a", &[0, 2], 2, 0), ("b", &[0, 1], 0, 0), ("c", &[1, 2], 0, 2)];
    Example::new(&["1", "0.5", "0.2"], packets, &["a(0,0) b(0,1)", "b(2,2) c(2,2.5)", "c(3,3) a(3,3.2)"])
}

/// N Fig. 9, D Fig. A.3: three congestion points are too many for LSTF. T = 1 everywhere.
pub fn three_points() -> Example {
    let packets: &[(&str, &[usize], i64, i64)] = &[
        ("a", &[0, 1, 2], 0, 0),
        ("b", &[0], 0, 0),
        ("c1", &[1], 0, 2),
        ("c2", &[1], 0, 3),
        ("d1", &[2], 0, 2),
        ("d2", &[2], 0, 3),
    ];
    let table = ["a(0,0) b(0,1)", "a(1,1) c1(2,2) c2(3,3)", "d1(2,2) d2(3,3) a(2,4)"];
    Example::new(&["1"; 3], packets, &table)
}

/// LSTF's replay of [`three_points`]: c2 is late by 1.
pub const LSTF_THREE_POINTS: [&str; 3] =
    ["b(0,0) a(0,1)", "c1(2,2) a(2,3) c2(3,4)", "d1(2,2) d2(3,3) a(4,4)"];
