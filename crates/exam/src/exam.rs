//! An exam as it is put together.

use crate::contained::contained;
use crate::error::{Cause, Error};
use crate::examined::{Registered, short_name};
use crate::files::Files;
use crate::report::Report;
use crate::running::{Done, Job, perform};
use crate::situation::Situation;
use crate::situations::{all, chosen};
use std::num::NonZero;
use std::thread::available_parallelism;
use thalweg_machines::congestion::{CongestionControl, Start};
use thalweg_scenario::{Scenario, load, nearest};

/// A controller, the situations that it goes through, and what it is compared with there.
///
/// ```
/// use thalweg_exam::Exam;
///
/// let exam = Exam::of_built_in("vegas").against(["cubic"]).situations(["vs-*", "incast"]);
/// let report = exam.threads(2).run()?;
/// assert_eq!(report.controllers(), ["vegas", "cubic"]);
/// assert!(report["vs-cubic"].share < 0.5); // Vegas yields to who fills the buffer
/// # Ok::<(), thalweg_exam::Error>(())
/// ```
#[must_use = "an exam is held when it is run"]
pub struct Exam {
    name: String,
    spec: Spec,
    against: Vec<String>,
    situations: Vec<String>,
    set: Vec<(String, String)>,
    ecn: bool,
    telemetry: bool,
    threads: Option<NonZero<usize>>,
}

/// The controller examined.
enum Spec {
    Own(Registered),
    /// As scenarios write it.
    BuiltIn(String),
}

impl Exam {
    /// Of a controller of your own; `make` makes one for every flow that starts.
    pub fn of<C, F>(make: F) -> Self
    where
        C: CongestionControl + Clone + Send + Sync + 'static,
        F: Fn(&Start) -> C + Send + Sync + 'static,
    {
        Self::new(short_name::<C>().to_owned(), Spec::Own(Registered::new(make)))
    }

    /// Of one that scenarios know: by its name (`cubic`), or as they write it (`{ kind = "copa", delta = 0.1 }`).
    pub fn of_built_in(controller: impl Into<String>) -> Self {
        let controller = controller.into();
        Self::new(controller.clone(), Spec::BuiltIn(controller))
    }

    fn new(name: String, spec: Spec) -> Self {
        Self {
            name,
            spec,
            against: Vec::new(),
            situations: Vec::new(),
            set: Vec::new(),
            ecn: false,
            telemetry: false,
            threads: None,
        }
    }

    /// What the controller is called in the report; without this the name of its type.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// These go through the same situations, to compare with; as in [`Exam::of_built_in`]. Without this there is none.
    pub fn against<S: Into<String>>(mut self, controllers: impl IntoIterator<Item = S>) -> Self {
        self.against = controllers.into_iter().map(Into::into).collect();
        self
    }

    /// Only these: names, or patterns with `*` and `?`. Without this [all](crate::situations::all).
    pub fn situations<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.situations = names.into_iter().map(Into::into).collect();
        self
    }

    /// Changes a key of every scenario (dotted, with a TOML value or a bare word), for the controller examined alone:
    /// what it needs of switches, options of TCP. The last word on a key counts.
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.set.push((key.into(), value.into()));
        self
    }

    /// A controller of your own uses ECN marks: its packets are ECN-capable, where something marks.
    pub fn uses_marks(mut self) -> Self {
        self.ecn = true;
        self
    }

    /// A controller of your own uses the telemetry that switches write into packets.
    pub fn uses_telemetry(mut self) -> Self {
        self.telemetry = true;
        self
    }

    /// How many runs are under way at once; without this as many as there are cores. Nothing of the report depends
    /// on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = NonZero::new(threads);
        self
    }

    /// Holds it.
    ///
    /// # Errors
    /// [`Error`]: it cannot be held. A run that fails is a row of the report.
    pub fn run(&self) -> Result<Report, Error> {
        self.run_with(|_| {})
    }

    /// Holds it, and reports every run as it ends, in whichever order they do, to this thread.
    ///
    /// ```
    /// use thalweg_exam::{Done, Exam};
    ///
    /// let exam = Exam::of_built_in("fixed").situations(["incast", "policer"]);
    /// let mut seen = 0;
    /// exam.run_with(|done: Done<'_>| {
    ///     seen += 1;
    ///     println!("{}/{}: {} {}", done.finished, done.all, done.row.situation, done.row.controller);
    /// })?;
    /// assert_eq!(seen, 2);
    /// # Ok::<(), thalweg_exam::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Exam::run`].
    pub fn run_with(&self, mut progress: impl FnMut(Done<'_>)) -> Result<Report, Error> {
        let situations = chosen(&self.situations).map_err(|name| {
            let nearest = nearest(&name, all().iter().map(|s| s.name.as_str())).map(str::to_owned);
            Error::UnknownSituation { name, nearest }
        })?;
        if let Spec::Own(own) = &self.spec {
            own.declare(self.ecn, self.telemetry);
        }
        let files = Files::new()?;
        let candidates = self.candidates();
        let mut jobs = Vec::with_capacity(situations.len() * candidates.len());
        for situation in situations {
            for candidate in &candidates {
                jobs.push(candidate.job(situation, &files)?);
            }
        }
        let cores = || available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let threads = self.threads.unwrap_or_else(cores);
        let rows = perform(&jobs, threads.get(), &mut progress);
        Ok(Report { controllers: candidates.into_iter().map(|c| c.name).collect(), rows })
    }

    /// The one examined first; names are unique.
    fn candidates(&self) -> Vec<Candidate> {
        let (spec, is_plain) = match &self.spec {
            Spec::Own(own) => {
                let name = toml::Value::from(own.name.as_str());
                (format!("{{ kind = \"custom\", name = {name} }}"), None)
            }
            Spec::BuiltIn(spec) => (spec.clone(), Some(spec).filter(|_| self.set.is_empty())),
        };
        let mut others: Vec<&String> = Vec::new();
        for other in &self.against {
            if Some(other) != is_plain && !others.contains(&other) {
                others.push(other);
            }
        }
        let mut name = self.name.clone();
        if others.contains(&&name) {
            name.push('*'); // the same with other settings, or another of the same name
        }
        let others = others.into_iter();
        let others = others.map(|o| Candidate { name: o.clone(), spec: o.clone(), set: Vec::new() });
        std::iter::once(Candidate { name, spec, set: self.set.clone() }).chain(others).collect()
    }
}

/// One controller with what is set for it.
struct Candidate {
    name: String,
    spec: String,
    set: Vec<(String, String)>,
}

impl Candidate {
    fn job(&self, situation: &'static Situation, files: &Files) -> Result<Job, Error> {
        let controller = self.name.clone();
        let scenario = match contained(|| self.scenario(situation, files)) {
            Ok(Ok(scenario)) => Ok(scenario),
            Ok(Err(error)) => return Err(error),
            Err(cause) => Err::<Scenario, Cause>(cause),
        };
        Ok(Job { situation, controller, scenario })
    }

    fn scenario(&self, situation: &Situation, files: &Files) -> Result<Scenario, Error> {
        let mut set = vec![("transport.congestion".to_owned(), self.spec.clone())];
        set.extend(self.set.iter().cloned());
        load(&situation.text, &format!("situation {}", situation.name), files.folder(), &set).map_err(
            |diagnostics| Error::Unfit {
                controller: self.name.clone(),
                situation: situation.name.clone(),
                diagnostics,
            },
        )
    }
}
