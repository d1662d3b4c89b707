//! Delivery opportunities of a cellular link, as Mahimahi writes them: a whole number of milliseconds on each line, in
//! ascending order; at the last one the trace starts over.

use super::{ParseError, lines};
use thalweg_machines::link::Trace;

/// The opportunities.
///
/// # Errors
/// The first line that is not a time or is less than the one before; a trace without opportunities, or of no duration.
pub fn parse(text: &str) -> Result<Trace, ParseError> {
    const HINT: &str = "expected one opportunity on each line: milliseconds from the start of the trace";
    let mut ms: Vec<u32> = Vec::new();
    let mut end = 0;
    for (line, row) in lines(text) {
        let at: u32 = row.parse().map_err(|_| {
            let shown: String = row.chars().take(20).map(|c| if c.is_control() { '?' } else { c }).collect();
            let reason = match row.parse::<f64>() {
                Ok(at) if at < 0.0 => format!("the time `{shown}` is negative"),
                Ok(at) if at > f64::from(u32::MAX) => {
                    format!("the time `{shown}` is more than {} ms", u32::MAX)
                }
                Ok(at) if at.is_finite() => {
                    format!("the time `{shown}` is not a whole number of milliseconds")
                }
                _ => format!("`{shown}` is not a time"),
            };
            ParseError::new(line, reason, HINT)
        })?;
        if let Some(last) = ms.last().filter(|last| **last > at) {
            let hint = "times must not fall; does the file list gaps between opportunities?";
            return Err(ParseError::new(line, format!("the time falls from {last} to {at} ms"), hint));
        }
        ms.push(at);
        end = line;
    }
    if ms.is_empty() {
        return Err(ParseError::new(0, "the trace has no delivery opportunities", HINT));
    }
    let hint = "the last line is the length of the trace, after which it starts over, and must be above 0";
    Trace::from_ms(ms).map_err(|reason| ParseError::new(end, reason, hint))
}

/// The text of a trace, with `each` of Mahimahi's opportunities for every opportunity.
pub fn to_text(trace: &Trace, each: u32) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for at in trace.ms() {
        for _ in 0..each {
            let _ = writeln!(text, "{at}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(text: &str) -> (u32, String) {
        let e = parse(text).unwrap_err();
        assert!(!e.reason.contains('\n') && !e.hint.is_empty());
        (e.line, e.reason)
    }

    #[test]
    fn opportunities_of_one_millisecond_and_a_missing_last_line_end_are_fine() {
        let trace = parse("0\n0\n3\r\n3\n 7").unwrap();
        assert_eq!(trace.ms(), [0, 0, 3, 3, 7]);
        assert_eq!(parse(&to_text(&trace, 1)).unwrap(), trace);
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        assert_eq!(refuse(""), (0, "the trace has no delivery opportunities".into()));
        assert_eq!(refuse("\n# nothing\n"), (0, "the trace has no delivery opportunities".into()));
        assert_eq!(refuse("1\n5\n4\n"), (3, "the time falls from 5 to 4 ms".into()));
        assert_eq!(refuse("1\n-2\n"), (2, "the time `-2` is negative".into()));
        assert_eq!(refuse("1.5\n"), (1, "the time `1.5` is not a whole number of milliseconds".into()));
        assert_eq!(refuse("1\n99999999999\n").0, 2);
        assert_eq!(refuse("time,bytes\n1,2\n"), (1, "`time,bytes` is not a time".into()));
        let binary = format!("\u{1f}\u{0}{}\n1\n", "\u{7}".repeat(9000));
        assert_eq!(refuse(&binary).1.chars().count(), "`` is not a time".len() + 20);
        let (line, reason) = refuse("0\n0\n");
        assert!(line == 2 && reason.contains("never pass its start"), "no time passes: it would never end");
    }
}
