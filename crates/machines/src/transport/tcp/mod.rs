//! TCP: SACK (RFC 6675) or NewReno (RFC 6582) or timer-only loss repair, as [`TcpSpec`](super::TcpSpec) says.

mod receiver;
mod scoreboard;
mod sender;

pub use receiver::TcpReceiver;
pub use scoreboard::Scoreboard;
pub use sender::TcpSender;
