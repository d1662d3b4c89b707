//! What the simulator promises, from outside, in one program.

mod common;

mod agents;
mod backpressure;
mod barrier;
mod crossbar;
mod dependencies;
mod drop_notified;
mod followers;
mod foresight;
mod late;
mod lone_flow;
mod lossless;
mod notify;
mod parts;
mod peaks;
mod port_records;
mod quanta;
mod queue_pauses;
mod rc3;
mod reference;
mod releases;
mod relief;
mod replay;
mod route;
mod sharing;
mod state;
mod streams;
mod structure;
mod together;
mod trimming;
mod works;
