//! TIMELY as the HPCC authors' simulator has it (alibaba-edu/High-Precision-Congestion-Control, `rdma-hw.cc`,
//! CC_MODE 7): one update per round trip (`once_per_round`), and hyper-active increase after so many
//! increases of any kind, counted when they have happened (`Count::Increase`).

use super::super::AckSample;
use super::{Count, Sample, Timely};

impl Timely {
    /// Whether this ACK begins a round: everything sent before the last such ACK is acknowledged.
    pub(super) fn opens_round(&mut self, ack: &AckSample) -> bool {
        let opens = ack.acked_to > self.round_end;
        if opens {
            self.round_end = ack.sent_to;
        }
        opens
    }

    /// After an update: counts it towards hyper-active increase if the variant counts increases.
    pub(super) fn count_behind(&mut self, sample: Sample) {
        if self.params.hyper.count == Count::Increase {
            self.count(self.raises(sample));
        }
    }

    /// The sample is one of those that Algorithm 1 increases at.
    fn raises(&self, Sample { rtt, gradient, .. }: Sample) -> bool {
        rtt < self.params.t_low.ps() as f64 || !self.is_high(rtt) && gradient <= 0.0
    }
}
