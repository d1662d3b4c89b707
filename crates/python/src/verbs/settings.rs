//! Settings of a pair by name: Python's values in, `Setup` and `Path` out. Defaults are the engine's.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::{BTreeMap, VecDeque};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Span;
use thalweg_verbs::pair::{Fate, Kind, Pair, Path};
use thalweg_verbs::wire::{Dialect, RnrTimer};
use thalweg_verbs::{Retry, Setup};

/// Times above this would come too near to the end of simulated time.
const LONGEST: Span = Span::from_secs(1000);
/// What a schedule says of a packet that does not arrive.
const LOST: &str = "lost";

/// Names that people use for choices.
pub const DIALECTS: [(&str, Dialect); 2] = [("irn", Dialect::Irn), ("roce", Dialect::Roce)];

/// A `thalweg.ScenarioError`: what is wrong, and the nearest of the words that would fit.
pub fn refuse(py: Python<'_>, reason: &str, word: &str, known: &[&str]) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let errors = py.import("thalweg.errors")?;
        let hint = errors.getattr("nearest")?.call1((word, known.to_vec()))?;
        let named = PyDict::new(py);
        named.set_item("hint", hint)?;
        Ok(PyErr::from_value(errors.getattr("refuse")?.call((reason,), Some(&named))?))
    };
    build().unwrap_or_else(|e| e)
}

/// One of several words.
pub fn choice<T: Copy>(py: Python<'_>, what: &str, word: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        refuse(py, &format!("no {what} is called `{word}`"), word, &names)
    })
}

fn wrong(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    refuse(value.py(), &format!("{name} = {value}: must be {expected}"), "", &[])
}

/// A whole number up to `most`.
fn whole(name: &str, value: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
    let found = value.extract::<u64>().ok().filter(|n| *n <= most);
    found.ok_or_else(|| wrong(name, value, &format!("a whole number, 0 to {most}")))
}

fn small(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole(name, value, u64::from(u32::MAX)).map(|n| n as u32)
}

fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Psn> {
    whole(name, value, 0xff_ffff).map(|n| Psn::new(n as u32))
}

/// A time with its unit, or picoseconds.
pub fn span(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Span> {
    let found = match value.extract::<String>() {
        Ok(text) => text.parse::<Span>().map_err(|e| refuse(value.py(), &format!("{name}: {e}"), "", &[]))?,
        Err(_) => Span::from_ps(whole(name, value, u64::MAX)?),
    };
    if found <= LONGEST { Ok(found) } else { Err(wrong(name, value, "at most 1000 s")) }
}

/// One of the 32 pauses that InfiniBand has codes for.
fn rnr_timer(name: &str, value: &Bound<'_, PyAny>) -> PyResult<RnrTimer> {
    RnrTimer::exactly(span(name, value)?).map_err(|near| {
        let near: Vec<String> = near.into_iter().flatten().map(|timer| timer.delay().to_string()).collect();
        let expected =
            format!("one of the 32 pauses of InfiniBand's RNR timer; the nearest: {}", near.join(" and "));
        wrong(name, value, &expected)
    })
}

fn share(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract::<f64>().map_err(|_| wrong(name, value, "a number from 0 to 1"))
}

/// `"lost"`, a delay, or the delays of several copies.
fn fate(value: &Bound<'_, PyAny>) -> PyResult<Fate> {
    if value.extract::<String>().is_ok_and(|text| text == LOST) {
        return Ok(vec![]);
    }
    match value.cast::<PyList>() {
        Ok(copies) => copies.iter().map(|delay| span("schedule", &delay)).collect(),
        Err(_) => span("schedule", value).map(|delay| vec![delay]),
    }
}

/// `{("request", 3): ["lost", "12us"]}`: what happens to the first, second, ... packet of this kind and number.
fn schedule(value: &Bound<'_, PyAny>) -> PyResult<BTreeMap<(Kind, u32), VecDeque<Fate>>> {
    let expected = "{(kind, number): [fate, ...]}, a fate being \"lost\", a time or a list of times";
    let shape = |_| wrong("schedule", value, expected);
    let mut found = BTreeMap::new();
    for (key, fates) in value.cast::<PyDict>().map_err(|_| shape(()))? {
        let (kind, psn) = key.extract::<(String, Bound<'_, PyAny>)>().map_err(|_| shape(()))?;
        let kind = choice(value.py(), "kind of packet", &kind, &Kind::NAMES)?;
        let psn = number("schedule", &psn)?.value();
        let fates = fates.cast::<PyList>().map_err(|_| shape(()))?;
        found.insert((kind, psn), fates.iter().map(|f| fate(&f)).collect::<PyResult<_>>()?);
    }
    Ok(found)
}

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    pub setup: Setup,
    pub path: Path,
    pub packet_time: Span,
}

/// Settings by name, with what they are by default, for documentation and errors.
pub fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let Settings { setup, path, packet_time } = Settings::default();
    let dialect = DIALECTS.iter().find(|(_, dialect)| *dialect == setup.dialect).map(|(name, _)| *name);
    let found = PyDict::new(py);
    found.set_item("dialect", dialect)?;
    found.set_item("mtu", setup.mtu)?;
    found.set_item("cap", setup.cap)?;
    found.set_item("rto_low", setup.rto_low.ps())?;
    found.set_item("rto_high", setup.rto_high.ps())?;
    found.set_item("low_in_flight", setup.low_in_flight)?;
    found.set_item("min_rnr_timer", setup.retry.min_rnr_timer.delay().ps())?;
    found.set_item("rnr_retry", setup.retry.rnr_retry)?;
    found.set_item("refusals", setup.retry.refusals)?;
    found.set_item("read_slots", setup.read_slots)?;
    found.set_item("credits", setup.initial_credits)?;
    found.set_item("shared_receives", setup.shared_receives)?;
    found.set_item("first_request", setup.first_request.value())?;
    found.set_item("first_response", setup.first_response.value())?;
    found.set_item("delay", path.delay.ps())?;
    found.set_item("loss", path.loss)?;
    found.set_item("repeat", path.repeat)?;
    found.set_item("jitter", path.jitter.ps())?;
    found.set_item("seed", path.seed)?;
    found.set_item("schedule", PyDict::new(py))?;
    found.set_item("packet_time", packet_time.ps())?;
    Ok(found)
}

impl Default for Settings {
    fn default() -> Self {
        Self { setup: Setup::default(), path: Path::default(), packet_time: Pair::PACKET_TIME }
    }
}

impl Settings {
    /// The defaults, but for what `given` says.
    pub fn read(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut all = Self::default();
        for (name, value) in given {
            all.set(&name.extract::<String>()?, &value)?;
        }
        Ok(all)
    }

    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Self { setup, path, packet_time } = self;
        match name {
            "dialect" => {
                let word = value.str()?.to_string();
                setup.dialect = choice(value.py(), "dialect", &word, &DIALECTS)?;
            }
            "mtu" => setup.mtu = small(name, value)?,
            "cap" => setup.cap = small(name, value)?,
            "rto_low" => setup.rto_low = span(name, value)?,
            "rto_high" => setup.rto_high = span(name, value)?,
            "low_in_flight" => setup.low_in_flight = small(name, value)?,
            "min_rnr_timer" => setup.retry.min_rnr_timer = rnr_timer(name, value)?,
            "rnr_retry" => setup.retry.rnr_retry = whole(name, value, u64::from(Retry::FOR_EVER))? as u8,
            "refusals" => setup.retry.refusals = small(name, value)?,
            "read_slots" => setup.read_slots = small(name, value)?,
            "credits" => setup.initial_credits = small(name, value)?,
            "shared_receives" => {
                setup.shared_receives = value.extract().map_err(|_| wrong(name, value, "True or False"))?;
            }
            "first_request" => setup.first_request = number(name, value)?,
            "first_response" => setup.first_response = number(name, value)?,
            "delay" => path.delay = span(name, value)?,
            "loss" => path.loss = share(name, value)?,
            "repeat" => path.repeat = share(name, value)?,
            "jitter" => path.jitter = span(name, value)?,
            "seed" => path.seed = whole(name, value, u64::MAX)?,
            "schedule" => path.schedule = schedule(value)?,
            // Without it ends that answer each other at once could stop time.
            "packet_time" => match span(name, value)? {
                Span::ZERO => return Err(wrong(name, value, "above 0")),
                time => *packet_time = time,
            },
            _ => {
                let known = defaults(value.py())?.keys().extract::<Vec<String>>()?;
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(refuse(value.py(), &format!("no setting is called `{name}`"), name, &known));
            }
        }
        Ok(())
    }
}
