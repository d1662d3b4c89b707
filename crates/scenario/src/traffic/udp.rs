//! Datagrams at a given rate from one host to another, with a transport of their own.

use super::Family;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::transport::{Rank, TransportSpec, UdpPace, UdpSpec};
use thalweg_units::{Bytes, Rate, Span};

/// Datagrams at a given rate from one host to another, without feedback (open loop).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UdpStream {
    /// The host that sends.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub src: u32,
    /// The host that receives.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub dst: u32,
    /// Rate on the wire, headers included.
    #[schemars(extend("examples" = ["1Gbps"]))]
    pub rate: Q<Rate>,
    /// Distribution of the times between datagrams.
    #[serde(default)]
    pub spacing: Spacing,
    /// Payload bytes of a datagram.
    #[serde(default = "default::mss")]
    pub payload: Q<Bytes>,
    /// Header bytes of a datagram.
    #[serde(default = "default::header")]
    pub header: Q<Bytes>,
    /// Payload bytes in all. If not given, the stream has no end.
    pub size: Option<Q<Bytes>>,
    /// When the first datagram is sent.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

/// Distribution of the times between datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Constant.
    #[default]
    Constant,
    /// Exponential: a Poisson process.
    Poisson,
}

impl Family for UdpStream {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.ends(("src", self.src), ("dst", self.dst))?;
        s.start("start", self.start.0)?;
        if self.rate.0.bps() == 0 {
            return Err(s.cx.error(
                &s.key("rate"),
                "a rate of 0bps sends nothing",
                "write a rate above zero",
            ));
        }
        s.size("payload", self.payload.0.get())?;
        match self.size {
            Some(size) => Ok(Expected::of(1.0, s.size("size", size.0.get())?)),
            None => Ok(Expected { endless: 1.0, ..Expected::default() }),
        }
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let size = self.size.map_or(u64::MAX, |q| q.0.get());
        out.push(s.flow(self.src, self.dst, size, s.start("start", self.start.0)?));
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let (begin, rate) = (self.start.0.secs(), self.rate.0.bps() as f64 / 8.0);
        let end = if self.size.is_some() { begin + f.wire / rate } else { f.until };
        Course { rate: rate / f.packet, ..Course::new(begin, end, 1.0) }
    }

    fn ends(&self) -> Option<(u32, u32)> {
        Some((self.src, self.dst))
    }

    /// Also true for a stream with a size: the delay of its packets is of interest, not its completion time.
    fn is_endless(&self) -> bool {
        true
    }

    fn transport(&self, wanted: Option<Rank>) -> Option<TransportSpec> {
        let bytes = |size: Q<Bytes>| u32::try_from(size.0.get()).unwrap_or(u32::MAX);
        Some(TransportSpec::Udp(UdpSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            pace: match self.spacing {
                Spacing::Constant => UdpPace::Constant(self.rate.0),
                Spacing::Poisson => UdpPace::Poisson(self.rate.0),
            },
            rank: wanted.filter(|rank| *rank == Rank::FlowSize).unwrap_or(Rank::None),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::network;
    use thalweg_machines::transport::{Rank, TransportSpec};

    #[test]
    fn a_stream_brings_its_own_transport() {
        let net = network(2, "kind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"1Gbps\"");
        assert_eq!((net.flows.len(), net.flows[0].size), (1, u64::MAX));
        assert!(
            matches!(net.transports[usize::from(net.flows[0].transport)], TransportSpec::Udp(u) if u.payload == 1460)
        );
    }
    #[test]
    fn a_stream_writes_the_rank_that_a_scheduler_sorts_by() {
        let rank = |more: &str| {
            let section = "kind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"1Gbps\"\nsize = \"1MB\"";
            let star = "[topology]\nkind = \"star\"\nhosts = 2";
            let net = network(2, &format!("{section}\n{star}\n{more}"));
            match net.transports[usize::from(net.flows[0].transport)] {
                TransportSpec::Udp(udp) => udp.rank,
                _ => panic!("a stream of datagrams"),
            }
        };
        let with = |scheduler: &str| {
            rank(&format!("[transport]\nkind = \"udp\"\n[switch]\nscheduler = \"{scheduler}\""))
        };
        assert_eq!((rank(""), with("sjf")), (Rank::None, Rank::FlowSize));
    }
}
