//! Collective operations in steps, in each of which every host sends one flow and receives one.
//!
//! A host sends in a step when all flows sent to it since its own last flow have arrived, and that last flow has
//! arrived, too. In most operations these are the flows that it received and sent in the step before. The first step of
//! an iteration follows the last step of the iteration before in the same way, after the computation time: a host waits
//! only for the hosts that send to it. A host that sends nothing in the first step begins an iteration with the first
//! flow that it sends, which also follows what the host has received meanwhile. Two simplifications: additions take no
//! time, and a host knows immediately when a flow has arrived.

use super::course::{Course, Fluid};
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use thalweg_net::spec::{Edge, End, Predecessor};
use thalweg_units::{Span, Time};

/// About the number of predecessors of a flow: one that was received and one that was sent.
pub(super) const WAITS: f64 = 2.0;

/// The steps of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// Number of steps of an iteration.
    pub steps: usize,
    pub iterations: u32,
    /// Computation time between iterations.
    pub compute: Span,
}

/// The flows that a host waits for before it sends again.
#[derive(Clone, Debug, Default)]
struct Held {
    /// Flows sent to the host since its own last flow.
    received: Vec<usize>,
    /// The host's own last flow.
    sent: Option<usize>,
}

impl Held {
    fn all(&self) -> Vec<usize> {
        self.received.iter().copied().chain(self.sent).collect()
    }
}

impl Rounds {
    /// Makes the flows among these hosts, which are named by their places. `start`: when the first step of a host
    /// begins. `send`: to which place a host sends in a step, and how many bytes (0: no flow); no two hosts may send to
    /// the same one in a step.
    pub fn lay(
        &self,
        (s, hosts): (&Section<'_>, &[u32]),
        mut start: impl FnMut(usize) -> Time,
        send: impl Fn(usize, usize) -> (usize, u64),
        out: &mut Drafts,
    ) -> Result<(), Diagnostic> {
        let mut hold: Vec<Held> = vec![Held::default(); hosts.len()];
        let mut iteration = out.len();
        for round in 0..self.iterations as usize * self.steps {
            s.cx.proceed()?;
            let step = round % self.steps;
            iteration = if step == 0 { out.len() } else { iteration };
            // Place of the sender, place of the receiver, position of the flow.
            let mut sent: Vec<(usize, usize, usize)> = Vec::with_capacity(hosts.len());
            for place in 0..hosts.len() {
                let (to, size) = send(step, place);
                if size == 0 {
                    continue;
                }
                let (src, dst) = (hosts[place], hosts[to]);
                let before = hold[place].all();
                let flow = if before.is_empty() {
                    out.push(s.flow(src, dst, size, start(place)))
                } else {
                    let (pause, before) = self.before(s, src, (before, iteration), out);
                    out.follow_all(s.follower(src, dst, size, pause), before)
                };
                sent.push((place, to, flow));
            }
            for (place, _, flow) in &sent {
                hold[*place] = Held { received: Vec::new(), sent: Some(*flow) };
            }
            for (_, to, flow) in sent {
                hold[to].received.push(flow);
            }
        }
        Ok(())
    }

    /// What a host's next flow follows, and how long after that it starts. `flows`: the flows that it received and sent
    /// since its last one, of which those from the position `iteration` on belong to this iteration. If others belong
    /// to the iteration before, this is the host's first flow of the iteration: it follows those after the computation
    /// time, and the flows of this iteration immediately.
    fn before(
        &self,
        s: &Section<'_>,
        host: u32,
        (flows, iteration): (Vec<usize>, usize),
        out: &mut Drafts,
    ) -> (Span, Vec<Predecessor>) {
        let arrived = |flow: &usize| Predecessor::Flow { flow: (*flow).into(), end: End::Received };
        let (now, earlier): (Vec<usize>, Vec<usize>) = flows.iter().partition(|flow| **flow >= iteration);
        if now.is_empty() || earlier.is_empty() || self.compute.is_zero() {
            let pause = if now.is_empty() { self.compute } else { Span::ZERO };
            return (pause, flows.iter().map(arrived).collect());
        }
        let computed = out.work(s.stand_in(host, self.compute), earlier.iter().map(arrived));
        let computed = Predecessor::Work { work: computed.into(), edge: Edge::Ended };
        (Span::ZERO, now.iter().map(arrived).chain([computed]).collect())
    }

    /// Makes the flows of a ring, in which each host sends to the next one what it received in the step before. In step
    /// k the host at place i sends chunk i − k, modulo N, of a vector of `size` bytes.
    pub fn pass_on(
        &self,
        (s, ring): (&Section<'_>, &[u32]),
        start: Time,
        size: u64,
        out: &mut Drafts,
    ) -> Result<(), Diagnostic> {
        let all = ring.len();
        let send = |step: usize, i: usize| ((i + 1) % all, chunk(size, (i + 2 * all - step) % all, all));
        self.lay((s, ring), |_| start, send, out)
    }

    /// What [`Self::pass_on`] is expected to offer.
    pub fn passes(&self, hosts: usize, size: u64) -> Expected {
        let rounds = f64::from(self.iterations) * self.steps as f64;
        let flows = rounds * hosts as f64;
        Expected { flows, bytes: rounds * size as f64, waits: WAITS * flows, ..Expected::default() }
    }

    /// The course of the operation in the fluid model.
    pub fn course(&self, f: &Fluid, begin: Span, hosts: f64) -> Course {
        let (begin, iterations) = (begin.secs(), f64::from(self.iterations));
        let each = self.steps as f64 * (f.wire / f.line + f.rtt / 2.0);
        Course::new(begin, begin + iterations * each + (iterations - 1.0) * self.compute.secs(), hosts)
    }
}

/// Bytes of a chunk of a vector of `size` bytes. The sizes of chunks add up to `size` and differ by at most one byte.
pub(super) fn chunk(size: u64, number: usize, chunks: usize) -> u64 {
    upto(size, number + 1, chunks) - upto(size, number, chunks)
}

/// Bytes of the first `number` chunks.
pub(super) fn upto(size: u64, number: usize, chunks: usize) -> u64 {
    (u128::from(size) * number as u128 / chunks as u128) as u64
}
