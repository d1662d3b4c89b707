//! Both ends of the interface: what a library's controller is given and allows is what the same controller, linked,
//! would be given and allow.

use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::custom::{CustomController, declared};
use thalweg_plugin::host::{Failure, register, take_failure};
use thalweg_plugin::{
    AckSample, Bytes, CongestionControl, Controller, Delivery, Feedback, FlowId, IntHop, IntStack, Loss,
    Permit, Rate, Report, Restart, Span, Start, Time, abi, table,
};

/// It notes everything that it is given, and allows a window of as many bytes as that takes to write.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Diary {
    pages: Vec<String>,
    wake: Option<u64>,
    pace: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Params {
    first: u64,
    word: String,
    inner: Inner,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Inner {
    a: u64,
    b: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { first: 7, word: "none".into(), inner: Inner { a: 1, b: 2 } }
    }
}

impl Diary {
    fn turn_away(&self, word: &str) {
        assert!(!self.pages.iter().any(|page| page.contains(word)), "turned away: {word}");
    }
}

impl CongestionControl for Diary {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.pages.push(format!("sent {now:?} {bytes:?} {in_flight:?}"));
    }
    fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
        self.pages.push(format!("open {now:?} {rtt:?} {feedback:?}"));
    }
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.pages.push(format!("{ack:?}"));
    }
    fn on_loss(&mut self, loss: &Loss) {
        assert!(loss.sent_to != 13, "thirteen bytes");
        self.pages.push(format!("{loss:?}"));
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.pages.push(format!("timeout {loss:?}"));
    }
    fn on_notification(&mut self, now: Time) {
        self.pages.push(format!("notification {now:?}"));
    }
    fn on_restart(&mut self, now: Time, idle: Span) {
        self.pages.push(format!("restart {now:?} {idle:?}"));
    }
    fn restart_from(&mut self, now: Time, window: Restart) {
        self.pages.push(format!("{now:?} {window:?}"));
    }
    fn on_tick(&mut self, now: Time) {
        self.pages.push(format!("tick {now:?}"));
        self.wake = Some(now.ps());
    }
    fn permit(&self) -> Permit {
        self.turn_away("sent_to: 17");
        Permit {
            window: Bytes::new(self.pages.iter().map(|page| page.len() as u64).sum()),
            pace: self.pace.map(Rate::from_bps),
            wake: self.wake.map(Time::from_ps),
        }
    }
    fn threshold(&self) -> Bytes {
        self.turn_away("sent_to: 19");
        Bytes::new(self.pages.len() as u64)
    }
    fn report(&self, report: &mut Report) {
        self.turn_away("sent_to: 23");
        report.add("pages", "", "how many", self.pages.len() as f64);
        report.add("last", "ps", self.pages.last().cloned().unwrap_or_default(), None);
    }
}

impl Controller for Diary {
    const NAME: &'static str = "diary";
    const ECN: bool = true;
    type Params = Params;

    fn make(start: &Start, params: Params) -> Result<Self, String> {
        if params.first == 0 {
            return Err("`first` is 0".into());
        }
        let start = Start { stream: Default::default(), ..*start };
        Ok(Self { pages: vec![format!("{start:?} {params:?}")], wake: None, pace: None })
    }
}

fn start() -> Start {
    Start {
        flow: FlowId(5),
        class: 3,
        mss: 1460,
        header: 54,
        initial_window: Bytes::new(14_600),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        line_rate: Rate::from_gbps(10),
        base_rtt: Span::from_us(16),
        switches: 2,
        time_quantum: Span::from_ns(1),
        ..Start::default()
    }
}

/// Through the interface.
fn through(params: &[u8]) -> CustomController {
    // SAFETY: the table is our own, and never freed.
    unsafe { register(table::<Diary>(), |_| Ok(())) }.unwrap();
    CustomController::make("diary", &start(), params).unwrap()
}

fn loss(sent_to: u64) -> Loss {
    Loss { now: Time::from_us(9), in_flight: Bytes::new(3), acked_to: 4, sent_to }
}

fn page(controller: &CustomController) -> String {
    let mut report = Report::default();
    controller.report(&mut report);
    report.values().last().map(|(of, _)| of.doc.to_string()).unwrap()
}

#[test]
fn a_controller_is_given_the_same_on_both_sides() {
    let mut linked = Diary::make(&start(), Params::default()).unwrap();
    let mut opened = through(b"");
    let hops = [1, 2, 3].map(|n| IntHop {
        at: Time::from_ns(n),
        tx_bytes: 10 * n,
        queue: 100 * n,
        rate: Rate::from_gbps(n),
    });
    let delivery = Delivery {
        delivered: Bytes::new(1),
        departures: Span::from_ps(2),
        arrivals: Span::from_ps(3),
        sent: Time::from_ps(4),
        total: Bytes::new(5),
        resent: true,
        lost: Bytes::new(6),
        app_limited: true,
    };
    let ack = AckSample {
        now: Time::from_us(20),
        rtt: Some(Span::from_us(16)),
        acked: Bytes::new(1),
        sacked: Bytes::new(2),
        in_flight: Bytes::new(3),
        acked_to: 4,
        sent_to: 5,
        marked: Bytes::new(6),
        braked: Bytes::new(7),
        in_recovery: true,
        app_limited: false,
        cwnd_limited: true,
        delivery: Some(delivery),
        feedback: Feedback::Int(&IntStack::of(77, &hops)),
    };
    let plain = AckSample { rtt: None, delivery: None, feedback: Feedback::Mark, app_limited: true, ..ack };
    let all: [fn(&mut dyn CongestionControl, &AckSample<'_>, &AckSample<'_>); 9] = [
        |c, ack, _| c.on_open(Time::from_us(1), Some(Span::from_us(2)), ack.feedback),
        |c, _, _| c.on_sent(Time::from_us(3), Bytes::new(4), Bytes::new(5)),
        |c, ack, _| c.on_ack(ack),
        |c, _, plain| c.on_ack(plain),
        |c, _, _| c.on_loss(&loss(5)),
        |c, _, _| c.on_timeout(&loss(6)),
        |c, _, _| c.on_notification(Time::from_us(30)),
        |c, _, _| c.on_restart(Time::from_us(31), Span::from_us(1)),
        |c, _, _| {
            c.restart_from(Time::from_us(32), Restart { window: Bytes::new(8), keeps_threshold: true });
        },
    ];
    assert_eq!(page(&opened), linked.pages[0]);
    for call in all {
        call(&mut linked, &ack, &plain);
        call(&mut opened, &ack, &plain);
        assert_eq!(page(&opened), *linked.pages.last().unwrap());
        assert_eq!((opened.permit(), opened.threshold()), (linked.permit(), linked.threshold()));
    }
    assert_eq!(take_failure(), None);
    assert!(declared("diary").ecn && !declared("diary").telemetry);
    assert_eq!(declared("diary").params, Some(["first", "inner", "word"].map(str::to_owned).into()));
}

#[test]
fn what_is_not_written_is_as_declared_and_the_impossible_is_refused() {
    assert!(
        page(&through(br#"{"word": "given"}"#))
            .ends_with(r#"Params { first: 7, word: "given", inner: Inner { a: 1, b: 2 } }"#)
    );
    // Of a table within, too, what is not written stays.
    assert!(page(&through(br#"{"inner": {"a": 5}}"#)).ends_with("inner: Inner { a: 5, b: 2 } }"));
    let refused = |params: &[u8]| CustomController::make("diary", &start(), params).unwrap_err().to_string();
    assert_eq!(refused(br#"{"wrod": "given"}"#), "no parameter `wrod` is declared");
    assert!(refused(br#"{"first": "x"}"#).contains("invalid type"));
    assert_eq!(refused(br#"{"first": 0}"#), "`first` is 0");
}

#[test]
fn a_copy_and_a_saved_one_have_the_same_future() {
    let mut one = through(b"");
    one.on_timeout(&loss(6));
    let (mut copied, saved) = (one.clone(), postcard::to_allocvec(&one).unwrap());
    let mut back: CustomController = postcard::from_bytes(&saved).unwrap();
    for c in [&mut one, &mut copied, &mut back] {
        c.on_loss(&loss(5));
    }
    assert_eq!((one.permit(), page(&one)), (copied.permit(), page(&copied)));
    assert_eq!((one.permit(), page(&one)), (back.permit(), page(&back)));
    assert!(postcard::from_bytes::<CustomController>(&saved[..saved.len() - 1]).is_err());
}

#[test]
fn a_panic_is_a_failure_of_the_run_and_the_controller_is_not_called_again() {
    let mut c = through(b"");
    c.on_loss(&loss(13));
    c.on_loss(&loss(5));
    let before = c.permit();
    let failure = take_failure().unwrap();
    let expected = Failure {
        name: "diary".into(),
        flow: Some(FlowId(5)),
        now: Some(Time::from_us(9)),
        doing: "on_loss",
        why: failure.why.clone(),
    };
    assert_eq!(failure, expected);
    assert!(failure.why.contains("panicked") || failure.why.contains("thirteen bytes"), "{failure:?}");
    assert_eq!(before, through(b"").permit());
}

/// Functions that answer with a value, or with nothing, cannot say that they failed.
#[test]
fn a_panic_in_what_only_answers_is_a_failure_of_the_run_too() {
    let ask = |sent_to: u64, doing: &str, what: fn(&CustomController)| {
        let mut c = through(b"");
        c.on_loss(&loss(sent_to));
        what(&c);
        let failure = take_failure().unwrap_or_else(|| panic!("{doing}"));
        assert_eq!((failure.flow, failure.doing), (Some(FlowId(5)), doing));
        assert!(failure.why.contains("panicked") || failure.why.contains("turned away"), "{failure:?}");
        assert!(take_failure().is_none());
    };
    ask(17, "on_loss", |_| {});
    ask(19, "threshold", |c| assert_eq!(c.threshold(), Bytes::MAX));
    ask(23, "report", |c| c.report(&mut Report::default()));
}

#[test]
fn a_wake_up_that_would_stop_time_and_a_pace_of_nothing_are_failures() {
    let mut c = through(b"");
    c.on_tick(Time::from_us(1));
    let failure = take_failure().unwrap();
    assert_eq!(failure.why, "its wake-up, 1000000 ps, is before 1000001 ps");
    let mut slow = Diary { pages: vec![], wake: None, pace: Some(0) };
    slow.pages.push("one".into());
    let saved = postcard::to_allocvec(&(
        "diary",
        [&[5, 0, 0, 0], &postcard::to_allocvec(&slow).unwrap()[..]].concat(),
    ));
    let back = postcard::from_bytes::<CustomController>(&saved.unwrap());
    assert!(back.is_err());
    let failure = take_failure().unwrap();
    assert_eq!((failure.flow, failure.doing), (Some(FlowId(5)), "load"));
    assert_eq!(failure.why, "its pace is 0: a pace is 1 bit/s at least, or absent");
}

#[test]
fn a_table_of_another_version_or_without_a_function_is_refused() {
    // SAFETY: our own table; a copy of it is leaked for each change.
    let with = |change: fn(&mut abi::Table)| unsafe {
        let mut changed = *table::<Diary>();
        change(&mut changed);
        register(Box::leak(Box::new(changed)), |_| Ok(())).unwrap_err()
    };
    assert_eq!(
        with(|t| t.version = 2),
        "is made for version 2 of the interface, and this is version 1: rebuild it"
    );
    assert_eq!(with(|t| t.size = 64), "has a table of 64 bytes, and 192 are needed: rebuild it");
    assert_eq!(with(|t| t.on_loss = None), "lacks the function `on_loss`");
    assert_eq!(with(|t| t.name.len = 0), "has no name");
    // SAFETY: as above.
    let refused = unsafe { register(table::<Diary>(), |name| Err(format!("{name} is taken"))) };
    assert_eq!(refused.unwrap_err(), "diary is taken");
    // SAFETY: a null table is looked at by no one.
    assert_eq!(unsafe { register(std::ptr::null(), |_| Ok(())) }.unwrap_err(), "has no table");
}

#[test]
fn the_header_in_c_has_the_layout_of_the_interface() {
    // The header's sizes by hand: seven words of eight bytes and six of four; and so on.
    assert_eq!(size_of::<abi::Start>(), 7 * 8 + 6 * 4);
    assert_eq!(size_of::<abi::Feedback>(), 2 * 8 + 2 * 4);
    assert_eq!(size_of::<abi::Ack>(), 15 * 8 + 24 + 2 * 4);
    assert_eq!(size_of::<abi::Loss>(), 4 * 8);
    assert_eq!(size_of::<abi::Permit>(), 3 * 8);
    assert_eq!(size_of::<abi::Hop>(), 4 * 8);
    assert_eq!(size_of::<abi::Table>(), 4 * 4 + 2 * 16 + 18 * 8);
}
