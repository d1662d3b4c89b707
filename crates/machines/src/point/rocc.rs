//! RoCC's congestion point: every T it reads its queue, updates one fair rate, and sends it to tracked flows.
//!
//! Menikkumbura, Purdue University 2022, chapter 3, §3.3.2 to §3.3.4 and §3.3.6; Taheri et al., CoNEXT 2020.
//! The arithmetic is that of [`law`]; which flows are notified is up to [`recipients`](super::Recipients).
//!
//! ```text
//! CHOICE RoCC §3.3.2: F begins at F_max. The first tick of a port comes at random within T, so that ports do
//! not tick together.
//! CHOICE RoCC §3.3.2: the queue is what waits; the packet in transmission does not count. It is looked at
//! while the port is paused, too.
//! CHOICE RoCC §3.5: constants are published for 40 and 100 Gb/s, thresholds for 10 Gb/s too; a port takes
//! those of the class next to its rate, 10 Gb/s with the gains of 40.
//! CHOICE RoCC §3.5: KB are 1000 B, so that Q_ref is 250 steps.
//! ```

use super::{CongestionPoint, Notices, Parameters, Problems, Recipients, Who};
use crate::congestion::Messages;
use crate::congestion::rocc::law::{self, fixed};
use crate::problems::Invalid;
use crate::stage::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
use thalweg_wire::{NoticeBody, Packet, QueueReport, RoccLaw};

/// RoCC: a fair rate by a PI controller of the queue, sent to the sources (Taheri et al., CoNEXT 2020). For
/// the controller `rocc`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// T: interval between updates.
    pub update: Span,
    /// ΔF: resolution of the rate.
    pub rate_step: Rate,
    /// ΔQ: resolution of the queue length, which scales the gains per byte.
    pub queue_step: Bytes,
    /// F_min: smallest fair rate.
    pub min_rate: Rate,
    /// F_max: largest fair rate. If not given, the link's rate.
    pub max_rate: Option<Rate>,
    /// Q_ref: target queue length. If not given, `75KB`, `150KB` or `300KB` at 10, 40 and 100 Gb/s.
    pub reference: Option<Bytes>,
    /// Q_mid: growth of the queue within one update that halves F. If not given, twice Q_ref.
    pub growth: Option<Bytes>,
    /// Q_max: queue length that sets F to F_min. If not given, `210KB`, `360KB` or `660KB`, in proportion to Q_ref.
    pub limit: Option<Bytes>,
    /// α̃: weight of the queue's distance from Q_ref. If not given, 0.3, and 0.45 from 70 Gb/s on.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1000.0))]
    pub alpha: Option<f64>,
    /// β̃: weight of the queue's growth. If not given, five times α̃.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1000.0))]
    pub beta: Option<f64>,
    /// F is halved, or set to F_min, only above F_max divided by this.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub guard: u32,
    /// Enables the two multiplicative decreases: halving F, and setting it to F_min.
    pub decrease: bool,
    /// Q_ref, Q_mid and Q_max may stand in any order, which makes the controller unstable.
    pub any_order: bool,
    /// Which flows are notified.
    pub recipients: Who,
    /// Where the fair rate is computed.
    pub computes: Computes,
    /// Size of a message on the wire.
    pub message: Bytes,
}

/// Where the fair rate is computed (§3.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Computes {
    /// The switch.
    #[default]
    Switch,
    /// At every host, from the queue and the previous rate, which the switch keeps and sends.
    Host,
    /// At every host, from the queue alone: each host integrates a rate of its own, as in the P4 prototype. A host that
    /// misses a message differs from the others from then on.
    HostAlone,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            update: Span::from_us(40),      // RoCC §3.5
            rate_step: Rate::from_mbps(10), // RoCC §3.5
            queue_step: Bytes::new(600),    // RoCC §3.5
            min_rate: Rate::from_mbps(100), // RoCC §3.5: 10 ΔF
            max_rate: None,
            reference: None,
            growth: None,
            limit: None,
            alpha: None,
            beta: None,
            guard: 8, // RoCC §3.3.2
            decrease: true,
            any_order: false,
            recipients: Who::default(),
            computes: Computes::default(),
            message: Bytes::new(84), // CHOICE RoCC §3.3.3: a least frame with preamble and gap
        }
    }
}

/// What is published for a class of links: Q_ref, Q_max in KB, and α̃.
fn published(rate: Rate) -> (u64, u64, f64) {
    match rate.bps() / 1_000_000_000 {
        0..25 => (75, 210, 0.3),
        25..70 => (150, 360, 0.3),
        _ => (300, 660, 0.45),
    }
}

impl Params {
    /// The constants at a port of `rate`.
    fn law(&self, rate: Rate) -> Result<RoccLaw, Invalid> {
        let (usual, limit, alpha) = published(rate);
        let steps = |bytes: Bytes| (bytes.get() / self.queue_step.get()) as i64;
        let rates = |rate: Rate| fixed(rate.bps() as f64 / self.rate_step.bps() as f64);
        let reference = self.reference.unwrap_or(Bytes::kb(usual));
        let growth = self.growth.unwrap_or(Bytes::new(2 * reference.get()));
        let limit = self.limit.unwrap_or(Bytes::new(reference.get() * limit / usual));
        let alpha = self.alpha.unwrap_or(alpha);
        let max = self.max_rate.unwrap_or(rate).min(Rate::from_gbps(100_000));
        if max < self.min_rate {
            let why = format!("F_min, {}, is above F_max, {max}", self.min_rate);
            return Err(Invalid::new(why).at("min_rate"));
        }
        let law = RoccLaw {
            min: rates(self.min_rate),
            max: rates(max),
            reference: steps(reference),
            growth: steps(growth),
            limit: steps(limit),
            alpha: fixed(alpha),
            beta: fixed(self.beta.unwrap_or(5.0 * alpha)),
            guard: rates(max) / i64::from(self.guard),
            decreases: self.decrease,
            rate_step: self.rate_step.bps(),
        };
        // §3.3.2: "the order is mandatory".
        let ordered = reference < growth && growth < limit;
        if !(self.any_order || ordered) {
            let why =
                format!("Q_ref, {reference}, Q_mid, {growth}, and Q_max, {limit}, are not in this order");
            return Err(Invalid::new(why).at("reference"));
        }
        Ok(law)
    }
}

impl Parameters for Params {
    type Machine = Rocc;

    fn sends(&self) -> Messages {
        Messages::FairRate
    }
    fn message(&self) -> Bytes {
        self.message
    }

    fn check(&self, problems: &mut Problems) {
        problems.positive("update", self.update, "40us");
        let step = self.queue_step.get();
        if step == 0 || step > 1 << 20 {
            problems.wrong("queue_step", format!("steps of {}", self.queue_step), "for example \"600B\"");
            return;
        }
        if self.rate_step == Rate::ZERO || self.rate_step > Rate::from_gbps(1) {
            problems.wrong("rate_step", format!("steps of {}", self.rate_step), "for example \"10Mbps\"");
            return;
        }
        if self.min_rate < self.rate_step {
            problems.wrong(
                "min_rate",
                "a rate below one step stops flows for good",
                format!("at least \"{}\"", self.rate_step),
            );
        }
        if self.guard == 0 {
            problems.wrong("guard", "nothing is divided by 0", "for example 8");
        }
        for (key, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if value.is_some_and(|v| !(0.0..=1000.0).contains(&v)) {
                problems.wrong(key, "it is out of range", "allowed: 0 to 1000");
            }
        }
        for (key, bytes) in [("reference", self.reference), ("growth", self.growth), ("limit", self.limit)] {
            if let Some(bytes) = bytes
                && (bytes < self.queue_step || bytes.get() > 1 << 40)
            {
                problems.wrong(
                    key,
                    format!("{bytes} are out of range"),
                    format!("at least one step, \"{}\"", self.queue_step),
                );
            }
        }
        for rate in [10, 40, 100] {
            if let Err(why) = self.law(Rate::from_gbps(rate))
                && problems.0.is_empty()
            {
                let hint = "Q_ref < Q_mid < Q_max, or `any_order = true`";
                problems.wrong("", format!("at {rate} Gb/s: {why}"), hint);
            }
        }
        if !self.decrease && (self.growth.is_some() || self.limit.is_some()) {
            problems.useless(
                "decrease",
                "Q_mid and Q_max decide when F decreases",
                "remove `growth` and `limit`",
            );
        }
        self.recipients.check(problems);
    }

    fn make(&self, mut stream: Stream, rate: Rate) -> Result<Rocc, Invalid> {
        let law = self.law(rate)?;
        let phase = Span::from_ps(stream.below(self.update.ps()));
        Ok(Rocc {
            law,
            fair: law.max,
            old: 0,
            ticks: 0,
            next: Time::ZERO + phase,
            update: self.update,
            queue_step: self.queue_step.get(),
            computes: self.computes,
            recipients: self.recipients.make(stream, self.update, law.max / law.min),
        })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let hosts =
            [Computes::Host, Computes::HostAlone].map(|computes| Self { computes, ..Self::default() });
        let who = Who::variants().into_iter().map(|recipients| Self { recipients, ..Self::default() });
        who.chain(hosts).collect()
    }
}

/// The congestion point of one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rocc {
    law: RoccLaw,
    /// F, fixed point.
    fair: i64,
    /// Q_old.
    old: i64,
    ticks: u8,
    next: Time,
    update: Span,
    queue_step: u64,
    computes: Computes,
    recipients: Recipients,
}

impl CongestionPoint for Rocc {
    #[inline]
    fn on_join(&mut self, now: Time, _: &View, packet: &Packet, _: &mut Notices) {
        self.recipients.join(now, packet.flow, packet.wire);
    }
    #[inline]
    fn on_leave(&mut self, packet: &Packet) {
        self.recipients.leave(packet.flow);
    }
    fn wake(&self) -> Option<Time> {
        Some(self.next)
    }

    /// Algorithm 1, also while nothing waits: otherwise F would never recover.
    fn tick(&mut self, now: Time, view: &View, notices: &mut Notices) {
        let queue = (view.bytes / self.queue_step) as i64;
        let before = self.fair;
        (self.fair, _) = law::update(&self.law, self.fair, queue, self.old);
        self.old = queue;
        self.ticks = self.ticks.wrapping_add(1);
        self.next = now.saturating_add(self.update);
        let report = |fair| {
            let queue = u32::try_from(queue).unwrap_or(u32::MAX);
            NoticeBody::Queue(QueueReport { queue, tick: self.ticks, fair, law: self.law })
        };
        let body = match self.computes {
            Computes::Switch => NoticeBody::FairRate(Rate::from_bps(law::rate(&self.law, self.fair))),
            Computes::Host => report(Some(before)),
            Computes::HostAlone => report(None),
        };
        self.recipients.each(now, &mut |flow: FlowId| notices.push((flow, body)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: View = View {
        packets: 0,
        bytes: 0,
        wire: 0,
        rate: Rate::ZERO,
        sent: 0,
        idle_for: Span::ZERO,
        waited: Span::ZERO,
    };

    fn at(gbps: u64) -> Rocc {
        Params::default().make(Stream::new(1, "point", 0), Rate::from_gbps(gbps)).unwrap()
    }
    fn of(flow: u32) -> Packet {
        Packet { flow: FlowId(flow), wire: 1048, ..Packet::default() }
    }
    fn tick(point: &mut Rocc, bytes: u64) -> Notices {
        let mut notices = Notices::new();
        point.tick(point.next, &View { bytes, ..SENT }, &mut notices);
        notices
    }

    #[test]
    fn constants_are_those_of_the_links_class() {
        let law = at(40).law;
        assert_eq!((law.reference, law.growth, law.limit), (250, 500, 600), "150, 300, 360 KB of 600 B");
        assert_eq!((law.min, law.max), (fixed(10.0), fixed(4000.0)));
        assert_eq!((law.alpha, law.beta, law.guard), (fixed(0.3), fixed(1.5), fixed(500.0)));
        let law = at(100).law;
        assert_eq!((law.reference, law.growth, law.limit), (500, 1000, 1100));
        assert_eq!((law.max, law.alpha, law.beta), (fixed(10_000.0), fixed(0.45), fixed(2.25)));
        let law = at(10).law;
        assert_eq!((law.reference, law.growth, law.limit), (125, 250, 350));
    }

    #[test]
    fn all_flows_in_the_queue_are_notified_at_every_tick() {
        let (mut point, mut notices) = (at(40), Notices::new());
        for flow in [7, 3, 7, 5] {
            point.on_join(Time::ZERO, &SENT, &of(flow), &mut notices);
        }
        point.on_leave(&of(7));
        point.on_leave(&of(3));
        assert!(notices.is_empty());
        // The set point, reached at a stroke: 4000 − 1.5 · 250 = 3625.
        let notices = tick(&mut point, 150_000);
        let rate = NoticeBody::FairRate(Rate::from_mbps(36_250));
        assert_eq!(notices, [(FlowId(7), rate), (FlowId(5), rate)]);
        point.on_leave(&of(7));
        point.on_leave(&of(5));
        assert_eq!(tick(&mut point, 150_000), []);
    }

    #[test]
    fn q_old_is_kept_on_a_decrease_too_and_the_tick_runs_when_nothing_waits() {
        let mut point = at(40);
        tick(&mut point, 330_000);
        assert_eq!((point.fair, point.old), (fixed(2000.0), 550), "grown by 550 ≥ Q_mid");
        tick(&mut point, 330_000);
        assert_eq!(point.old, 550);
        assert_eq!(point.fair, fixed(2000.0) - 300 * fixed(0.3), "not halved again");
        tick(&mut point, 0);
        let before = point.fair;
        tick(&mut point, 0);
        assert_eq!(point.fair - before, 250 * fixed(0.3), "up by α̃ · Q_ref when empty");
    }

    #[test]
    fn thresholds_out_of_order_are_refused_by_name_unless_they_are_meant() {
        let swapped = Params { growth: Some(Bytes::kb(700)), ..Params::default() };
        let why = swapped.make(Stream::new(1, "point", 0), Rate::from_gbps(40)).unwrap_err().to_string();
        assert!(why.contains("Q_mid, 700KB"), "{why}");
        let mut problems = Problems::default();
        swapped.check(&mut problems);
        assert_eq!(problems.0.len(), 1, "{problems:?}");
        let meant = Params { any_order: true, ..swapped };
        assert!(meant.make(Stream::new(1, "point", 0), Rate::from_gbps(40)).is_ok());
    }

    #[test]
    fn a_host_that_is_sent_the_rate_before_computes_what_the_switch_does() {
        let (mut switch, mut host) = (at(40), at(40));
        host.computes = Computes::Host;
        let mut notices = Notices::new();
        host.on_join(Time::ZERO, &SENT, &of(1), &mut notices);
        let mut old = 0;
        for kb in [0, 100, 250, 400, 90, 150] {
            tick(&mut switch, kb * 1000);
            let [(_, NoticeBody::Queue(report))] = tick(&mut host, kb * 1000)[..] else { panic!("a report") };
            let queue = i64::from(report.queue);
            assert_eq!(law::update(&report.law, report.fair.unwrap(), queue, old).0, switch.fair);
            old = queue;
        }
    }
}
