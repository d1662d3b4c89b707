//! What machines written by users have in common: a name under which a factory is registered, parameters, and
//! saved state.
//!
//! The extension points are next to their contracts: [`crate::congestion::custom`],
//! [`crate::schedule::custom`]. State is data even here: a plug-in saves itself to bytes and a loader
//! registered under its name restores it, so runs with plug-ins can be cut, saved and resumed like any
//! other.

use crate::problems::Invalid;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::RwLock;
use thalweg_units::Time;

/// A plug-in, or why its factory refuses (a plain text will do: `Err("..".into())`).
pub type Made<T> = Result<Box<T>, Invalid>;

/// What a user's machine has failed with.
pub struct Failed {
    /// The instant of the call, if it was one of a run.
    pub at: Option<Time>,
    /// What the side that the machine is written for makes of it.
    pub what: Box<dyn Any + Send>,
}

thread_local! {
    static FAILED: RefCell<Option<Failed>> = const { RefCell::new(None) };
}

/// Keeps the first failure on this thread for [`take_failure`]. The contracts have no errors: a machine that has failed
/// is not called again, and the run ends between two steps of the engine, never inside one.
pub fn fail(failed: Failed) {
    FAILED.with_borrow_mut(|kept| {
        kept.get_or_insert(failed);
    });
}

/// Something has failed on this thread: no machine of a user's is called.
pub fn has_failed() -> bool {
    FAILED.with_borrow(Option::is_some)
}

/// The first failure on this thread since the last call.
pub fn take_failure() -> Option<Failed> {
    FAILED.with_borrow_mut(Option::take)
}

/// Something by name, for the whole process.
pub(crate) struct Registry<T>(RwLock<BTreeMap<String, T>>);

impl<T: Clone> Registry<T> {
    pub(crate) const fn new() -> Self {
        Self(RwLock::new(BTreeMap::new()))
    }
    /// A second registration replaces the first.
    pub(crate) fn insert(&self, name: &str, entry: T) {
        self.0.write().unwrap_or_else(|e| e.into_inner()).insert(name.to_owned(), entry);
    }
    pub(crate) fn remove(&self, name: &str) {
        self.0.write().unwrap_or_else(|e| e.into_inner()).remove(name);
    }
    pub(crate) fn get(&self, name: &str) -> Option<T> {
        self.0.read().unwrap_or_else(|e| e.into_inner()).get(name).cloned()
    }
    /// Sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.read().unwrap_or_else(|e| e.into_inner()).keys().cloned().collect()
    }
}

/// Clones, saves and loads a box with a user's machine in it like any other state; `$registry` knows who loads it.
macro_rules! boxed_state {
    ($wrapper:ident, $registry:expr) => {
        impl Clone for $wrapper {
            fn clone(&self) -> Self {
                Self(self.0.boxed_clone())
            }
        }
        impl std::fmt::Debug for $wrapper {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($wrapper), self.0.name())
            }
        }
        impl serde::Serialize for $wrapper {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (self.0.name(), self.0.save()).serialize(serializer)
            }
        }
        impl<'de> serde::Deserialize<'de> for $wrapper {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                let (name, saved): (String, Vec<u8>) = serde::Deserialize::deserialize(deserializer)?;
                let factory = $registry.get(&name).ok_or_else(|| {
                    D::Error::custom(format!("the saved run uses `{name}`, which is not registered here"))
                })?;
                (factory.load)(&name, &saved).map(Self).map_err(D::Error::custom)
            }
        }
    };
}
pub(crate) use boxed_state;

/// Any JSON; its text in binary formats.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Json(pub Value);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if s.is_human_readable() { self.0.serialize(s) } else { s.collect_str(&self.0) }
    }
}
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        if d.is_human_readable() {
            return Value::deserialize(d).map(Self);
        }
        let text = Cow::<'de, str>::deserialize(d)?;
        serde_json::from_str(&text).map(Self).map_err(serde::de::Error::custom)
    }
}
impl JsonSchema for Json {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}
