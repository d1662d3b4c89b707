//! Controllers on real connections. All traffic stays on this machine: on 127.0.0.1, or in namespaces made here.

#[cfg(feature = "kernel")]
mod kernel;
#[cfg(any(feature = "quic", feature = "kernel"))]
mod mutations;
#[cfg(feature = "quic")]
mod quic;
mod refusals;
