//! Round robin over bins: by hand, and against a plain list.

use super::*;

#[test]
fn a_new_bin_goes_before_all_old_ones_and_behind_other_new_ones() {
    let mut port = Port::new(OrderSpec::round_robin(), Limit::Unlimited);
    for flow in [1, 1, 1, 2, 2] {
        port.arrive(data(flow, 0, 100)); // 0 1 2 | 3 4
    }
    assert_eq!(port.leave_at(0), Some(0)); // 1 is old; 2 is new
    port.arrive(data(3, 0, 100)); // 5: behind 2, ahead of 1
    port.arrive(data(3, 0, 100)); // 6
    assert_eq!(port.drain(), [3, 5, 1, 4, 6, 2]);
}

#[test]
fn an_emptied_bin_is_old_until_its_next_turn_and_new_after_it() {
    let mut port = Port::new(OrderSpec::round_robin(), Limit::Unlimited);
    for flow in [1, 2, 2, 2] {
        port.arrive(data(flow, 0, 100)); // 0 | 1 2 3
    }
    assert_eq!(port.leave_at(0), Some(0)); // 1 is empty and behind 2
    assert_eq!(port.leave_at(0), Some(1)); // 2 is behind 1
    port.arrive(data(1, 0, 100)); // 4, at 1's old place: first anyway
    port.arrive(data(3, 0, 100)); // 5: new
    assert_eq!(port.leave_at(0), Some(5));
    assert_eq!(port.leave_at(0), Some(4)); // list: 2, 3 (empty), 1 (empty)
    assert_eq!(port.leave_at(0), Some(2)); // list: 3, 1, 2
    assert_eq!(port.leave_at(0), Some(3)); // 3 and 1 had their turns and left; list: 2 (empty)
    port.arrive(data(2, 0, 100)); // 6: old
    port.arrive(data(1, 0, 100)); // 7: new
    assert_eq!(port.drain(), [7, 6]);
}

#[test]
fn data_and_acks_of_a_connection_are_two_flows_and_one_packet_is_a_turn_whatever_its_size() {
    let mut port = Port::new(OrderSpec::round_robin(), Limit::Unlimited);
    for packet in [data(1, 0, 1500), data(1, 0, 1500), ack(1), ack(1), data(2, 0, 40)] {
        port.arrive(packet);
    }
    assert_eq!(port.drain(), [0, 2, 4, 1, 3]);
}

#[test]
fn the_tail_of_the_bin_with_the_most_packets_goes_be_it_the_one_arriving() {
    let mut port = Port::new(OrderSpec::round_robin(), Limit::Packets(4));
    for packet in [data(1, 0, 100), data(1, 0, 100), data(2, 0, 1500), data(2, 0, 1500)] {
        port.arrive(packet);
    }
    assert_eq!(port.arrive(data(3, 0, 100)), [1], "of two bins of 2 packets the smaller number");
    assert_eq!(port.arrive(data(2, 0, 100)), [5], "itself");
    assert_eq!(port.drain(), [0, 2, 4, 3]);
}

/// ups, "FQ", word by word.
#[derive(Default)]
struct Naive {
    /// Bin, new?, packets.
    list: Vec<(u32, bool, Vec<u32>)>,
}

impl Naive {
    fn arrive(&mut self, bin: u32, packet: u32, limit: usize) -> Vec<u32> {
        match self.list.iter_mut().find(|b| b.0 == bin) {
            Some(b) => b.2.push(packet),
            None => {
                let at = self.list.iter().position(|b| !b.1).unwrap_or(self.list.len());
                self.list.insert(at, (bin, true, vec![packet]));
            }
        }
        if self.list.iter().map(|b| b.2.len()).sum::<usize>() <= limit {
            return vec![];
        }
        let longest = self.list.iter_mut().max_by_key(|b| (b.2.len(), std::cmp::Reverse(b.0))).unwrap();
        longest.2.pop().into_iter().collect()
    }
    fn leave(&mut self) -> Option<u32> {
        while !self.list.is_empty() {
            let (bin, _, mut packets) = self.list.remove(0);
            if !packets.is_empty() {
                let packet = packets.remove(0);
                self.list.push((bin, false, packets));
                return Some(packet);
            }
        }
        None
    }
}

#[test]
fn it_equals_a_plain_list_on_thousands_of_random_inputs() {
    for seed in 0..3000u64 {
        let limit = [4, 9, 1000][seed as usize % 3];
        let mut port = Port::new(OrderSpec::round_robin(), Limit::Packets(limit));
        let (mut naive, mut draw) = (Naive::default(), Stream::new(seed, "round robin", 0));
        for step in 0..90 {
            if draw.below(20) < 11 {
                let flow = draw.below(5) as u32;
                let back = draw.below(3) == 0;
                let packet = if back { ack(flow) } else { data(flow, 0, 100 + flow) };
                let expected = naive.arrive(flow * 2 + u32::from(back), port.arrivals, limit as usize);
                assert_eq!(port.arrive(packet), expected, "seed {seed}, step {step}");
            } else {
                assert_eq!(port.leave_at(0), naive.leave(), "seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn hashed_bins_are_shared_and_the_same_at_every_port() {
    let turns = |bins| {
        let mut port =
            Port::new(crate::schedule::round_robin::Params { bins: Some(bins) }.into(), Limit::Unlimited);
        (0..200).for_each(|i| assert!(port.arrive(data(i / 2, 0, 100)).is_empty()));
        port.drain()
    };
    assert_eq!(turns(1), (0..200).collect::<Vec<_>>(), "one bin is a FIFO");
    assert_eq!(turns(16), turns(16));
    let first: Vec<u32> = turns(1 << 30).into_iter().take(100).collect();
    assert_eq!(first, (0..100).map(|i| 2 * i).collect::<Vec<_>>(), "so many that no two flows meet");
    let firsts = turns(16).into_iter().take(16).filter(|p| p % 2 == 0).count();
    assert_eq!(firsts, 16, "sixteen bins are each led by some flow's first packet");
}

#[test]
fn two_classes_send_a_packet_each_in_turn_and_the_longer_one_gives_way() {
    let parity = parity::Params { even: parity::ClassOrder::Sjf, odd: parity::ClassOrder::Lifo };
    let mut port = Port::new(parity.into(), Limit::Packets(6));
    for (flow, rank) in [(0, 9), (2, 1), (4, 5), (6, 3), (1, 0), (1, 0)] {
        assert!(port.arrive(data(flow, rank, 100)).is_empty());
    }
    assert_eq!(port.arrive(data(3, 0, 100)), [0], "the even class holds more: its largest rank");
    assert_eq!(port.arrive(data(5, 0, 100)), [7], "now the odd one does: a stack refuses what comes");
    assert_eq!(port.arrive(data(8, 4, 100)), [2], "the even class's largest rank");
    assert_eq!(port.drain(), [1, 6, 3, 5, 8, 4]);
    let two_ranks = parity::Params { even: parity::ClassOrder::Sjf, odd: parity::ClassOrder::Srpt };
    let refused = spec(two_ranks.into(), Limit::Unlimited).make(Stream::new(1, "q", 0), RATE);
    assert!(refused.unwrap_err().to_string().contains("different ranks"));
}

#[test]
fn of_two_classes_the_even_one_gives_way_among_equals_and_in_it_the_latest() {
    let srpt = parity::ClassOrder::Srpt;
    let mut port = Port::new(parity::Params { even: srpt, odd: srpt }.into(), Limit::Packets(4));
    for flow in [0, 0, 0, 1] {
        assert!(port.arrive(data(flow, 7, 100)).is_empty());
    }
    assert_eq!(port.arrive(data(1, 7, 100)), [2], "the latest of the even class, which nobody joins");
    assert_eq!(port.arrive(data(1, 7, 100)), [5], "itself: now the odd class holds more");
}
