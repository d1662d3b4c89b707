//! Ports that send at their rates, in a switch whose decisions take no time.

use super::account::Account;
use super::{Stop, lines::Lines};
use crate::engine::Engine;
use crate::normal::Policy;
use thalweg_units::{Rate, Time};

pub(super) fn run<E: Engine, M: Fn(&Policy, u64) -> E>(
    account: &mut Account<'_, E, M>,
    rates: &[Rate],
    until: Time,
) -> Result<(), Stop> {
    let mut lines = Lines::new(rates);
    let mut now = Time::ZERO;
    loop {
        account.change(now)?;
        while account.next_arrival().is_some_and(|at| at <= now) {
            if let Some(nth) = account.take_arrival() {
                account.arrive(now, nth)?;
            }
        }
        decide(account, &mut lines, now)?;
        let next = [account.next_arrival(), account.next_change(), lines.next_free(now)];
        match next.into_iter().flatten().min() {
            Some(next) if next <= until => now = next,
            _ => return Ok(()),
        }
    }
}

/// Free ports take packets until none leaves. A packet that enters the next queue may be served there immediately, and
/// makes room for packets behind it.
fn decide<E: Engine, M: Fn(&Policy, u64) -> E>(
    account: &mut Account<'_, E, M>,
    lines: &mut Lines,
    now: Time,
) -> Result<(), Stop> {
    let mut some = true;
    while some && account.resident() > 0 {
        some = false;
        for port in 0..lines.len() {
            if !lines.is_free(port, now) {
                continue;
            }
            if let Some(taken) = account.take(port, now)? {
                let end = lines.send(port, now, taken.size);
                account.leave(taken, end);
                some = true;
            }
        }
    }
    Ok(())
}
