//! VCP's router: it reports the load of a link in two bits. Xia, Subramanian, Stoica, Kalyanaraman, "One More Bit Is
//! Enough", IEEE/ACM Transactions on Networking 2008, §3.2: σ = (arrivals + κ_q q) / (γ_l capacity), per period t_ρ.
//!
//! ```text
//! CHOICE VCP §3.2: overload is signalled in the first half of a period, and high load after that, as in the
//! queue of ABC's authors, whose senders cut their windows once for each. Other reading: throughout.
//! ```

use super::explicit::Meter;
use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use crate::link::TransmitterSpec;
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};
use thalweg_wire::{Explicit, ExplicitKind, Load, Packet, Side};

/// VCP's router: signals whether load is low, high or too high (Xia et al., ToN 2008).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// t_ρ: interval between computations of the load.
    pub period: Span,
    /// κ_q: weight of the queue in the load.
    #[schemars(extend("minimum" = 0.0, "maximum" = 10.0))]
    pub queue_weight: f64,
    /// γ_l: target utilisation.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub utilisation: f64,
    /// Load below which it counts as low. Above 1 it is overload.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub low: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { period: Span::from_ms(200), queue_weight: 0.5, utilisation: 0.98, low: 0.8 } // §3.2
    }
}

impl Parameters for Params {
    type Machine = Vcp;

    fn acts(&self) -> Acts {
        Acts::Signals(ExplicitKind::Load)
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        problems.positive("period", self.period, "200ms");
        problems.share("utilisation", self.utilisation);
        problems.share("low", self.low);
        if !(0.0..=10.0).contains(&self.queue_weight) {
            problems.wrong(
                "queue_weight",
                format!("{} is out of range", self.queue_weight),
                "for example 0.5",
            );
        }
    }

    fn make(&self, _: Stream, _: Rate) -> Result<Vcp, Invalid> {
        Ok(Vcp { p: *self, meter: Meter::default(), load: Load::Low, since: Time::ZERO })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { period: Span::from_us(20), ..Self::default() }]
    }
}

/// A router's state at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vcp {
    p: Params,
    meter: Meter,
    load: Load,
    /// When that was computed.
    since: Time,
}

impl Vcp {
    fn catch_up(&mut self, now: Time, view: &View) {
        while let Some(seen) = self.meter.period(now, self.p.period, view.rate) {
            let load = seen.arrived as f64 + self.p.queue_weight * view.bytes as f64;
            let room = self.p.utilisation * seen.offered;
            self.load = match load {
                load if load < self.p.low * room || load == 0.0 => Load::Low,
                load if load <= room => Load::High,
                _ => Load::Overload,
            };
            self.since = self.meter.begun();
            if seen.packets == 0 && seen.arrived == 0 {
                self.meter.skip(now, self.p.period);
                self.since = self.meter.begun();
            }
        }
    }
}

impl HeaderStage for Vcp {
    fn needs(&self) -> Needs {
        Needs { departures: true, headers: true, ..Needs::default() }
    }
    fn stands_before(&mut self, link: &TransmitterSpec) {
        self.meter.opportunities = link.has_opportunities();
    }
    fn on_arrival(&mut self, now: Time, view: &View, _: &Packet) -> Arrival {
        self.catch_up(now, view);
        self.meter.arrived(view.wire);
        Arrival::Admit
    }
    fn on_departure(&mut self, now: Time, view: &View, _: Leaving) -> Leave {
        self.catch_up(now, view);
        self.meter.offered(view.wire);
        self.meter.left(Span::ZERO);
        Leave::Pass
    }
    fn write(&mut self, now: Time, _: &View, packet: &mut Packet, side: &mut Side) {
        let header = if packet.is_control() { None } else { side.explicit_mut() };
        if let Some(header) = header
            && let Explicit::Load(highest) = &mut header.what
        {
            let late = now.since(self.since) >= self.p.period / 2;
            let mine = if late { self.load.min(Load::High) } else { self.load };
            *highest = (*highest).max(mine);
        }
    }
    fn on_opportunity(&mut self, _: Time, bytes: u32) {
        self.meter.offered(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::explicit::tests::Router;
    use super::*;
    use thalweg_units::Bytes;

    fn vcp() -> Router<Vcp> {
        Router(
            Params::default().make(Stream::default(), Rate::ZERO).unwrap(),
            ExplicitKind::Load,
            Bytes::ZERO,
        )
    }

    /// In 200 ms 300 000 B can leave, of which 294 000 are aimed at.
    #[test]
    fn load_is_what_comes_and_half_of_the_queue() {
        for (wire, queue, load) in [
            (1000, 0, Load::Low),
            (1180, 0, Load::High),
            (1180, 150_000, Load::Overload),
            (1480, 0, Load::Overload),
        ] {
            let mut router = vcp();
            let reported: Vec<_> = (0..=320).map(|ms| router.passes(ms, wire, queue, Span::ZERO)).collect();
            assert_eq!(reported[199], Some(Explicit::Load(Load::Low)), "not known yet");
            assert_eq!(reported[200], Some(Explicit::Load(load)), "{wire} {queue}");
            assert_eq!(
                reported[300],
                Some(Explicit::Load(load.min(Load::High))),
                "the second half of the period"
            );
        }
    }

    #[test]
    fn the_highest_of_the_way_stays() {
        let mut router = vcp();
        assert_eq!(router.finds(0, Explicit::Load(Load::Overload)), Some(Explicit::Load(Load::Overload)));
    }
}
