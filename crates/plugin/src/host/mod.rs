//! The engine's end: opens a library and registers its controller, which from then on is one of a user's own
//! ([`thalweg_machines::congestion::custom`]).
//!
//! What goes wrong in it is kept for [`take_failure`], and the controller is not called again: a run ends between two
//! steps of the engine, never inside one.

mod native;

use crate::abi::{self, Sink, Table, Text};
use crate::{FlowId, Start, Time};
use native::{Native, text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use thalweg_machines::Invalid;
use thalweg_machines::congestion::custom::{
    ControllerFactory, Declared, Earliest, PluggedController, declare_controller, register_controller,
};
use thalweg_machines::plugin::{self, Failed, Made, has_failed};

/// The tables by name. Libraries are never closed: a controller may outlive its name's next registration.
static TABLES: Mutex<BTreeMap<String, Library>> = Mutex::new(BTreeMap::new());
/// Which controllers were made before, with which parameters: one that is refused later cannot be reported as an error
/// of the scenario.
static MADE: Mutex<BTreeSet<(String, Vec<u8>)>> = Mutex::new(BTreeSet::new());

/// What ended a run: whose controller, of which flow, when, in which call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The controller's name.
    pub name: String,
    /// The flow, unless it is not known: a saved state was read.
    pub flow: Option<FlowId>,
    /// The instant, if it was a callback.
    pub now: Option<Time>,
    /// Which call.
    pub doing: &'static str,
    /// What the library said.
    pub why: String,
}

/// The first failure on this thread since the last call, if it was a library's.
pub fn take_failure() -> Option<Failure> {
    plugin::take_failure()?.what.downcast().ok().map(|failure| *failure)
}

fn keep(failure: Failure) {
    plugin::fail(Failed { at: failure.now, what: Box::new(failure) });
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// A table that was looked through, and can be used in any thread for ever.
#[derive(Clone, Copy)]
struct Library(&'static Table);

// SAFETY: a table is constant, and its functions may be called from any thread, as its interface says.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    fn table(self) -> &'static Table {
        self.0
    }
}

/// Opens a library and registers its controller, if `allow` has nothing against the name; answers with it.
///
/// # Errors
/// It cannot be opened, is no library for thalweg, is for another version, or lacks a function; or the name is refused.
pub fn open(path: &Path, allow: impl FnOnce(&str) -> Result<(), String>) -> Result<String, String> {
    // SAFETY: the user named this library to be run; opening it runs its initialisers, as importing a module does.
    let opened = unsafe { libloading::Library::new(path) }.map_err(|e| format!("cannot be opened: {e}"))?;
    let opened = Box::leak(Box::new(opened));
    // SAFETY: the interface gives the symbol this type.
    let entry = unsafe { opened.get::<unsafe extern "C" fn() -> *const Table>(abi::SYMBOL) }
        .map_err(|_| "exports no `thalweg_plugin`: no controller for thalweg".to_owned())?;
    // SAFETY: as the interface says, the table is as old as the library, which is never closed.
    unsafe { register(entry(), allow) }
}

/// Registers the controller of a table, if `allow` has nothing against its name; answers with it.
///
/// # Errors
/// The table is of another version, or lacks a function; or the name is refused.
///
/// # Safety
/// The table is as [`abi`] describes it, and lives for ever.
pub unsafe fn register(
    table: *const Table,
    allow: impl FnOnce(&str) -> Result<(), String>,
) -> Result<String, String> {
    if table.is_null() {
        return Err("has no table".into());
    }
    // SAFETY: version and size are where every version has them.
    let (version, size) = unsafe { ((*table).version, (*table).size as usize) };
    if version != abi::VERSION {
        let ours = abi::VERSION;
        return Err(format!(
            "is made for version {version} of the interface, and this is version {ours}: rebuild it"
        ));
    }
    if size < size_of::<Table>() {
        return Err(format!(
            "has a table of {size} bytes, and {} are needed: rebuild it",
            size_of::<Table>()
        ));
    }
    // SAFETY: so many bytes are there.
    let table: &'static Table = unsafe { &*table };
    let needed = [
        ("make", table.make.is_some()),
        ("load", table.load.is_some()),
        ("save", table.save.is_some()),
        ("copy", table.copy.is_some()),
        ("free", table.free.is_some()),
        ("permit", table.permit.is_some()),
        ("on_ack", table.on_ack.is_some()),
        ("on_loss", table.on_loss.is_some()),
        ("on_timeout", table.on_timeout.is_some()),
    ];
    if let Some((lacking, _)) = needed.iter().find(|(_, there)| !there) {
        return Err(format!("lacks the function `{lacking}`"));
    }
    // SAFETY: the texts of a table are as old as it is.
    let (name, params) = unsafe { (table.name.bytes(), table.params.bytes()) };
    let name = std::str::from_utf8(name).map_err(|_| "has a name that is no text".to_owned())?;
    if name.is_empty() {
        return Err("has no name".into());
    }
    let params = match params {
        [] => None,
        list => Some(serde_json::from_slice(list).map_err(|e| format!("`params` of `{name}`: {e}"))?),
    };
    allow(name)?;
    held(&TABLES).insert(name.to_owned(), Library(table));
    held(&MADE).retain(|(of, _)| of != name);
    register_controller(name, ControllerFactory { make, load });
    let (ecn, telemetry) = (table.wants & abi::ECN != 0, table.wants & abi::TELEMETRY != 0);
    let ignores_restarts = table.restart_from.is_none();
    declare_controller(name, Declared { ecn, telemetry, serial: false, ignores_restarts, params });
    Ok(name.to_owned())
}

fn table(name: &str) -> Result<Library, Invalid> {
    let found = held(&TABLES).get(name).copied();
    found.ok_or_else(|| Invalid::from(format!("no library with a controller `{name}` is open")))
}

fn make(name: &str, start: &Start, params: &[u8]) -> Made<dyn PluggedController> {
    let library = table(name)?;
    if has_failed() {
        return Ok(Box::new(Native::of(name, library, start.flow, std::ptr::null_mut())));
    }
    let mut stream = start.stream;
    let it = abi::Start {
        seed: stream.bits(),
        initial_window: start.initial_window.get(),
        max_window: start.max_window.get(),
        initial_threshold: start.initial_threshold.get(),
        line_rate: start.line_rate.bps(),
        base_rtt_ps: start.base_rtt.ps(),
        time_quantum_ps: start.time_quantum.ps(),
        flow: start.flow.0,
        class: u32::from(start.class),
        mss: start.mss,
        header: start.header,
        switches: start.switches,
        reserved: 0,
    };
    let mut error = Vec::new();
    let new = library.table().make.expect("looked for when registered");
    // SAFETY: what it is shown is there during the call.
    let state = unsafe { new(&raw const it, Text::of(params), Sink::into_vec(&mut error)) };
    let mut made = Native::of(name, library, start.flow, state);
    let read = if state.is_null() { Err(text(error)) } else { made.read(Earliest::Unknown) };
    let key = (name.to_owned(), params.to_vec());
    match read {
        Ok(()) => {
            held(&MADE).insert(key);
        }
        // In the middle of a run the engine has no way to refuse a flow.
        Err(why) if held(&MADE).contains(&key) => made.fail(None, "make", why),
        Err(why) => return Err(Invalid::from(why)),
    }
    Ok(Box::new(made))
}

fn load(name: &str, saved: &[u8]) -> Made<dyn PluggedController> {
    let library = table(name)?;
    let (flow, saved) =
        saved.split_first_chunk().ok_or_else(|| Invalid::from("its saved state is cut short".to_owned()))?;
    let mut error = Vec::new();
    let back = library.table().load.expect("looked for when registered");
    // SAFETY: what it is shown is there during the call.
    let state = unsafe { back(Text::of(saved), Sink::into_vec(&mut error)) };
    let mut made = Native::of(name, library, FlowId(u32::from_le_bytes(*flow)), state);
    let read = if state.is_null() { Err(text(error)) } else { made.read(Earliest::Any) };
    match read {
        Ok(()) => Ok(Box::new(made)),
        // Who reads saved runs forgets why a part of one is refused; who looks for failures does not.
        Err(why) => {
            made.fail(None, "load", why.clone());
            Err(Invalid::from(why))
        }
    }
}
