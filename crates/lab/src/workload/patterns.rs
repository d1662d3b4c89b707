//! Flows that a pattern gives: permutation, all-to-all, incast, single, backlogged, request/response, datagrams.

use super::{Draft, Expected, Section};
use crate::Diagnostic;
use crate::schema::{Incast, Pattern, RequestResponse, Senders};
use thalweg_units::{Span, Stream, Time};

/// Checks a pattern and counts what it will make.
pub(super) fn expected(s: &Section<'_>, pattern: &Pattern) -> Result<Expected, Diagnostic> {
    let hosts = f64::from(s.graph.hosts);
    let finite = |flows: f64, size: u64| Expected {
        flows,
        bytes: flows * size as f64,
        endless: 0.0,
        ..Expected::default()
    };
    Ok(match pattern {
        Pattern::Permutation(p) => {
            s.start("start", p.start.0)?;
            s.start("jitter", Span::from_ps(p.start.0.ps().saturating_add(p.jitter.0.ps())))?;
            finite(hosts, s.size("size", p.size.0.get())?)
        }
        Pattern::AllToAll(p) => {
            s.start("start", p.start.0)?;
            s.start("jitter", Span::from_ps(p.start.0.ps().saturating_add(p.jitter.0.ps())))?;
            finite(hosts * (hosts - 1.0), s.size("size", p.size.0.get())?)
        }
        Pattern::Incast(i) => {
            check_incast(s, i)?;
            finite(f64::from(i.fan_in) * f64::from(i.repeat), s.size("size", i.size.0.get())?)
        }
        Pattern::Flow(f) => {
            s.ends(("src", f.src), ("dst", f.dst))?;
            s.start("start", f.start.0)?;
            finite(1.0, s.size("size", f.size.0.get())?)
        }
        Pattern::Backlogged(b) => {
            s.ends(("src", b.src), ("dst", b.dst))?;
            s.start("start", b.start.0)?;
            let last = b.spacing.0.saturating_mul(u64::from(b.count - 1)).ps().saturating_add(b.start.0.ps());
            s.start("spacing", Span::from_ps(last))?;
            if let Some(until) = b.until {
                s.start("until", until.0)?;
                if until.0.ps() <= last {
                    let reason = format!("{} is not after the start, {}", until.0, Span::from_ps(last));
                    return Err(s.cx.error(&s.key("until"), reason, "stop later or start earlier"));
                }
            }
            if b.count == 1 && !b.spacing.0.is_zero() {
                let hint = "raise `count` or remove the key";
                return Err(s.cx.error(&s.key("spacing"), "it has no effect: there is one flow", hint));
            }
            Expected { endless: f64::from(b.count), ..Expected::default() }
        }
        Pattern::RequestResponse(r) => {
            s.ends(("client", r.client), ("server", r.server))?;
            s.start("start", r.start.0)?;
            let round =
                s.size("request", r.request.0.get())? as f64 + s.size("response", r.response.0.get())? as f64;
            if r.count == 1 && !r.think.0.is_zero() {
                let hint = "raise `count` or remove the key";
                return Err(s.cx.error(&s.key("think"), "it has no effect: there is one round", hint));
            }
            Expected {
                flows: 2.0 * f64::from(r.count),
                bytes: f64::from(r.count) * round,
                endless: 0.0,
                ..Expected::default()
            }
        }
        Pattern::Udp(u) => {
            s.ends(("src", u.src), ("dst", u.dst))?;
            s.start("start", u.start.0)?;
            if u.rate.0.bps() == 0 {
                return Err(s.cx.error(
                    &s.key("rate"),
                    "a rate of 0bps sends nothing",
                    "write a rate above zero",
                ));
            }
            s.size("payload", u.payload.0.get())?;
            match u.size {
                Some(size) => finite(1.0, s.size("size", size.0.get())?),
                None => Expected { endless: 1.0, ..Expected::default() },
            }
        }
        Pattern::Poisson(_) | Pattern::Rpc(_) | Pattern::List(_) => Expected::default(),
    })
}

/// A start within `jitter` after `start`, whole nanoseconds.
fn jittered(start: Time, jitter: Span, stream: &mut Stream) -> Time {
    let extra = if jitter.is_zero() { 0 } else { stream.below(jitter.ps().saturating_add(1)) };
    start.saturating_add(Span::from_ps(extra / 1000 * 1000))
}

/// Makes the flows.
pub(super) fn generate(s: &Section<'_>, pattern: &Pattern, out: &mut Vec<Draft>) -> Result<(), Diagnostic> {
    let hosts = s.graph.hosts;
    match pattern {
        Pattern::Permutation(p) => {
            // One cycle through all hosts (Sattolo 1986): nobody sends to itself.
            let mut next: Vec<u32> = (0..hosts).collect();
            let mut stream = s.stream("permutation", 0);
            for i in (1..next.len()).rev() {
                next.swap(i, stream.below(i as u64) as usize);
            }
            for (src, dst) in (0..hosts).zip(next) {
                let start = jittered(
                    s.start("start", p.start.0)?,
                    p.jitter.0,
                    &mut s.stream("starts", u64::from(src)),
                );
                out.push(s.flow(src, dst, p.size.0.get(), start));
            }
        }
        Pattern::AllToAll(p) => {
            for src in 0..hosts {
                s.cx.proceed()?;
                let mut stream = s.stream("starts", u64::from(src));
                for dst in (0..hosts).filter(|d| *d != src) {
                    let start = jittered(s.start("start", p.start.0)?, p.jitter.0, &mut stream);
                    out.push(s.flow(src, dst, p.size.0.get(), start));
                }
            }
        }
        Pattern::Incast(i) => incast(s, i, out)?,
        Pattern::Flow(f) => out.push(s.flow(f.src, f.dst, f.size.0.get(), s.start("start", f.start.0)?)),
        Pattern::Backlogged(b) => {
            let start = s.start("start", b.start.0)?;
            for n in 0..u64::from(b.count) {
                let start = start.saturating_add(b.spacing.0.saturating_mul(n));
                let until = b.until.map(|q| Time::from_ps(q.0.ps()));
                out.push(Draft { until, ..s.flow(b.src, b.dst, u64::MAX, start) });
            }
        }
        Pattern::RequestResponse(r) => requests(s, r, out)?,
        Pattern::Udp(u) => {
            let size = u.size.map_or(u64::MAX, |q| q.0.get());
            out.push(s.flow(u.src, u.dst, size, s.start("start", u.start.0)?));
        }
        Pattern::Poisson(_) | Pattern::Rpc(_) | Pattern::List(_) => {}
    }
    Ok(())
}

fn check_incast(s: &Section<'_>, i: &Incast) -> Result<(), Diagnostic> {
    if let Some(receiver) = i.receiver {
        s.host("receiver", receiver)?;
    }
    s.start("at", i.at.0)?;
    let last = i.period.0.saturating_mul(u64::from(i.repeat - 1)).ps().saturating_add(i.at.0.ps());
    s.start("repeat", Span::from_ps(last))?;
    if i.repeat == 1 && !i.period.0.is_zero() {
        let hint = "raise `repeat` or remove the key";
        return Err(s.cx.error(&s.key("period"), "it has no effect: there is one event", hint));
    }
    if i.senders != Senders::WithReplacement && i.fan_in >= s.graph.hosts {
        let reason =
            format!("{} different senders, but there are {} other hosts", i.fan_in, s.graph.hosts - 1);
        let hint = format!("at most {}, or `senders = \"with-replacement\"`", s.graph.hosts - 1);
        return Err(s.cx.error(&s.key("fan_in"), reason, hint));
    }
    Ok(())
}

fn incast(s: &Section<'_>, i: &Incast, out: &mut Vec<Draft>) -> Result<(), Diagnostic> {
    let hosts = s.graph.hosts;
    // How far the n-th other host is from the receiver; whoever exchanges two puts them back.
    let mut away: Vec<u32> = (1..hosts).collect();
    let mut exchanged = Vec::new();
    for event in 0..u64::from(i.repeat) {
        s.cx.proceed()?;
        let mut stream = s.stream("incast", event);
        let receiver = i.receiver.unwrap_or_else(|| stream.below(u64::from(hosts)) as u32);
        let start = Time::from_ps(i.at.0.ps()).saturating_add(i.period.0.saturating_mul(event));
        for n in 0..i.fan_in as usize {
            let which = match i.senders {
                Senders::Neighbours => n,
                Senders::WithReplacement => stream.below(away.len() as u64) as usize,
                Senders::Distinct => {
                    let pick = n + stream.below((away.len() - n) as u64) as usize;
                    away.swap(n, pick);
                    exchanged.push((n, pick));
                    n
                }
            };
            let src = ((u64::from(receiver) + u64::from(away[which])) % u64::from(hosts)) as u32;
            out.push(s.flow(src, receiver, i.size.0.get(), start));
        }
        exchanged.drain(..).rev().for_each(|(a, b)| away.swap(a, b));
    }
    Ok(())
}

fn requests(s: &Section<'_>, r: &RequestResponse, out: &mut Vec<Draft>) -> Result<(), Diagnostic> {
    let start = s.start("start", r.start.0)?;
    for round in 0..r.count {
        let before = out.len().checked_sub(1);
        let request = s.flow(r.client, r.server, r.request.0.get(), start);
        out.push(match round {
            0 => request,
            _ => Draft { start: Time::from_ps(r.think.0.ps()), after: before, ..request },
        });
        let response = s.flow(r.server, r.client, r.response.0.get(), Time::ZERO);
        out.push(Draft { after: Some(out.len() - 1), ..response });
    }
    Ok(())
}
