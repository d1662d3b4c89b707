//! Monitor intervals: which packets belong to one, and its utility. Vivace §3 and §4, with the module's constants.

use super::{Params, worth};
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Packets of an MI: at least, and not counted at its beginning, nor at its end.
const LEAST_PACKETS: u64 = 50;
const IGNORED: u64 = 10;
/// While starting fewer losses than that do not count.
const STARTING_LOSS: f64 = 0.1;
/// Round trips that grow or shrink by less, seconds per second or packets of the flow, are noise.
const NOISE: f64 = 0.03;
const NOISE_PACKETS: f64 = 2.0;

/// What is known of a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Totals {
    /// Smoothed round trip, seconds.
    pub(super) srtt: f64,
    /// Bytes sent so far, those answered for (delivered or lost), and those delivered.
    pub(super) sent: u64,
    pub(super) answered: u64,
    pub(super) delivered: u64,
}

/// A monitor interval.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Interval {
    /// Payload bytes per second.
    pub(super) rate: f64,
    /// Its packets: from this byte sent to that, which is known when it is over.
    pub(super) begin: u64,
    pub(super) end: Option<u64>,
    began: Time,
    /// Seconds for which it sent.
    pub(super) lasted: f64,
    /// When the packets that count began to be answered for, and the totals at that instant.
    pub(super) from: Option<(Time, Totals)>,
    /// What it was worth, once known.
    pub(super) utility: Option<f64>,
    /// The application did not fill it: what was sent is not its rate.
    starved: bool,
}

impl Interval {
    pub(super) fn of(rate: f64) -> Self {
        Self { rate, ..Self::default() }
    }

    /// It has sent enough, and for a round trip: its first packet has been answered for.
    fn has_sent(&self, mss: f64, totals: &Totals) -> bool {
        totals.sent - self.begin >= LEAST_PACKETS * mss as u64 && totals.answered > self.begin
    }

    /// All that count have been answered for.
    fn is_known(&self, mss: f64, totals: &Totals) -> bool {
        self.end.is_some_and(|end| totals.answered + IGNORED * mss as u64 > end)
    }

    /// u(x), §3; `to`: the totals as the last packet that counts is answered for.
    fn utility(&self, params: &Params, mss: f64, now: Time, to: &Totals, starting: bool) -> Option<f64> {
        let (at, from) = self.from?;
        let (all, delivered) = (to.answered - from.answered, to.delivered - from.delivered);
        let took = now.since(at).secs();
        if all == 0 || self.lasted <= 0.0 || self.starved {
            return None;
        }
        let mut loss = all.saturating_sub(delivered) as f64 / all as f64;
        if starting && loss < STARTING_LOSS {
            loss = 0.0;
        }
        let mut longer = to.srtt - from.srtt;
        if delivered > 0 && longer.abs() < NOISE_PACKETS * mss * took / delivered as f64 {
            longer = 0.0;
        }
        let mut inflation = longer / self.lasted;
        if inflation.abs() < NOISE || (starting && inflation < 0.0) {
            inflation = 0.0;
        }
        Some(worth(params, self.rate, inflation, loss))
    }
}

/// What is being tried: one rate, or two pairs of them, or none.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Trial {
    pub(super) intervals: [Interval; 4],
    /// How many of them there are, which one sends (`count`: none), and which one is being evaluated.
    pub(super) count: usize,
    sending: usize,
    evaluating: usize,
}

impl Trial {
    pub(super) fn one(rate: f64) -> Self {
        let mut trial = Self { count: 1, ..Self::default() };
        trial.intervals[0] = Interval::of(rate);
        trial
    }
    pub(super) fn two_pairs(rates: [f64; 4]) -> Self {
        Self { intervals: rates.map(Interval::of), count: 4, ..Self::default() }
    }

    pub(super) fn all(&self) -> &[Interval] {
        &self.intervals[..self.count]
    }
    /// The rate of the one that sends; `None`: all have.
    pub(super) fn rate(&self) -> Option<f64> {
        self.all().get(self.sending).map(|one| one.rate)
    }

    /// The next one sends from now on.
    pub(super) fn open(&mut self, now: Time, sent: u64) {
        if let Some(next) = self.intervals[..self.count].get_mut(self.sending) {
            (next.begin, next.began) = (sent, now);
        }
    }

    /// The application has held back what is sent, and what is acknowledged now.
    pub(super) fn starve(&mut self) {
        let (count, sending, evaluating) = (self.count, self.sending, self.evaluating);
        let last = count.min(sending + 1);
        for one in &mut self.intervals[evaluating.min(last)..last] {
            one.starved = true;
        }
    }

    /// The one that sends is over once it has sent enough. True: it is, and the next one has begun.
    pub(super) fn check_end(&mut self, now: Time, mss: f64, totals: &Totals) -> bool {
        let Some(one) = self.intervals[..self.count].get_mut(self.sending) else { return false };
        let over = one.has_sent(mss, totals);
        if over {
            (one.end, one.lasted) = (Some(totals.sent), now.since(one.began).secs());
            self.sending += 1;
            self.open(now, totals.sent);
        }
        over
    }

    /// Evaluates an ACK for the interval in question. True: all intervals have been evaluated.
    pub(super) fn observe(
        &mut self,
        params: &Params,
        now: Time,
        mss: f64,
        totals: &Totals,
        starting: bool,
    ) -> bool {
        let Some(one) = self.intervals[..self.count].get_mut(self.evaluating) else { return false };
        if one.is_known(mss, totals) {
            one.utility = one.utility(params, mss, now, totals, starting);
            self.evaluating += 1;
            return self.evaluating == self.count;
        }
        if one.from.is_none() && totals.answered >= one.begin + IGNORED * mss as u64 {
            one.from = Some((now, *totals));
        }
        false
    }
}
