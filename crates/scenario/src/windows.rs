//! The windows of a scenario in which results are measured.

use crate::Scenario;
use thalweg_net::spec::{FlowSpec, NetworkSpec};
use thalweg_units::{FlowId, Time};

impl Scenario {
    /// From when until when flows and links are measured.
    pub fn measured_window(&self) -> (Time, Time) {
        let doc = self.document();
        let at = |ps| Time::from_ps(ps);
        (at(doc.measure.from.0.ps()), doc.measure.until.map_or(self.until(), |q| at(q.0.ps())))
    }

    /// The part of the measured window in which flows arrive at random or from a list; all of it if none do. `network`
    /// is that of the scenario. Those of a list arrive from its first start to its last. Where all start at one
    /// instant, or ask for more than hosts' links carry in that time, they are a burst, and it is all of the measured
    /// window.
    pub fn load_window(&self, network: &NetworkSpec) -> (Time, Time) {
        let (doc, measured) = (self.document(), self.measured_window());
        let (mut from, mut until, mut drawn) = (Time::MAX, Time::ZERO, false);
        let mut lists = vec![false; doc.traffic.len()];
        for (group, traffic) in doc.traffic.iter().enumerate() {
            let Some(arrives) = traffic.pattern.family().arrives() else { continue };
            match arrives.until {
                Some(last) => {
                    from = from.min(Time::from_ps(arrives.from.ps()));
                    (until, drawn) = (until.max(Time::from_ps(last.ps())), true);
                }
                None => lists[group] = true,
            }
        }
        let flows = (0..).map(FlowId).zip(&network.flows);
        let by_clock = flows.filter(|(flow, _)| !network.precedence.follows(*flow)).map(|(_, f)| f);
        let listed: Vec<&FlowSpec> = by_clock.filter(|f| lists[usize::from(f.group)]).collect();
        from = listed.iter().map(|f| f.start).fold(from, Time::min);
        until = listed.iter().map(|f| f.start).fold(until, Time::max);
        let both = (from.max(measured.0), until.min(measured.1));
        let inside = |f: &&&FlowSpec| (both.0..both.1).contains(&f.start);
        let bits: f64 = listed.iter().filter(inside).map(|f| f.size as f64 * 8.0).sum();
        let carries = self.graph().wide_rates().iter().sum::<f64>() * both.1.since(both.0).secs();
        let arrives = drawn || (bits > 0.0 && bits <= carries);
        if both.0 < both.1 && arrives { both } else { measured }
    }
}
