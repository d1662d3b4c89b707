//! Recovery sequences, packet by packet. A round trip is 100 us, segments are numbered from 0.

mod calls;
mod declares;
mod ecn;
mod lost_syn;
mod properties;
mod prr;
mod recovery;
mod telemetry;
mod timers;
mod times;
mod work;
