//! A switch with one core (§2.5.4), which polls the inputs, admits the packets that it finds there, and hands packets
//! to ports, one at a time. Each step takes time, so expensive policies send less.
//!
//! CHOICE OpenQueue §2.5.4: in a round the core takes a packet from each of its inputs, then hands one to each port
//! that can take it. So with two inputs, as in Figure 2.19, it admits two packets for each that it sends when it is the
//! bottleneck, and the queue fills as before a slow line. Other reading: bursts of 32, as in DPDK.
//!
//! CHOICE OpenQueue §2.5.4: a port can take a packet as soon as it has begun to send the previous one, so that a line
//! is never idle for the time of a decision. Other reading: rings of hundreds of packets after the policy, whose order
//! the policy does not control.

use super::account::Account;
use super::{Stop, lines::Lines};
use crate::engine::Engine;
use crate::normal::Policy;
use std::collections::VecDeque;
use thalweg_units::{Rate, Span, Time};

/// The core, and the time that its work takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Core {
    /// Time to take a packet from a ring and to admit or drop it.
    pub arrival: Span,
    /// Time to choose a packet and to hand it to a port.
    pub departure: Span,
    /// Number of inputs. A packet arrives at the input given by its flow number, modulo this.
    pub inputs: u32,
    /// Size of the ring of each input, in packets; arrivals at a full ring are lost.
    pub ring: u32,
}

/// The rings before the core.
struct Inputs {
    rings: Vec<VecDeque<u32>>,
    room: usize,
}

impl Inputs {
    /// Moves all arrivals until now into their rings; those that find a full ring are lost.
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
                // The policy decides when the work begins.
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
