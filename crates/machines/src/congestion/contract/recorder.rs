//! A wrapper that records the decisions of the controller inside.

use crate::congestion::contract::decisions::Log;
use crate::congestion::{
    AckSample, CongestionControl, ControllerSpec, Feedback, Interval, Loss, Observation, Permit, Report,
    Restart, Start,
};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::Notice;

/// Any controller with a record of its decisions. Where [`Start::records`] says so, each is made with one around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recorder<C> {
    inner: C,
    log: Log,
}

impl<C: CongestionControl> Recorder<C> {
    /// Around `inner`, which was made of `spec` and `start` and has not been called.
    pub fn new(spec: &ControllerSpec, start: &Start, inner: C) -> Self {
        let log = Log::new(spec, start, inner.permit());
        Self { inner, log }
    }

    /// The one inside.
    pub fn inner(&self) -> &C {
        &self.inner
    }

    fn note(&mut self, observation: Observation) {
        self.log.add(&observation, self.inner.permit());
    }
}

impl<C: CongestionControl> CongestionControl for Recorder<C> {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.inner.on_sent(now, bytes, in_flight);
        self.note(Observation::Sent { now, bytes, in_flight });
    }
    fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
        self.inner.on_open(now, rtt, feedback);
        self.note(Observation::Open { now, rtt, written: feedback.into() });
    }
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.inner.on_ack(ack);
        self.note(Observation::ack(ack));
    }
    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>, in_flight: Bytes) {
        self.inner.on_feedback(now, feedback, in_flight);
        self.note(Observation::Feedback { now, written: feedback.into(), in_flight });
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.inner.on_loss(loss);
        self.note(Observation::Loss(*loss));
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.inner.on_timeout(loss);
        self.note(Observation::Timeout(*loss));
    }
    fn on_notification(&mut self, now: Time) {
        self.inner.on_notification(now);
        self.note(Observation::Notification { now });
    }
    fn on_notice(&mut self, now: Time, notice: &Notice) {
        self.inner.on_notice(now, notice);
        self.note(Observation::Notice { now, notice: *notice });
    }
    fn on_restart(&mut self, now: Time, idle: Span) {
        self.inner.on_restart(now, idle);
        self.note(Observation::Restart { now, idle });
    }
    fn restart_from(&mut self, now: Time, window: Restart) {
        self.inner.restart_from(now, window);
        self.note(Observation::RestartFrom { now, window });
    }
    fn on_tick(&mut self, now: Time) {
        self.inner.on_tick(now);
        self.note(Observation::Tick { now });
    }
    fn permit(&self) -> Permit {
        self.inner.permit()
    }
    fn threshold(&self) -> Bytes {
        self.inner.threshold()
    }
    fn report(&self, report: &mut Report) {
        self.inner.report(report);
    }
    fn take_log(&mut self) -> Option<Log> {
        Some(self.log.take())
    }
    fn interval(&self) -> Option<&Interval> {
        self.inner.interval()
    }
    fn on_decision(&mut self, now: Time, decided: Permit) {
        self.inner.on_decision(now, decided);
        self.note(Observation::Decision { now, decided });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::contract::conformance::{Event, Story, events, start};
    use crate::congestion::contract::decisions::{difference, join, read, write};
    use proptest::prelude::*;

    proptest! {
        /// Every controller of the list.
        #[test]
        fn what_is_recorded_is_replayed_and_read_back(story in prop::collection::vec(events(), 1..120)) {
            for of in ControllerSpec::variants() {
                let mut plain = Story::new(&of, Time::ZERO);
                let mut recorded = recording(&of);
                for event in &story {
                    prop_assert_eq!(plain.apply(event), recorded.apply(event));
                }
                let log = recorded.controller.take_log().unwrap();
                let replayed = log.replay().unwrap();
                prop_assert_eq!((replayed.same, &replayed.differs), (log.len(), &None), "{:?}", of);
                let logs = [log];
                prop_assert_eq!(&read(&write(&logs)).unwrap(), &logs);
            }
        }

        /// A file that was cut or overwritten is refused or read, and never panics.
        #[test]
        fn damage_is_found(cut in 0usize..4000, with in any::<u8>(), shortens in any::<bool>()) {
            let log = recorded(&ControllerSpec::cubic(), &[Event::Sent, Event::Loss, Event::Timeout]);
            let mut file = write(&[log]);
            let place = cut % file.len();
            if shortens { file.truncate(place) } else { file[place] ^= with }
            for log in read(&file).unwrap_or_default() {
                let _ = log.replay();
            }
        }
    }

    fn recording(of: &ControllerSpec) -> Story {
        let max_window = Bytes::new(1460 * 200);
        Story::from(of, Start { records: true, max_window, ..start(1460, 10) }, Time::ZERO)
    }

    fn recorded(of: &ControllerSpec, story: &[Event]) -> Log {
        let mut driven = recording(of);
        story.iter().for_each(|event| {
            driven.apply(event);
        });
        driven.controller.take_log().unwrap()
    }

    #[test]
    fn records_part_where_the_observations_do() {
        let cubic = ControllerSpec::cubic();
        let one = recorded(&cubic, &[Event::Sent, Event::Sent, Event::Loss]);
        let other = recorded(&cubic, &[Event::Sent, Event::Sent, Event::Timeout]);
        let shorter = recorded(&cubic, &[Event::Sent]);
        let found = difference(&one, &other).unwrap().unwrap();
        assert_eq!(found.after, 2);
        assert!(
            matches!(found.decisions[1], Some(ref d) if matches!(d.observation, Observation::Timeout(_)))
        );
        assert_eq!(difference(&one, &one), Ok(None));
        assert_eq!(difference(&one, &shorter).unwrap().unwrap().after, 1);
        let bbr = recorded(&ControllerSpec::bbr(), &[Event::Sent]);
        assert!(!difference(&shorter, &bbr).unwrap().unwrap().alike);
    }

    #[test]
    fn pieces_are_the_whole_and_none_is_left_out() {
        let whole = recorded(&ControllerSpec::cubic(), &[Event::Sent, Event::Loss, Event::Timeout]);
        let mut c = recording(&ControllerSpec::cubic());
        let mut pieces = Vec::new();
        for event in [Event::Sent, Event::Loss, Event::Timeout] {
            c.apply(&event);
            pieces.extend(c.controller.take_log());
        }
        assert_eq!(pieces.iter().map(Log::len).collect::<Vec<_>>(), [1, 1, 1]);
        assert!(pieces[1].replay().is_err(), "it has no beginning");
        assert_eq!(join(pieces.clone()).unwrap(), std::slice::from_ref(&whole));
        assert_eq!(read(&write(&pieces)).unwrap(), [whole]);
        pieces.remove(1);
        assert_eq!(join(pieces).unwrap_err().len(), 1);
    }

    #[test]
    fn another_controller_is_found_out() {
        let log = recorded(&ControllerSpec::cubic(), &[Event::Sent, Event::Loss]);
        let mut file = write(&[log]);
        let place = file.windows(5).position(|w| w == b"cubic").unwrap();
        file[place] = b'x';
        let damage = read(&file).unwrap()[0].replay().unwrap_err();
        assert!(damage.to_string().contains("xubic"), "{damage}");
    }
}
