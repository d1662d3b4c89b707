//! Round robin over inputs: by hand, and against plain lists.

use super::*;
use crate::schedule::Order;
use std::collections::VecDeque;

fn from(input: u8) -> Packet {
    Packet { input, wire: 100, ..Packet::default() }
}
fn port(limit: Limit) -> Port {
    Port::new(OrderSpec::input_round_robin(), limit)
}

#[test]
fn inputs_that_hold_any_send_a_packet_each_in_cyclic_order() {
    let mut port = port(Limit::Unlimited);
    for input in [3, 3, 3, 1, 1, 7] {
        port.arrive(from(input)); // 0 1 2 | 3 4 | 5
    }
    assert_eq!(port.leave_at(0), Some(3)); // input 1
    assert_eq!(port.leave_at(0), Some(0)); // 3
    port.arrive(from(2)); // 6: its turn has passed
    port.arrive(from(4)); // 7: it is next
    assert_eq!(port.drain(), [7, 5, 4, 6, 1, 2]); // 4, 7, 1, 2, 3, 3
}

#[test]
fn an_idle_port_remembers_whose_turn_it_was_also_of_a_packet_that_passed() {
    let next = |port: &mut Port| {
        for input in [5, 4, 6] {
            port.arrive(from(input));
        }
        port.drain()
    };
    let mut port_that_queued = port(Limit::Unlimited);
    port_that_queued.arrive(from(5));
    assert_eq!(port_that_queued.leave_at(0), Some(0));
    assert_eq!(next(&mut port_that_queued), [3, 2, 1]); // 6, 4, 5
    let mut port_that_let_pass = port(Limit::Unlimited);
    assert_eq!(port_that_let_pass.queue.bypass_limit(), u64::MAX);
    port_that_let_pass.queue.note_bypass(5);
    assert_eq!(next(&mut port_that_let_pass), [2, 1, 0]);
}

#[test]
fn the_first_turn_is_input_0s_and_numbers_reach_255() {
    let mut port = port(Limit::Unlimited);
    for input in [255, 0, 64, 63, 128, 191, 192] {
        port.arrive(from(input));
    }
    assert_eq!(port.drain(), [1, 3, 2, 4, 5, 6, 0]);
    port.arrive(from(255)); // 7
    port.arrive(from(0)); // 8: after 255 comes 0
    assert_eq!(port.drain(), [8, 7]);
}

#[test]
fn a_turn_is_a_packet_whatever_its_size_kind_or_class_and_a_full_port_drops_what_comes() {
    let mut port = port(Limit::Packets(3));
    port.arrive(Packet { input: 1, wire: 1500, class: 3, ..Packet::default() });
    port.arrive(Packet { input: 1, ..ack(9) });
    port.arrive(Packet { input: 0, ..data(9, -9, 40) });
    assert_eq!(port.arrive(from(2)), [3]);
    assert_eq!(port.drain(), [2, 0, 1]);
}

#[test]
fn what_it_gives_up_is_the_newest_packet_of_the_input_it_came_by() {
    let mut order = crate::schedule::input_round_robin::InputRoundRobin::default();
    for (handle, input) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 0)] {
        order.push(Time::ZERO, &from(input), Handle(handle));
    }
    let victims: Vec<u32> =
        std::iter::from_fn(|| order.push_out(Handle(4)).map(|entry| entry.handle.0)).collect();
    assert_eq!(victims, [4, 3, 2, 1, 0]);
    assert_eq!(order.pop(Time::ZERO), None);
    order.push(Time::ZERO, &from(1), Handle(5));
    assert_eq!(order.pop(Time::ZERO).map(|entry| entry.handle), Some(Handle(5)));
}

/// The switch of the specification, word by word: `try_tx` takes the next non-empty `voq[i][o]` after `rr[o]` in cyclic
/// order of `i`.
struct Naive {
    voq: Vec<VecDeque<u32>>,
    rr: usize,
}

impl Naive {
    fn leave(&mut self) -> Option<u32> {
        let inputs = self.voq.len();
        let i = (1..=inputs).map(|step| (self.rr + step) % inputs).find(|&i| !self.voq[i].is_empty())?;
        self.rr = i;
        self.voq[i].pop_front()
    }
}

#[test]
fn it_equals_plain_lists_on_thousands_of_random_inputs() {
    for seed in 0..3000u64 {
        let limit = [4, 9, 1000][seed as usize % 3];
        let inputs = [3, 8, 100, 256][seed as usize % 4];
        let mut port = port(Limit::Packets(limit));
        let mut naive = Naive { voq: vec![VecDeque::new(); 256], rr: 255 };
        let mut draw = Stream::new(seed, "inputs", 0);
        for step in 0..120 {
            if draw.below(20) < 11 {
                let input = draw.below(inputs) as u8;
                let fits = naive.voq.iter().map(VecDeque::len).sum::<usize>() < limit as usize;
                let number = port.arrivals;
                let dropped = port.arrive(from(input));
                assert_eq!(dropped.is_empty(), fits, "seed {seed}, step {step}");
                if fits {
                    naive.voq[usize::from(input)].push_back(number);
                }
            } else {
                assert_eq!(port.leave_at(0), naive.leave(), "seed {seed}, step {step}");
            }
        }
    }
}
