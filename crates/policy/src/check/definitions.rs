//! Named comparators and conditions: those of the file, and imported ones.

use super::Found;
use super::bodies::{Typed, boolean, number};
use super::conditions;
use super::constants::Constants;
use super::scope::{Role, Scope};
use crate::diagnose::{Class, Span};
use crate::syntax::tree::{Body, File, Spanned, Statement};
use std::collections::BTreeMap;

/// The name under which the paper's own definitions are imported.
const LIBRARY: &str = "openqueue";
/// Native routines, which are no definitions: the action of `congAction`, and the choice of `queueSelect`.
pub const DROP_TAIL: &str = "drop_tail";
/// A random queue, all with the same probability.
pub const RANDOM: &str = "random";

/// A definition.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'t> {
    /// Its parameters.
    pub parameters: &'t [Spanned<String>],
    /// Its body.
    pub body: &'t Body,
    /// Position of the definition; `None`: it is imported.
    pub at: Option<Span>,
}

/// All of them.
#[derive(Debug)]
pub struct Definitions<'t> {
    by_name: BTreeMap<&'t str, Definition<'t>>,
    imported: bool,
}

/// The definitions of [`LIBRARY`].
pub fn prelude() -> File {
    crate::syntax::parse(include_str!("prelude.oq")).unwrap_or_default()
}

impl<'t> Definitions<'t> {
    /// The definitions of a file, with those of the prelude if the file imports it.
    pub fn of(file: &'t File, prelude: &'t File, found: &mut Found) -> Self {
        let mut all = Self { by_name: BTreeMap::new(), imported: false };
        for statement in &file.statements {
            if let Statement::Import(what) = &statement.node {
                if what.node == LIBRARY {
                    all.imported = true;
                } else {
                    let reason = format!("there are no routines of the name \"{}\"", what.node);
                    found.note(Class::Unknown, what.span, reason, format!("\"{LIBRARY}\" is the only one"));
                }
            }
        }
        if all.imported {
            all.add(prelude, |_| None, found);
        }
        all.add(file, Some, found);
        all
    }

    fn add(&mut self, file: &'t File, at: fn(Span) -> Option<Span>, found: &mut Found) {
        for statement in &file.statements {
            let Statement::Definition { name, parameters, body } = &statement.node else { continue };
            let native = self.imported && (name.node == DROP_TAIL || name.node == RANDOM);
            let definition = Definition { parameters, body, at: at(name.span) };
            if self.by_name.insert(&name.node, definition).is_some() || native {
                let reason = format!("`{}` is defined already", name.node);
                found.note(Class::Duplicate, name.span, reason, "give it another name, or remove the import");
            }
            if let [one, other] = parameters.as_slice()
                && one.node == other.node
            {
                let reason = format!("both parameters are called `{}`", one.node);
                found.note(Class::Duplicate, other.span, reason, "give the second another name");
            }
        }
    }

    /// The definition with this name.
    pub fn get(&self, name: &str) -> Option<Definition<'t>> {
        self.by_name.get(name).copied()
    }
    /// True if native routines may be used.
    pub fn has_natives(&self) -> bool {
        self.imported
    }
    /// The hint for an unknown name.
    pub fn way_out(&self) -> String {
        let names: Vec<&str> = self.by_name.keys().copied().collect();
        let library = if self.imported { "" } else { "; `import \"openqueue\";` defines the paper's" };
        if names.is_empty() {
            format!("define it{library}")
        } else {
            format!("define it; known are {}{library}", names.join(", "))
        }
    }
}

/// Checks the bodies of unused definitions: each must fit at least one use.
pub fn check_unused(definitions: &Definitions<'_>, constants: &Constants, typed: &Typed, found: &mut Found) {
    for (name, definition) in &definitions.by_name {
        let Some(at) = definition.at else { continue };
        if !typed.uses(name) && !fits_somewhere(definition, constants) {
            let reason = format!("`{name}` fits no attribute");
            let way_out = "comparators have two packets or two queues and are Boolean; conditions have a queue, \
                           a buffer or a port, perhaps a packet, and cases";
            found.note(Class::Body, at, reason, way_out);
        }
    }
}

fn fits_somewhere(definition: &Definition<'_>, constants: &Constants) -> bool {
    let fits = |role: Role| {
        let (mut typed, mut found) = (Typed::default(), Found::default());
        let scope = Scope::new(role, definition.parameters, constants);
        match definition.body {
            Body::Expression(expression) if role == Role::Selection => {
                number(expression, &scope, &mut typed, &mut found);
            }
            Body::Expression(expression) => {
                boolean(expression, &scope, &mut typed, &mut found);
            }
            Body::Cases(cases) => {
                conditions::cases(cases, &scope, true, &mut typed, &mut found);
            }
        }
        found.is_empty()
    };
    let is_comparator = definition.parameters.len() == 2 && matches!(definition.body, Body::Expression(_));
    if is_comparator && (fits(Role::Packets) || fits(Role::Queues)) {
        return true;
    }
    [Role::Queue, Role::Buffer, Role::Port, Role::Selection].into_iter().any(fits)
}
