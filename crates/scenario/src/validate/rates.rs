//! Rates of senders, and `congestion`.

use super::Report;
use crate::diagnostic::suggest;
use crate::topology::Graph;
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::problems::{Problem, Problems};
use thalweg_units::Rate;

/// A rate that a host's link can carry, and that carries something.
pub(super) fn rate(rate: Rate, graph: &Graph) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.rate("", rate, graph.slowest_host());
    problems.0
}

/// What a controller says is wrong with its parameters.
pub(super) fn controller(r: &mut Report<'_>, key: &str, spec: &ControllerSpec, graph: &Graph) {
    r.report(key, spec.problems(graph.slowest_host()));
    if let ControllerSpec::Custom(user) = spec {
        registered(r, key, &user.name, &user.params.0);
    }
}

/// A user's controller: it must be registered, and must accept its parameters.
fn registered(r: &mut Report<'_>, key: &str, name: &str, params: &serde_json::Value) {
    let known = thalweg_machines::congestion::custom::controllers();
    if !known.iter().any(|k| k == name) {
        let reason = format!("no controller is registered as `{name}`");
        let own = "name the file that registers it with `--import FILE` (in Python: import it first)";
        let hint =
            if known.is_empty() { own.to_owned() } else { format!("{}; {own}", suggest(name, &known)) };
        r.error(key, reason, hint);
    }
    let Some(declared) = thalweg_machines::congestion::custom::declared(name).params else { return };
    let Some(params) = params.as_object() else {
        if !params.is_null() {
            r.error(&format!("{key}.params"), "it is not a table of parameters", "write `{ name = value }`");
        }
        return;
    };
    for param in params.keys().filter(|p| !declared.contains(p)) {
        let reason = format!("the controller `{name}` declares no parameter `{param}`");
        let hint = match declared.is_empty() {
            true => {
                format!(
                    "it takes none: a class declares them in `@thalweg.controller(\"{name}\", params={{...}})`, \
                     a library in `Params` (in C in `params`)"
                )
            }
            false => suggest(param, &declared),
        };
        r.error(&format!("{key}.params.{param}"), reason, hint);
    }
}
