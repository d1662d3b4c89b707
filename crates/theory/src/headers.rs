//! What the ingress writes into the headers, knowing i(p), o(p), path(p) and nothing of other packets: *black-box*
//! initialisation; and, for the omniscient scheduler only, the whole recorded timetable of the packet.

use crate::instance::Instance;
use crate::original::Record;

/// The headers of all packets of an instance, as written at the ingress. Nothing else of the original reaches
/// a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// One number per packet: slack, o(p), a priority, an accumulated wait.
    pub value: Vec<i64>,
    /// Omniscient only: o(p,α) per packet and hop.
    pub times: Vec<Vec<i64>>,
}

impl Headers {
    fn of(instance: &Instance, value: impl Fn(usize) -> i64) -> Self {
        Self { value: (0..instance.packets.len()).map(value).collect(), times: Vec::new() }
    }

    /// The same number in every packet.
    pub fn constant(instance: &Instance, value: i64) -> Self {
        Self::of(instance, |_| value)
    }

    /// slack(p) = o(p) − i(p) − t_min(p,src,dest): how long it may wait in all.
    pub fn slack(instance: &Instance, record: &Record) -> Self {
        Self::of(instance, |p| record.exit[p] - instance.packets[p].arrival - instance.t_min(p))
    }

    /// o(p): what network-wide EDF and the black-box priorities carry.
    pub fn exit(_: &Instance, record: &Record) -> Self {
        Self { value: record.exit.clone(), times: Vec::new() }
    }

    /// o(p) − t_min(p,α_p,dest) + T(p,α_p): the priority that is right if the only congestion point of `p` is its
    /// hop `at(p)`, a place that black-box initialisation does not know.
    pub fn local_exit(instance: &Instance, record: &Record, at: impl Fn(usize) -> usize) -> Self {
        Self::of(instance, |p| {
            let k = at(p);
            record.exit[p] - instance.t_min_from(p, k) + instance.service(p, k)
        })
    }

    /// o(p,α) for every α of the path: omniscient.
    pub fn timetable(instance: &Instance, record: &Record) -> Self {
        let times = record.hops.iter().map(|hops| hops.iter().map(|h| h.start).collect()).collect();
        Self { value: vec![0; instance.packets.len()], times }
    }
}
