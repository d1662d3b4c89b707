//! iSLIP by hand, on full queues, and against one written down naively.

use super::*;
use proptest::prelude::*;

fn set(ends: &[u8]) -> Ends {
    let mut set = Ends::default();
    ends.iter().for_each(|end| set.insert(*end));
    set
}

/// All outputs are free, and `waiting[input]` are those that an input has packets for. Returns the pairs
/// (input, output) that are joined, by input.
fn slot(crossbar: &mut Crossbar, waiting: &[&[u8]]) -> Vec<(u8, u8)> {
    let outputs: Vec<u8> = (0..waiting.len() as u8).collect();
    outputs.iter().for_each(|output| crossbar.part(*output));
    let wants = |output: u8| {
        let has = |input: &u8| waiting[usize::from(*input)].contains(&output);
        set(&outputs.iter().copied().filter(has).collect::<Vec<_>>())
    };
    let mut pairs = Vec::new();
    crossbar.join(set(&outputs), wants, &mut pairs);
    pairs.sort_unstable();
    pairs
}

#[test]
fn two_by_two() {
    let mut crossbar = Crossbar::new(2);
    let full: &[&[u8]] = &[&[0, 1], &[0, 1]];
    // Both outputs offer themselves to input 0, which takes output 0; output 1 goes to input 1 in the second
    // round, and its pointer stays: it still owes input 0 a turn.
    assert_eq!(slot(&mut crossbar, full), [(0, 0), (1, 1)]);
    // Output 0 turns to input 1, output 1 to input 0: from here on they change places.
    assert_eq!(slot(&mut crossbar, full), [(0, 1), (1, 0)]);
    assert_eq!(slot(&mut crossbar, full), [(0, 0), (1, 1)]);
    // Only input 1 has anything, for both: one packet, and the output not served last.
    assert_eq!(slot(&mut crossbar, &[&[], &[0, 1]]), [(1, 0)]);
    assert_eq!(slot(&mut crossbar, &[&[], &[0, 1]]), [(1, 1)]);
    // One output that both want: in turn.
    let contended = [slot(&mut crossbar, &[&[0], &[0]]), slot(&mut crossbar, &[&[0], &[0]])].concat();
    assert_eq!(contended, [(0, 0), (1, 0)]);
}

#[test]
fn three_by_three_with_transmissions_that_last() {
    let mut crossbar = Crossbar::new(3);
    let mut pairs = Vec::new();
    let wants = |output: u8| if output == 2 { set(&[0, 1, 2]) } else { set(&[0]) };
    // All offer themselves to input 0, which takes output 0; 2 offers itself to input 1; none is left for
    // output 1.
    crossbar.join(set(&[0, 1, 2]), wants, &mut pairs);
    assert_eq!(std::mem::take(&mut pairs), [(0, 0), (1, 2)]);
    assert_eq!((crossbar.source(0), crossbar.source(1), crossbar.source(2)), (Some(0), None, Some(1)));
    // Output 2 is done first. It was its second round: its pointer is where it was, at input 0, which is
    // busy; then comes 1.
    crossbar.part(2);
    crossbar.join(set(&[1, 2]), wants, &mut pairs);
    assert_eq!(std::mem::take(&mut pairs), [(1, 2)]);
    // Both done: output 1 and 2 offer themselves, 1 to input 0, and 2 behind input 1 to input 2.
    crossbar.part(2);
    crossbar.part(0);
    crossbar.join(set(&[0, 1, 2]), wants, &mut pairs);
    pairs.sort_unstable();
    // Input 0 took output 0 last: behind it comes output 1.
    assert_eq!(pairs, [(0, 1), (2, 2)]);
}

/// McKeown 1999, §III: with all queues full the pointers move apart, and every input sends to every output
/// once in N slots.
#[test]
fn full_queues_are_served_equally_at_full_rate() {
    for n in [2u8, 3, 6, 10, 64, 100] {
        let mut crossbar = Crossbar::new(usize::from(n));
        let all: Vec<u8> = (0..n).collect();
        let waiting = vec![&all[..]; usize::from(n)];
        (0..2 * n).for_each(|_| assert_eq!(slot(&mut crossbar, &waiting).len(), usize::from(n)));
        let mut served = vec![0; usize::from(n) * usize::from(n)];
        for _ in 0..n {
            for (input, output) in slot(&mut crossbar, &waiting) {
                served[usize::from(input) * usize::from(n) + usize::from(output)] += 1;
            }
        }
        assert!(served.iter().all(|times| *times == 1), "{n}");
    }
}

/// iSLIP over lists, from its definition.
struct Naive {
    n: u8,
    grant: Vec<u8>,
    accept: Vec<u8>,
    joined: Vec<Option<u8>>,
}

impl Naive {
    fn busy(&self, input: u8) -> bool {
        self.joined.contains(&Some(input))
    }

    /// The first of `candidates` from `pointer` on.
    fn from(&self, pointer: u8, candidates: &[u8]) -> Option<u8> {
        (0..self.n).map(|step| (pointer + step) % self.n).find(|end| candidates.contains(end))
    }

    fn join(&mut self, mut free: Vec<u8>, waiting: &[Vec<u8>]) -> Vec<(u8, u8)> {
        let mut pairs = Vec::new();
        for round in 0.. {
            let grants: Vec<(u8, u8)> = free
                .iter()
                .filter_map(|&output| {
                    let requests =
                        |input: &u8| waiting[usize::from(*input)].contains(&output) && !self.busy(*input);
                    let requesting: Vec<u8> = (0..self.n).filter(requests).collect();
                    Some((self.from(self.grant[usize::from(output)], &requesting)?, output))
                })
                .collect();
            if grants.is_empty() {
                break;
            }
            for input in 0..self.n {
                let offered: Vec<u8> = grants.iter().filter(|g| g.0 == input).map(|g| g.1).collect();
                let Some(output) = self.from(self.accept[usize::from(input)], &offered) else { continue };
                self.joined[usize::from(output)] = Some(input);
                free.retain(|other| *other != output);
                pairs.push((input, output));
                if round == 0 {
                    self.grant[usize::from(output)] = (input + 1) % self.n;
                    self.accept[usize::from(input)] = (output + 1) % self.n;
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }
}

proptest! {
    #[test]
    fn as_from_the_definition(
        n in 1u8..9,
        // Per step: which transmissions end, which outputs may not send, and what waits, as bits.
        steps in proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u64>()), 1..60),
    ) {
        let ends = usize::from(n);
        let mut crossbar = Crossbar::new(ends);
        let mut naive = Naive { n, grant: vec![0; ends], accept: vec![0; ends], joined: vec![None; ends] };
        for (over, held, waits) in steps {
            for output in (0..n).filter(|output| over >> output & 1 == 1) {
                crossbar.part(output);
                naive.joined[usize::from(output)] = None;
            }
            let waiting: Vec<Vec<u8>> =
                (0..n).map(|i| (0..n).filter(|o| waits >> (i * 8 + o) & 1 == 1).collect()).collect();
            let may = |output: &u8| naive.joined[usize::from(*output)].is_none() && held >> output & 1 == 0;
            let free: Vec<u8> = (0..n).filter(may).collect();
            let mut pairs = Vec::new();
            let wants = |output: u8| {
                set(&(0..n).filter(|i| waiting[usize::from(*i)].contains(&output)).collect::<Vec<_>>())
            };
            crossbar.join(set(&free), wants, &mut pairs);
            pairs.sort_unstable();
            prop_assert_eq!(&pairs, &naive.join(free, &waiting));
            for output in 0..n {
                prop_assert_eq!(crossbar.source(output), naive.joined[usize::from(output)]);
            }
        }
    }

    #[test]
    fn sets_are_sets(members in proptest::collection::vec(any::<u8>(), 0..20), gone: u8, last: u8) {
        let mut ends = set(&members);
        ends.remove(gone);
        let left: std::collections::BTreeSet<u8> = members.into_iter().filter(|m| *m != gone).collect();
        prop_assert!((0..=255).all(|end| ends.has(end) == left.contains(&end)));
        let next = left.iter().copied().find(|end| *end > last).or(left.first().copied());
        prop_assert_eq!(ends.behind(last), next);
    }
}
