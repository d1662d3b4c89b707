//! A lost SYN leaves one segment as the initial window, for which the controller is made anew.

use super::super::testing::*;
use super::super::*;
use crate::congestion::custom::{ControllerFactory, Params, PluggedController, register_controller};
use crate::congestion::{AckSample, CongestionControl, Loss, Permit};
use crate::plugin::take_failure;

/// A controller whose factory demands two segments.
#[derive(Clone)]
struct Demanding;

impl CongestionControl for Demanding {
    fn on_ack(&mut self, _: &AckSample<'_>) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(2 * MSS))
    }
}

impl PluggedController for Demanding {
    fn name(&self) -> &str {
        "demanding"
    }
    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        vec![]
    }
}

#[test]
fn a_factory_that_refuses_a_window_of_one_segment_ends_the_run() {
    let factory = ControllerFactory {
        make: |_, start, _| match start.initial_window.get() / MSS {
            0 | 1 => Err("two segments at least".into()),
            _ => Ok(Box::new(Demanding)),
        },
        load: |_, _| Ok(Box::new(Demanding)),
    };
    register_controller("demanding", factory);
    let controller = ControllerSpec::Custom(Params { name: "demanding".into(), ..Params::default() });
    let failure = |lost: &[u64]| {
        let mut pair = Pair::new(
            TcpSpec {
                controller: controller.clone(),
                handshake: true,
                initial_window: Bytes::new(2 * MSS),
                ..tcp()
            },
            3,
        );
        pair.run_losing(lost);
        take_failure()
    };
    assert!(failure(&[]).is_none());
    let failed = failure(&[0]).expect("the SYN was lost");
    assert_eq!(failed.at, Some(Time::from_us(3100)), "when the SYN-ACK comes");
    let why = failed.what.downcast::<Invalid>().expect("a refusal").to_string();
    assert!(why.contains("one segment") && why.ends_with("two segments at least"), "{why}");
}
