//! From any feasible schedule to LSTF's by exchanges (N A.7.2 steps 1 and 2, D A.6.2): one node, time in
//! slots, a packet of length T is T *bits* of one slot each.
//!
//! The step of the proof that this makes executable: if all packets that meet at α arrive by their local
//! deadlines, then *some* schedule (FS: by o(p,α)) has all bits out in time; and any two bits that FS serves
//! against the order of their slack can be exchanged without making either late, because the one that moves
//! back has more slack than the one whose slot it gets, and the difference of two slacks does not depend on
//! time. What no exchange improves is LSTF.

use thalweg_units::Stream;

/// A packet at the node; all times in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// i'(p,α): arrival in the replay, not after `start`.
    pub arrive: i64,
    /// o(p,α): start of service in the original, the local deadline.
    pub start: i64,
    /// T(p,α): its bits.
    pub length: i64,
    /// What it waited after α in the original.
    pub waits_after: i64,
}

impl Job {
    /// The global deadline of its last bit at α: until then its slack is not negative. All bits have the
    /// slack of the last, so the slack of a bit that is out at `t` is this less `t`.
    pub fn deadline(&self) -> i64 {
        self.start + self.length + self.waits_after
    }
}

/// A bit of packet `job` in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// It lasts from `at` to `at` + 1.
    pub at: i64,
    /// Which packet.
    pub job: usize,
    /// Which of its bits, from 0.
    pub bit: i64,
}

/// Packets at one node, with an original schedule that does not overlap.
pub fn random_jobs(stream: &mut Stream) -> Vec<Job> {
    let mut clock = 0;
    let mut jobs: Vec<Job> = (0..2 + stream.below(7))
        .map(|_| {
            let start = clock + stream.below(3) as i64;
            let length = 1 + stream.below(4) as i64;
            clock = start + length;
            let arrive = (start - stream.below(9) as i64).max(0);
            Job { arrive, start, length, waits_after: stream.below(6) as i64 }
        })
        .collect();
    // Numbered by arrival, as packets are everywhere here; in no particular order among equals.
    jobs.sort_by_key(|job| job.arrive);
    jobs
}

/// FS: priority to the smallest o(p,α), preemptive, work-conserving.
pub fn feasible_schedule(jobs: &[Job]) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut sent = vec![0; jobs.len()];
    let mut at = 0;
    while let Some(next) = (0..jobs.len()).filter(|&j| sent[j] < jobs[j].length).map(|j| jobs[j].arrive).min()
    {
        at = next.max(at);
        let present = (0..jobs.len()).filter(|&j| sent[j] < jobs[j].length && jobs[j].arrive <= at);
        let job = present.min_by_key(|&j| jobs[j].start).expect("a job is there");
        slots.push(Slot { at, job, bit: sent[job] });
        sent[job] += 1;
        at += 1;
    }
    slots
}

/// What is wrong with `slots`: a bit before its packet is there, a bit out after its deadline.
pub fn infeasible(jobs: &[Job], slots: &[Slot]) -> Option<Slot> {
    slots.iter().copied().find(|s| s.at < jobs[s.job].arrive || s.at + 1 > jobs[s.job].deadline())
}

/// Exchanges pairs that `wrong` calls so (the earlier slot's bit, the later one's), one at random at a time,
/// until there is none; checks feasibility after every exchange and returns how many there were.
fn exchange(
    jobs: &[Job],
    slots: &mut [Slot],
    stream: &mut Stream,
    wrong: impl Fn(Slot, Slot) -> bool,
) -> Result<u64, String> {
    let mut exchanges = 0;
    loop {
        let here = &*slots;
        let pairs: Vec<(usize, usize)> = (0..here.len())
            .flat_map(|i| (i + 1..here.len()).map(move |j| (i, j)))
            .filter(|&(i, j)| wrong(here[i], here[j]))
            .collect();
        if pairs.is_empty() {
            return Ok(exchanges);
        }
        let (i, j) = pairs[stream.below(pairs.len() as u64) as usize];
        let (one, other) = (slots[i], slots[j]);
        slots[i] = Slot { at: one.at, ..other };
        slots[j] = Slot { at: other.at, ..one };
        exchanges += 1;
        if let Some(bad) = infeasible(jobs, slots) {
            return Err(format!("not feasible after exchange {exchanges}: {bad:?}"));
        }
        // Each exchange removes an inversion and adds none; there are fewer than pairs.
        if exchanges > (slots.len() * slots.len()) as u64 {
            return Err("the exchanges do not end".into());
        }
    }
}

/// The procedure: FS with every bit out by o(p,α) + T(p,α); exchanges until slack is in order; the bits of a
/// packet in order; first come, first served among equal slack. Returns the schedule and the number of exchanges.
///
/// # Errors
/// What the proof excludes.
pub fn transform(jobs: &[Job], stream: &mut Stream) -> Result<(Vec<Slot>, u64), String> {
    let mut slots = feasible_schedule(jobs);
    if let Some(late) = slots.iter().find(|s| s.at + 1 > jobs[s.job].start + jobs[s.job].length) {
        return Err(format!("FS: {late:?} is not out by o + T"));
    }
    if let Some(bad) = infeasible(jobs, &slots) {
        return Err(format!("FS is not feasible: {bad:?}"));
    }
    let there = |earlier: Slot, later: Slot| jobs[later.job].arrive <= earlier.at;
    let deadline = |slot: Slot| jobs[slot.job].deadline();
    let mut exchanges = exchange(jobs, &mut slots, stream, |a, b| there(a, b) && deadline(b) < deadline(a))?;
    exchanges += exchange(jobs, &mut slots, stream, |a, b| a.job == b.job && b.bit < a.bit)?;
    exchanges += exchange(jobs, &mut slots, stream, |a, b| {
        there(a, b) && deadline(b) == deadline(a) && (b.job, b.bit) < (a.job, a.bit)
    })?;
    Ok((slots, exchanges))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_packets_change_places() {
        // p: started at 2, waits 3 afterwards: deadline 7. q: started at 4, waits nothing: deadline 6. Both
        // are there at 0.
        let p = Job { arrive: 0, start: 2, length: 2, waits_after: 3 };
        let q = Job { arrive: 0, start: 4, length: 2, waits_after: 0 };
        let order = |slots: &[Slot]| slots.iter().map(|s| s.job).collect::<Vec<_>>();
        assert_eq!(order(&feasible_schedule(&[p, q])), [0, 0, 1, 1]);
        let (slots, exchanges) = transform(&[p, q], &mut Stream::new(1, "test", 0)).expect("proof");
        assert_eq!(order(&slots), [1, 1, 0, 0]);
        assert!(exchanges >= 2);
    }

    #[test]
    fn an_arrival_after_its_local_deadline_breaks_it() {
        let p = Job { arrive: 0, start: 0, length: 3, waits_after: 0 };
        let q = Job { arrive: 4, start: 3, length: 1, waits_after: 0 };
        assert!(transform(&[p, q], &mut Stream::new(1, "test", 0)).unwrap_err().contains("o + T"));
    }
}
