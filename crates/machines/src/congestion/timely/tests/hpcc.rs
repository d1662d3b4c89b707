//! TIMELY as the HPCC authors' simulator reads it (CC_MODE 7): one update per round trip, hyper-active after
//! five increases of any kind, a decrease of any size. Its arithmetic, in nanoseconds, next to ours.

use super::*;
use proptest::prelude::*;

/// What their scripts write for 100 Gb/s.
const HPCC: Params = Params {
    initial_share: 1.0,
    alpha: 0.875,
    additive: Rate::from_mbps(100),
    hyper: Hyper { after: 5, step: Rate::from_mbps(500), below_t_low: true, count: Count::Increase },
    once_per_round: true,
    max_decrease: 1.0,
    min_rate: Rate::from_gbps(1),
    ..PLAIN
};

/// Their state: rate in bit/s, round trip and average in ns.
struct Theirs {
    rate: f64,
    last: Option<f64>,
    average: f64,
    increases: u32,
    seen: u64,
}

impl Theirs {
    fn on_ack(&mut self, acked_to: u64, sent_to: u64, rtt: f64) {
        if acked_to <= self.seen {
            return;
        }
        if let Some(last) = self.last {
            self.average = 0.125 * self.average + 0.875 * (rtt - last);
            let gradient = self.average / 20_000.0;
            let factor = if rtt > 500_000.0 {
                1.0 - 0.8 * (1.0 - 500_000.0 / rtt)
            } else {
                f64::max(0.0, 1.0 - 0.8 * gradient)
            };
            if rtt < 50_000.0 || (rtt <= 500_000.0 && gradient <= 0.0) {
                self.rate = f64::min(100e9, self.rate + if self.increases < 5 { 100e6 } else { 500e6 });
                self.increases += 1;
            } else {
                self.rate = f64::max(1e9, libm::floor(self.rate * factor));
                self.increases = 0;
            }
        }
        self.seen = sent_to;
        self.last = Some(rtt);
    }
}

proptest! {
    #[test]
    fn it_equals_the_hpcc_authors_arithmetic(
        acks in prop::collection::vec((prop_oneof![5_000u64..60_000, 40_000u64..140_000, 5_000u64..2_000_000], 1u64..4), 1..300)
    ) {
        let line_rate = Rate::from_gbps(100);
        let mut ours = Timely::new(&Start { line_rate, ..start(1000, 10) }, HPCC);
        let mut theirs = Theirs { rate: 100e9, last: None, average: 0.0, increases: 0, seen: 0 };
        let (mut acked_to, mut sent_to) = (0, 3000);
        for (ns, packets) in acks {
            (acked_to, sent_to) = (acked_to + 1000, sent_to.max(acked_to + 1000 * packets));
            let (now, rtt) = (Time::from_us(acked_to), Some(Span::from_ns(ns)));
            ours.on_ack(&AckSample { now, rtt, acked_to, sent_to, ..ack(1000, 0) });
            theirs.on_ack(acked_to, sent_to, ns as f64);
            let bps = ours.rate.bps() as f64;
            prop_assert!((bps - theirs.rate).abs() <= 1e-9 * bps, "{} and {}", bps, theirs.rate);
            prop_assert_eq!(ours.in_a_row.min(5), theirs.increases.min(5));
        }
    }
}
