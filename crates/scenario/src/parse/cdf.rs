//! Cumulative distributions in files: lines `size probability` or `size anything probability` (pFabric, ns-2),
//! separated by blanks or commas; probabilities up to 1, or up to 100 (HPCC). The first line may be a header, or the
//! mean size alone, which is ignored (Homa).

use super::{ParseError, field, lines};

/// Largest size of a flow, bytes.
const MOST: f64 = 1e18;

/// Reads points (size, cumulative probability in 0 to 1).
///
/// # Errors
/// The first invalid line: one without numbers, a descending size or probability, or an end other than 1 (or 100).
pub fn parse(text: &str) -> Result<Vec<(f64, f64)>, ParseError> {
    let mut points: Vec<(usize, f64, f64)> = Vec::new();
    for (at, (line, row)) in lines(text).enumerate() {
        let cells = row.split([',', ' ', '\t']).map(|c| c.trim().trim_matches('"'));
        let cells: Vec<&str> = cells.filter(|c| !c.is_empty()).collect();
        let is_number = |c: &&str| c.parse::<f64>().is_ok();
        if at == 0
            && (!cells.first().is_some_and(is_number) || (cells.len() == 1 && cells.iter().all(is_number)))
        {
            continue; // a header, or the mean
        }
        if cells.len() != 2 && cells.len() != 3 {
            let hint = "expected two: `size probability`";
            return Err(ParseError::new(line, format!("the line has {} columns", cells.len()), hint));
        }
        let size: f64 = field(line, "a size", cells.first().copied())?;
        let probability: f64 = field(line, "a probability", cells.last().copied())?;
        if !size.is_finite() || size < 0.0 || !probability.is_finite() || probability < 0.0 {
            return Err(ParseError::new(line, "a size or probability is negative or not finite", ""));
        }
        if size > MOST {
            return Err(ParseError::new(
                line,
                format!("a flow of {size} bytes is too large"),
                "at most 1e18 bytes",
            ));
        }
        if let Some((_, s, p)) = points.last() {
            if size < *s {
                return Err(ParseError::new(
                    line,
                    format!("the size falls from {s} to {size}"),
                    "sort the points by size",
                ));
            }
            if probability < *p {
                let reason = format!("the cumulative probability falls from {p} to {probability}");
                return Err(ParseError::new(line, reason, "cumulative probabilities never fall"));
            }
        }
        points.push((line, size, probability));
    }
    let Some((line, _, last)) = points.last().copied() else {
        return Err(ParseError::new(0, "the file has no points", "expected `size probability` on each line"));
    };
    let near = |target: f64| (last - target).abs() <= 1e-9 * target;
    let scale = if near(100.0) { 0.01 } else { 1.0 };
    if !near(1.0) && !near(100.0) {
        let reason = format!("the cumulative probability ends at {last}");
        return Err(ParseError::new(line, reason, "it must end at 1 (or at 100 per cent)"));
    }
    let mut out: Vec<(f64, f64)> = points.into_iter().map(|(_, s, p)| (s, p * scale)).collect();
    if let Some(end) = out.last_mut() {
        end.1 = 1.0;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_of_hpcc_and_netsys_are_read() {
        assert_eq!(parse("0 0\n100 1\n10000000 100\n"), Ok(vec![(0.0, 0.0), (100.0, 0.01), (1e7, 1.0)]));
        assert_eq!(parse("1 1 0\n1 1 0.5\n2107 1 1.0\n"), Ok(vec![(1.0, 0.0), (1.0, 0.5), (2107.0, 1.0)]));
        assert_eq!(parse("\u{feff}\"size\",\"p\"\n\"10\",\"1\"\n"), Ok(vec![(10.0, 1.0)]));
        assert_eq!(parse("# web\r\nsize\tp\r\n10\t0.5\r\n\r\n20 1 \r\n"), Ok(vec![(10.0, 0.5), (20.0, 1.0)]));
        // Homa's files begin with the mean size alone.
        assert_eq!(
            parse("1744.68\n1      0.025000\n20000      1.000000\n"),
            Ok(vec![(1.0, 0.025), (20000.0, 1.0)])
        );
        assert_eq!(parse("size,cumulative\n10,0.5\n20,1\n"), Ok(vec![(10.0, 0.5), (20.0, 1.0)]));
    }

    #[test]
    fn broken_distributions_name_the_line() {
        let reason = |text: &str| {
            let e = parse(text).expect_err("broken");
            format!("{}: {}; {}", e.line, e.reason, e.hint)
        };
        assert_eq!(
            reason("1 0.5\n2 0.4\n"),
            "2: the cumulative probability falls from 0.5 to 0.4; cumulative probabilities never fall"
        );
        assert_eq!(reason("5 0.5\n2 1\n"), "2: the size falls from 5 to 2; sort the points by size");
        assert_eq!(
            reason("1 0.5\n2 0.9\n"),
            "2: the cumulative probability ends at 0.9; it must end at 1 (or at 100 per cent)"
        );
        assert_eq!(reason("1 0.5\n7\n2 1\n"), "2: the line has 1 columns; expected two: `size probability`");
        assert_eq!(reason("1 0.5\nx 1\n"), "2: `x` is not a size; ");
        assert_eq!(reason(""), "0: the file has no points; expected `size probability` on each line");
    }
}
