//! Exams as a whole: refusals, order, the number of threads, and what stands for both languages.

use thalweg_exam::{AckSample, CongestionControl, Error, Exam, Loss, Marks, Permit, Start, Time};
use thalweg_machines::congestion::Parameters;
use thalweg_machines::congestion::newreno::{NewReno, Params};

#[test]
fn unknown_situations_and_controllers_are_refused_with_the_nearest() {
    let refused = |exam: Exam| exam.run().expect_err("refused").to_string();
    let cubic = || Exam::of_built_in("cubic");
    assert_eq!(
        refused(cubic().situations(["steady", "shalow-buffer"])),
        "no situation is called `shalow-buffer`; did you mean `shallow-buffer`?"
    );
    assert_eq!(refused(cubic().situations(["zz*"])), "no situation is called `zz*`");
    let said = refused(cubic().against(["cubik"]).situations(["steady"]));
    assert!(
        said.starts_with("`cubik` cannot take the situation `steady`: ") && said.contains("`cubic`"),
        "{said}"
    );
    let error = cubic().set("switch.bufer", "1bdp").situations(["policer"]).run().expect_err("refused");
    assert!(matches!(&error, Error::Unfit { situation, .. } if situation == "policer"), "{error}");
    assert!(error.to_string().contains("did you mean `buffer`"), "{error}");
}

#[test]
fn a_table_that_was_not_measured_is_a_failure_of_the_run() {
    let exam = Exam::of_built_in("cubic").set("measure.round_trips", "false").situations(["steady"]);
    let report = exam.run().expect("an exam");
    let failure = report.failures().next().expect("a failure").to_string();
    assert_eq!(
        failure,
        "steady: controller `cubic`: `round_trips` was not measured, and marks are taken from it"
    );
}

#[test]
fn one_thread_and_three_give_the_same_bytes_in_the_same_order() {
    let only = ["two", "policer", "start-up", "incast"];
    let held = |threads: usize| {
        let exam = Exam::of_built_in("cubic").against(["vegas", "cubic", "vegas"]).situations(only);
        let mut finished = Vec::new();
        let report = exam.threads(threads).run_with(|done| finished.push((done.finished, done.all)));
        assert_eq!(finished, (1..=8).map(|n| (n, 8)).collect::<Vec<_>>());
        report.expect("an exam")
    };
    let (one, three) = (held(1), held(3));
    assert_eq!(one.to_csv(), three.to_csv());
    assert_eq!(one.controllers(), ["cubic", "vegas"], "what is named twice is run once");
    let order: Vec<(&str, &str)> =
        one.rows().iter().map(|row| (row.situation.as_str(), row.controller.as_str())).collect();
    let expected = ["start-up", "policer", "two", "incast"].map(|s| [(s, "cubic"), (s, "vegas")]);
    assert_eq!(order, expected.concat());
}

#[test]
fn the_same_with_other_settings_is_another_and_settings_are_its_own() {
    let exam = Exam::of_built_in("fixed").against(["fixed"]).situations(["policer"]);
    let report = exam.set("transport.initial_window", "20pkts").run().expect("an exam");
    assert_eq!(report.controllers(), ["fixed*", "fixed"]);
    let other = report.of("policer", "fixed").and_then(|row| row.marks.clone().ok()).expect("marks");
    assert!(report["policer"].utilisation > 1.5 * other.utilisation);
}

/// A built-in controller from outside.
#[derive(Clone)]
struct Mine(NewReno);

impl CongestionControl for Mine {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.0.on_ack(ack);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.0.on_timeout(loss);
    }
    fn on_open(&mut self, now: Time, rtt: Option<thalweg_exam::Span>, feedback: thalweg_exam::Feedback<'_>) {
        self.0.on_open(now, rtt, feedback);
    }
    fn on_restart(&mut self, now: Time, idle: thalweg_exam::Span) {
        self.0.on_restart(now, idle);
    }
    fn restart_from(&mut self, now: Time, window: thalweg_exam::Restart) {
        self.0.restart_from(now, window);
    }
    fn permit(&self) -> Permit {
        self.0.permit()
    }
}

#[test]
fn one_of_your_own_that_is_a_built_in_one_has_its_marks() {
    let only = ["shallow-buffer", "loss-light", "unequal-rtts", "application-limited"];
    let make = |start: &Start| Mine(Params::default().make(start).expect("defaults"));
    let report = Exam::of(make).against(["newreno"]).situations(only).run().expect("an exam");
    for situation in only {
        let other = report.of(situation, "newreno").and_then(|row| row.marks.clone().ok()).expect("marks");
        assert_eq!(text(report[situation]), text(other), "{situation}");
    }
}

fn text(marks: Marks) -> String {
    format!("{:?}", marks.row())
}

/// `situation,controller,...` as `thalweg exam cubic --against bbr` has them: a Python test holds the same file against
/// that (`tests/python/test_exam.py`). Written anew by `THALWEG_WRITE=1 cargo test -p thalweg-exam kept`.
#[test]
fn marks_are_those_that_are_kept_for_both_languages() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept.csv");
    let only = ["shallow-buffer", "step-down", "crowd", "unequal-rtts", "vs-bbr", "downloads"];
    let report = Exam::of_built_in("cubic").against(["bbr"]).situations(only).run().expect("an exam");
    let found = report.to_csv();
    if std::env::var_os("THALWEG_WRITE").is_some() {
        std::fs::write(file, &found).expect("written");
    }
    let kept = std::fs::read_to_string(file).expect("tests/kept.csv");
    assert_eq!(found, kept);
}
