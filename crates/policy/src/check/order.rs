//! Checks that comparators are strict weak orders: proved if there is a key, otherwise tested with many values, which
//! may give a counterexample.

use super::Found;
use super::bodies::{Claim, Typed};
use super::numbers::unknown;
use crate::diagnose::Class;
use crate::normal::expression::{PacketField, Place, QueueField, Test, Which};
use crate::normal::integer::{Int, IntTest};
use crate::normal::range::Limits;
use crate::normal::rank::Rank;
use crate::normal::{Comparator, Policy};
use std::collections::BTreeSet;
use thalweg_units::Stream;

/// Number of packets or queues that are compared with each other in a round.
const THINGS: usize = 24;
/// Number of rounds, each with other values.
const ROUNDS: u64 = 24;

/// Finds the key of every comparator that has one.
pub fn rank(policy: &mut Policy) {
    let limits = policy.limits();
    let find = |order: &mut Comparator| order.rank = Rank::of(&IntTest::of(&order.test, &unknown), &limits);
    for queue in &mut policy.queues {
        find(&mut queue.admission);
        find(&mut queue.processing);
    }
    let of_buffers = policy.buffers.iter_mut().filter_map(|buffer| buffer.order.as_mut());
    of_buffers.chain(policy.ports.iter_mut().filter_map(|port| port.order.as_mut())).for_each(find);
}

/// Tests comparators without a key. (A key is a proof, because the order of numbers is strict and weak.)
pub fn check(typed: &Typed, policy: &Policy, found: &mut Found) {
    let limits = policy.limits();
    let mut tried: Vec<&Test> = Vec::new();
    for (claim, span) in typed.claims() {
        let Claim::Order(test) = claim else { continue };
        let int = IntTest::of(test, &unknown);
        if tried.contains(&test) || Rank::of(&int, &limits) != Rank::Unranked {
            continue;
        }
        tried.push(test);
        if let Some(example) = refute(test, &int, &limits) {
            let reason = format!("this comparator is no strict weak order: {example}");
            let way_out =
                "compare one expression of the first with the same of the second by < or >, ties by another";
            found.note(Class::Order, *span, reason, way_out);
        }
    }
}

/// Packets or queues with these values of fields.
struct Things {
    places: Vec<Place>,
    values: Vec<Vec<i64>>,
}

impl Things {
    /// Values are drawn from the ranges of fields: few different ones, so that there are ties, the constants of the
    /// test, and the ends of ranges.
    fn drawn(places: Vec<Place>, constants: &[i64], limits: &Limits, draw: &mut Stream) -> Self {
        let spread = 2 + draw.below(4) as i64;
        let value = |place: &Place, draw: &mut Stream| {
            let range = limits.of_place(*place);
            let (least, greatest) = (range.least as i64, range.greatest as i64);
            let value = match draw.below(8) {
                0 => least,
                1 => greatest,
                2 | 3 if !constants.is_empty() => {
                    let near = draw.below(3) as i64 - 1;
                    constants[draw.below(constants.len() as u64) as usize].saturating_add(near)
                }
                _ => draw.below(spread as u64) as i64,
            };
            value.clamp(least, greatest)
        };
        let thing = |_| places.iter().map(|place| value(place, draw)).collect();
        let values = (0..THINGS).map(thing).collect();
        Self { places, values }
    }

    fn before(&self, test: &Test, first: usize, second: usize) -> bool {
        let read = |place: Place| {
            let (of, nth) = match place.which() {
                Some(Which::Second) => (second, self.places.binary_search(&place.swapped())),
                _ => (first, self.places.binary_search(&place)),
            };
            nth.map_or(0, |nth| self.values[of][nth])
        };
        test.holds(&read).unwrap_or(false)
    }

    fn shown(&self, nth: usize) -> String {
        let field = |(place, value): (&Place, &i64)| format!("{}={value}", word(*place));
        self.places.iter().zip(&self.values[nth]).map(field).collect::<Vec<_>>().join(" ")
    }
}

fn word(place: Place) -> String {
    match place {
        Place::Packet(_, field) => PacketField::word(field).to_owned(),
        Place::Head(_, field) => format!("getHOL().{}", field.word()),
        Place::Queue(_, field) => QueueField::word(field).to_owned(),
        Place::Buffer(field) => field.word().to_owned(),
        Place::Port(field) => field.word().to_owned(),
    }
}

fn refute(test: &Test, int: &IntTest, limits: &Limits) -> Option<String> {
    let mut places = BTreeSet::new();
    test.places(&mut |place| {
        places.insert(if place.which() == Some(Which::Second) { place.swapped() } else { place });
    });
    let mut constants = Vec::new();
    collect(int, &mut constants);
    let mut draw = Stream::new(0, "strict weak orders", 0);
    (0..ROUNDS).find_map(|_| {
        let things = Things::drawn(places.iter().copied().collect(), &constants, limits, &mut draw);
        let matrix: Vec<Vec<bool>> =
            (0..THINGS).map(|a| (0..THINGS).map(|b| things.before(test, a, b)).collect()).collect();
        broken(&matrix, &things)
    })
}

/// The first law that is violated, with an example.
fn broken(before: &[Vec<bool>], things: &Things) -> Option<String> {
    let shown = |nth| things.shown(nth);
    let all = 0..before.len();
    if let Some(a) = all.clone().find(|&a| before[a][a]) {
        return Some(format!("({}) ranks before itself", shown(a)));
    }
    let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (a, b)));
    if let Some((a, b)) = pairs.clone().find(|&(a, b)| before[a][b] && before[b][a]) {
        return Some(format!("({}) and ({}) rank before each other", shown(a), shown(b)));
    }
    let equal = |a: usize, b: usize| !before[a][b] && !before[b][a];
    let triples = pairs.flat_map(|(a, b)| all.clone().map(move |c| (a, b, c)));
    for (a, b, c) in triples {
        if before[a][b] && before[b][c] && !before[a][c] {
            return Some(format!(
                "({}) ranks before ({}), that before ({}), but not the first before the last",
                shown(a),
                shown(b),
                shown(c)
            ));
        }
        if equal(a, b) && equal(b, c) && !equal(a, c) {
            return Some(format!(
                "({}) ties with ({}), that with ({}), but not the first with the last",
                shown(a),
                shown(b),
                shown(c)
            ));
        }
    }
    None
}

/// Collects the constants that the test compares with.
fn collect(test: &IntTest, constants: &mut Vec<i64>) {
    match test {
        IntTest::Constant(_) => {}
        IntTest::Compare(_, a, b) => [a, b].into_iter().for_each(|int| collect_int(int, constants)),
        IntTest::Not(a) => collect(a, constants),
        IntTest::And(a, b) | IntTest::Or(a, b) => [a, b].into_iter().for_each(|one| collect(one, constants)),
    }
}

fn collect_int(int: &Int, constants: &mut Vec<i64>) {
    match int {
        Int::Constant(value) => constants.extend(i64::try_from(*value)),
        Int::Read(_) => {}
        Int::Neg(a) => collect_int(a, constants),
        Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Rem(a, b) => {
            collect_int(a, constants);
            collect_int(b, constants);
        }
    }
}
