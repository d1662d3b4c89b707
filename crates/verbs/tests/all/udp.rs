//! IRN-V3: real packets on real sockets, through a relay that loses, repeats and reorders.

#[path = "../../examples/support/udp.rs"]
mod sockets;

use crate::common::workload::{Mix, random};
use crate::common::{Net, faithful};
use sockets::{Faults, RequesterEnd, ResponderEnd};
use std::time::Duration;
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::{Span, Stream};
use thalweg_verbs::Setup;
use thalweg_verbs::wire::Dialect;

/// Memory, answers and the order of completions at both ends are those of a network without faults.
fn transfer(dialect: Dialect, loss: f64, seed: u64) {
    let setup = Setup {
        dialect,
        // A socket's buffer holds some 90 packets. A loopback's round trip with threads that take turns is a
        // few hundred microseconds.
        cap: 32,
        rto_low: Span::from_ms(5),
        rto_high: Span::from_ms(20),
        first_request: Psn::new(0xff_ffc0),
        first_response: Psn::new(0xff_ffe0),
        ..Setup::default()
    };
    let mut net = Net::new(setup.clone(), faithful).unwrap();
    let mix = Mix { messages: 60, longest: 40_000, overwrites: true };
    let work = random(&mut net, &mut Stream::new(seed, "work", 0), mix);
    work.receives.iter().for_each(|wqe| net.responder.post_receive(*wqe).unwrap());
    work.post(&mut net);

    let (memory, host) = (std::mem::take(&mut net.local), std::mem::take(&mut net.host));
    let mut near = RequesterEnd { requester: net.requester.clone(), memory, completions: vec![], ignored: 0 };
    let mut far = ResponderEnd { responder: net.responder.clone(), host, received: vec![], ignored: 0 };
    let faults =
        Faults { seed, loss, repeat: loss / 2.0, delay: 2.0 * loss, longest: Duration::from_millis(1) };
    let relayed = sockets::run(&mut near, &mut far, faults, Duration::from_secs(20)).unwrap();

    assert_eq!((near.ignored, far.ignored), (0, 0));
    assert!(loss == 0.0 || (relayed.lost > 10 && relayed.delayed > 10), "{relayed:?}");
    (net.requester, net.responder) = (near.requester, far.responder);
    (net.local, net.host) = (near.memory, far.host);
    (net.completions, net.received) = (near.completions, far.received);
    work.check_end(&net, &format!("{dialect:?}, loss {loss}, seed {seed}"));
}

#[test]
fn irn_without_loss() {
    transfer(Dialect::Irn, 0.0, 1);
}

#[test]
fn irn_with_one_percent_lost() {
    transfer(Dialect::Irn, 0.01, 2);
}

#[test]
fn irn_with_five_percent_lost() {
    transfer(Dialect::Irn, 0.05, 3);
}

#[test]
fn irn_with_ten_percent_lost() {
    transfer(Dialect::Irn, 0.10, 4);
}

#[test]
fn roce_with_one_percent_lost() {
    transfer(Dialect::Roce, 0.01, 5);
}
