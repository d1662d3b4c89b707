//! A port's state as data: the texts of its policies, from which they are compiled again, and the remaining state.

use super::super::engine::{Engine, SavedEngine};
use super::shared::{Member, Program};
use super::{Classifier, Params, Programmed};
use crate::schedule::Entry;
use serde::{Deserialize, Serialize};
use thalweg_policy::Misfit;
use thalweg_wire::Handle;

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    params: Params,
    limit: (u32, u64),
    salt: u64,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// With whether it has stopped, and whose turn it is; nothing: it is with another port of the switch.
    program: Option<(SavedEngine, bool, Vec<usize>)>,
    member: Option<Member>,
}

impl From<Programmed> for Saved {
    fn from(of: Programmed) -> Self {
        Self {
            limit: (of.max_packets, of.max_bytes),
            salt: of.classifier.salt,
            program: of.program.map(|program| (program.engine.save(), program.stopped, program.turns)),
            member: of.member.map(|member| *member),
            entries: of.entries,
            free: of.free,
            params: of.params,
        }
    }
}

impl TryFrom<Saved> for Programmed {
    type Error = Misfit;

    fn try_from(saved: Saved) -> Result<Self, Misfit> {
        let Saved { params, limit: (max_packets, max_bytes), salt, entries, free, program, member } = saved;
        let restored = |(engine, stopped, turns)| {
            Engine::restored(&engine, &params).map(|engine| Program { engine, stopped, turns })
        };
        let program = program.map(restored).transpose()?;
        let queues = params.versions().and_then(|all| Some(all.first()?.policy.queues().len()));
        let queues = queues.ok_or(Misfit)? as u32;
        let waiting = || entries.iter().filter(|entry| entry.handle != Handle::NONE);
        Ok(Self {
            packets: waiting().count() as u32,
            max_packets,
            bytes: waiting().map(|entry| u64::from(entry.wire)).sum(),
            max_bytes,
            classifier: Classifier { by: params.classify, value: params.value, queues, salt },
            entries,
            free,
            effects: Vec::new(),
            notified: Vec::new(),
            program,
            member: member.map(Box::new),
            params,
        })
    }
}
