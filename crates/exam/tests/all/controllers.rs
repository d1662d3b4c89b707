//! Controllers that differ in what they do at a loss are known by their marks, and one that misbehaves ends its
//! own run alone.

use thalweg_exam::{AckSample, Bytes, CongestionControl, Exam, Loss, Permit, Start};

/// A window that grows by a segment per round trip; what a loss leaves of it makes the character.
#[derive(Clone)]
struct Window {
    mss: u64,
    window: u64,
    most: u64,
    kept_at_loss: f64,
}

impl CongestionControl for Window {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.window = (self.window + self.mss * ack.acked.get() / self.window).min(self.most);
    }
    fn on_loss(&mut self, _: &Loss) {
        self.window = ((self.window as f64 * self.kept_at_loss) as u64).max(self.mss);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.on_loss(loss);
    }
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window))
    }
}

fn fair(start: &Start) -> Window {
    let mss = u64::from(start.mss);
    Window { mss, window: start.initial_window.get(), most: 1000 * mss, kept_at_loss: 0.5 }
}

/// Never cuts.
fn cheat(start: &Start) -> Window {
    Window { kept_at_loss: 1.0, ..fair(start) }
}

/// Never has more than four segments in the network.
fn timid(start: &Start) -> Window {
    let four = 4 * u64::from(start.mss);
    Window { window: four, most: four, ..fair(start) }
}

#[test]
fn one_that_never_cuts_and_one_that_is_timid_are_known_by_their_marks() {
    let only = ["shallow-buffer", "vs-cubic"];
    let [cheat, fair, timid] = [("cheat", cheat as fn(&Start) -> Window), ("fair", fair), ("timid", timid)]
        .map(|(name, make)| Exam::of(make).named(name).situations(only).run().expect("an exam"));
    for report in [&cheat, &fair, &timid] {
        assert_eq!(report.failures().next(), None);
    }
    let (bold, usual, shy) = (cheat["shallow-buffer"], fair["shallow-buffer"], timid["shallow-buffer"]);
    assert!(bold.loss > 10.0 * usual.loss && usual.loss > shy.loss, "{bold:?} {usual:?} {shy:?}");
    assert_eq!(shy.loss, 0.0);
    // Four segments in 42 ms are 1.1 of 24 Mb/s.
    assert!((0.04..0.05).contains(&shy.utilisation) && usual.utilisation > 0.7, "{usual:?} {shy:?}");
    let (bold, usual, shy) = (cheat["vs-cubic"].share, fair["vs-cubic"].share, timid["vs-cubic"].share);
    assert!(bold > 1.5 && bold > usual && usual > shy && shy < 0.2, "{bold} {usual} {shy}");
}

/// Panics at its hundredth ACK, or allows what no controller may.
#[derive(Clone)]
struct Broken {
    window: Bytes,
    left: u32,
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    Panics,
    StopsTime,
    Stops,
}

impl CongestionControl for Broken {
    fn on_ack(&mut self, _: &AckSample<'_>) {
        self.left = self.left.saturating_sub(1);
        assert!(self.left > 0 || self.how != How::Panics, "no idea\nwhat to do");
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn permit(&self) -> Permit {
        let permit = Permit::window(self.window);
        match self.how {
            How::StopsTime if self.left == 0 => Permit { wake: Some(thalweg_exam::Time::ZERO), ..permit },
            How::Stops if self.left == 0 => Permit { pace: Some(thalweg_exam::Rate::ZERO), ..permit },
            _ => permit,
        }
    }
}

fn broken(how: How) -> impl Fn(&Start) -> Broken + Send + Sync + 'static {
    move |start| Broken { window: start.initial_window, left: 100, how }
}

#[test]
fn one_that_panics_is_reported_with_its_name_its_situation_and_the_call_and_others_go_on() {
    let exam =
        Exam::of(broken(How::Panics)).named("mine").situations(["steady", "incast"]).against(["fixed"]);
    let report = exam.run().expect("an exam");
    let failures: Vec<String> = report.failures().map(ToString::to_string).collect();
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures[0].starts_with("steady: controller `mine`, flow 0, in `on_ack` at "), "{failures:?}");
    assert!(failures[0].ends_with(": panicked: no idea what to do"), "{failures:?}");
    for situation in ["steady", "incast"] {
        assert!(report.of(situation, "fixed").is_some_and(|row| row.marks.is_ok()));
    }
    let csv = report.to_csv();
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.contains("\nsteady,mine,,,,,,,\"steady: controller `mine`, flow 0"), "{csv}");
    let indexed = std::panic::catch_unwind(|| report["steady"]).expect_err("a panic with the reason");
    assert!(indexed.downcast_ref::<String>().is_some_and(|why| *why == failures[0]));
}

#[test]
fn one_that_panics_as_it_is_made_is_reported_likewise() {
    let exam = Exam::of(|_: &Start| -> Window { panic!("not today") }).situations(["steady"]);
    let report = exam.run().expect("an exam");
    let failure = report.failures().next().expect("a failure").to_string();
    assert_eq!(failure, "steady: controller `Window`, flow 0, in `make`: panicked: not today");
}

#[test]
fn a_permit_that_would_stop_time_or_every_packet_ends_the_run() {
    for (how, reason) in [(How::StopsTime, "its wake-up, 0ps, is before "), (How::Stops, "its pace is 0: ")] {
        let report = Exam::of(broken(how)).situations(["steady"]).run().expect("an exam");
        let failure = report.failures().next().expect("a failure").to_string();
        assert!(failure.starts_with("steady: controller `Broken`, flow 0, in `on_ack` at "), "{failure}");
        assert!(failure.contains(reason), "{failure}");
    }
}
