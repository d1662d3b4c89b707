//! Which calls of the controllers' contract come over queue pairs, whatever their recovery: see
//! `transport/tests/calls.rs`.

use super::link::{Link, roce};
use super::recorder::{Call, calls, permit, recorder};
use super::*;
use crate::transport::testing::{Fate, Way};

/// The calls after the first message, by kind; then a second one 100 us later.
fn two_messages(spec: RdmaSpec, packets: u64) -> Vec<Call> {
    let mut link = Link::bytes(RdmaSpec { controller: recorder(), ..spec }, packets * 1000);
    permit(Permit::window(Bytes::new(8000)));
    link.sender.append(&link.spec, Time::ZERO, 0).expect("a queue pair without segments");
    let lose = |way: Way, n: u64, _: &Packet| {
        if way == Way::ToReceiver && n == 1 { Fate::Drop } else { Fate::Deliver }
    };
    link.run(lose);
    link.now += Span::from_us(100);
    let end = link.sender.append(&link.spec, link.now, packets * 1000).unwrap();
    link.receiver.resize(end);
    link.look();
    link.run(lose);
    calls()
}

#[test]
fn every_recovery_reports_acks_losses_limits_and_restarts() {
    for spec in [roce(), spec()] {
        let calls = two_messages(spec, 20);
        let count = |which: fn(&Call) -> bool| calls.iter().filter(|call| which(call)).count();
        assert_eq!(count(|c| matches!(c, Call::Restart(..))), 1, "once per silence");
        assert_eq!(count(|c| matches!(c, Call::Loss(_))), 1, "once per episode");
        assert_eq!(count(|c| matches!(c, Call::Timeout(_) | Call::Open(..) | Call::RestartFrom(..))), 0);
        let restart = calls.iter().position(|c| matches!(c, Call::Restart(..))).unwrap();
        assert!(matches!(calls[restart - 1], Call::Ack(_)) && matches!(calls[restart + 1], Call::Sent(..)));
        // Twenty packets in a window of eight: used up until less than eight are left, and then no more.
        for message in [&calls[..restart], &calls[restart..]] {
            let acks: Vec<_> =
                message.iter().filter_map(|c| if let Call::Ack(a) = c { Some(a) } else { None }).collect();
            assert!(acks[0].cwnd_limited && !acks[0].app_limited);
            let last = acks.last().unwrap();
            assert!(!last.cwnd_limited && last.app_limited);
        }
        // Samples of the first message's packets are the path's, but for those that left after the last had.
        let limited = |c: &Call| matches!(c, Call::Ack(a) if a.delivery.is_some_and(|d| d.app_limited));
        assert!(!calls[..5].iter().any(limited));
        assert!(calls[restart..].iter().any(limited), "what follows a silence is the application's doing");
    }
}
