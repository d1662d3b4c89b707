//! What docs/verbs.md states about headers, row by row.

use std::collections::BTreeSet;
use thalweg_machines::transport::rdma::Psn;
use thalweg_verbs::wire::{Aeth, Dialect, Opcode, Packet, Refusal, Syndrome};

const PAGE: &str = include_str!("../../../../docs/verbs.md");

/// Bytes that the encoder writes before the payload; `nack`: of one that reports a packet out of order.
fn header(name: &str, dialect: Dialect, nack: bool) -> Option<usize> {
    let opcode = Opcode::all(dialect).find(|opcode| opcode.name() == name)?;
    let mut packet = Packet::bare(opcode, dialect);
    if nack {
        packet.aeth = packet.aeth.map(|aeth| Aeth { syndrome: Syndrome::Nak(Refusal::Sequence), ..aeth });
        packet.sack = opcode.layout(dialect).sack.then_some(Psn::new(0));
    }
    let mut bytes = vec![];
    packet.encode(dialect, &mut bytes).unwrap();
    Some(bytes.len())
}

#[test]
fn the_table_of_headers_is_the_encoders() {
    let rows = PAGE.lines().skip_while(|line| !line.starts_with("| Packets | RoCE | IRN |")).skip(2);
    let mut seen = BTreeSet::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let nack = cells[0].contains("out of order");
        for name in cells[0].split('`').skip(1).step_by(2) {
            let stated = |cell: &str| (cell != "–").then(|| cell.parse::<usize>().unwrap());
            let [roce, irn] = [Dialect::Roce, Dialect::Irn].map(|dialect| header(name, dialect, nack));
            assert_eq!([stated(cells[1]), stated(cells[2])], [roce, irn], "{name} in {row}");
            assert!(seen.insert((nack, name)), "{name} stands twice");
            // What is added, as the last column explains it: each number, and one for "a byte of padding".
            let added = cells[3].split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<usize>().ok());
            let added = added.sum::<usize>() + usize::from(cells[3].contains("a byte of padding"));
            let more = irn.unwrap() - roce.unwrap_or_default();
            assert!(
                added == more || (roce.is_none() && cells[3] == "all of it"),
                "{name}: {added}, not {more}"
            );
        }
    }
    let all: BTreeSet<_> = Opcode::all(Dialect::Irn).map(|opcode| (false, opcode.name())).collect();
    assert!(seen.is_superset(&all), "not in the table: {:?}", all.difference(&seen));
    assert_eq!(seen.len(), all.len() + 2);
}
