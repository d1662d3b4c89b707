//! Long loading that Ctrl-C ends.
//!
//! The work is done by a thread of its own while this one waits and looks for signals. Work that does not
//! look at its flag is left behind, without waiting for it; what it needs of Python is done here ([`errands`]).

use crate::errands::{self, Errand};
use crate::failures;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use thalweg_machines::plugin;
use thalweg_scenario::Stop;

/// How long a key press may go unnoticed.
const LOOK: Duration = Duration::from_millis(25);
/// As much as the main thread has: graphs and tables nest.
const STACK: usize = 8 << 20;

/// What `work` gives, or the exception of a signal's handler, or what a controller written in Python raised.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let stop = Stop::default();
    let (home, mut errands) = channel::<Errand>();
    let theirs = stop.clone();
    let work = move || errands::away(home, || (work(&theirs), plugin::take_failure()));
    let thread = std::thread::Builder::new().name("thalweg-load".into()).stack_size(STACK).spawn(work)?;
    loop {
        let errand;
        (errand, errands) = py.detach(move || (errands.recv_timeout(LOOK), errands));
        let done = match errand {
            Ok(errand) => match errand(py) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(raised) => Err(raised),
            },
            Err(RecvTimeoutError::Timeout) => py.check_signals(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Err(raised) = done {
            stop.raise();
            return Err(raised);
        }
    }
    match py.detach(move || thread.join()) {
        Ok((value, failed)) => failed.map_or(Ok(value), |failed| Err(failures::error_of(failed))),
        // It panicked: our own bug, reported as on this thread.
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
