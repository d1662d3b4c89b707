//! The theorems of universal packet scheduling as properties of random instances.
//!
//! R. Mittal, R. Agarwal, S. Ratnasamy, S. Shenker, "Universal Packet Scheduling", NSDI 2016, appendix A \[N\];
//! R. Mittal's dissertation, UCB/EECS-2018-103, appendix A \[D\]. Each function takes a number of instances and a
//! seed; what it returns must have no violation, and of claims of existence at least one case found.

pub mod examples;
mod exchange;
pub mod facts;
pub mod laws;
mod replayable;
mod slack;

pub use exchange::th10;
pub use replayable::{th3, th4, th4_black_box, th5, th7, th8};
pub use slack::{th1, th2, th6, th9};
