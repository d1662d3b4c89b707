//! `congestion` of queue pairs.

use super::Report;
use crate::quantity::{Counter, Q};
use crate::schema::{DcqcnDecrease, RdmaCongestion, TimelyCount, TimelyVariant};
use crate::topology::Graph;
use thalweg_units::{Rate, Span};

/// A rate that a host's link can carry, and that carries something.
pub(super) fn rate(r: &mut Report<'_>, key: &str, rate: Rate, graph: &Graph) {
    let line = graph.host_rates().into_iter().min().unwrap_or(Rate::INFINITE);
    if rate.bps() == 0 {
        r.error(key, "a rate of 0bps sends nothing", "write a rate above zero");
    } else if rate > line {
        r.error(
            key,
            format!("{rate} is above the rate of the slowest host, {line}"),
            format!("at most \"{line}\""),
        );
    }
}

fn positive(r: &mut Report<'_>, key: &str, span: Q<Span>, example: &str) {
    if span.0.is_zero() {
        r.error(key, "a time of 0 never passes", format!("for example \"{example}\""));
    }
}

pub(super) fn check(r: &mut Report<'_>, key: &str, congestion: &RdmaCongestion, graph: &Graph) {
    let at = |name: &str| format!("{key}.{name}");
    match congestion {
        RdmaCongestion::Fixed | RdmaCongestion::Aimd | RdmaCongestion::Dctcp { .. } => {}
        RdmaCongestion::Custom { name, params } => super::transports::registered(r, key, name, params),
        RdmaCongestion::Dcqcn {
            alpha_timer, rate_timer, byte_counter, min_rate, decrease, back_off, ..
        } => {
            positive(r, &at("alpha_timer"), *alpha_timer, "55us");
            positive(r, &at("rate_timer"), *rate_timer, "55us");
            if matches!(byte_counter, Some(Counter::Bytes(b)) if b.get() == 0) {
                r.error(&at("byte_counter"), "0 bytes are always sent", "for example \"10MB\", or \"none\"");
            } else if matches!(decrease, DcqcnDecrease::Checked { .. }) && *byte_counter != Some(Counter::Off)
            {
                let reason = "with checked decreases the rate rises by time alone";
                r.error(&at("byte_counter"), reason, "write \"none\" or remove the key");
            }
            if let DcqcnDecrease::Checked { every } = decrease {
                positive(r, &at("decrease.every"), *every, "4us");
            }
            rate(r, &at("min_rate"), min_rate.0, graph);
            if let Some(t) = back_off {
                positive(r, &at("back_off"), *t, "24us");
            }
        }
        RdmaCongestion::Timely { variant, t_low, t_high, min_rtt, hyper, min_rate, back_off, .. } => {
            if let TimelyVariant::Patched { rtt_ref } = variant {
                positive(r, &at("variant.rtt_ref"), *rtt_ref, "50us");
            }
            if t_high.0 < t_low.0 {
                let reason = format!("T_high, {}, is below T_low, {}", t_high.0, t_low.0);
                r.error(&at("t_high"), reason, "swap them");
            }
            positive(r, &at("min_rtt"), min_rtt.unwrap_or_default(), "20us");
            if hyper.after == 0 {
                for (name, set) in
                    [("below_t_low", hyper.below_t_low), ("count", hyper.count != TimelyCount::Gradient)]
                {
                    if set {
                        let why = "`after = 0` means that there is no hyper-active increase";
                        r.useless(&at(&format!("hyper.{name}")), why, "remove the key or write `after = 5`");
                    }
                }
            }
            rate(r, &at("min_rate"), min_rate.0, graph);
            if let Some(t) = back_off {
                positive(r, &at("back_off"), *t, "24us");
            }
        }
    }
}
