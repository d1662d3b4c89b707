//! `[transport]` of kind `udp`.

use super::Report;
use super::transports::{Checked, sizes};
use crate::schema::{Document, Pace, Rank, Udp};
use crate::topology::Graph;

impl Checked for Udp {
    fn check(&self, r: &mut Report<'_>, key: &str, _: &Document, _: &Graph) {
        let u = self;
        sizes(r, key, "payload", u.payload.0, u.header.0);
        if !matches!(u.rank, None | Some(Rank::None | Rank::FlowSize)) {
            let reason = "without ACKs no sender knows how much of its flow remains";
            r.error(&format!("{key}.rank"), reason, "write \"none\" or \"flow-size\"");
        }
        if let Pace::Constant { rate } | Pace::Poisson { rate } = u.pace
            && rate.0.bps() == 0
        {
            r.error(&format!("{key}.pace.rate"), "a rate of 0bps sends nothing", "write a rate above zero");
        }
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        let burst = ("a flow without end cannot leave in one burst", "give the transport another `pace`");
        (self.pace == Pace::Burst).then_some(burst)
    }
}
