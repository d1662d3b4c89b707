//! What came out of an exam.

use crate::error::Failure;
use crate::marks::{Curves, Marks};
use std::fmt::Write;
use std::ops::Index;
use thalweg_scenario::nearest;

/// Marks by situation and controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub(crate) controllers: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// One controller in one situation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The situation's name.
    pub situation: String,
    /// The controller's name.
    pub controller: String,
    /// Its marks, or why there are none.
    pub marks: Result<Marks, Failure>,
    /// Its run over time; empty if there are no marks.
    pub curves: Curves,
}

impl Report {
    /// The controllers' names: the one examined first, then the others in the order in which they were given.
    pub fn controllers(&self) -> &[String] {
        &self.controllers
    }

    /// Every row: situations in the order of their file, in each the controllers in theirs.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of a controller in a situation.
    pub fn of(&self, situation: &str, controller: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.situation == situation && row.controller == controller)
    }

    /// The runs that did not come to their end. An assertion that there are none belongs into every test.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.rows.iter().filter_map(|row| row.marks.as_ref().err())
    }

    /// A line per row, with a header; what there is not is empty, a time that never came `inf`.
    ///
    /// ```
    /// let report = thalweg_exam::Exam::of_built_in("fixed").situations(["incast"]).run()?;
    /// assert!(report.to_csv().starts_with("situation,controller,utilisation,delay_ms,loss,"));
    /// # Ok::<(), thalweg_exam::Error>(())
    /// ```
    pub fn to_csv(&self) -> String {
        let mut out =
            String::from("situation,controller,utilisation,delay_ms,loss,fairness,share,settled_s,failed\n");
        for row in &self.rows {
            let _ = write!(out, "{},{}", quoted(&row.situation), quoted(&row.controller));
            let _ = match &row.marks {
                Ok(marks) => {
                    marks.row().iter().for_each(|(_, mark)| {
                        let _ = if mark.is_nan() { write!(out, ",") } else { write!(out, ",{mark}") };
                    });
                    writeln!(out, ",")
                }
                Err(failure) => writeln!(out, ",,,,,,,{}", quoted(&failure.to_string())),
            };
        }
        out
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The marks of the controller examined, by situation.
///
/// # Panics
/// If there was no such situation, or the run in it failed: with the reason.
impl Index<&str> for Report {
    type Output = Marks;

    fn index(&self, situation: &str) -> &Marks {
        let examined = &self.controllers[0];
        match self.of(situation, examined) {
            Some(Row { marks: Ok(marks), .. }) => marks,
            Some(Row { marks: Err(failure), .. }) => panic!("{failure}"),
            None => {
                let known = self.rows.iter().map(|row| row.situation.as_str());
                let hint = nearest(situation, known).map(|near| format!("; did you mean `{near}`?"));
                panic!("the exam had no situation `{situation}`{}", hint.unwrap_or_default())
            }
        }
    }
}
