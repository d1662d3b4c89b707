//! Ports that work in cycles (Figure 2.3): arrivals of a slot, then a cycle of every port.
//!
//! CHOICE OpenQueue §2.2.4: a cycle works on the packet that is first when the cycle begins, even if work on another
//! one has begun. Other reading: a packet is completed once begun; then SRPT would not be least work first.

use super::Stop;
use super::account::Account;
use crate::engine::Engine;
use crate::normal::Policy;
use thalweg_units::{Span, Time};

pub(super) fn run<E: Engine, M: Fn(&Policy, u64) -> E>(
    account: &mut Account<'_, E, M>,
    cycle: Span,
    until: Time,
) -> Result<(), Stop> {
    let cycle = cycle.max(Span::from_ps(1));
    let mut slot = 0;
    while let Some(now) = next(account, cycle, slot) {
        if now > until {
            break;
        }
        slot = now.ps() / cycle.ps() + 1;
        // Packets that arrived since the last slot wait from their instants of arrival.
        while let Some(at) = account.next_arrival().filter(|at| *at <= now) {
            account.change(at)?;
            if let Some(nth) = account.take_arrival() {
                account.arrive(at, nth)?;
            }
        }
        account.change(now)?;
        let mut some = false;
        for port in 0..account.policy().ports().len() {
            let (worked, left) = account.work(port, now)?;
            some |= worked;
            if let Some(taken) = left {
                account.leave(taken, now.saturating_add(cycle));
            }
        }
        if !some && account.next_arrival().is_none() {
            break;
        }
    }
    Ok(())
}

/// The first slot, from this one on, with work to do.
fn next<E: Engine, M: Fn(&Policy, u64) -> E>(
    account: &Account<'_, E, M>,
    cycle: Span,
    slot: u64,
) -> Option<Time> {
    let this = Time::from_ps(slot.checked_mul(cycle.ps())?);
    if account.resident() > 0 {
        return Some(this);
    }
    let at = account.next_arrival()?.max(this);
    Some(Time::from_ps(at.ps().div_ceil(cycle.ps()).checked_mul(cycle.ps())?))
}
