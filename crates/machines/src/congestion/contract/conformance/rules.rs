//! Conformance to the rules of TCP's standards that a controller declares ([`Rules`]): every rule that it declares to
//! follow, and every declared deviation, is exercised.

use super::{Start, ack, start};
use crate::congestion::*;
use std::fmt::Write as _;
use thalweg_wire::Load;

const MSS: u64 = 1000;
/// Segments of the windows that the laws begin with.
const SEGMENTS: u64 = 20;

/// A controller in the middle of its life: what is acknowledged, sent and in flight goes on from call to call.
struct Life {
    spec: ControllerSpec,
    c: Controller,
    now: Time,
    acked_to: u64,
}

impl Life {
    fn with(spec: &ControllerSpec, start: Start) -> Self {
        Self { spec: spec.clone(), c: spec.make(&start).unwrap(), now: Time::from_ms(1), acked_to: 0 }
    }
    /// In slow start.
    fn slow(spec: &ControllerSpec) -> Self {
        Self::with(spec, Start { base_rtt: Span::from_ms(100), ..start(MSS as u32, SEGMENTS) })
    }
    /// In avoidance.
    fn avoiding(spec: &ControllerSpec) -> Self {
        let initial_threshold = Bytes::new(2 * MSS);
        Self::with(
            spec,
            Start { base_rtt: Span::from_ms(100), initial_threshold, ..start(MSS as u32, SEGMENTS) },
        )
    }

    fn window(&self) -> u64 {
        self.c.permit().window.get()
    }
    fn threshold(&self) -> u64 {
        self.c.threshold().get()
    }

    /// An ACK of a segment, `then` as it should be otherwise; the window is full before it, and whatever
    /// routers report is good news.
    fn acknowledge(&mut self, then: impl Fn(AckSample<'static>) -> AckSample<'static>) {
        self.now += Span::from_ms(1);
        self.acked_to += MSS;
        let flight = self.window().max(MSS);
        let feedback = match self.spec.needs().feedback {
            FeedbackKind::Explicit(ExplicitKind::Load) => Feedback::Explicit(Explicit::Load(Load::Low)),
            FeedbackKind::Explicit(ExplicitKind::Change) => {
                Feedback::Explicit(Explicit::Change(Some(1_000_000)))
            }
            _ => Feedback::None,
        };
        self.c.on_ack(&then(AckSample {
            now: self.now,
            rtt: Some(Span::from_us(16)),
            in_flight: Bytes::new(flight - MSS),
            acked_to: self.acked_to,
            sent_to: self.acked_to + flight - MSS,
            feedback,
            ..ack(MSS, 0)
        }));
    }
    /// A mark, or what stands for one.
    fn mark(&mut self, in_flight: u64) {
        self.now += Span::from_secs(1);
        let load = self.spec.needs().feedback == FeedbackKind::Explicit(ExplicitKind::Load);
        let overload = Feedback::Explicit(Explicit::Load(Load::Overload));
        self.acknowledge(|a| AckSample {
            marked: Bytes::new(MSS),
            in_flight: Bytes::new(in_flight),
            feedback: if load { overload } else { Feedback::Mark },
            ..a
        });
    }
    fn loss(&self, segments: u64) -> Loss {
        let sent_to = self.acked_to + segments * MSS;
        Loss { now: self.now, in_flight: Bytes::new(segments * MSS), acked_to: self.acked_to, sent_to }
    }
}

fn held_threshold(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    life.c.on_timeout(&life.loss(SEGMENTS));
    let once = life.threshold();
    for _ in 0..3 {
        life.c.on_timeout(&life.loss(SEGMENTS));
    }
    // Of a segment further on it is another one.
    let mut other = Life::avoiding(spec);
    other.c.on_timeout(&other.loss(SEGMENTS));
    other.acked_to += MSS;
    other.c.on_timeout(&other.loss(1));
    life.threshold() == once && other.threshold() < once
}

fn loss_window(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    life.c.on_timeout(&life.loss(SEGMENTS));
    life.window() == MSS
}

fn loss_cuts_flight(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    life.c.on_loss(&life.loss(8));
    life.window() < 8 * MSS
}

fn threshold_floor(spec: &ControllerSpec) -> bool {
    let (mut lost, mut expired) = (Life::avoiding(spec), Life::avoiding(spec));
    lost.c.on_loss(&lost.loss(1));
    for n in 0..9 {
        expired.c.on_timeout(&expired.loss(1));
        expired.acked_to = n * MSS;
    }
    lost.threshold() >= 2 * MSS && expired.threshold() == 2 * MSS
}

fn frozen_in_repair(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    life.c.on_loss(&life.loss(SEGMENTS));
    let before = life.window();
    (0..40).for_each(|_| life.acknowledge(|a| AckSample { in_recovery: true, sent_to: 1 << 30, ..a }));
    life.window() <= before
}

fn marks_once(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    let flight = life.window();
    let marked = |a| AckSample { marked: Bytes::new(MSS), feedback: Feedback::Mark, sent_to: 21 * MSS, ..a };
    life.acknowledge(marked);
    let once = life.window();
    (1..SEGMENTS).for_each(|_| life.acknowledge(marked));
    once < flight && life.window() == once
}

fn marks_and_losses_once(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    let marked = |a| AckSample { marked: Bytes::new(MSS), feedback: Feedback::Mark, sent_to: 21 * MSS, ..a };
    life.acknowledge(marked);
    let once = (life.window(), life.threshold());
    life.c.on_loss(&life.loss(SEGMENTS));
    let held = (life.window(), life.threshold()) == once;
    // What was sent since then is another window of data.
    life.acked_to = 30 * MSS;
    life.c.on_loss(&life.loss(once.0 / MSS));
    held && life.window() < once.0
}

fn marks_to_one(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    for _ in 0..200 {
        let in_flight = life.window().saturating_sub(MSS);
        life.acked_to += SEGMENTS * MSS; // another window of data
        life.mark(in_flight);
    }
    life.window() / MSS == 1
}

fn mark_cuts_flight(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    life.mark(5 * MSS);
    life.window() < 6 * MSS
}

fn grows_when_used(spec: &ControllerSpec) -> bool {
    // Three segments are in flight, in slow start and in avoidance.
    [Life::slow(spec), Life::avoiding(spec)].iter_mut().all(|life| {
        let first = life.window();
        (0..200).all(|_| {
            life.acknowledge(|a| AckSample {
                in_flight: Bytes::new(2 * MSS),
                cwnd_limited: false,
                app_limited: true,
                ..a
            });
            life.window() <= first
        })
    })
}

fn restarts(spec: &ControllerSpec) -> bool {
    let mut life = Life::avoiding(spec);
    life.acknowledge(|a| a);
    life.c.on_restart(life.now, Span::from_secs(1));
    life.c.restart_from(life.now, Restart { window: Bytes::new(4 * MSS), keeps_threshold: false });
    life.window() <= 4 * MSS
}

fn silence_stops_clock(spec: &ControllerSpec) -> bool {
    let grown = |silent: bool| {
        let mut life = Life::avoiding(spec);
        life.c.on_loss(&life.loss(SEGMENTS));
        life.acked_to += SEGMENTS * MSS;
        (0..20).for_each(|_| life.acknowledge(|a| a));
        if silent {
            let idle = Span::from_secs(30);
            life.now += idle;
            life.c.on_restart(life.now, idle);
        }
        (0..20).for_each(|_| life.acknowledge(|a| a));
        life.window()
    };
    grown(true) == grown(false)
}

const LAWS: [fn(&ControllerSpec) -> bool; 12] = [
    held_threshold,
    loss_window,
    loss_cuts_flight,
    threshold_floor,
    frozen_in_repair,
    marks_once,
    marks_and_losses_once,
    marks_to_one,
    mark_cuts_flight,
    grows_when_used,
    restarts,
    silence_stops_clock,
];

#[test]
fn a_rule_is_kept_exactly_where_declared() {
    let mut wrong = Vec::new();
    for spec in ControllerSpec::variants() {
        for ((section, rule, declared), law) in spec.rules().all().into_iter().zip(LAWS) {
            let keeps = declared == Rule::Kept;
            if declared != Rule::Foreign && law(&spec) != keeps {
                wrong.push(format!("{section}, {rule}: {declared:?}, but {spec:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn slow_start_requires_rules_for_its_growth_and_its_restart() {
    for spec in ControllerSpec::variants() {
        if spec.needs().gives == (Gives::Window { slow_start: true }) {
            let rules = spec.rules();
            assert!(rules.grows_when_used != Rule::Foreign && rules.loss_window != Rule::Foreign, "{spec:?}");
        }
    }
}

/// `docs/controllers-rules.md`.
fn page() -> String {
    let mut page = String::from(
        "# Rules of TCP's standards, and which controllers keep them\n\n\
         Made from what the controllers declare (`Parameters::rules`), and each cell is driven by a law \
         (`congestion/contract/conformance/rules.rs`).\n**yes**: kept. **no**: it could, and does not; why is said below. **–**: the rule is \
         of something that the controller does not have.\nDefault parameters; controllers without any such window are left out. Write it anew with \
         `THALWEG_WRITE=1 cargo test -p thalweg-machines rules`.\n\n",
    );
    let all: Vec<ControllerSpec> =
        // What a user's declares is the user's.
        ControllerSpec::all()
            .into_iter()
            .filter(|spec| spec.rules() != Rules::FOREIGN && spec.needs().gives != Gives::Anything)
            .collect();
    page += "| rule | where |";
    all.iter().for_each(|spec| write!(page, " {} |", spec.key()).unwrap());
    page += "\n|---|---|";
    all.iter().for_each(|_| page += "---|");
    let mut notes: Vec<(String, &str)> = Vec::new();
    for (n, (section, rule, _)) in Rules::FOREIGN.all().into_iter().enumerate() {
        write!(page, "\n| {rule} | {section} |").unwrap();
        for spec in &all {
            page += match spec.rules().all()[n].2 {
                Rule::Kept => " yes |",
                Rule::Foreign => " – |",
                Rule::Differs(why) => {
                    notes.push((format!("`{}`: {rule}", spec.key()), why));
                    " no |"
                }
            };
        }
    }
    page += "\n\n## Why not\n";
    for (what, why) in notes {
        write!(page, "\n- {what}. {why}.").unwrap();
    }
    page += "\n\n## What the transport does\n\n\
        - `transport.growth`, when an ACK says that the window was used up: `when-used` (RFC 9438 §5.8, RFC 9002 §7.8), `when-half-used` \
        (RFC 7661 §4.3), `always`.\n\
        - `transport.restart`, what is left of a window after a pause: `rfc5681` (§4.1), `linux` (RFC 2861), `rfc7661` (§4.4), `keep`.\n\
        - `transport.ecn_floor`, what a mark does to a window of one segment: `timer` (RFC 3168 §6.1.2), `segment` (Linux).\n";
    page
}

#[test]
fn the_page_of_rules_is_what_the_controllers_declare() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/controllers-rules.md");
    if std::env::var_os("THALWEG_WRITE").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    // Word by word: lines are broken for readers.
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        words(&there),
        words(&page()),
        "write it anew: THALWEG_WRITE=1 cargo test -p thalweg-machines rules"
    );
}
