//! The state of a queue pair that the next flow on it continues with.

use super::segments::Segments;
use crate::congestion::Controller;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// What a queue pair carries from one flow to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pub(super) controller: Controller,
    /// The rate limiter allows no packet before this.
    pub(super) next_tx: Time,
    /// Bytes that the connection has sent.
    pub(super) origin: u64,
    /// When the last flow was done.
    pub(super) finished: Time,
    pub(super) segments: Option<Box<Segments>>,
}
