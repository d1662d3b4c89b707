//! The push-in first-out queue against the definition, scanned anew at every step.

use super::*;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Waiting {
    key: i64,
    number: u32,
    wire: u32,
}

/// In no order; everything is found by looking at everything.
struct Naive {
    queue: Vec<Waiting>,
    limit: Limit,
    in_service: Option<Waiting>,
}

impl Naive {
    fn over(&self, arriving: Option<Waiting>) -> bool {
        let all = || self.queue.iter().chain(&arriving);
        match self.limit {
            Limit::Packets(n) => all().count() > n as usize,
            Limit::Bytes(n) => all().map(|w| u64::from(w.wire)).sum::<u64>() > n.get(),
            Limit::Unlimited => false,
        }
    }
    /// UPS §2.2, for each packet that has to go.
    fn arrive(&mut self, p: Waiting) -> Vec<u32> {
        let mut gone = vec![];
        while self.over(Some(p)) {
            let worst = (0..self.queue.len()).max_by_key(|&i| (self.queue[i].key, self.queue[i].number));
            match worst {
                Some(w) if p.key <= self.queue[w].key => gone.push(self.queue.remove(w).number),
                _ => {
                    gone.push(p.number);
                    return gone;
                }
            }
        }
        self.queue.push(p);
        gone
    }
    fn first(&self) -> Option<usize> {
        (0..self.queue.len()).min_by_key(|&i| (self.queue[i].key, self.queue[i].number))
    }
    fn leave(&mut self) -> Option<u32> {
        self.in_service = self.first().map(|at| self.queue.remove(at));
        self.in_service.map(|w| w.number)
    }
    fn preempt(&mut self) -> bool {
        let Some(served) = self.in_service else { return false };
        let yes = self.first().is_some_and(|at| self.queue[at].key < served.key);
        if yes {
            self.queue.push(served);
            self.in_service = None;
        }
        yes
    }
}

fn sorted(add_transmission: bool, bucket: Span) -> OrderSpec {
    let bucket = Some(bucket).filter(|b| !b.is_zero());
    match add_transmission {
        true => crate::schedule::lstf::Params { bucket }.into(),
        false => pifo::Params { bucket: bucket.map(Span::ps) }.into(),
    }
}

/// The largest multiple of `bucket` that is not above `key` and can be written.
fn floored(key: i64, bucket: Span) -> i64 {
    let (exact, width) = (i128::from(key), i128::from(bucket.ps().max(1)));
    i64::try_from(exact.div_euclid(width) * width).unwrap_or(i64::MIN)
}

#[test]
fn it_equals_the_definition_with_ties_overflow_and_preemption_on_thousands_of_random_inputs() {
    let (mut ties, mut preempted) = (0, 0);
    for seed in 0..4000u64 {
        let limit = [Limit::Packets(6), Limit::Bytes(Bytes::new(6000)), Limit::Unlimited][seed as usize % 3];
        let (add_transmission, bucket) =
            (seed % 2 == 0, Span::from_ps([0, 1, 1_000_003][seed as usize / 6 % 3]));
        let mut port = Port::new(sorted(add_transmission, bucket), limit);
        let mut naive = Naive { queue: vec![], limit, in_service: None };
        let mut draw = Stream::new(seed, "pifo", 0);
        for step in 0..80 {
            let what = format!("seed {seed}, step {step}: {limit:?}");
            if draw.below(10) < 6 {
                let wire = [100, 800, 1500][draw.below(3) as usize];
                // Ranks some bytes' transmission times apart, so that these matter; extremes too.
                let rank = match draw.below(40) {
                    0 => i64::MIN,
                    1 => i64::MAX,
                    _ => draw.below(5) as i64 * 700_000 - 1_400_000,
                };
                let own = if add_transmission { i64::from(wire) * 1000 } else { 0 };
                let key = floored(rank.saturating_add(own), bucket);
                let p = Waiting { key, number: port.arrivals, wire };
                let packet =
                    if draw.below(6) == 0 { Packet { rank, wire, ..ack(1) } } else { data(1, rank, wire) };
                let expected = naive.arrive(p);
                ties += usize::from(expected.len() == 1 && naive.queue.contains(&p));
                assert_eq!(port.arrive(packet), expected, "{what}");
                if draw.below(2) == 0 && naive.in_service.is_some() {
                    let expected = naive.preempt();
                    assert_eq!(port.queue.preempt(Time::ZERO), expected, "{what}");
                    if expected {
                        preempted += 1;
                        assert_eq!(port.queue.packets() as usize, naive.queue.len());
                        assert_eq!(port.leave_at(0), naive.leave(), "{what}");
                    }
                }
            } else {
                assert_eq!(port.leave_at(0), naive.leave(), "{what}");
            }
            assert_eq!(port.queue.packets() as usize, naive.queue.len(), "{what}");
        }
    }
    assert!(ties > 1000 && preempted > 1000, "{ties} {preempted}");
}

#[test]
fn of_equals_the_latest_that_waits_gives_way_to_the_one_arriving() {
    let mut port = Port::new(OrderSpec::pifo(), Limit::Packets(3));
    for rank in [9, 9, 5] {
        assert_eq!(port.arrive(data(1, rank, 100)), [0; 0]);
    }
    assert_eq!(port.arrive(data(1, 9, 100)), [1], "on equality the queued one goes");
    assert_eq!(port.arrive(data(1, 10, 100)), [4], "itself: strictly larger than all");
    assert_eq!(port.arrive(data(1, 5, 100)), [3]);
    assert_eq!(port.drain(), [2, 5, 0]);
}

#[test]
fn packets_in_one_bucket_leave_in_order_of_arrival_and_do_not_preempt_each_other() {
    let order = |bucket| sorted(false, bucket);
    let of = |bucket| {
        let spec = DisciplineSpec { preemptive: true, ..spec(order(bucket), Limit::Unlimited) };
        Port { queue: make(&spec), arrivals: 0 }
    };
    // Buckets of 10 us hold -1, then 19 and 10, then 20; the last two come while 19 is being sent.
    for (bucket, left) in [(Span::from_us(10), [2, 0, 1, 3]), (Span::ZERO, [2, 1, 0, 3])] {
        let mut port = of(bucket);
        for us in [19, 10, -1, 20] {
            port.arrive(data(1, us * 1_000_000, 100));
        }
        assert_eq!(port.drain(), left);
        port.arrive(data(1, 19_000_000, 100));
        assert_eq!(port.leave_at(0), Some(4));
        port.arrive(data(1, 10_000_000, 100));
        assert_eq!(port.queue.preempt(Time::ZERO), bucket.is_zero());
        assert!(!port.queue.preempt(Time::ZERO));
    }
}

#[test]
fn the_key_is_the_slack_of_the_last_bit() {
    // Slack 100 ns and 200 B (200 ns at 8 Gb/s) is later than slack 150 ns and 100 B.
    let packets = [data(1, 100_000, 200), data(2, 150_000, 100)];
    for (add_transmission, order) in [(true, [1, 0]), (false, [0, 1])] {
        let mut port = Port::new(sorted(add_transmission, Span::ZERO), Limit::Unlimited);
        packets.into_iter().for_each(|p| assert!(port.arrive(p).is_empty()));
        assert_eq!(port.drain(), order);
    }
}
