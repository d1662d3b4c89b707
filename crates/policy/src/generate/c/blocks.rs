//! C functions that select by a number; if all results are the same, without a selection.

/// `RESULT NAME(PARAMETERS)`, whose body is selected by `subject`; `otherwise` for all other numbers.
pub struct Choice<'a> {
    /// `within s64 queue_size`
    pub head: &'a str,
    /// `u32 queue`
    pub parameters: &'a str,
    /// `queue`
    pub subject: &'a str,
    /// `return 0;`
    pub otherwise: &'a str,
}

impl Choice<'_> {
    /// The function with these statements, by number from 0.
    pub fn of(&self, all: impl IntoIterator<Item = String>) -> String {
        let Self { head, parameters, subject, otherwise } = self;
        let mut grouped: Vec<(Vec<usize>, String)> = Vec::new();
        for (nth, code) in all.into_iter().enumerate() {
            match grouped.iter_mut().find(|(_, other)| *other == code) {
                Some((numbers, _)) => numbers.push(nth),
                None => grouped.push((vec![nth], code)),
            }
        }
        let body = match &grouped[..] {
            [] => indented(otherwise, 1),
            [(_, code)] => indented(code, 1),
            several => {
                let arms = several.iter().map(|(numbers, code)| {
                    let labels: String = numbers.iter().map(|nth| format!("\tcase {nth}:\n")).collect();
                    // Code that returns needs no `break`.
                    let out = if code.trim_start().starts_with("return") { "" } else { "\t\tbreak;\n" };
                    format!("{labels}{}{out}", indented(code, 2))
                });
                format!(
                    "\tswitch ({subject}) {{\n{}\t}}\n{}",
                    arms.collect::<String>(),
                    indented(otherwise, 1)
                )
            }
        };
        format!("{head}({parameters})\n{{\n{body}}}\n")
    }
}

/// Indents every line by this number of tabs.
pub fn indented(code: &str, tabs: usize) -> String {
    code.lines().map(|line| format!("{}{line}\n", "\t".repeat(tabs))).collect()
}
