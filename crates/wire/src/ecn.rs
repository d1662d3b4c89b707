//! Explicit congestion notification (RFC 3168).

use serde::{Deserialize, Serialize};

/// The two ECN bits (RFC 3168). ABC reads `Ect1` as accelerate and `Ect0` as brake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Ecn {
    /// 00: the transport does not understand ECN; congestion drops the packet.
    #[default]
    NotEct,
    /// 01.
    Ect1,
    /// 10.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}
