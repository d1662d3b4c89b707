//! TIMELY's two sets of equations: Algorithm 1, or "patched" TIMELY, Algorithm 2 of Zhu, Ghobadi, Misra, Padhye, "ECN
//! or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.

use super::super::Problems;
use super::{Sample, Timely};
use thalweg_units::{Span, tagged};

tagged! {
    /// TIMELY's equations.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum Variant {
        /// Algorithm 1.
        #[default]
        Original,
        /// Patched TIMELY: a weight of the gradient mixes increase and decrease by the distance of the round
        /// trip from a reference (Zhu, Ghobadi, Misra, Padhye, CoNEXT 2016, Algorithm 2).
        Patched {
            /// RTT_ref: the reference round trip.
            #[schemars(extend("examples" = ["50us"]))]
            rtt_ref: Span,
        },
    }
}

impl Variant {
    /// What is wrong with it.
    pub(super) fn check(self, problems: &mut Problems) {
        if let Self::Patched { rtt_ref } = self {
            problems.positive("variant.rtt_ref", rtt_ref, "50us");
        }
    }
}

impl Timely {
    /// Between the thresholds, "patched": additive increase and a decrease by the distance from RTT_ref,
    /// weighted by the gradient (CoNEXT 2016, Algorithm 2, equation for w(g)); no hyper-active increase.
    pub(super) fn patched(
        &self,
        rate: f64,
        rtt_ref: f64,
        Sample { rtt, gradient, share, .. }: Sample,
    ) -> f64 {
        let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0); // 0 up to -1/4, 1 from 1/4 on
        let error = (rtt - rtt_ref) / rtt_ref;
        let delta = self.params.additive.bps() as f64;
        share * delta * (1.0 - weight) + rate * (1.0 - share * self.params.beta * weight * error)
    }
}
