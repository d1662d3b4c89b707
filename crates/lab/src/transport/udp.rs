//! Transports of kind `udp`, and traffic of that kind.

use super::{Kind, Ranks, bytes, rank};
use crate::schema::{Pace, Rank, Spacing, Transport, Udp, UdpStream};
use thalweg_machines::transport::{RankSpec, TransportSpec, UdpPace, UdpSpec};

impl Kind for Udp {
    fn spec(&self) -> TransportSpec {
        TransportSpec::Udp(UdpSpec {
            payload: bytes(self.payload),
            header: bytes(self.header),
            pace: match self.pace {
                Pace::Burst => UdpPace::Burst,
                Pace::Constant { rate } => UdpPace::Constant(rate.0),
                Pace::Poisson { rate } => UdpPace::Poisson(rate.0),
            },
            rank: rank(self.rank),
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

/// The transport that such traffic brings.
pub(super) fn stream(stream: &UdpStream) -> TransportSpec {
    TransportSpec::Udp(UdpSpec {
        payload: bytes(stream.payload),
        header: bytes(stream.header),
        pace: match stream.spacing {
            Spacing::Constant => UdpPace::Constant(stream.rate.0),
            Spacing::Poisson => UdpPace::Poisson(stream.rate.0),
        },
        rank: RankSpec::None,
    })
}
