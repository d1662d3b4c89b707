//! Work per packet does not grow with the window, nor with the holes in it.

use crate::congestion::ControllerSpec;
use crate::steps::counted;
use crate::transport::TcpSpec;
use crate::transport::testing::{Fate, MSS, Pair, Way, rack, tcp};
use thalweg_units::{Bytes, mix64};

/// Steps per segment of a flow with `window` segments out, of which one in a hundred is lost.
fn steps(controller: &ControllerSpec, spec: &TcpSpec, window: u64) -> f64 {
    let size = Bytes::new(window * MSS);
    let controller = controller.clone();
    let spec = TcpSpec { controller, initial_window: size, max_window: size, ..spec.clone() };
    let segments = 3600;
    let mut pair = Pair::new(spec, segments);
    let steps = counted(|| {
        pair.run(|way, n, _| {
            let lost = way == Way::ToReceiver && mix64(n + 1).is_multiple_of(100);
            if lost { Fate::Drop } else { Fate::Deliver }
        });
    });
    let again = pair.stats().retransmitted_packets;
    assert!(again > segments / 200, "{again} of {segments}");
    steps as f64 / segments as f64
}

#[test]
fn a_segment_takes_as_many_steps_in_a_window_of_twelve_hundred_as_in_one_of_a_hundred_and_fifty() {
    let (fixed, bbr) = (ControllerSpec::Fixed(Default::default()), ControllerSpec::Bbr(Default::default()));
    for (name, spec) in [("by SACK", tcp()), ("by time", rack())] {
        // BBR has delivery rates measured.
        for controller in [&fixed, &bbr] {
            let [short, long] = [150, 1200].map(|window| steps(controller, &spec, window));
            assert!(long <= short + 2.0, "{name}: {short} and {long} steps per segment");
        }
    }
}

/// Of five thousand segments the first is lost, and every ACK reports all that has arrived above it.
#[test]
fn an_ack_takes_no_steps_for_what_was_reported_before() {
    use crate::transport::tcp::Scoreboard;
    let mut board = Scoreboard::new(0, 0);
    let taken = counted(|| {
        for n in 1..5000u64 {
            board.insert(MSS, (n + 1) * MSS);
            board.set_pipe(0, 5000 * MSS);
        }
    });
    assert!(taken < 20_000, "{taken}");
}
