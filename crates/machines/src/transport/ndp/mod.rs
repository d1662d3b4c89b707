//! NDP, a receiver-driven transport over switches that trim (Handley, Raiciu, Agache, Voinescu, Moore, Antichi, Wójcik,
//! "Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance", SIGCOMM 2017, §3.2 and
//! §3.3). A source sends its first window at once, at the rate of its link; what finds a queue full on the way comes as
//! a header ([`crate::schedule::ndp`]). A destination answers every packet with an ACK and every header with a NACK,
//! and pulls one packet for each of both: its host agent ([`crate::host::NdpAgent`]) paces the pulls of all flows, so
//! that what they call for fits its link. Each pull lets the source send one packet, first those that were NACKed.
//! Sources number the paths of their packets and go through all of them in a random order, and then in another.
//!
//! ```text
//! CHOICE NDP §3.2: no return-to-sender. Where the headers' queue overflows they are dropped, and a source
//! that receives nothing for `retry` sends again, without a pull, what was neither ACKed nor NACKed. (The
//! paper: a timer per packet.)
//! CHOICE NDP §3.2: a pull that finds nothing to send is kept if more pulls have come than ACKs and NACKs: it may have
//! overtaken the NACK it goes with, on another path. In the authors' simulator it is lost, and the packet waits for
//! its timer.
//! CHOICE NDP §3.2: a pull that need not wait leaves before the ACK or NACK of the packet that it goes with, as in the
//! Ultra Ethernet consortium's simulator. Other reading: after it; an all-to-all then has 2027 packets trimmed instead
//! of 1914 (of eight seeds; there 1878, of three).
//! CHOICE NDP §3.3: no scoreboard of paths. The paper leaves paths out for a while that lose more than others, which
//! matters where links fail or are slower than they say.
//! CHOICE NDP §3.2: the set-up of connections is not there; a flow's first packets find its other end ready.
//! ```

mod paths;
mod receiver;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;

pub use receiver::NdpReceiver;
pub use sender::NdpSender;

use paths::PathCycle;

use super::{NdpSpec, PathNeeds, Protocol, Wire};
use crate::Invalid;
use crate::congestion::Start;
use thalweg_units::{FlowId, Stream};

impl Protocol for NdpSpec {
    type Sender = NdpSender;
    type Receiver = NdpReceiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, stream: Stream) -> Result<NdpSender, Invalid> {
        self.check()?;
        if size == 0 || size == u64::MAX {
            return Err("NDP: the last packet says so: at least 1 byte, and an end".into());
        }
        if start.mss != self.payload {
            return Err("NDP: payload is not what the flow was given".into());
        }
        Ok(NdpSender::new(self, flow, size, stream))
    }
    fn receiver(&self, flow: FlowId, size: u64, stream: Stream) -> NdpReceiver {
        NdpReceiver::new(self, flow, size, stream)
    }
    fn wire(&self) -> Wire {
        Wire {
            payload: self.payload,
            header: self.header,
            ack: Some(self.control),
            // And a pull.
            acks: 2.0,
            ..Wire::default()
        }
    }
    /// What a pull calls for leaves when the link is free, retransmissions first: nothing waits in the NIC's queue.
    fn needs(&self) -> PathNeeds {
        PathNeeds {
            pulls: true,
            path_values: self.paths.is_some(),
            reads_trimmed: true,
            ..PathNeeds::default()
        }
    }
}
