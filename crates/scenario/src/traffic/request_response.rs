//! A client sends a request and a server responds, repeatedly.

use super::Family;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// A client sends a request and a server responds, repeatedly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// The host that sends requests.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub client: u32,
    /// The host that answers.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub server: u32,
    /// Payload bytes of a request.
    #[schemars(extend("examples" = ["100B"]))]
    pub request: Q<Bytes>,
    /// Payload bytes of a response.
    #[schemars(extend("examples" = ["64KB"]))]
    pub response: Q<Bytes>,
    /// Number of rounds.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub count: u32,
    /// Pause between a response and the next request.
    #[serde(default = "default::zero")]
    pub think: Q<Span>,
    /// When the first request starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

impl Family for RequestResponse {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.ends(("client", self.client), ("server", self.server))?;
        s.start("start", self.start.0)?;
        let request = s.size("request", self.request.0.get())? as f64;
        let round = request + s.size("response", self.response.0.get())? as f64;
        if self.count == 1 && !self.think.0.is_zero() {
            return Err(s.ineffective("think", "count", "round"));
        }
        let rounds = f64::from(self.count);
        let flows = 2.0 * rounds;
        Ok(Expected { flows, bytes: rounds * round, waits: flows - 1.0, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let (client, server) = (self.client, self.server);
        let mut last = None;
        for _ in 0..self.count {
            let request = match last {
                None => {
                    out.push(s.flow(client, server, self.request.0.get(), s.start("start", self.start.0)?))
                }
                Some(last) => {
                    out.follow(s.follower(client, server, self.request.0.get(), self.think.0), &[last])
                }
            };
            let response = s.follower(server, client, self.response.0.get(), Span::ZERO);
            last = Some(out.follow(response, &[request]));
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let begin = self.start.0.secs();
        let round = self.think.0.secs() + f.rtt + 2.0 * f.wire / f.line;
        Course::new(begin, begin + f64::from(self.count) * round, 2.0)
    }

    fn packets(&self, _: f64, payload: f64) -> f64 {
        let packets = |size: Q<Bytes>| (size.0.get() as f64 / payload).ceil();
        (packets(self.request) + packets(self.response)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, ends, flows, network};

    #[test]
    fn a_response_follows_its_request_and_the_next_request_a_pause_later() {
        let text = "kind = \"request-response\"\nclient = 2\nserver = 0\nrequest = \"100B\"\n\
                    response = \"1KB\"\ncount = 2\nthink = \"7us\"";
        let list = flows(3, text);
        assert_eq!(ends(&list), [(2, 0), (0, 2), (2, 0), (0, 2)]);
        assert_eq!(after(&network(3, text)), [vec![], vec![0], vec![1], vec![2]]);
        assert_eq!(list.iter().map(|f| f.start.ps() / 1_000_000).collect::<Vec<_>>(), [0, 0, 7, 0]);
    }
}
