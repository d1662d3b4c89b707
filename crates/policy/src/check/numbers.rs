//! Claims about numbers for all possible values of fields: divisors are positive, operands of remainders are whole,
//! results stay within 128 bits.

use super::Found;
use super::bodies::{Claim, Typed};
use crate::diagnose::{Class, Span};
use crate::normal::Policy;
use crate::normal::expression::{Amount, Place};
use crate::normal::integer::{Fraction, Int, IntTest};
use crate::normal::range::Limits;

/// Nothing is known of fields except their limits.
pub fn unknown(_: Place) -> Option<i64> {
    None
}

/// Checks all claims about numbers.
pub fn check(typed: &Typed, policy: &Policy, found: &mut Found) {
    let limits = policy.limits();
    // Divisors first: if one may be zero, the other claims cannot be decided.
    for (claim, span) in typed.claims() {
        if let Claim::Positive(amount) = claim {
            positive(amount, &limits, *span, found);
        }
    }
    if !found.is_empty() {
        return;
    }
    for (claim, span) in typed.claims() {
        match claim {
            Claim::Positive(_) | Claim::Order(_) => {}
            Claim::Whole(amount) => whole(amount, *span, found),
            Claim::Fits(test) => fits(limits.fit(&IntTest::of(test, &unknown)), *span, found),
            Claim::FitsState(amount) => {
                let Fraction { over, under } = Fraction::of(amount, &unknown);
                fits(limits.of(&over).is_some() && limits.of(&under).is_some(), *span, found);
            }
            Claim::Below(amount, queues) => below(amount, *queues, &limits, *span, found),
        }
    }
}

fn positive(amount: &Amount, limits: &Limits, span: Span, found: &mut Found) {
    let Fraction { over, .. } = Fraction::of(amount, &unknown);
    if limits.of(&over).is_none_or(|range| range.least <= 0) {
        let way_out =
            "divide by a positive constant, by a size, or by a state that is positive and never modified";
        found.note(Class::Divisor, span, "this divisor may be zero or negative", way_out);
    }
}

fn whole(amount: &Amount, span: Span, found: &mut Found) {
    if Fraction::of(amount, &unknown).under != Int::Constant(1) {
        let way_out = "remainders and numbers of queues are of whole numbers: multiply instead of dividing";
        found.note(Class::Remainder, span, "this is a fraction, and a whole number is needed", way_out);
    }
}

fn fits(it_fits: bool, span: Span, found: &mut Found) {
    if !it_fits {
        let way_out = "multiply fewer fields, or smaller constants";
        found.note(Class::Range, span, "this may exceed 128 bits", way_out);
    }
}

fn below(amount: &Amount, queues: usize, limits: &Limits, span: Span, found: &mut Found) {
    let range = limits.of(&Fraction::of(amount, &unknown).over);
    if range.is_none_or(|range| range.least < 0 || range.greatest >= queues as i128) {
        let reason =
            format!("this may choose a queue that is not there: the port has {queues}, numbered from 0");
        found.note(Class::Selection, span, reason, format!("end it with `% {queues}`"));
    }
}
