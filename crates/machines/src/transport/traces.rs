//! Traces of other simulators, next to the repository: tests replay them row by row.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The rows of a table: a header with names for the columns, then numbers and words.
pub struct Trace {
    name: &'static str,
    columns: Vec<String>,
    rows: Vec<String>,
}

impl Trace {
    /// A file of `THALWEG_REFERENCE`, or of `shared/reference` next to the repository. `None`, and a line that says so,
    /// where there is none.
    pub fn read(name: &'static str) -> Option<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
        let path = std::env::var_os("THALWEG_REFERENCE").map_or(here, PathBuf::from).join(name);
        if !path.is_file() {
            eprintln!("SKIPPED: no reference data `{name}` next to the repository");
            return None;
        }
        let bytes = if name.ends_with(".gz") {
            let Ok(out) = Command::new("gzip").arg("-dc").arg(&path).output() else {
                eprintln!("SKIPPED: no gzip, which `{name}` needs");
                return None;
            };
            assert!(out.status.success(), "gzip: {name}");
            out.stdout
        } else {
            std::fs::read(&path).unwrap()
        };
        let mut lines = String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
        let columns = lines.remove(0).split(',').map(str::to_owned).collect();
        Some(Self { name, columns, rows: lines })
    }

    /// What `each` makes of every row: where it answers something, the row is wrong.
    pub fn replay(&self, mut each: impl FnMut(&Row) -> Option<String>) {
        assert!(self.rows.len() > 100, "{}: {} rows", self.name, self.rows.len());
        for (n, text) in self.rows.iter().enumerate() {
            let row = Row { columns: &self.columns, cells: text.split(',').collect() };
            if let Some(wrong) = each(&row) {
                panic!("{}, line {}: {text}\n{wrong}", self.name, n + 2);
            }
        }
    }
}

/// One row.
pub struct Row<'a> {
    columns: &'a [String],
    cells: Vec<&'a str>,
}

impl Row<'_> {
    /// A cell as it is.
    pub fn word(&self, column: &str) -> &str {
        let at = self.columns.iter().position(|name| name == column);
        self.cells[at.unwrap_or_else(|| panic!("no column {column}"))]
    }
    /// A number.
    pub fn number(&self, column: &str) -> u64 {
        self.word(column).parse().unwrap_or_else(|error| panic!("{column}: {error}"))
    }
    /// A 0 or a 1.
    pub fn flag(&self, column: &str) -> bool {
        self.number(column) == 1
    }
}
