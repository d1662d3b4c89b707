//! What the laboratory promises, from outside, in one program: one link instead of nineteen.

mod common;

mod abc;
mod conservation;
mod controllers;
mod errors;
mod errors_links;
mod errors_lossless;
mod errors_rdma;
mod errors_ups;
mod fairness;
mod foreign;
mod keys;
mod links;
mod loading;
mod lone_flows;
mod lossless;
mod mahimahi;
mod mutations;
mod names;
mod phost;
mod points;
mod products;
mod queueing;
mod rc3;
mod receivers;
mod references;
mod runs;
mod scenarios;
mod snapshots;
mod stopping;
mod structure;
mod telemetry;
mod ups;
mod windows;
mod workloads;
