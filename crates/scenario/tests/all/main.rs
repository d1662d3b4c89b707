//! What scenarios promise, from outside, in one program.

mod common;

mod errors;
mod errors_links;
mod errors_lossless;
mod errors_policy;
mod errors_rdma;
mod errors_ups;
mod foreign;
mod mahimahi;
mod mutations;
mod port_on_a_trace;
mod references;
mod scenarios;
mod structure;
mod twice;
mod workloads;
