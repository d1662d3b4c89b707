//! The actions of a matching case, as C.

use super::blocks::{Choice, indented};
use super::numbers::{becomes, threshold};
use crate::engine::decisions::Decided;
use crate::generate::numbers::At;
use crate::normal::range::Limits;
use crate::normal::ratio::Ratio;
use crate::normal::{Action, Case, State};

/// The names and calls that a target's code uses.
pub struct Words<'a> {
    /// Drops the victim.
    pub drop: &'a str,
    /// The random stream.
    pub draws: &'a str,
    /// Surrounds the actions that apply to the packet only while it is there; `{}` stands for them.
    pub while_there: &'a str,
    /// Marks.
    pub mark: &'a str,
    /// Notifies.
    pub notify: &'a str,
    /// Reads the queue again.
    pub look: &'a str,
    /// The location of a state.
    pub state: fn(State) -> &'static str,
}

/// `NAME(PARAMETERS)`: the actions of case number `matched` of each hook.
pub fn follow<'a>(
    head: &str,
    parameters: &str,
    subject: &str,
    prologue: &str,
    hooks: impl Iterator<Item = (&'a [Case], &'a [Decided])>,
    words: &Words<'_>,
    limits: &Limits,
) -> String {
    let code = |(cases, decided): (&[Case], &[Decided])| {
        let each = cases.iter().zip(decided).enumerate().map(|(nth, (case, decided))| {
            let lines: String = case
                .actions
                .iter()
                .zip(&decided.values)
                .map(|(action, value)| match (action, value) {
                    (Action::Modify(state, _), Some(value)) => {
                        let set = becomes((words.state)(*state), value, limits, At::Hook);
                        there(words, &format!("{}\n{set}", words.look))
                    }
                    (Action::Drop(share), _) => dropped(words, *share),
                    (Action::Mark, _) => there(words, words.mark),
                    (Action::Notify, _) => there(words, words.notify),
                    (Action::Modify(..), None) => String::new(),
                })
                .collect();
            format!("if (matched == {nth}) {{\n{}}}\n", indented(&lines, 1))
        });
        each.collect::<String>()
    };
    let choice = Choice { head, parameters, subject, otherwise: "" };
    let body = choice.of(hooks.map(code));
    // The declarations that all cases use come first.
    body.replacen("\n{\n", &format!("\n{{\n{}", indented(prologue, 1)), 1)
}

fn there(words: &Words<'_>, what: &str) -> String {
    if words.while_there.is_empty() {
        return format!("{what}\n");
    }
    format!("if ({}) {{\n{}}}\n", words.while_there, indented(what, 1))
}

fn dropped(words: &Words<'_>, share: Ratio) -> String {
    match share {
        Ratio::ZERO => String::new(),
        Ratio::ONE => format!("{}\n", words.drop),
        share => format!("if (draw({}) < {})\n\t{}\n", words.draws, threshold(share), words.drop),
    }
}
