//! From tokens to the tree: the grammar of the specification (M2), rule by rule and under its names.
//!
//! CHOICE OpenQueue §2.3.1: arrays may have several dimensions, an index may be bound by the name on the left (`in[i:
//! 1..3] = Port(voq[i][1..3]);`), and `connect` wires ports to queues. The paper writes `q1 = ..; ...; qk = ..;` and
//! draws the wires. Other reading: none of these; but then three levels of queues cannot be written.

use super::token::{Token, tokens};
use super::tree::*;
use crate::diagnose::{Class, Diagnostic, Span};
use chumsky::error::{Rich, RichPattern, RichReason};
use chumsky::input::{Stream, ValueInput};
use chumsky::prelude::*;

/// Parses `text`. Returns the tree, or the mistakes.
pub fn parse(text: &str) -> Result<File, Vec<Diagnostic>> {
    let tokens = tokens(text)?;
    let end = SimpleSpan::from(text.len()..text.len());
    let spanned =
        tokens.into_iter().map(|(token, at)| (token, SimpleSpan::from(at.start as usize..at.end as usize)));
    let input = Stream::from_iter(spanned).map(end, |(token, span): (_, _)| (token, span));
    file().parse(input).into_result().map_err(|errors| errors.iter().map(diagnostic).collect())
}

type Error<'t, 's> = extra::Err<Rich<'t, Token<'s>, SimpleSpan>>;

/// A source of tokens.
trait Tokens<'t, 's: 't>: ValueInput<'t, Token = Token<'s>, Span = SimpleSpan> {}
impl<'t, 's: 't, I: ValueInput<'t, Token = Token<'s>, Span = SimpleSpan>> Tokens<'t, 's> for I {}

/// A parser of these tokens.
trait Rule<'t, 's: 't, I: Tokens<'t, 's>, O>: Parser<'t, I, O, Error<'t, 's>> + Clone {}
impl<'t, 's: 't, I: Tokens<'t, 's>, O, P: Parser<'t, I, O, Error<'t, 's>> + Clone> Rule<'t, 's, I, O> for P {}

// Mistakes that the grammar itself recognises.
const CALL: &str = "call";
const ACTION: &str = "action";
const ATTRIBUTE: &str = "attribute";
const UNIT: &str = "unit";

fn place(span: SimpleSpan) -> Span {
    Span::new(span.start, span.end)
}

fn spanned<'t, 's: 't, I: Tokens<'t, 's>, O>(
    rule: impl Rule<'t, 's, I, O>,
) -> impl Rule<'t, 's, I, Spanned<O>> {
    rule.map_with(|node, e| Spanned::new(node, place(e.span())))
}

fn sign<'t, 's: 't, I: Tokens<'t, 's>>(text: &'static str) -> impl Rule<'t, 's, I, ()> {
    just(Token::Sign(text)).ignored()
}

fn reserved<'t, 's: 't, I: Tokens<'t, 's>>(text: &'static str) -> impl Rule<'t, 's, I, ()> {
    just(Token::Reserved(text)).ignored()
}

/// `ident`
fn word<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Spanned<String>> {
    spanned(select! { Token::Word(word) => word.to_owned() }.labelled("a name")).boxed()
}

/// `num`
fn number<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Number> {
    select! { Token::Number(text) => decimal(text) }.labelled("a number")
}

fn decimal(text: &str) -> Number {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    // The lexer has limited the number of digits.
    let digits = format!("{whole}{decimals}").parse().unwrap_or(u64::MAX);
    Number { digits, decimals: decimals.len() as u32 }
}

/// `index`
fn index<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Index> {
    let whole = select! { Token::Number(text) if !text.contains('.') => text.parse().unwrap_or(u64::MAX) };
    let bound = whole
        .map(Bound::Number)
        .labelled("a whole number")
        .or(word().map(|word: Spanned<String>| Bound::Word(word.node)));
    let range = bound.clone().then_ignore(sign("..")).then(bound.clone());
    let each = word().then_ignore(sign(":")).then(range.clone());
    let field = word().then_ignore(sign(".")).then(word());
    choice((
        each.map(|(word, (from, to))| Index::Each(word.node, from, to)),
        field.map(|(packet, field)| Index::Field(packet.node, field)),
        range.map(|(from, to)| Index::All(from, to)),
        bound.map(Index::At),
    ))
    .boxed()
}

/// `name`
fn name<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Name> {
    let indices = spanned(index()).delimited_by(sign("["), sign("]")).repeated().collect();
    word().then(indices).map(|(word, indices)| Name { word, indices }).boxed()
}

/// `path`
fn path<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Path> {
    // In policy files, `Queue.length` refers to the queue itself.
    let entity = select! { Token::Reserved(word @ ("Queue" | "Buffer" | "Port")) => word.to_owned() };
    let entity = spanned(entity).map(|word| Name { word, indices: Vec::new() });
    let head_of_line = reserved("getHOL").then(sign("(")).then(sign(")")).to(Step::HeadOfLine);
    let step = choice((head_of_line, word().map(|word: Spanned<String>| Step::Field(word.node))));
    let steps = sign(".").ignore_then(spanned(step)).repeated().collect();
    name().or(entity).then(steps).map(|(head, steps)| Path { head, steps }).boxed()
}

/// `sum`, of any expressions in parentheses.
fn sum<'t, 's: 't, I: Tokens<'t, 's>>(
    expression: impl Rule<'t, 's, I, Spanned<Expression>> + 't,
) -> impl Rule<'t, 's, I, Spanned<Expression>> {
    let truth = select! { Token::Reserved("true") => true, Token::Reserved("false") => false };
    let arguments = expression.clone().separated_by(sign(",")).collect::<Vec<_>>();
    let arguments = arguments.delimited_by(sign("("), sign(")")).or_not();
    // A field cannot be called: a call is parsed, and then refused.
    let called = path()
        .then(arguments)
        .validate(|(path, call), e, errors| {
            if call.is_some() {
                errors.emit(Rich::custom(e.span(), CALL));
            }
            path
        })
        .boxed();
    let atom = choice((
        spanned(number().map(Expression::Number)),
        spanned(truth.map(Expression::Truth)),
        spanned(called.map(Expression::Path)),
        expression.delimited_by(sign("("), sign(")")),
    ))
    .boxed();
    let negative = spanned(sign("-").ignore_then(atom.clone()).map(|of| Expression::Negative(Box::new(of))));
    let unary = negative.or(atom).labelled("an expression").boxed();
    let term = left(unary, &[Operator::Times, Operator::Over, Operator::Modulo]).boxed();
    left(term, &[Operator::Plus, Operator::Minus]).boxed()
}

/// `expr`
fn expression<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Spanned<Expression>> {
    use Operator::{AtLeast, AtMost, Equal, Less, More, Unequal};
    recursive(|expression| {
        let sum = sum(expression);
        let relation =
            sum.clone().then(operator(&[Less, AtMost, More, AtLeast, Equal, Unequal]).then(sum).or_not());
        let relation = relation.map(|(one, rest)| match rest {
            Some((operator, other)) => binary(one, operator, other),
            None => one,
        });
        let not = spanned(sign("!").ignore_then(relation.clone()).map(|of| Expression::Not(Box::new(of))));
        let and = left(not.or(relation).boxed(), &[Operator::And]).boxed();
        left(and, &[Operator::Or]).boxed()
    })
}

fn operator<'t, 's: 't, I: Tokens<'t, 's>>(of: &'static [Operator]) -> impl Rule<'t, 's, I, Operator> {
    let known = move |text: &str| Operator::of(text).filter(|operator| of.contains(operator));
    select! { Token::Sign(text) if known(text).is_some() => text }
        .map(move |text| known(text).unwrap_or(of[0]))
        .labelled("an operator")
}

fn binary(one: Spanned<Expression>, operator: Operator, other: Spanned<Expression>) -> Spanned<Expression> {
    let span = one.span.to(other.span);
    Spanned::new(Expression::Binary(operator, Box::new(one), Box::new(other)), span)
}

/// Left-associative operands with such operators between them.
fn left<'t, 's: 't, I: Tokens<'t, 's>>(
    operand: impl Rule<'t, 's, I, Spanned<Expression>> + 't,
    operators: &'static [Operator],
) -> impl Rule<'t, 's, I, Spanned<Expression>> {
    let more = operator(operators).then(operand.clone()).repeated();
    operand.foldl(more, |one, (operator, other)| binary(one, operator, other))
}

/// `actions`
fn actions<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Vec<Spanned<Action>>> {
    let sum = sum(expression());
    let state = word().then_ignore(sign(".")).or_not().then(word());
    let modify = state.then_ignore(sign(":=")).then(sum.clone()).delimited_by(sign("("), sign(")"));
    let arguments =
        sum.clone().separated_by(sign(",")).collect::<Vec<_>>().delimited_by(sign("("), sign(")"));
    let unknown = word().then_ignore(arguments.or_not()).validate(|_, e, errors| {
        errors.emit(Rich::custom(e.span(), ACTION));
        Action::Mark
    });
    let action = choice((
        reserved("drop").ignore_then(sum.delimited_by(sign("("), sign(")"))).map(Action::Drop),
        reserved("mark").to(Action::Mark),
        reserved("notify").to(Action::Notify),
        reserved("modify").ignore_then(modify).map(|((whose, state), to)| Action::Modify(whose, state, to)),
        unknown,
    ));
    spanned(action.labelled("an action")).separated_by(sign("&")).at_least(1).collect().boxed()
}

/// `cases`
fn cases<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Vec<Spanned<Case>>> {
    let case =
        expression().then_ignore(sign(",")).then(actions()).map(|(test, actions)| Case { test, actions });
    let case = spanned(case.clone().delimited_by(sign("("), sign(")")).or(case));
    case.separated_by(sign(".")).at_least(1).collect().boxed()
}

/// The body of a definition, or of an attribute.
fn body<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Body> {
    cases().map(Body::Cases).or(expression().map(Body::Expression)).boxed()
}

/// `ctor`
fn constructor<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Constructor> {
    let unit =
        select! { Token::Reserved("pkts") => SizeUnit::Packets, Token::Reserved("bytes") => SizeUnit::Bytes }
            .or(word().try_map(|_, span| Err(Rich::custom(span, UNIT))));
    let size = sum(expression()).then(unit.or_not()).boxed();
    let names = name().separated_by(sign(",")).at_least(1).collect::<Vec<_>>().boxed();
    let rate_unit = select! {
        Token::Sign("%") => RateUnit::Percent, Token::Reserved("kbps") => RateUnit::Kbps,
        Token::Reserved("Mbps") => RateUnit::Mbps, Token::Reserved("Gbps") => RateUnit::Gbps,
    }
    .or(word().try_map(|_, span| Err(Rich::custom(span, UNIT))));
    let rate = spanned(number().then(rate_unit).map(|(amount, unit)| Rate { amount, unit }));
    let port = rate.then_ignore(sign(",")).or_not().then(names.clone());
    choice((
        reserved("Queue")
            .ignore_then(size.clone().delimited_by(sign("("), sign(")")))
            .map(|(size, unit)| Constructor::Queue(size, unit)),
        reserved("Buffer")
            .ignore_then(size.then_ignore(sign(",")).then(names).delimited_by(sign("("), sign(")")))
            .map(|((size, unit), queues)| Constructor::Buffer(size, unit, queues)),
        reserved("Port")
            .ignore_then(port.delimited_by(sign("("), sign(")")))
            .map(|(rate, queues)| Constructor::Port(rate, queues)),
    ))
    .labelled("`Queue(..)`, `Buffer(..)` or `Port(..)`")
    .boxed()
}

/// `rhs`
fn value<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, Value> {
    let argument = number().map(Argument::Number).or(name().map(Argument::Name));
    let arguments = spanned(argument).separated_by(sign(",")).collect().delimited_by(sign("("), sign(")"));
    let named = word().then(arguments.or_not()).then_ignore(sign(";").rewind());
    // The one word that is both an attribute's value and an action.
    let dropping = spanned(reserved("drop").to("drop".to_owned())).then_ignore(sign(";").rewind());
    let inline = reserved("inline").ignore_then(expression().delimited_by(sign("{"), sign("}")));
    choice((
        named.map(|(word, arguments)| Value::Named(word, arguments)),
        inline.map(Value::Inline),
        dropping.map(|word| Value::Named(word, None)),
        body().map(Value::Body),
    ))
    .boxed()
}

/// `file`
fn file<'t, 's: 't, I: Tokens<'t, 's>>() -> impl Rule<'t, 's, I, File> {
    let text = select! { Token::Text(text) => text.trim_matches('"').to_owned() };
    let import =
        reserved("import").ignore_then(spanned(text.labelled("a text"))).then_ignore(sign(";").or_not());
    let constant = reserved("const").ignore_then(word()).then_ignore(sign("=")).then(spanned(number()));
    let kind = select! {
        Token::Reserved("Queue") => Kind::Queue, Token::Reserved("Buffer") => Kind::Buffer,
        Token::Reserved("Port") => Kind::Port,
    };
    let declaration = spanned(kind).or_not().then(name()).then_ignore(sign("=")).then(spanned(constructor()));
    let parameters = word().separated_by(sign(",")).at_most(2).collect().delimited_by(sign("("), sign(")"));
    let definition = word().then(parameters).then_ignore(sign("=")).then(body());
    let attribute = spanned(
        word().try_map(|word, span| Attribute::of(&word.node).ok_or_else(|| Rich::custom(span, ATTRIBUTE))),
    );
    let assignment =
        name().then_ignore(sign(".")).then(attribute).then_ignore(sign("=")).then(spanned(value()));
    let wire = name().then_ignore(sign("->")).then(name()).delimited_by(sign("("), sign(")"));
    let connection = reserved("connect").ignore_then(wire);
    let statement = choice((
        import.map(Statement::Import),
        constant.map(|(word, value)| Statement::Const(word, value)).then_ignore(sign(";")),
        connection.map(|(from, to)| Statement::Connection { from, to }).then_ignore(sign(";")),
        definition
            .map(|((name, parameters), body)| Statement::Definition { name, parameters, body })
            .then_ignore(sign(";").or_not()),
        assignment
            .map(|((name, attribute), value)| Statement::Assignment { name, attribute, value })
            .then_ignore(sign(";")),
        declaration
            .map(|((kind, name), made)| Statement::Declaration { kind, name, made })
            .then_ignore(sign(";")),
    ));
    spanned(statement.labelled("a statement"))
        .repeated()
        .collect()
        .then_ignore(end())
        .map(|statements| File { statements })
        .boxed()
}

/// The message of a parser's error.
fn diagnostic(error: &Rich<'_, Token<'_>, SimpleSpan>) -> Diagnostic {
    let span = place(*error.span());
    if let RichReason::Custom(known) = error.reason() {
        return recognised(known, span);
    }
    let found = error.found().map_or("the end of the file".to_owned(), ToString::to_string);
    let semicolon = RichPattern::Token(chumsky::util::MaybeRef::Val(Token::Sign(";")));
    let expected: Vec<&RichPattern<'_, Token<'_>>> = error.expected().collect();
    if expected.contains(&&semicolon) {
        let reason = format!("the statement does not end before {found}");
        return Diagnostic::new(Class::Semicolon, span, reason, "end it with `;`");
    }
    let mut names: Vec<String> = expected.iter().map(|one| pattern(one)).collect();
    names.sort();
    names.dedup();
    let way_out = match names.split_last() {
        None => "remove it".to_owned(),
        Some((only, [])) => format!("{only} may stand here"),
        Some((last, rest)) => format!("{} or {last} may stand here", rest.join(", ")),
    };
    Diagnostic::new(Class::Unexpected, span, format!("{found} cannot stand here"), way_out)
}

fn pattern(of: &RichPattern<'_, Token<'_>>) -> String {
    match of {
        RichPattern::Token(token) => token.to_string(),
        RichPattern::Label(label) => label.to_string(),
        RichPattern::EndOfInput => "the end of the file".to_owned(),
        _ => "something else".to_owned(),
    }
}

fn recognised(known: &str, span: Span) -> Diagnostic {
    match known {
        CALL => Diagnostic::new(
            Class::Call,
            span,
            "comparators and conditions call nothing: a field is read in constant time",
            "write the expression itself; `getHOL()` is the only step with parentheses",
        ),
        ACTION => Diagnostic::new(
            Class::Action,
            span,
            "this is no action",
            "actions are drop(P), mark, notify and modify(STATE := VALUE), joined by `&`",
        ),
        ATTRIBUTE => {
            let all: Vec<&str> = Attribute::ALL.iter().map(|one| one.word()).collect();
            let way_out = format!("attributes are {}", all.join(", "));
            Diagnostic::new(Class::Attribute, span, "this is no attribute", way_out)
        }
        _ => Diagnostic::new(
            Class::Unit,
            span,
            "this is no unit",
            "sizes are in pkts or bytes, rates in %, kbps, Mbps or Gbps",
        ),
    }
}
