//! Every statement that can be run, by the name it has among the claims.

use crate::outcome::Outcome;
use crate::theorems::{self, examples, facts, laws};
use crate::{abc, bfc, rc3};

/// How much to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// At least 10⁴ packets per property, a second or so.
    Quick,
    /// Ten times that.
    Full,
}

/// A statement that can be run.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its name among the claims.
    pub id: &'static str,
    /// What is stated.
    pub statement: &'static str,
    /// What must come out besides no violations and no differences.
    pub must: Must,
    /// Instances of the quick run; 0: a fixed input.
    quick: u32,
    run: fn(u32, u64) -> Outcome,
}

/// What an outcome must show to uphold the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Must {
    /// Something exists: cases found, lateness being the point.
    Find,
    /// No packet is late, and there were cases to judge it by.
    BeInTime,
    /// It holds in every case, and there were cases; lateness is not what it is about.
    Hold,
}

impl Check {
    /// Runs it.
    pub fn run(&self, scale: Scale, seed: u64) -> Outcome {
        let times = match scale {
            Scale::Quick => 1,
            Scale::Full => 10,
        };
        (self.run)(self.quick * times, seed)
    }

    /// True if `outcome` upholds the statement.
    pub fn upheld(&self, outcome: &Outcome) -> bool {
        let in_time = self.must != Must::BeInTime || outcome.overdue == 0;
        outcome.violations == 0 && outcome.schedule_differences == 0 && outcome.found > 0 && in_time
    }
}

/// All checks, in the order of the claims.
pub fn checks() -> &'static [Check] {
    &CHECKS
}

/// The check called `id`.
pub fn check(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|c| c.id == id)
}

macro_rules! table {
    ($($id:literal $must:ident $quick:literal $run:expr, $statement:literal;)*) => {
        [$(Check { id: $id, statement: $statement, must: Must::$must, quick: $quick, run: $run }),*]
    };
}

static CHECKS: [Check; 47] = table! {
    "UPS-TH3a" BeInTime 2000 theorems::th3,
        "omniscient per-hop initialisation, preemptive: no packet late over any number of hops, no arrival after the original's";
    "UPS-F7a" Hold 0 examples::no_universal,
        "no deterministic black-box scheduler replays both cases: case 1 needs a first, case 2 needs x first";
    "UPS-F7b" Hold 0 examples::viable,
        "both schedules of that counter-example are viable, with the printed times";
    "UPS-TH5a" BeInTime 10000 theorems::th5,
        "preemptive LSTF, at most 2 congestion points: no packet late, none past a local deadline";
    "UPS-TH5b" Find 0 examples::beyond_two,
        "3 congestion points: LSTF makes exactly c2 late, by 1, as printed";
    "UPS-TH4a" BeInTime 2000 theorems::th4,
        "1 congestion point that the ingress knows: static priorities replay everything, preemptive";
    "UPS-TH4b" Find 2000 theorems::th4_black_box,
        "1 congestion point that it does not know: priorities o(p) make a packet late";
    "UPS-F8a" Find 0 examples::circle,
        "2 congestion points: each of the 6 static orders makes a packet late, LSTF none";
    "UPS-TH3c" Hold 0 examples::three_is_too_many,
        "nothing handles all schedules with 3 congestion points";
    "UPS-TH2a" Hold 2000 theorems::th2,
        "LSTF and network-wide EDF give the same schedule, with preemption and without";
    "UPS-TH1a" Hold 2000 theorems::th1,
        "at each enqueue at time t the header is o(p) - t - t_min(p,node,dest)";
    "UPS-TH6a" Hold 20000 theorems::th6,
        "a packet that leaves a node with negative slack met one that arrived there after its local deadline";
    "UPS-TH7" Find 20000 theorems::th7,
        "random search finds schedules over 3 congestion points that preemptive LSTF cannot replay";
    "UPS-TH8" Find 2000 theorems::th8,
        "without preemption LSTF, omniscient and priorities fail with 1 congestion point";
    "UPS-TH9a" Hold 2000 theorems::th9,
        "all bits out of a node by o + T: the slack then covers what the original waited afterwards";
    "UPS-TH10a" BeInTime 2500 theorems::th10,
        "any feasible schedule of a node becomes LSTF's by exchanges, feasible throughout";
    "UPS-F3z" Hold 2000 laws::fifo_plus,
        "FIFO+ (accumulated waiting) and LSTF with equal slack: the same schedule, packets of equal size";
    "UPS-H1a" Hold 1500 laws::pifo_with_hooks,
        "a priority queue and two header rewrites schedule as the definition of LSTF does";
    "UPS-L1" Hold 2000 laws::work_conserving,
        "LSTF never idles while a packet waits";
    "UPS-L2" Hold 2000 laws::class_order,
        "a large constant per class: no packet is served while a more important class waits";
    "UPS-L3" Hold 2000 laws::used_slack,
        "slack used is exactly what was waited";
    "UPS-T1x" Hold 0 facts::packet_time,
        "1460 B at 1 Gb/s take 11.68 us";
    "UPS-F4d" Hold 0 facts::fair_share,
        "1 to 13 flows share a core link of Internet2, 1.111 Gb/s each";
    "UPS-F11c" Hold 0 facts::slack_step,
        "at 50 Mb/s the slack of consecutive packets of 1500 B grows by 0.24 ms";
    "RC3-F3-a" Hold 0 rc3::example,
        "66 segments, initial window 4, 21 and 22 lost: 40 at level 1, 22 at level 2, 50 in the first round trip, done in the fourth";
    "RC3-F3-b" Hold 0 rc3::repaired,
        "of these only 21 and 22 are repaired, and the primary loop sends nothing above 22";
    "RC3-F1-a" Hold 0 rc3::levels,
        "levels end 40, 440, 4440 segments before the tail";
    "RC3-F1-b" Hold 300 rc3::properties,
        "each segment once below class 0, whose ACKs change no window; nothing harvested is sent again; without harvest the loop is TCP";
    "RC3-P-a" Hold 200 rc3::safe,
        "whatever comes below class 0, its packets wait at most for the one on the wire, and none is dropped while others wait";
    "RC3-F4-d" Hold 0 rc3::petabyte,
        "sixteen priorities cover a petabyte";
    "RC3-F2-a" Hold 0 rc3::fills,
        "one long flow: both loops fill the pipe from the first round trip on, and the second falls silent once TCP does";
    "RC3-F18-b" Hold 0 rc3::offload,
        "super-segments of 64 KB mislabel at most 43 packets per border";
    "BFC-P1-a" Hold 40000 bfc::active_flows,
        "under processor sharing the flows that wait are geometric with mean load/(1 - load), whatever their sizes";
    "BFC-P3-a" Hold 20000 bfc::birthdays,
        "fewer than one flow in a hundred collides if static hashing has a hundred queues per flow, not with a tenth fewer";
    "BFC-M-a" Hold 20000 bfc::flow_table,
        "with a hundred entries per queue fewer than one of as many flows as queues in a hundred shares its entry";
    "BFC-M-b" Hold 0 bfc::tables,
        "flow tables of 76.8 K entries at a ToR and 409 600 at a Tofino2";
    "BFC-M-c" Hold 0 bfc::counters,
        "a switch of 32 ports whose neighbours have 128 queues each keeps 4096 counters";
    "BFC-P8" Hold 20000 bfc::work_conserving,
        "a port sends if it may, never from a paused queue, and the packets of a flow in their order";
    "BFC-D1-b" Hold 400 bfc::clos,
        "without what comes from a higher layer and returns to one no routes of a Clos network close a cycle of pauses, whatever links fail";
    "BFC-C1-b" Hold 0 bfc::lone_flow,
        "a lone flow leaves its queue empty for at most 1/((sqrt k + 1)^2 + 1) of the time, at x = 1 + sqrt k";
    "ABC-VCPa" Hold 0 abc::vcp_doubles,
        "VCP at low load needs twelve round trips to double its window";
    "ABC-D1" Hold 0 abc::window_map,
        "a window w of ACKs of which a share f accelerates makes 2 f w of it";
    "ABC-D2" Hold 100 abc::share_is_kept,
        "a router lets no more accelerate than the shares and its credit say, and at a constant share that share";
    "ABC-D3" Hold 0 abc::chain,
        "behind several routers the smallest share accelerates";
    "ABC-D5" Hold 0 abc::settles,
        "at a constant share f below a half the window settles at 1/(1 - 2f)";
    "ABC-D6" Hold 200 abc::lost_acks,
        "of ACKs of which a share p arrives the window changes by (2 f - 1) p w";
    "ABC-D9" Hold 100 abc::headroom_bounds_the_loss,
        "a large flow that does not grow costs the others at most the headroom";
};
