//! A switch whose one core does everything (§2.5.4): it polls its inputs, admits what it finds there, and hands packets
//! to ports, one after another. Each costs time, so that costly policies send less.
//!
//! CHOICE OpenQueue §2.5.4: in a round the core takes a packet from each of its inputs, then hands one to each port
//! that can take it. So with two inputs, as in Figure 2.19, it admits two for each that it sends when it is the
//! bottleneck, and the queue fills as it does behind a slow line. Other reading: bursts of 32, as DPDK has them.
//!
//! CHOICE OpenQueue §2.5.4: a port can take a packet once it has begun the last one, so that a line is never idle for
//! the time that a decision takes. Other reading: rings of hundreds of packets behind the policy, whose order it no
//! longer decides.

use super::account::Account;
use super::{Stop, lines::Lines};
use crate::engine::Engine;
use crate::normal::Policy;
use std::collections::VecDeque;
use thalweg_units::{Rate, Span, Time};

/// The core, and what its work costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Core {
    /// To take a packet from a ring and admit it, or give it up.
    pub arrival: Span,
    /// To choose a packet and hand it to a port.
    pub departure: Span,
    /// Inputs; a packet comes in at that of its flow's number.
    pub inputs: u32,
    /// Packets that wait at an input for the core; what comes to a full ring is lost.
    pub ring: u32,
}

/// The rings before the core.
struct Inputs {
    rings: Vec<VecDeque<u32>>,
    room: usize,
}

impl Inputs {
    /// What has come until now is in its ring, or was lost.
    fn fill<E: Engine, M: Fn(&Policy, u64) -> E>(&mut self, account: &mut Account<'_, E, M>, now: Time) {
        while account.next_arrival().is_some_and(|at| at <= now) {
            let Some(nth) = account.take_arrival() else { return };
            let input = account.offered(nth).flow as usize % self.rings.len();
            if self.rings[input].len() < self.room {
                self.rings[input].push_back(nth);
            } else {
                account.overrun(nth);
            }
        }
    }
}

pub(super) fn run<E: Engine, M: Fn(&Policy, u64) -> E>(
    account: &mut Account<'_, E, M>,
    rates: &[Rate],
    core: &Core,
    until: Time,
) -> Result<(), Stop> {
    let mut lines = Lines::new(rates);
    let rings = vec![VecDeque::new(); core.inputs.max(1) as usize];
    let mut inputs = Inputs { rings, room: core.ring.max(1) as usize };
    let mut now = Time::ZERO;
    loop {
        let mut idle = true;
        account.change(now)?;
        for input in 0..inputs.rings.len() {
            inputs.fill(account, now);
            if let Some(nth) = inputs.rings[input].pop_front() {
                // It is decided as the work begins.
                account.arrive(now, nth)?;
                account.spend(core.arrival);
                now = now.saturating_add(core.arrival);
                idle = false;
            }
        }
        for port in 0..lines.len() {
            if account.resident() == 0 || !lines.has_begun(port, now) {
                continue;
            }
            if let Some(taken) = account.take(port, now)? {
                account.spend(core.departure);
                now = now.saturating_add(core.departure);
                let end = lines.send(port, now, taken.size);
                account.leave(taken, end);
                idle = false;
            }
        }
        inputs.fill(account, now);
        if idle && inputs.rings.iter().all(VecDeque::is_empty) {
            let next = [account.next_arrival(), account.next_change(), lines.next_begin(now)];
            match next.into_iter().flatten().min() {
                Some(next) => now = now.max(next),
                None => return Ok(()),
            }
        }
        if now > until {
            return Ok(());
        }
    }
}
