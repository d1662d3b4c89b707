//! Ranked queues against the definition, scanned anew at every step.

use super::*;

#[derive(Clone, Copy)]
struct Waiting {
    handle: Handle,
    packet: Packet,
}

/// Arrival order; best, worst and earliest are found by looking at everything.
struct Naive {
    queue: Vec<Waiting>,
    limit: Limit,
    flow_order: bool,
    in_service: Option<Waiting>,
}

impl Naive {
    /// Control is better than any rank.
    fn rank(w: &Waiting) -> (bool, i64) {
        (!w.packet.is_control(), if w.packet.is_control() { 0 } else { w.packet.rank })
    }
    fn over(&self) -> bool {
        match self.limit {
            Limit::Packets(n) => self.queue.len() > n as usize,
            Limit::Bytes(n) => self.queue.iter().map(|w| u64::from(w.packet.wire)).sum::<u64>() > n.get(),
            Limit::Unlimited => false,
        }
    }
    fn arrive(&mut self, packet: Packet, handle: Handle) -> Vec<Handle> {
        self.queue.push(Waiting { handle, packet });
        let mut gone = vec![];
        while self.over() {
            let worst = (0..self.queue.len()).max_by_key(|&i| (Self::rank(&self.queue[i]), i)).unwrap();
            gone.push(self.queue.remove(worst).handle);
            if gone.last() == Some(&handle) {
                break; // what was taken back from service may stay
            }
        }
        gone.sort();
        gone
    }
    fn leave(&mut self) -> Option<Handle> {
        let best = (0..self.queue.len()).min_by_key(|&i| (Self::rank(&self.queue[i]), i))?;
        let Packet { flow, .. } = self.queue[best].packet;
        let earliest = if self.flow_order && !self.queue[best].packet.is_control() {
            self.queue.iter().position(|w| w.packet.flow == flow && !w.packet.is_control()).unwrap()
        } else {
            best
        };
        self.in_service = Some(self.queue.remove(earliest));
        self.in_service.map(|w| w.handle)
    }
    /// It gives way if it would lose: against a better packet, which is not of its own flow where flows matter.
    fn preempt(&mut self) -> bool {
        let Some(served) = self.in_service else { return false };
        let best = self.queue.iter().min_by_key(|w| (Self::rank(w), w.handle));
        let yes = best.is_some_and(|best| {
            let kept = self.flow_order && best.packet.flow == served.packet.flow && !best.packet.is_control();
            Self::rank(best) < Self::rank(&served) && !kept
        });
        if yes {
            let at = self.queue.partition_point(|w| w.handle < served.handle);
            self.queue.insert(at, served);
            self.in_service = None;
        }
        yes
    }
}

#[test]
fn sjf_and_srpt_equal_the_definition_on_thousands_of_random_inputs() {
    let mut preempted = 0;
    for seed in 0..4000u64 {
        let flow_order = seed % 2 == 0;
        let limit = [Limit::Packets(6), Limit::Bytes(Bytes::new(6000)), Limit::Unlimited][seed as usize % 3];
        let preemptive = seed % 4 > 1;
        let new = if preemptive { Port::preemptive } else { Port::new };
        let mut port = new(srpt(flow_order), limit);
        let mut naive = Naive { queue: vec![], limit, flow_order, in_service: None };
        let mut draw = Stream::new(seed, "rank", 0);
        for step in 0..80 {
            if draw.below(10) < 6 {
                let mut packet = data(
                    draw.below(4) as u32,
                    draw.below(6) as i64 - 2,
                    [100, 800, 1500][draw.below(3) as usize],
                );
                if draw.below(6) == 0 {
                    packet = ack(packet.flow.0);
                }
                let expected = naive.arrive(packet, Handle(port.arrivals));
                let mut gone = port.arrive(packet);
                gone.sort();
                let gone: Vec<_> = gone.into_iter().map(Handle).collect();
                assert_eq!(gone, expected, "seed {seed}, step {step}: {limit:?}, flow order {flow_order}");
                if preemptive && draw.below(2) == 0 {
                    let expected = naive.preempt();
                    assert_eq!(port.queue.preempt(Time::ZERO), expected, "seed {seed}, step {step}");
                    if expected {
                        preempted += 1;
                        assert_eq!(port.leave_at(0).map(Handle), naive.leave(), "seed {seed}, step {step}");
                    }
                    assert_eq!(port.queue.packets() as usize, naive.queue.len());
                }
            } else {
                let left = port.leave_at(0).map(Handle);
                assert_eq!(
                    left,
                    naive.leave(),
                    "seed {seed}, step {step}: {limit:?}, flow order {flow_order}"
                );
            }
        }
    }
    assert!(preempted > 1000, "{preempted}");
}
