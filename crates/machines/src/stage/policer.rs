//! A policer: packets that exceed a rate are dropped, even if the queue is empty.
//!
//! The token bucket of RFC 2697 §3 with the committed bucket alone (and of RFC 2698 with one rate): the
//! bucket holds at most the burst, B bytes, and fills at the rate R; a packet of L bytes passes if there are
//! L tokens, and takes them; any other is dropped and takes none.

use super::{Acts, Around, Arrival, HeaderStage, Parameters, Problems, View};
use crate::problems::Invalid;
use crate::tokens::TokenBucket;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Stream, Time};
use thalweg_wire::Packet;

/// A token bucket that drops what exceeds a rate, as operators police traffic (RFC 2697).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// R: committed rate, headers included.
    #[schemars(extend("examples" = ["10Mbps"]))]
    pub rate: Rate,
    /// B: committed burst size, the depth of the token bucket.
    #[schemars(extend("examples" = ["64KB"]))]
    pub burst: Bytes,
}

impl Default for Params {
    /// A rate to which wide-area paths are policed; scenarios set their own.
    fn default() -> Self {
        Self { rate: Rate::from_mbps(10), burst: Bytes::kb(64) }
    }
}

impl Parameters for Params {
    type Machine = Policer;

    fn acts(&self) -> Acts {
        Acts::Drops
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        if self.rate == Rate::ZERO {
            problems.wrong("rate", "0bps lets nothing pass", "write a rate above 0");
        }
        if self.burst.get() < u64::from(at.full) {
            let reason = format!("{} lets no full packet of {} B pass", self.burst, at.full);
            problems.wrong("burst", reason, "raise it");
        }
    }

    fn make(&self, _: Stream, _: Rate) -> Result<Policer, Invalid> {
        Ok(Policer(Box::new(TokenBucket::new(self.rate, self.burst))))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { rate: Rate::from_gbps(1), burst: Bytes::new(2000) }]
    }
}

/// The token bucket of one port, boxed to keep ports small.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policer(Box<TokenBucket>);

impl HeaderStage for Policer {
    #[inline]
    fn on_arrival(&mut self, now: Time, _view: &View, packet: &Packet) -> Arrival {
        if self.0.take(now, u64::from(packet.wire)) { Arrival::Admit } else { Arrival::Drop }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::finds;
    use super::*;
    use thalweg_units::Span;

    /// 8 Mb/s: a byte per microsecond; 3000 B of burst.
    fn policer() -> Policer {
        let p = Params { rate: Rate::from_mbps(8), burst: Bytes::kb(3) };
        p.make(Stream::default(), Rate::ZERO).unwrap()
    }
    fn passes(m: &mut Policer, us: u64, wire: u32) -> bool {
        let packet = Packet { wire, ..Packet::default() };
        m.on_arrival(Time::ZERO + Span::from_us(us), &finds(0, 0, wire), &packet) == Arrival::Admit
    }

    #[test]
    fn a_burst_passes_and_then_one_packet_per_packet_time_at_the_rate() {
        let mut m = policer();
        assert_eq!([1000; 4].map(|wire| passes(&mut m, 0, wire)), [true, true, true, false]);
        assert!(!passes(&mut m, 999, 1000), "999 tokens");
        assert!(passes(&mut m, 1000, 1000), "1000 tokens: the packets that were dropped took none");
        assert!(passes(&mut m, 2500, 1500) && !passes(&mut m, 2500, 1));
    }

    /// RFC 2697 §3: with as many tokens as bytes a packet passes. At these rates a packet takes no whole picoseconds.
    #[test]
    fn a_burst_of_exactly_the_bucket_passes_at_any_rate() {
        for mbps in [7, 11, 70, 90, 900, 7000] {
            let p = Params { rate: Rate::from_mbps(mbps), burst: Bytes::new(100 * 1500) };
            let mut m = p.make(Stream::default(), Rate::ZERO).unwrap();
            assert!((0..100).all(|_| passes(&mut m, 5, 1500)) && !passes(&mut m, 5, 1), "{mbps} Mb/s");
        }
    }

    #[test]
    fn the_bucket_holds_no_more_than_the_burst_however_long_the_pause() {
        let mut m = policer();
        assert!(passes(&mut m, 1_000_000, 3000));
        assert!(!passes(&mut m, 1_000_000, 40));
        assert!(!passes(&mut m, 2_000_000, 3001), "larger than the bucket: never");
    }

    #[test]
    fn whatever_comes_no_more_passes_than_the_rate_and_one_burst() {
        let (mut m, mut bytes) = (policer(), 0);
        for us in (0..1_000_000).step_by(100) {
            bytes += if passes(&mut m, us, 700) { 700 } else { 0 };
        }
        assert!((995_000..=1_003_000).contains(&bytes), "{bytes} B in a second at 1 MB/s");
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        let refuse = |rate, burst| {
            let p = Params { rate, burst: Bytes::new(burst) };
            super::super::StageSpec::from(p).make(Stream::default(), Rate::ZERO).unwrap_err().to_string()
        };
        assert!(refuse(Rate::from_mbps(1), 1499).contains("1499B lets no full packet of 1500 B pass"));
        assert!(refuse(Rate::ZERO, 1500).contains("0bps lets nothing pass"));
    }
}
