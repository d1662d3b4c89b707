//! Remote procedure calls in an open loop: clients send requests at random times, servers respond immediately.
//!
//! A client at load ρ of capacity C sends requests at the rate ρC / (8 E[wire bytes of request and response]). If
//! servers are drawn uniformly, every host then sends ρC in all, as client and as server, because every host is both.

use super::arrivals::{Arrivals, gap, whole};
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::{Draft, Drafts};
use super::partners::{self, LoadOf, Pairs, Partners};
use super::section::{Expected, Section};
use super::{Arrives, Family};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};

/// Clients send requests to servers at random times, whether or not earlier responses have arrived (Mittal et al.,
/// TIMELY, SIGCOMM 2015, §6.2). A server responds as soon as a request has arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rpc {
    /// Target load of requests and responses together: the fraction of the capacity of the links that `of` names, in
    /// (0, 1].
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.5]))]
    pub load: f64,
    /// The capacity of which the load is a fraction.
    #[serde(default)]
    pub of: LoadOf,
    /// Payload bytes of a request.
    #[serde(default = "default::message")]
    pub request: Q<Bytes>,
    /// Payload bytes of a response.
    #[serde(default = "default::message")]
    pub response: Q<Bytes>,
    /// From which hosts the server of each request is drawn.
    #[serde(default)]
    pub servers: Servers,
    /// Start of the requests.
    #[serde(default = "default::zero")]
    pub from: Q<Span>,
    /// End of the requests. If not given, the end of the measured window, or of the run if that is earlier.
    pub until: Option<Q<Span>>,
    /// Payload bytes per packet in the computation of the load. It does not depend on the transport, so that all
    /// schemes get the same flows.
    #[serde(default = "default::mss")]
    pub packet_payload: Q<Bytes>,
    /// Header bytes per packet in the computation of the load; `0B` counts payload only.
    #[serde(default = "default::header")]
    pub packet_header: Q<Bytes>,
}

/// From which hosts servers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Servers {
    /// Any other host.
    #[default]
    Others,
    /// A host on another edge switch.
    OtherRacks,
    /// A host at least six links away: in a fat-tree, one in another pod.
    OtherPods,
}

/// Number of links between hosts of different pods of a fat-tree: up three tiers, down three.
const OTHER_POD: u32 = 6;

struct Plan {
    /// Clients, with their requests per second.
    clients: Vec<(u32, f64)>,
    partners: Partners,
    from: Span,
    until: Span,
}

fn plan(r: &Rpc, s: &Section<'_>) -> Result<Plan, Diagnostic> {
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

impl Family for Rpc {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        let plan = plan(self, s)?;
        let rate: f64 = plan.clients.iter().map(|(_, r)| r).sum();
        let calls = rate * (plan.until - plan.from).secs();
        s.few_enough(2.0 * calls)?;
        let bytes = self.request.0.get() as f64 + self.response.0.get() as f64;
        Ok(Expected { flows: 2.0 * calls, bytes: calls * bytes, waits: calls, ..Expected::default() })
    }

    fn answers(&self) -> bool {
        true
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let plan = plan(self, s)?;
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
                let request = s.flow(*client, server, self.request.0.get(), whole(at));
                let response = s.follower(server, *client, self.response.0.get(), Span::ZERO);
                let asked = out.push(request);
                // A response is measured if its request is.
                out.follow(Draft { judged: request.judged, ..response }, &[asked]);
                at = at.saturating_add(next());
            }
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        f.arrive(self.from.0.secs(), self.until.map_or(f.offered, |q| q.0.secs()), self.load)
    }

    fn packets(&self, _: f64, payload: f64) -> f64 {
        let packets = |size: Q<Bytes>| (size.0.get() as f64 / payload).ceil();
        (packets(self.request) + packets(self.response)) / 2.0
    }

    fn arrives(&self) -> Option<Arrives> {
        Some(Arrives { from: self.from.0, until: self.until.map(|q| q.0) })
    }

    fn load_of(&self) -> Option<LoadOf> {
        Some(self.of)
    }

    fn resolve(&mut self, offered_until: Q<Span>) {
        self.until.get_or_insert(offered_until);
    }
}
