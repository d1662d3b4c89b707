//! What Python has to do for a thread that may be left behind: the thread that waits for it does it.
//!
//! A thread that is inside the interpreter when the process ends is unwound by it, through our frames, which aborts the
//! process. So a thread of [`crate::patience`] never enters the interpreter. What it needs from there, a controller's
//! `__init__`, is run by the thread that waits, where Ctrl-C ends it as it ends any Python code. A thread that waits no
//! longer has nothing more done.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::mpsc::{Sender, channel};

/// One piece of work; what ends the wait, if anything.
pub type Errand = Box<dyn FnOnce(Python<'_>) -> ControlFlow<PyErr> + Send>;

thread_local! {
    /// Where the errands of this thread go: it may be left behind.
    static HOME: RefCell<Option<Sender<Errand>>> = const { RefCell::new(None) };
}

/// Runs `work`, whose errands go to `home`.
pub fn away<T>(home: Sender<Errand>, work: impl FnOnce() -> T) -> T {
    HOME.set(Some(home));
    let value = work();
    // The last sender: who waits sees that nothing more comes.
    HOME.set(None);
    value
}

/// Runs `work` with the interpreter, here or where someone waits for this thread: its value and what Python raised
/// meanwhile. What is no `Exception`, as Ctrl-C, ends the wait. `None`: it has ended.
pub fn in_python<T: Send + 'static>(
    work: impl FnOnce(Python<'_>) -> (T, Option<PyErr>) + Send + 'static,
) -> Option<(T, Option<PyErr>)> {
    let Some(home) = HOME.with_borrow(Clone::clone) else { return Some(Python::attach(work)) };
    let (reply, answer) = channel();
    let errand = move |py: Python<'_>| {
        let (value, raised) = work(py);
        if let Some(ends) = raised.as_ref().filter(|e| !e.is_instance_of::<PyException>(py)) {
            return ControlFlow::Break(ends.clone_ref(py));
        }
        // The thread waits for nothing else.
        let _ = reply.send((value, raised));
        ControlFlow::Continue(())
    };
    home.send(Box::new(errand)).ok()?;
    answer.recv().ok()
}

/// Runs `work` with the interpreter on this thread, which is never left behind.
pub fn attach<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    debug_assert!(
        HOME.with_borrow(Option::is_none),
        "a thread that may be left behind enters the interpreter"
    );
    Python::attach(work)
}
