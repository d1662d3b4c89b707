//! `[transport]` of kinds `homa` and `expresspass`: defaults that depend on the hosts' rate, the schedulers' classes
//! and the sizes of messages.

use super::super::Delivery;
use super::{Dependent, silence};
use crate::quantity::Q;
use crate::schema::{ExpressPass, Homa, Rank};
use crate::topology::Graph;
use crate::traffic::sizes::cdf::Cdf;
use thalweg_machines::congestion::Paths;
use thalweg_units::{Bytes, Span};

impl Dependent for Homa {
    fn ecn_capable(&self) -> bool {
        false
    }

    fn resolve(&mut self, _: Option<Rank>, _: Delivery) {}

    fn by_classes(&mut self, classes: u32) {
        self.levels.get_or_insert(u8::try_from(classes.max(1)).unwrap_or(u8::MAX));
    }

    fn by_graph(&mut self, graph: &Graph, paths: &mut dyn Paths) {
        let (payload, header) = (self.payload.0.get(), self.header.0.get());
        if self.rtt_bytes.is_none() && payload > 0 {
            let wire = graph.fastest_host().over(paths.base_rtt()).get();
            let packets = wire.div_ceil(payload.saturating_add(header)).max(1);
            self.rtt_bytes = Some(Q(Bytes::new(packets.saturating_mul(payload))));
        }
        self.resend.get_or_insert_with(|| silence(Span::from_ms(5), paths));
    }

    fn by_sizes(&mut self, sizes: &Cdf) {
        let (Some(rtt_bytes), Some(levels), None) = (self.rtt_bytes, self.levels, &self.cutoffs) else {
            return;
        };
        self.cutoffs = Some(cuts(sizes, rtt_bytes.0.get(), u32::from(levels)));
    }
}

/// The cutoffs of unscheduled levels (Homa §3.4), without duplicates.
fn cuts(sizes: &Cdf, rtt_bytes: u64, levels: u32) -> Vec<Q<Bytes>> {
    /// Number of quantiles that the distribution is evaluated at: enough to find the share of messages beyond RTTbytes
    /// to a thousandth.
    const DRAWS: u32 = 100_000;
    let size = |n: u32| sizes.quantile((f64::from(n) + 0.5) / f64::from(DRAWS));
    let unscheduled = |n: u32| size(n).min(rtt_bytes) as f64;
    let all: f64 = (0..DRAWS).map(unscheduled).sum();
    let share = all / f64::from(DRAWS) / sizes.mean();
    // With two levels or more, at least one remains for scheduled packets.
    let count = (libm::round(share * f64::from(levels)) as u32).clamp(1, levels.saturating_sub(1).max(1));
    let mut cuts: Vec<u64> = Vec::new();
    let mut sum = 0.0;
    for n in 0..DRAWS {
        sum += unscheduled(n);
        let level = cuts.len() as u32 + 1;
        if level < count && sum >= all * f64::from(level) / f64::from(count) && cuts.last() != Some(&size(n))
        {
            cuts.push(size(n));
        }
    }
    cuts.into_iter().map(|size| Q(Bytes::new(size))).collect()
}

impl Dependent for ExpressPass {
    fn ecn_capable(&self) -> bool {
        false
    }

    fn resolve(&mut self, _: Option<Rank>, _: Delivery) {}

    fn by_graph(&mut self, graph: &Graph, paths: &mut dyn Paths) {
        self.retry.get_or_insert_with(|| silence(Span::from_ms(1), paths));
        let rate = graph.fastest_host();
        if rate.bps() > 0 && self.max_rate.is_none() {
            self.max_rate = Some(Q(self.share(rate)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the messages have 1000 B, half 9000 B; RTTbytes are 3000: unscheduled are 4000 B of 10 000.
    #[test]
    fn unscheduled_levels_are_as_many_as_their_share_and_have_as_many_bytes_each() {
        let two = Cdf::atoms(&[(1000, 0.5), (9000, 0.5)]);
        let at = |levels| cuts(&two, 3000, levels).iter().map(|q| q.0.get()).collect::<Vec<_>>();
        // Two of five levels: half of the bytes are those of larger messages already, so the cut is theirs.
        assert_eq!(at(5), [9000]);
        assert_eq!(at(10), [1000, 9000], "a size that fills two levels cuts once");
        assert_eq!((at(2), at(1)), (vec![], vec![]));
    }

    /// BFC, App. F: of 32 levels 18 for Google's, 6 for Facebook's sizes, where 100 KB leave unscheduled.
    #[test]
    fn of_32_levels_18_and_6_are_for_unscheduled_packets_of_two_published_workloads() {
        let of = |sizes: &crate::schema::Sizes| {
            cuts(&crate::traffic::sizes::named::published(sizes).expect("a table"), 100_000, 32).len() + 1
        };
        assert_eq!(of(&crate::schema::Sizes::GoogleRpc), 18);
        assert_eq!(of(&crate::schema::Sizes::FacebookHadoopFine), 6);
    }
}
