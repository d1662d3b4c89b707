//! What the module exports and imports: numbers and bytes in its memory, no more. `web/src/engine.ts` is the other
//! end.
//!
//! The page writes the scenario's text to where [`reserve`] says, calls [`run_text`], and reads the answer from
//! [`answer_at`], [`answer_len`].
#![cfg(target_arch = "wasm32")]

use std::cell::RefCell;
use thalweg_lab::Progress;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// How far the run is: simulated time and its end (s), events, flows complete, all flows.
    fn progress(now: f64, until: f64, events: f64, done: f64, flows: f64);
    /// A text in UTF-8 that says why the engine cannot go on. Does not come back: the page throws.
    fn failed(text: *const u8, len: usize);
}

thread_local! {
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for a text of so many bytes; where it is.
#[unsafe(no_mangle)]
extern "C" fn reserve(len: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        *text = vec![0; len];
        text.as_mut_ptr()
    })
}

/// Runs the scenario whose text was written.
#[unsafe(no_mangle)]
extern "C" fn run_text() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        // SAFETY: the page reads the text while it is here.
        unsafe { failed(text.as_ptr(), text.len()) }
    }));
    let text = String::from_utf8_lossy(&TEXT.take()).into_owned();
    let answer = crate::run(&text, &mut report);
    ANSWER.set(answer);
}

fn report(p: Progress) {
    let seconds = |ps: u64| ps as f64 * 1e-12;
    // SAFETY: numbers only.
    unsafe {
        let (done, flows) = (p.flows_done as f64, p.flows_total as f64);
        progress(seconds(p.now_ps), seconds(p.until_ps), p.events as f64, done, flows);
    }
}

/// Where the answer is.
#[unsafe(no_mangle)]
extern "C" fn answer_at() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// How long it is, in bytes.
#[unsafe(no_mangle)]
extern "C" fn answer_len() -> usize {
    ANSWER.with_borrow(String::len)
}
