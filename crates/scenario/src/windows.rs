//! The windows of a scenario in which results are measured.

use crate::Scenario;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, Time};

impl Scenario {
    /// From when until when flows and links are measured.
    pub fn measured_window(&self) -> (Time, Time) {
        let doc = self.document();
        let at = |ps| Time::from_ps(ps);
        (at(doc.measure.from.0.ps()), doc.measure.until.map_or(self.until(), |q| at(q.0.ps())))
    }

    /// The part of the measured window in which flows arrive at random or from a list; all of it if none do. `network`
    /// is that of the scenario. A list ends with its last flow: where all start at one instant nothing arrives before,
    /// and it is all of the measured window, too.
    pub fn load_window(&self, network: &NetworkSpec) -> (Time, Time) {
        let (doc, measured) = (self.document(), self.measured_window());
        let (mut from, mut until, mut drawn) = (Time::MAX, Time::ZERO, false);
        let mut lists = vec![false; doc.traffic.len()];
        for (group, traffic) in doc.traffic.iter().enumerate() {
            let Some(arrives) = traffic.pattern.family().arrives() else { continue };
            from = from.min(Time::from_ps(arrives.from.ps()));
            match arrives.until {
                Some(last) => (until, drawn) = (until.max(Time::from_ps(last.ps())), true),
                None => lists[group] = true,
            }
        }
        let flows = (0..).map(FlowId).zip(&network.flows);
        let by_clock = flows.filter(|(flow, _)| !network.precedence.follows(*flow)).map(|(_, f)| f);
        let starts: Vec<Time> = by_clock.filter(|f| lists[usize::from(f.group)]).map(|f| f.start).collect();
        until = until.max(starts.iter().copied().max().unwrap_or(Time::ZERO));
        let both = (from.max(measured.0), until.min(measured.1));
        let arrives = drawn || starts.iter().any(|start| (both.0..both.1).contains(start));
        if both.0 < both.1 && arrives { both } else { measured }
    }
}
