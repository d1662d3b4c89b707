//! A run whose controllers are decided from outside, taken from decision to decision.

use crate::run::Run;
use thalweg_machines::congestion::Permit;
use thalweg_net::spec::NetworkSpec;
use thalweg_scenario::{Diagnostic, Scenario, Stop};
use thalweg_sim::Halt;
use thalweg_units::{Bytes, FlowId, Rate, Span, Time};

/// When a flow wants its next decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// A smoothed round trip of its own after the last.
    RoundTrip,
    /// At the next multiple of this: flows decide together.
    Span(Span),
}

/// A flow that is decided, and what its path is when nothing waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided {
    /// Its number.
    pub flow: FlowId,
    /// The slowest link of its path; of one that changes the mean.
    pub rate: Rate,
    /// The round trip of a full packet and its ACK.
    pub base_rtt: Span,
    /// Payload bytes of a full segment.
    pub mss: u32,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Some flow waits for a decision; everything of this instant has happened.
    Waits,
    /// It has processed as many events as it may.
    Goes,
    /// The run has ended, or all decided flows are complete.
    Over,
}

/// A run that stops for decisions.
///
/// ```
/// # use thalweg_lab::{Every, Session, Standing};
/// # let text = "[topology]\nkind = \"dumbbell\"\npairs = 1\n[transport]\ncongestion = \"external\"\n\
/// #   [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n[run]\nuntil = \"1s\"\n";
/// # let scenario = thalweg_scenario::load(text, "s.toml", std::path::Path::new("."), &[]).unwrap();
/// let mut session = Session::new(&Default::default(), &scenario, Every::RoundTrip)?;
/// let mut row = [0.0; Session::COLUMNS.len()];
/// while session.advance(u64::MAX) == Standing::Waits {
///     session.observe(&mut row);
///     session.decide(0, 20_000.0, f64::NAN); // 20 KB in flight, as fast as they go
/// }
/// assert!(session.is_done());
/// # Ok::<(), thalweg_scenario::Diagnostic>(())
/// ```
#[derive(Clone)]
pub struct Session {
    run: Run,
    every: Every,
    flows: Vec<Decided>,
    /// How often it is looked for whether all of them are complete: where nothing else flows the run ends by itself.
    look: Option<Span>,
}

impl Session {
    /// What [`Session::observe`] writes of each flow, in this order: name, unit, meaning.
    pub const COLUMNS: [(&str, &str, &str); 15] = [
        ("waits", "", "1: the flow waits for a decision; 0: it has not started, is over, or decides later"),
        ("time", "s", "simulated time"),
        ("elapsed", "s", "since its last decision"),
        ("delivered", "B", "payload acknowledged for the first time"),
        ("sent", "B", "payload sent, retransmissions included"),
        ("lost", "B", "payload found lost: sent, and neither delivered nor in the network"),
        ("marked", "B", "payload delivered that met congestion (CE)"),
        ("in_flight", "B", "payload in the network now"),
        ("rtt_mean", "s", "mean of the round trips measured; if there were none, the smoothed one"),
        ("rtt_min", "s", "the least of them; likewise"),
        ("rtt_floor", "s", "the least of the flow's life; before any that of the empty path"),
        ("losses", "", "episodes of losses inferred from ACKs"),
        ("timeouts", "", "expiries of the retransmission timer"),
        ("window", "B", "payload that may be in the network"),
        ("pace", "b/s", "of transmissions; 0: none"),
    ];

    /// Of a scenario, before anything has happened. Soon after `stop` is raised it is given up.
    ///
    /// # Errors
    /// As [`Run::new_unless`], and if no flow of the scenario is decided from outside.
    pub fn new(stop: &Stop, scenario: &Scenario, every: Every) -> Result<Self, Diagnostic> {
        let run = Run::new_unless(stop, scenario)?;
        let session = Self::of(run, every);
        if session.flows.is_empty() {
            let why = "no flow is decided from outside; write `congestion = \"external\"` in its transport";
            return Err(scenario.about("transport.congestion", why.into()));
        }
        Ok(session)
    }

    /// From the bytes of [`Session::save`].
    ///
    /// # Errors
    /// As [`Run::load`].
    pub fn load(bytes: &[u8], every: Every) -> Result<Self, String> {
        Run::load(bytes).map(|run| Self::of(run, every))
    }

    fn of(run: Run, every: Every) -> Self {
        let spec = run.engine.spec();
        let numbers = (0..spec.flows.len()).map(FlowId::from).filter(|flow| is_decided(spec, *flow));
        let flows: Vec<Decided> = numbers.map(|flow| decided(&run, flow)).collect();
        let others = flows.len() < spec.flows.len();
        let look = flows.iter().map(|of| of.base_rtt).min().filter(|_| others);
        Self { run, every, flows, look }
    }

    /// Everything it knows, as bytes: a saved [`Run`].
    pub fn save(&self) -> Vec<u8> {
        self.run.save()
    }

    /// The flows that are decided, by number.
    pub fn flows(&self) -> &[Decided] {
        &self.flows
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// All decided flows are complete.
    pub fn is_done(&self) -> bool {
        self.flows.iter().all(|of| self.run.engine.outcome(of.flow).acked.is_some())
    }

    /// Goes on to the next decision, by at most `max_events` more events.
    pub fn advance(&mut self, max_events: u64) -> Standing {
        let events = |session: &Self| session.run.engine.counters().events;
        let most = events(self).saturating_add(max_events);
        let mut until = self.run.engine.now();
        loop {
            until = self.look.map_or(Time::MAX, |span| until.saturating_add(span));
            match self.run.advance(most.saturating_sub(events(self)), until) {
                Halt::Ended => return Standing::Over,
                Halt::Decision => break,
                Halt::Budget | Halt::Reached if self.look.is_some() && self.is_done() => {
                    return Standing::Over;
                }
                Halt::Reached if self.look.is_some() && events(self) < most => {}
                Halt::Budget | Halt::Reached => return Standing::Goes,
            }
        }
        // The rest of the instant: other flows may be due.
        let now = self.run.engine.now();
        loop {
            match self.run.advance(u64::MAX, now) {
                Halt::Ended => return Standing::Over,
                Halt::Reached => return Standing::Waits,
                Halt::Budget | Halt::Decision => {}
            }
        }
    }

    /// What each flow has observed since its last decision: a row of [`Session::COLUMNS`] for each, one behind the
    /// other. Of flows that are not active all is 0 but the time.
    ///
    /// # Panics
    /// If `rows` is shorter.
    pub fn observe(&self, rows: &mut [f64]) {
        let now = self.run.engine.now();
        for (of, row) in self.flows.iter().zip(rows.chunks_exact_mut(Self::COLUMNS.len())) {
            row.fill(0.0);
            row[1] = now.secs();
            let Some(seen) = self.run.engine.interval(of.flow) else { continue };
            let floor = if seen.srtt.is_zero() { of.base_rtt } else { seen.rtt_floor };
            let usual = if seen.srtt.is_zero() { of.base_rtt } else { seen.srtt };
            let bytes = |bytes: Bytes| bytes.get() as f64;
            row.copy_from_slice(&[
                f64::from(u8::from(seen.due)),
                now.secs(),
                now.since(seen.since).secs(),
                bytes(seen.delivered),
                bytes(seen.sent),
                bytes(seen.lost()),
                bytes(seen.marked),
                bytes(seen.in_flight),
                seen.rtt_mean().unwrap_or(usual).secs(),
                seen.rtt_least.unwrap_or(usual).secs(),
                floor.secs(),
                f64::from(seen.losses),
                f64::from(seen.timeouts),
                bytes(seen.permit.window),
                seen.permit.pace.map_or(0.0, |pace| pace.bps() as f64),
            ]);
        }
    }

    /// Decides for the `nth` of [`Session::flows`], if it waits: a window in payload bytes, and a pace in bit/s (0:
    /// none). Not-a-number leaves either as it is. The controller keeps windows between a segment and the largest, and
    /// paces below the line's rate.
    ///
    /// # Panics
    /// If there are fewer flows.
    pub fn decide(&mut self, nth: usize, window: f64, pace: f64) {
        let Decided { flow, base_rtt, .. } = self.flows[nth];
        let Some(seen) = self.run.engine.interval(flow).filter(|seen| seen.due) else { return };
        let now = self.run.engine.now();
        let wake = match self.every {
            Every::RoundTrip if seen.srtt.is_zero() => now + base_rtt,
            Every::RoundTrip => now + seen.srtt,
            Every::Span(span) => {
                let span = span.ps().max(1);
                Time::from_ps((now.ps() / span + 1).saturating_mul(span))
            }
        };
        let before = seen.permit;
        let decided = Permit {
            window: if window.is_nan() { before.window } else { Bytes::new(window as u64) },
            pace: match pace {
                pace if pace.is_nan() => before.pace,
                pace => (pace > 0.0).then(|| Rate::from_bps(pace as u64)),
            },
            wake: Some(wake),
        };
        self.run.engine.decide(flow, decided);
    }
}

fn is_decided(spec: &NetworkSpec, flow: FlowId) -> bool {
    let transport = &spec.transports[usize::from(spec.flows[flow.at()].transport)];
    transport.controller().is_some_and(|controller| controller.needs().decided)
}

fn decided(run: &Run, flow: FlowId) -> Decided {
    let (engine, spec) = (&run.engine, run.engine.spec());
    let wire = spec.transports[usize::from(spec.flows[flow.at()].transport)].wire();
    let rates = engine.path(flow, true).into_iter().map(|port| spec.direction(port).mean_rate());
    let (there, back) =
        (engine.t_min(flow, true, wire.full()), engine.t_min(flow, false, wire.ack.unwrap_or(0)));
    Decided { flow, rate: rates.min().unwrap_or(Rate::ZERO), base_rtt: there + back, mss: wire.payload }
}
