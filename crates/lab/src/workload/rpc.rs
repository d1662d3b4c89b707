//! Remote procedure calls in an open loop: clients ask at random times, servers answer at once.
//!
//! A client at load ρ of capacity C asks at the rate ρC / (8 E[wire bytes of request and response]): with servers drawn
//! alike every host then sends, as client and as server, ρC.

use super::arrivals::gap;
use super::partners::{self, Partners};
use super::{Draft, Expected, Section};
use crate::Diagnostic;
use crate::schema::{Arrivals, Pairs, Rpc, Servers};
use thalweg_units::{Span, Time};

/// Links between hosts of different pods of a fat-tree: up three tiers, down three.
const OTHER_POD: u32 = 6;

struct Plan {
    /// Clients, with their requests per second.
    clients: Vec<(u32, f64)>,
    partners: Partners,
    from: Span,
    until: Span,
}

fn plan(s: &Section<'_>, r: &Rpc) -> Result<Plan, Diagnostic> {
    let request = s.size("request", r.request.0.get())?;
    let response = s.size("response", r.response.0.get())?;
    s.packet_payload(r.packet_payload.0)?;
    let wire = |size: u64| {
        let packets = size.div_ceil(r.packet_payload.0.get());
        size as f64 + r.packet_header.0.get() as f64 * packets as f64
    };
    let (there, back) = (wire(request), wire(response));
    let (from, until) = s.window(r.from.0, r.until.map(|q| q.0))?;
    let pairs = match r.servers {
        Servers::Others => Pairs::Uniform,
        Servers::OtherRacks => Pairs::InterRack,
        Servers::OtherPods => Pairs::MinLinks { links: OTHER_POD },
    };
    let partners = Partners::new(s, pairs)?;
    let way_out = ("servers", "write `servers = \"others\"`");
    let calls = |bps: f64| r.load * bps / (8.0 * (there + back));
    let clients = partners::sources(s, r.of, &partners, way_out, back / (there + back), calls)?;
    Ok(Plan { clients, partners, from, until })
}

pub(super) fn expected(s: &Section<'_>, r: &Rpc) -> Result<Expected, Diagnostic> {
    let plan = plan(s, r)?;
    let rate: f64 = plan.clients.iter().map(|(_, r)| r).sum();
    let calls = rate * (plan.until - plan.from).secs();
    s.few_enough(2.0 * calls)?;
    let bytes = r.request.0.get() as f64 + r.response.0.get() as f64;
    Ok(Expected { flows: 2.0 * calls, bytes: calls * bytes, endless: 0.0, ..Expected::default() })
}

pub(super) fn generate(s: &Section<'_>, r: &Rpc, out: &mut Vec<Draft>) -> Result<(), Diagnostic> {
    let plan = plan(s, r)?;
    let end = Time::from_ps(plan.until.ps());
    for (client, rate) in &plan.clients {
        let entity = u64::from(*client);
        let mut arrivals = s.stream("arrivals", entity);
        let mut servers = s.stream("servers", entity);
        let mut next = || gap(Arrivals::Poisson, 1.0 / rate, &mut arrivals);
        let mut at = Time::from_ps(plan.from.ps()).saturating_add(next());
        while at < end {
            s.cx.proceed()?;
            let server = plan.partners.draw(*client, &mut servers);
            // CHOICE: starts are whole nanoseconds, so that exported lists are exact for other simulators.
            let start = Time::from_ps(at.ps() / 1000 * 1000);
            out.push(s.flow(*client, server, r.request.0.get(), start));
            let response = s.flow(server, *client, r.response.0.get(), Time::ZERO);
            out.push(Draft { after: Some(out.len() - 1), ..response });
            at = at.saturating_add(next());
        }
    }
    Ok(())
}
