//! Schedules written as in the papers: per node `p(arrival, start)` in units, e.g. `a(0,0) b(0,0.5)`.

use crate::candidate::Replay;
use crate::instance::{Flow, Instance, Node, Packet, UNIT};
use crate::original::Record;

/// Tenths of a [`UNIT`]: what the printed tables need.
const TENTH: i64 = UNIT / 10;

/// A worked example: packets with names, a schedule given by its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name of each packet.
    pub names: Vec<&'static str>,
    /// Nodes, flows, packets; every packet is a flow, except that `c1`, `c2` are two packets of flow c.
    pub instance: Instance,
    /// The original schedule.
    pub record: Record,
    /// The table that it was read from, a line per node.
    pub table: Vec<&'static str>,
}

/// A line of a table, without spaces to spare: name, arrival and start, ps.
fn entries(line: &str) -> Vec<(&str, i64, i64)> {
    let entry = |text: &'_ str| -> Option<(usize, i64, i64)> {
        let (name, times) = text.strip_suffix(')')?.split_once('(')?;
        let (arrive, start) = times.split_once(',')?;
        Some((name.len(), units(arrive)?, units(start)?))
    };
    line.split(' ')
        .map(|text| {
            let (name, arrive, start) =
                entry(text).unwrap_or_else(|| panic!("`{text}` is not p(arrival,start)"));
            (&text[..name], arrive, start)
        })
        .collect()
}

/// Picoseconds of a number of units with at most one decimal place.
fn units(text: &str) -> Option<i64> {
    let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
    (tenths.len() == 1).then_some(())?;
    Some(whole.parse::<i64>().ok()? * UNIT + tenths.parse::<i64>().ok()? * TENTH)
}

/// A time in units, as printed.
pub fn show(ps: i64) -> String {
    let tenths = ps / TENTH;
    assert_eq!(tenths * TENTH, ps, "no decimal place is enough");
    if tenths % 10 == 0 { (tenths / 10).to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) }
}

impl Example {
    /// `services`: T of each node, units. `packets`: name, path, propagation between the first two nodes in units,
    /// arrival in units. `table`: the original, a line per node.
    ///
    /// # Panics
    /// If the table is not one.
    pub fn new(
        services: &[&str],
        packets: &[(&'static str, &[usize], i64, i64)],
        table: &[&'static str],
    ) -> Self {
        let nodes = services.iter().map(|t| Node { per_size: units(t).expect("a time") }).collect();
        let family = |name: &'static str| name.trim_end_matches(|c: char| c.is_ascii_digit());
        let mut families: Vec<&str> = Vec::new();
        let mut flows = Vec::new();
        for (name, path, gap, _) in packets {
            if !families.contains(&family(name)) {
                families.push(family(name));
                let mut delays = vec![0; path.len() + 1];
                if path.len() > 1 {
                    delays[1] = gap * UNIT;
                }
                flows.push(Flow { path: path.to_vec(), delays });
            }
        }
        let flow = |name| families.iter().position(|f| *f == family(name)).expect("just made");
        let mut sorted = packets.to_vec();
        sorted.sort_by_key(|(name, _, _, arrival)| (*arrival, flow(name)));
        let list =
            sorted.iter().map(|&(name, _, _, at)| Packet { flow: flow(name), size: 1, arrival: at * UNIT });
        let instance = Instance { nodes, flows, packets: list.collect() };
        let names: Vec<_> = sorted.iter().map(|p| p.0).collect();
        let starts: Vec<Vec<i64>> = (0..names.len())
            .map(|p| {
                let at = |node: &usize| {
                    let line = entries(table[*node]);
                    line.iter().find(|e| e.0 == names[p]).expect("in the table of every node of its path").2
                };
                instance.path(p).iter().map(at).collect()
            })
            .collect();
        let record = Record::from_starts(&instance, &starts);
        Self { names, instance, record, table: table.to_vec() }
    }

    /// The packet called `name`.
    ///
    /// # Panics
    /// If there is none.
    pub fn packet(&self, name: &str) -> usize {
        self.names.iter().position(|n| *n == name).expect("a packet of the example")
    }

    /// The table of a schedule: lines of `p(arrival,start)` in order of start.
    pub fn tabulate(&self, at: impl Fn(usize, usize) -> (i64, i64)) -> Vec<String> {
        let mut lines = vec![Vec::new(); self.instance.nodes.len()];
        for p in 0..self.names.len() {
            for (k, &node) in self.instance.path(p).iter().enumerate() {
                let (arrive, start) = at(p, k);
                lines[node].push((start, format!("{}({},{})", self.names[p], show(arrive), show(start))));
            }
        }
        let line = |mut entries: Vec<(i64, String)>| {
            entries.sort();
            entries.into_iter().map(|e| e.1).collect::<Vec<_>>().join(" ")
        };
        lines.into_iter().map(line).collect()
    }

    /// The table of the original schedule.
    pub fn original(&self) -> Vec<String> {
        self.tabulate(|p, k| (self.record.hops[p][k].arrive, self.record.hops[p][k].start))
    }

    /// The table of a replay in which no packet was interrupted.
    pub fn replayed(&self, replay: &Replay) -> Vec<String> {
        self.tabulate(|p, k| {
            let hop = replay.hops[p][k];
            (hop.arrive, hop.leave - self.instance.service(p, k))
        })
    }

    /// o(p) or o'(p) of each packet, in units: `a=5 x=4`, in order of name.
    pub fn exits(&self, exit: &[i64]) -> String {
        let mut list: Vec<_> =
            self.names.iter().zip(exit).map(|(n, &at)| format!("{n}={}", show(at))).collect();
        list.sort();
        list.join(" ")
    }

    /// Who is late by how much, in units: `b2+1 b3+1`, in order of name.
    pub fn late(&self, replay: &Replay) -> String {
        let late = replay.overdue(&self.record.exit);
        let mut list: Vec<_> =
            late.iter().map(|&(p, by)| format!("{}+{}", self.names[p], show(by))).collect();
        list.sort();
        list.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_and_written_alike() {
        let table = ["a(0,0) b(0,1)", "a(3,3.2)"];
        let e = Example::new(&["1", "0.2"], &[("a", &[0, 1], 2, 0), ("b", &[0], 0, 0)], &table);
        assert_eq!(e.original(), table);
        assert_eq!(e.exits(&e.record.exit), "a=3.4 b=2");
        e.record.check(&e.instance).expect("viable");
    }
}
