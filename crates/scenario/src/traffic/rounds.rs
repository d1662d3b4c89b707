//! Collective operations in steps: in each of them every host sends one flow and receives one.
//!
//! What waits for what: a host sends in a step when all that was sent to it since it sent last has come, and what it
//! sent then has arrived. In most operations that is what it received and sent in the step before. The first step of an
//! iteration follows the last one of the iteration before in the same way, after the time to compute: hosts wait for
//! those that send to them, not for all. That adding up takes no time and that a host knows at once what has arrived
//! are simplifications.

use super::course::{Course, Fluid};
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use thalweg_units::{Span, Time};

/// How an operation proceeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// Steps of an iteration.
    pub steps: usize,
    pub iterations: u32,
    /// Between iterations.
    pub compute: Span,
}

/// What a host waits for before it sends again.
#[derive(Clone, Debug, Default)]
struct Held {
    /// What was sent to it since it sent last.
    received: Vec<usize>,
    /// What it sent last.
    sent: Option<usize>,
}

impl Held {
    fn all(&self) -> Vec<usize> {
        self.received.iter().copied().chain(self.sent).collect()
    }
}

impl Rounds {
    /// Makes the flows among these hosts. `start`: when the first step of the host at a place begins. `send`: the place
    /// that the host at a place sends to in a step, and how many bytes, 0 for no flow; no two send to the same one in a
    /// step.
    pub fn lay(
        &self,
        (s, hosts): (&Section<'_>, &[u32]),
        mut start: impl FnMut(usize) -> Time,
        send: impl Fn(usize, usize) -> (usize, u64),
        out: &mut Drafts,
    ) -> Result<(), Diagnostic> {
        let mut hold: Vec<Held> = vec![Held::default(); hosts.len()];
        for round in 0..self.iterations as usize * self.steps {
            s.cx.proceed()?;
            let step = round % self.steps;
            let pause = if step == 0 { self.compute } else { Span::ZERO };
            // From whose place, to whose, which flow.
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
                    out.follow(s.follower(src, dst, size, pause), &before)
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

    /// Makes the flows of hosts in a ring, each of which sends to the next one what it has received last: the host at
    /// place i in step k the chunk i − k, modulo N, of a vector of so many bytes.
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

    /// What that makes among so many hosts.
    pub fn passes(&self, hosts: usize, size: u64) -> Expected {
        let rounds = f64::from(self.iterations) * self.steps as f64;
        Expected { flows: rounds * hosts as f64, bytes: rounds * size as f64, ..Expected::default() }
    }

    /// Its course among so many hosts.
    pub fn course(&self, f: &Fluid, begin: Span, hosts: f64) -> Course {
        let (begin, iterations) = (begin.secs(), f64::from(self.iterations));
        let each = self.steps as f64 * (f.wire / f.line + f.rtt / 2.0);
        Course::new(begin, begin + iterations * each + (iterations - 1.0) * self.compute.secs(), hosts)
    }
}

/// Bytes of a chunk of `size` bytes cut into so many: all together are the whole, and no two differ by more than one.
pub(super) fn chunk(size: u64, number: usize, chunks: usize) -> u64 {
    upto(size, number + 1, chunks) - upto(size, number, chunks)
}

/// Bytes of the first `number` of so many chunks.
pub(super) fn upto(size: u64, number: usize, chunks: usize) -> u64 {
    (u128::from(size) * number as u128 / chunks as u128) as u64
}
