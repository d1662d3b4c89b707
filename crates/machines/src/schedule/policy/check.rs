//! Checks of a policy: what the network cannot do, and keys without effect, are refused by name.

use super::ports::Ports;
use super::text::Compiled;
use super::{Classify, Params, Place, Value, Work, given};
use crate::problems::Mistake;
use crate::schedule::{Around, Problems};
use thalweg_policy::Unlike;
use thalweg_policy::normal::expression::PacketField;
use thalweg_units::Span;

impl Params {
    /// All of it.
    pub(super) fn check_all(&self, at: &Around, problems: &mut Problems) {
        self.check_places(problems);
        if self.versions().is_none() {
            return;
        }
        for place in self.places() {
            check_policy(&place, at, problems);
        }
        self.check_fields(problems);
        self.check_changes(at, problems);
    }

    /// Each policy is written once.
    fn check_places(&self, problems: &mut Problems) {
        for place in self.places() {
            match (place.file, place.text) {
                (Some(_), Some(_)) => {
                    let key = format!("{}text", place.within);
                    problems.wrong(&key, "`file` and `text` cannot both be given", "remove one");
                }
                (None, None) => {
                    let hint = "write `file = \"fifo.oq\"`, or `text = \"..\"`";
                    problems.wrong(place.within.trim_end_matches('.'), "there is no policy", hint);
                }
                (Some(file), None) if file.text().is_none() => {
                    let reason = format!("the file `{}` was not read", file.name());
                    problems.wrong(&place.key(), reason, "write the policy's `text`");
                }
                _ => {}
            }
            if let Some(Mistake { line, column, reason, hint }) =
                given(place.file, place.text).and_then(|text| text.mistakes().first())
            {
                problems.wrong(
                    &place.key(),
                    format!("line {line}, column {column}: {reason}"),
                    hint.as_str(),
                );
            }
        }
    }

    /// What packets carry, and what is said of it in vain.
    fn check_fields(&self, problems: &mut Problems) {
        let ranks = self.ranks();
        if let [(first, _), (second, _), ..] = ranks[..] {
            let reason = format!(
                "the policy reads `{}` and `{}`, and packets carry one number to rank them by",
                first.word(),
                second.word()
            );
            problems.wrong("", reason, "let it read one of them");
        }
        if self.classify != Classify::default() && !self.classifies() {
            let why = "the policy has one queue, or a `queueSelect`";
            problems.useless("classify", why, "remove the key");
        }
        if self.value != Value::default() && !self.reads(PacketField::Value) {
            problems.useless("value", "the policy does not read `value`", "remove the key");
        }
        if self.processing != Work::default() && !self.reads(PacketField::Processing) {
            problems.useless("processing", "the policy does not read `processing`", "remove the key");
        }
    }

    fn check_changes(&self, at: &Around, problems: &mut Problems) {
        let Some(versions) = self.versions() else { return };
        let together = self.together().is_some();
        let levels = versions.first().is_some_and(|one| !Ports::of(&one.policy).inner.is_empty());
        if levels && !self.changes.is_empty() {
            let reason = "the policy has levels, of which what waits cannot leave before the rest";
            problems.wrong("changes", reason, "remove the key");
        }
        let mut before = Span::ZERO;
        for (nth, change) in self.changes.iter().enumerate() {
            let key = |name: &str| format!("changes.{nth}.{name}");
            if change.at <= before {
                let reason = format!("{} is not later than {before}", change.at);
                problems.wrong(
                    &key("at"),
                    reason,
                    "write changes in the order of time, the first later than 0",
                );
            } else if change.at >= at.end {
                let why = format!("the run ends at {}", at.end);
                problems.useless(&key("at"), &why, "write an earlier time or raise `run.until`");
            }
            before = before.max(change.at);
            if change.ports.as_ref().is_some_and(Vec::is_empty) {
                problems.useless(&key("ports"), "it is for no port", "name one, or remove the key");
            } else if together && change.ports.is_some() {
                let reason = "all ports of a switch run the policy together";
                problems.wrong(&key("ports"), reason, "remove the key");
            }
            let place = &self.places()[nth + 1];
            let (old, new) = (&versions[nth].policy, &versions[nth + 1].policy);
            if let Err(unlike) = Unlike::check(old, new) {
                problems.wrong(&place.key(), unlike.to_string(), "packets join queues by their numbers");
            } else if given(self.places()[nth].file, self.places()[nth].text) == given(place.file, place.text)
            {
                problems.useless(&place.key(), "it is the policy before", "remove the change");
            }
        }
    }
}

/// What a policy requires that the network does not have.
fn check_policy(place: &Place<'_>, at: &Around, problems: &mut Problems) {
    let Some(Compiled { policy, .. }) = place.compiled() else { return };
    let (key, ports, roles) = (place.key(), policy.ports(), Ports::of(policy));
    let mut refuse = |reason: String, hint: &str| problems.wrong(&key, reason, hint);
    if let Some(port) = ports.iter().find(|port| !port.rate.is_whole()) {
        let reason = format!("port `{}` has a rate, and a link has its own", port.name);
        return refuse(reason, "write 100%, or no rate; rates are those of the topology and of `[[link]]`");
    }
    if !roles.is_for_a_switch() {
        return;
    }
    if at.section == "nic" {
        let reason = match ports {
            [first, second, ..] => {
                let more = if ports.len() > 2 { ", .." } else { "" };
                format!(
                    "the policy has the ports `{}` and `{}`{more}, and a NIC is one",
                    first.name, second.name
                )
            }
            _ => "the policy has levels, and a NIC is one port".into(),
        };
        return refuse(reason, "write it for one port, or for switches, whose ports run it together");
    }
    if roles.inner.is_empty() {
        return;
    }
    let fed: Vec<usize> =
        ports.iter().filter_map(|port| port.wire.as_ref()).flat_map(|wire| wire.to.clone()).collect();
    if let Some(port) = roles
        .outputs
        .iter()
        .map(|port| &ports[*port])
        .find(|port| !port.queues.iter().all(|queue| fed.contains(queue)))
    {
        let reason = format!(
            "nothing goes on to all queues of port `{}`, and others have levels before them",
            port.name
        );
        return refuse(reason, "connect ports of inputs to them");
    }
    if roles.inputs.len() != roles.outputs.len() {
        let reason = format!(
            "the policy has {} inputs (ports that go on, and that nothing goes on to) and {} outputs, and a port of a \
             switch is both",
            roles.inputs.len(),
            roles.outputs.len()
        );
        return refuse(reason, "write as many of each");
    }
    if policy.marks() || policy.notifies() {
        let what = if policy.marks() { "mark" } else { "notify" };
        let reason = format!(
            "the policy has levels, and may `{what}` what does not join or leave the switch just then"
        );
        refuse(reason, "let policies of one level do so");
    }
}
