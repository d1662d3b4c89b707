//! Runs whose controllers are decided from outside: many at a time, one crossing per decision of all of them.

use crate::failures;
use crate::patience::interruptible;
use crate::scenario::{Scenario, scenario_error};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard};
use thalweg_lab::{Every, Session, Standing};
use thalweg_units::Span;

/// Events between two looks at Ctrl-C.
const LOOK: u64 = 200_000;
/// Values of a decision: window, pace.
const VALUES: usize = 2;

fn every(ps: Option<u64>) -> Every {
    ps.map_or(Every::RoundTrip, |ps| Every::Span(Span::from_ps(ps)))
}

/// `(name, unit, meaning)` of what is observed of each flow.
#[pyfunction]
pub fn session_columns() -> Vec<(&'static str, &'static str, &'static str)> {
    Session::COLUMNS.to_vec()
}

/// A run at its first decision: what episodes begin with.
#[pyclass(frozen, module = "thalweg._core")]
pub struct Start {
    session: Mutex<Session>,
}

impl Start {
    fn new(session: Session) -> Self {
        Self { session: Mutex::new(session) }
    }

    /// Take the lock only while detached: the thread that holds it may need the interpreter (Python controllers).
    fn copy(&self) -> Session {
        self.session.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

#[pymethods]
impl Start {
    /// Of a scenario; decisions every so many picoseconds, or every round trip.
    #[staticmethod]
    #[pyo3(signature = (scenario, every_ps=None))]
    fn of(py: Python<'_>, scenario: &Scenario, every_ps: Option<u64>) -> PyResult<Self> {
        let scenario = scenario.inner.clone();
        let made = interruptible(py, move |stop| Session::new(stop, &scenario, every(every_ps)))?;
        let mut session = made.map_err(|d| scenario_error(py, &[d]))?;
        loop {
            let standing = py.detach(|| session.advance(LOOK));
            failures::raise(py)?;
            py.check_signals()?;
            match standing {
                Standing::Goes => {}
                Standing::Waits => return Ok(Self::new(session)),
                Standing::Over => {
                    return Err(PyValueError::new_err("the run ends before a first decision is due"));
                }
            }
        }
    }

    /// From the bytes of [`Sessions::save`].
    #[staticmethod]
    #[pyo3(signature = (saved, every_ps=None))]
    fn load(py: Python<'_>, saved: &[u8], every_ps: Option<u64>) -> PyResult<Self> {
        let session = py.detach(|| Session::load(saved, every(every_ps)));
        failures::raise(py)?;
        Ok(Self::new(session.map_err(PyValueError::new_err)?))
    }

    /// `(number, rate in bit/s, base round trip in seconds, segment in bytes)` of every flow that is decided.
    fn flows(&self, py: Python<'_>) -> Vec<(u32, f64, f64, u32)> {
        let session = py.detach(|| self.copy());
        let flows = session.flows().iter();
        flows.map(|of| (of.flow.0, of.rate.bps() as f64, of.base_rtt.secs(), of.mss)).collect()
    }
}

/// Episodes under way, each a run of its own.
#[pyclass(frozen, module = "thalweg._core")]
pub struct Sessions {
    sessions: Mutex<Vec<Session>>,
    threads: usize,
}

impl Sessions {
    /// As [`Start::copy`].
    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        self.sessions.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        at: usize,
        f: impl Send + FnOnce(&mut Session) -> T,
    ) -> PyResult<T> {
        let done = py.detach(|| self.lock().get_mut(at).map(f));
        failures::raise(py)?;
        done.ok_or_else(|| PyIndexError::new_err(format!("there is no session {at}")))
    }
}

#[pymethods]
impl Sessions {
    /// One of each start; `threads` of them go on at a time.
    #[new]
    fn new(py: Python<'_>, starts: Vec<Py<Start>>, threads: usize) -> PyResult<Self> {
        let sessions: Vec<Session> = py.detach(|| starts.iter().map(|start| start.get().copy()).collect());
        failures::raise(py)?;
        if sessions.windows(2).any(|pair| pair[0].flows().len() != pair[1].flows().len()) {
            return Err(PyValueError::new_err(
                "the sessions have different numbers of flows that are decided",
            ));
        }
        Ok(Self { sessions: Mutex::new(sessions), threads: threads.max(1) })
    }

    /// One of them begins anew.
    fn begin(&self, py: Python<'_>, at: usize, start: Py<Start>) -> PyResult<()> {
        self.with(py, at, move |session| {
            let new = start.get().copy();
            let fits = new.flows().len() == session.flows().len();
            if fits {
                *session = new;
            }
            fits
        })?
        .then_some(())
        .ok_or_else(|| PyValueError::new_err("it has another number of flows that are decided"))
    }

    /// Decides for all flows that wait, and goes on to the next decision of each session.
    ///
    /// `decisions`: window and pace of every flow of every session (float64), where `goes` (uint8, one per session) is
    /// not 0; the others stay. Then `goes` says which sessions wait for a decision: 1, and 0 which are over.
    fn step(&self, py: Python<'_>, decisions: Bound<'_, PyAny>, goes: Bound<'_, PyAny>) -> PyResult<()> {
        let decisions = PyBuffer::<f64>::get(&decisions)?.to_vec(py)?;
        let (mut standing, given) = opened::<u8>(py, &goes)?;
        py.detach(|| {
            let mut sessions = self.lock();
            let flows = sessions.first().map_or(0, |session| session.flows().len());
            if standing.len() != sessions.len() || decisions.len() != sessions.len() * flows * VALUES {
                let wanted = format!("{} sessions of {flows} flows", sessions.len());
                let got = format!("{} and {}", standing.len(), decisions.len());
                return Err(PyValueError::new_err(format!("values for {wanted} are wanted, not {got}")));
            }
            for ((session, goes), of) in
                sessions.iter_mut().zip(&standing).zip(decisions.chunks(flows.max(1) * VALUES))
            {
                for (nth, one) in of.chunks_exact(VALUES).enumerate().filter(|_| *goes != 0) {
                    session.decide(nth, one[0], one[1]);
                }
            }
            Ok(())
        })?;
        let mut going: Vec<bool> = standing.iter().map(|goes| *goes != 0).collect();
        while going.contains(&true) {
            py.detach(|| advance(&mut self.lock(), &mut going, &mut standing, self.threads))?;
            py.check_signals()?;
        }
        given.copy_from_slice(py, &standing)
    }

    /// Writes what every flow of every session has observed since its last decision (float64): a row of
    /// `session_columns` each.
    fn observe(&self, py: Python<'_>, rows: Bound<'_, PyAny>) -> PyResult<()> {
        let (mut values, given) = opened::<f64>(py, &rows)?;
        py.detach(|| {
            let sessions = self.lock();
            let flows = sessions.first().map_or(0, |session| session.flows().len());
            let each = flows * Session::COLUMNS.len();
            if values.len() != each * sessions.len() {
                return Err(PyValueError::new_err(format!("{} values are wanted", each * sessions.len())));
            }
            sessions.iter().zip(values.chunks_mut(each.max(1))).for_each(|(s, rows)| s.observe(rows));
            Ok(())
        })?;
        given.copy_from_slice(py, &values)
    }

    /// Hash of the event order and the results of one of them so far.
    fn digest(&self, py: Python<'_>, at: usize) -> PyResult<u64> {
        self.with(py, at, |session| session.run().digest())
    }

    /// Whether all its decided flows are complete.
    fn is_done(&self, py: Python<'_>, at: usize) -> PyResult<bool> {
        self.with(py, at, |session| session.is_done())
    }

    /// Everything that one of them knows, as bytes.
    fn save<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.with(py, at, |session| session.save())?))
    }

    /// One of them as an episode's beginning.
    fn start(&self, py: Python<'_>, at: usize) -> PyResult<Start> {
        self.with(py, at, |session| Start::new(session.clone()))
    }
}

/// The values of a writable array, and the array.
fn opened<T: Element>(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<(Vec<T>, PyBuffer<T>)> {
    let buffer = PyBuffer::<T>::get(array)?;
    Ok((buffer.to_vec(py)?, buffer))
}

/// Takes the sessions that are going further, some at a time: where they stand, and which still go.
fn advance(
    sessions: &mut [Session],
    going: &mut [bool],
    standing: &mut [u8],
    threads: usize,
) -> PyResult<()> {
    let each = sessions.len().div_ceil(threads).max(1);
    if each >= sessions.len() {
        return advance_some(sessions, going, standing);
    }
    let chunks = sessions.chunks_mut(each).zip(going.chunks_mut(each)).zip(standing.chunks_mut(each));
    std::thread::scope(|scope| {
        let running: Vec<_> = chunks
            .map(|((sessions, going), standing)| scope.spawn(move || advance_some(sessions, going, standing)))
            .collect();
        let ends = running.into_iter().map(|one| one.join().unwrap_or_else(|p| std::panic::resume_unwind(p)));
        ends.collect()
    })
}

/// The same of some, on this thread.
fn advance_some(sessions: &mut [Session], going: &mut [bool], standing: &mut [u8]) -> PyResult<()> {
    for ((session, going), standing) in sessions.iter_mut().zip(going).zip(standing).filter(|((_, g), _)| **g)
    {
        let now = session.advance(LOOK);
        *going = now == Standing::Goes;
        *standing = u8::from(now != Standing::Over);
        // Where a controller written in Python has raised, on this thread.
        failures::raised().map_or(Ok(()), Err)?;
        if let Some(law) = session.run().violation() {
            return Err(PyRuntimeError::new_err(law.to_owned()));
        }
    }
    Ok(())
}
