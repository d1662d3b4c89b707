//! A FIFO in front of a link, from scratch: what leaves when, what is dropped, what is marked.

use super::*;

/// A packet: when it came, how long it is; then when it began and ended, or that it was dropped; whether it was marked.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fate {
    sent: Option<(u64, u64)>,
    marked: bool,
}

/// First come, first served, `limit` packets waiting, marks on finding `k` or more; `serve(ready, wire)`:
/// when a packet that is at the head at `ready` begins and ends. Times in ps. Packets that begin at the very
/// instant of an arrival still wait.
fn fifo_by_hand(
    packets: &[(u64, u32)],
    limit: usize,
    k: usize,
    mut serve: impl FnMut(u64, u32) -> (u64, u64),
) -> Vec<Fate> {
    let mut fates: Vec<Fate> = vec![];
    let mut free = 0;
    for (came, wire) in packets {
        let waiting = fates.iter().filter(|f| f.sent.is_some_and(|(begun, _)| begun >= *came)).count();
        let marked = waiting >= k;
        let sent = (waiting < limit).then(|| serve(free.max(*came), *wire));
        free = sent.map_or(free, |(_, until)| until);
        fates.push(Fate { sent, marked: marked && sent.is_some() });
    }
    fates
}

fn machine(spec: &EgressSpec, packets: &[(u64, u32)], until: Time) -> Vec<Fate> {
    let mut run = Run::new(spec);
    let inputs: Vec<(Time, Input)> =
        packets.iter().map(|(ps, wire)| (Time::from_ps(*ps), Input::Packet(data(*wire)))).collect();
    run.story(&inputs);
    run.advance(until);
    let mut fates: Vec<Fate> =
        run.pool.0.iter().map(|(p, _)| Fate { sent: None, marked: p.ecn == Ecn::Ce }).collect();
    for (begun, until, what, _) in &run.sent {
        let Sent::Packet(handle) = what else { panic!("no frames were posted") };
        fates[handle.0 as usize].sent = Some((begun.ps(), until.ps()));
    }
    let sent = fates.iter().filter(|f| f.sent.is_some()).count();
    assert_eq!(sent + run.dropped.len(), packets.len());
    fates
}

fn marking_fifo(link: LinkSpec, limit: u32, k: u32) -> EgressSpec {
    let threshold = Length::Packets(k);
    let step = step_ecn::Params { threshold, at: MarkAt::Arrival, include_self: false }.into();
    let queue = DisciplineSpec { stage: step, ..fifo(Limit::Packets(limit)) };
    EgressSpec { link, ..spec(queue) }
}

proptest! {
    #[test]
    fn a_fifo_on_a_fixed_link_is_the_one_written_down_by_hand(
        gaps in prop::collection::vec((0u64..900, 1u32..1500), 1..80),
        limit in 0u32..9,
        k in 0u32..9,
    ) {
        let mut at = 0;
        let packets: Vec<(u64, u32)> = gaps.iter().map(|(ns, wire)| { at += ns * 1000; (at, *wire) }).collect();
        let by_hand = fifo_by_hand(&packets, limit as usize, k as usize, |ready, wire| {
            (ready, ready + u64::from(wire) * 1000)
        });
        let spec = marking_fifo(LinkSpec::fixed(RATE, Span::ZERO), limit, k);
        prop_assert_eq!(machine(&spec, &packets, Time::from_ms(1)), by_hand);
    }

    /// A packet waits for an opportunity to begin at; the rest is arithmetic in bytes.
    #[test]
    fn a_fifo_on_a_traced_link_is_the_one_written_down_by_hand(
        gaps in prop::collection::vec((0u64..3000, 1u32..3000), 1..60),
        mut ms in prop::collection::vec(0u32..12, 1..9),
        limit in 0u32..9,
        k in 0u32..9,
    ) {
        ms.sort_unstable();
        prop_assume!(*ms.last().unwrap() > 0);
        let mut at = 0;
        let packets: Vec<(u64, u32)> = gaps.iter().map(|(us, wire)| { at += us * 1_000_000; (at, *wire) }).collect();
        let period = u64::from(*ms.last().unwrap());
        let mut opportunities: Vec<(u64, u32)> = (0..2000 / period + 1)
            .flat_map(|round| ms.iter().map(move |t| ((round * period + u64::from(*t)) * 1_000_000_000, 1504)))
            .collect();
        opportunities.reverse();
        let by_hand = fifo_by_hand(&packets, limit as usize, k as usize, |ready, wire| {
            while opportunities.last().is_some_and(|(at, left)| *at < ready || *left == 0) {
                opportunities.pop();
            }
            let begun = opportunities.last().unwrap().0;
            let mut need = wire;
            loop {
                let (at, left) = opportunities.last_mut().unwrap();
                let n = need.min(*left);
                need -= n;
                *left -= n;
                if need == 0 {
                    return (begun, *at);
                }
                opportunities.pop();
            }
        });
        let trace = Arc::new(Trace::from_ms(ms).unwrap());
        let transmitter = TransmitterSpec::Traced(TracedSpec { trace, bytes: 1504 });
        let link = LinkSpec { transmitter, ..LinkSpec::fixed(RATE, Span::ZERO) };
        prop_assert_eq!(machine(&marking_fifo(link, limit, k), &packets, Time::from_ms(5000)), by_hand);
    }
}
