//! Collective operations expanded to messages among N ranks (Thakur, Rabenseifner, Gropp, Optimization of collective
//! communication operations in MPICH, IJHPCA 19(1), 2005; rings: Patarasuk & Yuan, JPDC 69(2), 2009).
//!
//! - all-reduce: 2(N − 1) steps around a ring, a chunk in each; the rank at place i sends chunk i − t in step t;
//! - reduce-scatter and all-gather: N − 1 steps of the same;
//! - all-to-all: N − 1 steps; in step t, from 1 on, a piece goes from place i to place i + t;
//! - broadcast: a binomial tree from the root; in step t the 2^t ranks that have the vector send it to as many others.
//!
//! A rank sends in a step when the messages sent to it in the step before have arrived. Additions take no time.
//!
//! ```text
//! CHOICE Chakra: `comm_size` is the size of a rank's data at the beginning, as in ASTRA-sim: the whole vector, of
//! which it sends (N − 1)/N, except for all-gather, where it is the rank's own piece, and the rank sends N − 1 pieces.
//! CHOICE: a rank of a broadcast starts all its sends when it has the vector; they share its link.
//! ```

use super::operations::Operations;
use crate::parse::chakra::Collective;
use crate::traffic::rounds::chunk;

/// Number of messages of an operation among this many ranks.
pub(super) fn messages(kind: Collective, ranks: u64) -> u64 {
    let others = ranks.saturating_sub(1);
    match kind {
        Collective::AllReduce => 2 * others * ranks,
        Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => others * ranks,
        Collective::Broadcast => others,
    }
}

/// Makes the messages of an operation among `members`, each a rank with the operation that begins the collective there.
/// Returns for each member the operations after which the collective is complete there. `root`: the place of the root
/// of a broadcast.
pub(super) fn expand(
    kind: Collective,
    members: &[(u32, u32)],
    (size, root): (u64, usize),
    out: &mut Operations,
) -> Vec<Vec<u32>> {
    let all = members.len();
    match kind {
        Collective::AllReduce => ring(members, |place| chunk(size, place, all), 2 * (all - 1), out),
        Collective::ReduceScatter => ring(members, |place| chunk(size, place, all), all - 1, out),
        Collective::AllGather => ring(members, |_| size, all - 1, out),
        Collective::AllToAll => exchange(members, size, out),
        Collective::Broadcast => broadcast(members, size, root, out),
    }
}

fn begins(members: &[(u32, u32)]) -> Vec<Vec<u32>> {
    members.iter().map(|(_, begin)| vec![*begin]).collect()
}

/// `size`: bytes of a chunk, by its number.
fn ring(
    members: &[(u32, u32)],
    size: impl Fn(usize) -> u64,
    steps: usize,
    out: &mut Operations,
) -> Vec<Vec<u32>> {
    let all = members.len();
    let mut before = begins(members);
    for step in 0..steps {
        let mut now = vec![Vec::new(); all];
        for place in 0..all {
            let to = (place + 1) % all;
            let bytes = size((place + 2 * all - step) % all);
            now[to].push(out.message(members[place].0, members[to], bytes, &before[place]));
        }
        before = now;
    }
    before
}

fn exchange(members: &[(u32, u32)], size: u64, out: &mut Operations) -> Vec<Vec<u32>> {
    let all = members.len();
    let (mut before, mut received) = (begins(members), vec![Vec::new(); all]);
    for step in 1..all {
        let mut now = vec![Vec::new(); all];
        for place in 0..all {
            let to = (place + step) % all;
            let come = out.message(members[place].0, members[to], chunk(size, to, all), &before[place]);
            now[to].push(come);
            received[to].push(come);
        }
        before = now;
    }
    received
}

/// Complete at a rank when the rank has the vector and all messages that it sends have arrived. Otherwise a root would
/// be complete immediately and begin its next operation during this one.
fn broadcast(members: &[(u32, u32)], size: u64, root: usize, out: &mut Operations) -> Vec<Vec<u32>> {
    let all = members.len();
    let mut has = begins(members);
    let mut sent: Vec<Vec<u32>> = vec![Vec::new(); all];
    let mut first = 1;
    while first < all {
        for sender in 0..first.min(all - first) {
            let (from, to) = ((root + sender) % all, (root + sender + first) % all);
            let arrived = out.message(members[from].0, members[to], size, &has[from]);
            has[to] = vec![arrived];
            sent[from].push(arrived);
        }
        first *= 2;
    }
    has.into_iter().zip(sent).map(|(has, sent)| [has, sent].concat()).collect()
}
