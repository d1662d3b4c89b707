//! A controller in forty lines, and its exam.

use thalweg_exam::{AckSample, Bytes, CongestionControl, Exam, Loss, Permit, Start};

/// Half a window less at each loss, a segment more per round trip.
#[derive(Clone)]
struct Aimd {
    mss: u64,
    window: u64,
}

impl Aimd {
    fn new(start: &Start) -> Self {
        Self { mss: start.mss.into(), window: start.initial_window.get() }
    }
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if !ack.in_recovery {
            self.window += self.mss * ack.acked.get() / self.window;
        }
    }
    fn on_loss(&mut self, _: &Loss) {
        self.window = (self.window / 2).max(self.mss);
    }
    fn on_timeout(&mut self, _: &Loss) {
        self.window = self.mss;
    }
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window))
    }
}

#[test]
fn it_fills_a_link_and_shares_it() -> Result<(), thalweg_exam::Error> {
    let exam = Exam::of(Aimd::new).against(["cubic", "bbr"]).situations(["steady", "two", "vs-cubic"]);
    let report = exam.run()?;
    assert_eq!(report.failures().next(), None);
    assert!(report["steady"].utilisation > 0.9);
    assert!(report["steady"].loss < 0.01);
    assert!(report["two"].fairness > 0.9);
    let cubic = report.of("vs-cubic", "cubic").and_then(|row| row.marks.clone().ok());
    assert!(cubic.is_some_and(|marks| report["vs-cubic"].share < marks.share));
    Ok(())
}
