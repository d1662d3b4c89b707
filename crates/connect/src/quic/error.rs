//! Reasons why a file was not transferred.

use crate::Refusal;
use std::io;
use thalweg_machines::Invalid;

/// Why a file was not transferred.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// QUIC cannot give the controller what it needs.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The controller's parameters are wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A file or a socket.
    #[error("{what}: {source}")]
    Io {
        /// The failed step and its object.
        what: String,
        /// What the system says.
        source: io::Error,
    },
    /// The connection ended before the file had arrived.
    #[error("connection with {peer} lost: {why}")]
    Lost {
        /// The other end.
        peer: String,
        /// The reason given by QUIC.
        why: String,
    },
    /// The receiver does not answer.
    #[error(
        "no answer from {peer}: does `thalweg quic receive --listen` run there, and does UDP get through?"
    )]
    Silent {
        /// The other end.
        peer: String,
    },
    /// The receiver's certificate is not the pinned one.
    #[error("{peer} is not who it should be: its certificate has another fingerprint than {pinned}")]
    Stranger {
        /// The other end.
        peer: String,
        /// The expected fingerprint.
        pinned: String,
    },
    /// The receiver could not keep the file.
    #[error("the receiver did not keep the file: {0}")]
    Kept(String),
    /// A name, a fingerprint, or data of the peer cannot be read.
    #[error("{0}")]
    Malformed(String),
}

impl Error {
    /// An error of the system, while doing `what`.
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
