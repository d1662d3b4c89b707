//! Collective operations in steps: in each of them every host sends one flow and receives one.
//!
//! What waits for what: a host sends in a step when what was sent to it in the step before has come, and what it sent
//! itself has arrived. Where nothing was sent in a step, the one before counts. The first step of an iteration follows
//! the last one of the iteration before in the same way, after the time to compute: hosts wait for those that send to
//! them, not for all. That adding up takes no time and that a host knows at once what has arrived are simplifications.

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
        // By place: the flows, of the step before or an earlier one, that the host there has received and sent.
        let mut before: Vec<[Option<usize>; 2]> = vec![[None; 2]; hosts.len()];
        for round in 0..self.iterations as usize * self.steps {
            s.cx.proceed()?;
            let step = round % self.steps;
            let pause = if step == 0 { self.compute } else { Span::ZERO };
            let mut now = before.clone();
            for place in 0..hosts.len() {
                let (to, size) = send(step, place);
                if size == 0 {
                    continue;
                }
                let (src, dst) = (hosts[place], hosts[to]);
                let mut both = before[place].into_iter().flatten();
                let flow = match (both.next(), both.next()) {
                    (None, _) => out.push(s.flow(src, dst, size, start(place))),
                    (Some(one), None) => out.follow(s.follower(src, dst, size, pause), &[one]),
                    (Some(one), Some(other)) => out.follow(s.follower(src, dst, size, pause), &[one, other]),
                };
                (now[to][0], now[place][1]) = (Some(flow), Some(flow));
            }
            before = now;
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
