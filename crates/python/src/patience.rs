//! Long loading that Ctrl-C ends.
//!
//! The work is done by a thread of its own while this one waits and looks for signals. Work that does not
//! look at its flag is left behind, without waiting for it.

use crate::failures;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
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
    let (done, mut result) = channel();
    let theirs = stop.clone();
    let thread =
        std::thread::Builder::new().name("thalweg-load".into()).stack_size(STACK).spawn(move || {
            let value = work(&theirs);
            // The receiver is gone if the wait was given up.
            let _ = done.send((value, failures::raised()));
        })?;
    loop {
        let waited;
        (waited, result) = py.detach(move || (result.recv_timeout(LOOK), result));
        match waited {
            Ok((value, raised)) => return raised.map_or(Ok(value), Err),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    stop.raise();
                    return Err(signal);
                }
            }
            // It panicked: our own bug, reported as on this thread.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a thread that ends well has sent its result"),
            },
        }
    }
}
