//! Fair queueing against the paper's definition in exact rational arithmetic.

use super::*;

/// An exact fraction; arithmetic gives `None` where 128 bits do not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exact {
    n: i128,
    d: i128,
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs().max(1) } else { gcd(b, a % b) }
}

impl Exact {
    const ZERO: Exact = Exact { n: 0, d: 1 };
    fn whole(n: u64) -> Self {
        Exact { n: i128::from(n), d: 1 }
    }
    fn reduced(n: i128, d: i128) -> Self {
        let g = gcd(n, d);
        Exact { n: n / g, d: d / g }
    }
    fn plus(self, sign: i128, other: Self) -> Option<Self> {
        let g = gcd(self.d, other.d);
        let (a, b) = (other.d / g, self.d / g);
        let n = self.n.checked_mul(a)?.checked_add(other.n.checked_mul(b)?.checked_mul(sign)?)?;
        Some(Self::reduced(n, self.d.checked_mul(a)?))
    }
    fn add(self, other: Self) -> Option<Self> {
        self.plus(1, other)
    }
    fn sub(self, other: Self) -> Option<Self> {
        self.plus(-1, other)
    }
    fn scaled(self, by: i128, over: i128) -> Option<Self> {
        Some(Self::reduced(self.n.checked_mul(by)?, self.d.checked_mul(over)?))
    }
    fn least(a: Self, b: Self) -> Option<Self> {
        Some(if a.sub(b)?.n < 0 { a } else { b })
    }
}

#[derive(Clone, Copy)]
struct Waiting {
    flow: usize,
    wire: u64,
    start: Exact,
    finish: Exact,
    number: u32,
}

const FLOWS: usize = 4;

/// §2.2 as written: every flow is looked at in every step. Time in bytes' worth of service.
struct Naive {
    round: Exact,
    now: u64,
    finish: [Exact; FLOWS],
    queue: Vec<Waiting>,
    longest: bool,
    limit: u64,
    /// Since counting began anew, the machine has had to round.
    rounded: bool,
}

impl Naive {
    fn advance(&mut self, now: u64) -> Option<()> {
        let mut left = Exact::whole(now - self.now);
        self.now = now;
        loop {
            let mut ahead = vec![];
            for f in self.finish {
                let rest = f.sub(self.round)?;
                ahead.extend((rest.n > 0).then_some(rest));
            }
            let n_ac = ahead.len() as i128;
            let Some(&any) = ahead.first() else { break };
            let mut next = any;
            for rest in ahead {
                next = Exact::least(next, rest)?;
            }
            let needed = next.scaled(n_ac, 1)?;
            if left.sub(needed)?.n < 0 {
                self.round = self.round.add(left.scaled(1, n_ac)?)?;
                self.rounded |= 720_720 % self.round.d != 0;
                return Some(());
            }
            left = left.sub(needed)?;
            self.rounded |= 1000 % left.d != 0; // picoseconds per byte
            self.round = self.round.add(next)?;
        }
        if self.queue.is_empty() {
            // No flow is active and nothing waits: counting may start anew (it keeps fractions short).
            (self.round, self.finish) = (Exact::ZERO, [Exact::ZERO; FLOWS]);
            self.rounded = false;
        }
        Some(())
    }
    fn held(&self) -> u64 {
        self.queue.iter().map(|w| w.wire).sum()
    }
    fn arrive(&mut self, now: u64, flow: usize, wire: u64, number: u32) -> Option<Vec<u32>> {
        if !self.longest && self.held() + wire > self.limit {
            return Some(vec![number]);
        }
        self.advance(now)?;
        let before = self.finish[flow];
        let start = if before.sub(self.round)?.n > 0 { before } else { self.round };
        let finish = start.add(Exact::whole(wire))?;
        self.finish[flow] = finish;
        self.queue.push(Waiting { flow, wire, start, finish, number });
        let mut gone = vec![];
        while self.held() > self.limit {
            let bytes = |f: usize| self.queue.iter().filter(|w| w.flow == f).map(|w| w.wire).sum::<u64>();
            let longest = (0..FLOWS).rev().max_by_key(|&f| bytes(f))?;
            let victim = self.queue.iter().rposition(|w| w.flow == longest)?;
            let victim = self.queue.remove(victim);
            self.finish[longest] = victim.start;
            gone.push(victim.number);
        }
        Some(gone)
    }
    /// Is `number` a right choice? Finish numbers closer than 1/1000 byte count as equal, for the machine rounds;
    /// as long as it has not had to, the choice must be exact and ties go to the earliest arrival.
    fn leave(&mut self, number: Option<u32>) -> Option<()> {
        let Some(number) = number else {
            assert!(self.queue.is_empty());
            return Some(());
        };
        let at = self.queue.iter().position(|w| w.number == number).expect("it waits");
        let mine = self.queue[at];
        for w in &self.queue {
            let behind = mine.finish.sub(w.finish)?;
            assert!(
                behind.n <= 0 || self.rounded && behind.n.checked_mul(1000)? < behind.d,
                "{} before {}: {behind:?}",
                mine.number,
                w.number
            );
            assert!(w.flow != mine.flow || w.number >= number, "out of order within a flow");
            assert!(self.rounded || behind.n < 0 || w.number >= number, "a tie goes to the earliest");
        }
        self.queue.remove(at);
        Some(())
    }
}

/// One random input; `None` if its fractions outgrew 128 bits on the way (everything before was checked).
fn compare(seed: u64) -> Option<()> {
    let (longest, limit) = (seed.is_multiple_of(2), [u64::MAX, 9_000][seed as usize / 2 % 2]);
    let overflow = if longest { FairOverflow::LongestQueue } else { FairOverflow::Tail };
    let mut port = Port::new(fq(overflow), Limit::Bytes(Bytes::new(limit)));
    let finish = [Exact::ZERO; FLOWS];
    let mut naive =
        Naive { round: Exact::ZERO, now: 0, finish, queue: vec![], longest, limit, rounded: false };
    let mut draw = Stream::new(seed, "fq", 0);
    let mut now = 0; // nanoseconds, of one byte each
    for _ in 0..60 {
        now += draw.below(900);
        if draw.below(10) < 6 {
            let (flow, wire) = (draw.below(FLOWS as u64), [60, 600, 1500][draw.below(3) as usize]);
            let expected = naive.arrive(now, flow as usize, wire, port.arrivals)?;
            assert_eq!(port.arrive_at(now, data(flow as u32, 0, wire as u32)), expected, "seed {seed}");
        } else {
            naive.leave(port.leave_at(now))?;
        }
    }
    Some(())
}

#[test]
fn fq_equals_the_definition_on_thousands_of_random_inputs() {
    let complete = (0..3000).filter(|&seed| compare(seed).is_some()).count();
    assert!(complete > 2000, "only {complete} of 3000 inputs stayed within exact arithmetic");
}
