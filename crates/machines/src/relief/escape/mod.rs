//! Escape: a switch that has paused a neighbour sends tokens for flows whose packets could proceed, and these come
//! through escape queues, which pauses do not hold. Menikkumbura, "Software-Defined Buffer Management and Robust
//! Congestion Control for Modern Datacenter Networks", Purdue 2022, ch. 4.
//!
//! A token τ(fid, hops) goes up the path of a flow f that came by an input p^I whose neighbour is paused and
//! leaves by an output p^E that is not (Alg. 3, e1). The switch that receives it lifts the first packet of f
//! out of its paused queue, or passes it on (e2). Every switch on the way has reserved a place in the lane q→
//! of its own output by then: T(p^E), the pool of what is left, goes down by one, and up by one as the packet
//! leaves the lane (e3).
//!
//! ```text
//! CHOICE Escape §4.3.2 (Alg. 3): as printed the switch that lifts d sets d.hops = τ.hops and reserves
//! nothing, so that the hops on the wire are one too few, T at the token's origin is never given back and
//! that of the lifting port grows above its capacity; text and proofs want d.hops = τ.hops + 1 and T reserved
//! there, too. Other reading: arithmetic = "literal".
//! CHOICE Escape §4.3.3: T that a token leaves behind when it ends is given back by a message down the path
//! it came. The paper's timer takes a pool in which one packet is always under way for one that has leaked.
//! Other reading: reclaim = "paper", or "none".
//! CHOICE Escape §4.4.4: an escaping packet that finds one of its flow waiting changes places with it;
//! Theorem 4.4.3 does not hold otherwise. Other reading: order = "paper". What is lifted first may then not
//! be what leaves last: tokens belong to places, not to packets.
//! CHOICE Escape §4.3.2: every switch runs e1 once in every Δ^esc of its own clock, at an instant of it that
//! is drawn. With all of them at the same instants, tokens can take each other's places in one and the same
//! turn for ever (T_cap = 1 in rings with chords: nothing moves any more).
//! ```

mod table;

use super::{Act, Parameters, Passage, Problems, Relief, Site, SwitchView, Tally};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::{Known, Table};
use thalweg_units::{Span, Time, mix64};
use thalweg_wire::Signal;

/// Escape: tokens name flows whose packets may pass a pause, through escape queues with a place reserved at every hop
/// (Menikkumbura, Purdue 2022, ch. 4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Δ^esc: period in which a switch that has paused a neighbour creates tokens. If not given, twice the longest
    /// link's delay.
    #[schemars(extend("examples" = ["2us"]))]
    pub period: Option<Span>,
    /// T_cap: capacity of a port's escape queue in packets; the headroom of every input grows by as much.
    #[schemars(range(min = 1, max = 1024))]
    pub pool: u16,
    /// Size of a switch's flow table, in flows.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub table: u32,
    /// What happens when an escaping packet finds others of its flow waiting.
    pub order: Rule,
    /// How reservations are freed whose token has ended.
    pub reclaim: Reclaim,
    /// With `reclaim = "paper"`: time without a change after which a pool gets a reservation back.
    pub reclaim_after: Span,
    /// Hops and pools at the switch that lifts a packet.
    pub arithmetic: Arithmetic,
    /// Which flow of the table is considered first.
    pub scan: Scan,
}

/// What happens when an escaping packet finds others of its flow waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The first of these escapes, and it waits: nothing is reordered.
    #[default]
    Substitute,
    /// It overtakes them (as published).
    Paper,
}

/// How reservations are freed whose token has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reclaim {
    /// A message gives them back, hop by hop.
    #[default]
    Release,
    /// A pool that has not changed for `reclaim_after` gets one back (as published).
    Paper,
    /// They are lost.
    None,
}

/// Hops and pools at the switch that lifts a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// One hop more than the token's, and a reservation of its own.
    #[default]
    Consistent,
    /// Neither (Algorithm 3 to the letter).
    Literal,
}

/// Which flow of the table is considered first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scan {
    /// The flow after the one that got the last token.
    #[default]
    RoundRobin,
    /// Always the first flow of the table.
    Head,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            period: None,
            // CHOICE Escape §4.3.1: the paper gives no number but the minimum, 1.
            pool: 8,
            table: 1024,
            order: Rule::Substitute,
            reclaim: Reclaim::Release,
            reclaim_after: Span::from_us(100),
            arithmetic: Arithmetic::Consistent,
            scan: Scan::RoundRobin,
        }
    }
}

impl Parameters for Params {
    type Machine = Escape;

    fn check(&self, problems: &mut Problems) {
        if self.period.is_some_and(Span::is_zero) {
            problems.wrong("period", "a time of 0 never passes", "for example \"2us\"");
        }
        if !(1..=1024).contains(&self.pool) {
            problems.wrong("pool", format!("{} is out of range", self.pool), "allowed: 1 to 1024");
        }
        if !(1..=1_000_000).contains(&self.table) {
            problems.wrong("table", format!("{} is out of range", self.table), "allowed: 1 to 1000000");
        }
        if self.reclaim_after.is_zero() {
            problems.wrong("reclaim_after", "a time of 0 never passes", "for example \"100us\"");
        } else if self.reclaim != Reclaim::Paper && self.reclaim_after != Self::default().reclaim_after {
            problems.useless(
                "reclaim_after",
                "no timer gives reservations back",
                "write `reclaim = \"paper\"`, or remove the key",
            );
        }
    }

    fn more(&self) -> u64 {
        u64::from(self.pool)
    }
    fn names_connections(&self) -> bool {
        true
    }

    fn make(&self, site: &Site) -> Escape {
        let twice = site.delay.saturating_mul(2);
        let usual = if twice.is_zero() { Span::from_us(1) } else { twice };
        Escape {
            params: *self,
            period: self.period.unwrap_or(usual),
            clock: site.clock,
            pools: vec![i32::from(self.pool); site.ports],
            table: Table::new(self.table),
            before: vec![i32::from(self.pool); site.ports],
            compared: Time::ZERO,
            tally: Tally::default(),
            held_back: Vec::new(),
            free: Vec::new(),
        }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let paper = Self {
            order: Rule::Paper,
            reclaim: Reclaim::Paper,
            arithmetic: Arithmetic::Literal,
            ..Self::default()
        };
        vec![Self::default(), Self { pool: 1, table: 2, scan: Scan::Head, ..Self::default() }, paper]
    }
}

/// Escape at one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escape {
    params: Params,
    period: Span,
    clock: u64,
    /// T, by output.
    pools: Vec<i32>,
    table: Table,
    /// T as it was when the timer last looked.
    before: Vec<i32>,
    compared: Time,
    tally: Tally,
    /// Within [`Relief::tick`], by port: its neighbour is a switch that is held back.
    #[serde(skip)]
    held_back: Vec<bool>,
    /// Within [`Relief::tick`], by output: T, unless it is paused.
    #[serde(skip)]
    free: Vec<i32>,
}

impl Escape {
    /// T, by output.
    pub fn pools(&self) -> &[i32] {
        &self.pools
    }

    /// A packet of the flow has passed, and not too many others since.
    pub fn knows(&self, flow: u32) -> bool {
        self.table.rows().iter().any(|known| known.flow == flow)
    }

    /// Whether the parameters keep the invariants, which the published variants break.
    fn keeps_the_laws(&self) -> bool {
        self.params.arithmetic == Arithmetic::Consistent && self.params.reclaim != Reclaim::Paper
    }

    fn send(&mut self, port: usize, signal: Signal, acts: &mut Vec<Act>) {
        self.tally.signals += 1;
        acts.push(Act::Signal(port, signal));
    }

    /// e2, lines 5 to 9: a token has come by the port p^E.
    fn on_token(&mut self, port: usize, flow: u32, hops: u16, view: &impl SwitchView, acts: &mut Vec<Act>) {
        self.tally.furthest = self.tally.furthest.max(hops);
        if self.pools[port] <= 0 {
            self.tally.ended_pool += 1;
            return self.end(port, flow, hops, acts);
        }
        if view.waits(port, flow) {
            self.tally.lifted += 1;
            let literal = self.params.arithmetic == Arithmetic::Literal;
            self.pools[port] -= i32::from(!literal);
            return acts.push(Act::Lift { output: port, flow, hops: if literal { hops } else { hops + 1 } });
        }
        let on = self.table.get(flow).and_then(|(known, lent)| {
            let input = usize::from(known.input);
            let goes =
                usize::from(known.output) == port && view.faces_switch(input) && view.has_paused(input);
            goes.then_some((input, lent))
        });
        let Some((input, lent)) = on else {
            self.tally.ended_source += 1;
            return self.end(port, flow, hops, acts);
        };
        lent.add(hops + 1);
        self.pools[port] -= 1;
        self.send(input, Signal::Token { flow, hops: hops + 1 }, acts);
    }

    /// A token ends here: what it has reserved on its way is free.
    fn end(&mut self, port: usize, flow: u32, hops: u16, acts: &mut Vec<Act>) {
        if self.params.reclaim == Reclaim::Release {
            self.send(port, Signal::Release { flow, hops }, acts);
        }
    }

    fn on_release(&mut self, flow: u32, hops: u16, acts: &mut Vec<Act>) {
        let Some((known, lent)) = self.table.get(flow) else { return };
        if !lent.take(hops) {
            return;
        }
        let output = usize::from(known.output);
        self.pools[output] += 1;
        if hops > 1 {
            self.send(output, Signal::Release { flow, hops: hops - 1 }, acts);
        }
    }

    /// §4.3.3: pools that have not changed.
    fn reclaim(&mut self, now: Time) {
        if now.since(self.compared) < self.params.reclaim_after {
            return;
        }
        self.compared = now;
        for (pool, before) in self.pools.iter_mut().zip(&mut self.before) {
            if *pool == *before && *pool < i32::from(self.params.pool) {
                *pool += 1;
                self.tally.reclaimed += 1;
            }
            *before = *pool;
        }
    }
}

impl Relief for Escape {
    #[inline]
    fn recalls(&self, flow: u32, input: usize, output: usize) -> bool {
        self.table.has(Known { flow, input: input as u16, output: output as u16 })
    }
    fn on_passing(&mut self, flow: u32, input: usize, output: usize) {
        self.table.learn(Known { flow, input: input as u16, output: output as u16 });
    }
    fn on_escaping(&mut self, flow: u32, output: usize, hops: u16) -> bool {
        let sent = hops + u16::from(self.params.arithmetic == Arithmetic::Literal);
        let known = self.table.get(flow);
        known.is_some_and(|(known, lent)| usize::from(known.output) == output && lent.take(sent))
    }
    /// M8: tokens that have gone up the link, and packets that were to come down it, are lost. What was
    /// reserved for them is free, here and at every switch on.
    fn on_link_down(&mut self, port: usize, acts: &mut Vec<Act>) {
        for (known, lent) in self.table.from(port) {
            let output = usize::from(known.output);
            for (hops, count) in lent.take_all() {
                self.pools[output] += count as i32;
                if hops > 1 && self.params.reclaim == Reclaim::Release {
                    self.tally.signals += u64::from(count);
                    let on = Act::Signal(output, Signal::Release { flow: known.flow, hops: hops - 1 });
                    acts.extend((0..count).map(|_| on));
                }
            }
        }
    }
    fn substitutes(&self) -> bool {
        self.params.order == Rule::Substitute
    }
    /// e3.
    fn on_sent(&mut self, output: usize) {
        self.pools[output] += 1;
    }
    /// Once in every Δ^esc.
    fn next(&self, now: Time) -> Time {
        let period = self.period.ps();
        let instant = |turn: u64| {
            let drawn = mix64(self.clock ^ turn) % period;
            Time::from_ps(turn.saturating_mul(period).saturating_add(drawn))
        };
        let turn = now.ps() / period;
        if instant(turn) > now { instant(turn) } else { instant(turn + 1) }
    }
    fn is_active(&self, view: &impl SwitchView) -> bool {
        let leaks = self.params.reclaim == Reclaim::Paper
            && self.pools.iter().any(|pool| *pool < i32::from(self.params.pool));
        leaks || (0..view.ports()).any(|input| view.has_paused(input))
    }

    /// e1. One turn over the table, each flow for its own input.
    fn tick(&mut self, now: Time, view: &impl SwitchView, acts: &mut Vec<Act>) {
        if self.params.reclaim == Reclaim::Paper {
            self.reclaim(now);
        }
        // CHOICE Escape §4.3.2: not for hosts, which take no notice of tokens.
        let needs_token = |input| view.has_paused(input) && view.faces_switch(input);
        self.held_back.clear();
        self.held_back.extend((0..view.ports()).map(needs_token));
        if !self.held_back.contains(&true) {
            return;
        }
        // By output: places that may still be promised.
        let free = |output| if view.is_paused(output) { 0 } else { self.pools[output].max(0) };
        self.free.clear();
        self.free.extend((0..view.ports()).map(free));
        let mut left: i32 = self.free.iter().sum();
        let flows = self.table.len();
        let from = if self.params.scan == Scan::Head { 0 } else { self.table.turn };
        for at in (from..flows).chain(0..from) {
            if left == 0 {
                return;
            }
            let Known { flow, input, output } = self.table.rows()[at];
            let (input, output) = (usize::from(input), usize::from(output));
            if self.held_back[input] && self.free[output] > 0 {
                self.free[output] -= 1;
                left -= 1;
                self.pools[output] -= 1;
                self.table.lent(at).add(1);
                self.table.turn = (at + 1) % flows;
                self.tally.tokens += 1;
                self.send(input, Signal::Token { flow, hops: 1 }, acts);
            }
        }
    }

    fn on_signal(
        &mut self,
        _: Time,
        port: usize,
        signal: Signal,
        view: &impl SwitchView,
        acts: &mut Vec<Act>,
    ) {
        match signal {
            Signal::Token { flow, hops } => self.on_token(port, flow, hops, view, acts),
            Signal::Release { flow, hops } => self.on_release(flow, hops, acts),
            Signal::Detect { .. } | Signal::Advance { .. } => {}
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    /// The flows that e1 names (I10), of the defaults. Instants drawn in neighbouring periods are up to two
    /// periods apart.
    fn passages(&self, view: &impl SwitchView) -> (Vec<Passage>, Span) {
        let goes = |known: &&Known| {
            let (input, output) = (usize::from(known.input), usize::from(known.output));
            let held_back = view.has_paused(input) && view.faces_switch(input);
            held_back && self.has_place(output) && !view.is_paused(output)
        };
        let known: &[Known] = if self.keeps_the_laws() { self.table.rows() } else { &[] };
        let passage = |k: &Known| Passage { flow: k.flow, input: k.input.into(), output: k.output.into() };
        (known.iter().filter(goes).map(passage).collect(), self.period.saturating_mul(2))
    }
    fn has_place(&self, output: usize) -> bool {
        self.pools[output] > 0
    }

    /// I1 to I3, for the default variants; the published ones keep none of them.
    fn check(&self, lifted: &[u32]) -> Result<(), String> {
        if !self.keeps_the_laws() {
            return Ok(());
        }
        let mut lent = vec![0u32; self.pools.len()];
        self.table.all().for_each(|(known, theirs)| lent[usize::from(known.output)] += theirs.total());
        for (output, pool) in self.pools.iter().enumerate() {
            let used = i32::from(self.params.pool) - pool;
            if *pool < 0 || used < 0 {
                return Err(format!("output {output} has {pool} places free of {}", self.params.pool));
            }
            if used as u32 != lent[output] + lifted[output] {
                return Err(format!(
                    "output {output} has reserved {used} places: {} for tokens that are under way, {} for packets that wait",
                    lent[output], lifted[output]
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
