//! All-to-all: every host sends one flow to every other, as in the expert parallelism of mixture-of-experts models.
//!
//! The flows start at the same time, or by the pairwise exchange of MPI (Thakur, Rabenseifner, Gropp, Optimization of
//! collective communication operations in MPICH, Int. J. High Performance Computing Applications 19(1), 2005): in step
//! k of N − 1 ([`Rounds`]) the host at place i sends to the one at place i + k + 1, so that every host sends one flow
//! and receives one. All flows have the same size, or a matrix gives their sizes, as in MPI's all-to-all-v: some
//! experts get more tokens than others.
//!
//! If the flows start at the same time, each host hands them over in the order i + 1, i + 2, …, as MPICH does. If all
//! began with host 0, and then host 1, its link would have everything while the others are idle.
//!
//! On rails of GPUs, a flow between rails crosses the spines. NCCL's PXN (since version 2.12) avoids that: data first
//! goes over NVLink to the GPU of the sender's server that is on the receiver's rail, and then along this rail.
//!
//! ```text
//! CHOICE NCCL (PXN): a relayed message is forwarded when all of it has arrived. NCCL forwards it in chunks, and may
//! combine all messages of a server to one GPU.
//! ```

use super::Family;
use super::arrivals::jittered;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::rounds::{Rounds, WAITS};
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::parse::tables;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::Predecessor;
use thalweg_units::{Bytes, Span, Time};

/// Every host sends one flow to every other, repeatedly (pairwise: Thakur et al., IJHPCA 2005).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// The hosts. If not given, all hosts in the order of their numbers.
    #[serde(default)]
    #[schemars(extend("x-node" = "host"))]
    pub hosts: Vec<u32>,
    /// Payload bytes of each flow. Either this or `matrix`.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Option<Q<Bytes>>,
    /// Instead of `size`, a CSV file without a header, relative to the scenario: one row per sender in the order of
    /// `hosts`, with the payload bytes for each receiver in the same order. The bytes of a host for itself are not
    /// sent, and 0 means no flow.
    #[schemars(extend("examples" = ["tokens.csv"]))]
    pub matrix: Option<String>,
    /// Which flows are sent at the same time.
    #[serde(default)]
    pub exchange: Exchange,
    /// Number of hosts in a group, consecutive ones such as the GPUs of a server, for relaying as by NCCL's PXN. A flow
    /// to another place of another group first goes to the host at that place of the sender's group, which forwards it
    /// as a second flow. If not given, every flow goes to its receiver directly.
    #[schemars(range(min = 2, max = 1_000_000), extend("examples" = [8]))]
    pub relay: Option<u32>,
    /// Number of times that the operation is carried out.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub iterations: u32,
    /// Computation time between iterations: from when a host has received all flows of an iteration, and all that it
    /// sent have arrived, until it begins the next.
    #[serde(default = "default::zero")]
    pub compute: Q<Span>,
    /// Earliest start of a flow.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
    /// Flows of the first iteration start at random times, uniform from `start` to `start + jitter`.
    #[serde(default = "default::zero")]
    pub jitter: Q<Span>,
}

/// Which flows of an all-to-all are sent at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// All flows of a host.
    #[default]
    AtOnce,
    /// One flow of each host: to the next host in the first step, to the second next in the second, and so on.
    Pairwise,
}

/// Bytes that the host at one place sends to the host at another.
enum Parts {
    Alike(u64),
    Given(Vec<Vec<u64>>),
}

impl Parts {
    fn of(&self, from: usize, to: usize) -> u64 {
        match self {
            Self::Alike(size) => *size,
            Self::Given(rows) => rows[from][to],
        }
    }
}

impl AllToAll {
    /// The sizes of the flows among this many hosts.
    fn parts(&self, s: &Section<'_>, hosts: usize) -> Result<Parts, Diagnostic> {
        let file = match (&self.size, &self.matrix) {
            (Some(size), None) => return s.size("size", size.0.get()).map(Parts::Alike),
            (None, Some(file)) => file,
            (None, None) => {
                let reason = "neither `size` nor `matrix` is given";
                return Err(s.cx.error(&s.key("size"), reason, "write `size = \"1MB\"`, or a `matrix`"));
            }
            (Some(_), Some(_)) => {
                let reason = "`size` and `matrix` cannot both be given";
                return Err(s.cx.error(&s.key("matrix"), reason, "remove one of them"));
            }
        };
        let text = s.cx.read(&s.key("matrix"), file)?;
        let rows = tables::matrix(&text, hosts).map_err(|e| e.in_file(file))?;
        let others =
            |(from, row): (usize, &Vec<u64>)| row.iter().enumerate().any(|(to, n)| to != from && *n > 0);
        if !rows.iter().enumerate().any(others) {
            let reason = "every size between two hosts is 0";
            return Err(Diagnostic::in_file(file, 1, reason).hint("remove the section"));
        }
        Ok(Parts::Given(rows))
    }

    /// The place of the host that relays the flow between these places, if one does.
    fn relay(&self, from: usize, to: usize) -> Option<usize> {
        let group = self.relay? as usize;
        let relay = from - from % group + to % group;
        (relay != from && relay != to).then_some(relay)
    }

    fn check_relay(&self, s: &Section<'_>, hosts: usize) -> Result<(), Diagnostic> {
        let Some(group) = self.relay else { return Ok(()) };
        let wrong = |reason: &str, hint: &str| Err(s.cx.error(&s.key("relay"), reason, hint));
        if self.exchange == Exchange::Pairwise {
            return wrong(
                "it has no effect: pairwise, a host sends one flow at a time to the next receiver",
                "remove it, or write `exchange = \"at-once\"`",
            );
        }
        if !hosts.is_multiple_of(group as usize) || hosts == group as usize {
            let reason = format!("{hosts} hosts do not make several groups of {group}");
            return wrong(
                &reason,
                "write a number that divides the number of hosts, such as the GPUs of a server",
            );
        }
        Ok(())
    }

    fn rounds(&self, hosts: usize) -> Rounds {
        Rounds { steps: hosts - 1, iterations: self.iterations, compute: self.compute.0 }
    }

    /// All flows of an iteration. Each waits for one computation of its host that stands for all flows that the host
    /// received and sent in the iteration before.
    fn at_once(
        &self,
        s: &Section<'_>,
        hosts: &[u32],
        first: Time,
        out: &mut Drafts,
    ) -> Result<(), Diagnostic> {
        let parts = self.parts(s, hosts.len())?;
        let mut before: Vec<Vec<Predecessor>> = Vec::new();
        for iteration in 1..=self.iterations {
            let goes_on = iteration < self.iterations;
            let mut now = vec![Vec::new(); hosts.len()];
            for (place, src) in hosts.iter().enumerate() {
                s.cx.proceed()?;
                let mut stream = s.stream("starts", u64::from(*src));
                for to in (1..hosts.len()).map(|k| (place + k) % hosts.len()) {
                    let (dst, size) = (hosts[to], parts.of(place, to));
                    if size == 0 {
                        continue;
                    }
                    let relay = self.relay(place, to).map(|relay| hosts[relay]);
                    let next = relay.unwrap_or(dst);
                    let mut flow = match before.get(place) {
                        None => {
                            out.push(s.flow(*src, next, size, jittered(first, self.jitter.0, &mut stream)))
                        }
                        Some(both) => {
                            out.follow_all(s.follower(*src, next, size, self.compute.0), both.iter().copied())
                        }
                    };
                    if let Some(relay) = relay {
                        flow = out.follow(s.follower(relay, dst, size, Span::ZERO), &[flow]);
                    }
                    if goes_on {
                        now[place].push(flow);
                        now[to].push(flow);
                    }
                }
            }
            if goes_on {
                let last_of =
                    |(host, flows): (&u32, Vec<usize>)| out.last_of(s.stand_in(*host, Span::ZERO), &flows);
                before = hosts.iter().zip(now).map(last_of).collect();
            }
        }
        Ok(())
    }
}

impl Family for AllToAll {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.jitter(self.start.0, self.jitter.0)?;
        s.computes(self.iterations, self.compute.0)?;
        let members = s.members("hosts", &self.hosts)?.len();
        let (hosts, iterations) = (members as f64, f64::from(self.iterations));
        self.check_relay(s, members)?;
        // Flows to their hosts, flows to relays, bytes.
        let (last, relayed, bytes) = match self.parts(s, members)? {
            Parts::Alike(size) => {
                let group = self.relay.map_or(hosts, f64::from);
                // Relayed flows count twice: those to all hosts of other groups, except to the one at the sender's own
                // place.
                let (last, relayed) = (hosts * (hosts - 1.0), hosts * (hosts - group) * (1.0 - 1.0 / group));
                (last, relayed, (last + relayed) * size as f64)
            }
            Parts::Given(rows) => {
                let sent = rows.iter().enumerate().flat_map(|(from, row)| {
                    let others = row.iter().enumerate().filter(move |(to, size)| *to != from && **size > 0);
                    others.map(move |(to, size)| {
                        (if self.relay(from, to).is_some() { 1.0 } else { 0.0 }, *size as f64)
                    })
                });
                sent.fold((0.0, 0.0, 0.0), |(last, relayed, bytes), (relay, size)| {
                    (last + 1.0, relayed + relay, bytes + (1.0 + relay) * size)
                })
            }
        };
        let flows = iterations * (last + relayed);
        let waits = match self.exchange {
            // Each that follows an iteration waits once, and is waited for by its sender's and its receiver's next one.
            Exchange::AtOnce => (iterations - 1.0) * 3.0 * last + iterations * relayed,
            Exchange::Pairwise => WAITS * flows,
        };
        Ok(Expected { flows, bytes: iterations * bytes, waits, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let first = s.start("start", self.start.0)?;
        let hosts = s.members("hosts", &self.hosts)?;
        if self.exchange == Exchange::AtOnce {
            return self.at_once(s, &hosts, first, out);
        }
        let start =
            |place: usize| jittered(first, self.jitter.0, &mut s.stream("starts", u64::from(hosts[place])));
        let parts = self.parts(s, hosts.len())?;
        let send = |step: usize, place: usize| {
            let to = (place + step + 1) % hosts.len();
            (to, parts.of(place, to))
        };
        self.rounds(hosts.len()).lay((s, &hosts), start, send, out)
    }

    fn is_job(&self) -> bool {
        true
    }

    fn file(&self) -> Option<&str> {
        self.matrix.as_deref()
    }

    fn course(&self, f: &Fluid) -> Course {
        let hosts = f.members(&self.hosts);
        match self.exchange {
            Exchange::Pairwise => self.rounds(hosts).course(f, self.start.0, hosts as f64),
            Exchange::AtOnce => {
                let iterations = f64::from(self.iterations);
                let each = (hosts - 1) as f64 * f.wire / f.line + f.rtt;
                let pauses = (iterations - 1.0) * self.compute.0.secs();
                let course = f.spread(self.start.0, self.jitter.0, iterations * each + pauses);
                Course { active: course.active / iterations, ..course }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, ends, flows, in_folder, network, waits};
    use thalweg_units::Span;

    /// No two hand over the first flow, the second one and so on to one host.
    #[test]
    fn every_host_sends_to_all_others_in_the_order_in_which_they_follow_it() {
        let flows = flows(4, "kind = \"all-to-all\"\nsize = \"3KB\"");
        let of_each = [[(0, 1), (0, 2), (0, 3)], [(1, 2), (1, 3), (1, 0)], [(2, 3), (2, 0), (2, 1)]];
        assert_eq!(ends(&flows[..9]), of_each.concat());
        assert_eq!(ends(&flows[9..]), [(3, 0), (3, 1), (3, 2)]);
    }

    /// Per iteration after the first each of N hosts waits for 2(N − 1) flows, and N − 1 flows for that.
    #[test]
    fn what_is_waited_for_grows_as_the_number_of_flows() {
        for hosts in [8, 16] {
            let section = "kind = \"all-to-all\"\nsize = \"3KB\"\niterations = 3\ncompute = \"5us\"";
            let net = network(hosts, section);
            let (n, pause) = (hosts as usize, Span::from_us(5));
            assert_eq!((net.works.len(), waits(&net)), (2 * n, 2 * 3 * n * (n - 1)));
            assert!(net.works.iter().all(|work| work.cpu.is_none() && work.lasts.is_zero()));
            // The time to compute is the flows'.
            assert!(net.flows[n * (n - 1)..].iter().all(|flow| flow.start.ps() == pause.ps()));
            assert!(after(&net)[n * (n - 1)..].iter().all(|before| before.len() == 2 * (n - 1)));
        }
    }

    #[test]
    fn a_host_begins_again_when_it_has_all_and_all_have_what_it_sent() {
        let net = network(4, "kind = \"all-to-all\"\nsize = \"3KB\"\nhosts = [3, 1, 2]\niterations = 2");
        assert_eq!(ends(&net.flows[..6]), [(3, 1), (3, 2), (1, 2), (1, 3), (2, 3), (2, 1)]);
        let after = after(&net);
        assert_eq!(after[6..8], [vec![0, 1, 3, 4], vec![0, 1, 3, 4]]);
        assert_eq!(after[8], [0, 2, 3, 5]);
    }

    #[test]
    fn a_matrix_gives_what_each_has_for_each() {
        let rows = "9,1000,0\n2000,9,3000\n# none for host 0\n0,4000,0\n";
        let sizes = |exchange: &str| {
            let section = format!("kind = \"all-to-all\"\nmatrix = \"m.csv\"\niterations = 2\n{exchange}");
            let net = in_folder(3, &[("m.csv", rows)], &section).expect("a network");
            let sizes: Vec<u64> = net.flows.iter().map(|f| f.size).collect();
            (ends(&net.flows), sizes, after(&net))
        };
        let (at_once, sizes_at_once, waits) = sizes("");
        assert_eq!(at_once, [[(0, 1), (1, 2), (1, 0), (2, 1)]; 2].concat());
        assert_eq!(sizes_at_once, [[1000, 3000, 2000, 4000]; 2].concat());
        assert_eq!(waits[4..6], [vec![0, 2], vec![0, 1, 2, 3]]);
        // Host 0 has nothing for host 2, and host 2 nothing for host 0: what was before counts.
        let (pairwise, _, waits) = sizes("exchange = \"pairwise\"");
        assert_eq!(pairwise, [[(0, 1), (1, 2), (1, 0), (2, 1)]; 2].concat());
        assert_eq!(
            waits,
            [vec![], vec![], vec![0, 1], vec![1], vec![0, 2], vec![2, 3], vec![4, 5], vec![3, 5]]
        );
    }

    /// Two servers of two: only what changes server and rail goes by way of another GPU, once it is there.
    #[test]
    fn relays_keep_flows_on_their_rails() {
        let section = "kind = \"all-to-all\"\nsize = \"3KB\"\nrelay = 2\niterations = 2";
        let net = network(4, section);
        // By the clock, then those that were relayed.
        let first = [
            [(0, 1), (0, 2), (0, 1)],
            [(1, 0), (1, 3), (1, 0)],
            [(2, 3), (2, 0), (2, 3)],
            [(3, 2), (3, 1), (3, 2)],
        ];
        assert_eq!(ends(&net.flows[..12]), first.concat());
        assert_eq!(ends(&net.flows[12..16]), [(1, 3), (0, 2), (3, 1), (2, 0)]);
        assert_eq!(ends(&net.flows[16..20]), [(0, 1), (0, 2), (0, 1), (1, 3)]);
        let after = after(&net);
        assert_eq!(after[12..16], [[2], [3], [8], [9]]);
        // What host 0 was sent has arrived (5, 7, 15), and so has all that it sent (0, 1, 12).
        assert_eq!(after[16], [0, 1, 5, 7, 12, 15]);
        assert_eq!(after[19], [18]);
    }

    #[test]
    fn relays_that_are_none_are_refused() {
        for (keys, reason) in [
            ("relay = 4", "4 hosts do not make several groups of 4"),
            ("relay = 3", "4 hosts do not make several groups of 3"),
            (
                "relay = 2\nexchange = \"pairwise\"",
                "it has no effect: pairwise, a host sends one flow at a time",
            ),
        ] {
            let section = format!("kind = \"all-to-all\"\nsize = \"3KB\"\n{keys}");
            let files: [(&str, &str); 0] = [];
            let error = in_folder(4, &files, &section).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    /// Host 0 receives from host 3 in the first step and from host 2 in the second, and sends in the third: both are
    /// to be there.
    #[test]
    fn pairwise_a_host_waits_for_all_that_it_was_sent_since_it_sent_last() {
        let rows = "0,0,0,9\n0,0,0,0\n8,0,0,0\n7,0,0,0\n";
        let section = "kind = \"all-to-all\"\nmatrix = \"m.csv\"\nexchange = \"pairwise\"";
        let net = in_folder(4, &[("m.csv", rows)], section).expect("a network");
        assert_eq!(ends(&net.flows), [(3, 0), (2, 0), (0, 3)]);
        assert_eq!(after(&net), [vec![], vec![], vec![0, 1]]);
    }

    /// Host 0 begins in the second step: what host 3 has sent it meanwhile it need not compute with, and the iteration
    /// before it must.
    #[test]
    fn pairwise_the_time_to_compute_comes_before_a_hosts_first_flow_whichever_step_that_is() {
        let rows = "0,0,9,0\n0,0,0,0\n0,0,0,0\n7,0,0,0\n";
        let section = "kind = \"all-to-all\"\nmatrix = \"m.csv\"\nexchange = \"pairwise\"\niterations = 2";
        let with = |rows: &str, more: &str| {
            in_folder(4, &[("m.csv", rows)], &format!("{section}\n{more}")).expect("a network")
        };
        let net = with(rows, "compute = \"5us\"");
        assert_eq!(ends(&net.flows), [(3, 0), (0, 2), (3, 0), (0, 2)]);
        assert_eq!(after(&net), [vec![], vec![0], vec![0], vec![1, 2]]);
        let pauses = |net: &thalweg_net::spec::NetworkSpec| -> Vec<u64> {
            net.flows.iter().map(|flow| flow.start.ps() / 1_000_000).collect()
        };
        assert_eq!((pauses(&net), net.works.len()), (vec![0, 0, 5, 0], 1));
        assert_eq!((net.works[0].host.0, net.works[0].start.ps()), (0, 5_000_000));
        // Without time to compute, and where nothing has come meanwhile, no computation is needed.
        assert_eq!(with(rows, "").works.len(), 0);
        let net = with("0,0,9,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n", "compute = \"5us\"");
        assert_eq!((pauses(&net), net.works.len()), (vec![0, 5], 0));
    }

    #[test]
    fn a_matrix_that_is_none_is_refused_with_its_line() {
        for (rows, reason) in [
            ("1,2,3\n4,5\n", "m.csv:2: the row has 2 sizes, for 3 hosts"),
            ("1,2,3\n4,5,6\n", "m.csv: the file has 2 rows, for 3 hosts"),
            ("1,2,3\n4,5,6\n1,1,1\n1,1,1\n", "m.csv:4: there is a row 4, for 3 hosts"),
            ("1,2,3\n4,x,6\n1,1,1\n", "m.csv:2: `x` is not a size in bytes"),
            ("1,0,0\n0,5,0\n0,0,1\n", "m.csv:1: every size between two hosts is 0"),
        ] {
            let section = "kind = \"all-to-all\"\nmatrix = \"m.csv\"";
            let error = in_folder(3, &[("m.csv", rows)], section).expect_err(reason).to_string();
            assert!(error.starts_with(reason), "{error}");
        }
    }

    #[test]
    fn pairwise_every_host_sends_one_flow_and_receives_one_at_a_time() {
        let net =
            network(4, "kind = \"all-to-all\"\nsize = \"3KB\"\nexchange = \"pairwise\"\niterations = 2");
        let steps = [
            [(0, 1), (1, 2), (2, 3), (3, 0)],
            [(0, 2), (1, 3), (2, 0), (3, 1)],
            [(0, 3), (1, 0), (2, 1), (3, 2)],
        ];
        assert_eq!(ends(&net.flows), [steps, steps].concat().concat());
        let after = after(&net);
        assert_eq!(after[4..8], [vec![0, 3], vec![0, 1], vec![1, 2], vec![2, 3]]);
        assert_eq!(after[8], [4, 6], "host 0 has received from host 2 and sent to it");
        assert_eq!(after[12], [8, 9], "host 0 received from host 1 last");
    }
}
