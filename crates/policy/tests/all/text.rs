//! The printer: what it prints has the tree that it was given, and the library survives it.

use crate::common::library;
use proptest::prelude::*;
use thalweg_policy::diagnose::Span;
use thalweg_policy::syntax::tree::*;
use thalweg_policy::syntax::{parse, print};

fn spanned<T>(node: T) -> Spanned<T> {
    Spanned::new(node, Span::default())
}

fn word() -> impl Strategy<Value = Spanned<String>> {
    prop_oneof!["[a-d]", "q[0-9]_x", "currSize", "schedState"].prop_map(spanned)
}

fn number() -> impl Strategy<Value = Number> {
    (0u64..100_000, 0u32..4).prop_map(|(digits, decimals)| Number { digits, decimals })
}

fn bound() -> impl Strategy<Value = Bound> {
    prop_oneof![(0u64..50).prop_map(Bound::Number), "[k-m]".prop_map(Bound::Word)]
}

fn index() -> impl Strategy<Value = Index> {
    prop_oneof![
        bound().prop_map(Index::At),
        (bound(), bound()).prop_map(|(from, to)| Index::All(from, to)),
        ("[i-j]", bound(), bound()).prop_map(|(word, from, to)| Index::Each(word, from, to)),
        ("p", word()).prop_map(|(packet, field)| Index::Field(packet, field)),
    ]
}

fn name() -> impl Strategy<Value = Name> {
    let indices = prop::collection::vec(index().prop_map(spanned), 0..3);
    (word(), indices).prop_map(|(word, indices)| Name { word, indices })
}

fn path() -> impl Strategy<Value = Path> {
    let field = word().prop_map(|word| Step::Field(word.node));
    let steps = prop::collection::vec(prop_oneof![field, Just(Step::HeadOfLine)].prop_map(spanned), 0..3);
    (name(), steps).prop_map(|(head, steps)| Path { head, steps })
}

fn expression() -> impl Strategy<Value = Spanned<Expression>> {
    let leaf = prop_oneof![
        number().prop_map(Expression::Number),
        any::<bool>().prop_map(Expression::Truth),
        path().prop_map(Expression::Path),
    ];
    let more = |inner: BoxedStrategy<Expression>| {
        let boxed = inner.prop_map(|one| Box::new(spanned(one))).boxed();
        let operator = prop::sample::select(Operator::ALL);
        prop_oneof![
            boxed.clone().prop_map(Expression::Negative),
            boxed.clone().prop_map(Expression::Not),
            (operator, boxed.clone(), boxed).prop_map(|(operator, a, b)| Expression::Binary(operator, a, b)),
        ]
    };
    leaf.prop_recursive(5, 24, 2, more).prop_map(spanned)
}

fn body() -> impl Strategy<Value = Body> {
    let action = prop_oneof![
        expression().prop_map(Action::Drop),
        Just(Action::Mark),
        Just(Action::Notify),
        (prop::option::of(word()), word(), expression())
            .prop_map(|(whose, state, to)| Action::Modify(whose, state, to)),
    ];
    let actions = prop::collection::vec(action.prop_map(spanned), 1..3);
    let case = (expression(), actions).prop_map(|(test, actions)| spanned(Case { test, actions }));
    prop_oneof![
        expression().prop_map(Body::Expression),
        prop::collection::vec(case, 1..3).prop_map(Body::Cases)
    ]
}

fn constructor() -> impl Strategy<Value = Constructor> {
    let unit = || prop::option::of(prop_oneof![Just(SizeUnit::Packets), Just(SizeUnit::Bytes)]);
    let names = || prop::collection::vec(name(), 1..3);
    let rate_unit = [RateUnit::Percent, RateUnit::Kbps, RateUnit::Mbps, RateUnit::Gbps];
    let rate = (number(), prop::sample::select(rate_unit.to_vec()));
    let rate = rate.prop_map(|(amount, unit)| spanned(Rate { amount, unit }));
    prop_oneof![
        (expression(), unit()).prop_map(|(size, unit)| Constructor::Queue(size, unit)),
        (expression(), unit(), names()).prop_map(|(size, unit, of)| Constructor::Buffer(size, unit, of)),
        (prop::option::of(rate), names()).prop_map(|(rate, of)| Constructor::Port(rate, of)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let argument = prop_oneof![number().prop_map(Argument::Number), name().prop_map(Argument::Name)];
    let arguments = prop::option::of(prop::collection::vec(argument.prop_map(spanned), 0..3));
    prop_oneof![
        (word(), arguments).prop_map(|(word, arguments)| Value::Named(word, arguments)),
        expression().prop_map(Value::Inline),
        body().prop_map(Value::Body),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let kind = prop::option::of(prop::sample::select(vec![Kind::Queue, Kind::Buffer, Kind::Port]));
    let kind = kind.prop_map(|kind| kind.map(spanned));
    let attribute = prop::sample::select(Attribute::ALL).prop_map(spanned);
    prop_oneof![
        "[a-z ]{0,8}".prop_map(|text| Statement::Import(spanned(text))),
        (word(), number()).prop_map(|(word, value)| Statement::Const(word, spanned(value))),
        (kind, name(), constructor()).prop_map(|(kind, name, made)| Statement::Declaration {
            kind,
            name,
            made: spanned(made)
        }),
        (word(), prop::collection::vec(word(), 0..3), body())
            .prop_map(|(name, parameters, body)| Statement::Definition { name, parameters, body }),
        (name(), attribute, value()).prop_map(|(name, attribute, value)| Statement::Assignment {
            name,
            attribute,
            value: spanned(value)
        }),
        (name(), name()).prop_map(|(from, to)| Statement::Connection { from, to }),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_has_the_same_tree(statements in prop::collection::vec(statement().prop_map(spanned), 0..4)) {
        let file = File { statements };
        let text = print(&file);
        let again = parse(&text).map_err(|wrong| TestCaseError::fail(format!("{text}\n{wrong:?}")))?;
        prop_assert_eq!(again, file, "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-zQB0-9 .,;:=(){}\\[\\]<>&|!+*/%\"·→\n-]{0,80}") {
        thalweg_policy::fuzzing::policy(&text);
    }
}

#[test]
fn the_library_survives_printing() {
    for (name, text) in library() {
        let file = parse(&text).expect("it parses");
        assert_eq!(parse(&print(&file)).as_ref(), Ok(&file), "{name}");
        thalweg_policy::fuzzing::policy(&text);
    }
}

#[test]
fn mutations_of_the_library_are_read_or_refused() {
    let mut draw = thalweg_units::Stream::new(1, "mutations", 0);
    let pieces =
        ["(", ")", ";", ".", "q", "[1..", "getHOL()", "drop(", "0.5", ":=", "->", "·", "\"", "99999999", "%"];
    for (_, text) in library() {
        for _ in 0..60 {
            let mut chars: Vec<char> = text.chars().collect();
            for _ in 0..=draw.below(3) {
                let at = draw.below(chars.len() as u64) as usize;
                let until = (at + draw.below(6) as usize).min(chars.len());
                let piece = pieces[draw.below(pieces.len() as u64) as usize];
                chars.splice(at..until, piece.chars());
            }
            thalweg_policy::fuzzing::policy(&chars.into_iter().collect::<String>());
        }
    }
}
