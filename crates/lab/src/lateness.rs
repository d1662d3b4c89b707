//! A replay against its original: what is overdue, by how much, and who waited longer (ups §2.3).

use crate::histogram::{LogHistogram, Times, count};
use crate::originals::Original;
use crate::table::column;
use crate::{ColumnData, Table};
use serde_json::{Value as Json, json};
use thalweg_units::Span;

/// Added to both queueing delays before they are divided: 0 / 0 is 1.
const BIAS: f64 = 1000.0;

/// All comparisons so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness {
    threshold: u64,
    /// Packets of the original that left.
    packets: u64,
    /// Packets of the original that had not left at its end.
    not_compared: u64,
    overdue: u64,
    beyond: u64,
    left: u64,
    not_slower: u64,
    late: Times,
    early: LogHistogram,
    router: LogHistogram,
    with_nic: LogHistogram,
    congestion_points: Vec<u64>,
    hops: Option<(u8, u8)>,
}

impl Lateness {
    pub fn new(threshold: Span) -> Self {
        Self { threshold: threshold.ps(), ..Self::default() }
    }

    /// A packet enters the replay.
    pub fn enter(&mut self, original: &Original, queues: u8, hops: u8) {
        if original.exit == u64::MAX {
            self.not_compared += 1;
            return;
        }
        self.packets += 1;
        count(&mut self.congestion_points, queues);
        self.hops = Some(self.hops.map_or((hops, hops), |(a, b)| (a.min(hops), b.max(hops))));
    }

    /// It leaves the replay.
    pub fn leave(&mut self, original: &Original, exit: u64, waited: u64) {
        if original.exit == u64::MAX {
            return;
        }
        self.left += 1;
        if exit > original.exit {
            let late = exit - original.exit;
            self.overdue += 1;
            self.beyond += u64::from(late > self.threshold);
            self.late.add(late);
        } else {
            self.early.add((original.exit - exit) as f64);
        }
        self.not_slower += u64::from(waited <= original.waited);
        let ratio = |extra: u64| ((waited + extra) as f64 + BIAS) / ((original.waited + extra) as f64 + BIAS);
        self.router.add(ratio(0));
        self.with_nic.add(ratio(original.nic));
    }

    /// Packets compared so far.
    pub fn compared(&self) -> u64 {
        self.left
    }

    /// The summary; all that have not left are overdue, by more than any threshold.
    pub fn summary(&self) -> Json {
        let never = self.packets - self.left;
        let of = |n: u64| if self.packets == 0 { 0.0 } else { n as f64 / self.packets as f64 };
        // The lower edges of their bins: equal delays have a ratio of 1, not of 1.004.
        let quantiles = |h: &LogHistogram| {
            let at = [
                ("p1", 0.01),
                ("p5", 0.05),
                ("p25", 0.25),
                ("p50", 0.5),
                ("p75", 0.75),
                ("p95", 0.95),
                ("p99", 0.99),
            ];
            Json::Object(
                at.iter()
                    .map(|(name, p)| ((*name).to_owned(), json!(h.quantile_bin(*p).map(|bin| bin.0))))
                    .collect(),
            )
        };
        json!({
            "packets": self.packets,
            "not_compared": self.not_compared,
            "overdue": of(self.overdue + never),
            "overdue_packets": self.overdue + never,
            "threshold_us": self.threshold as f64 / 1e6,
            "overdue_beyond_threshold": of(self.beyond + never),
            "overdue_beyond_threshold_packets": self.beyond + never,
            "never_left": never,
            "lateness_us": self.late.summary_us(),
            "not_slower": of(self.not_slower),
            "ratio": quantiles(&self.router),
            "ratio_with_nic": quantiles(&self.with_nic),
            "congestion_points": self.congestion_points,
            "hops": self.hops.map(|(min, max)| json!({ "min": min, "max": max })),
        })
    }

    pub fn tables(&self) -> Vec<Table> {
        vec![self.lateness(), self.ratios(), self.points()]
    }

    fn lateness(&self) -> Table {
        let early = self
            .early
            .bins()
            .rev()
            .map(|(from, to, n)| if from == 0.0 { (0.0, 0.0, n) } else { (-to, -from, n) });
        let bins: Vec<_> = early.chain(self.late.histogram.bins()).collect();
        Table {
            name: "lateness",
            doc: "How much later than in the original packets left: packets per bin; never: not in this table.",
            columns: vec![
                column(
                    "from_ps",
                    "ps",
                    "edge of the bin; negative: early",
                    ColumnData::F64(bins.iter().map(|b| b.0).collect()),
                ),
                column("to_ps", "ps", "other edge", ColumnData::F64(bins.iter().map(|b| b.1).collect())),
                column(
                    "packets",
                    "",
                    "that left so late",
                    ColumnData::U64(bins.iter().map(|b| b.2).collect()),
                ),
            ],
        }
    }

    fn ratios(&self) -> Table {
        // Both histograms in one list of bins.
        let mut bins: Vec<(f64, f64, u64, u64)> = self.router.bins().map(|(a, b, n)| (a, b, n, 0)).collect();
        bins.extend(self.with_nic.bins().map(|(a, b, n)| (a, b, 0, n)));
        bins.sort_by(|a, b| a.0.total_cmp(&b.0));
        bins.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.2 += next.2;
                kept.3 += next.3;
            }
            same
        });
        Table {
            name: "ratios",
            doc: "(queueing delay in the replay + 1 ns) / (queueing delay in the original + 1 ns): packets per bin.",
            columns: vec![
                column("from", "", "at least", ColumnData::F64(bins.iter().map(|b| b.0).collect())),
                column("to", "", "less than", ColumnData::F64(bins.iter().map(|b| b.1).collect())),
                column(
                    "router",
                    "",
                    "packets, waiting at switch ports",
                    ColumnData::U64(bins.iter().map(|b| b.2).collect()),
                ),
                column(
                    "with_nic",
                    "",
                    "packets, waiting at the NIC included",
                    ColumnData::U64(bins.iter().map(|b| b.3).collect()),
                ),
            ],
        }
    }

    fn points(&self) -> Table {
        Table {
            name: "congestion_points",
            doc: "Packets by the number of switch ports at which they had to wait, in the original.",
            columns: vec![
                column(
                    "points",
                    "",
                    "such ports",
                    ColumnData::U32((0..self.congestion_points.len() as u32).collect()),
                ),
                column("packets", "", "that met so many", ColumnData::U64(self.congestion_points.clone())),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overdue_is_strict_and_so_is_the_threshold() {
        let mut l = Lateness::new(Span::from_ns(10));
        let original = Original { exit: 1_000_000, waited: 5_000, nic: 9_000 };
        for (exit, waited) in
            [(999_999, 4_000), (1_000_000, 5_000), (1_000_001, 6_000), (1_010_000, 0), (1_010_001, 0)]
        {
            l.enter(&original, 2, 3);
            l.leave(&original, exit, waited);
        }
        l.enter(&original, 0, 4); // never leaves
        let unknown = Original { exit: u64::MAX, ..original };
        l.enter(&unknown, 9, 9);
        l.leave(&unknown, 5_000_000, 0);
        let s = l.summary();
        assert_eq!((&s["packets"], &s["not_compared"], &s["never_left"]), (&json!(6), &json!(1), &json!(1)));
        assert_eq!((&s["overdue_packets"], &s["overdue_beyond_threshold_packets"]), (&json!(4), &json!(2)));
        assert_eq!((&s["not_slower"], &s["overdue"]), (&json!(4.0 / 6.0), &json!(4.0 / 6.0)));
        assert_eq!(
            (&s["congestion_points"], &s["hops"]),
            (&json!([1, 0, 5]), &json!({ "min": 3, "max": 4 }))
        );
        let [lateness, ratios, _] = &l.tables()[..] else { panic!("three tables") };
        let total = |t: &Table, c: usize| match &t.columns[c].data {
            ColumnData::U64(v) => v.iter().sum::<u64>(),
            _ => 0,
        };
        assert_eq!((total(lateness, 2), total(ratios, 2), total(ratios, 3)), (5, 5, 5));
        // (4000 + 1000) / (5000 + 1000), (0 + 1000) / 6000 twice, 1, 7000 / 6000.
        let below_one: u64 = l.router.bins().filter(|b| b.0 < 1.0).map(|b| b.2).sum();
        assert_eq!(below_one, 3);
        // With the NIC's 9000: 14/15, 10/15 twice.
        assert!((l.with_nic.quantile(0.2).expect("values") - 10.0 / 15.0).abs() < 0.005);
    }
}
