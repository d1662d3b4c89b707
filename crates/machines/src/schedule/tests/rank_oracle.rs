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
        Some(self.queue.remove(earliest).handle)
    }
}

#[test]
fn sjf_and_srpt_equal_the_definition_on_thousands_of_random_inputs() {
    for seed in 0..3000u64 {
        let flow_order = seed % 2 == 0;
        let limit = [Limit::Packets(6), Limit::Bytes(Bytes::new(6000)), Limit::Unlimited][seed as usize % 3];
        let mut port = Port::new(OrderSpec::Rank { flow_order }, limit);
        let mut naive = Naive { queue: vec![], limit, flow_order };
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
}
