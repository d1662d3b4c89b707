//! A controller's decisions as a record: every observation, and the permit after it.
//!
//! A controller is a function of its parameters, its [`Start`] and what it observes. A record holds all three, so that
//! a replay makes the same decisions wherever it was recorded: in a simulation, over QUIC, under the kernel's TCP.

use crate::congestion::{CongestionControl, Controller, ControllerSpec, Observation, Permit, Start};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use thalweg_units::FlowId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Magic number at the start of a file of records.
const MAGIC: &[u8; 16] = b"thalweg decided\n";
/// Version of the layout. It rises with every change of [`Observation`] or [`Permit`].
const LAYOUT: u32 = 3;

/// One observation, and the permit after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The call.
    pub observation: Observation,
    /// [`CongestionControl::permit`] after it.
    pub permit: Permit,
}

/// The record of one controller so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Log {
    // As JSON, which names the kind, so that other versions can read it.
    spec: String,
    start: Start,
    /// Pairs of an observation and the permit, the latter only if it changed, encoded one after the other.
    records: Vec<u8>,
    count: u64,
    /// Decisions that were taken out before the first of these.
    taken: u64,
    /// The permits before the first observation (`first`) and after the last one (`permit`).
    first: Permit,
    permit: Permit,
    digest: u64,
}

/// Why a record cannot be read or replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// It does not begin with the magic number.
    Foreign,
    /// It was written by another version, with this layout.
    Layout(u32),
    /// It is cut off or overwritten in the record of this flow, after this number of decisions.
    Record(FlowId, u64),
    /// It is cut off or overwritten between two records.
    File,
    /// Its controller cannot be made here, for this reason.
    Controller(String),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Foreign => write!(f, "it is no record of decisions"),
            Self::Layout(other) => write!(f, "it has layout {other}, this version reads layout {LAYOUT}"),
            Self::Record(flow, n) => {
                write!(f, "the record of flow {} is damaged after {n} decisions", flow.0)
            }
            Self::File => write!(f, "it is cut off"),
            Self::Controller(why) => write!(f, "its controller cannot be made: {why}"),
        }
    }
}

impl std::error::Error for Damage {}

impl Log {
    /// An empty record of a controller with these parameters, whose first permit is `permit`.
    pub fn new(spec: &ControllerSpec, start: &Start, permit: Permit) -> Self {
        let spec = serde_json::to_string(spec).expect("parameters are plain data");
        let mut log = Self {
            spec,
            start: *start,
            records: Vec::new(),
            count: 0,
            taken: 0,
            first: permit,
            permit,
            digest: 0,
        };
        log.sum(permit);
        log
    }

    /// The controller was called with `observation`; its permit is `permit` since.
    pub fn add(&mut self, observation: &Observation, permit: Permit) {
        let changed = (permit != self.permit).then_some(permit);
        let records = std::mem::take(&mut self.records);
        self.records = postcard::to_extend(&(observation, changed), records).expect("memory is enough");
        self.permit = permit;
        self.count += 1;
        self.sum(permit);
    }

    fn sum(&mut self, permit: Permit) {
        let Permit { window, pace, wake } = permit;
        let none = u64::MAX;
        let words = [window.get(), pace.map_or(none, |rate| rate.bps()), wake.map_or(none, |at| at.ps())];
        let mut bytes = [0; 24];
        bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        self.digest = xxh3_64_with_seed(&bytes, self.digest);
    }

    /// Takes out what was recorded since the last call.
    pub fn take(&mut self) -> Self {
        let taken = self.taken + self.count;
        let rest = Self {
            records: Vec::new(),
            count: 0,
            taken,
            first: self.permit,
            spec: self.spec.clone(),
            ..*self
        };
        std::mem::replace(self, rest)
    }

    /// Appends a piece that [`Self::take`] returned later.
    ///
    /// # Errors Returns the piece if it is of another controller or does not follow this one.
    pub fn append(&mut self, piece: Self) -> Result<(), Box<Self>> {
        let follows = (&self.spec, &self.start, self.taken + self.count, self.permit)
            == (&piece.spec, &piece.start, piece.taken, piece.first);
        if !follows {
            return Err(Box::new(piece));
        }
        self.records.extend(piece.records);
        self.count += piece.count;
        (self.permit, self.digest) = (piece.permit, piece.digest);
        Ok(())
    }

    /// The flow that the controller was made for.
    pub fn flow(&self) -> FlowId {
        self.start.flow
    }
    /// What it was made with.
    pub fn start(&self) -> &Start {
        &self.start
    }
    /// Its parameters.
    ///
    /// # Errors
    /// If this version does not know them.
    pub fn spec(&self) -> Result<ControllerSpec, Damage> {
        serde_json::from_str(&self.spec).map_err(|e| Damage::Controller(e.to_string()))
    }
    /// How many observations, those that were taken out not counted.
    pub fn len(&self) -> u64 {
        self.count
    }
    /// None yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Digest of all permits, including the first one and those that were taken out.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The decisions, as they were made; ends after the first that cannot be read.
    pub fn decisions(&self) -> Decisions<'_> {
        Decisions { log: self, rest: &self.records, count: 0, permit: self.first }
    }

    /// The same controller, given the same observations: how many decisions are the same, up to the first that is not.
    ///
    /// # Errors
    /// If the record is damaged or has no beginning, or its controller cannot be made.
    pub fn replay(&self) -> Result<Replayed, Damage> {
        if self.taken > 0 {
            return Err(Damage::Record(self.start.flow, 0));
        }
        let made = self.spec()?.make(&self.start);
        let mut controller: Controller = made.map_err(|e| Damage::Controller(e.to_string()))?;
        if controller.permit() != self.first {
            return Ok(Replayed { same: 0, differs: Some((None, self.first, controller.permit())) });
        }
        for (same, decision) in (0..).zip(self.decisions()) {
            let Decision { observation, permit } = decision?;
            observation.apply(&mut controller);
            let now = controller.permit();
            if now != permit {
                return Ok(Replayed { same, differs: Some((Some(observation), permit, now)) });
            }
        }
        Ok(Replayed { same: self.count, differs: None })
    }
}

/// See [`Log::decisions`].
pub struct Decisions<'a> {
    log: &'a Log,
    rest: &'a [u8],
    count: u64,
    permit: Permit,
}

impl Iterator for Decisions<'_> {
    type Item = Result<Decision, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return (self.count < self.log.count).then(|| {
                let at = std::mem::replace(&mut self.count, self.log.count);
                Err(Damage::Record(self.log.flow(), at))
            });
        }
        let Ok(((observation, changed), rest)) =
            postcard::take_from_bytes::<(Observation, Option<Permit>)>(self.rest)
        else {
            self.rest = &[];
            return self.next();
        };
        (self.rest, self.count) = (rest, self.count + 1);
        self.permit = changed.unwrap_or(self.permit);
        Some(Ok(Decision { observation, permit: self.permit }))
    }
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Number of decisions that are the same.
    pub same: u64,
    /// The first that is not: the observation (`None`: before any), the permit recorded and the one of now.
    pub differs: Option<(Option<Observation>, Permit, Permit)>,
}

/// The first decision that differs between two records; `None` if they are the same.
///
/// # Errors
/// If either is damaged before that.
pub fn difference(a: &Log, b: &Log) -> Result<Option<Difference>, Damage> {
    let alike = (&a.spec, &a.start, a.first) == (&b.spec, &b.start, b.first);
    let (mut of_a, mut of_b) = (a.decisions(), b.decisions());
    for after in 0.. {
        let decisions = [of_a.next().transpose()?, of_b.next().transpose()?];
        match &decisions {
            [None, None] if alike => break,
            [Some(one), Some(other)] if one == other => {}
            _ => return Ok(Some(Difference { alike, after, decisions })),
        }
    }
    Ok(None)
}

/// Where two records begin to differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The controllers were made alike: same parameters, same path, same random stream.
    pub alike: bool,
    /// Number of decisions that are the same.
    pub after: u64,
    /// The next of each; `None` where a record ends.
    pub decisions: [Option<Decision>; 2],
}

/// Records as a file.
pub fn write(logs: &[Log]) -> Vec<u8> {
    let out = [MAGIC.as_slice(), &LAYOUT.to_le_bytes()].concat();
    logs.iter().fold(out, |out, log| postcard::to_extend(log, out).expect("memory is enough"))
}

/// The records of a file, by flow. Pieces of one record are put together: a file may be written as they come.
///
/// # Errors If the file has another layout or is damaged.
pub fn read(file: &[u8]) -> Result<Vec<Log>, Damage> {
    let rest = file.strip_prefix(MAGIC.as_slice()).ok_or(Damage::Foreign)?;
    let (layout, mut rest) = rest.split_first_chunk().ok_or(Damage::File)?;
    let layout = u32::from_le_bytes(*layout);
    if layout != LAYOUT {
        return Err(Damage::Layout(layout));
    }
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (log, after) = postcard::take_from_bytes(rest).map_err(|_| Damage::File)?;
        pieces.push(log);
        rest = after;
    }
    join(pieces).map_err(|piece| Damage::Record(piece.flow(), piece.taken))
}

/// Records, by flow, of pieces that were taken one after the other.
///
/// # Errors Returns the first piece that follows no other.
pub fn join(pieces: impl IntoIterator<Item = Log>) -> Result<Vec<Log>, Box<Log>> {
    let mut logs = BTreeMap::<FlowId, Log>::new();
    for piece in pieces {
        match logs.entry(piece.flow()) {
            Entry::Occupied(log) => log.into_mut().append(piece)?,
            Entry::Vacant(place) if piece.taken == 0 => drop(place.insert(piece)),
            Entry::Vacant(_) => return Err(Box::new(piece)),
        }
    }
    Ok(logs.into_values().collect())
}
