//! The playground. A scenario's text in, what is drawn of its run out, as JSON: in a web page, without files,
//! threads or a clock.
//!
//! ```
//! let text = r#"
//! topology = { kind = "pair", rate = "10Gbps" }
//! [[traffic]]
//! kind = "flow"
//! src = 0
//! dst = 1
//! size = "1MB"
//! "#;
//! let answer = thalweg_playground::run(text, &mut |_| {});
//! assert!(answer.contains(r#""tables":"#));
//! ```
//!
//! The module that pages load exports this by numbers alone (`boundary.rs`), so that nothing but a compiler builds it.

mod boundary;
mod drawn;
mod running;

pub use drawn::{COLUMNS, MOST_SAMPLES};
pub use running::run;
