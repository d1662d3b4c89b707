//! The order's parameters and their checks.

use crate::problems::Problems;
use crate::schedule::{Around, Paused};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};
use thalweg_wire::QueueSet;

/// Backpressure flow control: flows are assigned to a few queues as they begin to wait, and the next hop pauses single
/// queues (Goyal, MIT 2022, §3.3; Goyal et al., NSDI 2022). Next hops pause with `switch.backpressure`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of queues per port. One of them is for control packets; it is served first and never paused.
    #[schemars(range(min = 2, max = 256))]
    pub queues: u16,
    /// Size of a port's flow table, in entries per queue.
    #[schemars(range(min = 1, max = 100_000))]
    pub table: u32,
    /// HRTT: the round trip of a hop, from a pause to its effect. If not given, the propagation round trip of the
    /// longest link.
    #[schemars(extend("examples" = ["2us"]))]
    pub hop_rtt: Option<Span>,
    /// Pause threshold of a queue as a multiple of `hop_rtt` × rate ÷ (queues that may send now).
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
    pub threshold: f64,
    /// A packet never triggers a pause if no other packet of its flow waits here.
    pub needs_backlog: bool,
    /// A flow without waiting packets keeps its queue for this multiple of `hop_rtt`.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub sticky: f64,
    /// Which queue is assigned to a flow that begins to wait.
    pub assignment: Assignment,
    /// Which of the queues that may send is served next.
    pub service: Service,
    /// With `service = "fair"`: quantum of deficit round robin, bytes per turn.
    pub quantum: Bytes,
    /// Number of traffic classes among which the queues are divided: strict priority between classes, assignment and
    /// service within each.
    #[schemars(range(min = 1, max = 8))]
    pub classes: u8,
    /// Packets of this class share one queue of their own; no other class uses it.
    #[schemars(extend("examples" = [1]))]
    pub incast_class: Option<u8>,
    /// Fraction of packets that are counted in the flow table and can trigger pauses.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub sampling: f64,
    /// Period with which the assignment's copy of the bitmap of empty queues is renewed (Tofino2, §3.4): at multiples
    /// of it from the beginning of the run, at all ports at once. Pauses and queue lengths are always seen as they are.
    /// 0: the bitmap, too.
    #[schemars(extend("examples" = ["500ns"]))]
    pub bitmap_stale: Span,
    /// Number of ingress pipelines (Tofino2: 4, §3.4). The flow table is divided among them and ports are assigned to
    /// them in turn. Each searches for an empty queue from its own position, which then moves behind the queue found; a
    /// single pipeline draws at random. Needs `switch.inputs`; hosts have none.
    #[schemars(range(min = 1, max = 16))]
    pub pipelines: u8,
    /// Size in packets of the small queue behind the egress pipeline (§3.4). Packets are moved there ahead of
    /// transmission, and no pause stops them. From then on they do not count in flow table, pause counters and queue
    /// length, and not as waiting flows; their bytes stay in the switch's memory until they are sent.
    #[schemars(range(min = 0, max = 1024))]
    pub post_queue: u16,
    /// Delay after a departure until flow table and pause counters, and thus RESUMEs, follow it: headers recirculate to
    /// the ingress pipeline (§3.4).
    #[schemars(extend("examples" = ["500ns"]))]
    pub recirc_delay: Span,
}

impl Params {
    pub(super) fn check_keys(&self, problems: &mut Problems) {
        let of_data = self.queues.saturating_sub(1 + u16::from(self.incast_class.is_some()));
        if self.queues < 2 || self.queues > QueueSet::CAPACITY {
            let reason = format!("{} queues are out of range: one is for control packets", self.queues);
            problems.wrong("queues", reason, "allowed: 2 to 256");
        } else if self.classes == 0 || u16::from(self.classes) > of_data {
            let reason = format!("{} classes cannot share {of_data} queues", self.classes);
            problems.wrong("classes", reason, format!("allowed: 1 to {of_data}"));
        }
        if !(1..=100_000).contains(&self.table) {
            problems.wrong(
                "table",
                format!("{} entries per queue are out of range", self.table),
                "for example 100",
            );
        }
        let factor = |x: f64| (0.0..=1e6).contains(&x);
        if !factor(self.threshold) || self.threshold == 0.0 {
            problems.wrong("threshold", format!("{} is out of range", self.threshold), "for example 1.0");
        }
        if !factor(self.sticky) {
            problems.wrong("sticky", format!("{} is out of range", self.sticky), "for example 2.0");
        }
        if let Some(hop) = self.hop_rtt {
            problems.positive("hop_rtt", hop, "2us");
        }
        problems.share("sampling", self.sampling);
        problems.size("quantum", self.quantum, |size| format!("a quantum of {size} is impossible"), "1500B");
        if self.service == Service::Shortest && self.quantum != Self::default().quantum {
            problems.useless("quantum", "the service `shortest` knows no turns", "remove the key");
        }
    }
    /// What pauses make of the flow table.
    pub(super) fn check_pauses(&self, at: &Around, problems: &mut Problems) {
        if at.paused == Paused::Flows && self.sampling < 1.0 {
            let reason = "which flows wait where is not known if only some of their packets are counted";
            problems.wrong("sampling", reason, "remove the key, or write `pauses = \"queue\"`");
        }
        // Departures then matter for the flow table only.
        let hashed = self.assignment == Assignment::Hashed && !self.recirc_delay.is_zero();
        if at.paused == Paused::Nothing && at.section != "nic" && hashed {
            let why =
                "none is paused, and with `assignment = \"hashed\"` a flow's queue follows from its hash";
            problems.useless("recirc_delay", why, "remove the key");
        }
    }
    pub(super) fn check_tofino(&self, problems: &mut Problems) {
        let entries = u64::from(self.queues) * u64::from(self.table);
        if !(1..=16).contains(&self.pipelines) {
            problems.wrong(
                "pipelines",
                format!("{} pipelines are out of range", self.pipelines),
                "allowed: 1 to 16",
            );
        } else if entries < u64::from(self.pipelines) {
            let reason = format!(
                "a flow table of {entries} entries cannot be split over {} pipelines",
                self.pipelines
            );
            problems.wrong("pipelines", reason, format!("at most {entries}"));
        }
        if self.post_queue > 1024 {
            problems.wrong(
                "post_queue",
                format!("{} packets are out of range", self.post_queue),
                "allowed: 0 to 1024",
            );
        }
        if self.assignment == Assignment::Hashed {
            let why = "with `assignment = \"hashed\"` no empty queue is looked for";
            let keys = [("bitmap_stale", !self.bitmap_stale.is_zero()), ("pipelines", self.pipelines > 1)];
            keys.iter()
                .filter(|(_, set)| *set)
                .for_each(|(key, _)| problems.useless(key, why, "remove the key"));
        }
    }
}

/// Which queue is assigned to a flow that begins to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// An empty queue that is not paused, if there is one, otherwise any; drawn at random.
    #[default]
    Dynamic,
    /// Always the same queue, by a hash: stochastic fair queueing.
    Hashed,
    /// As `dynamic`, but a queue that another flow keeps (`sticky`) does not count as empty as long as there are
    /// others: an ideal that searches the whole flow table.
    Reserved,
}

/// Which of the queues that may send is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// Deficit round robin (Shreedhar & Varghese, SIGCOMM 1995).
    #[default]
    Fair,
    /// The queue whose first packet is of the flow with the fewest remaining bytes.
    Shortest,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            queues: 32,    // §3.6.2.1
            table: 100,    // §3.3.3.1
            hop_rtt: None, // 2 us in §3.6.2.1
            threshold: 1.0,
            needs_backlog: false,
            sticky: 2.0, // §3.3.3.2
            assignment: Assignment::default(),
            service: Service::default(),
            quantum: Bytes::new(1500), // a full Ethernet payload
            classes: 1,
            incast_class: None,
            sampling: 1.0,
            bitmap_stale: Span::ZERO,
            pipelines: 1,
            post_queue: 0,
            recirc_delay: Span::ZERO,
        }
    }
}
