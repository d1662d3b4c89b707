//! From the tree to text that parses to the same tree.

use super::tree::*;

/// The file as text, a statement a line.
pub fn print(file: &File) -> String {
    file.statements.iter().map(|one| statement(&one.node) + "\n").collect()
}

fn statement(it: &Statement) -> String {
    match it {
        Statement::Import(what) => format!("import \"{}\";", what.node),
        Statement::Const(word, value) => format!("const {} = {};", word.node, number(value.node)),
        Statement::Declaration { kind, name: whose, made } => {
            let kind = kind.as_ref().map_or(String::new(), |kind| format!("{} ", kind_word(kind.node)));
            format!("{kind}{} = {};", name(whose), constructor(&made.node))
        }
        Statement::Definition { name, parameters, body: what } => {
            let parameters = list(parameters, |one| one.node.clone());
            format!("{}({parameters}) = {};", name.node, body(what))
        }
        Statement::Assignment { name: whose, attribute, value: to } => {
            format!("{}.{} = {};", name(whose), attribute.node.word(), value(&to.node))
        }
        Statement::Connection { from, to } => format!("connect({} -> {});", name(from), name(to)),
    }
}

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Queue => "Queue",
        Kind::Buffer => "Buffer",
        Kind::Port => "Port",
    }
}

fn name(it: &Name) -> String {
    let indices: String = it.indices.iter().map(|one| format!("[{}]", index(&one.node))).collect();
    it.word.node.clone() + &indices
}

fn index(it: &Index) -> String {
    match it {
        Index::At(at) => bound(at),
        Index::All(from, to) => format!("{}..{}", bound(from), bound(to)),
        Index::Each(word, from, to) => format!("{word}: {}..{}", bound(from), bound(to)),
        Index::Field(packet, field) => format!("{packet}.{}", field.node),
    }
}

fn bound(it: &Bound) -> String {
    match it {
        Bound::Number(n) => n.to_string(),
        Bound::Word(word) => word.clone(),
    }
}

fn number(it: Number) -> String {
    let width = it.decimals as usize + 1;
    let mut digits = format!("{:0width$}", it.digits);
    if it.decimals > 0 {
        digits.insert(digits.len() - it.decimals as usize, '.');
    }
    digits
}

fn constructor(it: &Constructor) -> String {
    match it {
        Constructor::Queue(size, unit) => format!("Queue({}{})", sum(size), size_unit(*unit)),
        Constructor::Buffer(size, unit, queues) => {
            format!("Buffer({}{}, {})", sum(size), size_unit(*unit), list(queues, name))
        }
        Constructor::Port(rate, queues) => {
            let rate = rate.as_ref().map_or(String::new(), |rate| {
                let unit = match rate.node.unit {
                    RateUnit::Percent => "%",
                    RateUnit::Kbps => " kbps",
                    RateUnit::Mbps => " Mbps",
                    RateUnit::Gbps => " Gbps",
                };
                format!("{}{unit}, ", number(rate.node.amount))
            });
            format!("Port({rate}{})", list(queues, name))
        }
    }
}

fn size_unit(it: Option<SizeUnit>) -> &'static str {
    match it {
        None => "",
        Some(SizeUnit::Packets) => " pkts",
        Some(SizeUnit::Bytes) => " bytes",
    }
}

fn value(it: &Value) -> String {
    match it {
        Value::Named(word, None) => word.node.clone(),
        Value::Named(word, Some(arguments)) => {
            let argument = |one: &Spanned<Argument>| match &one.node {
                Argument::Number(n) => number(*n),
                Argument::Name(which) => name(which),
            };
            format!("{}({})", word.node, list(arguments, argument))
        }
        Value::Inline(expression) => format!("inline {{ {} }}", print_expression(&expression.node)),
        Value::Body(what) => body(what),
    }
}

fn body(it: &Body) -> String {
    match it {
        // In parentheses, because a word alone would be a name.
        Body::Expression(expression) => format!("({})", print_expression(&expression.node)),
        Body::Cases(cases) => cases.iter().map(|one| case(&one.node)).collect::<Vec<_>>().join("."),
    }
}

fn case(it: &Case) -> String {
    let actions: Vec<String> = it.actions.iter().map(|one| action(&one.node)).collect();
    format!("({}, {})", print_expression(&it.test.node), actions.join(" & "))
}

fn action(it: &Action) -> String {
    match it {
        Action::Drop(p) => format!("drop({})", sum(p)),
        Action::Mark => "mark".to_owned(),
        Action::Notify => "notify".to_owned(),
        Action::Modify(whose, state, to) => {
            let whose = whose.as_ref().map_or(String::new(), |whose| format!("{}.", whose.node));
            format!("modify({whose}{} := {})", state.node, sum(to))
        }
    }
}

/// Where the grammar has a sum, weaker operators need parentheses.
fn sum(it: &Spanned<Expression>) -> String {
    at_least(&it.node, Operator::Plus.strength())
}

/// An expression with the necessary parentheses.
pub fn print_expression(it: &Expression) -> String {
    at_least(it, 0)
}

/// The precedence of `!`, between a conjunction and a comparison.
const NOT: u8 = 3;
/// The operand of a minus sign is an atom.
const ATOM: u8 = 8;

fn at_least(it: &Expression, least: u8) -> String {
    let (strength, text) = match it {
        Expression::Number(n) => (ATOM, number(*n)),
        Expression::Truth(truth) => (ATOM, truth.to_string()),
        Expression::Path(path) => (ATOM, path_text(path)),
        Expression::Negative(inner) => (ATOM - 1, format!("-{}", at_least(&inner.node, ATOM))),
        Expression::Not(inner) => (NOT, format!("!{}", at_least(&inner.node, NOT + 1))),
        Expression::Binary(operator, left, right) => {
            let strength = operator.strength();
            // The operands of a comparison are not comparisons.
            let left_least = if strength == Operator::Less.strength() { strength + 1 } else { strength };
            let (left, right) = (at_least(&left.node, left_least), at_least(&right.node, strength + 1));
            (strength, format!("{left} {} {right}", operator.word()))
        }
    };
    if strength < least { format!("({text})") } else { text }
}

fn path_text(it: &Path) -> String {
    let steps = it.steps.iter().map(|step| match &step.node {
        Step::Field(field) => format!(".{field}"),
        Step::HeadOfLine => ".getHOL()".to_owned(),
    });
    name(&it.head) + &steps.collect::<String>()
}
