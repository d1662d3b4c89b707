//! A network as data, and what can be computed from it without simulating it.
//!
//! Simulators, checks and estimates of a network, and single ports taken out of it, start from a [`spec::NetworkSpec`]:
//!
//! * [`spec`]: nodes, links, queues, flows, incidents, probes;
//! * [`routing`]: shortest paths of any graph; [`dependencies`]: which ports may have to wait for which;
//! * [`ideal`]: how long a flow takes alone, as a closed form;
//! * [`port`]: one port as a machine of its own; [`recorded`]: whether what passes it can be recorded.
#![forbid(unsafe_code)]

mod check;
pub mod dependencies;
pub mod ideal;
pub mod port;
pub mod recorded;
pub mod routing;
pub mod spec;
