//! ExpressPass, a receiver-driven transport (Cho, Jang, Han, "Credit-Scheduled Delay-Bounded Congestion
//! Control for Datacenters", SIGCOMM 2017): a flow requests credits, its destination sends them, and each
//! lets one packet go. Every port carries so few credits that the data they call for fits the link of the
//! other direction ([`crate::schedule::expresspass`]), provided that credits take the data's path in reverse.
//! What exceeds that is dropped, and destinations set the rate of their credits by these drops
//! ([`feedback`]). So data wait hardly anywhere, and credits that come when a flow has nothing left are
//! wasted.
//!
//! Numbers and arithmetic are those of the authors' simulator (kaist-ina/ns2-xpass), which differ from
//! Algorithm 1 in places:
//!
//! ```text
//! CHOICE ExpressPass §3.3: the rate rises to w·max + (1 − w)·rate; Algorithm 1 aims at max·(1 + target
//! loss). w rises by 0.05, there halfway to its largest. The target loss shrinks as the rate nears its
//! largest, there it is fixed. After a loss the rate is what was delivered, times 1 + target loss.
//! CHOICE ExpressPass §3.1: one ACK reports that all has come. A source that has sent all reports it (CREDIT_STOP);
//! if the destination misses anything then, its further credits name packets, which are sent again. (In the
//! paper data are never lost.) A destination that has all, as the request has named its size, sends no more
//! credits even before the stop comes.
//! ```

pub mod feedback;
mod receiver;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;

pub use receiver::ExpressPassReceiver;
pub use sender::ExpressPassSender;

use super::{ExpressPassSpec, PathNeeds, Protocol, Wire};
use crate::congestion::Start;
use crate::problems::Invalid;
use thalweg_units::{FlowId, Stream};

impl Protocol for ExpressPassSpec {
    type Sender = ExpressPassSender;
    type Receiver = ExpressPassReceiver;

    fn sender(&self, flow: FlowId, size: u64, _: &Start, _: Stream) -> Result<ExpressPassSender, Invalid> {
        self.check()?;
        if size == 0 || size == u64::MAX {
            let why = "a request names the flow's size: at least 1 byte, and an end";
            return Err(Invalid::new(why).of("ExpressPass").at("size"));
        }
        Ok(ExpressPassSender::new(self, flow, size))
    }
    fn receiver(&self, flow: FlowId, size: u64, stream: Stream) -> ExpressPassReceiver {
        ExpressPassReceiver::new(self, flow, size, stream)
    }
    fn wire(&self) -> Wire {
        Wire {
            payload: self.payload,
            header: self.header,
            ack: Some(self.control),
            // Credits.
            acks: 1.0,
            ..Wire::default()
        }
    }
    /// Credits meter the links of the data.
    fn needs(&self) -> PathNeeds {
        PathNeeds { symmetric: true, ..PathNeeds::default() }
    }
}
