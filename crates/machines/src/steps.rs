//! Steps of loops over what is out, missing or waiting, counted for tests: work per packet must not grow with
//! the window.

#[cfg(test)]
thread_local! {
    static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// So many more. Nothing outside tests.
#[inline(always)]
pub(crate) fn steps(_n: usize) {
    #[cfg(test)]
    TAKEN.set(TAKEN.get() + _n as u64);
}

/// How many `f` takes.
#[cfg(test)]
pub(crate) fn counted(f: impl FnOnce()) -> u64 {
    let before = TAKEN.get();
    f();
    TAKEN.get() - before
}
