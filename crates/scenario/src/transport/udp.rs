//! Transports of kind `udp`.

use super::{Ranks, TransportKind, bytes};
use crate::schema::{Pace, Rank, Transport, Udp};
use thalweg_machines::transport::{TransportSpec, UdpPace, UdpSpec};

impl TransportKind for Udp {
    fn spec(&self) -> TransportSpec {
        TransportSpec::Udp(UdpSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            pace: match self.pace {
                Pace::Burst => UdpPace::Burst,
                Pace::Constant { rate } => UdpPace::Constant(rate.0),
                Pace::Poisson { rate } => UdpPace::Poisson(rate.0),
            },
            rank: self.rank.unwrap_or(Rank::None),
        })
    }
    fn ranks(&self) -> Ranks {
        Ranks::Size
    }
    fn rank(&self) -> Option<Rank> {
        self.rank
    }
    fn bare(&self) -> Transport {
        Transport::Udp(Self { payload: self.payload, header: self.header, ..Self::default() })
    }
}
