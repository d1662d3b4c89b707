//! A policy of the OpenQueue language as the queue of a port. Menikkumbura, "Software-Defined Buffer Management and
//! Robust Congestion Control for Modern Datacenter Networks", Purdue University 2022, Chapter 2.
//!
//! The policy decides everything: which queue a packet joins, whether it is admitted, which packet is dropped for it,
//! whether it is marked, and which packet leaves. Its decisions are bytecode that all ports share; its state is the
//! port's. Packets of all kinds join it alike; `switch.control_first` lets control packets pass it.
//!
//! ```text
//! CHOICE OpenQueue §2.3.1 (fields): `TOS` is the traffic class; `value`, which an application writes, is 255 less the
//! class, or the negative of the rank header; `processing` is the rank header, so that srpt serves flows by what is
//! left of them (pFabric), up to 2³² − 1 bytes; `slack` is what the slack header has left. Other reading: headers of
//! their own.
//! CHOICE OpenQueue §2.3.1 (slack): a packet whose slack is used up has none left. Other reading: less than none.
//! CHOICE OpenQueue §2.3.1 (mark): CE on ECN-capable packets; others pass as they are, as RFC 8257 §3.1 has it. Other
//! reading: they are dropped.
//! CHOICE OpenQueue §2.3.1 (notify): a CNP from the switch to the source of the packet's flow at that instant, one for
//! each `notify`, whichever part it is of; of data only, as ACKs, CNPs and set-up have no rate to reduce. How often a
//! sender is notified is the policy's business (states). Other readings: at most one per flow and time, as DCQCN's
//! receivers have it; a pause for the neighbour.
//! CHOICE OpenQueue §2.3.1: packets leave by transmission. Processing in cycles is for processors, not for links.
//! ```
//!
//! A policy that cannot go on (a state of more than 64 bits) ends the run ([`Stopped`]). Until that is seen it drops
//! what arrives, and what waits leaves.

mod check;
mod engine;
mod port;
mod ports;
mod text;

pub use port::{Elsewhere, Program, Programmed, Stopped};
pub use text::{Compiled, File, Text};

use super::{Around, At, Key, Limit, Machine, Manages, Needs, Parameters, Problems, QUEUE};
use crate::problems::{Invalid, Mistake};
use crate::stage::{Acts, StageSpec};
use ports::Ports;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_policy::normal::expression::PacketField;
use thalweg_units::{Span, mix64};

/// A policy of the OpenQueue language (Menikkumbura, Purdue University 2022, Chapter 2): queues with orders of
/// admission and of processing, a scheduler over them, conditions with actions. The policy alone says how much waits.
/// One of one port is run by each port of a switch, one of several by all of them together: they share its buffers, and
/// its first port is the switch's port of the lowest number. Each has all of its link. `TOS` is the traffic class,
/// `dst` the number of the host, `flow` that of the flow, `size` the bytes on the wire, `slack` what `[slack]` has left
/// of it, at least 0.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The policy's file, relative to the scenario.
    #[schemars(extend("examples" = ["fifo.oq"]))]
    pub file: Option<File>,
    /// The policy itself, instead of a file.
    #[schemars(extend("examples" = ["q = Queue(64 pkts); out = Port(q);"]))]
    pub text: Option<Text>,
    /// Which of the policy's queues a packet joins, unless its port has a `queueSelect`.
    pub classify: Classify,
    /// The meaning of the packet field `value`.
    pub value: Value,
    /// The meaning of the packet field `processing`, in bytes, up to 4.29 GB (2³² − 1 bytes).
    pub processing: Work,
    /// Policies that replace it during the run, in order of time. They must have the same queues. Packets that wait at
    /// a change leave first, in their old order, and occupy the buffer until then.
    pub changes: Vec<Change>,
}

/// Which of a policy's queues a packet joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Classify {
    /// That of its traffic class: class 0 joins the queue that is declared first.
    #[default]
    Class,
    /// One for each flow, by a hash of the flow's number.
    Flow,
}

/// The value of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// 255 less the traffic class: class 0 is worth most.
    #[default]
    Class,
    /// The negative of the rank that senders write: the lowest rank has the highest value.
    Rank,
}

/// The processing requirement of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Bytes of the flow that are not yet acknowledged.
    #[default]
    Remaining,
    /// The flow's size.
    FlowSize,
}

/// A change to another policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The time of the change.
    #[schemars(extend("examples" = ["1ms"]))]
    pub at: Span,
    /// The new policy's file, relative to the scenario.
    #[schemars(extend("examples" = ["fifo.oq"]))]
    pub file: Option<File>,
    /// The new policy itself, instead of a file.
    #[schemars(extend("examples" = ["q = Queue(64 pkts); out = Port(q);"]))]
    pub text: Option<Text>,
    /// At which ports, by number as the table `ports` has them; all if not given.
    #[schemars(extend("examples" = [[4, 5]]))]
    pub ports: Option<Vec<u32>>,
}

/// What was written, of the two ways to write it.
fn given<'a>(file: Option<&'a File>, text: Option<&'a Text>) -> Option<&'a Text> {
    text.or_else(|| file.and_then(File::text))
}

/// A policy, and where it stands in the table: its key, without `file` or `text`.
struct Place<'a> {
    within: String,
    file: Option<&'a File>,
    text: Option<&'a Text>,
}

impl Place<'_> {
    /// The key that holds it.
    fn key(&self) -> String {
        format!("{}{}", self.within, if self.text.is_some() { "text" } else { "file" })
    }
    fn compiled(&self) -> Option<&Compiled> {
        given(self.file, self.text).and_then(Text::compiled)
    }
}

impl Params {
    /// A policy by its text.
    pub fn of(text: &str) -> Self {
        Self { text: Some(Text::new(text)), ..Self::default() }
    }

    /// The first policy, and those that take its place.
    fn places(&self) -> Vec<Place<'_>> {
        let first = Place { within: String::new(), file: self.file.as_ref(), text: self.text.as_ref() };
        let changes = self.changes.iter().enumerate().map(|(nth, one)| Place {
            within: format!("changes.{nth}."),
            file: one.file.as_ref(),
            text: one.text.as_ref(),
        });
        std::iter::once(first).chain(changes).collect()
    }

    /// The policies of all versions, if all are right.
    fn versions(&self) -> Option<Vec<&Compiled>> {
        let first = given(self.file.as_ref(), self.text.as_ref());
        let changed = self.changes.iter().map(|one| given(one.file.as_ref(), one.text.as_ref()));
        std::iter::once(first).chain(changed).map(|text| text.and_then(Text::compiled)).collect()
    }

    fn reads(&self, field: PacketField) -> bool {
        self.versions().is_some_and(|all| all.iter().any(|one| one.reads.contains(&field)))
    }

    /// The most queues of a port of which a packet's class, or flow, chooses; 1: there is no choice.
    fn choice(&self) -> usize {
        let of = |one: &&Compiled| {
            let (policy, ports) = (&one.policy, Ports::of(&one.policy));
            let selects = policy.ports().iter().any(|port| port.select.is_some());
            let all = (0..ports.inputs.len().max(1))
                .flat_map(|input| (0..ports.outputs.len()).map(move |output| (input, output)));
            let most = all.map(|(input, output)| ports.entry(policy, input, output).len()).max();
            if selects { 1 } else { most.unwrap_or(1).max(1) }
        };
        self.versions().map_or(1, |all| all.iter().map(of).max().unwrap_or(1))
    }

    /// A packet's class, or flow, decides which queue it joins.
    fn classifies(&self) -> bool {
        self.choice() > 1
    }

    /// How many ports a switch has at most whose ports run it together.
    fn together(&self) -> Option<u16> {
        let ports = Ports::of(&self.versions()?.first()?.policy);
        ports.is_for_a_switch().then(|| u16::try_from(ports.outputs.len()).unwrap_or(u16::MAX))
    }

    /// What it reads of the one header that holds ranks, by the field that shows it.
    fn ranks(&self) -> Vec<(PacketField, Key)> {
        let work = match self.processing {
            Work::Remaining => Key::Remaining,
            Work::FlowSize => Key::FlowSize,
        };
        let value = (self.value == Value::Rank).then_some((PacketField::Value, Key::Rank));
        let all = [Some((PacketField::Processing, work)), Some((PacketField::Slack, Key::Slack)), value];
        all.into_iter().flatten().filter(|(field, _)| self.reads(*field)).collect()
    }

    fn classes(&self) -> Option<u16> {
        let by_class = self.classifies() && self.classify == Classify::Class;
        if self.reads(PacketField::Tos) || self.reads(PacketField::Value) && self.value == Value::Class {
            return Some(256);
        }
        by_class.then(|| u16::try_from(self.choice()).unwrap_or(256).min(256))
    }
}

impl Parameters for Params {
    type Machine = Unlimited;

    fn needs(&self) -> Needs {
        let Some(versions) = self.versions() else { return Needs::NOTHING };
        let marks = versions.iter().any(|one| one.policy.marks());
        let notifies = versions.iter().any(|one| one.policy.notifies());
        let classes = self.classes();
        Needs {
            key: self.ranks().first().map_or(Key::Nothing, |(_, key)| *key),
            classes,
            control_classes: classes.is_some(),
            manages: Manages::Everything,
            acts: if marks { Acts::Marks } else { Acts::Not },
            sizes_itself: true,
            searchable: true,
            notifies,
            // Of several queues the policy does not say which gives up a packet for those of other ports.
            keeps: versions.iter().any(|one| one.policy.queues().len() > 1) || !self.changes.is_empty(),
            together: self.together(),
            ..Needs::NOTHING
        }
    }

    fn files(&self) -> Vec<(String, String)> {
        let named = |place: Place<'_>| Some((place.key(), place.file?.name().to_owned()));
        self.places().into_iter().filter_map(named).collect()
    }

    fn read(&mut self, texts: &[String]) {
        let changed = self.changes.iter_mut().filter_map(|one| one.file.as_mut());
        let files = self.file.as_mut().into_iter().chain(changed);
        files.zip(texts).for_each(|(file, text)| file.holds(text));
    }

    fn mistakes(&self) -> Vec<(String, bool, Mistake)> {
        let of = |place: &Place<'_>| -> Vec<(String, bool, Mistake)> {
            let mistakes = given(place.file, place.text).map_or(&[][..], Text::mistakes);
            let in_file = place.text.is_none();
            mistakes.iter().map(|one| (place.key(), in_file, one.clone())).collect()
        };
        self.places().iter().flat_map(of).collect()
    }

    fn ports(&self) -> Vec<(String, u32)> {
        let listed = |(nth, change): (usize, &Change)| -> Vec<(String, u32)> {
            let ports = change.ports.iter().flatten().enumerate();
            ports.map(|(at, port)| (format!("changes.{nth}.ports.{at}"), *port)).collect()
        };
        self.changes.iter().enumerate().flat_map(listed).collect()
    }

    fn settle(&mut self, port: u32) {
        let here = |ports: &Option<Vec<u32>>| ports.as_ref().is_none_or(|ports| ports.contains(&port));
        self.changes.retain(|change| here(&change.ports));
        self.embed();
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        self.check_all(at, problems);
    }

    fn make(&self, at: &At) -> Result<Unlimited, Invalid> {
        let mut stream = at.stream;
        let mut params = self.clone();
        params.embed();
        Ok(Unlimited { params, seed: mix64(stream.bits()) })
    }

    fn memory(&self, _: f64) -> f64 {
        let queues = self.versions().map_or(0, |all| all.iter().map(|one| one.policy.queues().len()).sum());
        QUEUE + FOR_QUEUE * queues as f64
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        tests::variants()
    }
}

/// Bytes of a queue of a policy, with what its hooks do.
const FOR_QUEUE: f64 = 700.0;

impl Params {
    /// Texts stand for the files that hold them.
    fn embed(&mut self) {
        let embed = |file: &mut Option<File>, text: &mut Option<Text>| {
            if let Some(file) = file.take() {
                *text = text.take().or_else(|| file.text().cloned());
            }
        };
        embed(&mut self.file, &mut self.text);
        self.changes.iter_mut().for_each(|one| {
            embed(&mut one.file, &mut one.text);
            one.ports = None;
        });
    }
}

/// A port that does not know its limit yet.
#[derive(Clone, Debug)]
pub struct Unlimited {
    params: Params,
    seed: u64,
}

impl Machine for Unlimited {
    type Queue = Programmed;
    fn queue(self, limit: Limit, _: &StageSpec, _: &At) -> Result<Programmed, Invalid> {
        Programmed::new(self.params, limit, self.seed).ok_or_else(|| Invalid::new("the policy was not read"))
    }
}

#[cfg(test)]
mod tests;
