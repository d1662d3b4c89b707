//! Files of packets and decisions for other tools, from simulated, emulated and real runs.
//!
//! ```text
//! pcapng::Writer::{new, interface, packet}   packets with ns stamps, an interface per port, drops as comments
//! frame::Frame::bytes                        a simulated packet as IPv4 with TCP or UDP
//! qlog::write                                what controllers observed and allowed, as qvis draws it
//! ```
#![forbid(unsafe_code)]

pub mod frame;
pub mod pcapng;
pub mod qlog;
