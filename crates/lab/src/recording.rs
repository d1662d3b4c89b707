//! A run's recording on its way out, and what is counted in passing: the recording itself may be deleted.

use crate::histogram::{Times, count};
use crate::table::column;
use crate::{ColumnData, Table};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use thalweg_net::spec::FlowSpec;
use thalweg_sim::Recorded;

/// Counts over the packets recorded so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordingCounts {
    packets: u64,
    inside: u64,
    lost: u64,
    /// Packets by wire size.
    wire: BTreeMap<u32, u64>,
    /// Packets that left by number of switch ports at which they had to wait.
    congestion_points: Vec<u64>,
    hops: Option<(u8, u8)>,
    /// Data packets of measured flows that left: from the NIC's queue to the destination.
    delay: Times,
    /// The same packets, at switch ports.
    waited: Times,
}

impl RecordingCounts {
    pub fn add(&mut self, rows: &Recorded, flows: &[FlowSpec]) {
        // Most packets are as large as the one before.
        let mut run = (0, 0);
        for row in 0..rows.flow.len() {
            if rows.wire[row] != run.0 {
                *self.wire.entry(run.0).or_default() += run.1;
                run = (rows.wire[row], 0);
            }
            run.1 += 1;
            self.packets += 1;
            let exit = rows.exit[row];
            if rows.losses.at[row] != u64::MAX {
                self.lost += 1;
                continue;
            }
            if exit == u64::MAX {
                self.inside += 1;
                continue;
            }
            count(&mut self.congestion_points, rows.queues[row]);
            let hops = rows.hops[row];
            self.hops = Some(self.hops.map_or((hops, hops), |(a, b)| (a.min(hops), b.max(hops))));
            if rows.forward[row] == 1 && flows[rows.flow[row] as usize].measured {
                self.delay.add(exit - rows.handed[row]);
                self.waited.add(rows.waited[row]);
            }
        }
        *self.wire.entry(run.0).or_default() += run.1;
    }

    pub fn summary(&self) -> Json {
        // The smaller one of two equally common sizes.
        let common = self.wire.iter().rev().max_by_key(|(_, n)| **n).map_or(0, |(wire, _)| *wire);
        json!({
            "recorded": self.packets,
            "left": self.packets - self.inside - self.lost,
            "inside": self.inside,
            "lost": self.lost,
            "delay_us": self.delay.summary_us(),
            "waited_us": self.waited.summary_us(),
            "congestion_points": self.congestion_points,
            "hops": self.hops.map(|(min, max)| json!({ "min": min, "max": max })),
            "most_common_wire_bytes": common,
        })
    }

    pub fn tables(&self) -> Vec<Table> {
        let bins: Vec<_> = self.delay.histogram.bins().collect();
        vec![Table {
            name: "delays",
            doc: "Delay of the data packets of measured flows that left, NIC queue included: packets per bin.",
            columns: vec![
                column("from_ps", "ps", "at least", ColumnData::F64(bins.iter().map(|b| b.0).collect())),
                column("to_ps", "ps", "less than", ColumnData::F64(bins.iter().map(|b| b.1).collect())),
                column(
                    "packets",
                    "",
                    "with such a delay",
                    ColumnData::U64(bins.iter().map(|b| b.2).collect()),
                ),
            ],
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{HostId, Time};

    fn flow(measured: bool) -> FlowSpec {
        FlowSpec {
            src: HostId(0),
            dst: HostId(1),
            size: 1,
            start: Time::ZERO,
            until: Time::MAX,
            connection: u32::MAX,
            back_to_back: false,
            transport: 0,
            class: 0,
            measured,
            group: 0,
        }
    }

    #[test]
    fn delays_are_of_measured_data_that_left() {
        let rows = Recorded {
            flow: vec![0, 0, 0, 1, 0],
            forward: vec![1, 0, 1, 1, 1],
            seq: vec![0; 5],
            wire: vec![1500, 40, 1500, 1500, 1500],
            handed: vec![1_000_000; 5],
            ingress: vec![2_000_000; 5],
            exit: vec![4_000_000, 9_000_000, u64::MAX, 9_000_000, u64::MAX],
            losses: thalweg_sim::recording::Losses {
                at: vec![u64::MAX, u64::MAX, u64::MAX, u64::MAX, 3_000_000],
                ..Default::default()
            },
            waited: vec![500_000; 5],
            queues: vec![1, 0, 3, 1, 0],
            hops: vec![2, 3, 9, 4, 9],
            ..Recorded::default()
        };
        let mut counts = RecordingCounts::default();
        counts.add(&rows, &[flow(true), flow(false)]);
        let s = counts.summary();
        assert_eq!((&s["recorded"], &s["left"]), (&json!(5), &json!(3)));
        assert_eq!((&s["inside"], &s["lost"]), (&json!(1), &json!(1)));
        assert_eq!((&s["delay_us"]["count"], &s["delay_us"]["mean"]), (&json!(1), &json!(3.0)));
        assert_eq!((&s["congestion_points"], &s["hops"]), (&json!([1, 2]), &json!({ "min": 2, "max": 4 })));
        assert_eq!(s["most_common_wire_bytes"], 1500);
    }
}
