use super::super::tests::{ends, in_folder};
use super::*;
use thalweg_net::spec::{NetworkSpec, Predecessor, Step as Of};
use thalweg_units::{FlowId, WorkId};

const HEADER: &str = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2";

/// A network of four hosts with a workload of these layers.
fn try_network(header: &str, layers: &[&str], keys: &str) -> Result<NetworkSpec, Diagnostic> {
    let text = format!("{header}\n{}\n{}\n", layers.len(), layers.join("\n"));
    in_folder(4, &[("w.txt", text)], &format!("kind = \"simai\"\nfile = \"w.txt\"\n{keys}"))
}

fn network(header: &str, layers: &[&str], keys: &str) -> NetworkSpec {
    try_network(header, layers, keys).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(header: &str, layers: &[&str], keys: &str) -> String {
    try_network(header, layers, keys).expect_err("refused").to_string()
}

/// Nanoseconds of the computations of a host, in their order.
fn computations(net: &NetworkSpec, host: u32) -> Vec<u64> {
    let own = net.works.iter().filter(|work| work.host.0 == host && work.cpu.is_some());
    own.map(|work| work.lasts.ps() / 1000).collect()
}

/// The `n`-th computation of a host.
fn computation(net: &NetworkSpec, host: u32, n: usize) -> Of {
    let own = net.works.iter().enumerate().filter(|(_, work)| work.host.0 == host && work.cpu.is_some());
    Of::Work(WorkId::from(own.map(|(at, _)| at).nth(n).expect("exists")))
}

/// Whether a step comes after another, directly or by way of others.
fn comes_after(net: &NetworkSpec, step: Of, other: Of) -> bool {
    let before: &[Predecessor] = net.precedence.of_step(step);
    before.iter().any(|one| one.step() == other || comes_after(net, one.step(), other))
}

/// Sixteen ranks: four tensor-parallel groups, of which two share experts.
#[test]
fn groups_of_all_kinds() {
    let sizes = Sizes { ranks: 16, tensor: 4, expert: 2 };
    assert_eq!(sizes.members(Group::Tensor, 6), [4, 5, 6, 7]);
    assert_eq!(sizes.members(Group::Data, 6), [2, 6, 10, 14]);
    assert_eq!(sizes.members(Group::Expert, 6), [2, 6]);
    assert_eq!(sizes.members(Group::Expert, 14), [10, 14]);
    assert_eq!(sizes.members(Group::DataOfExpert, 6), [6, 14]);
}

/// Every rank belongs to one group of each kind, at its place.
#[test]
fn groups_divide_the_ranks() {
    for (tensor, expert, times) in [(1, 1, 5), (1, 4, 2), (3, 2, 2), (8, 1, 1), (2, 3, 1), (4, 4, 4)] {
        let sizes = Sizes { ranks: tensor * expert * times, tensor, expert };
        for group in [Group::Tensor, Group::Data, Group::Expert, Group::DataOfExpert] {
            for rank in 0..sizes.ranks {
                let members = sizes.members(group, rank);
                assert!(members.contains(&rank), "{group:?} of {rank} in {sizes:?}");
                assert!(
                    members.iter().all(|other| sizes.members(group, *other) == members),
                    "{group:?} {sizes:?}"
                );
            }
        }
    }
}

/// Forwards layer by layer, backwards input gradients and weight gradients.
#[test]
fn a_pass_computes_in_order() {
    let layers = ["a -1 1 ALLREDUCE 10 2 NONE 0 3 NONE 0 0", "b -1 4 NONE 0 5 NONE 0 6 NONE 0 0"];
    let net = network(HEADER, &layers, "");
    assert_eq!(computations(&net, 3), [1, 4, 5, 6, 2, 3]);
    // Two groups, each a ring of two with two steps.
    assert_eq!(net.flows.len(), 8);
    assert!(ends(&net.flows).iter().all(|(src, dst)| src / 2 == dst / 2));
    // The next layer waits for the operation of this one.
    assert!((0..8).any(|flow| comes_after(&net, computation(&net, 0, 1), Of::Flow(FlowId(flow)))));
    let twice = network(HEADER, &layers, "passes = 2\ncompute_scale = 3");
    assert_eq!(computations(&twice, 0), [3, 12, 15, 18, 6, 9, 3, 12, 15, 18, 6, 9]);
    assert_eq!(twice.flows.len(), 16);
}

/// Operations of weight gradients go on while earlier layers are computed; the next pass waits for them.
#[test]
fn weight_gradients_are_waited_for_by_the_next_pass() {
    let layers = ["a -1 1 NONE 0 1 NONE 0 1 NONE 0 0", "b -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 10 0"];
    let net = network(HEADER, &layers, "passes = 2");
    let first = Of::Flow(FlowId(0));
    let waits = |n| (0..8).any(|flow| comes_after(&net, computation(&net, 0, n), Of::Flow(FlowId(flow))));
    // Forward a, b, then b's gradients and a's; forward a, b again.
    assert_eq!([4, 5, 6].map(waits), [false; 3]);
    assert!(waits(7));
    assert!(comes_after(&net, first, computation(&net, net.flows[0].src.0, 3)));
    // Data-parallel groups: the ranks at one place of both groups.
    assert!(ends(&net.flows).iter().all(|(src, dst)| src % 2 == dst % 2 && src != dst));
}

#[test]
fn operations_send_what_their_vector_takes() {
    let sent = |operation: &str, keys: &str| -> Vec<u64> {
        let layer = format!("a -1 0 {operation} 1 NONE 0 1 NONE 0 0");
        let net = network("HYBRID_TRANSFORMER model_parallel_NPU_group: 4", &[&layer], keys);
        let of = |src| net.flows.iter().filter(|f| f.src.0 == src).map(|f| f.size).sum();
        (0..4).map(of).collect()
    };
    assert_eq!(sent("ALLREDUCE 16", ""), [24; 4]);
    assert_eq!(sent("REDUCESCATTER 16", ""), [12; 4]);
    assert_eq!(sent("ALLGATHER 16", ""), [12; 4]);
    assert_eq!(sent("ALLTOALL 16", ""), [12; 4]);
    assert_eq!(sent("BROADCAST 16", ""), [32, 16, 0, 0]);
    assert_eq!(sent("ALLREDUCE 16", "comm_scale = 2"), [48; 4]);
}

/// Layers since the last checkpoint are computed again before the backward pass of one.
#[test]
fn activations_are_recomputed() {
    let layers = ["a", "b", "c", "d"].map(|name| {
        let n = name.as_bytes()[0] - b'a' + 1;
        format!("{name} -1 {n} NONE 0 {n}0 NONE 0 {n}00 ALLREDUCE 4 0")
    });
    let layers: Vec<&str> = layers.iter().map(String::as_str).collect();
    let header = "HYBRID_TRANSFORMER_FWD_IN_BCKWD checkpoints: 1 1 checkpoint_initiates: 1 3";
    let net = network(header, &layers, "");
    assert_eq!(computations(&net, 0), [1, 2, 3, 4, 2, 3, 40, 400, 30, 300, 20, 200, 10, 100]);
}

#[test]
fn other_kinds_of_parallelism() {
    let data = ["a -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 8 0", "b -1 4 NONE 0 5 NONE 0 6 ALLREDUCE 8 0"];
    let net = network("DATA", &data, "");
    assert_eq!(computations(&net, 0), [1, 4, 6, 5, 3]);
    assert_eq!(net.flows.len(), 2 * 6 * 4);
    let net = network("DISTRIBUTED_INFERENCE", &["a -1 1 ALLREDUCE 8 2 NONE 0 3 NONE 0 0"], "passes = 2");
    assert_eq!(computations(&net, 0), [1, 1]);
    assert_eq!(net.flows.len(), 2 * 6 * 4);
}

/// Of a pipeline one stage is run; `update` passes after an operation.
#[test]
fn stages_and_updates() {
    let layer = "a -1 0 ALLREDUCE 8 1 NONE 0 1 NONE 0 70";
    let net = network("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 pp: 2 all_gpus: 4", &[layer], "");
    assert!(ends(&net.flows).iter().all(|(src, _)| *src < 2));
    let pauses = net.works.iter().filter(|work| work.cpu.is_none() && work.lasts == Span::from_ns(70));
    assert_eq!(pauses.count(), 2);
}

#[test]
fn what_does_not_fit_is_refused() {
    let layer = "a -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 0";
    let of = |header: &str, keys: &str| refused(header, &[layer], keys);
    let e = of("HYBRID_TRANSFORMER model_parallel_NPU_group: 3", "");
    assert!(e.contains("w.txt:1: 4 ranks cannot be divided into groups of 3"), "{e}");
    let e = of("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 4", "");
    assert!(e.contains("2 tensor-parallel groups cannot be divided into 4 that share experts"), "{e}");
    let e = of("HYBRID_TRANSFORMER all_gpus: 4 pp: 3", "");
    assert!(e.contains("4 ranks cannot be divided into 3 stages of a pipeline"), "{e}");
    let e = of("HYBRID_TRANSFORMER all_gpus: 8", "");
    assert!(e.contains("the trace has 8 ranks, and the network only 4 hosts"), "{e}");
    let e = of("HYBRID_TRANSFORMER", "");
    assert!(e.contains("no operation of the workload has a group of two ranks or more"), "{e}");
    let e = of("DATA", "");
    assert!(e.contains("w.txt:3: an operation of the forward pass, which this kind"), "{e}");
    let e = of(HEADER, "passes = 1001");
    assert!(e.contains("passes"), "{e}");
    let e = of(HEADER, "comm_scale = 0");
    assert!(e.contains("comm_scale"), "{e}");
    let e = of(HEADER, "hosts = [0, 1, 2]");
    assert!(e.contains("3 ranks cannot be divided into groups of 2"), "{e}");
}
