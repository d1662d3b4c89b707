//! What other simulators do differently, needed to compare with them: never inside a file that reads like its paper.

pub(crate) mod hpcc_nic;
