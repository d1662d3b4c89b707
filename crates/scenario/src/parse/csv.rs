//! CSV as written by spreadsheets: quoted cells, a byte-order mark, blank lines; `#` starts a comment.

use super::{ParseError, quoted};
use csv_core::{ReadRecordResult, ReaderBuilder, Terminator};
use std::borrow::Cow;

/// The cells of a line, without the blanks and quotes around them.
pub(crate) type Cells<'a> = Vec<Cow<'a, str>>;

/// A line's number and its cells.
type Row<'a> = Result<(usize, Cells<'a>), ParseError>;

/// The cells of each line that is not empty, with its number from 1. A row is one line: a cell with a line break is
/// refused.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
    lines.filter_map(|(i, line)| {
        let line = uncommented(line).trim();
        (!line.is_empty()).then(|| cells(i + 1, line).map(|cells| (i + 1, cells)))
    })
}

/// Checks that the header is one of `headers`. Returns its position there, and the rows after it.
pub(crate) fn headed<'a>(
    text: &'a str,
    headers: &[&str],
) -> Result<(usize, impl Iterator<Item = Row<'a>>), ParseError> {
    let mut all = rows(text);
    let expected = || format!("expected the header `{}`", headers.join("` or `"));
    let Some(first) = all.next() else {
        return Err(ParseError::new(0, "the file is empty", expected()));
    };
    let (line, first) = first?;
    let Some(which) = headers.iter().position(|h| h.split(',').eq(first.iter().map(AsRef::as_ref))) else {
        return Err(ParseError::new(
            line,
            format!("{} is not the expected header", header(&first)),
            expected(),
        ));
    };
    let columns = headers[which].split(',').count();
    let checked = all.map(move |row| {
        let (line, cells) = row?;
        if cells.len() != columns {
            return Err(ParseError::new(
                line,
                format!("the row has {} columns instead of {columns}", cells.len()),
                "",
            ));
        }
        Ok((line, cells))
    });
    Ok((which, checked))
}

/// The header for a message. Shown only if it looks like a header, because a file named by mistake may hold secrets.
pub(crate) fn header(cells: &[Cow<'_, str>]) -> String {
    let name = |c: &Cow<'_, str>| c.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ' ');
    if cells.iter().all(name) {
        format!("`{}`", quoted(&cells.join(",")))
    } else {
        "the first line".to_owned()
    }
}

/// The line before a `#` that is not in quotes.
fn uncommented(line: &str) -> &str {
    if !line.contains('#') {
        return line;
    }
    let mut inside = false;
    let end = line.find(|c| {
        inside ^= c == '"';
        c == '#' && !inside
    });
    &line[..end.unwrap_or(line.len())]
}

fn cells(number: usize, line: &str) -> Result<Cells<'_>, ParseError> {
    if !line.contains('"') {
        return Ok(line.split(',').map(|c| Cow::Borrowed(c.trim())).collect());
    }
    if !line.matches('"').count().is_multiple_of(2) {
        let hint = "a row is one line; a quote in a cell is written twice";
        return Err(ParseError::new(number, "a quote is not closed", hint));
    }
    // Blanks before a quote would make it part of the cell.
    let tight: Vec<&str> = split_outside_quotes(line).map(str::trim).collect();
    let line = tight.join(",");
    // Room for every comma, because only the reader knows which are inside quotes.
    let (mut out, mut ends) = (vec![0; line.len() + 1], vec![0; line.matches(',').count() + 2]);
    let mut reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
    let (_, _, written, ended) = reader.read_record(line.as_bytes(), &mut out, &mut ends);
    let (result, _, rest, more) = reader.read_record(&[], &mut out[written..], &mut ends[ended..]);
    if result != ReadRecordResult::Record {
        return Err(ParseError::new(
            number,
            "the row cannot be read",
            "put cells with quotes or commas in quotes",
        ));
    }
    let text = String::from_utf8_lossy(&out[..written + rest]).into_owned();
    let mut from = 0;
    let cell = |end: &usize| {
        let cell = text.get(from..*end).unwrap_or_default().trim().to_owned();
        from = *end;
        Cow::Owned(cell)
    };
    Ok(ends[..ended + more].iter().map(cell).collect())
}

fn split_outside_quotes(line: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    line.split(move |c| {
        inside ^= c == '"';
        c == ',' && !inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, Vec<String>)> {
        let owned =
            |(line, cells): (usize, Cells<'_>)| (line, cells.iter().map(ToString::to_string).collect());
        rows(text).map(|row| owned(row.expect("a row"))).collect()
    }

    #[test]
    fn what_a_spreadsheet_writes_is_read() {
        let text = "\u{feff}a,b\r\n\r\n\"x, y\" , \"say \"\"hi\"\" #1\" # note, \"with\" more\r\n# all\r\n 1,\"\"\r\n";
        let strings = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            read(text),
            [(1, strings(&["a", "b"])), (3, strings(&["x, y", "say \"hi\" #1"])), (5, strings(&["1", ""])),]
        );
    }

    /// Found by mutation: a quote inside a cell quotes nothing, and a lone carriage return ends no row.
    #[test]
    fn quotes_inside_cells_are_themselves() {
        assert_eq!(read("a\"b,c\"d")[0].1, ["a\"b", "c\"d"]);
        assert_eq!(read("\"a\",b\rc,d")[0].1, ["a", "b\rc", "d"]);
    }

    #[test]
    fn an_open_quote_is_named_with_its_line() {
        let e = rows("a\n\"b\nc\"\n").nth(1).expect("a row").expect_err("open");
        assert_eq!((e.line, e.reason.as_str()), (2, "a quote is not closed"));
    }

    #[test]
    fn a_header_is_shown_only_if_it_looks_like_one() {
        let message = |text: &str| headed(text, &["a,b"]).err().map(|e| e.reason);
        assert_eq!(message("a,size b\n"), Some("`a,size b` is not the expected header".into()));
        assert_eq!(
            message("root:$6$salt$hash:1:0:::::\n"),
            Some("the first line is not the expected header".into())
        );
        assert_eq!(message(" \"a\" , b\n"), None);
    }
}
