//! Work that may panic, because controllers do.

use crate::call::{self, Impossible};
use crate::error::Cause;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Performs work in which controllers are called.
///
/// # Errors
/// A controller panicked, or allows what no controller may; or something else panicked.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, Cause> {
    call::take();
    // What a panic leaves behind is dropped unread.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let Some(call) = call::take() else {
            return Cause::Run(format!("the simulator panicked: {}", message(&*panic)));
        };
        match panic.downcast::<Impossible>() {
            Ok(impossible) => Cause::Impossible { call, reason: impossible.0 },
            Err(panic) => Cause::Panicked { call, message: message(&*panic) },
        }
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").split_whitespace().collect::<Vec<_>>().join(" ")
}
