//! ABC's router: it signals to every packet's sender to accelerate or to brake, so that what arrives one
//! round trip later is what the link will carry. Goyal, "Congestion Control in Highly Variable Networks"
//! (MIT, 2022), §2.3.1.2, equations 2.1 and 2.2 and Algorithm 1; Goyal, Agarwal, Netravali, Alizadeh,
//! Balakrishnan, NSDI 2020, §3.
//!
//! There are two encodings (§2.4.2). In that of the authors' experiments, for proxies, a packet that is
//! ECN-capable accelerates and one that is marked (CE) brakes, so no queue on the way may mark for another
//! reason. In the full one ECT(1) accelerates and ECT(0) brakes, both of which look ECN-capable to other
//! routers, and CE is theirs: a marked packet has lost ABC's feedback.
//!
//! A second queue for other traffic (§2.4.3) is a scheduler's affair: [`crate::schedule::max_min`].
//!
//! μ is the link's rate, or, of a link with delivery opportunities, what it offered in the window, used or
//! not: the port names it. Of a Wi-Fi link that sends batches it is what full batches would carry, as block
//! ACKs let it be estimated (§2.5.1, [`BlockAcks`]).
//!
//! CHOICE ABC §2.3.1.2: the rates are those of a sliding window, `window`, which the dissertation leaves
//! open; packets that are not ECN-capable take their part of capacity and departures, and earn no credit.
//! Other reading: as if they were not there.

use super::sliding::Sliding;
use super::{
    Acts, Around, Arrival, Batch, BlockAcks, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View,
};
use crate::link::TransmitterSpec;
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};
use thalweg_wire::{Ecn, Packet};

/// Which rate the target is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// The rate of departures, cr, which sets the pace of the ACKs.
    #[default]
    Departures,
    /// The rate of arrivals, as in earlier explicit schemes: about twice the delay (§2.2, Figure 2-2).
    Arrivals,
}

/// Which packets accelerate, at a given share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Credit {
    /// By credit in packets (Algorithm 1): least bursty.
    #[default]
    Packets,
    /// By credit in bytes: small packets spend, and earn, less.
    Bytes,
    /// At random, with the share as probability.
    Chance,
}

/// Which implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Equations 2.1 and 2.2, Algorithm 1.
    #[default]
    Paper,
    /// The authors' published queue: η of what leaves instead of what could, and η/2 of credit for each
    /// opportunity that passed unused; credit is cut to its limit after it was spent; packets that are not
    /// ECN-capable are not seen at all.
    Artifact,
}

/// How accelerate and brake are encoded in packets (§2.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// ECN-capable accelerates, CE brakes: what proxies and the authors' experiments do. Nothing else on the
    /// way may mark.
    #[default]
    Proxy,
    /// ECT(1) accelerates, ECT(0) brakes, and CE is left to routers that mark. Over TCP.
    Full,
}

/// ABC's router: marks to brake, as many packets as keep the queue short and the link busy (Goyal et al., NSDI 2020).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// η: target utilisation.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub utilisation: f64,
    /// δ: time in which excess queueing delay is to drain.
    pub drain: Span,
    /// d_t: queueing delay that is tolerated. It should be longer than the gaps between a link's opportunities.
    pub threshold: Span,
    /// T: sliding window over which rates are measured.
    pub window: Span,
    /// At a link that sends batches: the window of μ and of the rate of departures, which block ACKs report. It should
    /// be longer than the time between block ACKs.
    pub ack_window: Span,
    /// At a link that sends batches: the estimate of μ excludes time in which nothing waited.
    pub exclude_idle: bool,
    /// tokenLimit, packets: how many packets may accelerate in a row beyond their share. Also the initial credit.
    #[schemars(extend("exclusiveMinimum" = 1.0, "maximum" = 1_000_000.0))]
    pub tokens: f64,
    /// Which packets accelerate.
    pub credit: Credit,
    /// The rate with which the target rate is compared.
    pub compared: Compared,
    /// Which implementation.
    pub arithmetic: Arithmetic,
    /// The router knows its link's capacity this far in the future: an upper bound on what ABC could achieve (PK-ABC,
    /// §2.7.6, with the round trip here and a threshold of 20 ms). No effect on links of a fixed rate.
    pub foresight: Span,
    /// How accelerate and brake are encoded; must be the senders' encoding.
    pub encoding: Encoding,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            utilisation: 0.98,            // §2.7.2
            drain: Span::from_ms(133),    // §2.7.2
            threshold: Span::from_ms(50), // the authors' published scripts
            window: Span::from_ms(20),    // the authors' published queue
            ack_window: ACK_WINDOW,
            exclude_idle: false,
            tokens: 5.0, // the authors' published queue
            credit: Credit::default(),
            compared: Compared::default(),
            arithmetic: Arithmetic::default(),
            foresight: Span::ZERO,
            encoding: Encoding::default(),
        }
    }
}

impl Parameters for Params {
    type Machine = Abc;

    fn acts(&self) -> Acts {
        Acts::Marks
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        problems.share("utilisation", self.utilisation);
        problems.positive("drain", self.drain, "133ms");
        problems.positive("window", self.window, "20ms");
        problems.positive("ack_window", self.ack_window, "40ms");
        let estimates = [("ack_window", self.ack_window != ACK_WINDOW), ("exclude_idle", self.exclude_idle)];
        for (key, _) in estimates.into_iter().filter(|(_, set)| *set) {
            if !at.batches {
                problems.useless(
                    key,
                    "no link of such a queue sends batches",
                    "remove the key, or make a link `batched`",
                );
            } else if !self.foresight.is_zero() {
                problems.useless(
                    key,
                    "who knows the link's future estimates nothing",
                    "remove it, or `foresight`",
                );
            }
        }
        if self.foresight > Span::ZERO && self.foresight < self.window / 2 {
            let reason =
                format!("half of the window of {} lies before {} from now", self.window, self.foresight);
            problems.wrong("foresight", reason, "the round trip, for example \"100ms\"");
        }
        if !(self.tokens > 1.0 && self.tokens <= 1e6) {
            let reason = format!("{} is out of range: one token is never enough", self.tokens);
            problems.wrong("tokens", reason, "allowed: above 1, at most 1000000");
        }
    }

    fn make(&self, stream: Stream, _: Rate) -> Result<Abc, Invalid> {
        Ok(Abc {
            p: *self,
            token: self.tokens,
            link: None,
            offered: Sliding::default(),
            departed: Sliding::default(),
            arrived: Sliding::default(),
            stream,
        })
    }

    /// Windows of microseconds, like the test sequences.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self {
            drain: Span::from_us(5),
            threshold: Span::from_us(1),
            window: Span::from_us(20),
            ..Self::default()
        };
        let other = Self { credit: Credit::Chance, compared: Compared::Arrivals, ..short };
        let artifact = Self { arithmetic: Arithmetic::Artifact, ..short };
        let bytes = Self { credit: Credit::Bytes, ..short };
        let full = Self { encoding: Encoding::Full, ..short };
        vec![short, other, artifact, bytes, full]
    }
}

/// The link, as far as a router must know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Known {
    /// It has delivery opportunities.
    Opportunities,
    /// All of it, for a router that knows the future.
    All(Box<TransmitterSpec>),
    /// Its rate changes: what can have left follows from what it could carry.
    Varies(Box<TransmitterSpec>),
    /// It sends batches: rates follow from block ACKs.
    Batches(BlockAcks),
}

/// A router's state at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abc {
    p: Params,
    /// token, packets, or bytes in packets of [`PACKET`].
    token: f64,
    /// `None`: its rate suffices.
    link: Option<Known>,
    /// Opportunities, used or not; departures; arrivals.
    offered: Sliding,
    departed: Sliding,
    arrived: Sliding,
    stream: Stream,
}

/// T of block ACKs (§2.5.1).
const ACK_WINDOW: Span = Span::from_ms(40);
/// Bytes that the limit of credit in bytes calls a packet.
const PACKET: f64 = 1500.0;

impl Abc {
    /// μ and the rate of departures, bytes per second, as a packet of `wire` bytes leaves; `None`: nothing is
    /// known yet.
    fn rates(&mut self, now: Time, wire: u32, rate: Rate) -> Option<(f64, f64)> {
        let Params { window, foresight, .. } = self.p;
        let per_second = |bytes: u64| bytes as f64 / window.secs();
        let rate = rate.bps() as f64 / 8.0;
        let left = per_second(self.departed.within(now, window));
        // n gaps between departures are of n + 1 packets: no more left than the link could carry.
        // (Opportunities are counted alike.)
        Some(match &self.link {
            None => (rate, left.min(rate)),
            Some(Known::Varies(link)) => {
                let before = Time::from_ps(now.ps().saturating_sub(window.ps()));
                let most = (link.offered(now) - link.offered(before)).get().max(u64::from(wire));
                (rate, left.min(per_second(most)))
            }
            Some(Known::Opportunities) => (per_second(self.offered.within(now, window)), left),
            Some(Known::All(link)) => {
                let from = (now + foresight) - window / 2;
                (per_second((link.offered(from + window) - link.offered(from)).get()), left)
            }
            Some(Known::Batches(acks)) => return acks.rates(),
        })
    }

    /// f for a packet of `wire` bytes that leaves `behind` bytes in the queue of a link of `rate` (equations
    /// 2.1 and 2.2).
    fn share(&mut self, now: Time, behind: u64, wire: u32, rate: Rate) -> f64 {
        let Params { utilisation: eta, drain, threshold, window, compared, arithmetic, .. } = self.p;
        let Some((mu, left)) = self.rates(now, wire, rate) else {
            return 1.0; // before the first block ACK
        };
        if mu == 0.0 {
            return 0.0; // foreseen: nothing will leave
        }
        let cr = match compared {
            Compared::Departures => left,
            // At least a packet: it has arrived some time.
            Compared::Arrivals => {
                self.arrived.within(now, window).max(u64::from(wire)) as f64 / window.secs()
            }
        };
        // x(t), with the packet itself.
        let x = (behind + u64::from(wire)) as f64 / mu;
        let aim = eta * if arithmetic == Arithmetic::Paper { mu } else { cr };
        let tr = aim - mu / drain.secs() * (x - threshold.secs()).max(0.0);
        (0.5 * tr / cr).clamp(0.0, 1.0)
    }

    /// Algorithm 1: does a packet of `wire` bytes go on accelerating, at a share of f? What brakes already
    /// earns credit, too.
    pub fn accelerates(&mut self, f: f64, wire: u32, brakes: bool) -> bool {
        let Params { credit, arithmetic, tokens, .. } = self.p;
        let cost = if credit == Credit::Bytes { f64::from(wire) / PACKET } else { 1.0 };
        let late = arithmetic == Arithmetic::Artifact;
        self.token += f * cost;
        if !late {
            self.token = self.token.min(tokens);
        }
        let enough =
            !brakes && if credit == Credit::Chance { self.stream.unit() < f } else { self.token > cost };
        if enough && credit != Credit::Chance {
            self.token -= cost;
        }
        if late {
            self.token = self.token.min(tokens);
        }
        enough
    }

    fn counts_opportunities(&self) -> bool {
        matches!(self.link, Some(Known::Opportunities))
    }
}

impl HeaderStage for Abc {
    fn needs(&self) -> Needs {
        let idle_time = self.p.arithmetic == Arithmetic::Artifact;
        let batches = matches!(self.link, Some(Known::Batches(_)));
        Needs { departures: true, idle_time, batches, ..Needs::default() }
    }

    fn stands_before(&mut self, link: &TransmitterSpec) {
        self.link = match link {
            TransmitterSpec::Fixed(_) => None,
            _ if !self.p.foresight.is_zero() => Some(Known::All(Box::new(link.clone()))),
            _ if link.has_opportunities() => Some(Known::Opportunities),
            _ if link.has_batches() => {
                Some(Known::Batches(BlockAcks::new(self.p.ack_window, self.p.exclude_idle)))
            }
            _ => Some(Known::Varies(Box::new(link.clone()))),
        };
    }

    fn on_arrival(&mut self, now: Time, view: &View, _packet: &Packet) -> Arrival {
        if self.p.compared == Compared::Arrivals {
            self.arrived.push(now, view.wire);
        }
        if self.p.arithmetic == Arithmetic::Artifact && !self.counts_opportunities() && view.sent > 0 {
            // On a link with a rate an opportunity is the time of a packet. (None before the first packet.)
            let rate = self.estimate().unwrap_or(view.rate);
            let unused = view.idle_for.secs() * rate.bps() as f64 / 8.0 / PACKET;
            self.token += self.p.utilisation / 2.0 * unused;
        }
        Arrival::Admit
    }

    fn on_departure(&mut self, now: Time, view: &View, packet: Leaving) -> Leave {
        if self.counts_opportunities() {
            self.offered.push(now, view.wire);
        }
        if self.p.arithmetic == Arithmetic::Artifact && !packet.ecn_capable() {
            return Leave::Pass;
        }
        if self.p.compared == Compared::Departures || self.p.arithmetic == Arithmetic::Artifact {
            self.departed.push(now, view.wire);
        }
        let f = self.share(now, view.bytes, view.wire, view.rate);
        if !packet.ecn_capable() {
            return Leave::Pass;
        }
        let (came, brake) = match self.p.encoding {
            Encoding::Proxy => (packet.ecn != Ecn::Ce, Leave::Mark),
            Encoding::Full => (packet.ecn == Ecn::Ect1, Leave::Brake),
        };
        let accelerates = self.accelerates(f, view.wire, !came);
        if came && !accelerates { brake } else { Leave::Pass }
    }

    fn on_opportunity(&mut self, at: Time, bytes: u32) {
        if self.counts_opportunities() {
            self.offered.push(at, bytes);
            self.offered.within(at, self.p.window);
        }
        if self.p.arithmetic == Arithmetic::Artifact {
            // The limit applies only once a packet was marked.
            self.token += self.p.utilisation / 2.0;
        }
    }

    fn on_batch(&mut self, batch: &Batch) {
        if let Some(Known::Batches(acks)) = &mut self.link {
            acks.on_batch(batch);
        }
    }

    fn estimate(&self) -> Option<Rate> {
        let Some(Known::Batches(acks)) = &self.link else { return None };
        Some(acks.rates().map_or(Rate::ZERO, |(mu, _)| Rate::from_bps((mu * 8.0) as u64)))
    }

    fn quiet_below(&self) -> u32 {
        let learns = self.p.compared == Compared::Arrivals || self.p.arithmetic == Arithmetic::Artifact;
        if learns { 0 } else { u32::MAX }
    }
}

#[cfg(test)]
mod tests;
